"""Taylor's method as the loop sees it, besides its step: restart, acceptance, events, sensitivities and values inside a step."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import SINGULAR
from tidegate.events.guards import asks_for_first_powers, guard_polynomials, polynomial_point
from tidegate.events.told import can_be_shorter, is_told_at_once, told_by_series
from tidegate.events.tolerances import IDLE_STEP
from tidegate.integrators.hybrid_loop.event import AT_START
from tidegate.integrators.hybrid_loop.on_polynomial import end_on_polynomial
from tidegate.integrators.taylor.sensitivities import put_sensitivities, sensitivities_on
from tidegate.integrators.taylor.step import is_at_the_end, no_series, prepare_box, series_is_finite
from tidegate.linear.forced import model_rates

_AFTER_EVENT: Final = 10.0  # of the way to an event: no longer step is proposed behind it, for one that is loses digits of what is in it, ...
_AT_LEAST: Final = 0.1  # ... unless that is so small a part of what was proposed
_OF_A_TURN: Final = 0.01  # of the time in which y' changes by as much as itself: a first guess where y is nothing

__all__ = ["taylor_accept", "taylor_ahead", "taylor_locate", "taylor_restart", "taylor_sensitivities", "taylor_values"]


@kernel_entry(NUMBER, INTEGER)
def taylor_accept(run, t, _whole):
    """f at the new point."""
    if run.known_at == t:
        for q in range(run.n):
            run.f0[q] = run.ydot[q]
        return 0
    if run.mass_kind == 0 and run.n_forced == 0 and is_at_the_end(run, t):
        f = run.f0
        rate = run.series_rate
        for q in range(run.n):
            f[q] = rate[q]
        return 0
    model_rates(run, t, run.y, run.f0)
    run.c_rhs += 1
    return 0


@native
def _guess_from_nothing(run, t):
    """A first guess where all unknowns are nothing, so that how large they are tells no time: from y' and y''.

    0 where these tell none either; or the series ends, as if nothing were to come.
    """
    n = run.n
    for q in range(n):
        if abs(run.y[q]) > run.atol[q]:
            return 0.0
    if run.n_forced != 0 or not series_is_finite(run, t, IDLE_STEP):
        return 0.0
    series = run.series
    speed = 0.0
    turn = 0.0
    last = 0.0
    for q in range(n):
        last += abs(series[run.series_order * n - q])
        rate = series[1 + q] / run.atol[q]
        bend = 2.0 * series[1 + n + q] / run.atol[q]
        speed += rate * rate
        turn += bend * bend
    return _OF_A_TURN * IDLE_STEP * math.sqrt(speed / turn) if last > 0.0 and turn > 0.0 else 0.0


@kernel_entry(NUMBER, INTEGER)
def taylor_restart(run, t, which):
    """Nothing of the past is used; at a start the first step is as long as was asked for."""
    if run.mass_kind == 1 and run.f_rates == 0:
        for q in range(run.n):
            if run.mass[q] == 0.0:
                return SINGULAR
    if which == AT_START:
        run.nominal = max(run.step_new, 0.0)
        run.crept_steps = 0
        if not run.nominal > 0.0:
            run.step_new = _guess_from_nothing(run, t)
    elif run.length > 0.0:
        run.step_new = min(run.step_new, max(_AFTER_EVENT * run.length, _AT_LEAST * run.step_new))
    run.stiff_steps = 0
    run.idle_steps = 0
    run.not_finite_at = np.nan
    prepare_box(run)
    return taylor_accept(run, t, 0)


@native
def _told(run, theta, crossed):
    """Up to where the step tells what the guard does that crosses at theta; of one that is not affine hardly ever by more than a few powers."""
    if asks_for_first_powers(run):
        if run.found_is_told == 1 or is_told_at_once(run, theta, crossed):
            return theta
        guard_polynomials(run, run.t, run.step)
    return told_by_series(run, theta, crossed)


@kernel_entry(NUMBER, INTEGER)
def taylor_locate(run, theta, crossed):
    """The event's point lies on the polynomial, which is as good inside the step as at its end."""
    run.is_started = 0
    if crossed >= 0 and run.at_pole != crossed + 1:
        part = _told(run, theta, crossed)
        if part < theta and can_be_shorter(run, part * run.step):
            return end_on_polynomial(run, part, -1, True)
    return end_on_polynomial(run, theta, crossed, True)


@kernel_entry(NUMBER, INTEGER)
def taylor_ahead(run, number, is_new):
    """For ``events.leaving``: the power series at the point and time ``number``, in units of the last step; or where that leads after such a while.

    0, or 1 if there is no such series, since it is not that of the equations or is not finite.
    """
    if is_new == 1:
        if run.n_forced != 0:
            return 1
        run.is_started = 0  # the next step is no longer begun in run.series
        return 0 if series_is_finite(run, number, run.step_before_event) else 1
    n, order = run.n, run.series_order
    series = run.series
    theta = number / run.step_before_event
    half = 0.5 * theta
    power = 1.0
    for _ in range(order - 1):
        power *= theta
    for q in range(n):
        at = 1 + order * n + q
        at_half = 0.0
        at_end = 0.0
        for _ in range(order):
            at -= n
            at_half = (at_half + series[at]) * half
            at_end = (at_end + series[at]) * theta
        last = at + (order - 1) * n
        run.trial_middle[q] = run.y[q] + at_half
        run.trial_end[q] = run.y[q] + at_end
        run.trial_stage[q] = run.trial_end[q] - power * (series[last - n] + theta * series[last])
    return 0


@kernel_entry(NUMBER, INTEGER)
def taylor_sensitivities(run, _number, _whole):
    """The polynomials of S over the step, and S at its end."""
    if run.sens_length != run.length and not put_sensitivities(run):
        return no_series(run)
    run.sens_length = 0.0
    sensitivities_on(run, run.step / run.length, run.sens_end_at)
    return 0


@kernel_entry(NUMBER, INTEGER)
def taylor_values(run, when, _whole):
    """Unknowns and S at a time inside the step."""
    theta = (when - run.t) / run.length
    polynomial_point(run.n, run.degree, run.y, run.coefficients, theta, run.y_old)
    if run.n_sens > 0:
        sensitivities_on(run, theta, run.sens_out_at)
    return 0
