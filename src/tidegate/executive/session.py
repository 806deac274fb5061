"""One run (stage: executive): it starts, advances, takes changes, finishes. In: a problem, and what is to be done. Out: results of its segments, or
of the whole.

``tg.simulate`` advances a session once, from the start to the end of its problem. Under the user's hand (``tg.Simulation``) a session goes on from
segment to segment, also after a failure; every segment is kept as a result, and all of them are joined when the whole is asked for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import Said
from tidegate.compiled.layout import Layout
from tidegate.compiled.told_tolerance import tell_tolerance
from tidegate.errors import AssertionFailedError, InterruptedRunError, Origin, RunError, TooManyStepsError, UsageError
from tidegate.executive.at_once import END_OF_SPAN
from tidegate.executive.constrained_start import hold_constraints
from tidegate.executive.drive import begin, drive, drop_behind, drop_rows_behind, drop_rows_without
from tidegate.executive.failures import failure, jumped
from tidegate.executive.faint_crossings import faint_crossings
from tidegate.executive.final_actions import close
from tidegate.executive.forced_start import begin_from_guesses
from tidegate.executive.initial_actions import begin_model, taken_up
from tidegate.executive.interrupts import Interrupts
from tidegate.executive.last_warnings import warn
from tidegate.executive.loosely_held import loosely_held
from tidegate.executive.lost_derivatives import Recorded
from tidegate.executive.options import NO_TIMES, Options, times_behind
from tidegate.executive.problem import problem_of
from tidegate.executive.recorder import NOTHING_DONE, Cost, Legend, Recording, reached
from tidegate.executive.remembered_losses import LostDerivatives
from tidegate.executive.set_events import SetEvents
from tidegate.executive.visits import Meter, State, Visits, shortly_before
from tidegate.integrators import choose
from tidegate.integrators.interface import Problem, Records, StepIntegrator, Stop
from tidegate.quick_dataclass import dataclass
from tidegate.results import EventLog, Result, RunStatus
from tidegate.results.joined import joined
from tidegate.results.labels import number
from tidegate.wishes import StopRun

__all__ = ["Session", "Setting", "Standing", "Status"]

FloatArray = NDArray[np.float64]
Status = Literal["ready", "failed", "terminated", "finished"]

_LOST: Final = "lost"  # derivatives that do not exist any more, beside what the integrator needs


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a run stands."""

    time: float
    y: FloatArray
    m: FloatArray
    p: FloatArray


@dataclass(frozen=True, eq=False)
class Setting:
    """Values set from outside, and what the log is to say of them.

    Parameters
    ----------
    new : the vectors with these values.
    causes : a text for each value.
    before, after : values, by name, that an event of the model has not: parameters and inputs.
    """

    new: Standing
    causes: tuple[str, ...]
    before: Mapping[str, float]
    after: Mapping[str, float]


@dataclass(eq=False)
class _StoppedRun:
    """A segment that ended early: why, what caused that, and the state to go on from, if the integrator's own will not do."""

    error: BaseException
    cause: BaseException | None
    state: State | None = None


