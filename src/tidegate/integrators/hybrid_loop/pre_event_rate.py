"""y' just before an event, of which derivatives of its time and jumps are made: without what a stiff model makes of the point's error.

In: y' as the equations give it at the event's point, in run.ydot_before, and the polynomial of the step that led there. A multistep method's point
lies beside the slow motion of a stiff model, within the tolerances, and the equations multiply that distance by the fastest rate. The polynomial's
slope does not know of it, but is less accurate where nothing is stiff. So the difference d of both goes through one step of implicit Euler, (M - h
J) d' = M d, which takes away what decays within the step and leaves the rest. Algebraic unknowns follow their equations.
"""

from __future__ import annotations

import numpy as np

from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.integrators.hybrid_loop.polish import slope_of_the_step
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import SECOND, evaluate_jacobian, factor_real, solve_base, solve_real

__all__ = ["smooth_rate"]


@native
def _fast_part(run, out):
    """Minus what implicit Euler takes away from the rate's distance to the slope; False where there is no such step."""
    n = run.n
    rate = run.ydot_before
    slope = run.scratch_3
    moved = run.scratch_1
    slope_of_the_step(run, run.scratch_3_at)
    for q in range(n):
        moved[q] = (rate[q] - slope[q]) / run.length
    times_mass(run, moved, out)
    if factor_real(run, SECOND, 1.0 / run.length, run.jacobian_at) != 0:
        return False
    solve_real(run, SECOND, out.ctypes)
    for q in range(n):
        out[q] -= rate[q] - slope[q]
        if not abs(out[q]) < np.inf:
            return False
    return True


@kernel_entry(NUMBER)
def smooth_rate(run, t):
    """Correct run.ydot_before, just computed from the equations, if a step led to the event."""
    n = run.n
    if not run.length > 0.0 or run.degree == 0:
        return 0
    if run.mass_kind == 0:
        evaluate_jacobian(run, t, run.y)
    change = run.scratch_2
    if not _fast_part(run, change):
        return 0
    if run.mass_kind != 0:
        # what changes is U y'; the algebraic unknowns' rates follow
        moved = run.scratch_1
        times_mass(run, change, moved)
        solve_base(run, moved, run.zero, change)
    for q in range(n):
        run.ydot_before[q] += change[q]
    return 0
