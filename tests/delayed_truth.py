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

__all__ = ["Solution", "solve"]

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
