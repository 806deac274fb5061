"""A SimPy environment in which variables flow between events (stage: front end).

SimPy keeps its queue, its processes and its resources. Between two events the monitor moves the time, and with it whatever flows; a condition that
somebody waits for becomes an event where it begins to hold. As long as nothing flows, looks or waits, every step is SimPy's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final, Self

import simpy
from simpy.core import Infinity, StopSimulation
from simpy.events import NORMAL, PENDING, URGENT, Condition, Event, EventPriority, Process, Timeout

from tidegate.errors import ChatteringError, UsageError
from tidegate.frontends.processes.compiled_flow import CompiledFlow
from tidegate.frontends.processes.compose import Composer
from tidegate.frontends.processes.flows import Continuous, Parameter, Sample, Variable, calm, hurry
from tidegate.frontends.processes.moved_number import Moved, asked, moved, moves_of, plain
from tidegate.frontends.processes.notebook import table_of
from tidegate.frontends.processes.progress import progress_of
from tidegate.frontends.processes.run_files import Closing, RunFile
from tidegate.frontends.processes.simula import EventList, Notice, SimulaProcess
from tidegate.frontends.processes.still import Still
from tidegate.frontends.processes.supervisor import Supervisor
from tidegate.frontends.processes.surroundings import OfStep
from tidegate.later_stages import later
from tidegate.names import unknown_name
from tidegate.wrong_calls import explained

__all__ = ["Environment", "WaitUntil"]

_FIXED_STEP: Final = ("euler", "adams2", "trapezoid", "heun")
_CLASSICAL: Final = ("rke", "pc", *_FIXED_STEP)
_MOST_AT_ONCE: Final = 10_000  # conditions that are waited for and hold at one instant
_MOST_STEPS: Final = 100_000  # of the longest length, in which nothing is scheduled and no condition begins to hold


class WaitUntil(Event):
    """What a process yields to go on where a condition begins to hold; it is tested for the first time when time is about to move."""

    def __init__(self, env: Environment, condition: Callable[[], bool], priority: float, *, is_prior: bool) -> None:
        super().__init__(env)
        self.environment = env
        self.condition = condition
        self.priority, self.is_prior = priority, is_prior
        self._waiter = env.active_process
        self.was_heard = False  # somebody has listened
        self.waker: Callable[[], None] | None = None  # of a process that is woken in its own way

    def holds(self) -> bool:
        """Whether the condition holds now."""
        env = self.environment
        env.follow()
        try:
            return asked(self.condition)
        except Exception as error:
            whose = f"the process {self._waiter.name!r} waits" if self._waiter is not None else "somebody waits"
            error.add_note(f"in the condition for which {whose}, at t = {env.now:g}")
            raise

    def cancel(self) -> None:
        """Wait no more: whoever yielded this goes on only by an interrupt."""
        self.environment.monitor.cancel_wait(self)

    def wake(self) -> None:
        """The condition holds: whoever waits becomes due."""
        if self.waker is None:
            self.succeed()
        else:
            self._ok, self._value = True, None
            self.waker()

    def forget(self) -> None:
        """Whoever waits goes on for another reason."""
        self.environment.forget(self)

    def has_lost_its_listeners(self) -> bool:
        """Whether somebody has listened and nobody does now, as after an interrupt or a faster event; to be asked before every event."""
        if self.waker is not None:
            return False
        listened = bool(self.callbacks)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        self.was_heard = self.was_heard or listened
        return self.was_heard and not listened


class _NoListeners(list[Any]):
    """In place of the listeners of a wait that has lost them: with the next one it waits again."""

    def __init__(self, wait: WaitUntil) -> None:
        super().__init__()
        self._wait = wait

    def append(self, listener: Any, /) -> None:
        """Somebody listens."""
        wait = self._wait
        wait.callbacks = [listener]
        wait.environment.listen(wait)


class _Pause(Event):
    """It happens now, in front of whatever else is due now, but behind a period of no length."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._ok, self._value = True, None
        env.schedule(self, URGENT)


