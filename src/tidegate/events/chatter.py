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
from tidegate.compiled.workspace import CHATTERING, RELATION, ZENO
from tidegate.events.grazing import guard_reach
from tidegate.events.guards import guard_slopes, has_changed
from tidegate.events.leaving import RESTS
from tidegate.events.restart import consistent_point, derivatives
from tidegate.events.schedule import is_same_time
from tidegate.events.settle import anything_happened
from tidegate.events.time_scale import time_scale
from tidegate.events.tolerances import FAINT, SHORT, STOPPED, UNRESOLVED

__all__ = ["bounces_below_roundoff", "goes_on_through", "note_event_time"]

_MOST_AT_ONE_TIME: Final = 100
_STEADY: Final = 4  # intervals in a row that shrink by the same factor before it is believed
_SAME_FACTOR: Final = 0.05  # relative difference of two factors that are one
_SHRINKS: Final = 0.999  # factor of two intervals below which the later is the shorter
_ZENO_PART: Final = 1e-7  # of the time since intervals began to shrink: an accumulation nearer than this is there
_FAR_APART: Final = 1e6  # two intervals in a row that an accumulation shrinks differ by less
_MOST_IN_A_ROW: Final = 2000


@native
def note_event_time(run, t, guard):
    """Account for an event at t, of the guard that crossed there or -1, with y' before it in run.ydot_before; 0, CHATTERING or ZENO.

    How fast the guard crosses is left in run.crosses_with.
    """
    interval = t - run.last_event
    run.crosses_with = 0.0
    if is_same_time(run, t, run.last_event):
        run.same_time += 1
        return CHATTERING if run.same_time > _MOST_AT_ONE_TIME else 0
    run.same_time = 0
    last = run.last_interval
    code = 0
    two = interval + last
    factor = two / (run.interval_2 + run.interval_3) if run.interval_3 > 0.0 else 1.0
    if not factor < _SHRINKS:
        run.shrink_from = t
    least = _least_interval(run, t, guard) if guard >= 0 else 0.0
    if factor < _SHRINKS and abs(factor - run.last_factor) <= _SAME_FACTOR * factor:
        run.shrinking += 1
        run.zeno_time = t + two * factor / (1.0 - factor)
        is_there = run.zeno_time - t < _ZENO_PART * (t - run.shrink_from)
        if guard >= 0 and not is_there:
            # one short interval alone is two conditions at one instant
            is_there = interval < least and last < _FAR_APART * least
        if run.shrinking >= _STEADY and is_there:
            code = ZENO
    else:
        run.shrinking = 0
    run.last_factor = factor
    run.interval_3 = run.interval_2
    run.interval_2 = last
    if interval < least:
        run.still_events += 1
        if run.still_events > _MOST_IN_A_ROW:
            code = CHATTERING
    else:
        run.still_events = 0
    run.last_event = t
    run.last_interval = interval
    return code


@native
def _least_interval(run, t, guard):
    """How long a guard is on its way that comes from no farther than its own round-off level: of such intervals chattering is made, however fast it
    is.
    """
    slopes = run.slopes
    guard_slopes(run, t, run.y, run.ydot_before, slopes)
    run.slopes_before_at = t
    run.crosses_with = abs(slopes[guard])
    least = UNRESOLVED * max(abs(t), run.time_size)
    roundoff = max(run.nu[guard], run.nu_start[guard])
    if roundoff < np.inf and abs(slopes[guard]) > 0.0:
        least = max(least, FAINT * roundoff / abs(slopes[guard]))
    return least


@native
def _least_height(run, t, guard):
    """How high a bounce must be for the method to follow it."""
    least = FAINT * run.nu_start[guard]
    if run.starts_coarse == 1:
        reach = run.reach_scratch
        guard_reach(run, t, run.y, run.y_max, reach)
        least = max(least, reach[guard])
    return least


