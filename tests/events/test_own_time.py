"""What is short and what is chattering is measured by the model's own time, never by the length of the run; pieces far away are found at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg
from run_checks import event_times


class Burst(tg.Component):
    """A switch that flips every 5 microseconds for 50 milliseconds, and is still otherwise."""

    x = tg.State(0.0)
    d = tg.Discrete(1.0)
    flips = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == (self.d if tg.time < 0.05 else 0.0)

    @tg.when(lambda self: abs(self.x) > 2.5e-6)
    def flip(self) -> Any:
        return {self.d: -self.d, self.flips: self.flips + 1}


BURST = Burst().lower()


@pytest.mark.parametrize("t_end", [1.0, 100.0, 1e5])
def test_thousands_of_short_intervals_are_no_chattering_however_long_the_run(t_end: float, method: str) -> None:
    assert tg.simulate(BURST, (0.0, t_end), method=method).final["flips"] == 10_000


@pytest.mark.parametrize("t_end", [2.0, 1e3, 1e6])
def test_chattering_is_chattering_however_long_the_run(t_end: float, method: str) -> None:
    relay = tg.ode(lambda t, y: [-1.0 if y["x"] > 0 else 1.0], y0={"x": 1.0})
    with pytest.raises(tg.ChatteringError) as caught:
        tg.simulate(relay, (0.0, t_end), method=method)
    assert caught.value.time == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("t_end", [2.0, 1e3])
def test_an_accumulation_of_bounces_is_told_at_its_time_however_long_the_run(t_end: float, method: str) -> None:
    bounce = tg.event(lambda t, y: y["h"] < 0, reset=lambda t, y: {"v": -0.5 * y["v"]})
    ball = tg.ode(lambda t, y: [y["v"], -9.81], y0={"h": 1.0, "v": 0.0}, events=bounce)
    with pytest.raises(tg.ZenoError) as caught:
        tg.simulate(ball, (0.0, t_end), method=method)
    # bounces as low as the tolerance of h are not followed, and those that are missing take four times as long as the last: 4 sqrt(8e-6 / 9.81)
    assert caught.value.time == pytest.approx(3 * np.sqrt(2 / 9.81), abs=4e-3)


class Clocks(tg.Component):
    """Two clocks that meet at zero, where one of them says 5.5e-17."""

    a = tg.Discrete(0)
    b = tg.Discrete(0)

    @tg.every(0.1, start=-0.3)
    def first(self) -> Any:
        return {self.a: self.a + 1}

    @tg.every(0.2, start=-0.4)
    def second(self) -> Any:
        return {self.b: self.b + 1}


@pytest.mark.parametrize("begin", [-0.4, -0.35, 0.0])
def test_clocks_that_meet_at_zero_but_for_rounding_tick_together(begin: float) -> None:
    times = event_times(tg.simulate(Clocks(), (begin, 0.25)))
    assert [time for time in times if abs(time) < 0.05] == pytest.approx([0.0], abs=1e-15)
    expected = [time for time in (-0.4, -0.3, -0.2, -0.1, 0.0, 0.1, 0.2) if time >= begin - 1e-12]
    assert times == pytest.approx(expected, abs=1e-15)


def sawtooth(x: Any) -> Any:
    """A table of four thousand pieces."""
    return np.interp(x, np.arange(-2000.0, 2001.0), np.arange(-2000.0, 2001.0) % 2)


def staircase(t: Any, y: Any) -> Any:
    return [1.0, np.floor(y["x"]) + sawtooth(y["x"])]


@pytest.mark.parametrize("start", [0.25, 2e7 + 0.25, -2e7 + 0.25, 1500.25, -1500.75])
def test_pieces_far_away_are_found_at_once(start: float, method: str) -> None:
    result = tg.simulate(tg.ode(staircase, y0={"x": start, "n": 0.0}), (0.0, 0.5), method=method)
    # the trapezium of one straight piece is exact
    assert result.final["n"] == pytest.approx(0.5 * (np.floor(start) + sawtooth([start, start + 0.5]).mean()), rel=1e-6)


def test_a_reset_across_millions_of_pieces_is_one_event(method: str) -> None:
    leap = tg.event(lambda t, y: y["x"] > 1.25, reset=lambda t, y: {"x": y["x"] + 2e7, "n": 0.0})
    result = tg.simulate(tg.ode(staircase, y0={"x": 0.75, "n": 0.0}, events=leap), (0.0, 1.0), method=method)
    assert result.final["n"] == pytest.approx(0.5 * (2e7 + 1), rel=1e-6)


ROOMS = 30


class Rooms(tg.Component):
    """Heated to 22, left to cool to 20, one after the other, two of them at one instant now and then."""

    T = tg.State(np.linspace(18.0, 21.0, ROOMS))
    on = tg.Discrete(np.ones(ROOMS))

    def equations(self) -> Any:
        yield tg.der(self.T) == -0.1 * (self.T - 10.0) + 2.0 * self.on

    @tg.when(lambda self: self.T > 22.0)
    def off(self) -> Any:
        return {self.on: np.zeros(ROOMS)}

    @off.elsewhen(lambda self: self.T < 20.0)
    def back(self) -> Any:
        return {self.on: np.ones(ROOMS)}


@pytest.mark.slow
def test_many_conditions_one_after_the_other_are_no_accumulation(method: str) -> None:
    # from a towards b with the rate of 0.1: the time is 10 log((b - a) / (b - reached))
    up, down = 10.0 * np.log(10.0 / 8.0), 10.0 * np.log(12.0 / 10.0)
    first = 10.0 * np.log((30.0 - np.linspace(18.0, 21.0, ROOMS)) / 8.0)
    switchings = [first + k * (up + down) + part for k in range(3) for part in (0.0, down)]
    expected = int((np.concatenate(switchings) < 8.0).sum())
    result = tg.simulate(Rooms(), (0.0, 8.0), method=method)
    assert sum(cause.startswith(("off", "back")) for event in result.events for cause in event.causes) == expected
