"""The last correction of an event: from where a crossing was isolated to a point on the step's polynomial that lies just across the zero.

Near its end the polynomial is as good as the solution there, and evaluated from the end it is free of the rounding of large coefficients. Where there
are algebraic unknowns the point is put on their equations, which may move the guard: then once more.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.weighted_sum import product_plus
from tidegate.events.blocked import move_across
from tidegate.events.guards import expected_sign, guard_roundoff
from tidegate.events.illinois import narrowed, secant
from tidegate.events.known_values import note_guards_before
from tidegate.events.tolerances import ACROSS, EPS
from tidegate.integrators.hybrid_loop.forces import put_on_equations

__all__ = ["NEAR_END", "distance_behind", "end_point", "finest_of_several", "polish", "shorter", "slope_of_the_step"]

NEAR_END: Final = 1e-3  # of a step: closer to the end the polynomial is as good as the solution
_AT_MOST: Final = 0.9  # of a step is kept, so that tries come to an end
_WORTH_WHILE: Final = 1 / 16  # of a step: where less than that could be decided, half of it is tried
_SECANTS: Final = 4  # tried before the bracket
_APART: Final = 1e-5  # of a step: over this differences tell slopes
_OF_SIMPLE_ZEROS: Final = 0.35  # moved in half the time: half of it, or a quarter of what turns there
_BESIDE: Final = 1e-6  # of the way to where the crossing was isolated: no farther from there, so that it is that one
_FAR_ENOUGH: Final = 1e4  # times what rounding leaves of a place: around there a crossing is looked for again
_PAST: Final = 0.5  # of delta, by which an event's point may lie farther across than that


@native
def shorter(run):
    """The part of a step to keep of which the search has decided as far as run.found_theta; counted."""
    run.c_undecided += 1
    is_told = run.found_theta > _WORTH_WHILE or run.is_unresolved == 1
    return min(run.found_theta, _AT_MOST) if is_told else 0.5


@native
def _add_differences(n, degree, a, theta, out):
    ahead = theta - 1.0
    factor = 0.0
    for k in range(degree):
        factor = product_plus(factor, theta, ahead)  # theta**(k + 1) - 1
        for q in range(n):
            out[q] = product_plus(a[k, q], factor, out[q])


@native
def end_point(run, theta, out):
    """The step's polynomial from its end: the end and a difference, without the rounding of large coefficients."""
    end = run.y_end
    for q in range(run.n):
        out[q] = end[q]
    if theta != 1.0:
        _add_differences(run.n, run.degree, run.coefficients, theta, out)


@native
def slope_of_the_step(run, offset):
    """y' where the step was cut, from its polynomial, to offset ``offset`` of r; nothing is written where there is no step."""
    if not run.length > 0.0:
        return
    degree = run.degree
    a = run.coefficients
    theta = run.step / run.length
    for q in range(run.n):
        x = 0.0
        for k in range(degree - 1, -1, -1):
            x = x * theta + (k + 1.0) * a[k, q]
        run.r[offset + q] = x / run.length


@native
def _guard_at(run, t, step, guard, theta):
    point = run.y_new
    values = run.slopes
    end_point(run, theta, point)
    call_value(run.f_guards, t + theta * step, point, run.p, run.m, values)
    return values[guard]


@native
def _slope(run, t, step, guard, theta):
    """dg/dtheta by a difference short enough for a start of Newton's iteration."""
    return (_guard_at(run, t, step, guard, theta) - _guard_at(run, t, step, guard, theta - _APART)) / _APART


@native
def distance_behind(run, t, step, guard):
    """How far behind the end, as a part of the step, the guard would be across on its tangent; negative if it moves away."""
    sign = expected_sign(run, guard)
    slope = sign * _slope(run, t, step, guard, 1.0)
    value = sign * _guard_at(run, t, step, guard, 1.0) + run.nu[guard]
    if not slope < 0.0:
        return -1.0
    # at least a little, so that the next try ends behind the crossing and not before it again
    return max(-value / slope, 0.0) * 1.001 + 4 * EPS


@native
def _beside(t, step, theta):
    """How far from where a crossing was isolated its last correction may lead."""
    return _BESIDE * theta + 64 * EPS * abs(t / step)


