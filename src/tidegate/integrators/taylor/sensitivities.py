"""Derivatives by parameters as power series, and how far these reach.

The derivatives S of the unknowns by parameters have power series like the unknowns themselves, y' = f and S' = f_y S + f_p together; one call gives
them for one parameter. They follow the unknowns' steps, which are as good for them wherever y and S end at the same places of the complex plane and
matter alike there. Behind the beginning of a root they do not: y moves by less than its tolerance over steps many times as long as its series
reaches, S by one over a root. Where a quotient has a value, but what it divides by comes to zero, as in ``sin(u) / u``, they do not either: roundings
are amplified by one over u, once more in S than in y. So where a model has roots, or such divisors, the last coefficients of S limit the steps
as those of y do.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent
from tidegate.compiled.jit import native
from tidegate.sensitivity.jump import set_direction

__all__ = ["NEARLY", "limit_steps", "put_sensitivities", "reach_of_sensitivities", "sensitivities_on"]

NEARLY: Final = 0.9  # of a step: series of S that reach so far reach its end
_TINY: Final = 1e-290


@native
def limit_steps(run):
    """True if derivatives may need shorter steps than the unknowns."""
    return run.n_sens > 0 and (run.has_corners == 1 or run.n_divisors > 0)


@native
def put_sensitivities(run):
    """The polynomials of S over run.length into run.series_sens; False where there are none."""
    n = run.n
    series = run.series_scratch  # in run.series the next step is begun
    a = run.series_sens
    zero = run.zero
    for i in range(run.n_sens):
        set_direction(run, i, True)
        series[0] = run.length
        call_tangent(run.f_series_tangent, run.t, run.y, zero, run.p, run.m, 0.0, run.sens[i], run.dp, run.dm, series)
        set_direction(run, i, False)
        run.c_rhs += 1
        for k in range(run.series_order):
            for q in range(n):
                x = series[1 + k * 2 * n + n + q]
                if not abs(x) < np.inf:
                    return False
                a[k, i * n + q] = x
    return True


@native
def sensitivities_on(run, theta, offset):
    """S at a part of the step, to offset ``offset`` of r."""
    a = run.series_sens
    order = run.series_order
    for q in range(run.n_sens * run.n):
        x = a[order - 1, q]
        for k in range(order - 2, -1, -1):
            x = x * theta + a[k, q]
        run.r[offset + q] = run.r[run.sens_at + q] + x * theta


@native
def reach_of_sensitivities(run):
    """How far the series of S in run.series_sens go, in steps: as those of y do, relative to how large S is in the step."""
    n = run.n
    order = run.series_order
    a = run.series_sens
    last = 0.0
    before = 0.0
    for i in range(run.n_sens):
        size = abs(run.p[run.sens_parameters[i]])
        size = size if size > 0.0 else 1.0
        for q in range(n):
            place = i * n + q
            scale = max(abs(run.sens[i, q]), run.atol[q] / (run.rtol * size), abs(a[0, place]))
            last = max(last, abs(a[order - 1, place]) / scale)
            before = max(before, abs(a[order - 2, place]) / scale)
    reach = np.inf
    if last > _TINY:
        reach = math.pow(last, -1.0 / order)
    if before > _TINY:
        reach = min(reach, math.pow(before, -1.0 / (order - 1.0)))
    return run.series_caution * reach
