"""One accepted step of Radau IIA with step size and stage number control.

Hairer and Wanner, Solving ODEs II, IV.8 (error estimate IV.8.19-20, step size IV.8.25, predictive controller of Gustafsson); tolerance map and
stage number by tolerance from our measurements: 3 stages for rtol >= 1e-5, 5 to 1e-9, 7 below; a smaller number after repeated failures of Newton's
iteration. The larger of the errors at the end and inside the step (``inside``) decides: at the end within the inner tolerance that the map gives,
inside within the tolerance asked for, so that the polynomial, on which events are searched and ``result.at`` reads, is as good as the rows.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, SINGULAR, STEP_TOO_SMALL
from tidegate.integrators.radau.corners import error_of_sensitivities
from tidegate.integrators.radau.inside import MOST_INHERITED, error_inside
from tidegate.integrators.radau.newton import CONVERGED, NOT_A_NUMBER, factor_systems, newton, stage_polynomial
from tidegate.integrators.radau.tableau import ERROR, INVERSE, LAMBDA_REAL, NODES, POLYNOMIAL
from tidegate.linear.forced import model_rates
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import FIRST, absolute_rows, evaluate_jacobian, is_finite_jacobian, solve_real

__all__ = ["SHORTER", "is_inherited", "note_rounding", "predict_stages", "renew_jacobian", "set_stages", "take_step", "update_scale"]

_EPS: Final = 2.220446049250313e-16
_FAILURES_TO_DROP: Final = 2
_STEPS_TO_RAISE: Final = 12
_NEWTON_PART: Final = 0.05
_BESIDE_CORNERS: Final = 1e-4  # of that: beside a root S depends on what is left of the equations by one over it; shorter steps leave no less
SHORTER: Final = 0.5  # of the first try: from there on the error inside has fallen, as the fourth power at least, ...
_HARDLY_FALLS: Final = 0.125  # ... below this part, with a reserve of two, or it has another reason
_ROUNDINGS: Final = 16.0
_ROUNDING_MATTERS: Final = 0.1  # of a weight
_SMALLEST: Final = 1e-15  # a step below this part of |t| no longer moves time


@native
def set_stages(run, s):
    """Use s stages from now on: inner tolerances that give the asked accuracy at the end of a step (tolerance map of RADAU, 1999)."""
    run.stages = s
    run.degree = s
    run.gain = LAMBDA_REAL[(s - 3) // 2]
    rtol = run.rtol
    inner = 0.1 * rtol ** ((s + 1.0) / (2.0 * s))
    run.rtol_inner = inner
    run.atol_ratio = inner / rtol
    # what Newton leaves adds up over the steps, so it is a small part of the tolerance asked for, not only of the inner one
    part = min(0.03, np.sqrt(inner), _NEWTON_PART * rtol / inner)
    if run.n_sens > 0 and run.has_corners == 1 and run.mass_kind != 0:
        part *= _BESIDE_CORNERS
    run.newton_tol = max(10 * _EPS / inner, part)
    run.faccon = 1.0
    run.has_polynomial = 0
    run.needs_factors = 1
    run.good_steps = 0
    run.failures_in_a_row = 0
    k = (s - 3) // 2
    nodes = run.nodes
    inverse = run.inverse
    for i in range(s):
        nodes[i] = NODES[k, i]
        for j in range(s):
            inverse[i, j] = INVERSE[k, i, j]


@native
def update_scale(run, step):
    """Error weights at the current point: the tolerance and what is rounding, in the measure of the inner tolerance.

    Unknowns of index two act on the others by their product with the step: so are they weighed (Hairer and Wanner, RADAU5, its option NIND2).
    """
    n = run.n
    y = run.y
    atol = run.atol
    scale = run.scale
    rounding = run.rounding
    for q in range(n):
        scale[q] = run.atol_ratio * (atol[q] + rounding[q]) + run.rtol_inner * abs(y[q])
        if run.n_forms > 0 and run.index_two[q] == 1:
            scale[q] /= min(step, 1.0)


@native
def _add_rounding_of_time(run, rows):
    """Add what the rounding of time makes of f: a delayed value that passes zero is no better known, whatever its tolerance there."""
    later = run.scratch_1
    model_rates(run, run.t + _ROUNDINGS * _EPS * abs(run.t), run.y, later)
    run.c_rhs += 1
    for q in range(run.n):
        x = abs(later[q] - run.f0[q])
        if x < np.inf:
            rows[q] += x


@native
def note_rounding(run):
    """What rounding inside f makes of every unknown, about, behind the weights: no step, however short, makes an error smaller than that.

    Algebraic unknowns, and rates that are unknowns, may be small differences of large terms, or solve an equation that hardly depends on them.
    """
    n = run.n
    out = run.rounding
    absolute_rows(run, run.y, out)
    for q in range(n):
        out[q] *= _ROUNDINGS * _EPS
    if run.past != 0:
        _add_rounding_of_time(run, out)
    solve_real(run, FIRST, out.ctypes)
    for q in range(n):
        out[q] = abs(out[q]) if abs(out[q]) < np.inf else 0.0


@native
def _is_rounding(run):
    """True if what is taken for rounding makes up some of the weights: then df/dy, which says what it is, must be that of the current point."""
    for q in range(run.n):
        if run.atol_ratio * run.rounding[q] > _ROUNDING_MATTERS * run.scale[q]:
            return True
    return False


@native
def renew_jacobian(run):
    """df/dy at the current point."""
    evaluate_jacobian(run, run.t, run.y)
    run.needs_jacobian = 0
    run.is_jacobian_fresh = 1
    run.needs_factors = 1


@native
def predict_stages(run, step, z):
    """Start values of the iteration: the last step's polynomial, continued; zero where there is none."""
    n = run.n
    s = run.stages
    k = (s - 3) // 2
    if run.has_polynomial == 0:
        for i in range(s):
            for q in range(n):
                z[i, q] = 0.0
        return
    a = run.coefficients
    ratio = step / run.step_old
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
def _mass_times_error(run, step, z, out):
    """gamma_0/step M (e . Z), the part of the error estimate that comes from the stages (IV.8.19)."""
    n = run.n
    s = run.stages
    k = (s - 3) // 2
    w = run.scratch_1
    factor = LAMBDA_REAL[k] / step
    for q in range(n):
        x = 0.0
        for j in range(s):
            x += ERROR[k, j] * z[j, q]
        w[q] = x * factor
    times_mass(run, w, out)


