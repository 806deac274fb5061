"""A point beside the mode it is in, where the equations have no value (stage: events).

In: a point within an event. Out: the same, or a state moved by less than a thousandth of its tolerance, to the zero of a relation that says
otherwise. Or, where no state can be moved, relations that say what is written.

A tank that has run empty rests at a level of -7e-17. As it is filled again the relation ``h >= 0`` says what the level is about to be, and ``h**0.5``
would be no number there. Of ``sqrt(abs(u)) if u > 0 else 0`` nobody has looked at what ``abs`` says as long as u was negative.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import RELATION
from tidegate.events.guards import refresh_activity
from tidegate.linear.forced import model_rates

__all__ = ["RELATIONS_PUT_RIGHT", "put_on_its_side", "put_relations_right"]

_MOVED: Final = 1e-3  # of the tolerance
# what has been done about a point where the equations have no value
_NOTHING, _STATES_MOVED, RELATIONS_PUT_RIGHT = range(3)


@native
def _is_defined(run, t):
    rates = run.beside
    model_rates(run, t, run.y, rates)
    for q in range(run.n):
        if not abs(rates[q]) < 1e300:
            return False
    return True


@native
def _misses(run, j, t):
    """By how much a relation's function is on the other side than its mode says; 0 if it is not."""
    g = run.trial_g_end
    call_value(run.f_guards, t, run.y, run.p, run.m, g)
    is_other = (run.r[run.m_at + run.guard_mode[j]] != 0.0) != (g[j] >= 0.0)
    return g[j] if is_other else 0.0


@native
def _move(run, j, t):
    """Move the state that alone is compared to the zero of a relation; True if there is one."""
    miss = _misses(run, j, t)
    if miss == 0.0:
        return False
    for q in range(run.n):
        before = run.y[q]
        if run.is_algebraic[q] == 1 or not abs(miss) <= _MOVED * (run.atol[q] + run.rtol * max(run.y_max[q], abs(before))):
            continue
        for side in range(2):
            run.y[q] = before - miss if side == 0 else before + miss
            if _misses(run, j, t) == 0.0:
                return True
        run.y[q] = before
    return False


@kernel_entry(NUMBER, INTEGER)
def put_relations_right(run, t, with_crossed):
    """Let relations that matter say what is written; 1 if one did not. Those that have crossed say what is about to be, and may be left alone."""
    put = 0
    refresh_activity(run)
    for j in range(run.n_guards):
        may_be = with_crossed == 1 or run.crossed[j] == 0
        if may_be and run.guard_kind[j] == RELATION and run.active[j] != 0.0 and _misses(run, j, t) != 0.0:
            mode = run.m_at + run.guard_mode[j]
            run.r[mode] = 1.0 - run.r[mode]
            put = 1
    return put


@kernel_entry(NUMBER, INTEGER)
def put_on_its_side(run, t, with_crossed):
    """Where the equations have no value at this point, put states to the zeros of relations that they miss, or relations right; what was done."""
    if _is_defined(run, t):
        return _NOTHING
    done = _NOTHING
    for j in range(run.n_guards):
        if run.guard_kind[j] == RELATION and _move(run, j, t):
            done = _STATES_MOVED
    if done == _NOTHING and put_relations_right(run, t, with_crossed) == 1:
        return RELATIONS_PUT_RIGHT
    return done