@native
def _is_by_its_slope(run, t, step, guard, theta, level):
    """True if the guard is where ``_close_by_secants`` is to bring it: where its slope leads from theta, where it is known.

    Guards there are left in run.slopes.
    """
    sign = expected_sign(run, guard)
    there = run.at_found
    if not abs(there) < np.inf:
        there = sign * _guard_at(run, t, step, guard, theta)
    value = there + level
    after = theta + (value + 0.5 * _PAST * level) / (run.falls_with * step)
    if not (after > 0.0 and abs(after - theta) <= _beside(t, step, theta)):
        return False
    value = sign * _guard_at(run, t, step, guard, after) + level
    run.found_theta = after
    return -_PAST * level <= value <= 0.0


@native
def _close_by_secants(run, t, step, guard, before, at_before, now, at_now):
    """Where s*g lies between -1.5 delta and -delta, into run.found_theta, and the point into run.y_new; False where secants do not get there soon."""
    level = ACROSS * run.nu_start[guard]
    sign = expected_sign(run, guard)
    first = now
    near = _beside(t, step, first)
    for _ in range(_SECANTS):
        if -_PAST * level <= at_now <= 0.0:
            run.found_theta = now
            return True
        if not at_before > at_now:
            return False
        # to the middle of what is wanted
        after = now + (at_now + 0.5 * _PAST * level) * (now - before) / (at_before - at_now)
        if not (after > 0.0 and abs(after - first) <= near):
            return False
        before, at_before = now, at_now
        now = after
        at_now = sign * _guard_at(run, t, step, guard, now) + level
    return False


@native
def _to_zero(run, t, step, guard, theta, point):
    """Move to where s*g = -delta, just across, from where the crossing was isolated.

    Delta is half the round-off level of the guard: what is recorded lies on the far side, as the new mode says, and rounding cannot bring it back.
    """
    level = ACROSS * run.nu_start[guard]
    sign = expected_sign(run, guard)
    # the step may go far beyond it
    finest = EPS * max(abs(t / step), theta)
    near = min(NEAR_END, max(NEAR_END * theta, _FAR_ENOUGH * finest))
    low = max(0.0, theta - near)
    high = theta
    if run.falls_with > 0.0 and _is_by_its_slope(run, t, step, guard, theta, level):
        if run.n_guards == 1:
            run.g[0] = run.slopes[0]
            note_guards_before(run, t + run.found_theta * step)
        return run.found_theta
    at_low = sign * _guard_at(run, t, step, guard, low) + level
    at_high = sign * _guard_at(run, t, step, guard, high) + level
    # the isolated point may fall short of the crossing by rounding: on along the secant, then by ever longer strides
    if _close_by_secants(run, t, step, guard, low, at_low, high, at_high):
        return run.found_theta
    stride = 2 * finest
    for attempt in range(40):
        if at_high <= 0.0 or not abs(high - theta) <= near:
            break
        new = high - at_high * (high - low) / (at_high - at_low) if at_low > at_high and attempt < 6 else high
        low = high
        at_low = at_high
        high = min(max(new, high) + stride, theta + 1.5 * near)
        stride *= 2.0
        at_high = sign * _guard_at(run, t, step, guard, high) + level
    if not (at_low > 0.0 and at_high <= 0.0):
        high = theta
        at_high = 0.0
    side = 0
    for _ in range(60):
        if high - low <= 2 * finest or at_high == 0.0:
            break
        middle = secant(low, at_low, high, at_high, 2 * finest)
        value = sign * _guard_at(run, t, step, guard, middle) + level
        low, at_low, high, at_high, side = narrowed(low, at_low, high, at_high, side, middle, value)
    end_point(run, high, point)
    return high


