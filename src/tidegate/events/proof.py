"""A proof for one step, apart from the search of events: no guard is on its other side anywhere before the step's end, in outward-rounded bounds.

In: the step about to be committed, its polynomial, the modes that it was taken in. Out: 1 if every guard is proved to stay on its side by more than
minus its round-off level, else 0. Bounds hold for the numbers themselves: every rounding of the shift, the sums and the guard's own operations is in
them (Moore, Interval Analysis, 1966; the rounding of polynomials as in Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 5.1).

Parts of the step are dropped where bounds exclude the other side, and where the guard moves one way all over the part: it is lowest at one end then,
which the part beside it has, or the start, or the end, where the event is that the step was cut for. A unit of its own, loaded for
``events="proved"`` only.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent, call_unit, call_value
from tidegate.compiled.jit import INTEGER, kernel_entry, native
from tidegate.compiled.schema import MOST_PARTS_AT_ONCE
from tidegate.events.guards import expected_sign, guard_polynomials, polynomial_point, prepare_registers
from tidegate.events.interval_roots import fill_bounds
from tidegate.events.tolerances import EPS

__all__ = ["prove_step"]

_MOST_PARTS: Final = 4000  # of a step, for one guard
_NARROWEST: Final = 1e-13  # of a step
_PER_DEGREE: Final = 4 * EPS  # of the terms of a polynomial: a shift and a sum take two operations a degree, a coefficient of a guard the rest
_OF_A_VALUE: Final = 16 * EPS


@native
def _note_sizes(run, degree):
    """How large the terms of every guard are that move with the step, into run.proof_size."""
    size = run.proof_size
    scale = run.slopes
    moves = run.scratch_2
    for j in range(run.n_guards):
        size[j] = 0.0
    for k in range(degree):
        for q in range(run.n):
            moves[q] = abs(run.coefficients[k, q])
        now = run.length if k == 0 else 0.0
        call_tangent(run.f_guard_scale, run.t, run.y, run.zero, run.p, run.m, now, moves, run.zero, run.zero, scale)
        for j in range(run.n_guards):
            size[j] += scale[j]


@native
def _note_values(run):
    """Values of guards at the start of the step into run.proof_value, coefficients of their polynomials."""
    call_value(run.f_guards, run.t, run.y, run.p, run.m, run.proof_value)
    guard_polynomials(run, run.t, run.length)


@native
def _affine_part(run, j, sign, degree, low, high):
    """Bounds over a part: the least value, the slowest and the fastest rate."""
    c = run.bernstein_scratch
    c[0] = sign * run.proof_value[j]
    for k in range(degree):
        c[k + 1] = sign * run.guard_coefficients[k, j]
    rounded = (_PER_DEGREE * degree + _OF_A_VALUE) * run.proof_size[j]
    middle = 0.5 * (low + high)
    half = 0.5 * (high - low) * (1.0 + _OF_A_VALUE)
    for level in range(degree):
        for k in range(degree - 1, level - 1, -1):
            c[k] += middle * c[k + 1]
    spread = 0.0
    rate_spread = 0.0
    for k in range(degree, 0, -1):
        spread = (spread + abs(c[k])) * half
        if k > 1:
            rate_spread = (rate_spread + k * abs(c[k])) * half
    slack = _OF_A_VALUE * (abs(c[0]) + spread) + rounded * high
    rate_slack = _OF_A_VALUE * (abs(c[1]) + rate_spread) + degree * rounded
    return c[0] - spread - slack, c[1] - rate_spread - rate_slack, c[1] + rate_spread + rate_slack


@native
def _widen(run, degree, high):
    """Put the rounding of a shift of the unknowns' polynomials to their bounds."""
    lo = run.lower_scratch
    hi = run.upper_scratch
    n_used = run.n_used
    factor = _PER_DEGREE * degree + _OF_A_VALUE
    for u in range(n_used):
        q = run.used[u]
        size = 0.0
        for k in range(degree):
            size += abs(run.coefficients[k, q])
        slack = factor * (abs(run.y[q]) + size * high)
        lo[1 + u] -= slack
        hi[1 + u] += slack
        slack = factor * degree * size
        lo[1 + n_used + u] -= slack
        hi[1 + n_used + u] += slack


