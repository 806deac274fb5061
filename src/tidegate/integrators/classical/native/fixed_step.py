"""A step of Euler's method, Adams' of order 2, the trapezoidal rule or Heun's, natively: as long as max_step says, or to the next event.

Formulas and orders: ``integrators.classical.euler``, ``adams``, ``trapezoid``, ``heun``. There is no estimate of the error, and no step is ever tried
again: values that are no numbers end the run.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, STEP_TOO_SMALL
from tidegate.integrators.classical import adams, polynomial, trapezoid
from tidegate.integrators.classical.native.lanes import choose_length, give_step, is_resolved, lane_rates, put_polynomial

__all__ = ["DEGREE", "fixed_step"]

DEGREE: Final = 3

_extrapolated = native(adams.extrapolated)
_corrected = native(trapezoid.corrected)
_cubic = native(polynomial.cubic)


@native
def _predict(run, step, looks_back):
    for q in range(run.n_lanes):
        a = step * run.lane_rates[q]
        run.increments[q] = _extrapolated(a, run.k2[q]) if looks_back else a
        run.k1[q] = a
        run.k2[q] = 0.5 * a
        run.lanes_end[q] = run.lanes[q] + (run.remainders[q] + run.increments[q])


@native
def _correct(run, step):
    for q in range(run.n_lanes):
        run.increments[q] = _corrected(run.k1[q], step * run.lane_rates_end[q])
        run.lanes_end[q] = run.lanes[q] + (run.remainders[q] + run.increments[q])


@kernel_entry(NUMBER, INTEGER)
def fixed_step(run, _number, _whole):
    """The next step."""
    choose_length(run, run.step_max)
    if not is_resolved(run):
        return STEP_TOO_SMALL
    step = run.nominal
    run.step = step  # the loop looks whether it leads behind the end of the run, should it fail
    looks_back = run.looks_back == 1 and step == run.last_fixed
    _predict(run, step, looks_back)
    if lane_rates(run, run.until, run.lanes_end_at, run.lane_rates_end_at) != 0:
        return NOT_FINITE
    if (run.corrects if looks_back else run.corrects_first) == 1:
        _correct(run, step)
        if lane_rates(run, run.until, run.lanes_end_at, run.lane_rates_end_at) != 0:
            return NOT_FINITE
    run.degree = DEGREE
    for q in range(run.n_lanes):
        line = run.increments[q]
        put_polynomial(run, q, _cubic(run.k1[q] - line, step * run.lane_rates_end[q] - line, 0.0), line)
    run.step_new = run.step_max
    give_step(run)
    return 0
