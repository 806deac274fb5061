"""Relations that have come near their zero, slowly within the round-off level or within the tolerance: what dies out (stage: events, before anything
of an event).

Below its round-off level the sign of a guard says nothing, and neither does when it would be at zero: of ``x' = -k x`` never. Where something else
happens at that instant, such a relation keeps what it says until it is clear of its zero, a step crosses it, or the event moves it. Those that read
algebraic unknowns are left out: these follow from what happens.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import RELATION
from tidegate.events.dying import dies_out, is_within_tolerance
from tidegate.events.guards import find_open, guard_roundoff, guard_slopes, has_changed
from tidegate.events.tolerances import SLOW

__all__ = ["forget_resting", "is_slow", "keeps_what_it_says", "note_resting", "note_where_it_rests"]

_AS_SLOW: Final = 10.0  # times its slope before: a relation may change the rate of what dies out; more than that sets it moving


@native
def forget_resting(run):
    """No guard is known to have rested before this instant."""
    for j in range(run.n_guards):
        run.rest_value[j] = np.nan


@native
def is_slow(run, j):
    """True if a guard moves by little more than its round-off level in a step like the last one."""
    return abs(run.slopes[j] * run.step_before_event) <= SLOW * run.nu_start[j]


@native
def note_resting(run, t):
    """Remember where the relations lie that have slowly come within their round-off level of zero.

    The unknowns of before must be in run.y, y' in run.ydot_before.
    """
    guard_roundoff(run, t, run.y)
    call_value(run.f_guards, t, run.y, run.p, run.m, run.g)
    guard_slopes(run, t, run.y, run.ydot_before, run.slopes)
    some_algebraic = run.rank < run.n
    open_ones = run.trial_g_full
    if some_algebraic:
        find_open(run, t, open_ones)
    for j in range(run.n_guards):
        run.rest_value[j] = np.nan
        if run.flipped[j] == 0 and not (some_algebraic and open_ones[j] != 0.0):
            note_where_it_rests(run, t, j, run.ydot_before)


@native
def note_where_it_rests(run, t, j, rates):
    """Likewise of one guard that has not crossed; True if it rests so. ``rates`` are y' of before."""
    g = run.g[j]
    rests = run.guard_kind[j] == RELATION and 0.0 < abs(g) <= run.nu_start[j] and is_slow(run, j)
    dies = not rests and g != 0.0 and is_within_tolerance(run, t, j) and dies_out(run, t, j, run.slopes[j], rates)
    run.rest_dies[j] = 1 if dies else 0
    rests = rests or dies
    run.rest_value[j] = g if rests else np.nan
    run.rest_slope[j] = run.slopes[j]
    return rests


@native
def keeps_what_it_says(run, j):
    """True of such a relation that the event has neither moved nor set moving so far; its slope must be that of now."""
    if run.g[j] != run.rest_value[j] or has_changed(run, j):
        return False
    return abs(run.slopes[j]) <= _AS_SLOW * abs(run.rest_slope[j]) and (run.rest_dies[j] == 1 or is_slow(run, j))
