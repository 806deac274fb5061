"""One accepted step by the Taylor series of the unknowns at its start.

The series comes from the model's own function (``compiled.power_series``). Its last two coefficients say how long the step may be (Jorba and Zou, A
software package for the numerical integration of ODEs by means of high-order Taylor methods, Experimental Mathematics 14, 2005, section 3.2; the
factor is theirs). Where both are zero by accident they say nothing; so the step is accepted only if the polynomial fits the equations at its end, and
inside as well where it is much longer than the last. What is left of the equations there is about (P + 1) c_{P+1} h^P, and the error h / (P + 1)
times that.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, STEP_TOO_SMALL
from tidegate.events.guards import polynomial_point

__all__ = ["take_step"]

_CAUTION: Final = 0.7  # exp(-0.7 / (P - 1)) of the radius that the coefficients tell
_INNER: Final = 0.05  # of the tolerances: what is left to one step, so that the errors of many add up to about what was asked for
_GROWTH: Final = 100.0  # no step is longer than so many times what was found possible before
_MUCH_LONGER: Final = 3.0  # a step so much longer is looked at inside, too
_LOOKS: Final = 4  # parts of such a step
_SMALLEST: Final = 1e-15  # a step below this part of |t| no longer moves time
_ROUNDING: Final = 64 * 2.0**-52  # of what is added up in comparing the polynomial with the equations
_TOO_SMALL: Final = 1e-2  # coefficients that are not finite: the unit of time is made so much smaller
_LEAST: Final = 1e-290
_JUST_AHEAD: Final = 1e-9  # of the time gone by: so near to the point values that are not finite are what stops a step


@native
def _series_is_finite(run, unit):
    """Put down the coefficients for a unit of time; False if one is not finite."""
    series = run.series
    series[0] = unit
    call_value(run.f_series, run.t, run.y, run.p, run.m, series)
    run.c_rhs += 1
    total = 0.0
    for k in range(1, 1 + run.series_order * run.n):
        total += abs(series[k])
    return total < np.inf


@native
def _radius(run, order):
    """In units of time: how far the last two coefficients let the step go, for the scales in run.series_scale."""
    n = run.n
    series = run.series
    scale = run.series_scale
    last = 0.0
    before = 0.0
    at = 1 + (order - 1) * n
    for q in range(n):
        last = max(last, abs(series[at + q]) / scale[q])
        before = max(before, abs(series[at - n + q]) / scale[q])
    radius = np.inf
    if last > _LEAST:
        radius = last ** (-1.0 / order)
    if before > _LEAST:
        radius = min(radius, before ** (-1.0 / (order - 1)))
    return radius


@native
def _possible(run):
    """In units of time: the step that the coefficients allow, for tolerances relative to how large the unknowns are in it."""
    n = run.n
    order = run.series_order
    series = run.series
    scale = run.series_scale
    for q in range(n):
        scale[q] = max(abs(run.y[q]), run.atol[q] / run.rtol)
    caution = (_INNER * run.rtol) ** (1.0 / order) * np.exp(-_CAUTION / (order - 1.0))
    possible = caution * _radius(run, order)
    if possible < np.inf:
        for q in range(n):
            scale[q] = max(scale[q], possible * abs(series[1 + q]))
        possible = caution * _radius(run, order)
    return possible


@native
def _put_polynomial(run, ratio):
    """The polynomial of a step of ``ratio`` units, and its end."""
    n = run.n
    order = run.series_order
    series = run.series
    a = run.coefficients
    power = 1.0
    for k in range(order):
        power *= ratio
        for q in range(n):
            a[k, q] = series[1 + k * n + q] * power
    for q in range(n):
        x = 0.0
        for k in range(order - 1, -1, -1):
            x += a[k, q]
        run.y_end[q] = run.y[q] + x


@native
def _misfit(run, theta, step):
    """How badly the polynomial fits the equations at a part of the step, 1 being just well enough; infinite where they have no value."""
    n = run.n
    order = run.series_order
    a = run.coefficients
    point = run.y_end
    if theta < 1.0:
        point = run.scratch_1
        polynomial_point(n, order, run.y, a, theta, point)
    rate = run.series_rate
    call_value(run.f_rhs, run.t + theta * step, point, run.p, run.m, rate)
    run.c_rhs += 1
    if run.mass_kind == 1:
        for q in range(n):
            rate[q] /= run.mass[q]
    worst = 0.0
    for q in range(n):
        slope = 0.0
        size = abs(run.y[q])
        for k in range(order - 1, -1, -1):
            slope = slope * theta + (k + 1.0) * a[k, q]
            size += (k + 1.0) * abs(a[k, q])
        left = abs(step * rate[q] - slope)
        if not left < np.inf:
            run.not_finite_at = run.t + theta * step
            return np.inf
        allowed = (order + 1.0) * _INNER * run.rtol * max(run.series_scale[q], abs(point[q])) + _ROUNDING * size
        if left > worst * allowed:
            worst = left / allowed
            run.worst = q
            run.worst_error = left
            run.worst_allowed = allowed
    return worst


@native
def _fits(run, step, is_looked_into):
    if not _misfit(run, 1.0, step) <= 1.0:
        return False
    if is_looked_into:
        for look in range(1, _LOOKS):
            if not _misfit(run, float(look) / _LOOKS, step) <= 1.0:
                return False
    return True


@native
def _no_step(run):
    near = max(_JUST_AHEAD * (run.t - run.t_start), 1e-14 * abs(run.t))
    return NOT_FINITE if abs(run.not_finite_at - run.t) <= near else STEP_TOO_SMALL


@kernel_entry(NUMBER, INTEGER)
def take_step(run, _number, _whole):
    """The next accepted step."""
    t = run.t
    smallest = _SMALLEST * max(abs(t), _LEAST)
    unit = min(run.step_new, run.step_max)
    while not _series_is_finite(run, unit):
        unit *= _TOO_SMALL
        if not unit > smallest:
            return NOT_FINITE
    longest = _GROWTH * unit
    if run.nominal > 0.0:
        longest = min(longest, run.nominal)  # the first step, as asked for
        run.nominal = 0.0
    limit = _possible(run) * unit
    possible = min(limit, longest, run.step_max)
    # a step far beyond the end would leave no digits for what happens before it
    latest = min(run.t_next, run.t_end) if run.t_end > t else run.t_next
    proposed = possible if limit < np.inf else max(unit, min(possible, latest - t))
    while True:
        until = min(t + possible, latest)
        step = until - t
        if not (until > t and step > smallest):
            return _no_step(run)
        _put_polynomial(run, step / unit)
        if _fits(run, step, step > _MUCH_LONGER * unit):
            break
        run.c_rejected += 1
        possible = 0.5 * step
        proposed = possible
    run.degree = run.series_order
    run.step = step
    run.length = step
    run.step_new = proposed
    return 0
