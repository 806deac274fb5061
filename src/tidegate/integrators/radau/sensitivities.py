"""Forward sensitivities of one step: the collocation equations differentiated, so that they are those of the discrete solution.

Small: staggered direct method (Caracotsios and Stewart 1985) on the stages of Radau IIA: with the step's stage values known, the (s n) x (s n) matrix
A^-1 (x) M/step - diag(J_i) is factored once and solved for every parameter. Larger: the same equations, by the corrections of Newton's iteration with
the factors of the step, until rounding or a small part of the tolerance is left; where they hardly shrink, J is taken from the middle of the step.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, SINGULAR, matrix
from tidegate.integrators.radau.newton import correct, factor_systems
from tidegate.linear.stages import factor_stages, put_stage, solve_stages
from tidegate.linear.systems import evaluate_jacobian
from tidegate.sensitivity.jump import set_direction

__all__ = ["stage_sensitivities"]

_PART: Final = 1e-4  # of the relative tolerance, that the iteration may leave
_LEAST: Final = 1e-13  # of the largest derivative of an unknown: rounding
_PATIENCE: Final = 8  # corrections before J is renewed
_MOST: Final = 60


@native
def _set_stage(run, z, i):
    stage = run.scratch_3
    for q in range(run.n):
        stage[q] = run.y[q] + z[i, q]
    return stage


@native
def _right_sides(run, t, step, z, e, x):
    """The right sides of the differentiated equations at all stages, into run.f_stages, and the size of S at the start."""
    n = run.n
    sens = run.sens
    moved = run.roundoff
    size = 0.0
    set_direction(run, e, True)
    for i in range(run.stages):
        stage = _set_stage(run, z, i)
        for q in range(n):
            moved[q] = sens[e, q] + x[i, q]
            size = max(size, abs(sens[e, q]))
        call_tangent(
            run.f_residual_tangent, t + run.nodes[i] * step, stage, run.stage_rates[i], run.p, run.m, 0.0, moved, run.dp, run.dm, run.f_stages[i]
        )
    set_direction(run, e, False)
    return size


@native
def _iterated(run, t, step, z, which):
    n = run.n
    s = run.stages
    new = run.sens_new
    is_renewed = False
    for e in range(run.n_sens):
        x = matrix(run.r, run.sens_new_at + e * s * n, s, n)
        for q in range(s * n):
            new[e, q] = 0.0
        last = np.inf
        corrections = 0
        while True:
            size = _right_sides(run, t, step, z, e, x)
            correct(run, step, which, x)
            norm = 0.0
            for i in range(s):
                for q in range(n):
                    change = abs(run.residuals[i, q])
                    if not change < np.inf:
                        return NOT_FINITE
                    norm = max(norm, change)
                    size = max(size, abs(x[i, q]))
            corrections += 1
            rate = norm / last if last < np.inf else 0.0
            last = norm
            if norm <= _LEAST * size or (corrections > 1 and rate < 0.5 and norm * rate <= _PART * run.rtol * size * (1.0 - rate)):
                break
            if corrections >= _PATIENCE and not is_renewed:
                is_renewed = True
                evaluate_jacobian(run, t + run.nodes[s // 2] * step, _set_stage(run, z, s // 2))
                run.needs_factors = 1
                if factor_systems(run, step, which) != 0:
                    return SINGULAR
            if corrections >= _MOST:
                return SINGULAR
    return 0


@native
def _solved_at_once(run, t, step, z):
    n = run.n
    s = run.stages
    right = run.sens_right
    new = run.sens_new
    for i in range(s):
        stage = _set_stage(run, z, i)
        now = t + run.nodes[i] * step
        put_stage(run, now, stage, i, step)
        for e in range(run.n_sens):
            set_direction(run, e, True)
            call_tangent(
                run.f_residual_tangent, now, stage, run.stage_rates[i], run.p, run.m, 0.0, run.sens[e], run.dp, run.dm,
                right[e, i * n : (i + 1) * n],
            )  # fmt: skip
            set_direction(run, e, False)
    if factor_stages(run) != 0:
        return SINGULAR
    for e in range(run.n_sens):
        solve_stages(run, right[e])
        for q in range(s * n):
            new[e, q] = right[e, q]
    return 0


@kernel_entry(NUMBER, NUMBER, INTEGER, INTEGER)
def stage_sensitivities(run, t, step, offset, which):
    """Changes of S at the stages, into run.sens_new as (parameter, stage, unknown); 0 or the reason of failure.

    The stage values minus y are at offset ``offset`` of r, the factors of the step in set ``which``.
    """
    n = run.n
    s = run.stages
    z = matrix(run.r, offset, s, n)
    inverse = run.inverse
    rates = run.stage_rates
    reciprocal = 1.0 / step
    for i in range(s):
        for q in range(n):
            x = 0.0
            for j in range(s):
                x += inverse[i, j] * z[j, q]
            rates[i, q] = x * reciprocal
    return _iterated(run, t, step, z, which) if run.n_sens_system == 0 else _solved_at_once(run, t, step, z)
