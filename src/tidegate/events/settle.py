"""The clauses of one event: which conditions became true, and what their bodies do.

In: the workspace of a run at an event. Out: flags, new values. ``integrators.transition`` puts the pieces in order, together with the jumps of
sensitivities (event iteration of Modelica, chapter 8.6; transitions of Galan, Feehery and Barton 1999).
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    F_BODIES,
    F_CONDITIONS,
    FIRST_DISCRETE,
    FIRST_DROP,
    FIRST_FIRE,
    FIRST_REMARK,
    I_BRANCH,
    I_CHAIN,
    I_DROP,
    I_TERMINATES,
    IS_TERMINATED,
    N_COND,
    N_D,
    N_DROP,
    N_FIRE,
    N_G,
    N_TIMES,
    N_WHEN,
    O_ATOL,
    O_BODY,
    O_COND,
    O_COND2,
    O_FIRED,
    O_HELD,
    O_M,
    O_P,
    O_Y,
    O_YMAX,
    RANK,
    TERMINATES,
    N,
    integers,
    tail,
    vector,
)

__all__ = [
    "anything_happened",
    "compute_bodies",
    "conditions_hold",
    "drop_of_states",
    "fire_branches",
    "keep_states",
    "note_conditions",
    "note_start",
    "read_conditions",
    "remember_discrete",
    "write_bodies",
]

_SILENTLY: Final = 0.5  # flag of what happened without changing anything
_STILL: Final = 1e-13  # of a state's size, and
_STILL_TOLERANCE: Final = 1e-4  # of its tolerance: so much may states move while the algebraic equations are solved


@native
def read_conditions(h, r, t, out_offset):
    """Values of when conditions and state conditions in the current mode."""
    if h[N_COND] > 0:
        call_value(h[F_CONDITIONS], t, tail(r, h[O_Y]), tail(r, h[O_P]), tail(r, h[O_M]), vector(r, out_offset, h[N_COND]))


@native
def note_conditions(h, r, t):
    """True if the event just settled changed a state condition or is one for what it carried out; remembers the conditions for the next one."""
    read_conditions(h, r, t, h[O_COND2])
    now = vector(r, h[O_COND2], h[N_COND])
    before = vector(r, h[O_COND], h[N_COND])
    changed = False
    for c in range(h[N_WHEN], h[N_COND]):
        if now[c] != before[c]:
            changed = True
        before[c] = now[c]
    for k in range(h[N_FIRE]):
        if r[h[O_FIRED] + k] > _SILENTLY:
            changed = True
    return changed


@native
def anything_happened(h, r):
    """True if the event just settled carried anything out, be it without changing a value."""
    happened = False
    for k in range(h[N_FIRE]):
        happened = happened or r[h[O_FIRED] + k] != 0.0
    return happened


@native
def note_start(h, r, t):
    """Remember the conditions at the start of a run, and which of them hold there: such a clause has to wait until they have been false."""
    read_conditions(h, r, t, h[O_COND])
    for c in range(h[N_WHEN]):
        r[h[O_HELD] + c] = 1.0 if r[h[O_COND] + c] != 0.0 else 0.0


@native
def conditions_hold(h, r, t):
    """True if the conditions of clauses are what they were when they were last looked at."""
    read_conditions(h, r, t, h[O_COND2])
    n_branches = _branches(h)
    branch = integers(h, h[I_BRANCH], n_branches + 1)
    chain = integers(h, h[I_CHAIN], max(n_branches, 1))
    for b in range(n_branches):
        if chain[b] >= FIRST_REMARK:
            break
        for c in range(branch[b], branch[b + 1]):
            if r[h[O_COND2] + c] != r[h[O_COND] + c]:
                return False
    return True


@native
def _branches(h):
    """How many flags belong to branches and remarks; those of time events follow."""
    # without times there is no place for guards among them either
    return h[N_FIRE] - max(h[N_TIMES] - h[N_G], 0)


@native
def fire_branches(h, r):
    """Set the flags of branches of which a condition has just become true; in a chain only the first. True if any was set."""
    now = vector(r, h[O_COND2], h[N_COND])
    before = vector(r, h[O_COND], h[N_COND])
    held = vector(r, h[O_HELD], h[N_COND])
    n_branches = _branches(h)
    branch = integers(h, h[I_BRANCH], n_branches + 1)
    chain = integers(h, h[I_CHAIN], max(n_branches, 1))
    flags = h[O_M] + h[FIRST_FIRE]
    any_fired = False
    n_rising = h[N_WHEN]
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
            r[flags + b] = 1.0
            last_chain = chain[b]
            any_fired = True
            for c in range(branch[b], branch[b + 1]):
                held[c] = 0.0
    for c in range(h[N_WHEN]):
        before[c] = now[c] if c < n_rising else 0.0
        if now[c] == 0.0:
            held[c] = 0.0
    return any_fired


@native
def _make_remarks(h, r, t):
    """Set the flags of remarks: their conditions hold only where the flag of the body is set that makes them."""
    n_branches = _branches(h)
    branch = integers(h, h[I_BRANCH], n_branches + 1)
    chain = integers(h, h[I_CHAIN], max(n_branches, 1))
    if n_branches == 0 or chain[n_branches - 1] < FIRST_REMARK:
        return
    read_conditions(h, r, t, h[O_COND2])
    for b in range(n_branches):
        if chain[b] >= FIRST_REMARK:
            r[h[O_M] + h[FIRST_FIRE] + b] = r[h[O_COND2] + branch[b]]


@native
def _differ(a, b):
    """True unless they are equal, or both NaN, which would keep an event from coming to rest."""
    return a != b and (a == a or b == b)


@native
def remember_discrete(h, r):
    """pre(v) := v of discrete variables and states; True if that changes anything."""
    nd = h[N_D]
    first = h[O_M] + h[FIRST_DISCRETE]
    changed = False
    for q in range(nd):
        if _differ(r[first + nd + q], r[first + q]):
            changed = True
            r[first + nd + q] = r[first + q]
    for k in range(h[N_DROP]):
        place = h[O_M] + h[FIRST_DROP] + k
        changed = changed or r[place] != 0.0
        r[place] = 0.0
    return changed


@native
def keep_states(h, r):
    """Note the states whose values before the round conditions ask for."""
    which = integers(h, h[I_DROP], max(h[N_DROP], 1))
    for k in range(h[N_DROP]):
        r[h[O_M] + h[FIRST_DROP] + k] = r[h[O_Y] + which[k]]


@native
def drop_of_states(h, r):
    """What a round took from these states; solving the algebraic equations may move them by rounding."""
    which = integers(h, h[I_DROP], max(h[N_DROP], 1))
    for k in range(h[N_DROP]):
        q = which[k]
        drop = r[h[O_M] + h[FIRST_DROP] + k] - r[h[O_Y] + q]
        still = 0.0
        if h[RANK] < h[N]:
            still = _STILL * max(r[h[O_YMAX] + q], abs(r[h[O_Y] + q])) + _STILL_TOLERANCE * r[h[O_ATOL] + q]
        r[h[O_M] + h[FIRST_DROP] + k] = drop if abs(drop) > still else 0.0


@native
def compute_bodies(h, r, t):
    """What the bodies of the set flags make of y and the discrete variables, into O_BODY; nothing is written yet.

    False if two of them want different values of one variable.
    """
    n = h[N]
    nd = h[N_D]
    _make_remarks(h, r, t)
    out = vector(r, h[O_BODY], 2 * (n + nd) + 1)
    out[2 * (n + nd)] = 0.0
    for q in range(n):
        out[q] = r[h[O_Y] + q]
    for q in range(nd):
        out[n + q] = r[h[O_M] + h[FIRST_DISCRETE] + q]
    if h[F_BODIES] != 0:
        call_value(h[F_BODIES], t, tail(r, h[O_Y]), tail(r, h[O_P]), tail(r, h[O_M]), out)
    return out[2 * (n + nd)] == 0.0


@native
def write_bodies(h, r):
    """Take over what ``compute_bodies`` found, note and clear the flags; True if a value changed."""
    n = h[N]
    nd = h[N_D]
    y = vector(r, h[O_Y], n)
    out = vector(r, h[O_BODY], n + nd)
    discrete = vector(r, h[O_M] + h[FIRST_DISCRETE], nd)
    flags = vector(r, h[O_M] + h[FIRST_FIRE], h[N_FIRE])
    fired = vector(r, h[O_FIRED], h[N_FIRE])
    meaning = integers(h, h[I_TERMINATES], h[N_FIRE])
    changed = False
    for q in range(n):
        if out[q] != y[q]:
            changed = True
        y[q] = out[q]
    for q in range(nd):
        if _differ(out[n + q], discrete[q]):
            changed = True
        discrete[q] = out[n + q]
    for k in range(h[N_FIRE]):
        if flags[k] != 0.0:
            fired[k] = 1.0 if changed or meaning[k] != 0 else max(fired[k], _SILENTLY)
            if meaning[k] & TERMINATES:
                h[IS_TERMINATED] = 1
            flags[k] = 0.0
    return changed
