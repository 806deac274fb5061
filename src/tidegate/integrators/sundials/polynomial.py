"""The polynomial of SUNDIALS' last step in powers of theta, from its derivatives at the end of the step.

CVODES and IDAS interpolate with the polynomial that the corrector has just determined; it goes through both ends of the step (Nordsieck arrays with
fixed leading coefficients: Byrne and Hindmarsh 1975; modified divided differences: Brenan, Campbell and Petzold 1996, section 5.2).
"""

from __future__ import annotations

from tidegate.compiled.jit import NUMBER, WHOLE, native, unit
from tidegate.compiled.workspace import (
    DEGREE,
    FOUND_GUARD,
    LENGTH,
    O_A,
    O_F0,
    O_Y,
    O_YEND,
    O_YNEW,
    O_YOLD,
    STEP,
    N,
    T,
    matrix,
    vector,
)
from tidegate.events.isolate import polynomial_point
from tidegate.integrators.polish import polish, slope_of_the_step

__all__ = ["powers_from_derivatives", "sundials_accept", "sundials_locate", "value_inside"]


@native
def powers_from_derivatives(h, r, step):
    """Turn y^(k) at the end of the step, rows k = 1 ... degree of A, into coefficients of theta^k from its start."""
    n = h[N]
    degree = h[DEGREE]
    a = matrix(r, h[O_A], degree, n)
    y = vector(r, h[O_Y], n)
    end = vector(r, h[O_YEND], n)
    factor = 1.0
    for k in range(degree):
        factor *= step / (k + 1.0)
        for q in range(n):
            a[k, q] *= factor
    # from powers of theta - 1 to powers of theta (Horner's scheme, repeated)
    for level in range(degree):
        for k in range(degree - 2, max(level - 1, 0) - 1, -1):
            for q in range(n):
                a[k, q] -= a[k + 1, q]
    for q in range(n):
        x = 0.0
        for k in range(degree):
            x += a[k, q]
        # both ends exactly, whatever rounding did to the rest
        a[0, q] += (end[q] - y[q]) - x


@unit(NUMBER, WHOLE)
def sundials_locate(h, r, theta, guard):
    """The event's point lies on the polynomial: there is no better knowledge of the solution."""
    whole = r[STEP]
    h[FOUND_GUARD] = guard
    if theta > 0.0 and r[T] + theta * whole > r[T]:
        return polish(h, r, r[T], whole, guard, theta, whole)
    r[STEP] = 0.0
    r[LENGTH] = 0.0
    for q in range(h[N]):
        r[h[O_YNEW] + q] = r[h[O_Y] + q]
    return 0


@unit(NUMBER, WHOLE)
def sundials_accept(h, r, _number, _whole):
    """The rate at the new point."""
    slope_of_the_step(h, r, h[O_F0])
    return 0


@native
def value_inside(h, r, when):
    """The unknowns at a time inside the step, into O_YOLD."""
    n = h[N]
    degree = h[DEGREE]
    point = vector(r, h[O_YOLD], n)
    polynomial_point(n, degree, vector(r, h[O_Y], n), matrix(r, h[O_A], degree, n), (when - r[T]) / r[LENGTH], point)
