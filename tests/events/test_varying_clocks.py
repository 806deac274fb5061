"""A clock whose period is a discrete variable goes on from its last tick: the period is read at each tick, with the values the tick leaves behind."""

from __future__ import annotations

from typing import Any

import pytest

import tidegate as tg
from run_checks import event_times


class Slowing(tg.Component):
    n = tg.Discrete(0)
    start = tg.Parameter(0.1)
    first = tg.Parameter(0.3)
    factor = tg.Parameter(2.0)
    period = tg.Discrete(lambda self: self.first)

    @tg.every(lambda self: self.period, start=lambda self: self.start)
    def tick(self) -> Any:
        return {self.n: self.n + 1}

    @tg.at(1.1)
    def slow(self) -> Any:
        return {self.period: self.factor * self.period}


def ticks(result: Any) -> list[float]:
    return [event.time for event in result.events if "tick" in event.causes]


def test_a_change_between_ticks_counts_from_the_next_tick_on(method: str) -> None:
    result = tg.simulate(Slowing(), (0.0, 3.0), sensitivities="all", method=method)
    assert ticks(result) == pytest.approx([0.1, 0.4, 0.7, 1.0, 1.3, 1.9, 2.5])
    moved = {event.time: event.dt_dp for event in result.events if "tick" in event.causes}
    last = moved[max(moved)]
    # start + 4 first + 2 factor first
    assert last == pytest.approx({"start": 1.0, "first": 4.0 + 2 * 2.0, "factor": 2 * 0.3})


def test_a_change_at_a_tick_counts_from_that_tick_on(method: str) -> None:
    assert ticks(tg.simulate(Slowing(start=1.1), (0.0, 3.0), method=method)) == pytest.approx([1.1, 1.7, 2.3, 2.9])


def test_a_tick_may_change_its_own_period(method: str) -> None:
    class Doubling(tg.Component):
        period = tg.Discrete(0.5)

        @tg.every(lambda self: self.period)
        def tick(self) -> Any:
            return {self.period: 2 * self.period}

    assert event_times(tg.simulate(Doubling(), (0.0, 10.0), method=method)) == pytest.approx([0.0, 1.0, 3.0, 7.0])


@pytest.mark.parametrize(("begin", "expected"), [(0.7, [0.7, 1.0, 1.3]), (0.75, [1.0, 1.3]), (-1.0, [0.1, 0.4, 0.7, 1.0, 1.3])])
def test_a_run_that_starts_later_joins_a_clock_with_a_varying_period(begin: float, expected: list[float], method: str) -> None:
    assert ticks(tg.simulate(Slowing(), (begin, 1.5), method=method)) == pytest.approx(expected)


class Halting(tg.Component):
    """Each tick takes a quarter off the period, which is zero after the fourth."""

    n = tg.Discrete(0)
    less = tg.Parameter(0.25)
    period = tg.Discrete(1.0)

    @tg.every(lambda self: self.period)
    def tick(self) -> Any:
        return {self.n: self.n + 1, self.period: self.period - self.less}


@pytest.mark.parametrize(("less", "last", "period"), [(0.25, 1.5, "0"), (0.4, 0.8, "-0.2")])
def test_a_clock_whose_period_is_no_longer_positive_is_told_by_name(less: float, last: float, period: str, method: str) -> None:
    with pytest.raises(tg.ClockError, match=rf"clock tick .* period is {period} at t = {last}") as caught:
        tg.simulate(Halting(less=less), (0.0, 5.0), method=method)
    assert caught.value.time == pytest.approx(last)
    assert caught.value.origin.text.startswith("@tg.every")
    # the tick that did it is in what was computed
    assert event_times(caught.value.result)[-1] == pytest.approx(last)


def test_a_period_that_recovers_before_the_next_tick_is_fine(method: str) -> None:
    class Recovering(tg.Component):
        n = tg.Discrete(0)
        period = tg.Discrete(0.5)

        @tg.every(lambda self: self.period)
        def tick(self) -> Any:
            return {self.n: self.n + 1}

        @tg.every(0.25, start=0.1)
        def change(self) -> Any:
            return {self.period: 0.5 - self.period}

    # it is zero for a while after every tick, and 0.5 again before the next
    result = tg.simulate(Recovering(), (0.0, 1.7), method=method)
    assert ticks(result) == pytest.approx([0.0, 0.5, 1.0, 1.5])
