"""Parameters whose values follow from others move with them in every derivative: of states, outputs, start values and times of events."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg

RANDOM = range(12)


class Chain(tg.Component):
    """x' = -j with j = 2 k and k = 3 x0, from x0^2, until x passes c = x0."""

    x0 = tg.Parameter(1.5)
    k = tg.Parameter(lambda self: 3.0 * self.x0)
    j = tg.Parameter(lambda self: 2.0 * self.k)
    c = tg.Parameter(lambda self: self.x0)
    x = tg.State(lambda self: self.x0**2 * self.k / 4.5, fixed=True)
    hits = tg.Discrete(0.0)
    seen = tg.Output()

    def equations(self) -> Any:
        """One state."""
        yield tg.der(self.x) == -self.j
        yield self.seen == self.x * self.k

    @tg.when(lambda self: self.x < self.c)
    def hit(self) -> Any:
        """Thrown up by j."""
        return {self.x: self.x + self.j / 6.0, self.hits: self.k}


def test_what_follows_moves_along(method: str) -> None:
    result = tg.simulate(Chain(), (0.0, 0.2), sensitivities=["x0"], rtol=1e-9, method=method)
    a = 1.5
    # x = 2 a^3 / 3 - 6 a t reaches a at (2 a^2 / 3 - 1) / 6, and goes on from 2 a
    event = result.events[0]
    assert event.time == pytest.approx((2 * a**2 / 3 - 1) / 6, rel=1e-8)
    assert event.dt_dp["x0"] == pytest.approx(4 * a / 18, rel=1e-6)
    # x = 2 a - 6 a (t - t*), so dx/da = 2 - 6 (t - t*) + 6 a dt*/da
    t = 0.2
    x, slope = 2 * a - 6 * a * (t - event.time), 2 - 6 * (t - event.time) + 6 * a * 4 * a / 18
    assert result.sensitivity("x", "x0")[-1] == pytest.approx(slope, rel=1e-6)
    assert result.sensitivity("seen", "x0")[-1] == pytest.approx(3 * a * slope + 3 * x, rel=1e-6)
    assert result.sensitivity("hits", "x0")[-1] == pytest.approx(3.0, rel=1e-9)


def test_what_is_given_does_not_follow() -> None:
    result = tg.simulate(Chain(), (0.0, 0.01), sensitivities=["x0", "k"], parameters={"k": 4.5}, rtol=1e-9)
    assert result.sensitivity("x", "x0")[-1] == pytest.approx(2 * 1.5 * 4.5 / 4.5, rel=1e-8)
    assert result.sensitivity("x", "k")[-1] == pytest.approx(1.5**2 / 4.5 - 2.0 * 0.01, rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", RANDOM)
def test_random_chains_of_parameters_against_central_differences(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 6
    weights = np.tril(random.normal(size=(n, n)), -1) * (random.random((n, n)) < 0.6)

    def value(k: int) -> Any:
        parts = [(float(w), f"p{i}") for i, w in enumerate(weights[k]) if w]
        return (lambda self: 1.0 + 0.1 * k + sum(w * getattr(self, name) for w, name in parts)) if parts else 1.0

    body = {f"p{k}": tg.Parameter(value(k)) for k in range(n)}

    def equations(self: Any) -> Any:
        total = sum(float(c) * getattr(self, f"p{k}") for k, c in enumerate(random_rates))
        yield tg.der(self.x) == total - 0.3 * self.x * self.p3
        yield tg.der(self.y) == self.x * self.p5

    random_rates = random.normal(size=n)
    kind: Any = type("Random", (tg.Component,), {**body, "x": tg.State(lambda self: self.p2 * self.p4), "y": tg.State(0.0), "equations": equations})
    names = [f"p{k}" for k in range(n)]
    result = tg.simulate(kind(), (0.0, 1.0), sensitivities=names, rtol=1e-10)
    for name in names:
        h = 1e-5
        middle = result.parameters[name]
        ends = [tg.simulate(kind(), (0.0, 1.0), rtol=1e-11, parameters={name: middle + s * h}).final for s in (1, -1)]
        for column in ("x", "y"):
            difference = (ends[0][column] - ends[1][column]) / (2 * h)
            # differences of runs at 1e-11 over 2e-5 have some 1e-6
            assert result.sensitivity(column, name)[-1] == pytest.approx(difference, rel=2e-5, abs=2e-5)
