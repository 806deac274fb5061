"""Steps in which no guard comes near its zero, so that nobody has to look for events in them (stage: integrators).

A whole step of Taylor's method says whether bounds on it keep every guard farther from its zero than it is told here: than rounding and the
tolerances reach, by far, for unknowns up to twice as large as ever before. The search of the loop would find nothing in such a step.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.emit_taylor.step_box import Box, first_of_guards
from tidegate.compiled.jit import kernel_entry, native
from tidegate.events.grazing import guard_reach
from tidegate.events.guards import expected_sign, guard_roundoff
from tidegate.events.tolerances import GRAZING

__all__ = [
    "ask_for_guards",
    "at_guards",
    "guards_are_far",
    "is_in_vain",
    "keeps_far",
    "may_be_far",
    "note_accepted",
    "note_farthest",
    "note_vain",
    "watch_signs",
    "were_far",
]

_ASKS_FAR, _IS_FAR = int(Box.ASKS_FAR), int(Box.IS_FAR)
_LARGER: Final = 2.0  # than ever before: unknowns up to there are no reason to ask anew
_MOST_IN_VAIN: Final = 6  # times that it is asked in vain, of which each makes the number of steps until it is asked again twice as large
_BY_FAR: Final = 8.0  # times as far as the tolerances reach

at_guards: Final = native(first_of_guards)


@kernel_entry()
def guards_are_far(run):
    """Say how near to their zeros guards must not come from the current point on; 0 if one is nearer now, or on the wrong side."""
    n = run.n
    guard_roundoff(run, run.t, run.y)
    guard_reach(run, run.t, run.y, run.y_max, run.reach_scratch)
    call_value(run.f_guards, run.t, run.y, run.p, run.m, run.g)
    at = at_guards(n)
    for j in range(run.n_guards):
        if run.is_time[j] == 1:
            continue
        near = -np.inf
        if run.active[j] != 0.0:
            near = _BY_FAR * (run.reach_scratch[j] + run.nu[j])
            if run.n_sens > 0:
                near = max(near, _BY_FAR * (run.reach_factor * run.reach_scratch[j] + GRAZING * run.nu_start[j]))
            if not expected_sign(run, j) * run.g[j] > near:
                return 0
        run.series_box[at] = near
        at += 1
    for q in range(n):
        run.far_size[q] = _LARGER * max(run.y_max[q], run.atol[q] / run.rtol)
    return 1


@native
def may_be_far(run):
    """True if the steps ahead may be such."""
    return run.n_far == 0 or guards_are_far(run) == 1


@native
def watch_signs(run):
    """Let the next step only tell whether a guard may come to its zero at all: what else it costs to be sure is seldom asked for near events."""
    at = at_guards(run.n)
    for j in range(run.n_guards):
        if run.is_time[j] == 0:
            run.series_box[at] = 0.0 if run.active[j] != 0.0 else -np.inf
            at += 1


@native
def were_far(run):
    """True if guards have been as far from their zeros, in the step that only told whether they come to these, as they have to be from here on."""
    if guards_are_far(run) == 0:
        return False
    at = at_guards(run.n)
    for i in range(run.n_far):
        if not run.series_box[at + 2 * run.n_far + i] > run.series_box[at + i]:
            return False
    return True


@native
def is_in_vain(run):
    """True where the last times there was no such step, so that it is not worth while to ask again at once."""
    if run.steps_not_asked == 0:
        return False
    run.steps_not_asked -= 1
    return True


@native
def note_vain(run, taken):
    """Note how many such steps there were when it was asked."""
    if run.n_far > 0:
        run.vain_times = 0 if taken > 0 else min(run.vain_times + 1, _MOST_IN_VAIN)
        run.steps_not_asked = (1 << run.vain_times) - 1 if taken == 0 else 0


@native
def ask_for_guards(run, asks):
    """Whether whole steps from here on are to tell what guards do in them."""
    if run.n_far > 0:
        run.series_box[_ASKS_FAR] = 1.0 if asks else 0.0


@native
def keeps_far(run):
    """True if no guard has come near its zero in the step just known."""
    return run.n_far == 0 or run.series_box[_IS_FAR] != 0.0


@native
def note_farthest(run, sizes, at, stride):
    """Note how far guards have been from their zeros; their sizes begin at a place, and are ``stride`` apart."""
    for j in range(run.n_guards):
        if run.is_time[j] == 0:
            if run.active[j] != 0.0:
                run.farthest[j] = max(run.farthest[j], sizes[at])
            at += stride


@native
def note_accepted(run):
    """Note what the search for events would have noted of such a step, whose end is the current point now; False if guards may be near then."""
    note_farthest(run, run.series_box, at_guards(run.n) + run.n_far, 1)
    is_larger = False
    for q in range(run.n):
        size = abs(run.y[q])
        run.y_max[q] = max(run.y_max[q], size)
        is_larger = is_larger or size > run.far_size[q]
    return not is_larger or guards_are_far(run) == 1
