"""`tidegate run` hands over what was asked for, prints what happened, writes files, and refuses before it runs."""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tidegate.cli.told_errors import explanation
from tidegate.errors import CallbackError, InterruptedRunError, StepSizeError, StructureError
from tidegate.export import Appended
from tidegate.results import Result


def test_prints_model_events_values_and_statistics(line: Any) -> None:
    done = line("run", "tank.py", "--until", 20)
    assert done.exit_code == 0, done.output
    for text in ("tank: ODE, 1 state, 1 discrete variable, 5 parameters", "4 events", "h < 0", "v: -4.429 -> 3.544", "energy", "method radau"):
        assert text in done.stdout


@pytest.mark.slow
def test_hands_over_options_parameters_and_sensitivities(line: Any) -> None:
    options = ["--from", 1, "--until", 3, "--rtol", 1e-8, "--atol", 1e-9, "--method", "radau", "--step", 0.5]
    settings = ["--set", "k=4", "--set", "length=20 cm", "--set", "table[1]=7", "--sensitivity", "k", "--sensitivity", "table"]
    assert line("run", "tank.py:model", *options, *settings).exit_code == 0
    (call,) = line.calls
    assert call["t_span"] == (1.0, 3.0)
    assert (call["rtol"], call["atol"], call["method"], call["outputs"]) == (1e-8, 1e-9, "radau", 0.5)
    assert call["parameters"] == {"k": 4.0, "length": pytest.approx(0.2), "table[1]": 7.0}
    assert call["sensitivities"] == ["k", "table[0]", "table[1]"]


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "second"), [("", 1.0), ("s", 1.0), ("min", 1 / 60), ("h", 1 / 3600)])
def test_times_take_units_and_arrive_in_those_of_the_model(line: Any, unit: str, second: float) -> None:
    line.write("clocked.py", f"import dataclasses, tank\nmodel = dataclasses.replace(tank.model, time_unit={unit!r})\n")
    times = ["--from", "1 min", "--until", "5min", "--step", "2s", "--max-step", "500ms"]
    assert line("run", "clocked.py", *times).exit_code == 0
    (call,) = line.calls
    assert call["t_span"] == pytest.approx((60 * second, 300 * second), rel=1e-15)
    assert (call["outputs"], call["max_step"]) == pytest.approx((2 * second, 0.5 * second), rel=1e-15)


@pytest.mark.slow
def test_a_variable_that_is_set_starts_there(line: Any) -> None:
    assert line("run", "tank.py", "--until", 1, "--set", "level=50 cm", "--set", "pump=0", "--sensitivity", "level(0)").exit_code == 0
    assert line.calls[0]["parameters"] == {"level(0)": pytest.approx(0.5), "pump(0)": 0.0}
    assert line.calls[0]["sensitivities"] == ["level(0)"]


@pytest.mark.slow
def test_a_wrong_command_names_the_right_one(line: Any) -> None:
    done = line("rum", "tank.py")
    assert (done.exit_code, done.stderr) == (2, "error: there is no command rum\n  try: tidegate run\n")


@pytest.mark.slow
def test_statistics_are_not_cut_between_label_and_number(line: Any) -> None:
    line.result.statistics = replace(
        line.result.statistics, newton_iterations=123456789, newton_failures=12345, extra={"resteps": 987654, "order": 5}
    )
    told = line("run", "tank.py", "--until", 20).stdout
    labels = [f"{label} {text}" for label, text in line.result.statistics.rows()]
    shown = told[told.index("method radau") :].rstrip("\n")
    assert len(shown.splitlines()) > 1
    assert shown.replace(",\n", ", ").split(", ") == labels


@pytest.mark.slow
def test_out_follows_a_symbolic_link(line: Any) -> None:
    (line.folder / "link.csv").symlink_to("real.csv")
    assert line("run", "tank.py", "--until", 1, "--out", "link.csv", "-q").exit_code == 0
    assert (line.folder / "link.csv").is_symlink()
    assert (line.folder / "real.csv").read_text().startswith("time")


