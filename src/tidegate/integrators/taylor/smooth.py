"""Many accepted steps in a row, where nothing happens in them: what the loop would do, without what it would look for in vain.

For models whose guards, if they have any, are watched by whole steps. A step in which there is more to do than to take it, and to write rows that
somebody has asked for, is left where the loop finds it: it has been taken, but not committed. Polynomials of steps are written where they are kept at
once.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_hook, call_value
from tidegate.compiled.jit import INTEGER, NUMBERS, kernel_entry, native
from tidegate.compiled.workspace import STEP_ROW, tail, vector
from tidegate.events.own_size import renew_tolerances
from tidegate.events.schedule import is_same_time
from tidegate.integrators.hybrid_loop.asked_rows import ROOM, write_outputs
from tidegate.integrators.hybrid_loop.record import record_row
from tidegate.integrators.taylor.far_guards import ask_for_guards, is_in_vain, keeps_far, note_accepted, note_vain, watch_signs, were_far
from tidegate.integrators.taylor.sensitivities import NEARLY, limit_steps, reach_of_sensitivities
from tidegate.integrators.taylor.step import call_whole_step, choose_order, degree_of, moves_plainly, put_least

__all__ = ["goes_smoothly", "next_stop", "note_smooth_step", "take_smooth_steps", "writes_asked"]

_BEFORE_DATA: Final = 3  # numbers in a record of a polynomial: where it begins, how wide, its degree


@native
def _write_row(run, rows, t):
    """The row of a step that ends at ``t``, see ``record.record_row``."""
    if run.n_sens > 0:
        record_row(run, rows, t, run.y_at, run.sens_at, STEP_ROW)
        return
    row = tail(rows, run.n_rows * run.wide_rows)
    row[0] = t
    row[1] = STEP_ROW
    offset = 2
    for q in range(run.n):
        row[offset + q] = run.y[q]
    offset += run.n
    for q in range(run.n_discrete):
        row[offset + q] = run.discrete[q]
    offset += run.n_discrete
    if run.n_outputs > 0:
        values = run.outputs
        call_value(run.f_outputs, t, run.y, run.p, run.m, values)
        for q in range(run.n_outputs):
            row[offset + q] = values[q]
    run.n_rows += 1


@native
def _write_polynomial(run, polynomials):
    """What belongs to the coefficients, which stand in their place already; see ``record.record_polynomial``."""
    n = run.n
    row = tail(polynomials, run.n_polynomials * run.wide_polynomials)
    row[0] = run.t
    row[1] = run.step
    coefficients = tail(polynomials, run.n_polynomials * run.wide_polynomials + _BEFORE_DATA + n)
    row[2] = degree_of(n, run.series_order, coefficients)
    for q in range(n):
        row[_BEFORE_DATA + q] = run.y[q]
    for k in range(run.series_order * n, run.max_degree * n):
        coefficients[k] = 0.0
    offset = _BEFORE_DATA + (run.max_degree + 1) * n
    for q in range(run.n_discrete):
        row[offset + q] = run.discrete[q]
    run.n_polynomials += 1


@native
def goes_smoothly(run):
    """True if the steps ahead may be such."""
    looks = run.f_step_begins != 0 or run.f_proof != 0 or run.n_forced > 0 or run.is_sized == 0
    return not looks and run.is_cut == 0 and run.quiet_flips == 0 and run.stiff_steps == 0 and not run.nominal > 0.0 and not run.t_shown > run.t


@native
def next_stop(run):
    """The time that a step must not reach."""
    return min(run.t_end, run.t_next, run.t_event)


@native
def writes_asked(run, rows, times, end):
    """Write the rows that somebody has asked for inside a step that ends here, whose polynomial is known; False if that is left to the loop."""
    if run.next_output >= run.n_asked or (times[run.next_output] > end and not is_same_time(run, times[run.next_output], end)):
        return True
    run.length = run.step
    run.degree = run.series_order
    if run.f_communicated != 0 or write_outputs(run, rows, times, end) != 0:
        return False
    return run.next_output >= run.n_asked or not is_same_time(run, times[run.next_output], end)


@native
def _sensitivities_follow(run):
    """True if there are derivatives at the end of the step just known, or nobody wants any; otherwise the loop says why not, or makes it shorter."""
    if run.n_sens == 0:
        return True
    calls = run.c_rhs
    run.length = run.step
    run.sens_length = 0.0
    if call_hook(run.hook_sensitivities, run.h, run.r, 0.0, 0) == 0 and (not limit_steps(run) or reach_of_sensitivities(run) >= NEARLY):
        return True
    run.c_rhs = calls
    return False


@native
def note_smooth_step(run, end):
    """What follows from a step that has led here, besides the unknowns."""
    run.t = end
    run.length = run.step
    run.step_old = run.step
    run.step_before_event = run.step
    run.step_new = run.possible
    run.stiff_steps = 0
    run.idle_steps = 0
    run.crept_steps = max(run.crept_steps - 1, 0)
    run.is_chosen = 0
    run.is_first = 0
    run.has_passed = 0
    run.has_polynomial = 0
    run.last_guard = -1


@native
def _take_steps(run, rows, polynomials, times, most):
    n = run.n
    taken = 0
    if not goes_smoothly(run):
        return taken
    stop = next_stop(run)
    if not run.t < stop:
        return taken
    is_told = run.n_far == 0
    if not is_told:
        watch_signs(run)
    if run.goes_by_size == 1:
        put_least(run)
    while taken < most:
        if run.n_rows + 1 >= run.room_rows - 2 * ROOM or (run.keeps_polynomials == 1 and run.n_polynomials + 1 >= run.room_polynomials - 1):
            return taken
        choose_order(run)
        order = run.series_order
        held = vector(run.r, run.coefficients_at, order * n)
        a = held
        if run.keeps_polynomials == 1:
            a = tail(polynomials, run.n_polynomials * run.wide_polynomials + _BEFORE_DATA + n)
        unit = min(run.step_new, run.step_max)
        if not call_whole_step(run, unit, a):
            return taken
        end = run.t + run.step
        plainly = moves_plainly(run) and (run.n_peaks == 0 or run.is_clear == 1) and keeps_far(run)
        if plainly and not is_told:
            plainly = were_far(run)
            is_told = True
        is_smooth = plainly and end < stop and not is_same_time(run, end, stop)
        is_asked = run.next_output < run.n_asked and not times[run.next_output] > end
        if run.keeps_polynomials == 1 and (is_asked or not is_smooth):
            for k in range(order * n):
                held[k] = a[k]
        if not is_smooth or not _sensitivities_follow(run) or not writes_asked(run, rows, times, end):
            run.is_taken = 1
            return taken
        if run.keeps_polynomials == 1:
            _write_polynomial(run, polynomials)
        is_larger = False
        for q in range(n):
            run.y[q] = run.y_end[q]
            run.f0[q] = run.series_rate[q]
            is_larger = is_larger or abs(run.y[q]) > run.y_max[q]
        for q in range(run.n_sens * n):
            run.r[run.sens_at + q] = run.r[run.sens_end_at + q]
        goes_on = run.n_far == 0 or note_accepted(run)
        if is_larger and run.goes_by_size == 1:
            renew_tolerances(run, 0)
            put_least(run)
        run.c_steps += 1
        note_smooth_step(run, end)
        taken += 1
        if run.wants_step_rows == 1:
            _write_row(run, rows, end)
        if not goes_on:
            return taken
    return taken


@kernel_entry(NUMBERS, NUMBERS, NUMBERS, INTEGER)
def take_smooth_steps(run, rows, polynomials, times, most):
    """At most so many steps; how many it were. Behind them there is room for what the loop writes down in one more."""
    if is_in_vain(run):
        return 0
    ask_for_guards(run, True)
    taken = _take_steps(run, rows, polynomials, times, most)
    ask_for_guards(run, False)
    note_vain(run, taken)
    return taken
