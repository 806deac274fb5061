"""Radau IIA as the loop sees it, besides its step and its way to an event: restart, acceptance, sensitivities at the end of a step, values in it."""

from __future__ import annotations

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import NUMBER, WHOLE, native, unit
from tidegate.compiled.workspace import (
    C_RHS,
    F_RHS,
    FACCON,
    HAS_POLYNOMIAL,
    IS_FIRST,
    LENGTH,
    N_S,
    NEEDS_FACTORS,
    NEEDS_JACOBIAN,
    O_A,
    O_F0,
    O_M,
    O_P,
    O_S,
    O_SEND,
    O_SNEW,
    O_SOUT,
    O_Y,
    O_YOLD,
    O_Z,
    O_ZB,
    STAGES,
    STAGES_WANTED,
    STEP,
    N,
    T,
    matrix,
    tail,
    vector,
)
from tidegate.events.guards import polynomial_point
from tidegate.integrators.event import AT_START
from tidegate.integrators.radau.locate import restep
from tidegate.integrators.radau.step import set_stages
from tidegate.integrators.radau.tableau import POLYNOMIAL
from tidegate.sensitivity.forward import stage_sensitivities

__all__ = ["radau_accept", "radau_restart", "radau_sensitivities", "radau_values"]


@unit(NUMBER, WHOLE)
def radau_accept(h, r, t, _whole):
    """f at the new point, which the error estimate of the next step needs."""
    call_value(h[F_RHS], t, vector(r, h[O_Y], h[N]), tail(r, h[O_P]), tail(r, h[O_M]), vector(r, h[O_F0], h[N]))
    h[C_RHS] += 1
    return 0


@unit(NUMBER, WHOLE)
def radau_restart(h, r, t, which):
    """No polynomial to continue, a new Jacobian; the step size is kept."""
    if which == AT_START:
        set_stages(h, r, h[STAGES_WANTED])
    h[IS_FIRST] = 1
    h[HAS_POLYNOMIAL] = 0
    h[NEEDS_JACOBIAN] = 1
    h[NEEDS_FACTORS] = 1
    r[FACCON] = 1.0
    return radau_accept(h, r, t, 0)


@native
def _add_polynomial(h, r, theta, end):
    """Add the polynomial through the stage sensitivities at theta to ``end``."""
    n = h[N]
    s = h[STAGES]
    k = (s - 3) // 2
    new = matrix(r, h[O_SNEW], h[N_S], s * n)
    for i in range(h[N_S]):
        for q in range(n):
            if theta == 1.0:
                end[i, q] += new[i, (s - 1) * n + q]
                continue
            x = 0.0
            for d in range(s - 1, -1, -1):
                c = 0.0
                for j in range(s):
                    c += POLYNOMIAL[k, d, j] * new[i, j * n + q]
                x = (x + c) * theta
            end[i, q] += x


@native
def _copy_sensitivities(h, r, place):
    for q in range(h[N_S] * h[N]):
        r[place + q] = r[h[O_S] + q]


@unit(NUMBER, WHOLE)
def radau_sensitivities(h, r, _number, _whole):
    """S at the end of the step, which lies at the end of the collocation polynomial or close to it."""
    code = stage_sensitivities(h, r, r[T], r[LENGTH], h[O_Z])
    if code == 0:
        _copy_sensitivities(h, r, h[O_SEND])
        _add_polynomial(h, r, r[STEP] / r[LENGTH], matrix(r, h[O_SEND], h[N_S], h[N]))
    return code


@unit(NUMBER, WHOLE)
def radau_values(h, r, when, _whole):
    """Unknowns and sensitivities at a time inside the step, by a step to it: the polynomial is less accurate inside than at its end."""
    n = h[N]
    s = h[STAGES]
    y = vector(r, h[O_Y], n)
    point = vector(r, h[O_YOLD], n)
    step = when - r[T]
    theta = step / r[LENGTH]
    stages = h[O_ZB]
    if restep(h, r, step, s, r[LENGTH], stages, 1, h[O_A]) == 1:
        z = matrix(r, stages, s, n)
        for q in range(n):
            point[q] = y[q] + z[s - 1, q]
        theta = 1.0
    else:
        polynomial_point(n, s, y, matrix(r, h[O_A], s, n), theta, point)
        stages = h[O_Z]
        step = r[LENGTH]
    if h[N_S] == 0:
        return 0
    code = stage_sensitivities(h, r, r[T], step, stages)
    if code == 0:
        _copy_sensitivities(h, r, h[O_SOUT])
        _add_polynomial(h, r, theta, matrix(r, h[O_SOUT], h[N_S], n))
    return code
