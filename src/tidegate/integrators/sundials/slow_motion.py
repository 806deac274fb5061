"""An event's point of a multistep method, put onto the slow motion of a stiff model, where the equations tell which way a guard goes on.

In: the point on the step's polynomial, just across the guard, and the time. It lies beside the solution within the tolerances; the equations multiply
that by the fastest rate, and the sign of dg/dt is noise: the guard seems to turn back, and the event happens over and over. So where the equations
and the polynomial disagree about dg/dt, the point follows (M/sigma - J) d = f - M p' a few times: what is fast goes to where the equations agree with
the polynomial's slope, what is slow stays; sigma is a small part of the step (implicit Euler, as in ``rate_before``). Then the guard's zero is looked
for once more. Where it is not found next to the first one, or the two still disagree, the first one stands.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.linear import factor_real, solve
from tidegate.compiled.workspace import (
    C_JACOBIAN,
    C_RHS,
    F_GUARDS,
    F_JACOBIAN,
    F_RHS,
    I_PIV1,
    L_DGETRF,
    L_DGETRS,
    LENGTH,
    MASS_KIND,
    N_G,
    O_ATOL,
    O_E1,
    O_ERR,
    O_G,
    O_GT,
    O_J,
    O_M,
    O_MASS,
    O_NUSTART,
    O_P,
    O_SCALE,
    O_W,
    O_YMAX,
    O_YNEW,
    RTOL,
    STEP,
    N,
    T,
    integers,
    matrix,
    tail,
    vector,
)
from tidegate.events.guards import expected_sign, guard_slopes
from tidegate.events.restart import consistent_point, derivatives, times_mass
from tidegate.integrators.polish import end_point, slope_of_the_step

__all__ = ["onto_slow_motion"]

_SIGMA: Final = 0.01  # of the step: what decays within that is fast
_AGREE: Final = 0.25  # relative difference of two slopes that mean the same
_ROUNDS: Final = 4
_MOST: Final = 100.0  # tolerances: a point that has to go farther is not beside the solution by the method's error
_WIDTH: Final = 1e-5
_FAR_SIDE: Final = 0.5  # of the guard's noise, as ``polish`` leaves it


@native
def _agree(h, r, guard):
    """True if the equations at the event's point give the guard about the slope that the polynomial gives it."""
    n = h[N]
    t = r[T] + r[STEP]
    point = vector(r, h[O_YNEW], n)
    slopes = vector(r, h[O_GT], h[N_G])
    guard_slopes(h, r, t, point, vector(r, h[O_SCALE], n), slopes)
    expected = slopes[guard]
    if derivatives(h, r, t, h[O_YNEW], h[O_ERR]) != 0:
        return True
    guard_slopes(h, r, t, point, vector(r, h[O_ERR], n), slopes)
    return abs(slopes[guard] - expected) <= _AGREE * abs(expected)


@native
def _way_to_slow_motion(h, r):
    """The way from the event's point into O_ERR; False where there is none, or too long a one. The point is moved."""
    n = h[N]
    t = r[T] + r[STEP]
    point = vector(r, h[O_YNEW], n)
    way = vector(r, h[O_ERR], n)
    moved = vector(r, h[O_ERR] + n, n)
    f = vector(r, h[O_W], n)
    jac = matrix(r, h[O_J], n, n)
    mass = matrix(r, h[O_MASS], n, n)
    system = matrix(r, h[O_E1], n, n)
    pivots = integers(h, h[I_PIV1], n)
    call_value(h[F_JACOBIAN], t, point, tail(r, h[O_P]), tail(r, h[O_M]), vector(r, h[O_J], n * n))
    h[C_JACOBIAN] += 1
    shift = 1.0 / (_SIGMA * r[LENGTH])
    for i in range(n):
        for j in range(n):
            m = mass[i, j]
            if h[MASS_KIND] == 0:
                m = 1.0 if i == j else 0.0
            system[i, j] = shift * m - jac[i, j]
    if factor_real(system, n, pivots, h[L_DGETRF]) != 0:
        return False
    times_mass(h, r, vector(r, h[O_SCALE], n), moved)
    for q in range(n):
        way[q] = 0.0
    for _ in range(_ROUNDS):
        call_value(h[F_RHS], t, point, tail(r, h[O_P]), tail(r, h[O_M]), f)
        h[C_RHS] += 1
        for q in range(n):
            f[q] -= moved[q]
        solve(system, n, pivots, f, h[L_DGETRS])
        for q in range(n):
            point[q] += f[q]
            way[q] += f[q]
    for q in range(n):
        if not abs(way[q]) <= _MOST * (r[h[O_ATOL] + q] + r[RTOL] * max(abs(point[q]), r[h[O_YMAX] + q])):
            return False
    return True


@native
def _beyond(h, r, guard, theta):
    """How far the guard still is from half its noise across, at a part of the step; the point, on the slow motion, in O_YNEW."""
    point = vector(r, h[O_YNEW], h[N])
    values = vector(r, h[O_G], h[N_G])
    end_point(h, r, theta, point)
    for q in range(h[N]):
        point[q] += r[h[O_ERR] + q]
    call_value(h[F_GUARDS], r[T] + theta * r[LENGTH], point, tail(r, h[O_P]), tail(r, h[O_M]), values)
    return expected_sign(h, r, guard) * values[guard] + _FAR_SIDE * r[h[O_NUSTART] + guard]


@native
def onto_slow_motion(h, r, guard):
    """Move the event of ``guard``, as ``polish`` has left it in STEP and O_YNEW; 0 or the reason of failure."""
    n = h[N]
    if not r[LENGTH] > 0.0:
        return 0
    slope_of_the_step(h, r, h[O_SCALE])
    if _agree(h, r, guard):
        return 0
    kept = vector(r, h[O_SCALE] + n, n)
    for q in range(n):
        kept[q] = r[h[O_YNEW] + q]
    step = r[STEP]
    first = step / r[LENGTH]
    theta = first
    found = False
    if _way_to_slow_motion(h, r):
        slope = (_beyond(h, r, guard, theta) - _beyond(h, r, guard, theta - _WIDTH)) / _WIDTH
        for _ in range(6):
            value = _beyond(h, r, guard, theta)
            if -_FAR_SIDE * r[h[O_NUSTART] + guard] <= value <= 0.25 * r[h[O_NUSTART] + guard]:
                found = True
                break
            if not slope < 0.0:
                break
            theta -= value / slope
            if not 0.0 < theta <= 1.0:
                break
    if found:
        r[STEP] = theta * r[LENGTH]
        if _agree(h, r, guard):
            return consistent_point(h, r, r[T] + r[STEP], h[O_YNEW])
    # nothing fast was to blame: a coarse polynomial, say
    r[STEP] = step
    for q in range(n):
        r[h[O_YNEW] + q] = kept[q]
    return 0
