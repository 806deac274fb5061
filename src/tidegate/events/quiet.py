"""Relations that flip and change nothing: no event, so the step is not cut for them.

In: a guard that crosses inside a step. Out: its mode flipped in place, if no condition on the active path and no ``when`` changes by it and no
further guard becomes active; the guard then sleeps to the end of the step, where its sign decides. Should the conditions differ there after all,
the modes are put back and the crossing is treated as an event.
"""

from __future__ import annotations

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import RELATION
from tidegate.events.guards import refresh_activity
from tidegate.events.settle import read_conditions

__all__ = ["conditions_are_the_same", "flips_quietly", "keep_modes", "quiet_modes_hold"]


@native
def keep_modes(run):
    """Remember the modes a step begins with, and that no guard sleeps."""
    for k in range(run.n_modes):
        run.m_old[k] = run.m[k]
    asleep = run.asleep
    for j in range(run.n_guards):
        asleep[j] = 0


@native
def conditions_are_the_same(run, t):
    """True if all conditions are what they were when they were last noted."""
    read_conditions(run, t, run.conditions_now_at)
    for c in range(run.n_conditions):
        if run.conditions_now[c] != run.conditions[c]:
            return False
    return True


@native
def flips_quietly(run, t, guard):
    """True if the flip changes nothing; then it is made and the guard put to sleep. False: nothing is touched."""
    ng = run.n_guards
    if run.guard_kind[guard] != RELATION:
        return False
    offset = run.m_at + run.guard_mode[guard]
    run.r[offset] = 1.0 - run.r[offset]
    same = conditions_are_the_same(run, t)
    if same:
        after = run.slopes
        active = run.active
        asleep = run.asleep
        call_value(run.f_activity, t, run.zero, run.p, run.m, after)
        for j in range(ng):
            if after[j] != 0.0 and active[j] == 0.0 and asleep[j] == 0:
                same = False
    if not same:
        run.r[offset] = 1.0 - run.r[offset]
        return False
    asleep = run.asleep
    asleep[guard] = 1
    refresh_activity(run)
    for j in range(ng):
        if asleep[j] == 1:
            run.active[j] = 0.0
    run.c_flips += 1
    return True


@native
def quiet_modes_hold(run, t, y):
    """At the end of a step: set sleeping relations by their signs and wake them.

    False if that changes a condition; the modes are then as before the step.
    """
    ng = run.n_guards
    g = run.g
    mode = run.guard_mode
    asleep = run.asleep
    call_value(run.f_guards, t, y, run.p, run.m, g)
    for j in range(ng):
        if asleep[j] == 1 and abs(g[j]) > run.nu_start[j]:
            run.m[mode[j]] = 1.0 if g[j] > 0.0 else 0.0
    hold = conditions_are_the_same(run, t)
    if not hold:
        for k in range(run.n_modes):
            run.m[k] = run.m_old[k]
    for j in range(ng):
        asleep[j] = 0
    refresh_activity(run)
    return hold
