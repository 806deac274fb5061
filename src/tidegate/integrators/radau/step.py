"""One accepted step of Radau IIA with step size and stage number control.

Hairer and Wanner, Solving ODEs II, IV.8 (error estimate IV.8.19-20, step size IV.8.25, predictive controller of Gustafsson); tolerance map and
stage number by tolerance from our measurements: 3 stages for rtol >= 1e-5, 5 to 1e-9, 7 below; a smaller number after repeated failures of Newton's
iteration. The larger of the errors at the end and inside the step (``inside``) decides: at the end within the inner tolerance that the map gives,
inside within the tolerance asked for, so that the polynomial, on which events are searched and ``result.at`` reads, is as good as the rows.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import NUMBER, WHOLE, native, unit
from tidegate.compiled.linear import solve
from tidegate.compiled.workspace import (
    ATOL_RATIO,
    C_JACOBIAN,
    C_NEWTON_FAILED,
    C_REJECTED,
    C_RHS,
    DEGREE,
    ERROR_ACCEPTED,
    F_JACOBIAN,
    F_RHS,
    FACCON,
    FAILURES_IN_A_ROW,
    GOOD_STEPS,
    HAS_POLYNOMIAL,
    I_PIV1,
    INSIDE,
    IS_FIRST,
    ITERATIONS,
    JACOBIAN_FRESH,
    L_DGETRS,
    NEEDS_FACTORS,
    NEEDS_JACOBIAN,
    NEWTON_TOL,
    NOT_FINITE,
    O_A,
    O_ATOL,
    O_E1,
    O_ERR,
    O_F0,
    O_INVERSE,
    O_J,
    O_M,
    O_NODES,
    O_P,
    O_SCALE,
    O_W,
    O_Y,
    O_YEND,
    O_Z,
    RTOL,
    RTOL_INNER,
    SINGULAR,
    STAGES,
    STAGES_WANTED,
    STEP,
    STEP_ACCEPTED,
    STEP_MAX,
    STEP_NEW,
    STEP_OLD,
    STEP_TOO_SMALL,
    T_END,
    T_NEXT,
    THETA,
    WAS_REJECTED,
    N,
    T,
    integers,
    matrix,
    tail,
    vector,
)
from tidegate.events.restart import times_mass
from tidegate.integrators.radau.inside import error_inside
from tidegate.integrators.radau.newton import CONVERGED, NOT_A_NUMBER, factor_systems, newton, stage_polynomial
from tidegate.integrators.radau.tableau import ERROR, INVERSE, LAMBDA_REAL, NODES, POLYNOMIAL

__all__ = ["evaluate_jacobian", "predict_stages", "set_stages", "take_step", "update_scale"]

_EPS: Final = 2.220446049250313e-16
_FAILURES_TO_DROP: Final = 2
_STEPS_TO_RAISE: Final = 12
_NEWTON_PART: Final = 0.05
_SHORTER: Final = 0.5  # of the first try: from there on the error inside has fallen, as the fourth power at least, ...
_HARDLY_FALLS: Final = 0.125  # ... below this part, with a reserve of two, ...
_MOST_INHERITED: Final = 10.0  # ... or it has another reason, which is bearable up to so many tolerances
_ROUNDINGS: Final = 16.0
_SMALLEST: Final = 1e-15  # a step below this part of |t| no longer moves time


@native
def set_stages(h, r, s):
    """Use s stages from now on: inner tolerances that give the asked accuracy at the end of a step (tolerance map of RADAU, 1999)."""
    h[STAGES] = s
    h[DEGREE] = s
    rtol = r[RTOL]
    inner = 0.1 * rtol ** ((s + 1.0) / (2.0 * s))
    r[RTOL_INNER] = inner
    r[ATOL_RATIO] = inner / rtol
    # what Newton leaves adds up over the steps, so it is a small part of the tolerance asked for, not only of the inner one
    r[NEWTON_TOL] = max(10 * _EPS / inner, min(0.03, np.sqrt(inner), _NEWTON_PART * rtol / inner))
    r[FACCON] = 1.0
    h[HAS_POLYNOMIAL] = 0
    h[NEEDS_FACTORS] = 1
    h[GOOD_STEPS] = 0
    h[FAILURES_IN_A_ROW] = 0
    k = (s - 3) // 2
    nodes = vector(r, h[O_NODES], s)
    inverse = matrix(r, h[O_INVERSE], s, s)
    for i in range(s):
        nodes[i] = NODES[k, i]
        for j in range(s):
            inverse[i, j] = INVERSE[k, i, j]


@native
def update_scale(h, r):
    """Error weights at the current point: the tolerance and what is rounding, in the measure of the inner tolerance."""
    n = h[N]
    y = vector(r, h[O_Y], n)
    atol = vector(r, h[O_ATOL], n)
    scale = vector(r, h[O_SCALE], n)
    rounding = vector(r, h[O_SCALE] + n, n)
    for q in range(n):
        scale[q] = r[ATOL_RATIO] * (atol[q] + rounding[q]) + r[RTOL_INNER] * abs(y[q])


@native
def _note_rounding(h, r):
    """What rounding inside f makes of every unknown, about, behind the weights: no step, however short, makes an error smaller than that.

    Algebraic unknowns, and rates that are unknowns, may be small differences of large terms, or solve an equation that hardly depends on them.
    """
    n = h[N]
    y = vector(r, h[O_Y], n)
    jac = matrix(r, h[O_J], n, n)
    out = vector(r, h[O_SCALE] + n, n)
    for i in range(n):
        x = 0.0
        for q in range(n):
            x += abs(jac[i, q] * y[q])
        out[i] = _ROUNDINGS * _EPS * x
    solve(matrix(r, h[O_E1], n, n), n, integers(h, h[I_PIV1], n), out, h[L_DGETRS])
    for q in range(n):
        out[q] = abs(out[q]) if abs(out[q]) < np.inf else 0.0


@native
def evaluate_jacobian(h, r):
    """df/dy at the current point."""
    n = h[N]
    call_value(h[F_JACOBIAN], r[T], vector(r, h[O_Y], n), tail(r, h[O_P]), tail(r, h[O_M]), vector(r, h[O_J], n * n))
    h[C_JACOBIAN] += 1
    h[NEEDS_JACOBIAN] = 0
    h[JACOBIAN_FRESH] = 1
    h[NEEDS_FACTORS] = 1


@native
def predict_stages(h, r, step, z):
    """Start values of the iteration: the last step's polynomial, continued; zero where there is none."""
    n = h[N]
    s = h[STAGES]
    k = (s - 3) // 2
    if h[HAS_POLYNOMIAL] == 0:
        for i in range(s):
            for q in range(n):
                z[i, q] = 0.0
        return
    a = matrix(r, h[O_A], s, n)
    ratio = step / r[STEP_OLD]
    for i in range(s):
        theta = 1.0 + NODES[k, i] * ratio
        for q in range(n):
            ahead = a[s - 1, q]
            end = a[s - 1, q]
            for d in range(s - 2, -1, -1):
                ahead = ahead * theta + a[d, q]
                end += a[d, q]
            z[i, q] = ahead * theta - end


