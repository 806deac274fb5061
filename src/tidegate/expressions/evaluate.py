"""Plain evaluation (stage: expressions): expressions and the values of their symbols in, numbers out.

The reference that every other interpretation is tested against, and what error messages use; compiled code does the work of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tidegate.errors import UsageError
from tidegate.expressions.ieee_arithmetic import apply, difference_step
from tidegate.expressions.node_data import OpaqueFunction
from tidegate.expressions.nodes import Expr, walk

__all__ = ["call_opaque", "evaluate"]


def evaluate(exprs: Iterable[Expr], values: Mapping[Expr, float]) -> list[float]:
    """The numbers that these expressions have where the symbols have these values; conditions give 1.0 or 0.0.

    Arithmetic is IEEE 754's: NaN and infinity instead of exceptions. The arms of a ``select`` are all evaluated.

    Raises
    ------
    UsageError
        Where a symbol has no value.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> evaluate([x * x, x > 2], {x: 3.0})
    [9.0, 1.0]
    """
    roots = list(exprs)
    found: dict[int, Any] = {}
    for item in walk(roots):
        given = values.get(item)  # there may be many more values than these expressions ask for
        found[id(item)] = _value(item, found) if given is None else float(given)
    return [found[id(root)] for root in roots]


def call_opaque(function: OpaqueFunction, arguments: Sequence[float]) -> list[float]:
    """What an opaque function returns, as a list of ``n_outputs`` floats."""
    returned = np.asarray(function.function(*arguments), dtype=float).ravel().tolist()
    if len(returned) != function.n_outputs:
        raise UsageError(
            f"the opaque function `{function.name}` returned {len(returned)} numbers where {function.n_outputs} were expected",
            hint="let it always return the same number of results",
        )
    return returned


def _value(item: Expr, found: Mapping[int, Any]) -> Any:
    op = item.op
    if op == "const":
        return item.data
    if op == "call":
        return call_opaque(item.data, [found[id(arg)] for arg in item.args])
    if op == "output":
        return found[id(item.args[0])][item.data]
    if op == "slope":
        call = item.args[0]
        return _slopes(lambda x: call_opaque(call.data, x), [found[id(arg)] for arg in call.args], item.data)
    if op in ("true", "false"):
        return float(op == "true")
    if op == "symbol":
        raise UsageError(f"there is no value for `{item!r}`", hint="give a value for every symbol that appears in the expressions")
    return apply(op, tuple(found[id(arg)] for arg in item.args), item.data)


def _slopes(function: Callable[[list[float]], list[float]], arguments: list[float], k: int) -> list[float]:
    step = difference_step(arguments[k])
    above, below = arguments[k] + step, arguments[k] - step
    upper = function([*arguments[:k], above, *arguments[k + 1 :]])
    lower = function([*arguments[:k], below, *arguments[k + 1 :]])
    return [(u - v) / (above - below) for u, v in zip(upper, lower, strict=True)]
