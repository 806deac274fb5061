"""A copy of a simulation, here or in another process, goes on as the simulation itself does, and neither knows of the other."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

import tidegate as tg

WAYS = {"pickle": lambda item: pickle.loads(pickle.dumps(item)), "deepcopy": copy.deepcopy, "copy": copy.copy}
both_ways = pytest.mark.parametrize("through", WAYS.values(), ids=list(WAYS))


class Tank(tg.Component):
    level = tg.State(0.5)
    rate = tg.State(0.0)
    pump = tg.Discrete(1)
    count = tg.Discrete(0)
    inflow = tg.Parameter(0.4)
    leak = tg.Output(lambda self: 0.1 * self.level)

    def equations(self):
        yield tg.der(self.level) == self.inflow * self.pump - self.leak + 0.1 * self.rate
        yield tg.der(self.rate) == -self.level * self.rate - self.level

    @tg.when(lambda self: self.level > 1.0)
    def stop(self):
        return {self.pump: 0}

    @stop.elsewhen(lambda self: self.level < 0.8)
    def start(self):
        return {self.pump: 1}

    @tg.every(0.7)
    def clock(self):
        return {self.count: self.count + 1}


def burst(t, y):
    return [y["x"] * y["x"] if y["x"] > 0 else 0.0]


def assert_same(one: tg.Result, other: tg.Result) -> None:
    assert one.t.tolist() == other.t.tolist()
    assert one.values.tolist() == other.values.tolist()
    assert list(one.events) == list(other.events)
    np.testing.assert_array_equal(one.sensitivities, other.sensitivities)
    assert (one.status, one.message) == (other.status, other.message)


@both_ways
@pytest.mark.parametrize("outputs", [None, 0.25])
def test_a_copy_stands_where_the_simulation_stands_and_goes_on_alike(through: Callable[[Any], Any], outputs: Any, method: str) -> None:
    simulation = tg.Simulation(Tank(), rtol=1e-7, sensitivities=["inflow"], outputs=outputs, method=method)
    simulation.advance(3.0)
    simulation["inflow"] = 0.5
    other = through(simulation)
    assert (other.time, other.status, other.options) == (3.0, "ready", simulation.options)
    assert {name: other[name] for name in other} == {name: simulation[name] for name in simulation}
    assert_same(other.result, simulation.result)
    simulation.advance(5.0)
    assert (other.time, other.result.t[-1]) == (3.0, 3.0)
    other.advance(5.0)
    # the method's memory goes along, but a multistep method's does not: it starts anew, within the tolerance
    slack = {"rel": 1e-9 if method == "radau" else 3e-5}
    assert other.result.final == pytest.approx(simulation.result.final, **slack)
    assert other.result.events.times == pytest.approx(simulation.result.events.times, **slack)
    assert [event.causes for event in other.result.events] == [event.causes for event in simulation.result.events]


@both_ways
def test_two_copies_try_two_things_from_one_point(through: Callable[[Any], Any]) -> None:
    simulation = tg.Simulation(Tank())
    simulation.advance(1.0)
    ends = []
    for inflow in (0.3, 0.6, 0.3):
        branch = through(simulation)
        branch["inflow"] = inflow
        ends.append(branch.advance(2.0).final["level"])
    assert simulation["inflow"] == 0.4
    assert len(simulation.result.events) == 2  # the clock at 0 and 0.7
    assert ends[0] == ends[2] != ends[1]


@both_ways
@pytest.mark.parametrize("settings", [{}, {"level": 0.9}])
def test_a_simulation_that_has_not_begun_is_copied_to_the_last_bit(through: Callable[[Any], Any], settings: dict[str, float]) -> None:
    simulation = tg.Simulation(Tank(), outputs=0.5)
    simulation.set(settings)
    other = through(simulation)
    assert_same(other.result, simulation.result)
    for each in (other, simulation):
        each.advance(4.0)
    assert_same(other.result, simulation.result)


@both_ways
def test_a_simulation_that_failed_or_ended_is_copied_as_it_is(through: Callable[[Any], Any]) -> None:
    simulation = tg.Simulation(tg.ode(burst, y0={"x": 1.0}))
    with pytest.raises(tg.StepSizeError):
        simulation.advance(2.0)
    other = through(simulation)
    assert (other.status, other.time, other.result.message) == ("failed", simulation.time, simulation.result.message)
    other["x"] = -1.0
    other.advance(2.0)
    assert (other.status, simulation.status) == ("ready", "failed")
    other.finish()
    assert through(other).status == "finished"
    with pytest.raises(tg.UsageError, match="cannot advance: the run has ended"):
        through(other).advance(3.0)


@pytest.mark.slow
@pytest.mark.parametrize("through", [copy.deepcopy, pytest.param(copy.copy, marks=pytest.mark.slow)])
def test_a_copy_here_still_knows_its_model(through: Callable[[Any], Any]) -> None:
    simulation = tg.Simulation(Tank())
    simulation.advance(1.0)
    other = through(simulation)
    other.advance(2.0)
    assert tg.verify(other.result).ok


def advanced(simulation: tg.Simulation, until: float) -> tg.Simulation:
    simulation.advance(until)
    return simulation


@pytest.mark.hunt
def test_a_simulation_goes_to_another_process_and_back() -> None:
    simulation = tg.Simulation(Tank())
    simulation.advance(1.0)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        other = pool.submit(advanced, simulation, 2.0).result()
    assert (simulation.time, other.time) == (1.0, 2.0)
    for each in (simulation, other):
        each.advance(3.0)
    assert other.result.final == pytest.approx(simulation.result.final, rel=1e-5)  # another point to stop at, within the tolerance
