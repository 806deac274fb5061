"""Variables whose values are texts or members of an enumeration (stage: tracing the user's Python).

In: what the user compares and assigns. Out: numbers.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, Self, cast, override

import numpy as np

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr
from tidegate.expressions.chosen_texts import ChosenText, choice_among
from tidegate.expressions.nodes import as_boolean
from tidegate.expressions.tracing.plain_numbers import Truth
from tidegate.expressions.tracing.source import written_at
from tidegate.expressions.tracing.value_kinds import is_array
from tidegate.expressions.tracing.vector import Vector
from tidegate.numbers_as_texts import Texts, text_of, text_problem

__all__ = [
    "Choice",
    "Choices",
    "MetTexts",
    "PlainText",
    "choice_of",
    "chosen_among",
    "enumeration_of",
    "item_of",
    "number_among",
    "texts_among",
    "without_choices",
]

_LIKE: Final = 'write e.g. values=("idle", "heating"), or give a member of an enumeration'


class MetTexts(Sequence[tuple[str, int]]):
    """The texts of a variable of which nobody said what they are, with their numbers, in the order in which they are met.

    Parameters
    ----------
    meets_keys : whether the keys of a table that it is looked up in are among them.

    Examples
    --------
    >>> texts = MetTexts()
    >>> texts.number("idle"), texts.number("off"), texts.number("idle"), tuple(texts)
    (0, 1, 0, (('idle', 0), ('off', 1)))
    """

    def __init__(self, *, meets_keys: bool = False) -> None:
        self.meets_keys = meets_keys
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a text; one that is new gets the next."""
        return self._numbers.setdefault(text, len(self._numbers))

    def __bool__(self) -> bool:
        """Its variable has texts, also before the first of them is met."""
        return True

    @override
    def __getitem__(self, place: Any) -> Any:
        pairs: Any = tuple(self._numbers.items())
        return pairs[place]

    @override
    def __len__(self) -> int:
        return len(self._numbers)


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


def enumeration_of(values: Any, start: Any) -> type[enum.Enum] | None:
    """The enumeration that is given, or that the start belongs to; None for texts that are listed, and for numbers."""
    if isinstance(values, type) and issubclass(values, enum.Enum):
        return values
    first = next(iter(_flat(start)), start)
    return type(first) if values is None and isinstance(first, enum.Enum) else None


def number_among(texts: Texts | MetTexts, value: Any, name: str, place: Origin | None = None) -> Any:
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
        if value.texts is texts or value.texts == texts:
            return value.item
        if not isinstance(texts, MetTexts):
            raise UsageError(f"{name} is compared with or given the value of {value.variable}, which has other texts", origin=place)
        return number_among(texts, value.chosen, name, place)
    if isinstance(value, enum.Enum):
        value = text_of(value)
    if isinstance(value, str) and isinstance(texts, MetTexts):
        return texts.number(value)
    if isinstance(value, str):
        if value not in dict(texts):
            raise UsageError(text_problem(name, value, tuple(texts)), origin=place)
        return dict(texts)[value]
    given: Any = value
    known = {float(number) for _, number in texts}
    if isinstance(value, Expr):
        wrong: list[Any] = [one for one in chosen_among(value) if one.is_constant and one.value not in known]
    else:
        is_number = isinstance(value, int | float | np.number)
        wrong = [given] if isinstance(value, bool) or (is_number and float(given) not in known) else []
    if wrong:
        raise UsageError(text_problem(name, wrong[0], tuple(texts)), origin=place)
    return given


def chosen_among(value: Expr) -> list[Expr]:
    """What a choice, or a choice of choices, is between."""
    return [one for side in value.args[1:] for one in chosen_among(side)] if value.op == "select" else [value]