@native
def bounces_below_roundoff(run, t, guard):
    """True if an event has brought its guard to rest at zero, and the motion would go on as if nothing were there.

    Either it threw the guard back, but so faintly that it returns before it has left its own round-off level, and events accumulate (run.zeno_time
    is t); or it stopped it there altogether (run.zeno_time is NaN).
    """
    n = run.n
    index = run.guard_mode[guard]
    if run.guard_kind[guard] != RELATION or run.sides[guard] == RESTS:
        return False
    side = 1.0 if run.m[index] != 0.0 else -1.0
    if run.known_at != t:
        guard_slopes(run, t, run.y, run.ydot, run.slopes)
    away = side * run.slopes[guard]
    stopped = has_changed(run, guard)
    if stopped and away < 0.0 and abs(run.g[guard]) <= FAINT * run.nu_start[guard]:
        # thrown back from a trifle behind its zero, where an event is found of what had rested there
        side, away, stopped = -side, -away, False
    if stopped and not _was_stopped(run, t, guard, side, away):
        return False
    scale = time_scale(run, run.ydot_at)
    if not stopped and not (away > run.nu_start[guard] / scale and anything_happened(run) and _came_nearer(run, t, guard, side)):
        return False  # nothing threw it back: it has only touched zero, or rests there, held by a mode that has begun
    short = SHORT * scale
    ahead = run.y_new
    rate = run.scratch_3
    for q in range(n):
        ahead[q] = run.y[q] + short * run.ydot[q]
    if derivatives(run, t + short, run.y_new_at, run.scratch_3_at) != 0:
        return False
    guard_slopes(run, t + short, ahead, rate, run.late_scratch)
    braking = (away - side * run.late_scratch[guard]) / short
    if stopped:
        # on the far side already: it falls through if it gathers speed there
        if not -braking * scale * scale > FAINT * run.nu_start[guard]:
            return False
    elif not braking > 0.0 or away * away >= 2.0 * braking * _least_height(run, t, guard):
        return False
    run.zeno_time = np.nan if stopped else t
    run.failed_guard = guard
    return True


@native
def _came_nearer(run, t, guard, side):
    """True if the equations of before say that the guard was on its way across: else it is the error of the method that has brought it here."""
    guard_slopes(run, t, run.y_old, run.ydot_before, run.late_scratch)
    return side * run.late_scratch[guard] < 0.0


@native
def _equations_stop(run, t, guard, clear):
    """True if a guard would rest without what bodies made of the unknowns, too: of the mode that has begun, as of a tank that has run dry."""
    for q in range(run.n):
        run.y_new[q] = run.y_old[q]
    if consistent_point(run, t, run.y_new_at) != 0 or derivatives(run, t, run.y_new_at, run.trial_rate_at) != 0:
        return False
    guard_slopes(run, t, run.y_new, run.trial_rate, run.trial_g_half)
    return abs(run.trial_g_half[guard]) * time_scale(run, run.trial_rate_at) <= clear


@native
def _was_stopped(run, t, guard, side, after):
    """True if a body took away the speed of the guard, which was clear, and nothing but states has changed."""
    roundoff = run.nu_start[guard]
    for q in range(run.first_discrete, run.first_previous):
        if run.m[q] != run.m_old[q]:
            return False  # whoever notes what has happened may mean to go on
    short = SHORT * time_scale(run, run.ydot_before_at)
    if not anything_happened(run) or not abs(after) * short <= roundoff:
        return False
    guard_slopes(run, t, run.y_old, run.ydot_before, run.late_scratch)
    before = side * run.late_scratch[guard]
    clear = FAINT * roundoff
    return before * short > clear and abs(after) <= STOPPED * before and not _equations_stop(run, t, guard, clear)


@native
def goes_on_through(run, t):
    """True if a round sets a guard moving again that a clause had stopped, or thrown back, right on its far side: no edge would tell that it goes on.

    Of spheres one of which is pushed again into another that it lies against, at this instant or later. The guards, their slopes and y' must be those
    after the round, and those of before the event must have been noted.
    """
    ng = run.n_guards
    kind = run.guard_kind
    mode = run.guard_mode
    held = run.held_sides
    fired = anything_happened(run)
    noted = False
    for q in range(run.first_discrete, run.first_previous):
        noted = noted or run.m[q] != run.m_old[q]
    before = run.noted_slopes
    scale_before = 0.0
    scale = 0.0
    for j in range(ng):
        now = 1 if run.m[mode[j]] != 0.0 else 2
        clear = FAINT * run.nu_start[j]
        if kind[j] != RELATION or held[j] != now or not abs(run.g[j]) <= clear:
            held[j] = 0
        if kind[j] != RELATION or not abs(run.g[j]) <= clear:
            continue
        may_be_stopped = fired and not noted and run.active[j] != 0.0 and has_changed(run, j)
        if held[j] != now and not may_be_stopped:
            continue
        if scale == 0.0:
            scale_before = time_scale(run, run.ydot_before_at)
            scale = time_scale(run, run.ydot_at)
        far = 1.0 if now == 1 else -1.0
        goes_on = far * run.slopes[j] * scale > clear
        if held[j] == now and goes_on:
            run.failed_guard = j
            run.zeno_time = np.nan
            return True
        if may_be_stopped and not goes_on and far * before[j] * scale_before > clear and not _equations_stop(run, t, j, clear):
            held[j] = now
    return False
