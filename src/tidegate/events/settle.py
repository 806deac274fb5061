"""The clauses of one event: which conditions became true, and what their bodies do.

In: the workspace of a run at an event. Out: flags, new values. ``integrators.hybrid_loop.transition`` puts the pieces in order, together with the
jumps of sensitivities (event iteration of Modelica, chapter 8.6; transitions of Galan, Feehery and Barton 1999).
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import FIRST_REMARK, KEEPS, TERMINATES, vector
from tidegate.events.tolerances import HELD_STILL, HELD_STILL_TOLERANCE

__all__ = [
    "anything_happened",
    "carry_out_branches",
    "clauses_are_due",
    "compute_bodies",
    "conditions_hold",
    "drop_of_states",
    "how_many_branches",
    "keep_conditions",
    "keep_relations",
    "keep_states",
    "n_rising",
    "note_conditions",
    "note_start",
    "put_conditions_back",
    "read_conditions",
    "remember_discrete",
    "write_bodies",
]

_SILENTLY: Final = 0.5  # flag of what happened without changing anything


@native
def read_conditions(run, t, out_offset):
    """Values of when conditions and state conditions in the current mode."""
    if run.n_conditions > 0:
        call_value(run.f_conditions, t, run.y, run.p, run.m, vector(run.r, out_offset, run.n_conditions))


@native
def note_conditions(run, t, are_read):
    """True if the event just settled changed a state condition or is one for what it carried out; remembers the conditions for the next one."""
    if not are_read:
        read_conditions(run, t, run.conditions_now_at)
    now = run.conditions_now
    before = run.conditions
    changed = False
    for c in range(run.n_when, run.n_conditions):
        if now[c] != before[c]:
            changed = True
        before[c] = now[c]
    for k in range(run.n_actions):
        if run.fired[k] > _SILENTLY:
            changed = True
    return changed


@native
def anything_happened(run):
    """True if the event just settled carried anything out, be it without changing a value."""
    happened = False
    for k in range(run.n_actions):
        happened = happened or run.fired[k] != 0.0
    return happened


@native
def note_start(run, t):
    """Remember the conditions at the start of a run, and which of them hold there: such a clause has to wait until they have been false."""
    read_conditions(run, t, run.conditions_at)
    for c in range(run.n_when):
        run.held[c] = 1.0 if run.conditions[c] != 0.0 else 0.0


@native
def keep_relations(run, t):
    """What clauses of the system keep of relations at the start of a run, where conditions ask what these were."""
    keeps = False
    read_conditions(run, t, run.conditions_now_at)
    n_branches = how_many_branches(run)
    branch = run.branch_first
    for b in range(n_branches):
        if run.action_meaning[b] & KEEPS:
            for c in range(branch[b], branch[b + 1]):
                if run.conditions_now[c] != 0.0:
                    run.flags[b] = 1.0
                    keeps = True
    if keeps:
        compute_bodies(run, t)
        write_bodies(run)
        remember_discrete(run)
        for b in range(n_branches):
            if run.action_meaning[b] & KEEPS:
                run.fired[b] = 0.0


@native
def conditions_hold(run, t):
    """True if the conditions of clauses are what they were when they were last looked at."""
    read_conditions(run, t, run.conditions_now_at)
    n_branches = how_many_branches(run)
    branch = run.branch_first
    chain = run.branch_chain
    for b in range(n_branches):
        if chain[b] >= FIRST_REMARK:
            break
        for c in range(branch[b], branch[b + 1]):
            if run.conditions_now[c] != run.conditions[c]:
                return False
    return True


@native
def how_many_branches(run):
    """How many flags belong to branches and remarks; those of time events and step events follow."""
    return run.n_actions - run.n_clocks - run.n_steps


@native
def n_rising(run):
    """How many conditions belong to branches; those of remarks follow."""
    branch = run.branch_first
    chain = run.branch_chain
    for b in range(how_many_branches(run)):
        if chain[b] >= FIRST_REMARK:
            return branch[b]
    return run.n_when


@native
def clauses_are_due(run):
    """True if any flag is set."""
    for k in range(run.n_actions):
        if run.flags[k] != 0.0:
            return True
    return False


@native
def keep_conditions(run):
    """Keep modes, discrete variables, flags, and what conditions were, to put them back where clauses are only tried."""
    for k in range(run.n_m):
        run.kept_m[k] = run.m[k]
    for c in range(run.n_conditions):
        run.kept_conditions[c] = run.conditions[c]
        run.kept_held[c] = run.held[c]


@native
def put_conditions_back(run):
    """What ``keep_conditions`` has kept."""
    for k in range(run.n_m):
        run.m[k] = run.kept_m[k]
    for c in range(run.n_conditions):
        run.conditions[c] = run.kept_conditions[c]
        run.held[c] = run.kept_held[c]


@native
def carry_out_branches(run):
    """Set the flags of branches of which a condition has just become true; in a chain only the first. True if any was set."""
    now = run.conditions_now
    before = run.conditions
    held = run.held
    n_branches = how_many_branches(run)
    branch = run.branch_first
    chain = run.branch_chain
    flags = run.flags
    any_carried_out = False
    n_rising = run.n_when
    last_chain = -1
    for b in range(n_branches):
        if chain[b] >= FIRST_REMARK:
            # they come last and do not fire by themselves
            n_rising = branch[b]
            break
        rises = False
        for c in range(branch[b], branch[b + 1]):
            if now[c] != 0.0 and before[c] == 0.0:
                rises = True
        if rises and chain[b] != last_chain:
            flags[b] = 1.0
            last_chain = chain[b]
            any_carried_out = True
            for c in range(branch[b], branch[b + 1]):
                held[c] = 0.0
    for c in range(run.n_when):
        before[c] = now[c] if c < n_rising else 0.0
        if now[c] == 0.0:
            held[c] = 0.0
    return any_carried_out


@native
def _make_remarks(run, t):
    """Set the flags of remarks: their conditions hold only where the flag of the body is set that makes them."""
    n_branches = how_many_branches(run)
    branch = run.branch_first
    chain = run.branch_chain
    if n_branches == 0 or chain[n_branches - 1] < FIRST_REMARK:
        return
    read_conditions(run, t, run.conditions_now_at)
    for b in range(n_branches):
        if chain[b] >= FIRST_REMARK:
            run.flags[b] = run.conditions_now[branch[b]]


@native
def _differ(a, b):
    """True unless they are equal, or both NaN, which would keep an event from coming to rest."""
    return a != b and (a == a or b == b)


@native
def remember_discrete(run):
    """pre(v) := v of discrete variables and states; True if that changes anything."""
    discrete = run.discrete
    previous = run.previous
    drops = run.drops
    changed = False
    for q in range(run.n_discrete):
        if _differ(previous[q], discrete[q]):
            changed = True
            previous[q] = discrete[q]
    for k in range(run.n_dropping):
        changed = changed or drops[k] != 0.0
        drops[k] = 0.0
    return changed


@native
def keep_states(run):
    """Note the states whose values before the round conditions ask for."""
    which = run.dropping
    for k in range(run.n_dropping):
        run.drops[k] = run.y[which[k]]


@native
def drop_of_states(run):
    """What a round took from these states; solving the algebraic equations may move them by rounding."""
    which = run.dropping
    for k in range(run.n_dropping):
        q = which[k]
        drop = run.drops[k] - run.y[q]
        still = 0.0
        if run.rank < run.n:
            still = HELD_STILL * max(run.y_max[q], abs(run.y[q])) + HELD_STILL_TOLERANCE * run.atol[q]
        run.drops[k] = drop if abs(drop) > still else 0.0


@native
def compute_bodies(run, t):
    """What the bodies of the set flags make of y and the discrete variables, into run.body; nothing is written yet.

    False if two of them want different values of one variable.
    """
    n = run.n
    nd = run.n_discrete
    _make_remarks(run, t)
    out = run.body
    out[2 * (n + nd)] = 0.0
    for q in range(n):
        out[q] = run.y[q]
    for q in range(nd):
        out[n + q] = run.discrete[q]
    if run.f_bodies != 0:
        call_value(run.f_bodies, t, run.y, run.p, run.m, out)
    return out[2 * (n + nd)] == 0.0


@native
def write_bodies(run):
    """Take over what ``compute_bodies`` found, note and clear the flags; True if a value changed."""
    n = run.n
    nd = run.n_discrete
    y = run.y
    out = run.body
    discrete = run.discrete
    flags = run.flags
    fired = run.fired
    meaning = run.action_meaning
    changed = False
    for q in range(n):
        if out[q] != y[q]:
            changed = True
        y[q] = out[q]
    for q in range(nd):
        if _differ(out[n + q], discrete[q]):
            changed = True
        discrete[q] = out[n + q]
    for k in range(run.n_actions):
        if flags[k] != 0.0:
            fired[k] = 1.0 if changed or meaning[k] != 0 else max(fired[k], _SILENTLY)
            if meaning[k] & TERMINATES:
                run.is_terminated = 1
            flags[k] = 0.0
    return changed
