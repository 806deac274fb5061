"""Which guards cross at one instant, and what their flips are (stage: events, before any clause has looked).

In: the workspace of a run at an event, the guard or the scheduled items that led there. Out: the modes with every flip of this instant in them. Two
crossings that coincide by construction (``x >= 0.5`` and ``y <= 0``, a crossing and a clock, a bound and the quantity that reaches it) are found a
rounding apart: a guard within its noise of zero that leaves to its other side crosses now and not a rounding later (``events.truth`` finds them). One
whose expression is another one after the flips has not crossed: ``min(x, 0)`` reaches zero together with x, and rests there.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    F_GUARDS,
    I_FLIPPED,
    I_KIND,
    I_MODE,
    I_SIDE,
    I_STRICT,
    LOWER,
    N_G,
    O_ASKED,
    O_G,
    O_GT,
    O_LEFT,
    O_M,
    O_MOLD,
    O_NUSTART,
    O_P,
    O_TRIAL,
    O_Y,
    O_YDOT,
    RELATION,
    N,
    integers,
    tail,
    vector,
)
from tidegate.events.guards import guard_slopes
from tidegate.events.restart import derivatives

__all__ = ["flip_crossed", "forget_where_guards_left", "is_untouched", "margin_of", "note_guards", "note_left", "take_back_replaced", "zero_margin"]

_TIME_ROUNDING: Final = 8 * 2.220446049250313e-16


@native
def forget_where_guards_left(h, r):
    """No guard has left its written truth at this instant, as far as is known, and nobody has asked where they go."""
    r[h[O_ASKED]] = np.nan
    for j in range(h[N_G]):
        r[h[O_LEFT] + j] = np.nan


@native
def zero_margin(t, noise, slope):
    """Within this a guard is at zero: its noise, and what it runs through within the rounding of time."""
    return noise + _TIME_ROUNDING * abs(t * slope)


@native
def margin_of(h, r, t, j):
    """Likewise, of guard j."""
    return zero_margin(t, r[h[O_NUSTART] + j], r[h[O_GT] + j])


@native
def note_left(h, r, guard):
    """Remember where a guard lies that has left its written truth; for a piece that was left downwards where the upper edge of the next one lies."""
    if integers(h, h[I_KIND], h[N_G])[guard] == RELATION:
        r[h[O_LEFT] + guard] = r[h[O_G] + guard]
        return
    mode = integers(h, h[I_MODE], h[N_G])
    for k in range(h[N_G]):
        if mode[k] == mode[guard] and k != guard:
            r[h[O_LEFT] + k] = -r[h[O_G] + guard]


@native
def note_guards(h, r, t):
    """Remember the point of the event, y', guards and their slopes in the mode before it."""
    n = h[N]
    ng = h[N_G]
    y = vector(r, h[O_Y], n)
    place = h[O_TRIAL] + 7 * n + 4 * ng
    derivatives(h, r, t, h[O_Y], h[O_YDOT])
    for q in range(n):
        r[h[O_TRIAL] + 5 * n + q] = y[q]
        r[h[O_TRIAL] + 6 * n + q] = r[h[O_YDOT] + q]
    call_value(h[F_GUARDS], t, y, tail(r, h[O_P]), tail(r, h[O_M]), vector(r, place, ng))
    guard_slopes(h, r, t, y, vector(r, h[O_YDOT], n), vector(r, place + ng, ng))


@native
def is_untouched(h, r, j):
    """True if neither a guard nor its slope is other than before the event."""
    place = h[O_TRIAL] + 7 * h[N] + 4 * h[N_G] + j
    return r[place] == r[h[O_G] + j] and r[place + h[N_G]] == r[h[O_GT] + j]


@native
def _flip(h, r, j):
    """The other truth of a relation, the next piece of a number of pieces."""
    place = h[O_M] + integers(h, h[I_MODE], h[N_G])[j]
    kind = integers(h, h[I_KIND], h[N_G])[j]
    if kind == RELATION:
        r[place] = 1.0 - r[place]
        if r[place] == integers(h, h[I_STRICT], h[N_G])[j]:
            note_left(h, r, j)
        return
    r[place] += -1.0 if kind == LOWER else 1.0
    if kind == LOWER:
        note_left(h, r, j)


@native
def take_back_replaced(h, r, t):
    """Take back the flips of guards whose expressions are others since the rest flipped: they have not crossed, and are decided anew."""
    n = h[N]
    ng = h[N_G]
    crossed = integers(h, h[I_SIDE] + ng, ng)
    mode = integers(h, h[I_MODE], ng)
    y = vector(r, h[O_TRIAL] + 5 * n, n)
    for j in range(ng):
        if crossed[j] == 0:
            continue
        place = h[O_M] + mode[j]
        flipped = r[place]
        r[place] = r[h[O_MOLD] + mode[j]]
        call_value(h[F_GUARDS], t, y, tail(r, h[O_P]), tail(r, h[O_M]), vector(r, h[O_G], ng))
        # with y' of before only the expressions differ
        guard_slopes(h, r, t, y, vector(r, h[O_TRIAL] + 6 * n, n), vector(r, h[O_GT], ng))
        if is_untouched(h, r, j):
            r[place] = flipped
        else:
            crossed[j] = 0
            r[h[O_LEFT] + j] = np.nan


@native
def flip_crossed(h, r, t):
    """Flip the guards that crossed or fell due, and remember which they were."""
    ng = h[N_G]
    flipped = integers(h, h[I_FLIPPED], ng)
    crossed = integers(h, h[I_SIDE] + ng, ng)
    call_value(h[F_GUARDS], t, vector(r, h[O_Y], h[N]), tail(r, h[O_P]), tail(r, h[O_M]), vector(r, h[O_G], ng))
    for j in range(ng):
        crossed[j] = flipped[j]
        if flipped[j] == 1:
            flipped[j] = 0
            _flip(h, r, j)
