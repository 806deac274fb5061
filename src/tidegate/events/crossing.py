"""Which guards cross at one instant, and what their flips are (stage: events, before any clause has looked).

In: the workspace of a run at an event, the guard or the scheduled items that led there. Out: the modes with every flip of this instant in them. Two
crossings that coincide by construction (``x >= 0.5`` and ``y <= 0``, a crossing and a clock, a bound and the quantity that reaches it) are found a
rounding apart: a guard within its round-off level of zero that leaves to its other side crosses now and not a rounding later (``events.truth`` finds
them). One whose expression is another one after the flips has not crossed: ``min(x, 0)`` reaches zero together with x, and rests there.
"""

from __future__ import annotations

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import LOWER, RELATION
from tidegate.events.guards import guard_slopes
from tidegate.events.restart import derivatives
from tidegate.events.resting import is_slow
from tidegate.events.tolerances import SAME_PLACE, SAME_TIME

__all__ = [
    "flip_crossed",
    "forget_where_guards_left",
    "is_due",
    "is_untouched",
    "is_where_it_left",
    "keep_crossed",
    "margin_of",
    "note_given_back",
    "note_guards",
    "note_left",
    "take_back_replaced",
    "written_truth",
    "zero_margin",
]


@native
def forget_where_guards_left(run):
    """No guard has left its written truth at this instant, as far as is known, and nobody has asked where they go."""
    run.answered_t = np.nan
    run.is_exact = 0
    for j in range(run.n_guards):
        run.left_value[j] = np.nan
        run.given_back[j] = 0


@native
def zero_margin(t, roundoff, slope):
    """Within this a guard is at zero: its round-off level, and what it runs through within the rounding of time."""
    return roundoff + SAME_TIME * abs(t * slope)


@native
def margin_of(run, t, j):
    """Likewise, of guard j."""
    return zero_margin(t, run.nu_start[j], run.slopes[j])


@native
def is_due(run, j):
    """True for a guard of time at its own time: its value is the rounding of terms that may be far larger than the time."""
    return run.g[j] == run.due_value[j]


@native
def _note_due(run, guard):
    """Remember where a guard of time lies at its own time, as others of its zero; of a piece that is left, where the edge of the next one lies."""
    is_relation = run.guard_kind[guard] == RELATION
    for k in range(run.n_guards):
        if k == guard or (is_relation and run.guard_zero[k] == run.guard_zero[guard] and run.guard_kind[k] == RELATION):
            run.due_value[k] = run.g[k]
        elif not is_relation and run.guard_mode[k] == run.guard_mode[guard]:
            run.due_value[k] = -run.g[guard]


@native
def note_left(run, guard):
    """Remember where a guard lies that has left its written truth; for a piece that was left downwards where the upper edge of the next one lies."""
    if run.guard_kind[guard] == RELATION:
        run.left_value[guard] = run.g[guard]
        return
    mode = run.guard_mode
    for k in range(run.n_guards):
        if mode[k] == mode[guard] and k != guard:
            run.left_value[k] = -run.g[guard]


@native
def note_guards(run, t):
    """Remember the point of the event, y', guards and their slopes in the mode before it."""
    n = run.n
    y = run.y
    derivatives(run, t, run.y_at, run.ydot_at)
    for q in range(n):
        run.noted_y[q] = y[q]
        run.noted_ydot[q] = run.ydot[q]
    call_value(run.f_guards, t, y, run.p, run.m, run.noted_g)
    guard_slopes(run, t, y, run.ydot, run.noted_slopes)


@native
def is_untouched(run, j):
    """True if neither a guard nor its slope is other than before the event."""
    return run.noted_g[j] == run.g[j] and run.noted_slopes[j] == run.slopes[j]


@native
def _flip(run, j):
    """The other truth of a relation, the next piece of a number of pieces; slopes must be those of before."""
    mode = run.guard_mode[j]
    # what has crept across its zero is not stopped by what happens here: it keeps the side it lies on
    run.given_back[j] = 1 if is_slow(run, j) else 0
    kind = run.guard_kind[j]
    if kind == RELATION:
        run.m[mode] = 1.0 - run.m[mode]
        if run.m[mode] == run.is_strict[j]:
            note_left(run, j)
        return
    run.m[mode] += -1.0 if kind == LOWER else 1.0
    if kind == LOWER:
        note_left(run, j)


@native
def written_truth(run, j):
    """What a relation says at its zero: 1 of ``>=``, 0 of ``>``."""
    return 1 - run.is_strict[j]


@native
def is_where_it_left(run, j):
    """True of a guard at the place where it has left its written truth."""
    return run.g[j] != 0.0 and abs(run.g[j] - run.left_value[j]) <= SAME_PLACE * run.nu_start[j]


@native
def note_given_back(run, j):
    """A guard that rests gets its written truth back, once: if that takes it away from there, it is left for good."""
    if is_where_it_left(run, j):
        run.given_back[j] = 1
        run.left_value[j] = np.nan


@native
def keep_crossed(run):
    """What has crossed when clauses look keeps its side, if a clause stops it there: a level that the clause on ``level < 0`` stops is below."""
    if run.n_actions > 0:
        for j in range(run.n_guards):
            if run.crossed[j] == 1:
                run.given_back[j] = 1


@native
def take_back_replaced(run, t):
    """Take back the flips of guards whose expressions are others since the rest flipped: they have not crossed, and are decided anew."""
    ng = run.n_guards
    crossed = run.crossed
    mode = run.guard_mode
    y = run.noted_y
    for j in range(ng):
        if crossed[j] == 0:
            continue
        flipped = run.m[mode[j]]
        run.m[mode[j]] = run.m_old[mode[j]]
        call_value(run.f_guards, t, y, run.p, run.m, run.g)
        # with y' of before only the expressions differ
        guard_slopes(run, t, y, run.noted_ydot, run.slopes)
        if is_untouched(run, j):
            run.m[mode[j]] = flipped
        else:
            crossed[j] = 0
            run.left_value[j] = np.nan


@native
def _flip_at_the_same_zero(run, crossing):
    """Flip the active relations with the zero of one that has crossed: ``v < w`` ends where ``v > w`` begins, whatever the first has made of v'."""
    crossed = run.crossed
    mode = run.guard_mode
    for j in range(run.n_guards):
        if crossed[j] == 1 or run.guard_zero[j] != run.guard_zero[crossing] or run.active[j] == 0.0 or run.guard_kind[j] != RELATION:
            continue
        faces_alike = run.guard_facing[j] == run.guard_facing[crossing]
        if (run.m[mode[j]] == run.m[mode[crossing]]) != faces_alike:
            _flip(run, j)
            crossed[j] = 1


@native
def flip_crossed(run):
    """Flip the guards that crossed or fell due, and remember which they were. The values of guards must be known."""
    ng = run.n_guards
    flipped = run.flipped
    crossed = run.crossed
    for j in range(ng):
        crossed[j] = flipped[j]
        run.due_value[j] = np.nan
    for j in range(ng):
        if flipped[j] == 1 and run.is_time[j] == 1:
            _note_due(run, j)
    for j in range(ng):
        if flipped[j] == 1:
            flipped[j] = 0
            _flip(run, j)
    for j in range(ng):
        if crossed[j] == 1 and run.guard_kind[j] == RELATION:
            _flip_at_the_same_zero(run, j)
