"""Many runs of one model with other values of its parameters, natively one behind the other (stage: executive).

In: a prepared run, names of parameters, a table of their values. Out: what was recorded of all runs in one table, and which of them have to be made
alone: those of which there is more to say than their numbers, a failure or a remark. The numbers are those of single runs, to the last bit. Whoever
shares runs among threads has some carried out at a time, and asks once for what was recorded of them all, since that is Python.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import TidegateError
from tidegate.executive.many_causes import ManyCauses
from tidegate.executive.recorder import Legend
from tidegate.executive.run import Prepared
from tidegate.executive.starts_of_runs import StartsOfRuns
from tidegate.integrators.interface import Stop
from tidegate.integrators.record_types import Written, joined
from tidegate.integrators.several_runs import Several, done_by
from tidegate.quick_dataclass import dataclass

__all__ = ["CarriedOut", "ManyRuns", "RecordedRuns"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
_FIRST_STEPS: Final = 1000  # natively, before it is known how long they take
_MOST_STEPS: Final = 50_000  # likewise at most
_VISIT_SECONDS: Final = 0.05  # between two looks for Ctrl-C
_TIDY: Final = (Stop.TARGET.value, Stop.TERMINATED.value)


@dataclass(frozen=True, eq=False)
class CarriedOut:
    """Some runs behind their native part.

    Parameters
    ----------
    runs, alone : places in the table of values of those that were carried out natively, and of those that have to be made alone.
    several : ``runs``; None where there are none.
    seconds : that they took natively.
    """

    runs: IntArray
    alone: IntArray
    several: Several | None
    seconds: float


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


class ManyRuns:
    """Runs like a prepared one, which is one that ``are_possible`` has nothing against.

    Parameters
    ----------
    prepared : the run, with what all runs share.
    names : of the scalar parameters that have a value of their own in each.
    """

    def __init__(self, prepared: Prepared, names: Sequence[str]) -> None:
        self._prepared, self._starts = prepared, StartsOfRuns(prepared, names)
        self._lock = threading.Lock()
        self._done = self._steps = 0
        self._visit = _FIRST_STEPS
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

    def carried_out(self, first: int, last: int, values: FloatArray, is_halted: Callable[[], bool]) -> CarriedOut:
        """Carry out the runs in some rows of a table, as far as nobody stops them.

        Parameters
        ----------
        first, last : of the rows, without the last.
        values : the table, (runs, names).
        is_halted : asked now and then.
        """
        with self._lock:  # Python, which other threads could not do beside it; what is made for several runs is made once
            runs, starts = self._starts.of(first, last, values)
            base = self._starts.base
        alone = np.delete(np.arange(first, last), runs - first)
        if base is None or starts is None:
            return CarriedOut(runs, alone, None, 0.0)
        several = Several(starts, base.options.max_steps, steps_expected=self._expected(len(starts)))
        with base.lent() as integrator:
            began = looked = time.thread_time()  # not what it waited for other threads
            while True:
                is_over, now = integrator.go_on_with(several, self._visit), time.thread_time()
                if is_over or is_halted():
                    break
                self._visit = _steps_to_next_look(self._visit, now - looked)
                looked = now
            integrator.give(several)
        over, steps = several.counted
        with self._lock:
            self._done, self._steps = self._done + over, self._steps + steps
            if is_over:
                self._visit = _steps_to_next_look(steps, now - began)
        return CarriedOut(runs, alone, several, now - began)

    def tried(self, values: FloatArray) -> CarriedOut | None:
        """The first run of a table, if it is a matter of moments; else it is as if it had not begun."""
        found = self.carried_out(0, 1, values, lambda: True)
        return found if found.several is not None and found.several.counted[0] else None

    def _expected(self, count: int) -> float:
        """How many steps there will have been when so many more runs are over, if they are like those before."""
        return self._steps * (1.0 + count / max(self._done, 1))

    def recorded(self, parts: Sequence[CarriedOut]) -> RecordedRuns:
        """What was recorded, without the runs of which more is to be said.

        Parameters
        ----------
        parts : that have been carried out, one or more.
        """
        alone = _joined([part.alone for part in parts])
        several = [part.several for part in parts if part.several is not None]
        if not several:
            return _nothing(np.sort(alone))
        runs = _joined([part.runs for part in parts if part.several is not None])
        done, legend = done_by(several), self.legend
        over = done.runs
        n = len(over)
        rows, log, row_owner, log_owner = joined(done.rows, legend.row_type), joined(done.log, legend.event_type), done.row_owner, done.log_owner
        if n < len(runs):
            place = np.full(len(runs), -1, dtype=np.int64)
            place[over] = np.arange(n)
            row_owner, log_owner = place[row_owner], place[log_owner]
        (rows, row_owner), (log, log_owner) = _in_order(rows, row_owner), _in_order(log, log_owner)
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
        if len(kept) < n:
            place = np.full(n, -1, dtype=np.int64)
            place[kept] = np.arange(len(kept))
            is_row, is_entry = ~more[row_owner], ~more[log_owner]
            rows, row_owner, log, log_owner = rows[is_row], place[row_owner[is_row]], log[is_entry], place[log_owner[is_entry]]
        chosen = over[kept]
        return RecordedRuns(
            runs=runs[chosen],
            p=_joined([part.starts.p for part in several])[chosen],
            m=_joined([part.starts.m for part in several])[chosen],
            is_terminated=is_terminated[kept],
            steps=done.steps[kept],
            row_owner=row_owner,
            rows=rows,
            log_owner=log_owner,
            log=log,
            alone=np.sort(_joined([alone, runs[over[more]]])),
        )


def _steps_to_next_look(steps: int, seconds: float) -> int:
    """Steps to the next look for Ctrl-C, after some that took so long."""
    return min(max(int(_VISIT_SECONDS / 2 * steps / max(seconds, 1e-6)), 1), _MOST_STEPS)


def _in_order(records: Written, owner: IntArray) -> tuple[Written, IntArray]:
    """Records of the first run first, without those of runs that are not over, which nobody owns."""
    if (owner[1:] >= owner[:-1]).all() and (not len(owner) or owner[0] >= 0):
        return records, owner
    order = np.argsort(owner, kind="stable")
    order = order[np.searchsorted(owner[order], 0) :]
    return records[order], owner[order]


def _nothing(alone: IntArray) -> RecordedRuns:
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros((0, 0))
    return RecordedRuns(none, nothing, nothing, none.astype(bool), none, none, np.zeros(0, dtype=[]), none, np.zeros(0, dtype=[]), alone)


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
