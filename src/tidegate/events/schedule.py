"""Time events: the next scheduled instant, computed and never searched, and which events are due at it."""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    F_TIMES,
    FIRST_COUNT,
    FIRST_FIRE,
    I_FLIPPED,
    I_TIME,
    N_FIRE,
    N_G,
    N_TIMES,
    O_ACT,
    O_M,
    O_P,
    O_TIMES,
    O_Y,
    T_END,
    T_NEXT,
    T,
    integers,
    tail,
    vector,
)

__all__ = ["is_same_time", "mark_due", "schedule", "skip_past"]

_EPS: Final = 2.220446049250313e-16
_SAME: Final = 8 * _EPS  # relative distance of two times that are one


@native
def is_same_time(a, b):
    """True if two times differ by rounding only."""
    return abs(a - b) <= _SAME * max(abs(a), abs(b)) and abs(a) < 1e300


@native
def schedule(h, r, first):
    """Set T_NEXT to the next time event or the end of the run. At the very start (``first``) an event may be due at once."""
    n_times = h[N_TIMES]
    t = r[T]
    r[T_NEXT] = r[T_END]
    if n_times == 0:
        return
    ng = h[N_G]
    times = vector(r, h[O_TIMES], n_times)
    call_value(h[F_TIMES], t, tail(r, h[O_Y]), tail(r, h[O_P]), tail(r, h[O_M]), times)
    active = vector(r, h[O_ACT], max(ng, 1))
    for k in range(n_times):
        when = times[k]
        if k < ng:
            # a relation that has this time behind it stays as it is
            if active[k] == 0.0 or not when > t or is_same_time(when, t):
                continue
        elif not (when > t or (first and is_same_time(when, t))) or (is_same_time(when, t) and not first):
            continue
        if when < r[T_NEXT]:  # noqa: PLR1730, min would let a NaN through
            r[T_NEXT] = when
    if is_same_time(r[T_NEXT], r[T_END]):
        # what is left behind the event would be no step
        r[T_NEXT] = r[T_END]


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
        if not is_same_time(times[k], t):
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
            is_now = is_same_time(times[k], t)
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
