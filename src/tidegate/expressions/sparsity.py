"""Which symbols an expression depends on (stage: expressions): expressions in, sets of symbols out.

Structural answers: a symbol counts wherever it appears after simplification, in either arm of a ``select`` and in its condition.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.expressions.nodes import Expr, walk

__all__ = ["degrees", "dependencies", "dependency_sets", "depends_on", "is_affine"]

_NONE: frozenset[Expr] = frozenset()


def dependencies(*exprs: Expr) -> frozenset[Expr]:
    """The symbols that appear in any of these expressions.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, k = symbol(Role.UNKNOWN, "x"), symbol(Role.PARAMETER, "k")
    >>> sorted(map(repr, dependencies(k * x + 1)))
    ['k', 'x']
    """
    return frozenset(item for item in walk(exprs) if item.op == "symbol")


def dependency_sets(exprs: Iterable[Expr]) -> list[frozenset[Expr]]:
    """The symbols of each expression, in one pass over what they share."""
    roots = list(exprs)
    found: dict[Expr, frozenset[Expr]] = {}
    for item in walk(roots):
        found[item] = frozenset((item,)) if item.op == "symbol" else _union([found[arg] for arg in item.args])
    return [found[root] for root in roots]


def _union(sets: list[frozenset[Expr]]) -> frozenset[Expr]:
    if not sets:
        return _NONE
    largest = max(sets, key=len)
    # most nodes add nothing to what their largest argument depends on: share its set
    return largest if all(s <= largest for s in sets) else largest.union(*sets)


def depends_on(expr: Expr, symbols: Iterable[Expr]) -> bool:
    """True if one of these symbols (or of these nodes, whatever they are) appears in the expression."""
    wanted = set(symbols)
    return any(item in wanted for item in walk([expr]))


def is_affine(expr: Expr, symbols: Iterable[Expr]) -> bool:
    """True if the expression is a sum of these symbols with factors that do not depend on them.

    A condition that depends on them makes it not affine; so does any function of them.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, k = symbol(Role.UNKNOWN, "x"), symbol(Role.PARAMETER, "k")
    >>> is_affine(k**2 * x + 1, [x]), is_affine(k * x, [x, k])
    (True, False)
    """
    return degrees([expr], symbols)[expr] < 2


def degrees(roots: Iterable[Expr], symbols: Iterable[Expr]) -> dict[Expr, int]:
    """Of every node below the roots: 0 if it is free of these symbols, 1 if it is affine in them, 2 if it is anything else."""
    wanted = frozenset(symbols)
    degree: dict[Expr, int] = {}
    for item in walk(roots):
        degree[item] = 1 if item in wanted else _degree(item.op, [degree[arg] for arg in item.args])
    return degree


def _degree(op: str, degrees: list[int]) -> int:
    highest = max(degrees, default=0)
    if highest == 0:
        return 0
    if op in ("add", "sub", "neg"):
        return highest
    if op == "mul":
        return min(sum(degrees), 2)
    if op == "div":
        return degrees[0] if degrees[1] == 0 else 2
    if op == "select":
        return highest if degrees[0] == 0 else 2
    return 2
