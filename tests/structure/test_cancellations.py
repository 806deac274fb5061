"""What stands for a difference that cancels is the same number where it does not cancel, and the right one where it does."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from tidegate.expressions import Expr, Role, evaluate, symbol
from tidegate.expressions.elementary import cos, cosh, exp, log
from tidegate.model import Equation, Form, Model, Variable, VariableRole
from tidegate.structure.cancellations import without_cancellations

__all__: list[str] = []

U, P = symbol(Role.UNKNOWN, "u"), symbol(Role.PARAMETER, "p")


def rewritten(value: Expr) -> Expr:
    """What a model with this as the rate of u has in its place."""
    equation = Equation(symbol(Role.DERIVATIVE, "u"), value)
    variables = (Variable("u", VariableRole.STATE), Variable("p", VariableRole.PARAMETER))
    return without_cancellations(Model("one", Form.ODE, variables, (equation,))).model.equations[0].right


QUOTIENTS = {
    "exp": ((exp(2.0 * U) - 1.0) / U, lambda u: (mpmath.exp(2 * u) - 1) / u),
    "one less exp": (U / (1.0 - exp(-U)), lambda u: u / (1 - mpmath.exp(-u))),
    "minus one and exp": ((-1.0 + exp(U)) / U, lambda u: (mpmath.exp(u) - 1) / u),
    "cos": ((1.0 - cos(U)) / U**2, lambda u: (1 - mpmath.cos(u)) / u**2),
    "cos less one": (3.0 * (cos(3.0 * U) - 1.0) / U, lambda u: 3 * (mpmath.cos(3 * u) - 1) / u),
    "cosh": ((cosh(U) - 1.0) / U, lambda u: (mpmath.cosh(u) - 1) / u),
    "one less cosh": ((1.0 - cosh(U)) / U, lambda u: (1 - mpmath.cosh(u)) / u),
    "log": (log(1.0 + U) / U, lambda u: mpmath.log(1 + u) / u),
    "log the other way": (U / log(U + 1.0), lambda u: u / mpmath.log(1 + u)),
    "powers and signs": (-U * (exp(U) - 1.0) ** 2 / (1.0 - cos(U)), lambda u: -u * (mpmath.exp(u) - 1) ** 2 / (1 - mpmath.cos(u))),
}


@pytest.mark.parametrize("name", QUOTIENTS)
def test_a_quotient_is_accurate_wherever_it_has_a_value(name: str) -> None:
    value, truth = QUOTIENTS[name]
    instead = rewritten(value)
    assert instead is not value
    with mpmath.workdps(260):
        for u in [*np.linspace(-0.9, 3.0, 40).tolist(), 1e-3, -1e-5, 1e-8, -1e-12, 1e-15, -3e-17, 1e-100]:
            # the arguments' own roundings are as large as those of some operations
            assert float(evaluate([instead], {U: u, P: 1.0})[0]) == pytest.approx(float(truth(mpmath.mpf(u))), rel=3e-14)


@pytest.mark.parametrize(
    "value", [exp(U) - 1.0, (exp(P) - 1.0) / U, (exp(U) - 2.0) / U, (exp(U) + 1.0) / U, log(2.0 + U) / U, (1.0 - exp(1.0 + U * U)) / U]
)
def test_what_does_not_cancel_or_is_no_quotient_stays(value: Expr) -> None:
    assert rewritten(value) is value
