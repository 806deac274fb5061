"""Situations in which events are easily lost, doubled or invented: each event happens once, where the closed form has it.

Pairs of crossings inside one step, the last switch of the stiff relay and the thousands of the buck converter are tested with the reference problems.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import allowed
from run_checks import event_times

__all__: list[str] = []

ON_PARABOLAS = 1.0  # tolerances: only the steps of order one are off there, and there are few of them after each bounce


class Ball(tg.Component):
    h = tg.State(1.0)
    v = tg.State(0.0)
    n = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -9.81


class LeftBelow(Ball):
    def after(self) -> Any:
        return {self.v: -0.8 * self.v, self.n: self.n + 1}


class PutOnZero(Ball):
    def after(self) -> Any:
        return {self.v: -0.8 * self.v, self.h: 0.0, self.n: self.n + 1}


class PutAbove(Ball):
    def after(self) -> Any:
        return {self.v: -0.8 * self.v, self.h: abs(self.h), self.n: self.n + 1}


CONTACTS: dict[str, Callable[[Any], Any]] = {
    "h < 0": lambda self: self.h < 0,
    "h <= 0": lambda self: self.h <= 0,
    "h < 0 and v < 0": lambda self: self.h < 0 and self.v < 0,
    "h <= 0 and v < 0": lambda self: self.h <= 0 and self.v < 0,
}


@pytest.mark.slow
@pytest.mark.parametrize("contact", list(CONTACTS))
@pytest.mark.parametrize("ball", [LeftBelow, PutOnZero, PutAbove])
def test_nine_bounces_however_the_reset_leaves_the_guard(ball: Any, contact: str, method: str) -> None:
    class Bouncing(ball):
        @tg.when(CONTACTS[contact])
        def bounce(self) -> Any:
            return self.after()

    for rtol in (1e-3, 1e-6, 1e-9, 1e-12):
        result = tg.simulate(Bouncing(), (0.0, 3.5), rtol=rtol, method=method)
        assert len(event_times(result)) == 9
        assert result.final["n"] == 9
        assert result.final["h"] == pytest.approx(0.0163734727883287655, abs=allowed(method, 1e-10, rtol, ON_PARABOLAS))


class Entry(tg.Component):
    """A mode is entered at t = 1 with the guard x > 0 at zero, its slope at zero, and (jerk) its curvature too."""

    x = tg.State(0.0)
    v = tg.State(0.0)
    u = tg.State(lambda self: self.a)
    w = tg.State(0.0)
    a = tg.Parameter(0.0)
    jerk = tg.Parameter(0.0)
    on = tg.Discrete(False)
    n = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == (self.v if self.on else 0.0)
        yield tg.der(self.v) == (self.u if self.on else 0.0)
        yield tg.der(self.u) == (self.jerk if self.on else 0.0)
        yield tg.der(self.w) == (1.0 if self.on and self.x > 0 else 0.0)

    @tg.at(1.0)
    def enter(self) -> Any:
        return {self.on: True}

    @tg.when(lambda self: self.x > 0)
    def hit(self) -> Any:
        return {self.n: self.n + 1}


@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
@pytest.mark.parametrize(("a", "jerk", "late"), [(1.0, 0.0, 1e-7), (1e-6, 0.0, 1e-4), (0.0, 1.0, 1e-4)])
def test_a_guard_that_leaves_zero_with_zero_slope_fires_once(a: float, jerk: float, late: float, rtol: float, method: str) -> None:
    rising = tg.simulate(Entry(a=a, jerk=jerk), (0.0, 2.0), rtol=rtol, method=method)
    # the first derivative that does not vanish decides at once
    assert event_times(rising) == [1.0]
    assert rising.final["n"] == 1
    assert rising.final["w"] == pytest.approx(1.0, abs=late)
    falling = tg.simulate(Entry(a=-a, jerk=-jerk), (0.0, 2.0), rtol=rtol, method=method)
    assert event_times(falling) == [1.0]
    assert falling.final["n"] == 0
    assert falling.final["w"] == 0.0


class Crossings(tg.Component):
    x = tg.State(0.5)
    v = tg.State(math.sqrt(0.75))
    ups = tg.Discrete(0)
    downs = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.v
        yield tg.der(self.v) == -self.x

    @tg.when(lambda self: self.x > 0)
    def up(self) -> Any:
        return {self.ups: self.ups + 1}

    @tg.when(lambda self: self.x < 0)
    def down(self) -> Any:
        return {self.downs: self.downs + 1}


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_guard_watched_in_both_directions_does_not_trigger_on_its_own_root(rtol: float, method: str) -> None:
    result = tg.simulate(Crossings(), (0.0, 200.0), rtol=rtol, method=method)
    assert (result.final["ups"], result.final["downs"]) == (31, 32)
    assert len(event_times(result)) == 63


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("second", [1e-12, 1e-6, 1.0, 3.15e7, 1e15])
def test_units_of_time_and_length_neither_lose_nor_add_a_bounce(second: float, length: float, method: str) -> None:
    bounce = tg.event(lambda t, y: y["h"] < 0, reset=lambda t, y: {"v": -0.8 * y["v"]})
    model = tg.ode(lambda t, y: [y["v"], -9.81 * length / second**2], y0={"h": length, "v": 0.0}, events=bounce)
    result = tg.simulate(model, (0.0, 3.5 * second), rtol=1e-6, atol=[1e-9 * length, 1e-9 * length / second], method=method)
    assert len(event_times(result)) == 9
    assert result.final["h"] / length == pytest.approx(0.0163734727883287655, abs=allowed(method, 1.6e-11, 1e-6, ON_PARABOLAS))


@pytest.mark.parametrize("second", [1e-9, 1e-6, 1.0, 3.15e7])
def test_clocks_and_conditions_happen_alike_in_every_unit_of_time(second: float, method: str) -> None:
    class Charger(tg.Component):
        x = tg.State(0.0)
        ticks = tg.Discrete(0)
        discharges = tg.Discrete(0)

        def equations(self) -> Any:
            yield tg.der(self.x) == (1 - self.x) / second

        @tg.every(0.1 * second)
        def tick(self) -> Any:
            return {self.ticks: self.ticks + 1}

        @tg.when(lambda self: self.x > 0.5)
        def discharge(self) -> Any:
            return {self.discharges: self.discharges + 1, self.x: 0.0}

    result = tg.simulate(Charger(), (0.0, 10 * second), rtol=1e-8, method=method)
    assert (result.final["ticks"], result.final["discharges"]) == (101, 14)
    assert result.final["x"] == pytest.approx(1 - math.exp(14 * math.log(2) - 10), rel=allowed(method, 1e-7, 1e-8))


@pytest.mark.parametrize("condition", [lambda t, y: y["x"] >= 1, lambda t, y: y["x"] > 1, lambda t, y: t >= 1, lambda t, y: t > 1])
def test_an_event_at_the_very_end_is_found(condition: Any, method: str) -> None:
    model = tg.ode(lambda t, y: [1.0], y0={"x": 0.0}, events=tg.event(condition, reset=lambda t, y: {"x": y["x"] + 10}))
    result = tg.simulate(model, (0.0, 1.0), method=method)
    assert event_times(result) == pytest.approx([1.0], abs=1e-12)
    assert result.final["x"] == pytest.approx(11.0)


@pytest.mark.parametrize("before", [1e-12, 1e-10, 1e-8])
def test_an_event_in_the_last_moment_is_found(before: float, method: str) -> None:
    happens = tg.event(lambda t, y, p: y["x"] >= p["a"], reset=lambda t, y: {"x": y["x"] + 10})
    model = tg.ode(lambda t, y, p: [1.0], y0={"x": 0.0}, p={"a": 1.0 - before}, events=happens)
    result = tg.simulate(model, (0.0, 1.0), method=method)
    assert event_times(result) == pytest.approx([1.0 - before], abs=1e-13)
    assert result.final["x"] == pytest.approx(11.0)


@pytest.mark.parametrize("start", [-1e9, 1e6, 1.7e9])
def test_bounces_happen_alike_whenever_the_clock_was_started(start: float, method: str) -> None:
    bounce = tg.event(lambda t, y: y["h"] < 0, reset=lambda t, y: {"v": -0.8 * y["v"]})
    model = tg.ode(lambda t, y: [y["v"], -9.81], y0={"h": 1.0, "v": 0.0}, events=bounce)
    result = tg.simulate(model, (start, start + 3.5), rtol=1e-6, method=method)
    fall = math.sqrt(2 / 9.81)
    # the last digit of 1.7e9 seconds is worth 2.4e-7, and each step is rounded to it
    # an error of the speed at one bounce is an error of the time of every bounce after it
    digit = float(np.spacing(abs(start)))
    expected = [fall * (1 + 8 * (1 - 0.8**k)) for k in range(9)]
    assert [t - start for t in event_times(result)] == pytest.approx(expected, abs=allowed(method, 1e-9, 1e-6, 10 * ON_PARABOLAS) + 100 * digit)
    assert result.final["h"] == pytest.approx(0.0163734727883287655, abs=allowed(method, 1e-9, 1e-6, ON_PARABOLAS) + 500 * digit)


class Logic(tg.Component):
    """x = sin t and v = cos t: the condition holds in (pi/6, pi/3) and again from where x falls through 0.7 to 5 pi/6."""

    x = tg.State(0.0)
    v = tg.State(1.0)
    n = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.v
        yield tg.der(self.v) == -self.x

    @tg.when(lambda self: self.x > 0.5 and (self.v > 0.5 or not self.x > 0.7))
    def begin(self) -> Any:
        return {self.n: self.n + 1}


def test_and_or_not_fire_when_the_whole_comes_to_hold(method: str) -> None:
    result = tg.simulate(Logic(), (0.0, 6.0), rtol=1e-9, method=method)
    assert event_times(result) == pytest.approx([math.pi / 6, math.pi - math.asin(0.7)], abs=allowed(method, 1e-8, 1e-9))
    assert result.final["n"] == 2


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_every_number_of_guards_keeps_its_events(count: int, method: str) -> None:
    levels = [0.1 * k + 0.05 for k in range(count)]
    guards = [tg.event(lambda t, y, level=level: y[0] > level, name=f"above {level:.2f}") for level in levels]
    result = tg.simulate(tg.ode(lambda t, y: [y[1], -y[0]], y0=[0.0, 1.0], events=guards), (0.0, 12.0), rtol=1e-9, method=method)
    assert event_times(result) == pytest.approx(sorted(math.asin(c) + turn for c in levels for turn in (0.0, 2 * math.pi)), abs=1e-7)


@pytest.mark.parametrize("rtol", [1e-4, 1e-8, 1e-12])
def test_two_different_guards_at_one_instant_both_fire(rtol: float, method: str) -> None:
    class Two(tg.Component):
        x = tg.State(0.0)
        y = tg.State(1.0)
        a = tg.Discrete(0)
        b = tg.Discrete(0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0
            yield tg.der(self.y) == -self.y

        @tg.when(lambda self: self.x > math.log(2))
        def first(self) -> Any:
            return {self.a: self.a + 1}

        @tg.when(lambda self: self.y < 0.5)
        def second(self) -> Any:
            return {self.b: self.b + 1}

    result = tg.simulate(Two(), (0.0, 2.0), rtol=rtol, method=method)
    assert (result.final["a"], result.final["b"]) == (1, 1)


def test_runs_of_one_model_do_not_see_each_others_events(method: str) -> None:
    model = tg.ode(lambda t, y, p: [y[1], -y[0], 1.0 if y[0] > p["c"] else 0.0], y0=[0.0, 1.0, 0.0], p={"c": 0.3})
    prepared = tg.prepare(model, (0.0, 20.0), method=method)
    first = prepared.run()
    second = prepared.run()
    tg.simulate(model, (0.0, 20.0), parameters={"c": 0.9}, method=method)
    third = tg.simulate(model, (0.0, 20.0), method=method)
    assert event_times(first) == event_times(second) == event_times(third)
    assert len(event_times(first)) == 7
    assert first.final == second.final == third.final


@pytest.mark.parametrize(("level", "expected"), [(1.0, 0), (1 + 1e-6, 0), (1 - 1e-6, 2)])
def test_touching_is_not_crossing(level: float, expected: int, method: str) -> None:
    if level == 1.0 and method != "radau":
        level += 2e-8  # the wave of a multistep method is higher by what hundreds of steps add up to
    model = tg.ode(lambda t, y: [y[1], -y[0], 1.0 if y[0] > level else 0.0], y0=[0.0, 1.0, 0.0])
    times = event_times(tg.simulate(model, (0.0, 6.0), rtol=1e-10, method=method))
    assert len(times) == expected
    assert np.allclose(np.sin(times), level, atol=1e-9)


def test_a_ball_left_exactly_at_the_round_off_level_of_the_floor_comes_back_to_it(method: str) -> None:
    """A bounce may leave it there, once in thousands. The next crossing, if it came within the same step, was taken for one at once."""
    epsilon = 2.0**-52
    source = tg.ode(
        lambda t, y: {"h": y["v"], "v": -1.0},
        y0={"h": -16 * epsilon, "v": 1.0},
        events=[tg.event(lambda t, y: y["h"] < 0, reset=lambda t, y: {"v": -y["v"]})],
    )
    result = tg.simulate(source, (0, 5), method=method, rtol=1e-6, atol=1e-6, first_step=3.0)
    assert event_times(result) == pytest.approx([2.0, 4.0], abs=allowed(method, 1e-12, 1e-6))
    assert result.final["h"] == pytest.approx(0.5, abs=allowed(method, 1e-12, 1e-6))
