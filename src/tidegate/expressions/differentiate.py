"""Exact derivatives (stage: expressions): expressions and symbols in, expressions of their derivatives out.

Forward mode on the graph (Griewank and Walther, Evaluating Derivatives, 2008, chapter 3): one pass, arguments first, every rule the
textbook's; shared subexpressions are differentiated once. Conditions, ``floor``, ``segment`` and ``lookup`` are constant between their jumps,
so their derivative is zero; what happens at the jumps is the business of events and sensitivities, not of the derivative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, reduce
from operator import mul
from typing import Final

from tidegate.errors import ModelError
from tidegate.expressions.interval import bounds
from tidegate.expressions.node_data import BEFORE, MOVED
from tidegate.expressions.nodes import ONE, ZERO, Expr, constant, node, raw_node, select, spline, walk
from tidegate.expressions.past_overflow import Growth, PastOverflow, Tangent

__all__ = ["differentiate", "jacobian", "local_slope", "tangent"]

_Rule = Callable[[Expr, "list[Tangent]"], Tangent]


def differentiate(expr: Expr, symbol: Expr) -> Expr:
    """The derivative of an expression with respect to a symbol.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, k = symbol(Role.UNKNOWN, "x"), symbol(Role.PARAMETER, "k")
    >>> differentiate(k * x**2, x)
    k*(2*x)
    """
    return tangent([expr], {symbol: ONE})[0]


def tangent(exprs: Iterable[Expr], seeds: Mapping[Expr, Expr], *, past_overflow: bool = False) -> list[Expr]:
    """Directional derivatives: how the expressions change if the symbols move along their seeds.

    Parameters
    ----------
    exprs : expressions.
    seeds : symbol -> how it moves; symbols that are not given stand still.
    past_overflow : for numbers: where an exponential in a divisor is infinite, as in 1 / (1 + exp(x)), the derivative is its limit, and not
        0 * infinity, by a choice that is no relation of the model's.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, v = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "v")
    >>> tangent([x * v], {x: v})
    [v*v]
    """
    roots = list(exprs)
    moves: dict[Expr, Expr] = {}  # of what moves
    past = PastOverflow(roots) if past_overflow else None
    known: dict[Expr, Growth] = {}
    for item in walk(roots):
        if item in seeds:
            moves[item] = seeds[item]
        elif not moves.keys().isdisjoint(item.args):
            move = _item_tangent(item, [moves.get(arg) for arg in item.args], past, known)
            if move is not None:
                moves[item] = move
    return [moves.get(root, ZERO) for root in roots]


def jacobian(exprs: Sequence[Expr], symbols: Sequence[Expr], *, past_overflow: bool = False) -> dict[tuple[int, int], Expr]:
    """Derivatives of every expression with respect to every symbol, without the structural zeros; ``past_overflow`` as in ``tangent``.

    Each node is visited once; its work is in proportion to the number of symbols that it depends on.

    Returns
    -------
    dict : (row, column) -> derivative of ``exprs[row]`` with respect to ``symbols[column]``, row by row.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")
    >>> jacobian([x * y, y], [x, y])
    {(0, 0): y, (0, 1): x, (1, 1): 1}
    """
    columns = {symbol: column for column, symbol in enumerate(symbols)}
    rows: dict[Expr, dict[int, Expr]] = {}  # of those that are not empty
    past = PastOverflow(exprs) if past_overflow else None
    known: dict[int, dict[Expr, Growth]] = {column: {} for column in columns.values()}
    for item in walk(exprs):
        if item in columns:
            rows[item] = {columns[item]: ONE}
        elif not rows.keys().isdisjoint(item.args):
            row = _item_row(item, [rows.get(arg, {}) for arg in item.args], past, known)
            if row:
                rows[item] = row
    return {
        (row, column): derivative
        for row, expr in enumerate(exprs)
        for column, derivative in sorted(rows.get(expr, {}).items())
        if derivative is not ZERO
    }


def local_slope(item: Expr, place: int) -> Expr:
    """The derivative of a node with respect to one of its arguments, the others standing still."""
    return _filled(_item_tangent(item, [ONE if k == place else None for k in range(len(item.args))]))


def _item_row(
    item: Expr, argument_rows: list[dict[int, Expr]], past: PastOverflow | None, known: Mapping[int, dict[Expr, Growth]]
) -> dict[int, Expr]:
    found: dict[int, Expr] = {}
    for column in {column: None for row in argument_rows for column in row}:
        derivative = _item_tangent(item, [row.get(column) for row in argument_rows], past, known[column])
        if derivative is not None:
            found[column] = derivative
    return found


def _filled(move: Tangent) -> Expr:
    return ZERO if move is None else move


def _item_tangent(item: Expr, moves: list[Tangent], past: PastOverflow | None = None, known: dict[Expr, Growth] | None = None) -> Tangent:
    rule = _RULES.get(item.op)
    result = None if rule is None else rule(item, moves)
    if result is None or result is ZERO:
        return None
    if past is None or known is None:
        return result
    past.note(item, moves, known)
    return past.limit(item, moves, known, result)


def _add(_item: Expr, moves: list[Tangent]) -> Tangent:
    da, db = moves
    if da is None:
        return db
    return da if db is None else da + db


def _sub(_item: Expr, moves: list[Tangent]) -> Tangent:
    da, db = moves
    if db is None:
        return da
    return -db if da is None else da - db


def _mul(item: Expr, moves: list[Tangent]) -> Tangent:
    a, b = item.args
    da, db = moves
    return _add(item, [None if da is None else da * b, None if db is None else a * db])


def _div(item: Expr, moves: list[Tangent]) -> Tangent:
    _, b = item.args
    da, db = moves
    numerator = _filled(_sub(item, [da, None if db is None else item * db]))
    return numerator / b


def _neg(_item: Expr, moves: list[Tangent]) -> Tangent:
    return -_filled(moves[0])


def _pow(item: Expr, moves: list[Tangent]) -> Tangent:
    x, y = item.args
    dx, dy = moves
    along_x = along_y = None
    if dx is not None:
        along_x = y * x ** (y - 1.0) * dx
        if not dx.is_constant and not (y.is_constant and y.value >= 1.0):
            # vertical at zero where y < 1: a base that rests there has a power that rests
            along_x = select(node("nonzero", (x if y.is_constant and _only_touches_zero(x) else dx,)), along_x, ZERO)
        if not y.is_constant:
            # x**0 is flat in x, though its formula is 0 * infinity at x = 0
            along_x = select(node("nonzero", (y,)), along_x, ZERO)
    if dy is not None:
        # x**y is flat in y where x is zero, though log(0) is infinite
        along_y = select(node("nonzero", (x,)), item * node("log", (x,)), ZERO) * dy
    return _add(item, [along_x, along_y])


def _select(item: Expr, moves: list[Tangent]) -> Tangent:
    return select(item.args[0], _filled(moves[1]), _filled(moves[2]))


def _atan2(item: Expr, moves: list[Tangent]) -> Tangent:
    y, x = item.args
    dy, dx = moves
    numerator = _filled(_sub(item, [None if dy is None else x * dy, None if dx is None else y * dx]))
    return numerator / (x * x + y * y)


def _spline(item: Expr, moves: list[Tangent]) -> Tangent:
    return spline(item.args[0], item.data.derivative) * _filled(moves[0])


def _output(item: Expr, moves: list[Tangent]) -> Tangent:
    # the move of a call is the call's own node, marked below: outputs are told apart only here
    source = item.args[0]
    total: Expr = ZERO
    for k, move in _moving_arguments(source, moves[0]):
        total = total + raw_node("output", (raw_node("slope", (source,), k),), item.data) * move
    return total


def _moving_arguments(call: Expr, moves: Tangent) -> Iterable[tuple[int, Expr]]:
    if moves is None or call.op != "call":
        name = call.args[0].data.name if call.op == "slope" else call.data.name
        raise ModelError(
            f"the opaque function `{name}` would have to be differentiated twice",
            hint="write it so that it can be traced, or give its derivative as an opaque function of its own",
        )
    return [(k, move) for k, move in enumerate(moves.args) if move is not ZERO]


def _call(_item: Expr, moves: list[Tangent]) -> Tangent:
    # a bundle: how each argument moves; it exists only inside a pass, between a call and its outputs
    return raw_node("moves", tuple(_filled(move) for move in moves))


def _slope(_item: Expr, _moves: list[Tangent]) -> Tangent:
    return raw_node("moves", ())


def _past(item: Expr, moves: list[Tangent]) -> Tangent:
    """By the time that is looked at, from the solution; what was before the start moves by itself; and the solution moves with a parameter."""
    data = item.data
    total: Expr = ZERO
    if moves[0] is not None and data.order >= 0:
        total = total + raw_node("past", (item.args[0], ZERO, item.args[2]), data._replace(order=data.order + 1)) * moves[0]
    if data.order >= 0:
        total = total + raw_node("past", (item.args[0], ZERO, item.args[2]), data._replace(order=MOVED - data.order))
    if moves[1] is not None:
        total = total + raw_node("past", (item.args[0], moves[1], item.args[2]), data._replace(order=BEFORE))
    return total


def _chain(derivative: Callable[[Expr, Expr], Expr]) -> _Rule:
    """Rule of a function of one argument from ``derivative(argument, function value)``."""

    def rule(item: Expr, moves: list[Tangent]) -> Tangent:
        return derivative(item.args[0], item) * _filled(moves[0])

    return rule


def _steep(derivative: Callable[[Expr, Expr], Expr], *rooms: Callable[[Expr], Expr]) -> _Rule:
    """Like ``_chain`` for a function with a vertical tangent at the end of its domain: it rests where its argument rests, so 0 * infinity is 0.

    ``rooms`` are what an argument is from its ends. Where one only touches zero, as in ``sqrt(u**2)``, the slope jumps to its opposite: zero amid.
    """

    def rule(item: Expr, moves: list[Tangent]) -> Tangent:
        move = _filled(moves[0])
        change = derivative(item.args[0], item) * move
        left = [room(item.args[0]) for room in rooms]
        if any(_only_touches_zero(one) for one in left):
            return select(node("nonzero", (reduce(mul, left),)), change, ZERO)
        return change if move.is_constant else select(node("nonzero", (move,)), change, ZERO)

    return rule


def _itself(x: Expr) -> Expr:
    return x


def _below_one(x: Expr) -> Expr:
    return 1.0 - x


def _above_one(x: Expr) -> Expr:
    return x - 1.0


def _above_minus_one(x: Expr) -> Expr:
    return 1.0 + x


@lru_cache(maxsize=256)
def _only_touches_zero(item: Expr) -> bool:
    """Whether it is nowhere negative, but for rounding, as far as bounds tell."""
    return not item.is_constant and bounds([item], {})[0][0] >= -_ROUNDING


def _function(name: str, x: Expr) -> Expr:
    return node(name, (x,))


_ROUNDING: Final = 1e-12
_TWO_OVER_ROOT_PI: Final = constant(2.0 / math.sqrt(math.pi))

_RULES: Final[dict[str, _Rule]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "pow": _pow,
    "select": _select,
    "atan2": _atan2,
    "spline": _spline,
    "call": _call,
    "slope": _slope,
    "output": _output,
    "past": _past,
    "same": lambda item, moves: moves[0],
    "sin": _chain(lambda x, f: _function("cos", x)),
    "cos": _chain(lambda x, f: -_function("sin", x)),
    "tan": _chain(lambda x, f: 1.0 + f * f),
    "asin": _steep(lambda x, f: 1.0 / _function("sqrt", 1.0 - x * x), _below_one, _above_minus_one),
    "acos": _steep(lambda x, f: -1.0 / _function("sqrt", 1.0 - x * x), _below_one, _above_minus_one),
    "atan": _chain(lambda x, f: 1.0 / (1.0 + x * x)),
    "sinh": _chain(lambda x, f: _function("cosh", x)),
    "cosh": _chain(lambda x, f: _function("sinh", x)),
    "tanh": _chain(lambda x, f: 1.0 - f * f),
    "asinh": _chain(lambda x, f: 1.0 / _function("sqrt", x * x + 1.0)),
    "acosh": _steep(lambda x, f: 1.0 / (_function("sqrt", x - 1.0) * _function("sqrt", x + 1.0)), _above_one),
    "atanh": _chain(lambda x, f: 1.0 / (1.0 - x * x)),
    "exp": _chain(lambda x, f: f),
    "expm1": _chain(lambda x, f: f + 1.0),
    "log": _chain(lambda x, f: 1.0 / x),
    "log1p": _chain(lambda x, f: 1.0 / (1.0 + x)),
    "sqrt": _steep(lambda x, f: 0.5 / f, _itself),
    "cbrt": _steep(lambda x, f: 1.0 / (3.0 * (f * f)), _itself),
    "erf": _chain(lambda x, f: _TWO_OVER_ROOT_PI * _function("exp", -(x * x))),
}
