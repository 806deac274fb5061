"""The model's functions as SUNDIALS calls them: C functions on vectors, with the workspace as user data.

CVODES integrates y' = M^-1 f, IDAS M y' - f = 0. Values that are not finite are answered with 1, a recoverable failure: SUNDIALS then takes a shorter
step. Their systems are cj M - J; CVODES', I - gamma M^-1 J, is that with cj = 1/gamma behind a product with cj M.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import called_from_c, native
from tidegate.compiled.kinds import INTEGER, INTEGERS, NUMBER, WORD, WORDS
from tidegate.compiled.pointers import pointer, run_at
from tidegate.compiled.workspace import INDEX_OF
from tidegate.integrators.explicit_form import change_along, explicit_rates
from tidegate.integrators.sundials.objects import items, run_of
from tidegate.linear.forced import model_jacobian, model_rates, n_in_jacobian
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import FIRST, factor_real, solve_real

__all__ = [
    "cvode_rhs",
    "cvode_sensitivities",
    "cvode_system",
    "factor_system",
    "ida_residual",
    "ida_sensitivities",
    "ida_system",
    "solve_system",
    "weights",
]

_T, _V = NUMBER, INTEGER  # time; handle of a vector or matrix
_VS = INTEGERS  # handles of several
_CODE = WORD
_CODES = WORDS
_ADDRESS_R: Final = INDEX_OF["address_r"]


@native
def _judge(run, t, values, n):
    """0 for n finite values; else 1, which SUNDIALS takes for a failure that a shorter step may mend, and the time is kept."""
    for q in range(n):
        if not abs(values[q]) < np.inf:
            run.not_finite_at = t
            return 1
    return 0


@native
def _rate(run, t, y, out):
    model_rates(run, t, y, out)
    run.c_rhs += 1


@called_from_c(_CODE(_T, _V, _V, INTEGERS))
def cvode_rhs(t, y, ydot, h):  # type: ignore[no-untyped-def]
    """CVRhsFn."""
    run = run_at(h, pointer(h[_ADDRESS_R]))
    out = items(ydot, run.n)
    _rate(run, t, items(y, run.n), out)
    explicit_rates(run, out)
    return _judge(run, t, out, run.n)


@native
def _evaluate(run, t, y):
    """J into run.sun_jacobian, which events leave alone."""
    model_jacobian(run, t, y, run.sun_jacobian)
    run.c_jacobian += 1
    return _judge(run, t, run.sun_jacobian, n_in_jacobian(run))


@called_from_c(_CODE(_T, _V, _V, _V, _CODE, _CODES, _T, INTEGERS, _V, _V, _V))
def cvode_system(t, y, _fy, _matrix, _is_kept, is_new, gamma, h, _a, _b, _c):  # type: ignore[no-untyped-def]
    """CVLsLinSysFn: J, and 1/gamma for ``factor_system``.

    J is never kept: of a place where the system was stiffer it would hide what is wrong (``sundials_method``).
    """
    run = run_at(h, pointer(h[_ADDRESS_R]))
    run.sun_shift = 1.0 / gamma
    is_new[0] = 1
    return _evaluate(run, t, items(y, run.n))


@native
def _weigh(run, y, weights):
    """Error weights; unknowns of index two act on the others by their product with the step, and rounding makes more of them the shorter it is."""
    for q in range(run.n):
        weights[q] = 1.0 / (run.rtol * abs(y[q]) + run.atol[q])
        if run.index_two[q] == 1 and run.sun_shift > 1.0:
            weights[q] /= run.sun_shift


@called_from_c(_CODE(_T, _T, _V, _V, _V, _V, INTEGERS, _V, _V, _V))
def ida_system(t, cj, y, _ydot, _residual, _matrix, h, _a, _b, _c):  # type: ignore[no-untyped-def]
    """IDALsJacFn: J, and cj for ``factor_system``."""
    run = run_at(h, pointer(h[_ADDRESS_R]))
    run.sun_shift = cj
    if run.n_forms > 0 and run.sun_weights != 0:
        _weigh(run, items(y, run.n), items(run.sun_weights, run.n))
    return _evaluate(run, t, items(y, run.n))


@called_from_c(_CODE(_V, _V, INTEGERS))
def weights(y, out, h):  # type: ignore[no-untyped-def]
    """IDAEwtFn and CVEwtFn."""
    run = run_at(h, pointer(h[_ADDRESS_R]))
    run.sun_weights = out
    _weigh(run, items(y, run.n), items(out, run.n))
    return 0


@native
def _factor(run):
    run.sun_system_time = run.sun_time
    return 1 if factor_real(run, FIRST, run.sun_shift, run.sun_jacobian_at) != 0 else 0


@called_from_c(_CODE(_V, _V))
def factor_system(_solver, matrix):  # type: ignore[no-untyped-def]
    """SUNLinSolSetup: LU of cj M - J; what is singular a shorter step may mend."""
    return _factor(run_of(matrix))


@called_from_c(_CODE(_V, _V, _V, _V, _T))
def solve_system(_solver, matrix, x, right, _tolerance):  # type: ignore[no-untyped-def]
    """SUNLinSolSolve.

    While cj stays as it is, IDA goes on with the matrix of an earlier step; here every step has its own (``sundials_method``). What Newton's
    iterations leave then, within its tolerances, would add up in algebraic unknowns until the error test takes it for an error of the step.
    """
    run = run_of(matrix)
    n = run.n
    if run.sun_explicit == 0 and run.sun_system_time != run.sun_time:
        code = _evaluate(run, run.sun_time, items(run.sun_point, n))
        if code == 0:
            code = _factor(run)
        if code != 0:
            return code
    b = items(right, n)
    out = items(x, n)
    if run.sun_explicit == 1:
        w = run.scratch_1
        for q in range(n):
            w[q] = b[q] * run.sun_shift
        times_mass(run, w, out)
    else:
        for q in range(n):
            out[q] = b[q]
    solve_real(run, FIRST, out.ctypes)
    return 0


@called_from_c(_CODE(_CODE, _T, _V, _V, _VS, _VS, INTEGERS, _V, _V))
def cvode_sensitivities(count, t, y, ydot, s, sdot, h, _a, _b):  # type: ignore[no-untyped-def]
    """CVSensRhsFn."""
    run = run_at(h, pointer(h[_ADDRESS_R]))
    n = run.n
    code = 0
    for i in range(count):
        out = items(sdot[i], n)
        change_along(run, t, items(y, n), items(ydot, n), items(s[i], n), i, out)
        explicit_rates(run, out)
        code = max(code, _judge(run, t, out, n))
    return code


@called_from_c(_CODE(_T, _V, _V, _V, INTEGERS))
def ida_residual(t, y, ydot, residual, h):  # type: ignore[no-untyped-def]
    """IDAResFn."""
    run = run_at(h, pointer(h[_ADDRESS_R]))
    run.sun_point = y
    run.sun_time = t
    n = run.n
    out = items(residual, n)
    f = run.scratch_1
    _rate(run, t, items(y, n), f)
    times_mass(run, items(ydot, n), out)
    for q in range(n):
        out[q] -= f[q]
    return _judge(run, t, out, run.n)


@called_from_c(_CODE(_CODE, _T, _V, _V, _V, _VS, _VS, _VS, INTEGERS, _V, _V, _V))
def ida_sensitivities(count, t, y, ydot, _residual, s, sdot, out_handles, h, _a, _b, _c):  # type: ignore[no-untyped-def]
    """IDASensResFn."""
    run = run_at(h, pointer(h[_ADDRESS_R]))
    n = run.n
    change = run.scratch_1
    code = 0
    for i in range(count):
        out = items(out_handles[i], n)
        change_along(run, t, items(y, n), items(ydot, n), items(s[i], n), i, change)
        times_mass(run, items(sdot[i], n), out)
        for q in range(n):
            out[q] -= change[q]
        code = max(code, _judge(run, t, out, n))
    return code
