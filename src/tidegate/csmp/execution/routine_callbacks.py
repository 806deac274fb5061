"""User routines that are called as they are (stage: csmp): a C function for each block, which calls Python and keeps the first exception."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final

from tidegate.csmp.machine import offsets as m
from tidegate.quick_dataclass import dataclass

__all__ = ["CalledRoutine", "Failure", "call_back"]

_NUMBERS: Final = ctypes.POINTER(ctypes.c_double)
_SIGNATURE: Final = ctypes.CFUNCTYPE(None, ctypes.c_double, _NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS)


@dataclass(eq=False)
class Failure:
    """The first exception in a routine of a run."""

    error: BaseException | None = None
    block: int = 0


@dataclass(frozen=True, eq=False)
class CalledRoutine:
    """Address of a C function; ``pointer`` must live as long as it is used."""

    address: int
    pointer: object


def call_back(call: Callable[[float], Any], block: int, memory: m.Memory, failure: Failure) -> CalledRoutine:
    """A C function ``(t, x, p, given, taken)`` that puts a routine's value into ``taken[0]``.

    Parameters
    ----------
    call : the routine with its context bound; it gets the block's first input. None as its value leaves the output as the routine wrote it.
    block : whose output it is.
    memory : of the machine; IS_FAILED is set there when the routine raises.
    failure : where the exception is kept.
    """
    x = memory.numbers(m.O_X)

    def c_function(_time: float, _x: Any, _p: Any, given: Any, taken: Any) -> None:
        try:
            value = call(given[0])
            taken[0] = x[block] if value is None else float(value)
        except BaseException as error:  # noqa: BLE001 - it must not cross native code; the run says what it was
            memory.h[m.IS_FAILED] = 1
            failure.error, failure.block = error, block

    pointer = _SIGNATURE(c_function)
    return CalledRoutine(ctypes.cast(pointer, ctypes.c_void_p).value or 0, pointer)
