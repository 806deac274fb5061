"""The classical methods as the loop sees them, besides their steps: restart, acceptance, events, S and values inside a step."""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, SINGULAR, vector
from tidegate.events.guards import polynomial_point
from tidegate.integrators.explicit_form import change_along, explicit_rates
from tidegate.integrators.hybrid_loop.event import AT_START
from tidegate.integrators.hybrid_loop.on_polynomial import end_on_polynomial
from tidegate.linear.systems import factor_base

_AFTER_EVENT: Final = 4.0  # of the way to an event: no longer step is proposed behind it, ...
_AT_LEAST: Final = 0.125  # ... unless that is so small a part of what was proposed

__all__ = ["classical_accept", "classical_locate", "classical_restart", "classical_sensitivities", "classical_values", "not_too_far", "take_over"]


@native
def _start_of_derivatives(run, t):
    """The rates of S at a start; those of the unknowns are known."""
    n = run.n
    for i in range(run.n_sens):
        change = vector(run.r, run.lane_rates_at + (i + 1) * n, n)
        change_along(run, t, run.y, run.ydot, run.sens[i], i, change)
        explicit_rates(run, change)
        for q in range(n):
            if not abs(change[q]) < np.inf:
                return NOT_FINITE
    return 0


@native
def not_too_far(run, t, proposal):
    """A step to propose behind an event where there is no max_step: one much longer than the times between events loses digits of what is in it."""
    way = t - run.lane_time
    if run.step_max < np.inf or not way > 0.0:
        return proposal
    return min(proposal, max(_AFTER_EVENT * way, _AT_LEAST * proposal))


@kernel_entry(NUMBER, INTEGER)
def classical_restart(run, t, which):
    """Nothing is known but the current point; the proposal of Runge-Kutta-England outlives events."""
    n = run.n
    if n == 0:
        return 0
    if run.mass_kind != 0 and (run.rank < n or factor_base(run, t, run.y.ctypes) != 0):
        return SINGULAR
    if which == AT_START and run.step_new <= 0.0 and run.step_max < np.inf:
        run.step_new = run.step_max
    if which != AT_START:
        run.step_new = not_too_far(run, t, run.step_new)
    run.lane_time = t
    run.not_finite_at = np.nan
    run.time_remainder = 0.0
    run.last_fixed = 0.0
    for q in range(n):
        run.f0[q] = run.ydot[q]
        run.lanes[q] = run.y[q]
        run.lane_rates[q] = run.ydot[q]
    for q in range(run.n_sens * n):
        run.lanes[n + q] = run.r[run.sens_at + q]
    for q in range(run.n_lanes):
        run.remainders[q] = 0.0
        run.increments[q] = 0.0
    return _start_of_derivatives(run, t)


@native
def take_over(run, t):
    """The end of the step is where the next one starts."""
    whole = run.time_remainder + run.nominal
    run.time_remainder = whole - (t - run.lane_time)
    for q in range(run.n_lanes):
        if run.increments[q] != 0.0:
            run.remainders[q] = (run.remainders[q] + run.increments[q]) - (run.lanes_end[q] - run.lanes[q])
        run.lanes[q] = run.lanes_end[q]
        run.lane_rates[q] = run.lane_rates_end[q]
    for q in range(run.n):
        run.f0[q] = run.lane_rates[q]


@kernel_entry(NUMBER, INTEGER)
def classical_accept(run, t, _whole):
    """The end of the step is where the next one starts, with the rates that were evaluated there."""
    take_over(run, t)
    run.last_fixed = run.nominal
    return 0


@kernel_entry(NUMBER, INTEGER)
def classical_locate(run, theta, crossed):
    """The event's point lies on the polynomial, which is as good inside the step as its end."""
    return end_on_polynomial(run, theta, crossed, True)


@native
def _sensitivities_on(run, theta, offset):
    """S at a part of the whole step, to offset ``offset`` of r."""
    a = run.sens_coefficients
    degree = run.degree
    for q in range(run.n_sens * run.n):
        x = a[degree - 1, q]
        for k in range(degree - 2, -1, -1):
            x = x * theta + a[k, q]
        run.r[offset + q] = run.lanes[run.n + q] + x * theta


@kernel_entry(NUMBER, INTEGER)
def classical_sensitivities(run, _number, _whole):
    """S at the end of the step, or on its polynomial where an event has cut it."""
    if run.step == run.lane_step:
        for q in range(run.n_sens * run.n):
            run.r[run.sens_end_at + q] = run.lanes_end[run.n + q]
    else:
        _sensitivities_on(run, run.step / run.lane_step, run.sens_end_at)
    return 0


@kernel_entry(NUMBER, INTEGER)
def classical_values(run, when, _whole):
    """Unknowns and S at a time inside the step."""
    point = run.y_old
    polynomial_point(run.n, run.degree, run.y, run.coefficients, (when - run.t) / run.length, point)
    if run.n_sens > 0:
        _sensitivities_on(run, (when - run.t) / run.lane_step, run.sens_out_at)
    return 0
