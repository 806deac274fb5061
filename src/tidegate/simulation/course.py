"""A run under way (stage: simulation): its integrator or the state to make one from, and the parts recorded so far. In: deeds; out: parts."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.errors import InterruptedRunError, RunError
from tidegate.executive import (
    Cost,
    Doubts,
    Interrupts,
    Labelled,
    Meter,
    Options,
    begin,
    close,
    failure,
    idle_clauses,
    open_run,
    prepare,
    warn,
)
from tidegate.integrators import choose
from tidegate.integrators.interface import Counters, Integrator, Problem, Records, Stop
from tidegate.results import EventLog, Result
from tidegate.results.joined import joined
from tidegate.results.labels import number
from tidegate.simulation.chosen import ASSUMED_LENGTH, changed, recording_times
from tidegate.simulation.stretch import First, Stretch, run_stretch

__all__ = ["Course", "Standing", "Status", "User"]

FloatArray = NDArray[np.float64]
State = Mapping[str, FloatArray]
Status = Literal["ready", "failed", "terminated", "finished"]

_LOST: Final = "lost"  # derivatives that do not exist any more, beside what the integrator needs
_NOTHING_DONE: Final = Cost(Counters(*(0 for _ in Counters._fields)), 0.0, 0)


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a run stands."""

    time: float
    y: FloatArray
    m: FloatArray
    p: FloatArray


@dataclass(frozen=True, eq=False)
class User:
    """What the log is to say of values set from outside.

    Parameters
    ----------
    causes : a text for each value.
    before, after : values, by name, that an event of the model has not: parameters and inputs.
    """

    causes: tuple[str, ...]
    before: Mapping[str, float]
    after: Mapping[str, float]


