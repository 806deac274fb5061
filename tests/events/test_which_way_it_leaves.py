"""Random chains of integrators that an event puts onto a relation's zero, from where they leave by their second, third or a later derivative.

``x_0 = level + sum r_k s^k / k!`` and what drives the chain says of every instant s behind the event on which side it is; some leave one way a little
and then the other. ``z`` counts the time on both sides. No code of a run is in that truth.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Final

import numpy as np
import pytest
from scipy.optimize import brentq

import tidegate as tg

__all__: list[str] = []

RTOL: Final = 1e-8
TERMS: Final = 25  # of the cosine: more than enough for the angles there are


class Leaves:
    """Such a chain, drawn at random."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.n = int(rng.integers(1, 6))
        lead = int(rng.integers(0, self.n + 1))  # derivatives that are nothing
        scale = 10.0 ** rng.uniform(-3.0, 3.0)
        self.r = rng.choice([-1.0, 1.0], self.n + 1) * 10.0 ** rng.uniform(-2.0, 1.0, self.n + 1) * scale
        self.r[:lead] = 0.0
        if rng.random() < 0.3 and lead < self.n:
            self.r[lead] *= 10.0 ** rng.uniform(-6.0, -1.0)  # hardly to be seen before it goes the other way
        self.level = float(rng.choice([0.0, 0.0, 0.3, 1e3 / 7.0]))
        self.w = float(rng.choice([0.0, rng.uniform(0.5, 3.0)]))
        self.before = rng.normal(size=self.n) * scale
        self.at = float(rng.choice([1.0, 0.37, math.pi / 3.0]))
        self.t_end = self.at + float(rng.uniform(0.3, 2.0))
        self.sign = float(rng.choice([-1.0, 1.0]))
        self.start = self.r[: self.n].copy()
        self.start[0] += self.level
        if self.level == 0.3 and lead > 0:
            self.start[0] = 0.1 + 0.2  # the next number above
        self.size = self.level + np.abs([*self.start, *self.before]).max()

    def ahead(self, s: float) -> float:
        """x_0 - level so long behind the event."""
        polynomial = sum(r * s**k / math.factorial(k) for k, r in enumerate(self.r[: self.n]))
        driven = sum((-1.0) ** j * self.w ** (2 * j) * s ** (self.n + 2 * j) / math.factorial(self.n + 2 * j) for j in range(TERMS))
        return float(polynomial + self.r[self.n] * driven)

    def behind(self, t: float) -> float:
        """The same before the event."""
        return float(sum(x * t**k / math.factorial(k) for k, x in enumerate(self.before))) - self.level

    def counted(self) -> float:
        """z at the end."""
        first = np.linspace(0.0, self.at, 400)
        later = np.concatenate([np.geomspace(1e-12, 1e-2, 400), np.linspace(0.0, self.t_end - self.at, 800)[1:]])
        later = np.sort(later[later <= self.t_end - self.at])
        return self.sign * (_balance(self.behind, first) + _balance(self.ahead, np.concatenate([[0.0], later])))

    def model(self, *, is_dae: bool) -> Any:
        """For tidegate; of the DAE the relation reads an algebraic unknown."""
        event = tg.event(at=self.at, reset=lambda _t, _y: {"x": self.start, "c": self.r[self.n]})
        start: dict[str, Any] = {"x": self.before, "z": 0.0}

        def chain(t: Any, x: Any, c: Any) -> list[Any]:
            drive = np.cos(self.w * (t - self.at)) if self.w else 1.0
            return [*(x[k + 1] for k in range(self.n - 1)), c * drive]

        def rates(t: Any, y: Any, d: Any) -> dict[str, Any]:
            return {"x": chain(t, y["x"], d["c"]), "z": 1.0 if self.sign * (y["x"][0] - self.level) > 0.0 else -1.0}

        def residual(t: Any, y: Any, ydot: Any, d: Any) -> list[Any]:
            side = 1.0 if self.sign * (y["w"] - 2.0 * self.level) > 0.0 else -1.0
            return [*(a - b for a, b in zip(ydot["x"], chain(t, y["x"], d["c"]), strict=True)), y["w"] - 2.0 * y["x"][0], ydot["z"] - side]

        if is_dae:
            return tg.dae(residual, y0=start | {"w": 2.0 * self.before[0]}, discrete={"c": 0.0}, events=event)
        return tg.ode(rates, y0=start, discrete={"c": 0.0}, events=event)


def _balance(value: Any, places: np.ndarray) -> float:
    """How much longer a function is above zero than below, from the first place to the last."""
    total = 0.0
    for low, high in itertools.pairwise(places):
        a, b = value(low), value(high)
        if a * b < 0.0:
            root = brentq(value, low, high, xtol=1e-15)
            total += math.copysign(root - low, a) + math.copysign(high - root, b)
        else:
            total += math.copysign(high - low, b if b != 0.0 else a)
    return total


def _check(seed: int, method: str, *, is_dae: bool) -> None:
    source = Leaves(seed)
    result = tg.simulate(source.model(is_dae=is_dae), (0.0, source.t_end), method=method, rtol=RTOL)
    off = abs(result.final["z"] - source.counted())
    # by as much time as it takes to leave what steps are held to
    assert off < 1e-5 or abs(source.ahead(off)) < RTOL * source.size, (seed, method, is_dae, off)


@pytest.mark.hunt
@pytest.mark.parametrize("is_dae", [False, True])
@pytest.mark.parametrize("method", ["taylor", "radau"])
def test_it_is_on_the_side_that_its_first_derivative_says_which_is_not_nothing(method: str, is_dae: bool) -> None:
    for seed in range(12):
        _check(seed, method, is_dae=is_dae)


@pytest.mark.hunt
@pytest.mark.parametrize("is_dae", [False, True])
@pytest.mark.parametrize("method", ["taylor", "radau", "rodas5p"])
def test_every_method_tells_which_way_it_leaves(method: str, is_dae: bool) -> None:
    for seed in range(100, 114):
        _check(seed, method, is_dae=is_dae)
