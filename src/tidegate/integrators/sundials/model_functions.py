"""The model's functions as SUNDIALS calls them: C functions on vectors, with the workspace as user data.

CVODES integrates y' = M^-1 f, IDAS M y' - f = 0. Values that are not finite are answered with 1, a recoverable failure: SUNDIALS then takes a shorter
step. Matrices are by columns.
"""

from __future__ import annotations

import numpy as np
from numba import cfunc, types

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import WHOLES, native
from tidegate.compiled.linear import solve
from tidegate.compiled.workspace import (
    ADDRESS_R,
    C_JACOBIAN,
    C_RHS,
    F_JACOBIAN,
    F_RESIDUAL_T,
    F_RHS,
    I_PIVB,
    L_DGETRS,
    MASS_KIND,
    NOT_FINITE_AT,
    O_BASE,
    O_DM,
    O_DP,
    O_ECHELON,
    O_J,
    O_M,
    O_MASS,
    O_P,
    O_SCALEROW,
    O_W,
    N,
    integers,
    matrix,
    pointer,
    tail,
    vector,
)
from tidegate.events.restart import times_mass
from tidegate.integrators.sundials.objects import SUNDenseMatrix_Data, items
from tidegate.sensitivity.jump import set_direction

__all__ = ["change_along", "cvode_jacobian", "cvode_rhs", "cvode_sensitivities", "ida_jacobian", "ida_residual", "ida_sensitivities", "solve_base"]

_T, _V = types.float64, types.int64  # time; handle of a vector or matrix
_VS = types.CPointer(types.int64)  # handles of several
_CODE = types.int32


@native
def _judge(r, t, values):
    """0 for finite values; else 1, which SUNDIALS takes for a failure that a shorter step may mend, and the time is kept."""
    for x in values:
        if not abs(x) < np.inf:
            r[NOT_FINITE_AT] = t
            return 1
    return 0


@native
def solve_base(h, r, v, rank):
    """v := [U; E2 J]^-1 [E1 v; 0] with the factors of the last ``base_system``: M^-1 v where M is regular."""
    n = h[N]
    w = vector(r, h[O_W], n)
    e = matrix(r, h[O_ECHELON], n, n)
    for i in range(n):
        x = 0.0
        for q in range(n):
            if i < rank and e[i, q] != 0.0:
                x += e[i, q] * v[q]
        w[i] = x * r[h[O_SCALEROW] + i]
    solve(matrix(r, h[O_BASE], n, n), n, integers(h, h[I_PIVB], n), w, h[L_DGETRS])
    for q in range(n):
        v[q] = w[q]


@native
def _rate(h, r, t, y, out):
    call_value(h[F_RHS], t, y, tail(r, h[O_P]), tail(r, h[O_M]), out)
    h[C_RHS] += 1


@native
def change_along(h, r, t, y, ydot, s, i, out):
    """Derivative of f - M y' along parameter i and S_i, y' held."""
    set_direction(h, r, i, True)
    call_tangent(h[F_RESIDUAL_T], t, y, ydot, tail(r, h[O_P]), tail(r, h[O_M]), 0.0, s, tail(r, h[O_DP]), tail(r, h[O_DM]), out)
    set_direction(h, r, i, False)


@native
def _jacobian(h, r, t, y):
    n = h[N]
    call_value(h[F_JACOBIAN], t, y, tail(r, h[O_P]), tail(r, h[O_M]), vector(r, h[O_J], n * n))
    h[C_JACOBIAN] += 1


@cfunc(_CODE(_T, _V, _V, WHOLES), cache=True, error_model="numpy")
def cvode_rhs(t, y, ydot, h):  # type: ignore[no-untyped-def]
    """CVRhsFn."""
    r = pointer(h[ADDRESS_R])
    out = items(ydot, h[N])
    _rate(h, r, t, items(y, h[N]), out)
    if h[MASS_KIND] != 0:
        solve_base(h, r, out, h[N])
    return _judge(r, t, out)


