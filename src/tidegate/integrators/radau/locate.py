"""From an isolated crossing to the event's point: step again to it, correct, and make the point lie on the zero.

The polynomial of a collocation step has order s inside the step and 2s - 1 at its end: good for finding out that there is a crossing, not for the
answer. So the step is taken again to the estimated time with the same Jacobian, and only the last small correction is made on the new step's
polynomial near its end. In between the new polynomial is searched like any other: it may show an earlier crossing, or none.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import NUMBER, WHOLE, native, unit
from tidegate.compiled.workspace import (
    C_RESTEPS,
    F_GUARDS,
    FACCON,
    FOUND_GUARD,
    FOUND_THETA,
    LENGTH,
    MASS_KIND,
    N_G,
    NEEDS_FACTORS,
    NEWTON_TOL,
    NOT_FINITE,
    O_A,
    O_AB,
    O_G,
    O_GT,
    O_M,
    O_NU,
    O_NUSTART,
    O_P,
    O_Y,
    O_YNEW,
    O_Z,
    STAGES,
    STEP,
    STEP_TOO_SMALL,
    N,
    T,
    matrix,
    tail,
    vector,
)
from tidegate.events.isolate import UNDEFINED, earliest_crossing, expected_sign
from tidegate.events.restart import consistent_point
from tidegate.integrators.radau.newton import CONVERGED, factor_systems, newton, stage_polynomial
from tidegate.integrators.radau.step import evaluate_jacobian
from tidegate.integrators.radau.tableau import NODES, POLYNOMIAL

__all__ = ["locate", "restep"]

_NEAR_END: Final = 1e-3  # of a step: closer to the end the polynomial is as good as the solution
_MOST_RESTEPS: Final = 16
_FAR_SIDE: Final = 0.5  # of a guard's noise: less than 1, so that the side it leaves to still decides
_EPS: Final = 2.220446049250313e-16


@native
def _keep_polynomial(h, r, degree):
    n = h[N]
    for q in range(degree * n):
        r[h[O_AB] + q] = r[h[O_A] + q]


@native
def _end_point(n, s, y, z, a, theta, out):
    """The step's polynomial near its end: the last stage and a small difference, without the rounding of large coefficients."""
    for q in range(n):
        out[q] = y[q] + z[s - 1, q]
    if theta == 1.0:
        return
    ahead = theta - 1.0
    factor = 0.0
    for k in range(s):
        factor = factor * theta + ahead  # theta**(k + 1) - 1
        for q in range(n):
            out[q] += a[k, q] * factor


@native
def _guard_at(h, r, t, step, y, a, s, guard, theta):
    point = vector(r, h[O_YNEW], h[N])
    values = vector(r, h[O_GT], h[N_G])
    _end_point(h[N], s, y, matrix(r, h[O_Z], s, h[N]), a, theta, point)
    call_value(h[F_GUARDS], t + theta * step, point, tail(r, h[O_P]), tail(r, h[O_M]), values)
    return values[guard]


@native
def _slope(h, r, t, step, y, a, s, guard, theta):
    """dg/dtheta by a difference short enough for a start of Newton's iteration."""
    width = 1e-5
    return (_guard_at(h, r, t, step, y, a, s, guard, theta) - _guard_at(h, r, t, step, y, a, s, guard, theta - width)) / width


@native
def _distance(h, r, t, step, y, a, s, guard):
    """How far behind the end, as a part of the step, the guard would be across on its tangent; negative if it moves away."""
    sign = expected_sign(h, r, guard)
    slope = sign * _slope(h, r, t, step, y, a, s, guard, 1.0)
    value = sign * _guard_at(h, r, t, step, y, a, s, guard, 1.0) + r[h[O_NU] + guard]
    if not slope < 0.0:
        return -1.0
    # at least a little, so that the next try ends behind the crossing and not before it again
    return max(-value / slope, 0.0) * 1.001 + 4 * _EPS


@native
def _to_zero(h, r, t, step, y, a, s, guard, theta, point):
    """Move to where s*g = -delta, just across, from where the crossing was isolated.

    Delta is half the rounding noise of the guard: what is recorded lies on the far side, as the new mode says, and rounding cannot bring it back.
    """
    level = _FAR_SIDE * r[h[O_NUSTART] + guard]
    sign = expected_sign(h, r, guard)
    finest = _EPS * max(abs(t / step), 1.0)
    low = max(0.0, theta - _NEAR_END)
    high = theta
    at_low = sign * _guard_at(h, r, t, step, y, a, s, guard, low) + level
    at_high = sign * _guard_at(h, r, t, step, y, a, s, guard, high) + level
    # the isolated point may fall short of the crossing by rounding: on along the secant, then by ever longer strides
    stride = 2 * finest
    for attempt in range(40):
        if at_high <= 0.0 or not abs(high - theta) <= _NEAR_END:
            break
        new = high - at_high * (high - low) / (at_high - at_low) if at_low > at_high and attempt < 6 else high
        low = high
        at_low = at_high
        high = min(max(new, high) + stride, theta + 1.5 * _NEAR_END)
        stride *= 2.0
        at_high = sign * _guard_at(h, r, t, step, y, a, s, guard, high) + level
    if not (at_low > 0.0 and at_high <= 0.0):
        high = theta
        at_high = 0.0
    side = 0
    for _ in range(60):
        if high - low <= 2 * finest or at_high == 0.0:
            break
        middle = high - at_high * (high - low) / (at_high - at_low)
        if not (low < middle < high):
            middle = 0.5 * (low + high)
        value = sign * _guard_at(h, r, t, step, y, a, s, guard, middle) + level
        if value > 0.0:
            low = middle
            at_low = value
            if side == 1:
                at_high *= 0.5
            side = 1
        else:
            high = middle
            at_high = value
            if side == -1:
                at_low *= 0.5
            side = -1
    _end_point(h[N], s, y, matrix(r, h[O_Z], s, h[N]), a, high, point)
    return high


