"""From flat records to a labelled result: columns, the event log in the user's words, the interpolant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled import workspace as w
from tidegate.compiled.interface import CompiledModel
from tidegate.executive.causes import Causes
from tidegate.executive.kept import kept_with_the_model
from tidegate.expressions import Expr, Role, as_real, symbol, walk
from tidegate.expressions.substitute import substitute
from tidegate.integrators.interface import Integrator, Problem, Records
from tidegate.results import Column, Event, Interpolant
from tidegate.results.dense_outputs import DenseOutputs, Formulas
from tidegate.results.events import LazyEvents, largest

__all__ = ["RecordedEvents", "columns", "crossed_guard", "dense_outputs", "event_names", "interpolant", "log_table", "not_finite", "rows"]

FloatArray = NDArray[np.float64]


@kept_with_the_model
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


@kept_with_the_model
def event_names(compiled: CompiledModel) -> list[str]:
    """Names of the values that an event has."""
    return [s.data.name for s in (*compiled.layout.unknowns[: compiled.n_own], *compiled.layout.discretes)]


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
    return table[:, 0].copy(), values, sensitivities


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
    """Piecewise polynomials of the model's own unknowns, and of the compiler's where an output reads one; discrete variables as constants."""
    if not problem.keep_polynomials:
        return None
    compiled = problem.model
    n, kept, nd = len(compiled.layout.unknowns), _n_kept(compiled), len(compiled.layout.discretes)
    table = np.concatenate(records.polynomials) if records.polynomials else np.zeros((0, 3 + n + nd))
    size = (table.shape[1] - 3 - nd) // n if n else 1  # how many coefficients, which depends on the method
    degree = int(table[:, 2].max()) if len(table) else 0
    coefficients = np.zeros((len(table), degree + 1, kept + nd))
    coefficients[:, :, :kept] = table[:, 3 : 3 + size * n].reshape(len(table), size, n)[:, : degree + 1, :kept]
    coefficients[:, 0, kept:] = table[:, 3 + size * n :]
    names = [s.data.name for s in (*compiled.layout.unknowns[:kept], *compiled.layout.discretes)]
    return Interpolant(table[:, 0].copy(), table[:, 1].copy(), coefficients, names)


def _n_kept(compiled: CompiledModel) -> int:
    """How many unknowns dense output has: the model's own, and all if an output reads one that the compiler added."""
    every = compiled.layout.unknowns
    return len(every) if _read(compiled) & set(every[compiled.n_own :]) else compiled.n_own


def _read(compiled: CompiledModel) -> set[Expr]:
    return {item for item in walk(compiled.output_values) if item.op == "symbol"}


@kept_with_the_model
def _formulas(compiled: CompiledModel) -> Formulas:
    layout = compiled.layout
    previous = {symbol(Role.PREVIOUS, s.data.name): s for s in layout.discretes}  # between events they are the same
    values = tuple(substitute(list(map(as_real, compiled.output_values)), previous))
    read = {item for item in walk(values) if item.op == "symbol"}
    return Formulas(
        names=tuple(output.name for output in compiled.outputs),
        values=values,
        time=symbol(Role.TIME, "time"),
        dense=(*layout.unknowns[: _n_kept(compiled)], *layout.discretes),
        constants=tuple(s for s in (*layout.parameters, *layout.inputs) if s in read),
        modes=tuple(s for s in layout.modes if s in read),
    )


def dense_outputs(problem: Problem, integrator: Integrator, log: FloatArray) -> DenseOutputs | None:
    """The outputs as formulas of what the interpolant holds; None where there are none."""
    compiled, layout = problem.model, problem.model.layout
    if not problem.keep_polynomials or not compiled.outputs:
        return None
    formulas = _formulas(compiled)
    values = dict(zip(layout.parameters, integrator.p.tolist(), strict=True))
    first = layout.first_input
    values |= dict(zip(layout.inputs, integrator.m[first : first + len(layout.inputs)].tolist(), strict=True))
    wanted = set(formulas.modes)
    places = [k for k, s in enumerate(layout.modes) if s in wanted]
    n, n_m = len(layout.unknowns), layout.first_discrete + len(layout.discretes)
    before = 5 + len(problem.sensitivity_parameters) + n
    after = before + n_m + n
    if len(log):
        modes = np.concatenate([log[:1][:, [before + k for k in places]], log[:, [after + k for k in places]]])
    else:
        modes = integrator.m[places][None]
    return DenseOutputs(
        formulas,
        np.array([[values[s] for s in formulas.constants]]).reshape(1, len(formulas.constants)),
        np.zeros(1, dtype=np.int64),
        log[:, 0].copy() if places else np.zeros(0),
        modes if places else np.zeros((1, 0)),
        np.array([0, len(modes) if places else 1], dtype=np.int64),
    )


class RecordedEvents(LazyEvents):
    """The event log, each event put into words when it is looked at. It holds expressions, for the words, and no machine code.

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
        self._n, self._own, self._first_discrete = len(layout.unknowns), problem.model.n_own, layout.first_discrete
        self._n_m = layout.first_discrete + len(layout.discretes)
        self._names = event_names(problem.model)
        self._parameters = [layout.parameters[int(k)].data.name for k in problem.sensitivity_parameters]
        self._n_guards = len(problem.model.guards)
        self.table: FloatArray = table
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

    def _event(self, index: int) -> Event:
        entry = self.table[index]
        ns, n, nm = len(self._parameters), self._n, self._n_m
        place = 5 + ns
        y_before, m_before = entry[place : place + n], entry[place + n : place + n + nm]
        place += n + nm
        y_after, m_after = entry[place : place + n], entry[place + n : place + n + nm]
        fired = entry[place + n + nm :]
        own, first = self._own, self._first_discrete
        cause = self._causes.of(_crossed(entry, self._n_guards), m_before, m_after, fired)
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
            dt_dp=dict(zip(self._parameters, entry[5 : 5 + ns].tolist(), strict=True)),
            messages=cause.messages,
            sizes=self._sizes,
        )
