"""The first zero of a guard that is no polynomial: bounds on parts of the step, of the guard, its rate and its bend (Park and Barton 1996).

A part is dropped where the guard's bounds exclude zero, or the bounds of a Taylor expansion about the middle of the part do: with its rate (mean
value form) and with its bend (second order; Neumaier, Interval Methods for Systems of Equations, 1990, chapter 2). Natural bounds alone lose what
cancels between repeated subexpressions: their error shrinks with the part, that of the expansions with its square and its cube. Where rate or bend
keeps its sign the part is decided at once, by its end or by the guard's lowest point. What is left is halved, leftmost first. Rates and bends say
nothing of a part whose bounds are infinite: a guard may rise all the way to a pole, and come from below behind it. A search that would take too many
parts says so, and up to where there is certainly nothing; it does not guess.

Where a guard reads an opaque function there are no bounds, and signs at points must do, with a second look where they come down to zero.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_hook, call_tangent, call_unit, call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.schema import LANES, LAST_POWER, LEFT_OUT, MOST_PARTS_AT_ONCE, ROUNDED
from tidegate.compiled.weighted_sum import signed_row
from tidegate.events.guards import expected_sign, first_bend, polynomial_point, prepare_registers, tape_rounding
from tidegate.events.illinois import narrowed, secant
from tidegate.events.polynomial_roots import NO_ROOT, UNKNOWN_ROOT, first_root, value_and_slope
from tidegate.events.told import is_told_by_model
from tidegate.events.tolerances import EPS, SAME_TIME

__all__ = ["curved_root", "fill_bounds"]

_MOST_PARTS: Final = 2000
_RESTS_WITHIN: Final = 1 / 32  # of what is looked at: a guard that is nothing but rounding at the ends of a part so short and in it rests at zero
_NARROW: Final = 1e-6  # of what is looked at: between the zeros of both bounds no guard turns round
_DOWN_BY: Final = 2.5  # times what a model leaves out: from its lower end to below its upper one, and a little more
_NEAR_ENOUGH: Final = 1e-8  # of the part a model is for: the guard itself is looked at from there on; a step of Newton's method squares it
_RIGHT_BEHIND: Final = 5e-8  # of what is looked at
_MOST_REACHES: Final = 3  # of models, each over a shorter part of the step ...
_LESS: Final = 0.7  # ... than this of the one before
_BEHIND: Final = 64.0  # times what rounding leaves of time: so far behind its pole a guard has a sign
_MOST_CORRECTIONS: Final = 3  # of where a model has its zero
_ONE_TIME: Final = 0.25  # of what rounding leaves of time
_JUMPS: Final = 1e6  # round-off levels beyond zero within rounding of time: nothing moves so fast
_POINTS: Final = 8
_SAMPLES: Final = 24
_MOST_LOOKS: Final = 6  # at a dip between samples
_COMES_DOWN: Final = 0.5  # of the lowest sample: a parabola through three that stays above is no reason to look again


@native
def fill_bounds(run, t, step, y, a, degree, low, high):
    """Bounds of time, the unknowns, their rates and bends over a part of the step: Taylor expansion about its middle."""
    n_used = run.n_used
    used = run.used
    lo = run.lower_scratch
    hi = run.upper_scratch
    middle = 0.5 * (low + high)
    half = 0.5 * (high - low)
    c = run.bernstein_scratch
    lo[0] = t + low * step
    hi[0] = t + high * step
    lo[1 + 2 * n_used] = step
    hi[1 + 2 * n_used] = step
    bends = first_bend(run)
    for u in range(n_used):
        q = used[u]
        c[0] = y[q]
        for k in range(degree):
            c[k + 1] = a[k, q]
        for level in range(degree):
            for k in range(degree - 1, level - 1, -1):
                c[k] += middle * c[k + 1]
        spread = 0.0
        rate_spread = 0.0
        bend_spread = 0.0
        for k in range(degree, 0, -1):
            spread = (spread + abs(c[k])) * half
            if k > 1:
                rate_spread = (rate_spread + k * abs(c[k])) * half
            if k > 2:
                bend_spread = (bend_spread + k * (k - 1) * abs(c[k])) * half
        slack = 4 * EPS * (abs(c[0]) + spread)
        lo[1 + u] = c[0] - spread - slack
        hi[1 + u] = c[0] + spread + slack
        slack = 4 * EPS * (abs(c[1]) + rate_spread)
        lo[1 + n_used + u] = c[1] - rate_spread - slack
        hi[1 + n_used + u] = c[1] + rate_spread + slack
        bend = 2 * c[2] if degree > 1 else 0.0
        slack = 4 * EPS * (abs(bend) + bend_spread)
        lo[bends + u] = bend - bend_spread - slack
        hi[bends + u] = bend + bend_spread + slack


@native
def _value_at(run, t, step, y, a, degree, j, theta):
    """The guard at one point of the step, through the guards' own function."""
    point = run.scratch_1
    values = run.slopes
    polynomial_point(run.n, degree, y, a, theta, point)
    call_value(run.f_guards, t + theta * step, point, run.p, run.m, values)
    return values[j]


