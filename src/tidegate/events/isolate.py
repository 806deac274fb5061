"""The first root of any guard on the polynomial of a step: proved by bounds, never by signs at points.

A guard with the sign it must keep is s*g > 0; it is isolated where s*g falls to -nu, nu being its round-off level, so that a guard that starts at
zero or rests at zero does not fire. Guards affine in time and unknowns are polynomials: a Horner lower bound excludes most, Descartes' rule on
Bernstein coefficients with de Casteljau subdivision isolates the rest (Lane and Riesenfeld 1981). Other guards go through
polynomials with bounds (``guard_models``), and where these do not tell, through interval arithmetic on parts of the step (``interval_roots``); where
that takes too many parts the step is to be made shorter.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.compiled.workspace import RELATION
from tidegate.events.dying import crosses_by_chance, is_in_reach
from tidegate.events.faint import note_how_far
from tidegate.events.grazing import guard_reach, note_grazings
from tidegate.events.guards import asks_for_first_powers, expected_sign, first_powers, guard_polynomials, guard_roundoff, guard_slopes
from tidegate.events.interval_roots import curved_root
from tidegate.events.kept_sides import is_a_kept_zero
from tidegate.events.polynomial_roots import NO_ROOT, UNKNOWN_ROOT, polynomial_root, put_polynomial, value_and_slope
from tidegate.events.time_scale import time_scale
from tidegate.events.told import CROSSES, can_be_shorter, is_told_wholly, told_by_slope
from tidegate.events.tolerances import AT_THE_END, SAME_TIME
from tidegate.events.unresolved import is_any_unresolved, resolved_up_to

__all__ = ["UNDECIDED", "UNDEFINED", "earliest_crossing", "earliest_of_guards", "guard_at_the_end"]

UNDEFINED: Final = -2  # instead of a guard: an active one, noted in run.failed_guard, is NaN
UNDECIDED: Final = -3  # or nobody knows whether one is across beyond run.found_theta
_TURNED: Final = 1e-3  # of its slope at the start: so fast a guard rises at the end of a step that came down to zero and turned
_HALVINGS: Final = 50  # of a step, to where that is
_LEAST: Final = 1e-300  # above zero a guard starts, where nothing rounds it: one that only touches it from there is not across


@kernel_entry()
def guard_at_the_end(run):
    """A guard, of a model that has some, that reaches zero just where the run ends, which no step behind it will show; else -1; UNDEFINED if NaN."""
    ng = run.n_guards
    t = run.t
    y = run.y
    g = run.g
    slopes = run.slopes
    guard_roundoff(run, t, y)
    call_value(run.f_guards, t, y, run.p, run.m, g)
    known = run.mass_kind == 0
    if known:
        _slopes_by_equations(run, t, y)
    for j in range(ng):
        if run.active[j] == 0.0 or run.is_time[j] == 1:
            continue
        if g[j] != g[j]:
            run.failed_guard = j
            return UNDEFINED
        sign = expected_sign(run, j)
        towards = -sign * slopes[j] if known else 0.0
        roundoff = run.nu_start[j]
        if is_a_kept_zero(run, t, 0.0, 0.0, j):
            continue
        if sign * g[j] < -roundoff:
            return j  # across already, by less than the last step could show
        if towards * AT_THE_END * time_scale(run, run.ydot_at) > roundoff and abs(g[j]) <= roundoff + SAME_TIME * abs(t) * towards:
            return j
    return -1


@native
def _slopes_by_equations(run, t, y):
    """How fast every guard moves at a point of y' = f, into run.slopes."""
    call_value(run.f_rhs, t, y, run.p, run.m, run.ydot)
    guard_slopes(run, t, y, run.ydot, run.slopes)