@pytest.mark.slow
def test_a_full_disk_says_what_to_try(line: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", is_full)
    done = line("run", "tank.py", "--until", 1, "--out", "a.csv")
    assert done.exit_code in (1, 2)
    assert "cannot write a.csv: No space left on device\n  try: free some space on the disk, or write to another one" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run tank.py --until 1 --out", "sweep tank.py --until 1 --over k=1,2 --out", "run tank.py --until 1 --plot"])
def test_what_cannot_be_written_is_refused_before_anything_is_done(line: Any, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    suffix = "png" if command.endswith("plot") else "nc"

    def refused(path: str) -> str:
        done = line(*command.split(), f"{path}.{suffix}")
        assert done.exit_code == 2
        assert done.stdout == ""
        assert not line.calls
        return done.stderr

    assert refused("none/x").startswith("error: cannot write none/x.")
    if sys.platform == "linux":  # where even root may make no files
        assert refused("/proc/x").endswith("no file can be made in /proc\n  try: check the folder's permissions, or name another\n")
    write, before = os.write, sorted(line.folder.iterdir())

    def full(file: int, data: bytes) -> int:
        if len(data) >= 4096:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data)

    monkeypatch.setattr("os.write", full)
    assert "No space left on device\n  try: free some space on the disk" in refused("x")
    assert sorted(line.folder.iterdir()) == before


def test_ctrl_c_before_a_command_has_begun_its_work_is_told(line: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tidegate.cli.run_command.Request", interrupted)
    done = line("run", "tank.py", "--until", 1)
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_a_file_that_another_run_is_writing_is_refused_before_the_run(line: Any) -> None:
    with Appended(line.folder / "a.csv"):
        done = line("run", "tank.py", "--until", 1, "--out", "a.csv")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "error: a.csv.part is being written by another run\n  try: name another file, or wait until it has ended\n"
    assert not line.calls


@pytest.mark.slow
def test_a_full_disk_is_told_whatever_the_writer_calls_it(line: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    def usage(_: object) -> SimpleNamespace:
        return SimpleNamespace(free=0, total=1)

    monkeypatch.setattr("pathlib.Path.replace", denied)
    told = line("run", "tank.py", "--until", 1, "--out", "a.csv", "-q").stderr
    assert "Permission denied\n  try: check the folder's permissions" in told
    monkeypatch.setattr("shutil.disk_usage", usage)
    told = line("run", "tank.py", "--until", 1, "--out", "a.csv", "-q").stderr
    assert "No space left on device\n  try: free some space on the disk" in told


def test_output_to_a_full_disk_is_told_in_words() -> None:
    assert explanation(OSError(errno.ENOSPC, "No space left on device")) == [
        "[bold red]error:[/] cannot write the output: No space left on device",
        "  try: free some space on the disk, or write to another one",
    ]


@pytest.mark.slow
def test_points_are_spread_over_the_span(line: Any) -> None:
    assert line("run", "tank.py", "--until", 2, "--points", 5, "--sensitivity", "all").exit_code == 0
    np.testing.assert_allclose(line.calls[0]["outputs"], [0.0, 0.5, 1.0, 1.5, 2.0])
    assert line.calls[0]["sensitivities"] == "all"


@pytest.mark.slow
def test_the_file_says_how_long_unless_told_otherwise(line: Any) -> None:
    with (line.folder / "tank.py").open("a") as file:
        file.write("\nt_span = (2, 8)\n")
    assert line("run", "tank.py").exit_code == 0
    assert line("run", "tank.py", "--until", 9).exit_code == 0
    assert [call["t_span"] for call in line.calls] == [(2.0, 8.0), (2.0, 9.0)]


@pytest.mark.hunt
def test_files_are_written_and_named(line: Any) -> None:
    done = line("run", "tank.py", "--until", 1, "--out", "a.nc", "--plot", "a.png")
    assert "result written to a.nc" in done.stdout
    assert "picture written to a.png" in done.stdout
    assert Result.load(line.folder / "a.nc").names == line.result.names
    assert (line.folder / "a.png").read_bytes().startswith(b"\x89PNG")


def test_quiet_prints_nothing(line: Any) -> None:
    done = line("run", "tank.py", "--until", 1, "--out", "a.csv", "-q")
    assert (done.output, done.exit_code) == ("", 0)
    assert (line.folder / "a.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tnak.py"], "there is no file tnak.py\n  try: tank.py"),
        (["."], "is a folder"),
        (["notes.txt"], "is no Python file"),
        (["tank.py:modle"], "no model 'modle' in tank.py\n  try: model"),
        (["tank.py:level"], "level in tank.py is a Variable, not a model\n  try: model"),
        (["tank.py"], "it is not said how long to simulate model\n  try: --until T, or t_span"),
        (["tank.py", "--until", "0"], "the end 0 does not lie after the start 0"),
        (["tank.py", "--until", "inf"], "--until inf is not finite"),
        (["tank.py", "--until", "soon"], "error: --until 'soon' is no time\n  try: a number, with a unit if you like: 20"),
        (["tank.py", "--until", "5 apples"], "error: --until '5 apples' is no time: the unit 'apples'"),
        (["tank.py", "--until", "5m"], "error: --until '5m' is no time: m is no unit of time\n  try: a number"),
        (["tank.py", "--until", "1e999"], "error: --until 1e999 is not finite\n"),
        (["tank.py", "--until"], "error: --until needs a value\n  try: --until VALUE"),
        (["tank.py", "--until", "1", "--rtol", "0"], "--rtol 0 is not positive"),
        (["tank.py", "--until", "1", "--rtol", "small"], "error: --rtol 'small' is no number\n  try: a number"),
        (["tank.py", "--until", "1", "--step", "nan"], "--step nan is not finite"),
        (["tank.py", "--until", "1", "--max-step", "-1"], "--max-step -1 is not positive"),
        (["tank.py", "--until", "1", "--points", "some"], "error: --points 'some' is no whole number\n  try: digits alone"),
        (["tank.py", "--until", "1", "--set", "level=1", "--set", "level(0)=1"], "given twice"),
        (["tank.py", "--until", "1", "--points", "1"], "--points 1 is less than two"),
        (["tank.py", "--until", "1", "--points", "5", "--step", "1"], "one of them"),
        (["tank.py", "--until", "1", "--record-disabled", "gone"], "--record-disabled gone is none of held, nan\n  try: --record-disabled nan"),
        (["tank.py", "--until", "1", "--set", "kk=1"], "no parameter or variable 'kk' in model tank\n  try: k"),
        (["tank.py", "--until", "1", "--set", "levle=1"], "no parameter or variable 'levle' in model tank\n  try: level"),
        (["tank.py", "--until", "1", "--set", "k"], "a name and a value are expected"),
        (["tank.py", "--until", "1", "--set", "k="], "a name and a value are expected"),
        (["tank.py", "--until", "1", "--set", "k=fast"], "'fast' is no number\n  try: a number in 1/s"),
        (["tank.py", "--until", "1", "--set", "k=1e999"], "the value is not finite"),
        (["tank.py", "--until", "1", "--set", "k=1", "--set", "k=2"], "given twice"),
        (["tank.py", "--until", "1", "--set", "length=2 s"], "error: --set length=2 s: s measures"),
        (["tank.py", "--until", "1", "--set", "length=2 parsnips"], "parsnips"),
        (["tank.py", "--until", "1", "--set", "count=2.5"], "count is integer, 2.5 is not"),
        (["tank.py", "--until", "1", "--set", "count=2 m"], "has no unit"),
        (["tank.py", "--until", "1", "--sensitivity", "K"], "no parameter 'K' in model tank\n  try: k"),
        (["tank.py", "--until", "1", "--out", "a.xls"], "ends in .nc or .csv"),
        (["tank.py", "--until", "1", "--plot", "a.bmp"], ".png, .svg or .pdf"),
        (["tank.py", "--until", "1", "--out", "no/a.nc"], "there is no folder no"),
        (["tank.py", "--until", "1", "--out", "to_nowhere.nc"], "there is no folder"),
        (["tank.py", "--until", "1", "--plot", "round.png"], "its symbolic links lead round in a circle\n  try: give another name"),
        (["tank.py", "--until", "1", "--out", "tank.py/a.nc"], "tank.py is no folder"),
        (["tank.py", "--until", "1", "--out", "folder.nc"], "it is a folder\n  try: give the name of a file in it"),
        (["tank.py", "--until", "1", "--csv", "a.csv"], "tidegate run has no option --csv\n  try: --out FILE, whose name ends in .nc or .csv"),
        (["tank.py", "--to", "1"], "tidegate run has no option --to\n  try: --until T"),
        (["tank.py", "-o", "a.nc", "--until", "1"], "tidegate run has no option -o\n  try: --out FILE"),
        (["tank.py", "--untill", "1"], "error: tidegate run has no option --untill\n  try: --until"),
        (["tank.py", "more", "--until", "1"], "error: got unexpected extra argument"),
        ([], "error: FILE[:MODEL] is missing\n  try: tidegate run tank.py --until 20"),
    ],
)
def test_wrong_usage_runs_nothing_and_ends_with_2(line: Any, arguments: list[str], sentence: str) -> None:
    line.write("notes.txt", "")
    (line.folder / "to_nowhere.nc").symlink_to("nowhere/a.nc")
    (line.folder / "round.png").symlink_to("round.png")
    (line.folder / "folder.nc").mkdir()
    done = line("run", *arguments)
    assert done.exit_code == 2, done.output
    assert sentence in done.stderr
    assert line.calls == []
    assert "Traceback" not in done.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("def f(:\n    pass\n", ["invalid syntax", "broken.py, line 1", "def f(:", "try: mend that line"]),
        ("import tank\nx = 1 / 0\n", ["ZeroDivisionError", "broken.py, line 2", "x = 1 / 0", "try: mend that line"]),
        ("import nowhere_at_all\n", ["No module named 'nowhere_at_all'", "broken.py, line 1", "try: pip install nowhere_at_all"]),
        ("import sys\nsys.exit(3)\n", ["ended itself with exit(3)", "__main__"]),
        ("x = 1\n", ["broken.py holds no model"]),
        ("from tank import model as a, TimeEvent\nb = a.__class__('b', a.form, a.variables)\n", ["holds 2 models", "broken.py:a or broken.py:b"]),
        ("from tank import model\nt_span = 5\n", ["t_span in broken.py is 5", "t_span = (0, 20)"]),
        ("class Model:\n    def lower(self):\n        return self.missing\n", ["AttributeError", "broken.py, line 3", "return self.missing"]),
        (
            "class Model:\n    def __init__(self, size): ...\n    def lower(self): ...\n",
            ["missing 1 required positional argument: 'size'", "model = Model(...)"],
        ),
        ("x = 1\0", ["broken.py is no text in Python"]),
        ("def f():\n    return f()\nf()\n", ["RecursionError", "  ... ", " more\n", "try: mend that line"]),
        ("raise MemoryError('748 GiB')\n", ["error: there is not enough memory: 748 GiB\n  try: fewer times"]),
    ],
)
def test_mistakes_in_the_file_show_its_own_lines_alone(line: Any, text: str, sentences: list[str]) -> None:
    line.write("broken.py", text)
    done = line("run", "broken.py", "--until", 1)
    for sentence in sentences:
        assert sentence in done.stderr
    assert "src/tidegate" not in done.output
    assert "Traceback" not in done.output
    assert line.calls == []