@native
def _rate_at(run, t, step, y, a, degree, j, theta):
    """Its rate there."""
    point = run.scratch_1
    rate = run.scratch_2
    values = run.slopes
    nothing = run.zero
    polynomial_point(run.n, degree, y, a, theta, point)
    for q in range(run.n):
        x = 0.0
        for k in range(degree - 1, -1, -1):
            x = x * theta + (k + 1.0) * a[k, q]
        rate[q] = x
    call_tangent(run.f_guards_tangent, t + theta * step, point, nothing, run.p, run.m, step, rate, nothing, nothing, values)
    return values[j]


@native
def _narrowest(run, t, step, theta):
    """What rounding leaves of time up to a place, as a part of the step, which may go far beyond it."""
    return SAME_TIME * max(abs(t), abs(t + theta * step), run.time_size) / step


@native
def _bracketed_root(run, t, step, y, a, degree, j, sign, nu, low, high, at_high):
    """Zero of sign*g + nu between low, where it is positive, and high, where it is ``at_high`` and not (Illinois).

    What it is there is left in run.at_root.
    """
    at_low = sign * _value_at(run, t, step, y, a, degree, j, low) + nu
    run.at_root = at_low
    if at_low <= 0.0:
        return low
    run.at_root = at_high
    side = 0
    # times that differ by less are one, and the guard may go up and down between them
    one_time = _ONE_TIME * _narrowest(run, t, step, high)
    for _ in range(100):
        least = max(2 * EPS * max(high, EPS), one_time)
        if high - low <= least or at_high == 0.0:
            break
        theta = secant(low, at_low, high, at_high, least)
        value = sign * _value_at(run, t, step, y, a, degree, j, theta) + nu
        if value <= 0.0:
            run.at_root = value
        low, at_low, high, at_high, side = narrowed(low, at_low, high, at_high, side, theta, value)
    return high


@native
def _behind_pole(run, t, step, y, a, degree, j, sign, at_pole, upper):
    """Where a guard that jumps to the other side at a pole is there for certain, more than its rounding; the pole itself if it is not."""
    run.at_pole = j + 1
    behind = min(at_pole + _BEHIND * _narrowest(run, t, step, at_pole), upper)
    return behind if sign * _value_at(run, t, step, y, a, degree, j, behind) < 0.0 else at_pole


@native
def _crossing(run, t, step, y, a, degree, j, sign, nu, low, high, at_high, upper):
    """The place up to high at which sign*g + nu, which is ``at_high`` there, comes to zero, or right behind the pole where it jumps across."""
    root = _bracketed_root(run, t, step, y, a, degree, j, sign, nu, low, high, at_high)
    # what jumps with a pole may be bounded, as atan(1 / x)
    if run.at_root < -_JUMPS * nu:
        return _behind_pole(run, t, step, y, a, degree, j, sign, root, upper)
    return root