@native
def _end_of_a_fall(run, t, step):
    """A guard whose polynomial has come down to zero and up again within the tolerance, where the equations say that it goes down still; else -1.

    So ends the fall of a root: ``h' = -sqrt(h)`` is a parabola down to its lowest point, which is put into run.found_theta, and nothing behind it.
    UNDECIDED if it has turned before it was there.
    """
    if run.series_order == 0 or run.mass_kind != 0:
        return -1
    degree = run.degree
    c = run.bernstein_scratch
    reach = run.reach_scratch
    known = False
    for j in range(run.n_guards):
        if run.active[j] == 0.0 or run.is_time[j] == 1 or run.is_linear[j] == 0 or run.kept_first[j + 1] > run.kept_first[j]:
            continue
        sign = expected_sign(run, j)
        falls = -sign * run.guard_coefficients[0, j]
        if not falls > 0.0:
            continue
        put_polynomial(run, sign * run.g[j], sign, j, degree)
        if not value_and_slope(c, degree, 1.0)[1] > _TURNED * falls:
            continue
        if not known:
            known = True
            guard_reach(run, t, run.y_end, run.y_max, reach)
            _slopes_by_equations(run, t, run.y_end)
        if not (abs(run.late_scratch[j]) <= reach[j] and sign * run.slopes[j] < 0.0):
            continue
        low = 0.0
        high = 1.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if value_and_slope(c, degree, middle)[1] < 0.0:
                low = middle
            else:
                high = middle
        if abs(run.g[j]) > run.nu[j] and is_told_wholly(run, high, j) and can_be_shorter(run, high * step):
            run.failed_guard = j
            run.found_theta = high
            if abs(value_and_slope(c, degree, high)[0]) > run.nu[j]:
                return UNDECIDED
            run.came_to_rest = j + 1
            return j
    return -1


@native
def _looks_right_at_the_end(run, t):
    """False if an active guard is NaN at the end of the step. One that has come down to nothing there may have come to rest: it crosses nowhere."""
    g = run.late_scratch
    call_value(run.f_guards, t, run.y_end, run.p, run.m, g)
    if run.stays_known == 1 and run.n_kept == 0:
        run.late_at = t
    for j in range(run.n_guards):
        if run.active[j] == 0.0 or run.is_time[j] == 1:
            continue
        if g[j] != g[j]:
            run.failed_guard = j
            return False
        if g[j] == 0.0 and run.mass_kind == 0 and run.guard_kind[j] == RELATION and run.m[run.guard_mode[j]] == run.is_strict[j]:
            _slopes_by_equations(run, t, run.y_end)
            if run.slopes[j] == 0.0 and abs(run.g[j]) > run.nu[j]:
                run.came_to_rest = j + 1
    return True


@native
def _is_doubtful(run, t, step, guard, theta):
    """True of a crossing much later than the slope at the start tells, which is nearer to zero than the tolerance; run.found_theta is put before it.

    It may be one that the error of the step has made: ``x' = -k x`` never gets there, but comes within the tolerance. A shorter step tells.
    """
    sign = expected_sign(run, guard)
    # how fast the guard nears its zero, per step: as the polynomial says, or the equations if that is faster
    towards = -sign * run.guard_coefficients[0, guard]
    if not towards > 0.0:
        return False
    if not is_in_reach(run, t, guard):
        return False
    if run.mass_kind == 0:
        _slopes_by_equations(run, t, run.y)
        towards = max(towards, -sign * run.slopes[guard] * step)
    trusted = told_by_slope(run, guard, towards, CROSSES)
    if not theta > trusted or not can_be_shorter(run, trusted * step):
        return False
    run.found_theta = trusted
    return True


@native
def _put_guards(run, t):
    """Guards at the start of a step: what they were at the end of the last one, if nothing has happened there."""
    if run.late_at != t:
        call_value(run.f_guards, t, run.y, run.p, run.m, run.g)
        return
    for j in range(run.n_guards):
        run.g[j] = run.late_scratch[j]


