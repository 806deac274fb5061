"""Hamming's modified predictor-corrector natively: its start by Runge-Kutta-England, its history, halved, doubled, given up behind a discontinuity.

Formulas, order and estimate: ``integrators.classical.hamming``. A step is accepted if the estimate of every unknown y is at most |atol| + |rtol y|, y
being the new value. Two equal steps of Runge-Kutta-England make the history; with the first step of the predictor-corrector it is refined. A rejected
step is halved, at most max_halvings times more than doubled since the last event. An easy step (least quotient of allowed and estimated error above
50) is followed by one of double length, where the history reaches back far enough and max_step allows; or, if disc_halvings led to it and no halving
came just before it, a discontinuity was passed, and a history is made anew, from max_step down. Behind an event that is so too. Where there is no
max_step, the longest step so far is what a start begins with and halvings count from.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE
from tidegate.integrators.classical import england, error_test, hamming
from tidegate.integrators.classical.native.england_step import (
    ACCEPTED,
    DEGREE,
    REFUSED,
    avoid_what_is_behind,
    begin_attempts,
    england_attempt,
)
from tidegate.integrators.classical.native.hooks import classical_restart, not_too_far, take_over
from tidegate.integrators.classical.native.lanes import choose_length, give_step, is_resolved, lane_rates, no_step, put_polynomial, set_end
from tidegate.integrators.hybrid_loop.event import AT_START

__all__ = ["hamming_accept", "hamming_restart", "hamming_step"]

_TRY_AGAIN: Final = -1  # of the parts of a step: with what is known now, from the beginning
# rows of the history that are points -2, -1, 0, 1, 2 and 3, the newest
_BEFORE, _ZERO, _ONE, _TWO, _THREE = 1, 2, 3, 4, 5

_regridded = native(england.regridded)
_refined_1 = native(hamming.refined_1)
_refined_2 = native(hamming.refined_2)
_refined_3 = native(hamming.refined_3)
_predicted = native(hamming.predicted)
_modified = native(hamming.modified)
_corrected = native(hamming.corrected)
_improved = native(hamming.improved)
_difference = native(hamming.difference)
_halved_far = native(hamming.halved_far)
_halved_near = native(hamming.halved_near)
_polynomial = native(hamming.polynomial)
_is_past = native(hamming.is_past)
_may_double = native(hamming.may_double)
_allowed = native(error_test.allowed)
_is_beyond = native(error_test.is_beyond)
_lesser = native(error_test.lesser)


@native
def _whole_step(run):
    """The step that a start begins with."""
    if run.step_max < np.inf:
        return run.step_max
    return run.longest if run.longest > 0.0 else run.step_new


@native
def _keep(run, row, values, rates):
    for q in range(run.n_lanes):
        run.history[row, q] = values[q]
        run.history_rates[row, q] = rates[q]


@native
def _row(run, row):
    """Where a row of the history stands."""
    return run.history_at + row * run.n_lanes


@native
def _row_of_rates(run, row):
    return run.history_rates_at + row * run.n_lanes


# the start


@native
def _regrid(run, h):
    """Put the first of two steps on the finer grid of the second instead of taking it again; h is the old spacing."""
    y = run.history
    f = run.history_rates
    for q in range(run.n_lanes):
        new = _regridded(y[_ONE, q], y[_ZERO, q], y[_BEFORE, q], f[_ONE, q], f[_ZERO, q], f[_BEFORE, q], h)
        y[_BEFORE, q] = y[_ZERO, q]
        f[_BEFORE, q] = f[_ZERO, q]
        y[_ZERO, q] = new
    return lane_rates(run, run.t - 0.5 * h, _row(run, _ZERO), _row_of_rates(run, _ZERO))


@native
def _halve_start(run):
    """Half the step; False if there may be no more halvings."""
    if not run.halvings < run.max_halvings:
        return False
    h = run.spacing
    run.halvings += 1
    run.nominal = h
    run.step_new = h
    if run.is_history_new == 0 and _regrid(run, h) != 0:
        run.is_history_new = 1
        _keep(run, _BEFORE, run.lanes, run.lane_rates)
    set_end(run)
    run.spacing = 0.5 * h
    for q in range(run.n_lanes):
        run.k1[q] = 0.5 * run.k1[q]
    return True


@kernel_entry()
def hamming_start(run):
    """An accepted step of Runge-Kutta-England, the first or the second of a history; 0, a reason of failure, or _TRY_AGAIN."""
    if not choose_length(run, run.step_new):
        run.is_history_new = 1
    run.spacing = 0.5 * run.nominal
    _keep(run, _BEFORE if run.is_history_new == 1 else _ONE, run.lanes, run.lane_rates)
    begin_attempts(run, run.spacing)
    while True:
        if not is_resolved(run):
            return no_step(run)
        outcome = england_attempt(run)
        if outcome == ACCEPTED:
            break
        if avoid_what_is_behind(run, outcome):
            return _TRY_AGAIN
        run.c_rejected += 1
        if not _halve_start(run) or not is_resolved(run):
            return outcome if outcome == NOT_FINITE else no_step(run)
    run.was_multistep = 0
    run.longest = max(run.longest, run.nominal)
    if run.is_history_new == 1:
        _keep(run, _ZERO, run.half_point, run.half_rates)
        run.is_history_new = 0
        run.step_new = run.nominal
        return 0
    _keep(run, _TWO, run.half_point, run.half_rates)
    _keep(run, _THREE, run.lanes_end, run.lane_rates_end)
    run.is_multistep = 1
    run.is_history_new = 1
    run.is_refined = 0
    run.known = 5
    run.step_new = _whole_step(run)
    return 0


# the predictor-corrector


@kernel_entry()
def hamming_refine(run):
    """Better starting values than those of Runge-Kutta, each with what is improved already; the current point is one of them."""
    h = run.spacing
    t = run.t
    y = run.history
    f = run.history_rates
    n = run.n
    for q in range(run.n_lanes):
        run.increments[q] = 0.0
        run.remainders[q] = 0.0
        run.differences[q] = 0.0
        y[_ONE, q] = _refined_1(y[_ZERO, q], f[_ZERO, q], f[_ONE, q], f[_TWO, q], f[_THREE, q], h)
    if lane_rates(run, t - 2.0 * h, _row(run, _ONE), _row_of_rates(run, _ONE)) != 0:
        return NOT_FINITE
    for q in range(run.n_lanes):
        y[_TWO, q] = _refined_2(y[_ZERO, q], f[_ZERO, q], f[_ONE, q], f[_TWO, q], h)
    if lane_rates(run, t - h, _row(run, _TWO), _row_of_rates(run, _TWO)) != 0:
        return NOT_FINITE
    for q in range(run.n_lanes):
        y[_THREE, q] = _refined_3(y[_ZERO, q], f[_ZERO, q], f[_ONE, q], f[_TWO, q], f[_THREE, q], h)
    if lane_rates(run, t, _row(run, _THREE), _row_of_rates(run, _THREE)) != 0:
        return NOT_FINITE
    run.is_refined = 1
    for q in range(run.n_lanes):
        run.lanes[q] = y[_THREE, q]
        run.lane_rates[q] = f[_THREE, q]
    for q in range(n):
        run.y[q] = run.lanes[q]
        run.f0[q] = run.lane_rates[q]
    for q in range(run.n_sens * n):
        run.r[run.sens_at + q] = run.lanes[n + q]
    return 0


@native
def _is_allowed(run):
    """The error test: the worst unknown of all, the least quotient."""
    worst = 0.0
    passed = True
    quotient = 1.0 * hamming.MOST
    for q in range(run.n):
        err = run.estimates[q]
        limit = _allowed(run.atol[q], run.rtol, run.lanes_end[q])
        passed = passed and not _is_beyond(err, limit)
        quotient = _lesser(quotient, err, limit)
        if not abs(err) <= worst * limit:
            worst = abs(err) / limit
            run.worst = q
            run.worst_error = abs(err)
            run.worst_allowed = limit
    run.quotient = quotient
    return passed


@kernel_entry()
def hamming_attempt(run):
    """Try a step of the predictor-corrector: ACCEPTED, with its end, the rates there and its polynomial; REFUSED; NOT_FINITE."""
    h = run.spacing
    y = run.history
    f = run.history_rates
    new = run.lanes_end
    rate = run.lane_rates_end
    predictions = run.k1
    n = run.n_lanes
    for q in range(n):
        predictions[q] = _predicted(y[_ZERO, q], f[_ONE, q], f[_TWO, q], f[_THREE, q], h)
        run.trial[q] = _modified(predictions[q], run.differences[q])
    if lane_rates(run, run.until, run.trial_at, run.lane_rates_end_at) != 0:
        return NOT_FINITE
    for q in range(n):
        c = _corrected(y[_ONE, q], y[_THREE, q], f[_TWO, q], f[_THREE, q], rate[q], h)
        run.estimates[q] = predictions[q] - c
        new[q] = _improved(c, run.estimates[q])
    if not _is_allowed(run):
        return REFUSED
    if lane_rates(run, run.until, run.lanes_end_at, run.lane_rates_end_at) != 0:
        return NOT_FINITE
    run.degree = DEGREE
    for q in range(n):
        # the straight line through start and end, and the formula for what that leaves, which loses no digits of the line
        line = new[q] - y[_THREE, q]
        slope = line / h
        before = (y[_TWO, q] - y[_THREE, q]) + line
        put_polynomial(run, q, _polynomial(before, 0.0, 0.0, f[_TWO, q] - slope, f[_THREE, q] - slope, rate[q] - slope, h), line)
    return ACCEPTED


@kernel_entry()
def hamming_halve(run):
    """Two points between the old ones, from the old ones; 0 or NOT_FINITE."""
    h = run.spacing
    half = 0.5 * h
    y = run.history
    f = run.history_rates
    far = run.k1
    near = run.k3
    n = run.n_lanes
    for q in range(n):
        far[q] = _halved_far(y[_ZERO, q], y[_ONE, q], y[_TWO, q], y[_THREE, q], f[_ONE, q], f[_TWO, q], f[_THREE, q], h)
        near[q] = _halved_near(y[_ZERO, q], y[_ONE, q], y[_TWO, q], y[_THREE, q], f[_ONE, q], f[_TWO, q], f[_THREE, q], h)
    if lane_rates(run, run.t - 3.0 * half, run.k1_at, run.k2_at) != 0 or lane_rates(run, run.t - half, run.k3_at, run.k4_at) != 0:
        return NOT_FINITE
    run.spacing = half
    run.known = 5
    run.is_halved = 1
    for q in range(n):
        y[_BEFORE, q], y[_ZERO, q], y[_ONE, q], y[_TWO, q] = y[_ONE, q], far[q], y[_TWO, q], near[q]
        f[_BEFORE, q], f[_ZERO, q], f[_ONE, q], f[_TWO, q] = f[_ONE, q], run.k2[q], f[_TWO, q], run.k4[q]
        run.differences[q] = _difference(y[_ZERO, q], y[_THREE, q], f[_ZERO, q], f[_ONE, q], f[_TWO, q], f[_THREE, q], half)
    return 0


@native
def _leave(run):
    """The next step is the first of a new history."""
    run.is_multistep = 0
    run.is_history_new = 1


@native
def _predictor_corrector(run):
    """An accepted step; 0, a reason of failure, or _TRY_AGAIN."""
    if run.is_refined == 0 and hamming_refine(run) != 0:
        _leave(run)
        run.step_new = run.spacing
        return _TRY_AGAIN
    while True:
        run.nominal = run.spacing
        set_end(run)
        if not is_resolved(run):
            return no_step(run)
        outcome = hamming_attempt(run)
        if outcome == ACCEPTED:
            run.was_multistep = 1
            run.longest = max(run.longest, 2.0 * run.spacing)
            return 0
        if avoid_what_is_behind(run, outcome):
            return _TRY_AGAIN
        run.c_rejected += 1
        run.halvings += 1
        if run.halvings > run.max_halvings:
            return outcome if outcome == NOT_FINITE else no_step(run)
        if hamming_halve(run) != 0:
            _leave(run)
            run.step_new = run.spacing
            return _TRY_AGAIN


@kernel_entry(NUMBER, INTEGER)
def hamming_step(run, _number, _whole):
    """The next accepted step, of the method itself or of its start."""
    run.step_new = min(run.step_new, run.step_max)
    while True:
        if run.is_multistep == 1 and (run.t_next - run.t) - run.time_remainder < run.spacing:
            _leave(run)
            run.step_new = _whole_step(run)
        code = _predictor_corrector(run) if run.is_multistep == 1 else hamming_start(run)
        if code != _TRY_AGAIN:
            break
    if code == 0:
        run.proposed = run.step_new
        give_step(run)
    return code


# between steps


@native
def _double(run):
    """Every second point becomes the history; the step is taken as one from the point before its start."""
    h = 2.0 * run.spacing
    run.lane_time -= run.spacing
    run.nominal = h
    run.spacing = h
    run.known = 4
    run.halvings -= 1
    if not run.step_max < np.inf:
        run.halvings = max(run.halvings, 0)
    y = run.history
    f = run.history_rates
    for q in range(run.n_lanes):
        y[_ZERO, q], y[_ONE, q], y[_THREE, q] = y[0, q], y[_ZERO, q], run.lanes_end[q]
        f[_ZERO, q], f[_ONE, q], f[_THREE, q] = f[0, q], f[_ZERO, q], run.lane_rates_end[q]
        run.differences[q] = _difference(y[_ZERO, q], y[_THREE, q], f[_ZERO, q], f[_ONE, q], f[_TWO, q], f[_THREE, q], h)


@native
def _shift(run):
    y = run.history
    f = run.history_rates
    for row in range(_THREE):
        for q in range(run.n_lanes):
            y[row, q] = y[row + 1, q]
            f[row, q] = f[row + 1, q]
    _keep(run, _THREE, run.lanes_end, run.lane_rates_end)
    for q in range(run.n_lanes):
        run.differences[q] = run.estimates[q]


@kernel_entry(NUMBER, INTEGER)
def hamming_accept(run, t, _whole):
    """The history with the new point, and whether the next step is double, ordinary, or a new start."""
    if run.was_multistep == 1:
        is_past = _is_past(run.quotient, run.halvings, run.disc_halvings, run.is_halved == 1)
        if not is_past and _may_double(run.quotient, run.known, 2.0 * run.spacing, run.step_max):
            _double(run)
        else:
            _shift(run)
            run.known += 1
            run.is_halved = 0
        if is_past:
            _leave(run)
            run.halvings = 0
            run.step_new = _whole_step(run)
            run.proposed = run.step_new
    take_over(run, t)
    return 0


@kernel_entry(NUMBER, INTEGER)
def hamming_restart(run, t, which):
    """A new history, from the whole step down, unless something has asked for a shorter one."""
    _leave(run)
    run.halvings = 0
    run.is_halved = 0
    if which != AT_START:
        run.longest = not_too_far(run, t, run.longest)
        if run.step_new == run.proposed:
            run.step_new = _whole_step(run)
    return classical_restart(run, t, which)
