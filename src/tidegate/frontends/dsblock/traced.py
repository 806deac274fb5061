"""Callbacks of a block in Python followed on symbols, so that they become machine code; what cannot be followed is called.

In: a block, and functions that call it. Out: a neutral ``Model`` with the same unknowns, parameters, discrete variables, outputs and events as the
functions have, and what was said of every callback. What happens at events is left to the block: it is called there.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UntraceableError
from tidegate.expressions import ZERO, Expr, Role, as_expr, as_real, constant, dependencies, evaluate, node, symbol
from tidegate.expressions.node_data import OpaqueFunction
from tidegate.expressions.nodes import opaque_call
from tidegate.expressions.tracing import function_origin, require_agreement, trace
from tidegate.expressions.tracing.reads import Reads, collect_reads
from tidegate.expressions.tracing.vector import Vector
from tidegate.frontends.dsblock.description import Description, ParameterEntry, ParameterKind, SignalEntry
from tidegate.frontends.dsblock.forms import Equations
from tidegate.frontends.dsblock.named import Named, flat
from tidegate.frontends.dsblock.python_block import CALLBACKS, Memory, PythonBlock
from tidegate.frontends.dsblock.signals import InputSignals
from tidegate.model import Branch, Definition, Equation, Form, Model, Terminate, TimeEvent, Variable, VariableRole, When
from tidegate.model.callables import At

__all__ = ["Asked", "Traced", "traced"]

FloatArray = NDArray[np.float64]
_TIME: Final = symbol(Role.TIME, "time")
_HALF: Final = 0.5  # between two whole numbers
_VARIES: Final = frozenset({"n_states", "n_indicators"})
_SAYS: Final = frozenset({"print", "input", "open"})


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
    reads : what was read of the block and its surroundings, which is part of the code now.
    owner, of_class : the block's object, and what was read of its class, which the object must not hide.
    """

    model: Model | None
    compiled: Sequence[str]
    called: Mapping[str, str]
    reads: Sequence[Reads] = ()
    owner: object = None
    of_class: Sequence[str] = ()

    def changed(self) -> str:
        """The name of something that was read and is not what it was; empty if there is none."""
        if self.model is None:
            return ""
        own = vars(self.owner)
        if hidden := next((name for name in self.of_class if name in own), ""):
            return hidden
        return next((name for reads in self.reads if not reads.are_as_before() and (name := reads.changed())), "")

    def told(self) -> dict[str, str]:
        """For the statistics of a run."""
        found = {"compiled callbacks": ", ".join(self.compiled)} if self.compiled else {}
        if self.called:
            found["called callbacks"] = "; ".join(f"{name} ({reason})" if reason else name for name, reason in self.called.items())
        return found


class _SymbolicNamed(Named):
    """The same with expressions in the vector."""

    __slots__ = ()

    def _value(self, place: tuple[SignalEntry | ParameterEntry, slice]) -> Any:
        entry, where = place
        if entry.shape:
            return Vector(self._vector[where].reshape(entry.shape, order="F"))
        value: Any = self._vector[where.start]
        return node("nonzero", (value,)) if entry.kind is ParameterKind.LOGICAL else value


class _NumericNamed(Named):
    """With numbers, those of integers as they are: they are moved a little."""

    __slots__ = ()

    def _value(self, place: tuple[SignalEntry | ParameterEntry, slice]) -> Any:
        entry, where = place
        if entry.kind is ParameterKind.INTEGER and not entry.shape:
            return float(self._vector[where.start])
        return super()._value(place)


def traced(asked: Asked, starts: tuple[FloatArray, FloatArray, FloatArray, Mapping[str, float]]) -> Traced:
    """Follow what can be followed.

    Parameters
    ----------
    starts : of unknowns by name, parameters and discrete variables: start values.
    """
    block = asked.block
    if not isinstance(block, PythonBlock):
        return Traced(None, (), {"all": "they are not written in Python, or of several blocks"})
    reason = _cannot_at_all(block)
    if reason:
        return Traced(None, (), {"all": reason})
    return _Follower(asked, block, starts).traced()


