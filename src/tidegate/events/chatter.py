"""Zeno behaviour and chattering: events that pile up although each of them is settled.

Intervals between events that shrink by a steady factor accumulate at a finite time; two are taken together, since two conditions may take turns. A
guard that an event throws back, but not farther than its own rounding or than the method can follow, has got there; one that an event stops
altogether came to rest and would go on through it. Events without time between them, or thousands in a row between which the guard does not get out
of its own rounding, are chattering.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    CHATTERING,
    FAILED_GUARD,
    FIRST_DISCRETE,
    I_KIND,
    I_MODE,
    I_SIDE,
    INTERVAL_2,
    INTERVAL_3,
    LAST_EVENT,
    LAST_FACTOR,
    LAST_INTERVAL,
    N_D,
    N_G,
    O_ACT,
    O_G,
    O_GT,
    O_M,
    O_MOLD,
    O_NU,
    O_NUSTART,
    O_TRIAL,
    O_W3,
    O_Y,
    O_YDOT,
    O_YDOTM,
    O_YNEW,
    O_YOLD,
    RELATION,
    SAME_TIME,
    SHRINK_FROM,
    SHRINKING,
    STARTS_COARSE,
    STILL_EVENTS,
    TIME_SIZE,
    ZENO,
    ZENO_TIME,
    N,
    integers,
    tail,
    vector,
)
from tidegate.events.guards import guard_slopes
from tidegate.events.restart import derivatives
from tidegate.events.schedule import is_same_time
from tidegate.events.settle import anything_happened
from tidegate.events.time_scale import time_scale
from tidegate.events.touch import guard_reach

__all__ = ["bounces_below_noise", "goes_on_through", "note_event_time"]

_MOST_AT_ONE_TIME: Final = 100
_STEADY: Final = 4  # intervals in a row that shrink by the same factor before it is believed
_SAME_FACTOR: Final = 0.05  # relative difference of two factors that are one
_SHRINKS: Final = 0.999  # factor of two intervals below which the later is the shorter
_ZENO_PART: Final = 1e-7  # of the time since intervals began to shrink: an accumulation nearer than this is there
_ROUNDINGS: Final = 256 * 2.220446049250313e-16  # of the time: shorter intervals are made of them
_FAR_APART: Final = 1e6  # two intervals in a row that an accumulation shrinks differ by less
_MOST_IN_A_ROW: Final = 2000
_FAINT: Final = 100.0  # noises: a bounce lower than this is fed by rounding
_LITTLE: Final = 1e-9  # of the speed before: a guard that is no faster after an event was stopped by it
_SHORT: Final = 1e-7  # of the time scale: over it the rate of the guard's rate is measured


@native
def note_event_time(h, r, t, guard):
    """Account for an event at t, of the guard that crossed there or -1, with y' before it in O_YDOTM; 0, CHATTERING or ZENO."""
    interval = t - r[LAST_EVENT]
    if is_same_time(r, t, r[LAST_EVENT]):
        h[SAME_TIME] += 1
        return CHATTERING if h[SAME_TIME] > _MOST_AT_ONE_TIME else 0
    h[SAME_TIME] = 0
    last = r[LAST_INTERVAL]
    code = 0
    two = interval + last
    factor = two / (r[INTERVAL_2] + r[INTERVAL_3]) if r[INTERVAL_3] > 0.0 else 1.0
    if not factor < _SHRINKS:
        r[SHRINK_FROM] = t
    if factor < _SHRINKS and abs(factor - r[LAST_FACTOR]) <= _SAME_FACTOR * factor:
        h[SHRINKING] += 1
        r[ZENO_TIME] = t + two * factor / (1.0 - factor)
        is_there = r[ZENO_TIME] - t < _ZENO_PART * (t - r[SHRINK_FROM])
        if guard >= 0 and not is_there:
            # one short interval alone is two conditions at one instant
            least = _least_interval(h, r, t, guard)
            is_there = interval < least and last < _FAR_APART * least
        if h[SHRINKING] >= _STEADY and is_there:
            code = ZENO
    else:
        h[SHRINKING] = 0
    r[LAST_FACTOR] = factor
    r[INTERVAL_3] = r[INTERVAL_2]
    r[INTERVAL_2] = last
    if guard >= 0 and interval < _least_interval(h, r, t, guard):
        h[STILL_EVENTS] += 1
        if h[STILL_EVENTS] > _MOST_IN_A_ROW:
            code = CHATTERING
    else:
        h[STILL_EVENTS] = 0
    r[LAST_EVENT] = t
    r[LAST_INTERVAL] = interval
    return code


@native
def _least_interval(h, r, t, guard):
    """How long a guard is on its way that comes from no farther than its own noise: of such intervals chattering is made, however fast it is."""
    slopes = vector(r, h[O_GT], h[N_G])
    guard_slopes(h, r, t, tail(r, h[O_Y]), tail(r, h[O_YDOTM]), slopes)
    least = _ROUNDINGS * max(abs(t), r[TIME_SIZE])
    noise = max(r[h[O_NU] + guard], r[h[O_NUSTART] + guard])
    if noise < np.inf and abs(slopes[guard]) > 0.0:
        least = max(least, _FAINT * noise / abs(slopes[guard]))
    return least


