"""Calls of native model functions by address, from Numba: no per-model Numba compilation, nothing allocated.

The address is an int64; arrays are passed as pointers to their first element.
"""

from __future__ import annotations

from typing import Any

from tidegate.compiled.workspace import intrinsic

__all__ = ["call_getrf", "call_getrs", "call_hook", "call_step", "call_stretch", "call_tangent", "call_unit", "call_value"]


def _call(kinds: str, *, is_integer: bool = False) -> Any:
    from tidegate.compiled.call_code import make_call

    return make_call(kinds, is_integer=is_integer)


@intrinsic
def call_value(typing_context: Any, address: Any, t: Any, y: Any, p: Any, m: Any, out: Any) -> Any:
    """``f(t, y, p, m, out)``."""
    return _call("daaaa")(typing_context, address, t, y, p, m, out)


@intrinsic
def call_tangent(typing_context: Any, address: Any, t: Any, y: Any, v: Any, p: Any, m: Any, dt: Any, dy: Any, dp: Any, dm: Any, out: Any) -> Any:
    """``f(t, y, v, p, m, dt, dy, dp, dm, out)``."""
    return _call("daaaadaaaa")(typing_context, address, t, y, v, p, m, dt, dy, dp, dm, out)


@intrinsic
def call_getrf(typing_context: Any, address: Any, m: Any, n: Any, a: Any, lda: Any, pivots: Any, info: Any) -> Any:
    """LAPACK's dgetrf or zgetrf; every argument an array."""
    return _call("aaaaaa")(typing_context, address, m, n, a, lda, pivots, info)


@intrinsic
def call_getrs(typing_context: Any, address: Any, trans: Any, n: Any, nrhs: Any, a: Any, lda: Any, pivots: Any, b: Any, ldb: Any, info: Any) -> Any:
    """LAPACK's dgetrs or zgetrs; every argument an array."""
    return _call("aaaaaaaaa")(typing_context, address, trans, n, nrhs, a, lda, pivots, b, ldb, info)


@intrinsic
def call_unit(typing_context: Any, address: Any, h: Any, r: Any, argument: Any) -> Any:
    """``f(h, r, argument)``, a kernel entry that is loaded only where it is needed."""
    return _call("ppi")(typing_context, address, h, r, argument)


@intrinsic
def call_hook(typing_context: Any, address: Any, h: Any, r: Any, number: Any, integer: Any) -> Any:
    """``f(h, r, number, integer)``, a kernel entry of the method in use; returns its code."""
    return _call("ppdi", is_integer=True)(typing_context, address, h, r, number, integer)


@intrinsic
def call_stretch(typing_context: Any, address: Any, h: Any, r: Any, rows: Any, polynomials: Any, times: Any, most: Any) -> Any:
    """``f(h, r, rows, polynomials, times, most)``, a kernel entry that takes many steps; returns how many."""
    return _call("pppppi", is_integer=True)(typing_context, address, h, r, rows, polynomials, times, most)


@intrinsic
def call_step(typing_context: Any, address: Any, t: Any, y: Any, p: Any, m: Any, out: Any, box: Any, polynomial: Any, end: Any, rate: Any) -> Any:
    """``f(t, y, p, m, out, box, polynomial, end, rate)``, a whole step of Taylor's method; returns its code."""
    return _call("daaaaaaaa", is_integer=True)(typing_context, address, t, y, p, m, out, box, polynomial, end, rate)
