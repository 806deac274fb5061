"""The native run, whatever the method: step, isolate, locate, settle, record, until a target, a failure, or until Python is wanted.

Everything between two visits of Python happens here, without the interpreter and without allocation. A method stands behind six kernel entries whose
addresses are in the workspace; each is called as ``entry(run, number, integer)`` and returns 0 or the reason of failure:

- ``hook_step``: take the next step from the current point, not beyond run.t_next. Leaves its length in run.step, its polynomial in run.coefficients
  (the degree in run.degree), its end in run.y_end; the proposal for the step after it in run.step_new, if the method wants one.
- ``hook_locate`` (theta, guard): the event at that part of the step. Leaves time from the start of the step in run.step, the length of the step it
  lies on in run.length, the point in run.y_new, the guard in run.found_guard (-1: the step, now shorter, ends before any event). With the guard -1 no
  event is known there, but the step is to end there, since what is behind could not be decided; run.is_cut: the method must start afresh then.
- ``hook_sensitivities``: S at the end of run.step, into run.sens_end; ``hook_values`` (time, FOR_A_ROW or 0): y inside
  the step into run.y_old, S into run.sens_out.
- ``hook_restart`` (time, AT_START or AGAIN): forget the past; the current point is where the method goes on from.
- ``hook_smooth`` (rows, polynomials, times, most), where the method has it: as many steps in a row as have nothing in them but themselves.
- ``hook_accept``: the step is the current one, no event at its end; y' (or f) there into run.f0.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_hook, call_stretch, call_unit, call_value
from tidegate.compiled.jit import NUMBERS, kernel_entry, native
from tidegate.compiled.workspace import (
    AFTER_ROW,
    LIMIT,
    NEVER,
    NOT_FINITE,
    POLE,
    SINGULAR,
    STEP_ROW,
    STEP_TOO_SMALL,
    TARGET,
    TERMINATED,
    UNDECIDED_GUARD,
)
from tidegate.events.constrain import constrain
from tidegate.events.constraints import note_drift
from tidegate.events.crosses_at_start import crosses_at_start
from tidegate.events.guards import refresh_activity
from tidegate.events.isolate import UNDECIDED, UNDEFINED, earliest_crossing, guard_at_the_end
from tidegate.events.kept_sides import hold_sides
from tidegate.events.known_values import forget_here
from tidegate.events.not_tied import NOTHING, VARIES, WITH_SENSITIVITIES
from tidegate.events.own_size import renew_tolerances
from tidegate.events.poles import first_pole, is_at_the_pole
from tidegate.events.pulses import first_pulse
from tidegate.events.quiet import flips_quietly, keep_modes, quiet_modes_hold
from tidegate.events.restart import derivatives
from tidegate.events.schedule import is_same_time, mark_due, schedule, skip_past, steps_ask
from tidegate.events.settle import note_conditions
from tidegate.events.told import can_be_shorter
from tidegate.events.tolerances import IDLE_STEP, UNRESOLVED
from tidegate.events.truth import lost_whole
from tidegate.integrators.hybrid_loop.afresh import settle_afresh, start_afresh, start_just_behind
from tidegate.integrators.hybrid_loop.asked_rows import ROOM, outputs_here, write_outputs
from tidegate.integrators.hybrid_loop.at_a_block import LAST_GAP, at_a_block
from tidegate.integrators.hybrid_loop.breaks import arrive, begin_past, break_again, cut_at_break, limit_step, next_break
from tidegate.integrators.hybrid_loop.event import AT_START, event_with_rows
from tidegate.integrators.hybrid_loop.forces import follow_forces
from tidegate.integrators.hybrid_loop.inside import end_here, go_on_inside, happens_here, hold_back, is_beyond, stand_inside
from tidegate.integrators.hybrid_loop.passed import RESTARTED, passed_events
from tidegate.integrators.hybrid_loop.past import is_full, keep_step, lock_past
from tidegate.integrators.hybrid_loop.pole_at_event import is_pole_at_event
from tidegate.integrators.hybrid_loop.polish import shorter
from tidegate.integrators.hybrid_loop.record import record_polynomial, record_row, row_time
from tidegate.linear.forced import forced_hold
from tidegate.linear.mass import update_mass
from tidegate.sensitivity.ties import ties_are_differentiable

__all__ = ["advance", "begin", "conclude", "continue_from", "disturb", "move_end"]

# where a run stands between two calls: at the end of a step; in front of a step that is found; inside one, where the run ends for now
_AT_END, _FOUND, _INSIDE = 0, 1, 2
_WHOLE: Final = -1  # no break of the past in a step
_SHORTEST_AFTER: Final = 1e-12  # of the times at hand: the least step after one
_UNIT: Final = 1.0  # of time
_AHEAD: Final = 8.0  # of the time gone by: no step looks farther ahead
_SHORTEST_GUESS: Final = 1e-14  # of the time; a step that is refused is followed by shorter ones
_NOTHING_HIDDEN, _A_POLE, _A_PULSE = 0, 1, 2  # what a step may have gone past
_AT_MOST: Final = 0.9  # of a step is kept that has missed a peak once more
_TOWARDS_A_POLE: Final = 0.5  # of the way to one: nearer a step that crosses it is not trusted
_BEHIND_A_ROOT: Final = 1e-3  # of the time gone by: the first step
_AFTER_FALSE_ALARM: Final = 10.0  # growth of the step after a crossing that was none


@native
def _first_step(run):
    """First guess from the size of y' (Hairer, Norsett and Wanner, Solving ODEs I, section II.4, without the second evaluation)."""
    n = run.n
    size = 0.0
    speed = 0.0
    for q in range(n):
        scale = run.atol[q] + run.rtol * abs(run.y[q])
        part, rate = run.y[q] / scale, run.ydot[q] / scale
        size += part * part
        speed += rate * rate
    if n == 0:
        # nothing but times to look at
        return NEVER if run.f_tape == 0 else max(_UNIT, abs(run.t))
    size = np.sqrt(size / n)
    speed = np.sqrt(speed / n)
    if size < 1e-5 or speed < 1e-5:
        return max(IDLE_STEP, _SHORTEST_AFTER * abs(run.t))
    return max(0.01 * size / speed, _SHORTEST_GUESS * abs(run.t))