@native
def _where_it_should_be(run, t, step, y, a, degree, j, sign, nu, low, zero, high, steepness):
    """The crossing between low and high, where the model has its ``zero`` or its slope leads from there, to what rounding leaves of time.

    NO_ROOT if it is not seen there.
    """
    half = 0.5 * max(2 * EPS * max(zero, EPS), _ONE_TIME * _narrowest(run, t, step, zero))
    for _ in range(_MOST_CORRECTIONS):
        after = zero + half
        before = zero - half
        if not (low < before and after < high):
            return NO_ROOT
        run.at_root = sign * _value_at(run, t, step, y, a, degree, j, after) + nu
        beside = run.at_root
        zero = after
        if run.at_root <= 0.0:
            beside = sign * _value_at(run, t, step, y, a, degree, j, before) + nu
            if beside > 0.0:
                return after if run.at_root >= -_JUMPS * nu else NO_ROOT
            zero = before
        zero += beside / steepness
    return NO_ROOT


@native
def _lowest(run, t, step, y, a, degree, j, sign, low, high):
    """Where a guard that bends up all over a part is lowest: its rate rises there."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if sign * _rate_at(run, t, step, y, a, degree, j, middle) < 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@native
def _rounded(run, t, step, y, a, degree, j, theta):
    """What rounding leaves open in the guard at a place."""
    fill_bounds(run, t, step, y, a, degree, theta, theta)
    call_unit(run.f_tape, run.h, run.r, j + run.n_guards)
    return max(run.nu[j], tape_rounding(run, j))


@native
def _rests(run, t, step, y, a, degree, j, roundoff, low, high):
    """True if the guard is nothing but rounding all over a short part."""
    for k in range(_POINTS + 1):
        if not abs(_value_at(run, t, step, y, a, degree, j, low + (high - low) * k / _POINTS)) <= roundoff:
            return False
    return True


@native
def _least_on_a_side(value, rate, bend, half):
    """Least of value + rate h + bend h^2 / 2 for 0 <= h <= half."""
    least = min(value, value + half * (rate + 0.5 * half * bend))
    if bend > 0.0 and -half * bend < rate < 0.0:
        least = value - 0.5 * rate * rate / bend
    return least


@native
def _root_of_model(run, model, start, sign, side, degree, near):
    """First zero of the guard's polynomial with its bounds added, or taken away; ``near`` is a guess at it, 0 for none."""
    c = run.bernstein_scratch
    slope = sign * model[1] + side * model[degree + ROUNDED]
    left_out = side * model[degree + LEFT_OUT]
    at_end = 0.0
    if degree < LANES:
        at_end, low = signed_row(model, sign, start, slope, degree, c)
        at_end += left_out
        low += min(c[degree] + left_out, 0.0) - min(c[degree], 0.0)
        if low > 0.0:
            return NO_ROOT
    else:
        c[0] = start
        c[1] = slope
        for k in range(2, degree + 1):
            c[k] = sign * model[k]
    c[degree] += left_out
    if not at_end < 0.0:
        # Horner's rule with bounds excludes most
        low = 0.0
        for k in range(degree, 0, -1):
            low = c[k] + min(low, 0.0)
        if start + min(low, 0.0) > 0.0:
            return NO_ROOT
    return first_root(run, degree, 1.0, _NEAR_ENOUGH, near)


@native
def _beside(model, degree, theta):
    """How far a guard may be from its polynomial at a place."""
    left_out = model[degree + LEFT_OUT]
    for _ in range(degree):
        left_out *= theta
    return model[degree + ROUNDED] * theta + left_out


@native
def _falls_all_along(model, degree, low, high, steepness):
    """True if a polynomial guard whose model falls like this at low falls, whatever the model leaves out, from there to high.

    A polynomial of degree D whose coefficients' sizes add up to no more than T has slopes in [0, 1] up to D T.
    """
    bend = 0.0
    for k in range(2, degree + 1):
        bend += (k - 1.0) * k * abs(model[k])
    unknown = model[degree + LAST_POWER] * (model[degree + ROUNDED] + model[degree + LEFT_OUT])
    return steepness > bend * (high - low + _NEAR_ENOUGH) + unknown


