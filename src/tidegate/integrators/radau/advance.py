"""The native run: step, isolate, locate, settle, record, until a target, a failure, or until Python is wanted.

Everything between two visits of Python happens here, without the interpreter and without allocation.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import NUMBERS, WHOLE, native, unit
from tidegate.compiled.workspace import (
    AFTER_ROW,
    BEFORE_ROW,
    BUDGET,
    C_EVENTS,
    C_RHS,
    C_STEPS,
    CAUSE_ITEM,
    EVENT_CAUSE,
    EVENT_KIND,
    EVENT_ROWS,
    F_RHS,
    FACCON,
    FIRST_DISCRETE,
    FOUND_GUARD,
    FOUND_THETA,
    HAS_POLYNOMIAL,
    I_FLIPPED,
    INITIAL_EVENT,
    IS_FIRST,
    IS_TERMINATED,
    LAST_GUARD,
    LENGTH,
    LIMIT,
    MASS_KIND,
    N_ASKED,
    N_D,
    N_G,
    N_LOGGED,
    N_POLYNOMIALS,
    N_ROWS,
    N_S,
    NEEDS_FACTORS,
    NEEDS_JACOBIAN,
    NEXT_OUTPUT,
    NOT_FINITE,
    O_A,
    O_ATOL,
    O_DTDP,
    O_F,
    O_F0,
    O_M,
    O_MOLD,
    O_P,
    O_S,
    O_SNEW,
    O_Y,
    O_YDOT,
    O_YDOTM,
    O_YMAX,
    O_YNEW,
    O_YOLD,
    O_Z,
    O_ZB,
    OUTPUT_ROW,
    PHASE,
    ROOM_LOG,
    ROOM_POLYNOMIALS,
    ROOM_ROWS,
    RTOL,
    SINGULAR,
    SPAN,
    STAGES,
    STAGES_WANTED,
    STATE_EVENT,
    STEP,
    STEP_BEFORE_EVENT,
    STEP_NEW,
    STEP_OLD,
    STEP_ROW,
    STEP_ROWS,
    STEP_TOO_SMALL,
    T_END,
    T_NEXT,
    TARGET,
    TERMINATED,
    TIME_EVENT,
    WIDE_ROWS,
    ZENO,
    N,
    T,
    integers,
    matrix,
    tail,
    vector,
)
from tidegate.events.blocked import blocked_guard
from tidegate.events.chatter import bounces_below_noise, note_event_time
from tidegate.events.isolate import UNDEFINED, earliest_crossing, guard_at_the_end, polynomial_point
from tidegate.events.quiet import flips_quietly, keep_modes, quiet_modes_hold
from tidegate.events.restart import derivatives, update_mass
from tidegate.events.schedule import is_same_time, mark_due, schedule, skip_past
from tidegate.events.settle import note_conditions
from tidegate.integrators.radau.locate import locate, restep
from tidegate.integrators.radau.record import log_event, record_polynomial, record_row
from tidegate.integrators.radau.step import set_stages, take_step
from tidegate.integrators.radau.tableau import POLYNOMIAL
from tidegate.integrators.transition import settle
from tidegate.sensitivity.forward import stage_sensitivities
from tidegate.sensitivity.jump import event_time_derivatives, finish_jump, start_jump, time_event_derivatives

__all__ = ["advance", "begin"]

_ROOM: Final = 4  # rows a step can add besides outputs
_SHORTEST_AFTER: Final = 1e-12  # of the times at hand: the least step after one
_AFTER_BLOCK: Final = 1e-6  # of the run: first step after a guard that could not be crossed
_JUMP: Final = 10.0  # growth of |y'|/|y| at an event beyond which the kept step is too long
_AFTER_FALSE_ALARM: Final = 10.0  # growth of the step after a crossing that was none
_RESTART_PART: Final = 0.01  # of the new time scale: the first step then


@native
def _first_step(h, r):
    """First guess from the size of y' (Hairer, Norsett and Wanner, Solving ODEs I, section II.4, without the second evaluation)."""
    n = h[N]
    size = 0.0
    speed = 0.0
    for q in range(n):
        scale = r[h[O_ATOL] + q] + r[RTOL] * abs(r[h[O_Y] + q])
        size += (r[h[O_Y] + q] / scale) ** 2
        speed += (r[h[O_YDOT] + q] / scale) ** 2
    if n == 0:
        return r[SPAN]
    size = np.sqrt(size / n)
    speed = np.sqrt(speed / n)
    if size < 1e-5 or speed < 1e-5:
        return 1e-6 * r[SPAN]
    return min(0.01 * size / speed, 0.1 * r[SPAN])


