"""From flat records to a labelled result: columns, the event log in the user's words, the interpolant."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled import workspace as w
from tidegate.compiled.interface import CompiledModel
from tidegate.executive.causes import Causes
from tidegate.integrators.interface import Problem, Records
from tidegate.results import Column, Event, Interpolant
from tidegate.results.events import LazyEvents, largest

__all__ = ["RecordedEvents", "columns", "crossed_guard", "interpolant", "not_finite", "rows"]

FloatArray = NDArray[np.float64]


def columns(compiled: CompiledModel) -> list[Column]:
    """One column for each recorded number: the model's own unknowns, discrete variables, outputs."""
    model = compiled.model
    found: list[Column] = []
    for variable in model.unknowns:
        found += [Column(name, "unknown", variable.unit, variable.description) for name in variable.names]
    for variable in model.discretes:
        found += [Column(name, "discrete", variable.unit, variable.description) for name in variable.names]
    return found + [Column(o.name, "output", o.variable.unit, o.variable.description) for o in compiled.outputs]


def crossed_guard(problem: Problem, entry: FloatArray) -> int:
    """The guard whose zero an entry of the log is about, be it one of time; -1 for none."""
    item = int(entry[3])
    return item if 0 <= item < len(problem.model.guards) else int(entry[2])


def rows(problem: Problem, records: Records) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Times, values (rows, columns) and sensitivities (rows, parameters, columns); unknowns the compiler added are left out."""
    compiled = problem.model
    n, nd, no = len(compiled.layout.unknowns), len(compiled.layout.discretes), len(compiled.outputs)
    width = n + nd + no
    ns = len(problem.sensitivity_parameters)
    table = np.concatenate(records.rows) if records.rows else np.zeros((0, 2 + width * (1 + ns)))
    shown = np.r_[0 : compiled.n_own, n:width]
    values = table[:, 2 : 2 + width][:, shown]
    sensitivities = table[:, 2 + width :].reshape(len(table), ns, width)[:, :, shown] if ns else None
    return table[:, 0], values, sensitivities


def not_finite(problem: Problem, times: FloatArray, values: FloatArray) -> list[str]:
    """A sentence for each output and discrete variable that is NaN or infinite in a row."""
    first = problem.model.n_own
    if np.isfinite(values[:, first:]).all():
        return []
    sentences: list[str] = []
    for k, column in enumerate(columns(problem.model)):
        bad = np.flatnonzero(~np.isfinite(values[:, k]))
        if k >= first and len(bad):
            what = "output" if column.role == "output" else "discrete variable"
            where = f"t = {times[bad[0]]:g}" + (f" and in {len(bad) - 1} later rows" if len(bad) > 1 else "")
            sentences.append(f"the {what} {column.name} is {values[bad[0], k]} at {where}; choose what it is there with `if` or tg.where")
    return sentences


def interpolant(problem: Problem, records: Records) -> Interpolant | None:
    """Piecewise polynomials of the model's own unknowns, and its discrete variables as constants."""
    if not problem.keep_polynomials:
        return None
    compiled = problem.model
    n, own, nd = len(compiled.layout.unknowns), compiled.n_own, len(compiled.layout.discretes)
    table = np.concatenate(records.polynomials) if records.polynomials else np.zeros((0, 3 + n + nd))
    size = (table.shape[1] - 3 - nd) // n if n else 1  # how many coefficients, which depends on the method
    coefficients = np.zeros((len(table), size, own + nd))
    coefficients[:, :, :own] = table[:, 3 : 3 + size * n].reshape(len(table), size, n)[:, :, :own]
    coefficients[:, 0, own:] = table[:, 3 + size * n :]
    degree = int(table[:, 2].max()) if len(table) else 0
    names = [s.data.name for s in (*compiled.layout.unknowns[:own], *compiled.layout.discretes)]
    return Interpolant(table[:, 0], table[:, 1], coefficients[:, : degree + 1], names)


class RecordedEvents(LazyEvents):
    """The event log, each event put into words when it is looked at.

    Parameters
    ----------
    problem : the run.
    records : where the log entries are.
    values : (rows, columns) of these records, as ``rows`` gives them.
    causes : of the model's events.
    """

    def __init__(self, problem: Problem, records: Records, values: FloatArray, causes: Causes) -> None:
        self._problem = problem
        self._compiled = problem.model
        layout = self._compiled.layout
        self._causes = causes
        self._n = len(layout.unknowns)
        self._n_m = layout.first_discrete + len(layout.discretes)
        width = 5 + len(problem.sensitivity_parameters) + 2 * (self._n + self._n_m) + layout.n_fires
        self.table: FloatArray = np.concatenate(records.log) if records.log else np.zeros((0, width))
        self._first: list[Event] = []
        self._last: list[Event] = []
        self._sizes = largest(self._names, values)

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

    @cached_property
    def _names(self) -> list[str]:
        layout = self._compiled.layout
        return [s.data.name for s in (*layout.unknowns[: self._compiled.n_own], *layout.discretes)]

    def _event(self, index: int) -> Event:
        entry = self.table[index]
        ns, n, nm = len(self._problem.sensitivity_parameters), self._n, self._n_m
        place = 5 + ns
        y_before, m_before = entry[place : place + n], entry[place + n : place + n + nm]
        place += n + nm
        y_after, m_after = entry[place : place + n], entry[place + n : place + n + nm]
        fired = entry[place + n + nm :]
        own, first = self._compiled.n_own, self._compiled.layout.first_discrete
        parameters = self._compiled.layout.parameters
        chosen = [parameters[int(k)].data.name for k in self._problem.sensitivity_parameters]
        cause = self._causes.of(crossed_guard(self._problem, entry), m_before, m_after, fired)
        return Event(
            index=len(self._first) + index,
            time=float(entry[0]),
            kind="state" if int(entry[1]) & w.STATE_EVENT else "time",
            causes=cause.texts,
            origins=cause.origins,
            priority=cause.priority,
            rounds=int(entry[4]),
            before=dict(zip(self._names, [*y_before[:own].tolist(), *m_before[first:].tolist()], strict=True)),
            after=dict(zip(self._names, [*y_after[:own].tolist(), *m_after[first:].tolist()], strict=True)),
            dt_dp=dict(zip(chosen, entry[5 : 5 + ns].tolist(), strict=True)),
            messages=cause.messages,
            sizes=self._sizes,
        )
