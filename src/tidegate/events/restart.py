"""Consistent values after a change: algebraic unknowns with the differential part held, and the derivatives of everything.

With E M = [U; 0] (row echelon form of the mass matrix, U of full row rank) the differential part of y is U y, and the algebraic equations are the
last rows of E f = 0. Newton's method on [U (y - y*); E2 f(t, y)] needs no knowledge of the model's structure (Brown, Hindmarsh and Petzold 1998
solve the same problem for semi-explicit systems). Derivatives follow from [U; E2 J] y' = [E1 f; -E2 df/dt].
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import NUMBER, WHOLE, native, unit
from tidegate.compiled.linear import OWN_LIMIT, factor_real, solve
from tidegate.compiled.workspace import NOT_FINITE, RESTART_FAILED, SINGULAR, vector

__all__ = ["base_system", "consistent_point", "derivatives", "times_mass", "update_mass"]

_RANK_TOLERANCE: Final = 1e-12  # of the row's largest entry; mass matrices are given, not measured
_MOST_ITERATIONS: Final = 40


@native
def base_system(run, t, y):
    """Factor [U; E2 J] at a point; 0 if regular. Rows of E2 J are scaled to size one."""
    n = run.n
    rank = run.rank
    jac = run.jacobian
    call_value(run.f_jacobian, t, y, run.p, run.m, run.jacobian)
    run.c_jacobian += 1
    e = run.row_operations
    u = run.echelon
    base = run.base
    row_scale = run.row_scale
    for i in range(n):
        largest = 0.0
        if i < rank:
            for j in range(n):
                base[i, j] = u[i, j]
                largest = max(largest, abs(u[i, j]))
        else:
            for j in range(n):
                x = 0.0
                for q in range(n):
                    if e[i, q] != 0.0:
                        x += e[i, q] * jac[q, j]
                base[i, j] = x
                largest = max(largest, abs(x))
        if not largest > 0.0 or not largest < 1e300:
            return 1
        row_scale[i] = 1.0 / largest
        for j in range(n):
            base[i, j] *= row_scale[i]
    bad = factor_real(base, n, run.base_pivots, run.dgetrf)
    if bad == 0:
        # a pivot at rounding level of rows of size one means the same as zero; own code stores its reciprocal
        for i in range(n):
            pivot = abs(base[i, i])
            if (pivot > 1e14) if n <= OWN_LIMIT else (pivot < 1e-14):
                return 1
    return bad


@native
def _algebraic_residual(run, t, y, f, out):
    """Rows of E2 f, scaled like the matrix; returns their largest absolute value."""
    n = run.n
    e = run.row_operations
    row_scale = run.row_scale
    call_value(run.f_rhs, t, y, run.p, run.m, f)
    run.c_rhs += 1
    worst = 0.0
    for i in range(run.rank, n):
        x = 0.0
        for q in range(n):
            if e[i, q] != 0.0:
                x += e[i, q] * f[q]
        out[i] = x * row_scale[i]
        if not abs(x) <= 1e300:
            return np.inf
        worst = max(worst, abs(out[i]))
    return worst


@native
def delta_scratch(run):
    """A vector that the iteration may overwrite."""
    return run.ydot


@unit()
def update_mass(run):
    """Evaluate M and its row echelon form."""
    n = run.n
    if run.mass_kind == 0:
        run.rank = n
        return 0
    mass = run.mass
    zero = run.zero
    for i in range(n):
        for j in range(n):
            mass[i, j] = 0.0
    if run.f_mass != 0:
        call_value(run.f_mass, 0.0, zero, run.p, run.m, run.mass)
    e = run.row_operations
    u = run.echelon
    for i in range(n):
        for j in range(n):
            u[i, j] = mass[i, j]
            e[i, j] = 1.0 if i == j else 0.0
    size = run.row_scale
    for i in range(n):
        size[i] = 1e-300
        for j in range(n):
            size[i] = max(size[i], abs(mass[i, j]))
    rank = 0
    for column in range(n):
        if rank == n:
            break
        best = rank
        for i in range(rank + 1, n):
            if abs(u[i, column]) * size[best] > abs(u[best, column]) * size[i]:
                best = i
        if not abs(u[best, column]) > _RANK_TOLERANCE * size[best]:
            for i in range(rank, n):
                u[i, column] = 0.0
            continue
        if best != rank:
            held = size[rank]
            size[rank] = size[best]
            size[best] = held
            for j in range(n):
                held = u[rank, j]
                u[rank, j] = u[best, j]
                u[best, j] = held
                held = e[rank, j]
                e[rank, j] = e[best, j]
                e[best, j] = held
        for i in range(rank + 1, n):
            factor = u[i, column] / u[rank, column]
            if factor != 0.0:
                for j in range(n):
                    u[i, j] -= factor * u[rank, j]
                    e[i, j] -= factor * e[rank, j]
                u[i, column] = 0.0
        rank += 1
    run.rank = rank
    return 0


@native
def times_mass(run, v, out):
    """out := M v."""
    n = run.n
    mass = run.mass
    if run.mass_kind == 0:
        for q in range(n):
            out[q] = v[q]
    elif run.mass_kind == 1:
        for q in range(n):
            out[q] = mass[q, q] * v[q]
    else:
        for q in range(n):
            x = 0.0
            for j in range(n):
                x += mass[q, j] * v[j]
            out[q] = x


@unit(NUMBER, WHOLE)
def consistent_point(run, t, place):
    """Move the point at offset ``place`` of r to the nearest point with the same differential part that satisfies the algebraic equations.

    Returns 0 or the reason of failure.
    """
    n = run.n
    rank = run.rank
    if rank == n:
        return 0
    y = vector(run.r, place, n)
    f = run.scratch_1
    delta = run.scratch_2
    before = run.scratch_3
    atol = run.atol
    size = run.y_max
    last = np.inf
    for iteration in range(_MOST_ITERATIONS):
        if base_system(run, t, y) != 0:
            return SINGULAR
        for i in range(rank):
            delta[i] = 0.0
        residual = _algebraic_residual(run, t, y, f, delta)
        if not residual < np.inf:
            return NOT_FINITE
        for i in range(rank, n):
            delta[i] = -delta[i]
        solve(run.base, n, run.base_pivots, delta, run.dgetrs)
        norm = 0.0
        for q in range(n):
            before[q] = y[q]
            norm = max(norm, abs(delta[q]) / (1e-14 * max(size[q], abs(y[q])) + 1e-5 * atol[q]))
        if not norm < np.inf:
            return NOT_FINITE
        factor = 1.0
        for _ in range(12):
            for q in range(n):
                y[q] = before[q] + factor * delta[q]
            trial = _algebraic_residual(run, t, y, f, delta_scratch(run))
            if trial <= max(residual * (1.0 - 0.1 * factor), 1e-13 * residual) or norm <= 1.0 or trial < 1e-290:
                break
            if iteration > 0 and norm >= 0.5 * last and norm < 1e3:
                break
            factor *= 0.5
        if norm <= 1.0:
            return 0
        # rounding: the correction no longer shrinks although it is small
        if iteration > 2 and norm < 1e4 and norm >= 0.5 * last:
            return 0
        last = norm
    return RESTART_FAILED


@unit(NUMBER, WHOLE, WHOLE)
def derivatives(run, t, place, target):
    """y' of every unknown, algebraic ones included, at the consistent point at offset ``place``, into ``target``; 0 or the reason of failure."""
    n = run.n
    y = vector(run.r, place, n)
    ydot = vector(run.r, target, n)
    rank = run.rank
    if run.mass_kind == 0:
        call_value(run.f_rhs, t, y, run.p, run.m, ydot)
        run.c_rhs += 1
        for q in range(n):
            if not abs(ydot[q]) < 1e300:
                return NOT_FINITE
        return 0
    if base_system(run, t, y) != 0:
        return SINGULAR
    f = run.scratch_1
    rate = run.scratch_2
    zero = run.zero
    nothing = run.zero
    e = run.row_operations
    row_scale = run.row_scale
    call_value(run.f_rhs, t, y, run.p, run.m, f)
    run.c_rhs += 1
    call_tangent(run.f_residual_tangent, t, y, zero, run.p, run.m, 1.0, zero, nothing, nothing, rate)
    for i in range(n):
        x = 0.0
        for q in range(n):
            if e[i, q] != 0.0:
                x += e[i, q] * (f[q] if i < rank else -rate[q])
        ydot[i] = x * row_scale[i]
        if not abs(x) < 1e300:
            return NOT_FINITE
    solve(run.base, n, run.base_pivots, ydot, run.dgetrs)
    return 0