@pytest.mark.slow
def test_a_class_stands_for_its_default_instance(line: Any) -> None:
    line.write("parts.py", "import tank\nclass Part:\n    def lower(self):\n        return tank.model\n")
    assert line("run", "parts.py", "--until", 1).exit_code == 0
    assert type(line.calls[0]["source"]).__name__ == "Part"


@pytest.mark.slow
def test_an_instance_comes_before_its_class_and_imported_classes_do_not_count(line: Any) -> None:
    line.write("base.py", "import tank\nclass Base:\n    def lower(self):\n        return tank.model\n")
    line.write("parts.py", "from base import Base\nclass Part(Base): ...\nmine = Part()\nalias = mine\n")
    assert line("run", "parts.py", "--until", 1).exit_code == 0
    assert line("run", "parts.py:Part", "--until", 1).exit_code == 0


@pytest.mark.hunt
def test_a_failed_run_ends_with_1_and_its_result_is_written(line: Any, ball: Result) -> None:
    ball.status = "failed"

    def fail() -> None:
        raise StepSizeError("the step size collapsed", time=1.0, hint="a larger tolerance", result=ball)

    line.action = fail
    done = line("run", "tank.py", "--until", 20, "--out", "a.nc", "--plot", "a.png", "-q")
    assert done.exit_code == 1
    assert "error: the step size collapsed\n  try: a larger tolerance" in done.stderr
    assert "result up to the failure written to a.nc" in done.stderr
    assert Result.load(line.folder / "a.nc").status == "failed"


