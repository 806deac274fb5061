"""Why the events of many runs happened (stage: executive). In: what was recorded of them. Out: each cause once, and for every event which it is.

Events that are alike in all that a cause is told from have one; so causes are put into words once for thousands of events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled import workspace as w
from tidegate.compiled.compiled_model import CompiledModel
from tidegate.executive.causes import Cause, Causes, crossed_guards
from tidegate.integrators.record_types import Written

__all__ = ["ManyCauses", "kinds_of"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_FEW: Final = 8  # kinds of events, of which each is looked for among all
_MOST_KNOWN: Final = 10_000  # causes that are told from each other by numbers of which no two are alike


class ManyCauses:
    """Causes of the events of a model's runs.

    Parameters
    ----------
    model : of the runs.
    causes : of one of them.
    """

    def __init__(self, model: CompiledModel, causes: Causes) -> None:
        self._causes, self._layout, self._n_guards = causes, model.layout, len(model.guards)
        self._asked_p, asked_m = model.words.asked()
        first, last = model.layout.first_previous, model.layout.first_input
        n = last - first
        # previous values are those of the discrete variables, before an event
        self._asked_before = np.unique(np.where((asked_m >= first) & (asked_m < last), asked_m - n, asked_m)[asked_m < last])
        self._asked_m = asked_m[asked_m >= last]
        self._known: dict[bytes, Cause] = {}

    def of(self, log: Written, owner: IntArray, p: FloatArray, m: FloatArray) -> tuple[IntArray, Sequence[Cause]]:
        """For every event the place of its cause; the causes.

        Parameters
        ----------
        log, owner : events, and the place of each one's run in p and m.
        p, m : parameters, and start values of what is constant between events, (runs, values).
        """
        if not len(log):
            return np.zeros(0, dtype=np.int64), []
        n, crossed = self._layout.n_modes, crossed_guards(self._n_guards, log)
        before, after, fired = log["m_before"], log["m_after"], log["fired"]
        own = [p[:, self._asked_p][owner], m[:, self._asked_m][owner]]
        told = np.concatenate([crossed[:, None], before[:, :n], before[:, self._asked_before], after[:, :n], fired, *own], axis=1)
        first, places = _alike(np.ascontiguousarray(told, dtype=np.float64))
        found: list[Cause] = []
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        for k in first.tolist():
            key = told[k].tobytes()
            if key not in self._known:
                causes = self._causes.of_run(p[owner[k]], m[owner[k]])
                self._known[key] = causes.of(int(crossed[k]), before[k], after[k], fired[k])
            found.append(self._known[key])
        return places, found


def kinds_of(log: Written) -> IntArray:
    """0 where a guard crossed, 1 for the calendar, 2 where a step asked for it."""
    happened = log["kind"].astype(np.int64)
    is_step = (happened & (w.STEP_EVENT | w.TIME_EVENT)) == w.STEP_EVENT
    return np.where(happened & w.STATE_EVENT, 0, np.where(is_step, 2, 1))


def _alike(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """One of each kind of rows, and for every row which kind it is."""
    bits = np.ascontiguousarray(rows.view(np.uint64).T)
    places = np.full(len(rows), -1, dtype=np.int64)
    first: list[int] = []
    k = 0
    while len(first) < _FEW:
        places[(bits == bits[:, k, None]).all(axis=0)] = len(first)
        first.append(k)
        k = int(np.argmin(places))
        if places[k] >= 0:
            return np.array(first), places
    left = np.flatnonzero(places < 0)
    _, among, found = np.unique(rows.view(np.uint64)[left], axis=0, return_index=True, return_inverse=True)
    places[left] = len(first) + found.ravel()
    return np.concatenate([first, left[among]]), places
