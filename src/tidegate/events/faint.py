"""Crossings by motion that is within the tolerances: how often there is one, and when, is up to the method then (stage: events).

An oscillation that dies out crosses zero for ever. Once it is smaller than what steps are held to, its crossings are those of the method's error.
They are counted, so that it is said; a single one, of a dip between two that are none, is not. What is known of a guard between two crossings is how
far it was from its zero where steps began, and how fast it crosses: of an oscillation, that speed times the time in between is three times as far as
it goes. Both must be little.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_tangent
from tidegate.compiled.jit import native
from tidegate.events.tolerances import ROUNDING

__all__ = ["IN_A_ROW", "comes_from_nearby", "note_faint", "note_how_far"]

IN_A_ROW: Final = 2  # so many are said
_MULTIPLE: Final = 10.0  # of the tolerances: what goes no farther is not told by them; a third of it is an oscillation's amplitude


@native
def note_how_far(run, guard):
    """Where a step begins."""
    run.farthest[guard] = max(run.farthest[guard], abs(run.g[guard]))


@native
def comes_from_nearby(run, t, guard):
    """True of a guard that crosses with the speed run.crosses_with, and has been within the tolerances since it crossed last; begin with the next."""
    speed = run.crosses_with
    fastest = max(speed, run.crossed_with[guard])
    is_first = run.crossed_with[guard] == 0.0
    far = max(run.farthest[guard], fastest * (t - run.crossed_at[guard]))
    run.farthest[guard] = 0.0
    run.crossed_at[guard] = t
    run.crossed_with[guard] = speed
    # what rounding may do is known, and is what the tolerances may do as far as the largest values so far tell
    may_be = not is_first and far * ROUNDING <= 2.0 * _MULTIPLE * run.rtol * run.nu_start[guard]
    is_faint = may_be and far <= _MULTIPLE * _tolerance(run, t, guard)
    if not is_faint and run.faint_events[guard] < IN_A_ROW:
        run.faint_events[guard] = 0
    return is_faint


@native
def _tolerance(run, t, guard):
    """How far the tolerances may move a guard at the current point."""
    width = run.roundoff
    nothing = run.zero
    for q in range(run.n):
        width[q] = run.atol[q] + run.rtol * abs(run.y[q])
    call_tangent(run.f_guard_scale, t, run.y, run.zero, run.p, run.m, 0.0, width, nothing, nothing, run.reach_scratch)
    return run.reach_scratch[guard]


@native
def note_faint(run, t, guard):
    """A crossing from nearby that did something, unless it was thrown back: what bounces is followed as far as rounding lets it."""
    for q in range(run.n):
        if run.y[q] != run.y_old[q]:
            return
    run.faint_events[guard] += 1
    if run.faint_events[guard] == 1:
        run.faint_since[guard] = t
    if run.faint_events[guard] == IN_A_ROW:
        run.n_faint += 1
