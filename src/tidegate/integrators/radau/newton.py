"""Simplified Newton iteration for the stages of one Radau IIA step of M y' = f(t, y).

Hairer and Wanner, Solving ODEs II, sections IV.8: the system for Z = stage values minus y is brought to one real and (s - 1)/2 complex systems of
size n by the eigenvectors of the inverse Runge-Kutta matrix; residuals are formed in the natural basis, which keeps their rounding errors small.

Corrections are filtered by the matrix of the step's start. Where that is far stiffer than the stages are, they are small at once, whatever is left:
so the residuals themselves are watched, equation by equation, and where one does not fall from one correction to the next the iteration is doubtful.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import matrix
from tidegate.integrators.radau.tableau import FROM_COMPLEX, FROM_REAL, INVERSE, LAMBDA_COMPLEX, LAMBDA_REAL, NODES, TO_COMPLEX, TO_REAL
from tidegate.linear.forced import model_rates
from tidegate.linear.mass import DIAGONAL, absolute_mass, times_mass
from tidegate.linear.systems import absolute_rows, factor_complex, factor_real, solve_complex, solve_real

__all__ = ["CONVERGED", "DIVERGED", "NOT_A_NUMBER", "correct", "factor_systems", "newton", "note_bearable", "stage_polynomial"]

CONVERGED: Final = 0
DIVERGED: Final = 1
NOT_A_NUMBER: Final = 2

_EPS: Final = 2.220446049250313e-16
_FASTEST: Final = 1e-2  # no convergence is believed to be faster: what a first correction leaves may belong to unknowns that it hardly moved
_GAIN: Final = np.array([5e1, 5e2, 5e3])  # growth of rounding errors through the eigenbasis for 3, 5, 7 stages, with a reserve of 4
_ROUNDINGS: Final = 64.0
_FEW: Final = 8  # unknowns: to go through all of them for each of the stages takes longer than what is done
_LEFT: Final = 0.5  # of a residual by one correction, at most


@native
def note_bearable(run, step, point, out):
    """Residuals of M y' = f that move no unknown by more than its tolerance at ``point``, filter or not, or are rounding."""
    n = run.n
    gain = run.gain / step
    tolerance = run.scratch_2
    for q in range(n):
        tolerance[q] = run.atol[q] + run.rtol * abs(point[q])
    absolute_mass(run, tolerance, out)
    rows = tolerance
    absolute_rows(run, point, rows)
    for q in range(n):
        out[q] = gain * out[q] + _ROUNDINGS * _EPS * rows[q]


@native
def _residuals(run, step, z):
    """f - M (A^-1 Z)/h at the stages, from the right sides in run.f_stages, into run.residuals."""
    n = run.n
    s = run.stages
    k = (s - 3) // 2
    f = run.f_stages
    residual = run.residuals
    w = run.scratch_1
    reciprocal = 1.0 / step
    if n < _FEW and run.mass_kind <= DIAGONAL:
        for i in range(s):
            for q in range(n):
                x = 0.0
                for j in range(s):
                    x += INVERSE[k, i, j] * z[j, q]
                if run.mass_kind == DIAGONAL:
                    x *= run.mass[q]
                residual[i, q] = f[i, q] - x * reciprocal
        return
    for i in range(s):
        for q in range(n):
            w[q] = INVERSE[k, i, 0] * z[0, q]
        for j in range(1, s):
            a = INVERSE[k, i, j]
            for q in range(n):
                w[q] += a * z[j, q]
        times_mass(run, w, residual[i])
        for q in range(n):
            residual[i, q] = f[i, q] - residual[i, q] * reciprocal


@native
def _is_doubtful(run, iteration):
    """True if a residual that is not bearable has not fallen, or has nothing to have fallen from; they are kept for the next question."""
    bearable = run.error
    before = run.residuals_before
    doubtful = False
    for i in range(run.stages):
        for q in range(run.n):
            x = abs(run.residuals[i, q])
            if x > bearable[q] and (iteration == 1 or x > _LEFT * before[i, q]):
                doubtful = True
            before[i, q] = x
    return doubtful


@native
def _solve(run, which, z):
    """The correction of Z for the residuals, in their place; Z is corrected."""
    n = run.n
    s = run.stages
    k = (s - 3) // 2
    residual = run.residuals
    real = run.scratch_2
    pairs = run.pairs
    for q in range(n):
        a = 0.0
        for i in range(s):
            a += TO_REAL[k, i] * residual[i, q]
        real[q] = a
    solve_real(run, which, real.ctypes)
    for c in range(k + 1):
        for q in range(n):
            re = 0.0
            im = 0.0
            for i in range(s):
                re += TO_COMPLEX[k, c, i].real * residual[i, q]
                im += TO_COMPLEX[k, c, i].imag * residual[i, q]
            pairs[c, q] = complex(re, im)
        solve_complex(run, which, c)
    for i in range(s):
        for q in range(n):
            a = FROM_REAL[k, i] * real[q]
            for c in range(k + 1):
                a += FROM_COMPLEX[k, i, c].real * pairs[c, q].real - FROM_COMPLEX[k, i, c].imag * pairs[c, q].imag
            z[i, q] += a
            residual[i, q] = a


