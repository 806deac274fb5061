"""Crossings by motion that is within the tolerances: how often there is one, and when, is up to the method then (stage: events).

An oscillation that dies out crosses zero for ever. Once it is smaller than what steps are held to, its crossings are those of the method's error.
They are counted, so that it is said; a single one, of a dip between two that are none, is not. What is known of a guard between two crossings is how
far it was from its zero where steps began, and how fast it crosses: of an oscillation, that speed times the time in between is three times as far as
it goes. Both must be little.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import native
from tidegate.events.grazing import guard_reach
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
    is_faint = not is_first and far * ROUNDING <= 2.0 * _MULTIPLE * run.rtol * run.nu_start[guard]
    if is_faint:
        guard_reach(run, t, run.y, run.y, run.reach_scratch)
        is_faint = far <= _MULTIPLE * run.reach_scratch[guard]
    if not is_faint and run.faint_events[guard] < IN_A_ROW:
        run.faint_events[guard] = 0
    return is_faint


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
