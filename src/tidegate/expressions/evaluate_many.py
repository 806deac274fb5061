"""Plain evaluation of many points at once (stage: expressions): expressions, and for each symbol a number or one number a point, in; numbers out.

What comes out is what ``evaluate`` gives point by point, to the last bit: sums, products, quotients, roots and comparisons are rounded by one rule
whoever computes them, and done by NumPy for all points at once; everything else is done by the same functions, point by point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.expressions.evaluate import evaluate_order
from tidegate.expressions.ieee_arithmetic import MAX_MULTIPLIED_POWER, apply
from tidegate.expressions.nodes import Expr, walk

__all__ = ["evaluate_many", "is_arithmetic"]

FloatArray = NDArray[np.float64]
Values = float | FloatArray
_CALLS: Final = frozenset({"call", "output", "slope", "delay", "past", "same"})


def is_arithmetic(exprs: Iterable[Expr]) -> bool:
    """Whether these expressions are made of operations on numbers, and call nothing of the user's."""
    return not any(item.op in _CALLS for item in walk(exprs))


def evaluate_many(exprs: Iterable[Expr], values: Mapping[Expr, Values]) -> list[Values]:
    """The numbers that arithmetic expressions have: one where nothing in an expression varies, else one a point.

    Raises
    ------
    UsageError
        Where a symbol has no value.

    Examples
    --------
    >>> import numpy as np
    >>> from tidegate.expressions import Role, symbol
    >>> x, y = (symbol(Role.UNKNOWN, name) for name in "xy")
    >>> [found.tolist() for found in evaluate_many([x * y, x > 2], {x: np.array([2.0, 3.0]), y: 0.5})]
    [[1.0, 1.5], [0.0, 1.0]]
    """
    roots = list(exprs)
    found: dict[Expr, Values] = {}
    with np.errstate(all="ignore"):
        for item in walk(roots):
            given = values.get(item)
            if given is not None:
                found[item] = given if isinstance(given, np.ndarray) else float(given)
            elif item.args:
                found[item] = _applied(item.op, [found[arg] for arg in item.args], item.data)
            else:
                found |= evaluate_order([item], {})
    return [found[root] for root in roots]


def _applied(op: str, args: Sequence[Values], data: Any) -> Values:
    if not any(isinstance(arg, np.ndarray) for arg in args):
        return cast("float", apply(op, cast("Sequence[float]", args), data))
    rule = _AT_ONCE.get(op)
    if rule is not None:
        return rule(*args)
    if op == "pow" and isinstance(args[1], float) and abs(args[1]) <= MAX_MULTIPLIED_POWER and args[1].is_integer():
        return _multiplied_power(args[0], int(args[1]))
    columns = [arg.tolist() if isinstance(arg, np.ndarray) else repeat(arg) for arg in args]
    return np.array([apply(op, point, data) for point in zip(*columns, strict=False)], dtype=float)


def _multiplied_power(x: Any, n: int) -> FloatArray:
    """As ``ieee_arithmetic.multiplied_power``."""
    product = np.ones_like(x)
    base, left, first = x, abs(n), True
    while left:
        if left & 1:
            product = base if first else product * base
            first = False
        left >>= 1
        if left:
            base = base * base
    return product if n >= 0 else 1.0 / product


def _truth(found: Any) -> FloatArray:
    return np.asarray(found, dtype=np.float64)


def _where(condition: Any, a: FloatArray, b: FloatArray) -> FloatArray:
    return np.where(condition, a, b)


def _ge(g: Any) -> FloatArray:
    return _truth(g >= 0.0)


def _gt(g: Any) -> FloatArray:
    return _truth(g > 0.0)


def _nonzero(x: Any) -> FloatArray:
    return _truth(x != 0.0)


def _and(a: Any, b: Any) -> FloatArray:
    return _truth((a != 0.0) & (b != 0.0))


def _or(a: Any, b: Any) -> FloatArray:
    return _truth((a != 0.0) | (b != 0.0))


def _not(a: Any) -> FloatArray:
    return _truth(a == 0.0)


_AT_ONCE: Final[dict[str, Callable[..., FloatArray]]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "select": _where,
    "ge": _ge,
    "gt": _gt,
    "nonzero": _nonzero,
    "and": _and,
    "or": _or,
    "not": _not,
}
