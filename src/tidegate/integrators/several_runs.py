"""Many runs of one problem with other parameters and start values, in the memory of one run (stage: integrators).

In: tables of these. Out: tables of what was written down. A row of ``Starts`` is a run, and so is a row of ``Done``; records are as ``record_types``
has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.integrators import plan_places as s
from tidegate.quick_dataclass import dataclass

__all__ = ["Done", "Several", "Starts"]

FloatArray = NDArray[np.float64]
_NO_LIMIT: Final = 1 << 60


@dataclass(frozen=True, eq=False)
class Starts:
    """Where runs start; each array has a row for each.

    Parameters
    ----------
    p, y, m : parameters, unknowns, and what is constant between events.
    dy_dp, dd_dp : derivatives of unknowns and discrete variables, (runs, parameters, values).
    stops : instants that no step may pass, NaN behind the last; None for a model that has no such instants.
    """

    p: FloatArray
    y: FloatArray
    m: FloatArray
    dy_dp: FloatArray
    dd_dp: FloatArray
    stops: FloatArray | None

    def __len__(self) -> int:
        return len(self.p)

    def part(self, first: int, last: int) -> Starts:
        """Those of some runs, without the last."""
        stops = None if self.stops is None else self.stops[first:last]
        return Starts(*(array[first:last] for array in (self.p, self.y, self.m, self.dy_dp, self.dd_dp)), stops)

    def table(self) -> FloatArray:
        """One row a run, in the order in which the kernel reads it."""
        n = len(self)
        parts = [self.p, self.y, self.m, self.dy_dp.reshape(n, -1), self.dd_dp.reshape(n, -1)]
        if self.stops is not None:
            parts += [(~np.isnan(self.stops)).sum(axis=1, dtype=np.float64)[:, None], self.stops]
        return np.ascontiguousarray(np.concatenate(parts, axis=1))


@dataclass(frozen=True, eq=False)
class Done:
    """What has become of runs; an array has an entry for each that is over.

    Parameters
    ----------
    runs : their places in ``Starts``.
    codes : why it ended, places in ``Stop``.
    steps : how many it took.
    grazing : not zero if a condition only grazed its zero.
    is_held : whether a condition of a clause held from the start to the end.
    has_remarks : whether an unknown was too small for its tolerance, or an event too faint.
    rows, log : what was written down of all runs, block by block.
    row_owner, log_owner : whose each record is, places in ``Starts``.
    """

    runs: NDArray[np.int64]
    codes: NDArray[np.int64]
    steps: NDArray[np.int64]
    grazing: FloatArray
    is_held: NDArray[np.bool_]
    has_remarks: NDArray[np.bool_]
    rows: Sequence[NDArray[np.void]]
    log: Sequence[NDArray[np.void]]
    row_owner: NDArray[np.int64]
    log_owner: NDArray[np.int64]


class Several:
    """Runs on their way; ``NativeRun.go_on_with`` carries them out, and appends to ``rows`` and ``log`` what is written down.

    Parameters
    ----------
    starts : of them.
    most_steps : of each; None for no limit.
    steps_expected : of these and all others of the same sweep: they tell whether machine code for several at once is worth its time.

    Attributes
    ----------
    told : what has become of each, as ``plan_places`` has it.
    owners : of each piece of ``rows`` and ``log``, where it is not of one run after the other, whose every record is.
    """

    def __init__(self, starts: Starts, most_steps: int | None, *, steps_expected: float = 0.0) -> None:
        self.starts, self._table = starts, starts.table()
        self.told = np.zeros((len(starts), s.N_TOLD))
        self.steps_expected = steps_expected
        self.plan = np.zeros(s.N_PLAN, dtype=np.int64)
        self.owners: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self.rows: list[NDArray[np.void]] = []
        self.log: list[NDArray[np.void]] = []
        self.plan[[s.COUNT, s.MOST_STEPS, s.WIDTH]] = len(starts), most_steps or _NO_LIMIT, self._table.shape[1]
        self.plan[[s.AT_STARTS, s.AT_TOLD]] = self._table.ctypes.data, self.told.ctypes.data

    @property
    def counted(self) -> tuple[int, int]:
        """How many runs are over, and how many steps they took."""
        return int(np.count_nonzero(self.told[:, s.IS_OVER])), int(self.told[:, s.STEPS].sum())

    def owned(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Whose every row is, and every entry of the log."""
        if self.owners:
            rows, log = zip(*self.owners, strict=True)
            return np.concatenate(rows), np.concatenate(log)
        counts = self.told[:, [s.ROWS, s.LOGGED]].astype(np.int64)
        rows, log = (np.repeat(np.arange(len(counts)), count) for count in counts.T)
        return rows, log


def done_by(parts: Sequence[Several]) -> Done:
    """What has become of the runs of all these, one or more, as if their ``Starts`` were one below the other."""
    firsts = np.cumsum([0, *(len(part.told) for part in parts)])
    owned = [[owner + first for owner in part.owned()] for part, first in zip(parts, firsts[:-1], strict=True)]
    row_owner, log_owner = (np.concatenate(owners) for owners in zip(*owned, strict=True))
    told = np.concatenate([part.told.T for part in parts], axis=1)
    runs = np.flatnonzero(told[s.IS_OVER])
    told = told[:, runs] if len(runs) < told.shape[1] else told
    return Done(
        runs=runs,
        codes=told[s.CODE].astype(np.int64),
        steps=told[s.STEPS].astype(np.int64),
        grazing=told[s.GRAZING],
        is_held=told[s.IS_HELD] != 0.0,
        has_remarks=told[s.N_REMARKS] > 0.0,
        rows=[block for part in parts for block in part.rows],
        log=[block for part in parts for block in part.log],
        row_owner=row_owner,
        log_owner=log_owner,
    )
