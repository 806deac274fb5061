"""From what a run wrote down to results in the user's names (stage: executive): of the whole run, or of the rows since the last look."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from operator import sub
from typing import Final

import numpy as np

from tidegate.compiled.interface import Said
from tidegate.errors import RunError
from tidegate.executive.causes import Causes
from tidegate.executive.closing import close, idle_clauses
from tidegate.executive.contacts import Recorded
from tidegate.executive.doubts import Doubts
from tidegate.executive.initial import opening_event
from tidegate.executive.interrupts import Interrupts
from tidegate.executive.options import Options
from tidegate.executive.recorder import RecordedEvents, dense_outputs, interpolant, log_table, rows
from tidegate.integrators.interface import Counters, Integrator, Problem, Records
from tidegate.results import EventLog, Result, RunStatus, Statistics

__all__ = ["Cost", "Feed", "Labelled", "Meter"]

_SHARED: Final = [name for name in Counters._fields if name in Statistics.__dataclass_fields__ and name != "events"]


@dataclass(frozen=True)
class Cost:
    """What was done: by the method, in seconds, in calls into Python; and the seconds of getting ready."""

    counters: Counters
    seconds: float
    opaque_calls: int
    compile_seconds: float = 0.0


class Meter:
    """Counts what an integrator does from one reading to the next.

    Parameters
    ----------
    integrator : of the run.
    """

    def __init__(self, integrator: Integrator) -> None:
        self._integrator = integrator
        self._before = (integrator.counters, time.perf_counter(), integrator.calls.count)

    def read(self, compile_seconds: float = 0.0) -> Cost:
        """What was done since the last reading."""
        old, self._before = self._before, (self._integrator.counters, time.perf_counter(), self._integrator.calls.count)
        new = self._before
        done = Counters(*map(sub, new[0], old[0]))
        return Cost(done, new[1] - old[1], new[2] - old[2], compile_seconds)


class Labelled:
    """Makes results of one problem, part after part.

    Parameters
    ----------
    problem : what is run.
    options : what the caller chose.
    doubts : about derivatives, from the parts before; none at the start.
    """

    def __init__(self, problem: Problem, options: Options, doubts: Doubts | None = None) -> None:
        self.problem = problem
        self.options = options
        self.doubts = doubts or Doubts()

    @cached_property
    def _causes(self) -> Causes:
        return Causes(self.problem)

    def result(self, records: Records, cost: Cost, status: RunStatus, message: str, integrator: Integrator, opening: Said | None = None) -> Result:
        """Everything in ``records`` under the user's names.

        Parameters
        ----------
        status : "finished" and "terminated" are ends of the run, at which the model's final actions are done; "unfinished" is not.
        message : why it ended; for a run that the model terminated, what the model said is found here.
        opening : what the model said at the start, if the records begin there.
        """
        problem, model = self.problem, self.problem.model
        times, values, sensitivities = rows(problem, records)
        table = log_table(problem, records)
        events = RecordedEvents(problem, table, values, self._causes)
        if opening is not None and len(times):
            events.prepend(opening_event(model, opening, problem.t_start, values[0]))
        if sensitivities is not None:
            recorded = Recorded([column.name for column in model.layout.columns], times, sensitivities, events.table)
            self.doubts.strike(problem, integrator, recorded)
        outputs = dense_outputs(problem, integrator, table)  # before the integrator is led through what happens at the end
        closing = None
        if status in ("finished", "terminated") and len(times):
            try:
                closing = close(problem, integrator, values[-1], sensitivities[-1] if sensitivities is not None else None, len(events))
            except RunError as error:
                error.result = self.result(records, cost, "failed", error.message, integrator, opening)
                raise
        if closing is not None:
            events.append(closing.event)
            times = np.append(times, integrator.time)
            values = np.vstack([values, closing.values])
            if sensitivities is not None and closing.sensitivities is not None:
                sensitivities = np.concatenate([sensitivities, closing.sensitivities[None]])
        if status == "terminated" and not message and len(events):
            stopped = events[-1 if closing is None else -2]
            message = "; ".join(stopped.messages) or f"terminated by {stopped.cause}"
        if status in ("finished", "terminated"):
            message = "; ".join(filter(None, (message, idle_clauses(model, integrator.held))))
        names = model.layout.parameters
        return Result(
            model.name,
            model.layout.columns,
            times,
            values,
            parameters=dict(zip(names, problem.p.tolist(), strict=True)),
            sensitivity_parameters=[names[k] for k in map(int, problem.sensitivity_parameters)],
            sensitivities=sensitivities,
            events=EventLog(events, events.times, model.time_unit),
            statistics=self._statistics(cost, len(events)),
            interpolant=interpolant(problem, records),
            dense_outputs=outputs,
            options=self.options.shown(),
            status=status,
            message=message,
            parameter_units={name: q.unit for q in model.quantities if q.vector == "p" and q.unit for name in q.names},
            time_unit=model.time_unit,
        )

    def _statistics(self, cost: Cost, n_events: int) -> Statistics:
        return Statistics(
            **{name: getattr(cost.counters, name) for name in _SHARED},
            events=n_events,
            opaque_calls=cost.opaque_calls,
            seconds=cost.seconds,
            compile_seconds=cost.compile_seconds,
            method=self.options.chosen_method,
            extra={"resteps": cost.counters.resteps},
        )


class Feed:
    """Hands what is new in the records to the caller's function, if there is one.

    Parameters
    ----------
    labelled : makes the results.
    integrator : of the run.
    records : of the run, which only grow.
    interrupts : Ctrl-C is raised at once in the caller's function.
    opening : what the model said at the start, if the records begin there.
    """

    def __init__(
        self, labelled: Labelled, integrator: Integrator, records: Records, interrupts: Interrupts, opening: Said | None = None
    ) -> None:
        self._labelled = labelled
        self._integrator = integrator
        self._meter = Meter(integrator)
        self._records = records
        self._interrupts = interrupts
        self._opening = opening
        self._given = (0, 0, 0)

    def __call__(self) -> None:
        """Hand over what came since the last call, if anything did."""
        records, receive = self._records, self._labelled.options.on_rows
        a, b, c = self._given
        self._given = (len(records.rows), len(records.log), len(records.polynomials))
        new = Records(records.rows[a:], records.log[b:], records.polynomials[c:])
        if receive is not None and (new.rows or new.log or new.polynomials):
            opening, self._opening = self._opening, None
            part = self._labelled.result(new, self._meter.read(), "unfinished", "", self._integrator, opening)
            with self._interrupts.in_user_code():
                receive(part)
