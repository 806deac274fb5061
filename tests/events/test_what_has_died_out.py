"""Random quantities that have died out, down to rounding, beside events of others: relations of them keep what they say.

``x' = -k x`` never changes its sign. Sooner or later an event of something else finds it within the round-off level of zero, on its way there, where
the step before was thousands of its time constants long.
"""

from __future__ import annotations

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


@pytest.mark.parametrize("method", ["taylor", "radau", "rodas5p"])
def test_a_relation_of_what_has_died_out_keeps_what_it_says(method: str) -> None:
    for seed in range(25):
        _check(seed, method)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["taylor", "radau", "rodas5p", "bdf", "ida"])
def test_every_method_keeps_what_relations_say_of_what_has_died_out(method: str) -> None:
    for seed in range(1000, 1250):
        _check(seed, method)
