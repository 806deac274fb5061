"""One event with everything around it: what is remembered of before, the jump, what is written down, and the method's fresh start."""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_hook
from tidegate.compiled.jit import INTEGER, NUMBERS, kernel_entry, native
from tidegate.compiled.workspace import (
    AFTER_ROW,
    BEFORE_ROW,
    CLOCK_STOPPED,
    NOT_FINITE,
    OFF_CONSTRAINTS,
    POLE,
    RELATION,
    STATE_EVENT,
    STEP_EVENT,
    STEP_ROW,
    TIME_EVENT,
    ZENO,
)
from tidegate.events.chatter import bounces_below_roundoff, note_event_time
from tidegate.events.constraints import find_off, move_onto, note_drift_of_derivatives
from tidegate.events.faint import comes_from_nearby, note_faint
from tidegate.events.guards import has_changed, refresh_activity
from tidegate.events.known_values import forget_before, forget_here
from tidegate.events.leaving import RESTS
from tidegate.events.on_its_side import RELATIONS_PUT_RIGHT, put_on_its_side, put_relations_right
from tidegate.events.restart import consistent_point, derivatives
from tidegate.events.schedule import mark_due, mark_steps, schedule, skip_past, stopped_clock
from tidegate.events.settle import note_conditions
from tidegate.events.truth import lost_whole
from tidegate.integrators.hybrid_loop.event_derivatives import differentiate_times, jump_with_event
from tidegate.integrators.hybrid_loop.past import lock_past, unlock_past
from tidegate.integrators.hybrid_loop.pole_at_event import is_pole_at_event
from tidegate.integrators.hybrid_loop.polish import slope_of_the_step
from tidegate.integrators.hybrid_loop.pre_event_rate import rate_without_equations, smooth_rate
from tidegate.integrators.hybrid_loop.record import log_event, record_row, row_time
from tidegate.integrators.hybrid_loop.transition import settle
from tidegate.linear.mass import update_mass
from tidegate.sensitivity.jump import start_jump

__all__ = ["AGAIN", "AT_START", "NOT_SIMPLE", "event_with_rows"]

AT_START: Final = 0  # what the restart hook is told: the first start of the run
AGAIN: Final = 1  # or one after an event
NOT_SIMPLE: Final = -1  # what ``hook_simple`` says of an event that it leaves as it was
_JUMP: Final = 10.0  # growth of |y'|/|y| at an event beyond which the kept step is too long
_RESTART_PART: Final = 0.01  # of the new time scale: the first step then


@native
def _limit_restart_step(run):
    """Where y' jumps up at an event (a stiff relay) the kept step would leap over the layer behind it, and with it over events in the layer."""
    n = run.n
    before = 0.0
    after = 0.0
    for q in range(n):
        size = max(run.y_max[q], run.atol[q] / run.rtol)
        before = max(before, abs(run.ydot_before[q]) / size)
        after = max(after, abs(run.ydot[q]) / size)
    if after > _JUMP * before:
        run.step_new = min(run.step_new, _RESTART_PART / after)


@native
def _put_from_outside(run):
    """Values set by the user, which wait in run.body (unknowns, discrete variables) and run.p_new."""
    n = run.n
    for q in range(n):
        run.y[q] = run.body[q]
    for q in range(run.n_discrete):
        run.discrete[q] = run.body[n + q]
    for q in range(run.n_p):
        run.p[q] = run.p_new[q]
    update_mass(run)
    refresh_activity(run)


@native
def _put_given(run, due):
    """What the time event gives, which is known: it waits in run.body."""
    n = run.n
    for q in range(n):
        run.y[q] = run.body[q]
    for q in range(run.n_discrete):
        run.discrete[q] = run.body[n + q]
    run.counts[due - run.n_guards] += 1.0
    refresh_activity(run)


