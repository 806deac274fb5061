"""Equations of a mode that ties states: constraints between them are integrated in their differentiated form (stage: linear).

Where a mode's algebraic equations cannot be solved for the algebraic unknowns, combinations of them with weights a hold between states
alone, ``sum a_r f_r = 0`` with a gradient that is a combination of rows of M, ``-sum v_i M_i``. One equation of each combination gives way to its
derivative, ``sum v_i f_i = sum a_r df_r/dt``, which determines what keeps the states tied. Where M couples derivatives that equation may have a row
of M that is not zero; since ``sum a_r M_r`` is, ``sum a_r f_r`` is then taken from it, so that its weights are ``w = v - a`` but for itself, and
``w = v`` else (``events.constrain`` finds w and a). Weights must be constant in the mode, which is looked at; what is integrated is then of index
one. Everything that asks for rates or for their Jacobian while a run is under way asks here.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import NUMBER, NUMBERS, kernel_entry, native
from tidegate.compiled.workspace import vector

__all__ = [
    "change_of_slope",
    "forced_change",
    "forced_hold",
    "given_jacobian",
    "integrated_form",
    "let_go",
    "model_jacobian",
    "model_rates",
    "n_in_jacobian",
    "put_forced_jacobian",
    "put_forced_tangent",
    "time_slopes",
]

_SHORT: Final = 1e-5  # of the last step: over this the rate of a rate is measured
_SIDES: Final = 16  # places at which J is looked for where it is infinite
_APART: Final = 0.6180339887498949  # parts of the golden section lie apart from each other
_DRIFT: Final = 100.0  # tolerances by which states may stray from what ties them


@kernel_entry(NUMBER, NUMBERS, NUMBERS)
def put_forced_rates(run, t, point, rates):
    """The equations that gave way in ``rates`` become the ones that are integrated instead."""
    n = run.n
    f = vector(rates, 0, n)
    slope = run.forced_scratch
    call_tangent(run.f_residual_tangent, t, vector(point, 0, n), run.zero, run.p, run.m, 1.0, run.zero, run.zero, run.zero, slope)
    for k in range(run.n_forced):
        x = 0.0
        for i in range(n):
            w = run.forced_weights[k, i]
            a = run.forced_algebraic[k, i]
            if w != 0.0:
                x += w * f[i]
            if a != 0.0:
                x -= a * slope[i]
        f[run.forced_rows[k]] = x
    return 0


@kernel_entry(NUMBERS)
def put_forced_jacobian(run, jacobian):
    """The same for the rows of J."""
    n = run.n
    total = run.forced_scratch
    jac = vector(jacobian, 0, n * n)
    for k in range(run.n_forced):
        row = run.forced_rows[k] * n
        for j in range(n):
            total[j] = 0.0
        for i in range(n):
            weight = run.forced_weights[k, i]
            if weight != 0.0:
                for j in range(n):
                    total[j] += weight * jac[i * n + j]
        for j in range(n):
            jac[row + j] = total[j]
    return 0


@native
def integrated_form(run, value):
    """Of an HDAE: 1 for the equations that are integrated, whose index may be two, 0 for those of index one, from which consistent values follow."""
    for k in range(run.n_forms):
        run.form[k] = value


@native
def let_go(run):
    """No equation gives way any more."""
    run.n_forced = 0
    run.is_sparse = 1 if run.n_sparse > 0 else 0


@native
def n_in_jacobian(run):
    """Elements of J in the form that it has in this mode."""
    return run.n_sparse_entries if run.is_sparse == 1 else run.n * run.n


@native
def model_rates(run, t, y, out):
    """f(t, y) in the current mode."""
    call_value(run.f_rhs, t, y, run.p, run.m, out)
    if run.n_forced > 0:
        put_forced_rates(run, t, y.ctypes, out.ctypes)


@native
def given_jacobian(run, t, y, out):
    """J at a point of the equations as they were given; also of a sparse model as a dense matrix, while a mode of it ties states."""
    if run.n_tied > 0:
        # what is structurally zero is not written, and equations that gave way in another mode have left something there
        for q in range(n_in_jacobian(run)):
            out[q] = 0.0
    if run.is_sparse == 1 or run.n_sparse == 0:
        call_value(run.f_jacobian, t, y, run.p, run.m, out)
        return
    entries = run.entries_scratch
    for e in range(run.n_sparse_entries):
        entries[e] = 0.0
    call_value(run.f_jacobian, t, y, run.p, run.m, entries)
    for j in range(run.n):
        for e in range(run.column_first[j], run.column_first[j + 1]):
            out[run.entry_row[e] * run.n + j] = entries[e]


@native
def _is_finite(run, out):
    for e in range(n_in_jacobian(run)):
        if not abs(out[e]) < 1e300:
            return False
    return True


@kernel_entry(NUMBER, NUMBERS, NUMBERS)
def jacobian_beside(run, t, point, jacobian):
    """J where a root is vertical, as of an empty tank, or has no value: next to the point, by the tolerance, on the first side where it is finite.

    What is iterated with it is right whatever J is; only at once it would not get there.
    """
    y = vector(point, 0, run.n)
    out = vector(jacobian, 0, n_in_jacobian(run))
    beside = run.beside
    for side in range(_SIDES):
        for q in range(run.n):
            direction = (1.0 if run.ydot[q] > 0.0 else -1.0 if run.ydot[q] < 0.0 else 0.0) if side < 2 else 1.0
            if side >= 4:
                # apart from each other: two levels that have met stay equal where both are moved alike
                direction = 2.0 * ((_APART * (q + 1) * (side // 2)) % 1.0) - 1.0
            beside[q] = y[q] + (1.0 if side % 2 == 0 else -1.0) * direction * (run.atol[q] + run.rtol * abs(y[q]))
        given_jacobian(run, t, beside, out)
        if _is_finite(run, out):
            return 0
    return 0


@native
def model_jacobian(run, t, y, out):
    """J at a point in the current mode, or beside it where it is infinite."""
    given_jacobian(run, t, y, out)
    if not _is_finite(run, out):
        jacobian_beside(run, t, y.ctypes, out.ctypes)
    if run.n_forced > 0:
        put_forced_jacobian(run, out.ctypes)


@native
def time_slopes(run, t, y, out):
    """df/dt of the rates, with y held."""
    zero = run.zero
    call_tangent(run.f_residual_tangent, t, y, zero, run.p, run.m, 1.0, zero, zero, zero, out)
    if run.n_forced > 0:
        forced_change(run, t, y.ctypes, out.ctypes)


@kernel_entry(NUMBER, NUMBERS, NUMBERS)
def forced_change(run, t, point, slopes):
    """The equations that gave way in df/dt; what drives a constraint is looked at a little earlier and a little later."""
    n = run.n
    y = vector(point, 0, n)
    out = vector(slopes, 0, n)
    later = run.forced_scratch
    zero = run.zero
    short = _SHORT * (run.step_before_event if run.step_before_event > 0.0 else 1.0)
    for k in range(run.n_forced):
        x = 0.0
        for i in range(n):
            if run.forced_weights[k, i] != 0.0:
                x += run.forced_weights[k, i] * out[i]
        out[run.forced_rows[k]] = x
    for side in range(2):
        moved = t + (short if side == 0 else -short)
        call_tangent(run.f_residual_tangent, moved, y, zero, run.p, run.m, 1.0, zero, zero, zero, later)
        for k in range(run.n_forced):
            row = run.forced_rows[k]
            for i in range(n):
                a = run.forced_algebraic[k, i]
                if a != 0.0:
                    out[row] -= (a if side == 0 else -a) * later[i] / (2.0 * short)
    return 0


@native
def change_of_slope(run, t, moved, y, ydot, k, short):
    """d/dt of the sum a_r df_r/dp of combination k, by differences of fourth order over ``short`` on the line that y takes with y'.

    The directions are set in dp and dm.
    """
    zero = run.zero
    slopes = run.forced_scratch
    point = run.trial_stage
    x = 0.0
    for side in range(4):
        away = -2 + side if side < 2 else side - 1
        for q in range(run.n):
            point[q] = y[q] + away * short * ydot[q]
        call_tangent(run.f_residual_tangent, t + away * short, point, zero, run.p, run.m, moved, zero, run.dp, run.dm, slopes)
        part = (8.0 if abs(away) == 1 else -1.0) * (1.0 if away > 0 else -1.0)
        for i in range(run.n):
            a = run.forced_algebraic[k, i]
            if a != 0.0:
                x += part * a * slopes[i]
    return x / (12.0 * short)


@kernel_entry(NUMBER, NUMBER, NUMBERS, NUMBERS, NUMBERS)
def put_forced_tangent(run, t, moved, point, rates, tangent):
    """The equations that gave way in the derivative of f - M y' along y, the directions set in dp and dm, and ``moved`` times that of time.

    A combination of equations, each of which holds, has the derivative ``sum a_r (J_r S + df_r/dp) = 0`` with its own weights, whatever moves these;
    and that is differentiated by time, on the way that the unknowns take with the rates y', as the combination was.
    """
    n = run.n
    y = vector(point, 0, n)
    ydot = vector(rates, 0, n)
    out = vector(tangent, 0, n)
    for k in range(run.n_forced):
        x = 0.0
        for i in range(n):
            if run.forced_weights[k, i] != 0.0:
                x += run.forced_weights[k, i] * out[i]
        out[run.forced_rows[k]] = x - change_of_slope(run, t, moved, y, ydot, k, run.forced_short)
    return 0


@kernel_entry(NUMBER, NUMBERS)
def forced_hold(run, t, point):
    """1 if states are where their constraints want them, within what tolerances allow."""
    n = run.n
    y = vector(point, 0, n)
    f = run.forced_scratch
    call_value(run.f_rhs, t, y, run.p, run.m, f)
    for k in range(run.n_forced):
        x = 0.0
        allowed = 0.0
        for i in range(n):
            x += run.forced_algebraic[k, i] * f[i] if run.forced_algebraic[k, i] != 0.0 else 0.0
            if run.forced_gradient[k, i] != 0.0:
                allowed += abs(run.forced_gradient[k, i]) * (run.atol[i] + run.rtol * max(run.y_max[i], abs(y[i])))
        if not abs(x) <= _DRIFT * allowed:
            return 0
    return 1
