"""Time events happen at their times, none is lost, and those of one instant are one event."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from run_checks import event_times
from tidegate.expressions import Role, as_real, symbol
from tidegate.model import Model


class Clock(tg.Component):
    """Counts ticks; x grows and notes when it passes a."""

    x = tg.State(0.0)
    a = tg.Parameter(0.5)
    period = tg.Parameter(0.1)
    begin = tg.Parameter(0.0)
    ticks = tg.Discrete(0)
    hits = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.x + 1

    @tg.when(lambda self: self.x >= self.a)
    def hit(self) -> Any:
        return {self.hits: self.hits + 1}

    @tg.every(lambda self: self.period, start=lambda self: self.begin)
    def tick(self) -> Any:
        return {self.ticks: self.ticks + 1}


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("k", range(1, 11))
def test_a_clock_goes_on_when_a_state_event_falls_on_a_tick(k: int, rtol: float, method: str) -> None:
    result = tg.simulate(Clock(a=math.exp(0.1 * k) - 1), (0.0, 1.05), rtol=rtol, method=method)
    assert result.final["ticks"] == 11
    assert result.final["hits"] == 1


def test_a_clock_ticks_exactly_at_its_times(method: str) -> None:
    result = tg.simulate(Clock(a=99.0), (0.0, 1.0), method=method)
    assert event_times(result) == [pytest.approx(0.1 * k, rel=1e-15) for k in range(11)]
    assert {event.kind for event in result.events} == {"time"}


@pytest.mark.parametrize(("start", "expected"), [(-1.0, []), (0.05, [0.1, 0.4, 0.7, 1.0]), (0.1, [0.1, 0.4, 0.7, 1.0]), (0.15, [0.4, 0.7, 1.0])])
def test_a_run_that_starts_later_joins_the_clock(start: float, expected: list[float], method: str) -> None:
    result = tg.simulate(Clock(a=99.0, period=0.3, begin=0.1), (start, start + 1.0), method=method)
    assert event_times(result) == pytest.approx(expected)


def test_a_run_may_start_thousands_of_periods_later(method: str) -> None:
    assert tg.simulate(Clock(a=1e9, period=1e-3), (1e3, 1e3 + 0.0105), method=method).final["ticks"] == 11


class Kicks(tg.Component):
    x = tg.State(1.0)
    count = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.x

    @tg.at(0.0, 0.5, 2.0)
    def kick(self) -> Any:
        return {self.x: self.x + 1, self.count: self.count + 1}


def test_events_at_both_ends_of_the_run_happen(method: str) -> None:
    result = tg.simulate(Kicks(), (0.0, 2.0), rtol=1e-9, method=method)
    assert event_times(result) == [0.0, 0.5, 2.0]
    assert result.final["x"] == pytest.approx(1.0 + math.exp(-1.5) + 2.0 * math.exp(-2.0), rel=1e-8)


def test_sides_of_time_relations_do_not_depend_on_the_output_grid(method: str) -> None:
    def f(t: Any, y: Any) -> Any:
        return [-y[0] * ((1 if t < -0.2 else 2) + (1 if t <= -0.1 else 2) + (1 if t > 0.1 else 2) + (1 if t >= 0.2 else 2))]

    model = tg.ode(f, y0=[1.0])
    # rates 6, 7, 8, 7, 6 on the five intervals
    end = math.exp(-(0.8 * 6 + 0.1 * 7 + 0.2 * 8 + 0.1 * 7 + 0.8 * 6))
    for outputs in (None, np.linspace(-1.0, 1.0, 8), [-0.2, -0.1, 0.1, 0.2, 1.0], 0.1):
        result = tg.simulate(model, (-1.0, 1.0), outputs=outputs, rtol=1e-8, method=method)
        assert event_times(result) == [-0.2, -0.1, 0.1, 0.2]
        assert result.final["y[0]"] == pytest.approx(end, abs=1e-8)


@pytest.mark.parametrize("t", [0.3, 1.0, 7e5])
def test_an_equal_time_of_a_relation_an_at_and_an_every_is_one_event(t: float, method: str) -> None:
    class Three(tg.Component):
        x = tg.State(0.0)
        n = tg.Discrete(0)
        k = tg.Discrete(0)

        def equations(self) -> Any:
            yield tg.der(self.x) == (1.0 if tg.time >= t else 0.0)

        @tg.at(t)
        def once(self) -> Any:
            return {self.n: self.n + 1}

        @tg.every(5 * t, start=t)
        def often(self) -> Any:
            return {self.k: self.k + 1}

    result = tg.simulate(Three(), (0.0, 2 * t), method=method)
    assert event_times(result) == [t]
    assert result.final == pytest.approx({"x": t, "n": 1.0, "k": 1.0})


class _Fixed:
    """A neutral model as it is."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def lower(self) -> Model:
        return self.model


