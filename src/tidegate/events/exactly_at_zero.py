"""A state that rests at the zero of a relation is put there exactly (stage: events).

In: the point behind an event, with the sides of guards. Out: the same, with states moved by less than the rounding of the guards that they rest at.

An event is put a rounding behind its zero. What stops there would stay beside it, and rounding would say what ``(x - c) * f(t) > 0`` is, with the
sign of f; a tank that has run empty would hold 1e-17. A guard that keeps the side it lies on, since its written truth drives it away, is left there.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.compiled.workspace import RELATION
from tidegate.events.crossing import is_where_it_left, margin_of, written_truth
from tidegate.events.guards import guard_slopes
from tidegate.events.leaving import RESTS
from tidegate.events.tolerances import EPS

__all__ = ["is_put_exactly_at_zero", "say_what_is_written"]

_ALONE: Final = 1e-9  # of the gradient: other unknowns have no more of it
_TRIES: Final = 3
_FARTHEST: Final = 2.0  # round-off levels of the guard


@native
def _rests(run, j):
    return run.guard_kind[j] == RELATION and run.sides[j] == RESTS and run.active[j] != 0.0


@native
def _says_what_is_written(run, j):
    return run.m[run.guard_mode[j]] == written_truth(run, j)


@native
def _rests_beside(run, j):
    """True of a relation that says what is written for its zero and rests there, but for rounding."""
    return _rests(run, j) and _says_what_is_written(run, j) and run.is_time[j] == 0 and 0.0 < abs(run.g[j]) <= run.nu_start[j]


@native
def _any_must_stay(run):
    """True if a guard at its zero keeps the side it lies on, whatever is written."""
    for j in range(run.n_guards):
        if abs(run.g[j]) <= run.nu_start[j]:
            has_left = run.given_back[j] == 1 and is_where_it_left(run, j)
            if has_left or (_rests(run, j) and not _says_what_is_written(run, j)):
                return True
    return False


@native
def _agrees(run, j, value):
    return value == 0.0 or (value > 0.0) == (run.m[run.guard_mode[j]] != 0.0)


@native
def _all_agree(run, values):
    """True if relations at rest have values that say what they do, as far as they had before: called as Python they are to say it, too."""
    for j in range(run.n_guards):
        if _rests(run, j) and not _agrees(run, j, values[j]) and _agrees(run, j, run.g[j]):
            return False
    return True


@native
def _slope_along(run, t, j, direction):
    """A guard's slope as the unknowns move so."""
    zero = run.zero
    call_tangent(run.f_guards_tangent, t, run.y, zero, run.p, run.m, 0.0, direction, zero, zero, run.trial_g_half)
    return run.trial_g_half[j]


@native
def _only_state(run, t, j):
    """The one unknown that a guard reads and the guard's slope by it; (-1, 0.0) if there are more.

    With one entry a of the gradient at q, the sums of its entries, and of q + 1 times these, are a and (q + 1) a.
    """
    n = run.n
    direction = run.trial_stage
    zero = run.zero
    for q in range(n):
        direction[q] = 1.0
    total = _slope_along(run, t, j, direction)
    call_tangent(run.f_guard_scale, t, run.y, zero, run.p, run.m, 0.0, direction, zero, zero, run.trial_g_half)
    size = run.trial_g_half[j]
    if not 0.0 < size < np.inf or not abs(abs(total) - size) <= _ALONE * size:
        return -1, 0.0
    for q in range(n):
        direction[q] = q + 1.0
    place = _slope_along(run, t, j, direction) / total - 1.0
    if not -0.5 < place < n - 0.5:
        return -1, 0.0
    which = int(np.floor(place + 0.5))
    for q in range(n):
        direction[q] = 0.0
    direction[which] = 1.0
    slope = _slope_along(run, t, j, direction)
    return (which, slope) if abs(abs(slope) - size) <= _ALONE * size else (-1, 0.0)


@native
def _move(run, t, j, farthest):
    """Move the state that alone is in a guard to its zero, as near as doubles come, the guard by no more than that; True if it was moved."""
    q, slope = _only_state(run, t, j)
    if q < 0 or run.is_algebraic[q] == 1:
        return False
    g = run.trial_g_end
    before = run.y[q]
    if before != run.y_old[q]:
        return False  # it has just been given this value
    nearest = before
    least = abs(run.g[j])
    value = run.g[j]
    is_there = False
    for _ in range(_TRIES):
        step = value / slope
        new = run.y[q] - step
        run.y[q] = 0.0 if abs(new) <= 4.0 * EPS * abs(step) else new
        call_value(run.f_guards, t, run.y, run.p, run.m, g)
        value = g[j]
        if abs(value) < least and _all_agree(run, g):
            least = abs(value)
            nearest = run.y[q]
        # at the end of Newton's iteration; multiple zeros have a longer one
        is_there = value == 0.0 or abs(step) <= 2.0 * EPS * abs(run.y[q])
        if is_there:
            break
    is_near = is_there and abs(nearest - before) * abs(slope) <= farthest
    run.y[q] = nearest if is_near else before
    return run.y[q] != before


@kernel_entry(NUMBER)
def put_exactly_at_zero(run, t):
    """What ``is_put_exactly_at_zero`` does where there is something to do."""
    if _any_must_stay(run):
        return 0
    run.is_exact = 1
    moved = 0
    for j in range(run.n_guards):
        if _rests_beside(run, j) and _move(run, t, j, _FARTHEST * run.nu_start[j]):
            moved = 1
            call_value(run.f_guards, t, run.y, run.p, run.m, run.g)
    return moved


@kernel_entry(NUMBER)
def say_what_is_written(run, t):
    """Let every relation at its zero say what is written for it, as ``sign(x)`` is 0 there; 1 if one did not, else 0.

    Several that get there at one instant lie a rounding of the time beside it; a state that alone is in a relation is put at the zero. The rates of
    before the event must be in run.ydot_before.
    """
    guard_slopes(run, t, run.y, run.ydot_before, run.slopes)
    call_value(run.f_guards, t, run.y, run.p, run.m, run.g)
    any_other = 0
    for j in range(run.n_guards):
        margin = margin_of(run, t, j)
        if run.guard_kind[j] != RELATION or run.active[j] == 0.0 or not abs(run.g[j]) <= margin:
            continue
        if not _says_what_is_written(run, j):
            run.m[run.guard_mode[j]] = written_truth(run, j)
            any_other = 1
        if run.has_followers == 0 and run.g[j] != 0.0 and _move(run, t, j, margin):
            call_value(run.f_guards, t, run.y, run.p, run.m, run.g)
    return any_other


@native
def is_put_exactly_at_zero(run, t):
    """Put states to the zeros that they rest at, once at an instant; True if one was moved.

    Guards and their round-off levels must be those of the point. Where states follow from others they are left, as one alone cannot move.
    """
    if run.is_exact == 1 or run.has_followers == 1:
        return False
    for j in range(run.n_guards):
        if _rests_beside(run, j):
            return put_exactly_at_zero(run, t) == 1
    return False
