"""Relations that seem to change at an event, and do not: new values are what they are to be told by (stage: events, before clauses look).

In: the workspace of a run at an event, with the relations as they follow from those that crossed, or from what a round of clauses has written. Out:
the same, without changes that other clauses of the round ahead undo. Where ``x > 0`` turns false, ``x if x > 0 else held`` is what was held of old,
until the clause on ``x <= 0`` has given it its new value: a relation that jumps across its zero in between does so in no equation that holds at every
instant. Modelica solves what clauses make of discrete variables together with them (chapter 8.6 of its specification), while states jump at the end
of the round; so it is here, of variables that a relation did not look at before. All other changes have happened: a relation on a counter that one
clause sets back has become true for the others. Bodies that are functions of the user and may remember that they were called are not tried.
"""

from __future__ import annotations

import math
from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.compiled.workspace import RELATION
from tidegate.events.crossing import zero_margin
from tidegate.events.restart import consistent_point
from tidegate.events.settle import (
    carry_out_branches,
    clauses_are_due,
    compute_bodies,
    how_many_branches,
    keep_conditions,
    put_conditions_back,
    read_conditions,
)
from tidegate.linear.mass import update_mass

__all__ = ["note_guards_of_round", "note_modes_of_round", "take_back_undone"]

_JUMPED: Final = 1.0  # in run.trial_g_full: clear of zero on one side before, on the other now
_SAME: Final = 1e-9  # of a guard: two solutions of the same equations are that near to each other


@native
def note_modes_of_round(run):
    """Remember the modes and discrete variables with which guards were noted, before others follow."""
    for k in range(run.n_m):
        run.m_round[k] = run.r[run.m_at + k]


@native
def note_guards_of_round(run, t):
    """Remember guards, modes and discrete variables before clauses write."""
    note_modes_of_round(run)
    call_value(run.f_guards, t, run.y, run.p, run.m, run.noted_g)


@native
def _has_jumped(run, t, j):
    """True of a relation that has come across its zero without being at it: others, or new values, have done that."""
    mode = run.guard_mode[j]
    before = run.m_round[mode]
    g = run.noted_g[j]
    if run.guard_kind[j] != RELATION or run.m[mode] == before:
        return False
    margin = zero_margin(t, run.nu_start[j], 4.0 * run.noted_slopes[j])
    return margin < abs(g) < 1e301 and before == (1.0 if g > 0.0 else 0.0)


@native
def _mark_jumped(run, t):
    """Mark the relations that have jumped; their number."""
    count = 0
    for j in range(run.n_guards):
        run.trial_g_full[j] = 0.0
        if _has_jumped(run, t, j):
            run.trial_g_full[j] = _JUMPED
            count += 1
    return count


@native
def _turn(run, first, last):
    """Turn marked relations round."""
    for j in range(first, last):
        if run.trial_g_full[j] == _JUMPED:
            mode = run.guard_mode[j]
            run.m[mode] = 1.0 - run.m[mode]


@native
def _clauses_ask(run, t, first, last):
    """True if the conditions of clauses are others than they would be if these relations had not jumped."""
    read_conditions(run, t, run.conditions_now_at)
    for c in range(run.n_when):
        run.kept_held[c] = run.conditions_now[c]
    _turn(run, first, last)
    read_conditions(run, t, run.conditions_now_at)
    _turn(run, first, last)
    for c in range(run.n_when):
        if run.kept_held[c] != run.conditions_now[c]:
            return True
    return False


@native
def _guard_here(run, t, j):
    """A guard with the modes and discrete variables that are set now, unknowns as equations have them then; NaN where these have no solution."""
    n = run.n
    if run.rank == n:
        call_value(run.f_guards, t, run.y, run.p, run.m, run.trial_g_end)
        return run.trial_g_end[j]
    for q in range(n):
        run.y_unsolved[q] = run.y[q]
    if run.mass_varies == 1:
        update_mass(run)
    code = consistent_point(run, t, run.y_at)
    call_value(run.f_guards, t, run.y, run.p, run.m, run.trial_g_end)
    for q in range(n):
        run.r[run.y_at + q] = run.y_unsolved[q]
    return run.trial_g_end[j] if code == 0 else math.nan


@native
def _with(run, t, j, is_new):
    """A guard with the modes of before and what clauses write, or the values that this replaces."""
    for q in range(run.n_discrete):
        now = run.kept_m[run.first_discrete + q]
        new = run.body[run.n + q]
        if new != now:
            run.discrete[q] = new if is_new else now
    return _guard_here(run, t, j)


@native
def _has_not_looked(run, t, j):
    """True if what clauses write was nothing to a guard with the modes and values of before; run.m is not put back."""
    for k in range(run.n_m):
        run.m[k] = run.m_round[k]
    before = _guard_here(run, t, j)
    same = _SAME * abs(before) if run.rank < run.n else 0.0  # Newton's method comes from elsewhere each time
    # at least one of both is another value than that of before
    return abs(_with(run, t, j, False) - before) <= same and abs(_with(run, t, j, True) - before) <= same


@native
def _says_so(run, t, j):
    """True if a guard has the truth now that it had before, whatever its mode says."""
    g = _guard_here(run, t, j)
    return run.nu_start[j] < abs(g) < 1e301 and run.m_round[run.guard_mode[j]] == (1.0 if g > 0.0 else 0.0)


@native
def _drop_those_that_ask(run):
    """Clear the flags of branches that would not happen by the conditions that are there now: they hang on the relation themselves."""
    branch = run.branch_first
    for b in range(how_many_branches(run)):
        if run.flags[b] != 0.0:
            happens = False
            for c in range(branch[b], branch[b + 1]):
                if run.conditions_now[c] != 0.0 and run.kept_conditions[c] == 0.0:
                    happens = True
            if not happens:
                run.flags[b] = 0.0


@native
def _is_undone(run, t, j):
    """True if what clauses write that do not ask for a relation takes it back."""
    if not _clauses_ask(run, t, j, j + 1):
        return False
    keep_conditions(run)
    _turn(run, j, j + 1)
    read_conditions(run, t, run.conditions_now_at)
    carry_out_branches(run)
    _turn(run, j, j + 1)
    read_conditions(run, t, run.conditions_now_at)
    _drop_those_that_ask(run)
    _turn(run, j, j + 1)
    found = False
    if clauses_are_due(run) and compute_bodies(run, t) and _has_not_looked(run, t, j):
        put_conditions_back(run)
        for q in range(run.n_discrete):
            run.discrete[q] = run.body[run.n + q]
        found = _says_so(run, t, j)
    put_conditions_back(run)
    return found


@kernel_entry(NUMBER)
def take_back_undone(run, t):
    """Take back what relations only seem to say until clauses are carried out; conditions are those of what is left."""
    if _mark_jumped(run, t) == 0 or not _clauses_ask(run, t, 0, run.n_guards):
        return 0
    for j in range(run.n_guards):
        if run.trial_g_full[j] == _JUMPED and _is_undone(run, t, j):
            run.m[run.guard_mode[j]] = run.m_round[run.guard_mode[j]]
            run.trial_g_full[j] = 0.0
    if run.mass_varies == 1:
        update_mass(run)
    read_conditions(run, t, run.conditions_now_at)
    return 0