@native
def _after_change(h, r):
    """The method starts afresh: no polynomial to continue, a new Jacobian; the step size is kept."""
    h[IS_FIRST] = 1
    h[HAS_POLYNOMIAL] = 0
    h[NEEDS_JACOBIAN] = 1
    h[NEEDS_FACTORS] = 1
    r[FACCON] = 1.0
    call_value(h[F_RHS], r[T], vector(r, h[O_Y], h[N]), tail(r, h[O_P]), tail(r, h[O_M]), vector(r, h[O_F0], h[N]))
    h[C_RHS] += 1


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
def _event(h, r, log, guard, due):
    """Carry out the event at the current point: a guard that crossed, scheduled items of which the first is ``due``, or both; -1 for none."""
    n = h[N]
    t = r[T]
    n_m = h[FIRST_DISCRETE] + h[N_D]
    n_s = h[N_S]
    y = vector(r, h[O_Y], n)
    code = note_event_time(h, r, t, guard >= 0)
    if code != 0:
        return code
    for q in range(n):
        r[h[O_YOLD] + q] = y[q]
    for q in range(n_m):
        r[h[O_MOLD] + q] = r[h[O_M] + q]
    h[EVENT_KIND] = 0
    h[EVENT_CAUSE] = guard
    h[CAUSE_ITEM] = due
    if n_s > 0 or h[MASS_KIND] == 0:
        code = derivatives(h, r, t, h[O_Y], h[O_YDOTM])
        if code == NOT_FINITE and h[MASS_KIND] == 0:
            # just across, the old equations may not be defined any more; the last stage was just short of it
            last = h[O_F0]
            if r[LENGTH] > 0.0:
                last = h[O_F] + (h[STAGES] - 1) * n
            for q in range(n):
                r[h[O_YDOTM] + q] = r[last + q]
            code = 0
        if code != 0:
            return code
    if guard >= 0:
        h[EVENT_KIND] += STATE_EVENT
        integers(h, h[I_FLIPPED], h[N_G])[guard] = 1
        if n_s > 0:
            event_time_derivatives(h, r, t, y, guard)
    if due >= 0:
        h[EVENT_KIND] += TIME_EVENT
        if n_s > 0 and guard < 0:
            time_event_derivatives(h, r, t, y, due)
        mark_due(h, r, t, True)
    if n_s > 0:
        start_jump(h, r)
    code = settle(h, r, t, 0)
    if code != 0:
        return code
    happened = note_conditions(h, r, t)
    if guard >= 0 and bounces_below_noise(h, r, t, guard):
        return ZENO
    if n_s > 0 and happened:
        # where nothing happened nothing jumps, and a badly conditioned event time must not touch anything
        finish_jump(h, r)
    if happened:
        h[C_EVENTS] += 1
        log_event(h, r, log, t)
    _after_change(h, r)
    if h[MASS_KIND] == 0:
        _limit_restart_step(h, r)
    skip_past(h, r, t)
    schedule(h, r, False)
    return 0


