"""Time events inside a step that has gone beyond them, as models may allow (TEVENT(2) of Otter's DSblock 3.3, DLR 1994).

In: the step just found, run.t_event inside it. Each event is carried out at its time, with the unknowns that the method gives there. If it leaves
everything as it was, the step stays as it is, and what lies behind in it is looked at next; else what lies behind the event is thrown away, and the
method begins anew there. That nothing has changed is the model's word (run.goes_on_at); it is not taken where right sides, guards or conditions
are seen to be others than before.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_hook, call_value
from tidegate.compiled.jit import NUMBERS, kernel_entry, native
from tidegate.compiled.workspace import AFTER_ROW, BEFORE_ROW, LIMIT, TIME_EVENT
from tidegate.events.constraints import note_drift
from tidegate.events.guards import refresh_activity
from tidegate.events.kept_sides import hold_sides
from tidegate.events.own_size import renew_tolerances
from tidegate.events.quiet import conditions_are_the_same
from tidegate.events.restart import consistent_point, derivatives
from tidegate.events.schedule import is_same_time, schedule
from tidegate.events.settle import compute_bodies
from tidegate.integrators.hybrid_loop.asked_rows import ROOM, outputs_here, write_outputs
from tidegate.integrators.hybrid_loop.event import event_with_rows
from tidegate.integrators.hybrid_loop.record import log_event, record_polynomial, record_row, row_time

__all__ = ["RESTARTED", "passed_events"]

RESTARTED: Final = -1  # instead of a reason of failure: the method has begun anew at an event, which is the current point


@native
def _lies_inside(run):
    end = run.t + run.step
    return run.t_event < end and not is_same_time(run, run.t_event, end)


@native
def _stand_at_event(run, polynomials):
    """Stand at the event, whose unknowns are in run.y_old; what the step is going to need is held back."""
    when = run.t_event
    run.t_held = run.t
    run.step_held = run.step
    run.step = when - run.t
    record_polynomial(run, polynomials)
    run.step = run.step_held
    for q in range(run.n):
        run.y_held[q] = run.y[q]
        run.y[q] = run.y_old[q]
    run.t = when
    run.t_shown = when
    run.has_passed = 1
    if run.mass_kind != 0 and consistent_point(run, when, run.y_at) != 0:
        for q in range(run.n):
            run.y[q] = run.y_old[q]


@native
def _step_back(run):
    """Stand at the start of the step again."""
    run.t = run.t_held
    run.step = run.step_held
    for q in range(run.n):
        run.y[q] = run.y_held[q]


@native
def _leave_the_rest(run):
    """The step ends at the event, which is the current point."""
    run.step = run.t - run.t_held
    run.step_old = run.length
    run.step_before_event = run.length
    run.has_polynomial = 0
    run.has_passed = 0
    run.is_first = 0
    run.is_cut = 0
    run.last_guard = -1
    renew_tolerances(run, 0)
    note_drift(run, run.t)


@native
def _is_at_a_zero(run):
    """True if a guard is zero at this point, but for rounding: then what crosses here happens at this instant, too.

    One that is exactly zero rests there: if it crossed, the step would end here.
    """
    g = run.noted_g
    for j in range(run.n_guards):
        if run.active[j] != 0.0 and run.is_time[j] == 0 and g[j] != 0.0 and not abs(g[j]) > run.nu_start[j]:
            return True
    return False


@native
def _ask(run):
    """Let the event happen: what it gives is in run.body then; nothing is written yet."""
    for k in range(run.n_actions):
        run.fired[k] = 0.0
    flag = run.n_actions - run.n_steps - run.n_clocks
    run.flags[flag] = 1.0
    compute_bodies(run, run.t)
    run.flags[flag] = 0.0
    return flag


@native
def _leaves_everything(run):
    """True if what is in run.body leaves everything as it was; the discrete variables are taken over then."""
    n = run.n
    body = run.body
    if body[n + run.goes_on_at] != 1.0:
        return False
    for q in range(n):
        if body[q] != run.y[q]:
            return False
    for q in range(run.n_discrete):
        run.discrete[q] = body[n + q]
        run.previous[q] = body[n + q]
    rates = run.trial_end
    call_value(run.f_rhs, run.t, run.y, run.p, run.m, rates)
    is_same = True
    for q in range(n):
        is_same = is_same and rates[q] == run.noted_ydot[q]
    if run.n_guards > 0:
        g = run.g
        call_value(run.f_guards, run.t, run.y, run.p, run.m, g)
        for j in range(run.n_guards):
            is_same = is_same and g[j] == run.noted_g[j]
    if is_same and conditions_are_the_same(run, run.t):
        return True
    for q in range(run.n_discrete):
        run.discrete[q] = run.m_old[run.first_discrete + q]
        run.previous[q] = run.discrete[q]
    return False


@kernel_entry(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def passed_events(run, rows, log, polynomials, times):
    """Carry out the time events inside the step: 0 if there are none left, RESTARTED, or the reason of failure."""
    n = run.n
    wanted = run.wants_event_rows == 1
    while _lies_inside(run):
        if run.n_rows >= run.room_rows - ROOM or run.n_logged >= run.room_log - 1 or run.n_polynomials >= run.room_polynomials - 1:
            return LIMIT
        code = write_outputs(run, rows, times, run.t_event)
        if code == 0:
            code = call_hook(run.hook_values, run.h, run.r, run.t_event, 0)
        if code != 0:
            return code
        hold_sides(run, run.y_old)
        _stand_at_event(run, polynomials)
        t = run.t
        code = derivatives(run, t, run.y_at, run.ydot_before_at)
        if code != 0:
            return code
        if run.n_guards > 0:
            call_value(run.f_guards, t, run.y, run.p, run.m, run.noted_g)
        if _is_at_a_zero(run):
            _leave_the_rest(run)
            code = event_with_rows(run, rows, log, -1, run.n_guards, 0)
            return RESTARTED if code == 0 else code
        if wanted:
            record_row(run, rows, row_time(run), run.y_at, run.sens_at, BEFORE_ROW)
        call_value(run.f_rhs, t, run.y, run.p, run.m, run.noted_ydot)
        for q in range(n):
            run.y_old[q] = run.y[q]
        for q in range(run.first_previous):
            run.m_old[q] = run.m[q]
        flag = _ask(run)
        if not _leaves_everything(run):
            _leave_the_rest(run)
            run.is_given = 1
            code = event_with_rows(run, rows, log, -1, run.n_guards, 0)
            run.is_given = 0
            return RESTARTED if code == 0 else code
        run.counts[0] += 1.0
        run.fired[flag] = 1.0
        run.event_kind = TIME_EVENT
        run.event_cause = -1
        run.cause_item = run.n_guards
        run.rounds = 1
        run.c_events += 1
        log_event(run, log, t)
        if wanted:
            record_row(run, rows, row_time(run), run.y_at, run.sens_at, AFTER_ROW)
        refresh_activity(run)
        schedule(run, False)
        code = outputs_here(run, rows, times)
        _step_back(run)
        if code != 0:
            return code
    return 0
