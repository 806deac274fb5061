"""Functions that jump or bend have an event where they do (stage: structure).

In: a model; out: the same, with pieces without jumps and bends, chosen by a relation, in its equations in place of angles (``atan2(y, x)``,
``atan(a / b)``, ``atan(tan(u))``, ``asin(sin(u))``), of roots of squares (``sqrt(u**2)``, ``(u * u)**0.75``) and of ``tanh(a / b)``.

The angle of a point jumps by a turn where the point crosses the negative x axis, the arc tangent of a quotient by half of one where the divisor goes
through zero. Steps find such a jump by their error and grow short; but its time is not located, and derivatives by parameters know nothing of it.
Each piece is an angle that is smooth on both sides of where it ends: for y >= 0 that of the point turned back by a quarter, else forth by one.
A root of a square is a size: what ``u / sqrt(u * u)`` and ``u / hypot(u, 0)`` divide by.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tidegate.expressions import Expr, makes_events, node, select
from tidegate.expressions.interval import bounds
from tidegate.expressions.zeros import may_pass_zero
from tidegate.model import Model
from tidegate.model.rewriting import rewritten
from tidegate.structure.passes import Passed

__all__ = ["jumps_and_bends"]


def jumps_and_bends(model: Model) -> Passed:
    """The model with relations that choose the pieces.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol, walk
    >>> from tidegate.model import Equation, Form, Variable, VariableRole
    >>> x, rate = symbol(Role.UNKNOWN, "x"), symbol(Role.DERIVATIVE, "x")
    >>> turning = Model("turning", Form.ODE, (Variable("x", VariableRole.STATE),), (Equation(rate, node("atan2", (x, x - 1.0))),))
    >>> [str(item) for item in walk([jumps_and_bends(turning).model.equations[0].right]) if makes_events(item)]
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
    """What stands for something that may jump or bend; None for everything else."""
    if item.op == "atan2":
        y, x = item.args
        return _angle(y, x) if may_pass_zero(y) and bounds([x], {})[0][0] < 0.0 else None
    if item.op == "atan":
        return _arc_tangent(item.args[0])
    if item.op in ("asin", "acos"):
        return _arc(item.op, item.args[0])
    if item.op == "tanh" and item.args[0].op == "div":
        a, b = item.args[0].args
        size = node("sqrt", (b * b,))  # each piece goes on beyond its end with the same sign
        return select(b >= 0, node("tanh", (a / size,)), -node("tanh", (a / size,))) if may_pass_zero(b) else None
    if item.op == "sqrt":
        return _root_of_a_square(item.args[0], 0.5)
    if item.op == "pow" and item.args[1].is_constant and not item.args[1].value.is_integer():
        return _root_of_a_square(item.args[0], item.args[1].value)
    return None


def _angle(y: Expr, x: Expr) -> Expr:
    return select(y >= 0, math.pi / 2 + node("atan2", (-x, y)), node("atan2", (x, -y)) - math.pi / 2)


def _arc_tangent(slope: Expr) -> Expr | None:
    if slope.op == "tan":
        rise, run = node("sin", slope.args), node("cos", slope.args)
    elif slope.op == "div":
        rise, run = slope.args
        if run.op == "tan":
            rise, run = rise * node("cos", run.args), node("sin", run.args)
    else:
        return None
    return select(run >= 0, node("atan2", (rise, run)), node("atan2", (-rise, -run))) if may_pass_zero(run) else None


def _arc(op: str, of: Expr) -> Expr | None:
    """The arc sine or arc cosine of a sine or cosine: an angle of its point, turned so that the cut is far away."""
    if of.op not in ("sin", "cos"):
        return None
    sine, cosine = node("sin", of.args), node("cos", of.args)
    value, other = (sine, cosine) if of.op == "sin" else (cosine, sine)
    arc_sine = select(other >= 0, node("atan2", (value, other)), node("atan2", (value, -other)))
    return None if not may_pass_zero(other) else arc_sine if op == "asin" else math.pi / 2 - arc_sine


def _root_of_a_square(base: Expr, power: float) -> Expr | None:
    """``base**power`` by the sizes of what is squared in it."""
    factor, counts = 1.0, dict[Expr, float]()
    waiting = [(base, 1.0)]
    while waiting:
        item, count = waiting.pop()
        if item.op == "mul":
            waiting += [(part, count) for part in item.args]
        elif item.op == "pow" and item.args[1].is_constant and item.args[1].value.is_integer() and item.args[1].value > 0.0:
            waiting.append((item.args[0], count * item.args[1].value))
        elif item.is_constant:
            factor *= item.value**count
        else:
            counts[item] = counts.get(item, 0.0) + count
    if factor < 0.0 or any(count % 2.0 for count in counts.values()) or not any(map(may_pass_zero, counts)):
        return None
    found: Expr | float = factor**power
    for item, count in counts.items():
        size = item if (count * power) % 2.0 == 0.0 else abs(item)
        found = found * (size if count * power == 1.0 else size ** (count * power))
    return found if isinstance(found, Expr) else None
