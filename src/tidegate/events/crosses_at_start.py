"""Clauses that become true at the very start of a run (stage: events).

In: the workspace of a run at its start, with the modes that the trajectory moves into. Out: the guard whose crossing is the first event, if there is
one. A ball that lies at height zero and falls is not below zero, and is so a moment later: ``h < 0`` becomes true there, as it would have done if the
run had begun a moment earlier. A condition that is true as it is written with the start values has been so before.
"""

from __future__ import annotations

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import RELATION
from tidegate.events.crossing import margin_of, written_truth
from tidegate.events.guards import guard_roundoff, guard_slopes
from tidegate.events.settle import n_rising, read_conditions
from tidegate.linear.mass import update_mass

__all__ = ["crosses_at_start"]


@native
def _turn(run, j):
    """The other truth of a relation."""
    mode = run.guard_mode[j]
    run.m[mode] = 1.0 - run.m[mode]


@native
def _become_true(run, t, count):
    """How many conditions hold now, and do not with the relations as they have been turned."""
    read_conditions(run, t, run.conditions_now_at)
    found = 0
    for c in range(count):
        if run.conditions[c] != 0.0 and run.conditions_now[c] == 0.0:
            found += 1
    return found


@native
def _turn_those_that_left(run, t):
    """Give relations at zero that the trajectory moves off what is written for them; how many there are, marked in run.trial_g_full."""
    if run.known_at != t:
        guard_roundoff(run, t, run.y)
        call_value(run.f_guards, t, run.y, run.p, run.m, run.g)
        guard_slopes(run, t, run.y, run.ydot, run.slopes)
    found = 0
    for j in range(run.n_guards):
        run.trial_g_full[j] = 0.0
        left = run.guard_kind[j] == RELATION and run.m[run.guard_mode[j]] != written_truth(run, j)
        if left and abs(run.g[j]) <= margin_of(run, t, j):
            run.trial_g_full[j] = 1.0
            _turn(run, j)
            found += 1
    return found


@native
def crosses_at_start(run, t):
    """A relation that crosses at the start of the run so that a clause happens, in its mode of before as others that do; -1 for none.

    Conditions must have been noted in the modes behind the start.
    """
    count = n_rising(run)
    if count == 0 or _turn_those_that_left(run, t) == 0:
        return -1
    rising = _become_true(run, t, count)
    first = -1
    for j in range(run.n_guards):
        if run.trial_g_full[j] == 0.0:
            continue
        _turn(run, j)
        if _become_true(run, t, count) < rising:
            _turn(run, j)
            first = j if first < 0 else first
    if first < 0:
        return -1
    read_conditions(run, t, run.conditions_now_at)
    for c in range(count):
        if run.conditions_now[c] == 0.0:
            run.conditions[c] = 0.0
            run.held[c] = 0.0
    if run.mass_varies == 1:
        update_mass(run)
    return first
