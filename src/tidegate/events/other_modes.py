"""A mode that holds of itself, where the one that was guessed has no solution and does not say which comes next (stage: events).

In: a point whose mode is singular, and of which ``events.posterior`` cannot find out what it would do: an ideal diode that conducts beside a source
without resistance, or stands open at the end of a part of a circuit that nothing else joins to the ground. Out: of all combinations of the relations
that algebraic unknowns decide the one with the fewest changes in which equations can be solved and every relation says what is assumed of it. States
stay as they are. Diodes have one such combination where a circuit has a solution at all (Lemke's complementary pivoting would look for it likewise).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.compiled.workspace import RELATION
from tidegate.events.guards import refresh_activity
from tidegate.events.restart import consistent_point
from tidegate.events.truth import find_open
from tidegate.linear.mass import update_mass

__all__ = ["find_mode"]

_MOST_OPEN: Final = 10  # relations: a thousand combinations are tried
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


@kernel_entry(NUMBER)
def find_mode(run, t):
    """Set the relations that algebraic unknowns decide to the nearest combination that holds; the number of changes, or -1 if there is none."""
    find_open(run, t, run.trial_g_end)
    count = 0
    for j in range(run.n_guards):
        if run.guard_kind[j] != RELATION:
            run.trial_g_end[j] = 0.0
        count += 1 if run.trial_g_end[j] != 0.0 else 0
    if count == 0 or count > _MOST_OPEN:
        return -1
    for wanted in range(1, count + 1):
        for chosen in range(1, 1 << count):
            if _ones(chosen) != wanted:
                continue
            changes = _set(run, chosen)
            if _holds(run, t):
                _keep_those_at_zero(run)
                return changes
            _set(run, chosen)
    for q in range(run.n):
        run.r[run.y_at + q] = run.r[run.y_unsolved_at + q]
    refresh_activity(run)
    return -1
