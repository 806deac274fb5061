"""A nonlinear guard over a whole step as one polynomial with a bound of what it leaves out (stage: events).

In: the polynomials of the unknowns, the guard's tape, the part of the step that is looked at. Out: c and R such that the guard lies within R theta
of sum c_k theta^k for theta in [0, 1], 1 being the end of that part. What a product leaves out behind the degree of the step is added up term by
term, and so is rounding behind the constant term: a Taylor model (Makino and Berz, Taylor models and other validated functional inclusion methods,
Int. J. Pure Appl. Math. 4, 2003), for sums, products and whole powers. A tape with anything else in it that moves has no model; bounds on parts of
the step answer for it (``interval_roots``). A unit of its own, loaded only for models with nonlinear guards.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.events.tolerances import EPS
from tidegate.expressions.tape import ADD, CONST, DIV, MUL, NEG, NONZERO, NOT, POW, SELECT, SQUARE, SUB

__all__ = ["guard_model"]

_HIGHEST_POWER: Final = 8
_OF_A_SUM: Final = 2 * EPS  # of its terms, and of those of a product: they are added one by one
_OF_A_PRODUCT: Final = 24 * EPS


@native
def _put_constant(x, degree, value):
    x[0] = value
    for k in range(1, degree + 2):
        x[k] = 0.0


@native
def _is_constant(x, degree):
    for k in range(1, degree + 2):
        if x[k] != 0.0:
            return False
    return True


@native
def _size(x, degree):
    """Of the polynomial, without its bound."""
    total = 0.0
    for k in range(degree + 1):
        total += abs(x[k])
    return total


@native
def _put_sum(x, y, sign, degree, out):
    moving = 0.0
    for k in range(degree + 1):
        out[k] = x[k] + sign * y[k]
        if k > 0:
            moving += abs(x[k]) + abs(y[k])
    out[degree + 1] = x[degree + 1] + y[degree + 1] + _OF_A_SUM * moving


@native
def _put_convolution(x, y, degree, out):
    """The coefficients of a product up to the degree: four at a time, which wait neither for each other nor for what was just written."""
    k = 0
    while k + 3 <= degree:
        first = 0.0
        second = x[k + 1] * y[0]
        third = x[k + 2] * y[0] + x[k + 1] * y[1]
        fourth = x[k + 3] * y[0] + x[k + 2] * y[1] + x[k + 1] * y[2]
        for i in range(k + 1):
            factor = x[i]
            first += factor * y[k - i]
            second += factor * y[k + 1 - i]
            third += factor * y[k + 2 - i]
            fourth += factor * y[k + 3 - i]
        out[k] = first
        out[k + 1] = second
        out[k + 2] = third
        out[k + 3] = fourth
        k += 4
    while k <= degree:
        first = 0.0
        for i in range(k + 1):
            first += x[i] * y[k - i]
        out[k] = first
        k += 1


@native
def _put_product(x, y, degree, out):
    """``out`` must be neither of both."""
    if _is_constant(y, degree):
        x, y = y, x
    size_x = _size(x, degree)
    size_y = _size(y, degree)
    _put_convolution(x, y, degree, out)
    # what of y comes behind the degree with x_i: its last i coefficients
    left_out = 0.0
    last = 0.0
    for i in range(1, degree + 1):
        last += abs(y[degree + 1 - i])
        left_out += abs(x[i]) * last
    bound = left_out + size_x * y[degree + 1] + size_y * x[degree + 1] + x[degree + 1] * y[degree + 1]
    moving = size_x * size_y - abs(x[0] * y[0])
    out[degree + 1] = bound + _OF_A_PRODUCT * max(moving, 0.0)


@native
def _put_power(x, power, degree, between, out):
    for k in range(degree + 2):
        out[k] = x[k]
    for _ in range(power - 1):
        for k in range(degree + 2):
            between[k] = out[k]
        _put_product(between, x, degree, out)


@native
def _put_inputs(run, step, degree):
    n_used = run.n_used
    models = run.guard_models
    reach = run.model_reach
    _put_constant(models[0], degree, run.t)
    models[0, 1] = reach * step
    for u in range(n_used):
        q = run.used[u]
        models[1 + u, 0] = run.y[q]
        power = 1.0
        for k in range(degree):
            power *= reach
            models[1 + u, k + 1] = power * run.coefficients[k, q]
        models[1 + u, degree + 1] = 0.0
    offset = 2 + 2 * n_used
    for k in range(run.n_p):
        _put_constant(models[offset + k], degree, run.p[k])
    offset += run.n_p
    for k in range(run.n_m):
        _put_constant(models[offset + k], degree, run.m[k])


@kernel_entry(NUMBER, INTEGER)
def guard_model(run, step, guard):
    """The model of a guard into the register of its value, R behind the coefficients; 1, or 0 where there is none."""
    degree = run.degree
    models = run.guard_models
    code = run.tape_code
    _put_inputs(run, step, degree)
    target = 2 + 3 * run.n_used + run.n_p + run.n_m
    first = run.tape_first[guard]
    for row in range(first, first + run.tape_rows[guard]):
        operation = code[row, 0]
        out = models[target]
        target += 1
        if operation == CONST:
            _put_constant(out, degree, run.constants[code[row, 1]])
            continue
        x = models[code[row, 1]]
        if operation == ADD:
            _put_sum(x, models[code[row, 2]], 1.0, degree, out)
        elif operation == SUB:
            _put_sum(x, models[code[row, 2]], -1.0, degree, out)
        elif operation == MUL:
            _put_product(x, models[code[row, 2]], degree, out)
        elif operation == SQUARE:
            _put_product(x, x, degree, out)
        elif operation == NEG:
            for k in range(degree + 1):
                out[k] = -x[k]
            out[degree + 1] = x[degree + 1]
        elif operation == DIV:
            y = models[code[row, 2]]
            if not _is_constant(y, degree) or y[0] == 0.0:
                return 0
            for k in range(degree + 1):
                out[k] = x[k] / y[0]
            out[degree + 1] = x[degree + 1] / abs(y[0]) + _OF_A_SUM * _size(out, degree)
        elif operation == POW:
            y = models[code[row, 2]]
            power = y[0]
            if not (_is_constant(y, degree) and 1.0 <= power <= _HIGHEST_POWER and power == int(power)):
                return 0
            _put_power(x, int(power), degree, models[run.n_models - 1], out)
        elif operation in (NONZERO, NOT):
            if not _is_constant(x, degree):
                return 0
            _put_constant(out, degree, 1.0 if (x[0] != 0.0) == (operation == NONZERO) else 0.0)
        elif operation == SELECT:
            if not _is_constant(x, degree):
                return 0
            chosen = models[code[row, 2]] if x[0] != 0.0 else models[code[row, 3]]
            for k in range(degree + 2):
                out[k] = chosen[k]
        else:
            return 0
    return 1
