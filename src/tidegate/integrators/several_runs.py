"""Many runs of one problem with other parameters and start values, in the memory of one run (stage: integrators).

In: tables of these. Out: tables of what was written down. A row of ``Starts`` is a run, and so is a row of ``Done``; records are as ``record_types``
has them, those of the first run first.
"""

from __future__ import annotations

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

    def table(self) -> FloatArray:
        """One row a run, in the order in which the kernel reads it."""
        n = len(self)
        parts = [self.p, self.y, self.m, self.dy_dp.reshape(n, -1), self.dd_dp.reshape(n, -1)]
        if self.stops is not None:
            parts += [(~np.isnan(self.stops)).sum(axis=1, dtype=np.float64)[:, None], self.stops]
        return np.ascontiguousarray(np.concatenate(parts, axis=1))


@dataclass(frozen=True, eq=False)
class Done:
    """What has become of runs; each array has an entry for each.

    Parameters
    ----------
    runs : places of those that are over, in ``Starts``.
    codes : why it ended, places in ``Stop``.
    times, steps : where it stood then, after how many steps.
    grazing : not zero if a condition only grazed its zero.
    is_held : whether a condition of a clause held from the start to the end.
    has_remarks : whether an unknown was too small for its tolerance, or an event too faint.
    """

    runs: NDArray[np.int64]
    codes: NDArray[np.int64]
    times: FloatArray
    steps: NDArray[np.int64]
    grazing: FloatArray
    is_held: NDArray[np.bool_]
    has_remarks: NDArray[np.bool_]


class Several:
    """Runs on their way; ``NativeRun.go_on_with`` carries them out, and appends to ``rows`` and ``log`` what is written down.

    Parameters
    ----------
    starts : of them.
    most_steps : of each; None for no limit.
    steps_expected : of these and all others of the same sweep: they tell whether machine code for several at once is worth its time.

    Attributes
    ----------
    owners : of each piece of ``rows`` and ``log``, where it is not of one run after the other, whose every record is.
    """

    def __init__(self, starts: Starts, most_steps: int | None, *, steps_expected: float = 0.0) -> None:
        self._starts = starts.table()
        self._told = np.zeros((len(starts), s.N_TOLD))
        self.steps_expected = steps_expected
        self.plan = np.zeros(s.N_PLAN, dtype=np.int64)
        self.owners: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self.rows: list[NDArray[np.void]] = []
        self.log: list[NDArray[np.void]] = []
        self.plan[[s.COUNT, s.MOST_STEPS, s.WIDTH]] = len(starts), most_steps or _NO_LIMIT, self._starts.shape[1]
        self.plan[[s.AT_STARTS, s.AT_TOLD]] = self._starts.ctypes.data, self._told.ctypes.data

    @property
    def done(self) -> Done:
        """What has become of those that are over."""
        runs = np.flatnonzero(self._told[:, s.IS_OVER])
        told = self._told[runs]
        codes, steps = told[:, [s.CODE, s.STEPS]].astype(np.int64).T
        return Done(runs, codes, told[:, s.TIME].copy(), steps, told[:, s.GRAZING].copy(), told[:, s.IS_HELD] != 0.0, told[:, s.N_REMARKS] > 0.0)

    def owned(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Whose every row is, and every entry of the log."""
        if self.owners:
            rows, log = zip(*self.owners, strict=True)
            return np.concatenate(rows), np.concatenate(log)
        counts = self._told[:, [s.ROWS, s.LOGGED]].astype(np.int64)
        rows, log = (np.repeat(np.arange(len(counts)), count) for count in counts.T)
        return rows, log
