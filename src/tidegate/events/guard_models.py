"""A nonlinear guard over a whole step as one polynomial with a bound of what it leaves out (stage: events).

In: the polynomials of the unknowns, the guard's tape, the part of the step that is looked at. Out: c, R and T such that the guard lies within R
theta + T theta^N of sum c_k theta^k, k = 0 ... N, for theta in [0, 1], 1 being the end of that part. What a product leaves out behind the degree of
the step is added up term by term into T, and rounding behind the constant term into R: a Taylor model (Makino and Berz, Taylor models and other
validated functional inclusion methods, Int. J. Pure Appl. Math. 4, 2003), for sums, products and whole powers; functions and quotients are those of
``function_models``. A tape with anything else in it that moves has no model; bounds on parts of the step answer for it (``interval_roots``). A unit
of its own, loaded only for models with nonlinear guards.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.schema import LANES, LAST_POWER, LEFT_OUT, MOVING, ROUNDED
from tidegate.compiled.weighted_sum import product_of_two, product_plus, sum_of_two
from tidegate.events.function_models import is_function, put_function, put_real_power
from tidegate.events.guard_plans import STILL, chosen, use_plan
from tidegate.events.guards import first_row
from tidegate.events.tolerances import EPS
from tidegate.expressions.tape import ADD, DIV, MUL, NEG, POW, SELECT, SQUARE, SUB

__all__ = ["guard_model"]

_LARGER: Final = 1  # of the rows behind the registers, from the last: the larger series, ...
_OTHER: Final = 2  # ... and what else a row needs beside its outcome
_SQUARED: Final = 2
_HIGHEST_POWER: Final = 8
_OF_A_SUM: Final = 2 * EPS  # of its terms, and of those of a product: they are added one by one
_OF_A_PRODUCT: Final = 24 * EPS


@native
def _put_both(x, of_x, y, of_y, degree, out):
    """The coefficients of two models, each times a number. Places behind are written, too, as far as LANES."""
    if degree < LANES:
        sum_of_two(x, of_x, y, of_y, out)
        return
    for k in range(degree + 1):
        out[k] = of_x * x[k] + of_y * y[k]


@native
def _scale(x, factor, degree, out):
    """A model times a number."""
    rounded = abs(factor) * x[degree + ROUNDED]
    moving = abs(factor) * x[degree + MOVING]
    left_out = abs(factor) * x[degree + LEFT_OUT]
    last = x[degree + LAST_POWER]
    _put_both(x, factor, x, 0.0, degree, out)
    out[degree + ROUNDED] = rounded + (0.0 if abs(factor) == 1.0 else _OF_A_SUM * moving)
    out[degree + MOVING] = moving
    out[degree + LEFT_OUT] = left_out
    out[degree + LAST_POWER] = last


@native
def _put_sum(x, y, sign, degree, out):
    rounded = x[degree + ROUNDED] + y[degree + ROUNDED]
    moving = x[degree + MOVING] + y[degree + MOVING]
    left_out = x[degree + LEFT_OUT] + y[degree + LEFT_OUT]
    last = max(x[degree + LAST_POWER], y[degree + LAST_POWER])
    _put_both(x, 1.0, y, sign, degree, out)
    out[degree + ROUNDED] = rounded + _OF_A_SUM * moving
    out[degree + MOVING] = moving
    out[degree + LEFT_OUT] = left_out
    out[degree + LAST_POWER] = last


@native
def _put_convolution(x, y, degree, out):
    """The coefficients of a product up to the degree: four at a time, which wait neither for each other nor for what was just written."""
    k = 0
    while k + 3 <= degree:
        first = 0.0
        second = x[k + 1] * y[0]
        third = product_plus(x[k + 2], y[0], x[k + 1] * y[1])
        fourth = product_plus(x[k + 3], y[0], product_plus(x[k + 2], y[1], x[k + 1] * y[2]))
        for i in range(k + 1):
            factor = x[i]
            first = product_plus(factor, y[k - i], first)
            second = product_plus(factor, y[k + 1 - i], second)
            third = product_plus(factor, y[k + 2 - i], third)
            fourth = product_plus(factor, y[k + 3 - i], fourth)
        out[k] = first
        out[k + 1] = second
        out[k + 2] = third
        out[k + 3] = fourth
        k += 4
    while k <= degree:
        first = 0.0
        for i in range(k + 1):
            first = product_plus(x[i], y[k - i], first)
        out[k] = first
        k += 1


@native
def _put_long_product(x, y, degree, out):
    """As ``product_of_two``."""
    _put_convolution(x, y, degree, out)
    size_x = abs(x[0])
    size_y = abs(y[0])
    # what of y comes behind the degree with x_i: its last i coefficients
    left_out = 0.0
    last = 0.0
    for i in range(1, degree + 1):
        size_x += abs(x[i])
        size_y += abs(y[i])
        last += abs(y[degree + 1 - i])
        left_out += abs(x[i]) * last
    return left_out, size_x, size_y


@native
def _put_product(run, x, y, degree, out):
    """``out`` must be neither of both."""
    rounded_x = x[degree + ROUNDED]
    rounded_y = y[degree + ROUNDED]
    left_out_x = x[degree + LEFT_OUT]
    left_out_y = y[degree + LEFT_OUT]
    last = x[degree + LAST_POWER] + y[degree + LAST_POWER]
    if degree < LANES:
        left_out, size_x, size_y = product_of_two(x, y, degree, run.product_room, out)
    else:
        left_out, size_x, size_y = _put_long_product(x, y, degree, out)
    moving = max(size_x * size_y - abs(x[0] * y[0]), 0.0)
    out[degree + ROUNDED] = size_x * rounded_y + (size_y + rounded_y) * rounded_x + _OF_A_PRODUCT * moving
    out[degree + MOVING] = moving
    out[degree + LEFT_OUT] = left_out + (size_x + rounded_x) * left_out_y + (size_y + rounded_y + left_out_y) * left_out_x
    out[degree + LAST_POWER] = last


@native
def _put_power(run, x, square, power, degree, between, out):
    """``square`` is the register of that of x, 0 where there is none."""
    if power == 1:
        _scale(x, 1.0, degree, out)
        return
    # one after the other into these two, the last into ``out``
    is_even = power % 2 == 0
    here = out if is_even else between
    other = between if is_even else out
    left = power - _SQUARED
    if square > 0 and left > 0:
        _put_product(run, run.guard_models[square], x, degree, other)
        here, other = other, here
        left -= 1
    else:
        _put_product(run, x, x, degree, here)
    for _ in range(left):
        _put_product(run, here, x, degree, other)
        here, other = other, here


@native
def _put_unknowns(run, step, degree):
    """Time and what the guards read of the unknowns."""
    models = run.guard_models
    still = run.model_is_still
    reach = run.model_reach
    models[0, 0] = run.t
    models[0, 1] = reach * step
    for k in range(2, degree + 2):
        models[0, k] = 0.0
    models[0, degree + MOVING] = abs(models[0, 1])
    models[0, degree + LEFT_OUT] = 0.0
    models[0, degree + LAST_POWER] = 1.0
    still[0] = 0
    a = run.coefficients
    y = run.y
    used = run.used
    for u in range(run.n_used):
        q = used[u]
        row = models[1 + u]
        row[0] = y[q]
        power = 1.0
        moving = 0.0
        for k in range(degree):
            power *= reach
            term = power * a[k, q]
            row[k + 1] = term
            moving += abs(term)
        row[degree + ROUNDED] = 0.0
        row[degree + MOVING] = moving
        row[degree + LEFT_OUT] = 0.0
        row[degree + LAST_POWER] = degree
        still[1 + u] = 0


@native
def _moving_power(power):
    """True of a power for which there is a model."""
    return 1.0 <= power <= _HIGHEST_POWER and power == int(power)


@native
def _put_row(run, operation, first, second, third, degree, out):
    """A row of which an operand moves; 1, or 0 where it has no model."""
    models = run.guard_models
    x = models[first]
    y = models[second]
    x_is_still = run.model_is_still[first] == STILL
    y_is_still = run.model_is_still[second] == STILL
    if operation in (ADD, SUB):
        sign = 1.0 if operation == ADD else -1.0
        if y_is_still:
            _scale(x, 1.0, degree, out)
            out[0] = x[0] + sign * y[0]
        elif x_is_still:
            _scale(y, sign, degree, out)
            out[0] = x[0] + sign * y[0]
        else:
            _put_sum(x, y, sign, degree, out)
    elif operation == MUL:
        if y_is_still:
            _scale(x, y[0], degree, out)
        elif x_is_still:
            _scale(y, x[0], degree, out)
        else:
            _put_product(run, x, y, degree, out)
    elif operation == SQUARE:
        _put_product(run, x, x, degree, out)
    elif operation == NEG:
        _scale(x, -1.0, degree, out)
    elif operation == DIV and not y_is_still:
        inverse = models[run.n_models - _OTHER]
        if put_real_power(y, -1.0, degree, models[run.n_models - _LARGER], inverse) == 0:
            return 0
        if x_is_still:
            _scale(inverse, x[0], degree, out)
        else:
            _put_product(run, x, inverse, degree, out)
    elif operation == DIV:
        if y[0] == 0.0:
            return 0
        _scale(x, 1.0 / y[0], degree, out)
    elif operation == POW:
        if not y_is_still:
            return 0
        if not _moving_power(y[0]):
            return put_real_power(x, y[0], degree, models[run.n_models - _LARGER], out)
        _put_power(run, x, third, int(y[0]), degree, models[run.n_models - _OTHER], out)
    elif is_function(operation):
        return put_function(operation, x, degree, models[run.n_models - _OTHER], models[run.n_models - _LARGER], out)
    else:
        return 0
    return 1


@kernel_entry(NUMBER, INTEGER)
def guard_model(run, step, guard):
    """The model of a guard, in register run.model_at; 1, or 0 where there is none.

    Rows of branches that the mode does not choose are left out.
    """
    degree = run.degree
    models = run.guard_models
    code = run.tape_code
    _put_unknowns(run, step, degree)
    plan = use_plan(run, guard)
    if plan < 0:
        return 0
    value = run.planned_value[plan]
    run.model_at = value
    ahead = first_row(run) - run.tape_first[guard]
    for place in range(run.n_planned[plan] - 1, -1, -1):
        row = run.planned_rows[plan, place]
        if code[row, 0] == SELECT:
            _scale(models[chosen(run, row)], 1.0, degree, models[row + ahead])
        elif _put_row(run, code[row, 0], code[row, 1], code[row, 2], code[row, 3], degree, models[row + ahead]) == 0:
            return 0
    if run.model_is_still[value] == STILL:
        if np.isnan(models[value, 0]):
            return 0
        for k in range(1, degree + LAST_POWER + 1):
            models[value, k] = 0.0
    return 1
