"""Rows appended while a run goes on are readable at every moment, cut anywhere, and vanish when the whole file is there."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.errors import UsageError
from tidegate.export import Appended, part_of, to_csv
from tidegate.results import Event, Result
from tidegate.results.frames import MAGIC, packed

FORMATS = pytest.mark.parametrize("name", ["ball.nc", "ball.csv"])


def pieces(result: Result, count: int) -> list[Result]:
    """A result in parts, as a run hands them over."""
    edges = np.linspace(0, result.t.size, count + 1).astype(int)
    parts: list[Result] = []
    for first, last in pairwise(edges):
        assert result.sensitivities is not None
        times = result.t[first:last]
        parts.append(
            Result(
                result.model_name,
                result.columns,
                times,
                result.values[first:last],
                parameters=result.parameters,
                sensitivity_parameters=result.sensitivity_parameters,
                sensitivities=result.sensitivities[first:last],
                events=[event for event in result.events if first <= np.flatnonzero(result.t == event.time)[-1] < last],
                status="unfinished",
                parameter_units=result.parameter_units,
                time_unit="s",
            )
        )
    return parts


@FORMATS
def test_what_was_appended_reads_like_the_whole(tmp_path: Path, ball: Result, name: str) -> None:
    with Appended(tmp_path / name) as rows:
        for part in pieces(ball, 3):
            rows(part)
    result = Result.load(part_of(tmp_path / name))
    assert np.array_equal(result.t, ball.t)
    assert np.array_equal(result.values, ball.values)
    assert np.array_equal(result.sensitivities, ball.sensitivities)
    assert (result.status, result.success) == ("unfinished", False)
    assert "did not end" in result.message
    if name.endswith(".nc"):
        assert list(result.events) == list(ball.events)
        assert (result.model_name, result.parameters, result.parameter_units) == (ball.model_name, ball.parameters, ball.parameter_units)
        assert (result.time_unit, result.events.time_unit) == ("s", "s")


@pytest.mark.slow
@FORMATS
def test_a_file_cut_anywhere_gives_its_complete_rows(tmp_path: Path, ball: Result, name: str) -> None:
    with Appended(tmp_path / name) as rows:
        for part in pieces(ball, ball.t.size):
            rows(part)
    path = part_of(tmp_path / name)
    data = path.read_bytes()
    lengths: list[int] = []
    for size in range(0, len(data), max(len(data) // 150, 1)):
        path.write_bytes(data[:size])
        try:
            result = Result.load(path)
        except UsageError:
            lengths.append(0)  # nothing to read, and it is said
            continue
        lengths.append(result.t.size)
        assert np.array_equal(result.values, ball.values[: result.t.size])
    assert lengths == sorted(lengths)
    assert lengths[-1] >= ball.t.size - 1


def test_what_comes_behind_damage_is_left_out(tmp_path: Path, ball: Result) -> None:
    with Appended(tmp_path / "ball.nc") as rows:
        for part in pieces(ball, 3):
            rows(part)
    path = part_of(tmp_path / "ball.nc")
    data = bytearray(path.read_bytes())
    data[-10] ^= 1
    path.write_bytes(bytes(data))
    assert Result.load(path).t.tolist() == ball.t[: 2 * ball.t.size // 3].tolist()


@FORMATS
def test_the_whole_file_takes_the_place_of_the_part(tmp_path: Path, ball: Result, name: str) -> None:
    with Appended(tmp_path / name) as rows:
        rows(ball)
        rows.finish(ball)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert np.array_equal(Result.load(tmp_path / name).values, ball.values)


def test_a_missing_file_is_told_of_its_part(tmp_path: Path, ball: Result) -> None:
    with Appended(tmp_path / "ball.nc") as rows:
        rows(ball)
    with pytest.raises(UsageError, match=r"there is no file .*, but there are the rows of a run that did not end\n  try: .*ball.nc.part"):
        Result.load(tmp_path / "ball.nc")


def test_rows_of_an_earlier_run_are_set_aside(tmp_path: Path, ball: Result) -> None:
    for _ in range(3):
        with Appended(tmp_path / "ball.csv") as rows:
            rows(ball)
    assert rows.set_aside == tmp_path / "ball.csv.part.2"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ball.csv.part", "ball.csv.part.1", "ball.csv.part.2"]
    assert np.array_equal(Result.load(tmp_path / "ball.csv.part.1").values, ball.values)


def test_a_file_that_another_run_is_writing_is_refused_and_left_alone(tmp_path: Path, ball: Result) -> None:
    path = tmp_path / "ball.csv"
    with Appended(path) as first:
        with pytest.raises(UsageError, match=r"ball.csv.part is being written by another run\n  try: name another file"):
            Appended(path).__enter__()
        first(ball)
        with pytest.raises(UsageError, match="is being written by another run"):
            Appended(path)(ball)
        assert Result.load(part_of(path)).t.size == ball.t.size
        first.finish(ball)
        assert [item.name for item in tmp_path.iterdir()] == ["ball.csv"]
    with Appended(path) as second:
        second(ball)
        second.finish(ball)
    assert [item.name for item in tmp_path.iterdir()] == ["ball.csv"]


def test_a_run_that_never_began_leaves_everything_as_it_was(tmp_path: Path, ball: Result) -> None:
    with Appended(tmp_path / "ball.csv"):
        pass
    assert not list(tmp_path.iterdir())
    with Appended(tmp_path / "ball.csv") as killed:
        killed(ball)
    with Appended(tmp_path / "ball.csv"):
        pass
    assert [item.name for item in tmp_path.iterdir()] == ["ball.csv.part"]
    assert Result.load(tmp_path / "ball.csv.part").t.size == ball.t.size


def test_a_folder_that_does_not_exist_is_told_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*ball.nc: there is no folder"):
        Appended(tmp_path / "none" / "ball.nc").__enter__()
    with pytest.raises(UsageError, match="cannot save a result as"):
        Appended(tmp_path / "ball.txt")


def test_a_full_disk_does_not_end_the_run(tmp_path: Path, ball: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_file: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with Appended(tmp_path / "ball.nc") as rows:
        monkeypatch.setattr(os, "write", full)
        with pytest.warns(RuntimeWarning, match="No space left on device; the run goes on"):
            rows(ball)
        rows(ball)  # and is told so once


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "holds no rows"),
        (MAGIC, "holds no rows"),
        (MAGIC + packed("journal", {"format": 99, "tidegate": "9.1"}), "has format 99, of tidegate 9.1"),
        (b"\x80\x04\x95 a pickle", "is no NetCDF file"),
    ],
)
def test_files_that_hold_nothing_to_read_are_told(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "x.nc.part"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=sentence):
        Result.load(path)


def test_a_table_of_others_is_refused(tmp_path: Path) -> None:
    for text in ("a,b\n1,2\n", "time,x\n1,two\n", "time,x\n1,2,3\n", "\n"):
        path = tmp_path / "x.csv"
        path.write_text(text)
        with pytest.raises(UsageError, match="is no table of tidegate"):
            Result.load(path)


def test_a_table_is_read_back(tmp_path: Path, ball: Result) -> None:
    result = Result.load(to_csv(ball, tmp_path / "ball.csv"))
    assert np.array_equal(result.values, ball.values)
    assert np.array_equal(result.sensitivities, ball.sensitivities)
    assert (result.names, result.status) == (ball.names, "finished")


# -- while a run goes on -----------------------------------------------------------------------------------------------------------------------


class Swing(tg.Component):
    x = tg.State(1.0)
    v = tg.State(0.0)
    turns = tg.Discrete(0)
    w = tg.Parameter(1.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.v
        yield tg.der(self.v) == -self.w * self.x

    @tg.when(lambda self: self.x < 0)
    def down(self) -> Any:
        return {self.turns: self.turns + 1}


@pytest.mark.slow
def test_rows_grow_while_a_run_goes_on_and_the_result_is_written_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "swing.nc"
    seen: list[Result] = []

    def look(_part: Result) -> None:
        seen.append(Result.load(part_of(path)))

    result = tg.simulate(Swing(), (0.0, 50.0), sensitivities="all", out=path, on_rows=look)
    assert [file.name for file in tmp_path.iterdir()] == ["swing.nc"]
    assert np.array_equal(Result.load(path).values, result.values)
    last = seen[-1]
    assert np.array_equal(last.t, result.t)
    assert np.array_equal(last.sensitivities, result.sensitivities)
    assert list(last.events) == list(result.events)
    assert last.at([20.0], ["x"])["x"].values == result.at([20.0], ["x"])["x"].values
    assert last.statistics.steps == result.statistics.steps


def test_a_failed_run_is_saved_as_far_as_it_came(tmp_path: Path) -> None:
    path = tmp_path / "swing.csv"
    with pytest.raises(tg.TooManyStepsError) as caught:
        tg.simulate(Swing(), (0.0, 50.0), out=path, max_steps=10)
    assert [file.name for file in tmp_path.iterdir()] == ["swing.csv"]
    assert Result.load(path).t.tolist() == caught.value.result.t.tolist()


def test_a_run_ended_by_something_else_leaves_its_rows(tmp_path: Path) -> None:
    def enough(_t: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError):
        tg.simulate(Swing(), (0.0, 50.0), out=tmp_path / "swing.csv", progress=enough)
    assert Result.load(tmp_path / "swing.csv.part").t.size >= 1


def test_an_event_keeps_its_words(tmp_path: Path, ball: Result) -> None:
    event = Event(0, 0.5, "set", ("a, b", 'c "d"'), messages=("line\nbreak",), before={"x[0]": 1.0}, after={"x[0]": float("nan")})
    ball.events = tg.simulate(Swing(), (0.0, 1.0)).events.where(lambda _: False)
    part = pieces(ball, 1)[0]
    part.events = type(part.events)([event])
    with Appended(tmp_path / "ball.nc") as rows:
        rows(part)
    (again,) = Result.load(tmp_path / "ball.nc.part").events
    assert str(again) == str(event)
    assert again.messages == event.messages
