"""Variables whose values are texts or members of an enumeration (front end of components). In: what the user compares and assigns. Out: numbers."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, cast

import numpy as np

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr
from tidegate.expressions.chosen_texts import ChosenText
from tidegate.expressions.tracing import Truth, written_at
from tidegate.expressions.tracing.value_kinds import is_array
from tidegate.expressions.tracing.vector import Vector
from tidegate.numbers_as_texts import Texts, text_of, text_problem

__all__ = ["Choice", "Choices", "choice_of", "number_among", "texts_among", "without_choices"]

_LIKE: Final = 'write e.g. values=("idle", "heating"), or give a member of an enumeration'


def texts_among(values: Any, start: Any, place: Origin) -> Texts:
    """The texts of a variable with their numbers: those that are listed, or the members of the enumeration that the start belongs to; () for numbers.

    Raises
    ------
    UsageError : what is given is neither, or a text is there twice.
    """
    if values is None:
        start = next(iter(_flat(start)), start)
        if isinstance(start, str) and not isinstance(start, enum.Enum):
            what = f"the value {start!r} is a text, and it is not said which others there are"
            raise UsageError(what, origin=place, hint=f"values=({start!r}, ...)")
        if not isinstance(start, enum.Enum):
            return ()
        values = type(start)
    if isinstance(values, type) and issubclass(values, enum.Enum):
        members = list(values)
        are_numbers = all(isinstance(item.value, int) and not isinstance(item.value, bool) for item in members)
        return tuple((text_of(item), int(item.value) if are_numbers else k) for k, item in enumerate(members))
    listed = list(cast("Sequence[Any]", values)) if isinstance(values, list | tuple) else []
    if not listed or not all(isinstance(item, str) and item for item in listed) or len(set(listed)) != len(listed):
        raise UsageError(f"values is {values!r}; different texts are expected, or an enumeration", origin=place, hint=_LIKE)
    return tuple((str(item), k) for k, item in enumerate(listed))


def number_among(texts: Texts, value: Any, name: str, place: Origin | None = None) -> Any:
    """What stands for a text; expressions, functions and numbers of texts as they are.

    Raises
    ------
    UsageError : it is none of the texts.
    """
    if isinstance(value, ChosenText):
        return value.as_number(lambda one: number_among(texts, one, name, place))
    if isinstance(value, list | tuple) or (is_array(value) and value.ndim):
        found = [number_among(texts, item, f"{name}[{k}]", place) for k, item in enumerate(cast("Sequence[Any]", value))]
        return found if all(isinstance(item, int) for item in found) else np.array(found, dtype=object)
    if isinstance(value, Choice):
        if value.texts != texts:
            raise UsageError(f"{name} is compared with or given the value of {value.name}, which has other texts", origin=place)
        return value.item
    if isinstance(value, enum.Enum):
        value = text_of(value)
    if isinstance(value, str):
        if value not in dict(texts):
            raise UsageError(text_problem(name, value, texts), origin=place)
        return dict(texts)[value]
    given: Any = value
    if isinstance(value, bool) or (isinstance(value, int | float | np.number) and float(given) not in {float(number) for _, number in texts}):
        raise UsageError(text_problem(name, given, texts), origin=place)
    return given


class Choice:
    """A variable, or its number, that is compared with texts; it may be the key of a dict of new values.

    Parameters
    ----------
    item : its symbol, or a number.
    texts : with their numbers.
    name : of the variable.
    """

    is_text = True
    __slots__ = ("item", "name", "texts")

    def __init__(self, item: Any, texts: Texts, name: str) -> None:
        self.item, self.texts, self.name = item, texts, name

    def _number(self, other: object) -> Any:
        try:
            return number_among(self.texts, other, self.name)
        except UsageError as error:
            if error.origin is not None:
                raise
            raise UsageError(error.message, hint=error.hint, origin=written_at()) from None

    def __eq__(self, other: object) -> Any:
        number = self._number(other)
        if isinstance(self.item, Expr) or isinstance(number, Expr):
            return self.item == number
        return Truth(float(self.item) == float(number))

    def __ne__(self, other: object) -> Any:
        return ~self.__eq__(other)

    def __hash__(self) -> int:
        return hash(self.name)

    def __bool__(self) -> NoReturn:
        raise UsageError(f"{self.name} is one of {', '.join(repr(text) for text, _ in self.texts)}, and no truth value", hint=self._hint())

    def __repr__(self) -> str:
        return self.name

    def _hint(self) -> str:
        return f"compare it: self.{self.name} == {self.texts[0][0]!r}"


class Choices(Choice):
    """An array of such variables, or of their numbers: compared by element, and its elements have texts each."""

    __slots__ = ()

    def __eq__(self, other: object) -> Any:
        number = np.asarray(self._number(other), dtype=object)
        shape = np.broadcast_shapes(np.shape(self.item), number.shape)
        own, others = (np.broadcast_to(np.asarray(item, dtype=object), shape) for item in (self.item, number))
        found = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            found[place] = Choice(own[place], self.texts, f"{self.name}{list(place)}") == others[place]
        return found.view(Vector)

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        found = np.empty(equal.shape, dtype=object)
        for place in np.ndindex(equal.shape):
            found[place] = ~equal[place]
        return found.view(Vector)

    def __hash__(self) -> int:
        return hash(self.name)

    def __len__(self) -> int:
        return len(self.item)

    def __getitem__(self, place: Any) -> Any:
        item = self.item[place]
        shown = str(place).strip("()").replace(" ", "")
        return (Choices if np.ndim(item) else Choice)(item, self.texts, f"{self.name}[{shown}]")

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return np.shape(self.item)


def choice_of(item: Any, texts: Texts, name: str) -> Choice:
    """A variable with texts: one, or an array."""
    return (Choices if np.ndim(item) else Choice)(item, texts, name)


def _flat(value: Any) -> list[Any]:
    return [inner for item in cast("list[Any]", value) for inner in _flat(item)] if isinstance(value, list | tuple) else [value]


def without_choices(returned: Any, place: Origin | None = None) -> Any:
    """New values with the numbers of texts, by symbols; everything else as it is.

    Raises
    ------
    UsageError : a variable is given what is none of its texts.
    """
    if not isinstance(returned, Mapping):
        return returned
    given = cast("Mapping[Any, Any]", returned)
    if not any(isinstance(item, Choice) for pair in given.items() for item in pair):
        return given
    found: dict[Any, Any] = {}
    for key, value in given.items():
        if isinstance(key, Choice):
            found[key.item] = number_among(key.texts, value, key.name, place)
        else:
            found[key] = value.item if isinstance(value, Choice) else value
    return found
