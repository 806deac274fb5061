"""Start values and parameters as users give them (front end of plain functions).

In: a dict of numbers and arrays, or what else has names; a sequence, an array, or one number. Out: named pieces with their shapes, from which come
variables, symbols, and the vectors `y`, `ydot` and `p` that the user's function is called with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum, Flag
from types import SimpleNamespace
from typing import Any, Literal, cast

import numpy as np

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, Role, as_boolean, as_real, symbol
from tidegate.expressions.chosen_texts import ChosenText, is_text
from tidegate.expressions.tracing import Vector, VectorNames
from tidegate.expressions.tracing.choices import Choice, MetTexts, chosen_among, item_of, number_among, texts_among
from tidegate.expressions.tracing.value_kinds import is_mapping
from tidegate.model import MAX_DIMENSIONS, element_names
from tidegate.numbers_as_texts import Texts, text_problem
from tidegate.quick_dataclass import dataclass

__all__ = ["FunctionQuantities", "Kind", "MetBefore", "NamedPiece", "Problems", "read_quantities"]

Problems = list[tuple[str, Origin | None]]
MetBefore = dict[tuple[str, str], MetTexts]
Kind = Literal["real", "integer", "boolean"]


@dataclass(frozen=True, eq=False)
class NamedPiece:
    """One named quantity.

    Parameters
    ----------
    values : an expression for each element, in row order.
    texts : what its numbers say, () for a quantity.
    enumeration : whose members the texts stand for, if there is one.
    """

    name: str
    shape: tuple[int, ...]
    values: tuple[Expr, ...]
    kind: Kind = "real"
    texts: Texts | MetTexts = ()
    enumeration: type[Enum] | None = None

    @property
    def elements(self) -> list[str]:
        """Names of its elements."""
        return element_names(self.name, self.shape)

    def symbols(self, role: Role) -> list[Expr]:
        """A symbol for each element."""
        return [symbol(role, name) for name in self.elements]

    def as_given(self, items: Sequence[Any]) -> list[Any]:
        """Elements as the user's function gets them, for symbols or numbers of them: truth values as such, and texts."""
        if self.texts:
            choices: list[Any] = [self.said_by(item, name) for name, item in zip(self.elements, items, strict=True)]
            return [one if isinstance(one.item, Expr) else one.at(one.item) for one in choices]
        return [as_boolean(item) if self.kind == "boolean" and isinstance(item, Expr) else item for item in items]

    def said_by(self, number: Any, name: str) -> Any:
        """The text that a number of an element stands for; of a quantity the number itself."""
        return Choice(number, self.texts, name, self.enumeration, is_itself=True) if self.texts else number

    def number(self, value: Any, name: str, place: Origin | None) -> Expr:
        """What stands for a new value of an element.

        Raises
        ------
        UsageError : it is none of the texts that the element may be.
        """
        if self.texts:
            if not is_text(value) and not self._may_be_member(value):
                raise UsageError(text_problem(name, value, tuple(self.texts)), origin=place)
            return as_real(number_among(self.texts, value, name, place))
        if isinstance(value, ChosenText):
            return value.as_number(lambda one: self.number(one, name, place))
        try:
            return as_real(item_of(value))
        except TypeError:
            raise UsageError(f"{name} is given {value!r}; a number is expected", origin=place) from None

    def _may_be_member(self, value: Any) -> bool:
        """Whether it is a number, or a choice of numbers, and the members are numbers: of a text Python does not know that it is one."""
        if self.enumeration is None or not issubclass(self.enumeration, int):
            return False
        if isinstance(value, Expr):
            return all(one.is_constant for one in chosen_among(as_real(value)))
        return isinstance(value, int | float | np.number)


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
        symbols = [item for piece in self.pieces for item in piece.as_given(piece.symbols(role))]
        vector = Vector(symbols, VectorNames(owner or self.owner, places, elsewhere or {}))
        return vector if len(self.shape) == 1 else Vector(vector.reshape(self.shape))