@native
def _mass_times_error(h, r, step, z, out):
    """gamma_0/step M (e . Z), the part of the error estimate that comes from the stages (IV.8.19)."""
    n = h[N]
    s = h[STAGES]
    k = (s - 3) // 2
    w = vector(r, h[O_W], n)
    factor = LAMBDA_REAL[k] / step
    for q in range(n):
        x = 0.0
        for j in range(s):
            x += ERROR[k, j] * z[j, q]
        w[q] = x * factor
    times_mass(h, r, w, out)


@native
def _error(h, r, t, step, z):
    """Scaled error of the step; filtered a second time after a start or a rejection, where the first estimate is too large for stiff parts."""
    n = h[N]
    y = vector(r, h[O_Y], n)
    f0 = vector(r, h[O_F0], n)
    scale = vector(r, h[O_SCALE], n)
    raw = vector(r, h[O_ERR], n)
    err = vector(r, h[O_ERR] + n, n)
    e1 = matrix(r, h[O_E1], n, n)
    pivots = integers(h, h[I_PIV1], n)
    _mass_times_error(h, r, step, z, raw)
    for q in range(n):
        err[q] = raw[q] + f0[q]
    solve(e1, n, pivots, err, h[L_DGETRS])
    norm = 0.0
    for q in range(n):
        x = err[q] / scale[q]
        norm += x * x
    norm = np.sqrt(norm / n)
    if norm >= 1.0 and (h[IS_FIRST] == 1 or h[WAS_REJECTED] == 1):
        w = vector(r, h[O_W], n)
        for q in range(n):
            w[q] = y[q] + err[q]
        call_value(h[F_RHS], t, w, tail(r, h[O_P]), tail(r, h[O_M]), err)
        h[C_RHS] += 1
        for q in range(n):
            err[q] += raw[q]
        solve(e1, n, pivots, err, h[L_DGETRS])
        norm = 0.0
        for q in range(n):
            x = err[q] / scale[q]
            norm += x * x
        norm = np.sqrt(norm / n)
    return norm


