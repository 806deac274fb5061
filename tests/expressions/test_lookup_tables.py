"""Tables go through their points, as scipy and numpy say, and refuse points that make no function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from tidegate.errors import UsageError
from tidegate.expressions import Role, evaluate, symbol, table, walk

x = symbol(Role.UNKNOWN, "x")
GRID, VALUES = [0.0, 1.0, 2.0, 4.0, 4.5], [0.0, 1.0, 4.0, 2.0, 2.0]


@given(st.floats(-2, 7))
def test_a_linear_table_is_numpys_between_and_continues_its_ends(at: float) -> None:
    line = table(GRID, VALUES)
    expected = float(np.interp(at, GRID, VALUES)) if 0 <= at <= 4.5 else at if at < 0 else 2.0
    assert line(at) == pytest.approx(expected, abs=1e-13)
    assert evaluate([line(x)], {x: at}) == [line(at)]


@pytest.mark.slow
@given(st.floats(-2, 7))
def test_a_cubic_table_is_scipys_not_a_knot_spline(at: float) -> None:
    curve = table(GRID, VALUES, kind="cubic")
    assert curve(at) == pytest.approx(float(CubicSpline(GRID, VALUES)(at)), abs=1e-11)
    assert evaluate([curve(x)], {x: at}) == [curve(at)]


def test_tables_take_arrays() -> None:
    line = table(GRID, VALUES)
    assert line(np.array([0.5, 3.0])).tolist() == [0.5, 3.0]
    assert line(np.array([x, 3.0]))[0] is line(x)


def test_corners_are_segments_and_knots_are_not() -> None:
    assert any(item.op == "segment" for item in walk([table(GRID, VALUES)(x)]))
    assert not any(item.op == "segment" for item in walk([table(GRID, VALUES, kind="cubic")(x)]))
    assert not any(item.op == "segment" for item in walk([table([0, 1], [2, 3])(x)]))


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (([0, 1, 1], [0, 1, 2]), r"x of table `valve` does not increase: x\[1\] = 1.0, x\[2\] = 1.0"),
        (([0, 1], [0, 1, 2]), "has 2 values of x but 3 of y"),
        (([0], [0]), "has 1 point"),
        (([0, np.nan], [0, 1]), r"x\[1\] of table `valve` is nan"),
        (([0, 1], [0, np.inf]), r"y\[1\] of table `valve` is inf"),
        (([[0, 1]], [0, 1]), "has 2 dimensions"),
        ((["a", "b"], [0, 1]), "are not all numbers"),
        (([0, 1], [0, 1], "quintic"), "unknown kind 'quintic'"),
    ],
)
def test_points_that_make_no_function_are_refused(points: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        table(*points, name="valve")
