"""A model as plain data, for a file that somebody else reads (stage: model). In: models, names, numbers; out: lists and texts for JSON, and back.

Nothing but what is listed here can be written or read: numbers, texts, expressions and the classes of the neutral model. So reading runs no code,
and a model with a function of the user's cannot be written. Every node of the graph is written once, arguments before what uses them, and so is
everything else that is shared: what was one thing is one thing again.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, Role
from tidegate.expressions.lookup_tables import Grid, QuietGrid
from tidegate.expressions.node_data import OpaqueFunction, Spline, Symbol
from tidegate.expressions.nodes import UNARY_FUNCTIONS, raw_node, walk
from tidegate.model.equations import Definition, Equation
from tidegate.model.events import Assignment, Branch, Message, StepEvent, Terminate, TimeEvent, When
from tidegate.model.model import Form, Model
from tidegate.model.variables import Bound, Variable, VariableRole

__all__ = ["as_data", "from_data"]

_CLASSES: Final = {
    kind.__name__: kind
    for kind in (
        Model, Variable, Bound, Equation, Definition, Assignment, Branch, Message, StepEvent, Terminate, TimeEvent, When, Origin, Symbol, Spline,
    )
}  # fmt: skip
_ENUMS: Final[dict[str, type[enum.Enum]]] = {kind.__name__: kind for kind in (Form, Role, VariableRole)}
_ARGUMENTS: Final = {
    **dict.fromkeys(("const", "symbol", "true", "false"), 0),
    **dict.fromkeys((*UNARY_FUNCTIONS, "neg", "floor", "segment", "lookup", "spline", "ge", "gt", "nonzero", "not"), 1),
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "atan2", "and", "or"), 2),
    "select": 3,
}
_GRIDS: Final = {"Grid": Grid, "QuietGrid": QuietGrid}


def as_data(content: object) -> dict[str, Any]:
    """Anything made of what a model is made of.

    Raises
    ------
    UsageError : there is something else in it: a function that is called and not followed.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> from_data(as_data((x + 1.0, x)))[1] is x
    True
    """
    writer = _Writer()
    top = writer.written(content)
    return {"nodes": writer.nodes, "shared": writer.shared, "top": top}


def from_data(data: Mapping[str, Any]) -> Any:
    """The inverse of ``as_data``.

    Raises
    ------
    Exception : whatever Python raises where the data were not made by ``as_data``.
    """
    return _Reader(data).top


class _Writer:
    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.shared: list[Any] = []
        self._node_places: dict[Expr, int] = {}
        self._places: dict[int, int] = {}
        self._kept: list[object] = []  # what is known by its identity must live on

    def written(self, item: Any) -> Any:
        """One thing: a plain value as it is, all else as a list that says what it is."""
        if item is None or isinstance(item, bool | str | int):
            return item
        if isinstance(item, float):
            return item if math.isfinite(item) else ["number", repr(float(item))]
        if isinstance(item, Expr):
            return ["node", self._node(item)]
        if isinstance(item, enum.Enum):
            return ["enum", type(item).__name__, item.name]
        if id(item) not in self._places:
            entry = self._entry(item)
            self._places[id(item)] = len(self.shared)
            self._kept.append(item)
            self.shared.append(entry)
        return ["shared", self._places[id(item)]]

    def _node(self, item: Expr) -> int:
        for inner in walk([item]):
            if inner not in self._node_places:
                entry = [inner.op, [self._node_places[arg] for arg in inner.args], self.written(inner.data)]
                self._node_places[inner] = len(self.nodes)
                self.nodes.append(entry)
        return self._node_places[item]

    def _entry(self, item: Any) -> list[Any]:
        kind = type(item).__name__
        if isinstance(item, OpaqueFunction):
            raise UsageError(f"{item.name} is a function that is called, which a file cannot hold", hint="write it with equations")
        if isinstance(item, Grid):
            return [kind, [list(item), item.name]]
        if isinstance(item, np.ndarray):
            numbers = cast("NDArray[np.float64]", item)
            return ["array", [list(numbers.shape), [self.written(each) for each in numbers.ravel().tolist()]]]
        if kind in ("tuple", "list"):
            return ["tuple", [self.written(each) for each in cast("tuple[Any, ...]", item)]]
        if isinstance(item, Mapping):
            pairs = cast("Mapping[Any, Any]", item)
            return ["mapping", [[self.written(key), self.written(value)] for key, value in pairs.items()]]
        if isinstance(item, frozenset):
            return ["set", [self.written(each) for each in sorted(cast("frozenset[str]", item))]]
        if _CLASSES.get(kind) is type(item):
            return [kind, {name: self.written(getattr(item, name)) for name in _names_of(type(item))}]
        raise UsageError(f"{item!r} cannot be put into a file", hint="a file holds equations, events and numbers, no functions of Python")


def _names_of(kind: Any) -> list[str]:
    return [field.name for field in fields(kind)] if is_dataclass(kind) else list(kind._fields)


class _Reader:
    def __init__(self, data: Mapping[str, Any]) -> None:
        self._entries: tuple[list[Any], list[Any]] = (data["nodes"], data["shared"])
        self._nodes: list[Expr] = []
        self._shared: dict[int, Any] = {}
        for op, args, own in cast("list[tuple[str, list[int], Any]]", self._entries[0]):
            if _ARGUMENTS.get(op) != len(args) or any(type(k) is not int or k < 0 for k in args):
                raise TypeError(op)
            self._nodes.append(raw_node(op, tuple(self._nodes[k] for k in args), self.read(own)))
        self.top = self.read(data["top"])

    def read(self, item: Any) -> Any:
        """One thing again."""
        if not isinstance(item, list):
            return item
        what, *rest = cast("list[Any]", item)
        if what == "number":
            return float(rest[0])
        if what == "node":
            return cast("Any", self._nodes[rest[0]])
        if what == "enum":
            return _ENUMS[str(rest[0])][str(rest[1])]
        if what != "shared":
            raise TypeError(what)
        if rest[0] not in self._shared:
            self._shared[rest[0]] = self._made(*self._entries[1][rest[0]])
        return self._shared[rest[0]]

    def _made(self, kind: str, inner: Any) -> Any:
        if kind == "tuple":
            return tuple(self.read(each) for each in inner)
        if kind in _GRIDS:
            corners, name = inner
            return _GRIDS[kind](corners, name)
        if kind == "array":
            shape, values = inner
            return np.array([self.read(each) for each in values], dtype=float).reshape(shape)
        if kind == "mapping":
            return {self.read(key): self.read(value) for key, value in inner}
        if kind == "set":
            return frozenset(self.read(each) for each in inner)
        return _CLASSES[kind](**{name: self.read(value) for name, value in inner.items()})
