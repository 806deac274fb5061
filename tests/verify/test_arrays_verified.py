"""Clauses over arrays of conditions, and arrays in bodies, are judged by the component's methods called with numpy arrays of numbers."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.results import EventLog

__all__: list[str] = []


class Rooms(tg.Component):
    """Thermostats of one clause, and a counter that each of them raises."""

    temp = tg.State(np.array([[0.0, 0.22], [0.47, 0.81]]))
    on = tg.Discrete(np.ones((2, 2)))
    switched = tg.Discrete(0)
    hi = tg.Parameter(1.0)

    def equations(self) -> Any:
        yield tg.der(self.temp) == 2.0 * self.on - 1.0

    @tg.when(lambda self: self.temp > self.hi)
    def off(self) -> Any:
        tg.message("off")
        return {self.on: 0.0, self.switched: self.switched + 1}

    @off.elsewhen(lambda self: self.temp < self.hi - 1.0)
    def again(self) -> Any:
        if self.switched > 2:
            return {self.on: np.ones((2, 2))}
        return {self.on: 1.0 + 0.0 * self.temp}

    @tg.at(0.3)
    def reset(self) -> Any:
        return {self.temp[0]: np.array([0.1, 0.2]), self.temp[1, 0]: 0.3}


class Weak(Rooms):
    @tg.when(lambda self: self.temp > self.hi + 0.01)
    def off(self) -> Any:
        tg.message("off")
        return {self.on: 0.0, self.switched: self.switched + 1}

    @off.elsewhen(lambda self: self.temp < self.hi - 1.0)
    def again(self) -> Any:
        return {self.on: 1.0}


class AllOff(Rooms):
    """Not by element: any of them switches all off."""

    @tg.when(lambda self: [item > self.hi for item in self.temp.ravel()])
    def off(self) -> Any:
        return {self.on: np.zeros((2, 2)), self.switched: self.switched + 1}

    again = None


@pytest.mark.hunt
def test_arrays_are_judged_by_plain_methods_and_not_by_expressions(method: str) -> None:
    check = tg.verify(tg.simulate(Rooms(), (0.0, 4.0), rtol=1e-5, method=method))
    assert check.notes == ()
    assert check.truth == "the component's methods, called as Python"
    assert check.ok, str(check)
    assert {("condition", "off[0,1]"), ("reset", "off[1,1]"), ("message", "off[0,0]"), ("reset", "again[1,0]"), ("reset", "reset")} <= {
        (item.kind, item.name) for item in check.findings
    }


@pytest.mark.slow
def test_another_threshold_is_found_for_the_elements() -> None:
    check = tg.verify(tg.simulate(Weak(), (0.0, 2.0), rtol=1e-5), source=Rooms())
    assert {("missed event", "off[0,0]"), ("missed event", "off[1,1]")} <= {(item.kind, item.name) for item in check.wrong}


@pytest.mark.hunt
@pytest.mark.parametrize("name", ["on[1,1]", "on[0,0]", "switched", "temp[0,1]"])
def test_an_element_that_is_assigned_wrongly_is_found(name: str) -> None:
    result = copy(tg.simulate(Rooms(), (0.0, 1.0), rtol=1e-5))
    event = next(item for item in result.events if "off[1,1]" in item.causes)
    made = replace(event, after={**event.after, name: event.after[name] + 0.5})
    result.events = EventLog([made if item.time == event.time else item for item in result.events])
    assert ("reset", "off[1,1]") in {(item.kind, item.name) for item in tg.verify(result).wrong}


@pytest.mark.slow
def test_a_list_of_conditions_is_one_clause() -> None:
    check = tg.verify(tg.simulate(AllOff(), (0.0, 0.29), rtol=1e-5))
    assert check.notes == ()
    assert check.ok, str(check)
    assert ("reset", "off") in {(item.kind, item.name) for item in check.findings}


@pytest.mark.hunt
def test_many_thermostats_are_judged() -> None:
    class Many(Rooms):
        temp = tg.State(np.linspace(0.0, 0.9, 25) + 0.02)
        on = tg.Discrete(np.ones(25))

        @tg.at(0.3)
        def reset(self) -> Any:
            return {self.temp[0]: 0.5}

        @tg.when(lambda self: self.temp > self.hi)
        def off(self) -> Any:
            return {self.on: 0.0}

        @off.elsewhen(lambda self: self.temp < self.hi - 1.0)
        def again(self) -> Any:
            return {self.on: 1.0}

    check = tg.verify(tg.simulate(Many(), (0.0, 0.25), rtol=1e-4), points=1)
    assert check.notes == ()
    assert check.ok, str(check)
