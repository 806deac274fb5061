"""M y' = f in one mode, solved by expressions for the derivatives of all unknowns, algebraic ones included (stage: compiled).

In: locked right sides, in which relations are bits that stay as they are between events, and M. Out: y' for every unknown. Where a mode's algebraic
unknowns follow from states, time and parameters, v = a(t, x), the system is a system of ordinary differential equations between events: x' = f(t, x,
a(t, x)), and v' = a_t + a_x x' moves v along. v' reads states only, so that an error of v does not grow from step to step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tidegate.expressions import ONE, ZERO, Expr, Role, symbol
from tidegate.expressions.differentiate import tangent
from tidegate.expressions.sparsity import dependencies
from tidegate.model import Equation, Form, Model, Variable, VariableRole
from tidegate.quick_dataclass import dataclass
from tidegate.structure.solve_explicitly import solve_explicitly

__all__ = ["ExplicitRates", "explicit_rates"]

_TIME: Final = symbol(Role.TIME, "time")


@dataclass(frozen=True, eq=False)
class ExplicitRates:
    """The derivatives of all unknowns, and what the algebraic ones among them are.

    Parameters
    ----------
    rates : y', one expression an unknown.
    values : of the algebraic unknowns, by their symbols.
    """

    rates: tuple[Expr, ...]
    values: Mapping[Expr, Expr]


def explicit_rates(unknowns: Sequence[Expr], rhs: Sequence[Expr], mass: Mapping[tuple[int, int], Expr]) -> ExplicitRates | None:
    """Solve for the derivatives; None where no expressions give them.

    Parameters
    ----------
    unknowns : symbols of y.
    rhs, mass : f and the entries of M.

    Examples
    --------
    >>> x, v = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "v")
    >>> explicit_rates([x, v], [-v, 2.0 * x - v], {(0, 0): ONE}).rates
    (-(2*x), 2*(-(2*x)))
    """
    slopes = {k: symbol(Role.DERIVATIVE, s.data.name) for k, s in enumerate(unknowns)}
    moving = {j for _, j in mass}
    if len(moving) == len(mass) == len(unknowns) and all(i == j for i, j in mass):
        return ExplicitRates(tuple(f / mass[i, i] for i, f in enumerate(rhs)), {})
    left = [ZERO] * len(rhs)
    for (i, j), entry in mass.items():
        left[i] = left[i] + entry * slopes[j]
    roles = [VariableRole.STATE if k in moving else VariableRole.ALGEBRAIC for k in slopes]
    variables = tuple(Variable(s.data.name, role) for s, role in zip(unknowns, roles, strict=True))
    passed = solve_explicitly(Model("mode", Form.DAE, variables, tuple(map(Equation, left, rhs))))
    if passed.model.form is not Form.ODE:
        return None
    found = {equation.left: equation.right for equation in passed.model.equations}
    values = {s: passed.replaced[s] for k, s in enumerate(unknowns) if k not in moving}
    of_states = {s: found[slopes[k]] for k, s in enumerate(unknowns) if k in moving}
    if any(s in values or s.data.role is Role.DERIVATIVE for s in dependencies(*of_states.values(), *values.values())):
        return None
    moves = tangent(list(values.values()), {_TIME: ONE, **of_states})
    rates = of_states | dict(zip(values, moves, strict=True))
    return ExplicitRates(tuple(rates[s] for s in unknowns), values)
