"""IEEE arithmetic of every operation on plain floats (stage: expressions; used to fold constants and to evaluate).

In: floats, truth values as 1.0 and 0.0. Out: one float; never an exception: domain errors give NaN, poles and overflows infinity,
as IEEE 754 and C's Annex F have it. The machine code of ``compiled`` follows the same sequence of operations, so that both agree to the last bit.
"""

from __future__ import annotations

import bisect
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tidegate.expressions.node_data import Spline

__all__ = ["MAX_MULTIPLIED_POWER", "apply", "cube_root_of_epsilon", "difference_step", "multiplied_power", "segment_index"]

MAX_MULTIPLIED_POWER: Final = 16  # above it, rounding errors of repeated products exceed those of the library's pow
cube_root_of_epsilon: Final = float(np.cbrt(np.finfo(float).eps))


def _divide(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    if a == 0.0 or a != a or b != b:
        return math.nan if b == b else b
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _guarded(exact: Callable[..., float], ieee: Callable[..., Any]) -> Callable[..., float]:
    """Python's function, and NumPy's where Python would raise an exception."""

    def rule(*x: float) -> float:
        try:
            return exact(*x)
        except (ValueError, OverflowError):
            with np.errstate(all="ignore"):
                return float(ieee(*x))

    return rule


_sqrt: Final = _guarded(math.sqrt, np.sqrt)
_general_power: Final = _guarded(math.pow, np.power)


def multiplied_power(x: float, n: int) -> float:
    """``x**n`` by squaring, for small whole n; the order of the products is the one that the machine code uses."""
    product = 1.0
    base, left, first = x, abs(n), True
    while left:
        if left & 1:
            product = base if first else product * base
            first = False
        left >>= 1
        if left:
            base = base * base
    return product if n >= 0 else _divide(1.0, product)


def _power(x: float, y: float) -> float:
    if abs(y) <= MAX_MULTIPLIED_POWER and y == int(y):
        return multiplied_power(x, int(y))
    return _sqrt(x) if y == 0.5 else _general_power(x, y)


def _neg(a: float) -> float:
    return -a


def _select(condition: float, a: float, b: float) -> float:
    return a if condition else b


def _floor(x: float) -> float:
    return float(np.floor(x))


def _ge(g: float) -> float:
    return float(g >= 0.0)


def _gt(g: float) -> float:
    return float(g > 0.0)


def _nonzero(x: float) -> float:
    return float(x != 0.0)


def _and(a: float, b: float) -> float:
    return float(a != 0.0 and b != 0.0)


def _or(a: float, b: float) -> float:
    return float(a != 0.0 or b != 0.0)


def _not(a: float) -> float:
    return float(a == 0.0)


def segment_index(x: float, grid: tuple[float, ...] | np.ndarray) -> int:
    """Index of the piece of a strictly increasing grid that holds x; end pieces reach to infinity, NaN counts as left."""
    if x != x:
        return 0
    return min(max(bisect.bisect_right(grid, x) - 1, 0), len(grid) - 2)


def _segment(x: float, grid: tuple[float, ...]) -> float:
    return float(segment_index(x, grid))


def _lookup(index: float, values: tuple[float, ...]) -> float:
    last = len(values) - 1
    if not index > 0.0:
        return values[0]
    return values[int(index)] if index < last else values[last]


def _spline(x: float, table: Spline) -> float:
    k = segment_index(x, table.grid)
    u = x - float(table.grid[k])
    c3, c2, c1, c0 = (float(c) for c in table.coefficients[:, k])
    return ((c3 * u + c2) * u + c1) * u + c0


_PLAIN: Final[dict[str, Callable[..., float]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _divide,
    "neg": _neg,
    "pow": _power,
    "select": _select,
    "floor": _floor,
    "ge": _ge,
    "gt": _gt,
    "nonzero": _nonzero,
    "and": _and,
    "or": _or,
    "not": _not,
    "sin": _guarded(math.sin, np.sin),
    "cos": _guarded(math.cos, np.cos),
    "tan": _guarded(math.tan, np.tan),
    "asin": _guarded(math.asin, np.arcsin),
    "acos": _guarded(math.acos, np.arccos),
    "atan": math.atan,
    "sinh": _guarded(math.sinh, np.sinh),
    "cosh": _guarded(math.cosh, np.cosh),
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": _guarded(math.acosh, np.arccosh),
    "atanh": _guarded(math.atanh, np.arctanh),
    "exp": _guarded(math.exp, np.exp),
    "expm1": _guarded(math.expm1, np.expm1),
    "log": _guarded(math.log, np.log),
    "log1p": _guarded(math.log1p, np.log1p),
    "sqrt": _sqrt,
    "cbrt": math.cbrt,
    "erf": math.erf,
    "atan2": math.atan2,
}

_WITH_DATA: Final[dict[str, Callable[..., float]]] = {
    "segment": _segment,
    "lookup": _lookup,
    "spline": _spline,
}


def apply(op: str, args: Sequence[float], data: Any = None) -> float | None:
    """The value of one operation on numbers; None for an operation that plain arithmetic does not know.

    Examples
    --------
    >>> apply("div", (1.0, 0.0))
    inf
    """
    rule = _PLAIN.get(op)
    if rule is not None:
        return rule(*args)
    rule = _WITH_DATA.get(op)
    return None if rule is None else rule(*args, data)


def difference_step(x: float) -> float:
    """Step of the central differences that stand for an opaque function's derivative: balances truncation and rounding."""
    return cube_root_of_epsilon * max(abs(x), 1.0)