@native
def _error(run, t, step, z):
    """Scaled error of the step; filtered a second time after a start or a rejection, where the first estimate is too large for stiff parts."""
    n = run.n
    y = run.y
    f0 = run.f0
    scale = run.scale
    raw = run.error
    err = run.error_inside
    _mass_times_error(run, step, z, raw)
    for q in range(n):
        err[q] = raw[q] + f0[q]
    solve_real(run, FIRST, err.ctypes)
    norm = 0.0
    for q in range(n):
        x = err[q] / scale[q]
        norm += x * x
    norm = np.sqrt(norm / n)
    if norm >= 1.0 and (run.is_first == 1 or run.was_rejected == 1):
        w = run.scratch_1
        for q in range(n):
            w[q] = y[q] + err[q]
        model_rates(run, t, w, err)
        run.c_rhs += 1
        for q in range(n):
            err[q] += raw[q]
        solve_real(run, FIRST, err.ctypes)
        norm = 0.0
        for q in range(n):
            x = err[q] / scale[q]
            norm += x * x
        norm = np.sqrt(norm / n)
    return norm


@native
def is_inherited(run, step, inside_before, step_before):
    """True if the error inside, not far from the tolerance, hardly fell with the step: it is the start that brings it.

    Newton's iteration leaves the start of a step beside the algebraic equations, and beside the slow motion of stiff ones, by a part of the
    tolerance, the tolerance of values that may have been larger. The polynomial goes through it whatever the step.
    """
    return step <= SHORTER * step_before and run.inside > _HARDLY_FALLS * inside_before and run.inside_of_largest < MOST_INHERITED


@native
def _after_newton_failure(run, step):
    """Smaller step, fresh Jacobian, and after repeated failures fewer stages."""
    run.c_newton_failed += 1
    run.faccon = 1.0
    run.was_rejected = 1
    run.needs_factors = 1
    run.failures_in_a_row += 1
    if run.is_jacobian_fresh == 0:
        run.needs_jacobian = 1
    if run.failures_in_a_row >= _FAILURES_TO_DROP and run.stages > 3:
        set_stages(run, run.stages - 2)
        update_scale(run, step)


