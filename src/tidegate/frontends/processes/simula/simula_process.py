"""A process in the style of Simula: its actions hold and passivate, and others are activated by plain calls (stage: front end)."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Any, Final, cast

import simpy
from simpy.events import Event

from tidegate.errors import UsageError
from tidegate.frontends.processes.simula.event_list import FRONT, EventList, Notice, Place
from tidegate.wrong_calls import explained

__all__ = ["SimulaProcess"]

_YIELD: Final = "write `yield` in front of it"


@explained
class SimulaProcess(simpy.Process):
    """A process with a life of its own; derive from it and write what it does as `actions`.

    It is passive until it is activated. ``hold``, ``passivate``, ``wait_until`` and ``pause`` are for the process itself, and must be yielded, as
    events of SimPy are, which it may yield as well. ``activate``, ``reactivate`` and ``cancel`` concern any process and may be called from anywhere.
    What they let execute at once does so inside the call. Where the caller itself is thereby cancelled, moved or made to wait for its turn, the call
    must have been yielded, and says so if it was not; to yield it is always right.

    A process is an event of SimPy, which happens when it ends: others may yield it, and ``env.run(process)`` runs until then.

    Parameters
    ----------
    env : the environment.
    name : for messages; else that of the class.

    Examples
    --------
    >>> from tidegate.frontends.processes import Environment
    >>> class Ship(SimulaProcess):
    ...     def actions(self):
    ...         print(f"{self.name} leaves at {self.env.now}")
    ...         yield self.hold(2)
    ...         print(f"{self.name} arrives at {self.env.now}")
    >>> env = Environment()
    >>> _ = Ship(env, name="Argo").activate(delay=3)
    >>> _ = Ship(env, name="Vasa").activate(at=4)
    >>> env.run()
    Argo leaves at 3
    Vasa leaves at 4
    Argo arrives at 5
    Vasa arrives at 6
    """

    def __init__(self, env: Any, name: str = "") -> None:
        # not SimPy's own, which starts at once
        self.env = env
        self.callbacks = []
        self._name = env.named(name or type(self).__name__)
        self._line: EventList = env.event_list
        self._generator = self._life()
        self._notice: Notice | None = None  # it is due there
        self.place: Place | None = None  # of the current process, or one that stands in a plain call
        self._owed: Event | None = None  # what it must yield next
        self._owed_by = ""
        self._wait: Any = None
        self.is_in_a_call = False  # of activate, inside which others execute
        self._target = self._asleep()

    def actions(self) -> Generator[Any, Any, Any] | Any:
        """What the process does: a generator, or a function where it does everything at once. What it returns is the value of the process."""
        raise NotImplementedError

    # what it is

    @property
    def name(self) -> str:
        """For messages."""
        return self._name

    @property
    def terminated(self) -> bool:
        """Whether its actions are over."""
        return not self.is_alive

    @property
    def idle(self) -> bool:
        """Whether it is neither due nor executes."""
        return self._notice is None and self is not self._line.current

    @property
    def evtime(self) -> float:
        """When it is due.

        Raises
        ------
        UsageError
            If it is idle.
        """
        if self._notice is not None:
            return self._notice.place[0]
        if self is not self._line.current:
            raise UsageError(f"the process {self.name!r} is idle: it has no time", hint="ask for .idle before")
        return self.env.now

    @property
    def nextev(self) -> SimulaProcess | None:
        """The process that is due after this one; None if there is none, or this one is idle."""
        order = list(self._line)
        place = next((k for k, process in enumerate(order) if process is self), len(order))
        return order[place + 1] if place + 1 < len(order) else None

    # what it does itself

    def hold(self, duration: float) -> Event:
        """Go on after so much time, behind all others of that time; to be yielded. A negative duration is 0."""
        self._must_be_current("hold", 19)
        return self._owe("hold", self._noticed(self._line.at(self.env.now + max(self._number("duration", duration), 0))))

    def passivate(self) -> Event:
        """Do nothing until somebody activates it; to be yielded."""
        self._must_be_current("passivate", 18)
        return self._owe("passivate", Event(self.env))

    def wait_until(self, condition: Callable[[], bool], *, priority: float = 0.0, prior: bool = False) -> Event:
        """Be passive until a condition begins to hold, or somebody activates it; to be yielded."""
        self._must_be_current("wait_until", 10)
        self._wait = self.env.wait_until(condition, priority=priority, prior=prior)
        self._wait.waker = self._wake
        return self._owe("wait_until", self._wait)

    def pause(self) -> Event:
        """Let continuous bodies and samples run once, with no time passing, and go on before whatever else is due now; to be yielded."""
        self._must_be_current("pause", 8)
        return self._owe("pause", self._noticed(self._line.behind_a_period()))

    # what is done with it

    def activate(
        self,
        *,
        at: float | None = None,
        delay: float | None = None,
        before: SimulaProcess | None = None,
        after: SimulaProcess | None = None,
        prior: bool = False,
    ) -> Event:
        """Make it due; nothing happens if it is already, or has ended.

        Parameters
        ----------
        at, delay : at a time, or after so much time; not before now, behind all others of that time.
        before, after : directly next to another process; nothing happens if that one is idle.
        prior : with `at` or `delay`, in front of all others of that time.

        Without any of these it executes at once, before the caller goes on.
        """
        return self._put("activate", self._placing(at, delay, before, after, prior), moves=False)

    def reactivate(
        self,
        *,
        at: float | None = None,
        delay: float | None = None,
        before: SimulaProcess | None = None,
        after: SimulaProcess | None = None,
        prior: bool = False,
    ) -> Event:
        """As `activate`, but a process that is due already is moved."""
        return self._put("reactivate", self._placing(at, delay, before, after, prior), moves=True)

    def cancel(self) -> Event:
        """Let it be due no more; of the current process, which must yield this, the same as `passivate`."""
        line = self._line
        if self is line.current:
            return self.passivate()
        due = line.first()
        self.env.monitor.refuse_if_working(20 if due is not None and due is self._notice else 18, self)
        self._settle()
        if self._notice is not None:
            line.take_out(self._notice)
            self._notice = None
            if not self.is_in_a_call:
                self._target = self._asleep()
        return _done(self.env)

    def cancel_wait(self) -> None:
        """Let it wait for its condition no more; it stays passive until somebody activates it."""
        self.env.monitor.refuse_if_working(9)
        if self._wait is not None:
            self._wait.forget()
            self._wait = None

    # inside

    def _life(self) -> Generator[Any, Any, Any]:
        actions = cast(Generator[Any, Any, Any], self.actions())
        does_all_at_once = not hasattr(actions, "throw")
        return actions if does_all_at_once else (yield from actions)

    def _resume(self, event: Event) -> None:
        """Execute until the next yield; SimPy calls this."""
        line, env = self._line, self.env
        if self._notice is not None and self._notice is not event:
            line.take_out(self._notice)
        self._notice = None
        if self._wait is not None:
            self._wait.forget()
            self._wait = None
        self.place = line.in_front()
        displaced, process = line.current, env.active_process
        line.current = self
        try:
            super()._resume(event)
        finally:
            line.current = displaced
            env._active_proc = process  # noqa: SLF001 - a plain call comes back to who called
        owed, self._owed = self._owed, None
        if owed is not None and self._target is not owed and (self.is_alive or self.ok):
            raise self._unpaid()

    def _unpaid(self) -> UsageError:
        return UsageError(f"the process {self.name!r} went on though it had given up its turn by {self._owed_by}", hint=_YIELD)

    def _owe(self, verb: str, event: Event) -> Event:
        self._owed, self._owed_by = event, verb
        return event

    def _settle(self) -> None:
        """The caller goes on with something else: it must not have given up its turn before."""
        caller = self._line.current
        if caller is not None and caller._owed is not None:  # noqa: SLF001
            raise caller._unpaid()  # noqa: SLF001

    def _must_be_current(self, verb: str, number: int) -> None:
        self.env.monitor.refuse_if_working(number, self)
        if self is not self._line.current:
            hint = "cancel() and reactivate() concern others"
            raise UsageError(f"{verb} is for the process {self.name!r} itself, which does not execute now", hint=hint)
        self._settle()

    def _number(self, what: str, value: float) -> float:
        if not isinstance(value, int | float) and not hasattr(value, "__float__"):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise UsageError(f"{what} is a number, not {value!r}")
        if math.isnan(value):
            raise UsageError(f"{what} of the process {self.name!r} is no number (nan)")
        return value

    def _asleep(self) -> Event:
        """What it waits for while it is passive: nothing but an interrupt or an activation."""
        event = Event(self.env)
        event.callbacks.append(self._resume)
        return event

    def _noticed(self, place: Place) -> Notice:
        self._notice = Notice(self.env, self, place)
        self._line.enter(self._notice)
        return self._notice

    def _placing(
        self, at: float | None, delay: float | None, before: SimulaProcess | None, after: SimulaProcess | None, prior: bool
    ) -> Callable[[], Place | None]:
        """Where it is to stand; None for nowhere."""
        given = [name for name, value in (("at", at), ("delay", delay), ("before", before), ("after", after)) if value is not None]
        if len(given) > 1:
            raise UsageError(f"the process {self.name!r} is to be activated {' and '.join(given)}", hint="one of at, delay, before and after")
        line = self._line
        if before is not None or after is not None:
            neighbour = before or after
            if not isinstance(neighbour, SimulaProcess):
                raise UsageError(f"{given[0]} is a process in the style of Simula, not {neighbour!r}")
            return lambda: None if neighbour is self else neighbour._next_to(is_before=before is not None)  # noqa: SLF001
        if at is None and delay is None:
            if prior:
                raise UsageError("prior goes with at or delay", hint="activate() lets a process execute at once in any case")
            return line.in_front
        time = self._number("at", at) if at is not None else self.env.now + self._number("delay", delay or 0)
        return lambda: line.at(time, is_prior=prior)

    def _next_to(self, *, is_before: bool) -> Place | None:
        place = self.place if self is self._line.current else None if self._notice is None else self._notice.place
        if place is None:
            return None
        return self._line.before(place) if is_before else self._line.behind(place)

    def _put(self, verb: str, placing: Callable[[], Place | None], *, moves: bool) -> Event:
        line, caller = self._line, self._line.current
        self.env.monitor.refuse_if_working(17 if self is not caller else 19, self)
        self._settle()
        place = None if self.terminated or (not moves and not self.idle) else placing()
        if place is None:
            return _done(self.env)
        is_at_once = place[1] == FRONT and (caller is None or place < caller.place)
        if self is caller:
            return _done(self.env) if is_at_once else self._owe(verb, self._noticed(place))
        if self._notice is not None:
            line.take_out(self._notice)
        if not self.is_in_a_call:
            if self._target.callbacks and self._resume in self._target.callbacks:
                self._target.callbacks.remove(self._resume)
            self._target = self._noticed(place)
            self._target.callbacks.append(self._resume)
        else:
            self._noticed(place)
        if not is_at_once:
            return _done(self.env)
        if caller is None:
            line.run_front(None)
            return _done(self.env)
        return caller._let_execute(verb)  # noqa: SLF001

    def _let_execute(self, verb: str) -> Event:
        """The caller is displaced by what stands in front of it now."""
        line = self._line
        assert self.place is not None
        self._noticed(self.place)
        if line.can_go_deeper():
            self.is_in_a_call = True
            line.current = None
            try:
                has_its_turn = line.run_front(self)
            finally:
                self.is_in_a_call = False
                line.current = self
            if has_its_turn:
                assert self._notice is not None
                self.place, self._notice = self._notice.place, None
                return _done(self.env)
        return self._owe(verb, self._notice if self._notice is not None else Event(self.env))

    def _wake(self) -> None:
        """Its condition holds: it becomes due now, behind all others of this time."""
        if self._notice is not None:
            self._line.take_out(self._notice)
        self._target = self._noticed(self._line.at(self.env.now))
        self._target.callbacks.append(self._resume)


def _done(env: Any) -> Event:
    """What has happened already: to yield it costs no time and no turn."""
    event = Event(env)
    event._ok, event._value = True, None  # noqa: SLF001
    event.callbacks = None  # type: ignore[assignment]
    return event
