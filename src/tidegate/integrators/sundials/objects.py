"""The objects of one run: a context with its error handler, vectors on the workspace's own memory, a linear solver of ours in SUNDIALS' clothes.

A vector's norm is the largest of its weighted elements, as everywhere in tidegate; SUNDIALS' own, the root mean square, lets one element be off by
the square root of their number if the others are at rest.

Headers: sundials_context.h, sundials_errors.h, nvector_serial.h, sundials_linearsolver.h, sunlinsol_dense.h. SUNDIALS reports through the
handler of the context only; its last sentence is kept for our errors, nothing goes to stderr.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, byref, c_void_p
from typing import Any, Final

import numpy as np

from tidegate.compiled import kinds
from tidegate.compiled.jit import called_from_c, native
from tidegate.compiled.pointers import integers_at, pointer, run_at
from tidegate.compiled.workspace import INDEX_OF, vector
from tidegate.integrators.interface import FloatArray
from tidegate.integrators.sundials.library import CODE, HANDLE, INTEGER, c_function, function_address, native_function

__all__ = ["Objects", "items", "run_of"]

N_VGetArrayPointer = native_function("N_VGetArrayPointer", HANDLE, HANDLE)
N_VGetLength = native_function("N_VGetLength", INTEGER, HANDLE)
SUNDenseMatrix_Data = native_function("SUNDenseMatrix_Data", HANDLE, HANDLE)

_SENTENCE: Final = 1000  # bytes kept of a message
_OF_SOLVERS: Final = 2  # the member of a linear solver that points to its operations; of other objects it is the one before
_OPERATIONS: Final = 50  # more than any object has
_RMS_NORM: Final = "N_VWrmsNorm_Serial"
_MASKED_NORM: Final = "N_VWrmsNormMask_Serial"
_ADDRESS_R: Final = INDEX_OF["address_r"]


@native
def items(handle, n):
    """The elements of a vector."""
    return vector(pointer(N_VGetArrayPointer(handle)), 0, n)


@native
def run_of(matrix):
    """The run that a matrix stands for: its one element is where the workspace's integers are."""
    h = integers_at(integers_at(SUNDenseMatrix_Data(matrix))[0])
    return run_at(h, pointer(h[_ADDRESS_R]))


@called_from_c(kinds.WORD(kinds.INTEGER))
def _leave(_matrix):  # type: ignore[no-untyped-def]
    return 0


@called_from_c(kinds.NUMBER(kinds.INTEGER, kinds.INTEGER))
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


@called_from_c(kinds.NUMBER(kinds.INTEGER, kinds.INTEGER, kinds.INTEGER))
def _largest_masked(handle, weights, mask):  # type: ignore[no-untyped-def]
    n = N_VGetLength(handle)
    x, w, counts = items(handle, n), items(weights, n), items(mask, n)
    largest = 0.0
    for q in range(n):
        size = abs(x[q] * w[q]) if counts[q] > 0.0 else 0.0
        if not size <= largest:  # also if it is no number
            largest = size
            if size != size:
                break
    return largest


@called_from_c(kinds.NOTHING(kinds.WORD, kinds.BYTES, kinds.BYTES, kinds.BYTES, kinds.WORD, kinds.BYTES, kinds.INTEGER))
def _keep_sentence(_line, _function, _file, message, _code, kept, _context):  # type: ignore[no-untyped-def]
    index = 0
    while index < _SENTENCE - 1 and message[index] != 0:
        kept[index] = message[index]
        index += 1
    kept[index] = 0


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
        made: int = c_function("N_VMake_Serial", HANDLE, INTEGER, HANDLE, HANDLE)(self._n, memory.ctypes.data, self.context)
        self._free.append(lambda: c_function("N_VDestroy", None, HANDLE)(made))
        _replace(made, _RMS_NORM, _largest)
        _replace(made, _MASKED_NORM, _largest_masked)
        return made

    def linear_solver(self, workspace: int, factor: Any, solve: Any) -> tuple[int, int]:
        """A linear solver and its matrix, whose work is done by ours: SUNDIALS' smallest, of one row, with our functions in place of its own.

        Parameters
        ----------
        workspace : address of the run's integers, which is all the matrix holds.
        factor, solve : the functions, compiled for C.
        """
        one = np.zeros(1)
        vector: int = c_function("N_VMake_Serial", HANDLE, INTEGER, HANDLE, HANDLE)(1, one.ctypes.data, self.context)
        matrix: int = c_function("SUNDenseMatrix", HANDLE, INTEGER, INTEGER, HANDLE)(1, 1, self.context)
        self._free.append(lambda: c_function("SUNMatDestroy", None, HANDLE)(matrix))
        solver: int = c_function("SUNLinSol_Dense", HANDLE, HANDLE, HANDLE, HANDLE)(vector, matrix, self.context)
        self._free.append(lambda: c_function("SUNLinSolFree", CODE, HANDLE)(solver))
        c_function("N_VDestroy", None, HANDLE)(vector)
        HANDLE.from_address(c_function("SUNDenseMatrix_Data", HANDLE, HANDLE)(matrix)).value = workspace
        _replace(matrix, "SUNMatZero_Dense", _leave)
        _replace(solver, "SUNLinSolSetup_Dense", factor, _OF_SOLVERS)
        _replace(solver, "SUNLinSolSolve_Dense", solve, _OF_SOLVERS)
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


def _replace(made: int, name: str, function: Any, member: int = 1) -> None:
    """Put a function of ours in the place of one of SUNDIALS' in the table of an object's operations, to which one of its members points."""
    table: int = (HANDLE * (member + 1)).from_address(made)[member]
    wanted = function_address(name)
    # one after the other: how many an object has is not known, and behind the last one there may be no memory
    slots = (HANDLE.from_address(table + k * ctypes.sizeof(HANDLE)) for k in range(_OPERATIONS))
    next(slot for slot in slots if slot.value == wanted).value = function.address
