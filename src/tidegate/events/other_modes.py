"""A mode that holds of itself, where the one that was guessed has no solution and does not say which comes next (stage: events).

In: a point whose mode is singular, and of which ``events.posterior`` cannot find out what it would do: an ideal diode that conducts beside a source
without resistance, or stands open at the end of a part of a circuit that nothing else joins to the ground. Out: of all combinations of the relations
that algebraic unknowns decide the one with the fewest changes in which equations can be solved and every relation says what is assumed of it. States
stay as they are. Diodes have one such combination where a circuit has a solution at all. Where there are too many to try all, ``events.pivots`` goes
from one to the next.

Where relations change one another for ever although every mode has a solution, since many of them are at zero at once, as in a bridge of diodes to
which no voltage has come yet, the combination is looked for that holds at the end of a short step of the implicit Euler method, and of a shorter one
(time stepping with complementarity: van Bokhoven 1981; Stewart and Trinkle 1996).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.compiled.workspace import RELATION
from tidegate.events.guards import find_open, refresh_activity
from tidegate.events.pivots import pivot_ahead
from tidegate.events.posterior import holds_ahead
from tidegate.events.restart import consistent_point
from tidegate.events.time_scale import time_scale
from tidegate.linear.forced import let_go
from tidegate.linear.mass import update_mass

__all__ = ["GAVE_UP", "find_mode", "find_mode_ahead"]

GAVE_UP: Final = -2  # not every combination was tried

_MOST_OPEN: Final = 10  # relations: a thousand combinations are tried; of more those that follow from what a try shows (``events.pivots``)
_MOST_LENGTHS: Final = 4
_SHORT: Final = 1e-6  # of the step that led to the event: in it states move by nothing
_SHORTER: Final = 1e-2
_APART: Final = 0.125  # from one length of a step to the next
_AT_ZERO: Final = 1e-9  # of the largest unknown: a relation that is as near its zero agrees with both


@native
def _set(run, chosen):
    """Turn the open relations round that are ones in a number; how many."""
    place = 0
    changes = 0
    for j in range(run.n_guards):
        if run.trial_g_end[j] != 0.0:
            if (chosen >> place) & 1:
                offset = run.m_at + run.guard_mode[j]
                run.r[offset] = 1.0 - run.r[offset]
                changes += 1
            place += 1
    if run.mass_varies == 1:
        update_mass(run)
    return changes


@native
def _holds(run, t):
    """True if the equations of this mode have a solution, and its relations say that they hold there."""
    n = run.n
    for q in range(n):
        run.r[run.y_at + q] = run.r[run.y_unsolved_at + q]
    if consistent_point(run, t, run.y_at) != 0:
        return False
    largest = 0.0
    for q in range(n):
        largest = max(largest, abs(run.y[q]))
    refresh_activity(run)
    g = run.g
    call_value(run.f_guards, t, run.y, run.p, run.m, g)
    for j in range(run.n_guards):
        if run.trial_g_end[j] == 0.0 or run.active[j] == 0.0:
            continue
        value = g[j] if run.r[run.m_at + run.guard_mode[j]] != 0.0 else -g[j]
        if not value >= -_AT_ZERO * largest:
            return False
    return True


@native
def _keep_those_at_zero(run):
    """What rests at zero is not taken back to what is written, which may be why there was no solution."""
    largest = 0.0
    for q in range(run.n):
        largest = max(largest, abs(run.y[q]))
    for j in range(run.n_guards):
        if run.trial_g_end[j] != 0.0 and abs(run.g[j]) <= _AT_ZERO * largest:
            run.left_value[j] = np.inf


@native
def _ones(number):
    count = 0
    while number > 0:
        count += number & 1
        number >>= 1
    return count


@native
def _next(chosen, count):
    """The combination of ``count`` relations after this one, those with the fewest changes first; 0 after the last."""
    changes = _ones(chosen)
    for number in range(chosen + 1, 1 << count):
        if _ones(number) == changes:
            return number
    return (1 << (changes + 1)) - 1 if changes < count else 0


@native
def _find_relations(run, t):
    """Mark the relations that algebraic unknowns decide, in run.trial_g_end; their number."""
    find_open(run, t, run.trial_g_end)
    count = 0
    for j in range(run.n_guards):
        if run.guard_kind[j] != RELATION:
            run.trial_g_end[j] = 0.0
        count += 1 if run.trial_g_end[j] != 0.0 else 0
    return count


@native
def _keep_ahead(run):
    """What the relations say that are at zero here is known from what lies behind this point."""
    for j in range(run.n_guards):
        if run.trial_g_end[j] != 0.0:
            run.left_value[j] = -np.inf


@native
def _keep_at_rest(run):
    """Those that rest at zero behind this point are not taken back to what is written."""
    for j in range(run.n_guards):
        if run.trial_g_end[j] != 0.0 and run.reach_scratch[j] == 0.0:
            run.left_value[j] = np.inf


@native
def _pivot_at_once(run, t):
    """The combination that holds behind a step in which states move by nothing; the number of changes, or -1."""
    h = _SHORT * (run.step_before_event if run.step_before_event > 0.0 else 1.0)
    for _ in range(_MOST_LENGTHS):
        changes = pivot_ahead(run, t, h)
        if changes >= 0:
            _keep_at_rest(run)
            return changes
        h *= _SHORTER
    return GAVE_UP


@kernel_entry(NUMBER)
def find_mode_ahead(run, t):
    """Set the relations that algebraic unknowns decide to the nearest combination that holds behind this point; 1, or 0 if there is none."""
    count = _find_relations(run, t)
    if count == 0:
        return 0
    let_go(run)
    h = time_scale(run, run.ydot_at)
    for _ in range(_MOST_LENGTHS):
        if count > _MOST_OPEN:
            if pivot_ahead(run, t, h) >= 0:
                _keep_ahead(run)
                return 1
            h *= _APART
            continue
        chosen = 0
        while True:
            _set(run, chosen)
            if holds_ahead(run, t, h) and holds_ahead(run, t, _APART * h):
                _keep_ahead(run)
                return 1
            _set(run, chosen)
            chosen = _next(chosen, count)
            if chosen == 0:
                break
        h *= _APART
    return 0


@kernel_entry(NUMBER)
def find_mode(run, t):
    """Set the relations that algebraic unknowns decide to the nearest combination that holds; the number of changes.

    -1 if there is none, GAVE_UP if not all of them were tried.
    """
    count = _find_relations(run, t)
    if count == 0:
        return -1
    if count > _MOST_OPEN:
        return _pivot_at_once(run, t)
    h = _SHORT * (run.step_before_event if run.step_before_event > 0.0 else 1.0)
    # where two hold, since a current is zero that goes from one diode to the other, what follows tells
    for must_hold_ahead in (True, False):
        chosen = _next(0, count)
        while chosen != 0:
            changes = _set(run, chosen)
            if _holds(run, t) and (not must_hold_ahead or (holds_ahead(run, t, h) and holds_ahead(run, t, _APART * h))):
                _keep_those_at_zero(run)
                return changes
            _set(run, chosen)
            chosen = _next(chosen, count)
    for q in range(run.n):
        run.r[run.y_at + q] = run.r[run.y_unsolved_at + q]
    refresh_activity(run)
    return -1
