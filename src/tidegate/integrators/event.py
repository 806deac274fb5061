"""One event with everything around it: what is remembered of before, the jump, what is written down, and the method's fresh start."""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_hook
from tidegate.compiled.jit import NUMBERS, WHOLE, native, unit
from tidegate.compiled.workspace import (
    AFTER_ROW,
    BEFORE_ROW,
    C_EVENTS,
    C_FLIPS,
    CAUSE_ITEM,
    CLOCK_STOPPED,
    EVENT_CAUSE,
    EVENT_KIND,
    EVENT_ROWS,
    FIRST_DISCRETE,
    H_RESTART,
    I_FLIPPED,
    MASS_KIND,
    N_D,
    N_G,
    N_LOGGED,
    N_P,
    N_ROWS,
    N_S,
    NOT_FINITE,
    O_ATOL,
    O_BODY,
    O_DTDP,
    O_F0,
    O_M,
    O_MOLD,
    O_P,
    O_PNEW,
    O_S,
    O_Y,
    O_YDOT,
    O_YDOTM,
    O_YMAX,
    O_YOLD,
    RTOL,
    SMOOTHS_RATES,
    STATE_EVENT,
    STEP_NEW,
    STEP_ROW,
    STEP_ROWS,
    TIME_EVENT,
    ZENO,
    N,
    T,
    integers,
    vector,
)
from tidegate.events.chatter import bounces_below_noise, note_event_time
from tidegate.events.guards import refresh_activity
from tidegate.events.restart import derivatives, update_mass
from tidegate.events.schedule import mark_due, schedule, skip_past, stopped_clock
from tidegate.events.settle import anything_happened, note_conditions
from tidegate.events.time_scale import time_scale
from tidegate.integrators.coincidence import doubt_times, note_doubts
from tidegate.integrators.polish import slope_of_the_step
from tidegate.integrators.rate_before import smooth_rate
from tidegate.integrators.record import log_event, record_row, row_time
from tidegate.integrators.transition import settle
from tidegate.sensitivity.jump import event_time_derivatives, finish_jump, start_jump, time_event_derivatives

__all__ = ["AGAIN", "AT_START", "event_with_rows"]

AT_START: Final = 0  # what the restart hook is told: the first start of the run
AGAIN: Final = 1  # or one after an event
_JUMP: Final = 10.0  # growth of |y'|/|y| at an event beyond which the kept step is too long
_RESTART_PART: Final = 0.01  # of the new time scale: the first step then


@native
def _limit_restart_step(h, r):
    """Where y' jumps up at an event (a stiff relay) the kept step would leap over the layer behind it, and with it over events in the layer."""
    n = h[N]
    before = 0.0
    after = 0.0
    for q in range(n):
        size = max(r[h[O_YMAX] + q], r[h[O_ATOL] + q] / r[RTOL])
        before = max(before, abs(r[h[O_YDOTM] + q]) / size)
        after = max(after, abs(r[h[O_YDOT] + q]) / size)
    if after > _JUMP * before:
        r[STEP_NEW] = min(r[STEP_NEW], _RESTART_PART / after)


@native
def _put_from_outside(h, r):
    """Values set by the user, which wait in O_BODY (unknowns, discrete variables) and O_PNEW."""
    n = h[N]
    for q in range(n):
        r[h[O_Y] + q] = r[h[O_BODY] + q]
    for q in range(h[N_D]):
        r[h[O_M] + h[FIRST_DISCRETE] + q] = r[h[O_BODY] + n + q]
    for q in range(h[N_P]):
        r[h[O_P] + q] = r[h[O_PNEW] + q]
    update_mass(h, r)
    refresh_activity(h, r)


