"""What an expression depends on, and how."""

from __future__ import annotations

import pytest
from hypothesis import given

from strategies import RATIONAL, SYMBOLS, graphs
from tidegate.expressions import Expr, dependencies, dependency_sets, depends_on, differentiate, is_affine, select, walk
from tidegate.expressions.elementary import sin

x, y, z = SYMBOLS


@pytest.mark.slow
@given(graphs(RATIONAL), graphs(RATIONAL))
def test_dependencies_are_the_symbols_in_the_graph(first: Expr, second: Expr) -> None:
    expected = [{item for item in SYMBOLS if any(below is item for below in walk([expr]))} for expr in (first, second)]
    assert [dependencies(first), dependencies(second)] == expected == dependency_sets([first, second])
    assert depends_on(first, [x]) == (x in expected[0])


@pytest.mark.parametrize(
    ("expr", "affine"),
    [
        (x * 3 - y, True),
        (x * z + y / (1 + z), True),
        (select(z > 0, x, -y), True),
        (sin(z) ** 2, True),
        (x * y, False),
        (z / x, False),
        (x**2, False),
        (sin(x), False),
        (select(x > 0, 1.0, 2.0), False),
        (abs(y), False),
    ],
)
def test_affine_means_constant_derivatives_and_no_conditions(expr: Expr, affine: bool) -> None:
    assert is_affine(expr, [x, y]) is affine


@pytest.mark.slow
@given(graphs(RATIONAL))
def test_derivatives_of_affine_expressions_are_free_of_the_symbols(expr: Expr) -> None:
    if is_affine(expr, [x, y]):
        assert not any(depends_on(differentiate(expr, item), [x, y]) for item in (x, y))
