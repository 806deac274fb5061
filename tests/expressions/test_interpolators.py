"""Objects of scipy.interpolate in a model: what SciPy gives at plain numbers is what the expression gives, inside, outside and in their slopes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import interpolate as si

import tidegate as tg
from tidegate.errors import NotFiniteError, UntraceableError
from tidegate.expressions import Role, symbol
from tidegate.expressions.differentiate import differentiate
from tidegate.expressions.evaluate import evaluate
from tidegate.expressions.tracing.interpolators import interpolated

RANDOM = np.random.default_rng(7)
X = np.cumsum(RANDOM.uniform(0.3, 1.2, 9))
Y = RANDOM.normal(size=9)
T = symbol(Role.TIME, "time")
SMOOTH: dict[str, Any] = {
    "cubic": si.CubicSpline(X, Y),
    "periodic": si.CubicSpline(X, [*Y[:-1], Y[0]], bc_type="periodic"),
    "pchip": si.PchipInterpolator(X, Y),
    "akima, NaN outside": si.Akima1DInterpolator(X, Y),
    "hermite": si.CubicHermiteSpline(X, Y, np.zeros(9)),
    "b-spline": si.make_interp_spline(X, Y),
    "b-spline of degree two": si.make_interp_spline(X, Y, k=2),
    "b-spline of degree five": si.make_interp_spline(X, Y, k=5),
    "smoothing": si.make_smoothing_spline(X, Y),
    "integral": si.CubicSpline(X, Y).antiderivative(),
    "slope": si.CubicSpline(X, Y).derivative(),
    "of 1994": si.UnivariateSpline(X, Y, s=0.1),
    "of 1994, zeros outside": si.UnivariateSpline(X, Y, s=0.1, ext=1),
    "of 1994, held outside": si.InterpolatedUnivariateSpline(X, Y, ext=3),
    "interp1d, cubic": si.interp1d(X, Y, kind="cubic", fill_value="extrapolate"),
}
CORNERS: dict[str, Any] = {
    "linear": si.interp1d(X, Y, fill_value="extrapolate"),
    "linear, filled": si.interp1d(X, Y, bounds_error=False, fill_value=(Y[0], 2.0)),
    "linear, one fill": si.interp1d(X, Y, bounds_error=False, fill_value=3.0),
    "linear, NaN outside": si.interp1d(X, Y, bounds_error=False),
    "previous": si.interp1d(X, Y, kind="previous", bounds_error=False),
    "previous, filled": si.interp1d(X, Y, kind="previous", bounds_error=False, fill_value=(1.0, 2.0)),
    "previous, going on": si.interp1d(X, Y, kind="previous", fill_value="extrapolate"),
    "b-spline of degree one": si.make_interp_spline(X, Y, k=1),
    "second slope of pchip": si.PchipInterpolator(X, Y).derivative(2),
    "pieces": si.PPoly(RANDOM.normal(size=(3, 8)), X),
    "constants": si.PPoly(RANDOM.normal(size=(1, 8)), X, extrapolate=False),
}


def _integral(function: Any, first: float, last: float) -> float:
    """By Gauss' rule, which is exact for the polynomials of a piece; inside it, so that what holds at its ends does not matter."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = (last - first) / 2.0
    return half * float(np.dot(weights, function(first + half * (nodes + 1.0))))


def _places(first: float, last: float) -> list[float]:
    return [first + k * (last - first) / 83.0 for k in range(84)]


@pytest.mark.parametrize("name", [*SMOOTH, *CORNERS])
def test_an_interpolator_gives_on_symbols_what_scipy_gives(name: str) -> None:
    function = {**SMOOTH, **CORNERS}[name]
    expression = interpolated(function, T)
    for at in [*_places(X[0] - 1.0, X[-1] + 1.0), float(X[0]), float(X[-1])]:
        # coefficients of pieces against B-splines: rounding of values near one
        np.testing.assert_allclose(evaluate([expression], {T: at})[0], float(function(at)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SMOOTH)
def test_a_slope_is_the_slope_of_the_pieces(name: str) -> None:
    function = SMOOTH[name]
    slope = differentiate(interpolated(function, T), T)
    for at in _places(X[0] + 0.05, X[-1] - 0.05):
        step = 1e-6
        about = (float(function(at + step)) - float(function(at - step))) / (2.0 * step)
        # central differences: their truncation, and rounding of values near one over the step
        np.testing.assert_allclose(evaluate([slope], {T: at})[0], about, rtol=1e-7, atol=1e-7)


def test_a_derivative_is_asked_for_as_in_scipy() -> None:
    curve = si.CubicSpline(X, Y)
    at = float(X[3] + 0.2)
    assert evaluate([interpolated(curve, T, 1)], {T: at})[0] == pytest.approx(float(curve(at, 1)), rel=1e-13)


def test_several_values_at_once_are_an_array() -> None:
    values = RANDOM.normal(size=(9, 2, 2))
    for curve in (si.CubicSpline(X, values), si.make_interp_spline(X, values)):
        found = interpolated(curve, T)
        assert found.shape == (2, 2)
        at = float(X[2] + 0.1)
        np.testing.assert_allclose(np.reshape(evaluate(found.ravel().tolist(), {T: at}), (2, 2)), curve(at), rtol=1e-12)


def test_the_same_curve_twice_is_one_node() -> None:
    curve = si.CubicSpline(X, Y)
    assert interpolated(curve, T) is interpolated(curve, T)


@pytest.mark.parametrize("name", ["cubic", "pchip", "linear", "previous", "b-spline of degree one", "pieces"])
def test_a_model_integrates_an_interpolator(name: str) -> None:
    function = {**SMOOTH, **CORNERS}[name]

    def rate(t: float, y: Any) -> Any:
        return [function(t)]

    model = tg.ode(rate, y0={"x": 0.0})
    result = tg.simulate(model, (X[0], X[-1]), rtol=1e-10, atol=1e-12)
    ends: list[float] = X.tolist()
    integral = sum(_integral(function, a, b) for a, b in pairwise(ends))
    assert result.final["x"] == pytest.approx(integral, abs=1e-9)  # ten times the tolerance
    assert len(result.events) == 0


@pytest.mark.parametrize("curve", [si.interp1d(X, Y), si.CubicSpline(X, Y, extrapolate=False)], ids=["interp1d", "CubicSpline"])
def test_a_run_that_leaves_the_points_says_so(curve: Any) -> None:
    def filling(t: float, y: Any) -> Any:
        return [curve(t)]

    model = tg.ode(filling, y0={"x": 0.0})
    assert np.isfinite(tg.simulate(model, (X[0], X[-1])).final["x"])
    with pytest.raises(NotFiniteError, match=r"der\(x\) gives nan right behind t = 7\.488") as error:
        tg.simulate(model, (X[0], X[-1] + 1.0))
    assert error.value.result.time[-1] <= X[-1]


def test_an_interpolator_whose_pieces_are_unknown_is_refused_with_advice() -> None:
    curve = si.BarycentricInterpolator(X, Y)

    def rate(t: float, y: Any) -> Any:
        return [curve(t)]

    model = tg.ode(rate, y0={"x": 0.0})
    with pytest.raises(UntraceableError, match=r"(?s)BarycentricInterpolator.*tg\.table"):
        tg.simulate(model, (0, 1))
