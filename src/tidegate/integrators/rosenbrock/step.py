"""One accepted step of Rodas5P with step size control.

Steinebach 2023 (``coefficients``); Hairer and Wanner, Solving ODEs II, IV.7. One Jacobian, df/dt and one factorisation a step, no iteration. The
larger of two errors decides: at the end that of the embedded method, inside the step that of the polynomial, by its filtered defect at points that
are no nodes, as Radau's (``radau.inside``): on the polynomial events are searched, and the embedded method is as blind as any for what is hidden
between its nodes.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, SINGULAR, STEP_TOO_SMALL
from tidegate.integrators.radau.corners import error_of_sensitivities
from tidegate.integrators.radau.inside import judge
from tidegate.integrators.radau.newton import factor_systems
from tidegate.integrators.radau.step import SHORTER, is_inherited, note_rounding, renew_jacobian
from tidegate.integrators.radau.tableau import NODES
from tidegate.integrators.rosenbrock.coefficients import ALPHA, DENSE, N_STAGES, OF_MASS, OF_TIME, OF_VALUES
from tidegate.linear.forced import model_rates, time_slopes
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import FIRST, factor_real, is_finite_jacobian, solve_real

__all__ = ["DEGREE", "put_collocation", "step_again", "take_step"]

DEGREE: Final = 4  # of the polynomial
# Uneven, so that no forcing with a period that divides the step vanishes at all of them; no nodes. No tuple, since not every Numba can loop over it.
_INSIDE: Final = np.array([0.19, 0.53, 0.83])
_SMALLEST: Final = 1e-15  # a step below this part of |t| no longer moves time
_POWER: Final = 0.2  # 1 / (order of the estimate + 1)
_SAFETY: Final = 0.9
_MOST: Final = 6.0
_LEAST: Final = 0.2
_AFTER_FIRST: Final = 0.1  # of the step, if the first one after a start is rejected: its length was a guess


@native
def _stages(run, t, step):
    """U_i, from the factors of M / (gamma h) - J; the end into run.y_end, the way to it into run.z[2]."""
    n = run.n
    y = run.y
    point = run.scratch_1
    sums = run.scratch_2
    moved = run.scratch_3
    gained = run.z[2]
    u = run.rosenbrock_stages
    slopes = run.time_slopes
    reciprocal = 1.0 / step
    for i in range(N_STAGES):
        right = u[i]
        if i == 0:
            for q in range(n):
                right[q] = run.f0[q]
        else:
            for q in range(n):
                a = 0.0
                c = 0.0
                for j in range(i):
                    a += OF_VALUES[i, j] * u[j, q]
                    c += OF_MASS[i, j] * u[j, q]
                gained[q] = a
                point[q] = y[q] + a
                sums[q] = c * reciprocal
            model_rates(run, t + ALPHA[i] * step, point, right)
            times_mass(run, sums, moved)
            for q in range(n):
                right[q] += moved[q]
        if OF_TIME[i] != 0.0:
            factor = step * OF_TIME[i]
            for q in range(n):
                right[q] += factor * slopes[q]
        solve_real(run, FIRST, right.ctypes)
    run.c_rhs += N_STAGES - 1
    end = run.y_end
    for q in range(n):
        gained[q] += u[N_STAGES - 1, q]
        end[q] = y[q] + gained[q]


@native
def _put_polynomial(run):
    """Powers of theta of the dense output, without y."""
    a = run.coefficients
    u = run.rosenbrock_stages
    for q in range(run.n):
        k0 = 0.0
        k1 = 0.0
        k2 = 0.0
        for j in range(N_STAGES):
            k0 += DENSE[0, j] * u[j, q]
            k1 += DENSE[1, j] * u[j, q]
            k2 += DENSE[2, j] * u[j, q]
        a[0, q] = run.z[2, q] + k0
        a[1, q] = k1 - k0
        a[2, q] = k2 - k1
        a[3, q] = -k2


@native
def put_collocation(run, theta):
    """The polynomial, without y, at the nodes of Radau IIA with three stages on the step's part up to theta, into run.z."""
    a = run.coefficients
    z = run.z
    for i in range(3):
        x = NODES[0, i] * theta
        for q in range(run.n):
            z[i, q] = x * (a[0, q] + x * (a[1, q] + x * (a[2, q] + x * a[3, q])))


@native
def _error_at_the_end(run):
    """Scaled difference between the end and that of the embedded method."""
    n = run.n
    u = run.rosenbrock_stages[N_STAGES - 1]
    norm = 0.0
    for q in range(n):
        size = max(abs(run.y[q]), abs(run.y_end[q]))
        x = u[q] / (run.atol[q] + run.rounding[q] + run.rtol * size)
        norm += x * x
    return np.sqrt(norm / n)