@native
def _is_across(model, start, sign, theta, degree):
    """True if a guard is across at a place, whatever its model leaves out; no other says there when it crosses."""
    value, _ = value_and_slope(model, degree, theta)
    return start + sign * (value - model[0]) + _beside(model, degree, theta) < 0.0


@native
def _modelled_root(run, t, step, y, a, degree, j, sign, start, upper):
    """First zero in (0, upper] of sign*g + nu, which is ``start`` at zero, by the guard's model over the whole step.

    UNKNOWN_ROOT where there is no model, or its bound is too wide to tell: certainly there is none before run.decided_to, and if run.looked_to is
    less than ``upper``, one before that.
    """
    run.decided_to = 0.0
    run.looked_to = upper
    if run.n_models == 0:
        return UNKNOWN_ROOT
    nu = run.nu[j]
    reach = upper
    near = 0.0
    for _ in range(_MOST_REACHES):
        run.model_reach = reach
        run.falls_with = 0.0
        if call_hook(run.f_models, run.h, run.r, step, j) == 0:
            return UNKNOWN_ROOT
        model = run.guard_models[run.model_at]
        if not model[degree + ROUNDED] + model[degree + LEFT_OUT] < np.inf:
            return UNKNOWN_ROOT
        low = _root_of_model(run, model, start, sign, -1.0, degree, near)
        if low == NO_ROOT:
            return NO_ROOT if reach == upper else UNKNOWN_ROOT
        run.decided_to = max((low - _NEAR_ENOUGH) * reach, run.decided_to)
        # the guard is across right behind that, mostly, or where its model has come down by twice what it leaves out
        value, slope = value_and_slope(model, degree, low)
        steepness = -sign * slope
        behind = run.decided_to + _RIGHT_BEHIND * upper
        if steepness > 0.0:
            behind = max(behind, run.decided_to + _DOWN_BY * _beside(model, degree, low) / steepness * reach)
        is_alone = steepness > 0.0 and (
            behind - run.decided_to <= _NARROW * upper or _falls_all_along(model, degree, low, min(behind / reach, 1.0), steepness)
        )
        if is_alone and behind < upper:
            run.falls_with = steepness / (reach * step)
            run.is_told = 1 if is_told_by_model(run, model, degree, low, j) else 0
            zero = (low + (start + sign * (value - model[0])) / steepness) * reach
            is_sure = run.n_guards == 1 and run.decided_to < zero < behind and behind - run.decided_to <= _NARROW * zero
            if is_sure and _is_across(model, start, sign, behind / reach, degree):
                run.at_root = np.nan  # nobody has looked
                return zero
            root = _where_it_should_be(run, t, step, y, a, degree, j, sign, nu, run.decided_to, zero, behind, steepness / reach)
            if root < NO_ROOT:
                return root
            at_behind = sign * _value_at(run, t, step, y, a, degree, j, behind) + nu
            if at_behind <= 0.0:
                return _crossing(run, t, step, y, a, degree, j, sign, nu, run.decided_to, behind, at_behind, upper)
        high = _root_of_model(run, model, start, sign, 1.0, degree, low)
        if high == NO_ROOT:
            return UNKNOWN_ROOT
        run.looked_to = min(high * reach, run.looked_to)
        if run.looked_to - run.decided_to <= _NARROW * upper:
            at_high = sign * _value_at(run, t, step, y, a, degree, j, run.looked_to) + nu
            if at_high <= 0.0:
                return _crossing(run, t, step, y, a, degree, j, sign, nu, run.decided_to, run.looked_to, at_high, upper)
        # over the part of the step that is left the bound is much less
        if not high < _LESS:
            return UNKNOWN_ROOT
        near = low * reach / run.looked_to
        reach = run.looked_to
    return UNKNOWN_ROOT


