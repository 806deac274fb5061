"""Vectors of expressions compute what numpy computes with numbers, and answer to names."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.expressions import Role, as_real, evaluate, symbol
from tidegate.expressions.elementary import SUBSTITUTES
from tidegate.expressions.tracing import Vector, VectorNames, trace
from written_source import space_of

__all__: list[str] = []

SYMBOLS = [symbol(Role.UNKNOWN, name) for name in ("x0", "x1", "v")]
LAYOUT = VectorNames("y", {"x": (0, (2,)), "v": (2, ())})
A = np.arange(9.0).reshape(3, 3) - 2.5
NUMBERS = st.lists(st.floats(-2, 2).map(lambda x: round(x, 3)), min_size=3, max_size=3)

FORMS = {
    "matmul": lambda y: A @ y,
    "left matmul": lambda y: y @ A,
    "dot": lambda y: np.dot(A, y),
    "method dot": lambda y: y.dot(y),
    "where": lambda y: np.where(y > 0.5, y, -1.0),
    "maximum": lambda y: np.maximum(y, 0.5),
    "minimum": lambda y: np.minimum(y[0], y),
    "clip": lambda y: np.clip(y, -1, 1),
    "method clip": lambda y: y.clip(-1, 1),
    "sine": lambda y: np.sin(y) + np.cos(2 * y),
    "exponential": lambda y: np.exp(-(y**2)),
    "sign": np.sign,
    "absolute": lambda y: abs(y) + np.abs(y),
    "heaviside": lambda y: np.heaviside(y, 0.5),
    "floor": lambda y: np.floor(y) + y // 1 + y % 2,
    "sum": lambda y: [np.sum(y), y.sum(), sum(y), np.mean(y), y.mean(), np.prod(y), np.cumsum(y)[1]],
    "extremes": lambda y: [np.max(y), y.max(), np.min(y), y.min(), np.maximum.reduce(y)],
    "norm": lambda y: [np.linalg.norm(y), np.linalg.norm(y, np.inf), np.linalg.norm(y, 1)],
    "differences": lambda y: np.concatenate([np.diff(y), np.roll(y, 1), np.gradient(y)]),
    "joined": lambda y: np.hstack([np.concatenate(([1.0], y, [2.0])), np.append(y, 3.0)]),
    "stacked": lambda y: np.vstack([y, 2 * y]).T.ravel(),
    "cross": lambda y: np.cross(y, [1.0, 2.0, 3.0]),
    "outer": lambda y: np.outer(y, y).ravel(),
    "einsum": lambda y: np.einsum("i,i", y, y),
    "interp": lambda y: np.interp(y, [-1.0, 0.0, 1.0], [2.0, 0.0, 1.0]),
    "solve": lambda y: np.linalg.solve(A + 5 * np.eye(3), y),
    "logic": lambda y: np.logical_and(y > 0, y < 1) * 1.0 + ((y > 0) | (y < -1)) * 2.0 + (~(y > 0)) * 4.0,
    "quantifiers": lambda y: [np.any(y > 1), np.all(y > -1), (y > 0).any(), (y > 0).all()],
    "slices": lambda y: np.concatenate([y[::-1], y[1:], y[:1], y[[0, 2]], y[-1:]]),
    "trapezoid": np.trapezoid,
    "polynomial": lambda y: np.polyval([1.0, 2.0, 3.0], y),
    "in place": lambda y: np.add(np.multiply(y, 2.0), 1.0),
    "float arrays": lambda y: np.array([1.0, 2.0, 3.0]) * y + np.ones(3) / (1.0 + y**2),
    "reshaped": lambda y: (y.reshape(3, 1) * y.reshape(1, 3)).sum(axis=0),
    "tiled": lambda y: np.tile(y, 2) + np.repeat(y, 2),
    "convolved": lambda y: np.convolve(y, [1.0, 2.0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@given(numbers=NUMBERS)
def test_numpy_s_functions_mean_on_symbols_what_they_mean_on_numbers(form, numbers):
    expected = np.asarray(FORMS[form](np.array(numbers)), dtype=float).ravel()
    values = dict(zip(SYMBOLS, numbers, strict=True))
    for result in (FORMS[form](Vector(SYMBOLS)), trace(FORMS[form], [Vector(SYMBOLS)]).value):
        found = evaluate([as_real(item) for item in np.asarray(result, dtype=object).ravel()], values)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_a_vector_answers_to_index_name_attribute_and_unpacking():
    y = Vector(SYMBOLS, LAYOUT)
    x0, x1, v = y
    assert y[2] is y["v"] is y.v is v
    assert list(y["x"]) == [x0, x1]
    assert y.keys() == ["x", "v"]
    assert "x" in y
    assert "w" not in y
    assert dict(y.items())["v"] is v
    assert len(y) == 3


def test_names_are_for_reading_and_writing():
    y = Vector([1.0, 2.0, 3.0], LAYOUT)
    y["x"] = [5.0, 6.0]
    y["v"] = 7.0
    assert y.tolist() == [5.0, 6.0, 7.0]


def test_arrays_of_numbers_take_expressions_while_a_function_is_traced():
    def derivatives(y):
        dy = np.zeros_like(y)
        dy[0] = y[1] * 0.5
        rest = np.zeros(2)
        rest[:] = y[1:]
        return np.concatenate([dy[:1], rest])

    assert [repr(item) for item in trace(derivatives, [Vector(SYMBOLS)]).value] == ["x1*0.5", "x1", "v"]


def test_vectors_of_floats_stay_floats():
    y = Vector(np.array([1.0, 2.0, 3.0]), LAYOUT)
    assert (2 * y + 1).dtype == float
    assert np.zeros_like(y).dtype == float
    assert np.linalg.inv(A + np.diag(y)).dtype == float
    assert np.where(y > 1, y, 0.0).tolist() == [0.0, 2.0, 3.0]


def test_the_user_s_names_come_before_numpy_s():
    p = Vector(SYMBOLS[:2], VectorNames("p", {"T": (0, ()), "size": (1, ())}))
    assert trace(lambda p: [p.T, p.size], [p]).value == SYMBOLS[:2]


def test_conversions_to_float_keep_expressions():
    def derivatives(y):
        y = np.asarray(y, dtype=float)
        return np.array([y[0], float(y[1]), np.float64(y[2])], dtype=float)

    assert list(trace(derivatives, [Vector(SYMBOLS)]).value) == SYMBOLS


def test_a_mask_of_conditions_assigns_where_they_hold():
    z = Vector(SYMBOLS)
    z[z > 0] = 1.0
    assert repr(z[0]) == "1 if x0 > 0 else x0"


def test_functions_of_numpy_take_expressions_that_turn_out_to_be_numbers():
    """``t - t`` is a number as soon as it is written, but no float: every function that has its substitute for symbols takes it."""
    time, taken = symbol(Role.TIME, "time"), 0
    for function in SUBSTITUTES:
        for numbers in ((0.3,), (0.3, 0.5), (0.3, -0.2, 0.7)):
            try:
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore", DeprecationWarning)  # of three numbers for np.maximum
                    wanted = function(*numbers)
            except (TypeError, ValueError):
                continue
            if np.ndim(wanted) or not np.isfinite(wanted) or function in (np.any, np.all):
                continue
            arguments = ", ".join(f"z + {number}" for number in numbers)
            made = space_of(f"def made(t):\n    z = t - t\n    return F({arguments}) * 1.0\n", "<numbers>", F=function)["made"]
            assert evaluate([as_real(trace(made, [time]).value)], {})[0] == pytest.approx(float(wanted), abs=1e-14), (function, numbers)
            taken += 1
    assert taken > 60


NEWCOMERS = {
    "isfinite": lambda x, y: 1.0 if np.isfinite(x) and math.isfinite(y) else 0.0,
    "isnan": lambda x, y: 0.0 if np.isnan(x) or np.any(np.isnan([x, y])) else x,
    "isinf": lambda x, y: 0.0 if math.isinf(x) else y,
    "logaddexp": lambda x, y: np.logaddexp(3.0 * x, 5.0 * y),
    "softplus of what is large": lambda x, y: np.logaddexp(900.0 * x, 0.0) + y,
    "modf": lambda x, y: np.modf(3.0 * x)[0] + 2.0 * math.modf(y)[1],
    "divmod": lambda x, y: np.divmod(x, 0.3)[0] - np.divmod(y, 0.7)[1],
    "erfc": lambda x, y: math.erfc(x) * y,
}


@pytest.mark.parametrize("form", NEWCOMERS)
@pytest.mark.parametrize("point", [(0.4, -1.3), (-1.71, 0.2), (2.2, 1.9), (-0.05, -0.65)])
def test_functions_that_ask_what_a_number_is_or_take_it_apart_are_numpy_s(form, point):
    x, y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")
    followed = as_real(trace(NEWCOMERS[form], [x, y]).value)
    assert evaluate([followed], dict(zip((x, y), point, strict=True)))[0] == pytest.approx(float(NEWCOMERS[form](*point)), rel=1e-13, abs=1e-15)
