"""What the package puts into a model for itself: no result lists it, files keep it, and its own name leads to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tidegate as tg
from tidegate.cli.app import app
from tidegate.description import describe
from tidegate.plot.panels import value_panels


class Heater(tg.Component):
    q, twice, strokes, period = tg.State(0.0), tg.Algebraic(), tg.Discrete(0), tg.Discrete(0.3)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.q) == 1.0 - self.q
        yield self.twice == 2 * self.q

    @tg.every(lambda self: self.period)
    def stroke(self) -> Any:
        return {self.strokes: self.strokes + 1, self.period: 0.4}


class Room(tg.Component):
    """Parts that go off, a clock of a period that varies, and a clause with equations: each puts in variables of its own."""

    heater = Heater()
    T, level = tg.State(1.0), tg.Discrete(0.5)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.T) == self.heater.twice - self.T
        yield tg.enable(self.heater, when=(tg.time < 1.0) | (tg.time > 2.0))

    @tg.every(0.5)
    def measure(self) -> Iterator[Any]:
        yield self.level == 0.5 * self.T + 0.1


OWN = {"heater.q", "heater.twice", "heater.strokes", "heater.period", "heater.enabled", "T", "level"}


@pytest.fixture(scope="module")
def result() -> tg.Result:
    return tg.simulate(Room(), (0.0, 3.0), rtol=1e-8, sensitivities=[])


@pytest.mark.slow
def test_results_list_the_users_variables_only(result: tg.Result) -> None:
    hidden = {column.name for column in result.columns if column.is_hidden}
    assert hidden == {column.name for column in result.columns} - OWN
    assert {"kept(heater.twice)", "kept(level)"} <= hidden
    assert set(result.names) == set(result.final) == set(result.to_dataframe().columns) == set(result.at(0.5).data_vars) == OWN
    assert {str(name) for name in result.dataset.data_vars if not str(name).startswith("event_")} == OWN
    assert not any(name in str(result) or name in result._repr_html_() for name in hidden)
    assert not {curve.label for panel in value_panels(result, ()) for curve in panel.curves} - OWN


def test_what_is_hidden_can_be_asked_for_by_name(result: tg.Result) -> None:
    level = result["kept(level)"]
    assert "kept(level)" in result
    np.testing.assert_allclose(level.values[-1], 0.5 * result.at(3.0, "T") + 0.1, rtol=1e-6)


@pytest.mark.slow
def test_a_run_that_is_kept_goes_on_as_if_it_had_not_ended(tmp_path: Path) -> None:
    whole = tg.simulate(Room(), (0.0, 3.0), rtol=1e-8)
    first = tg.Simulation(Room(), rtol=1e-8)
    first.advance(1.5)  # the heater is off
    assert set(first.keys()) == {*OWN, *first.discretes} == OWN
    second = tg.Simulation.load(first.save(tmp_path / "half.nc"), Room())
    second.advance(3.0)
    assert second.result.final == pytest.approx(whole.final, rel=1e-6)


@pytest.mark.slow
def test_files_keep_what_a_verification_needs(result: tg.Result, tmp_path: Path) -> None:
    read = tg.Result.load(result.to_netcdf(tmp_path / "room.nc"))
    assert (read.names, read.columns) == (result.names, result.columns)
    np.testing.assert_array_equal(read.values, result.values)
    assert tg.verify(read, Room()).ok
    assert tg.Result.load(result.to_csv(tmp_path / "room.csv")).names == result.names

    class Switched(tg.Component):
        heater = Heater()

        def equations(self) -> Iterator[Any]:
            yield tg.enable(self.heater, when=(tg.time < 1.0) | (tg.time > 2.0))

    switched = tg.simulate(Switched(), (0.0, 3.0), rtol=1e-8)
    assert tg.verify(tg.Result.load(switched.to_netcdf(tmp_path / "switched.nc")), Switched()).ok


@pytest.mark.slow
def test_run_shows_no_values_of_a_part_that_is_off_where_it_is_asked_to() -> None:
    shown = CliRunner().invoke(app, ["run", f"{__file__}:Room", "--until", "1.5", "--record-disabled", "nan"])
    assert shown.exit_code == 0, shown.output
    assert re.search(r"heater\.q +nan", shown.output)
    assert not re.search(r"\bT +nan", shown.output)


@pytest.mark.slow
def test_neither_show_nor_run_names_them() -> None:
    assert {variable.name for variable in describe(Room()).variables} == OWN
    shown = CliRunner().invoke(app, ["run", f"{__file__}:Room", "--until", "3"])
    assert shown.exit_code == 0, shown.output
    assert "heater.enabled" in shown.output
    assert not any(text in shown.output for text in ("kept(", "active(", "next("))
