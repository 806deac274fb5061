"""Runge-Kutta-England natively: attempts at a step, and the rule of lengths of the method by itself.

Formulas, order and estimate: ``integrators.classical.england``. A step is accepted if the estimate of every unknown y is at most |atol| + |rtol (y +
d)|, with y + d the value at the middle of the step. Behind a step of the proposed length the proposal grows, by ``following``, to max_step at most,
if the least quotient q of allowed and estimated error is above 2; so it does not change where an event has cut the step. A rejected step is halved;
one that would then be shorter than min_step is tried with min_step, and no shorter one is. A trial that leads to no numbers is rejected as well.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE
from tidegate.integrators.classical import england, error_test
from tidegate.integrators.classical.native.lanes import choose_length, give_step, is_resolved, lane_rates, no_step, put_polynomial, set_end

__all__ = ["ACCEPTED", "REFUSED", "avoid_what_is_behind", "begin_attempts", "england_attempt", "england_step"]

ACCEPTED: Final = 0  # what an attempt answers, if not NOT_FINITE
REFUSED: Final = 1
DEGREE: Final = 5

_second = native(england.second)
_third = native(england.third)
_fourth = native(england.fourth)
_middle = native(england.middle)
_sixth = native(england.sixth)
_seventh = native(england.seventh)
_eighth = native(england.eighth)
_estimate = native(england.estimate)
_ninth = native(england.ninth)
_increment = native(england.increment)
_following = native(england.following)
_polynomial = native(england.polynomial)
_allowed = native(error_test.allowed)
_is_beyond = native(error_test.is_beyond)
_lesser = native(error_test.lesser)


@native
def _first_half(run, h):
    """k2 to k4 and d; 0 or NOT_FINITE."""
    t = run.t
    y = run.lanes
    point = run.trial
    k1 = run.k1
    k2 = run.k2
    k3 = run.k3
    k4 = run.k4
    n = run.n_lanes
    for q in range(n):
        point[q] = y[q] + _second(k1[q])
    if lane_rates(run, t + 0.5 * h, run.trial_at, run.k2_at) != 0:
        return NOT_FINITE
    for q in range(n):
        k2[q] = h * k2[q]
        point[q] = y[q] + _third(k1[q], k2[q])
    if lane_rates(run, t + 0.5 * h, run.trial_at, run.k3_at) != 0:
        return NOT_FINITE
    for q in range(n):
        k3[q] = h * k3[q]
        point[q] = y[q] + _fourth(k2[q], k3[q])
    if lane_rates(run, t + h, run.trial_at, run.k4_at) != 0:
        return NOT_FINITE
    for q in range(n):
        k4[q] = h * k4[q]
        run.first_half[q] = _middle(k1[q], k3[q], k4[q])
    return 0


@native
def _second_half(run, h):
    """k5 to k8 and the estimate; the point in the middle and its rates; 0 or NOT_FINITE."""
    t = run.t
    y = run.lanes
    d = run.first_half
    point = run.trial
    k2 = run.k2
    k3 = run.k3
    k4 = run.k4
    k5 = run.k5
    k6 = run.k6
    k7 = run.k7
    n = run.n_lanes
    for q in range(n):
        run.half_point[q] = y[q] + d[q]
    if lane_rates(run, t + h, run.half_point_at, run.half_rates_at) != 0:
        return NOT_FINITE
    for q in range(n):
        k5[q] = h * run.half_rates[q]
        point[q] = y[q] + _sixth(d[q], k5[q])
    if lane_rates(run, t + 1.5 * h, run.trial_at, run.k6_at) != 0:
        return NOT_FINITE
    for q in range(n):
        k6[q] = h * k6[q]
        point[q] = y[q] + _seventh(d[q], k5[q], k6[q])
    if lane_rates(run, t + 1.5 * h, run.trial_at, run.k7_at) != 0:
        return NOT_FINITE
    for q in range(n):
        k7[q] = h * k7[q]
        point[q] = y[q] + _eighth(d[q], k2[q], k3[q], k4[q], k5[q], k6[q], k7[q])
    if lane_rates(run, run.until, run.trial_at, run.k8_at) != 0:
        return NOT_FINITE
    for q in range(n):
        run.estimates[q] = _estimate(run.k1[q], k3[q], k4[q], k5[q], k7[q], h * run.k8[q])
    return 0


@native
def _is_allowed(run):
    """The error test: the worst unknown of all, the least quotient."""
    worst = 0.0
    passed = True
    quotient = 1.0 * england.MOST
    for q in range(run.n):
        err = run.estimates[q]
        limit = _allowed(run.atol[q], run.rtol, run.lanes[q] + run.first_half[q])
        passed = passed and not _is_beyond(err, limit)
        quotient = _lesser(quotient, err, limit)
        if not abs(err) <= worst * limit:
            worst = abs(err) / limit
            run.worst = q
            run.worst_error = abs(err)
            run.worst_allowed = limit
    run.quotient = quotient
    return passed


@native
def _put_polynomial(run, q, end):
    """The polynomial of one lane: a straight line, and the formula for what that leaves, which is small; its sums would lose digits of the line."""
    line = 0.5 * run.increments[q]
    middle = (run.first_half[q] + 0.5 * run.estimates[q]) - line
    put_polynomial(run, q, _polynomial(run.k1[q] - line, run.k5[q] - line, end - line, middle, 0.0, 0.0), run.increments[q])


@kernel_entry()
def england_attempt(run):
    """Try a step of run.nominal to run.until, k1 being known: ACCEPTED, with its end, the rates there and its polynomial; REFUSED; NOT_FINITE."""
    h = 0.5 * run.nominal
    y = run.lanes
    d = run.first_half
    point = run.trial
    end = run.lanes_end
    if _first_half(run, h) != 0 or _second_half(run, h) != 0:
        return NOT_FINITE
    if not _is_allowed(run):
        return REFUSED
    n = run.n_lanes
    for q in range(n):
        point[q] = y[q] + _ninth(d[q], run.k6[q], run.k7[q])
    if lane_rates(run, run.until, run.trial_at, run.k8_at) != 0:
        return NOT_FINITE
    for q in range(n):
        run.increments[q] = _increment(run.estimates[q], d[q], run.k5[q], run.k7[q], h * run.k8[q])
        end[q] = y[q] + (run.remainders[q] + run.increments[q])
    if lane_rates(run, run.until, run.lanes_end_at, run.lane_rates_end_at) != 0:
        return NOT_FINITE
    run.degree = DEGREE
    for q in range(n):
        _put_polynomial(run, q, h * run.lane_rates_end[q])
    return ACCEPTED


@native
def avoid_what_is_behind(run, outcome):
    """True, and no step beyond the end of the run, if a trial behind it has led to no numbers: the model need not make sense there."""
    if outcome != NOT_FINITE or not run.t + run.nominal > run.t_end or not run.t_next > run.t_end:
        return False
    run.t_next = run.t_end
    return True


@native
def begin_attempts(run, h):
    """k1, which smaller attempts make smaller without asking again."""
    for q in range(run.n_lanes):
        run.k1[q] = h * run.lane_rates[q]


@kernel_entry(NUMBER, INTEGER)
def england_step(run, _number, _whole):
    """The next accepted step."""
    run.step_new = max(min(run.step_new, run.step_max), run.step_min)
    choose_length(run, run.step_new)
    begin_attempts(run, 0.5 * run.nominal)
    while True:
        if not is_resolved(run):
            return no_step(run)
        outcome = england_attempt(run)
        if outcome == ACCEPTED:
            break
        if avoid_what_is_behind(run, outcome):
            choose_length(run, run.step_new)
            begin_attempts(run, 0.5 * run.nominal)
            continue
        run.c_rejected += 1
        fraction = 0.5
        shorter = 0.5 * run.nominal
        if not run.nominal > run.step_min:
            return outcome if outcome == NOT_FINITE else no_step(run)
        if shorter < run.step_min:
            fraction = run.step_min / run.nominal
            shorter = run.step_min
        run.nominal = shorter
        run.step_new = shorter
        set_end(run)
        if not is_resolved(run):
            return no_step(run)
        for q in range(run.n_lanes):
            run.k1[q] = fraction * run.k1[q]
    run.step_new = _following(run.nominal, run.step_new, run.quotient, run.step_max)
    give_step(run)
    return 0
