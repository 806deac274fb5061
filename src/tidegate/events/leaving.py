"""Where a trajectory goes from a guard's zero: to one side, to the other, or nowhere (stage: events, at a point that an event has made consistent).

In: a point with its derivatives, and guards that lie within their noise there. Out: for each the sign of the first derivative along the trajectory
that does not vanish, or 0 where it rests. A slope decides if it is larger than what the rounding of the point makes of it. Else the trajectory is
followed for a while in the mode that holds, by Runge and Kutta's method in one step and in two, and for ever shorter whiles as long as the guard gets
out of its noise by more than the two differ: what is seen last is what follows first.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import NUMBER, WHOLE, native, unit
from tidegate.compiled.workspace import (
    F_GUARDS,
    F_SCALE,
    I_ALGEBRAIC,
    I_SIDE,
    MASS_KIND,
    N_G,
    N_M,
    O_ASKED,
    O_ATOL,
    O_G,
    O_GT,
    O_M,
    O_NUSTART,
    O_P,
    O_TRIAL,
    O_Y,
    O_YDOT,
    O_YMAX,
    O_ZERO,
    RANK,
    RTOL,
    STEP_BEFORE_EVENT,
    N,
    integers,
    tail,
    vector,
)
from tidegate.events.guards import guard_slopes
from tidegate.events.restart import derivatives

__all__ = ["ASKED", "LEAVES_DOWN", "LEAVES_UP", "RESTS", "leaving_sides"]

RESTS: Final = 0
LEAVES_UP: Final = 1
LEAVES_DOWN: Final = -1
ASKED: Final = 2  # not known yet, and so far nothing seen
_SEEN_UP: Final = 3  # not known yet; for the time looked at last it was up
_SEEN_DOWN: Final = 4

_EPS: Final = 2.220446049250313e-16
_ROUNDINGS: Final = 32.0  # units in the last place of a slope's terms that mean nothing
_SHRINK: Final = 0.125  # from one while to the next
_MOST_WHILES: Final = 24
_LONGER: Final = 64.0  # steps: a guard that rests over one step is looked at over so many more
_CLEAR: Final = 2.0  # noises


@native
def _stride(h, r, t, start, first, end, tau):
    """Runge and Kutta's step over tau from the point at offset ``start``, where y' is at ``first``, into ``end``; 0 or the reason of failure."""
    n = h[N]
    stage = h[O_TRIAL] + 2 * n
    rate = stage + n
    total = rate + n
    for q in range(n):
        r[total + q] = r[first + q]
        r[stage + q] = r[start + q] + 0.5 * tau * r[first + q]
    for k in range(3):
        code = derivatives(h, r, t + (tau if k == 2 else 0.5 * tau), stage, rate)
        if code != 0:
            return code
        if k == 2:
            break
        part = tau if k == 1 else 0.5 * tau
        for q in range(n):
            r[total + q] += 2.0 * r[rate + q]
            r[stage + q] = r[start + q] + part * r[rate + q]
    for q in range(n):
        r[end + q] = r[start + q] + tau / 6.0 * (r[total + q] + r[rate + q])
    return 0


@native
def _guards_at(h, r, t, point, out):
    call_value(h[F_GUARDS], t, tail(r, point), tail(r, h[O_P]), tail(r, h[O_M]), vector(r, out, h[N_G]))


@native
def _look_ahead(h, r, t, tau):
    """Guards after tau in one step, and after half of it and all of it in two, behind the points of O_TRIAL; 0 or the reason of failure."""
    n = h[N]
    ng = h[N_G]
    middle = h[O_TRIAL]
    end = middle + n
    guards = middle + 7 * n
    code = _stride(h, r, t, h[O_Y], h[O_YDOT], end, tau)
    if code != 0:
        return code
    _guards_at(h, r, t + tau, end, guards)
    half = 0.5 * tau
    code = _stride(h, r, t, h[O_Y], h[O_YDOT], middle, half)
    if code != 0:
        return code
    _guards_at(h, r, t + half, middle, guards + ng)
    code = derivatives(h, r, t + half, middle, end)
    if code == 0:
        code = _stride(h, r, t + half, middle, end, end, half)
    if code == 0:
        _guards_at(h, r, t + tau, end, guards + 2 * ng)
    return code


@native
def _judge(h, r, sides):
    """Take what the guards are after a while into ``sides``; True if any of them is still to be asked."""
    ng = h[N_G]
    whole = vector(r, h[O_TRIAL] + 7 * h[N], ng)
    half = vector(r, h[O_TRIAL] + 7 * h[N] + ng, ng)
    end = vector(r, h[O_TRIAL] + 7 * h[N] + 2 * ng, ng)
    more = False
    for j in range(ng):
        if sides[j] < ASKED:
            continue
        here = r[h[O_G] + j]
        noise = r[h[O_NUSTART] + j]
        if half[j] == here and end[j] == here and whole[j] == here:
            still = True
            moves = False
        else:
            doubt = abs(end[j] - whole[j])
            margin = _CLEAR * (noise + doubt)
            moves = abs(end[j]) > margin and (abs(half[j]) <= _CLEAR * noise or (half[j] > 0.0) == (end[j] > 0.0))
            still = doubt <= noise and abs(end[j]) <= margin and abs(half[j]) <= margin
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
def _slopes_decide(h, r, t, sides):
    """The side where the slope of a guard is larger than what rounding of time and unknowns makes of it."""
    n = h[N]
    ng = h[N_G]
    slopes = vector(r, h[O_GT], ng)
    point = h[O_TRIAL] + 2 * n
    rate = point + n
    other = vector(r, h[O_TRIAL] + 7 * n, ng)
    terms = vector(r, h[O_TRIAL] + 7 * n + ng, ng)
    spread = vector(r, h[O_TRIAL] + 7 * n + 2 * ng, ng)
    algebraic = integers(h, h[I_ALGEBRAIC], n)
    nothing = tail(r, h[O_ZERO])
    y = vector(r, h[O_Y], n)
    # where rates come out of a linear system, each of them has the rounding of the fastest
    fastest = 0.0
    if h[RANK] < n or h[MASS_KIND] == 2:
        for q in range(n):
            fastest = max(fastest, abs(r[h[O_YDOT] + q]) / max(r[h[O_YMAX] + q], abs(y[q]), r[h[O_ATOL] + q] / r[RTOL]))
    for q in range(n):
        r[rate + q] = max(abs(r[h[O_YDOT] + q]), fastest * max(r[h[O_YMAX] + q], abs(y[q]), r[h[O_ATOL] + q] / r[RTOL]))
    call_tangent(h[F_SCALE], t, y, vector(r, h[O_ZERO], n), tail(r, h[O_P]), tail(r, h[O_M]), 1.0, tail(r, rate), nothing, nothing, terms)
    for j in range(ng):
        spread[j] = _ROUNDINGS * _EPS * terms[j]
    for k in range(2):
        for q in range(n):
            size = max(r[h[O_YMAX] + q], abs(y[q]), r[h[O_ATOL] + q] / r[RTOL])
            width = (128 if algebraic[q] == 1 else 16) * _EPS * size
            r[point + q] = y[q] + (width if k == 0 or q % 2 == 0 else -width)
        if derivatives(h, r, t * (1.0 + 16 * _EPS), point, rate) != 0:
            return
        guard_slopes(h, r, t, tail(r, point), tail(r, rate), other)
        for j in range(ng):
            spread[j] += 2.0 * abs(other[j] - slopes[j])
    for j in range(ng):
        if sides[j] == ASKED and abs(slopes[j]) > spread[j]:
            sides[j] = LEAVES_UP if slopes[j] > 0.0 else LEAVES_DOWN


@native
def _follow(h, r, t, sides):
    """Follow the trajectory for ever shorter whiles until every side is known, as far as one can see."""
    tau = r[STEP_BEFORE_EVENT]
    if _look_ahead(h, r, t, _LONGER * tau) == 0 and not _judge(h, r, sides):
        return
    for _ in range(_MOST_WHILES):
        if t + tau == t:
            break
        if _look_ahead(h, r, t, tau) == 0 and not _judge(h, r, sides):
            break
        tau *= _SHRINK


@native
def _was_answered(h, r, t, sides):
    """Take the sides from the last time they were asked for, if that was for the same point in the same mode."""
    n = h[N]
    n_m = h[N_M]
    place = h[O_ASKED]
    if r[place] != t:
        return False
    for q in range(n):
        if r[place + 1 + q] != r[h[O_Y] + q]:
            return False
    for k in range(n_m):
        if r[place + 1 + n + k] != r[h[O_M] + k]:
            return False
    place += 1 + n + n_m
    for j in range(h[N_G]):
        if sides[j] == ASKED and r[place + j] == ASKED:
            return False
    for j in range(h[N_G]):
        if sides[j] == ASKED:
            sides[j] = int(r[place + j])
    return True


@native
def _keep_answers(h, r, t, sides):
    """Remember the answers for those who ask again; ASKED stands for who has not asked."""
    n = h[N]
    n_m = h[N_M]
    place = h[O_ASKED]
    r[place] = t
    for q in range(n):
        r[place + 1 + q] = r[h[O_Y] + q]
    for k in range(n_m):
        r[place + 1 + n + k] = r[h[O_M] + k]
    place += 1 + n + n_m
    for j in range(h[N_G]):
        was_asked = r[place + j] == ASKED
        r[place + j] = ASKED if not was_asked else _known(sides[j]) if sides[j] >= ASKED else sides[j]


@unit(NUMBER, WHOLE)
def leaving_sides(h, r, t, only_slopes):
    """Answer where every guard goes whose side is ASKED; guards, slopes, noise and y' must be those of the point."""
    ng = h[N_G]
    sides = integers(h, h[I_SIDE], ng)
    moving = False
    for j in range(ng):
        moving = moving or (sides[j] == ASKED and r[h[O_GT] + j] != 0.0)
    if moving:
        _slopes_decide(h, r, t, sides)
    more = False
    for j in range(ng):
        if sides[j] == ASKED and only_slopes == 1:
            sides[j] = RESTS
        more = more or sides[j] == ASKED
    if more and r[STEP_BEFORE_EVENT] > 0.0 and not _was_answered(h, r, t, sides):
        for j in range(ng):
            r[h[O_ASKED] + 1 + h[N] + h[N_M] + j] = sides[j]
        _follow(h, r, t, sides)
        _keep_answers(h, r, t, sides)
    for j in range(ng):
        if sides[j] >= ASKED:
            sides[j] = _known(sides[j])
    return 0
