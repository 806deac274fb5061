"""What all classical methods have in common natively: lanes, their rates, the length of a step, sums that keep what rounding loses.

A *lane* is one unknown or one of its derivatives by a parameter. The lanes of a run stand one after the other, first the unknowns, then S row by row,
and every formula of a method is applied to all of them: S goes through the same stages, with J S + df/dp for f, and is the derivative of the very
numbers that the method gives for unchanged steps (internal differentiation: Bock 1981). Only unknowns decide about the length of a step.

New values are old + (remainder + increment), and so is the time; the remainder is what rounding lost of the sums before (condensed from Gill 1951 and
Møller 1965).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, STEP_TOO_SMALL, vector
from tidegate.integrators.explicit_form import change_along, explicit_rates

__all__ = ["choose_length", "give_step", "is_resolved", "lane_rates", "no_step", "put_polynomial", "set_end"]

_SMALLEST: Final = 1e-15  # a step below this part of |t| no longer moves time
_JUST_AHEAD: Final = 1e-9  # of the time gone by: so near to the point values that are not finite are what stops a step
_ROUNDINGS: Final = 1e-14  # of the time: nearer than a few of its last digits
_CUBIC: Final = 3  # a degree


@kernel_entry(NUMBER, INTEGER, INTEGER)
def lane_rates(run, t, point, target):
    """Rates of all lanes at the point at offset ``point`` of r, to offset ``target``; 0, or NOT_FINITE."""
    n = run.n
    y = vector(run.r, point, n)
    rate = vector(run.r, target, n)
    call_value(run.f_rhs, t, y, run.p, run.m, rate)
    run.c_rhs += 1
    explicit_rates(run, rate)
    for q in range(n):
        if not abs(rate[q]) < np.inf:
            run.not_finite_at = t
            return NOT_FINITE
    for i in range(run.n_sens):
        change = vector(run.r, target + (i + 1) * n, n)
        change_along(run, t, y, rate, vector(run.r, point + (i + 1) * n, n), i, change)
        explicit_rates(run, change)
        for q in range(n):
            if not abs(change[q]) < np.inf:
                run.not_finite_at = t
                return NOT_FINITE
    return 0


@native
def set_end(run):
    """The time at the end of a step of run.nominal, not behind the next event."""
    run.until = min(run.t + (run.time_remainder + run.nominal), run.t_next)


@native
def choose_length(run, proposal):
    """A step of the proposed length, or to the next event; True for the former."""
    rest = (run.t_next - run.t) - run.time_remainder
    if rest > proposal:
        run.nominal = proposal
        set_end(run)
        return True
    run.nominal = rest
    run.until = run.t_next
    return False


@native
def is_resolved(run):
    """True if the step moves time."""
    return run.until > run.t and run.nominal > _SMALLEST * max(abs(run.t), 1e-290)


@native
def no_step(run):
    """The reason why no step is short enough: the end of a domain is near, or the error test."""
    near = max(_JUST_AHEAD * (run.t - run.t_start), _ROUNDINGS * abs(run.t))
    return NOT_FINITE if abs(run.not_finite_at - run.t) <= near else STEP_TOO_SMALL


@native
def _put_coefficient(run, q, k, x):
    if q < run.n:
        run.coefficients[k, q] = x
    else:
        run.sens_coefficients[k, q - run.n] = x


@native
def put_polynomial(run, q, c, line):
    """The coefficients of one lane, and a straight line on top of them."""
    _put_coefficient(run, q, 0, c.c1 + line)
    _put_coefficient(run, q, 1, c.c2)
    _put_coefficient(run, q, 2, c.c3)
    if run.degree > _CUBIC:
        _put_coefficient(run, q, 3, c.c4)
        _put_coefficient(run, q, 4, c.c5)


@native
def give_step(run):
    """Tell the loop of the step that was found."""
    run.lane_time = run.t
    run.step = run.until - run.t
    run.length = run.step
    run.lane_step = run.step
    for q in range(run.n):
        run.y_end[q] = run.lanes_end[q]