class Session:
    """One run.

    Parameters
    ----------
    problem : what to run; a session that is not of a whole run makes itself others, to the times to which it is to advance.
    options : what the caller chose.
    source : what results are judged by.
    whole : of a run that is advanced once, to its end: its integrator, not started, the legend of its records, and the seconds of getting ready.
    going_on : the state to go on from and the segments until then, instead of a start.
    records : whether segments are kept; otherwise the last one is all there is.
    """

    def __init__(
        self,
        problem: Problem,
        options: Options,
        source: object = None,
        *,
        whole: tuple[StepIntegrator, Legend, float] | None = None,
        going_on: tuple[State, Sequence[Result]] | None = None,
        records: bool = True,
    ) -> None:
        self.problem, self.options, self.source, self.records = problem, options, source, records
        self.status: Status = "ready"
        self.message = ""
        self.is_fresh = going_on is None  # no advance yet
        self._is_whole = whole is not None
        self._ended_at: Standing | None = None  # where a function of the user asked for the end, beside the integrator
        self._lacks_values = False  # whether the last row is what was known there
        self._integrator: StepIntegrator | None = None
        self._legend: Legend | None = None
        self._loading = 0.0
        if whole is not None:
            self._integrator, self._legend, self._loading = whole
        self._records, self._initial_words = Records([], [], []), None  # of the segment under way
        self._state: State = {} if going_on is None else going_on[0]
        self._kept: State | None = None  # the integrator's, where nothing has moved since
        self._segments: list[Result] = [] if going_on is None else [*going_on[1]]
        self._lost_derivatives = LostDerivatives(self._state.get(_LOST))
        self._handed_lost_derivatives: LostDerivatives | None = None  # of what the caller's function is given, which may be behind or before
        if not self._is_whole:
            self._settings: list[Setting] = []  # what was set before the first advance
            self._joined: Result | None = None
            if going_on is None:
                self._start_afresh(problem.t_end)
            else:
                self._state = taken_up(problem.model, self._state, _standing_of(self._state))
                self.standing = _standing_of(self._state)
                self.problem = self._problem_to(self.standing.time)

    def __getstate__(self) -> dict[str, Any]:
        """What pickling and copying keep: what another integrator is made from; this one's addresses mean nothing elsewhere."""
        left_out = ("_integrator", "_legend", "_joined", "_records", "_initial_words", "_kept")
        kept = {name: value for name, value in vars(self).items() if name not in left_out}
        return {**kept, "_state": self.state, "source": None}  # functions of the user, which may know no way to another process

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept, _integrator=None, _legend=None, _joined=None, _records=Records(), _initial_words=None, _kept=None)
        if self.is_fresh:
            self._start_afresh(self.problem.t_end)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = type(self).__new__(type(self))
        other.__setstate__(deepcopy(self.__getstate__(), memo))
        other.source = self.source
        return other

    # -- what there is --------------------------------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """Everything to go on from."""
        state = self._state if self._integrator is None else self._stands()
        return state if self._lost_derivatives.lost is None else {**state, _LOST: self._lost_derivatives.lost.astype(np.float64)}

    @property
    def result(self) -> Result:
        """All segments as one."""
        if self._joined is None:
            status = "finished" if self.status == "ready" else self.status
            message = self.message if self.status != "ready" else reached(self.standing.time)
            self._joined = joined(self._segments, status=status, message=message)
            self._joined.source, self._joined.is_part = self.source, True
        return self._joined

    @property
    def final(self) -> Mapping[str, float]:
        """Values of what results show, as the final actions have left them; nothing before, or where there are none."""
        last = self._segments[-1]
        is_closed = self.status in ("terminated", "finished") and len(last.events) > 0 and last.events[-1].kind == "final"
        return last.final if is_closed else {}

    # -- start ------------------------------------------------------------------------------------------------------------------------------------

    def _start(self, integrator: StepIntegrator) -> None:
        begin_model(self.problem, integrator)
        hold_constraints(self.problem, integrator)
        self._initial_words = begin_from_guesses(self.problem, integrator, self._records)

    def _start_afresh(self, until: float) -> None:
        """Start values of a run up to a time, and what was set of them."""
        self.problem, self._legend = self._problem_to(until), None
        began = time.perf_counter()
        self._integrator = integrator = choose(self.problem, self.options.method)
        self._loading = time.perf_counter() - began
        self._records = Records()
        self._segments, self._lost_derivatives = [], LostDerivatives()
        try:
            self._start(integrator)
            integrator.collect(self._records)
            ends_at_once = self._initial_words is not None and self._initial_words.terminates
            status = "terminated" if ends_at_once else "unfinished"
            first = self._label(self._records, NOTHING_DONE, status, initial_words=self._initial_words)
        except StopRun as wish:
            first = self._ended_as_asked(wish, Meter(integrator), self._initial_words)
        self.status = "terminated" if first.status == "terminated" else "ready"
        self._note(first)
        settings, self._settings = self._settings, []
        for setting in settings:
            self.change(setting)

    def _problem_to(self, until: float, state: State | None = None) -> Problem:
        """The run up to a later time."""
        old = self.problem
        new = problem_of(old.model, (old.t_start, until), self.options, self._times(until))
        # nothing that is let go of needs a polynomial
        new = new.altered(resume=state, keep_polynomials=new.keep_polynomials and self.records)
        if self.is_fresh:
            return new
        for m in (self.standing.m, *(() if state is None else (state["modes"],))):
            tell_tolerance(old.model.layout, m, self.options.rtol)
        return new.altered(p=self.standing.p, m=self.standing.m)

    def _times(self, until: float) -> FloatArray:
        if self.options.outputs is None:
            return NO_TIMES
        recorded = next((float(segment.t[-1]) for segment in reversed(self._segments) if segment.t.size), -math.inf)
        return times_behind(self.options, self.problem.t_start, -math.inf if self.is_fresh else max(recorded, self.standing.time), until)

    def _resume(self, until: float) -> None:
        self.problem, self._legend = self._problem_to(until, self._state), None
        integrator = choose(self.problem, self.options.method)
        begin(integrator, self.problem, Records())
        self._integrator, self._kept = integrator, None

    def _stands(self) -> State:
        """The state of the integrator, which is at the current point."""
        return self._live().state() if self._kept is None else self._kept

    def _live(self) -> StepIntegrator:
        """The integrator at the current point."""
        if self._integrator is None:
            self._resume(max(self.standing.time, self.problem.t_end))
        assert self._integrator is not None
        return self._integrator

    # -- advance ----------------------------------------------------------------------------------------------------------------------------------

    def advance_to(self, until: float, options: Options | None = None) -> Result:
        """Run up to a later time, or the same, from here on with other options if there are some; see ``advance``."""
        before = self.options
        try:
            if options is not None:
                self._choose(options)
            if until == self.standing.time:
                return self._part(self._label(Records(), NOTHING_DONE, "unfinished"))
            self._move_end(until)
            return self.advance()
        except UsageError:
            # a method that cannot solve these equations is found out only here
            self.options, self._legend = before, None
            raise

    def _choose(self, options: Options) -> None:
        """Go on with other options; the next integrator is made with them."""
        problem_of(self.problem.model, (self.problem.t_start, self.problem.t_start), options, np.zeros(0))  # refuses what does not fit
        self.options, self._legend = options, None
        if self._integrator is not None:
            self._state, self._integrator = self._stands(), None

    def _move_end(self, until: float) -> None:
        if self.is_fresh:
            # values at the start were looked at without knowing the length of the run; now it begins
            is_changed = bool(self._settings)
            self._start_afresh(until)
            self._loading += self.problem.model.seconds
            if is_changed:
                self._records, self._initial_words = Records(), None
            else:
                self._segments, self._lost_derivatives = [], LostDerivatives()
            return
        self._records, self._initial_words, self._loading = Records(), None, 0.0
        if self._integrator is not None:
            times = self._times(until)
            self.problem = self.problem.altered(t_end=until, output_times=times)
            self._integrator.set_end(until, times)
        else:
            self._resume(until)

    def advance(self, stop: Stop | None = None, is_interrupted: bool = False) -> Result:
        """Run up to the end of the problem.

        Parameters
        ----------
        stop : why a whole run that was begun elsewhere has stopped where it is.
        is_interrupted : there has been a Ctrl-C.

        Raises
        ------
        RunError, and whatever the caller's own functions raise; ``.result`` holds what was computed. A session that goes on stands where it can.
        """
        self.is_fresh = False
        integrator = self._live()
        interrupts = Interrupts(integrator.calls)
        with interrupts:
            interrupts.wanted = is_interrupted
            segment, stopped = self._segment(integrator, interrupts, stop)
            part = segment.result(self.source) if self._is_whole else self._take_in(segment, stopped)
            if self._is_whole or self.status == "terminated":
                self._close(interrupts, failed=stopped is not None)
            # what takes time with many rows is within reach of what holds interruptions back
            jump = segment.jump() if stopped is None else None
            wrong = segment.not_finite(but_for_last=self._lacks_values) if stopped is None and jump is None else []
        error, cause = (None, None) if stopped is None else (stopped.error, stopped.cause)
        if interrupts.wanted and not isinstance(error, KeyboardInterrupt):
            now = integrator.time if self._is_whole else self.standing.time
            result = error.result if isinstance(error, RunError) else part if self._is_whole else self.result
            error, cause = InterruptedRunError(f"interrupted at t = {now:g}, when the run had come to its end", time=now, result=result), error
        if error is not None:
            raise error from cause
        if jump is not None:
            raise jumped(*jump, self.problem, part if self._is_whole else self.result)
        within_tolerances = (
            [*loosely_held(self.problem.model, integrator), *faint_crossings(self.problem.model, integrator)] if self._is_whole else []
        )
        warn(wrong, self._lost_derivatives.untold(), within_tolerances)
        return part

    def _segment(self, integrator: StepIntegrator, interrupts: Interrupts, stop: Stop | None) -> tuple[Recording, _StoppedRun | None]:
        """Advance to the end of the problem. Of a session that goes on, what was written down until where it can go on from."""
        meter, options = Meter(integrator, has_started=not self._is_whole), self.options
        visits: Visits | None = None
        try:
            if self._is_whole and stop is None:
                self._start(integrator)
            records, initial_words = self._records, self._initial_words
            if options.on_rows is not None or not self._is_whole:
                self._handed_lost_derivatives = self._handed_lost_derivatives or self._lost_derivatives.copy()
                hand = None if options.on_rows is None else partial(self._hand, options.on_rows, interrupts)
                visits = Visits(integrator, records, initial_words, hand, state=None if self._is_whole else self._stands())
                self._kept = None
            if initial_words is not None and initial_words.terminates:
                stop = Stop.TERMINATED
                integrator.collect(records)
            else:
                done = 0 if self._is_whole else integrator.steps
                stop = drive(integrator, self.problem, options, records, interrupts, done, visits, stop)
            if stop is Stop.TERMINATED:
                self._require_success(integrator, initial_words)
            if visits is not None:
                visits.hand_over()
            status = "terminated" if stop is Stop.TERMINATED else "finished" if self._is_whole else "unfinished"
            told = END_OF_SPAN if status == "finished" else None
            if stop is Stop.TERMINATED and self.problem.model.ending is not None:
                told = self.problem.model.ending(integrator) or None
            return self._label(records, meter.read(self._loading), status, told, initial_words), None
        except StopRun as wish:
            segment = self._ended_as_asked(wish, meter, self._initial_words)
            if visits is not None:
                visits.hand_over()
            return segment, None
        except BaseException as error:  # noqa: BLE001 - whatever stops a run, what it has computed is kept
            return self._broken_off(self._said_by_the_model(error), meter, visits, interrupts)

    def _said_by_the_model(self, error: BaseException) -> BaseException:
        """Why the model was about to end the run with an error, where something else failed on the way there."""
        ending = self.problem.model.ending
        if ending is None or not isinstance(error, RunError) or self._integrator is None:
            return error
        try:
            ending(self._integrator)
        except RunError as said:
            return said
        return error

    def _require_success(self, integrator: StepIntegrator, initial_words: Said | None) -> None:
        """An error where the model ended the run because something does not hold that must."""
        if initial_words is not None and initial_words.fails:
            raise _failed(initial_words.messages, self.problem.t_start, None)
        failing = [action for action in self.problem.model.event_actions if action.fails]
        if not failing:
            return
        integrator.collect(self._records)
        last = self._label(self._records, NOTHING_DONE, "unfinished", "").events[-1]
        # of several in one body those that were carried out, which have the same label
        happened = [action for action, on in zip(self.problem.model.event_actions, integrator.fired, strict=False) if on and action in failing]
        told = next((action for action in (*happened, *failing) if action.label in last.causes), None)
        if told is not None:
            raise _failed(told.messages, integrator.time, told.origin)

    def _ended_as_asked(self, wish: StopRun, meter: Meter, initial_words: Said | None) -> Recording:
        """What was written down until a function of the user asked for the end of the run."""
        integrator, records = self._live(), self._records
        integrator.collect(records)
        end = integrator.time if wish.time is None else wish.time
        self._lacks_values = wish.numbers is not None
        drop_behind(end, records)
        model = self.problem.model
        if model.outputs is None:  # they are called
            drop_rows_without(model.layout.n_outputs, records)
        self._ended_at = Standing(end, integrator.y.copy(), integrator.m.copy(), integrator.p.copy())
        if records.rows:
            self._ended_at = _standing_of_row(records.rows[-1][-1], self._ended_at, model.layout)
        why = wish.reason or f"ended by request at t = {number(end, 10)}"
        return self._label(records, meter.read(self._loading), "terminated", why, initial_words)

    def _broken_off(self, error: BaseException, meter: Meter, visits: Visits | None, interrupts: Interrupts) -> tuple[Recording, _StoppedRun]:
        integrator, records, cause = self._live(), self._records, error.__cause__
        now = integrator.time
        if isinstance(error, KeyboardInterrupt):
            error, cause = InterruptedRunError(f"interrupted at t = {now:g}", time=now), error
        integrator.collect(records)
        drop_rows_behind(now, records)
        is_ours = isinstance(error, RunError | InterruptedRunError)
        cost, message = meter.read(self._loading), error.message if is_ours else f"{type(error).__name__}: {error}"
        lost_derivatives = self._lost_derivatives if self._is_whole else self._lost_derivatives.copy()
        segment = self._label(records, cost, "failed", message, self._initial_words, lost_derivatives)
        if is_ours:
            error.result = segment.result(self.source)
        stopped = _StoppedRun(error, cause)
        if visits is not None and visits.remembers:
            if isinstance(error, RunError) and not isinstance(error, TooManyStepsError):
                stopped.state = shortly_before(now, visits, self.problem, self.options, records, interrupts)
            elif cause is not None and cause is integrator.calls.stopped_by:
                # the step in which the callback was interrupted may be half an event
                visits.drop_what_came_since()
                stopped.state = visits.state
            segment = self._label(records, cost, "failed", message, self._initial_words)
        if visits is not None and is_ours:
            try:
                visits.hand_over()
            except KeyboardInterrupt as interrupt:
                late = InterruptedRunError(f"interrupted at t = {now:g}", time=now, result=error.result)
                stopped.error, stopped.cause = late, interrupt if isinstance(error, KeyboardInterrupt) else error
        return segment, stopped

    def _take_in(self, segment: Recording, stopped: _StoppedRun | None) -> Result:
        """Stand where the segment has led to."""
        if stopped is None:
            self.status = "terminated" if segment.status == "terminated" else "ready"
        else:
            self.status, self._state, self._integrator = "failed", stopped.state or self._stands(), None
        part = self._note(segment)
        error = None if stopped is None else stopped.error
        if isinstance(error, RunError):
            # how far back depends on what was tried, and what lies between is in no result of the session
            error.add(f"the simulation stands at t = {number(self.standing.time, 10)} and can go on from there")
        if isinstance(error, RunError | InterruptedRunError) and error.result is not None:
            error.result = joined([*self._segments[:-1], error.result])
            error.result.source = self.source
        return part

    # -- changes, and the end ---------------------------------------------------------------------------------------------------------------------

    def change(self, setting: Setting) -> None:
        """Values from outside, and the event that follows.

        Raises
        ------
        RunError : no consistent values follow; everything is as it was.
        """
        integrator, new, layout = self._live(), setting.new, self.problem.model.layout
        adjusting = self.problem.model.adjusting
        if adjusting is not None and not np.array_equal(new.p, integrator.p):
            n, m, adjusted = len(new.y), new.m.copy(), adjusting.assigned(new)
            m[layout.first_discrete : layout.first_previous] = adjusted[n:]
            new = replace(new, y=adjusted[:n], m=m)
        state, meter, records = self._stands(), Meter(integrator), Records()
        self._kept = None
        integrator.m[layout.first_input : layout.first_action] = new.m[layout.first_input : layout.first_action]
        stop = integrator.disturb(new.y, new.m[layout.first_discrete : layout.first_previous], new.p)
        integrator.collect(records)
        problem = self.problem.altered(p=new.p, m=new.m)
        if stop is not Stop.LIMIT:
            error = failure(stop, problem, integrator, None, at_start=False)
            self._integrator, self._state = None, state
            error.result = self.result
            raise error
        self.problem, self._legend = problem, None if self._legend is None else self._legend.with_values(problem)
        recording = self._label(records, meter.read(), "unfinished", is_set=True)
        if self.is_fresh:
            self._settings.append(setting)
        part = self._note(recording, self.message)
        part.events = EventLog(SetEvents(recording, setting.causes, setting.before, setting.after), time_unit=part.time_unit)

    def finish(self) -> None:
        """Carry out what the model does at the end of a run."""
        try:
            segment = self._label(Records(), NOTHING_DONE, "finished", f"finished at t = {number(self.standing.time, 10)}")
        except RunError as error:
            error.result = self.result
            raise
        self.status = "finished"
        self._note(segment)
        self._close()

    def _close(self, interrupts: Interrupts | None = None, *, failed: bool = False) -> None:
        """Tell the model that the run is over."""
        closing = self.problem.model.closing
        if closing is not None:
            with nullcontext() if interrupts is None else interrupts.in_user_code():
                closing(self._ended_at or self._live(), self.status != "failed" and not failed)

    # -- results ------------------------------------------------------------------------------------------------------------------------------------

    def _label(
        self, records: Records, cost: Cost, status: RunStatus, told: str | None = None, initial_words: Said | None = None,
        lost_derivatives: LostDerivatives | None = None, *, is_set: bool = False,
    ) -> Recording:  # fmt: skip
        """Everything in records under the user's names.

        Parameters
        ----------
        status : "finished" and "terminated" are ends of the run, at which the model's final actions are done; "unfinished" is not.
        told : why it ended; where it is the end of a segment, or the model's doing, that is found here.
        initial_words : what the model said at the start, if the records begin there.
        lost_derivatives : what is known of derivatives, if that is not what the session knows.
        is_set : the user set values, and whatever happened is an event.
        """
        integrator, problem = self._live(), self.problem
        if self._legend is None:
            self._legend = Legend(problem, self.options)
        why = told if told is not None else integrator.time if status == "unfinished" else ""
        recording = Recording(self._legend, records, cost, status, why, integrator, initial_words, shows_inner=is_set)
        if len(problem.sensitivity_parameters) and recording.kept_sensitivities is not None:
            recorded = Recorded(recording.t, recording.kept_sensitivities, recording.log)
            (lost_derivatives or self._lost_derivatives).strike(problem, integrator, recorded)
        if status in ("finished", "terminated"):
            close(problem, integrator, recording, self._lost_derivatives.lost)
        return recording

    def _hand(self, receive: Callable[[Result], None], interrupts: Interrupts, records: Records, cost: Cost, initial_words: Said | None) -> None:
        part = self._label(records, cost, "unfinished", "", initial_words, self._handed_lost_derivatives).result(None)
        with interrupts.in_user_code():
            receive(part)

    def _part(self, segment: Recording) -> Result:
        """The result of a segment; a run that goes on ends there for now."""
        part = segment.result(self.source)
        part.is_part = True
        if part.status == "unfinished":
            part.status = "finished"
        return part

    def _note(self, segment: Recording, message: str = "") -> Result:
        """Take in a segment of the run, and where it has led to."""
        part = self._part(segment)
        if not self.records:
            self._segments.clear()
        self._segments.append(part)
        self._joined = None
        self.message = message or ("" if self.status == "ready" else segment.message)
        if self._integrator is None:
            self.standing = _standing_of(self._state)
        else:
            self._kept = self._integrator.state()
            self.standing = self._ended_at or _standing_of(self._kept, self._integrator.time)
        return part


def _failed(messages: Sequence[str], time: float, origin: Origin | None) -> AssertionFailedError:
    return AssertionFailedError(f"{'; '.join(messages)} (t = {number(time, 6)})", time=time, origin=origin)


def _standing_of_row(row: np.void, now: Standing, layout: Layout) -> Standing:
    """Where a recorded row is."""
    n, m = len(layout.unknowns), now.m.copy()
    m[layout.first_discrete : layout.first_previous] = row["values"][n : n + len(layout.discretes)]
    return Standing(float(row["time"]), row["values"][:n].copy(), m, now.p)


def _standing_of(state: State, time: float | None = None) -> Standing:
    return Standing(float(state["progress"][0]) if time is None else time, state["unknowns"], state["modes"], state["parameters"])