@native
def _least_height(h, r, t, guard):
    """How high a bounce must be for the method to follow it."""
    least = _FAINT * r[h[O_NUSTART] + guard]
    if h[STARTS_COARSE] == 1:
        reach = vector(r, h[O_GT], h[N_G])
        guard_reach(h, r, t, vector(r, h[O_Y], h[N]), reach)
        least = max(least, reach[guard])
    return least


@native
def bounces_below_noise(h, r, t, guard):
    """True if an event has brought its guard to rest at zero, and the motion would go on as if nothing were there.

    Either it threw the guard back, but so faintly that it returns before it has left its own noise, and events accumulate (ZENO_TIME is t); or
    it stopped it there altogether (ZENO_TIME is NaN).
    """
    ng = h[N_G]
    n = h[N]
    place = integers(h, h[I_MODE], ng)[guard]
    if integers(h, h[I_KIND], ng)[guard] != RELATION:
        return False
    slopes = vector(r, h[O_GT], ng)
    side = 1.0 if r[h[O_M] + place] != 0.0 else -1.0
    guard_slopes(h, r, t, tail(r, h[O_Y]), tail(r, h[O_YDOT]), slopes)
    away = side * slopes[guard]
    stopped = r[h[O_M] + place] != r[h[O_MOLD] + place]
    if stopped and not _was_stopped(h, r, t, guard, side, away):
        return False
    if not stopped and not (away > 0.0 and anything_happened(h, r)):
        return False  # nothing threw it back: it has only touched zero
    scale = time_scale(h, r, h[O_YDOT])
    short = _SHORT * scale
    ahead = vector(r, h[O_YNEW], n)
    rate = vector(r, h[O_W3], n)
    for q in range(n):
        ahead[q] = r[h[O_Y] + q] + short * r[h[O_YDOT] + q]
    if derivatives(h, r, t + short, h[O_YNEW], h[O_W3]) != 0:
        return False
    guard_slopes(h, r, t + short, ahead, rate, slopes)
    braking = (away - side * slopes[guard]) / short
    if stopped:
        # on the far side already: it falls through if it gathers speed there
        if not -braking * scale * scale > _FAINT * r[h[O_NUSTART] + guard]:
            return False
    elif not braking > 0.0 or away * away >= 2.0 * braking * _least_height(h, r, t, guard):
        return False
    r[ZENO_TIME] = np.nan if stopped else t
    h[FAILED_GUARD] = guard
    return True


@native
def _was_stopped(h, r, t, guard, side, after):
    """True if a body took away the speed of the guard, which was clear, and nothing but states has changed."""
    slopes = vector(r, h[O_GT], h[N_G])
    noise = r[h[O_NUSTART] + guard]
    first = h[FIRST_DISCRETE]
    for q in range(first, first + h[N_D]):
        if r[h[O_M] + q] != r[h[O_MOLD] + q]:
            return False  # whoever notes what has happened may mean to go on
    short = _SHORT * time_scale(h, r, h[O_YDOTM])
    if not anything_happened(h, r) or not abs(after) * short <= noise:
        return False
    guard_slopes(h, r, t, tail(r, h[O_YOLD]), tail(r, h[O_YDOTM]), slopes)
    before = side * slopes[guard]
    return before * short > _FAINT * noise and abs(after) <= _LITTLE * before


@native
def goes_on_through(h, r):
    """True if a round sets a guard moving again that a clause had stopped, or thrown back, right on its far side: no edge would tell that it goes on.

    Of spheres one of which is pushed again into another that it lies against, at this instant or later. The guards, their slopes and y' must be those
    after the round, and those of before the event must have been noted.
    """
    ng = h[N_G]
    kind = integers(h, h[I_KIND], ng)
    mode = integers(h, h[I_MODE], ng)
    held = integers(h, h[I_SIDE] + 2 * ng, ng)
    fired = anything_happened(h, r)
    noted = False
    for q in range(h[FIRST_DISCRETE], h[FIRST_DISCRETE] + h[N_D]):
        noted = noted or r[h[O_M] + q] != r[h[O_MOLD] + q]
    before = h[O_TRIAL] + 7 * h[N] + 5 * ng
    scale_before = time_scale(h, r, h[O_YDOTM])
    scale = time_scale(h, r, h[O_YDOT])
    for j in range(ng):
        now = 1 if r[h[O_M] + mode[j]] != 0.0 else 2
        clear = _FAINT * r[h[O_NUSTART] + j]
        if kind[j] != RELATION or held[j] != now or not abs(r[h[O_G] + j]) <= clear:
            held[j] = 0
        if kind[j] != RELATION or not abs(r[h[O_G] + j]) <= clear:
            continue
        far = 1.0 if now == 1 else -1.0
        goes_on = far * r[h[O_GT] + j] * scale > clear
        if held[j] == now and goes_on:
            h[FAILED_GUARD] = j
            r[ZENO_TIME] = np.nan
            return True
        flipped = r[h[O_MOLD] + mode[j]] != r[h[O_M] + mode[j]]
        if fired and not noted and flipped and not goes_on and r[h[O_ACT] + j] != 0.0 and far * r[before + j] * scale_before > clear:
            held[j] = now
    return False
