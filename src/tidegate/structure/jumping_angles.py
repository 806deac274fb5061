"""Angles that jump have an event where they do (stage: structure).

In: a model; out: the same, with ``atan2(y, x)``, ``atan(a / b)`` and ``atan(tan(u))`` in its equations as pieces without jumps, chosen by a relation.

The angle of a point jumps by a turn where the point crosses the negative x axis, the arc tangent of a quotient by half of one where the divisor goes
through zero. Steps find such a jump by their error and grow short; but its time is not located, and derivatives by parameters know nothing of it.
Each piece is an angle that is smooth on both sides of where it ends: for y >= 0 that of the point turned back by a quarter, else forth by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tidegate.expressions import Expr, Role, dependencies, makes_events, node, select
from tidegate.expressions.interval import bounds
from tidegate.expressions.zeros import may_be_zero
from tidegate.model import Model
from tidegate.model.rewriting import rewritten
from tidegate.structure.passes import Passed

__all__ = ["jumping_angles"]

_MOVING = frozenset({Role.TIME, Role.UNKNOWN})


def jumping_angles(model: Model) -> Passed:
    """The model with relations that choose the pieces of angles.

    Examples
    --------
    >>> from tidegate.expressions import symbol, walk
    >>> from tidegate.model import Equation, Form, Variable, VariableRole
    >>> x, rate = symbol(Role.UNKNOWN, "x"), symbol(Role.DERIVATIVE, "x")
    >>> turning = Model("turning", Form.ODE, (Variable("x", VariableRole.STATE),), (Equation(rate, node("atan2", (x, x - 1.0))),))
    >>> [str(item) for item in walk([jumping_angles(turning).model.equations[0].right]) if makes_events(item)]
    ['x >= 0']
    """
    found: dict[Expr, Expr] = {}
    for item in _outside_conditions(side for equation in model.equations for side in (equation.left, equation.right)):
        pieces = _pieces(item)
        if pieces is not None:
            found[item] = pieces
    return Passed(rewritten(model, found)) if found else Passed(model)


def _outside_conditions(roots: Iterable[Expr]) -> list[Expr]:
    """Nodes that are not only below what is compared, where a jump of an angle says what the condition is."""
    waiting, seen = list(roots), dict[Expr, None]()
    while waiting:
        item = waiting.pop()
        if item not in seen:
            seen[item] = None
            if not makes_events(item):
                waiting += item.args
    return list(seen)


def _pieces(item: Expr) -> Expr | None:
    """What stands for an angle that may jump; None for everything else."""
    if item.op == "atan2":
        y, x = item.args
        if _moves(y) and may_be_zero([y])[0] and bounds([x], {})[0][0] < 0.0:
            return select(y >= 0, math.pi / 2 + node("atan2", (-x, y)), node("atan2", (x, -y)) - math.pi / 2)
        return None
    if item.op != "atan":
        return None
    (slope,) = item.args
    if slope.op == "tan":
        rise, run = node("sin", slope.args), node("cos", slope.args)
    elif slope.op == "div":
        rise, run = slope.args
        if run.op == "tan":
            rise, run = rise * node("cos", run.args), node("sin", run.args)
    else:
        return None
    if not (_moves(run) and may_be_zero([run])[0]):
        return None
    return select(run >= 0, node("atan2", (rise, run)), node("atan2", (-rise, -run)))


def _moves(expr: Expr) -> bool:
    return any(item.data.role in _MOVING for item in dependencies(expr))