@cfunc(_CODE(_T, _V, _V, _V, WHOLES, _V, _V, _V), cache=True, error_model="numpy")
def cvode_jacobian(t, y, _fy, target, h, _a, _b, _c):  # type: ignore[no-untyped-def]
    """CVLsJacFn."""
    n = h[N]
    r = pointer(h[ADDRESS_R])
    _jacobian(h, r, t, items(y, n))
    jac = matrix(r, h[O_J], n, n)
    out = matrix(pointer(SUNDenseMatrix_Data(target)), 0, n, n)
    for j in range(n):
        for i in range(n):
            out[j, i] = jac[i, j]
        if h[MASS_KIND] != 0:
            solve_base(h, r, out[j], n)
    return _judge(r, t, vector(r, h[O_J], n * n))


@cfunc(_CODE(_CODE, _T, _V, _V, _VS, _VS, WHOLES, _V, _V), cache=True, error_model="numpy")
def cvode_sensitivities(count, t, y, ydot, s, sdot, h, _a, _b):  # type: ignore[no-untyped-def]
    """CVSensRhsFn."""
    n = h[N]
    r = pointer(h[ADDRESS_R])
    code = 0
    for i in range(count):
        out = items(sdot[i], n)
        change_along(h, r, t, items(y, n), items(ydot, n), items(s[i], n), i, out)
        if h[MASS_KIND] != 0:
            solve_base(h, r, out, n)
        code = max(code, _judge(r, t, out))
    return code


@cfunc(_CODE(_T, _V, _V, _V, WHOLES), cache=True, error_model="numpy")
def ida_residual(t, y, ydot, residual, h):  # type: ignore[no-untyped-def]
    """IDAResFn."""
    n = h[N]
    r = pointer(h[ADDRESS_R])
    out = items(residual, n)
    f = vector(r, h[O_W], n)
    _rate(h, r, t, items(y, n), f)
    times_mass(h, r, items(ydot, n), out)
    for q in range(n):
        out[q] -= f[q]
    return _judge(r, t, out)


@cfunc(_CODE(_T, _T, _V, _V, _V, _V, WHOLES, _V, _V, _V), cache=True, error_model="numpy")
def ida_jacobian(t, cj, y, _ydot, _residual, target, h, _a, _b, _c):  # type: ignore[no-untyped-def]
    """IDALsJacFn: cj M - J."""
    n = h[N]
    r = pointer(h[ADDRESS_R])
    _jacobian(h, r, t, items(y, n))
    jac = matrix(r, h[O_J], n, n)
    mass = matrix(r, h[O_MASS], n, n)
    out = matrix(pointer(SUNDenseMatrix_Data(target)), 0, n, n)
    for j in range(n):
        for i in range(n):
            out[j, i] = -jac[i, j]
            if h[MASS_KIND] != 0:
                out[j, i] += cj * mass[i, j]
        if h[MASS_KIND] == 0:
            out[j, j] += cj
    return _judge(r, t, vector(r, h[O_J], n * n))


@cfunc(_CODE(_CODE, _T, _V, _V, _V, _VS, _VS, _VS, WHOLES, _V, _V, _V), cache=True, error_model="numpy")
def ida_sensitivities(count, t, y, ydot, _residual, s, sdot, out_handles, h, _a, _b, _c):  # type: ignore[no-untyped-def]
    """IDASensResFn."""
    n = h[N]
    r = pointer(h[ADDRESS_R])
    change = vector(r, h[O_W], n)
    code = 0
    for i in range(count):
        out = items(out_handles[i], n)
        change_along(h, r, t, items(y, n), items(ydot, n), items(s[i], n), i, change)
        times_mass(h, r, items(sdot[i], n), out)
        for q in range(n):
            out[q] -= change[q]
        code = max(code, _judge(r, t, out))
    return code