@native
def _put_across(run, t, step, guard, theta, most):
    """What ``polish`` does, for this guard."""
    point = run.y_new
    if run.at_pole == guard + 1:
        # nowhere is it at zero
        end_point(run, theta, point)
        run.step = min(theta * step, most)
        return 0 if run.mass_kind == 0 else put_on_equations(run, t + run.step, point, run.y_new_at)
    final = _to_zero(run, t, step, guard, theta, point)
    run.step = min(final * step, most)
    if run.came_to_rest == guard + 1:
        # it only touches zero, and rests there: rounding is to lie on the side on which it does
        call_value(run.f_guards, t + run.step, point, run.p, run.m, run.g)
        move_across(run, t + run.step, point, guard, run.g[guard], point)
    if run.mass_kind == 0:
        return 0
    slope = _slope(run, t, step, guard, final)
    end_point(run, final, point)
    for _ in range(3):
        code = put_on_equations(run, t + run.step, point, run.y_new_at)
        if code != 0:
            return code
        g = run.g
        call_value(run.f_guards, t + run.step, point, run.p, run.m, g)
        beyond = g[guard] + expected_sign(run, guard) * ACROSS * run.nu_start[guard]
        if slope == 0.0 or not abs(beyond / slope) <= NEAR_END:
            break
        final -= beyond / slope
        moved = abs(beyond / slope)
        end_point(run, final, point)
        run.step = min(final * step, most)
        if moved <= 4 * EPS * max(abs(t / step), 1.0):
            break
    return put_on_equations(run, t + run.step, point, run.y_new_at)


@native
def _is_beyond(run, j):
    """True of a guard that has crossed by more than its rounding; values must be in run.g."""
    return run.active[j] != 0.0 and run.is_time[j] == 0 and -expected_sign(run, j) * run.g[j] > (1.0 + _PAST) * ACROSS * run.nu_start[j]


@native
def _is_alone(run, t, guard):
    """True if no other guard has crossed at the point of the event; values are in run.g."""
    call_value(run.f_guards, t + run.step, run.y_new, run.p, run.m, run.g)
    note_guards_before(run, t + run.step)
    for j in range(run.n_guards):
        if j != guard and _is_beyond(run, j):
            return False
    return True


@kernel_entry(NUMBER, NUMBER, INTEGER)
def finest_of_several(run, t, step, guard):
    """Of the guards that cross within what the rounding of this one leaves open, the one that says when to within the least; values are in run.g.

    Between z = x - 1 of an algebraic unknown and x itself lies the rounding of an equation that is solved: behind z's crossing x is clear of its own.
    """
    point = run.y_new
    for q in range(run.n):
        run.trial_stage[q] = point[q]
    theta = run.step / step
    _guard_at(run, t, step, guard, theta - 0.5 * _APART)
    half = run.late_scratch
    for j in range(run.n_guards):
        half[j] = run.slopes[j]
    before = run.slopes
    _guard_at(run, t, step, guard, theta - _APART)
    for q in range(run.n):
        point[q] = run.trial_stage[q]
    open_for = run.nu_start[guard] / abs(run.g[guard] - before[guard])
    finest = guard
    least = open_for
    for j in range(run.n_guards):
        moved = abs(run.g[j] - before[j])
        # a multiple zero says less, however little its rounding is there
        is_simple = abs(run.g[j] - half[j]) > _OF_SIMPLE_ZEROS * moved
        if is_simple and _is_beyond(run, j) and abs(run.g[j]) <= open_for * moved and run.nu_start[j] < least * moved:
            finest = j
            least = run.nu_start[j] / moved
    return finest


@native
def polish(run, t, step, guard, theta, most):
    """Time (from t, at most ``most``) into run.step, point into run.y_new of the event isolated at ``theta`` of the step; 0 or why not.

    The guard becomes run.found_guard: of those that cross there the one that is least rounded.
    """
    if run.is_linear[guard] == 0:
        # of what is no sum its rounding there is another one than where the step began
        end_point(run, theta, run.y_new)
        run.rounded_at = t + theta * step
        guard_roundoff(run, run.rounded_at, run.y_new)
    code = _put_across(run, t, step, guard, theta, most)
    if code != 0 or run.n_guards == 1 or run.at_pole == guard + 1 or not step > 0.0:
        return code
    finest = guard if _is_alone(run, t, guard) else finest_of_several(run, t, step, guard)
    if finest == guard:
        return 0
    run.found_guard = finest
    run.falls_with = 0.0
    run.guards_before_at = np.nan
    return _put_across(run, t, step, finest, run.step / step, most)
