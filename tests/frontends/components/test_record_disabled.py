"""Variables of parts that are switched off, shown as missing: which, where, and everywhere a result is looked at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.library import electrical as el
from tidegate.plot.curves import Times
from tidegate.plot.panels import value_panels

OFTEN: dict[str, Any] = {"rtol": 1e-8, "sensitivities": ["room[0].heater.k"]}


class Heater(tg.Component):
    """One state, one algebraic variable, one discrete variable, one output, one input."""

    q, twice, strokes = tg.State(0.0), tg.Algebraic(), tg.Discrete(0)
    k, u = tg.Parameter(1.0), tg.InputSignal()
    shown = tg.Output(lambda self: self.q**2)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.q) == self.k * self.u - self.q
        yield self.twice == 2 * self.q

    @tg.every(0.3)
    def stroke(self) -> Any:
        return {self.strokes: self.strokes + 1}


class Room(tg.Component):
    """A part that switches its own part."""

    T, first = tg.State(1.0), tg.Parameter(1.0)
    heater = Heater()

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.T) == -0.1 * self.T
        yield self.heater.u == tg.time
        yield tg.enable(self.heater, when=np.sin(3 * tg.time + self.first) > 0)


class House(tg.Component):
    room = tg.Array(Room, 2, first=[1.0, 2.0])
    light = tg.State(0.0)
    total = tg.Output(lambda self: self.room[0].heater.q + self.room[1].heater.q)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.light) == 1.0
        yield tg.enable(self.room[0], when=(tg.time - 2.0) ** 2 > 0.75**2)


def house_is_on(name: str, t: float) -> bool:
    """Whether a variable is there, by the text of the model."""
    if not name.startswith("room[") or name.endswith(".enabled"):
        return True
    number = int(name[5])
    room = number == 1 or abs(t - 2.0) > 0.75
    # the input of the heater is what the room says it is
    return room and ("heater" not in name or name.endswith("heater.u") or math.sin(3 * t + 1.0 + number) > 0)


@pytest.fixture(scope="module")
def model() -> Any:
    return House().lower()


@pytest.fixture(scope="module")
def held(model: Any) -> tg.Result:
    return tg.simulate(model, (0.0, 4.0), **OFTEN)


@pytest.fixture(scope="module")
def hidden(model: Any) -> tg.Result:
    return tg.simulate(model, (0.0, 4.0), record_disabled="nan", **OFTEN)


@pytest.mark.slow
def test_values_are_missing_exactly_where_a_part_is_off(held: tg.Result, hidden: tg.Result) -> None:
    instants = set(held.events.times)
    inside = [k for k, t in enumerate(held.t.tolist()) if t not in instants]
    names = [column.name for column in held.columns if not column.is_hidden]
    assert {"room[0].heater.shown", "room[1].heater.strokes", "room[0].T", "total"} <= set(names)
    for name in names:
        there = np.array([house_is_on(name, float(t)) for t in held.t[inside]])
        assert np.array_equal(np.isnan(hidden[name].values[inside]), ~there), name
    k = np.isnan(hidden.values)
    assert np.array_equal(hidden.values[~k], held.values[~k])
    assert not np.isnan(held.values).any()


def test_dense_results_final_values_and_derivatives_are_missing_too(held: tg.Result, hidden: tg.Result) -> None:
    times = np.linspace(0.03, 3.97, 101)
    for name in ("room[0].heater.q", "room[0].heater.twice", "room[0].heater.strokes", "room[1].heater.shown", "room[0].T", "total"):
        there = [house_is_on(name, t) for t in times]
        found, wanted = hidden.at(times, name).values, held.at(times, name).values
        assert np.array_equal(~np.isnan(found), there), name
        assert np.array_equal(found[there], wanted[there]), name
        assert math.isnan(hidden.final[name]) is not house_is_on(name, 4.0)
    slopes = hidden.sensitivity("room[0].heater.q", "room[0].heater.k").values
    assert np.array_equal(np.isnan(slopes), np.isnan(hidden["room[0].heater.q"].values))


def test_both_sides_of_an_event_are_told_apart(hidden: tg.Result) -> None:
    off = next(event.time for event in hidden.events if "room[0] off" in event.causes)
    assert math.isnan(hidden.at(off, "room[0].T"))
    assert hidden.at(off, "room[0].T", side="left") == pytest.approx(math.exp(-0.1 * off), rel=1e-6)
    rows = hidden["room[0].T"].values[hidden.t == off]
    assert [math.isnan(value) for value in rows] == [False, True]
    # the log says what is held
    event = next(event for event in hidden.events if event.time == off)
    assert event.after["room[0].T"] == pytest.approx(math.exp(-0.1 * off), rel=1e-6)


@pytest.mark.slow
def test_files_keep_what_is_missing(hidden: tg.Result, tmp_path: Path) -> None:
    for name in ("house.nc", "house.csv"):
        loaded = tg.Result.load(hidden.save(tmp_path / name))
        assert np.array_equal(loaded["room[0].heater.q"].values, hidden["room[0].heater.q"].values, equal_nan=True)
    loaded = tg.Result.load(tmp_path / "house.nc")
    assert loaded.columns == hidden.columns
    assert np.isnan(loaded.at([0.5, 2.0], "room[0].T").values).tolist() == [False, True]


def test_curves_have_gaps(hidden: tg.Result) -> None:
    curve = next(curve for panel in value_panels(hidden, ["room[0].T"]) for curve in panel.curves)
    t, y = Times(hidden).points(curve)
    assert np.isnan(y[(t > 1.26) & (t < 2.74)]).all()
    assert np.isfinite(y[t < 1.24]).all()
    assert np.count_nonzero(t < 1.24) > 100


def test_a_simulation_that_is_saved_goes_on_with_what_is_held(model: Any, hidden: tg.Result, tmp_path: Path) -> None:
    simulation = tg.Simulation(model, record_disabled="nan", **OFTEN)
    simulation.advance(2.0)
    assert simulation["room[0].T"] == pytest.approx(math.exp(-0.125), rel=1e-6)  # what is held can be looked at, and set
    simulation.save(tmp_path / "house.tgs")
    again = tg.Simulation.load(tmp_path / "house.tgs", model)
    again.advance(4.0)
    result = again.finish()
    assert math.isnan(result.at(2.0, "room[0].T"))
    assert result.final["room[0].T"] == pytest.approx(math.exp(-0.25), rel=1e-6)
    with pytest.raises(tg.UsageError, match="record_disabled cannot be changed once a simulation has begun"):
        tg.Simulation(model).advance(1.0, record_disabled="nan")


@pytest.mark.hunt
def test_a_result_with_missing_values_is_verified(hidden: tg.Result) -> None:
    check = tg.verify(hidden, points=4)
    assert check.ok, check
    tampered = tg.simulate(House(), (0.0, 4.0), record_disabled="nan", rtol=1e-8)
    k = tampered.column("room[0].T")
    tampered.values[np.flatnonzero(np.isnan(tampered.values[:, k]))[3], k] = 0.5
    assert "has a value in the row at" in str(tg.verify(tampered, points=4))
    tampered.values[3, tampered.column("room[1].heater.q")] = np.nan
    assert "has no value in the row at" in str(tg.verify(tampered, points=4))


def test_connectors_of_a_part_that_is_off_still_have_their_values() -> None:
    class Circuit(tg.Component):
        s, r, load, g = el.ConstantVoltage(V=2.0), el.Resistor(R=1.0), el.Resistor(R=1.0), el.Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.r.p)
            yield tg.connect(self.r.n, self.load.p)
            yield tg.connect(self.load.n, self.s.n, self.g.p)
            yield tg.enable(self.load, when=tg.time > 1.0)

    result = tg.simulate(Circuit(), (0.0, 2.0), record_disabled="nan")
    assert result.at(0.5, "load.p.v") == pytest.approx(2.0)
    assert result.at(0.5, "load.p.i") == pytest.approx(0.0, abs=1e-12)
    assert math.isnan(result.at(0.5, "load.v"))
    assert result.at(1.5, "load.v") == pytest.approx(1.0)


def test_another_word_is_refused() -> None:
    with pytest.raises(tg.UsageError, match="record_disabled is 'none'"):
        tg.simulate(Room(), (0.0, 1.0), record_disabled="none")


@pytest.mark.slow
def test_parts_of_a_component_from_a_file_are_missing_too(tmp_path: Path, hidden: tg.Result) -> None:
    Stored = tg.load_component(tg.precompile(House(), tmp_path / "house.tgm"))

    class Street(tg.Component):
        house = Stored()

    result = tg.simulate(Street(), (0.0, 4.0), record_disabled="nan", rtol=1e-8)
    times = np.linspace(0.03, 3.97, 101)
    for name in ("room[0].heater.q", "room[1].heater.strokes", "room[0].T"):
        found = np.isnan(result.at(times, f"house.{name}").values)
        assert np.array_equal(found, np.isnan(hidden.at(times, name).values)), name
