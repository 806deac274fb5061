"""From flat records to a labelled result: columns, the event log in the user's words, the interpolant."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled import workspace as w
from tidegate.executive.causes import Causes
from tidegate.integrators.interface import Integrator, Problem, Records
from tidegate.integrators.record_types import Written, event_type, joined, polynomial_type, row_type
from tidegate.results import Event, Interpolant
from tidegate.results.dense_outputs import DenseOutputs
from tidegate.results.events import LazyEvents, largest

__all__ = ["RecordedEvents", "crossed_guard", "dense_outputs", "interpolant", "log_table", "not_finite", "rows"]

FloatArray = NDArray[np.float64]


def crossed_guard(problem: Problem, entry: np.void) -> int:
    """The guard whose zero an entry of the log is about, be it one of time; -1 for none."""
    return _crossed(entry, len(problem.model.guards))


def _crossed(entry: np.void, n_guards: int) -> int:
    item = int(entry["item"])
    return item if 0 <= item < n_guards else int(entry["guard"])


def log_table(problem: Problem, records: Records) -> Written:
    """The entries of the log."""
    return joined(records.log, event_type(problem))


def rows(problem: Problem, records: Records) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Times, values (rows, columns) and sensitivities (rows, parameters, columns) of what is shown."""
    layout = problem.model.layout
    table = joined(records.rows, row_type(problem))
    sensitivities = layout.taken(table["sensitivities"]) if len(problem.sensitivity_parameters) else None
    return table["time"].copy(), layout.taken(table["values"]), sensitivities


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
    names, places, signs = layout.interpolated
    kept, nd = len(names), len(layout.discretes)
    table = joined(records.polynomials, polynomial_type(problem, 0))
    degree = int(table["degree"].max()) if len(table) else 0
    coefficients = np.zeros((len(table), degree + 1, kept + nd))
    coefficients[:, :, :kept] = table["coefficients"][:, : degree + 1, places] * signs
    coefficients[:, 0, kept:] = table["discrete"]
    return Interpolant(table["start"].copy(), table["length"].copy(), coefficients, [*names, *layout.discretes])


def dense_outputs(problem: Problem, integrator: Integrator, log: Written) -> DenseOutputs | None:
    """The outputs as formulas of what the interpolant holds; None where there are none."""
    layout, formulas = problem.model.layout, problem.model.outputs
    if not problem.keep_polynomials or formulas is None:
        return None
    constants = np.concatenate([integrator.p[list(formulas.parameters)], integrator.m[[layout.first_input + k for k in formulas.inputs]]])
    places = list(formulas.modes)
    modes = np.concatenate([log["m_before"][:1, places], log["m_after"][:, places]]) if len(log) else integrator.m[places][None]
    return DenseOutputs(
        formulas,
        constants[None],
        np.zeros(1, dtype=np.int64),
        log["time"].copy() if places else np.zeros(0),
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

    def __init__(self, problem: Problem, table: Written, values: FloatArray, causes: Causes) -> None:
        layout = problem.model.layout
        self._causes = causes
        self._first_discrete = layout.first_discrete
        self._names, self._of_lasting = layout.lasting_names, layout.of_lasting
        self._parameters = [layout.parameters[int(k)] for k in problem.sensitivity_parameters]
        self._n_guards = len(problem.model.guards)
        self.table: Written = table
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
        return np.concatenate([[event.time for event in self._first], self.table["time"], [event.time for event in self._last]])

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
        before, after = (
            self._of_lasting(np.concatenate([entry[y], entry[m][self._first_discrete :]]))
            for y, m in (("y_before", "m_before"), ("y_after", "m_after"))
        )
        cause = self._causes.of(_crossed(entry, self._n_guards), entry["m_before"], entry["m_after"], entry["fired"])
        return Event(
            index=len(self._first) + index,
            time=float(entry["time"]),
            kind="state" if int(entry["kind"]) & w.STATE_EVENT else "time",
            causes=cause.texts,
            origins=cause.origins,
            priority=cause.priority,
            rounds=int(entry["rounds"]),
            before=dict(zip(self._names, before.tolist(), strict=True)),
            after=dict(zip(self._names, after.tolist(), strict=True)),
            dt_dp=dict(zip(self._parameters, entry["dt_dp"].tolist(), strict=True)),
            messages=cause.messages,
            sizes=self._sizes,
        )
