"""The functions of models mean on symbols what math and numpy mean on numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import UntraceableError
from tidegate.expressions import SUBSTITUTES, Expr, Role, as_expr, evaluate, symbol
from tidegate.expressions import elementary as f

x, y, z = (symbol(Role.UNKNOWN, name) for name in "xyz")

ONE_VALUE = [function for function in SUBSTITUTES if isinstance(function, np.ufunc) and function.nout == 1]
ONE_ARGUMENT = [function for function in ONE_VALUE if function.nin == 1]
TWO_ARGUMENTS = [function for function in ONE_VALUE if function.nin == 2]
ONE_NUMBER = [
    getattr(math, name) for name in "sin cos tan asin acos atan sinh cosh tanh asinh atanh exp expm1 log log2 log10 log1p sqrt cbrt".split()
]
ROUNDING = [math.erf, math.exp2, math.fabs, math.floor, math.ceil, math.trunc, math.radians, math.degrees]
TWO_NUMBERS = [math.atan2, math.hypot, math.pow, math.copysign, math.fmod, math.log]


def value(expr: Any, *at: float) -> float:
    return evaluate([as_expr(expr)], dict(zip((x, y, z), at, strict=False)))[0]


def numpy_value(function: Callable[..., Any], *arguments: float) -> float:
    with np.errstate(all="ignore"):
        return float(function(*arguments))


@pytest.mark.parametrize("function", ONE_ARGUMENT, ids=lambda u: u.__name__)
@given(a=st.floats(-3, 3).filter(lambda a: abs(a * 2 % 1) > 1e-6))
def test_ufuncs_of_one_argument_have_their_substitute(function: np.ufunc, a: float) -> None:
    expected = numpy_value(function, a)
    assert value(SUBSTITUTES[function](x), a) == pytest.approx(expected, rel=1e-14, nan_ok=True)
    assert float(SUBSTITUTES[function](a)) == pytest.approx(expected, rel=1e-14, nan_ok=True)


@pytest.mark.parametrize("function", TWO_ARGUMENTS, ids=lambda u: u.__name__)
@given(a=st.floats(-3, 3).filter(lambda a: abs(a) > 1e-3), b=st.floats(-3, 3).filter(lambda b: abs(b) > 1e-3))
def test_ufuncs_of_two_arguments_have_their_substitute(function: np.ufunc, a: float, b: float) -> None:
    expected = numpy_value(function, a, b)
    if function in (np.mod, np.fmod) and min(abs(expected), abs(b) - abs(expected)) < 1e-9:
        return  # at a multiple of b the last bit decides on which side of the jump one is
    assert value(SUBSTITUTES[function](x, y), a, b) == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
    assert float(SUBSTITUTES[function](a, b)) == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
    assert value(SUBSTITUTES[function](x, b), a) == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("function", [*ONE_NUMBER, *ROUNDING], ids=lambda u: u.__name__)
@pytest.mark.parametrize("a", [0.3, 0.77])
def test_functions_of_math_have_their_substitute(function: Callable[[float], float], a: float) -> None:
    assert value(SUBSTITUTES[function](x), a) == pytest.approx(function(a), rel=1e-14)


@pytest.mark.parametrize("function", TWO_NUMBERS, ids=lambda u: u.__name__)
@pytest.mark.parametrize(("a", "b"), [(0.3, 1.7), (5.3, 0.25), (2.0, -1.5)])
def test_functions_of_math_of_two_numbers_have_their_substitute(function: Callable[..., float], a: float, b: float) -> None:
    if function is math.log:
        b = abs(b)
    assert value(SUBSTITUTES[function](x, y), a, b) == pytest.approx(function(a, b), rel=1e-14)


@given(st.floats(-2, 4), st.floats(-1, 1))
def test_interp_is_numpys(at: float, height: float) -> None:
    xp, fp = [-1.0, 0.0, 0.5, 2.0], [0.0, height, -1.0, 3.0]
    expected = float(np.interp(at, xp, fp))
    assert value(f.interp(x, xp, fp), at) == pytest.approx(expected, abs=1e-13)
    assert value(f.interp(x, xp, [0.0, y, -1.0, 3.0]), at, height) == pytest.approx(expected, abs=1e-13)
    assert value(f.interp(x, xp, fp, left=-9.0, right=y), at, 7.0) == pytest.approx(float(np.interp(at, xp, fp, -9.0, 7.0)), abs=1e-13)
    with pytest.raises(UntraceableError, match="abscissas"):
        f.interp(at, [0, x], [0, 1])


def test_functions_work_on_arrays_of_numbers_and_expressions() -> None:
    mixed = f.where(np.array([x > 0, True]), 1.0, [y, 5.0])
    assert evaluate([as_expr(item) for item in mixed], {x: -1.0, y: 3.0}) == [3.0, 1.0]
    assert f.sqrt([1.0, 4.0]).tolist() == [1.0, 2.0]
    assert f.maximum(np.array([1.0, 5.0]), 2.0).dtype == np.float64
    assert f.where(b=2, a=1, condition=x > 0) is f.where(x > 0, 1, 2)
    table = np.array([[x, 1.0], [y, 2.0]], dtype=object)
    assert evaluate([as_expr(item) for item in f.largest(table, axis=1)], {x: 3.0, y: -1.0}) == [3.0, 2.0]
    assert value(f.smallest(table), 3.0, -1.0) == -1.0
    assert value(f.all_of([x > 0, y > 0]), 1.0, -1.0) == 0.0
    assert value(f.any_of([x > 0, y > 0]), 1.0, -1.0) == 1.0


@given(st.floats(-3, 3), st.floats(-3, 0), st.floats(0, 3))
def test_clip_select_and_norms_are_numpys(a: float, low: float, high: float) -> None:
    assert value(SUBSTITUTES[np.clip](x, y, z), a, low, high) == np.clip(a, low, high)
    assert value(SUBSTITUTES[np.clip](x, a_max=y), a, low) == min(a, low)
    assert value(SUBSTITUTES[np.select]([x > y, x > 0], [1.0, 2.0], 3.0), a, high) == (1.0 if a > high else 2.0 if a > 0 else 3.0)
    assert value(SUBSTITUTES[math.dist]([x, y], [0.0, 1.0]), a, high) == pytest.approx(math.dist([a, high], [0.0, 1.0]))


@pytest.mark.parametrize("logic", [(np.logical_and, operator.and_), (np.logical_or, operator.or_), (np.logical_xor, operator.xor)])
def test_logic_follows_its_truth_table(logic: tuple[Any, Callable[[bool, bool], bool]]) -> None:
    function, truth = logic
    for a in (-1.0, 1.0):
        for b in (-1.0, 1.0):
            assert value(SUBSTITUTES[function](x > 0, y > 0), a, b) == truth(a > 0, b > 0)
            assert SUBSTITUTES[function](a > 0, b > 0) == truth(a > 0, b > 0)


def test_a_condition_where_an_index_is_wanted_is_refused() -> None:
    with pytest.raises(UntraceableError, match=r"np\.where"):
        SUBSTITUTES[np.where](x > 0)


def test_corners_are_relations_in_the_users_words() -> None:
    relations = {repr(item): item for item in (f.minimum(x, y).args[0], f.sign(x).args[0], abs(x).args[0])}
    assert list(relations) == ["y >= x", "x > 0", "x >= 0"]
    assert all(isinstance(item, Expr) and item.is_boolean for item in relations.values())
