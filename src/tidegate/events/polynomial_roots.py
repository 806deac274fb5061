"""The first zero of a polynomial on part of a step: Descartes' rule on Bernstein coefficients, halved (Lane and Riesenfeld 1981), then Newton."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tidegate.compiled.jit import native
from tidegate.compiled.schema import LANES, MOST_PARTS_AT_ONCE
from tidegate.compiled.weighted_sum import product_plus, signs, weighted_sum
from tidegate.events.illinois import secant
from tidegate.events.tolerances import EPS

__all__ = ["NARROWEST", "NO_ROOT", "UNKNOWN_ROOT", "first_root", "polynomial_root", "put_polynomial", "value_and_slope"]

NO_ROOT: Final = 2.0
UNKNOWN_ROOT: Final = 3.0  # behind run.decided_to, nobody knows
_MANY: Final = 2  # changes of sign: how many more does not matter
# of every degree below LANES, of every power its Bernstein coefficients on [0, 1]
_OF_POWERS: Final = np.array(
    [math.comb(i, k) / math.comb(degree, k) if k <= i <= degree else 0.0 for degree in range(LANES) for k in range(LANES) for i in range(LANES)]
)
_MOST_ROUNDS: Final = 100
_NARROW: Final = 2.0 * EPS  # of a place in a step, which may be much longer than the way to it: an end of a part is no nearer to the other
_SIDE_BY_SIDE: Final = 7  # degrees below are evaluated at once
_PARABOLA: Final = 2
_MOST_GUESSES: Final = 6
_GUESSED: Final = 1e-2  # of a place: so near is a guess at it
_BEHIND_A_GUESS: Final = 0.02
_AHEAD: Final = 0.45  # of how near the ends of a part may come: one place on each side of a zero, and rounding does not keep them farther apart
_BEHIND: Final = 0.5  # of that: no farther behind a zero by its tangent, a place is the end of the search
NARROWEST: Final = 1e-12  # of a place: narrower parts are not divided further: a touching zero, or rounding


@native
def _polynomial_value(c, degree, theta):
    x = c[degree]
    for k in range(degree - 1, -1, -1):
        x = product_plus(x, theta, c[k])
    return x


@native
def value_and_slope(c, degree, theta):
    """By Horner's rule; of a high degree in theta squared, even and odd powers side by side: half as long a chain of operations that wait."""
    if degree < _SIDE_BY_SIDE:
        value = c[degree]
        slope = 0.0
        for k in range(degree - 1, -1, -1):
            slope = product_plus(slope, theta, value)
            value = product_plus(value, theta, c[k])
        return value, slope
    square = theta * theta
    even = 0.0
    odd = 0.0
    slope_even = 0.0
    slope_odd = 0.0
    k = degree
    if k % 2 == 0:
        even = c[k]
        k -= 1
    while k > 0:
        slope_even = product_plus(slope_even, square, even)
        slope_odd = product_plus(slope_odd, square, odd)
        even = product_plus(even, square, c[k - 1])
        odd = product_plus(odd, square, c[k])
        k -= 2
    return product_plus(theta, odd, even), product_plus(2.0 * theta, product_plus(theta, slope_odd, slope_even), odd)


@native
def _falls_to_zero(c):
    """Where the polynomial's first three terms fall through zero; 0 if they do not."""
    square = c[1] * c[1] - 4.0 * c[2] * c[0]
    if square > 0.0 and c[1] < 0.0:
        return 2.0 * c[0] / (math.sqrt(square) - c[1])
    if square > 0.0 and c[2] < 0.0:
        return -0.5 * (c[1] + math.sqrt(square)) / c[2]
    return 0.0


@native
def _start(c, degree, low, at_low, high, at_high):
    """Where Newton's method starts: where the polynomial's first three terms fall through zero, or, if that is not between, where the secant does."""
    theta = _falls_to_zero(c) if degree >= _PARABOLA else 0.0
    return theta if low < theta < high else secant(low, at_low, high, at_high, 0.0)


@native
def _where_it_falls(row, degree, low, high):
    """Likewise, where the polygon of Bernstein coefficients on [low, high] falls through zero."""
    k = 1
    while k < degree and row[k] >= 0.0:
        k += 1
    return low + (high - low) * (k - 1.0 + row[k - 1] / (row[k - 1] - row[k])) / degree


@native
def _falling_root(c, degree, low, at_low, high, at_high, theta, finest):
    """Zero in [low, high] of a polynomial that is positive at low and not at high, or a place behind it by no more than ``finest`` or rounding.

    ``theta``, between the two, is where Newton's method starts.
    """
    if at_low <= 0.0:
        return low
    for _ in range(_MOST_ROUNDS):
        least = max(_NARROW * min(theta, high), finest)
        if high - low <= least or at_high == 0.0:
            break
        value, slope = value_and_slope(c, degree, theta)
        # a little farther than Newton says, so that the root comes to lie between; where he says that it is at an end, a little from there
        if value > 0.0:
            low = theta
            ahead = _AHEAD * least
        else:
            high = theta
            at_high = value
            ahead = -_AHEAD * least
        if slope < 0.0 and _BEHIND * least * slope <= value <= 0.0:
            return theta
        theta = theta - value / slope if slope != 0.0 else low
        is_inside = low - least < theta < high + least
        theta = min(max(theta + ahead, low + _AHEAD * least), high - _AHEAD * least)
        if not (is_inside and low < theta < high):
            theta = 0.5 * (low + high)
    return high


@native
def put_polynomial(run, start, sign, j, degree):
    """Put start + sum sign c_k theta^k of a guard into run.bernstein_scratch."""
    c = run.bernstein_scratch
    coefficients = run.guard_coefficients
    c[0] = start
    for k in range(degree):
        c[k + 1] = sign * coefficients[k, j]


