"""Plain evaluation follows IEEE 754 and Python's own arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import UsageError
from tidegate.expressions import OpaqueFunction, Role, differentiate, evaluate, lookup, node, opaque_call, segment, symbol
from tidegate.expressions.nodes import UNARY_FUNCTIONS

x, y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")
NUMPY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e308, -1e308, 5e-324, 710.0, 0.5]


@pytest.mark.parametrize("name", sorted(UNARY_FUNCTIONS - {"erf"}))
def test_functions_agree_with_numpy_at_special_values(name: str) -> None:
    for value in SPECIAL:
        with np.errstate(all="ignore"):
            expected = float(getattr(np, NUMPY_NAMES.get(name, name))(value))
        assert evaluate([node(name, (x,))], {x: value}) == pytest.approx([expected], rel=1e-15, nan_ok=True)


@given(st.sampled_from(SPECIAL), st.sampled_from(SPECIAL))
def test_arithmetic_agrees_with_ieee_at_special_values(a: float, b: float) -> None:
    with np.errstate(all="ignore"):
        p, q = np.float64(a), np.float64(b)
        expected = [float(p + q), float(p - q), float(p * q), float(p / q)]
    assert evaluate([x + y, x - y, x * y, x / y], {x: a, y: b}) == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


def test_powers_of_negative_numbers_are_real_or_nan() -> None:
    assert evaluate([x**3, x**-2, x**2.0], {x: -2.0}) == [-8.0, 0.25, 4.0]
    assert math.isnan(evaluate([x**1.5], {x: -2.0})[0])
    assert math.isnan(evaluate([x**0.5], {x: -2.0})[0])
    assert evaluate([x**-1, x**1000], {x: 0.0}) == [math.inf, 0.0]
    assert evaluate([x**1000], {x: 10.0}) == [math.inf]


def test_a_missing_value_is_named() -> None:
    with pytest.raises(UsageError, match="`y`"):
        evaluate([x + y], {x: 1.0})


@pytest.mark.parametrize(("at", "piece"), [(-5, 0), (0, 0), (0.99, 0), (1, 1), (2.5, 1), (3, 2), (100, 2), (math.nan, 0)])
def test_a_segment_holds_its_left_end(at: float, piece: int) -> None:
    k = segment(x, [0.0, 1.0, 3.0, 4.0])
    assert evaluate([k, lookup(k, [10.0, 20.0, 30.0])], {x: at}) == [piece, 10.0 * (piece + 1)]


def test_an_index_outside_is_brought_inside() -> None:
    assert evaluate([lookup(x, [1.0, 2.0])], {x: 7.0}) == [2.0]
    assert evaluate([lookup(x, [1.0, 2.0])], {x: -7.0}) == [1.0]


def test_opaque_functions_are_called_and_differenced() -> None:
    function = OpaqueFunction(lambda a, b: [a * b, math.exp(a)], 2, "f")
    product, growth = opaque_call(function, [x, y])
    assert evaluate([product, growth], {x: 0.5, y: 3.0}) == [1.5, math.exp(0.5)]
    slopes = [differentiate(product, x), differentiate(product, y), differentiate(growth, x), differentiate(growth, y)]
    assert evaluate(slopes, {x: 0.5, y: 3.0}) == pytest.approx([3.0, 0.5, math.exp(0.5), 0.0], rel=1e-9)


def test_an_opaque_function_with_other_results_than_declared_is_refused() -> None:
    (only,) = opaque_call(OpaqueFunction(lambda a: [a, a], 1, "pair"), [x])
    with pytest.raises(UsageError, match="`pair` returned 2 numbers where 1"):
        evaluate([only], {x: 1.0})
