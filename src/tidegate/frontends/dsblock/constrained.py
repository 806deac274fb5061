"""How an HDAE block is solved: F1 ... F5, asked for as values only, become as many equations as unknowns by multipliers (``model.stabilisation``).

Source: Otter, DSblock 3.3, the form HDAE and its five options. x = (x1, x2, x3); gradients of F4 and F5 are central differences. What the form of
index one is for, from which consistent values follow, is said in ``structure.stabilise``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.frontends.dsblock.block import Entry, GivesDifferences, Run
from tidegate.frontends.dsblock.description import Description, SignalKind
from tidegate.frontends.dsblock.forms import Equations
from tidegate.model.stabilisation import STABILISATIONS, chosen_stabilisation
from tidegate.names import MULTIPLIER

__all__ = ["Ask", "ConstrainedEquations", "own_differences", "part_slices"]

FloatArray = NDArray[np.float64]
Ask = Callable[[FloatArray, tuple[bool, ...]], FloatArray]  # of x and which parts; F1 ... F5 one behind the other
Differences = Callable[[FloatArray, tuple[bool, ...], range, FloatArray], FloatArray]  # see ``block.GivesDifferences``
_STEP: Final = float(np.cbrt(np.finfo(float).eps))


def own_differences(run: Run, at: Entry) -> Differences | None:
    """Differences at x that a run computes by itself."""
    if not isinstance(run, GivesDifferences):
        return None
    return lambda x, wanted, places, steps: run.differences(replace(at, x=x), wanted, places, steps)


def part_slices(parts: Sequence[int]) -> list[slice]:
    """Where F1 ... F5 lie, one behind the other."""
    ends = np.cumsum([0, *parts]).tolist()
    return [slice(first, end) for first, end in pairwise(ends)]


class ConstrainedEquations(Equations):
    """The unknowns of the model of an HDAE block: x, then multipliers; see ``forms.Equations``.

    Parameters
    ----------
    stabilisation : the option, None for the usual one.

    Raises
    ------
    UsageError : there is no such option, or the block lacks equations that it uses.
    """

    def __init__(self, described: Description, stabilisation: object) -> None:
        n1 = described.parts[0]
        super().__init__(described.names(SignalKind.STATE), np.zeros(0, dtype=np.intp), np.arange(n1, sum(described.parts[:3])), has_rates=False)
        self.parts = described.parts
        self.stabilisation = chosen_stabilisation(f"DSblock {described.name}", stabilisation, described.parts)
        form = STABILISATIONS[self.stabilisation]
        self.last = form.last
        self._places = part_slices(described.parts)
        n1, n2, n3, _, _ = described.parts
        self._first, self._n = n1, n1 + n2 + n3
        self.multiplied = tuple(k for k in form.multiplied if described.parts[k - 1])
        self.multipliers = tuple(f"{MULTIPLIER}{k})[{i}]" for k in self.multiplied for i in range(described.parts[k - 1]))
        # x2 may look at x3
        self.index_two = (*(self.names[n1:] if self.last == 4 else ()), *self.multipliers)
        self.labels = tuple(
            (k, f"F{k}" if described.parts[k - 1] == 1 else f"F{k}({i + 1})") for k in range(2, 6) for i in range(described.parts[k - 1])
        )
        self._gradients: tuple[tuple[float, bytes], FloatArray] | None = None

    def states(self, x: FloatArray) -> dict[str, float]:
        """Start values of x1 by name."""
        return {name: float(x[k]) for k, name in enumerate(self.names[: self._first])}

    def others(self, x: FloatArray, xd: FloatArray) -> dict[str, float]:  # noqa: ARG002, as of other forms
        """Those of x2 and x3, and multipliers."""
        return {name: float(x[self._first + k]) for k, name in enumerate(self.names[self._first :])} | dict.fromkeys(self.multipliers, 0.0)

    def x(self, y: FloatArray) -> FloatArray:
        """The block's x."""
        return y[: self._n]

    def kept(self, wanted: Sequence[int], x: FloatArray, ask: Ask) -> FloatArray:
        """The values of some parts, one behind the other."""
        found = ask(x, tuple(k in wanted for k in range(1, 6)))
        return np.concatenate([found[self._places[k - 1]] for k in wanted])

    def all_rates(self, t: float, x: FloatArray, ask: Callable[[float, FloatArray, tuple[bool, ...]], FloatArray]) -> FloatArray:
        """xd: x1' is F1; x2' and x3' are in no equation, and follow from F2 = F3 = 0 differentiated along the motion. NaN where they do not."""

        def left(time: float, moved: FloatArray) -> FloatArray:
            return self.kept((2, 3), moved, partial(ask, time))

        n1 = self._first
        found = np.full(self._n, np.nan)
        found[:n1] = first = self.kept((1,), x, partial(ask, t))
        if n1 == self._n:
            return found
        fastest = float(np.max(np.abs(first) / np.maximum(np.abs(x[:n1]), 1.0), initial=0.0))
        step = _STEP * min(max(abs(t), 1.0), 1.0 / max(fastest, np.finfo(float).tiny))
        along = np.concatenate([first, np.zeros(self._n - n1)])
        slopes = (left(t + step, x + step * along) - left(t - step, x - step * along)) / (2.0 * step)
        jacobian = self._by_differences((2, 3), range(n1, self._n), x, partial(ask, t))
        with suppress(np.linalg.LinAlgError):
            found[n1:] = np.linalg.solve(jacobian, -slopes)
        return found

    def right_sides(self, t: float, y: FloatArray, ask: Ask, differences: Differences | None = None, *, is_integrated: bool) -> FloatArray:
        """f of ``M y' = f``: of the equations that are integrated, or of those that consistent values follow from."""
        x, mu = y[: self._n], y[self._n :]
        last = self.last if is_integrated else 3
        needed = {1, 2, last, *(self.multiplied if is_integrated else ())}
        found = ask(x, tuple(k in needed for k in range(1, 6)))
        first = found[self._places[0]].copy()
        if np.any(mu):
            first -= self._gradients_at(t, x, ask, differences).T @ mu
        kept = np.concatenate([found[self._places[k - 1]] for k in self.multiplied]) if is_integrated and self.multiplied else mu
        return np.concatenate([first, found[self._places[1]], found[self._places[last - 1]], kept])

    def _gradients_at(self, t: float, x: FloatArray, ask: Ask, differences: Differences | None) -> FloatArray:
        """Of the parts with multipliers, by x1; the last ones are kept, since derivatives by multipliers ask for the same again."""
        key = t, x[: self._first].tobytes()
        if self._gradients is not None and self._gradients[0] == key:
            return self._gradients[1]
        found = self._by_differences(self.multiplied, range(self._first), x, ask, differences)
        self._gradients = key, found
        return found

    def _by_differences(self, parts: Sequence[int], places: range, x: FloatArray, ask: Ask, differences: Differences | None = None) -> FloatArray:
        """Derivatives of parts by some of x, central differences."""
        if differences is not None:
            steps = _STEP * np.maximum(np.abs(x[places.start : places.stop]), 1.0)
            found = differences(x, tuple(k in parts for k in range(1, 6)), places, steps)
            return np.concatenate([found[self._places[k - 1]] for k in parts])
        columns: list[FloatArray] = []
        for k in places:
            step = _STEP * max(abs(x[k]), 1.0)
            above, below = x.copy(), x.copy()
            above[k], below[k] = x[k] + step, x[k] - step
            columns.append((self.kept(parts, above, ask) - self.kept(parts, below, ask)) / (above[k] - below[k]))
        return np.array(columns).T.reshape(sum(self.parts[k - 1] for k in parts), len(places))