@native
def _outputs_here(h, r, rows, times):
    """Rows at asked times that are the current time, after what happened at it."""
    while h[NEXT_OUTPUT] < h[N_ASKED] and (times[h[NEXT_OUTPUT]] <= r[T] or is_same_time(times[h[NEXT_OUTPUT]], r[T])):
        if h[N_ROWS] >= h[ROOM_ROWS]:
            return
        if h[EVENT_ROWS] == 1 and h[N_ROWS] > 0:
            last = (h[N_ROWS] - 1) * h[WIDE_ROWS]
            if rows[last + 1] == AFTER_ROW and is_same_time(rows[last], r[T]):
                h[NEXT_OUTPUT] += 1
                continue
        record_row(h, r, rows, times[h[NEXT_OUTPUT]], h[O_Y], h[O_S], OUTPUT_ROW)
        h[NEXT_OUTPUT] += 1


@native
def _write_outputs(h, r, rows, times, until):
    """Rows at the asked times inside the step; False if the buffer is full before all are written.

    The step is taken again to each of them, because its polynomial is less accurate inside than its end.
    """
    n = h[N]
    s = h[STAGES]
    n_s = h[N_S]
    y = vector(r, h[O_Y], n)
    z = matrix(r, h[O_ZB], s, n)
    point = vector(r, h[O_YOLD], n)
    sens = matrix(r, h[O_SNEW] + n_s * s * n, max(n_s, 1), n)
    new = matrix(r, h[O_SNEW], max(n_s, 1), s * n)
    old = matrix(r, h[O_S], max(n_s, 1), n)
    while h[NEXT_OUTPUT] < h[N_ASKED]:
        when = times[h[NEXT_OUTPUT]]
        if not when < until or is_same_time(when, until):
            return True
        if h[N_ROWS] >= h[ROOM_ROWS] - _ROOM:
            return False
        step = when - r[T]
        if restep(h, r, step, s, r[LENGTH], h[O_ZB], 1, h[O_A]) == 1:
            for q in range(n):
                point[q] = y[q] + z[s - 1, q]
        else:
            polynomial_point(n, s, y, matrix(r, h[O_A], s, n), step / r[LENGTH], point)
        if n_s > 0 and stage_sensitivities(h, r, r[T], step, h[O_ZB]) == 0:
            for i in range(n_s):
                for q in range(n):
                    sens[i, q] = old[i, q] + new[i, (s - 1) * n + q]
        record_row(h, r, rows, when, h[O_YOLD], h[O_SNEW] + n_s * s * n, OUTPUT_ROW)
        h[NEXT_OUTPUT] += 1
    return True


@native
def _sensitivities_at(s, n, n_s, new, end, theta, k):
    """Add the polynomial through the stage sensitivities at theta, which is 1 or close to it."""
    for i in range(n_s):
        for q in range(n):
            if theta == 1.0:
                end[i, q] += new[i, (s - 1) * n + q]
                continue
            x = 0.0
            for d in range(s - 1, -1, -1):
                c = 0.0
                for j in range(s):
                    c += POLYNOMIAL[k, d, j] * new[i, j * n + q]
                x = (x + c) * theta
            end[i, q] += x


@native
def _stand_still(h, r):
    """A step of no length, at whose end an event happens."""
    n = h[N]
    n_s = h[N_S]
    end = h[O_SNEW] + n_s * h[STAGES] * n + n_s * n
    r[STEP] = 0.0
    r[LENGTH] = 0.0
    # the step size that led here says nothing about what comes
    r[STEP_NEW] = _AFTER_BLOCK * r[SPAN]
    for q in range(n_s * n):
        r[end + q] = r[h[O_S] + q]


@native
def _at_a_block(h, r, code):
    """Where no step is possible: 0 with a guard in LAST_GUARD that explains it, else the reason."""
    if code in (NOT_FINITE, STEP_TOO_SMALL, SINGULAR):
        h[LAST_GUARD] = blocked_guard(h, r)
        if h[LAST_GUARD] >= 0:
            _stand_still(h, r)
            return 0
    return code