@native
def _event(h, r, log, guard, due):
    """Carry out the event at the current point: a guard that crossed, scheduled items of which the first is ``due``, or both.

    Both -1: the user has set values.
    """
    n = h[N]
    t = r[T]
    n_m = h[FIRST_DISCRETE] + h[N_D]
    n_s = h[N_S]
    y = vector(r, h[O_Y], n)
    is_from_outside = guard < 0 and due < 0
    for q in range(n):
        r[h[O_YOLD] + q] = y[q]
    for q in range(n_m):
        r[h[O_MOLD] + q] = r[h[O_M] + q]
    h[EVENT_KIND] = 0
    h[EVENT_CAUSE] = guard
    h[CAUSE_ITEM] = due
    if is_from_outside:
        _put_from_outside(h, r)
    code = derivatives(h, r, t, h[O_Y], h[O_YDOTM])
    if code != 0 and (n_s == 0 or (code == NOT_FINITE and h[MASS_KIND] == 0)):
        # just across, the old equations may not be defined any more
        for q in range(n):
            r[h[O_YDOTM] + q] = r[h[O_F0] + q]
        slope_of_the_step(h, r, h[O_YDOTM])
        code = 0
    elif code == 0 and n_s > 0 and h[SMOOTHS_RATES] == 1 and not is_from_outside:
        smooth_rate(h, r, t)
    if code == 0 and not is_from_outside:
        code = note_event_time(h, r, t, guard)
    if code != 0:
        return code
    for i in range(n_s):
        r[h[O_DTDP] + i] = 0.0
    if guard >= 0:
        h[EVENT_KIND] += STATE_EVENT
        integers(h, h[I_FLIPPED], h[N_G])[guard] = 1
        if n_s > 0:
            event_time_derivatives(h, r, t, y, guard, time_scale(h, r, h[O_YDOTM]))
    if due >= 0:
        h[EVENT_KIND] += TIME_EVENT
        if n_s > 0 and guard < 0:
            time_event_derivatives(h, r, t, y, due)
        mark_due(h, r, t, True)
    if n_s > 0:
        start_jump(h, r)
    code = settle(h, r, t, 0)
    for q in range(n):
        if code == 0 and not abs(y[q]) < np.inf:
            code = NOT_FINITE
    if code != 0:
        return code
    happened = note_conditions(h, r, t) or is_from_outside
    if guard >= 0 and bounces_below_noise(h, r, t, guard):
        return ZENO
    if n_s > 0 and (happened or anything_happened(h, r)):
        # where nothing happened nothing jumps, and a badly conditioned event time must not touch anything
        doubted = not is_from_outside and n > 0 and doubt_times(h, r, t, guard if guard >= 0 or due >= h[N_G] else due)
        finish_jump(h, r)
        if doubted:
            note_doubts(h, r)
    if happened:
        h[C_EVENTS] += 1
        log_event(h, r, log, t)
    else:
        h[C_FLIPS] += 1
    if due >= 0:
        clock = stopped_clock(h, r, t)
        if clock >= 0:
            h[CAUSE_ITEM] = clock
            return CLOCK_STOPPED
    code = call_hook(h[H_RESTART], h, r, t, AGAIN)
    if h[MASS_KIND] == 0:
        _limit_restart_step(h, r)
    skip_past(h, r, t, False)
    schedule(h, r, False)
    return code


@unit(NUMBERS, NUMBERS, WHOLE, WHOLE)
def event_with_rows(h, r, rows, log, guard, due):
    """The event, and a row before and one after it where something happened."""
    wanted = h[EVENT_ROWS] == 1
    logged = h[N_LOGGED]
    if wanted:
        record_row(h, r, rows, row_time(r), h[O_Y], h[O_S], BEFORE_ROW)
    code = _event(h, r, log, guard, due)
    if code != 0:
        return code
    if wanted:
        if h[N_LOGGED] == logged:
            h[N_ROWS] -= 1  # relations flipped and nothing came of it
            if h[STEP_ROWS] == 1:
                record_row(h, r, rows, row_time(r), h[O_Y], h[O_S], STEP_ROW)
        else:
            record_row(h, r, rows, row_time(r), h[O_Y], h[O_S], AFTER_ROW)
    return 0
