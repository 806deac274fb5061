"""Callbacks of a block in Python followed on symbols, so that they become machine code; what cannot be followed is called.

In: a block, and functions that call it. Out: a neutral ``Model`` with the same unknowns, parameters, discrete variables, outputs and events as the
functions have, and what was said of every callback. What happens at events is left to the block: it is called there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import Origin, UsageError
from tidegate.expressions import ZERO, Expr, Role, as_real, constant, symbol
from tidegate.expressions.node_data import OpaqueFunction
from tidegate.expressions.nodes import opaque_call
from tidegate.expressions.tracing.reads import Reads
from tidegate.frontends.dsblock.block import Block, Entry
from tidegate.frontends.dsblock.constrained import part_slices
from tidegate.frontends.dsblock.description import Description, ParameterKind, SignalEntry
from tidegate.frontends.dsblock.followed_inputs import follow
from tidegate.frontends.dsblock.forms import Equations
from tidegate.frontends.dsblock.python_block import PythonBlock
from tidegate.frontends.dsblock.signals import InputSignals
from tidegate.frontends.dsblock.symbolic_run import CanBeFollowed, Followed, mentioned, symbolic_run
from tidegate.model import Branch, Definition, Equation, Form, Model, Terminate, TimeEvent, Variable, VariableRole, When
from tidegate.model.callables import At
from tidegate.quick_dataclass import dataclass

__all__ = ["Asked", "Traced", "require_memory", "traced"]

FloatArray = NDArray[np.float64]
_TIME: Final = symbol(Role.TIME, "time")
_MOVED: Final = 1e-3  # of a number of memory: what differences move it by
_HALF: Final = 0.5  # between two whole numbers
_VARIES: Final = frozenset({"n_states", "n_indicators"})


class Asked(Protocol):
    """The functions that call a block (``lower``)."""

    block: Any
    described: Description
    form: Equations
    inputs: InputSignals
    states: tuple[str, ...]
    input_names: tuple[str, ...]
    outputs: tuple[str, ...]
    indicators: tuple[str, ...]
    auxiliaries: tuple[str, ...]
    recorded: tuple[str, ...]
    discretes: tuple[str, ...]
    needed: tuple[str, ...]
    next_name: str
    stopped_name: str
    counter_name: str
    stabilisation: str
    makes_consistent: bool
    multipliers: tuple[str, ...]

    def rates(self, at: At) -> FloatArray:
        """f of ``M y' = f``."""
        ...

    def values(self, at: At) -> Sequence[float]:
        """Everything that is recorded."""
        ...

    def all_indicators(self, at: At) -> FloatArray:
        """Z."""
        ...


@dataclass(frozen=True, eq=False)
class Traced:
    """A block on symbols.

    Parameters
    ----------
    model : the neutral model; None where nothing could be followed.
    compiled : callbacks that were.
    called : the others, each with the reason.
    reads : what was read of blocks and their surroundings, which is part of the code now.
    of_class : what was read of the class of a block's object, which that object must not hide.
    """

    model: Model | None
    compiled: Sequence[str]
    called: Mapping[str, str]
    reads: Sequence[Reads] = ()
    of_class: Sequence[tuple[object, str]] = ()

    def changed(self) -> str:
        """The name of something that was read and is not what it was; empty if there is none."""
        if self.model is None:
            return ""
        if hidden := next((name for owner, name in self.of_class if name in vars(owner)), ""):
            return hidden
        return next((name for reads in self.reads if not reads.are_as_before() and (name := reads.changed())), "")

    def calls_within_steps(self) -> bool:
        """Whether Python is called for something besides events, where anything is machine code."""
        return self.model is not None and any(name != "event" for name in self.called)

    def told(self) -> dict[str, str]:
        """For the statistics of a run."""
        found = {"compiled callbacks": ", ".join(self.compiled)} if self.compiled else {}
        if self.called:
            found["called callbacks"] = "; ".join(f"{name} ({reason})" if reason else name for name, reason in self.called.items())
        return found