@native
def _error_inside(run, t, step):
    """The largest filtered defect of the polynomial, into run.inside and run.inside_of_largest."""
    a = run.coefficients
    point = run.scratch_1
    rate = run.scratch_2
    run.inside = 0.0
    run.inside_of_largest = 0.0
    put_collocation(run, 1.0)
    for k in range(_INSIDE.size):
        theta = _INSIDE[k]
        for q in range(run.n):
            point[q] = run.y[q] + theta * (a[0, q] + theta * (a[1, q] + theta * (a[2, q] + theta * a[3, q])))
            rate[q] = (a[0, q] + theta * (2.0 * a[1, q] + theta * (3.0 * a[2, q] + theta * 4.0 * a[3, q]))) / step
        judge(run, t + theta * step, step)


@kernel_entry(NUMBER)
def step_again(run, step):
    """Replace the step just found by a shorter one from the same point; 1 if that can be done, else the old one stands."""
    n = run.n
    if run.needs_jacobian == 1:
        renew_jacobian(run)
    if factor_real(run, FIRST, run.gain / step, run.jacobian_at) != 0:
        return 0
    run.c_resteps += 1
    _stages(run, run.t, step)
    for q in range(n):
        if not abs(run.y_end[q]) < 1e300:
            return 0
    _put_polynomial(run)
    run.step = step
    run.length = step
    return 1


@kernel_entry(NUMBER, INTEGER)
def take_step(run, _number, _whole):
    """Find the next accepted step from the current point; nothing is committed.

    Leaves the step in run.step, its polynomial, its end, and the proposal for the step after it in run.step_new. Returns 0 or the reason of failure.
    """
    t = run.t
    step = min(run.step_new, run.step_max)
    wanted = step
    trouble = STEP_TOO_SMALL
    run.degree = DEGREE
    run.needs_jacobian = 1
    inside_before = 0.0
    step_before = 0.0
    time_slopes(run, t, run.y, run.time_slopes)
    for q in range(run.n):
        if not abs(run.time_slopes[q]) < np.inf:
            run.time_slopes[q] = 0.0  # a root of time that is vertical here: without its slope the order is less, and the step short
    while True:
        if t + 1.0001 * step >= run.t_next:
            step = run.t_next - t
        if not step > _SMALLEST * max(abs(t), 1e-290):
            return trouble
        if run.needs_jacobian == 1:
            renew_jacobian(run)
        # of an infinite J factors may be found, by which nothing would move
        finite = is_finite_jacobian(run)
        if not finite or factor_real(run, FIRST, run.gain / step, run.jacobian_at) != 0:
            trouble = SINGULAR if finite else NOT_FINITE
            step *= 0.5
            continue
        note_rounding(run)
        _stages(run, t, step)
        norm = _error_at_the_end(run)
        run.inside = 0.0
        if norm < 1.0:
            _put_polynomial(run)
            _error_inside(run, t, step)
            if step_before == 0.0:
                inside_before = run.inside
                step_before = step
            if not is_inherited(run, step, inside_before, step_before):
                norm = max(norm, run.inside)
            if step <= SHORTER * step_before:
                inside_before = run.inside
                step_before = step
        if not (norm < 1e300 and run.inside < 1e300):
            trouble = NOT_FINITE
            if t + step > run.t_end:
                run.t_next = min(run.t_next, run.t_end)  # the model is not defined behind the end of the run
            run.c_rejected += 1
            run.was_rejected = 1
            step *= 0.5
            continue
        if norm < 1.0 and run.n_sens > 0 and run.has_corners == 1:
            if run.n_sens_system == 0:
                factor_systems(run, step, FIRST)
            error_of_sensitivities(run, t, step)
            norm = max(norm, run.sens_inside)
        factor = min(_MOST, max(_LEAST, _SAFETY * max(norm, 1e-12) ** -_POWER))
        if norm < 1.0:
            break
        run.c_rejected += 1
        trouble = STEP_TOO_SMALL
        step *= _AFTER_FIRST if run.is_first == 1 and run.was_rejected == 0 else factor
        run.was_rejected = 1
    proposed = step * factor
    if run.was_rejected == 1:
        proposed = min(proposed, step)
    elif step < wanted:
        # cut short only to hit a time exactly: that says nothing about what comes after it
        proposed = max(proposed, wanted)
    run.was_rejected = 0
    run.step = step
    run.step_new = proposed
    return 0
