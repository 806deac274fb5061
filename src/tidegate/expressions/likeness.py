"""Whether two graphs differ in numbers only, as those of a function do when a gain that it reads has changed (stage: expressions)."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.expressions.nodes import Expr, walk

__all__ = ["differ_in_numbers_only"]


def differ_in_numbers_only(first: Sequence[Expr], second: Sequence[Expr]) -> bool:
    """Whether they are the same but for constants; where one has a number the other has one.

    Parameters
    ----------
    first, second : roots of the graphs, in order.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> differ_in_numbers_only([2.0 * x + 1.0], [3.0 * x + 4.0]), differ_in_numbers_only([2.0 * x], [x * x])
    (True, False)
    """
    if len(first) != len(second):
        return False
    matching: dict[Expr, Expr] = {}
    for one, other in zip(walk(first), walk(second), strict=False):
        if one is not other and (one.op != other.op or len(one.args) != len(other.args)):
            return False
        if one is not other and one.op != "const":
            if one.data is not other.data and (type(one.data) is not tuple or one.data != other.data):
                return False
            if any(matching.get(a) is not b for a, b in zip(one.args, other.args, strict=True)):
                return False
        matching[one] = other
    return all(matching.get(one) is other for one, other in zip(first, second, strict=True))
