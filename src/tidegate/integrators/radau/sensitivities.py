"""Forward sensitivities of one step: the collocation equations differentiated, so that they are those of the discrete solution.

Small: staggered direct method (Caracotsios and Stewart 1985) on the stages of Radau IIA: with the step's stage values known, the (s n) x (s n) matrix
A^-1 (x) M/step - diag(J_i) is factored once and solved for every parameter. Larger: the same equations, by the corrections of Newton's iteration with
the factors of the step, until rounding or a small part of each tolerance is left; where they hardly shrink, J is taken from the middle of the step.

The last stages of a step to the zero of a root lie where J is infinite, or, by what the last correction moved them, where it is not defined. They are
taken from some way before, on the polynomial of the step, which such a place makes so short that this is within the tolerance. Where a quotient has a
value though what it divides by vanishes, J is rounding at the very place and right just before.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NO_SENSITIVITIES, NOT_FINITE, SINGULAR, matrix, tail
from tidegate.events.tolerances import EPS
from tidegate.integrators.radau.newton import correct, factor_systems
from tidegate.integrators.radau.tableau import POLYNOMIAL
from tidegate.linear.forced import put_forced_tangent
from tidegate.linear.stages import factor_stages, put_stage, solve_stages
from tidegate.linear.systems import evaluate_jacobian
from tidegate.sensitivity.jump import set_direction

__all__ = ["put_change", "stage_sensitivities"]

_PART: Final = 1e-3  # of the tolerance, that the iteration may leave
_LEAST: Final = 1e-5  # of the tolerance: a correction like this is the last
_ROUNDED: Final = 1e-2  # of the tolerance: corrections that small, which no longer shrink, are rounding
_PATIENCE: Final = 8  # corrections before J is renewed
_MOST: Final = 60
_REACHES: Final = 0.9  # of the step: where stages are taken from if there is nothing at its end, ...
_CLOSER: Final = 0.5  # ... and so much closer to its start each time if there is nothing either, ...
_LEAST_REACH: Final = 1e-3  # ... down to here
_NEXT_TO_NOTHING: Final = 1e-6  # of a divisor at the start of the step
_JUST_BEFORE: Final = 1.0 - 1e-6  # of the step: where the last stage is taken from if a divisor is that small at its end
_NOTHING: Final = 64.0  # roundings of the time, over which nothing is known of S, and no more happens than a place can be told apart


@native
def _set_stage(run, z, i):
    stage = run.scratch_3
    for q in range(run.n):
        stage[q] = run.y[q] + z[i, q]
    return stage


@native
def _right_sides(run, t, step, z, reach, e, x):
    """The right sides of the differentiated equations at all stages, into run.f_stages."""
    n = run.n
    sens = run.sens
    moved = run.roundoff
    set_direction(run, e, True)
    for i in range(run.stages):
        stage = _set_stage(run, z, i)
        for q in range(n):
            moved[q] = sens[e, q] + x[i, q]
        now = t + min(run.nodes[i], reach) * step
        call_tangent(run.f_residual_tangent, now, stage, run.stage_rates[i], run.p, run.m, 0.0, moved, run.dp, run.dm, run.f_stages[i])
        if run.n_forced > 0:
            put_forced_tangent(run, now, 0.0, stage.ctypes, run.stage_rates[i].ctypes, run.f_stages[i].ctypes)
    set_direction(run, e, False)


@native
def _largest(run, step, e, x):
    """The largest element of the last correction, as a part of the tolerance of its unknown; infinite if one is not finite.

    Those of index two are weighed by the step, as in ``update_scale``: rounding makes more of them the shorter it is.
    """
    s = run.stages
    size = abs(run.p[run.sens_parameters[e]])
    size = size if size > 0.0 else 1.0
    largest = 0.0
    for q in range(run.n):
        change = 0.0
        derivative = abs(run.sens[e, q])
        for i in range(s):
            change = max(change, abs(run.residuals[i, q]))
            derivative = max(derivative, abs(x[i, q]))
            if not abs(run.residuals[i, q]) < np.inf:
                return np.inf
        allowed = run.rtol * derivative + run.atol[q] / size
        if run.n_forms > 0 and run.index_two[q] == 1:
            allowed /= min(step, 1.0)
        largest = max(largest, change / allowed)
    return largest


@native
def _iterated(run, t, step, z, reach, which):
    n = run.n
    s = run.stages
    is_renewed = False
    for e in range(run.n_sens):
        x = matrix(run.r, run.sens_new_at + e * s * n, s, n)
        for i in range(s):
            for q in range(n):
                x[i, q] = 0.0
        last = np.inf
        corrections = 0
        while True:
            _right_sides(run, t, step, z, reach, e, x)
            correct(run, step, which, x)
            corrections += 1
            norm = _largest(run, step, e, x)
            if not norm < np.inf:
                return NOT_FINITE
            rate = norm / last if corrections > 1 else 1.0
            last = norm
            if norm <= _LEAST or (rate < 0.5 and norm * rate <= _PART * (1.0 - rate)) or (rate >= 0.5 and norm <= _ROUNDED):
                break
            if corrections >= _PATIENCE and not is_renewed:
                is_renewed = True
                evaluate_jacobian(run, t + run.nodes[s // 2] * step, _set_stage(run, z, s // 2))
                run.needs_factors = 1
                if factor_systems(run, step, which) != 0:
                    return SINGULAR
            if corrections >= _MOST:
                return NO_SENSITIVITIES
    return 0


@native
def _solved_at_once(run, t, step, z, reach):
    n = run.n
    s = run.stages
    right = run.sens_right
    new = run.sens_new
    for i in range(s):
        stage = _set_stage(run, z, i)
        now = t + min(run.nodes[i], reach) * step
        put_stage(run, now, stage, i, step)
        for e in range(run.n_sens):
            change = tail(right[e].ctypes, i * n)
            set_direction(run, e, True)
            call_tangent(run.f_residual_tangent, now, stage, run.stage_rates[i], run.p, run.m, 0.0, run.sens[e], run.dp, run.dm, change)
            if run.n_forced > 0:
                put_forced_tangent(run, now, 0.0, stage.ctypes, run.stage_rates[i].ctypes, change.ctypes)
            set_direction(run, e, False)
    if factor_stages(run) != 0:
        return SINGULAR
    for e in range(run.n_sens):
        solve_stages(run, right[e])
        for q in range(s * n):
            new[e, q] = right[e, q]
    return 0


@native
def _ends_nowhere(run):
    """True if what began as a number has none at the last stage."""
    n = run.n
    last = (run.stages - 1) * n
    for e in range(run.n_sens):
        for q in range(n):
            if abs(run.sens[e, q]) < np.inf and not abs(run.sens_new[e, last + q]) < np.inf:
                return True
    return False


@native
def _solved(run, t, step, z, reach, which):
    return _iterated(run, t, step, z, reach, which) if run.n_sens_system == 0 else _solved_at_once(run, t, step, z, reach)


@native
def put_change(run, z, theta, step, change, rate):
    """The polynomial through stages z at theta, which is zero at the start of the step, and its derivative by time."""
    s = run.stages
    k = (s - 3) // 2
    for q in range(run.n):
        x = 0.0
        v = 0.0
        for d in range(s - 1, -1, -1):
            c = 0.0
            for j in range(s):
                c += POLYNOMIAL[k, d, j] * z[j, q]
            x = (x + c) * theta
            v = v * theta + (d + 1) * c
        change[q] = x
        rate[q] = v / step


@native
def _put_back(run, step, z, reach):
    """Put stages behind ``reach`` of the step where the polynomial through all of them, which are in run.z_whole, is there."""
    put_change(run, run.z_whole, reach, step, run.scratch_1, run.scratch_2)
    for i in range(run.stages):
        if run.nodes[i] > reach:
            for q in range(run.n):
                z[i, q] = run.scratch_1[q]
                run.stage_rates[i, q] = run.scratch_2[q]


@native
def _vanishes(run, t, step, z):
    """True if something that is divided by is next to nothing at the last stage: what J is made of is rounding there."""
    if run.n_divisors == 0:
        return False
    before = run.divisor_values[0]
    behind = run.divisor_values[1]
    call_value(run.f_divisors, t, run.y, run.p, run.m, before)
    call_value(run.f_divisors, t + step, _set_stage(run, z, run.stages - 1), run.p, run.m, behind)
    for k in range(run.n_divisors):
        if abs(behind[k]) < _NEXT_TO_NOTHING * abs(before[k]):
            return True
    return False


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
    vanishes = _vanishes(run, t, step, z)
    code = NOT_FINITE
    if not vanishes:
        code = _solved(run, t, step, z, 1.0, which)
        if code not in (0, NOT_FINITE, SINGULAR) or (code == 0 and not _ends_nowhere(run)):
            return code
    for i in range(s):
        for q in range(n):
            run.z_whole[i, q] = z[i, q]
    reach = _JUST_BEFORE if vanishes else _REACHES
    while reach > _LEAST_REACH:
        _put_back(run, step, z, reach)
        code = _solved(run, t, step, z, reach, which)
        if code == 0 and not _ends_nowhere(run):
            break
        reach = _REACHES if reach == _JUST_BEFORE else reach * _CLOSER
    if reach <= _LEAST_REACH and step <= _NOTHING * EPS * max(abs(t), run.time_size):
        code = 0
        for e in range(run.n_sens):
            for q in range(s * n):
                run.sens_new[e, q] = 0.0
    for i in range(s):
        for q in range(n):
            z[i, q] = run.z_whole[i, q]
    return code
