"""Calls between Python and native code: a C function pointer for every Python callable, and a model's value function called from Python.

In: Python callables. Out: pointers to ``void f(double *in, double *out)``; calling one takes the GIL, calls Python, and turns an
exception into NaN that stops the run, keeping the exception for the message. The pointers belong to the model, what happened in a call to the run:
native code calls back in the thread that called it, which knows whose run that is.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import CompiledModel, Point
from tidegate.errors import RunError, UsageError
from tidegate.quick_dataclass import dataclass
from tidegate.wishes import StopRun

__all__ = ["VALUE_FUNCTION", "OpaqueCalls", "ValueFunction", "callback", "carry_out", "noted_in", "pointer_to", "value_at"]

_POINTER: Final = ctypes.POINTER(ctypes.c_double)
VALUE_FUNCTION: Final = ctypes.CFUNCTYPE(None, ctypes.c_double, *[_POINTER] * 4)  # see ``interface``
_SIGNATURE: Final = ctypes.CFUNCTYPE(None, _POINTER, _POINTER)


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
        """What must end the run whatever the integrator made of it: Ctrl-C, a wish to stop, an error of the run as a whole."""
        return self.error if _ends_the_run(self.error) else None


# whose calls they are that native code makes now in this thread
_noting: ContextVar[OpaqueCalls | None] = ContextVar("noting", default=None)


class noted_in:  # noqa: N801, a block, which as a generator would cost a run more than all that is done in it
    """What native code calls in this block is noted there; an exception of an earlier block is forgotten."""

    __slots__ = ("_before", "_calls")

    def __init__(self, calls: OpaqueCalls) -> None:
        self._calls = calls

    def __enter__(self) -> None:
        self._calls.error = None
        self._before = _noting.set(self._calls)

    def __exit__(self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None) -> None:
        _noting.reset(self._before)


def callback(function: Callable[..., Any], name: str, n_inputs: int, n_outputs: int) -> Any:
    """A C function that calls a Python function; it must live as long as its address is used.

    Parameters
    ----------
    name : by which messages call it.
    n_inputs, n_outputs : numbers that it takes, one argument each, and gives.
    """

    def call(inputs: ctypes.Array[ctypes.c_double], outputs: ctypes.Array[ctypes.c_double]) -> None:
        carry_out(name, outputs, n_outputs, lambda: function(*(inputs[k] for k in range(n_inputs))))

    return _SIGNATURE(call)


def carry_out(name: str, outputs: Any, n_outputs: int, compute: Callable[[], Any]) -> None:
    """Put the numbers that a Python function computes where native code reads them, NaN if it raises; note what happened."""
    calls = _noting.get() or OpaqueCalls()
    try:
        for k in range(n_outputs):
            outputs[k] = math.nan
        if calls.stopped_by is not None:
            return  # the run is about to end; nobody waits for more
        calls.count += 1
        calls.is_in_python = True
        values: Any = compute()
        calls.is_in_python = False
        numbers = values if hasattr(values, "__len__") else (values,)
        if len(numbers) != n_outputs:
            raise UsageError(f"{len(numbers)} numbers where {n_outputs} were expected", hint="let it always return the same number of results")  # noqa: TRY301
        for k in range(n_outputs):
            outputs[k] = float(numbers[k])
    except BaseException as error:  # noqa: BLE001 - it must not cross native code; the run raises it again
        calls.is_in_python = False
        if isinstance(error, StopRun) and error.numbers is not None and len(error.numbers) == n_outputs:
            for k in range(n_outputs):
                outputs[k] = float(error.numbers[k])
        if calls.error is None or _ends_the_run(error):
            calls.error, calls.name = error, name


def _ends_the_run(error: BaseException | None) -> bool:
    return error is not None and (isinstance(error, RunError) or not isinstance(error, Exception))


def value_at(model: CompiledModel, name: str, size: int, at: Point, calls: OpaqueCalls) -> NDArray[np.float64]:
    """What a value function gives at a point; what happens in callbacks is noted in ``calls``."""
    out = np.zeros(size)
    function, vectors = VALUE_FUNCTION(model.addresses[name]), [pointer_to(vector) for vector in (at.y, at.p, at.m, out)]
    with noted_in(calls):
        function(at.time, *vectors)
    return out


class ValueFunction:
    """A value function of a model for whoever asks it often: its arguments have memory of their own.

    Parameters
    ----------
    model : it is kept alive.
    name : of the function.
    size : how many numbers it gives.
    """

    def __init__(self, model: CompiledModel, name: str, size: int) -> None:
        layout = model.layout
        self._model, self._function = model, VALUE_FUNCTION(model.addresses[name])
        self._given = [np.zeros(number) for number in (len(layout.unknowns), len(layout.parameters), layout.n_m)]
        self._found = np.zeros(size)
        self._pointers = [pointer_to(vector) for vector in (*self._given, self._found)]

    def at(self, point: Point, calls: OpaqueCalls) -> NDArray[np.float64]:
        """What it gives at a point; what happens in callbacks is noted in ``calls``."""
        y, p, m = self._given
        y[:], p[:], m[:] = point.y, point.p, point.m
        with noted_in(calls):
            self._function(point.time, *self._pointers)
        return self._found.copy()


def pointer_to(vector: NDArray[np.float64]) -> Any:
    """What C functions take for a pointer to numbers, for as long as it is kept."""
    try:
        return ctypes.c_double.from_buffer(vector)  # pyright: ignore[reportArgumentType] - an array is a buffer
    except (TypeError, ValueError):  # read-only, with gaps, or empty
        return np.ascontiguousarray(vector).ctypes.data_as(_POINTER)