class Choice:
    """A variable, or its number, that is compared with texts; it may be the key of a dict of new values.

    Parameters
    ----------
    item : its symbol, or a number.
    texts : with their numbers.
    variable : its name.
    enumeration : whose members the texts stand for, if there is one.
    is_itself : whether plain calls have the text or member itself here, so that `is` has an answer.
    """

    is_text = True
    __slots__ = ("enumeration", "is_itself", "item", "texts", "variable")

    def __init__(
        self, item: Any, texts: Texts | MetTexts, variable: str, enumeration: type[enum.Enum] | None = None, *, is_itself: bool = False
    ) -> None:
        self.item, self.texts, self.variable, self.enumeration, self.is_itself = item, texts, variable, enumeration, is_itself

    @property
    def chosen(self) -> Any:
        """The text or member itself, as a choice among all where that is known only during the run."""
        return choice_among(self.cases) if isinstance(self.item, Expr) else self._values().get(float(self.item), self)

    @property
    def cases(self) -> list[tuple[Expr, Any]]:
        """All texts or members, each with the condition that it is this one."""
        return [(as_boolean(self.item == number), value) for number, value in self._values().items()]

    def at(self, number: float) -> Any:
        """The text or member that a number stands for; the number itself where it stands for none."""
        return self._values().get(number, number)

    def _values(self) -> dict[float, Any]:
        members = {text_of(item): item for item in self.enumeration} if self.enumeration is not None else {}
        return {number: members.get(text, text) for text, number in self.texts}

    def _number(self, other: object) -> Any:
        try:
            return number_among(self.texts, other, self.variable)
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
        return hash(self.variable if isinstance(self.item, Expr) or self.chosen is self else self.chosen)

    def __bool__(self) -> NoReturn:
        raise UsageError(f"{self.variable} is one of {', '.join(repr(text) for text, _ in self.texts)}, and no truth value", hint=self._hint())

    def __getattr__(self, name: str) -> Any:
        """What a member has, where it is known which it is."""
        if name.startswith("__") or isinstance(self.item, Expr) or self.chosen is self:
            raise AttributeError(name)
        return getattr(self.chosen, name)

    def __repr__(self) -> str:
        return self.variable

    def _hint(self) -> str:
        return f"compare it, {self.variable} == {self.texts[0][0]!r}"


class PlainText(str):
    """The text that a variable has while methods are called with numbers; it may be the key of a dict of new values.

    Parameters
    ----------
    item : its number.
    texts, variable : as of a ``Choice``.
    """

    __slots__ = ("item", "texts", "variable")
    enumeration = None

    item: Any
    texts: Texts | MetTexts
    variable: str

    def __new__(cls, text: str, item: Any, texts: Texts | MetTexts, variable: str) -> Self:
        """A text with more to it."""
        made = super().__new__(cls, text)
        made.item, made.texts, made.variable = item, texts, variable
        return made

    def __eq__(self, other: object) -> Any:
        return other == self if isinstance(other, Choice) else Truth(str.__eq__(self, str(other)) if isinstance(other, str) else False)

    def __ne__(self, other: object) -> Any:
        return ~self.__eq__(other)

    __hash__ = str.__hash__


class Choices(Choice):
    """An array of such variables, or of their numbers: compared by element, and its elements have texts each."""

    __slots__ = ()

    def __eq__(self, other: object) -> Any:
        number = np.asarray(self._number(other), dtype=object)
        shape = np.broadcast_shapes(np.shape(self.item), number.shape)
        own, others = (np.broadcast_to(np.asarray(item, dtype=object), shape) for item in (self.item, number))
        found = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            found[place] = Choice(own[place], self.texts, f"{self.variable}{list(place)}") == others[place]
        return found.view(Vector)

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        found = np.empty(equal.shape, dtype=object)
        for place in np.ndindex(equal.shape):
            found[place] = ~equal[place]
        return found.view(Vector)

    def __hash__(self) -> int:
        return hash(self.variable)

    def __len__(self) -> int:
        return len(self.item)

    def __getitem__(self, place: Any) -> Any:
        item = self.item[place]
        shown = str(place).strip("()").replace(" ", "")
        return choice_of(item, self.texts, f"{self.variable}[{shown}]", self.enumeration)

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    @property
    def chosen(self) -> Any:
        """Itself: its elements are texts, and not the array."""
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return np.shape(self.item)


def choice_of(item: Any, texts: Texts | MetTexts, variable: str, enumeration: type[enum.Enum] | None = None) -> Choice | PlainText:
    """A variable with texts: one, an array, or the text itself where its number is known."""
    if np.ndim(item):
        return Choices(item, texts, variable, enumeration)
    made = Choice(item, texts, variable, enumeration)
    if enumeration is None and isinstance(item, float) and isinstance(made.chosen, str):
        return PlainText(made.chosen, item, texts, variable)
    return made


def item_of(value: Any) -> Any:
    """What stands for a variable with texts, its symbol or its number; everything else as it is."""
    return value.item if isinstance(value, Choice | PlainText) else value


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
    if not any(isinstance(item, Choice | PlainText) for pair in given.items() for item in pair):
        return given
    found: dict[Any, Any] = {}
    for key, value in given.items():
        if isinstance(key, Choice | PlainText):
            # numbers are no keys: two variables may have the same
            target = key.variable if isinstance(key.item, float) else key.item
            found[target] = number_among(key.texts, value, key.variable, place)
        else:
            found[key] = item_of(value)
    return found