@kernel_entry(NUMBER, NUMBER)
def earliest_of_guards(run, t, step):
    """``earliest_crossing`` of a model that has guards."""
    ng = run.n_guards
    run.found_theta = NO_ROOT
    run.came_to_rest = 0
    degree = run.degree
    y = run.y
    g = run.g
    is_known = run.known_at == t
    run.known_at = np.nan  # quiet flips may change modes before the next look
    if not is_known:
        _put_guards(run, t)
        guard_roundoff(run, t, y)
    nu = run.nu
    active = run.active
    linear = run.is_linear
    of_time = run.is_time
    coefficients = run.guard_coefficients
    if not asks_for_first_powers(run):
        guard_polynomials(run, t, step)
    elif is_known and run.series_order > 0:
        for j in range(ng):
            coefficients[0, j] = step * run.slopes[j]
    else:
        first_powers(run, t, step)
    best = NO_ROOT
    found = -1
    falls_with = 0.0
    at_found = 0.0
    run.found_is_told = 0
    run.is_unresolved = 0
    run.at_pole = 0
    if run.n_curved > 0 and is_any_unresolved(run):
        resolved_up_to(run, t, step)
        if run.found_theta < 1.0:
            best = run.found_theta
            found = UNDECIDED
        run.found_theta = NO_ROOT
    prepared = 0
    for j in range(ng):
        if active[j] == 0.0 or of_time[j] == 1:
            continue
        note_how_far(run, j)
        sign = expected_sign(run, j)
        start = sign * g[j] + nu[j]
        if g[j] != g[j]:
            run.failed_guard = j
            return UNDEFINED
        if start <= 0.0:
            returns = sign * coefficients[0, j]
            if not -start <= SAME_TIME * abs(t) / step * returns:
                if crosses_by_chance(run, t, step, 0.0, j):
                    continue
                if run.n_sens > 0:
                    note_grazings(run, t, step, 0.0, j)
                run.found_theta = 0.0
                run.falls_with = 0.0
                return j
            # an event put it there within the rounding of time, and it is on its way back, or rests
            start = max(1e-3 * nu[j], 1e-3 * abs(g[j]), _LEAST)
            nu[j] = start - sign * g[j]
        upper = min(best, 1.0)
        if not upper > 0.0:
            continue
        run.falls_with = 0.0
        run.is_told = 0
        if linear[j] == 1:
            low = 0.0
            for k in range(degree - 1, -1, -1):
                low = sign * coefficients[k, j] + min(low, 0.0)
            if start + min(low, 0.0) > 0.0:
                continue
            root = polynomial_root(run, start, sign, j, degree, upper)
        else:
            prepared = curved_root(run, t, step, start, upper, j, prepared)
            root = run.found_theta
            run.found_theta = NO_ROOT
            if root == UNKNOWN_ROOT and run.decided_to < best:
                best = run.decided_to
                found = UNDECIDED
                run.failed_guard = j
        if root < best and not crosses_by_chance(run, t, step, root, j):
            best = root
            found = j
            falls_with = run.falls_with
            at_found = run.at_root - nu[j]
            run.found_is_told = run.is_told
    run.falls_with = falls_with
    run.at_found = at_found
    if found == UNDECIDED:
        run.found_theta = best
        return UNDECIDED
    if found >= 0 and _is_doubtful(run, t, step, found, best):
        run.failed_guard = found
        return UNDECIDED
    if found < 0 and not _looks_right_at_the_end(run, t + step):
        return UNDEFINED
    if found < 0:
        found = _end_of_a_fall(run, t + step, step)
        if found == UNDECIDED:
            return UNDECIDED
        best = run.found_theta
    if run.n_sens > 0 and note_grazings(run, t, step, min(best, 1.0), found) == 1:
        return UNDECIDED
    run.found_theta = best
    return found


@native
def earliest_crossing(run, t, step):
    """The active guard with the first root on the step from the current point with the polynomial in A; -1 if there is none.

    Leaves theta in [0, 1] in run.found_theta, or NO_ROOT. UNDECIDED if the search for a guard, noted in run.failed_guard, took too
    many parts, or if what it found is to be seen in a shorter step.
    """
    run.found_theta = NO_ROOT
    # a model without guards does without the machine code of the search
    return earliest_of_guards(run, t, step) if run.n_guards > 0 else -1
