"""Simplification changes no value and drops what adds nothing."""

from __future__ import annotations

import math
import operator

import pytest
from hypothesis import given

from strategies import RATIONAL, SYMBOLS, graphs, points, same
from tidegate.expressions import FALSE, ONE, TRUE, ZERO, Expr, constant, evaluate, raw_node, select, walk

x, y, z = SYMBOLS


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (x + 0, x),
        (0 + x, x),
        (x - 0, x),
        (x * 1, x),
        (x * 0, ZERO),
        (x * -1, -x),
        (x / 1, x),
        (0 / x, ZERO),
        (x - x, ZERO),
        (operator.neg(-x), x),
        (x + -y, x - y),
        (-x + y, y - x),
        (x - -y, x + y),
        (0 - x, -x),
        (-(x - y), y - x),
        (-x * -y, x * y),
        (-x * x, -(x * x)),
        (x * -x, -(x * x)),
        ((x - y) * (y - x), -((y - x) * (y - x))),
        (x**1, x),
        (x**0, ONE),
        (constant(2) * 3, constant(6)),
        (constant(2) ** -1, constant(0.5)),
        (constant(1) > 0, TRUE),
        (constant(0) > 0, FALSE),
        (x > x, FALSE),
        (x >= x, TRUE),
        (select(x > 0, y, y), y),
        (constant(1.0) / 0.0, constant(math.inf)),
    ],
)
def test_neutral_elements_and_constants_disappear(made: Expr, expected: Expr) -> None:
    assert made is expected


@pytest.mark.slow
@given(graphs(RATIONAL), points())
def test_values_are_those_of_the_unsimplified_graph(expr: Expr, at: dict[Expr, float]) -> None:
    plain: dict[int, Expr] = {}
    for item in walk([expr]):
        plain[id(item)] = raw_node(item.op, tuple(plain[id(arg)] for arg in item.args), item.data)
    (expected,) = evaluate([plain[id(expr)]], at)
    assert same(evaluate([expr], at)[0], expected)
