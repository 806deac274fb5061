"""Where a trajectory goes from a guard's zero: to one side, to the other, or nowhere (stage: events, at a point that an event has made consistent).

In: a point with its derivatives, and guards that lie within their round-off level there. Out: for each the sign of the first derivative along the
trajectory that does not vanish, or 0 where it rests. A slope decides if it is larger than what the rounding of the point makes of it. Else the
trajectory is followed for a while in the mode that holds, by its power series where the method has one, else by Runge and Kutta's method in one step
and in two, and for ever shorter whiles as long as the guard gets out of its round-off level by more than the two, or the series with and without its
last powers, differ: what is seen last is what follows first.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_hook, call_tangent, call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import vector
from tidegate.events.guards import guard_slopes, rounding_of, size_of
from tidegate.events.restart import derivatives
from tidegate.events.tolerances import CLEAR, ROUNDING, ROUNDING_OF_SLOPES
from tidegate.linear.systems import is_finite

__all__ = ["ASKED", "LEAVES_DOWN", "LEAVES_UP", "RESTS", "leaving_sides"]

RESTS: Final = 0
LEAVES_UP: Final = 1
LEAVES_DOWN: Final = -1
ASKED: Final = 2  # not known yet, and so far nothing seen
_SEEN_UP: Final = 3  # not known yet; for the time looked at last it was up
_SEEN_DOWN: Final = 4

_SHRINK: Final = 0.125  # from one while to the next
_MOST_WHILES: Final = 24
_LONGER: Final = 64.0  # steps: a guard that rests over one step is looked at over so many more
_STEEPEST: Final = 6.0  # power of time: what grows faster is made of its own rounding, most by a step too long for what pulls back to the zero


@native
def _rates_near(run, t, offset, target):
    """y' at the point at offset ``offset``, into ``target``; 0 or the reason of failure. Without a linear system where the method has expressions."""
    if run.f_rates != 0 and run.n_forced == 0:
        rate = vector(run.r, target, run.n)
        call_value(run.f_rates, t, vector(run.r, offset, run.n), run.p, run.m, rate)
        run.c_rhs += 1
        if is_finite(rate, run.n):
            return 0
    return derivatives(run, t, offset, target)


@native
def _stride(run, t, start, first, end, tau):
    """Runge and Kutta's step over tau from the point at offset ``start``, where y' is at ``first``, into ``end``; 0 or the reason of failure."""
    n = run.n
    stage = run.trial_stage
    rate = run.trial_rate
    total = run.trial_total
    for q in range(n):
        total[q] = run.r[first + q]
        stage[q] = run.r[start + q] + 0.5 * tau * run.r[first + q]
    for k in range(3):
        code = _rates_near(run, t + (tau if k == 2 else 0.5 * tau), run.trial_stage_at, run.trial_rate_at)
        if code != 0:
            return code
        if k == 2:
            break
        part = tau if k == 1 else 0.5 * tau
        for q in range(n):
            total[q] += 2.0 * rate[q]
            stage[q] = run.r[start + q] + part * rate[q]
    for q in range(n):
        run.r[end + q] = run.r[start + q] + tau / 6.0 * (total[q] + rate[q])
    return 0


@native
def _guards_at(run, t, point, out):
    call_value(run.f_guards, t, point, run.p, run.m, out)


@native
def _look_at_the_end(run, t):
    """Guards, their slopes and round-off levels at the end of a while, which is at t; 0 or the reason of failure."""
    _guards_at(run, t, run.trial_end, run.trial_g_end)
    for q in range(run.n):
        run.trial_total[q] = rounding_of(run, q, run.y[q])
    # of (x - c) * f(t), where x has stopped at c, more is rounding there than here
    call_tangent(run.f_guard_scale, t, run.trial_end, run.zero, run.p, run.m, 0.0, run.trial_total, run.zero, run.zero, run.reach_scratch)
    code = _rates_near(run, t, run.trial_end_at, run.trial_rate_at)
    guard_slopes(run, t, run.trial_end, run.trial_rate, run.late_scratch)
    return code


