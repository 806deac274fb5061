"""A block whose callbacks are methods of a Python object. In: an object and its description; out: a ``Block`` on flat vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.answers import Accepted, EventAction, Happening, Ignored, Refused, Start, Warned
from tidegate.frontends.dsblock.block import Action, Entry, Happened, Reply
from tidegate.frontends.dsblock.constrained import part_slices
from tidegate.frontends.dsblock.description import Description, ParameterEntry, ParameterKind, SignalEntry, SignalKind
from tidegate.frontends.dsblock.named import Named, flat
from tidegate.frontends.dsblock.proposals import Environment
from tidegate.frontends.dsblock.warned import warn
from tidegate.model import Form
from tidegate.wishes import StopRun

__all__ = ["CALLBACKS", "SHARED", "Memory", "PythonBlock", "flat_parts", "wanted_parts"]

FloatArray = NDArray[np.float64]
CALLBACKS: Final = (
    "derivatives", "residual", "parts", "outputs", "indicators", "jacobian", "communication", "step_condition", "parameter_changed", "start",
    "event", "terminate", "close",
)  # fmt: skip
SHARED: Final = "(shared)"  # in memory: results that callbacks share, as events left them
_ACTIONS: Final = {"continue": Action.CONTINUE, "restart": Action.RESTART, "stop": Action.STOP}
_OF_PARAMETERS: Final = (ParameterKind.REAL, ParameterKind.INTEGER, ParameterKind.LOGICAL)


class Memory:
    """What one run of a block remembers: any attributes."""

    def __repr__(self) -> str:
        return f"<{', '.join(f'{name}={value!r}' for name, value in vars(self).items() if name.isidentifier())}>"


class ResumedMemory(Memory):
    """What a saved run still knows: what was recorded of it."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"m.{name} was not saved with the run, which keeps what declare.discrete names")


