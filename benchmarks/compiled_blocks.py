"""Compiled DSblocks through their native adapter, alone and connected, against the same equations followed from Python: time of a run."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import tidegate as tg

__all__ = ["block_over_traced", "connection_over_traced"]

_SPAN, _RTOL = (0.0, 2000.0), 1e-8
_CODE = """
typedef double *D; typedef int *I;
void vdpb(I iopt, I info, I sig, I dim, D t0, D x0, D xd0, D dp, I ip, I lp, D du, I iu, I lu, I ierr) {
    extern void cblo3sx(const char *, const char *), cblo3pd(const char *, const char *);
    if (*iopt == 1) info[0] = 1;
    if (*iopt == 2) info[2] = JACOBIAN, sig[0] = dim[0] = 2, sig[5] = dim[5] = 1;
    if (*iopt == 3) cblo3sx("X", ""), cblo3sx("V", ""), cblo3pd("MU", ""), x0[0] = 2.0, dp[0] = 5.0;
}
void vdpf(I icall, D t, D x, D xd, D u, D dp, I ip, I lp, D f, D du, I iu, I lu, I ierr) {
    f[0] = x[1];
    f[1] = dp[0] * (1.0 - x[0] * x[0]) * x[1] - x[0];
}
void vdpj(I icall, D t, D x, D xd, D u, D dp, I ip, I lp, D cj, D jac, I n, D du, I iu, I lu, I ierr) {
    jac[0] = 0.0, jac[2] = 1.0;
    jac[1] = -2.0 * dp[0] * x[0] * x[1] - 1.0, jac[3] = dp[0] * (1.0 - x[0] * x[0]);
}
"""
_PARTS = """
typedef double *D; typedef int *I;
extern void cblo3sx(const char *, const char *), cblo3su(const char *, const char *), cblo3sy(const char *, const char *);
extern void cblo3pd(const char *, const char *), cblo3ux(int, const int *, int, int);
static void define(I iopt, I info, I sig, I dim, const char *state) {
    static const int none[1] = {0};
    if (*iopt == 1) info[0] = 1;
    if (*iopt == 2) sig[0] = dim[0] = sig[1] = dim[1] = sig[2] = dim[2] = 1;
    if (*iopt == 3) cblo3sx(state, ""), cblo3su("U", ""), cblo3sy("Y", ""), cblo3ux(0, none, 0, 0);
}
void posb(I iopt, I info, I sig, I dim, D t0, D x0) {
    define(iopt, info, sig, dim, "X");
    if (*iopt == 3) x0[0] = 2.0;
}
void posf(I icall, D t, D x, D xd, D u, D dp, I ip, I lp, D f) { f[0] = u[0]; }
void posg(I icall, D t, D x, D xd, D u, D dp, I ip, I lp, D y) { y[0] = x[0]; }
void velb(I iopt, I info, I sig, I dim, D t0, D x0, D xd0, D dp) {
    define(iopt, info, sig, dim, "V");
    if (*iopt == 2) sig[5] = dim[5] = 1;
    if (*iopt == 3) cblo3pd("MU", ""), dp[0] = 5.0;
}
void velf(I icall, D t, D x, D xd, D u, D dp, I ip, I lp, D f) { f[0] = dp[0] * (1.0 - u[0] * u[0]) * x[0] - u[0]; }
void velg(I icall, D t, D x, D xd, D u, D dp, I ip, I lp, D y) { y[0] = x[0]; }
"""


def block_over_traced(rounds: int, *, jacobian: bool) -> float:
    """The shortest time of a prepared run of van der Pol's oscillator as a block, over that of the same system followed from Python.

    Parameters
    ----------
    jacobian : the block gives its Jacobian (BLOCKJ); without it derivatives are differences.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "vdp.c"
        source.write_text(_CODE)
        block: Any = tg.dsblock.build(source, prefix="vdp", options=[f"-DJACOBIAN={int(jacobian)}"])

    return _over_traced(block, rounds)


def connection_over_traced(rounds: int) -> float:
    """Likewise of two blocks in C that are connected, position and velocity, whose Jacobian is differences."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "parts.c"
        source.write_text(_PARTS)
        position, velocity = (tg.dsblock.build(source, prefix=name) for name in ("pos", "vel"))
    return _over_traced(tg.dsblock.join({"pos": position, "vel": velocity}, {"pos.U": "vel.Y", "vel.U": "pos.Y"}), rounds)


def _over_traced(block: Any, rounds: int) -> float:
    def rates(t: Any, y: Any, p: Any) -> Any:
        return [y["v"], p["mu"] * (1.0 - y["x"] * y["x"]) * y["v"] - y["x"]]

    traced: Any = tg.ode(rates, y0={"x": 2.0, "v": 0.0}, p={"mu": 5.0})
    prepared = [tg.prepare(each, _SPAN, rtol=_RTOL, method="radau", outputs=100.0, dense=False) for each in (block, traced)]
    best = [float("inf")] * 2
    for _ in range(max(rounds, 15)):  # short runs, of which the shortest counts
        for k, each in enumerate(prepared):
            began = time.perf_counter()
            each.run()
            best[k] = min(best[k], time.perf_counter() - began)
    return best[0] / best[1]
