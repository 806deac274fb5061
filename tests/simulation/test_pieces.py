"""Where a run is stopped to look at it changes nothing: pieces are the whole to the last bit, and a longer run begins like a shorter one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidegate as tg
from engines import METHODS


class Ball(tg.Component):
    h = tg.State(1.0)
    v = tg.State(0.0)
    ticks = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -9.81 - 0.1 * self.v

    @tg.when(lambda self: self.h < 0)
    def bounce(self) -> Any:
        return {self.v: -0.9 * self.v}

    @tg.every(0.1)
    def tick(self) -> Any:
        return {self.ticks: self.ticks + 1}


class StickSlip(tg.Component):
    """A mass on a belt, drawn by a spring: it sticks until the spring is stronger than friction."""

    x = tg.State(0.8037)
    v = tg.State(0.0)
    sticks = tg.Discrete(1.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.v + self.sticks * 0.2
        yield tg.der(self.v) == (1.0 - self.sticks) * (-self.x + 0.3)

    @tg.when(lambda self: self.x > 1.0)
    def slip(self) -> Any:
        return {self.sticks: 0.0, self.v: 0.2}

    @slip.elsewhen(lambda self: self.v < -0.4)
    def stick(self) -> Any:
        return {self.sticks: 1.0, self.v: 0.0}


def buck(t: Any, y: Any) -> Any:
    """A converter whose switch follows a ramp, and whose diode blocks."""
    ramp = 3.8 + 4.4 * (t % 1.0)
    on = 1.0 if 8.4 * (y["u"] - 11.3) < ramp else 0.0
    return [(20.0 * on - y["u"]) * 4.0, (y["i"] - y["u"] / 22.0) * 8.0]


def swing(t: Any, y: Any) -> Any:
    return [y["w"], -np.sin(y["phi"]), 1.0 if y["phi"] > 0.5 and t * y["w"] < 1.0 else 0.0]


MODELS: dict[str, Any] = {
    "ball": Ball().lower(),
    "stick-slip": StickSlip().lower(),
    "buck": tg.ode(buck, y0={"i": 0.5, "u": 12.0}),
    "swing": tg.ode(swing, y0={"phi": 1.0, "w": 0.0, "q": 0.0}),
}
T_END = 4.0


def log(result: Any, until: float = math.inf) -> list[tuple[float, tuple[str, ...]]]:
    return [(event.time, event.causes) for event in result.events if event.time <= until]


def check(name: str, method: str, ends: list[float]) -> None:
    whole = tg.simulate(MODELS[name], (0.0, T_END), method=method)
    simulation = tg.Simulation(MODELS[name], method=method)
    for end in sorted({*ends, T_END}):
        simulation.advance(end)
        assert simulation.time == end
    assert log(simulation.result) == log(whole)
    assert simulation.result.final == whole.final
    assert simulation.result.statistics.steps == whole.statistics.steps


@pytest.mark.parametrize("name", list(MODELS))
def test_pieces_are_the_whole_to_the_last_bit(name: str, method: str) -> None:
    check(name, method, [0.05, 0.1, 0.3, 0.31, 0.310001, 1.0, 2.5, 3.999])


@pytest.mark.hunt
@settings(max_examples=100)
@given(name=st.sampled_from(list(MODELS)), method=st.sampled_from(METHODS), ends=st.lists(st.floats(1e-6, T_END), max_size=8))
def test_any_pieces_are_the_whole_to_the_last_bit(name: str, method: str, ends: list[float]) -> None:
    check(name, method, ends)


@pytest.mark.parametrize("name", list(MODELS))
def test_a_longer_run_begins_like_a_shorter_one(name: str, method: str) -> None:
    shorter, longer = (tg.simulate(MODELS[name], (0.0, end), method=method) for end in (T_END, 1.7 * T_END))
    assert log(longer, T_END) == log(shorter)


class Saw(tg.Component):
    x = tg.State(0.0)
    n = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 0.7

    @tg.when(lambda self: self.x >= 0.7)
    def back(self) -> Any:
        return {self.x: 0.0, self.n: self.n + 1}


def test_an_event_that_falls_on_a_joint_happens_once(method: str) -> None:
    simulation = tg.Simulation(Saw(), method=method)
    for end in (1.0, 1.5, 2.0, 2.5):
        simulation.advance(end)
    # where a joint is at an event but for rounding, the event is at the joint
    assert simulation.result.events.times == pytest.approx([1.0, 2.0], abs=1e-9)
    assert simulation["n"] == 2


def test_what_is_recorded_at_the_end_of_a_piece_lies_on_the_solution(method: str) -> None:
    simulation = tg.Simulation(tg.ode(lambda t, y: [-y["x"]], y0={"x": 1.0}), method=method, rtol=1e-8)
    for end in (0.01, 0.7, 0.70001, 3.0):
        part = simulation.advance(end)
        # a hundred tolerances, which the steps of a multistep method may add up to
        assert simulation["x"] == pytest.approx(math.exp(-end), abs=1e-6)
        assert part.t[-1] == end
        assert part.at(end, ["x"])["x"].item() == pytest.approx(math.exp(-end), abs=1e-6)


def test_a_value_that_is_set_between_pieces_takes_effect_there(method: str) -> None:
    simulation = tg.Simulation(tg.ode(lambda t, y, p: [p["k"]], y0={"x": 0.0}, p={"k": 1.0}), method=method)
    simulation.advance(0.3)
    simulation["k"] = -2.0
    simulation.advance(0.5)
    assert simulation["x"] == pytest.approx(0.3 - 2.0 * 0.2, abs=1e-12)


@pytest.mark.slow
def test_a_model_that_ends_where_the_run_does_can_be_run_to_its_end(method: str) -> None:
    model = tg.ode(lambda t, y: [-1.0 / (2.0 * np.sqrt(1.0 + 1e-9 - t))], y0={"x": math.sqrt(1.0 + 1e-9)})
    result = tg.simulate(model, (0.0, 1.0), method=method)
    assert result.t[-1] == 1.0
    # the slope at the end is 1.6e4; a tolerance on the way there counts so much more
    assert result.final["x"] == pytest.approx(math.sqrt(1e-9), abs=1e-3)


def test_an_opaque_function_is_not_asked_behind_the_end_of_the_run(method: str) -> None:
    asked: list[float] = []

    @tg.opaque
    def forcing(t: float) -> float:
        asked.append(t)
        return math.sin(t)

    tg.simulate(tg.ode(lambda t, y: [forcing(t)], y0={"x": 0.0}), (0.0, 1.0), method=method)
    assert max(asked) <= 1.0
