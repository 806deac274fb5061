"""Random models with roots, powers with broken exponents, logarithms and inverse functions, against SciPy's DOP853 with the same functions in NumPy.

Each unknown is filled by what swings and drained by what is zero where it is, so that none ends; what is filled switches at two levels of the first
unknown, as a float switch does. By the method that "auto" takes, which is nearly always that of power series.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tidegate as tg

__all__: list[str] = []

KINDS = ("sqrt", "pow", "log", "log1p", "atan", "norm", "asinh", "ratio")
MOST_ALLOWED = 200.0  # times rtol of one hundredth and of the value: errors of steps add up, and an event moves with them


class Basins:
    """Filled and drained at random."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 4))
        self.inflows = [[float(rng.uniform(low, high)) for low, high in ((0.05, 1.0), (0.0, 0.9), (0.3, 4.0))] for _ in range(n)]
        self.drains = [[self._drain(rng, n) for _ in range(int(rng.integers(1, 4)))] for _ in range(n)]
        self.start = [float(rng.choice([0.0, rng.uniform(0.01, 3.0), 10.0 ** rng.uniform(-6.0, 0.0)])) for _ in range(n)]
        self.level = float(rng.uniform(0.1, 1.5))
        self.more = float(rng.choice([0.0, rng.uniform(0.5, 2.0)]))
        self.t_end = float(rng.uniform(1.0, 30.0))
        self.rtol = float(10.0 ** rng.uniform(-9.0, -4.0))

    @staticmethod
    def _drain(rng: np.random.Generator, n: int) -> tuple[str, float, float, float, int]:
        exponent = float(rng.choice([0.3, 0.5, 0.7, 1.5, 2.3]))
        return str(rng.choice(KINDS)), float(rng.uniform(0.1, 1.5)), exponent, float(rng.uniform(0.2, 3.0)), int(rng.integers(n))

    def rates(self, t: Any, x: Any, on: Any) -> list[Any]:
        """Of all unknowns."""
        return [
            inflow[0] * (1.0 + inflow[1] * np.sin(inflow[2] * t)) * (1.0 + self.more * on) - sum(self._drained(drain, own, x) for drain in drains)
            for inflow, drains, own in zip(self.inflows, self.drains, x, strict=True)
        ]

    @staticmethod
    def _drained(drain: tuple[str, float, float, float, int], own: Any, x: Any) -> Any:
        kind, size, exponent, width, other = drain
        return (
            size
            * {
                "sqrt": lambda: np.sqrt(own),
                "pow": lambda: own**exponent,
                "log": lambda: own * np.log(1.0 + own),
                "log1p": lambda: np.log1p(width * own),
                "atan": lambda: np.arctan(width * own) * (1.0 + x[other] / (1.0 + x[other])),
                "norm": lambda: own * np.sqrt(own * own + x[other] * x[other] + 0.01),
                "asinh": lambda: np.arcsinh(width * own),
                "ratio": lambda: np.sqrt(own) / (1.0 + np.sqrt(x[other] + 0.1)),
            }[kind]()
        )

    def model(self) -> Any:
        """For tidegate."""
        names = [f"x{k}" for k in range(len(self.start))]

        def rates(t: Any, y: Any, d: Any) -> dict[str, Any]:
            return dict(zip(names, self.rates(t, [y[name] for name in names], d["on"]), strict=True))

        switches = [
            tg.event(lambda t, y, d: y["x0"] > self.level, reset=lambda t, y, d: {"on": 1.0}),
            tg.event(lambda t, y, d: y["x0"] < 0.7 * self.level, reset=lambda t, y, d: {"on": 0.0}),
        ]
        return tg.ode(rates, y0=dict(zip(names, self.start, strict=True)), discrete={"on": 0.0}, events=switches)

    def truth(self) -> Any:
        """The end by SciPy, from switching to switching."""
        t, x, on = 0.0, np.array(self.start), 0.0
        while True:

            def crossed(t: float, x: Any, on: float = on) -> float:
                return x[0] - (0.7 if on else 1.0) * self.level

            crossed.terminal, crossed.direction = True, -1.0 if on else 1.0  # type: ignore[attr-defined]

            def rates(t: float, x: Any, on: float = on) -> Any:
                return self.rates(t, np.maximum(x, 0.0), on)

            found: Any = solve_ivp(rates, (t, self.t_end), x, method="DOP853", rtol=1e-12, atol=1e-14, events=[crossed])
            if found.status != 1:
                assert found.status == 0
                return found.y[:, -1]
            t, x, on = found.t[-1], found.y[:, -1], 1.0 - on


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 18))])
def test_random_basins_are_filled_and_drained_as_scipy_says(seed: int) -> None:
    basins = Basins(seed)
    result = tg.simulate(basins.model(), (0.0, basins.t_end), rtol=basins.rtol)
    assert result.statistics.method == "taylor"
    truth = basins.truth()
    found = np.array([result.final[f"x{k}"] for k in range(len(truth))])
    assert np.max(np.abs(found - truth) / (0.01 + np.abs(truth))) < MOST_ALLOWED * basins.rtol
