"""A sweep in a file is the sweep in memory; a sweep that is stopped is taken up again, and a file is there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tidegate as tg
from random_models import Once
from tidegate.results.files import claimed
from tidegate.sweep import workers
from tidegate.sweep.files import opened


class Ball(tg.Component):
    h = tg.State(1.0, unit="m")
    v = tg.State(0.0, unit="m/s")
    w = tg.State(np.array([1.0, 2.0]))
    e = tg.Parameter(0.8)
    g = tg.Parameter(9.81, unit="m/s^2")

    def equations(self):
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -self.g
        yield tg.der(self.w) == -self.w

    @tg.when(lambda self: self.h < 0)
    def bounce(self):
        return {self.v: -self.e * tg.pre(self.v)}


GRID = {"e": [0.1, 0.8, 0.9, 1.0], "g": [1.0, 9.81, 20.0]}  # of which some come to rest, and fail


@pytest.fixture(scope="module")
def ball() -> Any:
    return Once(Ball())


class Stopped(Exception):
    """What a function of the caller raises."""


def stop_after(count: int) -> Any:
    def told(done: int, total: int) -> None:
        if done >= count:
            raise Stopped

    return told


def assert_same(one: xr.Dataset, other: xr.Dataset) -> None:
    assert set(one.variables) == set(other.variables)
    for name in one.variables:
        assert one[name].dims == other[name].dims, name
        left, right = one[name].values, other[name].values
        if left.dtype.kind == "f":
            assert left.tobytes() == right.tobytes(), name
        else:
            assert left.tolist() == right.tolist(), name
        assert dict(one[name].attrs) == dict(other[name].attrs), name
    assert one.sizes == other.sizes


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that there are some to be stopped between; else one may be all that is left."""
    monkeypatch.setattr(workers, "_MOST", 2)


@pytest.mark.hunt
@pytest.mark.parametrize("suffix", ["nc", "zarr"])
@pytest.mark.parametrize("outputs", [None, 0.5])
def test_a_file_is_the_sweep(ball: Any, tmp_path: Path, suffix: str, outputs: Any) -> None:
    options: dict[str, Any] = {"grid": GRID, "outputs": outputs, "sensitivities": "e"}
    path = tmp_path / f"sweep.{suffix}"
    found = tg.sweep(ball, (0.0, 2.0), out=path, **options)
    assert_same(found.load(), tg.sweep(ball, (0.0, 2.0), **options))
    found.close()
    again = opened(path)
    assert again["h"].attrs["units"] == "m"
    again.close()
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_a_stopped_sweep_is_taken_up_again(ball: Any, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"sweep.{suffix}"
    part = tmp_path / f"sweep.{suffix}.part"
    options: dict[str, Any] = {"grid": GRID, "outputs": 0.5}
    with pytest.raises(Stopped):
        tg.sweep(ball, (0.0, 2.0), out=path, workers=2, progress=stop_after(1), **options)
    assert not path.exists()
    with part.open("ab") as file:
        file.write(b"\x10\x00\x00\x00 a frame that was cut")
    with pytest.raises(tg.UsageError, match="has runs of a sweep that was stopped"):
        tg.sweep(ball, (0.0, 2.0), out=path, **options)
    other = claimed(part)
    with pytest.raises(tg.UsageError, match=r"sweep\.\w+\.part is being written by another run"):
        tg.sweep(ball, (0.0, 2.0), out=path, resume=True, **options)
    os.close(other)
    with pytest.raises(tg.UsageError, match="is of another sweep"):
        tg.sweep(ball, (0.0, 2.5), out=path, resume=True, **options)
    done: list[int] = []
    found = tg.sweep(ball, (0.0, 2.0), out=path, resume=True, progress=lambda count, total: done.append(count), **options)
    assert 1 < min(done) <= max(done) == 12
    assert_same(found.load(), tg.sweep(ball, (0.0, 2.0), **options))
    found.close()
    assert not part.exists()
    # whole: nothing is run again, and nothing else takes its place
    asked: list[int] = []
    with tg.sweep(ball, (0.0, 2.0), out=path, resume=True, progress=lambda count, total: asked.append(count), **options) as again:
        assert_same(again.load(), tg.sweep(ball, (0.0, 2.0), **options))
    assert not asked
    with pytest.raises(tg.UsageError, match="is of another sweep"):
        tg.sweep(ball, (0.0, 2.5), out=path, resume=True, **options)


@pytest.mark.slow
def test_ctrl_c_leaves_what_was_done(ball: Any, tmp_path: Path) -> None:
    path = tmp_path / "sweep.nc"

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(tg.InterruptedRunError, match=r"of 12 runs were done; they are in .*sweep\.nc\.part") as stopped:
        tg.sweep(ball, (0.0, 2.0), grid=GRID, out=path, progress=interrupt, workers=2)
    assert stopped.value.result is None
    with tg.sweep(ball, (0.0, 2.0), grid=GRID, out=path, resume=True) as found:
        assert_same(found.load(), tg.sweep(ball, (0.0, 2.0), grid=GRID))


@pytest.mark.slow
def test_an_old_file_stays_until_the_new_one_is_whole(ball: Any, tmp_path: Path) -> None:
    path = tmp_path / "sweep.nc"
    tg.sweep(ball, (0.0, 1.0), grid={"e": [0.5]}, out=path).close()
    with pytest.raises(Stopped):
        tg.sweep(ball, (0.0, 2.0), grid=GRID, out=path, progress=stop_after(2))
    with opened(path) as kept:
        assert kept["e"].values.tolist() == [0.5]


def test_a_folder_with_something_else_is_not_written_over(ball: Any, tmp_path: Path) -> None:
    folder = tmp_path / "thesis.zarr"
    folder.mkdir()
    (folder / "chapter.txt").write_text("years of work")
    with pytest.raises(tg.UsageError, match="something else in it"):
        tg.sweep(ball, (0.0, 1.0), grid={"e": [0.5]}, out=folder)
    assert (folder / "chapter.txt").read_text() == "years of work"