@native
def _find_step(h, r):
    """The next step, cut at the earliest event in it: its end in O_YNEW and behind the stages in O_SNEW, the guard in LAST_GUARD (-1: none)."""
    n = h[N]
    n_s = h[N_S]
    t = r[T]
    code = take_step(h, r)
    if code != 0:
        return _at_a_block(h, r, code)
    s = h[STAGES]
    k = (s - 3) // 2
    y = vector(r, h[O_Y], n)
    z = matrix(r, h[O_Z], s, n)
    point = vector(r, h[O_YNEW], n)
    r[LENGTH] = r[STEP]
    h[LAST_GUARD] = -1
    guard = earliest_crossing(h, r, t, r[STEP])
    if guard == UNDEFINED:
        return NOT_FINITE
    first_guard = guard
    first_theta = r[FOUND_THETA]
    quiet = 0
    if guard >= 0:
        keep_modes(h, r)
        while guard >= 0 and r[FOUND_THETA] > 0.0 and flips_quietly(h, r, t, guard):
            quiet += 1
            guard = earliest_crossing(h, r, t, r[STEP])
    for q in range(n):
        point[q] = y[q] + z[s - 1, q]
    if quiet > 0 and guard < 0 and not quiet_modes_hold(h, r, t + r[STEP], point):
        quiet = 0
        guard = first_guard
        r[FOUND_THETA] = first_theta
    if guard >= 0:
        code = locate(h, r, r[FOUND_THETA], guard)
        if code != 0:
            return _at_a_block(h, r, code)
        h[LAST_GUARD] = h[FOUND_GUARD]
        if h[LAST_GUARD] < 0:
            # the polynomial of the long step was wrong about the guard; so would be that of the next if it were as long
            r[STEP_NEW] = min(r[STEP_NEW], max(_AFTER_FALSE_ALARM * r[STEP], _SHORTEST_AFTER * max(abs(t), r[SPAN])))
        if quiet > 0 and h[LAST_GUARD] < 0:
            # the event dissolved; what is wrong with the modes now, if anything, shows at the start of the next step
            quiet_modes_hold(h, r, t + r[STEP], point)
    if n_s > 0:
        old = matrix(r, h[O_S], n_s, n)
        new = matrix(r, h[O_SNEW], n_s, s * n)
        end = matrix(r, h[O_SNEW] + n_s * s * n + n_s * n, n_s, n)
        for i in range(n_s):
            for q in range(n):
                end[i, q] = old[i, q]
        if r[LENGTH] > 0.0:
            code = stage_sensitivities(h, r, t, r[LENGTH], h[O_Z])
            if code != 0:
                return code
            _sensitivities_at(s, n, n_s, new, end, r[STEP] / r[LENGTH], k)
    return 0


@native
def _commit(h, r):
    """Make the end of the step the current point."""
    n = h[N]
    n_s = h[N_S]
    s = h[STAGES]
    t_new = r[T] + r[STEP]
    if is_same_time(t_new, r[T_NEXT]):
        t_new = r[T_NEXT]
    for q in range(n):
        r[h[O_Y] + q] = r[h[O_YNEW] + q]
    for q in range(n_s * n):
        r[h[O_S] + q] = r[h[O_SNEW] + n_s * s * n + n_s * n + q]
    r[T] = t_new
    r[STEP_OLD] = r[LENGTH]
    if r[LENGTH] > 0.0:
        r[STEP_BEFORE_EVENT] = r[LENGTH]
    h[HAS_POLYNOMIAL] = 1 if r[STEP] == r[LENGTH] and r[STEP] > 0.0 else 0
    h[IS_FIRST] = 0
    h[C_STEPS] += 1


@unit(NUMBERS, NUMBERS, WHOLE, WHOLE)
def event_with_rows(h, r, rows, log, guard, due):
    """The event, and a row before and one after it where something happened."""
    wanted = h[EVENT_ROWS] == 1
    logged = h[N_LOGGED]
    if wanted:
        record_row(h, r, rows, r[T], h[O_Y], h[O_S], BEFORE_ROW)
    code = _event(h, r, log, guard, due)
    if code != 0:
        return code
    if wanted:
        if h[N_LOGGED] == logged:
            h[N_ROWS] -= 1  # relations flipped and nothing came of it
            if h[STEP_ROWS] == 1:
                record_row(h, r, rows, r[T], h[O_Y], h[O_S], STEP_ROW)
        else:
            record_row(h, r, rows, r[T], h[O_Y], h[O_S], AFTER_ROW)
    return 0


