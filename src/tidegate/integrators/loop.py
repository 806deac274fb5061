"""The native run, whatever the method: step, isolate, locate, settle, record, until a target, a failure, or until Python is wanted.

Everything between two visits of Python happens here, without the interpreter and without allocation. A method stands behind six units whose
addresses are in the workspace; each is called as ``unit(h, r, number, whole)`` and returns 0 or the reason of failure:

- ``H_STEP``: take the next step from the current point, not beyond T_NEXT. Leaves its length in STEP, the polynomial in A (degree in DEGREE), its end
  in O_YEND; the proposal for the step after it in STEP_NEW, if the method wants one.
- ``H_LOCATE`` (theta, guard): the event at that part of the step. Leaves time from the start of the step in STEP, the length of the step it lies
  on in LENGTH, the point in O_YNEW, the guard in FOUND_GUARD (-1: the step, now shorter, ends before any event). With the guard -1 no event is
  known there, but the step is to end there, since what is behind could not be decided; IS_CUT tells that the method must start afresh then.
- ``H_SENSITIVITIES``: S at the end of STEP, into O_SEND.
- ``H_VALUES`` (time): unknowns at a time inside the step into O_YOLD, S into O_SOUT.
- ``H_RESTART`` (time, AT_START or AGAIN): forget the past; the current point is where the method goes on from.
- ``H_ACCEPT``: the step is the current one, no event at its end; y' (or f) there into O_F0.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_hook, call_value
from tidegate.compiled.jit import NUMBERS, native, unit
from tidegate.compiled.workspace import (
    AFTER_ROW,
    BUDGET,
    C_STEPS,
    DEGREE,
    EVENT_ROWS,
    F_GUARDS,
    F_TAPE,
    FIRST_DISCRETE,
    FOUND_GUARD,
    FOUND_THETA,
    H_ACCEPT,
    H_LOCATE,
    H_RESTART,
    H_SENSITIVITIES,
    H_STEP,
    H_VALUES,
    HAS_POLYNOMIAL,
    INITIAL_EVENT,
    IS_CUT,
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
    NEVER,
    NEXT_OUTPUT,
    NOT_FINITE,
    O_ATOL,
    O_BODY,
    O_DTDP,
    O_G,
    O_M,
    O_NUSTART,
    O_P,
    O_S,
    O_SEND,
    O_SHELD,
    O_SOUT,
    O_Y,
    O_YDOT,
    O_YDOTM,
    O_YEND,
    O_YHELD,
    O_YMAX,
    O_YNEW,
    O_YOLD,
    OUTPUT_ROW,
    PHASE,
    ROOM_LOG,
    ROOM_POLYNOMIALS,
    ROOM_ROWS,
    RTOL,
    SINGULAR,
    STEP,
    STEP_BEFORE_EVENT,
    STEP_HELD,
    STEP_MAX,
    STEP_NEW,
    STEP_OLD,
    STEP_ROW,
    STEP_ROWS,
    STEP_TOO_SMALL,
    T_END,
    T_HELD,
    T_NEXT,
    T_SHOWN,
    T_START,
    TARGET,
    TERMINATED,
    TIME_SIZE,
    UNDECIDED_GUARD,
    WIDE_ROWS,
    N,
    T,
    tail,
    vector,
)
from tidegate.events.blocked import blocked_guard
from tidegate.events.guards import refresh_activity
from tidegate.events.isolate import UNDECIDED, UNDEFINED, earliest_crossing, guard_at_the_end
from tidegate.events.quiet import flips_quietly, keep_modes, quiet_modes_hold
from tidegate.events.restart import consistent_point, derivatives, update_mass
from tidegate.events.schedule import is_same_time, mark_due, schedule, skip_past
from tidegate.events.settle import note_conditions
from tidegate.integrators.event import AGAIN, AT_START, event_with_rows
from tidegate.integrators.polish import can_be_shorter, shorter
from tidegate.integrators.record import record_polynomial, record_row, row_time
from tidegate.integrators.transition import settle
from tidegate.sensitivity.jump import finish_jump, start_jump

__all__ = ["advance", "begin", "conclude", "continue_from", "disturb", "move_end"]

# where a run stands between two calls: at the end of a step; in front of a step that is found; inside one, where the run ends for now
_AT_END, _FOUND, _INSIDE = 0, 1, 2
_ROOM: Final = 4  # rows a step can add besides outputs
_SHORTEST_AFTER: Final = 1e-12  # of the times at hand: the least step after one
_UNIT: Final = 1.0  # of time
_AHEAD: Final = 8.0  # of the time gone by: no step looks farther ahead
_IDLE_STEP: Final = 1e-9  # units of time: the first step where nothing tells a time scale; steps grow fast
_AFTER_FALSE_ALARM: Final = 10.0  # growth of the step after a crossing that was none


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
        # nothing but times to look at
        return NEVER if h[F_TAPE] == 0 else max(_UNIT, abs(r[T]))
    size = np.sqrt(size / n)
    speed = np.sqrt(speed / n)
    if size < 1e-5 or speed < 1e-5:
        return max(_IDLE_STEP, _SHORTEST_AFTER * abs(r[T]))
    return 0.01 * size / speed


@native
def _outputs_here(h, r, rows, times):
    """Rows at asked times that are the current time, after what happened at it."""
    while h[NEXT_OUTPUT] < h[N_ASKED] and (times[h[NEXT_OUTPUT]] <= r[T] or is_same_time(r, times[h[NEXT_OUTPUT]], r[T])):
        if h[N_ROWS] >= h[ROOM_ROWS]:
            return
        if h[EVENT_ROWS] == 1 and h[N_ROWS] > 0:
            last = (h[N_ROWS] - 1) * h[WIDE_ROWS]
            if rows[last + 1] == AFTER_ROW and is_same_time(r, rows[last], r[T]):
                h[NEXT_OUTPUT] += 1
                continue
        record_row(h, r, rows, times[h[NEXT_OUTPUT]], h[O_Y], h[O_S], OUTPUT_ROW)
        h[NEXT_OUTPUT] += 1


@native
def _write_outputs(h, r, rows, times, until):
    """Rows at the asked times inside the step; 0, LIMIT if the buffer is full before all are written, or a reason of failure."""
    while h[NEXT_OUTPUT] < h[N_ASKED]:
        when = times[h[NEXT_OUTPUT]]
        if not when < until or is_same_time(r, when, until):
            return 0
        if h[N_ROWS] >= h[ROOM_ROWS] - _ROOM:
            return LIMIT
        if h[N] > 0:
            code = call_hook(h[H_VALUES], h, r, when, 0)
            if code != 0:
                return code
        record_row(h, r, rows, when, h[O_YOLD], h[O_SOUT], OUTPUT_ROW)
        h[NEXT_OUTPUT] += 1
    return 0


@native
def _stand_still(h, r):
    """A step of no length, at whose end an event happens."""
    r[STEP] = 0.0
    r[LENGTH] = 0.0
    # the step size that led here says nothing about what comes
    r[STEP_NEW] = 0.0
    for q in range(h[N_S] * h[N]):
        r[h[O_SEND] + q] = r[h[O_S] + q]


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
def _take_step(h, r):
    """A step of the method; of the clock alone where there is nothing to integrate."""
    if h[N] > 0:
        if r[T] > r[T_START]:
            # where events cut every step, proposals would grow and grow
            r[STEP_NEW] = min(r[STEP_NEW], _AHEAD * (r[T] - r[T_START]))
        return call_hook(h[H_STEP], h, r, 0.0, 0)
    h[DEGREE] = 1
    r[STEP] = min(r[STEP_NEW], r[STEP_MAX], r[T_NEXT] - r[T])
    if h[F_TAPE] == 0:
        r[STEP] = min(r[STEP], r[T_END] - r[T])
    r[STEP_NEW] = 2.0 * r[STEP_NEW]
    return 0


@native
def _find_step(h, r):
    """The next step, cut at the earliest event in it: its end in O_YNEW and O_SEND, the guard in LAST_GUARD (-1: none)."""
    n = h[N]
    t = r[T]
    code = _take_step(h, r)
    if code != 0:
        return _at_a_block(h, r, code)
    h[C_STEPS] += 1
    end = vector(r, h[O_YEND], n)
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
        point[q] = end[q]
    if quiet > 0 and guard == -1 and not quiet_modes_hold(h, r, t + r[STEP], point):
        quiet = 0
        guard = first_guard
        r[FOUND_THETA] = first_theta
    cut = guard == UNDECIDED
    if cut:
        if not can_be_shorter(r, r[STEP]):
            return UNDECIDED_GUARD
        r[FOUND_THETA] = shorter(h, r)
    if cut or guard >= 0:
        code = call_hook(h[H_LOCATE], h, r, r[FOUND_THETA], max(guard, -1))
        if code != 0:
            return _at_a_block(h, r, code)
        h[LAST_GUARD] = h[FOUND_GUARD]
        if h[LAST_GUARD] < 0:
            # the polynomial of the long step was wrong about the guard; so would be that of the next if it were as long
            r[STEP_NEW] = min(r[STEP_NEW], max(_AFTER_FALSE_ALARM * r[STEP], _SHORTEST_AFTER * max(abs(t), r[TIME_SIZE])))
        if quiet > 0 and h[LAST_GUARD] < 0:
            # the event dissolved; what is wrong with the modes now, if anything, shows at the start of the next step
            quiet_modes_hold(h, r, t + r[STEP], point)
    if h[N_S] > 0:
        if r[LENGTH] > 0.0 and n > 0:
            return call_hook(h[H_SENSITIVITIES], h, r, 0.0, 0)
        for q in range(h[N_S] * n):
            r[h[O_SEND] + q] = r[h[O_S] + q]
    return 0


@native
def _start_afresh(h, r):
    """Go on from a point inside the step that the method has taken."""
    h[IS_CUT] = 0
    code = consistent_point(h, r, r[T], h[O_Y])
    if code == 0:
        code = derivatives(h, r, r[T], h[O_Y], h[O_YDOT])
    if code == 0:
        code = call_hook(h[H_RESTART], h, r, r[T], AGAIN)
    return code


@native
def _commit(h, r):
    """Make the end of the step the current point."""
    t_new = r[T] + r[STEP]
    if is_same_time(r, t_new, r[T_NEXT]):
        t_new = r[T_NEXT]
    elif is_same_time(r, t_new, r[T_END]):
        t_new = r[T_END]
    for q in range(h[N]):
        r[h[O_Y] + q] = r[h[O_YNEW] + q]
    for q in range(h[N_S] * h[N]):
        r[h[O_S] + q] = r[h[O_SEND] + q]
    r[T] = t_new
    r[STEP_OLD] = r[LENGTH]
    if r[LENGTH] > 0.0:
        r[STEP_BEFORE_EVENT] = r[LENGTH]
    h[HAS_POLYNOMIAL] = 1 if r[STEP] == r[LENGTH] and r[STEP] > 0.0 else 0
    h[IS_FIRST] = 0


@native
def _settle_afresh(h, r, t):
    """Modes from the guards, algebraic unknowns and sensitivities that fit the differential ones; no clause happens."""
    for i in range(h[N_S]):
        r[h[O_DTDP] + i] = 0.0
    for q in range(h[N]):
        r[h[O_YDOTM] + q] = 0.0
    update_mass(h, r)
    if h[N_S] > 0:
        start_jump(h, r)
    code = settle(h, r, t, INITIAL_EVENT)
    if code == 0 and h[N_S] > 0:
        finish_jump(h, r)
    return code


@unit(NUMBERS, NUMBERS, NUMBERS)
def begin(h, r, rows, log, times):
    """Consistent start: modes from the guards, algebraic unknowns, sensitivities; first row, first schedule, events due at once."""
    n = h[N]
    t = r[T]
    y = vector(r, h[O_Y], n)
    for q in range(n):
        r[h[O_YMAX] + q] = max(r[h[O_YMAX] + q], abs(y[q]))
    r[STEP_BEFORE_EVENT] = r[STEP_NEW]
    code = _settle_afresh(h, r, t)
    if code != 0:
        return code
    note_conditions(h, r, t)
    code = call_hook(h[H_RESTART], h, r, t, AT_START)
    if code != 0:
        return code
    skip_past(h, r, t, True)
    schedule(h, r, True)
    if r[STEP_NEW] <= 0.0:
        r[STEP_NEW] = _first_step(h, r)
    r[STEP_BEFORE_EVENT] = r[STEP_NEW]
    due = -1
    if is_same_time(r, r[T_NEXT], t):
        due = mark_due(h, r, t, False)
    if due >= 0:
        code = event_with_rows(h, r, rows, log, -1, due)
        if code != 0:
            return code
    elif h[STEP_ROWS] == 1:
        record_row(h, r, rows, t, h[O_Y], h[O_S], STEP_ROW)
    _outputs_here(h, r, rows, times)
    return 0


@unit()
def continue_from(h, r):
    """Go on from a point put into the workspace, whose modes, discrete variables and conditions are known."""
    update_mass(h, r)
    refresh_activity(h, r)
    code = derivatives(h, r, r[T], h[O_Y], h[O_YDOT])
    if code == 0:
        code = call_hook(h[H_RESTART], h, r, r[T], AT_START)
    schedule(h, r, False)
    if r[STEP_NEW] <= 0.0:
        r[STEP_NEW] = _first_step(h, r)
    r[STEP_BEFORE_EVENT] = r[STEP_NEW]
    return code


@unit()
def move_end(h, r):
    """Make known that T_END was changed, where it matters."""
    schedule(h, r, False)
    return 0


@unit(NUMBERS, NUMBERS)
def disturb(h, r, rows, log):
    """The event that follows when the user sets unknowns, discrete variables or parameters at the current point."""
    h[PHASE] = _AT_END  # what the rest of the step would have been, nobody will know
    h[IS_CUT] = 0
    return event_with_rows(h, r, rows, log, -1, -1)


@unit(NUMBERS)
def conclude(h, r, rows):
    """One row more, with the values that the end of the run gives: they wait in O_BODY (unknowns, discrete variables), derivatives in O_S and O_D."""
    n = h[N]
    nd = h[N_D]
    discrete = h[O_M] + h[FIRST_DISCRETE]
    for q in range(n):
        r[h[O_Y] + q] = r[h[O_BODY] + q]
    for q in range(nd):
        r[discrete + q] = r[h[O_BODY] + n + q]
        r[discrete + nd + q] = r[h[O_BODY] + n + q]
    h[N_ROWS] = 0
    code = _settle_afresh(h, r, r[T])
    if code == 0:
        record_row(h, r, rows, row_time(r), h[O_Y], h[O_S], AFTER_ROW)
    return code


@native
def _is_beyond(r):
    """True if the step just found leads behind the end of the run."""
    end = r[T] + r[STEP]
    return end > r[T_END] and not is_same_time(r, end, r[T_END])


@native
def _happens_here(h, r):
    """True if the guard at the end of the step is zero already, but for rounding, where the run ends, the unknowns being in O_YOLD."""
    guard = h[LAST_GUARD]
    if guard < 0:
        return False
    g = vector(r, h[O_G], h[N_G])
    call_value(h[F_GUARDS], r[T_END], vector(r, h[O_YOLD], h[N]), tail(r, h[O_P]), tail(r, h[O_M]), g)
    return abs(g[guard]) <= r[h[O_NUSTART] + guard]


@native
def _end_here(h, r):
    """Let the step end with the run, the unknowns there being in O_YOLD, S in O_SOUT."""
    r[STEP] = r[T_END] - r[T]
    for q in range(h[N]):
        r[h[O_YNEW] + q] = r[h[O_YOLD] + q]
    for q in range(h[N_S] * h[N]):
        r[h[O_SEND] + q] = r[h[O_SOUT] + q]


@native
def _stand_inside(h, r, rows, polynomials):
    """Stand at the end of the run, a place inside the step just found, with what that step is going to need held back."""
    n = h[N]
    r[T_HELD] = r[T]
    r[STEP_HELD] = r[STEP]
    r[STEP] = r[T_END] - r[T]
    record_polynomial(h, r, polynomials)
    for q in range(n):
        r[h[O_YHELD] + q] = r[h[O_Y] + q]
        r[h[O_Y] + q] = r[h[O_YOLD] + q]
    for q in range(h[N_S] * n):
        r[h[O_SHELD] + q] = r[h[O_S] + q]
        r[h[O_S] + q] = r[h[O_SOUT] + q]
    r[T] = r[T_END]
    r[T_SHOWN] = r[T_END]
    if h[MASS_KIND] != 0 and consistent_point(h, r, r[T], h[O_Y]) != 0:
        for q in range(n):
            r[h[O_Y] + q] = r[h[O_YOLD] + q]
    h[PHASE] = _INSIDE
    if h[STEP_ROWS] == 1:
        record_row(h, r, rows, r[T], h[O_Y], h[O_S], STEP_ROW)


@native
def _go_on_inside(h, r):
    """Take up the step again at the end of which the run was not stopped."""
    n = h[N]
    r[T] = r[T_HELD]
    r[STEP] = r[STEP_HELD]
    for q in range(n):
        r[h[O_Y] + q] = r[h[O_YHELD] + q]
    for q in range(h[N_S] * n):
        r[h[O_S] + q] = r[h[O_SHELD] + q]
    h[PHASE] = _FOUND


@unit(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def advance(h, r, rows, log, polynomials, times):
    """Run until the end, a failure, or until a buffer is full or the budget of steps used up; returns the reason."""
    budget = h[BUDGET]
    if h[PHASE] == _INSIDE:
        if not r[T] < r[T_END]:
            return TARGET
        _go_on_inside(h, r)
    while True:
        if h[PHASE] == _AT_END:
            if h[IS_TERMINATED] == 1:
                return TERMINATED
            if not r[T] < r[T_END] or is_same_time(r, r[T], r[T_END]):
                return TARGET
            full = h[N_ROWS] >= h[ROOM_ROWS] - 2 * _ROOM or h[N_LOGGED] >= h[ROOM_LOG] - 1 or h[N_POLYNOMIALS] >= h[ROOM_POLYNOMIALS] - 1
            if budget <= 0 or full:
                return LIMIT
            budget -= 1
            code = _find_step(h, r)
            if code == NOT_FINITE and h[N] > 0 and r[T] + r[STEP] > r[T_END] and r[T_NEXT] > r[T_END]:
                # what is behind the end of the run need not make sense
                r[T_NEXT] = r[T_END]
                code = _start_afresh(h, r)
                if code == 0:
                    code = _find_step(h, r)
            if code != 0:
                return code
            h[PHASE] = _FOUND
        beyond = _is_beyond(r)
        code = _write_outputs(h, r, rows, times, r[T_END] if beyond else r[T] + r[STEP])
        if code == 0 and beyond and h[N] > 0:
            code = call_hook(h[H_VALUES], h, r, r[T_END], 0)
        if code != 0:
            return code
        if beyond and not _happens_here(h, r):
            _stand_inside(h, r, rows, polynomials)
            _outputs_here(h, r, rows, times)
            return TARGET
        if beyond:
            _end_here(h, r)
        record_polynomial(h, r, polynomials)
        _commit(h, r)
        h[PHASE] = _AT_END
        due = -1
        if r[T] == r[T_NEXT]:
            due = mark_due(h, r, r[T], False)
        guard = h[LAST_GUARD]
        if guard < 0 and not r[T] < r[T_END]:
            guard = guard_at_the_end(h, r)
            if guard == UNDEFINED:
                return NOT_FINITE
        if guard >= 0 or due >= 0:
            h[IS_CUT] = 0
            code = event_with_rows(h, r, rows, log, guard, due)
            if code != 0:
                return code
            if r[STEP_NEW] <= 0.0:
                r[STEP_NEW] = _first_step(h, r)
        else:
            if h[IS_CUT] == 1:
                code = _start_afresh(h, r)
                if code != 0:
                    return code
            elif h[N] > 0:
                call_hook(h[H_ACCEPT], h, r, r[T], 0)
            if r[T] == r[T_NEXT]:
                schedule(h, r, False)
            if h[STEP_ROWS] == 1:
                record_row(h, r, rows, row_time(r), h[O_Y], h[O_S], STEP_ROW)
        _outputs_here(h, r, rows, times)
