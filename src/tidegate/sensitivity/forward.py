"""Forward sensitivities of one step: the collocation equations differentiated, solved directly for all stages at once.

Staggered direct method (Caracotsios and Stewart 1985) on the stages of Radau IIA: with the step's stage values known, the (s n) x (s n) matrix
A^-1 (x) M/step - diag(J_i) is factored once and solved for every parameter, so that the sensitivities are those of the discrete solution to rounding.
"""

from __future__ import annotations

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import NUMBER, WHOLE, unit
from tidegate.compiled.linear import factor_real, solve
from tidegate.compiled.workspace import SINGULAR, matrix
from tidegate.sensitivity.jump import set_direction

__all__ = ["stage_sensitivities"]


@unit(NUMBER, NUMBER, WHOLE)
def stage_sensitivities(run, t, step, place):
    """Changes of S at the stages, into run.sens_new as (parameter, stage, unknown); 0 or the reason of failure.

    The stage values minus y are at offset ``place`` of r.
    """
    n = run.n
    s = run.stages
    y = run.y
    z = matrix(run.r, place, s, n)
    nodes = run.nodes
    inverse = run.inverse
    size = s * n
    n_s = run.n_sens
    kind = run.mass_kind
    k = run.sens_system
    rates = run.residuals
    stage = run.scratch_1
    jac = run.stage_jacobian
    mass = run.mass
    right = run.sens_right
    sens = run.sens
    reciprocal = 1.0 / step
    for i in range(s):
        for q in range(n):
            x = 0.0
            for j in range(s):
                x += inverse[i, j] * z[j, q]
            rates[i, q] = x * reciprocal
            stage[q] = y[q] + z[i, q]
        now = t + nodes[i] * step
        call_value(run.f_jacobian, now, stage, run.p, run.m, run.stage_jacobian)
        run.c_jacobian += 1
        for e in range(n_s):
            set_direction(run, e, True)
            call_tangent(
                run.f_residual_tangent, now, stage, rates[i], run.p, run.m, 0.0, sens[e], run.dp, run.dm,
                right[e, i * n : (i + 1) * n],
            )  # fmt: skip
            set_direction(run, e, False)
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
    pivots = run.sens_pivots
    if factor_real(k, size, pivots, run.dgetrf) != 0:
        return SINGULAR
    new = run.sens_new
    for e in range(n_s):
        solve(k, size, pivots, right[e], run.dgetrs)
        for q in range(size):
            new[e, q] = right[e, q]
    return 0