def test_a_model_that_cannot_run_ends_with_2(line: Any) -> None:
    def fail() -> None:
        raise StructureError("equation 3 determines nothing [or so]")

    line.action = fail
    done = line("run", "tank.py", "--until", 20)
    assert done.exit_code == 2
    assert "equation 3 determines nothing [or so]" in done.stderr


@pytest.mark.parametrize("error", [KeyboardInterrupt(), InterruptedRunError("stopped at 3.5")])
def test_ctrl_c_ends_with_130(line: Any, error: BaseException, ball: Result) -> None:
    if isinstance(error, InterruptedRunError):
        error.result = ball

    def interrupt() -> None:
        raise error

    line.action = interrupt
    done = line("run", "tank.py", "--until", 20, "--out", "a.csv")
    assert done.exit_code == 130
    assert "interrupted" in done.stderr
    assert (line.folder / "a.csv").exists() == isinstance(error, InterruptedRunError)


def test_an_exception_in_the_users_function_shows_its_line(line: Any) -> None:
    line.write("user.py", "def boom():\n    raise ValueError('no water')\n")

    def fail() -> None:
        from importlib import import_module

        try:
            import_module("user").boom()
        except ValueError as error:
            raise CallbackError("boom raised an exception at 2.5") from error

    line.action = fail
    done = line("run", "tank.py", "--until", 20)
    assert done.exit_code == 1
    assert "ValueError: no water" in done.stderr
    assert "user.py, line 2, in boom" in done.stderr


def test_a_mistake_of_ours_is_one_sentence(line: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tidegate.cli import run_command

    monkeypatch.setattr(run_command, "options_of", lambda *_: {}["gone"])
    monkeypatch.setattr("tidegate.user_frames.is_of_a_library", lambda _: True)
    done = line("run", "tank.py", "--until", 20)
    assert done.exit_code == 1
    assert "internal error: KeyError: 'gone'" in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.slow
def test_help_shows_an_example_for_every_command(line: Any) -> None:
    for command in ([], ["run"], ["show"], ["plot"]):
        done = line(*command, "--help")
        assert done.exit_code == 0
        assert "Example: tidegate" in done.stdout
    assert line("--version").stdout.startswith("tidegate ")
