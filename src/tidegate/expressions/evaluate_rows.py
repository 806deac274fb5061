"""Plain evaluation at many points at once (stage: expressions): expressions and a column of values for every symbol in, columns out.

The same operations in the same order as ``evaluate``, so that both agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.expressions.evaluate import evaluate
from tidegate.expressions.ieee_arithmetic import apply
from tidegate.expressions.node_data import OPAQUE
from tidegate.expressions.nodes import Expr, walk

__all__ = ["columns_of", "evaluate_rows", "is_known"]

FloatArray = NDArray[np.float64]

# what NumPy rounds as Python does, with numbers for truth values; the rest is carried out element by element
_AT_ONCE: Final[dict[str, Callable[..., Any]]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "floor": np.floor,
    "sqrt": np.sqrt,
    "select": np.where,
    "ge": partial(np.less_equal, 0.0),
    "gt": partial(np.less, 0.0),
    "nonzero": partial(np.not_equal, 0.0),
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
}


def evaluate_rows(exprs: Sequence[Expr], values: Mapping[Expr, FloatArray], count: int) -> FloatArray:
    """Values of expressions, (points, expressions); conditions give 1.0 or 0.0.

    Parameters
    ----------
    values : (points,) of each symbol.
    count : how many points.

    Raises
    ------
    UsageError
        Where a symbol has no values.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> evaluate_rows([x * x, x > 2], {x: np.array([1.0, 3.0])}, 2).tolist()
    [[1.0, 0.0], [9.0, 1.0]]
    """
    order = list(walk(exprs))
    if any(item.op in OPAQUE for item in order):
        columns = {symbol: column.tolist() for symbol, column in values.items()}
        rows = [evaluate(exprs, {symbol: column[k] for symbol, column in columns.items()}) for k in range(count)]
        return np.array(rows, dtype=float).reshape(count, len(exprs))
    found = columns_of(order, values, count)
    return np.stack([found[root] for root in exprs], axis=1) if exprs else np.zeros((count, 0))


def columns_of(order: Iterable[Expr], values: Mapping[Expr, FloatArray], count: int) -> dict[Expr, FloatArray]:
    """Values of every node of a graph without opaque functions, (points,) each.

    Parameters
    ----------
    order : the nodes, arguments before what uses them, as ``walk`` gives them.
    values, count : as above.
    """
    found: dict[Expr, FloatArray] = {symbol: np.asarray(column, dtype=float) for symbol, column in values.items()}
    with np.errstate(all="ignore"):
        for item in order:
            if item not in found:
                found[item] = np.full(count, item.value) if item.is_constant else _column(item, [found[arg] for arg in item.args])
    return found


def is_known(item: Expr) -> bool:
    """Whether there is a rule for the operation of a node; where there is none its values are NaN."""
    return item.is_constant or item.op == "symbol" or item.op in _AT_ONCE or apply(item.op, (1.0,) * len(item.args), item.data) is not None


def _column(item: Expr, args: list[FloatArray]) -> FloatArray:
    if item.op == "symbol":
        raise UsageError(f"there is no value for `{item!r}`", hint="give a value for every symbol that appears in the expressions")
    rule = _AT_ONCE.get(item.op)
    if rule is not None:
        return np.asarray(rule(*args), dtype=float)
    one = np.frompyfunc(partial(_element, item.op, item.data), len(args), 1)
    return np.asarray(one(*args), dtype=float)


def _element(op: str, data: Any, *args: float) -> float | None:
    return apply(op, tuple(map(float, args)), data)