@native
def _take_step(run):
    """A step of the method; of the clock alone where there is nothing to integrate."""
    if run.f_step_begins != 0:
        call_value(run.f_step_begins, run.t, run.y, run.p, run.m, run.told)
    if run.n > 0:
        if run.past != 0:
            code = limit_step(run)
            if code != 0:
                return code
        if run.t > run.t_start and run.keeps_proposals == 0:
            # where events cut every step, proposals would grow and grow
            run.step_new = min(run.step_new, _AHEAD * (run.t - run.t_start))
        return call_hook(run.hook_step, run.h, run.r, 0.0, 0)
    run.degree = 1
    run.step = min(run.step_new, run.step_max, run.t_next - run.t)
    if run.f_tape == 0:
        run.step = min(run.step, run.t_end - run.t)
    run.step_new = 2.0 * run.step_new
    return 0


@native
def _has_pole(run, low, guard):
    """True if there is a pole behind ``low`` in the step as far as it is kept, which ends at run.found_theta if there is a guard."""
    if run.n_divisors == 0 or run.is_clear == 1 or guard == UNDEFINED:
        return False
    high = 1.0 if guard == -1 else min(run.found_theta, 1.0)
    return first_pole(run, run.t, low, high, 1 if guard >= 0 else 0) == 1


@native
def _has_pulse(run, low, guard):
    """True if the step as far as it is kept has missed a narrow peak behind ``low``."""
    if run.n_peaks == 0 or run.is_clear == 1 or run.n == 0 or guard == UNDEFINED:
        return False
    high = 1.0 if guard == -1 else min(run.found_theta, 1.0)
    # a step may go far beyond the end of the run, too far for places in it to say much about what is in front
    end = (run.t_end - run.t) / run.length if run.length > 0.0 else 1.0
    if low < end < high and first_pulse(run, run.t, low, end, 0) == 1:
        return True
    return first_pulse(run, run.t, low, high, 1 if high == 1.0 else 0) == 1


