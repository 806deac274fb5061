"""What every relation and every piece number says: set by the guards' values, at zero by where the trajectory goes (stage: events).

In: the workspace of a run at an event, with the modes of before. Out: the modes after it. A guard clear of its round-off level has the truth of its
sign. At zero the side counts that the trajectory leaves to (``events.leaving``); where it rests, a relation has the truth that is written, ``>=`` or
``>``, whatever it was before. Only where that truth would drive the guard away from its zero, in the mode that it brings, does the side count on
which it really lies: a level that runs dry, ``x' = -1 if x >= 0 else 0``, ends a trifle below.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import LOWER, RELATION, vector
from tidegate.events.crossing import is_due, is_untouched, is_where_it_left, margin_of, note_given_back, note_left, written_truth, zero_margin
from tidegate.events.guards import find_open, guard_roundoff, guard_slopes, has_changed, size_of
from tidegate.events.kept_sides import kept_side
from tidegate.events.leaving import ASKED, LEAVES_DOWN, LEAVES_UP, RESTS, leaving_sides
from tidegate.events.resting import keeps_what_it_says
from tidegate.events.tolerances import ROUNDING

__all__ = ["catch_up", "look_again", "lost_whole", "note_change_at_zero", "settle_known", "sides_by_slopes", "truth_of"]

_MOST_CATCHING_UP: Final = 1000  # passes: relations and pieces that depend on one another
_SLIGHT: Final = 1e-13  # of the size of a guard's terms: a move within a step that rounding of a slope could be
_MAY_BE_SLIGHT: Final = 2.0 * _SLIGHT / ROUNDING  # round-off levels, of which there are ``ROUNDING`` or more in that size
_MOST_FLIPS: Final = 3  # times one relation at zero may change its mind at one instant


@native
def _measure(run, t, out):
    """The size of every guard's terms, for unknowns as large as they have been."""
    for q in range(run.n):
        run.trial_stage[q] = size_of(run, q, run.y[q])
    call_tangent(run.f_guard_scale, t, run.y, run.zero, run.p, run.m, 0.0, run.trial_stage, run.zero, run.zero, out)


@native
def sides_by_slopes(run, t):
    """For every guard the side it is on, or leaves to; ASKED, and the answer True, where it lies at zero and its slope does not tell."""
    ng = run.n_guards
    g = run.g
    slope = run.slopes
    nu = run.nu_start
    linear = run.is_linear
    sides = run.sides
    asked = False
    known = False
    size = run.trial_g_full
    for j in range(ng):
        if keeps_what_it_says(run, j):
            sides[j] = LEAVES_UP if run.m[run.guard_mode[j]] != 0.0 else LEAVES_DOWN
            continue
        side = kept_side(run, t, j)
        if side != 0:
            sides[j] = LEAVES_UP if side > 0 else LEAVES_DOWN
            continue
        margin = margin_of(run, t, j) if not is_due(run, j) else abs(g[j])
        move = slope[j] * run.step_before_event
        if abs(g[j]) <= margin and 0.0 < nu[j] < abs(move) <= _MAY_BE_SLIGHT * nu[j]:
            if not known:
                _measure(run, t, size)
                known = True
            if abs(move) <= _SLIGHT * size[j]:
                # it may be rounding: of a contact that is stuck, whose speed is zero, and its round-off level with it
                sides[j] = ASKED
                asked = True
                continue
        if g[j] > margin:
            sides[j] = LEAVES_UP
        elif g[j] < -margin:
            sides[j] = LEAVES_DOWN
        elif move > nu[j] > 0.0:
            sides[j] = LEAVES_UP
        elif move < -nu[j] < 0.0:
            sides[j] = LEAVES_DOWN
        elif not abs(g[j]) < 1e301 or (linear[j] == 1 and nu[j] == 0.0 and slope[j] == 0.0):
            sides[j] = RESTS  # nothing that moves is in it
        else:
            sides[j] = ASKED
            asked = True
    return asked


@native
def _find_sides(run, t, at_start):
    """For every guard +1 or -1: the side it is on, or leaves to; 0 where it rests at zero. Guards, slopes and round-off levels must be known."""
    if sides_by_slopes(run, t):
        leaving_sides(run, t, 1 if at_start else 0)


