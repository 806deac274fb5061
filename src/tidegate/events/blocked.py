"""A run that cannot go on because its equations end where a guard does: the root of a level that runs dry, a reversing flow.

Between events relations are locked, and Newton's iteration looks a little beyond a guard before it is isolated. Where the equations are not
defined there the step shrinks to nothing short of the guard. In: a step that collapsed. Out: the active guard that lies within the
tolerances of the point, if any, with the point moved just across it, so that the event can be carried out.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    F_GUARDS,
    F_GUARDS_T,
    F_SCALE,
    I_TIME,
    N_G,
    N_M,
    O_ACT,
    O_ATOL,
    O_F0,
    O_G,
    O_GT,
    O_M,
    O_NOISE,
    O_NU,
    O_NUSTART,
    O_P,
    O_W,
    O_W2,
    O_Y,
    O_YMAX,
    O_YNEW,
    O_ZERO,
    RTOL,
    N,
    T,
    integers,
    tail,
    vector,
)
from tidegate.events.guards import expected_sign, guard_noise, guard_slopes

__all__ = ["blocked_guard"]

_ACROSS: Final = 0.5  # of the guard's noise: how far behind its zero the point is put


@native
def blocked_guard(h, r):
    """The guard that stops the run, with the moved point in O_YNEW; -1 if none is near."""
    ng = h[N_G]
    n = h[N]
    if ng == 0:
        return -1
    t = r[T]
    y = vector(r, h[O_Y], n)
    g = vector(r, h[O_G], ng)
    reach = vector(r, h[O_NU], ng)
    width = vector(r, h[O_NOISE], n)
    nothing = tail(r, h[O_ZERO])
    zero = vector(r, h[O_ZERO], n)
    guard_noise(h, r, t, y)
    for q in range(n):
        width[q] = r[h[O_ATOL] + q] + r[RTOL] * r[h[O_YMAX] + q]
    call_value(h[F_GUARDS], t, y, tail(r, h[O_P]), tail(r, h[O_M]), g)
    call_tangent(h[F_SCALE], t, y, zero, tail(r, h[O_P]), tail(r, h[O_M]), 0.0, width, nothing, nothing, reach)
    slopes = vector(r, h[O_GT], ng)
    guard_slopes(h, r, t, y, vector(r, h[O_F0], n), slopes)
    of_time = integers(h, h[I_TIME], ng)
    best = -1
    nearest = 1.0
    for j in range(ng):
        if r[h[O_ACT] + j] == 0.0 or of_time[j] == 1 or not reach[j] > 0.0:
            continue
        part = abs(g[j]) / reach[j]
        if part < nearest and expected_sign(h, r, j) * slopes[j] < 0.0:
            nearest = part
            best = j
    if best >= 0:
        r[h[O_M] + h[N_M] - 1] = 0.0  # no contact: what led here was no polynomial
        _move_across(h, r, t, best, g[best])
    return best


@native
def _move_across(h, r, t, guard, value):
    """Change y along the guard's gradient, weighted by the tolerances, so that the guard lies just across."""
    n = h[N]
    y = vector(r, h[O_Y], n)
    point = vector(r, h[O_YNEW], n)
    width = vector(r, h[O_NOISE], n)
    slopes = vector(r, h[O_GT], h[N_G])
    direction = vector(r, h[O_W], n)
    gradient = vector(r, h[O_W2], n)
    nothing = tail(r, h[O_ZERO])
    zero = vector(r, h[O_ZERO], n)
    for q in range(n):
        direction[q] = 0.0
    size = 0.0
    for q in range(n):
        direction[q] = 1.0
        call_tangent(h[F_GUARDS_T], t, y, zero, tail(r, h[O_P]), tail(r, h[O_M]), 0.0, direction, nothing, nothing, slopes)
        direction[q] = 0.0
        gradient[q] = slopes[guard]
        size += (gradient[q] * width[q]) ** 2
    target = -expected_sign(h, r, guard) * _ACROSS * r[h[O_NUSTART] + guard]
    for q in range(n):
        point[q] = y[q] + (target - value) * gradient[q] * width[q] * width[q] / size
        if not abs(point[q]) < np.inf:
            point[q] = y[q]
