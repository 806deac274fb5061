"""One of two texts, as a condition says (stage: expressions). In: what ``where`` is given of texts; out: a choice among their numbers.

A text has a number only as a value of a variable that has such texts, so the choice is made when it is given to one, or compared with one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Self

from tidegate.errors import UntraceableError
from tidegate.expressions.nodes import FALSE, TRUE, Expr, as_boolean, select

__all__ = ["ChosenText", "NamingText", "choice_among", "chosen", "chosen_text", "is_text", "is_unknown_text", "texts_of", "truth_of_text"]


class ChosenText:
    """``a`` where the condition holds, else ``b``.

    Parameters
    ----------
    condition : boolean expression.
    a, b : texts, members of an enumeration, variables that have such values, or choices among these.
    """

    is_text = True
    __slots__ = ("a", "b", "condition")

    def __init__(self, condition: Expr, a: Any, b: Any) -> None:
        self.condition, self.a, self.b = condition, a, b

    def as_number(self, number_of: Callable[[Any], Any]) -> Any:
        """The choice among the numbers of its texts."""
        return select(self.condition, *(one.as_number(number_of) if isinstance(one, ChosenText) else number_of(one) for one in (self.a, self.b)))

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, str | Enum | ChosenText):
            return NotImplemented
        return select(self.condition, as_boolean(self.a == other), as_boolean(self.b == other))

    def __ne__(self, other: object) -> Any:
        found = self.__eq__(other)
        return found if found is NotImplemented else ~found

    def __hash__(self) -> int:
        raise self._only_compared("no key")

    def __bool__(self) -> bool:
        raise self._only_compared("neither true nor false")

    def _only_compared(self, what: str) -> UntraceableError:
        return UntraceableError(
            f"the text {self!r} depends on the run, and is {what}", hint='compare it, text == "on", or give it to a variable with texts'
        )

    def __repr__(self) -> str:
        return f"{self.a!r} if {self.condition!r} else {self.b!r}"


class NamingText(str):
    """A text in which the name of an expression stands where Python would write its value."""

    __slots__ = ("item",)

    item: Expr

    def __new__(cls, text: str, item: Expr) -> Self:
        """A text, and the expression that it names."""
        made = super().__new__(cls, text)
        made.item = item
        return made


def is_text(value: Any) -> bool:
    """True for a text, a member of an enumeration, and what stands for one."""
    return isinstance(value, str | Enum) or _stands_for_text(value)


def is_unknown_text(value: Any) -> bool:
    """True for what stands for a text that is known only during the run."""
    if isinstance(value, Expr | float | int | str):  # by far the most, and asked of at every operation
        return False
    return isinstance(value, ChosenText) or (_stands_for_text(value) and (isinstance(chosen(value), ChosenText) or isinstance(value.item, Expr)))


def _stands_for_text(value: object) -> bool:
    """Whether its class says so: an object of the user may answer for any attribute."""
    return getattr(type(value), "is_text", False) is True


def chosen(value: Any) -> Any:
    """A text or a member of an enumeration, or a choice among such, for what stands for one."""
    return value if isinstance(value, str | Enum | ChosenText) else getattr(value, "chosen", value)


def chosen_text(condition: Expr, a: Any, b: Any) -> ChosenText:
    """``a`` where the condition holds, else ``b``; no text stands in it twice, so that choices of choices do not grow without end."""
    made = ChosenText(condition, a, b)
    leaves = _leaves(made)
    if not all(isinstance(one, str | Enum) for one in leaves):
        return made
    different = list({(one.__class__, one): one for one in leaves}.values())
    if len(different) in (1, len(leaves)):
        return made
    return choice_among([(as_boolean(made == text), text) for text in different])


def _leaves(text: Any) -> list[Any]:
    return [*_leaves(text.a), *_leaves(text.b)] if isinstance(text, ChosenText) else [text]


def choice_among(cases: Sequence[tuple[Expr, Any]]) -> Any:
    """The text of the case that holds; one of them always does."""
    *others, (_, found) = cases
    for condition, text in reversed(others):
        found = ChosenText(condition, text, found)
    return found


def texts_of(value: Any) -> list[tuple[Expr, Any]]:
    """Every text that something may be, and the condition that it is this one."""
    text = chosen(value)
    if not isinstance(text, ChosenText):
        return [(TRUE, text)]
    sides = ((text.condition, text.a), (~text.condition, text.b))
    return [(side & condition, one) for side, part in sides for condition, one in texts_of(part)]


def truth_of_text(value: Any) -> Expr:
    """Whether a text is not empty, or a member of an enumeration true: when it is one of those that are."""
    found = FALSE
    for condition, text in texts_of(value):
        found = found | condition if text else found
    return found
