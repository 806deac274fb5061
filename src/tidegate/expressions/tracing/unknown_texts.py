"""Texts that are known only during the run: what Python does with a text is done with each it may be (stage: tracing the user's Python).

In: a variable that has texts, or a choice among texts, and what is done with it: looked up, matched, searched for, put together. Out: what comes of
each text, as branches under the condition that it is this one. A text that the path to this place excludes is left out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from enum import Enum, EnumType
from functools import partial
from typing import Any, Final

import numpy as np

from tidegate.expressions.chosen_texts import ChosenText, choice_among, chosen, is_text, is_unknown_text, texts_of
from tidegate.expressions.nodes import FALSE, Expr, as_boolean
from tidegate.expressions.tracing.choices import MetTexts
from tidegate.expressions.tracing.tracer import Tracer
from tidegate.expressions.tracing.value_kinds import is_dict, is_sequence

__all__ = ["are_members", "by_texts", "computed", "equal_texts", "has_unknown_text", "is_done_by_texts", "is_member", "text_attribute", "text_entry"]

_FUNCTIONS: Final = frozenset({str, len, repr, ord, format, isinstance, hash, int, float, bool, abs, min, max, round})
_LOOKED_UP: Final = frozenset({"index", "count", "get"})


def has_unknown_text(*values: Any) -> bool:
    """Whether a value, or one in a list, a tuple or an array of variables, is a text that is known only during the run."""
    for value in values:
        if isinstance(value, Expr | float | int | str):  # by far the most, and asked of at every operation
            continue
        has_elements = is_sequence(value) or (is_text(value) and hasattr(value, "shape"))
        if is_unknown_text(value) or (has_elements and has_unknown_text(*value)):
            return True
    return False


def by_texts(tracer: Tracer, function: Callable[..., Any], *values: Any) -> Any:
    """What a function gives for the texts that its arguments may be."""
    at = next((k for k, value in enumerate(values) if is_unknown_text(value)), None)
    if at is None:
        return function(*values)
    text = _possible(tracer, values[at])

    def with_text(one: Any) -> Any:
        return by_texts(tracer, function, *values[:at], one, *values[at + 1 :])

    if not isinstance(text, ChosenText):
        return with_text(text)
    tracer.note(text.condition)
    known = tracer.known(text.condition)
    if known is not None:
        return with_text(text.a if known else text.b)
    depth = len(tracer.assumptions)
    found: list[Any] = []
    for truth, one in ((True, text.a), (False, text.b)):
        tracer.assume(text.condition, truth)
        try:
            found.append(with_text(one))
        finally:
            del tracer.assumptions[depth:]
    return tracer.merge(text.condition, found[0], found[1], "what comes of a text")


def _possible(tracer: Tracer, value: Any) -> Any:
    """A text as a choice among those that the path to this place does not exclude."""
    cases: list[tuple[Expr, Any]] = getattr(value, "cases", [])
    left = [(condition, text) for condition, text in cases if tracer.known(condition) is not False]
    return choice_among(left) if left else chosen(value)


def text_entry(tracer: Tracer, container: Any, key: Any) -> Any:
    """``container[key]``; members of an enumeration stand for their texts where these are the keys."""

    def entry(text: Any) -> Any:
        try:
            return container[_key(container, text)]
        except KeyError:
            raise tracer.error(f"there is no entry for {text!r}", "give one for each text that it may be, or use .get(text, otherwise)") from None

    texts = getattr(key, "texts", ())
    if isinstance(texts, MetTexts) and texts.meets_keys and is_dict(container):
        for each in container:
            if isinstance(each, str):
                texts.number(each)
    return by_texts(tracer, entry, key)


def _key(container: Any, text: Any) -> Any:
    return text.value if isinstance(text, Enum) and is_dict(container) and text not in container and text.value in container else text


def is_member(tracer: Tracer, item: Any, container: Any) -> Any:
    """``item in container``, where either has texts that are known only during the run."""
    if isinstance(container, str):
        return by_texts(tracer, partial(operator.contains, container), item)
    found: Any = FALSE
    for other in container:
        found = found | as_boolean(by_texts(tracer, _are_equal, item, other))
    return found


def equal_texts(tracer: Tracer, left: Any, right: Any) -> Any:
    """``left == right``: known where the path excludes all other texts, so that the last of all cases needs no `else`."""
    equal: Any = left == right
    certain = by_texts(tracer, _are_equal, left, right) if isinstance(equal, Expr) else equal
    return certain if isinstance(certain, bool) else equal


def are_members(left: Any, right: Any) -> bool:
    """Whether both are members of enumerations, of which there is one object each, and which of them is known only during the run."""
    is_one_unknown = is_unknown_text(left) or is_unknown_text(right)
    are_themselves = all(getattr(value, "is_itself", True) for value in (left, right) if is_unknown_text(value))
    return is_one_unknown and are_themselves and all(isinstance(text, Enum) for value in (left, right) for _, text in texts_of(value))


def _are_equal(a: Any, b: Any) -> Any:
    return a is b or (type(a) is type(b) and not isinstance(a, Expr) and a == b) or (isinstance(a, str) and isinstance(b, str) and a == b)


def text_attribute(tracer: Tracer, text: Any, name: str) -> Any:
    """``text.name``; a method is called for each text."""

    def called(one: Any, *args: Any) -> Any:
        return getattr(one, name)(*args)

    def attribute(one: Any) -> Any:
        return getattr(one, name)

    return partial(by_texts, tracer, called, text) if callable(getattr(str, name, None)) else by_texts(tracer, attribute, text)


def computed(tracer: Tracer, operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """``left + right``, ``left % right`` and the like, where either has such a text in it."""
    if not is_sequence(right):
        return by_texts(tracer, operation, left, right)

    def with_items(one: Any, *items: Any) -> Any:
        return operation(one, type(right)(items))

    return by_texts(tracer, with_items, left, *right)


def is_done_by_texts(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call of someone else's code is made for each text that is among its arguments."""
    if not any(map(is_unknown_text, args)):
        return False
    held = getattr(function, "__self__", None)
    if isinstance(held, str):
        return True
    if isinstance(function, EnumType | np.ufunc) or getattr(function, "__module__", None) == "math":
        return True
    is_looked_up = isinstance(held, list | tuple | dict) and getattr(function, "__name__", "") in _LOOKED_UP
    return is_looked_up or any(function is known for known in _FUNCTIONS)
