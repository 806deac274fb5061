"""An event of the simple kind, at a fraction of the cost: what ``transition.settle`` would do, where most of it can be seen to be nothing.

Simple is an event of y' = f at which one relation crosses or clocks tick, while every other relation is clear of its zero and in order; what follows
is decided by values, by slopes, or by a power series all of whose terms are zero, so that a relation rests at its zero. Whatever is not seen to be so
at once makes the event one for ``settle``: everything is put back, and NOT_SIMPLE said. The order of deeds and the functions that do them are those
of ``settle``; left out are looks at what has not changed since the last one.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import vector
from tidegate.events.chatter import goes_on_through
from tidegate.events.crossing import flip_crossed, forget_where_guards_left, keep_crossed, margin_of, written_truth, zero_margin
from tidegate.events.exactly_at_zero import is_put_exactly_at_zero
from tidegate.events.guards import guard_roundoff, guard_slopes, refresh_activity
from tidegate.events.leaving import ASKED, RESTS
from tidegate.events.restart import derivatives
from tidegate.events.resting import forget_resting, note_where_it_rests
from tidegate.events.settle import (
    carry_out_branches,
    clauses_are_due,
    compute_bodies,
    conditions_hold,
    keep_conditions,
    put_conditions_back,
    read_conditions,
    remember_discrete,
    write_bodies,
)
from tidegate.events.tolerances import SAME_TIME
from tidegate.events.truth import note_change_at_zero, settle_known, sides_by_slopes, truth_of
from tidegate.integrators.hybrid_loop.event import NOT_SIMPLE
from tidegate.sensitivity.jump import body_jump, start_jump

__all__ = ["let_rest_what_does", "settle_simply"]

_MOST_ROUNDS: Final = 6
_MOST_PASSES: Final = 4


@native
def _keep(run):
    """What is needed to put everything back, besides run.y_old."""
    for q in range(run.n):
        run.size_before[q] = run.y_max[q]
    keep_conditions(run)
    for j in range(run.n_guards):
        run.kept_held_sides[j] = run.held_sides[j]
    for i in range(run.n_sens):
        for k in range(run.n_discrete):
            run.kept_sens_discrete[i, k] = run.sens_discrete[i, k]


@native
def _put_back(run, guard, flips, is_terminated):
    for q in range(run.n):
        run.y[q] = run.y_old[q]
        run.y_max[q] = run.size_before[q]
    put_conditions_back(run)
    for j in range(run.n_guards):
        run.held_sides[j] = run.kept_held_sides[j]
    for i in range(run.n_sens):
        for k in range(run.n_discrete):
            run.sens_discrete[i, k] = run.kept_sens_discrete[i, k]
    if run.n_sens > 0:
        start_jump(run)
    if guard >= 0:
        run.flipped[guard] = 1
    run.c_flips = flips
    run.is_terminated = is_terminated
    return NOT_SIMPLE


@native
def _was_constant(run, j):
    """True if a guard affine in time and unknowns has not moved at all in the step that led here."""
    if run.has_polynomial == 0 or run.is_linear[j] == 0:
        return False
    for k in range(run.degree):
        if run.guard_coefficients[k, j] != 0.0:
            return False
    return True


@native
def _others_are_in_order(run, t, guard):
    """Guards, slopes, round-off levels in the mode before, noted; True if the one that crosses is at zero and no other has anything to say."""
    if guard < 0 or not abs(run.rounded_at - t) <= SAME_TIME * abs(t):  # the event's last correction has looked at these already
        guard_roundoff(run, t, run.y)
    if guard < 0 or run.guards_before_at != t:
        call_value(run.f_guards, t, run.y, run.p, run.m, run.g)
    if run.slopes_before_at != t:
        guard_slopes(run, t, run.y, run.ydot, run.slopes)
    for j in range(run.n_guards):
        g = run.g[j]
        slope = run.slopes[j]
        run.noted_g[j] = g
        run.noted_slopes[j] = slope
        if not abs(slope) < np.inf or (run.flipped[j] == 1) != (j == guard):
            return False
        if j == guard:
            if not abs(g) <= margin_of(run, t, j):
                return False
            continue
        said = run.m[run.guard_mode[j]]
        if zero_margin(t, run.nu_start[j], 4.0 * slope) < abs(g) < 1e301:
            if said != (1.0 if g > 0.0 else 0.0):
                return False
            continue
        if note_where_it_rests(run, t, j, run.ydot):
            continue
        rests = guard < 0 and abs(g) <= run.nu_start[j] and _was_constant(run, j)
        if not rests or (run.active[j] == 0.0 and said != written_truth(run, j)):
            return False
    return True


@native
def _are_untouched(run, t):
    """True if no guard has become another expression since one flipped."""
    call_value(run.f_guards, t, run.y, run.p, run.m, run.g)
    guard_slopes(run, t, run.y, run.ydot, run.slopes)
    for j in range(run.n_guards):
        if run.g[j] != run.noted_g[j] or run.slopes[j] != run.noted_slopes[j]:
            return False
    return True


@native
def _moves_on(run, t, guard):
    """True unless clauses may look at a guard that what it says now stops where it was about to leave its written truth."""
    if run.n_actions == 0 or run.has_branches == 0 or run.m[run.guard_mode[guard]] != run.is_strict[guard]:
        return True
    if derivatives(run, t, run.y_at, run.ydot_at) != 0:
        return False
    guard_slopes(run, t, run.y, run.ydot, run.slopes)
    return abs(run.slopes[guard] * run.step_before_event) > run.nu_start[guard]


@kernel_entry(NUMBER)
def let_rest_what_does(run, t):
    """Guards whose side slopes do not tell: those that are affine, and whose power series is all zeros, rest. 0 if any is left, else 1."""
    n = run.n
    if run.f_series == 0:
        return 0
    for j in range(run.n_guards):
        if run.sides[j] == ASKED and run.is_linear[j] == 0:
            return 0
    series = run.series_scratch
    series[0] = run.step_before_event
    call_value(run.f_series, t, run.y, run.p, run.m, series)
    run.c_rhs += 1
    nothing = run.zero
    term = run.trial_g_full
    for k in range(run.series_order):
        a = vector(run.r, run.series_scratch_at + 1 + k * n, n)
        ahead = series[0] if k == 0 else 0.0
        call_tangent(run.f_guards_tangent, t, run.y, nothing, run.p, run.m, ahead, a, nothing, nothing, term)
        for j in range(run.n_guards):
            if run.sides[j] == ASKED and term[j] != 0.0:
                return 0
    for j in range(run.n_guards):
        if run.sides[j] == ASKED:
            run.sides[j] = RESTS
    return 1


@native
def _forgets_a_size(run):
    """Where the event led away from does not count in how large unknowns have been; True if that makes a difference."""
    forgets = False
    for q in range(run.n):
        size = max(run.size_before[q], abs(run.y[q]))
        forgets = forgets or size != run.y_max[q]
        run.y_max[q] = size
    return forgets


@native
def _any_rests(run):
    for j in range(run.n_guards):
        if run.sides[j] == RESTS:
            return True
    return False


@native
def _follow(run, t):
    """Everything that follows from y and the discrete variables: 1 if a relation changed, 0 if none did, NOT_SIMPLE."""
    changes = settle_known(run, t)
    run.c_flips += changes
    any_changed = changes > 0
    if _forgets_a_size(run):
        guard_roundoff(run, t, run.y)
    is_known = True  # guards are those of ``settle_known``
    for _ in range(_MOST_PASSES):
        if derivatives(run, t, run.y_at, run.ydot_at) != 0:
            return NOT_SIMPLE
        if not is_known:
            call_value(run.f_guards, t, run.y, run.p, run.m, run.g)
        guard_slopes(run, t, run.y, run.ydot, run.slopes)
        if sides_by_slopes(run, t) and let_rest_what_does(run, t) == 0:
            return NOT_SIMPLE
        changed = False
        for j in range(run.n_guards):
            if not abs(run.g[j]) < 1e301:
                return NOT_SIMPLE
            truth = truth_of(run, j)
            mode = run.guard_mode[j]
            if run.m[mode] == truth:
                continue
            if abs(run.g[j]) <= margin_of(run, t, j):
                note_change_at_zero(run, j, truth)
            run.m[mode] = truth
            run.c_flips += 1
            changed = True
        if not changed and not is_put_exactly_at_zero(run, t):
            return 1 if any_changed else 0
        if run.reads_modes == 0 and not _any_rests(run):
            return 1  # another look would see the same
        any_changed = True
        is_known = False
    return NOT_SIMPLE


@native
def _moves_unknowns(run):
    for q in range(run.n):
        if run.body[q] != run.y[q]:
            return True
    return False


@native
def _rounds(run, t):
    """The rounds of clauses; 0 or NOT_SIMPLE."""
    due = clauses_are_due(run)
    stale = True  # something has changed since relations were last looked at
    flips = 0
    for rounds in range(1, _MOST_ROUNDS + 1):
        run.rounds = rounds
        read_conditions(run, t, run.conditions_now_at)
        carried_out = carry_out_branches(run)
        if carried_out and flips == 1 and run.n_discrete > 0:
            return NOT_SIMPLE  # relations may only seem to have changed (``events.undone``)
        remembered = remember_discrete(run)
        changed = False
        if carried_out or due:
            if not compute_bodies(run, t):
                return NOT_SIMPLE
            if run.n_sens > 0 and run.f_bodies_tangent != 0:
                body_jump(run, t)
            if _moves_unknowns(run):
                forget_where_guards_left(run)
            changed = write_bodies(run)
            due = False
        flips = 0
        if stale or changed:
            flips = _follow(run, t)
            if flips == NOT_SIMPLE:
                return NOT_SIMPLE
            stale = False
        if run.n_actions > 0 and goes_on_through(run, t):
            return NOT_SIMPLE
        if not (changed or flips == 1 or carried_out) and (not remembered or conditions_hold(run, t)):
            return 0
    return NOT_SIMPLE


@kernel_entry(NUMBER, INTEGER)
def settle_simply(run, t, guard):
    """Carry out the event at the current point, of this guard, or of clocks where it is -1; 0, or NOT_SIMPLE with everything as it was.

    y' in the mode before must be in run.ydot_before, the point in run.y_old, sigma as ``start_jump`` leaves it.
    """
    _keep(run)
    flips = run.c_flips
    is_terminated = run.is_terminated
    for k in range(run.n_actions):
        run.fired[k] = 0.0
    for q in range(run.n):
        run.ydot[q] = run.ydot_before[q]
    forget_where_guards_left(run)
    forget_resting(run)
    if not _others_are_in_order(run, t, guard):
        return _put_back(run, guard, flips, is_terminated)
    if guard >= 0:
        flip_crossed(run)
        if (run.reads_modes == 1 and not _are_untouched(run, t)) or not _moves_on(run, t, guard):
            return _put_back(run, guard, flips, is_terminated)
    else:
        for j in range(run.n_guards):
            run.crossed[j] = 0
    keep_crossed(run)
    if _rounds(run, t) == NOT_SIMPLE:
        return _put_back(run, guard, flips, is_terminated)
    refresh_activity(run)
    if run.stays_known == 1:
        run.known_at = t
    return 0
