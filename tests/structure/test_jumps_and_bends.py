"""What stands for roots of squares, angles and their like has the same values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.expressions import Expr, Role, evaluate, makes_events, node, symbol, walk
from tidegate.expressions.elementary import sqrt
from tidegate.model import Equation, Form, Model, Variable, VariableRole
from tidegate.structure.jumps_and_bends import jumps_and_bends

__all__: list[str] = []

U, V, P = symbol(Role.UNKNOWN, "u"), symbol(Role.UNKNOWN, "v"), symbol(Role.PARAMETER, "p")
FACTORS = [U, V, P, U - 1.0, node("sin", (U,)), U * V, -U]


def rewritten(value: Expr) -> Expr:
    """What a model with this as the rate of u has in its place."""
    states = tuple(Variable(name, VariableRole.STATE) for name in "uv")
    equations = tuple(Equation(symbol(Role.DERIVATIVE, name), right) for name, right in (("u", value), ("v", V)))
    parameter = Variable("p", VariableRole.PARAMETER)
    return jumps_and_bends(Model("one", Form.ODE, (*states, parameter), equations)).model.equations[0].right


def values_at(value: Expr, u: float, v: float) -> float:
    with np.errstate(all="ignore"):
        return float(evaluate([value], {U: u, V: v, P: 1.5})[0])


numbers = st.floats(-4.0, 4.0).map(lambda x: round(x, 3))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(FACTORS), st.integers(1, 4)), min_size=1, max_size=4),
    st.sampled_from([0.5, 0.25, 0.75, 1.5, 2.5]),
    st.sampled_from([1.0, 2.0, 0.3, -1.0]),
    st.lists(st.tuples(numbers, numbers), min_size=5, max_size=5),
)
def test_roots_of_products_of_powers_keep_their_values(
    factors: list[tuple[Expr, int]], power: float, constant: float, points: list[tuple[float, float]]
) -> None:
    base: Expr = constant * factors[0][0] ** factors[0][1]
    for factor, count in factors[1:]:
        base = base * factor**count if count > 1 else base * factor
    root = sqrt(base) if power == 0.5 else base**power
    instead = rewritten(root)
    for u, v in [*points, (0.0, 1.0), (-0.0, -1.0), (1.0, 0.0)]:
        before, now = values_at(root, u, v), values_at(instead, u, v)
        assert now == pytest.approx(before, rel=1e-13, abs=1e-15, nan_ok=True), (root, instead, u, v)


@pytest.mark.parametrize("inner", ["sin", "cos"])
@pytest.mark.parametrize("outer", ["asin", "acos"])
def test_arcs_of_sines_keep_their_values(outer: str, inner: str) -> None:
    arc = node(outer, (node(inner, (3.0 * U,)),))
    instead = rewritten(arc)
    assert any(map(makes_events, walk([instead])))
    for u in np.linspace(-7.0, 7.0, 1009).tolist():
        # an arc sine of what is nearly one has half of the digits
        assert values_at(instead, u, 0.0) == pytest.approx(values_at(arc, u, 0.0), abs=3e-8)


def test_a_hyperbolic_tangent_of_a_quotient_keeps_its_values() -> None:
    quotient = node("tanh", (V / (U - 1.0),))
    instead = rewritten(quotient)
    for u, v in [(1.5, 0.3), (0.5, 0.3), (0.5, -0.3), (1.0 + 1e-9, -2.0), (1.0 - 1e-9, -2.0), (-3.0, 40.0)]:
        assert values_at(instead, u, v) == pytest.approx(math.tanh(v / (u - 1.0)), rel=1e-14)


@pytest.mark.parametrize(
    "value", [sqrt(1.0 + U * U), sqrt(U**3), sqrt(P * P) * U, sqrt(U**4), node("tanh", (U / P,)), node("asin", (0.5 * node("sin", (U,)),))]
)
def test_what_neither_jumps_nor_bends_makes_no_event(value: Expr) -> None:
    assert not any(map(makes_events, walk([rewritten(value)])))


def test_a_root_of_a_square_below_a_comparison_stays_what_is_compared() -> None:
    value = (sqrt(U * U) > 0.5) * 1.0
    assert rewritten(value) is value
