"""Callbacks of a block in Python on expressions instead of numbers: what they compute, and that it is what they compute with numbers.

In: a block, and an ``Entry`` whose vectors hold expressions. Out: expressions. A connection evaluates the runs of its parts on expressions as it does
on numbers, so that one of its parts is given those that another gives.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from types import CodeType
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UntraceableError
from tidegate.expressions import Expr, Role, as_expr, as_real, dependencies, evaluate, node
from tidegate.expressions.tracing import function_origin, require_agreement, trace
from tidegate.expressions.tracing.branch_changes import content
from tidegate.expressions.tracing.reads import Reads, collect_reads
from tidegate.expressions.tracing.vector import Vector
from tidegate.frontends.dsblock.block import Block, Entry, Run
from tidegate.frontends.dsblock.description import ParameterEntry, ParameterKind, SignalEntry
from tidegate.frontends.dsblock.named import Named, flat
from tidegate.frontends.dsblock.python_block import CALLBACKS, Memory, PythonBlock, flat_parts, wanted_parts
from tidegate.model import Form
from tidegate.quick_dataclass import dataclass

__all__ = ["CanBeFollowed", "Followed", "SymbolicRun", "mentioned", "symbolic_run"]

_Vector = Callable[[str, Any, type], NDArray[Any]]
_SAYS: Final = frozenset({"print", "input", "open"})


@runtime_checkable
class CanBeFollowed(Protocol):
    """A block of several, which evaluates their runs whatever their vectors hold."""

    def blocks(self) -> Iterator[Block]:
        """Those."""
        ...

    def of_runs(self, run: Callable[[Block, str], Run], prefix: str) -> Run:
        """The run of all, from runs of its parts by block and prefix of names."""
        ...


@dataclass(eq=False)
class Followed:
    """What is known while callbacks are followed, and what was found on the way.

    Parameters
    ----------
    time : the symbol.
    d : symbols of discrete variables by name.
    start : values of all symbols at the start.
    reads : what was read of blocks and their surroundings.
    of_class : what was read of the class of an object, which that object must not hide.
    callbacks : those that were followed.
    """

    time: Expr
    d: Mapping[str, Expr]
    start: Mapping[Expr, float]
    reads: list[Reads] = field(default_factory=list[Reads])
    of_class: list[tuple[object, str]] = field(default_factory=list[tuple[object, str]])
    callbacks: list[str] = field(default_factory=list[str])


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


def symbolic_run(block: Block, followed: Followed, prefix: str = "") -> Run:
    """The run of a block on expressions.

    Raises
    ------
    UntraceableError : it is, or holds, a block that is not written in Python.
    """
    if isinstance(block, PythonBlock):
        return SymbolicRun(block, followed, prefix)  # pyright: ignore[reportReturnType] - of events it is never told
    if isinstance(block, CanBeFollowed):
        return block.of_runs(lambda part, name: symbolic_run(part, followed, name), prefix)
    raise UntraceableError(f"{block.description.name} is not written in Python")


def _holds(place: Any, after: Any) -> bool:
    """Whether an object that a function had its hands on holds what it held behind it."""
    before: Any = content(place)
    # asked of the class, since what is in it may be anything
    kind: type[Any] = type(before)  # pyright: ignore[reportUnknownVariableType] - the same
    if issubclass(kind, np.ndarray) and before.dtype != object:
        return np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
    if issubclass(kind, dict):
        return list(before) == list(after) and all(after[key] is value for key, value in before.items())
    if not issubclass(kind, list | np.ndarray):
        return before is after
    if not issubclass(type(after), list | np.ndarray):
        return False
    one: list[Any] = list(before.ravel() if issubclass(kind, np.ndarray) else before)
    other: list[Any] = list(after.ravel() if issubclass(kind, np.ndarray) else after)
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _vector(entries: tuple[SignalEntry, ...]) -> _Vector:
    return lambda what, values, dtype: flat(what, values, entries, dtype=dtype)


class SymbolicRun:
    """What is asked of a run within steps; see ``block.Run``.

    Parameters
    ----------
    prefix : of its names, in a connection.
    """

    def __init__(self, block: PythonBlock, followed: Followed, prefix: str) -> None:
        self._block, self._followed, self._prefix = block, followed, prefix
        self._stored = {name for callback in CALLBACKS for name in _stored(getattr(block.callbacks, callback, None))}

    def equations(self, at: Entry, wanted: tuple[bool, ...] = ()) -> NDArray[Any]:
        """Derivatives, residuals, or the wanted parts of an HDAE."""
        if self._block.description.form is Form.HDAE:
            which = wanted_parts(wanted)
            return self._follow("parts", lambda _, answer, dtype: flat_parts(self._block, answer, which, dtype), at, with_rates=False, first=(which,))
        is_dae = self._block.description.form is Form.DAE
        return self._follow("residual" if is_dae else "derivatives", _vector(self._block.states), at, with_rates=is_dae)

    def outputs(self, at: Entry) -> NDArray[Any]:
        """Y."""
        described = self._block.description
        with_rates = described.form is Form.DAE or described.dependence.outputs_need_rates
        return self._follow("outputs", _vector(self._block.outputs), at, with_rates=with_rates)

    def indicators(self, at: Entry) -> NDArray[Any]:
        """Z."""
        return self._follow("indicators", _vector(self._block.indicators), at, with_rates=False)

    def auxiliaries(self, at: Entry) -> NDArray[Any]:
        """W."""
        described = self._block.description
        if not self._block.auxiliaries:
            raise UntraceableError("it is there for what it does")
        with_rates = described.form is Form.DAE or described.dependence.auxiliaries_need_rates
        return self._follow("communication", _vector(self._block.auxiliaries), at, with_rates=with_rates)

    def _arguments(self, kind: type[Named], at: Entry, value: Callable[[Any], Any], *, with_rates: bool) -> tuple[Any, ...]:
        block = self._block

        def named(which: str, entries: Any, items: NDArray[Any]) -> Named:
            dtype = object if kind is _SymbolicNamed else float
            return kind(f"{which} of DSblock {block.name}", entries, np.array([value(item) for item in items], dtype=dtype))

        memory = Memory()
        for name in block.description.discretes:
            setattr(memory, name, value(self._followed.d[f"{self._prefix}{name}"]))
        x, u, p = named("x", block.states, at.x), named("u", block.inputs, at.u), named("p", block.parameters, at.p)
        if not with_rates:
            return value(at.time), x, u, p, memory
        if at.xd is None:
            raise UntraceableError("it is given derivatives")
        return value(at.time), x, named("xdot", block.states, at.xd), u, p, memory

    def _follow(self, callback: str, vector: _Vector, at: Entry, *, with_rates: bool, first: tuple[Any, ...] = ()) -> NDArray[Any]:
        """What a callback computes.

        Parameters
        ----------
        vector : of what it is called and returns, of numbers or expressions.
        first : arguments in front of the usual ones.

        Raises
        ------
        Exception : it cannot be followed.
        """
        block, followed = self._block, self._followed
        function = getattr(block.callbacks, callback)
        what = f"{callback} of DSblock {block.name}"
        if said := sorted(mentioned(function) & _SAYS):
            raise UntraceableError(f"it uses {said[0]}")
        block.callbacks.environment = block.environment
        with collect_reads() as reads:
            given = (*first, *self._arguments(_SymbolicNamed, at, as_expr, with_rates=with_rates))
            traced = trace(function, given)
        reads.forget(given)
        mine = block.callbacks
        owned = [(place, name) for place, name in reads.places() if place is mine or (isinstance(place, type) and isinstance(mine, place))]
        if kept := [name for _, name in owned if name in self._stored]:
            raise UntraceableError(f"self.{kept[0]} may change during a run")
        if any(held is mine for held in reads.looked_into()):
            raise UntraceableError("self is handed to a function that is not followed, or to an operator of its own")
        if not all(_holds(place, after) for place, after in traced.changed):
            raise UntraceableError("it keeps something in memory")
        found = [as_expr(item) for item in vector(what, traced.value, object).tolist()]
        if any(item.data.role is Role.DERIVATIVE for item in dependencies(*found)):
            raise UntraceableError("it reads a derivative that is no unknown of the equations")
        items = [as_expr(item) for item in (at.time, *at.x, *(at.xd if with_rates and at.xd is not None else ()), *at.u, *at.p)]
        items += [followed.d[f"{self._prefix}{name}"] for name in block.description.discretes]

        def plain(point: Mapping[Expr, float]) -> list[float]:
            numbers = dict(zip(items, map(float, evaluate(items, {**followed.start, **point})), strict=True))
            arguments = self._arguments(_NumericNamed, at, lambda item: numbers[as_expr(item)], with_rates=with_rates)
            return vector(what, function(*first, *arguments), float).tolist()

        require_agreement(what, function_origin(function), found, plain, dict(followed.start))
        followed.reads.append(reads)
        followed.of_class += [(mine, name) for place, name in owned if place is not mine and name not in vars(mine)]
        followed.callbacks.append(f"{self._prefix}{callback}")
        return np.array([as_real(item) for item in found], dtype=object)


def mentioned(function: Any) -> set[str]:
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