class PythonBlock:
    """See ``block.Block``.

    Parameters
    ----------
    callbacks : has those methods that it has.
    environment : what they may ask of the run.
    """

    def __init__(self, name: str, callbacks: Any, description: Description, environment: Environment | None = None) -> None:
        self.name, self.callbacks, self.description = name, callbacks, description
        self.environment = environment or Environment()
        self.states, self.inputs, self.outputs, self.indicators, self.auxiliaries = (description.of_kind(kind) for kind in SignalKind)
        # as they lie in the vector: kind after kind
        self.parameters = tuple(entry for kind in _OF_PARAMETERS for entry in description.parameters if entry.kind is kind)

    def named(self, which: str, entries: tuple[SignalEntry, ...] | tuple[ParameterEntry, ...], vector: FloatArray) -> Named:
        """A vector as a callback sees it."""
        return Named(f"{which} of DSblock {self.name}", entries, vector)

    def begin(self, at: Entry) -> tuple[PythonRun, Reply]:
        """A run begins."""
        self.callbacks.environment = self.environment
        x0, xd0 = self._told_of_parameters(at)
        memory = Memory()
        for name, value in self.description.discretes.items():
            setattr(memory, name, value)
        run = PythonRun(self, memory)
        if not hasattr(self.callbacks, "start"):
            return run, Reply(x=x0, xd=xd0)
        x, u, p = (self.named("x0", self.states, x0), self.named("u0", self.inputs, at.u), self.named("p", self.parameters, at.p))
        try:
            answer = self.callbacks.start(at.time, x, u, p, memory)
        except StopRun as wish:
            return run, Reply(action=Action.STOP, x=x0, xd=xd0, reason=wish.reason)
        return run, self.reply("start", answer, Start, x0, xd0)

    def resumed(self, discretes: FloatArray) -> PythonRun:
        """A saved run goes on."""
        self.callbacks.environment = self.environment
        memory = ResumedMemory()
        for name, value in zip(self.description.discretes, discretes.tolist(), strict=True):
            setattr(memory, name, value)
        return PythonRun(self, memory)

    def _told_of_parameters(self, at: Entry) -> tuple[FloatArray, FloatArray | None]:
        """BLOCKP for every parameter that has not its declared value."""
        x0, xd0 = at.x.copy(), None if at.xd is None else at.xd.copy()
        if not hasattr(self.callbacks, "parameter_changed"):
            return x0, xd0
        p = self.named("p", self.parameters, at.p)
        first = 0
        places = {entry.number: (entry, slice(first, first := first + entry.size)) for entry in self.parameters}
        for _, (entry, where) in sorted(places.items()):
            if np.array_equal(at.p[where], entry.default):
                continue
            answer = self.callbacks.parameter_changed(entry.name, p, self.named("x0", self.states, x0))
            if isinstance(answer, Refused):
                raise UsageError(f"DSblock {self.name} refuses {entry.name} = {p[entry.name]}: {answer.reason}")
            if isinstance(answer, Warned):
                warn(f"DSblock {self.name}: {entry.name} = {p[entry.name]}: {answer.reason}")
            if isinstance(answer, Accepted | Warned):
                x0 = x0 if answer.x0 is None else flat(f"x0 of parameter_changed of {self.name}", answer.x0, self.states, x0)
            elif answer is not None and not isinstance(answer, Ignored):
                raise UsageError(
                    f"parameter_changed of {self.name} answered {answer!r}", hint="answer Accepted(), Warned(reason), Refused(reason) or Ignored()"
                )
        return x0, xd0

    @property
    def gives_slopes(self) -> bool:
        """Whether there is a Jacobian."""
        return self.description.has_jacobian

    def reply(self, what: str, answer: Any, kind: type[Start | EventAction], x: FloatArray, xd: FloatArray | None) -> Reply:
        """The answer of ``start`` or ``event`` on flat vectors; x and xd are what entries keep that it does not name."""
        if answer is None:
            return Reply(action=Action.CONTINUE if kind is EventAction else Action.RESTART, x=None if kind is EventAction else x)
        if not isinstance(answer, kind):
            raise UsageError(f"{what} of DSblock {self.name} answered {answer!r}", hint=f"answer tg.dsblock.{kind.__name__}(...), or None")
        action = Action.RESTART
        if isinstance(answer, EventAction):
            if answer.action not in _ACTIONS:
                raise UsageError(f"event of DSblock {self.name} answered action={answer.action!r}", hint="'continue', 'restart' or 'stop'")
            action = _ACTIONS[answer.action]
        owner = f"of {what} of DSblock {self.name}"
        changes_structure = answer.n_states is not None or answer.n_indicators is not None
        if action is Action.CONTINUE and (answer.x is not None or answer.xdot is not None or changes_structure):
            raise UsageError(f"event of DSblock {self.name} changes x or the dimensions and says 'continue'", hint="answer action='restart'")
        new_x = (None if isinstance(answer, EventAction) else x) if answer.x is None else self._new_x(f"x {owner}", answer, x)
        new_xd = None if answer.xdot is None else flat(f"xdot {owner}", answer.xdot, self.states, np.zeros(len(x)) if xd is None else xd)
        return Reply(
            action=action, x=new_x, xd=new_xd, next_event=answer.next_event, may_reach=answer.may_reach,
            directions=self._directions(what, answer.directions), n_states=self._at_most(what, "n_states", answer.n_states, self.states),
            n_indicators=self._at_most(what, "n_indicators", answer.n_indicators, self.indicators),
            priority=answer.priority if isinstance(answer, EventAction) else 50, reason=answer.reason if isinstance(answer, EventAction) else "",
        )  # fmt: skip

    def _new_x(self, what: str, answer: Start | EventAction, x: FloatArray) -> FloatArray:
        """x of all states that there will be; where their number changes all of them must be given."""
        n_states = len(x) if answer.n_states is None else answer.n_states
        return flat(what, answer.x, _leading(self.states, n_states), x if n_states == len(x) else None)

    def _directions(self, what: str, given: Any) -> NDArray[np.int64] | None:
        if given is None:
            return None
        if isinstance(given, Mapping):
            shapes = {entry.name.upper(): entry.shape for entry in self.indicators}
            by_name = cast("Mapping[str, Any]", given)
            given = {name: np.broadcast_to(value, shapes.get(name.upper(), ())) for name, value in by_name.items()}
        found = flat(f"directions of {what} of DSblock {self.name}", given, self.indicators, np.full(_size(self.indicators), np.nan))
        if not np.all(np.isin(found, (-1.0, 0.0, 1.0)) | np.isnan(found)):
            raise UsageError(f"directions of {what} of DSblock {self.name} are {given!r}", hint="0 for both, 1 for rising, -1 for falling")
        return np.where(np.isnan(found), 2, found).astype(np.int64)  # 2: as it was

    def _at_most(self, what: str, which: str, given: int | None, entries: tuple[SignalEntry, ...]) -> int | None:
        if given is not None and not 0 <= given <= _size(entries):
            raise UsageError(f"{which} of {what} of DSblock {self.name} is {given}", hint=f"at most {_size(entries)} are declared")
        return given


