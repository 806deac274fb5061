"""A run that cannot go on because its equations end where a guard does: the root of a level that runs dry, a reversing flow.

Between events relations are locked, and Newton's iteration looks a little beyond a guard before it is isolated. Where the equations are not
defined there the step shrinks to nothing short of the guard. In: a step that collapsed. Out: the active guard that lies within the
tolerances of the point, if any, with the point moved just across it, so that the event can be carried out. Where no unknown moves the guard, a force
that changes its sign, time is moved across: by what no step can tell.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import kernel_entry, native
from tidegate.events.grazing import guard_reach
from tidegate.events.guards import expected_sign, guard_roundoff, guard_slopes
from tidegate.events.restart import derivatives
from tidegate.events.tolerances import ACROSS, EPS

__all__ = ["blocked_guard", "move_across"]

_NO_HELP: Final = 1e-9  # of the time gone by: where the same guard stops a run again after that, it is something else that does
_ROUNDINGS: Final = 16  # of the time: methods make no steps that are shorter than a third of that
_BEYOND: Final = 2  # roundings behind the zero as the guard has it: the equations may round otherwise


@native
def _is_across(run, j, value):
    return run.active[j] != 0.0 and run.is_time[j] == 0 and expected_sign(run, j) * value < 0.0


@native
def _moved_by_time(run, t, reach):
    """The guard without unknowns that changes its sign next, with the step across in run.blocked_step; -1 if none does."""
    values = run.slopes
    rounding = EPS * max(abs(t), run.time_size)
    for k in range(1, _ROUNDINGS + 1):
        call_value(run.f_guards, t + k * rounding, run.y, run.p, run.m, values)
        for j in range(run.n_guards):
            if not reach[j] > 0.0 and _is_across(run, j, values[j]):
                run.blocked_step = t + (k + _BEYOND) * rounding - t
                return j
    return -1


@native
def _put_rate(run, t):
    """y' here into run.f0, which over short steps is made of what corrections leave; as it is where the equations give none."""
    rate = run.y_new
    code = derivatives(run, t, run.y_at, run.y_new_at)
    for q in range(run.n if code == 0 or run.mass_kind == 0 else 0):
        if abs(rate[q]) < np.inf:
            run.f0[q] = rate[q]


@kernel_entry()
def blocked_guard(run):
    """The guard that stops the run of a model that has some, with the moved point in run.y_new, run.blocked_step later; -1 if none is near."""
    ng = run.n_guards
    t = run.t
    y = run.y
    g = run.g
    reach = run.nu
    _put_rate(run, t)
    guard_roundoff(run, t, y)
    guard_reach(run, t, y, run.y_max, reach)
    call_value(run.f_guards, t, y, run.p, run.m, g)
    slopes = run.slopes
    guard_slopes(run, t, y, run.f0, slopes)
    of_time = run.is_time
    best = -1
    nearest = 1.0
    for j in range(ng):
        if run.active[j] == 0.0 or of_time[j] == 1 or not reach[j] > 0.0:
            continue
        part = abs(g[j]) / reach[j]
        # a point just across the guard has no slopes where the equations end there
        if part < nearest and (expected_sign(run, j) * slopes[j] < 0.0 or not abs(slopes[j]) < np.inf):
            nearest = part
            best = j
    run.blocked_step = 0.0
    by_time = best < 0
    if by_time:
        best = _moved_by_time(run, t, reach)
    if best >= 0:
        if run.last_blocked == best + 1 and abs(t - run.blocked_t) <= _NO_HELP * (t - run.t_start):
            return -1
        run.last_blocked = best + 1
        run.blocked_t = t
        run.grazing[2] = 0.0  # no grazing: what led here was no polynomial
        if by_time:
            for q in range(run.n):
                run.y_new[q] = y[q] + run.blocked_step * run.f0[q]
        else:
            move_across(run, t, y, best, g[best], run.y_new)
    return best


@native
def move_across(run, t, y, guard, value, point):
    """Change y along the guard's gradient, weighted by the tolerances, so that the guard, whose value it gives, lies just across at ``point``."""
    n = run.n
    width = run.roundoff
    for q in range(n):
        width[q] = run.atol[q] + run.rtol * run.y_max[q]
    slopes = run.slopes
    direction = run.scratch_1
    gradient = run.scratch_2
    nothing = run.zero
    zero = run.zero
    for q in range(n):
        direction[q] = 0.0
    size = 0.0
    for q in range(n):
        direction[q] = 1.0
        call_tangent(run.f_guards_tangent, t, y, zero, run.p, run.m, 0.0, direction, nothing, nothing, slopes)
        direction[q] = 0.0
        gradient[q] = slopes[guard]
        part = gradient[q] * width[q]
        size += part * part
    target = -expected_sign(run, guard) * ACROSS * run.nu_start[guard]
    for q in range(n):
        point[q] = y[q] + (target - value) * gradient[q] * width[q] * width[q] / size
        if not abs(point[q]) < np.inf:
            point[q] = y[q]