@native
def _has_more_pulses(run):
    """True if what is left of a step that was cut before a peak, or at an event in front of it, has missed another: not all are seen at once."""
    if not (run.step > 0.0 and run.length > 0.0):
        return False
    part = run.step / run.length
    found = first_pulse(run, run.t, 0.0, part, 0) == 1
    run.pulse_theta = min(run.pulse_theta, _AT_MOST * part)
    return found and run.t + run.pulse_theta * run.length > run.t


@native
def _hidden(run, low, guard):
    """What hides behind ``low`` in the step as far as it is kept."""
    if _has_pole(run, low, guard):
        return _A_POLE
    return _A_PULSE if _has_pulse(run, low, guard) else _NOTHING_HIDDEN


@native
def _cut_at_event(run):
    """Cut the step just found at the earliest event in it, which is in run.last_guard then (-1: none)."""
    n = run.n
    t = run.t
    end = run.y_end
    point = run.y_new
    run.last_guard = -1
    guard = earliest_crossing(run, t, run.step)
    if guard == UNDEFINED:
        return NOT_FINITE
    first_guard, first_theta = guard, run.found_theta
    quiet = 0
    hidden = _hidden(run, 0.0, guard)
    if guard >= 0:
        keep_modes(run)
        while guard >= 0 and run.found_theta > 0.0 and hidden == _NOTHING_HIDDEN and flips_quietly(run, t, guard):
            quiet += 1
            run.is_clear = 0  # what was seen holds in the mode before
            flipped = run.found_theta
            guard = earliest_crossing(run, t, run.step)
            hidden = _hidden(run, flipped, guard)
    for q in range(n):
        point[q] = end[q]
    if quiet > 0 and guard == -1 and hidden == _NOTHING_HIDDEN and quiet_modes_hold(run, t + run.step, point.ctypes) == 0:
        quiet = 0
        guard = first_guard
        run.found_theta = first_theta
    run.quiet_flips = quiet
    cut = hidden != _NOTHING_HIDDEN or guard == UNDECIDED
    if hidden == _A_PULSE:
        guard = -1
        run.found_theta = run.pulse_theta
    elif hidden == _A_POLE:
        if is_at_the_pole(run):
            return at_a_block(run, POLE)
        guard = -1
        run.found_theta = _TOWARDS_A_POLE * run.pole_theta
    elif cut:
        if not can_be_shorter(run, run.step):
            return UNDECIDED_GUARD
        run.found_theta = shorter(run)
    if cut or guard >= 0:
        code = call_hook(run.hook_locate, run.h, run.r, run.found_theta, max(guard, -1))
        while code == 0 and run.found_guard < 0 and _has_pole(run, 0.0, -1):
            code = POLE
            if not is_at_the_pole(run):
                code = call_hook(run.hook_locate, run.h, run.r, _TOWARDS_A_POLE * run.pole_theta, -1)
        while code == 0 and hidden == _A_PULSE and _has_more_pulses(run):
            run.step = run.length
            code = call_hook(run.hook_locate, run.h, run.r, run.pulse_theta, -1)
        if code != 0:
            return at_a_block(run, code)
        run.last_guard = run.found_guard
        if run.last_guard < 0:
            # the polynomial of the long step was wrong about the guard; so would be that of the next if it were as long
            run.step_new = min(run.step_new, max(_AFTER_FALSE_ALARM * run.step, _SHORTEST_AFTER * max(abs(t), run.time_size)))
            if hidden == _A_PULSE:
                run.step_new = min(run.step_new, run.pulse_width)
        if quiet > 0 and run.last_guard < 0:
            # the event dissolved; what is wrong with the modes now, if anything, shows at the start of the next step
            quiet_modes_hold(run, t + run.step, point.ctypes)
    return 0