def _cannot_at_all(block: PythonBlock) -> str:
    described = block.description
    if described.has_step_events:
        return "there are step events"
    if described.form is Form.HDAE:
        return "it is an HDAE"
    for callback in ("start", "event"):
        if _mentioned(getattr(block.callbacks, callback, None)) & _VARIES:
            return "the number of states or indicators may change"
    return ""


def _mentioned(function: Any) -> set[str]:
    """Names in the code of a function, those of keywords among them."""
    code = getattr(function, "__code__", None)
    return set() if code is None else set(_names_in(code))


def _names_in(code: CodeType) -> Iterator[str]:
    yield from (*code.co_names, *code.co_varnames)
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from _names_in(item)
        elif isinstance(item, tuple):
            yield from (name for name in item if isinstance(name, str))  # pyright: ignore[reportUnknownVariableType] - constants of any kind


def _stored(function: Any) -> Iterator[str]:
    """Names of attributes that a function sets."""
    code = getattr(function, "__code__", None)
    if code is not None:
        yield from (item.argval for item in dis.get_instructions(code) if item.opname in ("STORE_ATTR", "DELETE_ATTR"))


class _Follower:
    """Follows the callbacks of one block."""

    def __init__(self, asked: Asked, block: PythonBlock, starts: tuple[FloatArray, FloatArray, FloatArray, Mapping[str, float]]) -> None:
        self.asked, self.block, self.form = asked, block, asked.form
        self.x0, self.xd0, self.p0, self.d0 = starts
        described = asked.described
        self.parameters = [name for kind in ParameterKind for name in described.names(kind)]
        self.x = [symbol(Role.UNKNOWN, name) for name in asked.states]
        self.xd: list[Expr] = [ZERO] * len(self.x)
        if self.form.mass is None:
            for k in self.form.with_rate.tolist():
                self.xd[k] = symbol(Role.UNKNOWN, f"der({asked.states[k]})")
        self.p = [symbol(Role.PARAMETER, name) for name in self.parameters]
        self.d = {name: symbol(Role.DISCRETE, name) for name in asked.discretes}
        self.reads: list[Reads] = []
        self.of_class: list[str] = []
        self.stored = {name for callback in CALLBACKS for name in _stored(getattr(block.callbacks, callback, None))}
        self.compiled: list[str] = []
        self.called: dict[str, str] = {}

    # -- arguments --------------------------------------------------------------------------------------------------------------------------------

    def _start(self) -> dict[Expr, float]:
        found = {_TIME: self.asked.described.t0, **dict(zip(self.x, self.x0.tolist(), strict=True))}
        found |= {item: float(value) for item, value in zip(self.xd, self.xd0.tolist(), strict=True) if item.op == "symbol"}
        return found | dict(zip(self.p, self.p0.tolist(), strict=True)) | {self.d[name]: self.d0[name] for name in self.block.description.discretes}

    def _arguments(self, kind: type[Named], time: Any, value: Callable[[Expr], Any], u: Sequence[Any], *, with_rates: bool) -> tuple[Any, ...]:
        block = self.block

        def named(which: str, entries: Any, items: Sequence[Any]) -> Named:
            dtype = object if kind is _SymbolicNamed else float
            return kind(f"{which} of DSblock {block.name}", entries, np.array([*items], dtype=dtype))

        memory = Memory()
        for name in block.description.discretes:
            setattr(memory, name, value(self.d[name]))
        rates = (named("xdot", block.states, [value(item) for item in self.xd]),) if with_rates else ()
        p = named("p", block.parameters, [value(item) for item in self.p])
        return time, named("x", block.states, [value(item) for item in self.x]), *rates, named("u", block.inputs, u), p, memory

    def _follow(self, callback: str, entries: tuple[SignalEntry, ...], u: Sequence[Expr], *, with_rates: bool) -> list[Expr]:
        """What a callback computes.

        Raises
        ------
        Exception : it cannot be followed.
        """
        function = getattr(self.block.callbacks, callback)
        what = f"{callback} of DSblock {self.block.name}"
        if said := sorted(_mentioned(function) & _SAYS):
            raise UntraceableError(f"it uses {said[0]}")
        self.block.callbacks.environment = self.block.environment
        with collect_reads() as reads:
            given = self._arguments(_SymbolicNamed, _TIME, lambda item: item, u, with_rates=with_rates)
            followed = trace(function, given)
        reads.forget(given)
        mine = self.block.callbacks
        owned = [(place, name) for place, name in reads.places() if place is mine or (isinstance(place, type) and isinstance(mine, place))]
        if kept := [name for _, name in owned if name in self.stored]:
            raise UntraceableError(f"self.{kept[0]} may change during a run")
        if followed.changed:
            raise UntraceableError("it keeps something in memory")
        found = [as_expr(item) for item in flat(what, followed.value, entries, dtype=object).tolist()]
        if any(item.data.role is Role.DERIVATIVE for item in dependencies(*found)):
            raise UntraceableError("it reads a derivative that is no unknown of the equations")

        def plain(point: Mapping[Expr, float]) -> list[float]:
            at = {**self._start(), **point}

            def value(item: Expr) -> float:
                return at[item] if item in at else float(evaluate([item], at)[0])

            arguments = self._arguments(_NumericNamed, at[_TIME], value, self.asked.inputs.at(at[_TIME]).tolist(), with_rates=with_rates)
            return flat(what, function(*arguments), entries).tolist()

        require_agreement(what, function_origin(function), found, plain, self._start())
        self.reads.append(reads)
        self.of_class += [name for place, name in owned if place is not mine and name not in vars(mine)]
        return [as_real(item) for item in found]

    def _or_called(
        self, callback: str, entries: tuple[SignalEntry, ...], u: Sequence[Expr], call: Callable[[], list[Expr]], *, with_rates: bool
    ) -> list[Expr]:
        try:
            found = self._follow(callback, entries, u, with_rates=with_rates)
        except Exception as error:  # noqa: BLE001, whatever a function does with symbols, it can still be called
            self.called[callback] = str(getattr(error, "message", "") or error)
            return call()
        self.compiled.append(callback)
        return found

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
        return opaque_call(OpaqueFunction(call, n, f"{name} of DSblock {self.block.name}"), arguments)

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
            if entry.shape:
                raise UntraceableError("it is an array")  # noqa: TRY301
            followed = trace(function, (_TIME,))
            value = as_real(followed.value)
            require_agreement(
                f"input {entry.name}", function_origin(function), [value], lambda point: [float(function(point.get(_TIME, 0.0)))], {_TIME: 0.0}
            )
        except Exception:  # noqa: BLE001, likewise
            place = entry.places

            def call(time: float) -> Sequence[float]:
                return self.asked.inputs.at(time)[place].tolist()

            return opaque_call(OpaqueFunction(call, entry.size, f"input {entry.name} of DSblock {self.block.name}"), [_TIME])
        return [value]

    # -- the model --------------------------------------------------------------------------------------------------------------------------------

    def traced(self) -> Traced:
        asked, block, described = self.asked, self.block, self.asked.described
        u = self._inputs()
        is_dae = described.form is Form.DAE
        equations = self._equations(u) if self.x else []
        # derivatives that are no unknowns stand for themselves, and what reads them is called
        slopes = [symbol(Role.DERIVATIVE, name) if item is ZERO else item for name, item in zip(asked.states, self.xd, strict=True)]
        rates = slopes if is_dae else [item.right for item in equations[: len(self.x)]]
        z = [] if not block.indicators else self._or_called(
            "indicators", block.indicators, u, lambda: self._call(asked.all_indicators, len(asked.indicators), "indicators"), with_rates=False
        )  # fmt: skip
        definitions = self._definitions(u, z, rates)
        if not self.compiled:
            return Traced(None, (), self.called)
        model = Model(
            name=described.name,
            form=Form.DAE if is_dae else Form.ODE,
            variables=tuple(self._variables()),
            equations=tuple(equations),
            definitions=tuple(definitions),
            whens=tuple(self._whens(z)),
            time_events=(TimeEvent(self.d[asked.next_name], (), label="time event"),),
            check_units=False,
        )
        called = dict(self.called)
        if hasattr(block.callbacks, "event"):
            called["event"] = ""
        return Traced(model, tuple(self.compiled), called, tuple(self.reads), block.callbacks, tuple(self.of_class))

    def _equations(self, u: Sequence[Expr]) -> list[Equation]:
        n, form, asked = len(self.x), self.form, self.asked

        def called() -> list[Expr]:
            every = self._call(asked.rates, len(self._unknowns()), callback)
            return [-item for item in every] if form.mass is not None else every[len(every) - n :]

        callback = "derivatives" if asked.described.form is Form.ODE else "residual"
        values = self._or_called(callback, self.block.states, u, called, with_rates=callback == "residual")
        slopes = [symbol(Role.DERIVATIVE, name) for name in asked.states]
        if callback == "derivatives":
            return [Equation(slope, value, label=f"der({slope.data.name})") for slope, value in zip(slopes, values, strict=True)]
        if form.mass is not None:
            flows: list[Expr] = [sum((float(e) * s for e, s in zip(row, slopes, strict=True) if e != 0.0), start=ZERO) for row in form.mass]
            return [Equation(ZERO, flow + value, label=f"residual {k + 1}") for k, (flow, value) in enumerate(zip(flows, values, strict=True))]
        differential: list[int] = form.differential.tolist()
        own = [Equation(slopes[k], self.xd[k], label=f"der({asked.states[k]})") for k in differential]
        return own + [Equation(ZERO, value, label=f"residual {k + 1}") for k, value in enumerate(values)]

    def _definitions(self, u: Sequence[Expr], z: Sequence[Expr], rates: Sequence[Expr]) -> list[Definition]:
        """Everything recorded; called as a whole if a part of it must be."""
        asked, block, described = self.asked, self.block, self.asked.described
        before, needs, is_dae = list(self.compiled), described.dependence, described.form is Form.DAE
        wanted = [("outputs", block.outputs, is_dae or needs.outputs_need_rates)] if asked.outputs else []
        wanted += [("communication", block.auxiliaries, is_dae or needs.auxiliaries_need_rates)] if described.communicates else []
        found: list[Expr] = []
        callback = ""
        own, self.xd = self.xd, list(rates)
        try:
            for callback, entries, with_rates in wanted:
                if not entries:
                    raise UntraceableError("it is there for what it does")  # noqa: TRY301
                found += self._follow(callback, entries, u, with_rates=with_rates)
                self.compiled.append(callback)
        except Exception as error:  # noqa: BLE001, as above
            self.compiled = before
            reason = str(getattr(error, "message", "") or error)
            self.called |= {name: reason if name == callback else "" for name, _, _ in wanted}
            values = self._call(asked.values, len(asked.recorded), "outputs")
        else:
            values = [*found, *z, *u, constant(1.0)]
        finally:
            self.xd = own
        return [Definition(name, value) for name, value in zip(asked.recorded, values, strict=True)]

    def _variables(self) -> Iterator[Variable]:
        asked = self.asked
        others = self.form.others(self.x0, self.xd0)
        for name, value in self.form.states(self.x0).items():
            yield Variable(name, VariableRole.STATE, start=(constant(value),))
        for name, value in others.items():
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