def with_condition(above: bool) -> Any:
    model = Clock(a=99.0).lower()
    x = model.unknowns[0].symbols()[0]
    level = math.exp(0.35) - 1
    condition = x > level if above else x < level
    return _Fixed(replace(model, time_events=(replace(model.time_events[0], condition=condition),)))


def test_a_clock_with_a_condition_ticks_only_while_it_holds(method: str) -> None:
    assert tg.simulate(with_condition(above=False), (0.0, 1.0), method=method).final["ticks"] == 4


def test_a_clock_with_a_condition_begins_when_it_comes_to_hold(method: str) -> None:
    assert tg.simulate(with_condition(above=True), (0.0, 1.0), method=method).final["ticks"] == 7


def test_a_time_relation_whose_slope_is_zero_never_switches(method: str) -> None:
    model = tg.ode(lambda t, y, p: [1.0 if p["a"] * t > 0.5 else 0.0, 1.0 if t > 1.5 else -1.0], y0=[0.0, 0.0], p={"a": 1.0})
    result = tg.simulate(model, (0.0, 3.0), parameters={"a": 0.0}, method=method)
    assert result.final["y[0]"] == 0.0
    assert event_times(result) == [1.5]


class Retimed(tg.Component):
    """At 1.0 the period becomes one of which 1.0 is a multiple."""

    period = tg.Discrete(0.3)
    ticks = tg.Discrete(0)
    x = tg.State(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 1.0

    @tg.every(lambda self: self.period)
    def tick(self) -> Any:
        return {self.ticks: self.ticks + 1}

    @tg.when(lambda self: self.x >= 1.0)
    def faster(self) -> Any:
        return {self.period: 0.125}


def test_a_clock_goes_on_when_its_new_period_would_have_struck_at_this_instant(method: str) -> None:
    model = Retimed().lower()
    # the neutral model counts multiples of a period from the first tick on, whatever the period was when they were counted
    tick = replace(model.time_events[0], first=as_real(0.0), period=symbol(Role.DISCRETE, "period"))
    result = tg.simulate(_Fixed(replace(model, time_events=(tick,))), (0.0, 1.5), method=method)
    assert result.events.caused_by("tick").times == pytest.approx([0.0, 0.3, 0.6, 0.9, 1.125, 1.25, 1.375, 1.5], abs=1e-12)


def test_a_component_clock_keeps_the_tick_it_waits_for_when_its_period_changes(method: str) -> None:
    result = tg.simulate(Retimed(), (0.0, 1.5), method=method)
    assert result.events.caused_by("tick").times == pytest.approx([0.0, 0.3, 0.6, 0.9, 1.2, 1.325, 1.45], abs=1e-12)


class Blinking(tg.Component):
    out = tg.Discrete(1.0)
    x = tg.State(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.out

    @tg.every(0.005)
    def tick(self) -> Any:
        return {self.out: 1 - self.out}


@pytest.mark.parametrize("end", [30 * 0.005, math.nextafter(0.15, 1.0), math.nextafter(0.15, 0.0)])
def test_an_event_that_differs_from_the_end_by_rounding_happens_at_the_end(end: float, method: str) -> None:
    result = tg.simulate(Blinking(), (0.0, end), method=method)
    assert len(result.events) == 31
    assert result.t[-1] == end


@pytest.mark.parametrize("method", ["taylor", "radau", "ida"])
@pytest.mark.parametrize("seed", range(8))
def test_a_pulse_near_zero_of_a_train_with_a_far_phase_is_not_lost(seed: int, method: str) -> None:
    """Its time is a difference of terms a thousand times as large, whose rounding is not that of the time."""
    rng = np.random.default_rng(seed)
    period, share = rng.uniform(0.1, 1.0), rng.uniform(0.1, 0.9)
    first = 10.0 ** rng.uniform(-6, -1)  # where a pulse ends
    phase = first - share * period - period * int(rng.integers(3, 300))
    start, end = 0.3 * first, first + 0.9 * (1.0 - share) * period
    model = tg.ode(lambda t, y: {"x": 1.0 if ((t - phase) % period) < share * period else 0.0}, {"x": 0.0})
    result = tg.simulate(model, (start, end), method=method)
    assert result.final["x"] == pytest.approx(first - start, rel=1e-6, abs=1e-12)
    assert len(result.events) == 1
