"""Which expressions are surely whole numbers, and the whole part of the others (stage: tracing the user's Python).

In: an expression. Out: between which whole numbers it lies, if it is made of ``int``, ``floor``, truth values, branches between whole numbers, and
sums of these; what ``int`` and NumPy's conversions to whole numbers give.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from tidegate.expressions.nodes import Expr, as_real

__all__ = ["Range", "whole_part", "whole_range"]

Range = tuple[float, float]


def whole_range(item: Expr, known: dict[Expr, Range | None] | None = None) -> Range | None:
    """Between which whole numbers an expression lies; None if it may be no whole number. What is ``known`` is not found out again."""
    known = {} if known is None else known
    if item not in known:
        known[item] = _range_of(item, known)
    return known[item]


def whole_part(value: Any) -> Any:
    """A number without its fraction, towards zero; what is whole already makes no event of it."""
    if not isinstance(value, Expr):
        return int(value)
    return as_real(value) if whole_range(value) is not None else math.trunc(as_real(value))


def _range_of(item: Expr, known: dict[Expr, Range | None]) -> Range | None:
    if item.is_boolean:
        return 0.0, 1.0
    if item.is_constant:
        return (item.value, item.value) if item.value == math.floor(item.value) else None
    if item.op == "floor":
        return -math.inf, math.inf
    if item.op == "segment":
        return 0.0, len(item.data) - 2.0
    if item.op == "lookup":
        return (min(item.data), max(item.data)) if all(value == math.floor(value) for value in item.data) else None
    parts = [whole_range(argument, known) for argument in (item.args[1:] if item.op == "select" else item.args)]
    whole = [part for part in parts if part is not None]
    if item.op not in _RULES or len(whole) < len(parts):
        return None
    if item.op == "select":
        return _of_branches(item, *whole)
    if item.op == "sub" and (divisor := _remainder_by(item)) > 0.0:
        return 0.0, divisor - 1.0
    return _RULES[item.op](*whole)


def _of_branches(item: Expr, a: Range, b: Range) -> Range:
    """Of ``min`` and ``max`` more is known than of other branches: their condition compares them."""
    test, x, y = item.args
    if test.op in ("ge", "gt"):
        if as_real(y - x) is test.args[0]:
            return min(a[0], b[0]), min(a[1], b[1])
        if as_real(x - y) is test.args[0]:
            return max(a[0], b[0]), max(a[1], b[1])
    return min(a[0], b[0]), max(a[1], b[1])


def _remainder_by(item: Expr) -> float:
    """The number n of ``x % n``, which is written x - n*floor(x/n); 0 for what is no remainder."""
    x, part = item.args
    if part.op != "mul":
        return 0.0
    for number, floor in (part.args, part.args[::-1]):
        if number.is_constant and floor.op == "floor" and as_real(x / number) is floor.args[0]:
            return number.value
    return 0.0


def _product(a: Range, b: Range) -> Range:
    corners = [0.0 if 0.0 in (x, y) else x * y for x in a for y in b]
    return min(corners), max(corners)


def _sum(a: Range, b: Range) -> Range:
    return a[0] + b[0], a[1] + b[1]


def _difference(a: Range, b: Range) -> Range:
    return a[0] - b[1], a[1] - b[0]


def _negative(a: Range) -> Range:
    return -a[1], -a[0]


_RULES: Final[dict[str, Callable[..., Range]]] = {"select": _of_branches, "add": _sum, "sub": _difference, "mul": _product, "neg": _negative}
