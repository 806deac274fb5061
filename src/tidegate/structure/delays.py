"""Delays become unknowns (stage: structure). In: a model with ``tg.delay`` in it; out: one with an unknown for each, whose equation reads the past.

So conditions, outputs and bodies of events read a delayed signal as they read any other, and their events are proved on its polynomial. What is
delayed is an unknown as well, unless it is a state of an ODE: it is then known with the accuracy of the steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tidegate.errors import ModelError
from tidegate.expressions import ZERO, Expr, Role, node, raw_node, symbol, text, walk
from tidegate.expressions.node_data import LookedUp
from tidegate.expressions.sparsity import dependencies
from tidegate.expressions.substitute import substitute
from tidegate.model import Equation, Form, Model, Variable, VariableRole
from tidegate.model.rewriting import expressions_of, rewritten
from tidegate.structure.passes import Passed

__all__ = ["delays_as_unknowns", "kept_for_the_past"]

_TIME: Final = symbol(Role.TIME, "time")


def delays_as_unknowns(model: Model, /) -> Passed:
    """The model with an unknown for each delay; the same where there is none.

    Raises
    ------
    ModelError : a delay is of a kind that is not computed.
    """
    found = [item for item in walk(expressions_of(model)) if item.op == "delay"]
    if not found:
        return Passed(model)
    if model.form is Form.HDAE:
        raise ModelError(f"{model.name} has delays, which a constrained system (tg.hdae) cannot have", origin=model.origin)
    starts = {item: start for v in model.by_role(VariableRole.STATE) for item, start in zip(v.symbols(), v.starts(), strict=True)}
    states = set(starts)
    names = {name for variable in model.variables for name in variable.names}
    new: dict[Expr, Expr] = {}
    looks: dict[Expr, Expr] = {}  # a time that varies -> the unknown that says when it looks back at
    numbers: dict[Expr, int] = {}  # of times, each of which has its own place where the past breaks off
    variables: list[Variable] = []
    equations: list[Equation] = []

    def unknown(name: str, start: Expr) -> Expr:
        while name in names:
            name += "'"
        names.add(name)
        variables.append(Variable(name, VariableRole.ALGEBRAIC, start=(start,), origin=model.origin, is_hidden=True))
        return symbol(Role.UNKNOWN, name)

    for item in found:
        said = text(item)
        value, time = substitute(item.args[:2], new)
        then = _TIME - time
        before = _before(model, item, value, starts, said)
        if _moves(time):
            if time not in looks:
                looks[time] = unknown(f"when {said} looks back at", ZERO)
                equations.append(Equation(looks[time], raw_node("same", (then,)), model.origin, f"when {said} looks back at"))
            then = looks[time]
        number = numbers.setdefault(time, len(numbers))
        history = substitute([before], {_TIME: then})[0]
        # where the delay varies, what was before the start is taken at the start, for the search of consistent values to begin with
        start = before if _moves(time) else history
        if not (value in states and model.form is Form.ODE):
            kept = unknown(f"what {said} looks back at", ZERO)
            equations.append(Equation(kept, raw_node("same", (value,)), model.origin, f"what {said} looks back at"))
            value = kept
        looked_up = node("past", (then, history, time), LookedUp(value.data.name, 0, number))
        new[item] = unknown(said, start)
        equations.append(Equation(new[item], looked_up, model.origin, said))
    whole = rewritten(model, new)
    origins = dict(zip(substitute(model.condition_origins, new), model.condition_origins.values(), strict=True))
    return Passed(
        replace(whole, form=Form.DAE, variables=(*whole.variables, *variables), equations=(*whole.equations, *equations), condition_origins=origins),
        new,
    )


def _moves(time: Expr) -> bool:
    return any(s.data.role is not Role.PARAMETER for s in dependencies(time))


def _before(model: Model, item: Expr, value: Expr, starts: dict[Expr, Expr], said: str) -> Expr:
    """What it was before the start, as an expression of time and parameters."""
    given = item.args[2] if len(item.args) == 3 else substitute([value], starts)[0]
    moving = [s for s in dependencies(given) if s.data.role not in (Role.PARAMETER, Role.TIME)]
    if moving:
        raise ModelError(
            f"what {said} was before the start is not known: {min(s.data.name for s in moving)} is no state",
            origin=model.origin,
            hint="tg.delay(..., history=...), a number or an expression of time and parameters",
        )
    return given


def kept_for_the_past(model: Model) -> Iterator[Expr]:
    """Unknowns that must stay, because the past is read of them or into them."""
    for equation in model.equations:
        for one, other in ((equation.left, equation.right), (equation.right, equation.left)):
            if one.op in ("past", "same") and other.op == "symbol":
                yield other
            if one.op == "past":
                yield symbol(Role.UNKNOWN, one.data.name)
                if one.args[0].op == "symbol":
                    yield one.args[0]