@native
def _is_inherited(inside, step, inside_before, step_before):
    """True if the error inside, not far from the tolerance, hardly fell with the step: it is the start that brings it.

    Newton's iteration leaves the start of a step beside the algebraic equations, and beside the slow motion of stiff ones, by a part of the
    tolerance. The polynomial goes through it whatever the step.
    """
    return step <= _SHORTER * step_before and inside > _HARDLY_FALLS * inside_before and inside < _MOST_INHERITED


@native
def _after_newton_failure(h, r):
    """Smaller step, fresh Jacobian, and after repeated failures fewer stages."""
    h[C_NEWTON_FAILED] += 1
    r[FACCON] = 1.0
    h[WAS_REJECTED] = 1
    h[NEEDS_FACTORS] = 1
    h[FAILURES_IN_A_ROW] += 1
    if h[JACOBIAN_FRESH] == 0:
        h[NEEDS_JACOBIAN] = 1
    if h[FAILURES_IN_A_ROW] >= _FAILURES_TO_DROP and h[STAGES] > 3:
        set_stages(h, r, h[STAGES] - 2)
        update_scale(h, r)


@native
def _is_finite(values):
    for x in values:
        if not abs(x) < 1e300:
            return False
    return True


@unit(NUMBER, WHOLE)
def take_step(h, r, _number, _whole):
    """Find the next accepted step from the current point; nothing is committed.

    Leaves the step in r[STEP], Z, the step's polynomial in A, its end, and the proposal for the step after it in r[STEP_NEW]. Returns 0 or the reason
    of failure.
    """
    n = h[N]
    t = r[T]
    if h[STAGES] < h[STAGES_WANTED] and h[GOOD_STEPS] >= _STEPS_TO_RAISE:
        set_stages(h, r, h[STAGES] + 2)
    z = matrix(r, h[O_Z], h[STAGES], n)
    step = min(r[STEP_NEW], r[STEP_MAX])
    trouble = STEP_TOO_SMALL
    wanted = step
    update_scale(h, r)
    factored_for = r[STEP] if h[NEEDS_FACTORS] == 0 else 0.0
    inside_before = 0.0
    step_before = 0.0
    while True:
        if t + 1.0001 * step >= r[T_NEXT]:
            step = r[T_NEXT] - t
        if not step > _SMALLEST * max(abs(t), 1e-290):
            return trouble
        if h[NEEDS_JACOBIAN] == 1:
            evaluate_jacobian(h, r)
        if h[NEEDS_FACTORS] == 1 or step != factored_for:
            if factor_systems(h, r, step, 0) != 0:
                step *= 0.5
                trouble = NOT_FINITE
                if _is_finite(vector(r, h[O_J], n * n)):
                    trouble = SINGULAR
                h[NEEDS_FACTORS] = 1
                continue
            h[NEEDS_FACTORS] = 0
            factored_for = step
            _note_rounding(h, r)
            update_scale(h, r)
            # the rate of convergence seen with other factors says nothing about these
            r[FACCON] = 1.0
        s = h[STAGES]
        z = matrix(r, h[O_Z], s, n)
        predict_stages(h, r, step, z)
        status = newton(h, r, t, step, 0, r[NEWTON_TOL], h[O_Z])
        iterations = h[ITERATIONS]
        if status != CONVERGED:
            _after_newton_failure(h, r)
            if status == NOT_A_NUMBER or h[FAILURES_IN_A_ROW] >= _FAILURES_TO_DROP:
                # once, the last polynomial is still the best start; twice, it is what leads astray
                h[HAS_POLYNOMIAL] = 0
            trouble = NOT_FINITE if status == NOT_A_NUMBER else STEP_TOO_SMALL
            if trouble == NOT_FINITE and t + step > r[T_END]:
                r[T_NEXT] = min(r[T_NEXT], r[T_END])  # the model is not defined behind the end of the run
            step *= 0.5
            continue
        norm = _error(h, r, t, step, z)
        r[INSIDE] = 0.0
        if norm < 1.0:
            error_inside(h, r, t, step)
            if step_before == 0.0:
                inside_before = r[INSIDE]
                step_before = step
            if not _is_inherited(r[INSIDE], step, inside_before, step_before):
                norm = max(norm, r[INSIDE])
        if not (norm < 1e300 and r[INSIDE] < 1e300):
            _after_newton_failure(h, r)
            trouble = NOT_FINITE
            step *= 0.5
            continue
        norm = max(norm, 1e-10)
        power = 1.0 / (s + 1.0)
        most = 7 + int(2.5 * (s - 3))
        safety = 0.9 * (1 + 2 * most) / (iterations + 2 * most)
        quotient = max(0.125, min(5.0, norm**power / safety))
        if norm < 1.0:
            break
        h[C_REJECTED] += 1
        trouble = STEP_TOO_SMALL
        step = 0.1 * step if h[IS_FIRST] == 1 and h[WAS_REJECTED] == 0 else step / quotient
        h[WAS_REJECTED] = 1
        h[NEEDS_FACTORS] = 1
        if h[JACOBIAN_FRESH] == 0:
            h[NEEDS_JACOBIAN] = 1
    if h[IS_FIRST] == 0:
        predicted = (r[STEP_ACCEPTED] / step) * (norm * norm / r[ERROR_ACCEPTED]) ** power / 0.9
        quotient = max(quotient, 0.125, min(5.0, predicted))
    proposed = step / quotient
    if h[WAS_REJECTED] == 1:
        proposed = min(proposed, step)
    elif step < wanted:
        # cut short only to hit a time exactly: that says nothing about what comes after it
        proposed = max(proposed, wanted)
    h[WAS_REJECTED] = 0
    r[STEP_ACCEPTED] = step
    r[ERROR_ACCEPTED] = max(1e-2, norm)
    # the Jacobian serves on while Newton converges fast; the factors too if the step hardly changes
    h[JACOBIAN_FRESH] = 0
    if r[THETA] > 1e-3:
        h[NEEDS_JACOBIAN] = 1
    elif 1.0 <= proposed / step <= 1.2:
        proposed = step
    h[FAILURES_IN_A_ROW] = 0
    h[GOOD_STEPS] += 1
    r[STEP] = step
    r[STEP_NEW] = proposed
    stage_polynomial(POLYNOMIAL[(s - 3) // 2], s, n, z, matrix(r, h[O_A], s, n))
    end = vector(r, h[O_YEND], n)
    y = vector(r, h[O_Y], n)
    for q in range(n):
        end[q] = y[q] + z[s - 1, q]
    return 0
