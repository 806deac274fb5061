"""Whether an expression may come to zero (stage: expressions). In: expressions; out: truth values, as far as bounds tell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tidegate.expressions.interval import bounds
from tidegate.expressions.node_data import Role
from tidegate.expressions.nodes import Expr, node, walk
from tidegate.expressions.sparsity import dependencies

__all__ = ["may_be_zero", "may_pass_zero"]

_MOVING: Final = frozenset({Role.TIME, Role.UNKNOWN})


def may_be_zero(exprs: Iterable[Expr]) -> list[bool]:
    """Whether expressions are zero for some values of their symbols, as far as bounds tell; of ``1 + 0.3*z*z`` that it is not.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> z = symbol(Role.UNKNOWN, "z")
    >>> may_be_zero([1.0 + 0.3 * z * z, 1.0 - z])
    [False, True]
    """
    wanted = list(exprs)
    squared: dict[Expr, Expr] = {}
    for item in walk(wanted):
        squared[item] = node(item.op, tuple([squared[arg] for arg in item.args]), item.data) if item.args else item
        if item.op == "mul":
            squared[item] = _with_squares(squared[item])
    return [low <= 0.0 <= high for low, high in bounds([squared[item] for item in wanted], {})]


def may_pass_zero(expr: Expr) -> bool:
    """Whether it moves between events, and may be zero on its way.

    Examples
    --------
    >>> from tidegate.expressions import symbol
    >>> u, p = symbol(Role.UNKNOWN, "u"), symbol(Role.PARAMETER, "p")
    >>> [may_pass_zero(expr) for expr in (u - p, p, 1.0 + u * u)]
    [True, False, False]
    """
    return any(item.data.role in _MOVING for item in dependencies(expr)) and may_be_zero([expr])[0]


def _with_squares(product: Expr) -> Expr:
    """The same product with equal factors next to each other, whose bounds are those of a square then."""
    first, second = product.args
    if first.op != "mul" or first.args[0] is first.args[1] or (first.args[0] is not second and first.args[1] is not second):
        return product
    other = first.args[1] if first.args[0] is second else first.args[0]
    return node("mul", (other, node("mul", (second, second))))