@native
def polynomial_root(run, start, sign, j, degree, upper):
    """First zero in (0, upper] of that polynomial, start > 0."""
    put_polynomial(run, start, sign, j, degree)
    return first_root(run, degree, upper, 0.0, 0.0)


@native
def _sign_changes(c, degree):
    """0, 1, or 2 for more, among the coefficients behind one that counts as positive."""
    if degree < LANES:
        bits = signs(c)
        there = (2 << degree) - 1
        below = bits & there
        if (bits >> LANES) & there == below:  # no zeros, which have the sign of what is in front of them
            differ = (below ^ (below << 1)) & there
            if differ == 0:
                return 0
            return 1 if differ & (differ - 1) == 0 else _MANY
    changes = 0
    is_negative = False
    for k in range(degree + 1):
        x = c[k]
        if (x > 0.0) if is_negative else (x < 0.0):
            changes += 1
            if changes == _MANY:
                break
            is_negative = not is_negative
    return changes


@native
def _put_bernstein(c, degree, upper, row):
    """Bernstein coefficients on [0, upper]: b_i = sum_k C(i, k) / C(degree, k) c_k upper^k. What stands behind them in a row, which is as long as
    ``LANES`` at least, is lost.
    """
    power = 1.0
    if degree < LANES:
        # the row is read before it is written
        for k in range(degree + 1):
            row[k] = c[k] * power
            power *= upper
        for k in range(degree + 1, LANES):
            row[k] = 0.0
        weighted_sum(row, _OF_POWERS, degree * LANES * LANES, LANES, row)
        return
    binomial = 1.0
    for k in range(degree + 1):
        row[k] = c[k] * power / binomial
        power *= upper
        binomial = binomial * (degree - k) / (k + 1.0)
    for level in range(degree):
        before = row[level]
        for i in range(level + 1, degree + 1):
            here = row[i]
            row[i] = here + before
            before = here


@native
def _by_newton(c, degree, upper):
    """Where Newton's method comes down to zero in (0, upper], roughly: no more than a guess at the first one. 0 if it does not."""
    theta = _falls_to_zero(c)
    if not theta < upper:
        theta = 0.0
    for _ in range(_MOST_GUESSES):
        value, slope = value_and_slope(c, degree, theta)
        if not slope < 0.0:
            return 0.0
        before = theta
        theta -= value / slope
        if not 0.0 < theta < upper:
            return 0.0
        if abs(theta - before) <= _GUESSED * theta:
            return theta
    return 0.0


@native
def _a_little_behind(c, degree, theta, upper):
    """Where Newton's method goes on to from a place, if that is a little forward; 0 if it does not."""
    value, slope = value_and_slope(c, degree, theta)
    if not slope < 0.0 <= value <= -_GUESSED * theta * slope:
        return 0.0
    theta -= value / slope
    return theta if theta < upper else 0.0


@native
def first_root(run, degree, upper, finest, near):
    """First zero in (0, upper] of the polynomial in run.bernstein_scratch, which is positive at zero; behind it by ``finest`` at most.

    ``near`` is a guess at it, 0 for none.
    """
    c = run.bernstein_scratch
    while degree > 1 and c[degree] == 0.0:
        degree -= 1
    # Descartes' rule on the coefficients as they stand: hardly any work, and mostly enough
    changes = _sign_changes(c, degree)
    if changes == 0:
        return NO_ROOT
    if changes == 1:
        at_upper = _polynomial_value(c, degree, upper)
        if not at_upper < 0.0:
            return NO_ROOT
        return _falling_root(c, degree, 0.0, c[0], upper, at_upper, _start(c, degree, 0.0, c[0], upper, at_upper), finest)
    pool = run.parts_scratch
    row = pool[0]
    guess = _a_little_behind(c, degree, near, upper) if 0.0 < near < upper else 0.0
    if guess == 0.0:
        guess = _by_newton(c, degree, upper)
    if guess > 0.0:
        # most often there is one zero up to a little behind it
        behind = min((1.0 + _BEHIND_A_GUESS) * guess, upper)
        _put_bernstein(c, degree, behind, row)
        if _sign_changes(row, degree) == 1:
            return _falling_root(c, degree, 0.0, c[0], behind, row[degree], guess, finest)
    width = degree + 1
    upper_end = run.part_width - 1
    _put_bernstein(c, degree, upper, row)
    row[upper_end - 1] = 0.0
    row[upper_end] = upper
    top = 1
    while top > 0:
        top -= 1
        row = pool[top]
        low = row[upper_end - 1]
        high = row[upper_end]
        changes = _sign_changes(row, degree)
        if changes == 0:
            continue
        if changes == 1:
            at_high = _polynomial_value(c, degree, high)
            return _falling_root(c, degree, low, _polynomial_value(c, degree, low), high, at_high, _where_it_falls(row, degree, low, high), finest)
        if high - low < NARROWEST * high or top + 2 >= MOST_PARTS_AT_ONCE:
            if row[degree] < 0.0:
                return high
            continue
        # de Casteljau at the middle: left half above, so that it is looked at first
        middle = 0.5 * (low + high)
        right = pool[top]
        left = pool[top + 1]
        for i in range(width):
            left[i] = right[0]
            for k in range(width - 1 - i):
                right[k] = 0.5 * (right[k] + right[k + 1])
        right[upper_end - 1] = middle
        right[upper_end] = high
        left[upper_end - 1] = low
        left[upper_end] = middle
        top += 2
    return NO_ROOT