class _Agenda:
    """SimPy's queue, as the monitor sees it."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._last, self._repeats = -math.inf, 0

    def next_time(self) -> float | None:
        time = self._env.peek()
        return None if time == Infinity else plain(time)

    def wake(self, process: WaitUntil) -> None:
        self._env.follow()
        now = self._env.now
        self._repeats = self._repeats + 1 if now == self._last else 0
        self._last = now
        if self._repeats > _MOST_AT_ONCE:
            raise ChatteringError(
                f"a condition that holds already is waited for again and again at t = {now:g}, and time does not advance",
                time=now,
                hint="let the process wait until the condition is false, or for a time, before it waits for it again",
            )
        process.wake()

    def carry_out(self) -> None:
        simpy.Environment.step(self._env)


@explained
class Environment(simpy.Environment):
    """SimPy's environment with variables that flow, waits for conditions on them, and samples of them.

    Parameters
    ----------
    initial_time : when the run starts.
    method : "auto" is as in ``tg.simulate`` for what can be compiled and "rke" for the rest; any method of ``tg.simulate``.
    dtmin : the least step, and how closely the time at which a condition begins to hold is found.
    dtmax : the longest step, and the step of the methods of fixed step; None for no limit of compiled steps, and 1 of others.
    compiled : True: bodies and conditions that cannot be compiled are an error; False: they are called, by one of the six classical methods; None:
        they are compiled where that is possible.
    sensitivities : names of parameters to differentiate by, or "all". What processes read carries derivatives then; bodies and conditions must
        be such that they can be compiled.
    record, dense : whether steps, and what is between them, are written down for ``result``.
    abserror, relerror : what a step may be wrong by, of variables for which nothing else is said.
    progress : called about ten times a second with the simulated time, while something flows, looks or waits, and at the end of a run.
    on_error : what happens in front of a numbered error: "raise" a ProcessError; "ask" at the terminal, by a dialogue that repairs the run; or who
        answers instead of a person: an object with a method ``answer(question)``, a function of the question, or a list of recorded answers.
    prologue : whoever answers is asked for method, limits and tolerances before the run.

    Examples
    --------
    >>> env = Environment(method="rke", dtmin=1e-9, dtmax=0.2, abserror=1e-9)
    >>> level = env.variable(2.0, unit="m")
    >>> @env.continuous
    ... def tank():
    ...     level.rate = -0.5 * level.state
    >>> def operator():
    ...     tank.start()
    ...     level.start()
    ...     yield env.wait_until(lambda: level.state < 1.0)
    >>> env.run(env.process(operator()))
    >>> f"{env.now:.6f}"
    '1.386294'
    """

    def __init__(  # noqa: PLR0913, what can be chosen are keywords, and editors show them with their defaults
        self,
        initial_time: float = 0,
        *,
        method: str = "auto",
        dtmin: float = 1e-9,
        dtmax: float | None = None,
        abserror: float = 1e-6,
        relerror: float = 1e-6,
        compiled: bool | None = None,
        sensitivities: str | Sequence[str] | None = None,
        record: bool = True,
        dense: bool = True,
        progress: Callable[[float], object] | None = None,
        on_error: object = "raise",
        prologue: bool = True,
    ) -> None:
        super().__init__(initial_time)
        self._progress = progress_of(progress)
        self._supervisor = Supervisor(self, on_error)
        given: dict[str, Any] = {"method": method, "dtmin": dtmin, "dtmax": dtmax, "relerror": relerror, "abserror": abserror}
        if prologue and self._supervisor.asks:
            given = self._supervisor.prologue(given | {"method": method if method in _CLASSICAL else "rke", "dtmax": 1.0 if dtmax is None else dtmax})
        self.method, dtmax = given["method"], given["dtmax"]
        if self.method in _FIXED_STEP and dtmax is None:
            raise UsageError(f"method {self.method!r} takes steps of one length, and no length is given", hint="dtmax=0.01 is a step of 0.01")
        self.abserror, self.relerror = given["abserror"], given["relerror"]
        self._variables: list[Variable] = []
        self._parameters: list[Parameter] = []
        self._bodies: list[Continuous] = []
        self._still = Still(self._variables, self._bodies)
        self._wanted = (sensitivities,) if isinstance(sensitivities, str) else tuple(sensitivities or ())
        self._sensitive: list[str] = []
        if self._wanted and compiled is False:
            raise UsageError("bodies that are called have no derivatives: compiled=False does not go with sensitivities", hint="leave out one")
        self._names: dict[str, int] = {}
        self._waits: list[WaitUntil] = []
        self._seconds = 0.0
        self._is_watching = False
        self._plain: dict[str, Callable[..., None]] = {}  # how it steps and schedules where nothing flows
        self.monitor: Any = later("Monitor")(_Agenda(self), time=initial_time)
        is_classical = self.method in _CLASSICAL
        stepping = self.method if is_classical else "rke"
        self.monitor.change(method=stepping, dtmin=given["dtmin"], dtmax=1.0 if dtmax is None else dtmax)
        self.monitor.record = self._record = later("Record")(self._variables, self._parameters, keeps_rows=record, keeps_polynomials=dense)
        self._is_hurried = False
        self.monitor.before_steps = self._hurry
        self._flow: CompiledFlow | None = None
        if compiled is not False:
            self.monitor.mover = self._flow = CompiledFlow(
                Composer(self, self._variables, self._parameters, self._bodies, self._generators, self._sensitive),
                {"method": self.method, "dense": record and dense, "progress": self._progress},
                self._record,
                self._set_time,
                lambda: moves_of(self._queue[0][0]) if self._queue else {},
                must=compiled is True or bool(self._wanted) or not (is_classical or self.method == "auto"),
                is_limited=dtmax is not None or self.method in _FIXED_STEP,
            )

            if self._wanted:
                flow = self._flow
                self._record.slopes_of = lambda: flow.slopes_now(self.monitor.motion)

    def summary(self) -> str:
        """One line: time, what flows, who waits."""
        flowing = sum(variable.active for variable in self._variables)
        return f"at t = {self._now:g}: {flowing} of {len(self._variables)} variables flow, {len(self._waits)} conditions are waited for"

    def __repr__(self) -> str:
        return f"<Environment {self.summary()}>"

    def _repr_html_(self) -> str:
        return table_of(self.summary(), (*self._variables, *self._parameters))

    lasttime = OfStep("The start of the step in which bodies, samples and conditions are called, or of the last.", lambda monitor: monitor.lasttime)
    dt = OfStep("How far the time is from there; 0 behind an event, where a period begins.", lambda monitor: monitor.dt)

    # -- what flows ---------------------------------------------------------------------------------------------------------------------------

    def variable(
        self, start: float = 0.0, *, name: str = "", unit: str = "", abserror: float | None = None, relerror: float | None = None
    ) -> Variable:
        """A quantity that flows between events once it is started; see `Variable`."""
        allowed = self.abserror if abserror is None else abserror, self.relerror if relerror is None else relerror
        for what, number in zip(("abserror", "relerror"), allowed, strict=True):
            if not 0.0 <= number < math.inf:
                raise UsageError(f"{what} is what a step may be wrong by, a number that is at least 0, not {number}", hint=f"{what}=1e-6")
        variable = Variable(self, start, name=self.named(name or "variable"), unit=unit, abserror=allowed[0], relerror=allowed[1])
        self._variables.append(variable)
        if self._record.keeps_rows:
            self.watch()  # what stands still may be set all the same
        return variable

    def parameter(self, value: float, *, name: str = "", unit: str = "") -> Parameter:
        """A number that only events change."""
        parameter = Parameter(value, name=self.named(name or "parameter"), unit=unit)
        self._parameters.append(parameter)
        if "all" in self._wanted or parameter.name in self._wanted:
            self._sensitive.append(parameter.name)
            moving: Any = Moved(value, {parameter.name: 1.0})
            parameter.value = moving
        return parameter

    def continuous(self, function: Callable[[], Any] | None = None, *, priority: float = 0.0) -> Any:
        """A continuous body, made of a function that sets rates; also as a decorator."""
        if function is None:
            return partial(self.continuous, priority=priority)
        body = Continuous(self, function, name=self.named(function.__name__), priority=priority)
        self._bodies.append(body)
        return body

    def sample(self, action: Callable[[], Any] | None = None, *, every: float = 0.0) -> Any:
        """A sample, made of a function that looks: every so often (> 0), at every step (0), around events only (< 0); also as a decorator."""
        if action is None:
            return partial(self.sample, every=every)
        return Sample(self, action, name=self.named(getattr(action, "__name__", "sample")), every=every)

    def wait_until(self, condition: Callable[[], bool], *, priority: float = 0.0, prior: bool = False) -> WaitUntil:
        """The event at which a condition begins to hold; with several waits the one of highest priority is looked at first."""
        if not callable(condition):  # pyright: ignore[reportUnnecessaryComparison] - users pass anything
            raise UsageError(f"a condition is a function that is asked again and again, not {condition!r}", hint="wait_until(lambda: x.state > 3.0)")
        event = WaitUntil(self, condition, priority, is_prior=prior)
        self.listen(event)
        return event

    def listen(self, wait: WaitUntil) -> None:
        """Its condition is looked at from now on."""
        self.watch()
        self.monitor.wait(wait, wait.holds, wait.priority, is_prior=wait.is_prior)
        self._waits.append(wait)

    def pause(self) -> Event:
        """Let continuous bodies and samples run once, with no time passing, and go on before whatever else is due now."""
        self.monitor.refuse_if_working(8)
        return _Pause(self)

    # -- processes in the style of Simula ------------------------------------------------------------------------------------------------------

    @property
    def current(self) -> SimulaProcess | None:
        """The process in the style of Simula that executes."""
        return self.event_list.current

    @cached_property
    def event_list(self) -> EventList:
        """The list of events as Simula knows it."""
        return EventList(self)

    # -- files, and the end of it all ---------------------------------------------------------------------------------------------------------

    def open(self, path: str | Path, mode: str = "w", **options: Any) -> RunFile:
        """Open a file that is closed at every kind of end of a run, and opened again where another goes on using it; arguments as for ``open``."""
        self._supervisor.take_over()
        return self._supervisor.files.open(path, mode, **options)

    def register[T: Closing](self, one: T) -> T:
        """Close something at the end of the run, whatever kind of end it is; in a ``with`` block of the environment, at the end of the block."""
        self._supervisor.take_over()
        return self._supervisor.files.register(one)

    def leave(self) -> None:
        """Give up a run: every sample looks once more, all files are closed, and a run that goes on ends."""
        self._supervisor.leave()

    def __enter__(self) -> Self:
        self._supervisor.files.waits_for_its_block = True
        return self

    def __exit__(self, *_: object) -> None:
        self._supervisor.files.waits_for_its_block = False
        self._supervisor.files.close()

    # -- the continuous side, for its parts ---------------------------------------------------------------------------------------------------

    def start(self, item: Variable | Continuous | Sample) -> None:
        """Let a part take part from now on."""
        self.watch()
        monitor = self.monitor
        self._still.started(item, self._now)
        if isinstance(item, Variable):
            monitor.start_variable(item)
        elif isinstance(item, Continuous):
            monitor.start_body(item, item.priority)
        else:
            monitor.start_sample(item)

    def stop(self, item: Variable | Continuous | Sample) -> None:
        """Let a part take part no more."""
        monitor = self.monitor
        if isinstance(item, Variable):
            monitor.stop_variable(item)
        elif isinstance(item, Continuous):
            monitor.stop_body(item)
        else:
            monitor.stop_sample(item)

    def is_active(self, item: Variable | Continuous | Sample) -> bool:
        """Whether a part takes part."""
        return self.monitor.is_active(item)

    def set_priority(self, item: Continuous, priority: float) -> None:
        """Give a body another place."""
        self.monitor.set_priority(item, priority)

    def set_frequency(self, item: Sample, frequency: float) -> None:
        """Give a sample another interval."""
        self.monitor.set_frequency(item, frequency)

    @property
    def answers(self) -> list[str]:
        """What was answered in its dialogues; given to another environment as ``on_error`` they are answered so again."""
        return self._supervisor.answers

    def meet_stranger(self, element: object, verb: str) -> None:
        """Something that does not belong there was to start or stop with a group."""
        self._supervisor.meet_stranger(element, verb)

    def numbers_of(self, item: Variable) -> tuple[float, float]:
        """State and rate of a variable that is asleep, and wakes."""
        assert self._flow is not None
        return self._flow.vectors.numbers_of(item)

    def tolerances_changed(self) -> None:
        """The tolerance of some variable is another."""
        if self._flow is not None:
            self._flow.forget_tolerances()

    def follow(self) -> None:
        """The time is that of the step being taken, or of the event before it."""
        self._set_time(self.monitor.time)
        if self._progress is not None:
            self._progress(self.monitor.lasttime)

    def _set_time(self, time: float) -> None:
        flow = self._flow
        self._now = moved(time, flow.vectors.moves) if flow is not None and flow.vectors.moves else time

    def _generators(self) -> list[Any]:
        """Of the processes that wait for something that is scheduled, or flows."""
        found: dict[int, Any] = {}
        events: list[Any] = [*(entry[3] for entry in self._queue), *self._waits]
        seen: set[int] = set()
        while events:
            event = events.pop()
            if id(event) in seen:
                continue
            seen.add(id(event))
            for callback in event.callbacks or ():
                owner = getattr(callback, "__self__", None)
                if isinstance(owner, Process):
                    found[id(owner)] = owner._generator  # noqa: SLF001
                if isinstance(owner, Event):
                    events.append(owner)
        return list(found.values())

    # -- results ------------------------------------------------------------------------------------------------------------------------------

    @property
    def result(self) -> Any:
        """Everything recorded so far, as a ``Result``: variables and parameters, events, statistics."""
        self._record.finish_period()
        self._record.mark(plain(self._now))
        trouble = self.monitor.trouble
        message = f"reached t = {self._now:g}" if trouble is None else str(trouble)
        statistics = later("monitor_statistics")(self.monitor, self.method, self._flow, self._seconds)
        return self._record.result("finished" if trouble is None else "failed", message, statistics, {}, self._sensitive)

    # -- time -----------------------------------------------------------------------------------------------------------------------------------

    def watch(self) -> None:
        """From now on the monitor moves the time, until nothing flows, looks or waits."""
        self._supervisor.take_over()
        if not self.monitor.is_needed:
            self.monitor.skip_to(plain(self._now))
            if self._flow is not None:
                self._flow.vectors.moves = moves_of(self._now)
        if not self._is_watching:
            self._is_watching = True
            # a user may have put a function in place of either, as SimPy's manual shows for tracing, or have derived a class
            self._plain = {name: getattr(self, name) for name in ("step", "schedule")}
            self.step, self.schedule = self._step_with_flows, self._schedule_with_flows

    def _unwatch(self) -> None:
        """Nothing flows, looks or waits any more."""
        if self.step == self._step_with_flows and self.schedule == self._schedule_with_flows:  # nobody has put anything around them since
            self._is_watching = False
            del self.step, self.schedule
            for name, function in self._plain.items():
                if getattr(function, "__self__", None) is not self:
                    setattr(self, name, function)

    def step_plainly(self) -> None:
        """The next event, with no period before it."""
        (self._plain["step"] if self._is_watching else self.step)()

    def _schedule_with_flows(self, event: Event, priority: EventPriority = NORMAL, delay: float = 0) -> None:
        if self.monitor.working:
            if not isinstance(event, Timeout):
                event._value = PENDING  # noqa: SLF001 - what is refused has not happened
            self.monitor.refuse_if_working(17)
        self._plain["schedule"](event, priority, delay)

    def _step_with_flows(self) -> None:
        self._supervisor.report()
        monitor, step = self.monitor, self._plain["step"]
        # most have listeners as before: then there is nothing to be asked
        for wait in [wait for wait in self._waits if not wait.callbacks or not wait.was_heard or wait._value is not PENDING]:  # noqa: SLF001
            if wait.triggered:
                self.forget(wait)
            elif wait.has_lost_its_listeners():
                self.forget(wait)
                wait.callbacks = _NoListeners(wait)
        if not monitor.is_needed:
            if self._record.keeps_rows and self._variables:
                self._record.note(plain(self._now))  # an event may set the state of what stands still
            else:
                self._unwatch()
            step()
            return
        if not self._queue and not self._waits and not self._supervisor.is_event_wanted:
            step()  # the end of SimPy's run, however much flows
        if self._is_period_due():
            # where nothing is scheduled a condition that never holds must not be waited for without end
            monitor.settings.latest = monitor.time + _MOST_STEPS * monitor.settings.dtmax
            self._pass(monitor)
        if self._sensitive and self._flow is not None and self._queue:
            self._flow.turn_to(monitor.motion, moves_of(self._queue[0][0]))
        step()

    def _pass(self, monitor: Any) -> None:
        """One period, with what is written down around it."""
        if monitor.counters.periods == 0:
            names = [parameter.name for parameter in self._parameters]
            for name in self._wanted:
                if name != "all" and name not in names:
                    raise unknown_name("parameter", name, names, of="this environment")
        record, found = self._record, monitor.counters.state_events
        began = perf_counter()
        try:
            self._supervisor.pass_period()
        finally:
            self._seconds += perf_counter() - began
            if self._is_hurried:
                self._is_hurried = False
                calm(self._variables)
            self.follow()
            record.finish_period()
        if not record.keeps_rows:
            return
        if self._flow is None or not self._flow.is_moving:
            record.mark(monitor.time)
        elif record.is_behind_an_event:
            record.mark(monitor.time, None if self._sensitive else self._flow.touched())
        moves: Mapping[str, float] = {} if self._flow is None else self._flow.vectors.moves
        record.event(monitor.time, is_state_event=monitor.counters.state_events > found, cause=self._cause(), origin=None, dt_dp=moves)

    def _hurry(self) -> None:
        """What is called does a name's look-up at every trial point; names were looked at in the first evaluation, and are behind the period."""
        self._is_hurried = True
        hurry(self._variables)

    def _cause(self) -> str:
        """Who is due now, for the log of events."""
        if not self._queue:
            return "the end"
        event: Any = self._queue[0][3]
        return ", ".join(dict.fromkeys(_who_goes_on(event))) or (f"the end of {event.name}" if isinstance(event, Process) else type(event).__name__)

    def forget(self, wait: WaitUntil) -> None:
        """A wait is over."""
        if wait in self._waits:
            self._waits.remove(wait)
            self.monitor.continued(wait)

    def _is_period_due(self) -> bool:
        """Whether the monitor is to work before the next event: when time passes, and between events that somebody has timed."""
        if not self._queue:
            return True
        time, _, _, event = self._queue[0]
        return time > self._now or isinstance(event, Timeout | _Pause) or (isinstance(event, Notice) and event.is_behind_a_period)

    def named(self, wish: str) -> str:
        """A name that nobody else has."""
        self._supervisor.take_over()
        number = self._names[wish] = self._names.get(wish, 0) + 1
        return wish if number == 1 else f"{wish}_{number}"


def _who_goes_on(event: Any) -> Iterator[str]:
    """Names of those who go on by an event: processes that wait for it, also among others, and whoever runs the environment."""
    callbacks: list[Any] = event.callbacks or []
    if isinstance(event, Notice):
        yield event.process.name
    for callback in callbacks:
        owner = getattr(callback, "__self__", None)
        if isinstance(owner, Process):
            yield owner.name
        elif isinstance(owner, Condition) and owner is not event:
            yield from _who_goes_on(owner)
        elif owner is StopSimulation:
            yield "the end of the run"
