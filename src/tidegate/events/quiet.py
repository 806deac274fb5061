"""Relations that flip and change nothing: no event, so the step is not cut for them.

In: a guard that crosses inside a step. Out: its mode flipped in place, if no condition on the active path and no ``when`` changes by it and no
further guard becomes active; the guard then sleeps to the end of the step, where its sign decides. Should the conditions differ there after all,
the modes are put back and the crossing is treated as an event.
"""

from __future__ import annotations

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import NUMBER, NUMBERS, kernel_entry, native
from tidegate.compiled.workspace import RELATION, vector
from tidegate.events.guards import expected_sign, refresh_activity
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
def _stays_across(run, guard, theta, sign):
    """True if it is certain that a guard that crosses at a part of the step, from this side, does not come back to zero in the rest of it."""
    degree = run.degree
    moved = run.bernstein_scratch  # by so much, in powers of what has gone by of the step since it crossed
    moved[0] = 0.0
    for k in range(degree):
        moved[k + 1] = -sign * run.guard_coefficients[k, guard]
    for i in range(degree):
        for k in range(degree - 1, i - 1, -1):
            moved[k] += theta * moved[k + 1]
    power = 1.0
    for k in range(1, degree + 1):
        power *= 1.0 - theta
        moved[k] *= power
    rises = 0.0
    for k in range(degree, 0, -1):
        rises = moved[k] + min(rises, 0.0)
    return rises > 0.0


@native
def flips_quietly(run, t, guard):
    """True if the flip, at run.found_theta, changes nothing; then it is made and the guard put to sleep. False: nothing is touched.

    Nobody looks at a guard that sleeps. If it came back, what it says would be wrong from there on, and so would be what conditions say, and which
    other guards matter.
    """
    ng = run.n_guards
    if run.guard_kind[guard] != RELATION or run.is_linear[guard] == 0:
        return False
    sign = expected_sign(run, guard)
    offset = run.m_at + run.guard_mode[guard]
    run.r[offset] = 1.0 - run.r[offset]
    same = conditions_are_the_same(run, t) and _stays_across(run, guard, run.found_theta, sign)
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


@kernel_entry(NUMBER, NUMBERS)
def quiet_modes_hold(run, t, point):
    """At the end of a step: set sleeping relations by their signs and wake them.

    0 if that changes a condition; the modes are then as before the step.
    """
    ng = run.n_guards
    y = vector(point, 0, run.n)
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
    return 1 if hold else 0
