"""Native code that Python calls without a library between them (stage: compiled). In: addresses. Out: a function of Python, as C code makes one.

A run of ten microseconds is not to wait for ctypes, which looks at every argument and at what comes back. What is called here is known: it takes an
address, and answers how many bytes it has put to another one, or with a number that is not positive. In the meantime other threads of Python go on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from tidegate.compiled.native import NativeModule, load

__all__ = ["function_of_bytes"]

_NO_ARGUMENTS: Final = 4  # METH_NOARGS of Python's C interface
_OF_PYTHON: Final = ("PyLong_AsVoidPtr", "PyEval_SaveThread", "PyEval_RestoreThread", "PyByteArray_FromStringAndSize", "PyLong_FromLongLong")
_TEXT: Final = """@python = global [5 x ptr] zeroinitializer
define ptr @bytes_of(ptr %self, ptr %nothing) {
  %as_pointer = load ptr, ptr @python
  %places = call ptr %as_pointer(ptr %self)
  %at_argument = getelementptr ptr, ptr %places, i64 1
  %at_bytes = getelementptr ptr, ptr %places, i64 2
  %function = load ptr, ptr %places
  %argument = load ptr, ptr %at_argument
  %bytes = load ptr, ptr %at_bytes
  %at_save = getelementptr ptr, ptr @python, i64 1
  %at_restore = getelementptr ptr, ptr @python, i64 2
  %save = load ptr, ptr %at_save
  %restore = load ptr, ptr %at_restore
  %thread = call ptr %save()
  %size = call i64 %function(ptr %argument)
  call void %restore(ptr %thread)
  %is_there = icmp sgt i64 %size, 0
  br i1 %is_there, label %some, label %none
some:
  %at_copy = getelementptr ptr, ptr @python, i64 3
  %copy = load ptr, ptr %at_copy
  %copied = call ptr %copy(ptr %bytes, i64 %size)
  ret ptr %copied
none:
  %at_number = getelementptr ptr, ptr @python, i64 4
  %number = load ptr, ptr %at_number
  %answer = call ptr %number(i64 %size)
  ret ptr %answer
}
"""


class _Method(ctypes.Structure):
    """A function as Python's C interface describes it."""

    _fields_ = (("name", ctypes.c_char_p), ("address", ctypes.c_void_p), ("flags", ctypes.c_int), ("documentation", ctypes.c_char_p))


@cache
def _described() -> tuple[_Method, NativeModule]:
    """For as long as the process lives, since a function may be called that long."""
    module = load(_TEXT)
    table = (ctypes.c_void_p * len(_OF_PYTHON)).from_address(module.variable("python"))
    for place, name in enumerate(_OF_PYTHON):
        table[place] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    return _Method(b"bytes_of_a_run", module.address("bytes_of"), _NO_ARGUMENTS, None), module


def function_of_bytes(places: int) -> Callable[[], bytearray | int]:
    """A function without arguments that gives a copy of what native code writes, or its answer where that is no size.

    Parameters
    ----------
    places : address of three addresses, each looked up in every call: of the native function, of what it is given, of what it writes.

    Examples
    --------
    >>> import numpy as np
    >>> code = load("define i64 @first(ptr %numbers) { %n = load i64, ptr %numbers  ret i64 %n }")
    >>> numbers = np.array([8, 7])
    >>> places = np.array([code.address("first"), numbers.ctypes.data, numbers[1:].ctypes.data])
    >>> function = function_of_bytes(places.ctypes.data)
    >>> int.from_bytes(function(), "little")
    7
    >>> numbers[0] = -3
    >>> function()
    -3
    """
    make: Any = ctypes.pythonapi.PyCFunction_NewEx
    make.argtypes, make.restype = (ctypes.POINTER(_Method), ctypes.py_object, ctypes.c_void_p), ctypes.py_object
    return make(_described()[0], places, None)
