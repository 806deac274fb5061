"""Consistent values after a change: algebraic unknowns with the differential part held, and the derivatives of everything.

With the row echelon form E M = [U; 0] of the mass matrix the differential part of y is U y, and the algebraic equations are the last rows of
E f = 0. Newton's method on [U (y - y*); E2 f(t, y)] needs no knowledge of the model's structure (Brown, Hindmarsh and Petzold 1998
solve the same problem for semi-explicit systems). Derivatives follow from [U; E2 J] y' = [E1 f; -E2 df/dt].
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, RESTART_FAILED, SINGULAR, vector
from tidegate.events.tolerances import ROUNDING_SOLVED
from tidegate.linear.forced import integrated_form, model_rates, time_slopes
from tidegate.linear.systems import algebraic_residual, factor_base, is_rounding, solve_base

__all__ = ["consistent_point", "derivatives"]

_MOST_ITERATIONS: Final = 40


@native
def _consistent_point(run, t, offset):
    n = run.n
    y = vector(run.r, offset, n)
    f = run.scratch_1
    delta = run.scratch_2
    before = run.scratch_3
    atol = run.atol
    size = run.y_max
    last = np.inf
    for iteration in range(_MOST_ITERATIONS):
        if factor_base(run, t, y.ctypes) != 0:
            return SINGULAR
        residual = algebraic_residual(run, t, y, f)
        if not residual < np.inf:
            return NOT_FINITE
        for q in range(n):
            f[q] = -f[q]
        solve_base(run, run.zero, f, delta)
        norm = 0.0
        for q in range(n):
            before[q] = y[q]
            norm = max(norm, abs(delta[q]) / (1e-14 * max(size[q], abs(y[q])) + 1e-5 * atol[q]))
        if not norm < np.inf:
            return NOT_FINITE
        largest = 0.0
        for q in range(n):
            largest = max(largest, abs(y[q]))
        factor = 1.0
        for _ in range(12):
            for q in range(n):
                y[q] = before[q] + factor * delta[q]
            trial = algebraic_residual(run, t, y, f)
            if trial <= max(residual * (1.0 - 0.1 * factor), 1e-13 * residual) or norm <= 1.0 or trial < 1e-290:
                break
            if iteration > 0 and norm >= 0.5 * last and (norm < 1e3 or trial <= ROUNDING_SOLVED * largest):
                break  # at the level of rounding whole steps refine the solution
            factor *= 0.5
        if norm <= 1.0:
            return 0
        # rounding: the correction no longer shrinks although it is small
        if iteration > 2 and norm >= 0.5 * last and (norm < 1e4 or is_rounding(run, y, f, delta)):
            return 0
        last = norm
    return RESTART_FAILED


@kernel_entry(NUMBER, INTEGER)
def consistent_point(run, t, offset):
    """Move the point at offset ``offset`` of r to the nearest point with the same differential part that satisfies the algebraic equations.

    Returns 0 or the reason of failure.
    """
    if run.rank == run.n:
        return 0
    integrated_form(run, 0.0)
    code = _consistent_point(run, t, offset)
    integrated_form(run, 1.0)
    return code


@native
def _derivatives(run, t, offset, target):
    n = run.n
    y = vector(run.r, offset, n)
    ydot = vector(run.r, target, n)
    if run.mass_kind == 0:
        call_value(run.f_rhs, t, y, run.p, run.m, ydot)
        run.c_rhs += 1
        for q in range(n):
            if not abs(ydot[q]) < 1e300:
                return NOT_FINITE
        return 0
    if factor_base(run, t, y.ctypes) != 0:
        return SINGULAR
    f = run.scratch_1
    rate = run.scratch_2
    model_rates(run, t, y, f)
    run.c_rhs += 1
    time_slopes(run, t, y, rate)
    for q in range(n):
        rate[q] = -rate[q]
    return 0 if solve_base(run, f, rate, ydot) else NOT_FINITE


@kernel_entry(NUMBER, INTEGER, INTEGER)
def derivatives(run, t, offset, target):
    """y' of every unknown, algebraic ones included, at the consistent point at offset ``offset``, into ``target``; 0 or the reason of failure."""
    integrated_form(run, 0.0)
    code = _derivatives(run, t, offset, target)
    integrated_form(run, 1.0)
    return code
