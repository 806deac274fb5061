"""Rodas5P as the loop sees it, besides its step: restart, acceptance, events, sensitivities and values inside a step.

The derivatives S of the unknowns by parameters obey M S' = J S + f_p along the step's polynomial: linear equations, which Radau IIA with three stages
solves step for step (``radau.sensitivities``). Those of the Rosenbrock method itself would need second derivatives of the model.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, UNDECIDED_GUARD
from tidegate.events.guards import polynomial_point
from tidegate.events.isolate import UNDECIDED, UNDEFINED, earliest_crossing
from tidegate.events.told import can_be_shorter
from tidegate.integrators.hybrid_loop.event import AT_START
from tidegate.integrators.hybrid_loop.on_polynomial import end_on_polynomial
from tidegate.integrators.hybrid_loop.polish import shorter
from tidegate.integrators.hybrid_loop.slow_motion import onto_slow_motion
from tidegate.integrators.radau.newton import factor_systems
from tidegate.integrators.radau.sensitivities import stage_sensitivities
from tidegate.integrators.radau.step import set_stages
from tidegate.integrators.rosenbrock.coefficients import GAMMA
from tidegate.integrators.rosenbrock.step import DEGREE, put_collocation, step_again
from tidegate.linear.forced import model_rates
from tidegate.linear.systems import FIRST

__all__ = ["rosenbrock_accept", "rosenbrock_locate", "rosenbrock_restart", "rosenbrock_sensitivities", "rosenbrock_values"]

_BEHIND: Final = 1.0001  # times the way to an event: so far the step goes that is taken again, so that the event lies in it


@kernel_entry(NUMBER, INTEGER)
def rosenbrock_accept(run, t, _whole):
    """f at the new point, the first stage of the next step."""
    model_rates(run, t, run.y, run.f0)
    run.c_rhs += 1
    return 0


@kernel_entry(NUMBER, INTEGER)
def rosenbrock_restart(run, t, which):
    """Nothing of the past is used; the step size is kept."""
    if which == AT_START:
        set_stages(run, 3)
        run.gain = 1.0 / GAMMA
        run.degree = DEGREE
    run.is_first = 1
    return rosenbrock_accept(run, t, 0)


@kernel_entry(NUMBER, INTEGER)
def rosenbrock_locate(run, theta, crossed):
    """Step again to just behind the event, whose point lies on the new polynomial near its end; of a stiff model, on its slow motion.

    The end of a step is better than its inside: stiffly accurate. Where the new polynomial shows no event up to its end, the step ends there.
    """
    is_again = crossed >= 0 and _BEHIND * theta < 1.0 and run.t + theta * run.step > run.t
    if is_again and step_again(run, _BEHIND * theta * run.step) == 1:
        crossed = earliest_crossing(run, run.t, run.step)
        theta = run.found_theta
        if crossed == UNDEFINED:
            return NOT_FINITE
        if crossed == UNDECIDED:
            if not can_be_shorter(run, run.step):
                return UNDECIDED_GUARD
            theta = shorter(run)
            crossed = -1
        elif crossed < 0:
            run.found_guard = -1
            for q in range(run.n):
                run.y_new[q] = run.y_end[q]
            return 0
    code = end_on_polynomial(run, theta, crossed, False)
    if code == 0 and run.found_guard >= 0 and run.step > 0.0:
        code = onto_slow_motion(run, run.found_guard)
    return code


@native
def _sensitivities_at(run, theta, offset):
    """S at a part of the step, to offset ``offset`` of r; 0 or the reason of failure."""
    n = run.n
    step = theta * run.length
    put_collocation(run, theta)
    if run.n_sens_system == 0:
        factor_systems(run, step, FIRST)
    code = stage_sensitivities(run, run.t, step, run.z_at, FIRST)
    if code == 0:
        new = run.sens_new
        for i in range(run.n_sens):
            for q in range(n):
                run.r[offset + i * n + q] = run.r[run.sens_at + i * n + q] + new[i, 2 * n + q]
    return code


@kernel_entry(NUMBER, INTEGER)
def rosenbrock_sensitivities(run, _number, _whole):
    """S at the end of the step."""
    return _sensitivities_at(run, run.step / run.length, run.sens_end_at)


@kernel_entry(NUMBER, INTEGER)
def rosenbrock_values(run, when, _whole):
    """Unknowns and S at a time inside the step."""
    theta = (when - run.t) / run.length
    polynomial_point(run.n, run.degree, run.y, run.coefficients, theta, run.y_old)
    if run.n_sens > 0:
        return _sensitivities_at(run, theta, run.sens_out_at)
    return 0