def traced(asked: Asked, starts: tuple[FloatArray, FloatArray, FloatArray, Mapping[str, float]]) -> Traced:
    """Follow what can be followed.

    Parameters
    ----------
    starts : of unknowns by name, parameters and discrete variables: start values.
    """
    reason = _cannot_at_all(asked.block)
    if reason:
        return Traced(None, (), {"all": reason})
    follower = _Follower(asked, asked.block, starts)
    try:
        return follower.traced()
    except Exception as error:
        if asked.described.form is not Form.HDAE:
            raise
        return Traced(None, (), {"all": str(getattr(error, "message", "") or error)})


def _cannot_at_all(block: Block) -> str:
    described = block.description
    if isinstance(block, CanBeFollowed):
        return next((f"{part.description.name}: {reason}" for part in block.blocks() if (reason := _cannot_at_all(part))), "")
    if not isinstance(block, PythonBlock):
        return "it is not written in Python"
    if described.has_step_events:
        return "there are step events"
    for callback in ("start", "event"):
        if mentioned(getattr(block.callbacks, callback, None)) & _VARIES:
            return "the number of states or indicators may change"
    return ""


class _Follower:
    """Follows the callbacks of one block, or of those that it connects."""

    def __init__(self, asked: Asked, block: Block, starts: tuple[FloatArray, FloatArray, FloatArray, Mapping[str, float]]) -> None:
        self.asked, self.block, self.form = asked, block, asked.form
        self.x0, self.xd0, self.p0, self.d0 = starts
        described = asked.described
        self.parameters = [name for kind in ParameterKind for name in described.names(kind)]
        self.x = [symbol(Role.UNKNOWN, name) for name in asked.states]
        self.xd: list[Expr] = [ZERO] * len(self.x)
        if self.form.mass is None:
            for k in self.form.with_rate.tolist():
                self.xd[k] = symbol(Role.UNKNOWN, f"der({asked.states[k]})")
        self.slopes = [symbol(Role.DERIVATIVE, name) for name in asked.states]
        self.p = [symbol(Role.PARAMETER, name) for name in self.parameters]
        self.d = {name: symbol(Role.DISCRETE, name) for name in asked.discretes}
        start = {_TIME: described.t0, **dict(zip(self.x, self.x0.tolist(), strict=True)), **dict(zip(self.slopes, self.xd0.tolist(), strict=True))}
        start |= {item: float(value) for item, value in zip(self.xd, self.xd0.tolist(), strict=True) if item.op == "symbol"}
        start |= dict(zip(self.p, self.p0.tolist(), strict=True)) | {self.d[name]: self.d0[name] for name in described.discretes}
        self.followed = Followed(_TIME, self.d, start)
        self.run = symbolic_run(block, self.followed)
        self.called: dict[str, str] = {}

    def _at(self, u: Sequence[Expr]) -> Entry:
        vectors = (np.array([*items], dtype=object) for items in (self.x, self.xd, u, self.p))
        x, xd, inputs, p = vectors
        return Entry(_TIME, x, xd if self.asked.described.form is Form.DAE else None, inputs, p, len(self.asked.indicators))  # pyright: ignore[reportArgumentType] - a symbol of time

    def _or_called(self, callback: str, follow: Callable[[], NDArray[Any]], call: Callable[[], list[Expr]]) -> list[Expr]:
        before = list(self.followed.callbacks)
        try:
            return follow().tolist()
        except Exception as error:  # noqa: BLE001, whatever a function does with symbols, it can still be called
            self.called[callback] = str(getattr(error, "message", "") or error)
            self.followed.callbacks[:] = before
            return call()

    def _call(self, function: Callable[[At], Any], n: int, name: str) -> list[Expr]:
        """Nodes that call Python."""
        unknowns = self._unknowns()
        n_y, n_p = len(unknowns), len(self.p)
        names = list(self.asked.discretes)
        places = [names.index(name) for name in self.asked.needed]

        def call(*numbers: float) -> Sequence[float]:
            d = np.zeros(len(names))
            d[places] = numbers[1 + n_y + n_p :]
            values = np.array(numbers)
            return list(function(At(numbers[0], values[1 : 1 + n_y], values[1 + n_y : 1 + n_y + n_p], np.zeros(0, dtype=bool), d)))

        arguments = [_TIME, *(symbol(Role.UNKNOWN, item) for item in unknowns), *self.p, *(self.d[item] for item in self.asked.needed)]
        return opaque_call(OpaqueFunction(call, n, f"{name} of DSblock {self.asked.described.name}"), arguments)

    def _unknowns(self) -> list[str]:
        return [*self.form.states(self.x0), *self.form.others(self.x0, self.xd0)]

    def _inputs(self) -> list[Expr]:
        found: list[Expr] = [ZERO] * len(self.asked.input_names)
        for entry, number, function in self.asked.inputs.given():
            fixed = [] if number is None else [constant(float(value)) for value in np.ravel(number, order="F")]
            found[entry.places] = fixed or self._input(entry, function)
        return found

    def _input(self, entry: SignalEntry, function: Callable[[float], Any]) -> list[Expr]:
        try:
            return [follow(entry, function)]
        except Exception:  # noqa: BLE001, likewise
            place = entry.places

            def call(time: float) -> Sequence[float]:
                return self.asked.inputs.at(time)[place].tolist()

            return opaque_call(OpaqueFunction(call, entry.size, f"input {entry.name} of DSblock {self.asked.described.name}"), [_TIME])

    # -- the model --------------------------------------------------------------------------------------------------------------------------------

    def traced(self) -> Traced:
        asked, described = self.asked, self.asked.described
        at = self._at(self._inputs())
        is_dae = described.form is Form.DAE
        n_explicit = described.parts[0] if described.form is Form.HDAE else len(self.x)
        equations = self._equations(at) if self.x else []
        # derivatives that are no unknowns stand for themselves, and what reads them is called
        slopes = [slope if item is ZERO else item for slope, item in zip(self.slopes, self.xd, strict=True)]
        # of an HDAE those of x1 alone are known
        rates = slopes if is_dae else [*(item.right for item in equations if item.left is not ZERO), *slopes[n_explicit:]]
        z = [] if not asked.indicators else self._or_called(
            "indicators", lambda: self.run.indicators(at), lambda: self._call(asked.all_indicators, len(asked.indicators), "indicators")
        )  # fmt: skip
        definitions = self._definitions(replace(at, xd=np.array([*rates], dtype=object)), z)
        compiled = tuple(dict.fromkeys(self.followed.callbacks))
        if not compiled:
            return Traced(None, (), self.called)
        model = Model(
            name=described.name,
            form=described.form,
            stabilisation=asked.stabilisation,
            makes_consistent=asked.makes_consistent,
            variables=tuple(self._variables()),
            equations=tuple(equations),
            definitions=tuple(definitions),
            whens=tuple(self._whens(z)),
            time_events=(TimeEvent(self.d[asked.next_name], (), label="time event"),),
            check_units=False,
        )
        called = dict(self.called)
        if not isinstance(self.block, PythonBlock) or hasattr(self.block.callbacks, "event"):
            called["event"] = ""
        return Traced(model, compiled, called, tuple(self.followed.reads), tuple(self.followed.of_class))

    def _equations(self, at: Entry) -> list[Equation]:
        n, form, asked = len(self.x), self.form, self.asked

        def called() -> list[Expr]:
            every = self._call(asked.rates, len(self._unknowns()), callback)
            return [-item for item in every] if form.mass is not None else every[len(every) - n :]

        if asked.described.form is Form.HDAE:
            return self._parts(at)
        callback = "derivatives" if asked.described.form is Form.ODE else "residual"
        values = self._or_called(callback, lambda: self.run.equations(at), called)
        slopes = self.slopes
        if callback == "derivatives":
            return [Equation(slope, value, label=f"der({slope.data.name})") for slope, value in zip(slopes, values, strict=True)]
        if form.mass is not None:
            flows: list[Expr] = [sum((float(e) * s for e, s in zip(row, slopes, strict=True) if e != 0.0), start=ZERO) for row in form.mass]
            return [Equation(ZERO, flow + value, label=f"residual {k + 1}") for k, (flow, value) in enumerate(zip(flows, values, strict=True))]
        differential: list[int] = form.differential.tolist()
        if asked.described.algebraic is not None:
            slope_of = {k: slopes[k] for k in differential}
            return [Equation(slope_of.get(k, ZERO), value, label=f"residual {k + 1}") for k, value in enumerate(values)]
        own = [Equation(slopes[k], self.xd[k], label=f"der({asked.states[k]})") for k in differential]
        return own + [Equation(ZERO, value, label=f"residual {k + 1}") for k, value in enumerate(values)]

    def _parts(self, at: Entry) -> list[Equation]:
        """F1 ... F5.

        Raises
        ------
        Exception : they cannot be followed: then nothing of an HDAE is, since its forms are made of their gradients.
        """
        sizes = self.asked.described.parts
        values = self.run.equations(at, tuple(size > 0 for size in sizes))
        labels = {k: [f"F{k}" if size == 1 else f"F{k}({i + 1})" for i in range(size)] for k, size in enumerate(sizes, 1)}
        found: list[Equation] = []
        for k, place in enumerate(part_slices(sizes), 1):
            left: Sequence[Expr] = self.slopes[: sizes[0]] if k == 1 else [ZERO] * sizes[k - 1]
            found += [Equation(*one, part=k) for one in zip(left, values[place], [Origin()] * sizes[k - 1], labels[k], strict=True)]
        return found

    def _definitions(self, at: Entry, z: Sequence[Expr]) -> list[Definition]:
        """Everything recorded; called as a whole if a part of it must be."""
        asked, described = self.asked, self.asked.described
        before = list(self.followed.callbacks)
        wanted = [("outputs", self.run.outputs)] if asked.outputs else []
        wanted += [("communication", self.run.auxiliaries)] if described.communicates else []
        found: list[Expr] = []
        callback = ""
        try:
            for name, follow in wanted:
                callback = name
                found += follow(at).tolist()
        except Exception as error:  # noqa: BLE001, as above
            self.followed.callbacks[:] = before
            reason = str(getattr(error, "message", "") or error)
            self.called |= {name: reason if name == callback else "" for name, _ in wanted}
            values = self._call(asked.values, len(asked.recorded), "outputs")
        else:
            values = [*found, *z, *at.u.tolist(), constant(1.0)]
        return [Definition(name, value) for name, value in zip(asked.recorded, values, strict=True)]

    def _variables(self) -> Iterator[Variable]:
        asked = self.asked
        others = self.form.others(self.x0, self.xd0)
        for name, value in self.form.states(self.x0).items():
            yield Variable(name, VariableRole.STATE, start=(constant(value),))
        for name, value in others.items():
            if name in asked.multipliers:
                continue  # of the form that is solved, which is made of this model
            yield Variable(name, VariableRole.ALGEBRAIC, start=(constant(value),))
        for name, value in zip(self.parameters, self.p0.tolist(), strict=True):
            yield Variable(name, VariableRole.PARAMETER, start=(constant(value),))
        for name in asked.discretes:
            yield Variable(name, VariableRole.DISCRETE, start=(as_real(self.d0[name]),))
        for name in asked.recorded:
            yield Variable(name, VariableRole.OUTPUT)

    def _whens(self, z: Sequence[Expr]) -> Iterator[When]:
        asked = self.asked
        for k, (name, value) in enumerate(zip(asked.indicators, z, strict=True)):
            direction, is_there = self.d[f"(direction of {name})"], self.d[asked.counter_name] > k + _HALF
            above = as_real(value) >= 0.0
            for condition in (above & (direction > -_HALF) & is_there, ~above & (direction < _HALF) & is_there):
                yield When((Branch((condition,), (), label=f"{name} crosses zero"),))
        stopped = self.d[asked.stopped_name] > _HALF
        yield When((Branch((stopped,), (Terminate(),), label=f"{asked.described.name} stops the run"),))


def require_memory(described: Description, kept: NDArray[np.float64], now: NDArray[np.float64], what: str) -> None:
    """Machine code reads what events have left in memory; others must leave it.

    Parameters
    ----------
    kept, now : numbers of the memory as events have left them, in front of others, and as they are.
    what : has been called since.

    Raises
    ------
    UsageError : it has changed one.
    """
    kept = kept[: len(now)]
    # by differences, numbers of memory are moved a little, too
    wrong = np.flatnonzero(np.abs(now - kept) > _MOVED * np.maximum(np.abs(kept), 1.0))
    if len(wrong):
        name = list(described.discretes)[int(wrong[0])]
        raise UsageError(
            f"{what} of DSblock {described.name} change m.{name}, which machine code reads as events have left it",
            hint="change it in start and event only; or traced=False",
        )
