"""The objects of one run: a context with its error handler, vectors on the workspace's own memory, matrix and linear solver.

A vector's norm is the largest of its weighted elements, as everywhere in tidegate; SUNDIALS' own, the root mean square, lets one element be off by
the square root of their number if the others are at rest.

Headers: sundials_context.h, sundials_errors.h, nvector_serial.h, sunmatrix_dense.h, sunlinsol_dense.h. SUNDIALS reports through the handler of the
context only; its last sentence is kept for our errors, nothing goes to stderr.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, byref, c_void_p
from typing import Any, Final

import numpy as np
from numba import cfunc, types

from tidegate.compiled.jit import native
from tidegate.compiled.workspace import pointer, vector
from tidegate.integrators.interface import FloatArray
from tidegate.integrators.sundials.library import CODE, HANDLE, WHOLE, c_function, function_address, native_function

__all__ = ["Objects", "SUNDenseMatrix_Data", "items"]

N_VGetArrayPointer = native_function("N_VGetArrayPointer", HANDLE, HANDLE)
N_VGetLength = native_function("N_VGetLength", WHOLE, HANDLE)
SUNDenseMatrix_Data = native_function("SUNDenseMatrix_Data", HANDLE, HANDLE)

_SENTENCE: Final = 1000  # bytes kept of a message
_TEXT: Final = types.CPointer(types.uint8)
_OPERATIONS: Final = 50  # more than a vector has
_RMS_NORM: Final = "N_VWrmsNorm_Serial"


@native
def items(handle, n):
    """The elements of a vector."""
    return vector(pointer(N_VGetArrayPointer(handle)), 0, n)


@cfunc(types.float64(types.int64, types.int64), cache=True)
def _largest(handle, weights):  # type: ignore[no-untyped-def]
    n = N_VGetLength(handle)
    x, w = items(handle, n), items(weights, n)
    largest = 0.0
    for q in range(n):
        size = abs(x[q] * w[q])
        if not size <= largest:  # also if it is no number
            largest = size
            if size != size:
                break
    return largest


@cfunc(types.void(types.int32, _TEXT, _TEXT, _TEXT, types.int32, _TEXT, types.int64), cache=True)
def _keep_sentence(_line, _function, _file, message, _code, kept, _context):  # type: ignore[no-untyped-def]
    place = 0
    while place < _SENTENCE - 1 and message[place] != 0:
        kept[place] = message[place]
        place += 1
    kept[place] = 0


class Objects:
    """Everything of SUNDIALS that one run owns; ``free`` gives it back.

    Parameters
    ----------
    n : length of vectors.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._sentence = np.zeros(_SENTENCE, dtype=np.uint8)
        handle = c_void_p()
        if c_function("SUNContext_Create", CODE, CODE, POINTER(c_void_p))(0, byref(handle)) != 0 or handle.value is None:
            raise MemoryError("SUNDIALS could not make a context")
        self.context = handle.value
        c_function("SUNContext_ClearErrHandlers", CODE, HANDLE)(self.context)
        push = c_function("SUNContext_PushErrHandler", CODE, HANDLE, HANDLE, HANDLE)
        push(self.context, _keep_sentence.address, self._sentence.ctypes.data)
        self._free: list[Callable[[], Any]] = [lambda: c_function("SUNContext_Free", CODE, POINTER(c_void_p))(byref(handle))]

    def vector(self, memory: FloatArray) -> int:
        """A vector on memory of ours; what SUNDIALS copies from it has its norm, too."""
        made: int = c_function("N_VMake_Serial", HANDLE, WHOLE, HANDLE, HANDLE)(self._n, memory.ctypes.data, self.context)
        self._free.append(lambda: c_function("N_VDestroy", None, HANDLE)(made))
        _content, operations, _context = (HANDLE * 3).from_address(made)
        table = (HANDLE * _OPERATIONS).from_address(operations)
        table[list(table).index(function_address(_RMS_NORM))] = _largest.address
        return made

    def linear_solver(self, vector: int) -> tuple[int, int]:
        """A dense linear solver and its matrix."""
        n = self._n
        matrix: int = c_function("SUNDenseMatrix", HANDLE, WHOLE, WHOLE, HANDLE)(n, n, self.context)
        self._free.append(lambda: c_function("SUNMatDestroy", None, HANDLE)(matrix))
        solver: int = c_function("SUNLinSol_Dense", HANDLE, HANDLE, HANDLE, HANDLE)(vector, matrix, self.context)
        self._free.append(lambda: c_function("SUNLinSolFree", CODE, HANDLE)(solver))
        return solver, matrix

    def memory(self, handle: int, free: str) -> int:
        """Take over an integrator's memory, to be freed by the function named."""
        if not handle:
            raise MemoryError("SUNDIALS could not make an integrator")
        holder = ctypes.c_void_p(handle)
        self._free.append(lambda: c_function(free, None, POINTER(c_void_p))(byref(holder)))
        return handle

    @property
    def sentence(self) -> str:
        """What SUNDIALS said last."""
        return self._sentence.tobytes().split(b"\0", 1)[0].decode(errors="replace").strip()

    def free(self) -> None:
        """Give everything back, what was made last first."""
        while self._free:
            self._free.pop()()
