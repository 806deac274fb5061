"""Delay differential equations solved by nothing of tidegate: the method of steps, each interval by Picard iteration on Chebyshev polynomials.

In: ``f(t, x, past)`` where ``past(tau)`` are all unknowns a time tau ago, history, breaks. Out: the solution as a function of time. Intervals end
wherever the solution is not smooth, and must be so short that the iteration contracts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev as ch
from numpy.typing import NDArray
from scipy.integrate import DOP853

__all__ = ["Solution", "solve", "solve_varying"]

FloatArray = NDArray[np.float64]
_NODES = 24
_PICARD = 60


class Solution:
    """Pieces of a solution: polynomials one behind the other, history before."""

    def __init__(self, history: Callable[[float], FloatArray], start: float) -> None:
        self.history, self.start = history, start
        self.ends: list[float] = [start]
        self.pieces: list[FloatArray] = []

    def at(self, t: float, side: float) -> FloatArray:
        """Values at t, of the piece to the left (side < 0) or to the right of it where it is a border."""
        if t + side * 1e-9 < self.start:
            return self.history(t)
        k = int(np.clip(np.searchsorted(self.ends, t + side * 1e-9, side="right") - 1, 0, len(self.pieces) - 1))
        a, b = self.ends[k], self.ends[k + 1]
        return ch.chebval(2.0 * (t - a) / (b - a) - 1.0, self.pieces[k])

    def __call__(self, t: float) -> FloatArray:
        """Values at t."""
        return self.at(t, -1.0)


def solve(
    f: Callable[[float, FloatArray, Callable[[float], FloatArray]], Sequence[float]],
    x0: Sequence[float],
    history: Callable[[float], Any],
    delays: Sequence[float],
    end: float,
    *,
    longest: float = 0.25,
    jumps: Sequence[tuple[float, Callable[[FloatArray], FloatArray]]] = (),
) -> Solution:
    """The solution from zero on; ``jumps`` are times at which the unknowns become a function of themselves."""
    found = Solution(lambda t: np.atleast_1d(np.asarray(history(t), dtype=float)), 0.0)
    borders = {0.0, end, *(t for t, _ in jumps)}
    waiting = [0.0, *(t for t, _ in jumps)]
    for _ in range(8):
        waiting = sorted({round(t + tau, 12) for t in waiting for tau in delays if t + tau < end})
        borders.update(waiting)
    edges = sorted(borders)
    nodes = 0.5 * (1.0 - np.cos(np.pi * np.arange(_NODES + 1) / _NODES))
    x = np.asarray(x0, dtype=float)
    what = dict(jumps)
    for first, last in pairwise(edges):
        x = what[first](x) if first in what else x
        if last - first < 1e-10:
            continue
        count = int(np.ceil((last - first) / longest))
        for a in np.linspace(first, last, count + 1)[:-1]:
            h = (last - first) / count
            times = a + h * nodes
            values = np.tile(x, (_NODES + 1, 1))
            middle = a + 0.5 * h

            def past(t: float, tau: float, middle: float = middle) -> FloatArray:
                return found.at(t - tau, 1.0 if t < middle else -1.0)

            for _ in range(_PICARD):
                rates = np.array([f(t, values[k], lambda tau, t=t: past(t, tau)) for k, t in enumerate(times)])
                slope = ch.chebfit(2.0 * nodes - 1.0, rates, _NODES)
                integral = ch.chebint(slope, lbnd=-1.0) * (0.5 * h)
                integral[0] += x
                new = ch.chebval(2.0 * nodes - 1.0, integral).T
                if np.max(np.abs(new - values)) <= 1e-15 * (1.0 + np.max(np.abs(new))):
                    break
                values = new
            found.ends.append(a + h)
            found.pieces.append(integral)
            x = ch.chebval(1.0, integral)
    return found


class _Pieces:
    """Dense output of steps that lie one behind the other, history before, and where the solution is not smooth."""

    def __init__(self, history: Callable[[float], FloatArray], start: float) -> None:
        self.history = history
        self.breaks = [start]
        self.ends = [start]
        self.steps: list[Callable[[float], FloatArray]] = []

    def at(self, t: float, region: int) -> FloatArray:
        """Values at t of the smooth stretch that ends with break number ``region``, continued where t lies outside of it."""
        if region == 0:
            return self.history(t)
        low = self.breaks[region - 1]
        high = self.breaks[region] if region < len(self.breaks) else self.ends[-1]
        inside = float(np.clip(t, low + 1e-12, high - 1e-12))
        return self.steps[int(np.clip(np.searchsorted(self.ends, inside, side="right") - 1, 0, len(self.steps) - 1))](t)

    def __call__(self, t: float) -> FloatArray:
        """Values at t."""
        return self.at(t, int(np.searchsorted(self.breaks, t, side="left")))


def solve_varying(
    f: Callable[[float, FloatArray, Sequence[FloatArray]], Sequence[float]],
    x0: Sequence[float],
    history: Callable[[float], Any],
    looks: Sequence[Callable[[float, FloatArray], float]],
    end: float,
    *,
    longest: float = 0.02,
) -> _Pieces:
    """The solution from zero on where delays vary: ``f(t, x, pasts)``, ``looks`` are the times that are looked back at; Dormand and Prince's order 8.

    Steps are so short that they read what is known; where one of these times passes a break, bisection on the step finds the place and a new step
    begins there.
    """
    found = _Pieces(lambda t: np.atleast_1d(np.asarray(history(t), dtype=float)), 0.0)
    x, t = np.asarray(x0, dtype=float), 0.0
    regions = [int(look(0.0, x) >= 0.0) for look in looks]
    while t < end - 1e-12:

        def rates(s: float, y: FloatArray) -> Sequence[float]:
            return f(s, y, [found.at(look(s, y), region) for look, region in zip(looks, regions, strict=True)])

        solver = DOP853(rates, t, x, end, max_step=longest, rtol=1e-12, atol=1e-13)
        crossed: tuple[float, int, int] | None = None
        while solver.status == "running" and crossed is None:
            solver.step()
            step = solver.dense_output()
            for k, look in enumerate(looks):
                here = look(solver.t, solver.y)
                assert here < solver.t_old, "the truth looks back at what it does not know yet"
                for border, to in ((regions[k], regions[k] + 1), (regions[k] - 1, regions[k] - 1)):
                    if not 0 <= border < len(found.breaks) or (here > found.breaks[border]) != (to > regions[k]):
                        continue
                    low, high = solver.t_old, solver.t
                    for _ in range(60):
                        middle = 0.5 * (low + high)
                        if (look(middle, step(middle)) > found.breaks[border]) == (to > regions[k]):
                            high = middle
                        else:
                            low = middle
                    if high > t + 1e-9 and (crossed is None or high < crossed[0]):
                        crossed = (high, k, to)
            t = crossed[0] if crossed is not None else solver.t
            found.steps.append(step)
            found.ends.append(t)
            x = step(t)
        if crossed is not None:
            regions[crossed[1]] = crossed[2]
            for k, look in enumerate(looks):
                if k != crossed[1] and regions[k] < len(found.breaks) and look(t, x) > found.breaks[regions[k]] - 1e-10:
                    regions[k] += 1  # at the same time
            found.breaks.append(t)
    return found
