"""Guards that come down to zero within the tolerances and turn back: contacts of which nobody can say whether they are crossings.

Looked for where sensitivities are asked for, since none exists there. In: a step's polynomial and its earliest crossing, if there is one. Out, at the
end of m: the first contact of the run, and how fast a guard must cross to be sure of it. Only a guard that falls at the start and rises at the end of
a piece has a lowest point in between.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    DEGREE,
    F_GUARDS,
    F_GUARDS_T,
    F_SCALE,
    I_KIND,
    I_MODE,
    I_TIME,
    IS_FIRST,
    N_G,
    N_M,
    O_A,
    O_ACT,
    O_ATOL,
    O_G,
    O_GC,
    O_GT,
    O_M,
    O_NOISE,
    O_NUSTART,
    O_P,
    O_W,
    O_W2,
    O_YMAX,
    O_ZERO,
    RELATION,
    RTOL,
    N,
    integers,
    matrix,
    tail,
    vector,
)

__all__ = ["guard_reach", "note_contacts"]

_HALVINGS: Final = 30  # of the part of a step that holds the lowest point; the value there is flat
_STILL: Final = 0.01  # of the slope at the start: a guard that has become so slow is at its lowest point
_PIECES: Final = 8  # of a step, each with one lowest point at most
_ROUNDINGS: Final = 16.0  # noises of a guard below which its distance from zero means nothing


@native
def guard_reach(h, r, t, y, out):
    """How far the tolerances of the unknowns may move each guard."""
    n = h[N]
    width = vector(r, h[O_NOISE], n)
    nothing = tail(r, h[O_ZERO])
    for q in range(n):
        width[q] = r[h[O_ATOL] + q] + r[RTOL] * r[h[O_YMAX] + q]
    call_tangent(h[F_SCALE], t, y, vector(r, h[O_ZERO], n), tail(r, h[O_P]), tail(r, h[O_M]), 0.0, width, nothing, nothing, out)


@native
def _slopes_at(h, r, t, step, y, theta, slopes):
    """Change of every guard by theta at a point of the step, the point itself left in O_W."""
    n = h[N]
    degree = h[DEGREE]
    a = matrix(r, h[O_A], degree, n)
    point = vector(r, h[O_W], n)
    rate = vector(r, h[O_W2], n)
    nothing = tail(r, h[O_ZERO])
    for q in range(n):
        x = 0.0
        v = 0.0
        for k in range(degree - 1, -1, -1):
            x = (x + a[k, q]) * theta
            v = v * theta + (k + 1) * a[k, q]
        point[q] = y[q] + x
        rate[q] = v
    call_tangent(h[F_GUARDS_T], t + theta * step, point, nothing, tail(r, h[O_P]), tail(r, h[O_M]), step, rate, nothing, nothing, slopes)


@native
def _note_touch(h, r, t, step, y, lower, upper, found):
    """Look at one piece of the step; the slopes at its start are in O_GC, and are replaced by those at its end."""
    note = h[O_M] + h[N_M] - 3
    ng = h[N_G]
    if r[note] != 0.0:
        return
    falls = vector(r, h[O_GC], ng)
    late = vector(r, h[O_GC] + ng, ng)
    reach = vector(r, h[O_GC] + 2 * ng, ng)
    here = vector(r, h[O_GT], ng)
    before = vector(r, h[O_G], ng)
    of_time = integers(h, h[I_TIME], ng)
    kind = integers(h, h[I_KIND], ng)
    mode = integers(h, h[I_MODE], ng)
    _slopes_at(h, r, t, step, y, upper, late)
    for j in range(ng):
        if j == found or r[h[O_ACT] + j] == 0.0 or of_time[j] == 1:
            continue
        sign = 1.0 if kind[j] != RELATION or r[h[O_M] + mode[j]] != 0.0 else -1.0
        # it turns in between, or just about at the end
        if not (sign * falls[j] < 0.0 and sign * late[j] > _STILL * sign * falls[j]):
            continue
        low = lower
        high = upper
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            _slopes_at(h, r, t, step, y, middle, here)
            if sign * here[j] < 0.0:
                low = middle
            else:
                high = middle
        _slopes_at(h, r, t, step, y, high, here)
        point = vector(r, h[O_W], h[N])
        guard_reach(h, r, t + high * step, point, reach)
        call_value(h[F_GUARDS], t + high * step, point, tail(r, h[O_P]), tail(r, h[O_M]), here)
        rounding = _ROUNDINGS * r[h[O_NUSTART] + j]
        within = reach[j] + rounding
        # a guard that is at zero from the start of a mode on comes from there, not to it
        came = within if h[IS_FIRST] == 1 else rounding
        # at the end it may still be on its way: down to here and no further
        ahead = min(sign * late[j], 0.0) ** 2 * 0.5 * (upper - lower) / (sign * (late[j] - falls[j]))
        if sign * here[j] <= within and sign * here[j] - ahead >= -within and sign * before[j] > came:
            r[note] = j + 1.0
            r[note + 1] = t + high * step
            return
    for j in range(ng):
        falls[j] = late[j]


@native
def _least_slope(h, r, t, step, y, guard, theta):
    """Square of the slope that a guard must have where it crosses at theta, were it moved back by what the tolerances allow and still crossed.

    Its bend is taken from the part of the step before theta, or, where it crosses at the very start, from what comes.
    """
    ng = h[N_G]
    slopes = vector(r, h[O_GC] + ng, ng)
    reach = vector(r, h[O_GC] + 2 * ng, ng)
    beside = 0.5 * theta if theta > 0.0 else 0.5
    _slopes_at(h, r, t, step, y, beside, slopes)
    other = slopes[guard]
    _slopes_at(h, r, t, step, y, theta, slopes)
    bend = abs((slopes[guard] - other) / (theta - beside)) / (step * step)
    guard_reach(h, r, t + theta * step, vector(r, h[O_W], h[N]), reach)
    return 2.0 * bend * (reach[guard] + _ROUNDINGS * r[h[O_NUSTART] + guard])


@native
def note_contacts(h, r, t, step, y, upper, found):
    """At the end of m: the first contact of the run up to ``upper``, and how fast the guard that was found there must be to cross for certain.

    The coefficients of the guards must be in O_GC.
    """
    if upper > 0.0:
        # in a long step a guard may turn more than once
        for k in range(_PIECES):
            _note_touch(h, r, t, step, y, upper * k / _PIECES, upper * (k + 1) / _PIECES, found)
    if found >= 0:
        r[h[O_M] + h[N_M] - 1] = _least_slope(h, r, t, step, y, found, upper)
