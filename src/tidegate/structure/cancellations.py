"""Differences of which nothing but rounding is left near a zero, in quotients that have a value there (stage: structure).

In: a model; out: the same, with ``expm1(u)`` in place of ``exp(u) - 1``, ``2 sin(u / 2)**2`` in place of ``1 - cos(u)``, ``log1p(u)`` in place of
``log(1 + u)``, wherever such a thing is a factor of what is divided, or divided by. Of ``(exp(u) - 1) / u`` within some roundings of zero hardly a
digit is right, and of its derivative none is; steps notice nothing, but what an event at that zero takes them for does (Higham 2002, Accuracy and
Stability of Numerical Algorithms, 1.14).
"""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.expressions import Expr, node, walk
from tidegate.expressions.zeros import may_pass_zero
from tidegate.model import Model
from tidegate.model.rewriting import rewritten
from tidegate.structure.passes import Passed

__all__ = ["without_cancellations"]


def without_cancellations(model: Model) -> Passed:
    """The model with quotients that are accurate near the zeros of what they divide by.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> from tidegate.expressions.elementary import exp
    >>> from tidegate.model import Equation, Form, Variable, VariableRole
    >>> v, rate = symbol(Role.UNKNOWN, "v"), symbol(Role.DERIVATIVE, "v")
    >>> model = Model("gate", Form.ODE, (Variable("v", VariableRole.STATE),), (Equation(rate, v / (1.0 - exp(-v))),))
    >>> print(without_cancellations(model).model.equations[0].right)
    v/(-expm1(-v))
    """
    sides = [side for equation in model.equations for side in (equation.left, equation.right)]
    found: dict[Expr, Expr] = {}
    for quotient in walk(sides):
        if quotient.op == "div":
            for factor in _factors(quotient.args):
                instead = _accurate(factor)
                if instead is not None:
                    found[factor] = instead
    return Passed(rewritten(model, found)) if found else Passed(model)


def _factors(products: tuple[Expr, ...]) -> Iterator[Expr]:
    waiting, seen = list(products), set[Expr]()
    while waiting:
        item = waiting.pop()
        if item in seen:
            continue
        seen.add(item)
        if item.op in ("mul", "neg"):
            waiting += item.args
        elif item.op == "pow" and item.args[1].is_constant:
            waiting.append(item.args[0])
        else:
            yield item


def _accurate(item: Expr) -> Expr | None:
    """The same without the difference that cancels where its argument is zero; None for everything else."""
    if item.op == "log":
        others = _beside_one(item.args[0], 1.0)
        return node("log1p", (others,)) if others is not None and may_pass_zero(others) else None
    for sign, one in ((1.0, -1.0), (-1.0, 1.0)):
        term = _beside_one(item, one, sign)
        if term is None or term.op not in ("exp", "cos", "cosh") or not may_pass_zero(term.args[0]):
            continue
        if term.op == "exp":
            found = node("expm1", term.args)
        else:
            half = node("sin" if term.op == "cos" else "sinh", (0.5 * term.args[0],))
            found = (-2.0 if term.op == "cos" else 2.0) * half**2
        return found if sign > 0.0 else -found
    return None


def _beside_one(item: Expr, one: float, sign: float = 1.0) -> Expr | None:
    """The term x of ``sign * x + one``."""
    if item.op not in ("add", "sub") or len(item.args) != 2:
        return None
    first, second = item.args
    is_less = item.op == "sub"
    if second.is_constant and sign > 0.0 and (-second.value if is_less else second.value) == one:
        return first
    if first.is_constant and first.value == one and (sign < 0.0) == is_less:
        return second
    return None
