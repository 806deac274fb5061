"""What a run writes down natively: rows of values, the polynomials of steps, and the event log, into buffers that Python empties.

A row is [t, kind, y, discrete variables, outputs, then for every sensitivity parameter their derivatives in the same order]. A polynomial is
[start, width, degree, y, coefficients, discrete variables]. A log entry is [t, kind, guard, scheduled item, rounds, tau', y-, modes and discretes-,
y+, modes and discretes+, fire flags].
"""

from __future__ import annotations

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import NUMBER, NUMBERS, WHOLE, native, unit
from tidegate.compiled.workspace import (
    CAUSE_ITEM,
    DEGREE,
    EVENT_CAUSE,
    EVENT_KIND,
    F_OUTPUTS,
    F_OUTPUTS_T,
    FIRST_DISCRETE,
    KEEP_POLYNOMIALS,
    LENGTH,
    MAX_DEGREE,
    N_D,
    N_FIRE,
    N_LOGGED,
    N_OUT,
    N_POLYNOMIALS,
    N_ROWS,
    N_S,
    O_A,
    O_D,
    O_DM,
    O_DP,
    O_DTDP,
    O_FIRED,
    O_M,
    O_MOLD,
    O_OUTPUTS,
    O_P,
    O_Y,
    O_YOLD,
    O_ZERO,
    ROUNDS,
    STEP,
    T_END,
    T_SHOWN,
    WIDE_LOG,
    WIDE_POLYNOMIALS,
    WIDE_ROWS,
    N,
    T,
    matrix,
    tail,
    vector,
)
from tidegate.events.schedule import is_same_time
from tidegate.sensitivity.jump import set_direction

__all__ = ["log_event", "record_polynomial", "record_row", "row_time"]


@native
def row_time(r):
    """The current time; the end of the run where that is the same but for rounding."""
    if r[T] > r[T_END] or is_same_time(r, r[T], r[T_END]):
        return r[T_END]
    return r[T]


@unit(NUMBERS, NUMBER, WHOLE, WHOLE, WHOLE)
def record_row(h, r, rows, t, point, sensitivities, kind):
    """Append one row with the unknowns at offset ``point`` of r and their derivatives, (parameter, unknown), at ``sensitivities``."""
    n = h[N]
    y = vector(r, point, n)
    sens = matrix(r, sensitivities, max(h[N_S], 1), n)
    nd = h[N_D]
    n_out = h[N_OUT]
    row = tail(rows, h[N_ROWS] * h[WIDE_ROWS])
    row[0] = t
    row[1] = kind
    place = 2
    for q in range(n):
        row[place + q] = y[q]
    place += n
    for q in range(nd):
        row[place + q] = r[h[O_M] + h[FIRST_DISCRETE] + q]
    place += nd
    values = vector(r, h[O_OUTPUTS], n_out)
    if n_out > 0:
        call_value(h[F_OUTPUTS], t, y, tail(r, h[O_P]), tail(r, h[O_M]), values)
        for q in range(n_out):
            row[place + q] = values[q]
        place += n_out
    d = matrix(r, h[O_D], max(h[N_S], 1), nd)
    for i in range(h[N_S]):
        for q in range(n):
            row[place + q] = sens[i, q]
        place += n
        for q in range(nd):
            row[place + q] = d[i, q]
        place += nd
        if n_out > 0:
            set_direction(h, r, i, True)
            zero = vector(r, h[O_ZERO], n)
            call_tangent(h[F_OUTPUTS_T], t, y, zero, tail(r, h[O_P]), tail(r, h[O_M]), 0.0, sens[i], tail(r, h[O_DP]), tail(r, h[O_DM]), values)
            set_direction(h, r, i, False)
            for q in range(n_out):
                row[place + q] = values[q]
            place += n_out
    h[N_ROWS] += 1
    return 0


@native
def _shift(n, degree, by, row):
    """The coefficients around another origin (Horner; Knuth, The Art of Computer Programming 2, section 4.6.4)."""
    for first in range(degree):
        for k in range(degree - 1, first - 1, -1):
            for q in range(n):
                row[3 + k * n + q] += by * row[3 + (k + 1) * n + q]


@unit(NUMBERS)
def record_polynomial(h, r, polynomials):
    """Append the polynomial of the step about to be committed, scaled to the part of it that is used, and not shown at the end of a run before."""
    if h[KEEP_POLYNOMIALS] == 0 or r[STEP] <= 0.0:
        return 0
    n = h[N]
    degree = h[DEGREE]
    row = tail(polynomials, h[N_POLYNOMIALS] * h[WIDE_POLYNOMIALS])
    begin = max(0.0, r[T_SHOWN] - r[T])
    row[0] = r[T] + begin
    row[1] = r[STEP] - begin
    row[2] = degree
    for q in range(n):
        row[3 + q] = r[h[O_Y] + q]
    coefficients = tail(r, h[O_A])
    for k in range(degree * n):
        row[3 + n + k] = coefficients[k]
    for k in range(degree * n, h[MAX_DEGREE] * n):
        row[3 + n + k] = 0.0
    if begin > 0.0:
        _shift(n, degree, begin / r[LENGTH], row)
    ratio = (r[STEP] - begin) / r[LENGTH]
    power = 1.0
    for k in range(degree):
        power *= ratio
        for q in range(n):
            row[3 + (k + 1) * n + q] *= power
    place = 3 + (h[MAX_DEGREE] + 1) * n
    for q in range(h[N_D]):
        row[place + q] = r[h[O_M] + h[FIRST_DISCRETE] + q]
    h[N_POLYNOMIALS] += 1
    return 0


@unit(NUMBERS, NUMBER)
def log_event(h, r, log, t):
    """Append the event just settled."""
    n = h[N]
    n_s = h[N_S]
    n_m = h[FIRST_DISCRETE] + h[N_D]
    row = tail(log, h[N_LOGGED] * h[WIDE_LOG])
    row[0] = t
    row[1] = h[EVENT_KIND]
    row[2] = h[EVENT_CAUSE]
    row[3] = h[CAUSE_ITEM]
    row[4] = h[ROUNDS]
    place = 5
    for i in range(n_s):
        row[place + i] = r[h[O_DTDP] + i]
    place += n_s
    for q in range(n):
        row[place + q] = r[h[O_YOLD] + q]
    place += n
    for q in range(n_m):
        row[place + q] = r[h[O_MOLD] + q]
    place += n_m
    for q in range(n):
        row[place + q] = r[h[O_Y] + q]
    place += n
    for q in range(n_m):
        row[place + q] = r[h[O_M] + q]
    place += n_m
    for k in range(h[N_FIRE]):
        row[place + k] = r[h[O_FIRED] + k]
    h[N_LOGGED] += 1
    return 0
