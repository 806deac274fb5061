"""Opaque functions for native code: a C function pointer for every Python callable.

In: opaque functions of the graph. Out: addresses of ``void f(double *in, double *out)``; calling one takes the GIL, calls Python, and turns an
exception into NaN that stops the run, keeping the exception for the message. The pointers belong to the model, what happened in a call to the run:
native code calls back in the thread that called it, which knows whose run that is.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from tidegate.expressions import Expr, OpaqueFunction, walk

__all__ = ["OpaqueCalls", "Trampolines", "noted_in", "trampolines"]

_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))


@dataclass(eq=False)
class OpaqueCalls:
    """What happened in the callbacks of one run.

    Parameters
    ----------
    count : how many there were.
    error : the first exception since native code was last entered; what the integrator gets over by a shorter step is forgotten there.
    name : of the function that raised it.
    is_in_python : the user's function is being carried out.
    """

    count: int = 0
    error: BaseException | None = None
    name: str = ""
    is_in_python: bool = False

    @property
    def stopped_by(self) -> BaseException | None:
        """What must end the run whatever the integrator made of it: Ctrl-C, a thread or program that is to end."""
        return None if isinstance(self.error, Exception) else self.error


@dataclass(frozen=True, eq=False)
class Trampolines:
    """Addresses by function; ``keep_alive`` must live as long as the addresses are used."""

    addresses: dict[OpaqueFunction, int]
    keep_alive: tuple[object, ...]


# whose calls they are that native code makes now in this thread
_noting: ContextVar[OpaqueCalls | None] = ContextVar("noting", default=None)


@contextmanager
def noted_in(calls: OpaqueCalls) -> Generator[None]:
    """What native code calls in this block is noted there; an exception of an earlier block is forgotten."""
    calls.error = None
    before = _noting.set(calls)
    try:
        yield
    finally:
        _noting.reset(before)


def trampolines(roots: Iterable[Expr]) -> Trampolines:
    """One C function for each distinct opaque function called below the roots."""
    addresses: dict[OpaqueFunction, int] = {}
    keep: list[object] = []
    for item in walk(roots):
        if item.op != "call" or item.data in addresses:
            continue
        function: OpaqueFunction = item.data
        pointer = _trampoline(function, len(item.args))
        keep.append(pointer)
        addresses[function] = ctypes.cast(pointer, ctypes.c_void_p).value or 0
    return Trampolines(addresses, tuple(keep))


def _trampoline(function: OpaqueFunction, n_inputs: int) -> Any:
    n_outputs = function.n_outputs

    def call(inputs: ctypes.Array[ctypes.c_double], outputs: ctypes.Array[ctypes.c_double]) -> None:
        calls = _noting.get() or OpaqueCalls()
        try:
            for k in range(n_outputs):
                outputs[k] = math.nan
            if calls.stopped_by is not None:
                return  # the run is about to end; nobody waits for more
            calls.count += 1
            calls.is_in_python = True
            values: Any = function.function(*(inputs[k] for k in range(n_inputs)))
            calls.is_in_python = False
            numbers = values if hasattr(values, "__len__") else (values,)
            for k in range(n_outputs):
                outputs[k] = float(numbers[k])
        except BaseException as error:  # noqa: BLE001 - it must not cross native code; the run raises it again
            calls.is_in_python = False
            if calls.error is None or not isinstance(error, Exception):
                calls.error, calls.name = error, function.name

    return _SIGNATURE(call)
