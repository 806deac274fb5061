"""What stands between an environment and whoever runs it (stage: front end).

Numbered errors are told, repaired and gone on from; exceptions of the user's say in which process they were raised; the files of a run are closed at
every kind of end. As long as an environment is used as SimPy's own, it is not asked.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

import simpy
from simpy.core import StopSimulation
from simpy.events import URGENT, Event

from tidegate.errors import InterruptedRunError, ProcessError, RunError, TidegateError, UsageError
from tidegate.frontends.processes.dialogue import Debugging, EndOfAnswers, Leave, answering, converse, enter_debugger, error_talk, prologue_talk
from tidegate.frontends.processes.moved_number import plain
from tidegate.frontends.processes.numbered_errors import checked, told
from tidegate.frontends.processes.run_files import RunFiles
from tidegate.later_stages import later

__all__ = ["Supervisor"]

_MOST_IN_VAIN: Final = 1000  # repairs of one error after which it is still there


class Supervisor:
    """Runs an environment for its user.

    Parameters
    ----------
    env : the environment, which knows this file.
    on_error : "raise", "ask", or who answers the dialogue, as `dialogue.answering` takes it.

    Attributes
    ----------
    files : those of the run.
    answers : what was answered so far; given as ``on_error`` to another environment they repeat the dialogue.
    """

    def __init__(self, env: Any, on_error: object = "raise") -> None:
        self._env = env
        self._who = answering(on_error)
        self._has_no_terminal = self._who is None and on_error == "ask"
        self._in_vain, self._before = 0, (0, math.nan)
        self.answers: list[str] = []
        self.files = RunFiles()
        self._goal: Event | None = None  # where the run is going
        self._is_own_goal = False  # it stands for a time
        self._is_running = self._is_leaving = False
        self._pending: ProcessError | None = None  # to be told when the present event is over
        self._standing: ProcessError | None = None  # in front of it the run stands

    def take_over(self) -> None:
        """From now on runs are watched."""
        vars(self._env).setdefault("run", self.run)

    @property
    def is_event_wanted(self) -> bool:
        """Whether the run is to end at an event that has not happened."""
        return self._is_running and self._goal is not None

    @property
    def asks(self) -> bool:
        """Whether there is somebody to ask."""
        return self._who is not None

    def prologue(self, actual: dict[str, Any]) -> dict[str, Any]:
        """Method, limits and tolerances as somebody wants them before the run; as they are where nobody is asked."""
        if self._who is None:
            return actual
        try:
            return converse(prologue_talk(actual), self._who, lambda _: None, self.answers.append)
        except EndOfAnswers:
            raise UsageError("nobody answers the questions before the run", hint="Environment(prologue=False) leaves them out") from None

    # a run

    def run(self, until: float | Event | None = None) -> Any:
        """As SimPy's own run, to the same ends, but for exceptions: they are told, and a numbered error may be gone on from."""
        self._forget_goal()
        self._standing = None
        self._env.monitor.abandon()
        self._goal, self._is_own_goal = until if isinstance(until, Event) else self._moment(until), not isinstance(until, Event)
        return self._go()

    def _moment(self, until: float | None) -> Event | None:
        """The event of a time at which the run is to end, as SimPy makes it."""
        env = self._env
        if until is None:
            return None
        time = until if isinstance(until, int) else float(until)
        if time <= env.now:
            raise ValueError(f"until ({time}) must be greater than the current simulation time")
        event = Event(env)
        event._ok, event._value = True, None  # noqa: SLF001
        env.schedule(event, URGENT, time - env.now)
        return event

    def _go(self) -> Any:
        env, goal = self._env, self._goal
        simpys = cast(Any, type(env))
        was_running, self._is_running = self._is_running, True
        try:
            value = simpys.run(env, goal)
        except BaseException as error:
            self._let_go_of(goal)
            failure = self._judged(error)
            can_go_on = isinstance(failure, ProcessError) and failure.can_go_on
            if not can_go_on:
                self._forget_goal()
            self._close_behind(failure, can_go_on=can_go_on)
            if failure is error:
                raise
            raise failure from (error if isinstance(failure, InterruptedRunError) else failure.__cause__)
        finally:
            self._is_running = was_running
        self.report()
        self._goal = None
        self.files.end()
        env._still.tell(env.now)  # noqa: SLF001
        if env._progress is not None:  # noqa: SLF001
            env._progress.end(plain(env.now))  # noqa: SLF001
        return value

    def _close_behind(self, failure: BaseException, *, can_go_on: bool) -> None:
        """Close the files of a run that was stopped; if that fails as well, it is noted."""
        try:
            self.files.pause() if can_go_on else self.files.end()
        except Exception as late:  # noqa: BLE001 - the failure that came first is the one to be told
            failure.add_note(f"and a file of the run could not be closed: {type(late).__name__}: {late}")

    @staticmethod
    def _let_go_of(goal: Any) -> None:
        """A run that ends by an exception waits for its goal no more."""
        if goal is not None and goal.callbacks and StopSimulation.callback in goal.callbacks:
            goal.callbacks.remove(StopSimulation.callback)

    def _forget_goal(self) -> None:
        if self._is_own_goal and self._goal is not None:
            queue = self._env._queue  # noqa: SLF001
            queue[:] = [entry for entry in queue if entry[3] is not self._goal]
            heapq.heapify(queue)
        self._goal, self._is_own_goal = None, False

    # numbered errors

    def pass_period(self) -> None:
        """Let the monitor move time to the next event, whatever has to be repaired on the way.

        Raises
        ------
        ProcessError
            In front of a numbered error.
        """
        while True:
            try:
                self._env.monitor.period()
            except BaseException as error:
                self._env.follow()  # to where everything stands, not where a trial was
                if not isinstance(error, later("Stopped")):
                    raise
                failure = told(error.trouble, error.__traceback__)  # pyright: ignore[reportAttributeAccessIssue]
            else:
                self._standing = None
                return
            self._meet(failure)

    def _meet(self, error: ProcessError) -> None:
        """Return if the run shall go on."""
        error.result = getattr(self._env, "result", None)
        if error.can_go_on:
            self._standing = error
            go = self._go if self._is_running else self._env.step
            error.going_on = lambda changes: self._resume(error, changes, go)
        if self._who is None:
            if self._has_no_terminal:
                error.add("nobody can be asked, as this is no terminal")
            self._close_behind(error, can_go_on=error.can_go_on)
            raise error
        try:
            wanted = converse(error_talk(error, self._env.monitor.settings), self._who, partial(self._debug, error), self.answers.append)
        except EndOfAnswers:
            error.add("nobody answers any more")
            raise error from None
        if isinstance(wanted, Leave):
            self.leave(error)
            raise error
        self.repair(error, wanted)
        self._standing = None
        self._count_in_vain(error)

    def _debug(self, error: ProcessError, wish: Debugging) -> None:
        if wish.changes:
            self.repair(error, wish.changes)
        if not wish.comes_back:
            self._close_behind(error, can_go_on=False)
        debug = getattr(self._who, "debug", enter_debugger)
        debug(self._env, error)

    def _count_in_vain(self, error: ProcessError) -> None:
        """A program that answers must not repair one error for ever."""
        here = error.number, self._env.now
        self._in_vain, self._before = (self._in_vain + 1 if here == self._before else 0), here
        if self._in_vain > _MOST_IN_VAIN:
            error.add(f"it was repaired {_MOST_IN_VAIN} times in vain")
            raise error

    def leave(self, error: ProcessError | None = None) -> None:
        """The run is given up: every sample looks once more, and everything is closed; one that goes on ends where this is asked for."""
        if self._is_leaving:
            return  # by a sample that looks once more
        self._is_leaving = True
        if error is not None:
            error.changes = error.going_on = None
        self._standing = self._pending = None
        try:
            self._env.monitor.leave()
        except Exception as late:
            if error is None:
                raise
            error.add_note(f"and when the run was left: {type(late).__name__}: {late}")
        finally:
            self._is_leaving = False
            self.files.close()
        if error is None and self._is_running:
            raise StopSimulation(None)

    def _resume(self, error: ProcessError, changes: dict[str, Any], go: Callable[[], Any]) -> Any:
        if self._standing is not error:
            raise UsageError(f"the run has gone on since number {error.number} at t = {error.time:g}", hint="go on by env.run(...)")
        self.repair(error, changes)
        self._standing = None
        return go()

    def repair(self, error: ProcessError, changes: dict[str, Any]) -> None:
        """Make changes behind an error.

        Raises
        ------
        UsageError
            If they are not allowed or make no sense; nothing is changed.
        """
        monitor = self._env.monitor
        given = checked(error, changes, monitor.settings)
        if "every" in given:
            given["frequency"] = given.pop("every")
        if given:
            monitor.change(**given)

    def meet_stranger(self, element: object, verb: str) -> None:
        """Number 21: something in a group was to be started or stopped and cannot be; in a run it is told when the present event is over."""
        env = self._env
        settings = env.monitor.settings
        trouble = later("Trouble")(21, env.now, 0.0, settings.dtmin, settings.dtmax, culprit=element)
        error = told(trouble)
        error.add(f"it was to {verb}")
        error.origin = None
        if (self._is_running or env.active_process is not None) and self._who is None:
            self._pending = self._pending or error
            env.watch()
        else:
            self._meet(error)

    def report(self) -> None:
        """Tell what could not be told in the midst of an event."""
        error, self._pending = self._pending, None
        if error is not None:
            self._meet(error)

    # exceptions

    def _judged(self, error: BaseException) -> BaseException:
        """The exception as the user is to see it."""
        env = self._env
        if isinstance(error, InterruptedRunError):
            return error
        if isinstance(error, KeyboardInterrupt):
            return InterruptedRunError(f"interrupted at t = {env.now:g}", time=env.now, result=getattr(env, "result", None))
        if not isinstance(error, Exception):
            return error
        event, original = _raised_first(error)
        if isinstance(original, RunError) and original.result is None:
            original.result = getattr(env, "result", None)
            original.time = env.now if math.isnan(original.time) else original.time
        if not isinstance(original, TidegateError) and not getattr(original, "__notes__", ()):
            name = _process_of(event, original)
            original.add_note(f"in the process {name!r} at t = {env.now:g}" if name else f"at t = {env.now:g}")
        return original