def read_quantities(owner: str, given: Any, problems: Problems, origin: Origin, met: MetBefore | None = None) -> FunctionQuantities:
    """What the user gave for ``owner``; whatever is wrong with it is added to the problems.

    Parameters
    ----------
    owner : ``y`` or ``p``: the name of what is given without names.
    given : dict, dataclass, named tuple or namespace; sequence, array or number; None for nothing.
    problems : added to.
    origin : what the problems are about.
    met : the texts that were met, by owner and name, which grow: for quantities that may be texts, and whose integers and truth values stay such,
        as parameters; None where all are real numbers.
    """
    reader = _Reader(problems, origin, met)
    if given is None:
        return FunctionQuantities(owner, (), (0,))
    given = _by_names(given)
    if is_mapping(given) or hasattr(given, "keys"):
        entries: Any = given
        pieces = [reader.piece(f"{owner}[{name!r}]", name, entries[name], owner) for name in entries.keys()]  # noqa: SIM118 - a Vector iterates over elements
        found = tuple(piece for piece in pieces if piece is not None)
        return FunctionQuantities(owner, found, (sum(len(piece.values) for piece in found),))
    whole = replace(reader, met=None).piece(owner, owner, given, owner)
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


@dataclass(frozen=True, eq=False)
class _Reader:
    """Reads one quantity after the other; see ``read_quantities``."""

    problems: Problems
    origin: Origin
    met: MetBefore | None

    def piece(self, what: str, name: Any, given: Any, owner: str) -> NamedPiece | None:
        """A named quantity, or a problem."""
        if not isinstance(name, str) or not name.strip():
            return self._problem(f"{name!r} is not a name: the names of variables and parameters are texts")
        is_one = isinstance(given, np.ndarray | Expr) or is_text(given) or not isinstance(given, Iterable)
        try:
            array = np.asarray(given if is_one else list(given), dtype=object)  # pyright: ignore[reportUnknownArgumentType,reportArgumentType]
        except (TypeError, ValueError):  # a number with a unit is iterable, and says then that it is not
            return self._problem(f"{what} is {given!r}; a number or an array of numbers with rows of equal length is expected")
        if isinstance(given, bytes | dict) or array.ndim > MAX_DIMENSIONS:
            return self._problem(f"{what} is {given!r}; a number or an array of at most {MAX_DIMENSIONS} dimensions is expected")
        values: list[Any] = array.ravel().tolist()
        if not values:
            return self._problem(f"{what} is empty; at least one number is expected")
        if self.met is not None and any(map(_says_a_text, values)):
            return self._with_texts(name, array.shape, values, self.met.setdefault((owner, name), MetTexts(meets_keys=owner == "p")))
        for at, value in enumerate(values):
            sentence = _wrong(what if not array.shape else f"element {at} of {what}", value)
            if sentence:
                self._problem(sentence)
                return NamedPiece(name, array.shape, (as_real(0.0),) * len(values))
        return NamedPiece(name, array.shape, tuple(as_real(value) for value in values), "real" if self.met is None else _kind(values))

    def _with_texts(self, name: str, shape: tuple[int, ...], values: list[Any], met: MetTexts) -> NamedPiece | None:
        """A quantity whose values are texts: members of an enumeration, or those that are met while functions are followed."""
        choice = next((value for value in values if isinstance(value, Choice)), None)
        first = values[0]
        made = NamedPiece(name, shape, (), "integer", met)
        if choice is not None:
            made = replace(made, texts=choice.texts, enumeration=choice.enumeration)
        elif isinstance(first, Enum):
            made = replace(made, texts=texts_among(None, first, self.origin), enumeration=type(first))
        try:
            return replace(made, values=tuple(made.number(value, element, self.origin) for value, element in zip(values, made.elements, strict=True)))
        except UsageError as error:
            return self._problem(error.message)

    def _problem(self, sentence: str) -> None:
        self.problems.append((sentence, self.origin))


def _says_a_text(value: Any) -> bool:
    """A text or a member of an enumeration; those that are sets of bits are numbers."""
    return is_text(value) and not isinstance(value, Flag)


def _wrong(what: str, value: Any) -> str:
    if isinstance(value, Expr):
        return ""
    if not isinstance(value, int | float | np.integer | np.floating | np.bool_):
        besides = "; texts are possible by name, in discrete= and p=" if _says_a_text(value) else ""
        return f"{what} is {value!r}; a number is expected{besides}"
    number = as_real(value).value
    return "" if math.isfinite(number) else f"{what} is {number}; a finite number is expected"


def _kind(values: list[Any]) -> Kind:
    if all(value.is_boolean if isinstance(value, Expr) else isinstance(value, bool | np.bool_) for value in values):
        return "boolean"
    return "integer" if all(isinstance(value, int | np.integer) for value in values) else "real"