@native
def _take_step_afresh(run):
    """A step where none was possible: near a vertical root, a point may fulfil algebraic equations too badly for any step from it."""
    wanted = run.step_new
    for q in range(run.n):
        run.y_new[q] = run.y[q]
    code = start_afresh(run)
    if code == 0:
        run.step_new = wanted
        code = _take_step(run)
    if code != 0:
        for q in range(run.n):
            run.y[q] = run.y_new[q]
    return code


@native
def _find_step(run):
    """The next step, cut at the earliest event in it: its end in run.y_new and run.sens_end, the guard in run.last_guard (-1: none)."""
    n = run.n
    code = _take_step(run)
    if code == STEP_TOO_SMALL and run.rank < n and run.n_forms == 0:
        code = _take_step_afresh(run)
    elif code == NOT_FINITE and n > 0 and run.past == 0 and start_just_behind(run) == 0:
        code = _take_step(run)
    if code != 0:
        return at_a_block(run, code)
    run.c_steps += 1
    hold_sides(run, run.y_end)
    run.length = run.step
    run.quiet_flips = 0
    code = follow_forces(run) if run.n_forms > 0 else 0
    if code != 0:
        return code
    code = cut_at_break(run) if run.past != 0 else _WHOLE
    code = _cut_at_event(run) if code == _WHOLE else at_a_block(run, code)
    if code != 0:
        return code
    if run.n_sens > 0:
        if run.length > 0.0 and n > 0:
            return call_hook(run.hook_sensitivities, run.h, run.r, 0.0, 0)
        for q in range(run.n_sens * n):
            run.r[run.sens_end_at + q] = run.r[run.sens_at + q]
    return 0


@native
def _behind_event(run, rows, times):
    """What follows an event in which the method may have begun anew."""
    run.phase = _AT_END
    break_again(run, 0)
    _stop_at_breaks(run)
    if run.step_new <= LAST_GAP * max(abs(run.t), run.time_size) or run.is_at_rest == 1:
        # where nothing has moved, neither a step nor a tolerance tells what is long; nor do steps that crept towards the event
        run.step_new = _first_step(run)
    if run.blocked_step > 0.0:
        # a force that is about to rise from zero says nothing yet of how fast it will
        run.step_new = min(run.step_new, _BEHIND_A_ROOT * (run.t - run.t_start))
    return outputs_here(run, rows, times)


@native
def _prove(run):
    """Where it was asked for, prove that no event of the step about to be committed was missed."""
    if run.f_proof != 0:
        call_unit(run.f_proof, run.h, run.r, run.quiet_flips)


@native
def _commit(run):
    """Make the end of the step the current point."""
    t_new = run.t + run.step
    if is_same_time(run, t_new, run.t_next):
        t_new = run.t_next
    elif is_same_time(run, t_new, run.t_event):
        t_new = run.t_event
    elif is_same_time(run, t_new, run.t_end):
        t_new = run.t_end
    hold_sides(run, run.y_new)
    for q in range(run.n):
        run.y[q] = run.y_new[q]
    for q in range(run.n_sens * run.n):
        run.r[run.sens_at + q] = run.r[run.sens_end_at + q]
    run.t = t_new
    run.step_old = run.length
    if run.length > UNRESOLVED * abs(t_new):  # by less nothing can be seen to move
        run.step_before_event = run.length
    run.has_polynomial = 1 if run.step == run.length and run.step > 0.0 else 0
    run.is_first = 0
    run.has_passed = 0
    run.last_guard = run.came_to_rest - 1 if run.last_guard < 0 and run.step == run.length else run.last_guard
    run.came_to_rest = 0
    renew_tolerances(run, 0)
    note_drift(run, t_new)


@native
def _stop_at_breaks(run):
    """Let no step pass the next place where the past is not smooth."""
    when = next_break(run)
    run.t_next = min(run.t_next, when)