@native
def truth_of(run, j):
    """1 or 0: what a guard says whose side is known."""
    side = run.sides[j]
    if run.left_value[j] == -np.inf and abs(run.g[j]) <= run.nu_start[j]:
        # rounding of a slope that is zero too does not tell where it goes; a step behind this point has told (``events.other_modes``)
        return 1 if run.r[run.m_at + run.guard_mode[j]] != 0.0 else 0
    if side != RESTS:
        return 1 if side == LEAVES_UP else 0
    if run.left_value[j] == np.inf:
        # with what is written the equations have no solution here (``events.other_modes``)
        return 1 if run.r[run.m_at + run.guard_mode[j]] != 0.0 else 0
    # its written truth, given back here, takes it away
    if run.given_back[j] == 1 and is_where_it_left(run, j):
        return 1 if run.g[j] > 0.0 else 0
    return written_truth(run, j)


@native
def _piece(run, j, now, g, is_lower):
    """The piece that holds the argument of a guard of pieces, ``g`` across the edge: the floor of the value, or by bisection in the grid."""
    count = run.n_edges[j]
    step = -1.0 if is_lower else 1.0
    if count < 0:
        far = np.floor(g) if is_lower else np.floor(1.0 - g)
        return now + (min(far, step) if is_lower else max(far, step))
    edges = vector(run.r, run.grids_at + run.grid_first[j], count)
    # in between the two the edge itself, from which the guard measures
    edge = int(now) - 1 if is_lower else int(now)
    if not 0 <= edge < count:
        return now + step
    argument = edges[edge] + g if is_lower else edges[edge] - g
    low = 0
    high = count
    while low < high:
        middle = (low + high) // 2
        if argument >= edges[middle]:
            low = middle + 1
        else:
            high = middle
    return min(float(low), now + step) if is_lower else max(float(low), now + step)


@native
def lost_whole(run):
    """A whole part that matters, of a number that is not finite, as ``x // y`` where y is zero; -1 for none."""
    for j in range(run.n_guards):
        if run.guard_kind[j] != RELATION and run.n_edges[j] < 0 and run.active[j] != 0.0 and not abs(run.g[j]) < 1e301:
            return j
    return -1


@native
def note_change_at_zero(run, j, truth):
    """Remember that a relation gets what is written, or leaves it, as it changes to this truth at its zero."""
    if run.sides[j] == RESTS:
        note_given_back(run, j)
    elif truth != written_truth(run, j):
        note_left(run, j)


@native
def _keeps(run, j):
    """True of a guard at zero that is left, before clauses have looked, as it is: it has just crossed, or rests there as it did before."""
    rests = run.sides[j] == RESTS
    if run.crossed[j] == 1:
        # what others do at this instant may have stopped it where it was about to cross
        return not (rests and run.given_back[j] == 0 and is_where_it_left(run, j))
    return rests and run.active[j] != 0.0 and not has_changed(run, j) and is_untouched(run, j)


@native
def _is_to_change(run, t, j, before_clauses):
    if run.guard_kind[j] != RELATION or not abs(run.g[j]) < 1e301 or run.m[run.guard_mode[j]] == truth_of(run, j):
        return False
    return not (before_clauses and abs(run.g[j]) <= margin_of(run, t, j) and _keeps(run, j))


@native
def _first_to_change(run, t, before_clauses):
    """Of the relations that are to change one that is no other expression when others have: ``x >= 0`` before ``abs(x) > 0``; -1 if there is none."""
    first = -1
    for j in range(run.n_guards):
        if not _is_to_change(run, t, j, before_clauses):
            continue
        first = j if first < 0 else first
        follows = False
        for k in range(run.n_guards):
            if k == j or not _is_to_change(run, t, k, before_clauses):
                continue
            mode = run.guard_mode[k]
            run.m[mode] = 1.0 - run.m[mode]
            call_value(run.f_guards, t, run.y, run.p, run.m, run.trial_g_half)
            guard_slopes(run, t, run.y, run.ydot, run.trial_g_end)
            run.m[mode] = 1.0 - run.m[mode]
            follows = follows or run.trial_g_half[j] != run.g[j] or run.trial_g_end[j] != run.slopes[j]
        if not follows:
            return j
    return first


