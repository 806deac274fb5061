"""Clauses whose condition is true at the start: none happens there, in no front end, but those that say ``at_start=True``; so the judge sees it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg

COLD, WARM, POWER, OUTSIDE, LOSS = 18.0, 20.0, 5.0, 5.0, 0.2


class House(tg.Component):
    T, on, count = tg.State(15.0), tg.Discrete(False), tg.Discrete(0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.T) == tg.where(self.on, POWER, 0.0) - LOSS * (self.T - OUTSIDE)

    @tg.when(lambda self: self.T < COLD)
    def cold(self) -> Any:
        return {self.on: True, self.count: self.count + 1}

    @tg.when(lambda self: self.T > WARM)
    def warm(self) -> Any:
        return {self.on: False}


class EagerHouse(House):
    @tg.when(lambda self: self.T < COLD, at_start=True)
    def cold(self) -> Any:
        return {self.on: True, self.count: self.count + 1}

    @tg.when(lambda self: self.T > WARM, at_start=True)
    def warm(self) -> Any:
        return {self.on: False}


class Street(tg.Component):
    """As a part, and as an array of clauses."""

    inner = EagerHouse()
    T, on = tg.State([15.0, 19.0, 25.0]), tg.Discrete([False, True, True])

    def equations(self) -> Iterator[Any]:
        for k in range(3):
            yield tg.der(self.T[k]) == tg.where(self.on[k], POWER, 0.0) - LOSS * (self.T[k] - OUTSIDE)

    @tg.when(lambda self: self.T < COLD, at_start=True)
    def cold(self) -> Any:
        return {self.on: True}

    @tg.when(lambda self: self.T > WARM, at_start=True)
    def warm(self) -> Any:
        return {self.on: False}


def as_functions(start: float, on: float, eager: bool, dae: bool) -> Any:
    events = [
        tg.event(lambda t, y, d: y["T"] < COLD, reset=lambda t, y, d: {"on": 1.0, "count": d["count"] + 1}, name="cold", at_start=eager),
        tg.event(lambda t, y, d: y["T"] > WARM, reset=lambda t, y, d: {"on": 0.0}, name="warm", at_start=eager),
    ]
    given: dict[str, Any] = {"y0": {"T": start}, "discrete": {"on": on, "count": 0.0}, "events": events}
    if dae:
        return tg.dae(lambda t, y, ydot, d: [ydot["T"] - POWER * d["on"] + LOSS * (y["T"] - OUTSIDE)], **given)
    return tg.ode(lambda t, y, d: [POWER * d["on"] - LOSS * (y["T"] - OUTSIDE)], **given)


def truth(T: float, on: bool, eager: bool, end: float) -> tuple[float, bool, int]:
    """Temperature, heater and how often it was switched on, by exponentials from one switching to the next."""
    t, count, was_cold, was_warm = 0.0, 0, T < COLD, T > WARM
    if eager and was_cold:
        on, count = True, 1
    if eager and was_warm:
        on = False
    while True:
        rest = OUTSIDE + (POWER / LOSS if on else 0.0)

        def when(level: float, rest: float = rest, T: float = T) -> float:
            part = (level - rest) / (T - rest) if rest != T else -1.0
            return -np.log(part) / LOSS if 0.0 < part < 1.0 - 1e-12 else np.inf

        rises = rest > T
        first = min((when(COLD), "cold"), (when(WARM), "warm"))
        if t + first[0] >= end:
            return rest + (T - rest) * float(np.exp(-LOSS * (end - t))), on, count
        t, T = t + first[0], COLD if first[1] == "cold" else WARM
        was_cold, was_warm = (first[1] == "cold" and not rises), (first[1] == "warm" and rises)
        if was_cold:
            on, count = True, count + 1
        if was_warm:
            on = False


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("eager", [False, True])
def test_random_houses_switch_as_plain_python_does(seed: int, eager: bool) -> None:
    rng = np.random.default_rng(seed)
    start, on, end = float(rng.uniform(10.0, 26.0)), bool(rng.integers(2)), float(rng.uniform(2.0, 9.0))
    expected = truth(start, on, eager, end)
    for model in ((EagerHouse if eager else House)(T=start, on=on), *(as_functions(start, on, eager, dae) for dae in (False, True))):
        result = tg.simulate(model, (0.0, end), rtol=1e-9)
        assert (result.final["on"], result.final["count"]) == expected[1:], type(model)
        assert result.final["T"] == pytest.approx(expected[0], rel=1e-6)
        assert tg.verify(result).ok


def test_parts_and_arrays_of_clauses_happen_at_the_start_too() -> None:
    result = tg.simulate(Street(), (0.0, 0.1), rtol=1e-9)
    assert result["on"].values[-1].tolist() == [1.0, 1.0, 0.0]
    assert result.final["inner.on"] == 1.0
    assert result.final["T[2]"] == pytest.approx(OUTSIDE + 20.0 * np.exp(-0.02))


def test_derivatives_go_through_what_happens_at_the_start() -> None:
    class Given(tg.Component):
        start, x, share = tg.Parameter(2.0), tg.State(lambda self: self.start), tg.Discrete(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == -self.share

        @tg.when(lambda self: self.x > 1.0, at_start=True)
        def halve(self) -> Any:
            return {self.share: self.x**2}

    result = tg.simulate(Given(), (0.0, 0.1), rtol=1e-9, sensitivities=["start"])
    assert result.final["x"] == pytest.approx(2.0 - 0.4)
    assert float(result.sensitivity("x", "start")[-1]) == pytest.approx(1.0 - 0.1 * 4.0)


def test_what_is_true_all_the_time_is_named_with_the_way_out() -> None:
    message = tg.simulate(House(), (0.0, 1.0)).message
    assert "cold never happened" in message
    assert "at_start=True" in message
    assert "never happened" not in tg.simulate(EagerHouse(), (0.0, 0.1)).message
    with pytest.raises(tg.UsageError, match="at_start, and no condition"):
        tg.event(every=1.0, reset=lambda t, y: {"T": 1.0}, at_start=True)

    class Yields(House):
        level = tg.Discrete(0.0)

        @tg.when(lambda self: self.T < COLD, at_start=True)
        def look(self) -> Iterator[Any]:
            yield self.level == 2 * self.T

    with pytest.raises(tg.UsageError, match="look yields an equation, but happens at the start"):
        Yields().lower()