@native
def _goes_on(run, guard):
    """True if the model says that the event has left everything as it was, and nothing is seen to be otherwise."""
    if run.can_go_on == 0 or guard >= 0 or run.n_sens > 0 or run.goes_on_at < 0 or run.discrete[run.goes_on_at] != 1.0:
        return False
    for q in range(run.n):
        if run.y[q] != run.y_old[q] or run.ydot[q] != run.ydot_before[q]:
            return False
    return True


@native
def _cause(run, guard):
    """The guard that crossed; where another one stopped it before it did, that one."""
    if guard < 0 or run.guard_kind[guard] != RELATION or run.sides[guard] != RESTS or has_changed(run, guard):
        return guard
    for j in range(run.n_guards):
        if run.guard_kind[j] == RELATION and run.active[j] != 0.0 and has_changed(run, j):
            return j
    return guard


@native
def _keep_constraints(run, t):
    """What the event left off the constraints of an HDAE is moved onto them, where that was asked for; x2 and x3 follow."""
    off = find_off(run, t)
    if off < 0:
        return 0
    if run.makes_consistent == 0 or run.n_sens > 0 or move_onto(run, t, run.y_at) != 0:
        return OFF_CONSTRAINTS
    code = consistent_point(run, t, run.y_at)
    return code if code != 0 else derivatives(run, t, run.y_at, run.ydot_at)


@native
def _event(run, log, guard, due, stepped):
    """Carry out the event at the current point: a guard that crossed, scheduled items of which the first is ``due``, what a step asks for, or all.

    Both -1 and nothing asked for: the user has set values. Where run.is_given, what a time event makes of everything waits in run.body.
    """
    n = run.n
    t = run.t
    n_m = run.first_previous
    n_s = run.n_sens
    y = run.y
    is_from_outside = guard < 0 and due < 0 and stepped == 0
    is_given = run.is_given == 1
    for q in range(n):
        run.y_old[q] = y[q]
    for q in range(n_m):
        run.m_old[q] = run.m[q]
    if n_s > 0 and run.n_constraints > 0:
        note_drift_of_derivatives(run, t)
    forget_here(run)
    run.event_kind = 0
    run.event_cause = guard
    run.cause_item = due
    if is_from_outside:
        _put_from_outside(run)
    code = 0 if is_given else derivatives(run, t, run.y_at, run.ydot_before_at)
    may_be_simple = code == 0 and run.hook_simple != 0 and stepped == 0 and (guard < 0) != (due < 0) and not is_given
    if code == NOT_FINITE and run.mass_kind == 0:
        rate_without_equations(run, t)
        code = 0
    elif code != 0 and n_s == 0:
        # just across, the old equations may not be defined any more
        for q in range(n):
            run.ydot_before[q] = run.f0[q]
        slope_of_the_step(run, run.ydot_before_at)
        code = 0
    elif code == 0 and n_s > 0 and run.smooths_rates == 1 and not is_from_outside:
        smooth_rate(run, t)
    if code == 0 and not is_from_outside and is_pole_at_event(run, t, -1, run.ydot_before_at) == 1:
        return POLE
    if code == 0 and (guard >= 0 or due >= 0):
        code = note_event_time(run, t, guard)
    if code != 0:
        return code
    is_faint = guard >= 0 and comes_from_nearby(run, t, guard)
    if guard >= 0:
        run.event_kind += STATE_EVENT
        run.flipped[guard] = 1
    if n_s > 0:
        differentiate_times(run, t, guard, due)
    if due >= 0:
        run.event_kind += TIME_EVENT
        if is_given:
            _put_given(run, due)
        else:
            mark_due(run, t, True)
    if stepped == 1:
        run.event_kind += STEP_EVENT
        mark_steps(run)
    if n_s > 0:
        start_jump(run)
    unlock_past(run)
    code = NOT_SIMPLE
    if may_be_simple:
        code = call_hook(run.hook_simple, run.h, run.r, t, guard)
    was_simple = code != NOT_SIMPLE
    if not was_simple:
        code = settle(run, t, 0)
    lock_past(run)
    forget_before(run)
    if code == 0:
        run.failed_guard = lost_whole(run)
        code = NOT_FINITE if run.failed_guard >= 0 else 0
    if is_given:
        run.fired[run.n_actions - run.n_steps - run.n_clocks + due - run.n_guards] = 1.0
    if code == 0 and run.n_constraints > 0:
        code = _keep_constraints(run, t)
    if code == 0 and is_pole_at_event(run, t, 1, run.ydot_at) == 1:
        return POLE
    for q in range(n):
        if code == 0 and not abs(y[q]) < np.inf:
            code = NOT_FINITE
    if code != 0:
        return code
    happened = note_conditions(run, t, was_simple) or is_from_outside
    if guard >= 0 and bounces_below_roundoff(run, t, guard):
        return ZENO
    if n_s > 0:
        jump_with_event(run, t, guard, due, 1 if happened else 0)
    if happened:
        run.event_cause = _cause(run, guard)
        run.c_events += 1
        log_event(run, log, t)
        if is_faint:
            note_faint(run, t, guard)
    else:
        run.c_flips += 1
    if due >= 0:
        clock = stopped_clock(run, t)
        if clock >= 0:
            run.cause_item = clock
            return CLOCK_STOPPED
    if _goes_on(run, guard):
        code = call_hook(run.hook_accept, run.h, run.r, t, 0) if n > 0 else 0
    else:
        code = call_hook(run.hook_restart, run.h, run.r, t, AGAIN)
        if run.mass_kind == 0:
            _limit_restart_step(run)
    skip_past(run, t, False)
    schedule(run, False)
    return code


