"""Files give back what was put in, and are there whole or not at all."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from tidegate.errors import UsageError
from tidegate.export import load, save, to_csv, to_netcdf
from tidegate.results import Column, Result, written_whole


@pytest.mark.slow
def test_netcdf_gives_back_an_equal_result(ball: Result, tmp_path: Path) -> None:
    again = Result.load(ball.to_netcdf(tmp_path / "ball.nc"))
    assert again.dataset.identical(ball.dataset)
    assert again.columns == ball.columns
    assert list(again.events) == list(ball.events)
    assert again.statistics == ball.statistics
    assert again.parameters == ball.parameters
    assert again.options == ball.options
    assert (again.status, again.message) == (ball.status, ball.message)
    np.testing.assert_array_equal(again.at([0.1, 0.9])["h"], ball.at([0.1, 0.9])["h"])


def test_a_result_with_nothing_but_values_survives_too(tmp_path: Path) -> None:
    plain = Result("plain", [Column("x", unit="days")], [0.0, 1.0], [[1.0], [np.nan]])
    again = load(plain.to_netcdf(tmp_path / "plain.nc"))
    np.testing.assert_array_equal(again.values, plain.values)
    assert len(again.events) == 0
    assert again.sensitivities is None
    assert again.interpolant is None


@pytest.mark.slow
def test_netcdf_is_read_without_tidegate(ball: Result, tmp_path: Path) -> None:
    with xr.open_dataset(to_netcdf(ball, tmp_path / "ball.nc")) as dataset:
        assert dataset["h"].attrs["units"] == "m"
        assert dataset["event_cause"].values.tolist() == ["h < 0"] * 4
        assert dataset["event_dt_dp"].sel(parameter="e").values.tolist() == [0.5, 1.5, 2.5, 3.5]


def test_csv_keeps_every_digit(ball: Result, tmp_path: Path) -> None:
    with to_csv(ball, tmp_path / "ball.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:3] == ["time", "h", "v"]
    assert "d(v)/d(g)" in header
    numbers = np.array(rows, dtype=float)
    np.testing.assert_array_equal(numbers[:, 0], ball.t)
    np.testing.assert_array_equal(numbers[:, header.index("d(v)/d(g)")], ball.sensitivity("v", "g"))


def test_pandas_table_has_time_as_index(ball: Result) -> None:
    frame = ball.to_dataframe(sensitivities=True)
    np.testing.assert_array_equal(frame.index, ball.t)
    np.testing.assert_array_equal(frame["x[1]"], ball["x[1]"])
    np.testing.assert_array_equal(frame["d(h)/d(e)"], ball.sensitivity("h", "e"))
    assert frame.attrs["units"]["h"] == "m"


def test_the_suffix_decides_and_others_are_refused(ball: Result, tmp_path: Path) -> None:
    assert save(ball, tmp_path / "a.CSV").read_text().startswith("time,")
    with pytest.raises(UsageError, match=r"ends in \.nc or \.csv"):
        ball.save(tmp_path / "a.xlsx")


@pytest.mark.parametrize("content", [None, "no netcdf at all"])
def test_what_is_no_result_is_refused(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "x.nc"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=r"there is no file|is no NetCDF file"):
        load(path)


def test_a_foreign_netcdf_file_is_refused(tmp_path: Path) -> None:
    xr.Dataset({"a": ("b", [1.0])}).to_netcdf(tmp_path / "x.nc", engine="netcdf4")
    with pytest.raises(UsageError, match="is no result of tidegate"):
        load(tmp_path / "x.nc")


def test_a_failed_writing_leaves_the_older_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("older")

    def broken() -> None:
        with written_whole(path) as draft:
            draft.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    assert path.read_text() == "older"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_a_missing_folder_is_said(ball: Result, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        ball.to_csv(tmp_path / "nowhere" / "a.csv")
