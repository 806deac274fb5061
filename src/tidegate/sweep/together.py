"""Runs of a sweep that are carried out natively, many in one call (stage: sweep). In: what was recorded. Out: what is kept of all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tidegate.executive import Cause, ManyRuns, RecordedRuns, kinds_of
from tidegate.quick_dataclass import dataclass
from tidegate.sweep.batch import FINISHED, TERMINATED, Batch

__all__ = ["Wanted", "kept"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Written = NDArray[np.void]


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is to be kept of a run.

    Parameters
    ----------
    times : at which values are kept; None for the end.
    columns : which values.
    events : whether the events are kept.
    """

    times: FloatArray | None
    columns: Sequence[int]
    events: bool


def kept(many: ManyRuns, found: RecordedRuns, members: NDArray[np.int64], wanted: Wanted) -> Batch:
    """What is kept of these runs.

    Parameters
    ----------
    members : numbers of the runs in whose table those recorded have their places.
    """
    legend, n = many.legend, len(found.runs)
    n_slopes = len(legend.facts["sensitivity_parameters"])
    shape = (n,) if wanted.times is None else (n, len(wanted.times))
    values = np.full((*shape, len(wanted.columns)), np.nan)
    slopes = np.full((*shape, n_slopes, len(wanted.columns)) if n_slopes else (n, 0), np.nan)
    rows, where = _places(found, wanted.times)
    values[where] = legend.layout.taken(found.rows["values"][rows])[..., wanted.columns]
    if n_slopes:
        slopes[where] = legend.layout.taken(found.rows["sensitivities"][rows], are_slopes=True)[..., wanted.columns]
    log, owner, places, causes = _events(many, found)
    ends, messages = np.full(n, legend.t_end), [""] * n
    if found.is_terminated.any():
        row, event = _last(found.row_owner, n), _last(owner, n)
        last = [np.append(records["time"], -np.inf)[places] for records, places in ((found.rows, row), (log, event))]
        ends = np.where(found.is_terminated, np.maximum(*last), ends)
        for k in np.flatnonzero(found.is_terminated & (event >= 0)).tolist():
            cause = causes[int(places[event[k]])]
            messages[k] = "; ".join(cause.messages) or f"terminated by {', '.join(cause.texts)}"
    texts: dict[str, int] = {}
    numbers = np.array([texts.setdefault(", ".join(cause.texts), len(texts)) for cause in causes], dtype=np.int64)
    if not wanted.events:
        log, owner, places = log[:0], owner[:0], places[:0]
    return Batch(
        members=members[found.runs],
        status=np.where(found.is_terminated, TERMINATED, FINISHED),
        messages=tuple(messages),
        end_time=ends,
        steps=found.steps,
        values=values,
        slopes=slopes,
        counts=np.bincount(owner, minlength=n),
        event_times=log["time"].copy(),
        event_kinds=kinds_of(log),
        event_causes=numbers[places],
        event_dt_dp=log["dt_dp"].reshape(len(log), n_slopes).copy(),
        causes=tuple(texts),
    )


def _events(many: ManyRuns, found: RecordedRuns) -> tuple[Written, IntArray, IntArray, Sequence[Cause]]:
    """Those of the user's model, whose each is, and why each happened."""
    log, owner, legend = found.log, found.log_owner, many.legend
    hidden = legend.causes.are_corners(legend.n_guards, log)
    if hidden.any():
        log, owner = log[~hidden], owner[~hidden]
    return log, owner, *many.causes.of(log, owner, found.p, found.m)


def _places(found: RecordedRuns, times: FloatArray | None) -> tuple[NDArray[np.intp], tuple[NDArray[np.intp], ...]]:
    """Which rows are kept, and where they go: of several rows of one time the last."""
    if times is None:
        last = _last(found.row_owner, len(found.runs))
        runs = np.flatnonzero(last >= 0)
        return last[runs], (runs,)
    recorded = found.rows["time"]
    place = np.searchsorted(times, recorded)
    rows = np.flatnonzero(times[np.minimum(place, len(times) - 1)] == recorded)
    return rows, (found.row_owner[rows], place[rows])  # of several that go to one place NumPy keeps the last


def _last(owner: NDArray[np.int64], n: int) -> NDArray[np.intp]:
    """For each run the place of its last record, -1 for none."""
    counts = np.bincount(owner, minlength=n)
    return np.where(counts > 0, np.cumsum(counts) - 1, -1)