@unit(NUMBERS, NUMBERS, NUMBERS)
def begin(h, r, rows, log, times):
    """Consistent start: modes from the guards, algebraic unknowns, sensitivities; first row, first schedule, events due at once."""
    n = h[N]
    t = r[T]
    y = vector(r, h[O_Y], n)
    set_stages(h, r, h[STAGES_WANTED])
    for i in range(h[N_S]):
        r[h[O_DTDP] + i] = 0.0
    for q in range(n):
        r[h[O_YDOTM] + q] = 0.0
        r[h[O_YMAX] + q] = max(r[h[O_YMAX] + q], abs(y[q]))
    update_mass(h, r)
    if h[N_S] > 0:
        start_jump(h, r)
    r[STEP_BEFORE_EVENT] = r[STEP_NEW]
    code = settle(h, r, t, INITIAL_EVENT)
    if code != 0:
        return code
    if h[N_S] > 0:
        finish_jump(h, r)
    note_conditions(h, r, t)
    _after_change(h, r)
    skip_past(h, r, t)
    schedule(h, r, True)
    if r[STEP_NEW] <= 0.0:
        r[STEP_NEW] = _first_step(h, r)
    r[STEP_BEFORE_EVENT] = r[STEP_NEW]
    due = -1
    if is_same_time(r[T_NEXT], t):
        due = mark_due(h, r, t, False)
    if due >= 0:
        code = event_with_rows(h, r, rows, log, -1, due)
        if code != 0:
            return code
    elif h[STEP_ROWS] == 1:
        record_row(h, r, rows, t, h[O_Y], h[O_S], STEP_ROW)
    _outputs_here(h, r, rows, times)
    return 0


@unit(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def advance(h, r, rows, log, polynomials, times):
    """Run until the end, a failure, or until a buffer is full or the budget of steps used up; returns the reason."""
    n = h[N]
    y = vector(r, h[O_Y], n)
    budget = h[BUDGET]
    while True:
        if h[PHASE] == 0:
            if h[IS_TERMINATED] == 1:
                return TERMINATED
            if not r[T] < r[T_END]:
                return TARGET
            full = (
                h[N_ROWS] >= h[ROOM_ROWS] - 2 * _ROOM
                or h[N_LOGGED] >= h[ROOM_LOG] - 1
                or h[N_POLYNOMIALS] >= h[ROOM_POLYNOMIALS] - 1
            )
            if budget <= 0 or full:
                return LIMIT
            budget -= 1
            code = _find_step(h, r)
            if code != 0:
                return code
            h[PHASE] = 1
        if not _write_outputs(h, r, rows, times, r[T] + r[STEP]):
            return LIMIT
        record_polynomial(h, r, polynomials)
        _commit(h, r)
        h[PHASE] = 0
        due = -1
        if r[T] == r[T_NEXT]:
            due = mark_due(h, r, r[T], False)
        guard = h[LAST_GUARD]
        if guard < 0 and not r[T] < r[T_END]:
            guard = guard_at_the_end(h, r)
            if guard == UNDEFINED:
                return NOT_FINITE
        if guard >= 0 or due >= 0:
            code = event_with_rows(h, r, rows, log, guard, due)
            if code != 0:
                return code
        else:
            call_value(h[F_RHS], r[T], y, tail(r, h[O_P]), tail(r, h[O_M]), vector(r, h[O_F0], n))
            h[C_RHS] += 1
            if h[STEP_ROWS] == 1:
                record_row(h, r, rows, r[T], h[O_Y], h[O_S], STEP_ROW)
        _outputs_here(h, r, rows, times)
