"""What flows between events: variables, parameters, continuous bodies, samples and groups of these (stage: front end).

The classes are those of CONDIS (Maansson 1980): a variable is integrated while it is active, a continuous body computes rates, a sample observes, a
group starts and stops its members together. What starting means is the affair of a `Flow`, which whoever runs the environment gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final, Protocol

from tidegate.errors import UsageError
from tidegate.frontends.processes.moved_number import plain
from tidegate.frontends.processes.named import Named, NotANumber
from tidegate.wrong_calls import explained

__all__ = ["Asleep", "Continuous", "Flow", "Group", "Moving", "Parameter", "Sample", "Variable", "calm", "hurry"]


def _numbered(value: Any, unit: str) -> str:
    """A value as it is shown, with its unit; a symbol, while bodies are followed, as it is."""
    value = plain(value)
    return f"{f'{value:.10g}' if isinstance(value, int | float) else repr(value)} {unit}".rstrip()


_ENTRIES: Final = 8  # of the dictionary of a variable


class Flow(Protocol):
    """The continuous side of an environment, as its parts see it."""

    @property
    def now(self) -> float:
        """The time, also while it moves."""
        ...

    def start(self, item: Variable | Continuous | Sample) -> None:
        """It takes part from now on."""
        ...

    def stop(self, item: Variable | Continuous | Sample) -> None:
        """It no longer takes part."""
        ...

    def is_active(self, item: Variable | Continuous | Sample) -> bool:
        """Whether it takes part."""
        ...

    def follow(self) -> None:
        """A part is about to be called: the time of the environment is that of the step."""
        ...

    def set_priority(self, item: Continuous, priority: float) -> None:
        """A new place among the bodies."""
        ...

    def tolerances_changed(self) -> None:
        """The tolerance of some variable is another."""
        ...

    def numbers_of(self, item: Variable) -> tuple[float, float]:
        """State and rate of a variable that is asleep, and wakes."""
        ...

    def set_frequency(self, item: Sample, frequency: float) -> None:
        """A new interval of a sample."""
        ...

    def meet_stranger(self, element: object, verb: str) -> None:
        """Something that is no part of a flow was to start or stop."""
        ...


class _Part(Named):
    """What can be started and stopped."""

    def __init__(self, flow: Flow, name: str) -> None:
        self._flow = flow
        self.name = name

    @property
    def flow(self) -> Flow:
        """The environment it belongs to."""
        return self._flow

    def start(self) -> None:
        """Take part from now on; nothing happens if it does already."""
        self._flow.start(self)  # type: ignore[arg-type]

    def stop(self) -> None:
        """Take part no more; nothing happens if it does not."""
        self._flow.stop(self)  # type: ignore[arg-type]

    @property
    def active(self) -> bool:
        """Whether it takes part."""
        return self._flow.is_active(self)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        value = f" = {_numbered(self.state, self.unit)}" if isinstance(self, Variable) else ""
        kind = "Variable" if isinstance(self, Variable) else type(self).__name__
        return f"<{kind} {self.name}{value}{'' if self.active else ', stopped'}>"


class Variable(NotANumber, _Part):
    """A quantity that flows between events.

    Attributes
    ----------
    state : its value; events may set it at any time.
    rate : its derivative by time, which continuous bodies set.
    laststate : its value at the start of the step.
    abserror, relerror : what a step may be wrong by: abserror + relerror times the state.
    unit : as it was given.
    """

    kind, number_in = "variable", "state"
    settable: ClassVar[frozenset[str]] = frozenset(
        ("state", "rate", "laststate", "abserror", "relerror", "name", "unit", "_flow", "_abserror", "_relerror", "__class__")
    )

    def __init__(self, flow: Flow, start: float, *, name: str, unit: str, abserror: float, relerror: float) -> None:
        super().__init__(flow, name)
        self.state = self.laststate = start
        self.rate = 0.0
        self.unit = unit
        self._abserror, self._relerror = abserror, relerror

    @property
    def abserror(self) -> float:
        """What a step may be wrong by, whatever the state."""
        return self._abserror

    @abserror.setter
    def abserror(self, value: float) -> None:
        self._abserror = value
        self._flow.tolerances_changed()

    @property
    def relerror(self) -> float:
        """What a step may be wrong by, as a share of the state."""
        return self._relerror

    @relerror.setter
    def relerror(self, value: float) -> None:
        self._relerror = value
        self._flow.tolerances_changed()


class Asleep(Variable):
    """A variable whose numbers are in the vectors of compiled code, until somebody asks for them; then it is a plain variable again."""

    def wake(self) -> None:
        """State and rate are attributes of its own."""
        self.__class__ = Variable  # type: ignore[assignment]
        entries = vars(self)
        entries["state"], entries["rate"] = self._flow.numbers_of(self)

    @property
    def state(self) -> float:  # type: ignore[override]
        """As of a variable that is awake."""
        self.wake()
        return self.state

    @state.setter
    def state(self, value: float) -> None:
        self.wake()
        self.state = value

    @property
    def rate(self) -> float:  # type: ignore[override]
        """As of a variable that is awake."""
        self.wake()
        return self.rate

    @rate.setter
    def rate(self, value: float) -> None:
        self.wake()
        self.rate = value


class Moving(Variable):
    """A variable while bodies that are called set its rate at trial points: its names are looked at before, at the first of them, and behind."""

    __setattr__ = object.__setattr__  # type: ignore[assignment]


def hurry(variables: Iterable[Variable]) -> None:
    """Names that bodies set are not looked at until ``calm``; those that are asleep stay so."""
    for variable in variables:
        if type(variable) is Variable:
            object.__setattr__(variable, "__class__", Moving)


def calm(variables: Iterable[Variable]) -> None:
    """Names are looked at again, and those that were set since.

    Raises
    ------
    UnknownNameError
        There is one that a variable does not have; it is taken away.
    """
    strangers: list[tuple[Variable, str]] = []
    for variable in variables:
        if type(variable) is Moving:
            variable.__class__ = Variable  # type: ignore[assignment]
        if len(vars(variable)) != _ENTRIES:
            strangers += [(variable, name) for name in vars(variable) if name not in Variable.settable]
    for variable, name in strangers:
        delattr(variable, name)
    for variable, name in strangers:
        variable.refuse_setting(name)


class Parameter(NotANumber, Named):
    """A number that only events change, by which results can be differentiated where the bodies are compiled.

    Attributes
    ----------
    value : the number.
    changed : who is told that it has been set; None for nobody.
    """

    kind, number_in = "parameter", "value"
    settable: ClassVar[frozenset[str]] = frozenset(("value", "name", "unit", "changed", "_value"))

    def __init__(self, value: float, *, name: str, unit: str) -> None:
        self._value, self.name, self.unit = value, name, unit
        self.changed: Callable[[Parameter], object] | None = None

    @property
    def value(self) -> float:
        """The number."""
        return self._value

    @value.setter
    def value(self, value: float) -> None:
        self._value = value
        if self.changed is not None:
            self.changed(self)

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        return f"<Parameter {self.name} = {_numbered(self.value, self.unit)}>"


class Continuous(_Part):
    """A function that computes rates, and what follows from states at once; it is called at trial points too, and at earlier ones."""

    kind = "continuous body"
    settable: ClassVar[frozenset[str]] = frozenset(("priority", "name", "function", "_flow", "_priority"))

    def __init__(self, flow: Flow, function: Callable[[], Any], *, name: str, priority: float) -> None:
        super().__init__(flow, name)
        self.function = function
        self._priority = priority

    def evaluate(self) -> None:
        """Compute rates for the present time and states."""
        self._flow.follow()
        try:
            self.function()
        except Exception as error:
            error.add_note(f"in the continuous body {self.name!r} at t = {self._flow.now:g}")
            raise

    @property
    def priority(self) -> float:
        """Bodies run in descending order of it; among equals those that were started earlier first."""
        return self._priority

    @priority.setter
    def priority(self, value: float) -> None:
        self._flow.set_priority(self, value)
        self._priority = value


class Sample(_Part):
    """A function that observes.

    Attributes
    ----------
    sampletime : when it is due next, if its interval is above 0.
    """

    settable: ClassVar[frozenset[str]] = frozenset(("every", "frequency", "sampletime", "name", "_flow", "_function"))

    def __init__(self, flow: Flow, function: Callable[[], Any], *, name: str, every: float) -> None:
        super().__init__(flow, name)
        self._function = function
        self.frequency = every
        self.sampletime = 0.0

    def observe(self) -> None:
        """Look at the system as it is now."""
        self._flow.follow()
        try:
            self._function()
        except Exception as error:
            error.add_note(f"in the sample {self.name!r} at t = {self._flow.now:g}")
            raise

    @property
    def every(self) -> float:
        """Above 0: the interval of time; 0: every step and after each event; below 0: before and after each event only."""
        return self.frequency

    @every.setter
    def every(self, value: float) -> None:
        self._flow.set_frequency(self, value)


@explained
class Group(Named):
    """Variables, continuous bodies and samples that start and stop together, in the order in which they were put in.

    Raises
    ------
    ProcessError
        Number 21: a member is none of these. The others are started or stopped all the same; in a run it is raised when the event is over, and the
        run can go on.
    """

    settable: ClassVar[frozenset[str]] = frozenset(("_members",))

    def __init_subclass__(cls) -> None:
        """Whoever derives a class of it knows what that has."""
        cls.__setattr__ = object.__setattr__  # type: ignore[assignment]

    def __init__(self, *members: Variable | Continuous | Sample | Group) -> None:
        self._members = list(members)

    def __iter__(self) -> Iterator[Variable | Continuous | Sample | Group]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def append(self, member: Variable | Continuous | Sample | Group) -> None:
        """Put another one behind all others."""
        self._members.append(member)

    def start(self) -> None:
        """Start every member."""
        self._each("start", self._members)

    def stop(self) -> None:
        """Stop every member."""
        self._each("stop", self._members)

    def _each(self, verb: str, members: Iterable[object]) -> None:
        strangers: list[object] = []
        flow: Flow | None = None
        for member in members:
            if isinstance(member, Variable | Continuous | Sample | Group):
                getattr(member, verb)()
                flow = flow or member.flow
            else:
                strangers.append(member)
        if not strangers:
            return
        if flow is None:
            raise UsageError(f"a group of {strangers[0]!r} is to {verb}", hint="put there what env.variable, env.continuous and env.sample give")
        for stranger in strangers:
            flow.meet_stranger(stranger, verb)

    @property
    def flow(self) -> Flow | None:
        """That of the first member that has one."""
        return next((member.flow for member in self._members if isinstance(member, Variable | Continuous | Sample | Group)), None)  # pyright: ignore[reportUnnecessaryIsInstance] - users put anything there
