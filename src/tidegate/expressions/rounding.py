"""How far expressions are from their exact values (stage: expressions): expressions in, expressions of bounds out.

To first order. What is known of their symbols within widths moves them by the sizes of their derivatives. And every operation inside rounds: it adds
a part of its outcome, and hands on what its arguments bring by the size of its derivative (Higham, Accuracy and Stability of Numerical Algorithms,
2002, section 3.3). What arithmetic makes of numbers that stand still has its rounding wherever it is computed, and adds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tidegate.expressions.differentiate import jacobian, local_slope
from tidegate.expressions.interval import ARITHMETIC_ERROR, LIBRARY_ERROR
from tidegate.expressions.node_data import OPAQUE
from tidegate.expressions.nodes import ZERO, Expr, as_real, raw_node, select, walk
from tidegate.expressions.past_overflow import may_overflow

__all__ = ["roundings", "spreads"]

# on both sides
_OF_ARITHMETIC: Final = 2.0 * ARITHMETIC_ERROR
_OF_LIBRARY: Final = 2.0 * LIBRARY_ERROR
_ERRORS: Final[dict[str, float]] = dict.fromkeys(("add", "sub", "mul", "div", "sqrt"), _OF_ARITHMETIC)
_LARGE: Final = 1e290
# exact, or constant between jumps; of what is opaque nothing is known
_WITHOUT: Final = OPAQUE | {"neg", "same", "select", "floor", "segment", "lookup", "ge", "gt", "nonzero", "and", "or", "not", "past"}


def spreads(exprs: Sequence[Expr], widths: Mapping[Expr, Expr]) -> list[Expr]:
    """How far the expressions move if symbols move by up to these widths.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, y, wx, wy = (symbol(Role.UNKNOWN, name) for name in ("x", "y", "wx", "wy"))
    >>> spreads([2.0 * x - y], {x: wx, y: wy})
    [2*wx + wy]
    """
    sizes = [*widths.values()]
    found: list[Expr] = [ZERO] * len(exprs)
    for (row, column), slope in jacobian(exprs, [*widths], past_overflow=True).items():
        found[row] = found[row] + _magnitude(slope) * sizes[column]
    return found


def _magnitude(x: Expr) -> Expr:
    return as_real(abs(x.value)) if x.is_constant else select(raw_node("ge", (x,)), x, -x)


def roundings(exprs: Iterable[Expr], moving: Iterable[Expr]) -> list[Expr]:
    """How far from the exact values the expressions may be computed.

    Parameters
    ----------
    exprs : expressions.
    moving : symbols that move; they are taken as they stand.

    Examples
    --------
    >>> from tidegate.expressions import Role, evaluate, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> bound, = roundings([(x + 1e6) - 1e6], [x])
    >>> print(f"{evaluate([bound], {x: 0.25})[0]:.0e}")
    8e-10
    """
    roots = list(exprs)
    moves = set(moving)
    bounds: dict[Expr, Expr] = {}
    steep = may_overflow(roots)
    for item in walk(roots):
        if item in moves or moves.isdisjoint(item.args):
            continue
        moves.add(item)
        bound = _handed_on(item, [bounds.get(arg, ZERO) for arg in item.args], steep)
        if item.op not in _WITHOUT:
            bound = bound + _ERRORS.get(item.op, _OF_LIBRARY) * _magnitude(item)
        if bound is not ZERO:
            bounds[item] = bound
    return [bounds.get(root, ZERO) for root in roots]


def _handed_on(item: Expr, bounds: list[Expr], steep: set[Expr]) -> Expr:
    if item.op == "select":
        return select(item.args[0], *bounds[1:])
    total = ZERO
    for place, bound in enumerate(bounds):
        if bound is ZERO:
            continue
        change = _magnitude(local_slope(item, place)) * bound
        argument = item.args[place]
        if item.op == "div" and place == 1 and argument in steep:
            # of what is divided by infinity nothing is left that could be rounded
            change = select(raw_node("gt", (_LARGE - _magnitude(argument),)), change, ZERO)
        total = total + change
    return total
