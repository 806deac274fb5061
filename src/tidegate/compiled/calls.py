"""Calls of native model functions by address, from Numba: no per-model Numba compilation, nothing allocated.

The address is an int64; arrays are passed as pointers to their first element.
"""

from __future__ import annotations

from typing import Any

from tidegate.compiled.workspace import intrinsic

__all__ = [
    "call_getrf",
    "call_getrs",
    "call_hook",
    "call_member",
    "call_members",
    "call_step",
    "call_stretch",
    "call_tangent",
    "call_unit",
    "call_value",
]


def _call(kinds: str, *arguments: Any, is_integer: bool = False) -> Any:
    from tidegate.compiled.call_code import make_call

    return make_call(kinds, *arguments, is_integer=is_integer)


@intrinsic
def call_value(_typing_context: Any, address: Any, t: Any, y: Any, p: Any, m: Any, out: Any) -> Any:
    """``f(t, y, p, m, out)``."""
    return _call("daaaa", address, t, y, p, m, out)


@intrinsic
def call_tangent(_typing_context: Any, address: Any, t: Any, y: Any, v: Any, p: Any, m: Any, dt: Any, dy: Any, dp: Any, dm: Any, out: Any) -> Any:
    """``f(t, y, v, p, m, dt, dy, dp, dm, out)``."""
    return _call("daaaadaaaa", address, t, y, v, p, m, dt, dy, dp, dm, out)


@intrinsic
def call_getrf(_typing_context: Any, address: Any, m: Any, n: Any, a: Any, lda: Any, pivots: Any, info: Any) -> Any:
    """LAPACK's dgetrf or zgetrf; every argument an array."""
    return _call("aaaaaa", address, m, n, a, lda, pivots, info)


@intrinsic
def call_getrs(_typing_context: Any, address: Any, trans: Any, n: Any, nrhs: Any, a: Any, lda: Any, pivots: Any, b: Any, ldb: Any, info: Any) -> Any:
    """LAPACK's dgetrs or zgetrs; every argument an array."""
    return _call("aaaaaaaaa", address, trans, n, nrhs, a, lda, pivots, b, ldb, info)


@intrinsic
def call_unit(_typing_context: Any, address: Any, h: Any, r: Any, argument: Any) -> Any:
    """``f(h, r, argument)``, a kernel entry that is loaded only where it is needed."""
    return _call("ppi", address, h, r, argument)


@intrinsic
def call_hook(_typing_context: Any, address: Any, h: Any, r: Any, number: Any, integer: Any) -> Any:
    """``f(h, r, number, integer)``, a kernel entry of the method in use; returns its code."""
    return _call("ppdi", address, h, r, number, integer, is_integer=True)


@intrinsic
def call_stretch(_typing_context: Any, address: Any, h: Any, r: Any, rows: Any, polynomials: Any, times: Any, most: Any) -> Any:
    """``f(h, r, rows, polynomials, times, most)``, a kernel entry that takes many steps; returns how many."""
    return _call("pppppi", address, h, r, rows, polynomials, times, most, is_integer=True)


@intrinsic
def call_step(_typing_context: Any, address: Any, t: Any, y: Any, p: Any, m: Any, out: Any, box: Any, polynomial: Any, end: Any, rate: Any) -> Any:
    """``f(t, y, p, m, out, box, polynomial, end, rate)``, a whole step of Taylor's method; returns its code."""
    return _call("daaaaaaaa", address, t, y, p, m, out, box, polynomial, end, rate, is_integer=True)


@intrinsic
def call_member(_typing_context: Any, address: Any, t: Any, y: Any, p: Any, m: Any, out: Any, scratch: Any) -> Any:
    """``f(t, y, p, m, out, scratch)``, the first coefficients of one of several runs."""
    return _call("daaaaa", address, t, y, p, m, out, scratch)


@intrinsic
def call_members(
    _typing_context: Any, address: Any, t: Any, where: Any, y: Any, out: Any, box: Any, polynomial: Any, end: Any, rate: Any, scratch: Any
) -> Any:
    """``f(t, where, y, out, box, polynomial, end, rate, scratch)``, a whole step of several runs; returns a bit for each."""
    return _call("aaaaaaaaa", address, t, where, y, out, box, polynomial, end, rate, scratch, is_integer=True)
