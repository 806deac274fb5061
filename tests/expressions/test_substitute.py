"""Replacing nodes is the same as evaluating with what is put in."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from strategies import RATIONAL, SYMBOLS, graphs, points
from tidegate.expressions import TRUE, ZERO, Expr, OpaqueFunction, constant, dependencies, evaluate, opaque_call, select, substitute, walk

x, y, z = SYMBOLS


@pytest.mark.slow
@given(graphs(RATIONAL), graphs(RATIONAL, size=4), points())
def test_values_are_those_with_the_symbol_set_to_the_replacement(expr: Expr, put: Expr, at: dict[Expr, float]) -> None:
    (inner,) = evaluate([put], at)
    whole = evaluate(list(walk([expr])), at | {x: inner})
    (expected,) = evaluate([expr], at | {x: inner})
    (found,) = evaluate(substitute([expr], {x: put}), at)
    # 0*x and 0/x simplify to zero even where x turns out infinite or NaN; and zero has no sign, so that 1/0 may turn out either infinity
    if all(abs(value) < 1e300 for value in (inner, *whole)):
        assert found == pytest.approx(expected, rel=1e-12)


def test_a_zero_keeps_its_value_but_not_its_sign() -> None:
    difference = -(x - y)
    at = {x: 1.0, y: 1.0}
    assert evaluate([difference], at) == [0.0]
    assert [abs(value) for value in evaluate([1 / difference, -1 / (x - y)], at)] == [math.inf, math.inf]


@pytest.mark.slow
@given(graphs(RATIONAL))
def test_nothing_to_replace_gives_the_same_nodes(expr: Expr) -> None:
    assert substitute([expr], {})[0] is expr
    assert substitute([expr], {constant(12345.0): ZERO})[0] is expr


@pytest.mark.slow
@given(graphs(RATIONAL))
def test_a_replaced_symbol_is_gone(expr: Expr) -> None:
    (found,) = substitute([expr], {x: constant(0.75)})
    assert dependencies(found) <= {y, z}


def test_conditions_can_be_fixed_and_arms_fall_away() -> None:
    condition = x > y
    expr = select(condition, x, y) + select(~condition, 1.0, z)
    assert substitute([expr], {condition: TRUE})[0] is x + z
    assert substitute([expr], {condition: x * 0 + 1})[0] is x + z


def test_what_is_put_in_is_not_searched_again() -> None:
    assert substitute([x + y], {x: y, y: x})[0] is y + x
    assert substitute([x * x], {x * x: x})[0] is x


def test_opaque_calls_are_called_with_the_new_arguments() -> None:
    (only,) = opaque_call(OpaqueFunction(lambda a: [a + 1], 1, "next"), [x])
    (found,) = substitute([only * 2], {x: constant(4.0)})
    assert evaluate([found], {}) == [10.0]


@pytest.mark.slow
def test_deep_graphs_are_replaced_without_recursion() -> None:
    expr: Expr = x
    for _ in range(5000):
        expr = expr * y + 1
    (found,) = substitute([expr], {y: z})
    assert sum(1 for _ in walk([found])) == sum(1 for _ in walk([expr]))
