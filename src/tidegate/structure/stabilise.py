"""The first pass (stage: structure): an HDAE becomes as many equations as unknowns, by multipliers for what stabilises it.

In: a model of the form HDAE (Otter, DSblock 3.3), whose equations say of which part F1 ... F5 they are. Out: the same unknowns and multipliers, with
constant diagonal mass matrix. Index reduction is not wanted here: F4 and F5 are kept, and are what the solution is held to.

Two forms of the equations are written in one. Those that are integrated may be of index two. Consistent values and rates at a point follow from
F1, F2, F3 and multipliers that are zero, which are of index one whatever the option: these hold where ``IS_INTEGRATED`` is zero.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tidegate.errors import InvalidModelError, Origin
from tidegate.expressions import ONE, ZERO, Expr, Role, dependencies, jacobian, symbol
from tidegate.model import Equation, Form, Model, Variable, VariableRole
from tidegate.model.stabilisation import STABILISATIONS
from tidegate.names import MULTIPLIER, listed
from tidegate.structure.passes import Pass, Passed

__all__ = ["IS_INTEGRATED", "stabilise", "unless_hdae"]

IS_INTEGRATED: Final = symbol(Role.MODE, "integrated form")


def unless_hdae(step: Pass) -> Pass:
    """A pass that leaves alone what an HDAE has become: each of its equations is where it has to be."""

    def carry_out(model: Model, /) -> Passed:
        return Passed(model) if model.form is Form.HDAE else step(model)

    return carry_out


def stabilise(model: Model) -> Passed:
    """The form that is solved.

    Raises
    ------
    InvalidModelError : a constraint looks at what it may not.
    """
    if model.form is not Form.HDAE or model.constraints:
        return Passed(model)
    form = STABILISATIONS[model.stabilisation]
    parts = {k: [equation for equation in model.equations if equation.part == k] for k in range(1, 6)}
    states = [s for v in model.by_role(VariableRole.STATE) for s in v.symbols()]
    _check_constraints(model, [*parts[4], *parts[5]], set(states))
    algebraic = [s for v in model.by_role(VariableRole.ALGEBRAIC) for s in v.symbols()]
    third = algebraic[len(parts[2]) :]
    names = {k: f"{MULTIPLIER}{k})" for k in form.multiplied if parts[k]}
    multipliers = tuple(Variable(name, VariableRole.ALGEBRAIC, (len(parts[k]),)) for k, name in names.items())
    mu = [s for v in multipliers for s in v.symbols()]
    stabilising = [equation for k in names for equation in parts[k]]
    forces: dict[int, Expr] = {}
    for (row, column), gradient in jacobian([equation.residual for equation in stabilising], states).items():
        forces[column] = forces[column] + gradient * mu[row] if column in forces else gradient * mu[row]
    first = [replace(e, right=e.right - forces[k]) if k in forces else e for k, e in enumerate(parts[1])]
    last = parts[3] if form.last == 3 else [_either(e, given.residual) for e, given in zip(parts[4], parts[3], strict=True)]
    kept = [_either(equation, one) for equation, one in zip(stabilising, mu, strict=True)]
    return Passed(
        replace(
            model,
            variables=(*model.variables, *multipliers),
            equations=(*first, *parts[2], *last, *kept),
            constraints=(*parts[2], *parts[3], *parts[4], *parts[5]),
            index_two=(*_of_index_two(parts[2], algebraic, third if form.last == 4 else []), *mu),
        )
    )


def _of_index_two(second: list[Equation], algebraic: list[Expr], third: list[Expr]) -> list[Expr]:
    """x3 where it is of index two; x2 with it where it looks at x3."""
    return algebraic if not set(third).isdisjoint(dependencies(*(equation.residual for equation in second))) else third


def _either(equation: Equation, otherwise: Expr) -> Equation:
    """The equation where it is integrated, something else that is zero where consistent values are computed."""
    value = IS_INTEGRATED * equation.residual + (ONE - IS_INTEGRATED) * otherwise
    return replace(equation, left=ZERO, right=value)


def _check_constraints(model: Model, constraints: list[Equation], states: set[Expr]) -> None:
    found: list[tuple[str, Origin | None]] = [
        (f"{equation.label} of {model.name} looks at {listed(sorted(names))}; F4 and F5 may look at x1 only", equation.origin)
        for equation in constraints
        if (names := [s.data.name for s in dependencies(equation.residual) if s.data.role in (Role.UNKNOWN, Role.DERIVATIVE) and s not in states])
    ]
    if found:
        raise InvalidModelError(found)
