"""The system of all stages of a collocation step at once: A^-1 (x) M/step - diag(J_i), dense, for as many unknowns as that is worth."""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import native
from tidegate.compiled.workspace import matrix
from tidegate.linear.dense import factor_real, solve
from tidegate.linear.forced import model_jacobian
from tidegate.linear.mass import DIAGONAL, IDENTITY

__all__ = ["MOST_ROWS", "factor_stages", "put_stage", "solve_stages"]

MOST_ROWS: Final = 120  # more are solved by an iteration with the factors of the step


@native
def put_stage(run, t, y, i, step):
    """The rows of stage i, with J at its point."""
    n = run.n
    k = run.sens_system
    kind = run.mass_kind
    model_jacobian(run, t, y, run.stage_jacobian)
    run.c_jacobian += 1
    jac = matrix(run.r, run.stage_jacobian_at, n, n)
    mass = run.mass
    full = matrix(run.r, run.mass_at, n, n)
    reciprocal = 1.0 / step
    for a in range(n):
        row = i * n + a
        for j in range(run.stages):
            c = run.inverse[i, j] * reciprocal
            for q in range(n):
                k[row, j * n + q] = c * full[a, q] if kind > DIAGONAL else 0.0
            if kind <= DIAGONAL:
                k[row, j * n + a] = c if kind == IDENTITY else c * mass[a]
        for q in range(n):
            k[row, i * n + q] -= jac[a, q]


@native
def factor_stages(run):
    """LU of it; 0 if regular."""
    return factor_real(run.sens_system, run.stages * run.n, run.sens_pivots, run.dgetrf)


@native
def solve_stages(run, right):
    """Solve; the right side, stage after stage, is overwritten."""
    solve(run.sens_system, run.stages * run.n, run.sens_pivots, right, run.dgetrs)
