"""Radau IIA as the loop sees it, besides its step and its way to an event: restart, acceptance, sensitivities at the end of a step, values in it."""

from __future__ import annotations

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import matrix
from tidegate.events.guards import polynomial_point
from tidegate.integrators.hybrid_loop.asked_rows import FOR_A_ROW
from tidegate.integrators.hybrid_loop.event import AT_START
from tidegate.integrators.hybrid_loop.forces import force_sensitivities, forces_here
from tidegate.integrators.hybrid_loop.past import keep_sensitivity
from tidegate.integrators.radau.locate import restep
from tidegate.integrators.radau.sensitivities import stage_sensitivities
from tidegate.integrators.radau.step import set_stages
from tidegate.integrators.radau.tableau import POLYNOMIAL
from tidegate.linear.forced import model_rates
from tidegate.linear.systems import FIRST, SECOND

__all__ = ["radau_accept", "radau_restart", "radau_sensitivities", "radau_values"]


@kernel_entry(NUMBER, INTEGER)
def radau_accept(run, t, _whole):
    """f at the new point, which the error estimate of the next step needs."""
    model_rates(run, t, run.y, run.f0)
    run.c_rhs += 1
    return 0


@kernel_entry(NUMBER, INTEGER)
def radau_restart(run, t, which):
    """No polynomial to continue, a new Jacobian; the step size is kept."""
    if which == AT_START:
        set_stages(run, run.stages_wanted)
    run.is_first = 1
    run.has_polynomial = 0
    run.needs_jacobian = 1
    run.needs_factors = 1
    run.faccon = 1.0
    return radau_accept(run, t, 0)


@native
def _add_polynomial(run, theta, end):
    """Add the polynomial through the stage sensitivities at theta to ``end``."""
    n = run.n
    s = run.stages
    k = (s - 3) // 2
    new = run.sens_new
    for i in range(run.n_sens):
        for q in range(n):
            if theta == 1.0:
                end[i, q] += new[i, (s - 1) * n + q]
                continue
            x = 0.0
            for d in range(s - 1, -1, -1):
                c = 0.0
                for j in range(s):
                    c += POLYNOMIAL[k, d, j] * new[i, j * n + q]
                x = (x + c) * theta
            end[i, q] += x


@native
def _keep_polynomials(run):
    """Those through the stage sensitivities, for a model that looks back at them."""
    s = run.stages
    k = (s - 3) // 2
    for i in range(run.n_sens):
        for q in range(run.n):
            for d in range(s):
                c = 0.0
                for j in range(s):
                    c += POLYNOMIAL[k, d, j] * run.sens_new[i, j * run.n + q]
                keep_sensitivity(run, i, q, d + 1, c)


@native
def _copy_sensitivities(run, offset):
    for q in range(run.n_sens * run.n):
        run.r[offset + q] = run.r[run.sens_at + q]


@kernel_entry(NUMBER, INTEGER)
def radau_sensitivities(run, _number, _whole):
    """S at the end of the step, which lies at the end of the collocation polynomial or close to it."""
    code = stage_sensitivities(run, run.t, run.length, run.z_at, FIRST)
    if code == 0:
        _copy_sensitivities(run, run.sens_end_at)
        _add_polynomial(run, run.step / run.length, run.sens_end)
        if run.past != 0:
            _keep_polynomials(run)
        if run.n_forms > 0:
            force_sensitivities(run, run.t + run.step, run.y_new, run.sens_end)
    return code


@native
def _is_as_accurate_inside(run):
    """Whether the polynomial is held to the tolerance all the way: all but unknowns of index two, sensitivities, and what has no size yet."""
    return run.n_sens == 0 and run.n_forms == 0 and run.is_sized == 1 and run.inside <= 1.0


@kernel_entry(NUMBER, INTEGER)
def radau_values(run, when, what_for):
    """Unknowns and sensitivities at a time inside the step, by a step to it: the polynomial is less accurate inside than at its end.

    A row of which nothing depends is as accurate as was asked for without that, and there may be many of them.
    """
    n = run.n
    s = run.stages
    if what_for == FOR_A_ROW and _is_as_accurate_inside(run):
        polynomial_point(n, s, run.y, run.coefficients, (when - run.t) / run.length, run.y_old)
        return 0
    y = run.y
    point = run.y_old
    step = when - run.t
    theta = step / run.length
    stages = run.z_kept_at
    which = SECOND
    if restep(run, step, s, run.length, stages, SECOND, run.coefficients_at) == 1:
        z = matrix(run.r, stages, s, n)
        for q in range(n):
            point[q] = y[q] + z[s - 1, q]
        if run.n_forms > 0:
            forces_here(run, when, point)
        theta = 1.0
    else:
        polynomial_point(n, s, y, run.coefficients, theta, point)
        stages = run.z_at
        step = run.length
        which = FIRST
    if run.n_sens == 0:
        return 0
    code = stage_sensitivities(run, run.t, step, stages, which)
    if code == 0:
        _copy_sensitivities(run, run.sens_out_at)
        _add_polynomial(run, theta, run.sens_out)
        if run.n_forms > 0:
            force_sensitivities(run, when, point, run.sens_out)
    return code