class Course:
    """One run, started.

    Parameters
    ----------
    compiled : the model.
    t_start : start time.
    options : what the caller chose.
    going_on : the state to go on from and the parts until then, instead of a start.
    source : what results are judged by.
    """

    def __init__(
        self, compiled: CompiledModel, t_start: float, options: Options, going_on: tuple[State, Sequence[Result]] | None = None, source: object = None
    ) -> None:
        self.source = source
        lost = None if going_on is None else going_on[0].get(_LOST)
        self._doubts = Doubts(lost)
        self._handed_doubts = Doubts(lost)  # of what the caller's function is given, which may be behind or before
        self.compiled = compiled
        self.t_start = t_start
        self.options = options
        self.status: Status = "ready"
        self.message = ""
        self.is_fresh = going_on is None  # no advance yet
        self._settings: list[tuple[Standing, User]] = []  # what was set before the first advance
        self._integrator: Integrator | None = None
        self._state: State = {}
        self._parts: list[Result] = []
        self._joined: Result | None = None
        if going_on is None:
            self._start(t_start + ASSUMED_LENGTH)
        else:
            self._state, self._parts = going_on[0], [*going_on[1]]
            self.standing = _standing_of(self._state)
            self._problem = self._problem_to(self.standing.time)

    def __getstate__(self) -> dict[str, Any]:
        """What pickling and copying keep: what another integrator is made from; this one's addresses mean nothing elsewhere."""
        kept = {name: value for name, value in vars(self).items() if name not in ("_integrator", "_problem", "_joined")}
        return {**kept, "_state": self.state, "source": None}  # functions of the user, which may know no way to another process

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self._integrator, self._joined = None, None
        if self.is_fresh:
            self._start(self.t_start + ASSUMED_LENGTH)
        else:
            self._problem = self._problem_to(self.standing.time)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = type(self).__new__(type(self))
        other.__setstate__(deepcopy(self.__getstate__(), memo))
        other.source = self.source
        return other

    # -- what there is --------------------------------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """Everything to go on from."""
        state = self._state if self._integrator is None else self._integrator.state()
        return state if self._doubts.lost is None else {**state, _LOST: self._doubts.lost.astype(np.float64)}

    @property
    def result(self) -> Result:
        """All parts as one."""
        if self._joined is None:
            status = "finished" if self.status == "ready" else self.status
            message = self.message if self.status != "ready" else f"reached t = {number(self.standing.time, 10)}"
            self._joined = joined(self._parts, status=status, message=message)
            self._joined.source, self._joined.is_part = self.source, True
        return self._joined

    # -- deeds ------------------------------------------------------------------------------------------------------------------------------------

    def change(self, changes: Mapping[str, Any]) -> None:
        """Take over other options; the next integrator is made with them."""
        options = changed(self.options, changes, self.t_start)
        prepare(self.compiled, (self.t_start, self.t_start), replace(options, outputs=None))  # refuses what does not fit
        self.options = options
        if self._integrator is not None:
            self._state, self._integrator = self._integrator.state(), None

    def advance(self, until: float) -> Result:
        """Run up to a later time, or the same.

        Raises
        ------
        RunError, and whatever the caller's own functions raise; the run can go on from where it then stands.
        """
        if until == self.standing.time:
            return self._part(Records(), _NOTHING_DONE, self._live())
        first, loading = First(Records()), 0.0
        if self.is_fresh:
            # values at the start were looked at without knowing the length of the run; now it begins
            start, loading = self._start(until)
            if not self._settings:
                first, self._parts, self._doubts = start, [], Doubts()
        elif self._integrator is not None:
            times = self._times(until)
            self._problem = replace(self._problem, t_end=until, output_times=times)
            self._integrator.set_end(until, times)
        else:
            self._resume(until)
        self.is_fresh = False
        integrator = self._live()
        interrupts = Interrupts()
        with interrupts.held(integrator.calls):
            handed = Labelled(self._problem, self.options, self._handed_doubts)
            stretch = run_stretch(integrator, self._labelled, handed, loading, first, interrupts)
            self._take_in(stretch, integrator)
        error, cause = stretch.error, stretch.cause
        if interrupts.wanted and not isinstance(error, KeyboardInterrupt):
            result = error.result if isinstance(error, RunError) else self.result
            late = f"interrupted at t = {self.standing.time:g}, when the run had come to a stop"
            error, cause = InterruptedRunError(late, time=self.standing.time, result=result), error
        if error is not None:
            raise error from cause
        stretch.part.source, stretch.part.is_part = self.source, True
        warn(self._problem, stretch.part, self._doubts.untold())
        return stretch.part

    def _take_in(self, stretch: Stretch, integrator: Integrator) -> None:
        """Stand where the stretch has led to."""
        if stretch.error is None:
            self.status = "terminated" if stretch.part.status == "terminated" else "ready"
            self._note(stretch.part, integrator)
            return
        self.status = "failed"
        self._integrator, self._state = None, stretch.state or integrator.state()
        before = [*self._parts]
        self._note(stretch.part, None)
        if isinstance(stretch.error, RunError):
            # how far back depends on what was tried, and what lies between is in no result of the simulation
            stretch.error.add(f"the simulation stands at t = {number(self.standing.time, 10)} and can go on from there")
        if isinstance(stretch.error, RunError | InterruptedRunError) and stretch.error.result is not None:
            stretch.error.result = joined([*before, stretch.error.result])
            stretch.error.result.source = self.source

    def put(self, wanted: Standing, user: User) -> None:
        """Values from outside, and the event that follows.

        Raises
        ------
        RunError : no consistent values follow; everything is as it was.
        """
        integrator = self._live()
        state = integrator.state()
        layout = self.compiled.layout
        meter = Meter(integrator)
        integrator.m[layout.first_input : layout.first_fire] = wanted.m[layout.first_input : layout.first_fire]
        stop = integrator.disturb(wanted.y, wanted.m[layout.first_discrete : layout.first_previous], wanted.p)
        records = Records()
        integrator.collect(records)
        problem = replace(self._problem, p=wanted.p, m=wanted.m)
        if stop is not Stop.LIMIT:
            error = failure(stop, problem, integrator, None, at_start=False)
            self._integrator, self._state = None, state
            error.result = self.result
            raise error
        self._problem = problem
        part = self._part(records, meter.read(), integrator)
        part.events = EventLog(
            [
                replace(
                    event,
                    kind="set",
                    causes=user.causes + event.causes,
                    before={**event.before, **user.before},
                    after={**event.after, **user.after},
                )
                for event in part.events
            ],
            time_unit=part.time_unit,
        )
        if self.is_fresh:
            self._settings.append((wanted, user))
        self._note(part, integrator, self.message)

    def finish(self, row: FloatArray) -> None:
        """Carry out what the model does at the end of a run; ``row`` are the current values."""
        integrator = self._live()
        part = self._part(Records(), _NOTHING_DONE, integrator)
        last = next((each for each in reversed(self._parts) if each.t.size), None)
        slopes = last.sensitivities[-1] if last is not None and last.sensitivities is not None and last.t[-1] == self.standing.time else None
        try:
            closing = close(self._problem, integrator, row, slopes, 0)
        except RunError as error:
            error.result = self.result
            raise
        if closing is not None:
            part.t, part.values, part.events = (
                np.array([self.standing.time]),
                closing.values[None],
                EventLog([closing.event], time_unit=part.time_unit),
            )
            if part.sensitivities is not None:
                shape = part.sensitivities.shape[1:]
                part.sensitivities = (np.full(shape, np.nan) if closing.sensitivities is None else closing.sensitivities)[None]
        self.status = "finished"
        idle = idle_clauses(self.compiled, integrator.held)
        self._note(part, integrator, f"finished at t = {number(self.standing.time, 10)}{f'; {idle}' if idle else ''}")

    # -- inside -------------------------------------------------------------------------------------------------------------------------------------

    @property
    def _labelled(self) -> Labelled:
        return Labelled(self._problem, self.options, self._doubts)

    def _part(self, records: Records, cost: Cost, integrator: Integrator) -> Result:
        """A part of the run that ends here for now."""
        part = self._labelled.result(records, cost, "unfinished", f"reached t = {number(integrator.time, 10)}", integrator)
        part.status, part.source, part.is_part = "finished", self.source, True
        return part

    def _times(self, until: float) -> FloatArray:
        recorded = next((float(part.t[-1]) for part in reversed(self._parts) if part.t.size), -math.inf)
        return recording_times(self.options, self.t_start, -math.inf if self.is_fresh else max(recorded, self.standing.time), until)

    def _problem_to(self, until: float, state: State | None = None) -> Problem:
        options = self.options
        base = prepare(self.compiled, (self.t_start, until), replace(options, outputs=None)).problem
        every_step = options.outputs is None
        event_rows = every_step if options.event_rows is None else options.event_rows
        problem = replace(base, output_times=self._times(until), step_rows=every_step, event_rows=event_rows, resume=state)
        return problem if self.is_fresh else replace(problem, p=self.standing.p, m=self.standing.m)

    def _start(self, until: float) -> tuple[First, float]:
        """Start values, and what was set of them. Gives what was written down at the start, and the seconds of getting ready."""
        self._problem = self._problem_to(until)
        began = time.perf_counter()
        integrator = choose(self._problem, self.options.chosen_method)
        loading = time.perf_counter() - began + self.compiled.seconds
        records = Records()
        opening = open_run(self._problem, integrator)
        begin(integrator, self._problem, records)
        self._parts, self._integrator, self._doubts = [], integrator, Doubts()
        first = First(records, opening)
        ends_at_once = first.opening is not None and first.opening.terminates
        self.status = "terminated" if ends_at_once else "ready"
        part = self._labelled.result(records, _NOTHING_DONE, "terminated" if ends_at_once else "unfinished", "", integrator, first.opening)
        self._note(part, integrator)
        settings, self._settings = self._settings, []
        for wanted, user in settings:
            self.put(wanted, user)
        return first, loading

    def _resume(self, until: float) -> None:
        self._problem = self._problem_to(until, self._state)
        integrator = choose(self._problem, self.options.chosen_method)
        begin(integrator, self._problem, Records())
        self._integrator = integrator

    def _live(self) -> Integrator:
        """The integrator at the current point."""
        if self._integrator is None:
            self._resume(max(self.standing.time, self._problem.t_end))
        assert self._integrator is not None
        return self._integrator

    def _note(self, part: Result, integrator: Integrator | None, message: str = "") -> None:
        """Take in a part of the run, and where it has led to."""
        self._parts.append(part)
        self._joined = None
        self.message = message or part.message
        if integrator is None:
            self.standing = _standing_of(self._state)
        else:
            self.standing = Standing(integrator.time, integrator.y.copy(), integrator.m.copy(), integrator.p.copy())


def _standing_of(state: State) -> Standing:
    return Standing(float(state["progress"][0]), state["unknowns"], state["modes"], state["parameters"])
