"""The model's functions as SUNDIALS calls them: C functions on vectors, with the workspace as user data.

CVODES integrates y' = M^-1 f, IDAS M y' - f = 0. Values that are not finite are answered with 1, a recoverable failure: SUNDIALS then takes a shorter
step. Matrices are by columns.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import cfunc, types

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import WHOLES, native
from tidegate.compiled.linear import solve
from tidegate.compiled.run_type import run_at
from tidegate.compiled.workspace import PLACES, matrix, pointer, vector
from tidegate.events.restart import times_mass
from tidegate.integrators.sundials.objects import SUNDenseMatrix_Data, items
from tidegate.sensitivity.jump import set_direction

__all__ = ["change_along", "cvode_jacobian", "cvode_rhs", "cvode_sensitivities", "ida_jacobian", "ida_residual", "ida_sensitivities", "solve_base"]

_T, _V = types.float64, types.int64  # time; handle of a vector or matrix
_VS = types.CPointer(types.int64)  # handles of several
_CODE = types.int32
_ADDRESS_R: Final = PLACES["address_r"]


@native
def _judge(run, t, values):
    """0 for finite values; else 1, which SUNDIALS takes for a failure that a shorter step may mend, and the time is kept."""
    for x in values:
        if not abs(x) < np.inf:
            run.not_finite_at = t
            return 1
    return 0


@native
def solve_base(run, v, rank):
    """v := [U; E2 J]^-1 [E1 v; 0] with the factors of the last ``base_system``: M^-1 v where M is regular."""
    n = run.n
    w = run.scratch_1
    e = run.row_operations
    for i in range(n):
        x = 0.0
        for q in range(n):
            if i < rank and e[i, q] != 0.0:
                x += e[i, q] * v[q]
        w[i] = x * run.row_scale[i]
    solve(run.base, n, run.base_pivots, w, run.dgetrs)
    for q in range(n):
        v[q] = w[q]


@native
def _rate(run, t, y, out):
    call_value(run.f_rhs, t, y, run.p, run.m, out)
    run.c_rhs += 1


@native
def change_along(run, t, y, ydot, s, i, out):
    """Derivative of f - M y' along parameter i and S_i, y' held."""
    set_direction(run, i, True)
    call_tangent(run.f_residual_tangent, t, y, ydot, run.p, run.m, 0.0, s, run.dp, run.dm, out)
    set_direction(run, i, False)


@native
def _jacobian(run, t, y):
    call_value(run.f_jacobian, t, y, run.p, run.m, run.jacobian)
    run.c_jacobian += 1


@cfunc(_CODE(_T, _V, _V, WHOLES), cache=True, error_model="numpy")
def cvode_rhs(t, y, ydot, h):  # type: ignore[no-untyped-def]
    """CVRhsFn."""
    run = run_at(h, pointer(h[_ADDRESS_R]))
    out = items(ydot, run.n)
    _rate(run, t, items(y, run.n), out)
    if run.mass_kind != 0:
        solve_base(run, out, run.n)
    return _judge(run, t, out)


@cfunc(_CODE(_T, _V, _V, _V, WHOLES, _V, _V, _V), cache=True, error_model="numpy")
def cvode_jacobian(t, y, _fy, target, h, _a, _b, _c):  # type: ignore[no-untyped-def]
    """CVLsJacFn."""
    run = run_at(h, pointer(h[_ADDRESS_R]))
    n = run.n
    _jacobian(run, t, items(y, n))
    jac = run.jacobian
    out = matrix(pointer(SUNDenseMatrix_Data(target)), 0, n, n)
    for j in range(n):
        for i in range(n):
            out[j, i] = jac[i, j]
        if run.mass_kind != 0:
            solve_base(run, out[j], n)
    return _judge(run, t, vector(run.r, run.jacobian_at, n * n))


@cfunc(_CODE(_CODE, _T, _V, _V, _VS, _VS, WHOLES, _V, _V), cache=True, error_model="numpy")
def cvode_sensitivities(count, t, y, ydot, s, sdot, h, _a, _b):  # type: ignore[no-untyped-def]
    """CVSensRhsFn."""
    run = run_at(h, pointer(h[_ADDRESS_R]))
    n = run.n
    code = 0
    for i in range(count):
        out = items(sdot[i], n)
        change_along(run, t, items(y, n), items(ydot, n), items(s[i], n), i, out)
        if run.mass_kind != 0:
            solve_base(run, out, n)
        code = max(code, _judge(run, t, out))
    return code


@cfunc(_CODE(_T, _V, _V, _V, WHOLES), cache=True, error_model="numpy")
def ida_residual(t, y, ydot, residual, h):  # type: ignore[no-untyped-def]
    """IDAResFn."""
    run = run_at(h, pointer(h[_ADDRESS_R]))
    n = run.n
    out = items(residual, n)
    f = run.scratch_1
    _rate(run, t, items(y, n), f)
    times_mass(run, items(ydot, n), out)
    for q in range(n):
        out[q] -= f[q]
    return _judge(run, t, out)


@cfunc(_CODE(_T, _T, _V, _V, _V, _V, WHOLES, _V, _V, _V), cache=True, error_model="numpy")
def ida_jacobian(t, cj, y, _ydot, _residual, target, h, _a, _b, _c):  # type: ignore[no-untyped-def]
    """IDALsJacFn: cj M - J."""
    run = run_at(h, pointer(h[_ADDRESS_R]))
    n = run.n
    _jacobian(run, t, items(y, n))
    jac = run.jacobian
    mass = run.mass
    out = matrix(pointer(SUNDenseMatrix_Data(target)), 0, n, n)
    for j in range(n):
        for i in range(n):
            out[j, i] = -jac[i, j]
            if run.mass_kind != 0:
                out[j, i] += cj * mass[i, j]
        if run.mass_kind == 0:
            out[j, j] += cj
    return _judge(run, t, vector(run.r, run.jacobian_at, n * n))


@cfunc(_CODE(_CODE, _T, _V, _V, _V, _VS, _VS, _VS, WHOLES, _V, _V, _V), cache=True, error_model="numpy")
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
        code = max(code, _judge(run, t, out))
    return code
