"""The next step of Taylor's method, as the loop asks for it: at once or with care, as far as the series of S reach, on the algebraic equations."""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import ANOTHER_METHOD, STEP_TOO_SMALL, vector
from tidegate.integrators.taylor.sensitivities import NEARLY, limit_steps, put_sensitivities, reach_of_sensitivities
from tidegate.integrators.taylor.step import (
    CREPT_STEPS,
    STIFF_STEPS,
    choose_order,
    degree_of,
    no_series,
    put_least,
    shortest_step,
    step_at_once,
    step_with_care,
)

__all__ = ["take_step"]

_WORTH_WHILE: Final = 1000.0


@native
def _end_on_equations(run):
    """The algebraic unknowns at the end of the step are what they follow to be there: the last power takes up the difference, so that none grows."""
    n = run.n
    follower = run.series_rate
    call_value(run.f_followers, run.t + run.step, run.y_end, run.p, run.m, follower)
    last = run.series_order - 1
    for q in range(n):
        if run.is_algebraic[q] == 1:
            run.coefficients[last, q] += follower[q] - run.y_end[q]
            run.y_end[q] = follower[q]


@native
def _limit_by_sensitivities(run):
    """Take the step again, shorter, where the series of S do not reach its end; 0 or the reason of failure."""
    whole = run.step
    while True:
        run.length = run.step
        if not put_sensitivities(run):
            return 0  # those who ask for them at the end of the step say why
        reach = reach_of_sensitivities(run)
        if not reach < NEARLY:
            run.sens_length = run.length
            return 0
        before = run.step
        if reach * before > shortest_step(run.t):
            run.c_rejected += 1
            run.nominal = reach * before
            if step_with_care(run, run.nominal) == 0 and run.step < before:
                continue
        run.step_new = whole  # another method looks for itself
        return no_series(run)


@kernel_entry(NUMBER, INTEGER)
def take_step(run, _number, _whole):
    """The next accepted step. ANOTHER_METHOD where it is stiff; STEP_TOO_SMALL, with STIFF_STEPS counted, where the series may end at a guard."""
    t = run.t
    if run.is_taken == 0:
        run.is_clear = 0
    if run.stiff_steps >= STIFF_STEPS:
        if run.t_end - t > _WORTH_WHILE * run.step_new:
            return STEP_TOO_SMALL if run.crept_steps >= CREPT_STEPS else ANOTHER_METHOD
        run.stiff_steps = 0
        run.crept_steps = 0
    choose_order(run)
    run.is_chosen = 0
    if run.goes_by_size == 1 and run.is_taken == 0:
        put_least(run)
    unit = min(run.step_new, run.step_max)
    if not step_at_once(run, unit):
        code = step_with_care(run, unit)
        if code != 0:
            return code
    run.sens_length = 0.0
    if limit_steps(run):
        code = _limit_by_sensitivities(run)
        if code != 0:
            return code
    if run.f_followers != 0:
        _end_on_equations(run)
    run.degree = degree_of(run.n, run.series_order, vector(run.r, run.coefficients_at, run.series_order * run.n))
    run.length = run.step
    return 0
