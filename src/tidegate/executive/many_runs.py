"""Many runs of one model with other values of its parameters, natively one behind the other (stage: executive).

In: a prepared run, names of parameters, a table of their values. Out: what was recorded of all runs in one table, and which of them have to be made
alone: those of which there is more to say than their numbers, a failure or a remark. The numbers are those of single runs, to the last bit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.told_tolerance import tell_tolerance
from tidegate.errors import TidegateError
from tidegate.executive.many_causes import ManyCauses
from tidegate.executive.parameters import find_parameters, given_numbers, too_fast
from tidegate.executive.recorder import Legend
from tidegate.executive.run import Prepared
from tidegate.integrators.interface import Problem, Stop
from tidegate.integrators.record_types import Written, joined
from tidegate.integrators.several_runs import Done, Several, Starts
from tidegate.quick_dataclass import dataclass

__all__ = ["ManyRuns", "RecordedRuns"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
_FIRST_STEPS: Final = 1000
_VISIT_STEPS: Final = 50_000  # natively between two looks for Ctrl-C: a tenth of a second for a small model
_TIDY: Final = (Stop.TARGET.value, Stop.TERMINATED.value)


@dataclass(frozen=True, eq=False)
class RecordedRuns:
    """What was recorded of many runs that came to their end; records are those of the first run first.

    Parameters
    ----------
    runs : their places in the table of values.
    p, m : parameters and start values of what is constant between events, (runs, values).
    is_terminated : whether the model ended it.
    steps : how many it took.
    row_owner, rows : the place in ``runs`` of each row's run; the rows.
    log_owner, log : likewise of the events.
    alone : places in the table of runs that have to be made alone; what is in neither was not run.
    seconds : that they took natively.
    """

    runs: IntArray
    p: FloatArray
    m: FloatArray
    is_terminated: BoolArray
    steps: IntArray
    row_owner: IntArray
    rows: Written
    log_owner: IntArray
    log: Written
    alone: IntArray
    seconds: float


class ManyRuns:
    """Runs like a prepared one, which is one that ``are_possible`` has nothing against.

    Parameters
    ----------
    prepared : the run, with what all runs share.
    names : of the scalar parameters that have a value of their own in each.
    """

    def __init__(self, prepared: Prepared, names: Sequence[str]) -> None:
        self._prepared, self._names = prepared, tuple(names)
        self._indices = find_parameters(prepared.problem.model, self._names)
        self._lock = threading.Lock()
        self._base: Prepared | None = None
        self._done = self._steps = 0
        self.legend = Legend(prepared.problem, prepared.options)
        self.causes = ManyCauses(prepared.problem.model, self.legend.causes)

    @staticmethod
    def are_possible(prepared: Prepared) -> bool:
        """Whether a run is nothing but native code between its start values and what it records, and whether one memory serves all."""
        model, options = prepared.problem.model, prepared.options
        is_native = not (model.has_opaque or model.opening or model.closing or model.ending or model.past or model.constraint_parts)
        is_silent = not (model.initial.says or model.start.compares or model.start.asks_solution or model.final.assigns or model.final.says)
        shows_all = not model.layout.counted and model.layout.importance < 0 and options.record_disabled == "held"
        has_inner = any(action.inner_modes is not None for action in model.event_actions)
        keeps_more = options.dense or options.outputs is None or options.on_rows is not None
        if not (is_native and is_silent and shows_all) or has_inner or keeps_more:
            return False
        try:
            with prepared.lent() as integrator:
                return integrator.takes_others
        except TidegateError:  # which every single run tells
            return False

    def recorded(self, values: FloatArray, is_halted: Callable[[], bool]) -> RecordedRuns:
        """Carry out runs, as far as nobody stops them.

        Parameters
        ----------
        values : (runs, names).
        is_halted : asked now and then.
        """
        with self._lock:  # Python, which other threads could not do beside it; what is made for several runs is made once
            self._base = base = self._base or self._first(values)
            runs, starts = (np.zeros(0, dtype=np.int64), None) if base is None else self._starts(base, values)
        is_alone = np.ones(len(values), dtype=bool)
        is_alone[runs] = False
        alone = np.flatnonzero(is_alone)
        if base is None or starts is None:
            return _nothing(alone)
        several = Several(starts, base.options.max_steps, steps_expected=self._expected(len(starts)))
        with base.lent() as integrator:
            steps, began = _FIRST_STEPS, time.perf_counter()
            while not integrator.go_on_with(several, steps) and not is_halted():
                steps = min(4 * steps, _VISIT_STEPS)
            seconds = time.perf_counter() - began
            integrator.give(several)
        done = several.done
        with self._lock:
            self._done, self._steps = self._done + len(done.runs), self._steps + int(done.steps.sum())
        return self._sorted(runs, starts, several, done, alone, seconds)

    def _expected(self, count: int) -> float:
        """How many steps there will have been when so many more runs are over, if they are like those before."""
        return self._steps * (1.0 + count / max(self._done, 1))

    # -- before ---------------------------------------------------------------------------------------------------------------------------------

    def _alone(self, row: FloatArray) -> Prepared | None:
        """One run by itself, if it can be made ready at all."""
        try:
            return self._prepared.with_parameters(**dict(zip(self._names, row.tolist(), strict=True)))
        except TidegateError:
            return None

    def _first(self, values: FloatArray) -> Prepared | None:
        """The first run that can be made ready: what the others share is found in it."""
        return next((run for run in map(self._alone, values) if run is not None and run.problem.model is self._prepared.problem.model), None)

    def _starts(self, base: Prepared, values: FloatArray) -> tuple[IntArray, Starts | None]:
        """Where all runs start of which nothing else is to be said before, and which these are."""
        problem = base.problem
        start, count = problem.model.start, len(values)
        given = given_numbers(problem.model, self._prepared.options.parameters) | dict(zip(self._indices, values.T, strict=True))
        is_fixed = all(len(direction) == 1 for direction in problem.directions)  # rates of what follows from parameters depend on these
        found = start.together(given, count, problem.t_start, problem.directions) if is_fixed else None
        if found is None:
            return self._one_by_one(problem, values)
        tell_tolerance(problem.model.layout, found.m, problem.rtol)
        runs = np.flatnonzero(~(found.is_doubtful | too_fast(found.periods, problem.t_start, problem.t_end).any(axis=1)))
        p, y, m, dy, dd = (array[runs] for array in (found.p, found.y, found.m, found.dy_dp, found.dd_dp))
        return runs, Starts(p, y, m, dy, dd, _stops(problem, p)) if len(runs) else None

    def _one_by_one(self, base: Problem, values: FloatArray) -> tuple[IntArray, Starts | None]:
        found = [(k, run.problem) for k, run in enumerate(map(self._alone, values)) if run is not None]
        found = [(k, problem) for k, problem in found if problem.model is base.model and problem.directions == base.directions]
        if not found:
            return np.zeros(0, dtype=np.int64), None
        runs, problems = np.array([k for k, _ in found]), [problem for _, problem in found]
        p, y, m, dy, dd = (np.stack([getattr(problem, name) for problem in problems]) for name in ("p", "y", "m", "dy_dp", "dd_dp"))
        return runs, Starts(p, y, m, dy, dd, _stops(base, p))

    # -- afterwards -----------------------------------------------------------------------------------------------------------------------------

    def _sorted(self, runs: IntArray, starts: Starts, several: Several, done: Done, alone: IntArray, seconds: float) -> RecordedRuns:
        """What was recorded, without the runs of which more is to be said."""
        over, legend = done.runs, self.legend
        n = len(over)
        place = np.full(len(starts), -1, dtype=np.int64)
        place[over] = np.arange(n)
        written = (joined(several.rows, legend.row_type), joined(several.log, legend.event_type))
        (rows, row_owner), (log, log_owner) = (_in_order(records, place[owner]) for records, owner in zip(written, several.owned(), strict=True))
        is_terminated = done.codes == Stop.TERMINATED.value
        more = np.logical_and.reduce([done.codes != code for code in _TIDY]) | done.has_remarks
        if any(action.fails for action in self._prepared.problem.model.event_actions):
            more |= is_terminated
        if legend.clauses:
            more |= is_terminated & done.is_held
        if legend.followers:
            more |= np.bincount(log_owner, minlength=n) > 0
        if legend.may_be_not_finite:
            more[row_owner[~np.isfinite(rows["values"]).all(axis=1)]] = True
        if legend.facts["sensitivity_parameters"]:
            more |= done.grazing != 0.0
            more[log_owner[~np.isfinite(log["dt_dp"]).all(axis=1)]] = True
        kept = np.flatnonzero(~more)
        place = np.full(n, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        if len(kept) < n:
            is_row, is_entry = ~more[row_owner], ~more[log_owner]
            rows, row_owner, log, log_owner = rows[is_row], row_owner[is_row], log[is_entry], log_owner[is_entry]
        return RecordedRuns(
            runs=runs[over][kept],
            p=starts.p[over][kept],
            m=starts.m[over][kept],
            is_terminated=is_terminated[kept],
            steps=done.steps[kept],
            row_owner=place[row_owner],
            rows=rows,
            log_owner=place[log_owner],
            log=log,
            alone=np.sort(np.concatenate([alone, runs[over][more]])),
            seconds=seconds,
        )


def _in_order(records: Written, owner: IntArray) -> tuple[Written, IntArray]:
    """Records of the first run first, without those of runs that are not over, which nobody owns."""
    if (owner[1:] >= owner[:-1]).all() and (not len(owner) or owner[0] >= 0):
        return records, owner
    order = np.argsort(owner, kind="stable")
    order = order[np.searchsorted(owner[order], 0) :]
    return records[order], owner[order]


def _nothing(alone: IntArray) -> RecordedRuns:
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros((0, 0))
    return RecordedRuns(none, nothing, nothing, none.astype(bool), none, none, np.zeros(0, dtype=[]), none, np.zeros(0, dtype=[]), alone, 0.0)


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
