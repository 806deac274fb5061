"""From flat records to a labelled result: columns, the event log in the user's words, the interpolant."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled import workspace as w
from tidegate.executive.causes import Causes
from tidegate.integrators.interface import Integrator, Problem, Records
from tidegate.results import Event, Interpolant
from tidegate.results.dense_outputs import DenseOutputs
from tidegate.results.events import LazyEvents, largest

__all__ = ["RecordedEvents", "crossed_guard", "dense_outputs", "interpolant", "log_table", "not_finite", "rows"]

FloatArray = NDArray[np.float64]


def crossed_guard(problem: Problem, entry: FloatArray) -> int:
    """The guard whose zero an entry of the log is about, be it one of time; -1 for none."""
    return _crossed(entry, len(problem.model.guards))


def _crossed(entry: FloatArray, n_guards: int) -> int:
    item = int(entry[3])
    return item if 0 <= item < n_guards else int(entry[2])


def log_table(problem: Problem, records: Records) -> FloatArray:
    """The entries of the log, (events, width)."""
    layout = problem.model.layout
    n_m = layout.first_discrete + len(layout.discretes)
    width = 5 + len(problem.sensitivity_parameters) + 2 * (len(layout.unknowns) + n_m) + layout.n_fires
    return np.concatenate(records.log) if records.log else np.zeros((0, width))


def rows(problem: Problem, records: Records) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Times, values (rows, columns) and sensitivities (rows, parameters, columns) of what is shown."""
    layout = problem.model.layout
    width, shown = layout.n_recorded, layout.recorded
    ns = len(problem.sensitivity_parameters)
    table = np.concatenate(records.rows) if records.rows else np.zeros((0, 2 + width * (1 + ns)))
    values = table[:, 2 : 2 + width][:, shown]
    sensitivities = table[:, 2 + width :].reshape(len(table), ns, width)[:, :, shown] if ns else None
    return table[:, 0].copy(), values, sensitivities


def not_finite(problem: Problem, times: FloatArray, values: FloatArray) -> list[str]:
    """A sentence for each output and discrete variable that is NaN or infinite in a row."""
    are_finite = np.isfinite(values)
    if are_finite.all():
        return []
    columns = problem.model.layout.columns
    sentences: list[str] = []
    for k in np.flatnonzero(~are_finite.all(axis=0)):
        column = columns[k]
        bad = np.flatnonzero(~np.isfinite(values[:, k]))
        if column.role != "unknown":
            what = "output" if column.role == "output" else "discrete variable"
            where = f"t = {times[bad[0]]:g}" + (f" and in {len(bad) - 1} later rows" if len(bad) > 1 else "")
            sentences.append(f"the {what} {column.name} is {values[bad[0], k]} at {where}; choose what it is there with `if` or tg.where")
    return sentences


def interpolant(problem: Problem, records: Records) -> Interpolant | None:
    """Piecewise polynomials of the unknowns that are shown or read by an output; discrete variables as constants."""
    if not problem.keep_polynomials:
        return None
    layout = problem.model.layout
    n, kept, nd = len(layout.unknowns), len(layout.dense), len(layout.discretes)
    table = np.concatenate(records.polynomials) if records.polynomials else np.zeros((0, 3 + n + nd))
    size = (table.shape[1] - 3 - nd) // n if n else 1  # how many coefficients, which depends on the method
    degree = int(table[:, 2].max()) if len(table) else 0
    coefficients = np.zeros((len(table), degree + 1, kept + nd))
    coefficients[:, :, :kept] = table[:, 3 : 3 + size * n].reshape(len(table), size, n)[:, : degree + 1, layout.dense]
    coefficients[:, 0, kept:] = table[:, 3 + size * n :]
    names = [layout.unknowns[k] for k in map(int, layout.dense)] + [*layout.discretes]
    return Interpolant(table[:, 0].copy(), table[:, 1].copy(), coefficients, names)


