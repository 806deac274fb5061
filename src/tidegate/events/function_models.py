"""Functions of a polynomial with a bound as polynomials with bounds (stage: events).

In: the model of what a function is taken of, as ``guard_models`` has it: coefficients c_0 ... c_N, behind them R, what the sizes of c_1 ... c_N
add up to, at most, T, and the highest power there is. Out: the same of the value.
Coefficients come by the recurrences of power series (Moore 1966; Knuth, The Art of Computer Programming 2, 4.7). What stands behind degree N is less
than in a series with larger coefficients whose sum is known: it has |c_1| theta + |c_2| theta^2 + ... in the place of what moves, and in that of the
function one whose derivatives at c_0 are positive and no smaller (Cauchy's majorants). Where R and T come in, the function's steepest slope over the
range says how far they go.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tidegate.compiled.jit import native
from tidegate.compiled.schema import LAST_POWER, LEFT_OUT, MOVING, ROUNDED
from tidegate.events.tolerances import EPS
from tidegate.expressions.tape import COS, COSH, EXP, FIRST_FUNCTION, LOG, SIN, SINH, SQRT

__all__ = ["function_value", "is_function", "put_function", "put_real_power"]

_TABLED: Final = 64
_INVERSE: Final = np.array([0.0, *(1.0 / k for k in range(1, _TABLED))])
_OF_A_SERIES: Final = 256 * EPS  # of the larger series: its terms add up as many products as there were terms before, ...
_OF_THE_PLACE: Final = 4 * EPS  # ... and c_0 is what rounding has left of it


@native
def is_function(operation):
    """True of an operation with one argument that is no arithmetic."""
    return operation >= FIRST_FUNCTION


@native
def function_value(operation, x):
    """Of one that has a model; NaN of others, and where it has no value."""
    if operation == SIN:
        return math.sin(x)
    if operation == COS:
        return math.cos(x)
    if operation == SINH:
        return math.sinh(x)
    if operation == COSH:
        return math.cosh(x)
    if operation == EXP:
        return math.exp(x)
    if operation == SQRT and x >= 0.0:
        return math.sqrt(x)
    if operation == LOG and x > 0.0:
        return math.log(x)
    return np.nan


@native
def _inverse(k):
    return _INVERSE[k] if k < _TABLED else 1.0 / k


@native
def _last_power(x, degree):
    last = degree
    while last > 0 and x[last] == 0.0:
        last -= 1
    return last


@native
def _most_moved(x, degree):
    """How far what moves may have come from c_0, but for R and T."""
    total = 0.0
    for k in range(1, degree + 1):
        total += abs(x[k])
    return total


@native
def _beside(x, degree):
    """How far it may be from its polynomial: R and T."""
    return x[degree + ROUNDED] + x[degree + LEFT_OUT]


@native
def _put_bounds(larger, whole, rounding, slope, x, degree, out):
    """R and T of the outcome: ``whole`` is all that the larger series adds up to behind its first term, ``slope`` the steepest of the function."""
    known = 0.0
    for k in range(1, degree + 1):
        known += larger[k]
    out[degree + ROUNDED] = rounding * whole + slope * x[degree + ROUNDED]
    out[degree + MOVING] = known
    out[degree + LEFT_OUT] = max(whole - known, 0.0) + slope * x[degree + LEFT_OUT]
    out[degree + LAST_POWER] = np.inf


@native
def _put_plain_pair(slope, sign, degree, first, other, larger):
    """``_put_pair`` of c_0 + c_1 theta."""
    value = first[0]
    beside = other[0]
    size = larger[0]
    for k in range(1, degree + 1):
        factor = slope * _inverse(k)
        following = factor * beside
        beside = sign * factor * value
        value = following
        size *= abs(factor)
        first[k] = value
        other[k] = beside
        larger[k] = size


@native
def _put_pair(x, sign, degree, first, other, larger):
    """Sine and cosine, or with sign +1 the hyperbolic ones, from their first terms on; and the larger series. An exponential is its own other."""
    last = _last_power(x, degree)
    if last == 1:
        _put_plain_pair(x[1], sign, degree, first, other, larger)
        return
    for k in range(1, degree + 1):
        value = 0.0
        beside = 0.0
        size = 0.0
        for j in range(1, min(k, last) + 1):
            weight = j * x[j]
            value += weight * other[k - j]
            beside += weight * first[k - j]
            size += abs(weight) * larger[k - j]
        inverse = _inverse(k)
        first[k] = value * inverse
        other[k] = sign * beside * inverse
        larger[k] = size * inverse


@native
def _put_logarithm(x, degree, out, larger):
    last = _last_power(x, degree)
    for k in range(1, degree + 1):
        value = 0.0
        size = 0.0
        for j in range(max(1, k - last), k):
            value += j * out[j] * x[k - j]
            size += j * larger[j] * abs(x[k - j])
        out[k] = (x[k] - value * _inverse(k)) / x[0]
        larger[k] = (abs(x[k]) + size * _inverse(k)) / x[0]


@native
def put_real_power(x, exponent, degree, larger, out):
    """x to the power of a number; 1, or 0 where what x moves by may take it to zero."""
    first = x[0]
    moved = _most_moved(x, degree)
    size = abs(first)
    if not moved + _beside(x, degree) < size or (first < 0.0 and exponent != math.floor(exponent)):
        return 0
    steep = abs(exponent)
    out[0] = first**exponent
    larger[0] = abs(out[0])
    last = _last_power(x, degree)
    for k in range(1, degree + 1):
        value = 0.0
        sum_of_sizes = 0.0
        for j in range(1, min(k, last) + 1):
            value += (exponent * j - (k - j)) * x[j] * out[k - j]
            sum_of_sizes += (steep * j + (k - j)) * abs(x[j]) * larger[k - j]
        out[k] = value * _inverse(k) / first
        larger[k] = sum_of_sizes * _inverse(k) / size
    whole = larger[0] * math.expm1(-steep * math.log1p(-moved / size))
    slope = steep * larger[0] / size * (1.0 - (moved + _beside(x, degree)) / size) ** (-steep - 1.0)
    _put_bounds(larger, whole, _OF_A_SERIES + steep * _OF_THE_PLACE, slope, x, degree, out)
    return 1


@native
def put_function(operation, x, degree, scratch, larger, out):
    """The function of a model; 1, or 0 where it has none. ``scratch`` and ``larger`` are rows as long as those of models."""
    first = x[0]
    moved = _most_moved(x, degree)
    if operation == SQRT:
        return put_real_power(x, 0.5, degree, larger, out) if first > 0.0 else 0
    value = function_value(operation, first)
    if not abs(value) < np.inf:
        return 0
    out[0] = value
    rounding = _OF_A_SERIES + _OF_THE_PLACE * abs(first)
    if operation == LOG:
        if not moved + _beside(x, degree) < first:
            return 0
        larger[0] = 0.0
        _put_logarithm(x, degree, out, larger)
        slope = 1.0 / (first - moved - _beside(x, degree))
        _put_bounds(larger, -math.log1p(-moved / first), _OF_A_SERIES, slope, x, degree, out)
    elif operation == EXP:
        larger[0] = value
        _put_pair(x, 1.0, degree, out, out, larger)
        _put_bounds(larger, value * math.expm1(moved), rounding, value * math.exp(moved + _beside(x, degree)), x, degree, out)
    elif operation in (SIN, COS):
        scratch[0] = math.cos(first) if operation == SIN else math.sin(first)
        larger[0] = 1.0
        if operation == SIN:
            _put_pair(x, -1.0, degree, out, scratch, larger)
        else:
            _put_pair(x, -1.0, degree, scratch, out, larger)
        _put_bounds(larger, math.expm1(moved), rounding, 1.0, x, degree, out)
    else:
        scratch[0] = math.cosh(first) if operation == SINH else math.sinh(first)
        larger[0] = math.exp(abs(first))
        _put_pair(x, 1.0, degree, out, scratch, larger)
        slope = math.exp(abs(first) + moved + _beside(x, degree))
        _put_bounds(larger, larger[0] * math.expm1(moved), rounding, slope, x, degree, out)
    return 1