def _raised_first(error: BaseException) -> tuple[Any, BaseException]:
    """The event that has failed, and what was raised first.

    SimPy raises copies, made of an exception's ``args`` alone: one for each process that waits for another, and one that ends the run. They do not
    have what else it carried, and an exception that wants other arguments than these cannot be copied at all.
    """
    frame = None
    following = error.__traceback__
    while following is not None:
        if following.tb_frame.f_code is simpy.Environment.step.__code__:
            frame = following
        following = following.tb_next
    event = None if frame is None else frame.tb_frame.f_locals.get("event")
    if frame is None or not isinstance(event, Event) or not event.triggered or event.ok:
        return None, error
    first: BaseException = event._value  # noqa: SLF001
    is_being_copied = frame.tb_next is None or isinstance(frame.tb_next.tb_frame.f_locals.get("self"), type(first))
    if error is not first and error.__cause__ is not first and not is_being_copied:
        return None, error
    while (cause := first.__cause__) is not None and type(cause) is type(first) and cause.args == first.args:
        first = cause
    return event, first


def _process_of(event: Any, original: BaseException) -> str:
    """The name of the process that has raised an exception; "" if none has."""
    if isinstance(event, simpy.Process) and event._value is original:  # noqa: SLF001
        return event.name
    if event is None or original.__traceback__ is None:
        return ""
    # SimPy takes its own frame away: the first is that of the process
    frame = original.__traceback__.tb_frame
    owner = frame.f_locals.get("self")
    return owner.name if isinstance(owner, simpy.Process) else frame.f_code.co_name
