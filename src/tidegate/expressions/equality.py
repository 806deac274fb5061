"""Conditions that hold at single instants only (stage: expressions; front ends refuse them as conditions of events).

In: a condition. Out: an equality in it, ``a >= b and b >= a`` as the graph has it, of quantities that move on continuously: it holds for no time at
all, so it is never found to become true. What can stay equal, a count, or a saturation at its limit, is no such equality.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from tidegate.expressions.node_data import Role
from tidegate.expressions.nodes import Expr, walk

__all__ = ["fleeting_equality"]

_STEPS = frozenset({"floor", "segment", "lookup", "call", "output", "slope"})
_MOVING = frozenset({Role.UNKNOWN, Role.DERIVATIVE, Role.TIME})


def fleeting_equality(condition: Expr, moves: Callable[[Expr], bool] | None = None) -> Expr | None:
    """The quantity that a condition wants to be exactly zero, although it passes zero without staying; None if there is none.

    Parameters
    ----------
    condition : any condition.
    moves : whether a symbol changes continuously; by default unknowns, derivatives and the time do.

    Examples
    --------
    >>> from tidegate.expressions import symbol
    >>> h, k = symbol(Role.UNKNOWN, "h"), symbol(Role.DISCRETE, "k")
    >>> fleeting_equality(h == 1.0), fleeting_equality(k == 1.0), fleeting_equality(h > 1.0)
    (h - 1, None, None)
    """
    is_moving = moves or _moves
    stack, seen = [condition], set[Expr]()
    while stack:
        item = stack.pop()
        if item in seen:
            continue
        seen.add(item)
        if item.op == "and":
            parts = _parts(item)
            for a, b in combinations([part for part in parts if part.op == "ge"], 2):
                g, other = a.args[0], b.args[0]
                if (-g is other or -other is g or _swapped(g, other)) and not _may_rest(g, is_moving):
                    return other
            stack += parts
        elif item.op == "or":
            stack += item.args
    return None


def _moves(item: Expr) -> bool:
    return item.data.role in _MOVING


def _parts(item: Expr) -> list[Expr]:
    """All that a conjunction joins, through nested ones."""
    if item.op != "and":
        return [item]
    return [part for arg in item.args for part in _parts(arg)]


def _swapped(a: Expr, b: Expr) -> bool:
    return a.op == b.op == "sub" and a.args[0] is b.args[1] and a.args[1] is b.args[0]


def _may_rest(expr: Expr, is_moving: Callable[[Expr], bool]) -> bool:
    """Whether an expression can keep one value while what it is made of moves: what makes steps can, and a ``select`` where one arm can."""
    known: dict[Expr, bool] = {}
    for item in walk([expr]):
        if item.op == "symbol":
            known[item] = not is_moving(item)
        elif item.op in _STEPS or item.is_boolean or not item.args:
            known[item] = True
        elif item.op == "select":
            known[item] = known[item.args[1]] or known[item.args[2]]
        elif item.op == "mul":  # a factor may be zero
            known[item] = any(known[arg] for arg in item.args)
        else:
            known[item] = all(known[arg] for arg in item.args)
    return known[expr]