@kernel_entry(NUMBER, INTEGER)
def take_step(run, _number, _whole):
    """Find the next accepted step from the current point; nothing is committed.

    Leaves the step in run.step, its stages, its polynomial, its end, and the proposal for the step after it in run.step_new. Returns 0 or the reason
    of failure.
    """
    n = run.n
    t = run.t
    if run.stages < run.stages_wanted and run.good_steps >= _STEPS_TO_RAISE:
        set_stages(run, run.stages + 2)
    z = run.z
    step = min(run.step_new, run.step_max)
    trouble = STEP_TOO_SMALL
    wanted = step
    update_scale(run, step)
    if run.is_jacobian_fresh == 0 and _is_rounding(run):
        run.needs_jacobian = 1
    factored_for = run.step if run.needs_factors == 0 else 0.0
    inside_before = 0.0
    step_before = 0.0
    while True:
        if t + 1.0001 * step >= run.t_next:
            step = run.t_next - t
        if not step > _SMALLEST * max(abs(t), 1e-290):
            return trouble
        if run.needs_jacobian == 1:
            renew_jacobian(run)
        if run.needs_factors == 1 or step != factored_for:
            if factor_systems(run, step, FIRST) != 0:
                step *= 0.5
                trouble = NOT_FINITE
                if is_finite_jacobian(run):
                    trouble = SINGULAR
                run.needs_factors = 1
                continue
            run.needs_factors = 0
            factored_for = step
            note_rounding(run)
            update_scale(run, step)
            if run.is_jacobian_fresh == 0 and _is_rounding(run):
                run.needs_jacobian = 1
                continue
            # the rate of convergence seen with other factors says nothing about these
            run.faccon = 1.0
        s = run.stages
        z = run.z
        predict_stages(run, step, z)
        status = newton(run, t, step, FIRST, run.newton_tol, run.z_at)
        iterations = run.iterations
        if status != CONVERGED:
            _after_newton_failure(run, step)
            if status == NOT_A_NUMBER or run.failures_in_a_row >= _FAILURES_TO_DROP:
                # once, the last polynomial is still the best start; twice, it is what leads astray
                run.has_polynomial = 0
            trouble = NOT_FINITE if status == NOT_A_NUMBER else STEP_TOO_SMALL
            if trouble == NOT_FINITE and t + step > run.t_end:
                run.t_next = min(run.t_next, run.t_end)  # the model is not defined behind the end of the run
            step *= 0.5
            continue
        norm = _error(run, t, step, z)
        run.inside = 0.0
        if norm < 1.0:
            error_inside(run, t, step)
            if step_before == 0.0:
                inside_before = run.inside
                step_before = step
            if not is_inherited(run, step, inside_before, step_before):
                norm = max(norm, run.inside)
            if step <= SHORTER * step_before:
                # an error that has fallen far is compared with itself from here on, not with what it fell from
                inside_before = run.inside
                step_before = step
        if not (norm < 1e300 and run.inside < 1e300):
            _after_newton_failure(run, step)
            trouble = NOT_FINITE
            step *= 0.5
            continue
        if norm < 1.0 and run.n_sens > 0 and run.has_corners == 1:
            error_of_sensitivities(run, t, step)
            norm = max(norm, run.sens_inside)
        norm = max(norm, 1e-10)
        power = 1.0 / (s + 1.0)
        most = 7 + int(2.5 * (s - 3))
        safety = 0.9 * (1 + 2 * most) / (iterations + 2 * most)
        quotient = max(0.125, min(5.0, norm**power / safety))
        if norm < 1.0:
            break
        run.c_rejected += 1
        trouble = STEP_TOO_SMALL
        step = 0.1 * step if run.is_first == 1 and run.was_rejected == 0 else step / quotient
        run.was_rejected = 1
        run.needs_factors = 1
        if run.is_jacobian_fresh == 0:
            run.needs_jacobian = 1
    if run.is_first == 0:
        predicted = (run.step_accepted / step) * (norm * norm / run.error_accepted) ** power / 0.9
        quotient = max(quotient, 0.125, min(5.0, predicted))
    proposed = step / quotient
    if run.was_rejected == 1:
        proposed = min(proposed, step)
    elif step < wanted:
        # cut short only to hit a time exactly: that says nothing about what comes after it
        proposed = max(proposed, wanted)
    run.was_rejected = 0
    run.step_accepted = step
    run.error_accepted = max(1e-2, norm)
    # the Jacobian serves on while Newton converges fast; the factors too if the step hardly changes
    run.is_jacobian_fresh = 0
    if run.theta > 1e-3:
        run.needs_jacobian = 1
    elif 1.0 <= proposed / step <= 1.2:
        proposed = step
    run.failures_in_a_row = 0
    run.good_steps += 1
    run.step = step
    run.step_new = proposed
    stage_polynomial(POLYNOMIAL[(s - 3) // 2], s, n, z, run.coefficients)
    end = run.y_end
    y = run.y
    for q in range(n):
        end[q] = y[q] + z[s - 1, q]
    return 0
