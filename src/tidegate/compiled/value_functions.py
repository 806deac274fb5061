"""A native value function called from Python (stage: compiled). In: a model, a name, a point; out: numbers."""

from __future__ import annotations

import ctypes
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel, Point
from tidegate.compiled.opaque import OpaqueCalls, noted_in

__all__ = ["VALUE_FUNCTION", "value_at"]

_POINTER: Final = ctypes.POINTER(ctypes.c_double)
VALUE_FUNCTION: Final = ctypes.CFUNCTYPE(None, ctypes.c_double, *[_POINTER] * 4)


def value_at(model: CompiledModel, name: str, size: int, at: Point, calls: OpaqueCalls) -> NDArray[np.float64]:
    """What a value function gives at a point; what happens in callbacks is noted in ``calls``."""
    out = np.zeros(size)
    vectors = [np.ascontiguousarray(vector).ctypes.data_as(_POINTER) for vector in (at.y, at.p, at.m)]
    with noted_in(calls):
        VALUE_FUNCTION(model.addresses[name])(at.time, *vectors, out.ctypes.data_as(_POINTER))
    return out
