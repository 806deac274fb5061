"""y' just before an event, of which derivatives of its time and jumps are made: without what a stiff model makes of the point's error.

In: y' as the equations give it at the event's point, in run.ydot_before, and the polynomial of the step that led there. A multistep method's point
lies beside the slow motion of a stiff model, within the tolerances, and the equations multiply that distance by the fastest rate. The polynomial's
slope does not know of it, but is less accurate where nothing is stiff. So the difference d of both goes through one step of implicit Euler, (M - h
J) d' = M d, which takes away what decays within the step and leaves the rest. Algebraic unknowns follow their equations.
"""

from __future__ import annotations

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.linear import factor_real, solve
from tidegate.integrators.polish import slope_of_the_step

__all__ = ["smooth_rate"]


@native
def _fast_part(run, out):
    """Minus what implicit Euler takes away from the rate's distance to the slope; False where there is no such step."""
    n = run.n
    rate = run.ydot_before
    slope = run.scratch_3
    jac = run.jacobian
    mass = run.mass
    system = run.slow_system
    pivots = run.slow_pivots
    slope_of_the_step(run, run.scratch_3_at)
    for i in range(n):
        x = 0.0
        for j in range(n):
            m = mass[i, j]
            if run.mass_kind == 0:
                m = 1.0 if i == j else 0.0
            system[i, j] = m - run.length * jac[i, j]
            x += m * (rate[j] - slope[j])
        out[i] = x
    if factor_real(system, n, pivots, run.dgetrf) != 0:
        return False
    solve(system, n, pivots, out, run.dgetrs)
    for q in range(n):
        out[q] -= rate[q] - slope[q]
        if not abs(out[q]) < np.inf:
            return False
    return True


@native
def smooth_rate(run, t):
    """Correct run.ydot_before, just computed from the equations, if a step led to the event."""
    n = run.n
    if not run.length > 0.0 or run.degree == 0:
        return
    if run.mass_kind == 0:
        call_value(run.f_jacobian, t, run.y, run.p, run.m, run.jacobian)
        run.c_jacobian += 1
    change = run.scratch_2
    if not _fast_part(run, change):
        return
    if run.mass_kind != 0:
        # what changes is U y'; the algebraic unknowns' rates follow
        echelon = run.echelon
        moved = run.scratch_1
        for i in range(n):
            x = 0.0
            for q in range(n):
                if i < run.rank and echelon[i, q] != 0.0:
                    x += echelon[i, q] * change[q]
            moved[i] = x * run.row_scale[i]
        solve(run.base, n, run.base_pivots, moved, run.dgetrs)
        for q in range(n):
            change[q] = moved[q]
    for q in range(n):
        run.ydot_before[q] += change[q]