@unit(NUMBER, WHOLE, NUMBER, WHOLE, WHOLE, WHOLE)
def restep(h, r, step, degree, old_step, place, which, source):
    """Solve the step from the current point with another size; 1 if Newton's iteration converged.

    Started from the polynomial at offset ``source`` of r; the stages go to offset ``place``, the factors to set ``which``.
    """
    n = h[N]
    s = h[STAGES]
    z = matrix(r, place, s, n)
    k = (s - 3) // 2
    old = matrix(r, source, degree, n)
    h[C_RESTEPS] += 1
    if n == 0:
        return 1
    if factor_systems(h, r, step, which) != 0:
        return 0
    ratio = step / old_step
    for attempt in range(2):
        for i in range(s):
            theta = NODES[k, i] * ratio
            for q in range(n):
                x = old[degree - 1, q]
                for d in range(degree - 2, -1, -1):
                    x = x * theta + old[d, q]
                z[i, q] = x * theta if attempt == 0 else 0.0
        kept = r[FACCON]
        r[FACCON] = 1.0
        status = newton(h, r, r[T], step, which, 1e-2 * r[NEWTON_TOL], place)
        r[FACCON] = kept
        if status == CONVERGED:
            return 1
    return 0


@unit(NUMBER, WHOLE)
def locate(h, r, theta, crossed):
    """Find the point of the event at ``theta`` of the step just accepted.

    Returns 0 or the reason of failure. h[FOUND_GUARD] is the guard, with the event's time in r[STEP] and its point in O_YNEW; or -1 if the step, now
    shorter, ends before any event.
    """
    guard = crossed
    h[FOUND_GUARD] = guard
    n = h[N]
    s = h[STAGES]
    t = r[T]
    y = vector(r, h[O_Y], n)
    z = matrix(r, h[O_Z], s, n)
    a = matrix(r, h[O_A], s, n)
    point = vector(r, h[O_YNEW], n)
    whole = r[STEP]
    if theta <= 0.0 or t + theta * whole <= t:
        r[STEP] = 0.0
        r[LENGTH] = 0.0
        for q in range(n):
            point[q] = y[q]
        return 0
    _keep_polynomial(h, r, s)
    old_step = whole
    step = theta * whole
    h[NEEDS_FACTORS] = 1
    for attempt in range(_MOST_RESTEPS):
        r[LENGTH] = step
        if not t + step > t:
            r[STEP] = 0.0
            r[LENGTH] = 0.0
            for q in range(n):
                point[q] = y[q]
            h[FOUND_GUARD] = guard
            return 0
        if restep(h, r, step, s, old_step, h[O_Z], 0, h[O_AB]) == 0:
            # the polynomial led astray: a shorter step from the same point, and look again from its end
            evaluate_jacobian(h, r)
            step *= 0.25
            if not step > 1e-15 * max(abs(t), 1e-290):
                return STEP_TOO_SMALL
            continue
        stage_polynomial(POLYNOMIAL[(s - 3) // 2], s, n, z, a)
        which = earliest_crossing(h, r, t, step)
        found = r[FOUND_THETA]
        if which == UNDEFINED:
            return NOT_FINITE
        if found <= 1.0 - _NEAR_END and attempt < _MOST_RESTEPS - 1 and found > 0.0:
            _keep_polynomial(h, r, s)
            old_step = step
            step = found * step
            guard = which
            continue
        if found > 1.0:
            # no crossing up to here: it lies just behind the end, or nowhere
            ahead = _distance(h, r, t, step, y, a, s, guard)
            if 0.0 < ahead <= _NEAR_END and step * (1.0 + ahead) <= whole:
                found = 1.0 + ahead
                which = guard
            elif ahead > 0.0 and step * (1.0 + ahead) < whole and attempt < _MOST_RESTEPS - 1:
                _keep_polynomial(h, r, s)
                old_step = step
                step = step * (1.0 + ahead)
                continue
            else:
                r[STEP] = step
                _end_point(n, s, y, z, a, 1.0, point)
                h[FOUND_GUARD] = -1
                return 0
        final = _to_zero(h, r, t, step, y, a, s, which, found, point)
        r[STEP] = min(final * step, whole)
        if h[MASS_KIND] == 0:
            h[FOUND_GUARD] = which
            return 0
        # algebraic unknowns exactly on their equations; the guard may move by that, so once more
        slope = _slope(h, r, t, step, y, a, s, which, final)
        _end_point(n, s, y, z, a, final, point)
        for _ in range(3):
            code = consistent_point(h, r, t + r[STEP], h[O_YNEW])
            if code != 0:
                return code
            g = vector(r, h[O_G], h[N_G])
            call_value(h[F_GUARDS], t + r[STEP], point, tail(r, h[O_P]), tail(r, h[O_M]), g)
            beyond = g[which] + expected_sign(h, r, which) * _FAR_SIDE * r[h[O_NUSTART] + which]
            if slope == 0.0 or not abs(beyond / slope) <= _NEAR_END:
                break
            final -= beyond / slope
            moved = abs(beyond / slope)
            _end_point(n, s, y, z, a, final, point)
            r[STEP] = min(final * step, whole)
            if moved <= 4 * _EPS * max(abs(t / step), 1.0):
                break
        h[FOUND_GUARD] = which
        return consistent_point(h, r, t + r[STEP], h[O_YNEW])
    return STEP_TOO_SMALL