@native
def look_again(run, t, at_start, counts, before_clauses, only_first):
    """Set every mode by its guard; returns (number of changes, guard that changed its mind too often or -1).

    With ``only_first`` only one relation changes of those that do.
    """
    ng = run.n_guards
    y = run.y
    g = run.g
    slope = run.slopes
    kind = run.guard_kind
    mode = run.guard_mode
    sides = run.sides
    modes = run.m_at
    changes = 0
    # pieces may depend on one another, and how well their edges are known on which they are
    for _ in range(_MOST_CATCHING_UP):
        guard_roundoff(run, t, y)
        call_value(run.f_guards, t, y, run.p, run.m, g)
        guard_slopes(run, t, y, run.ydot, slope)
        _find_sides(run, t, at_start)
        moved = False
        by_slope = False
        for j in range(ng):
            if kind[j] == RELATION or not abs(g[j]) < 1e301 or truth_of(run, j) == 1:
                continue
            if abs(g[j]) <= margin_of(run, t, j):
                if before_clauses and _keeps(run, j):
                    continue
                if sides[j] == RESTS:
                    note_given_back(run, j)
                elif kind[j] == LOWER:
                    note_left(run, j)
                counts[j] += 1
                if counts[j] > _MOST_FLIPS:
                    return changes, j
                by_slope = True
            run.r[modes + mode[j]] = _piece(run, j, run.r[modes + mode[j]], g[j], kind[j] == LOWER)
            moved = True
        if not moved:
            break
        changes += 1
        if at_start and by_slope:
            # y' is that of the piece before: nothing else tells where a guard at its zero goes before there was a step
            return changes, -1
    first = _first_to_change(run, t, before_clauses) if only_first else -1
    for j in range(ng):
        if only_first and j != first:
            continue
        if kind[j] != RELATION or not abs(g[j]) < 1e301:
            continue  # not defined here, so not on the active path either, or found out by the integrator
        truth = truth_of(run, j)
        offset = modes + mode[j]
        if run.r[offset] == truth:
            continue
        if abs(g[j]) <= margin_of(run, t, j):
            if before_clauses and _keeps(run, j):
                continue
            if before_clauses:
                run.crossed[j] = 0
            note_change_at_zero(run, j, truth)
            counts[j] += 1
            if counts[j] > _MOST_FLIPS:
                return changes, j
        run.r[offset] = truth
        changes += 1
    return changes, -1


@native
def _set_by_values(run, t, all_known):
    """Set the modes of guards that are clear of zero: of those that were not watched, or of all whose values cannot change before clauses look."""
    ng = run.n_guards
    y = run.y
    g = run.g
    kind = run.guard_kind
    mode = run.guard_mode
    active = run.active
    open_ones = run.trial_g_full
    slope = run.slopes
    nu = run.nu_start
    some_algebraic = run.rank < run.n
    for j in range(ng):
        slope[j] = 0.0
    changes = 0
    has_moved = False  # from piece to piece
    # a guard may read other modes
    for _ in range(_MOST_CATCHING_UP):
        guard_roundoff(run, t, y)
        call_value(run.f_guards, t, y, run.p, run.m, g)
        if all_known:
            # rates of the mode before, which tell a size
            guard_slopes(run, t, y, run.ydot, slope)
            if some_algebraic:
                find_open(run, t, open_ones)
        changed = False
        for j in range(ng):
            margin = nu[j] if not abs(slope[j]) < np.inf else zero_margin(t, nu[j], 4.0 * slope[j])
            if not margin < abs(g[j]) < 1e301:
                continue
            if all_known and (is_due(run, j) or keeps_what_it_says(run, j)):
                continue
            if all_known:
                if some_algebraic and open_ones[j] != 0.0:
                    continue
            elif active[j] != 0.0:
                continue
            offset = run.m_at + mode[j]
            if kind[j] == RELATION:
                truth = 1.0 if g[j] > 0.0 else 0.0
                changed = changed or run.r[offset] != truth
                run.r[offset] = truth
            elif g[j] < 0.0:
                run.r[offset] = _piece(run, j, run.r[offset], g[j], kind[j] == LOWER)
                changed = True
                has_moved = True
        if not changed:
            break
        changes += 1
        if run.reads_modes == 0 and not has_moved:
            break
    return changes


@native
def catch_up(run, t):
    """Relations and pieces that nobody watched since the last event may be out of date: set them by their guards before conditions are read."""
    _set_by_values(run, t, False)


@native
def settle_known(run, t):
    """Set what depends on time and differential unknowns only, and is clear of zero; returns the number of changes."""
    return _set_by_values(run, t, True)
