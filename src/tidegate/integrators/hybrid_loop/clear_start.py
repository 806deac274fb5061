"""A start at which every relation is clear of its zero: what ``transition.settle`` would make of it, without its machine code.

Most models begin so. Only those of y' = f with relations are looked at, whose derivatives by parameters stay what they are; whatever is not seen to
be so at once is left to ``settle``: everything is put back, and NOT_SIMPLE said.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.compiled.workspace import KEEPS, RELATION
from tidegate.events.crossing import forget_where_guards_left
from tidegate.events.guards import guard_roundoff, guard_slopes, refresh_activity
from tidegate.events.not_tied import NOTHING
from tidegate.events.restart import derivatives
from tidegate.events.settle import note_start, remember_discrete
from tidegate.events.truth import settle_known, sides_by_slopes
from tidegate.integrators.hybrid_loop.event import NOT_SIMPLE
from tidegate.linear.forced import let_go

__all__ = ["may_start_clearly", "settle_clearly"]

_MOST_PASSES: Final = 4


@native
def may_start_clearly(run):
    """True of a model whose start may be seen to be clear."""
    if run.n_dropping > 0 or run.rank < run.n or run.mass_varies == 1 or run.past != 0 or run.n_constraints > 0:
        return False
    for j in range(run.n_guards):
        if run.guard_kind[j] != RELATION:
            return False
    for k in range(run.n_actions):
        if run.flags[k] != 0.0 or run.action_meaning[k] & KEEPS:
            return False
    return True


@native
def _follow(run, t):
    """Set the modes by values until none changes; how many passes changed one, or NOT_SIMPLE."""
    flips = settle_known(run, t)
    passes = 1 if flips > 0 else 0
    is_known = passes == 0 or run.reads_modes == 0  # guards and round-off levels are those of ``settle_known``
    if not is_known:
        guard_roundoff(run, t, run.y)
    for _ in range(_MOST_PASSES):
        if derivatives(run, t, run.y_at, run.ydot_at) != 0:
            return NOT_SIMPLE
        if not is_known:
            call_value(run.f_guards, t, run.y, run.p, run.m, run.g)
        is_known = run.reads_modes == 0
        guard_slopes(run, t, run.y, run.ydot, run.slopes)
        if sides_by_slopes(run, t):
            return NOT_SIMPLE
        changed = False
        for j in range(run.n_guards):
            g = run.g[j]
            # at its zero, or so near that its slope had to be asked
            if not 4.0 * run.nu_start[j] < abs(g) < 1e301:
                return NOT_SIMPLE
            truth = 1.0 if g > 0.0 else 0.0
            if run.m[run.guard_mode[j]] != truth:
                run.m[run.guard_mode[j]] = truth
                flips += 1
                changed = True
        if not changed:
            run.c_flips += flips
            return passes
        passes += 1
    return NOT_SIMPLE


@kernel_entry(NUMBER)
def settle_clearly(run, t):
    """The start of the run at the current point; 0, or NOT_SIMPLE with everything as it was."""
    for k in range(run.n_modes):
        run.r[run.m_trial_at + k] = run.m[k]
    let_go(run)
    run.not_forced_why = NOTHING
    for k in range(run.n_actions):
        run.fired[k] = 0.0
    forget_where_guards_left(run)
    passes = _follow(run, t)
    if passes == NOT_SIMPLE:
        for k in range(run.n_modes):
            run.m[k] = run.r[run.m_trial_at + k]
        return NOT_SIMPLE
    if run.stays_known == 1:
        run.known_at = t
    remember_discrete(run)
    run.rounds = 2 if passes > 0 else 1
    note_start(run, t)
    refresh_activity(run)
    return 0