@kernel_entry(NUMBERS, NUMBERS, NUMBERS)
def begin(run, rows, log, times):
    """Consistent start: modes from the guards, algebraic unknowns, sensitivities; first row, first schedule, events due at once."""
    n = run.n
    t = run.t
    y = run.y
    for q in range(n):
        run.y_max[q] = max(run.y_max[q], abs(y[q]))
    renew_tolerances(run, 1)
    run.step_before_event = run.step_new
    if run.past != 0:
        begin_past(run)
    code = settle_afresh(run, t)
    if code != 0:
        return code
    run.failed_guard = lost_whole(run)
    if run.failed_guard >= 0:
        return NOT_FINITE
    lock_past(run)
    note_conditions(run, t, False)
    code = call_hook(run.hook_restart, run.h, run.r, t, AT_START)
    if code != 0:
        return code
    skip_past(run, t, True)
    schedule(run, True)
    _stop_at_breaks(run)
    if run.step_new <= 0.0:
        run.step_new = _first_step(run)
    run.step_before_event = run.step_new
    due = -1
    if is_same_time(run, run.t_next, t):
        due = mark_due(run, t, False)
    guard = crosses_at_start(run, t) if run.n_guards > 0 and run.n_actions > 0 else -1
    if due >= 0 or guard >= 0:
        code = event_with_rows(run, rows, log, guard, due, 0)
        if code != 0:
            return code
        break_again(run, 0)
        _stop_at_breaks(run)
    if run.wants_step_rows == 1 and (run.wants_event_rows == 0 or not (due >= 0 or guard >= 0)):
        record_row(run, rows, t, run.y_at, run.sens_at, STEP_ROW)
    return outputs_here(run, rows, times)


@kernel_entry()
def continue_from(run):
    """Go on from a point put into the workspace, whose modes, discrete variables and conditions are known."""
    forget_here(run)
    renew_tolerances(run, 0)
    update_mass(run)
    refresh_activity(run)
    run.step_before_event = run.step_new
    code = derivatives(run, run.t, run.y_at, run.ydot_at)
    if code != 0 and constrain(run, run.t) == NOTHING:
        for i in range(run.n_sens):
            run.dt_dp[i] = 0.0
        code = derivatives(run, run.t, run.y_at, run.ydot_at)
        if code == 0 and run.n_sens > 0 and ties_are_differentiable(run, run.t) == 0:
            run.not_forced_why = WITH_SENSITIVITIES
            return SINGULAR
    if code == 0:
        code = call_hook(run.hook_restart, run.h, run.r, run.t, AT_START)
    schedule(run, False)
    _stop_at_breaks(run)
    if run.step_new <= 0.0:
        run.step_new = _first_step(run)
    run.step_before_event = run.step_new
    return code


@kernel_entry()
def move_end(run):
    """Make known that run.t_end was changed, where it matters."""
    schedule(run, False)
    _stop_at_breaks(run)
    return 0


@kernel_entry(NUMBERS, NUMBERS)
def disturb(run, rows, log):
    """The event that follows when the user sets unknowns, discrete variables or parameters at the current point."""
    run.phase = _AT_END  # what the rest of the step would have been, nobody will know
    run.is_cut = 0
    code = event_with_rows(run, rows, log, -1, -1, 0)
    break_again(run, 0)
    _stop_at_breaks(run)
    return code


@kernel_entry(NUMBERS)
def conclude(run, rows):
    """One row more, with the values that the end of the run gives: they wait in run.body, their derivatives in run.sens and run.sens_discrete."""
    n = run.n
    nd = run.n_discrete
    for q in range(n):
        run.y[q] = run.body[q]
    for q in range(nd):
        run.discrete[q] = run.body[n + q]
        run.previous[q] = run.body[n + q]
    run.n_rows = 0
    code = settle_afresh(run, run.t)
    if code == 0:
        record_row(run, rows, row_time(run), run.y_at, run.sens_at, AFTER_ROW)
    return code


