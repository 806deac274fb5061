"""Where a run begins, or a method begins anew: everything consistent at the point at hand.

In: a point whose differential unknowns are known. Out: modes from the guards, algebraic unknowns, derivatives and sensitivities that fit them.
"""

from __future__ import annotations

from tidegate.compiled.calls import call_hook
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import INITIAL_EVENT, NOT_FINITE
from tidegate.events.known_values import forget_here
from tidegate.events.not_tied import NOTHING
from tidegate.events.restart import consistent_point, derivatives
from tidegate.events.settle import remember_discrete
from tidegate.integrators.hybrid_loop.clear_start import may_start_clearly, settle_clearly
from tidegate.integrators.hybrid_loop.event import AGAIN
from tidegate.integrators.hybrid_loop.just_behind import rates_just_behind
from tidegate.integrators.hybrid_loop.transition import settle
from tidegate.linear.forced import let_go
from tidegate.linear.mass import update_mass
from tidegate.sensitivity.jump import finish_jump, start_jump

__all__ = ["settle_afresh", "start_afresh", "start_just_behind"]


@native
def start_afresh(run):
    """Go on from the current point, made consistent, without what the method knows of the steps before."""
    run.is_cut = 0
    forget_here(run)
    code = consistent_point(run, run.t, run.y_at)
    if code == 0:
        code = derivatives(run, run.t, run.y_at, run.ydot_at)
    if code == 0:
        code = call_hook(run.hook_restart, run.h, run.r, run.t, AGAIN)
    return code


@native
def start_just_behind(run):
    """Go on from just behind the current point, if the equations have a value there and none here; 0 or NOT_FINITE."""
    t = run.t
    if derivatives(run, t, run.y_at, run.ydot_at) != NOT_FINITE or rates_just_behind(run, t) != 0:
        return NOT_FINITE
    if not 0.0 < run.behind < min(run.t_end, run.t_next) - t:
        return NOT_FINITE
    for q in range(run.n):
        run.y[q] += run.behind * run.ydot[q]
    run.t = t + run.behind
    forget_here(run)
    return call_hook(run.hook_restart, run.h, run.r, run.t, AGAIN)


@native
def _nothing_decides(run):
    """True of a model without relations, clauses and conditions, whose derivatives by parameters, if there are any, stay what they are."""
    decides = run.n_guards > 0 or run.n_actions > 0 or run.n_conditions > 0 or run.n_dropping > 0
    return not decides and (run.n_sens == 0 or run.rank == run.n)


@native
def _settle_plainly(run, t):
    """What ``settle`` does at the start of such a model, without its machine code; what it comes to is as if it had not been, if that fails."""
    let_go(run)
    run.not_forced_why = NOTHING
    for q in range(run.n):
        run.r[run.y_unsolved_at + q] = run.y[q]
    code = consistent_point(run, t, run.y_at) if run.rank < run.n else 0
    if code == 0:
        code = derivatives(run, t, run.y_at, run.ydot_at)
    if code == 0:
        remember_discrete(run)
        run.rounds = 1
        return 0
    for q in range(run.n):
        run.y[q] = run.r[run.y_unsolved_at + q]
    return code


@native
def settle_afresh(run, t):
    """Modes from the guards, algebraic unknowns and sensitivities that fit the differential ones; no clause happens."""
    forget_here(run)
    for i in range(run.n_sens):
        run.dt_dp[i] = 0.0
    for q in range(run.n):
        run.ydot_before[q] = 0.0
    update_mass(run)
    if run.n_sens > 0:
        start_jump(run)
    if _nothing_decides(run) and _settle_plainly(run, t) == 0:
        return 0
    if may_start_clearly(run) and settle_clearly(run, t) == 0:
        return 0
    code = settle(run, t, INITIAL_EVENT)
    if code == 0 and run.n_sens > 0:
        finish_jump(run, t)
    return code