@native
def _look_ahead(run, t, tau):
    """Guards after tau in one step, and after half of it and all of it in two, with their slopes then; 0 or the reason of failure."""
    middle = run.trial_middle_at
    end = run.trial_end_at
    code = _stride(run, t, run.y_at, run.ydot_at, end, tau)
    if code != 0:
        return code
    _guards_at(run, t + tau, run.trial_end, run.trial_g_full)
    half = 0.5 * tau
    code = _stride(run, t, run.y_at, run.ydot_at, middle, half)
    if code != 0:
        return code
    _guards_at(run, t + half, run.trial_middle, run.trial_g_half)
    code = _rates_near(run, t + half, middle, end)
    if code == 0:
        code = _stride(run, t + half, middle, end, end, half)
    return _look_at_the_end(run, t + tau) if code == 0 else code


@native
def _look_along_series(run, t, tau):
    """The same by the power series that the method has put down, at the end with and without its last powers."""
    call_hook(run.hook_ahead, run.h, run.r, tau, 0)
    _guards_at(run, t + 0.5 * tau, run.trial_middle, run.trial_g_half)
    _guards_at(run, t + tau, run.trial_stage, run.trial_g_full)
    return _look_at_the_end(run, t + tau)


@native
def _judge(run, sides, tau):
    """Take what the guards are after tau into ``sides``; True if any of them is still to be asked.

    What rounding makes of a slope, over tau, is no movement: a contact that is stuck has a relative acceleration of rounding.
    """
    ng = run.n_guards
    full = run.trial_g_full
    half = run.trial_g_half
    end = run.trial_g_end
    more = False
    for j in range(ng):
        if sides[j] < ASKED:
            continue
        here = run.g[j]
        roundoff = run.nu_start[j]
        if half[j] == here and end[j] == here and full[j] == here:
            still = True
            moves = False
        else:
            spread = abs(end[j] - full[j])
            drift = run.slope_rounding[j] * tau
            margin = CLEAR * (roundoff + spread + drift)
            moves = abs(end[j]) > margin and (abs(half[j]) <= CLEAR * (roundoff + drift) or (half[j] > 0.0) == (end[j] > 0.0))
            # nor is what rounding of the unknowns is of it there
            moves = moves and abs(end[j]) > CLEAR * run.reach_scratch[j] and tau * abs(run.late_scratch[j]) <= _STEEPEST * abs(end[j] - here)
            if not moves and spread > CLEAR * (roundoff + drift):
                # over a shorter while than this the way is not known, so that over the longer ones it was not either
                sides[j] = ASKED
            still = spread <= roundoff + drift and abs(end[j]) <= margin and abs(half[j]) <= margin
        if moves:
            sides[j] = _SEEN_UP if end[j] > 0.0 else _SEEN_DOWN
            more = True
        elif still:
            sides[j] = _known(sides[j])
        else:
            more = True
    return more


@native
def _known(side):
    """What was seen last, if anything."""
    if side == _SEEN_UP:
        return LEAVES_UP
    if side == _SEEN_DOWN:
        return LEAVES_DOWN
    return RESTS