@kernel_entry(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def advance(run, rows, log, polynomials, times):
    """Run until the end, a failure, or until a buffer is full or the budget of steps used up; returns the reason."""
    budget = run.budget
    if run.phase == _INSIDE:
        if not run.t < run.t_end:
            return TARGET
        go_on_inside(run)
        run.phase = _FOUND
    while True:
        if run.phase == _AT_END:
            if run.is_terminated == 1:
                return TERMINATED
            if not run.t < run.t_end or is_same_time(run, run.t, run.t_end):
                return POLE if is_pole_at_event(run, run.t, -1, run.f0_at) == 1 else TARGET
            full = run.n_rows >= run.room_rows - 2 * ROOM or run.n_logged >= run.room_log - 1 or run.n_polynomials >= run.room_polynomials - 1
            if budget <= 0 or full or is_full(run):
                return LIMIT
            run.blocked_step = 0.0
            if run.hook_smooth != 0:
                budget -= call_stretch(run.hook_smooth, run.h, run.r, rows, polynomials, times, budget - 1)
            budget -= 1
            code = _find_step(run)
            if code == NOT_FINITE and run.n > 0 and run.t + run.step > run.t_end and run.t_next > run.t_end:
                # what is behind the end of the run need not make sense
                run.t_next = run.t_end
                code = start_afresh(run)
                if code == 0:
                    code = _find_step(run)
            if code != 0:
                return code
            run.phase = _FOUND
        if run.t_event < run.t + run.step:
            code = passed_events(run, rows, log, polynomials, times)
            if code == RESTARTED:
                code = _behind_event(run, rows, times)
                if code == 0:
                    continue
            if code != 0:
                return code
        beyond = is_beyond(run)
        code = write_outputs(run, rows, times, run.t_end if beyond else run.t + run.step)
        if code == 0 and beyond and run.n > 0:
            code = call_hook(run.hook_values, run.h, run.r, run.t_end, 0)
        if code != 0:
            return code
        if beyond and not happens_here(run):
            hold_back(run)
            _prove(run)
            stand_inside(run, rows, polynomials)
            run.phase = _INSIDE
            code = outputs_here(run, rows, times)
            return TARGET if code == 0 else code
        if beyond:
            end_here(run)
        _prove(run)
        record_polynomial(run, polynomials)
        if run.past != 0:
            keep_step(run)
        _commit(run)
        breaks = arrive(run) if run.past != 0 else 0
        if breaks > 0:
            return breaks
        run.phase = _AT_END
        if run.n_forced > 0 and forced_hold(run, run.t, run.y.ctypes) == 0:
            run.not_forced_why = VARIES
            return SINGULAR
        due = -1
        if run.t == run.t_next or run.t == run.t_event:  # noqa: PLR1714, plain comparisons in native code
            due = mark_due(run, run.t, False)
        guard = run.last_guard
        if guard < 0 and not run.t < run.t_end:
            guard = guard_at_the_end(run) if run.n_guards > 0 else -1
            if guard == UNDEFINED:
                return NOT_FINITE
        stepped = steps_ask(run, guard, due)
        if guard >= 0 or due >= 0 or stepped == 1:
            run.can_go_on = 1 if run.is_cut == 0 and breaks == 0 else 0
            run.is_cut = 0
            code = event_with_rows(run, rows, log, guard, due, stepped)
            run.can_go_on = 0
            if code == 0:
                code = _behind_event(run, rows, times)
            if code != 0:
                return code
        else:
            if run.is_cut == 1 or breaks != 0:
                code = start_afresh(run)
                if code != 0:
                    return code
            elif run.n > 0:
                call_hook(run.hook_accept, run.h, run.r, run.t, 0)
            if run.t == run.t_next:
                schedule(run, False)
                _stop_at_breaks(run)
            if run.wants_step_rows == 1:
                record_row(run, rows, row_time(run), run.y_at, run.sens_at, STEP_ROW)
            code = outputs_here(run, rows, times)
            if code != 0:
                return code
