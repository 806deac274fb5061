"""Start values and parameters as users give them (front end of plain functions).

In: a dict of numbers and arrays, or what else has names; a sequence, an array, or one number. Out: named pieces with their shapes, from which come
variables, symbols, and the vectors `y`, `ydot` and `p` that the user's function is called with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import Any, Literal, cast

import numpy as np

from tidegate.errors import Origin
from tidegate.expressions import Expr, Role, as_boolean, as_real, symbol
from tidegate.expressions.tracing import Vector, VectorNames
from tidegate.expressions.tracing.value_kinds import is_mapping
from tidegate.model import MAX_DIMENSIONS, element_names
from tidegate.quick_dataclass import dataclass

__all__ = ["FunctionQuantities", "NamedPiece", "Problems", "read_quantities"]

Problems = list[tuple[str, Origin | None]]
Kind = Literal["real", "integer", "boolean"]


@dataclass(frozen=True, eq=False)
class NamedPiece:
    """One named quantity.

    Parameters
    ----------
    values : an expression for each element, in row order.
    """

    name: str
    shape: tuple[int, ...]
    values: tuple[Expr, ...]
    kind: Kind = "real"

    @property
    def elements(self) -> list[str]:
        """Names of its elements."""
        return element_names(self.name, self.shape)

    def symbols(self, role: Role) -> list[Expr]:
        """A symbol for each element."""
        return [symbol(role, name) for name in self.elements]


@dataclass(frozen=True, eq=False)
class FunctionQuantities:
    """All states, derivatives or parameters of a model.

    Parameters
    ----------
    owner : what the user's function calls them: ``y``, ``ydot``, ``p``.
    pieces : in the user's order.
    shape : of the vector that the function is given; only a matrix of start values has more than one dimension.
    """

    owner: str
    pieces: tuple[NamedPiece, ...]
    shape: tuple[int, ...]

    @property
    def elements(self) -> list[str]:
        """Names of all elements, in order."""
        return [name for piece in self.pieces for name in piece.elements]

    @property
    def values(self) -> list[Expr]:
        """Expressions of all elements, in order."""
        return [value for piece in self.pieces for value in piece.values]

    def vector(self, role: Role, owner: str = "", elsewhere: Mapping[str, str] | None = None) -> Vector:
        """The symbols of all elements, as the user's function gets them: truth values as conditions."""
        places: dict[str, tuple[int, tuple[int, ...]]] = {}
        at = 0
        for piece in self.pieces:
            places[piece.name] = (at, piece.shape)
            at += len(piece.values)
        symbols = [as_boolean(item) if piece.kind == "boolean" else item for piece in self.pieces for item in piece.symbols(role)]
        vector = Vector(symbols, VectorNames(owner or self.owner, places, elsewhere or {}))
        return vector if len(self.shape) == 1 else Vector(vector.reshape(self.shape))


def read_quantities(owner: str, given: Any, problems: Problems, origin: Origin, *, kinds: bool = False) -> FunctionQuantities:
    """What the user gave for ``owner``; whatever is wrong with it is added to the problems.

    Parameters
    ----------
    owner : ``y`` or ``p``: the name of what is given without names.
    given : dict, dataclass, named tuple or namespace; sequence, array or number; None for nothing.
    problems : added to.
    origin : what the problems are about.
    kinds : whether integers and truth values stay such, as they do for parameters.
    """
    if given is None:
        return FunctionQuantities(owner, (), (0,))
    given = _by_names(given)
    if is_mapping(given) or hasattr(given, "keys"):
        entries: Any = given
        pieces = [_piece(f"{owner}[{name!r}]", name, entries[name], problems, origin, kinds) for name in entries.keys()]  # noqa: SIM118 - a Vector iterates over elements
        found = tuple(piece for piece in pieces if piece is not None)
        return FunctionQuantities(owner, found, (sum(len(piece.values) for piece in found),))
    whole = _piece(owner, owner, given, problems, origin, kinds=False)
    if whole is None:
        return FunctionQuantities(owner, (), (0,))
    return FunctionQuantities(owner, (whole,), whole.shape or (1,))


def _by_names(given: Any) -> Any:
    """A dict of what has names in Python; anything else as it is."""
    if isinstance(given, SimpleNamespace):
        return vars(given)
    if not isinstance(given, type) and is_dataclass(given):
        return {one.name: getattr(given, one.name) for one in fields(given)}
    to_dict: Any = getattr(cast("object", given), "_asdict", None)  # of a named tuple
    return to_dict() if isinstance(given, tuple) and to_dict is not None else given  # pyright: ignore[reportUnknownVariableType]


def _piece(what: str, name: Any, given: Any, problems: Problems, origin: Origin, kinds: bool) -> NamedPiece | None:
    if not isinstance(name, str) or not name.strip():
        problems.append((f"{name!r} is not a name: the names of variables and parameters are texts", origin))
        return None
    try:
        array = np.asarray(given if isinstance(given, np.ndarray | Expr) or not isinstance(given, Iterable) else list(given), dtype=object)  # pyright: ignore[reportUnknownArgumentType]
    except ValueError:
        problems.append((f"{what} is {given!r}; a number or an array of numbers with rows of equal length is expected", origin))
        return None
    if isinstance(given, str | bytes | dict) or array.ndim > MAX_DIMENSIONS:
        problems.append((f"{what} is {given!r}; a number or an array of at most {MAX_DIMENSIONS} dimensions is expected", origin))
        return None
    values: list[Any] = array.ravel().tolist()
    if not values:
        problems.append((f"{what} is empty; at least one number is expected", origin))
        return None
    for at, value in enumerate(values):
        sentence = _wrong(what if not array.shape else f"element {at} of {what}", value)
        if sentence:
            problems.append((sentence, origin))
            return NamedPiece(name, array.shape, (as_real(0.0),) * len(values))
    return NamedPiece(name, array.shape, tuple(as_real(value) for value in values), _kind(values) if kinds else "real")


def _wrong(what: str, value: Any) -> str:
    if isinstance(value, Expr):
        return ""
    if not isinstance(value, int | float | np.integer | np.floating | np.bool_):
        return f"{what} is {value!r}; a number is expected"
    number = as_real(value).value
    return "" if math.isfinite(number) else f"{what} is {number}; a finite number is expected"


def _kind(values: list[Any]) -> Kind:
    if all(value.is_boolean if isinstance(value, Expr) else isinstance(value, bool | np.bool_) for value in values):
        return "boolean"
    return "integer" if all(isinstance(value, int | np.integer) for value in values) else "real"