def wanted_parts(wanted: Sequence[bool]) -> frozenset[int]:
    """What ``parts`` is told to compute."""
    return frozenset(k for k, is_wanted in enumerate(wanted, 1) if is_wanted)


def flat_parts(block: PythonBlock, answer: object, which: frozenset[int], dtype: type = float) -> NDArray[Any]:
    """What ``parts`` of an HDAE returned, F1 ... F5 one behind the other; what was not wanted is NaN.

    Raises
    ------
    UsageError : something is missing, or has another size.
    """
    described, name = block.description, block.name
    if not isinstance(answer, Mapping):
        raise UsageError(f"parts of DSblock {name} returned {answer!r}", hint="return a dict: {1: derivatives of x1, 2: ..., 5: ...}")
    given = cast("Mapping[object, Any]", answer)
    found = cast("NDArray[Any]", np.full(sum(described.parts), np.nan, dtype=dtype))
    for k, place in enumerate(part_slices(described.parts), 1):
        size = described.parts[k - 1]
        if k not in which or not size:
            continue
        if k not in given:
            raise UsageError(f"parts of DSblock {name} lack F{k}, which was asked for", hint=f"the dict needs the entry {k}: {size} values")
        if k == 1:
            found[place] = flat(f"F1 of DSblock {name}", given[1], _leading(block.states, size), dtype=dtype)
            continue
        values = cast("NDArray[Any]", np.asarray(given[k], dtype=dtype)).ravel(order="F")
        if len(values) != size:
            raise UsageError(f"F{k} of DSblock {name} has {len(values)} values; {size} are declared")
        found[place] = values
    return found


