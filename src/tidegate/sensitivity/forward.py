"""Forward sensitivities of one step: the collocation equations differentiated, solved directly for all stages at once.

Staggered direct method (Caracotsios and Stewart 1985) on the stages of Radau IIA: with the step's stage values known, the (s n) x (s n) matrix
A^-1 (x) M/step - diag(J_i) is factored once and solved for every parameter, so that the sensitivities are those of the discrete solution to rounding.
"""

from __future__ import annotations

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import NUMBER, WHOLE, unit
from tidegate.compiled.linear import factor_real, solve
from tidegate.compiled.workspace import (
    C_JACOBIAN,
    F_JACOBIAN,
    F_RESIDUAL_T,
    I_PIVK,
    L_DGETRF,
    L_DGETRS,
    MASS_KIND,
    N_S,
    O_DM,
    O_DP,
    O_INVERSE,
    O_J,
    O_K,
    O_KB,
    O_M,
    O_MASS,
    O_NODES,
    O_P,
    O_R,
    O_S,
    O_SNEW,
    O_W,
    O_Y,
    SINGULAR,
    STAGES,
    N,
    integers,
    matrix,
    tail,
    vector,
)
from tidegate.sensitivity.jump import set_direction

__all__ = ["stage_sensitivities"]


@unit(NUMBER, NUMBER, WHOLE)
def stage_sensitivities(h, r, t, step, place):
    """Changes of S at the stages, into O_SNEW as (parameter, stage, unknown); 0 or the reason of failure.

    The stage values minus y are at offset ``place`` of r.
    """
    n = h[N]
    s = h[STAGES]
    y = vector(r, h[O_Y], n)
    z = matrix(r, place, s, n)
    nodes = vector(r, h[O_NODES], s)
    inverse = matrix(r, h[O_INVERSE], s, s)
    size = s * n
    n_s = h[N_S]
    kind = h[MASS_KIND]
    k = matrix(r, h[O_K], size, size)
    rates = matrix(r, h[O_R], s, n)
    stage = vector(r, h[O_W], n)
    jac = matrix(r, h[O_J] + n * n, n, n)
    mass = matrix(r, h[O_MASS], n, n)
    right = matrix(r, h[O_KB], n_s, size)
    sens = matrix(r, h[O_S], n_s, n)
    reciprocal = 1.0 / step
    for i in range(s):
        for q in range(n):
            x = 0.0
            for j in range(s):
                x += inverse[i, j] * z[j, q]
            rates[i, q] = x * reciprocal
            stage[q] = y[q] + z[i, q]
        now = t + nodes[i] * step
        call_value(h[F_JACOBIAN], now, stage, tail(r, h[O_P]), tail(r, h[O_M]), vector(r, h[O_J] + n * n, n * n))
        h[C_JACOBIAN] += 1
        for e in range(n_s):
            set_direction(h, r, e, True)
            call_tangent(
                h[F_RESIDUAL_T], now, stage, rates[i], tail(r, h[O_P]), tail(r, h[O_M]), 0.0, sens[e], tail(r, h[O_DP]), tail(r, h[O_DM]),
                right[e, i * n : (i + 1) * n],
            )  # fmt: skip
            set_direction(h, r, e, False)
        for a in range(n):
            for j in range(s):
                c = inverse[i, j] * reciprocal
                row = i * n + a
                if kind == 2:
                    for q in range(n):
                        k[row, j * n + q] = c * mass[a, q]
                else:
                    for q in range(n):
                        k[row, j * n + q] = 0.0
                    k[row, j * n + a] = c if kind == 0 else c * mass[a, a]
            for q in range(n):
                k[i * n + a, i * n + q] -= jac[a, q]
    pivots = integers(h, h[I_PIVK], size)
    if factor_real(k, size, pivots, h[L_DGETRF]) != 0:
        return SINGULAR
    new = matrix(r, h[O_SNEW], n_s, size)
    for e in range(n_s):
        solve(k, size, pivots, right[e], h[L_DGETRS])
        for q in range(size):
            new[e, q] = right[e, q]
    return 0