@native
def correct(run, step, which, z):
    """One correction of Z, from the right sides at the stages in run.f_stages, into run.residuals; Z is corrected.

    Whatever is linear in Z may be corrected so: the stages themselves, or their derivatives by a parameter.
    """
    _residuals(run, step, z)
    _solve(run, which, z)


@native
def _norm(run, tolerance, with_forces):
    """The scaled norm of a correction, in which corrections by rounding are never above the tolerance; without unknowns of index two where asked."""
    n = run.n
    s = run.stages
    scale = run.scale
    rounding = run.rounding
    change = run.residuals
    norm = 0.0
    for i in range(s):
        for q in range(n):
            if not with_forces and run.index_two[q] == 1:
                continue
            a = change[i, q] / (scale[q] + 0.5 * rounding[q] / tolerance)
            norm += a * a
    return np.sqrt(norm / (s * n))


@native
def stage_polynomial(coefficients, s, n, z, a):
    """Coefficients a of y(theta) = y + sum_k a[k] theta^(k+1) from Z, through all stages."""
    for k in range(s):
        for q in range(n):
            x = 0.0
            for j in range(s):
                x += coefficients[k, j] * z[j, q]
            a[k, q] = x


@kernel_entry(NUMBER, INTEGER)
def factor_systems(run, step, which):
    """LU of lambda/step M - J for every eigenvalue, into set ``which`` (0 the integration's, 1 for steps to outputs); 0 if regular."""
    k = (run.stages - 3) // 2
    bad = factor_real(run, which, LAMBDA_REAL[k] / step, run.jacobian_at)
    for c in range(k + 1):
        eigenvalue = LAMBDA_COMPLEX[k, c]
        bad += factor_complex(run, which, c, eigenvalue.real / step, eigenvalue.imag / step)
    return bad


@kernel_entry(NUMBER, NUMBER, INTEGER, NUMBER, INTEGER)
def newton(run, t, step, which, tolerance, offset):
    """Solve for the stages from the start values at offset ``offset`` of r; returns the status, the number of iterations in run.iterations.

    The rate of convergence is left in run.theta, the factor theta/(1-theta) in run.faccon (IV.8.10); run.is_doubtful is 1 if residuals did not fall.
    """
    n = run.n
    s = run.stages
    k = (s - 3) // 2
    y = run.y
    z = matrix(run.r, offset, s, n)
    f = run.f_stages
    stage = run.scratch_1
    most = 7 + int(2.5 * (s - 3))
    factor = max(run.faccon, _EPS) ** 0.8
    theta = 1e-3
    last_rate = 0.0
    last_moved = 0.0
    note_bearable(run, step, y, run.error)
    for iteration in range(1, most + 1):
        for i in range(s):
            for q in range(n):
                stage[q] = y[q] + z[i, q]
            model_rates(run, t + NODES[k, i] * step, stage, f[i])
        run.c_rhs += s
        _residuals(run, step, z)
        run.is_doubtful = 1 if _is_doubtful(run, iteration) else 0
        _solve(run, which, z)
        norm = _norm(run, tolerance, True)
        # forces of constraints are corrected behind what they hold: what one correction of them is to another says nothing
        moved = norm if run.n_forms == 0 else _norm(run, tolerance, False)
        run.c_newton += 1
        run.iterations = iteration
        if not norm < 1e300:
            run.theta = theta
            return NOT_A_NUMBER
        if iteration > 1:
            rate = moved / last_moved
            theta = rate if iteration == 2 else np.sqrt(rate * last_rate)
            last_rate = max(rate, _FASTEST * _FASTEST)
            run.theta = theta
            if not theta < 0.99:
                return DIVERGED
            factor = max(theta, _FASTEST) / (1.0 - theta)
            expected = factor * norm * theta ** float(most - 1 - iteration)
            if expected >= tolerance and iteration < most and factor * norm > tolerance:
                return DIVERGED
        last_moved = max(moved, _EPS)
        # one correction, however good, carries the rounding of the transformation: where it was large it is made twice
        is_rounded = iteration == 1 and _GAIN[k] * _EPS * norm > 1e-2 * run.rtol / run.rtol_inner
        if factor * norm <= tolerance and not is_rounded:
            run.faccon = factor if iteration == 1 else theta / (1.0 - theta)
            run.theta = theta
            return CONVERGED
    run.theta = theta
    return DIVERGED
