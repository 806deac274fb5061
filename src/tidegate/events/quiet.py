"""Relations that flip and change nothing: no event, so the step is not cut for them.

In: a guard that crosses inside a step. Out: its mode flipped in place, if no condition on the active path and no ``when`` changes by it and no
further guard becomes active; the guard then sleeps to the end of the step, where its sign decides. Should the conditions differ there after all,
the modes are put back and the crossing is treated as an event.
"""

from __future__ import annotations

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    C_FLIPS,
    F_ACTIVITY,
    F_GUARDS,
    I_FLIPPED,
    I_KIND,
    I_MODE,
    N_COND,
    N_G,
    N_MODES,
    O_ACT,
    O_COND,
    O_COND2,
    O_G,
    O_GT,
    O_M,
    O_MOLD,
    O_NUSTART,
    O_P,
    O_ZERO,
    RELATION,
    integers,
    tail,
    vector,
)
from tidegate.events.guards import refresh_activity
from tidegate.events.settle import read_conditions

__all__ = ["flips_quietly", "keep_modes", "quiet_modes_hold"]


@native
def keep_modes(h, r):
    """Remember the modes a step begins with, and that no guard sleeps."""
    for k in range(h[N_MODES]):
        r[h[O_MOLD] + k] = r[h[O_M] + k]
    asleep = integers(h, h[I_FLIPPED] + h[N_G], h[N_G])
    for j in range(h[N_G]):
        asleep[j] = 0


@native
def _conditions_are_the_same(h, r, t):
    read_conditions(h, r, t, h[O_COND2])
    for c in range(h[N_COND]):
        if r[h[O_COND2] + c] != r[h[O_COND] + c]:
            return False
    return True


@native
def flips_quietly(h, r, t, guard):
    """True if the flip changes nothing; then it is made and the guard put to sleep. False: nothing is touched."""
    ng = h[N_G]
    if integers(h, h[I_KIND], ng)[guard] != RELATION:
        return False
    place = h[O_M] + integers(h, h[I_MODE], ng)[guard]
    r[place] = 1.0 - r[place]
    same = _conditions_are_the_same(h, r, t)
    if same:
        after = vector(r, h[O_GT], ng)
        active = vector(r, h[O_ACT], ng)
        asleep = integers(h, h[I_FLIPPED] + ng, ng)
        call_value(h[F_ACTIVITY], t, tail(r, h[O_ZERO]), tail(r, h[O_P]), tail(r, h[O_M]), after)
        for j in range(ng):
            if after[j] != 0.0 and active[j] == 0.0 and asleep[j] == 0:
                same = False
    if not same:
        r[place] = 1.0 - r[place]
        return False
    asleep = integers(h, h[I_FLIPPED] + ng, ng)
    asleep[guard] = 1
    refresh_activity(h, r)
    for j in range(ng):
        if asleep[j] == 1:
            r[h[O_ACT] + j] = 0.0
    h[C_FLIPS] += 1
    return True


@native
def quiet_modes_hold(h, r, t, y):
    """At the end of a step: set sleeping relations by their signs and wake them.

    False if that changes a condition; the modes are then as before the step.
    """
    ng = h[N_G]
    g = vector(r, h[O_G], ng)
    mode = integers(h, h[I_MODE], ng)
    asleep = integers(h, h[I_FLIPPED] + ng, ng)
    call_value(h[F_GUARDS], t, y, tail(r, h[O_P]), tail(r, h[O_M]), g)
    for j in range(ng):
        if asleep[j] == 1 and abs(g[j]) > r[h[O_NUSTART] + j]:
            r[h[O_M] + mode[j]] = 1.0 if g[j] > 0.0 else 0.0
    hold = _conditions_are_the_same(h, r, t)
    if not hold:
        for k in range(h[N_MODES]):
            r[h[O_M] + k] = r[h[O_MOLD] + k]
    for j in range(ng):
        asleep[j] = 0
    refresh_activity(h, r)
    return hold
