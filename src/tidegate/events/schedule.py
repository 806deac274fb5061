"""Time events: the next scheduled instant, computed and never searched, and which events are due at it."""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    ENDS_HARD,
    F_TIMES,
    FIRST_COUNT,
    FIRST_FIRE,
    I_CLOCK,
    I_FLIPPED,
    I_TIME,
    N_FIRE,
    N_G,
    N_STOPS,
    N_TIMES,
    NEVER,
    O_ACT,
    O_FIRED,
    O_M,
    O_P,
    O_STOPS,
    O_TIMES,
    O_Y,
    T_END,
    T_NEXT,
    TIME_SIZE,
    T,
    integers,
    tail,
    vector,
)

__all__ = ["is_same_time", "mark_due", "schedule", "skip_past", "stopped_clock"]

_EPS: Final = 2.220446049250313e-16
_SAME: Final = 8 * _EPS  # relative distance of two times that are one


@native
def is_same_time(r, a, b):
    """True if two times differ by rounding only: at their own size, or at that from which the run or its clocks have come near zero."""
    return abs(a - b) <= _SAME * max(abs(a), abs(b), r[TIME_SIZE]) and abs(a) < 1e300


@native
def _note_size(h, r, t, times):
    """Remember how far from zero the clocks that have ticked began: so large is what rounds their times."""
    n_times = h[N_TIMES]
    ng = h[N_G]
    n_clocks = n_times - ng
    if n_clocks == 0:
        return
    counts = vector(r, h[O_M] + h[FIRST_COUNT], n_clocks)
    firsts = vector(r, h[O_TIMES] + n_times, n_times)
    kept = vector(r, h[O_TIMES] + 2 * n_times, n_clocks)
    for k in range(n_clocks):
        kept[k] = counts[k]
        counts[k] = 0.0
    call_value(h[F_TIMES], t, tail(r, h[O_Y]), tail(r, h[O_P]), tail(r, h[O_M]), firsts)
    for k in range(n_clocks):
        counts[k] = kept[k]
        first = abs(firsts[ng + k])
        if firsts[ng + k] != times[ng + k] and r[TIME_SIZE] < first < 1e300:
            r[TIME_SIZE] = first


@native
def schedule(h, r, first):
    """Set T_NEXT to the next time event or stop, which no step may pass. At the very start (``first``) an event may be due at once.

    The end of the run is a place like any other inside a step, unless the model must not be asked for what is behind it.
    """
    n_times = h[N_TIMES]
    t = r[T]
    r[T_NEXT] = r[T_END] if h[ENDS_HARD] == 1 else NEVER
    for k in range(h[N_STOPS]):
        stop = r[h[O_STOPS] + k]
        if stop > t and not is_same_time(r, stop, t):
            r[T_NEXT] = min(r[T_NEXT], stop)
            break
    if n_times == 0:
        return
    ng = h[N_G]
    times = vector(r, h[O_TIMES], n_times)
    call_value(h[F_TIMES], t, tail(r, h[O_Y]), tail(r, h[O_P]), tail(r, h[O_M]), times)
    _note_size(h, r, t, times)
    active = vector(r, h[O_ACT], max(ng, 1))
    for k in range(n_times):
        when = times[k]
        if k < ng:
            # a relation that has this time behind it stays as it is
            if active[k] == 0.0 or not when > t or is_same_time(r, when, t):
                continue
        elif not (when > t or (first and is_same_time(r, when, t))) or (is_same_time(r, when, t) and not first):
            continue
        if when < r[T_NEXT]:  # noqa: PLR1730, min would let a NaN through
            r[T_NEXT] = when
    if h[ENDS_HARD] == 1 and is_same_time(r, r[T_NEXT], r[T_END]):
        # what is left behind the event would be no step
        r[T_NEXT] = r[T_END]


@native
def stopped_clock(h, r, t):
    """The clock among the time events just carried out that would not tick again, although it repeats; -1 if there is none."""
    ng = h[N_G]
    n_clocks = h[N_TIMES] - ng
    if n_clocks <= 0:
        return -1
    times = vector(r, h[O_TIMES], h[N_TIMES])
    fired = vector(r, h[O_FIRED] + h[N_FIRE] - n_clocks, n_clocks)
    repeats = integers(h, h[I_CLOCK], n_clocks)
    looked = False
    for k in range(n_clocks):
        if repeats[k] == 0 or fired[k] == 0.0:
            continue
        if not looked:
            call_value(h[F_TIMES], t, tail(r, h[O_Y]), tail(r, h[O_P]), tail(r, h[O_M]), times)
            looked = True
        if not times[ng + k] > t or is_same_time(r, times[ng + k], t):
            return k
    return -1


@native
def mark_due(h, r, t, apply):
    """Set the fire flags of time events due at t, count them, mark the guards of time that flip; returns the first due item or -1.

    With ``apply`` false it only looks.
    """
    n_times = h[N_TIMES]
    if n_times == 0:
        return -1
    ng = h[N_G]
    times = vector(r, h[O_TIMES], n_times)
    call_value(h[F_TIMES], t, tail(r, h[O_Y]), tail(r, h[O_P]), tail(r, h[O_M]), times)
    of_time = integers(h, h[I_TIME], max(ng, 1))
    flipped = integers(h, h[I_FLIPPED], max(ng, 1))
    first = -1
    n_branches = h[N_FIRE] - (n_times - ng)
    active = vector(r, h[O_ACT], max(ng, 1))
    for k in range(n_times):
        if not is_same_time(r, times[k], t):
            continue
        if k < ng and (of_time[k] == 0 or active[k] == 0.0):
            continue
        if first < 0:
            first = k
        if not apply:
            continue
        if k < ng:
            flipped[k] = 1
        else:
            r[h[O_M] + h[FIRST_FIRE] + n_branches + (k - ng)] = 1.0
            r[h[O_M] + h[FIRST_COUNT] + (k - ng)] += 1.0
    return first


@native
def skip_past(h, r, t, first):
    """Let periodic events whose next times lie before t count up to t; beyond it, too, unless t is the ``first`` time, at which they are due.

    After the start this concerns clocks whose period has just been changed: what would have been at this very instant is past.
    """
    n_times = h[N_TIMES]
    ng = h[N_G]
    if n_times <= ng:
        return
    times = vector(r, h[O_TIMES], n_times)
    for _ in range(100_000_000):
        call_value(h[F_TIMES], t, tail(r, h[O_Y]), tail(r, h[O_P]), tail(r, h[O_M]), times)
        moved = False
        for k in range(ng, n_times):
            is_now = is_same_time(r, times[k], t)
            if (times[k] < t and not is_now) or (is_now and not first):
                before = times[k]
                count = h[O_M] + h[FIRST_COUNT] + (k - ng)
                r[count] += 1.0
                call_value(h[F_TIMES], t, tail(r, h[O_Y]), tail(r, h[O_P]), tail(r, h[O_M]), times)
                period = times[k] - before
                if period > 0.0:
                    r[count] += max(0.0, np.floor((t - times[k]) / period))
                    moved = True
                else:
                    r[count] -= 1.0
        if not moved:
            return
