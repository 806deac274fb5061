"""Truth values are shown as such, wherever a model declares one or a condition gives one; arrays of a result hold numbers."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate import blocks


class Heater(tg.Component):
    """Warm from the first event on; the valve is a number, though it is 0 or 1."""

    T = tg.State(15.0)
    on, flags = tg.Discrete(True), tg.Discrete([True, False])
    eco = tg.Parameter(False)
    mode = tg.Discrete("heats", values=("heats", "rests"))
    warm = tg.Output(lambda self: self.T > 16.0)
    both = tg.Output(lambda self: self.on and self.T > 16.0)
    same = tg.Output(lambda self: self.on)
    valve = tg.Output(lambda self: 1.0 if self.T > 16.0 else 0.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.T) == (5.0 if self.on else 0.0) - 0.2 * (self.T - 10.0)

    @tg.when(lambda self: self.T > 20.0)
    def stop(self) -> Any:
        return {self.on: False, self.flags: [False, True], self.mode: "rests"}


class Switched(tg.Component):
    """Off from the start on, and on at the end."""

    x, on = tg.State(1.0), tg.Discrete(True)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == (1.0 if self.on else -self.x)

    @tg.initially
    def begin(self) -> Any:
        return {self.on: False}

    @tg.finally_
    def end(self) -> Any:
        return {self.on: True}


@pytest.mark.slow
def test_what_is_done_at_the_start_and_at_the_end_tells_truth_values_too(tmp_path: Path) -> None:
    result = tg.simulate(Switched(), (0.0, 1.0))
    again = tg.Result.load(result.to_netcdf(tmp_path / "switched.nc"))
    for one in (result, again):
        final = one.events[-1]
        assert (final.kind, repr(final.before["on"]), repr(final.after["on"])) == ("final", "False", "True")
        assert all(isinstance(event.after["on"], bool) for event in one.events)


class House(tg.Component):
    room = Heater()


@cache
def heated() -> tg.Result:
    return tg.simulate(Heater(), (0.0, 2.0))


def test_final_values_of_conditions_are_truth_values_and_numbers_stay_numbers() -> None:
    final = heated().final
    truths = {name: value for name, value in final.items() if isinstance(value, bool)}
    assert truths == {"on": False, "flags[0]": False, "flags[1]": True, "warm": True, "both": False, "same": False}
    assert type(final["valve"]) is float
    assert final["valve"] == 1.0
    assert final["flags"].tolist() == [False, True]
    assert heated().parameters == {"eco": False}
    assert repr(heated().parameters) == "{'eco': False}"
    assert heated()["on"].dtype == np.float64  # to reckon with
    assert heated()["on"].attrs["flag_meanings"] == "False True"
    assert heated().text("on")[-1] == "False"


def test_outputs_of_parts_are_truth_values_too() -> None:
    final = tg.simulate(House(), (0.0, 2.0)).final
    assert {name.removeprefix("room."): value for name, value in final.items() if isinstance(value, bool)} == {
        name: value for name, value in heated().final.items() if isinstance(value, bool)
    }


def test_events_say_what_became_true() -> None:
    event = heated().events.caused_by("stop")[0]
    assert event.change_text(4) == "on: True -> False, flags[0]: True -> False, flags[1]: False -> True, mode: heats -> rests"
    assert event.before["on"] is True
    assert event.changes["flags[1]"] == (False, True)
    assert heated().events.to_dataframe()["on after"].tolist() == [True, False]


def test_text_and_page_of_a_result_show_them() -> None:
    lines = [line.split() for line in str(heated()).splitlines()]
    assert [*lines[3:6], *lines[7:10]] == [
        ["flags[0]", "False"], ["flags[1]", "True"], ["mode", "rests"], ["both", "False"], ["same", "False"], ["valve", "1"],
    ]  # fmt: skip
    assert "<th style='text-align:left'>on</th><td>False</td>" in heated()._repr_html_()
    assert "on: True -&gt; False" in heated()._repr_html_()


@pytest.mark.slow
def test_they_stay_such_in_files_and_pickles(tmp_path: Path) -> None:
    for other in (tg.Result.load(heated().save(tmp_path / "run.nc")), pickle.loads(pickle.dumps(heated()))):
        assert repr(other.final) == repr(heated().final)
        assert str(other.events) == str(heated().events)
        assert repr(other.parameters) == "{'eco': False}"


def test_a_simulation_reads_them_and_says_what_was_set() -> None:
    simulation = tg.Simulation(Heater())
    assert (simulation["on"], simulation["eco"], simulation["warm"]) == (True, False, False)
    assert simulation["flags"].dtype == bool
    simulation["eco"] = True
    assert str(simulation.result.events[-1]) == "0 set: eco set by the user (eco: 0 -> 1)".replace("0 -> 1", "False -> True")
    assert "<td>heats</td>" in simulation._repr_html_()
    assert "<td>True</td>" in simulation._repr_html_()


@pytest.mark.slow
def test_functions_and_blocks_have_them_too() -> None:
    held = tg.ode(
        lambda t, y, d: [-y["x"] if d["on"] else 1.0],
        y0={"x": 0.2},
        discrete={"on": False},
        events=[tg.event(lambda t, y: y["x"] > 0.8, reset=lambda t, y, d: {"on": True})],
        outputs=lambda t, y, d: {"high": y["x"] > 0.5, "both": d["on"] and y["x"] > 0.1, "one": 1},
    )
    assert repr({**tg.simulate(held, (0.0, 0.8)).final, "x": 0}) == "{'x': 0, 'on': True, 'high': True, 'both': True, 'one': 1.0}"
    diagram = tg.Diagram("d")
    diagram.late = blocks.Compare(">")(blocks.Ramp(name="ramp"), blocks.Constant(0.5, name="half"))
    diagram.no = blocks.Not()(diagram.late)
    final = tg.simulate(diagram, (0.0, 1.0)).final
    assert (final["late"], final["no"]) == (True, False)
    assert isinstance(final["late"], bool)