def dense_outputs(problem: Problem, integrator: Integrator, log: FloatArray) -> DenseOutputs | None:
    """The outputs as formulas of what the interpolant holds; None where there are none."""
    layout, formulas = problem.model.layout, problem.model.outputs
    if not problem.keep_polynomials or formulas is None:
        return None
    constants = np.concatenate([integrator.p[list(formulas.parameters)], integrator.m[[layout.first_input + k for k in formulas.inputs]]])
    places = list(formulas.modes)
    n, n_m = len(layout.unknowns), layout.first_discrete + len(layout.discretes)
    before = 5 + len(problem.sensitivity_parameters) + n
    after = before + n_m + n
    if len(log):
        modes = np.concatenate([log[:1][:, [before + k for k in places]], log[:, [after + k for k in places]]])
    else:
        modes = integrator.m[places][None]
    return DenseOutputs(
        formulas,
        constants[None],
        np.zeros(1, dtype=np.int64),
        log[:, 0].copy() if places else np.zeros(0),
        modes if places else np.zeros((1, 0)),
        np.array([0, len(modes) if places else 1], dtype=np.int64),
    )


class RecordedEvents(LazyEvents):
    """The event log, each event put into words when it is looked at. It holds no machine code.

    Parameters
    ----------
    problem : the run.
    table : the log's entries.
    values : (rows, columns) of these records, as ``rows`` gives them.
    causes : of the model's events.
    """

    def __init__(self, problem: Problem, table: FloatArray, values: FloatArray, causes: Causes) -> None:
        layout = problem.model.layout
        self._causes = causes
        self._n, self._n_m, self._first_discrete = len(layout.unknowns), layout.first_previous, layout.first_discrete
        self._names, self._lasting = layout.lasting_names, layout.recorded[layout.lasting]
        self._parameters = [layout.parameters[int(k)] for k in problem.sensitivity_parameters]
        self._n_guards = len(problem.model.guards)
        self.table: FloatArray = table
        self._first: list[Event] = []
        self._last: list[Event] = []
        self._values = values[:, layout.lasting]

    @cached_property
    def _sizes(self) -> dict[str, float]:
        return largest(self._names, self._values)

    def prepend(self, event: Event) -> None:
        """Add what happened at the very start of the run."""
        self._first.append(event)

    def append(self, event: Event) -> None:
        """Add what happened at the very end of the run."""
        self._last.append(event)

    @property
    def times(self) -> FloatArray:
        """Times of all events."""
        return np.concatenate([[event.time for event in self._first], self.table[:, 0], [event.time for event in self._last]])

    def __len__(self) -> int:
        return len(self._first) + len(self.table) + len(self._last)

    def made(self, place: int) -> Event:
        """The event at this place, put into words."""
        if place < len(self._first):
            return self._first[place]
        place -= len(self._first)
        return self._event(place) if place < len(self.table) else self._last[place - len(self.table)]

    def _event(self, index: int) -> Event:
        entry = self.table[index]
        ns, n, nm = len(self._parameters), self._n, self._n_m
        place = 5 + ns
        y_before, m_before = entry[place : place + n], entry[place + n : place + n + nm]
        place += n + nm
        y_after, m_after = entry[place : place + n], entry[place + n : place + n + nm]
        fired = entry[place + n + nm :]
        before, after = (np.concatenate([y, m[self._first_discrete :]])[self._lasting] for y, m in ((y_before, m_before), (y_after, m_after)))
        cause = self._causes.of(_crossed(entry, self._n_guards), m_before, m_after, fired)
        return Event(
            index=len(self._first) + index,
            time=float(entry[0]),
            kind="state" if int(entry[1]) & w.STATE_EVENT else "time",
            causes=cause.texts,
            origins=cause.origins,
            priority=cause.priority,
            rounds=int(entry[4]),
            before=dict(zip(self._names, before.tolist(), strict=True)),
            after=dict(zip(self._names, after.tolist(), strict=True)),
            dt_dp=dict(zip(self._parameters, entry[5 : 5 + ns].tolist(), strict=True)),
            messages=cause.messages,
            sizes=self._sizes,
        )