@native
def _tape_part(run, j, sign, degree, low, high):
    """Likewise of a guard that is not affine, by its tape: natural bounds, and those of the mean value form."""
    lo = run.lower_scratch
    hi = run.upper_scratch
    value = run.tape_value[j]
    rate = run.tape_rate[j]
    fill_bounds(run, run.t, run.length, run.y, run.coefficients, degree, low, high)
    _widen(run, degree, high)
    call_unit(run.f_tape, run.h, run.r, j + run.n_guards)
    least = lo[value] if sign > 0.0 else -hi[value]
    if not (lo[value] > -np.inf and hi[value] < np.inf):
        # behind a pole a guard may be lower than in front of it, though it rises all the way
        return least, -np.inf, np.inf
    slowest = lo[rate] if sign > 0.0 else -hi[rate]
    fastest = hi[rate] if sign > 0.0 else -lo[rate]
    if slowest > 0.0 or fastest < 0.0:
        return least, slowest, fastest
    middle = 0.5 * (low + high)
    half = 0.5 * (high - low) * (1.0 + _OF_A_VALUE)
    fill_bounds(run, run.t, run.length, run.y, run.coefficients, degree, middle, middle)
    _widen(run, degree, middle)
    call_unit(run.f_tape, run.h, run.r, j)
    centre = lo[value] if sign > 0.0 else -hi[value]
    reach = half * max(fastest, -slowest)
    if reach == reach:
        least = max(least, centre - reach - _OF_A_VALUE * (abs(centre) + reach))
    return least, slowest, fastest


@native
def _end_is_here(run, j, sign, degree, end, level):
    """True if at the end of the step the guard is across by no more than rounding: by what the event there has left."""
    polynomial_point(run.n, degree, run.y, run.coefficients, end, run.scratch_1)
    call_value(run.f_guards, run.t + end * run.length, run.scratch_1, run.p, run.m, run.slopes)
    return sign * run.slopes[j] > -level - (_PER_DEGREE * degree + _OF_A_VALUE) * (run.proof_size[j] + abs(run.proof_value[j]))


@native
def _stays(run, j, degree, end):
    """True if one guard is proved to stay on its side until the end of the step."""
    sign = expected_sign(run, j)
    level = max(run.nu[j], run.nu_start[j])
    if not sign * run.proof_value[j] > -level:
        return False
    parts = run.parts_scratch
    parts[0, 0] = 0.0
    parts[0, 1] = end
    top = 1
    visited = 0
    while top > 0:
        top -= 1
        low = parts[top, 0]
        high = parts[top, 1]
        visited += 1
        if run.is_linear[j] == 1:
            least, slowest, fastest = _affine_part(run, j, sign, degree, low, high)
        else:
            least, slowest, fastest = _tape_part(run, j, sign, degree, low, high)
        if least > -level or slowest > 0.0:
            continue
        if fastest < 0.0:
            if high == end and not _end_is_here(run, j, sign, degree, end, level):
                return False
            continue
        if visited >= _MOST_PARTS or high - low < _NARROWEST or top + 2 >= MOST_PARTS_AT_ONCE:
            return False
        middle = 0.5 * (low + high)
        parts[top, 0] = middle
        parts[top, 1] = high
        parts[top + 1, 0] = low
        parts[top + 1, 1] = middle
        top += 2
    return True


@kernel_entry(INTEGER)
def prove_step(run, flipped_quietly):
    """Count the step, and that it is proved; nothing is proved of one in which relations flipped that changed no condition."""
    if not run.step > 0.0:
        return 0
    run.c_examined += 1
    if flipped_quietly > 0:
        return 0
    degree = run.degree
    if run.n_guards > 0:
        _note_sizes(run, degree)
        _note_values(run)
        prepare_registers(run)
    end = min(run.step / run.length, 1.0)
    for j in range(run.n_guards):
        if run.active[j] == 0.0 or run.is_time[j] == 1:
            continue
        if run.is_opaque[j] == 1 or not _stays(run, j, degree, end):
            return 0
    run.c_proved += 1
    return 0
