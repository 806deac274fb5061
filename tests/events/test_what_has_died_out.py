"""Random quantities that have died out, down to rounding, beside events of others: relations of them keep what they say.

``x' = -k x`` never changes its sign. Sooner or later an event of something else finds it within the round-off level of zero, on its way there, where
the step before was thousands of its time constants long.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []

# of each whether it is true of what is positive, and of zero, into which numbers underflow at last
RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "x >= 0": lambda x, _a: x >= 0.0,
    "x < 0": lambda x, _a: x < 0.0,
    "x*x >= 0": lambda x, _a: x * x >= 0.0,
    "x*x*x < 0": lambda x, _a: x * x * x < 0.0,
    "x*x*x >= 0": lambda x, _a: x * x * x >= 0.0,
    "x*(2 + a) >= 0": lambda x, a: x * (2.0 + a) >= 0.0,
    "x*x*(2 + a) < 0": lambda x, a: x * x * (2.0 + a) < 0.0,
    "expm1(x) >= 0": lambda x, _a: np.expm1(x) >= 0.0,
    "x/(2 + a) < 0": lambda x, a: x / (2.0 + a) < 0.0,
}
OF_THE_OPPOSITE: dict[str, Callable[[Any, Any], Any]] = {
    "x > 0": lambda x, _a: x > 0.0,
    "x <= 0": lambda x, _a: x <= 0.0,
    "x*x*x > 0": lambda x, _a: x * x * x > 0.0,
    "x*(2 + a) <= 0": lambda x, a: x * (2.0 + a) <= 0.0,
}


class DiesOut:
    """Such a quantity beside an oscillation that crosses a level and a clock, drawn at random."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.k = float(10.0 ** rng.uniform(2.0, 7.0))
        sign = float(rng.choice([-1.0, 1.0]))
        self.start = sign * float(10.0 ** rng.uniform(-2.0, 2.0))
        self.relations = RELATIONS if sign > 0.0 else OF_THE_OPPOSITE
        self.relation = str(rng.choice(list(self.relations)))
        self.level = float(rng.uniform(-0.9, 0.9))
        self.period = float(rng.uniform(0.05, 0.9))
        self.w = float(rng.uniform(1.0, 8.0))
        self.rtol = float(10.0 ** rng.choice([-4.0, -6.0, -8.0]))
        self.factor = float(rng.choice([0.0, 0.0, rng.uniform(0.1, 3.0)]))  # how it dies out depends on the oscillation
        self.holds = bool(self.relations[self.relation](np.float64(self.start), 0.0))

    def model(self) -> Any:
        """For tidegate; ``q`` counts the time for which the relation holds."""
        holds = self.relations[self.relation]

        def f(_t: Any, y: Any) -> dict[str, Any]:
            x, a = y["x"], y["a"]
            q = 1.0 if holds(x, a) else 0.0
            crossed = 1.0 if a > self.level else -1.0
            return {"x": -self.k * (1.0 + self.factor * a * a) * x, "a": self.w * y["b"], "b": -self.w * a, "q": q, "r": crossed}

        ticks = tg.event(every=self.period, reset=lambda _t, _y, d: {"n": d["n"] + 1.0})
        start = {"x": self.start, "a": 1.0, "b": 0.0, "q": 0.0, "r": 0.0}
        return tg.ode(lambda t, y, _d: f(t, y), y0=start, discrete={"n": 0.0}, events=ticks)


def _check(seed: int, method: str) -> None:
    source = DiesOut(seed)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = tg.simulate(source.model(), (0.0, 3.0), method=method, rtol=source.rtol)
    if said:
        return
    wanted = 3.0 if source.holds else 0.0
    assert result.final["q"] == pytest.approx(wanted, abs=1e-6), (seed, method, source.relation, source.k, source.start)


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["taylor", "radau", "rodas5p"])
def test_a_relation_of_what_has_died_out_keeps_what_it_says(method: str) -> None:
    for seed in range(25):
        _check(seed, method)


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_the_judge_does_not_take_the_sign_of_what_has_died_out_for_a_missed_event(method: str) -> None:
    for seed in range(6):
        check = tg.verify(tg.simulate(DiesOut(seed).model(), (0.0, 1.0), method=method, rtol=1e-5), points=3)
        assert check.ok, (seed, method, str(check))


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["taylor", "radau", "rodas5p", "bdf", "ida"])
def test_every_method_keeps_what_relations_say_of_what_has_died_out(method: str) -> None:
    for seed in range(1000, 1060):
        _check(seed, method)


class ComesToZero:
    """A quantity that does get to zero, at a time that is known, often in steps that a clock cuts short."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.kind = str(rng.choice(["to a limit", "by a power", "steadily", "cubed", "swings"]))
        self.k = float(10.0 ** rng.uniform(0.0, 5.0))
        self.start = float(10.0 ** rng.uniform(-6.0, 1.0))
        self.rtol = float(10.0 ** rng.choice([-6.0, -8.0]))
        self.power = float(rng.choice([0.0, 0.25, 0.5]))
        self.limit = self.start * float(10.0 ** rng.uniform(-3.0, 0.0))
        self.w = float(rng.uniform(1.0, 6.0))
        if self.kind == "to a limit":
            self.times = [math.log(1.0 + self.start / self.limit) / self.k]
        elif self.kind == "by a power":
            self.times = [self.start ** (1.0 - self.power) / (self.k * (1.0 - self.power))]
        elif self.kind == "swings":
            self.times = [(0.5 + 2.0 * n) * math.pi / self.w for n in range(3)]
        else:
            self.times = [self.start / self.k]
        self.t_end = 1.4 * self.times[-1]
        self.clock = float(rng.choice([0.0, self.t_end / rng.uniform(3.0, 40.0)]))

    def _rate(self, x: Any) -> Any:
        if self.kind == "to a limit":
            return -self.k * (x + self.limit)
        if self.kind == "by a power":
            return -self.k * tg.where(x > 0.0, 1.0, 0.0) * (np.abs(x) ** self.power if self.power else 1.0)
        return -self.k

    def model(self) -> Any:
        """For tidegate."""

        def f(_t: Any, y: Any) -> dict[str, Any]:
            if self.kind == "swings":
                return {"x": -self.w * y["b"], "b": self.w * y["x"]}
            return {"x": self._rate(y["x"]), "b": 0.0}

        events = [tg.event(lambda _t, y: (y["x"] ** 3 if self.kind == "cubed" else y["x"]) <= 0.0, name="is there")]
        if self.clock:
            events.append(tg.event(every=self.clock, name="ticks"))
        return tg.ode(f, y0={"x": self.start, "b": 0.0}, events=events)


def _check_that_it_is_there(seed: int, method: str) -> None:
    source = ComesToZero(seed)
    result = tg.simulate(source.model(), (0.0, source.t_end), method=method, rtol=source.rtol, max_steps=100_000)
    times = [event.time for event in result.events if "is there" in event.causes]
    # what slows down at its end is there later by the root of the tolerance
    assert times == pytest.approx(source.times, abs=5e-3 * source.t_end), (seed, method, source.kind)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["taylor", "radau", "bdf"])
def test_what_comes_to_zero_is_there_once(method: str) -> None:
    for seed in range(20):
        _check_that_it_is_there(seed, method)


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["taylor", "radau", "rodas5p", "bdf"])
def test_every_method_tells_what_comes_to_zero_from_what_dies_out(method: str) -> None:
    for seed in range(1000, 1080):
        _check_that_it_is_there(seed, method)
