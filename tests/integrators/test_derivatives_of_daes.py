"""Derivatives of random index-1 DAEs with events by parameters are those of differences, by every method that solves DAEs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate as tg

_END = 3.0
_STEP = 2e-5
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class RandomDae:
    """x' = A x + B z + a sin(w t + s), z + n tanh(z) = b C x, with one of four kinds of events.

    Parameters
    ----------
    kind : of the event: a jump where a state, or an algebraic unknown, rises through c; a jump at t = a; a relay in the algebraic equations.
    """

    a: FloatArray
    b: FloatArray
    c: FloatArray
    speeds: FloatArray
    phases: FloatArray
    start: FloatArray
    bend: float
    jump: float
    kind: int
    p: dict[str, float]

    @staticmethod
    def random(seed: int) -> RandomDae:
        random = np.random.default_rng(seed)
        n, k = int(random.integers(1, 4)), int(random.integers(1, 3))
        p = {"a": random.uniform(0.5, 1.5), "b": random.uniform(0.5, 1.5), "c": random.uniform(-0.3, 0.3)}
        a, b, c = random.uniform(-1, 1, (n, n)) - np.eye(n), random.uniform(-1, 1, (n, k)), random.uniform(-1, 1, (k, n))
        speeds, phases, start = random.uniform(0.5, 4, n), random.uniform(0, 6, n), random.uniform(-1, 1, n)
        return RandomDae(a, b, c, speeds, phases, start, random.uniform(0, 0.6), random.uniform(0.3, 0.8), seed % 4, p)

    @property
    def names(self) -> list[str]:
        return [*(f"x{i}" for i in range(len(self.a))), *(f"z{j}" for j in range(len(self.c)))]

    def model(self) -> Any:
        n, k = len(self.a), len(self.c)

        def residual(t: Any, y: Any, ydot: Any, p: Any) -> list[Any]:
            x, z = [y[f"x{i}"] for i in range(n)], [y[f"z{j}"] for j in range(k)]
            moved = [
                ydot[f"x{i}"]
                - sum(self.a[i, j] * x[j] for j in range(n))
                - sum(self.b[i, j] * z[j] for j in range(k))
                - p["a"] * np.sin(self.speeds[i] * t + self.phases[i])
                for i in range(n)
            ]
            relay = 0.5 * np.where(x[0] > p["c"], 1.0, -1.0) if self.kind == 3 else 0.0
            return moved + [z[j] + self.bend * np.tanh(z[j]) - p["b"] * sum(self.c[j, i] * x[i] for i in range(n)) - relay for j in range(k)]

        events = [
            [tg.event(lambda t, y, p: y["x0"] > p["c"], lambda t, y, p: {"x0": y["x0"] - self.jump * p["a"]})],
            [tg.event(lambda t, y, p: t > p["a"], lambda t, y, p: {"x0": -self.jump * y["x0"] + p["b"]})],
            [tg.event(lambda t, y, p: y["z0"] > p["c"], lambda t, y, p: {"x0": -self.jump * y["x0"]})],
            [],
        ][self.kind]
        return tg.dae(residual, y0=dict(zip(self.names, [*self.start.tolist(), *[0.0] * k], strict=True)), p=self.p, events=events)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [8, 9, 10, 11, 16, 17, 18, 19])
def test_derivatives_of_a_random_dae_are_those_of_differences(seed: int) -> None:
    drawn = RandomDae.random(seed)
    model, names = drawn.model(), drawn.names

    def finals(name: str, change: float) -> FloatArray:
        run = tg.simulate(model, (0, _END), method="radau", rtol=1e-11, atol=1e-13, parameters={name: drawn.p[name] + change})
        return np.array([run.final[one] for one in names])

    exact = {name: (finals(name, _STEP) - finals(name, -_STEP)) / (2 * _STEP) for name in drawn.p}
    for method in ("ida", "radau"):
        for rtol in (1e-5, 1e-8):
            result = tg.simulate(model, (0, _END), method=method, rtol=rtol, sensitivities="all")
            for name, expected in exact.items():
                found = [result.sensitivity(one, name)[-1] for one in names]
                # differences leave some 1e-6: their step squared, and 1e-11 by the step
                allowed = (100 * rtol + 3e-6) * max(0.01, float(np.max(np.abs(expected))))
                assert found == pytest.approx(expected, abs=allowed), (method, rtol, name)
