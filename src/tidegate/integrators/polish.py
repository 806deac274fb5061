"""The last correction of an event: from where a crossing was isolated to a point on the step's polynomial that lies just across the zero.

Near its end the polynomial is as good as the solution there, and evaluated from the end it is free of the rounding of large coefficients. Where there
are algebraic unknowns the point is put on their equations, which may move the guard: then once more.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    C_UNDECIDED,
    DEGREE,
    F_GUARDS,
    FOUND_THETA,
    LENGTH,
    MASS_KIND,
    N_G,
    O_A,
    O_G,
    O_GT,
    O_M,
    O_NU,
    O_NUSTART,
    O_P,
    O_YEND,
    O_YNEW,
    STEP,
    STEP_BEFORE_EVENT,
    TIME_SIZE,
    N,
    T,
    matrix,
    tail,
    vector,
)
from tidegate.events.guards import expected_sign
from tidegate.events.illinois import narrowed, secant
from tidegate.events.restart import consistent_point

__all__ = ["NEAR_END", "can_be_shorter", "distance_behind", "end_point", "polish", "shorter", "slope_of_the_step"]

NEAR_END: Final = 1e-3  # of a step: closer to the end the polynomial is as good as the solution
_FAR_SIDE: Final = 0.5  # of a guard's noise: less than 1, so that the side it leaves to still decides
_EPS: Final = 2.220446049250313e-16
_WORTH_WHILE: Final = 1 / 16  # of a step: where less than that could be decided, half of it is tried
_LEAST: Final = 1e-12  # of the time: so short a step is not made shorter


@native
def shorter(h, r):
    """The part of a step to keep of which the search has decided as far as FOUND_THETA; counted."""
    h[C_UNDECIDED] += 1
    return r[FOUND_THETA] if r[FOUND_THETA] > _WORTH_WHILE else 0.5


@native
def can_be_shorter(r, step):
    """True unless nothing would be left of the step."""
    return step > _LEAST * max(abs(r[T]), r[TIME_SIZE], r[STEP_BEFORE_EVENT])


@native
def end_point(h, r, theta, out):
    """The step's polynomial from its end: the end and a difference, without the rounding of large coefficients."""
    n = h[N]
    end = vector(r, h[O_YEND], n)
    for q in range(n):
        out[q] = end[q]
    if theta == 1.0:
        return
    degree = h[DEGREE]
    a = matrix(r, h[O_A], degree, n)
    ahead = theta - 1.0
    factor = 0.0
    for k in range(degree):
        factor = factor * theta + ahead  # theta**(k + 1) - 1
        for q in range(n):
            out[q] += a[k, q] * factor


@native
def slope_of_the_step(h, r, place):
    """y' where the step was cut, from its polynomial, to offset ``place`` of r; nothing is written where there is no step."""
    if not r[LENGTH] > 0.0:
        return
    degree = h[DEGREE]
    a = matrix(r, h[O_A], degree, h[N])
    theta = r[STEP] / r[LENGTH]
    for q in range(h[N]):
        x = 0.0
        for k in range(degree - 1, -1, -1):
            x = x * theta + (k + 1.0) * a[k, q]
        r[place + q] = x / r[LENGTH]


@native
def _guard_at(h, r, t, step, guard, theta):
    point = vector(r, h[O_YNEW], h[N])
    values = vector(r, h[O_GT], h[N_G])
    end_point(h, r, theta, point)
    call_value(h[F_GUARDS], t + theta * step, point, tail(r, h[O_P]), tail(r, h[O_M]), values)
    return values[guard]


@native
def _slope(h, r, t, step, guard, theta):
    """dg/dtheta by a difference short enough for a start of Newton's iteration."""
    width = 1e-5
    return (_guard_at(h, r, t, step, guard, theta) - _guard_at(h, r, t, step, guard, theta - width)) / width


@native
def distance_behind(h, r, t, step, guard):
    """How far behind the end, as a part of the step, the guard would be across on its tangent; negative if it moves away."""
    sign = expected_sign(h, r, guard)
    slope = sign * _slope(h, r, t, step, guard, 1.0)
    value = sign * _guard_at(h, r, t, step, guard, 1.0) + r[h[O_NU] + guard]
    if not slope < 0.0:
        return -1.0
    # at least a little, so that the next try ends behind the crossing and not before it again
    return max(-value / slope, 0.0) * 1.001 + 4 * _EPS


@native
def _to_zero(h, r, t, step, guard, theta, point):
    """Move to where s*g = -delta, just across, from where the crossing was isolated.

    Delta is half the rounding noise of the guard: what is recorded lies on the far side, as the new mode says, and rounding cannot bring it back.
    """
    level = _FAR_SIDE * r[h[O_NUSTART] + guard]
    sign = expected_sign(h, r, guard)
    finest = _EPS * max(abs(t / step), 1.0)
    low = max(0.0, theta - NEAR_END)
    high = theta
    at_low = sign * _guard_at(h, r, t, step, guard, low) + level
    at_high = sign * _guard_at(h, r, t, step, guard, high) + level
    # the isolated point may fall short of the crossing by rounding: on along the secant, then by ever longer strides
    stride = 2 * finest
    for attempt in range(40):
        if at_high <= 0.0 or not abs(high - theta) <= NEAR_END:
            break
        new = high - at_high * (high - low) / (at_high - at_low) if at_low > at_high and attempt < 6 else high
        low = high
        at_low = at_high
        high = min(max(new, high) + stride, theta + 1.5 * NEAR_END)
        stride *= 2.0
        at_high = sign * _guard_at(h, r, t, step, guard, high) + level
    if not (at_low > 0.0 and at_high <= 0.0):
        high = theta
        at_high = 0.0
    side = 0
    for _ in range(60):
        if high - low <= 2 * finest or at_high == 0.0:
            break
        middle = secant(low, at_low, high, at_high)
        value = sign * _guard_at(h, r, t, step, guard, middle) + level
        low, at_low, high, at_high, side = narrowed(low, at_low, high, at_high, side, middle, value)
    end_point(h, r, high, point)
    return high


@native
def polish(h, r, t, step, guard, theta, most):
    """Time (from t, at most ``most``) into STEP and point into O_YNEW of the event isolated at ``theta`` of the step; 0 or the reason of failure."""
    point = vector(r, h[O_YNEW], h[N])
    final = _to_zero(h, r, t, step, guard, theta, point)
    r[STEP] = min(final * step, most)
    if h[MASS_KIND] == 0:
        return 0
    slope = _slope(h, r, t, step, guard, final)
    end_point(h, r, final, point)
    for _ in range(3):
        code = consistent_point(h, r, t + r[STEP], h[O_YNEW])
        if code != 0:
            return code
        g = vector(r, h[O_G], h[N_G])
        call_value(h[F_GUARDS], t + r[STEP], point, tail(r, h[O_P]), tail(r, h[O_M]), g)
        beyond = g[guard] + expected_sign(h, r, guard) * _FAR_SIDE * r[h[O_NUSTART] + guard]
        if slope == 0.0 or not abs(beyond / slope) <= NEAR_END:
            break
        final -= beyond / slope
        moved = abs(beyond / slope)
        end_point(h, r, final, point)
        r[STEP] = min(final * step, most)
        if moved <= 4 * _EPS * max(abs(t / step), 1.0):
            break
    return consistent_point(h, r, t + r[STEP], h[O_YNEW])
