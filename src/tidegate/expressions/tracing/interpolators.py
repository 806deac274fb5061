"""Functions of ``scipy.interpolate`` on symbols (stage: tracing the user's Python).

In: an interpolator of SciPy and what it is called with. Out: the expression of the same pieces. Splines, PCHIP and Akima curves are piecewise
polynomials: up to the third degree, and without corners, they are one node; with corners they are chosen by the piece, whose changes are located.
``interp1d`` is a table. What SciPy answers with an error, or with NaN, outside of its points is NaN here, which the run reports by the equation.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

import numpy as np

from tidegate.errors import UntraceableError
from tidegate.expressions.elementary import clip, mod, where
from tidegate.expressions.elementwise import elementwise
from tidegate.expressions.lookup_tables import Grid, QuietGrid, Table
from tidegate.expressions.no_event import without_own_event
from tidegate.expressions.node_data import Spline
from tidegate.expressions.nodes import Expr, as_real, constant, lookup, node, spline

__all__ = ["interpolated", "is_interpolator"]

_CUBIC: Final = 4  # coefficients of a piece
_OUTSIDE: Final = {0: True, 1: "zeros", 2: False, 3: "const"}  # what the numbers of UnivariateSpline's `ext` mean
_SMOOTH: Final = 1e-9  # jumps of value and slope below this part of their size are rounding of the coefficients
_HINT: Final = "make a table of its points, tg.table(x, f(x), kind='cubic'), or mark the function that calls it with tg.opaque"


def is_interpolator(function: Any) -> bool:
    """Whether this is an object of ``scipy.interpolate`` that is called like a function."""
    return type(function).__module__.startswith("scipy.interpolate") and callable(function)


def interpolated(function: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    """What an interpolator gives at a symbolic place; its derivative of order ``nu``.

    Raises
    ------
    UntraceableError
        For an interpolator whose pieces are not known.
    """
    from scipy.interpolate import BSpline, PPoly, UnivariateSpline, interp1d  # loaded already: one of its objects is here

    if isinstance(function, interp1d):
        return elementwise(_one_dimensional(function), x)
    given: Any = function
    if isinstance(given, BSpline):
        pieces = _pieces_of(given)
    elif isinstance(given, UnivariateSpline):
        pieces = PPoly.from_spline(given._eval_args)  # noqa: SLF001 - knots, coefficients and degree together have no public name
        extrapolate = _OUTSIDE[given.ext]
    elif isinstance(given, PPoly):
        pieces = given
    else:
        raise UntraceableError(f"{type(function).__name__} of scipy.interpolate cannot be followed on symbols", hint=_HINT)
    outside = given.extrapolate if extrapolate is None else extrapolate
    polynomial: Any = pieces.derivative(nu) if nu else pieces
    kept = np.flatnonzero(np.diff(polynomial.x) > 0.0)  # a spline of knots has some twice
    coefficients = np.asarray(polynomial.c, dtype=float)[:, kept]
    ends = (float(polynomial.x[kept[0]]), *map(float, polynomial.x[kept + 1]))
    curves = np.empty(coefficients.shape[2:], dtype=object)
    for at in np.ndindex(curves.shape):
        curves[at] = _curve(ends, np.ascontiguousarray(coefficients[(slice(None), slice(None), *at)]).tobytes(), outside)
    if not curves.shape:
        return elementwise(curves.item(), x)
    if not isinstance(x, Expr):
        raise UntraceableError(f"{type(function).__name__} with several values at several places cannot be followed on symbols", hint=_HINT)
    return np.array([curve(x) for curve in curves.ravel()], dtype=object).reshape(curves.shape)


def _pieces_of(given: Any) -> Any:
    """The polynomials of a B-spline, for each of its values."""
    from scipy.interpolate import PPoly

    columns = np.asarray(given.c, dtype=float).reshape(len(given.c), -1)
    curves = [PPoly.from_spline((given.t, np.ascontiguousarray(column), given.k)) for column in columns.T]
    return PPoly(np.stack([curve.c for curve in curves], axis=-1).reshape(*curves[0].c.shape, *given.c.shape[1:]), curves[0].x)


@lru_cache(maxsize=256)
def _curve(ends: tuple[float, ...], raw: bytes, outside: Any) -> Any:
    """A function of an expression; the same one for the same pieces, so that what it makes is one node."""
    coefficients = np.frombuffer(raw).reshape(-1, len(ends) - 1)
    grid = np.array(ends)
    corners = Grid(ends, "scipy.interpolate")
    is_smooth = _is_smooth(grid, coefficients)
    cubic = None
    if is_smooth and len(coefficients) <= _CUBIC:
        padding = np.zeros((_CUBIC - len(coefficients), len(ends) - 1))
        cubic = Spline(grid, np.concatenate([padding, coefficients]), "scipy.interpolate")

    def value(x: Any) -> Any:
        at = as_real(x)
        if outside == "periodic":
            at = as_real(ends[0] + mod(at - ends[0], ends[-1] - ends[0]))
        elif outside == "const":
            at = as_real(clip(at, ends[0], ends[-1]))
        inside = spline(at, cubic) if cubic is not None else _by_pieces(at, QuietGrid(corners) if is_smooth else corners, coefficients)
        if outside == "zeros":
            return where((at >= ends[0]) & (at <= ends[-1]), inside, 0.0)
        return inside if outside else _or_nan(inside, at, ends[0], ends[-1])

    return value


def _is_smooth(grid: np.ndarray, coefficients: np.ndarray) -> bool:
    """Whether neither the value nor the slope jumps between pieces."""
    h = np.diff(grid)
    degree = len(coefficients) - 1
    slopes = coefficients[:-1] * np.arange(degree, 0, -1)[:, None]
    for rows in (coefficients, slopes):
        if len(rows) and np.any(np.abs(np.polyval(rows, h)[:-1] - rows[-1][1:]) > _SMOOTH * np.max(np.polyval(np.abs(rows), h))):
            return False
    return True


def _by_pieces(x: Expr, corners: Grid, coefficients: np.ndarray) -> Expr:
    k = node("segment", (x,), corners) if len(corners) > 2 else constant(0.0)
    offset = x - lookup(k, corners[:-1])
    value = constant(0.0)
    for row in coefficients:
        value = value * offset + lookup(k, row.tolist())
    return value


def _or_nan(value: Any, x: Expr, first: float, last: float) -> Any:
    return where(without_own_event((x >= first) & (x <= last)), value, math.nan)


def _filled(function: Any) -> tuple[float, float]:
    """What holds before and behind the points; NaN for an error."""
    if function.bounds_error or isinstance(function.fill_value, str):
        return math.nan, math.nan
    before, behind = np.broadcast_to(np.asarray(function.fill_value, dtype=float), 2).tolist()
    return before, behind


def _one_dimensional(function: Any) -> Any:
    """``interp1d``, which is a table or a staircase; its kind and rules are read as SciPy keeps them."""
    kind, x, y = function._kind, np.asarray(function.x, dtype=float), np.asarray(function.y, dtype=float)  # noqa: SLF001 - no public name
    if y.ndim != 1 or kind not in ("linear", "previous", "spline"):
        raise UntraceableError(f"interp1d of kind {kind!r} with values of shape {y.shape} cannot be followed on symbols", hint=_HINT)
    ends, values = tuple(x.tolist()), y.tolist()
    goes_on = isinstance(function.fill_value, str)
    pair = _filled(function)

    def value(at: Any) -> Any:
        place = as_real(at)
        if kind == "spline":
            inside: Any = interpolated(function._spline, place, extrapolate=True)[0]  # noqa: SLF001
        elif kind == "linear":
            inside = Table(ends, tuple(values), name="interp1d")(place)
        else:
            inside = lookup(node("segment", (place,), Grid((*ends, 2.0 * ends[-1] - ends[-2]), "interp1d")), values)
        if goes_on:
            return inside
        for is_out, number in ((place < ends[0], pair[0]), (place > ends[-1], pair[1])):
            inside = where(without_own_event(is_out) if np.isnan(number) else is_out, number, inside)
        return inside

    return value
