"""M y' = f as y' = M^-1 f, which is what explicit methods and CVODE integrate, and the derivatives of that by parameters."""

from __future__ import annotations

from tidegate.compiled.calls import call_tangent
from tidegate.compiled.jit import native
from tidegate.linear.forced import put_forced_tangent
from tidegate.linear.systems import solve_base
from tidegate.sensitivity.jump import set_direction

__all__ = ["change_along", "explicit_rates"]


@native
def explicit_rates(run, v):
    """v := [U; E2 J]^-1 [E1 v; 0] with the factors of the last ``factor_base``: M^-1 v where M is regular."""
    if run.mass_kind == 0:
        return
    w = run.scratch_1
    for q in range(run.n):
        w[q] = v[q]
    solve_base(run, w, run.zero, v)


@native
def change_along(run, t, y, ydot, s, i, out):
    """Derivative of f - M y' along parameter i and S_i, y' held."""
    set_direction(run, i, True)
    call_tangent(run.f_residual_tangent, t, y, ydot, run.p, run.m, 0.0, s, run.dp, run.dm, out)
    if run.n_forced > 0:
        put_forced_tangent(run, t, 0.0, y.ctypes, ydot.ctypes, out.ctypes)
    set_direction(run, i, False)