@native
def _interval_root(run, t, step, y, a, degree, j, sign, lower, upper):
    """First zero in (lower, upper] of sign*g + nu; UNKNOWN_ROOT if none lies before run.decided_to and the search gave up there."""
    ng = run.n_guards
    nu = run.nu[j]
    value = run.tape_value[j]
    rate = run.tape_rate[j]
    bend = run.tape_bend[j]
    lo = run.lower_scratch
    hi = run.upper_scratch
    parts = run.parts_scratch
    parts[0, 0] = lower
    parts[0, 1] = upper
    top = 1
    visited = 0
    has_pole = False
    while top > 0:
        top -= 1
        low = parts[top, 0]
        high = parts[top, 1]
        visited += 1
        fill_bounds(run, t, step, y, a, degree, low, high)
        call_unit(run.f_tape, run.h, run.r, j + ng)
        least = lo[value] if sign > 0.0 else -hi[value]
        if least + nu > 0.0:
            continue
        slowest = -np.inf
        fastest = np.inf
        # across a pole a guard may rise all the way and be lower behind it
        is_bounded = lo[value] > -np.inf and hi[value] < np.inf
        if is_bounded:
            slowest = lo[rate] if sign > 0.0 else -hi[rate]
            fastest = hi[rate] if sign > 0.0 else -lo[rate]
        # what jumps with a pole may be bounded, as atan(1 / x): its rate is not
        has_pole = has_pole or not (-np.inf < slowest and fastest < np.inf)
        # the pole may be just in front of this part
        if is_bounded and has_pole and sign * _value_at(run, t, step, y, a, degree, j, low) + nu <= 0.0:
            return _behind_pole(run, t, step, y, a, degree, j, sign, low, upper)
        if slowest > 0.0:
            continue
        bends_up = False
        bends_down = False
        roundoff = nu
        if is_bounded and not fastest < 0.0:
            half = 0.5 * (high - low)
            flattest = 0.0
            steepest = 0.0
            if bend >= 0:
                call_unit(run.f_tape, run.h, run.r, j + 2 * ng)
                flattest = lo[bend] if sign > 0.0 else -hi[bend]
                steepest = hi[bend] if sign > 0.0 else -lo[bend]
                bends_up = flattest > 0.0
                bends_down = steepest < 0.0
            middle = 0.5 * (low + high)
            # what rounding leaves open in the guard here may be more than at the start of the step
            roundoff = _rounded(run, t, step, y, a, degree, j, middle)
            least = lo[value] if sign > 0.0 else -hi[value]
            falling = lo[rate] if sign > 0.0 else -hi[rate]
            rising = hi[rate] if sign > 0.0 else -lo[rate]
            if roundoff > nu:
                # and more than where the part begins or ends: in one that is dropped for it, it is that little everywhere
                roundoff = min(roundoff, _rounded(run, t, step, y, a, degree, j, low), _rounded(run, t, step, y, a, degree, j, high))
            if least - half * max(fastest, -slowest) + roundoff > 0.0:
                continue
            if bend >= 0:
                ahead = _least_on_a_side(least, falling, flattest, half)
                behind = _least_on_a_side(least, -rising, flattest, half)
                if min(ahead, behind) + roundoff > 0.0:
                    continue
                slowest = max(slowest, falling - half * max(steepest, -flattest))
                fastest = min(fastest, rising + half * max(steepest, -flattest))
                if slowest > 0.0:
                    continue
        end = high
        if bends_up and not fastest < 0.0:
            end = _lowest(run, t, step, y, a, degree, j, sign, low, high)
        is_narrow = high - low < _narrowest(run, t, step, high) + 4 * EPS * high
        if fastest < 0.0 or bends_up or bends_down or is_narrow or top + 2 >= MOST_PARTS_AT_ONCE:
            at_end = sign * _value_at(run, t, step, y, a, degree, j, end) + nu
            if at_end <= 0.0:
                if is_narrow and not is_bounded:
                    return _behind_pole(run, t, step, y, a, degree, j, sign, end, upper)
                return _crossing(run, t, step, y, a, degree, j, sign, nu, low, end, at_end, upper)
            continue
        if high - low <= _RESTS_WITHIN * upper and roundoff < 1e300 and _rests(run, t, step, y, a, degree, j, roundoff, low, high):
            continue
        if visited >= _MOST_PARTS:
            run.decided_to = low
            return UNKNOWN_ROOT
        middle = 0.5 * (low + high)
        parts[top, 0] = middle
        parts[top, 1] = high
        parts[top + 1, 0] = low
        parts[top + 1, 1] = middle
        top += 2
    return NO_ROOT


