"""Roots and broken powers of what is solved for go on beyond the event where they end (stage: structure).

In: a model; out: the same where no unknown is left to be solved for; else with ``-((-b)**e)`` for ``b**e`` where ``b`` is below zero, in what a
relation chooses only where ``b`` is not below zero.

``abs(z)**1.5`` and ``(z - c)**1.5 if z > c else 0.0`` have no value on the other side of the event at which their pieces end. Equations that give
rates are asked for these just behind it; what is solved for by iteration is beside it by as much as iterations leave, before the event and behind it,
and no number would come of it. Nothing of the continued piece is in a result: the run ends it at the event.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from tidegate.expressions import Expr, Role, makes_events, node, select, walk
from tidegate.expressions.no_event import without_own_event
from tidegate.expressions.substitute import substitute
from tidegate.model import Model, VariableRole
from tidegate.structure.passes import Passed

__all__ = ["continued_roots", "root_that_goes_on"]

_MOVING: Final = frozenset({Role.TIME, Role.UNKNOWN, Role.DERIVATIVE})
_NEVER_NEGATIVE: Final = frozenset({"sqrt", "exp", "cosh"})


def continued_roots(model: Model) -> Passed:
    """The model with roots that go on.

    Examples
    --------
    >>> from tidegate.expressions import constant, evaluate, symbol
    >>> from tidegate.model import Equation, Form, Variable
    >>> z = symbol(Role.UNKNOWN, "z")
    >>> weir = Model("weir", Form.DAE, (Variable("z", VariableRole.ALGEBRAIC),), (Equation(z + abs(z) ** 1.5, constant(0.5)),))
    >>> flow = continued_roots(weir).model.equations[0].left.args[1]
    >>> [flow.op, round(evaluate([flow], {z: -0.25})[0], 3)]
    ['select', 0.125]
    """
    if not model.by_role(VariableRole.ALGEBRAIC):
        return Passed(model)
    sides = [side for equation in model.equations for side in (equation.left, equation.right)]
    found = _continued(sides)
    if not found:
        return Passed(model)
    new = iter(substitute(sides, found))
    return Passed(replace(model, equations=tuple(replace(equation, left=next(new), right=next(new)) for equation in model.equations)))


def _continued(sides: list[Expr]) -> dict[Expr, Expr]:
    """What stands for roots that are never of a negative number, wherever they are, and for choices with roots in what they choose."""
    found: dict[Expr, Expr] = {}
    moves: dict[Expr, bool] = {}
    roots: set[Expr] = set()  # that may be of a negative number
    has_roots: dict[Expr, bool] = {}
    for item in walk(sides):
        moves[item] = item.data.role in _MOVING if item.op == "symbol" else any(moves[arg] for arg in item.args)
        has_roots[item] = any(has_roots[arg] for arg in item.args)
        if moves[item] and _is_root(item):
            if _is_never_negative(item.args[0], frozenset()):
                found[item] = _going_on(substitute([item], found)[0])
            else:
                roots.add(item)
                has_roots[item] = True
        elif item.op == "select" and has_roots[item]:
            arms = [_chosen(arm, roots if has_roots[arm] else frozenset(), facts, found) for arm, facts in _arms(item)]
            if (new := select(item.args[0], *arms)) is not item:
                found[item] = new
    return found


def _chosen(arm: Expr, roots: AbstractSet[Expr], facts: AbstractSet[Expr], found: dict[Expr, Expr]) -> Expr:
    """An arm of a choice with its roots going on, those that are never of a negative number where it is chosen."""
    below = [item for item in walk([arm]) if item in roots and _is_never_negative(item.args[0], facts)] if roots and facts else []
    return substitute([arm], found | {root: _going_on(substitute([root], found)[0]) for root in below})[0]


def _is_root(item: Expr) -> bool:
    if item.op == "pow":
        exponent = item.args[1]
        return not exponent.is_constant or (exponent.value > 0.0 and not exponent.value.is_integer())
    return item.op == "sqrt"


def _going_on(root: Expr) -> Expr:
    base = root.args[0]
    return select(without_own_event(base >= 0), root, -node(root.op, (-base, *root.args[1:])))


def root_that_goes_on(item: Expr) -> Expr | None:
    """The root that goes on in this expression, if it is what this pass made of one."""
    if item.op != "select" or not _is_root(item.args[1]):
        return None
    return item.args[1] if _going_on(item.args[1]) is item else None


def _true_where(condition: Expr, *, is_so: bool) -> frozenset[Expr]:
    """What is not negative where an event made the condition true, or false."""
    facts: set[Expr] = set()
    waiting, seen = [(condition, is_so)], set[tuple[Expr, bool]]()  # no recursion: all of a thousand comparisons are as deep
    while waiting:
        item, holds = waiting.pop()
        if (item, holds) in seen:
            continue
        seen.add((item, holds))
        if item.op == "not":
            waiting.append((item.args[0], not holds))
        elif item.op == ("and" if holds else "or"):
            waiting += [(arg, holds) for arg in item.args]
        elif item.op in ("ge", "gt") and makes_events(item):
            compared = item.args[0]
            facts.add(compared if holds else -compared)
            if not holds and compared.op == "sub":
                facts.add(compared.args[1] - compared.args[0])
    return frozenset(facts)


def _is_never_negative(base: Expr, facts: AbstractSet[Expr]) -> bool:
    known: dict[Expr, bool] = {}
    for item in walk([base]):
        below = [known[arg] for arg in item.args]
        if _is_multiple(item, facts) or item.op in _NEVER_NEGATIVE:
            known[item] = True
        elif item.is_constant:
            known[item] = item.value >= 0.0
        elif item.op in ("mul", "div", "add", "sub"):
            is_square = item.op == "mul" and item.args[0] is item.args[1]
            known[item] = is_square or (item.op != "sub" and all(below)) or _is_where_chosen(item)
        elif item.op == "pow":
            exponent = item.args[1]
            known[item] = below[0] or (exponent.is_constant and exponent.value % 2.0 == 0.0)
        elif item.op == "select":
            known[item] = all(known[arm] or _is_multiple(arm, chosen_by) for arm, chosen_by in _arms(item))
        else:
            known[item] = False
    return known[base]


def _arms(choice: Expr) -> list[tuple[Expr, frozenset[Expr]]]:
    """What is chosen, and what is not negative then."""
    condition, first, second = choice.args
    return [(first, _true_where(condition, is_so=True)), (second, _true_where(condition, is_so=False))]


def _is_where_chosen(whole: Expr) -> bool:
    """Whether a sum with one choice in it, as ``max(z, c) - c``, is not negative whatever is chosen."""
    first, second = whole.args
    if whole.op not in ("add", "sub") or (first.op == "select") is (second.op == "select"):
        return False
    choice, other = (first, second) if first.op == "select" else (second, first)
    for arm, facts in _arms(choice):
        total = other + arm if whole.op == "add" else arm - other if choice is first else other - arm
        if not (total.value >= 0.0 if total.is_constant else _is_multiple(total, facts)):
            return False
    return True


def _is_multiple(item: Expr, facts: AbstractSet[Expr]) -> bool:
    """Whether it is one of the facts, or one times a number above zero."""
    factor = 1.0
    while item not in facts and item.op in ("mul", "div", "neg"):
        number, other = (item.args[0], item.args[-1]) if item.op == "mul" and item.args[0].is_constant else (item.args[-1], item.args[0])
        if item.op == "neg":
            factor = -factor
        elif number.is_constant and number.value != 0.0:
            factor *= number.value
        else:
            return False
        item = other
    return (item if factor > 0.0 else -item) in facts
