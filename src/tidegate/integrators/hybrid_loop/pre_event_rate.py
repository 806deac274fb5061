"""y' just before an event, of which derivatives of its time and jumps are made: without what a stiff model makes of the point's error.

In: y' as the equations give it at the event's point, in run.ydot_before, and the polynomial of the step that led there. A multistep method's point
lies beside the slow motion of a stiff model, within the tolerances, and the equations multiply that distance by the fastest rate. The polynomial's
slope does not know of it, but is less accurate where nothing is stiff. So the difference d of both goes through one step of implicit Euler, (M - h
J) d' = M d, which takes away what decays within the step and leaves the rest. Algebraic unknowns follow their equations.

Just across its zero the root of a guard has no value any more. What has no rate there has that of a point just before, to where the rates of the
others lead back. (The slope of the polynomial would not do: corrections leave a part of the tolerance, and near such a root steps are so short that
their slope is made of that.)
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.events.tolerances import EPS
from tidegate.integrators.hybrid_loop.polish import slope_of_the_step
from tidegate.integrators.hybrid_loop.rates_beside import is_known, put_known, put_rates_beside
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import SECOND, evaluate_jacobian, factor_real, solve_base, solve_real

__all__ = ["rate_without_equations", "smooth_rate"]

_LONGER_AGO: Final = 4.0  # so much longer ago each time equations without a value are asked for one, from a rounding of the time on, ...
_LONGEST_AGO: Final = 1e-3  # ... up to this part of the time gone by


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


@kernel_entry(NUMBER)
def rate_without_equations(run, t):
    """Fill in run.ydot_before, just computed from explicit equations at time t, where they had no value."""
    n = run.n
    rate = run.ydot_before
    back = run.scratch_1
    earlier = run.scratch_3
    put_known(rate, back, n)
    ago = EPS * max(abs(t), run.time_size)
    is_missing = True
    while is_missing and ago <= _LONGEST_AGO * (t - run.t_start):
        put_rates_beside(run, t, -ago, back, earlier)
        is_missing = False
        for q in range(n):
            if not is_known(rate[q]):
                rate[q] = earlier[q]
                is_missing = is_missing or not is_known(rate[q])
        ago *= _LONGER_AGO
    for q in range(n):
        if not is_known(rate[q]):
            rate[q] = run.f0[q]
    return 0
