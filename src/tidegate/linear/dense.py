"""Dense LU with row pivoting, real and complex: own code up to OWN_LIMIT, LAPACK above (Golub and Van Loan, section 3.4).

Own code stores reciprocals of the pivots on the diagonal and swaps whole rows. LAPACK works by columns, so there the
transpose is factored and solved with; its 4-byte pivots leave the other half of ``pivots`` free for the sizes it wants by reference. Measured
here: own 19 / 106 / 1008 ns at n = 3 / 8 / 20, LAPACK 47 / 195 / 1217 ns; Radau's runs with full matrices take as long with either at n = 36.
"""

from __future__ import annotations

import ctypes
from importlib import import_module
from typing import Any, Final

from tidegate.compiled.calls import call_getrf, call_getrs
from tidegate.compiled.jit import native
from tidegate.compiled.pointers import words_of
from tidegate.compiled.workspace import tail

__all__ = ["OWN_LIMIT", "factor_complex", "factor_real", "lapack_addresses", "solve"]

OWN_LIMIT: Final = 32
_TRANSPOSED: Final = ord("T")  # the factors are those of the transpose; the first byte of a word is its lowest


def lapack_addresses(n: int) -> tuple[int, int, int, int]:
    """Addresses of dgetrf, dgetrs, zgetrf, zgetrs where a system of n unknowns needs them; zeros else (scipy is not loaded then)."""
    if n <= OWN_LIMIT:
        return 0, 0, 0, 0
    # Cython hands its functions to other extension modules in capsules, whose name is the function's C type
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    offered: dict[str, Any] = vars(import_module("scipy.linalg.cython_lapack"))["__pyx_capi__"]
    a, b, c, d = (int(pointer_of(capsule, name_of(capsule))) for capsule in map(offered.__getitem__, ("dgetrf", "dgetrs", "zgetrf", "zgetrs")))
    return a, b, c, d


@native
def _size_complex(x):
    return abs(x.real) + abs(x.imag)


@native
def _reciprocal_real(x):
    return 1.0 / x


@native
def _reciprocal_complex(x):
    squared = 1.0 / (x.real * x.real + x.imag * x.imag)
    return complex(x.real * squared, -x.imag * squared)


@native
def _size_real(x):
    return abs(x)


def _factor(size_of: Any, reciprocal_of: Any) -> Any:
    @native
    def factor(a, n, pivots, getrf):  # type: ignore[no-untyped-def]
        """LU of the leading n x n of ``a`` in place; 0, or 1 + number of the first zero pivot."""
        if n > OWN_LIMIT:
            words = words_of(pivots)
            words[n] = n
            size = tail(words.ctypes, n)
            info = tail(words.ctypes, n + 1)
            call_getrf(getrf, size, size, a, size, pivots, info)
            return int(info[0])
        for k in range(n):
            best = k
            largest = size_of(a[k, k])
            for i in range(k + 1, n):
                size_i = size_of(a[i, k])
                if size_i > largest:
                    largest = size_i
                    best = i
            pivots[k] = best
            if not largest > 0.0:
                return k + 1
            if best != k:
                for j in range(n):
                    held = a[k, j]
                    a[k, j] = a[best, j]
                    a[best, j] = held
            reciprocal = reciprocal_of(a[k, k])
            a[k, k] = reciprocal
            for i in range(k + 1, n):
                if size_of(a[i, k]) != 0.0:
                    factor = a[i, k] * reciprocal
                    a[i, k] = factor
                    for j in range(k + 1, n):
                        a[i, j] -= factor * a[k, j]
        return 0

    return factor


factor_real: Final = _factor(_size_real, _reciprocal_real)
factor_complex: Final = _factor(_size_complex, _reciprocal_complex)


@native
def solve(a, n, pivots, b, getrs):
    """Solve with the factors of ``factor_real`` or ``factor_complex``; ``b`` is overwritten."""
    if n > OWN_LIMIT:
        _lapack_solve(a, n, pivots, b, getrs)
        return
    for k in range(n):
        best = pivots[k]
        if best != k:
            held = b[k]
            b[k] = b[best]
            b[best] = held
    for i in range(1, n):
        x = b[i]
        for j in range(i):
            x -= a[i, j] * b[j]
        b[i] = x
    for i in range(n - 1, -1, -1):
        x = b[i]
        for j in range(i + 1, n):
            x -= a[i, j] * b[j]
        b[i] = x * a[i, i]


@native
def _lapack_solve(a, n, pivots, b, getrs):
    words = words_of(pivots)
    words[n] = n
    words[n + 2] = 1
    words[n + 3] = _TRANSPOSED
    size = tail(words.ctypes, n)
    call_getrs(getrs, tail(words.ctypes, n + 3), size, tail(words.ctypes, n + 2), a, size, pivots, b, size, tail(words.ctypes, n + 1))
