"""Random blocks of straight lines, and what they do, by adding up lines: no integrator, no front end."""

from __future__ import annotations

import math

import numpy as np

END = 5.0


class Written:
    """What a random block does."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.n = int(random.integers(1, 4))
        self.x0 = random.normal(size=self.n)
        self.rates = random.normal(size=(40, self.n)) * 2.0  # after event k
        self.bounds = random.normal(size=(40, self.n))  # of the indicators, likewise
        self.directions = random.integers(-1, 2, size=(40, self.n))
        self.ticks = np.where(random.random(40) < 0.5, random.uniform(0.1, 1.5, 40), 0.0)  # until the next time event; 0 for none
        self.resets = np.where(random.random((40, self.n)) < 0.2, random.normal(size=(40, self.n)), np.nan)
        self.n_states = random.integers(1, self.n + 1, size=40) if random.random() < 0.5 else np.full(40, self.n)


def truth(w: Written) -> tuple[list[tuple[float, bool, tuple[str, ...]]], np.ndarray]:
    """Every event and the last state, by adding up lines."""
    t, x, k, log = 0.0, w.x0.copy(), 0, []
    tick = t + w.ticks[0] if w.ticks[0] else math.inf
    while True:
        distance, rates = w.bounds[k] - x, w.rates[k]
        with np.errstate(divide="ignore", invalid="ignore"):
            after = np.where(distance * rates > 0, distance / rates, math.inf)
        after = np.where((w.directions[k] == 0) | (w.directions[k] == np.sign(rates)), after, math.inf)
        crossing = t + float(after.min())
        now = min(crossing, tick)
        if now >= END:
            return log, x + rates * (END - t)
        earliest = sorted([*after[np.isfinite(after)], tick - t])
        if len(earliest) > 1 and earliest[1] - earliest[0] < 1e-6:
            raise Unclear
        if k == 38:
            raise Unclear
        x = x + rates * (now - t)
        zero = () if now == tick else (f"Z[{int(after.argmin())}]",)
        if zero:
            x[after.argmin()] = w.bounds[k][after.argmin()]
        log.append((now, now == tick, zero))
        k, t = k + 1, now
        if not zero:
            tick = t + w.ticks[k] if w.ticks[k] else math.inf
        x = np.where(np.isnan(w.resets[k]), x, w.resets[k])
        if np.min(np.abs(x - w.bounds[k])) < 1e-6:
            raise Unclear


class Unclear(Exception):
    """Two things happen so near each other that rounding decides."""