@native
def _slopes_decide(run, t, sides):
    """The side where the slope of a guard is larger than what rounding of time and unknowns makes of it."""
    n = run.n
    ng = run.n_guards
    slopes = run.slopes
    point = run.trial_stage
    rate = run.trial_rate
    other = run.trial_g_full
    terms = run.trial_g_half
    spread = run.slope_rounding
    nothing = run.zero
    y = run.y
    # where rates come out of a linear system, each of them has the rounding of the fastest
    fastest = 0.0
    if run.rank < n or run.mass_kind == 2:
        for q in range(n):
            fastest = max(fastest, abs(run.ydot[q]) / size_of(run, q, y[q]))
    for q in range(n):
        rate[q] = max(abs(run.ydot[q]), fastest * size_of(run, q, y[q]))
    call_tangent(run.f_guard_scale, t, y, run.zero, run.p, run.m, 1.0, rate, nothing, nothing, terms)
    for j in range(ng):
        spread[j] = ROUNDING_OF_SLOPES * terms[j]
    # all up, all down, each other one
    for k in range(3):
        for q in range(n):
            width = rounding_of(run, q, y[q])
            point[q] = y[q] + (width if k == 0 or (k == 2 and q % 2 == 0) else -width)
        if derivatives(run, t * (1.0 + ROUNDING), run.trial_stage_at, run.trial_rate_at) != 0:
            return
        guard_slopes(run, t, point, rate, other)
        for j in range(ng):
            spread[j] += 2.0 * abs(other[j] - slopes[j])
    for j in range(ng):
        if sides[j] == ASKED and abs(slopes[j]) > spread[j]:
            sides[j] = LEAVES_UP if slopes[j] > 0.0 else LEAVES_DOWN


@native
def _is_known_after(run, t, sides, tau, has_series):
    """Look at the guards after tau; True if no side is still to be asked."""
    code = _look_along_series(run, t, tau) if has_series else _look_ahead(run, t, tau)
    if code != 0:
        return False
    return not _judge(run, sides, tau)


@native
def _follow(run, t, sides):
    """Follow the trajectory for ever shorter whiles until every side is known, as far as one can see."""
    tau = run.step_before_event
    has_series = run.hook_ahead != 0 and call_hook(run.hook_ahead, run.h, run.r, t, 1) == 0
    if _is_known_after(run, t, sides, _LONGER * tau, has_series):
        return
    for _ in range(_MOST_WHILES):
        if t + tau == t or _is_known_after(run, t, sides, tau, has_series):
            break
        tau *= _SHRINK


@native
def _was_answered(run, t, sides):
    """Take the sides from the last time they were asked for, if that was for the same point in the same mode."""
    if run.answered_t != t:
        return False
    for q in range(run.n):
        if run.answered_y[q] != run.y[q]:
            return False
    for k in range(run.n_m):
        if run.answered_m[k] != run.m[k]:
            return False
    for j in range(run.n_guards):
        if sides[j] == ASKED and run.answers[j] == ASKED:
            return False
    for j in range(run.n_guards):
        if sides[j] == ASKED:
            sides[j] = int(run.answers[j])
    return True


@native
def _keep_answers(run, t, sides):
    """Remember the answers for those who ask again; ASKED stands for who has not asked."""
    run.answered_t = t
    for q in range(run.n):
        run.answered_y[q] = run.y[q]
    for k in range(run.n_m):
        run.answered_m[k] = run.m[k]
    for j in range(run.n_guards):
        was_asked = run.answers[j] == ASKED
        run.answers[j] = ASKED if not was_asked else _known(sides[j]) if sides[j] >= ASKED else sides[j]


@kernel_entry(NUMBER, INTEGER)
def leaving_sides(run, t, only_slopes):
    """Answer where every guard goes whose side is ASKED; guards, slopes, round-off levels and y' must be those of the point."""
    ng = run.n_guards
    sides = run.sides
    any_asked = False
    moving = False
    for j in range(ng):
        any_asked = any_asked or sides[j] == ASKED
        moving = moving or (sides[j] == ASKED and run.slopes[j] != 0.0)
    if moving or (any_asked and only_slopes == 0):
        _slopes_decide(run, t, sides)
    more = False
    for j in range(ng):
        if sides[j] == ASKED and only_slopes == 1:
            sides[j] = RESTS
        more = more or sides[j] == ASKED
    if more and run.step_before_event > 0.0 and not _was_answered(run, t, sides):
        for j in range(ng):
            run.answers[j] = sides[j]
        _follow(run, t, sides)
        _keep_answers(run, t, sides)
    for j in range(ng):
        if sides[j] >= ASKED:
            sides[j] = _known(sides[j])
    return 0
