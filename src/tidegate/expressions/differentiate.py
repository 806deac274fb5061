"""Exact derivatives (stage: expressions): expressions and symbols in, expressions of their derivatives out.

Forward mode on the graph (Griewank and Walther, Evaluating Derivatives, 2008, chapter 3): one pass, arguments first, every rule the
textbook's; shared subexpressions are differentiated once. Conditions, ``floor``, ``segment`` and ``lookup`` are constant between their jumps,
so their derivative is zero; what happens at the jumps is the business of events and sensitivities, not of the derivative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from tidegate.errors import ModelError
from tidegate.expressions.node_data import BEFORE, MOVED
from tidegate.expressions.nodes import ONE, ZERO, Expr, constant, node, raw_node, select, spline, walk

__all__ = ["differentiate", "jacobian", "local_slope", "may_overflow", "tangent"]

# A tangent is None where it is structurally zero.
Tangent = Expr | None
_Rule = Callable[[Expr, "list[Tangent]"], Tangent]
_MoveOf = Callable[[Expr], Tangent]  # of any node below one, in the direction at hand


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
    steep = may_overflow(roots) if past_overflow else set[Expr]()
    for item in walk(roots):
        if item in seeds:
            moves[item] = seeds[item]
        elif not moves.keys().isdisjoint(item.args):
            move = _item_tangent(item, [moves.get(arg) for arg in item.args], moves.get if _divisor(item) in steep else None)
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
    steep = may_overflow(exprs) if past_overflow else set[Expr]()
    for item in walk(exprs):
        if item in columns:
            rows[item] = {columns[item]: ONE}
        elif not rows.keys().isdisjoint(item.args):
            row = _item_row(item, [rows.get(arg, {}) for arg in item.args], rows if _divisor(item) in steep else None)
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


def _item_row(item: Expr, argument_rows: list[dict[int, Expr]], rows: Mapping[Expr, dict[int, Expr]] | None) -> dict[int, Expr]:
    found: dict[int, Expr] = {}
    for column in {column: None for row in argument_rows for column in row}:
        move_of = None if rows is None else partial(_in_column, rows, column)
        derivative = _item_tangent(item, [row.get(column) for row in argument_rows], move_of)
        if derivative is not None:
            found[column] = derivative
    return found


def _in_column(rows: Mapping[Expr, dict[int, Expr]], column: int, below: Expr) -> Tangent:
    return rows.get(below, {}).get(column)


def _filled(move: Tangent) -> Expr:
    return ZERO if move is None else move


def _item_tangent(item: Expr, moves: list[Tangent], move_of: _MoveOf | None = None) -> Tangent:
    rule = _RULES.get(item.op)
    result = None if rule is None else rule(item, moves)
    if result is None or result is ZERO:
        return None
    return result if move_of is None else _past_overflow(item, moves, move_of, result)


def may_overflow(roots: Iterable[Expr]) -> set[Expr]:
    """All nodes below these in which there is a function that may be infinite by overflow."""
    found: set[Expr] = set()
    for item in walk(roots):
        if item.op in _OVERFLOW or not found.isdisjoint(item.args):
            found.add(item)
    return found


def _divisor(item: Expr) -> Expr | None:
    """What a node divides by, or would if its exponent were negative."""
    return item.args[1] if item.op == "div" else item.args[0] if item.op == "pow" else None


def _past_overflow(item: Expr, moves: list[Tangent], move_of: _MoveOf, otherwise: Expr) -> Expr:
    """The derivative of what is divided by something that may be infinite."""
    divisor = _divisor(item)
    assert divisor is not None  # or nobody would ask
    found = _growth(divisor, move_of)
    if found is None:
        return otherwise
    steep, relative = found
    if item.op == "pow":
        exponent = item.args[1]
        if not (exponent.is_constant and exponent.value < 0.0):
            return otherwise
        change = exponent * item * relative
    else:
        change = _filled(moves[0]) / divisor - item * relative
    return select(node("gt", (steep - _NEARLY_INFINITE,)), change, otherwise)


def _growth(item: Expr, move_of: _MoveOf) -> tuple[Expr, Expr] | None:
    """An exponential in a divisor, and the divisor's move divided by the divisor, finite where both are infinite; None if there is none."""
    if item.op in {"exp", "cosh"}:
        move = _filled(move_of(item.args[0]))
        return item, move if item.op == "exp" else _function("tanh", item.args[0]) * move
    if item.op == "pow" and item.args[1].is_constant:
        below = _growth(item.args[0], move_of)
        return None if below is None else (below[0], item.args[1] * below[1])
    if item.op == "neg":
        return _growth(item.args[0], move_of)
    if item.op not in {"add", "sub", "mul"}:
        return None
    first, second = (_growth(arg, move_of) for arg in item.args)
    if first is not None and second is not None:
        return (first[0] + second[0], first[1] + second[1]) if item.op == "mul" else None
    found = first or second
    if found is None:
        return None
    steep, relative = found
    other = item.args[1 if second is None else 0]
    moved = move_of(other)
    if item.op == "mul":
        return steep, relative if moved is None else relative + moved / other
    # of E + c, E'/(E + c) is (1 - c/(E + c)) E'/E
    if item.op == "sub" and second is None:
        other, moved = -other, None if moved is None else -moved
    return steep, _filled(_add(item, [None if moved is None else moved / item, (1.0 - other / item) * relative]))


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
            along_x = select(node("nonzero", (dx,)), along_x, ZERO)
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


def _steep(derivative: Callable[[Expr, Expr], Expr]) -> _Rule:
    """Like ``_chain`` for a function with a vertical tangent at the end of its domain: it rests where its argument rests, so 0 * infinity is 0."""

    def rule(item: Expr, moves: list[Tangent]) -> Tangent:
        move = _filled(moves[0])
        change = derivative(item.args[0], item) * move
        return change if move.is_constant else select(node("nonzero", (move,)), change, ZERO)

    return rule


def _function(name: str, x: Expr) -> Expr:
    return node(name, (x,))


_OVERFLOW: Final = {"exp", "cosh", "sinh"}
_NEARLY_INFINITE: Final = 1e100  # an exponential: what it is multiplied by, and its square, are finite up to here
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
    "asin": _steep(lambda x, f: 1.0 / _function("sqrt", 1.0 - x * x)),
    "acos": _steep(lambda x, f: -1.0 / _function("sqrt", 1.0 - x * x)),
    "atan": _chain(lambda x, f: 1.0 / (1.0 + x * x)),
    "sinh": _chain(lambda x, f: _function("cosh", x)),
    "cosh": _chain(lambda x, f: _function("sinh", x)),
    "tanh": _chain(lambda x, f: 1.0 - f * f),
    "asinh": _chain(lambda x, f: 1.0 / _function("sqrt", x * x + 1.0)),
    "acosh": _steep(lambda x, f: 1.0 / (_function("sqrt", x - 1.0) * _function("sqrt", x + 1.0))),
    "atanh": _chain(lambda x, f: 1.0 / (1.0 - x * x)),
    "exp": _chain(lambda x, f: f),
    "expm1": _chain(lambda x, f: f + 1.0),
    "log": _chain(lambda x, f: 1.0 / x),
    "log1p": _chain(lambda x, f: 1.0 / (1.0 + x)),
    "sqrt": _steep(lambda x, f: 0.5 / f),
    "cbrt": _steep(lambda x, f: 1.0 / (3.0 * (f * f))),
    "erf": _chain(lambda x, f: _TWO_OVER_ROOT_PI * _function("exp", -(x * x))),
}