class PythonRun:
    """See ``block.Run``."""

    def __init__(self, block: PythonBlock, memory: Memory) -> None:
        self._block, self._memory, self._callbacks = block, memory, block.callbacks

    def _arguments(self, at: Entry, *, with_rates: bool = False) -> tuple[Any, ...]:
        block = self._block
        self._callbacks.environment = block.environment
        states = _leading(block.states, len(at.x))
        rates = (block.named("xdot", states, np.full(len(at.x), np.nan) if at.xd is None else at.xd[: len(at.x)]),) if with_rates else ()
        u, p = block.named("u", block.inputs, at.u), block.named("p", block.parameters, at.p)
        return at.time, block.named("x", states, at.x), *rates, u, p, self._memory

    def _given(self, callback: str, entries: tuple[SignalEntry, ...], at: Entry) -> FloatArray:
        # the derivatives belong to the arguments where the form has them, and where a block has said that it needs them
        needs, is_dae = self._block.description.dependence, self._block.description.form is Form.DAE
        said = (callback == "outputs" and needs.outputs_need_rates) or (callback == "communication" and needs.auxiliaries_need_rates)
        what = f"{callback} of DSblock {self._block.name}"
        try:
            values = getattr(self._callbacks, callback)(*self._arguments(at, with_rates=callback != "indicators" and (is_dae or said)))
        except StopRun as wish:
            if wish.values is not None:
                wish.values = flat(what, wish.values, entries)
            raise
        if values is None and not entries:
            return np.zeros(0)
        return flat(what, values, entries)

    def equations(self, at: Entry, wanted: tuple[bool, ...] = ()) -> FloatArray:
        """Derivatives, residuals, or the wanted parts of an HDAE."""
        if self._block.description.form is Form.HDAE:
            return self._parts(at, wanted)
        callback = "derivatives" if self._block.description.form is Form.ODE else "residual"
        return self._given(callback, _leading(self._block.states, len(at.x)), at)

    def _parts(self, at: Entry, wanted: tuple[bool, ...]) -> FloatArray:
        which = wanted_parts(wanted)
        return flat_parts(self._block, self._callbacks.parts(which, *self._arguments(at)), which)

    def slopes(self, at: Entry, cj: float) -> FloatArray:
        """dF/dx + cj dF/dxd."""
        n, name = len(at.x), self._block.name
        is_dae = self._block.description.form is Form.DAE
        found = np.asarray(self._callbacks.jacobian(*self._arguments(at, with_rates=is_dae), cj), dtype=float)
        if found.shape != (n, n):
            raise UsageError(f"jacobian of DSblock {name} returned the shape {found.shape}", hint=f"({n}, {n}): a row an equation, a column a state")
        return found

    def outputs(self, at: Entry) -> FloatArray:
        """Y."""
        return self._given("outputs", self._block.outputs, at)

    def indicators(self, at: Entry) -> FloatArray:
        """Z."""
        there, every = _leading(self._block.indicators, at.n_indicators), self._block.indicators
        values = self._callbacks.indicators(*self._arguments(at))
        what = f"indicators of DSblock {self._block.name}"
        if there == every:
            return flat(what, values, every)
        # of those that are not there values may be given or not
        full = np.full(_size(every), np.nan)
        is_full = np.size(values) == _size(every) or np.size(values) == len(every)
        if isinstance(values, Mapping):
            names = {entry.name.upper() for entry in there}
            given = cast("Mapping[str, Any]", values)
            flat(what, {name: value for name, value in given.items() if name.upper() in names}, there)
            return flat(what, given, every, full)
        if is_full:
            return flat(what, values, every)
        full[: at.n_indicators] = flat(what, values, there)
        return full

    def auxiliaries(self, at: Entry) -> FloatArray:
        """W."""
        return self._given("communication", self._block.auxiliaries, at)

    def asks_step_event(self, at: Entry) -> bool:
        """Whether something happens at the end of a completed step."""
        return bool(self._callbacks.step_condition(*self._arguments(at)))

    def event(self, happened: Happened, at: Entry) -> Reply:
        """Something happens."""
        names = self._block.description.names(SignalKind.INDICATOR)
        happening = Happening(happened.time, happened.state, happened.step, tuple(names[k] for k in np.flatnonzero(happened.zero)))
        if not hasattr(self._callbacks, "event"):
            return Reply(action=Action.CONTINUE)
        answer = self._callbacks.event(happening, *self._arguments(at, with_rates=self._block.description.form is Form.DAE))
        vars(self._memory).pop(SHARED, None)
        return self._block.reply("event", answer, EventAction, at.x, at.xd)

    def copied(self) -> PythonRun:
        """Another that remembers the same."""
        return PythonRun(self._block, deepcopy(self._memory))

    def recorded(self) -> FloatArray:
        """The numbers of its memory that were declared."""
        return np.array([float(getattr(self._memory, name)) for name in self._block.description.discretes])

    def end(self, at: Entry, *, is_well: bool) -> None:
        """The run is over."""
        if hasattr(self._callbacks, "terminate"):
            self._callbacks.terminate(is_well, *self._arguments(at))


def _leading(entries: tuple[SignalEntry, ...], n: int) -> tuple[SignalEntry, ...]:
    """The entries that lie in the first n elements."""
    return entries if _size(entries) == n else tuple(entry for entry in entries if entry.first + entry.size <= n)


def _size(entries: tuple[SignalEntry, ...]) -> int:
    return sum(entry.size for entry in entries)
