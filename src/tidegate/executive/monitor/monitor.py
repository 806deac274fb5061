"""The monitor: it moves time from event to event, and everything that flows with it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from tidegate.errors import UsageError
from tidegate.executive.monitor.interface import Agenda, Body, Condition, Mover, Process, Sample, Variable
from tidegate.executive.monitor.motion import Motion
from tidegate.executive.monitor.record import Record
from tidegate.executive.monitor.sampling import sample_after_event, sample_at_end_of_step, sample_before_event
from tidegate.executive.monitor.search import search
from tidegate.executive.monitor.settings import METHODS, Settings
from tidegate.executive.monitor.steps import take_step
from tidegate.executive.monitor.troubles import Afterwards, Refused, Stopped, Trouble
from tidegate.executive.monitor.waiting import Wait

__all__ = ["Monitor"]

_Troubles = Generator[Trouble, None, None]
_STEPPING = ("method", "dtmin", "dtmax", "max_halvings", "disc_halvings", "retry", "latest")
_CHANGES = {
    Afterwards.REPAIR: (*_STEPPING, "abserror", "relerror"),
    Afterwards.LIMITS: ("dtmin", "dtmax"),
    Afterwards.FREQUENCY: ("frequency",),
    Afterwards.SKIP: (),
    Afterwards.NOTHING: (),
}


class Monitor:
    """What moves time through periods, each from the end of an event to the start of the next.

    Parameters
    ----------
    agenda : the discrete events.
    settings : how to step; they may be changed whenever no step is being taken, and in front of a numbered error that allows it.
    time : when the run starts.

    Attributes
    ----------
    settings, counters : how it steps, and what it has counted.
    working : time is moving: only bodies, samples and conditions run now.
    is_needed : something flows, looks or waits; if not, the agenda may as well go through its events by itself, and tell by `skip_to` where it is.
    trouble : the numbered error it stands in front of, if any.
    mover : what may move through periods by other means than steps of this monitor; None for nothing.
    record : what is written down; None for nothing.
    before_steps : called where this monitor is about to step through a period, behind the first evaluation of it.
    """

    def __init__(self, agenda: Agenda, settings: Settings | None = None, *, time: float = 0.0) -> None:
        self.agenda = agenda
        self.settings = settings or Settings()
        self.motion = Motion(self.settings, time)
        self.counters = self.motion.counters
        self.working = False
        self.is_needed = False
        self.trouble: Trouble | None = None
        self.mover: Mover | None = None
        self.record: Record | None = None
        self.before_steps: Callable[[], None] = _nothing
        self._rest: _Troubles | None = None

    @property
    def time(self) -> float:
        """Now."""
        return self.motion.time

    @property
    def lasttime(self) -> float:
        """The start of the step."""
        return self.motion.lasttime

    @property
    def dt(self) -> float:
        """How far now is from the start of the step; 0 where a period begins."""
        return self.motion.dt

    @property
    def last_method(self) -> str:
        """What took the last step: "rk", "pc", "fixed", or "" for none."""
        return self.motion.last

    @property
    def halvings(self) -> int:
        """Halvings of the step, less doublings."""
        return self.motion.halvings

    # what events may do

    def start_variable(self, variable: Variable) -> None:
        """Integrate a variable from now on."""
        self.motion.variables.start(variable)
        self._look_whether_needed()

    def stop_variable(self, variable: Variable) -> None:
        """Integrate a variable no more: it keeps its state, its rate is 0."""
        self.motion.variables.stop(variable)
        self._look_whether_needed()

    def start_body(self, body: Body, priority: float = 0.0) -> None:
        """Run a continuous body at every evaluation from now on."""
        self.refuse_if_working(12, body)
        self.motion.bodies.start(body, priority)
        self._look_whether_needed()

    def stop_body(self, body: Body) -> None:
        """Run a continuous body no more."""
        self.refuse_if_working(13, body)
        self.motion.bodies.stop(body)
        self._look_whether_needed()

    def set_priority(self, body: Body, priority: float) -> None:
        """Give an active body another place."""
        self.refuse_if_working(11, body)
        self.motion.bodies.set_priority(body, priority)

    def start_sample(self, sample: Sample) -> None:
        """Let a sample look from now on."""
        self.refuse_if_working(15, sample)
        self.motion.samples.start(sample, self.time)
        self._look_whether_needed()

    def stop_sample(self, sample: Sample) -> None:
        """Let a sample look no more."""
        self.refuse_if_working(16, sample)
        self.motion.samples.stop(sample)
        self._look_whether_needed()

    def set_frequency(self, sample: Sample, frequency: float) -> None:
        """Give a sample another frequency."""
        self.refuse_if_working(14, sample)
        self.motion.samples.set_frequency(sample, frequency, self.time)

    def wait(self, process: Process, condition: Condition, priority: float = 0.0, *, is_prior: bool = False) -> Wait:
        """Continue a process when its condition holds; tested first in the period that follows."""
        self.refuse_if_working(10)
        self.is_needed = True
        return self.motion.waiting.add(process, condition, priority, is_prior=is_prior)

    def cancel_wait(self, process: Process) -> bool:
        """Take the last wait of a process out of the list: nothing but an event continues it then. False if it does not wait."""
        self.refuse_if_working(9)
        was_there = self.motion.waiting.remove(process)
        self._look_whether_needed()
        return was_there

    def continued(self, process: Process) -> None:
        """Something else has continued a process: it waits no more, if it did."""
        self.motion.waiting.remove(process)
        self._look_whether_needed()

    def is_active(self, part: object) -> bool:
        """Whether a variable, continuous body or sample is started."""
        motion = self.motion
        return any(track.variable is part for track in motion.variables) or any(one is part for one in (*motion.bodies, *motion.samples))

    def refuse_if_working(self, number: int, culprit: object = None) -> None:
        """Only events may do this.

        Raises
        ------
        Refused
            While time moves, with one of the numbers 8 to 20.
        UsageError
            While it stands in front of another numbered error.
        """
        if self._rest is not None and self.trouble is not None:
            raise UsageError(
                f"the run stands in front of number {self.trouble.number}, in the middle of a step: only repairs are possible here",
                hint="go on with error.resume(...), or run to some other end",
            )
        if self.working:
            self.trouble = self.motion.trouble(number, culprit)
            raise Refused(self.trouble)

    def _look_whether_needed(self) -> None:
        motion = self.motion
        self.is_needed = bool(motion.bodies or motion.waiting or motion.variables or motion.samples)

    # what moves time

    def skip_to(self, time: float) -> None:
        """Where nothing flows, looks or waits: events have happened without the monitor, up to this time.

        Raises
        ------
        ValueError
            If something would be jumped over, or time would go back.
        """
        if time == self.motion.time:
            return
        if self.is_needed or self.working or time < self.motion.time:
            raise ValueError(time)
        self.motion.jump(time)

    def advance(self) -> None:
        """Move through one period, or the rest of it, and let the event at its end happen.

        Raises
        ------
        Stopped
            In front of a numbered error. Where `trouble.can_go_on`, the next call goes on from there.
        """
        self.period()
        self.agenda.carry_out()

    def period(self) -> None:
        """Move through one period, or the rest of it, up to its event, which stands first in the agenda then.

        Raises
        ------
        Stopped
            In front of a numbered error. Where `trouble.can_go_on`, the next call goes on from there.
        """
        if self._rest is None and self._jumps():
            return
        if self._rest is None:
            self.refuse_if_working(17)
        rest = self._rest if self._rest is not None else self._period()
        self._rest = self.trouble = None
        self.working = True
        trouble = None
        try:
            trouble = next(rest, None)
        finally:
            # also after an exception of the user's: this period is over
            self.working = trouble is not None and trouble.can_go_on
        if trouble is not None:
            self.trouble = trouble
            if trouble.can_go_on:
                self._rest = rest
            raise Stopped(trouble)
        if self.trouble is not None:
            # a body has caught what was said to it, and time would go on as if nothing were wrong
            raise Refused(self.trouble)

    def change(self, **changes: Any) -> None:
        """Repair what the monitor stands in front of, or set how it steps where it stands in front of nothing.

        Parameters
        ----------
        changes : attributes of `settings`; of the failing variable, "abserror" and "relerror"; of the failing sample, "frequency".

        Raises
        ------
        KeyError
            For a name that the trouble does not allow to change.
        ValueError
            For a method that does not exist.
        """
        allowed = _STEPPING if self.trouble is None else _CHANGES[self.trouble.afterwards]
        for name, value in changes.items():
            if name not in allowed:
                raise KeyError(name)
            if name == "method" and value not in METHODS:
                raise ValueError(value)
        for name, value in changes.items():
            owner = self.settings if self.trouble is None or name in _STEPPING else self.trouble.culprit
            setattr(owner, name, value)

    def resume(self, **changes: Any) -> None:
        """`change`, and go on with the period to its event."""
        self.change(**changes)
        self.period()

    def abandon(self) -> None:
        """A period that could have gone on is over: everything stands at the last point that was accepted, and the next period starts there."""
        if self._rest is not None:
            self._rest.close()
            self._rest = None
        self.working = False

    def leave(self) -> None:
        """The run is given up: every sample looks once more; a period that could have gone on is over."""
        self.abandon()
        if self.trouble is None or self.trouble.samples_run_at_leaving:
            for sample in list(self.motion.samples):
                sample.observe()

    # one period

    def _jumps(self) -> bool:
        """Where nothing flows, looks or waits, a period is a jump to its event, at next to no cost."""
        settings = self.settings
        if self.is_needed or not 0 <= settings.dtmin <= settings.dtmax:
            return False
        due = self.agenda.next_time()
        if due is None or due < self.motion.time:
            return False
        self.trouble = None
        self.motion.jump(due)
        return True

    def _period(self) -> _Troubles:
        motion = self.motion
        due = self.agenda.next_time()
        if due is None and not motion.waiting:
            yield motion.trouble(3)
            return
        yield from self._check_limits()
        mover = self._begin(due)
        looks = bool(motion.samples)  # only events may change that
        if looks:
            yield from sample_after_event(motion)
        if motion.waiting and motion.time < motion.event:
            self._ask(mover)
        if mover is not None and motion.time < motion.event:
            yield from mover.move(motion)
            if motion.time < motion.event:
                # it went as far as it could
                for track in motion.variables:
                    track.begin_period()
                motion.evaluate()
                self._prepare_steps()
            elif looks:
                yield from sample_at_end_of_step(motion)
        while motion.time < motion.event:
            yield from take_step(motion)
            search(motion)
            if self.record is not None:
                self.record.step(motion)
            yield from sample_at_end_of_step(motion)
            length = motion.remainder + motion.step
            if length <= motion.remainder and motion.time < motion.event:
                yield motion.trouble(2)
                return
            motion.remainder = length - (motion.time - motion.lasttime)
        motion.is_pc = False
        if looks:
            sample_before_event(motion)
        if due is None and motion.hit is None:
            self._test()
            if motion.hit is None:
                yield motion.trouble(7)
                return
        number = self._hand_over()
        if number:
            yield motion.trouble(number)

    def _check_limits(self) -> _Troubles:
        settings = self.settings
        while settings.dtmin < 0 or settings.dtmin > settings.dtmax:
            yield self.motion.trouble(4 if settings.dtmin < 0 else 5)

    def _begin(self, due: float | None) -> Mover | None:
        """The first evaluation, with dt = 0, and the step to try first; or who moves through the period instead."""
        motion, settings = self.motion, self.settings
        motion.counters.periods += 1
        motion.is_first, motion.is_pc = True, False
        motion.last_fixed = 0.0
        motion.dt = 0.0
        motion.lasttime = motion.time
        motion.event = motion.next_sample = settings.latest if due is None else due
        motion.hit = None
        mover = self.mover if self.mover is not None and self.mover.takes(motion) else None
        if mover is None:
            self.trouble = None  # what was looked at on symbols in vain has not been done
            for track in motion.variables:
                track.begin_period()
            if self.record is not None:
                self.record.mark(motion.time)
        if motion.bodies and (mover is None or mover.needs_evaluation(motion)):
            motion.evaluate()
        if motion.bodies and mover is None:
            self._prepare_steps()
        return mover

    def _prepare_steps(self) -> None:
        """The step to try first: what Runge-Kutta-England found outlives an event; everything else starts with dtmax.

        The source keeps a step that an event has cut short as the first of "pc" behind it, and never forgets the halvings of earlier periods, though
        each period starts with the whole step again: a smooth model with events ran into number 1.
        """
        motion, settings = self.motion, self.settings
        self.before_steps()
        if settings.method == "rke" and motion.variables and 0 < motion.proposal <= settings.dtmax:
            motion.proposal = max(motion.proposal, settings.dtmin)
        else:
            motion.proposal = settings.dtmax
            motion.halvings = 0

    def _ask(self, mover: Mover | None) -> None:
        """Whether somebody's condition holds as the period begins: one that is about to end has not ended for whoever is new."""
        motion = self.motion
        new, motion.waiting.new = motion.waiting.new, []
        if mover is None or any(wait.condition() for wait in (*new, *mover.unwatched(motion))):
            self._test()

    def _test(self) -> None:
        motion = self.motion
        motion.hit = motion.waiting.first_true()
        if motion.hit is not None:
            motion.event = motion.time

    def _hand_over(self) -> int:
        """The event is due now, and next in the agenda; whoever waited in vain for nothing but time is scheduled. The number of an error, or 0."""
        motion = self.motion
        hit, motion.hit = motion.hit, None
        if hit is not None:
            motion.counters.state_events += 1
            motion.waiting.take_out(hit)
            self._look_whether_needed()
            self.working = False
            self.agenda.wake(hit.process)
        due = self.agenda.next_time()
        if due is None:
            return 20
        return 17 if due != motion.time else 0


def _nothing() -> None:
    pass
