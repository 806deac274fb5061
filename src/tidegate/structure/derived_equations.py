"""Equations differentiated with respect to time (stage: structure). In: expressions; out: expressions in higher derivatives of unknowns.

The value of the k-th derivative of an unknown x is the symbol x for k = 0 and the derivative of ``der(...der(x))`` above; where it is solved for as
an unknown of its own, that is called ``der(x)``, ``der(der(x))`` and so on. Parameters, inputs and discrete variables stand still between events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tidegate.expressions import ONE, ZERO, Expr, Role, substitute, symbol, tangent, walk
from tidegate.expressions.node_data import OPAQUE

__all__ = ["derivative_name", "derivatives_in_time", "opaque_in", "own_symbol", "value_symbol", "without_rests"]

_MOVING: Final = {Role.UNKNOWN: "{}", Role.DERIVATIVE: "der({})"}


def derivative_name(name: str, order: int) -> str:
    """``der(der(x))`` for order 2."""
    return "der(" * order + name + ")" * order


def value_symbol(name: str, order: int) -> Expr:
    """What stands in equations for this derivative of an unknown."""
    return symbol(Role.DERIVATIVE, derivative_name(name, order - 1)) if order else symbol(Role.UNKNOWN, name)


def own_symbol(name: str, order: int) -> Expr:
    """The same as an unknown of its own."""
    return symbol(Role.UNKNOWN, derivative_name(name, order))


def opaque_in(expr: Expr) -> str:
    """Name of a function in it of which only values are known and whose arguments move; nothing if there is none."""
    moves: set[Expr] = set()
    for item in walk([expr]):
        if item.op == "symbol":
            if item.data.role in (*_MOVING, Role.TIME):
                moves.add(item)
        elif not moves.isdisjoint(item.args):
            if item.op in OPAQUE:
                return (item if item.op == "call" else item.args[0]).data.name
            moves.add(item)
    return ""


def derivatives_in_time(exprs: Sequence[Expr], times: Sequence[int]) -> list[list[Expr]]:
    """For each expression itself and its derivatives, up to as many as it is to be differentiated times.

    Examples
    --------
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> derivatives_in_time([x * x], [2])
    [[x*x, der(x)*x + x*der(x), ...]]
    """
    found = [[expr] for expr in exprs]
    for level in range(1, max(times, default=0) + 1):
        rows = [row for row, count in enumerate(times) if count >= level]
        before = [found[row][-1] for row in rows]
        seeds: dict[Expr, Expr] = {}
        for item in walk(before):
            if item.op == "symbol":
                if item.data.role in _MOVING:
                    seeds[item] = symbol(Role.DERIVATIVE, _MOVING[item.data.role].format(item.data.name))
                elif item.data.role is Role.TIME:
                    seeds[item] = ONE
        for row, derivative in zip(rows, without_rests(tangent(before, seeds), before), strict=True):
            found[row].append(derivative)
    return found


def without_rests(new: Sequence[Expr], old: Sequence[Expr]) -> list[Expr]:
    """Derivatives without the provision that what rests at a vertical tangent rests; it would be an event."""
    known = set(walk(old))
    exprs = list(new)
    while True:
        rests = {
            item: item.args[1]
            for item in walk(exprs)
            if item.op == "select" and item not in known and item.args[0].op == "nonzero" and item.args[2] is ZERO and item.args[0] not in known
        }
        if not rests:
            return exprs
        exprs = substitute(exprs, rests)
