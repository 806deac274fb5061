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
