"""Opaque functions for native code: a C function pointer for every Python callable.

In: opaque functions of the graph. Out: addresses of ``void f(double *in, double *out)``; calling one takes the GIL, calls Python, and turns an
exception into NaN that stops the run, keeping the exception for the message.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidegate.expressions import Expr, OpaqueFunction, walk

__all__ = ["OpaqueCalls", "Trampolines", "opaque_calls", "trampolines"]

_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))


@dataclass(eq=False)
class OpaqueCalls:
    """What happened in the callbacks of one model: the number of calls and the first exception."""

    count: int = 0
    error: BaseException | None = None
    name: str = ""


@dataclass(frozen=True, eq=False)
class Trampolines:
    """Addresses by function; ``keep_alive`` must live as long as the addresses are used."""

    addresses: dict[OpaqueFunction, int]
    keep_alive: tuple[object, ...]


def trampolines(roots: Iterable[Expr]) -> Trampolines:
    """One C function for each distinct opaque function called below the roots."""
    addresses: dict[OpaqueFunction, int] = {}
    record = OpaqueCalls()
    keep: list[object] = [record]
    for item in walk(roots):
        if item.op != "call" or item.data in addresses:
            continue
        function: OpaqueFunction = item.data
        pointer = _trampoline(function, len(item.args), record)
        keep.append(pointer)
        addresses[function] = ctypes.cast(pointer, ctypes.c_void_p).value or 0
    return Trampolines(addresses, tuple(keep) if addresses else ())


def opaque_calls(keep_alive: tuple[object, ...]) -> OpaqueCalls | None:
    """The record of a compiled model's callbacks, if it has any."""
    return next((item for item in keep_alive if isinstance(item, OpaqueCalls)), None)


def _trampoline(function: OpaqueFunction, n_inputs: int, record: OpaqueCalls) -> Any:
    n_outputs = function.n_outputs

    def call(inputs: ctypes.Array[ctypes.c_double], outputs: ctypes.Array[ctypes.c_double]) -> None:
        record.count += 1
        try:
            values: Any = function.function(*(inputs[k] for k in range(n_inputs)))
            numbers = values if hasattr(values, "__len__") else (values,)
            for k in range(n_outputs):
                outputs[k] = float(numbers[k])
        except BaseException as error:  # noqa: BLE001 - it must not cross native code; the run raises it again
            if record.error is None:
                record.error, record.name = error, function.name
            for k in range(n_outputs):
                outputs[k] = math.nan

    return _SIGNATURE(call)
