"""A run that is killed loses nothing that it had written, in either format; the next run says where the rows went."""

from __future__ import annotations

import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.results import Result

# four million rows, of which a test waits for some hundreds
SWING = """
import tidegate as tg

class Swing(tg.Component):
    x = tg.State(1.0)
    v = tg.State(0.0)
    turns = tg.Discrete(0)
    w = tg.Parameter(1.0)

    def equations(self):
        yield tg.der(self.x) == self.v
        yield tg.der(self.v) == -self.w * self.x

    @tg.when(lambda self: self.x < 0)
    def down(self):
        return {self.turns: self.turns + 1}

model = Swing()
"""
PATIENCE = 120.0  # seconds: the native code may have to be compiled first


# a test run in the background may have inherited that Ctrl-C is ignored
PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from tidegate.cli import main; main()"


def start(folder: Path, out: str, *options: str) -> subprocess.Popen[str]:
    (folder / "swing.py").write_text(SWING)
    command = [sys.executable, "-c", PROGRAM, *"run swing.py --until 2e6 --step 0.5 --sensitivity w --out".split(), out, *options]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_rows(process: subprocess.Popen[str], path: Path, rows: int) -> int:
    """The rows that can be read: how many bytes they take, and how many come at once, is the machine's affair."""
    end = time.monotonic() + PATIENCE
    while (n := rows_in(path)) <= rows:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "no rows came"
        time.sleep(0.1)
    return n


def rows_in(path: Path) -> int:
    try:
        return Result.load(path).t.size
    except tg.UsageError:
        return 0  # there is none, or the first rows are just being written


@pytest.mark.slow
@pytest.mark.parametrize("out", ["swing.nc", "swing.csv"])
def test_what_a_killed_run_had_written_can_be_read(tmp_path: Path, out: str) -> None:
    part = tmp_path / f"{out}.part"
    with start(tmp_path, out, "--quiet") as process:
        try:
            seen = wait_for_rows(process, part, 500)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
        finally:
            process.kill()
    assert not (tmp_path / out).exists()
    left = Result.load(part)
    assert left.status == "unfinished"
    assert left.t.size >= seen
    assert left.t == pytest.approx(0.5 * np.arange(left.t.size), rel=1e-14)
    model = runpy.run_path(str(tmp_path / "swing.py"))["model"]
    whole = tg.simulate(model, (0.0, 100.0), outputs=0.5, sensitivities=["w"])
    n = whole.t.size
    # the same steps up to the last, which the end of the shorter run cuts
    assert left.values[: n - 3] == pytest.approx(whole.values[: n - 3], abs=1e-9)
    assert left.sensitivities is not None
    assert whole.sensitivities is not None
    assert left.sensitivities[: n - 3] == pytest.approx(whole.sensitivities[: n - 3], abs=1e-7)
    if out.endswith(".nc"):
        events = left.events.between(0.0, 99.0)
        assert [event.causes for event in events] == [event.causes for event in whole.events.between(0.0, 99.0)]
        assert events.times == pytest.approx(whole.events.between(0.0, 99.0).times, abs=1e-9)
        assert left.at([50.25], ["x"])["x"].values == pytest.approx(whole.at([50.25], ["x"])["x"].values, abs=1e-9)


@pytest.mark.slow
def test_ctrl_c_writes_the_whole_file(tmp_path: Path) -> None:
    with start(tmp_path, "swing.csv") as process:
        try:
            wait_for_rows(process, tmp_path / "swing.csv.part", 10)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate()
        finally:
            process.kill()
    assert process.returncode == 130
    assert "result up to the failure written to swing.csv" in errors
    assert not (tmp_path / "swing.csv.part").exists()
    assert Result.load(tmp_path / "swing.csv").t.size > 10


@pytest.mark.slow
def test_the_commands_read_what_was_left(line: Any, ball: Result) -> None:
    with Result.appended(line.folder / "ball.nc") as rows:
        rows(ball)
    shown = line("show", "ball.nc.part")
    assert shown.exit_code == 0, shown.output
    for text in ("unfinished: the run did not end", "4 events", "h < 0", "energy"):
        assert text in shown.stdout
    assert line("plot", "ball.nc.part", "h", "--out", "ball.svg").exit_code == 0
    missing = line("plot", "ball.nc")
    assert missing.exit_code == 2
    assert "there is no file ball.nc, but there are the rows of a run that did not end\n  try: ball.nc.part" in missing.stderr


def test_the_next_run_says_where_the_rows_of_the_last_are(line: Any, ball: Result) -> None:
    with Result.appended(line.folder / "ball.csv") as rows:
        rows(ball)
    line.action = lambda: line.calls[-1]["on_rows"](ball)
    done = line("run", "tank.py", "--until", 1, "--out", "ball.csv")
    assert "the rows that an earlier run left in ball.csv.part are now in ball.csv.part.1" in done.stderr
    assert "result written to ball.csv" in done.stdout
    assert sorted(path.name for path in line.folder.glob("ball*")) == ["ball.csv", "ball.csv.part.1"]