@native
def _outputs_are_numbers(run):
    """True if the outputs of the last row are numbers."""
    for q in range(run.n_outputs):
        if not abs(run.outputs[q]) < np.inf:
            return False
    return True


@native
def _record_before(run, rows, guard):
    """The row before an event; where the equations end at the guard, as a root does at an empty tank, at its zero and not just across it.

    Where an output ends there, or no unknown tells where the zero is, relations are put right for the row: it lies just across.
    """
    n = run.n
    for q in range(n):
        run.y_old[q] = run.y[q]
    for k in range(run.n_modes):
        run.m_trial[k] = run.m[k]
    is_put_right = guard >= 0 and n > 0 and put_on_its_side(run, run.t, 1) == RELATIONS_PUT_RIGHT
    record_row(run, rows, row_time(run), run.y_at, run.sens_at, BEFORE_ROW)
    if guard >= 0 and not is_put_right and not _outputs_are_numbers(run) and put_relations_right(run, run.t, 1) == 1:
        is_put_right = True
        run.n_rows -= 1
        record_row(run, rows, row_time(run), run.y_at, run.sens_at, BEFORE_ROW)
    for q in range(n):
        run.y[q] = run.y_old[q]
    if is_put_right:
        for k in range(run.n_modes):
            run.m[k] = run.m_trial[k]
        refresh_activity(run)


@kernel_entry(NUMBERS, NUMBERS, INTEGER, INTEGER, INTEGER)
def event_with_rows(run, rows, log, guard, due, stepped):
    """The event, and a row before and one after it where something happened; that before is there already where run.is_given."""
    wanted = run.wants_event_rows == 1
    logged = run.n_logged
    if wanted and run.is_given == 0:
        _record_before(run, rows, guard)
    code = _event(run, log, guard, due, stepped)
    if code != 0:
        return code
    if wanted:
        if run.n_logged == logged:
            run.n_rows -= 1  # relations flipped and nothing came of it
            if run.wants_step_rows == 1:
                record_row(run, rows, row_time(run), run.y_at, run.sens_at, STEP_ROW)
        else:
            record_row(run, rows, row_time(run), run.y_at, run.sens_at, AFTER_ROW)
    return 0
