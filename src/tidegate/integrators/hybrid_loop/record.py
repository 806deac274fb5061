"""What a run writes down natively: rows of values, the polynomials of steps, and the event log, into buffers that Python empties.

A row is [t, kind, y, discrete variables, outputs, then for every sensitivity parameter their derivatives in the same order]. A polynomial is
[start, width, degree, y, coefficients, discrete variables]. A log entry is [t, kind, guard, scheduled item, rounds, tau', y-, modes and discretes-,
y+, modes and discretes+, action flags].
"""

from __future__ import annotations

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import INTEGER, NUMBER, NUMBERS, kernel_entry, native
from tidegate.compiled.workspace import matrix, tail, vector
from tidegate.events.schedule import is_same_time
from tidegate.sensitivity.jump import set_direction

__all__ = ["communicate", "log_event", "record_polynomial", "record_row", "row_time"]


@native
def row_time(run):
    """The current time; the end of the run where that is the same but for rounding."""
    if run.t > run.t_end or is_same_time(run, run.t, run.t_end):
        return run.t_end
    return run.t


@kernel_entry(NUMBERS, NUMBER, INTEGER, INTEGER, INTEGER)
def record_row(run, rows, t, point, sensitivities, kind):
    """Append one row with the unknowns at offset ``point`` of r and their derivatives, (parameter, unknown), at ``sensitivities``."""
    n = run.n
    y = vector(run.r, point, n)
    sens = matrix(run.r, sensitivities, max(run.n_sens, 1), n)
    nd = run.n_discrete
    n_out = run.n_outputs
    row = tail(rows, run.n_rows * run.wide_rows)
    row[0] = t
    row[1] = kind
    offset = 2
    for q in range(n):
        row[offset + q] = y[q]
    offset += n
    for q in range(nd):
        row[offset + q] = run.discrete[q]
    offset += nd
    values = run.outputs
    if n_out > 0:
        call_value(run.f_outputs, t, y, run.p, run.m, values)
        for q in range(n_out):
            row[offset + q] = values[q]
        offset += n_out
    d = run.sens_discrete
    for i in range(run.n_sens):
        for q in range(n):
            row[offset + q] = sens[i, q]
        offset += n
        for q in range(nd):
            row[offset + q] = d[i, q]
        offset += nd
        if n_out > 0:
            set_direction(run, i, True)
            zero = run.zero
            call_tangent(run.f_outputs_tangent, t, y, zero, run.p, run.m, 0.0, sens[i], run.dp, run.dm, values)
            set_direction(run, i, False)
            for q in range(n_out):
                row[offset + q] = values[q]
            offset += n_out
    run.n_rows += 1
    return 0


@native
def communicate(run, t, point):
    """Tell the model of a communication point, with the unknowns at offset ``point`` of r; False if its function has failed."""
    if run.f_communicated == 0:
        return True
    told = run.told
    call_value(run.f_communicated, t, vector(run.r, point, run.n), run.p, run.m, told)
    return abs(told[0]) < np.inf


@native
def _shift(n, degree, by, row):
    """The coefficients around another origin (Horner; Knuth, The Art of Computer Programming 2, section 4.6.4)."""
    for first in range(degree):
        for k in range(degree - 1, first - 1, -1):
            for q in range(n):
                row[3 + k * n + q] += by * row[3 + (k + 1) * n + q]


@kernel_entry(NUMBERS)
def record_polynomial(run, polynomials):
    """Append the polynomial of the step about to be committed, scaled to the part of it that is used, and not shown at the end of a run before."""
    if run.keeps_polynomials == 0 or run.step <= 0.0:
        return 0
    n = run.n
    degree = run.degree
    row = tail(polynomials, run.n_polynomials * run.wide_polynomials)
    begin = max(0.0, run.t_shown - run.t)
    row[0] = run.t + begin
    row[1] = run.step - begin
    row[2] = degree
    for q in range(n):
        row[3 + q] = run.y[q]
    written = degree * n
    copied = tail(polynomials, run.n_polynomials * run.wide_polynomials + 3 + n)
    coefficients = vector(run.r, run.coefficients_at, written)
    for k in range(written):
        copied[k] = coefficients[k]
    for k in range(written, run.max_degree * n):
        copied[k] = 0.0
    if begin > 0.0:
        _shift(n, degree, begin / run.length, row)
    ratio = (run.step - begin) / run.length
    if ratio != 1.0:
        power = 1.0
        for k in range(degree):
            power *= ratio
            for q in range(n):
                copied[k * n + q] *= power
    offset = 3 + (run.max_degree + 1) * n
    for q in range(run.n_discrete):
        row[offset + q] = run.discrete[q]
    run.n_polynomials += 1
    return 0


@kernel_entry(NUMBERS, NUMBER)
def log_event(run, log, t):
    """Append the event just settled."""
    n = run.n
    n_s = run.n_sens
    n_m = run.first_previous
    row = tail(log, run.n_logged * run.wide_log)
    row[0] = t
    row[1] = run.event_kind
    row[2] = run.event_cause
    row[3] = run.cause_item
    row[4] = run.rounds
    offset = 5
    for i in range(n_s):
        row[offset + i] = run.dt_dp[i]
    offset += n_s
    for q in range(n):
        row[offset + q] = run.y_old[q]
    offset += n
    for q in range(n_m):
        row[offset + q] = run.m_old[q]
    offset += n_m
    for q in range(n):
        row[offset + q] = run.y[q]
    offset += n
    for q in range(n_m):
        row[offset + q] = run.m[q]
    offset += n_m
    for k in range(run.n_actions):
        row[offset + k] = run.fired[k]
    run.n_logged += 1
    return 0
