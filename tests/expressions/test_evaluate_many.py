"""Evaluated at many points at once, expressions have the numbers that they have point by point, to the last bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import SYMBOLS, WILD, graphs, points
from tidegate.errors import UsageError
from tidegate.expressions import OpaqueFunction, Role, evaluate, opaque_call, symbol
from tidegate.expressions.evaluate_many import evaluate_many, is_arithmetic
from tidegate.structure.linear_solution import are_rounding, is_rounding

SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e308, 5e-324, 710.0, 0.5]


def same_bits(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or np.float64(one).tobytes() == np.float64(other).tobytes()


@pytest.mark.slow
@given(graphs(WILD), st.lists(points(), min_size=1, max_size=5), st.sets(st.sampled_from(SYMBOLS)))
def test_many_points_are_one_after_the_other(root: Any, at: list[dict[Any, float]], shared: set[Any]) -> None:
    """Some symbols have one value at all points."""
    values = {s: at[0][s] if s in shared else np.array([point[s] for point in at]) for s in SYMBOLS}
    found = np.broadcast_to(evaluate_many([root], values)[0], len(at))
    expected = [evaluate([root], {s: at[0][s] if s in shared else point[s] for s in SYMBOLS})[0] for point in at]
    assert all(map(same_bits, found.tolist(), expected)), (found, expected)


@pytest.mark.slow
@given(graphs(WILD, 4), st.lists(st.sampled_from(SPECIAL), min_size=3, max_size=3))
def test_special_values_too(root: Any, at: list[float]) -> None:
    expected = evaluate([root], dict(zip(SYMBOLS, at, strict=True)))
    (found,) = evaluate_many([root], {s: np.array([value]) for s, value in zip(SYMBOLS, at, strict=True)})
    assert same_bits(float(np.broadcast_to(found, 1)[0]), expected[0])


@pytest.mark.slow
@given(graphs(WILD, 5), st.lists(points(), min_size=1, max_size=4))
def test_rounding_of_many_is_that_of_each(root: Any, at: list[dict[Any, float]]) -> None:
    found = np.broadcast_to(are_rounding(root, {s: np.array([point[s] for point in at]) for s in SYMBOLS}), len(at))
    assert found.tolist() == [is_rounding(root, point) for point in at]


def test_what_calls_the_user_is_no_arithmetic() -> None:
    x = symbol(Role.UNKNOWN, "x")
    (outside,) = opaque_call(OpaqueFunction(lambda a: a, 1, "outside"), [x])
    assert is_arithmetic([x * x])
    assert not is_arithmetic([x + outside])


def test_a_missing_value_is_named() -> None:
    x, y = SYMBOLS[:2]
    with pytest.raises(UsageError, match="`y`"):
        evaluate_many([x + y], {x: np.array([1.0])})
