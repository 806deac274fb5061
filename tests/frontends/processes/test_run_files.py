"""Files of a run: whatever end it comes to, everything written is on disk and closed, and a run that goes on writes on."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

import tidegate as tg
from tidegate.frontends.processes import Environment, Group

__all__: list[str] = []

Gen = Generator[Any, Any, Any]


class Sink(io.StringIO):
    """Something that is closed once and for all; it remembers what was in it."""

    kept = ""
    flushed = 0

    def flush(self) -> None:
        self.flushed += 1
        super().flush()

    def close(self) -> None:
        if not self.closed:
            self.kept = self.getvalue()
        super().close()


def writing(folder: Path, **options: Any) -> tuple[Environment, Any, Sink, Path]:
    """A model that writes its time around every event."""
    env = Environment(dtmax=0.1, compiled=False, **options)
    x = env.variable(0.0)
    body = env.continuous(lambda: setattr(x, "rate", 1.0))
    path = folder / "rows.txt"
    file, sink = env.open(path), env.register(Sink())
    env.sample(lambda: (print(f"{env.now:g}", file=file), sink.write("."))[0], every=0.5).start()
    Group(x, body).start()
    return env, x, sink, path


def raising(error: BaseException) -> Callable[[Environment], None]:
    def deed(env: Environment) -> None:
        def fail() -> None:
            if env.now > 0.55:
                raise error

        env.continuous(fail).start()

    return deed


ENDS: dict[str, tuple[Callable[[Environment], Any], type[BaseException] | None]] = {
    "until": (lambda env: None, None),
    "exception in a body": (raising(ValueError("mine")), ValueError),
    "Ctrl-C": (raising(KeyboardInterrupt()), KeyboardInterrupt),
    "exit": (raising(SystemExit()), SystemExit),
    "refusal": (lambda env: env.continuous(lambda: env.timeout(1.0) and None if env.now > 0.55 else None).start(), tg.ProcessError),
    "exception in a process": (lambda env: env.process(failing_process(env)), ZeroDivisionError),
}


def failing_process(env: Environment) -> Gen:
    yield env.timeout(0.6)
    raise ZeroDivisionError


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("is_block", [False, True])
def test_at_every_kind_of_end_everything_is_written_and_closed(end: str, is_block: bool, tmp_path: Path) -> None:
    env, _, sink, path = writing(tmp_path)
    prepare, expected = ENDS[end]
    prepare(env)

    def run() -> None:
        if not is_block:
            env.run(until=2)
            return
        with env:
            try:
                env.run(until=2)
            finally:
                assert path.read_text(encoding="utf-8").startswith("0\n0.5\n")
                assert not sink.closed
                assert sink.flushed

    if expected is None:
        run()
        assert path.read_text(encoding="utf-8") == "0\n0.5\n1\n1.5\n2\n"
    else:
        with pytest.raises(expected):
            run()
        assert path.read_text(encoding="utf-8").startswith("0\n0.5\n")
    assert sink.closed
    assert len(sink.kept) == path.read_text(encoding="utf-8").count("\n")


def test_a_run_in_parts_writes_on_where_it_was(tmp_path: Path) -> None:
    env = Environment(0.0)
    path = tmp_path / "parts.csv"
    rows = csv.writer(env.open(path, newline=""), lineterminator="\n")
    env.sample(lambda: rows.writerow([env.now]), every=1.0).start()
    env.run(until=1)
    assert path.read_text(encoding="utf-8") == "0.0\n1.0\n"
    env.run(until=3)
    assert path.read_text(encoding="utf-8").splitlines()[-2:] == ["2.0", "3.0"]
    assert path.read_text(encoding="utf-8").startswith("0.0\n1.0\n")


def test_a_repaired_run_writes_on_and_what_is_registered_is_closed_at_its_end_only(tmp_path: Path) -> None:
    env, x, sink, path = writing(tmp_path, abserror=1e-7, relerror=0.0, dtmin=0.03)
    env.continuous(lambda: setattr(x, "rate", 1.0 if env.now < 1.23 else 2.0), priority=-1.0).start()
    with pytest.raises(tg.ProcessError) as caught:
        env.run(until=2)
    assert path.read_text(encoding="utf-8") == "0\n0.5\n1\n"
    assert not sink.closed
    caught.value.resume(dtmin=1e-9)
    assert path.read_text(encoding="utf-8") == "0\n0.5\n1\n1.5\n2\n"
    assert sink.kept == "....."


@pytest.mark.parametrize("how", ["dialogue", "by hand"])
def test_a_run_that_is_left_is_closed_behind_the_last_look_of_its_samples(how: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"on_error": [""], "prologue": False} if how == "dialogue" else {}
    env, x, sink, path = writing(tmp_path, abserror=1e-7, relerror=0.0, dtmin=0.03, **options)
    env.continuous(lambda: setattr(x, "rate", 1.0 if env.now < 1.23 else 2.0), priority=-1.0).start()
    with pytest.raises(tg.ProcessError):
        env.run(until=2)
    if how == "by hand":
        env.leave()
    assert path.read_text(encoding="utf-8") == f"0\n0.5\n1\n{env.now:g}\n"
    assert sink.kept == "...."


def test_files_are_read_on_where_a_run_has_stopped_reading(tmp_path: Path) -> None:
    path = tmp_path / "inflow.txt"
    path.write_text("".join(f"{k}\n" for k in range(6)), encoding="utf-8")
    env = Environment()
    inflow = env.open(path, "r")
    got: list[int] = []

    def feed() -> Gen:
        for line in inflow:
            got.append(int(line))
            yield env.timeout(1.0)

    env.process(feed())
    env.run(until=2.5)
    assert got == [0, 1, 2]
    env.run()
    assert got == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("mode", "text"), [("w", "onetwo"), ("w+", "onetwo"), ("a", "zero onetwo"), ("r+", "onetwo"), ("x", "onetwo")])
def test_a_file_goes_on_in_the_way_it_was_opened(mode: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    if mode != "x":
        path.write_text("zero " if mode == "a" else "", encoding="utf-8")
    env = Environment()
    file = env.open(path, mode)
    file.write("one")
    env.timeout(1.0)
    env.run()
    assert path.read_text(encoding="utf-8") == text.removesuffix("two")
    file.writelines(["t", "wo"])
    env.run(until=2)
    assert path.read_text(encoding="utf-8") == text


def test_bytes_are_written_as_well_and_what_its_user_closes_stays_closed(tmp_path: Path) -> None:
    env = Environment()
    with env.open(tmp_path / "bytes", "wb") as file:
        file.write(b"\x00\x01")
    assert (tmp_path / "bytes").read_bytes() == b"\x00\x01"
    assert file.closed
    env.run(until=1)
    with pytest.raises(ValueError, match="closed file"):
        file.write(b"\x02")


def test_one_that_cannot_be_closed_does_not_keep_others_open_nor_hide_what_was_wrong(tmp_path: Path) -> None:
    class Full(Sink):
        def close(self) -> None:
            super().close()
            raise OSError("no space left")

    env, _, sink, _ = writing(tmp_path)
    env.register(Full())
    with pytest.raises(OSError, match="no space left"):
        env.run(until=2)
    assert sink.closed
    env, _, sink, _ = writing(tmp_path)
    env.register(Full())
    raising(ValueError("mine"))(env)
    with pytest.raises(ValueError, match="mine") as caught:
        env.run(until=2)
    assert "and a file of the run could not be closed: OSError: no space left" in caught.value.__notes__
    assert sink.closed


def test_what_cannot_be_closed_is_refused() -> None:
    with pytest.raises(tg.UsageError, match="3 cannot be closed"):
        Environment().register(3)  # type: ignore[type-var]


def test_simpys_own_runs_are_watched_for_the_sake_of_their_files(tmp_path: Path) -> None:
    env = Environment()
    file = env.open(tmp_path / "log.txt")

    def clock() -> Gen:
        while True:
            file.write(f"{env.now} ")
            yield env.timeout(1)

    env.process(clock())
    env.run(until=3)
    assert (tmp_path / "log.txt").read_text(encoding="utf-8") == "0 1 2 "
