"""y' just before an event, of which derivatives of its time and jumps are made: without what a stiff model makes of the point's error.

In: y' as the equations give it at the event's point, in O_YDOTM, and the polynomial of the step that led there. A multistep method's point lies
beside the slow motion of a stiff model, within the tolerances, and the equations multiply that distance by the fastest rate. The polynomial's slope
does not know of it, but is less accurate where nothing is stiff. So the difference d of both goes through one step of implicit Euler,
(M - h J) d' = M d, which takes away what decays within the step and leaves the rest. Algebraic unknowns follow their equations.
"""

from __future__ import annotations

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.linear import factor_real, solve
from tidegate.compiled.workspace import (
    C_JACOBIAN,
    DEGREE,
    F_JACOBIAN,
    I_PIV1,
    I_PIVB,
    L_DGETRF,
    L_DGETRS,
    LENGTH,
    MASS_KIND,
    O_BASE,
    O_E1,
    O_ECHELON,
    O_J,
    O_M,
    O_MASS,
    O_P,
    O_SCALEROW,
    O_W,
    O_W2,
    O_W3,
    O_Y,
    O_YDOTM,
    RANK,
    N,
    integers,
    matrix,
    tail,
    vector,
)
from tidegate.integrators.polish import slope_of_the_step

__all__ = ["smooth_rate"]


@native
def _fast_part(h, r, out):
    """Minus what implicit Euler takes away from the rate's distance to the slope; False where there is no such step."""
    n = h[N]
    rate = vector(r, h[O_YDOTM], n)
    slope = vector(r, h[O_W3], n)
    jac = matrix(r, h[O_J], n, n)
    mass = matrix(r, h[O_MASS], n, n)
    system = matrix(r, h[O_E1], n, n)
    pivots = integers(h, h[I_PIV1], n)
    slope_of_the_step(h, r, h[O_W3])
    for i in range(n):
        x = 0.0
        for j in range(n):
            m = mass[i, j]
            if h[MASS_KIND] == 0:
                m = 1.0 if i == j else 0.0
            system[i, j] = m - r[LENGTH] * jac[i, j]
            x += m * (rate[j] - slope[j])
        out[i] = x
    if factor_real(system, n, pivots, h[L_DGETRF]) != 0:
        return False
    solve(system, n, pivots, out, h[L_DGETRS])
    for q in range(n):
        out[q] -= rate[q] - slope[q]
        if not abs(out[q]) < np.inf:
            return False
    return True


@native
def smooth_rate(h, r, t):
    """Correct O_YDOTM, just computed from the equations, if a step led to the event."""
    n = h[N]
    if not r[LENGTH] > 0.0 or h[DEGREE] == 0:
        return
    if h[MASS_KIND] == 0:
        call_value(h[F_JACOBIAN], t, vector(r, h[O_Y], n), tail(r, h[O_P]), tail(r, h[O_M]), vector(r, h[O_J], n * n))
        h[C_JACOBIAN] += 1
    change = vector(r, h[O_W2], n)
    if not _fast_part(h, r, change):
        return
    if h[MASS_KIND] != 0:
        # what changes is U y'; the algebraic unknowns' rates follow
        echelon = matrix(r, h[O_ECHELON] + n * n, n, n)
        moved = vector(r, h[O_W], n)
        for i in range(n):
            x = 0.0
            for q in range(n):
                if i < h[RANK] and echelon[i, q] != 0.0:
                    x += echelon[i, q] * change[q]
            moved[i] = x * r[h[O_SCALEROW] + i]
        solve(matrix(r, h[O_BASE], n, n), n, integers(h, h[I_PIVB], n), moved, h[L_DGETRS])
        for q in range(n):
            change[q] = moved[q]
    for q in range(n):
        r[h[O_YDOTM] + q] += change[q]
