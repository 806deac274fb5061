"""Random tanks that run empty through an orifice, ``h' = -k sqrt(h)``: each says so once, at the time that is known, whatever goes on beside it.

The end of such a fall is no crossing: the level touches zero, and stays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []


class RunsEmpty:
    """Such tanks, drawn at random; some are filled first, and a clock may tick."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 4))
        self.k = (10.0 ** rng.uniform(-1.0, 1.0, n)).tolist()
        self.starts = (10.0 ** rng.uniform(-2.0, 1.5, n)).tolist()
        self.form = int(rng.integers(0, 3))
        self.rtol = float(10.0 ** rng.choice([-3.0, -4.0, -6.0, -8.0, -10.0]))
        self.inflow = float(rng.choice([0.0, rng.uniform(0.1, 1.0)]))
        self.opens = float(rng.uniform(0.5, 3.0)) if self.inflow > 0.0 else 0.0
        self.clock = float(rng.choice([0.0, rng.uniform(0.5, 3.0)]))

    def times(self) -> list[float]:
        """When each of them is empty."""
        levels = [start + self.inflow * self.opens for start in self.starts]
        return [self.opens + 2.0 * math.sqrt(level) / k for level, k in zip(levels, self.k, strict=True)]

    def source(self) -> Any:
        """For tidegate."""
        names = [f"h{k}" for k in range(len(self.k))]

        def outflow(h: Any, k: float) -> Any:
            if self.form == 0:
                return k * h**0.5 if h > 0.0 else 0.0
            if self.form == 1:
                return k * max(h, 0.0) ** 0.5
            return k * np.sqrt(h) if h > 0.0 else 0.0

        def f(t: Any, y: Any) -> dict[str, Any]:
            falls = {name: -outflow(y[name], k) for name, k in zip(names, self.k, strict=True)}
            if self.inflow > 0.0:
                falls = {name: self.inflow if t < self.opens else falls[name] for name in names}
            return falls | {"a": y["b"], "b": -y["a"]}

        events = [tg.event(lambda t, y, name=name: y[name] <= 0.0) for name in names]
        if self.clock > 0.0:
            events.append(tg.event(every=self.clock))
        return tg.ode(f, y0=dict(zip(names, self.starts, strict=True)) | {"a": 0.0, "b": 1.0}, events=events)


@pytest.mark.parametrize("method", ["taylor", "radau"])
@pytest.mark.parametrize("seed", [*range(10), 45, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 60) if seed != 45)])
def test_every_tank_says_once_that_it_is_empty(seed: int, method: str) -> None:
    tanks = RunsEmpty(seed)
    times = tanks.times()
    result = tg.simulate(tanks.source(), (0.0, 1.3 * max(times) + 1.0), method=method, rtol=tanks.rtol)
    for k, exact in enumerate(times):
        found = [event.time for event in result.events if f"h{k} <= 0" in event.causes]
        assert len(found) == 1
        # a level that is off by a hundred times the tolerance is empty so much earlier or later
        level = max(tanks.starts[k] + tanks.inflow * tanks.opens, 1.0)
        assert found[0] == pytest.approx(exact, abs=2.0 * math.sqrt(tanks.rtol * level) / tanks.k[k])
        assert result.final[f"h{k}"] == pytest.approx(0.0, abs=10.0 * tanks.rtol * level)
