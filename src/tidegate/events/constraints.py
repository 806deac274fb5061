"""The constraints F4 = 0, F5 = 0 of an HDAE along a run: how far they drift, whether an event leaves them, and the way back onto them.

In: the workspace of a run at a point. Out: a number of a constraint, or values moved by the smallest change that is weighted by the tolerances,
``x - W^2 G' (G W^2 G')^-1 F(x)`` repeated (Gauss and Newton; Hairer and Wanner, Solving ODEs II, VII.2, projection). Forms: Otter, DSblock 3.3.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import vector

__all__ = ["derivatives_onto", "find_off", "move_onto", "note_drift", "note_drift_of_derivatives"]

_OFF: Final = 100.0  # tolerances, and
_DRIFTS: Final = 10.0  # as far as they had been before: from there on a constraint is left
_MOST: Final = 30
_OFF_DERIVATIVE: Final = 1e3  # relative tolerances
_LEAST: Final = 1e-6
VALUES, DERIVATIVES = range(2)


@native
def note_drift(run, t):
    """How large each constraint has been so far."""
    if run.n_constraints == 0:
        return
    c = run.constraints
    call_value(run.f_constraints, t, run.y, run.p, run.m, c)
    for k in range(run.n_constraints):
        run.drift[k] = max(run.drift[k], abs(c[k]))


@native
def _number(x):
    """Zero in place of a derivative that does not exist."""
    return x if abs(x) < np.inf else 0.0


@native
def _put_change(run, t, i, ahead, s):
    """How the constraints change with parameter i along derivatives ``s`` of the unknowns, time going ahead."""
    dp = run.dp
    for k in range(run.moving_first[i], run.moving_first[i + 1]):
        dp[run.moving[k]] = run.moving_rate[k]
    call_tangent(run.f_constraints_tangent, t, run.y, run.zero, run.p, run.m, ahead, s, dp, run.zero, run.constraints)
    for k in range(run.moving_first[i], run.moving_first[i + 1]):
        dp[run.moving[k]] = 0.0


@kernel_entry(NUMBER)
def note_drift_of_derivatives(run, t):
    """How far the constraints are from zero in derivatives by parameters, in front of an event."""
    for k in range(run.n_constraints):
        run.drift_of_derivatives[k] = 0.0
    for i in range(run.n_sens):
        _put_change(run, t, i, 0.0, run.sens[i])
        for k in range(run.n_constraints):
            run.drift_of_derivatives[k] = max(run.drift_of_derivatives[k], _number(abs(run.constraints[k])))
    return 0


@native
def _off_derivative(run, t):
    """The same of derivatives by parameters: what moves with a parameter has to keep the constraints, too."""
    c = run.constraints
    allowed = run.constraint_scale
    weights = run.scratch_1
    nothing = run.zero
    run.off_why = DERIVATIVES
    for i in range(run.n_sens):
        for q in range(run.n):
            weights[q] = abs(run.sigma[i, q])
        call_tangent(run.f_constraint_scale, t, run.y, nothing, run.p, run.m, abs(_number(run.dt_dp[i])), weights, nothing, nothing, allowed)
        _put_change(run, t, i, _number(run.dt_dp[i]), run.sigma[i])
        for k in range(run.n_constraints):
            if not abs(c[k]) <= (_OFF_DERIVATIVE * run.rtol + _LEAST) * allowed[k] + _LEAST + _DRIFTS * run.drift_of_derivatives[k]:
                run.off_constraint = k
                run.off_by = c[k]
                return k
    return -1


@kernel_entry(NUMBER)
def find_off(run, t):
    """The number of a constraint that the current point, or its derivative by a parameter, has left; -1 if there is none."""
    c = run.constraints
    allowed = run.constraint_scale
    weights = run.scratch_1
    nothing = run.zero
    for q in range(run.n):
        weights[q] = run.atol[q] + run.rtol * max(abs(run.y[q]), run.y_max[q])
    call_value(run.f_constraints, t, run.y, run.p, run.m, c)
    call_tangent(run.f_constraint_scale, t, run.y, nothing, run.p, run.m, 0.0, weights, nothing, nothing, allowed)
    run.off_why = VALUES
    for k in range(run.n_constraints):
        if not abs(c[k]) <= _OFF * allowed[k] + _DRIFTS * run.drift[k]:
            run.off_constraint = k
            run.off_by = c[k]
            return k
    return _off_derivative(run, t)


@native
def _solved(a, b, n):
    """b := A^-1 b by elimination with pivots of the largest size; False if A is singular."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(a[i, i]))
    for i in range(n):
        best = i
        for j in range(i + 1, n):
            if abs(a[j, i]) > abs(a[best, i]):
                best = j
        if not abs(a[best, i]) > 1e-14 * largest:
            return False
        for k in range(n):
            a[i, k], a[best, k] = a[best, k], a[i, k]
        b[i], b[best] = b[best], b[i]
        for j in range(i + 1, n):
            factor = a[j, i] / a[i, i]
            for k in range(i, n):
                a[j, k] -= factor * a[i, k]
            b[j] -= factor * b[i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= a[i, k] * b[k]
        b[i] /= a[i, i]
    return True


@native
def _put_weights(run, y):
    """The squares of what states may move by, 0 for what follows from them."""
    weights = run.scratch_1
    for q in range(run.n):
        weight = run.atol[q] + run.rtol * max(abs(y[q]), run.y_max[q])
        weights[q] = weight * weight if run.is_algebraic[q] == 0 else 0.0


@native
def _put_slopes(run, t, y):
    """G at a point."""
    call_value(run.f_constraint_slopes, t, y, run.p, run.m, vector(run.r, run.constraint_slopes_at, run.n_constraints * run.n))


@native
def _put_system(run):
    """G W^2 G'."""
    g = run.constraint_slopes
    a = run.constraint_system
    n_c = run.n_constraints
    for i in range(n_c):
        for j in range(n_c):
            x = 0.0
            for q in range(run.n):
                x += g[i, q] * run.scratch_1[q] * g[j, q]
            a[i, j] = x


@native
def _way_back(run, q):
    """How far a state moves by W^2 G' times what has been solved for."""
    x = 0.0
    for i in range(run.n_constraints):
        x += run.constraint_slopes[i, q] * run.constraints[i]
    return x * run.scratch_1[q]


@native
def derivatives_onto(run, t):
    """Move derivatives of states by parameters onto those of the constraints, by the smallest change; they stay where that is singular.

    Behind an event they are off by the error of a step, and a start at order 1 would take that for an error of its own, however short it is.
    """
    _put_weights(run, run.y)
    _put_slopes(run, t, run.y)
    for i in range(run.n_sens):
        _put_system(run)  # anew: elimination leaves nothing of it
        _put_change(run, t, i, 0.0, run.sens[i])
        if _solved(run.constraint_system, run.constraints, run.n_constraints):
            for q in range(run.n):
                run.sens[i, q] -= _way_back(run, q)


@kernel_entry(NUMBER, INTEGER)
def move_onto(run, t, offset):
    """Move the states of the point at offset ``offset`` of r onto the constraints; 0, or 1 if that does not come to an end."""
    n = run.n
    y = vector(run.r, offset, n)
    _put_weights(run, y)
    last = np.inf
    for _ in range(_MOST):
        call_value(run.f_constraints, t, y, run.p, run.m, run.constraints)
        _put_slopes(run, t, y)
        _put_system(run)
        if not _solved(run.constraint_system, run.constraints, run.n_constraints):
            return 1
        size = 0.0
        for q in range(n):
            x = _way_back(run, q)
            y[q] -= x
            size = max(size, abs(x) / (1e-13 * max(run.y_max[q], abs(y[q])) + 1e-6 * run.atol[q]))
        if not size < np.inf:
            return 1
        if size <= 1.0 or (size >= 0.5 * last and size < 1e3):
            return 0
        last = size
    return 1
