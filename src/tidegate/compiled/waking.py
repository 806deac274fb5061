"""When forcing wakes that has been asleep (stage: compiled). In: what a model's equations read of the time alone; out: instants no step may pass.

A pulse written as a formula of time, narrow beside the steps of a model at rest, lies between the points at which a method asks for it. Its bounds
over an interval tell that it is there (Moore, Interval Analysis, 1966, chapter 4: halve where the bounds are wide). Windows double with the time
gone by, since steps can grow no faster. Where the forcing moves for a shorter time than it has slept, the edges of the cells are stops. Pulses that
depend on unknowns or discrete variables are not seen, nor are those behind the first few hundred.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.expressions import Expr, Role, dependencies, is_affine, makes_events, symbol, walk
from tidegate.expressions.interval import BoundsAlong
from tidegate.quick_dataclass import dataclass

__all__ = ["MOST_STOPS", "forcing_of", "stops"]

MOST_STOPS: Final = 2048
_TIME: Final = symbol(Role.TIME, "time")
_FIRST_WINDOW: Final = 2.0**-30
_LAST_WINDOW: Final = 100  # powers of two: no clock runs longer
_FARTHEST: Final = 9.0  # times the time gone by: no step reaches farther
_ALWAYS: Final = 1e30
_CELLS: Final = 4  # of a window, at first
_MOST_CELLS: Final = 3000
_COARSE: Final = 256  # cells of the whole time, from which the range comes where it is unbounded for ever
_MOVES: Final = 1e-3  # of the range: a change that matters
_RESOLVED: Final = 0.25  # of the range: over such a cell steps are controlled by what they see
_FINEST: Final = 1e-7  # of the time gone by: such a change is a jump, which is an event
_SHORT: Final = 0.5  # of the sleep before it: a longer time awake no step passes over
_VERY_SHORT: Final = 0.125  # likewise, where the model has been moved before
_TRANSPARENT: Final = frozenset({"add", "sub", "mul", "neg", "select"})


@dataclass(frozen=True)
class _Cell:
    start: float
    end: float
    low: float
    high: float

    @property
    def range(self) -> float:
        """How much the forcing may change over the cell; infinite where nothing is known."""
        change = self.high - self.low
        return change if change == change else math.inf


def forcing_of(roots: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outermost functions of time and parameters alone, not affine in time, that the roots are made of."""
    of_time: dict[Expr, None] = {}
    unknown: set[Expr] = set()
    for item in walk(roots):
        if item.op == "symbol":
            is_unknown, reads_time = item.data.role not in (Role.TIME, Role.PARAMETER), item.data.role is Role.TIME
        else:
            is_unknown = item.op in ("call", "output", "slope", "past", "delay") or not unknown.isdisjoint(item.args)
            reads_time = not of_time.keys().isdisjoint(item.args) and not _is_scheduled(item)
        if is_unknown:
            unknown.add(item)
        elif reads_time:
            of_time[item] = None
    inner: set[Expr] = set()
    found: list[Expr] = []
    for item in reversed(of_time):
        if item.is_boolean or item.op in _TRANSPARENT:
            continue
        if item not in inner and not _is_steady(item):
            found.append(item)
        inner.update(walk(item.args, inner))
    return tuple(found)


def _is_scheduled(item: Expr) -> bool:
    """True for what changes at times that are known beforehand, and is constant between them."""
    return item.op == "floor" and makes_events(item) and is_affine(item.args[0], [_TIME])


def _is_steady(item: Expr) -> bool:
    """True for what never sleeps: straight lines and the waves of straight lines."""
    return is_affine(item, [_TIME]) or (item.op in ("sin", "cos") and is_affine(item.args[0], [_TIME]))


def stops(
    forcing: Sequence[Expr], parameters: Sequence[Expr], p: NDArray[np.float64], t_start: float, t_now: float, t_end: float
) -> NDArray[np.float64]:
    """Instants after ``t_now`` that no step may pass, at most ``MOST_STOPS`` of them, increasing, as far as steps reach.

    Windows begin at ``t_start``, so that a run in pieces has the stops of a run in one.

    Examples
    --------
    >>> import numpy as np
    >>> pulse = np.exp(-(((_TIME - 30.0) / 0.01) ** 2))
    >>> found = stops(forcing_of([pulse]), [], np.zeros(0), 0.0, 0.0, 100.0)
    >>> bool(29.8 < found[0] < 29.99), bool(found[-1] > 29.99), len(found) < 40
    (True, True, True)
    """
    found: set[float] = set()
    known = dict(zip(parameters, p.tolist(), strict=True))
    for expr in forcing:
        values = tuple((s, known[s]) for s in dependencies(expr) if s in known)
        found.update(_edges(expr, values, t_start, math.frexp(_FARTHEST * (t_end - t_start))[1]))
    return np.array(sorted(t for t in found if t > t_now)[:MOST_STOPS])


@lru_cache(maxsize=256)
def _edges(expr: Expr, values: tuple[tuple[Expr, float], ...], t_start: float, last: int) -> tuple[float, ...]:
    """Where one function wakes within 2**last after ``t_start``."""
    search = _Search(expr, {s: (value, value) for s, value in values}, t_start, min(last, _LAST_WINDOW))
    found: list[float] = []
    awake: list[_Cell] = []
    fell_asleep = t_start
    for cell in search.cells():
        if cell.range > search.moves:
            awake.append(cell)
            continue
        if awake:
            slept, lasted = awake[0].start - fell_asleep, awake[-1].end - awake[0].start
            if lasted < (_VERY_SHORT if found else _SHORT) * slept:
                found += [awake[0].start, *(c.end for c in awake)]
            awake.clear()
            fell_asleep = cell.start
    return tuple(found)


class _Search:
    """Cells in the order of time, over each of which the forcing changes by a part of its range only, as far as a limited number of them goes."""

    def __init__(self, expr: Expr, box: dict[Expr, tuple[float, float]], t_start: float, last: int) -> None:
        self._bounds, self._t_start = BoundsAlong(expr, _TIME, box), t_start
        self._end = math.ldexp(1.0, last)
        self._left = _MOST_CELLS
        span = self._cell(t_start, t_start + _ALWAYS).range
        if span == math.inf:
            known = [cell for cell in self._row(0.0, self._end, _COARSE) if cell.range < math.inf]
            span = max((c.high for c in known), default=0.0) - min((c.low for c in known), default=0.0)
        self.moves, self._resolved = _MOVES * span, _RESOLVED * span

    def cells(self) -> Iterator[_Cell]:
        """Window by window, each twice as long as the time before it."""
        reached = 0.0
        while reached < self._end and self._left > 0:
            until = 2.0 * reached or _FIRST_WINDOW
            todo = self._row(reached, until, _CELLS)[::-1]
            while todo and self._left > 0:
                cell = todo.pop()
                middle = 0.5 * (cell.start + cell.end)
                if cell.range <= self._resolved or cell.end - cell.start < _FINEST * until or not cell.start < middle < cell.end:
                    yield cell
                else:
                    todo += [self._cell(middle, cell.end), self._cell(cell.start, middle)]
            reached = until

    def _row(self, start: float, end: float, count: int) -> list[_Cell]:
        return [self._cell(a, b) for a, b in pairwise((self._t_start + np.linspace(start, end, count + 1)).tolist())]

    def _cell(self, start: float, end: float) -> _Cell:
        self._left -= 1
        return _Cell(start, end, *self._bounds(start, end))
