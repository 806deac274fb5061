"""Where many runs of one model start that differ in their parameters (stage: executive). In: a table of their values. Out: which of them can start
without anything that has to be said before, and where.

Start values that follow from parameters by arithmetic are found for many runs at once, ahead of those that are asked for; those that have to be
solved for, one by one as they are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.told_tolerance import tell_tolerance
from tidegate.errors import TidegateError
from tidegate.executive.parameters import find_parameters, given_numbers, too_fast
from tidegate.executive.run import Prepared
from tidegate.integrators.interface import Problem
from tidegate.integrators.several_runs import Starts
from tidegate.quick_dataclass import dataclass

__all__ = ["StartsOfRuns"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_NUMBERS_AHEAD: Final = 1 << 16  # half a megabyte: other threads wait until they are there


@dataclass(frozen=True, eq=False)
class _Found:
    """Starts of the runs in some rows of a table.

    Parameters
    ----------
    values : the table.
    first, last : of its rows, without the last.
    runs : those that can start, in ascending order.
    starts : of these.
    """

    values: FloatArray
    first: int
    last: int
    runs: IntArray
    starts: Starts | None

    def has(self, values: FloatArray, first: int, last: int) -> bool:
        """Whether these rows are among them."""
        return self.values is values and self.first <= first and last <= self.last

    def part(self, first: int, last: int) -> tuple[IntArray, Starts | None]:
        """Those of some rows."""
        begin, end = np.searchsorted(self.runs, [first, last]).tolist()
        return self.runs[begin:end], None if self.starts is None or begin == end else self.starts.part(begin, end)


class StartsOfRuns:
    """Starts of runs like a prepared one; to be used by one thread at a time.

    Parameters
    ----------
    prepared : the run, with what all runs share.
    names : of the scalar parameters that have a value of their own in each.

    Attributes
    ----------
    base : the first run that can be made ready: what the others share is found in it. None before there is one.
    """

    def __init__(self, prepared: Prepared, names: Sequence[str]) -> None:
        self._prepared, self._names = prepared, tuple(names)
        self._indices = find_parameters(prepared.problem.model, self._names)
        self.base: Prepared | None = None
        self._found: _Found | None = None

    def of(self, first: int, last: int, values: FloatArray) -> tuple[IntArray, Starts | None]:
        """Of these rows of a table, which runs start without anything that has to be said before, and where.

        Parameters
        ----------
        first, last : of the rows, without the last.
        values : the table, (runs, names).
        """
        if self.base is None:
            self.base = self._first(values[first:last])
        if self.base is None:
            return np.zeros(0, dtype=np.int64), None
        if self._found is None or not self._found.has(values, first, last):
            self._found = self._ahead(self.base.problem, first, last, values) or self._one_by_one(self.base.problem, first, last, values)
        return self._found.part(first, last)

    def _alone(self, row: FloatArray) -> Prepared | None:
        """One run by itself, if it can be made ready at all."""
        try:
            return self._prepared.with_parameters(**dict(zip(self._names, row.tolist(), strict=True)))
        except TidegateError:
            return None

    def _first(self, values: FloatArray) -> Prepared | None:
        return next((run for run in map(self._alone, values) if run is not None and run.problem.model is self._prepared.problem.model), None)

    def _ahead(self, base: Problem, first: int, last: int, values: FloatArray) -> _Found | None:
        """Of these rows and of those behind them as far as they fit, if that is arithmetic."""
        model = base.model
        is_fixed = all(len(direction) == 1 for direction in base.directions)  # rates of what follows from parameters depend on these
        if not is_fixed:
            return None
        if not model.most_stops:
            width = base.p.size + base.y.size + base.m.size + base.dy_dp.size + base.dd_dp.size
            last = max(last, min(len(values), first + _NUMBERS_AHEAD // width))
        given = given_numbers(model, self._prepared.options.parameters) | dict(zip(self._indices, values[first:last].T, strict=True))
        found = model.start.together(given, last - first, base.t_start, base.directions)
        if found is None:
            return None
        tell_tolerance(model.layout, found.m, base.rtol)
        runs = np.flatnonzero(~(found.is_doubtful | too_fast(found.periods, base.t_start, base.t_end).any(axis=1)))
        arrays = found.p, found.y, found.m, found.dy_dp, found.dd_dp
        p, y, m, dy, dd = arrays if len(runs) == last - first else (array[runs] for array in arrays)
        return _Found(values, first, last, first + runs, Starts(p, y, m, dy, dd, _stops(base, p)) if len(runs) else None)

    def _one_by_one(self, base: Problem, first: int, last: int, values: FloatArray) -> _Found:
        found = [(k, run.problem) for k, run in enumerate(map(self._alone, values[first:last]), first) if run is not None]
        found = [(k, problem) for k, problem in found if problem.model is base.model and problem.directions == base.directions]
        runs, problems = np.array([k for k, _ in found], dtype=np.int64), [problem for _, problem in found]
        if not found:
            return _Found(values, first, last, runs, None)
        p, y, m, dy, dd = (np.stack([getattr(problem, name) for problem in problems]) for name in ("p", "y", "m", "dy_dp", "dd_dp"))
        return _Found(values, first, last, runs, Starts(p, y, m, dy, dd, _stops(base, p)))


def _stops(problem: Problem, p: FloatArray) -> FloatArray | None:
    """Instants that no step of a run may pass, NaN behind the last."""
    model = problem.model
    if not model.most_stops:
        return None
    found = [model.stops(row, problem.t_start, problem.t_start, problem.t_end) for row in p]
    stops = np.full((len(p), max(map(len, found))), np.nan)
    for row, own in zip(stops, found, strict=True):
        row[: len(own)] = own
    return stops
