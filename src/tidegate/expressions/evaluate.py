"""Plain evaluation (stage: expressions): expressions and the values of their symbols in, numbers out.

The reference that every other interpretation is tested against, and what error messages use; compiled code does the work of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tidegate.errors import UsageError
from tidegate.expressions.ieee_arithmetic import apply, difference_step
from tidegate.expressions.node_data import NOT_ARITHMETIC, OpaqueFunction
from tidegate.expressions.nodes import Expr, walk

__all__ = ["Evaluation", "call_opaque", "evaluate", "evaluate_order"]


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
    if all(root in values for root in roots):  # symbols, as a rule: nothing is to be walked through
        return [float(values[root]) for root in roots]
    found = evaluate_order(walk(roots), values)
    return [found[root] for root in roots]


class Evaluation:
    """Expressions that are evaluated often: what of it is the same every time is done once.

    Parameters
    ----------
    exprs : of which there will be numbers.
    """

    def __init__(self, exprs: Iterable[Expr]) -> None:
        self._roots = list(exprs)
        order = list(walk(self._roots))
        self._order = [item for item in order if item.op != "const"]
        self._constants: dict[Expr, Any] = {item: item.data for item in order if item.op == "const"}

    def __call__(self, values: Mapping[Expr, float]) -> list[float]:
        """The numbers where the symbols have these values."""
        found = evaluate_order(self._order, values, self._constants.copy())
        return [found[root] for root in self._roots]


def evaluate_order(order: Iterable[Expr], values: Mapping[Expr, float], found: dict[Expr, Any] | None = None) -> dict[Expr, Any]:
    """The same of every node of a graph, given as ``walk`` gives them, beside what is found already: for who evaluates often."""
    found = {} if found is None else found
    for item in order:
        given = values.get(item)  # there may be many more values than these expressions ask for
        if given is not None:
            found[item] = float(given)
        elif item.args and item.op not in NOT_ARITHMETIC:
            found[item] = apply(item.op, [found[arg] for arg in item.args], item.data)
        else:
            found[item] = _value(item, found)
    return found


def call_opaque(function: OpaqueFunction, arguments: Sequence[float]) -> list[float]:
    """What an opaque function returns, as a list of ``n_outputs`` floats."""
    returned = np.asarray(function.function(*arguments), dtype=float).ravel().tolist()
    if len(returned) != function.n_outputs:
        raise UsageError(
            f"the opaque function `{function.name}` returned {len(returned)} numbers where {function.n_outputs} were expected",
            hint="let it always return the same number of results",
        )
    return returned


def _value(item: Expr, found: Mapping[Expr, Any]) -> Any:
    """Of a leaf, or of what an opaque function gives."""
    op = item.op
    if op == "const":
        return item.data
    if op == "call":
        return call_opaque(item.data, [found[arg] for arg in item.args])
    if op in ("delay", "same"):
        return found[item.args[0]]  # where there is no past yet
    if op == "past":
        return found[item.args[1]]
    if op == "output":
        return found[item.args[0]][item.data]
    if op == "slope":
        call = item.args[0]
        return _slopes(lambda x: call_opaque(call.data, x), [found[arg] for arg in call.args], item.data)
    if op in ("true", "false"):
        return float(op == "true")
    raise UsageError(f"there is no value for `{item!r}`", hint="give a value for every symbol that appears in the expressions")


def _slopes(function: Callable[[list[float]], list[float]], arguments: list[float], k: int) -> list[float]:
    step = difference_step(arguments[k])
    above, below = arguments[k] + step, arguments[k] - step
    upper = function([*arguments[:k], above, *arguments[k + 1 :]])
    lower = function([*arguments[:k], below, *arguments[k + 1 :]])
    return [(u - v) / (above - below) for u, v in zip(upper, lower, strict=True)]