@native
def _dip(run, t, step, y, a, degree, j, sign, nu, low, at_low, middle, at_middle, high, at_high):
    """A place between three samples, of which the middle one is the lowest, where the guard is across; NO_ROOT if parabolas lead to none."""
    for _ in range(_MOST_LOOKS):
        left = (at_middle - at_low) / (middle - low)
        right = (at_high - at_middle) / (high - middle)
        bend = (right - left) / (high - low)
        if not bend > 0.0:
            return NO_ROOT
        place = 0.5 * (low + middle - left / bend)
        away = place - middle
        if at_middle - bend * away * away > _COMES_DOWN * at_middle or not low < place < high:
            return NO_ROOT
        if abs(place - middle) < 1e-3 * (high - low):
            # at the vertex already: to the side where there is more room
            place = middle + 0.1 * (high - middle) if high - middle > middle - low else middle - 0.1 * (middle - low)
        at_place = sign * _value_at(run, t, step, y, a, degree, j, place) + nu
        if at_place <= 0.0:
            return place
        if at_place < at_middle:
            if place < middle:
                high, at_high = middle, at_middle
            else:
                low, at_low = middle, at_middle
            middle, at_middle = place, at_place
        elif place < middle:
            low, at_low = place, at_place
        else:
            high, at_high = place, at_place
    return NO_ROOT


@native
def _sampled_root(run, t, step, y, a, degree, j, sign, upper):
    """For a guard that reads an opaque function nothing can be proved: signs at points, and at the dips between them."""
    nu = run.nu[j]
    before = 0.0
    low = 0.0
    at_low = sign * run.g[j] + nu
    at_before = at_low
    for k in range(1, _SAMPLES + 1):
        high = upper * k / _SAMPLES
        at_high = sign * _value_at(run, t, step, y, a, degree, j, high) + nu
        if k > 1 and at_low < at_before and (at_low <= at_high or at_high <= 0.0):
            dip = NO_ROOT
            if at_high > 0.0:
                dip = _dip(run, t, step, y, a, degree, j, sign, nu, before, at_before, low, at_low, high, at_high)
            if dip < NO_ROOT:
                at_dip = sign * _value_at(run, t, step, y, a, degree, j, dip) + nu
                return _bracketed_root(run, t, step, y, a, degree, j, sign, nu, before, dip, at_dip)
        if at_high <= 0.0:
            return _bracketed_root(run, t, step, y, a, degree, j, sign, nu, low, high, at_high)
        before, at_before = low, at_low
        low, at_low = high, at_high
    return NO_ROOT


@kernel_entry(NUMBER, NUMBER, NUMBER, NUMBER, INTEGER, INTEGER)
def curved_root(run, t, step, start, upper, guard, is_prepared):
    """First zero in (0, upper] of a guard that is no polynomial, which is ``start`` at zero with its sign and round-off, into run.found_theta.

    1 if the registers of tapes have been prepared for the step, now or before.
    """
    degree = run.degree
    y = run.y
    a = run.coefficients
    sign = expected_sign(run, guard)
    if run.is_opaque[guard] == 1:
        run.found_theta = _sampled_root(run, t, step, y, a, degree, guard, sign, upper)
        return is_prepared
    root = _modelled_root(run, t, step, y, a, degree, guard, sign, start, upper)
    if root == UNKNOWN_ROOT:
        if is_prepared == 0:
            prepare_registers(run)
            is_prepared = 1
        lower = run.decided_to
        if run.looked_to < upper:
            root = _interval_root(run, t, step, y, a, degree, guard, sign, lower, run.looked_to)
        if root >= NO_ROOT:
            root = _interval_root(run, t, step, y, a, degree, guard, sign, lower, upper)
    run.found_theta = root
    return is_prepared
