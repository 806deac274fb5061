"""SUNDIALS' C interface as the ``sundials4py`` wheel exports it, callable from code that Numba compiles.

In: nothing. Out: ctypes functions with their types, handles as 64-bit integers, and the pointer types of compiled callbacks. Only for benchmarks:
every callback and the loop around the solver are machine code, so that what is measured is SUNDIALS and not Python.
Names and meaning of the functions: SUNDIALS 7.9 user guides of CVODES and IDAS.
"""

from __future__ import annotations

import ctypes
import importlib.util
from ctypes import POINTER, byref, c_double, c_int, c_int64, c_void_p
from functools import cache
from typing import Any, Final

import numpy as np
from numba import types

from benchmarks.problems import Vector

__all__ = ["ADAMS", "BDF", "NORMAL", "ROOT", "STAGGERED", "VECTOR", "VECTORS", "context", "new_vector", "sundials", "view"]

ADAMS: Final = 1
BDF: Final = 2
NORMAL: Final = 1
ROOT: Final = 2
STAGGERED: Final = 2

# N_Vector -> content -> {length, own_data, data}: data is the third word; a dense SUNMatrix has its data there, too
VECTOR: Final = types.CPointer(types.CPointer(types.CPointer(types.float64)))
VECTORS: Final = types.CPointer(VECTOR)

_H, _A = c_int64, c_int64  # a handle; the address of an array or a function
_SIGNATURES: Final[dict[str, tuple[Any, ...]]] = {
    "N_VNew_Serial": (_H, c_int64, _H),
    "N_VGetArrayPointer": (_A, _H),
    "SUNDenseMatrix": (_H, c_int64, c_int64, _H),
    "SUNLinSol_Dense": (_H, _H, _H, _H),
    "CVodeCreate": (_H, c_int, _H),
    "CVodeInit": (c_int, _H, _A, c_double, _H),
    "CVodeReInit": (c_int, _H, c_double, _H),
    "CVode": (c_int, _H, c_double, _H, _A, c_int),
    "CVodeSStolerances": (c_int, _H, c_double, c_double),
    "CVodeSetUserData": (c_int, _H, _A),
    "CVodeSetLinearSolver": (c_int, _H, _H, _H),
    "CVodeSetJacFn": (c_int, _H, _A),
    "CVodeSetMaxNumSteps": (c_int, _H, c_int64),
    "CVodeSetStopTime": (c_int, _H, c_double),
    "CVodeRootInit": (c_int, _H, c_int, _A),
    "CVodeSetRootDirection": (c_int, _H, _A),
    "CVodeGetRootInfo": (c_int, _H, _A),
    "IDACreate": (_H, _H),
    "IDAInit": (c_int, _H, _A, c_double, _H, _H),
    "IDAReInit": (c_int, _H, c_double, _H, _H),
    "IDASolve": (c_int, _H, c_double, _A, _H, _H, c_int),
    "IDASStolerances": (c_int, _H, c_double, c_double),
    "IDASetUserData": (c_int, _H, _A),
    "IDASetLinearSolver": (c_int, _H, _H, _H),
    "IDASetJacFn": (c_int, _H, _A),
    "IDASetMaxNumSteps": (c_int, _H, c_int64),
    "IDASetStopTime": (c_int, _H, c_double),
    "IDARootInit": (c_int, _H, c_int, _A),
    "IDASetRootDirection": (c_int, _H, _A),
    "IDAGetRootInfo": (c_int, _H, _A),
    "IDASetId": (c_int, _H, _H),
    "IDASetSuppressAlg": (c_int, _H, c_int),
    "IDASensInit": (c_int, _H, c_int, c_int, _A, _A, _A),
    "IDASensReInit": (c_int, _H, c_int, _A, _A),
    "IDASensSStolerances": (c_int, _H, c_double, _A),
    "IDASetSensErrCon": (c_int, _H, c_int),
    "IDAGetSens": (c_int, _H, _A, _A),
    "SUNContext_ClearErrHandlers": (c_int, _H),
}


@cache
def sundials() -> ctypes.CDLL:
    """The wheel's shared object with result and argument types declared; ImportError where it is not installed."""
    spec = importlib.util.find_spec("sundials4py")
    if spec is None or spec.origin is None:
        raise ImportError("the native SUNDIALS benchmark needs sundials4py >= 7.9 (pip install tidegate[bench])")
    library = ctypes.CDLL(spec.origin)
    for name, (result, *arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


@cache
def context() -> int:
    """The one SUNContext; failures show in return codes, so that its messages are switched off."""
    library, handle = sundials(), c_void_p()
    create = library.SUNContext_Create
    create.restype, create.argtypes = c_int, [c_int, POINTER(c_void_p)]
    if create(0, byref(handle)) != 0 or handle.value is None:
        raise OSError("SUNContext_Create failed")
    library.SUNContext_ClearErrHandlers(handle.value)
    return handle.value


def new_vector(n: int) -> int:
    """A serial N_Vector, as a handle."""
    return int(sundials().N_VNew_Serial(n, context()))


def view(vector: int, n: int) -> Vector:
    """The memory of a serial N_Vector as an array."""
    address = sundials().N_VGetArrayPointer(vector)
    return np.ctypeslib.as_array(ctypes.cast(address, POINTER(c_double)), (n,))
