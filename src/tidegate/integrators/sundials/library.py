"""The shared object of the ``sundials4py`` wheel, which exports SUNDIALS' whole C interface.

A C function is described once, by its types; ``c_function`` makes it callable from Python, where a run is set up, ``native_function`` from compiled
code, where the run is. Handles and pointers are 64-bit integers on both sides. Names and meaning: SUNDIALS 7.9 user guides.
"""

from __future__ import annotations

import ctypes
import importlib.util
from ctypes import c_double, c_int, c_int64
from functools import cache
from typing import Any, Final

from tidegate.compiled import kinds
from tidegate.compiled.native import offer
from tidegate.compiled.numba_later import External
from tidegate.errors import UsageError

__all__ = ["CODE", "HANDLE", "INTEGER", "NUMBER", "c_function", "function_address", "native_function"]

HANDLE: Final = c_int64  # of an object, or an address
INTEGER: Final = c_int64  # sunindextype, long int
NUMBER: Final = c_double
CODE: Final = c_int

_NATIVE: Final = {c_int64: kinds.INTEGER, c_double: kinds.NUMBER, c_int: kinds.WORD}


@cache
def _library() -> ctypes.CDLL:
    spec = importlib.util.find_spec("sundials4py")
    if spec is None or spec.origin is None:
        raise UsageError("the methods ida, bdf and adams are SUNDIALS', which is not installed", hint="pip install 'sundials4py>=7.9'")
    return ctypes.CDLL(spec.origin)


def c_function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of SUNDIALS for Python."""
    function = getattr(_library(), name)
    function.restype, function.argtypes = result, arguments
    return function


def function_address(name: str) -> int:
    """Where a function of SUNDIALS lies, as SUNDIALS itself refers to it."""
    return int(ctypes.cast(getattr(_library(), name), ctypes.c_void_p).value or 0)


def native_function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of SUNDIALS for code that Numba compiles; the code names it, so that it may be kept on disk."""
    symbol = f"tidegate_sundials_{name}"
    offer(symbol, function_address(name))
    return External(symbol, _NATIVE[result](*[_NATIVE[a] for a in arguments]))
