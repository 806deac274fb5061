"""How native code is compiled: small functions that are inlined, and kernel entries that call each other by name.

Numba optimises everything below a function again for every function above it; a deep call tree costs minutes. So the kernel is cut into kernel
entries: C functions on two pointers, compiled and kept on disk one by one when they are first called, found by the linker under their names. Inside a
kernel entry ``native`` functions are linked and inlined as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from llvmlite import binding
from numba import njit, types

from tidegate.compiled.entry_code import ENTRY, entry_code
from tidegate.compiled.first_call import CalledFirst
from tidegate.compiled.kernel_keys import remember_the_sources
from tidegate.compiled.linked_late import NativeCompiler
from tidegate.compiled.run_type import RUN

__all__ = ["INTEGER", "INTEGERS", "NUMBER", "NUMBERS", "CFunction", "called_from_c", "kernel_entry", "native"]

NUMBER: Final = types.float64
INTEGER: Final = types.int64
NUMBERS: Final = types.CPointer(types.float64)
INTEGERS: Final = types.CPointer(types.int64)
_FOR_C: Final = {NUMBER: "double", INTEGER: "i64", types.int32: "i32", types.void: "void"}


def native(function: Callable[..., Any]) -> Any:
    """A function that is linked into the kernel entries that call it; it has no wrapper for Python."""
    return njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=NativeCompiler)(function)


def kernel_entry(*arguments: Any, of_a_run: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """A function that other kernel entries call by name, and Python through ``address``; it returns an integer.

    Parameters
    ----------
    arguments : types behind the run, which comes first: for C two pointers.
    of_a_run : False for a kernel entry on memory of another kind, all of whose arguments are given.
    """
    signature = INTEGER(*((RUN,) if of_a_run else ()), *arguments)

    def name_entry(function: Callable[..., Any]) -> Any:
        made = CFunction(function, signature)
        name = f"tidegate_{function.__name__}"
        binding.add_symbol(name, made.address)
        external = types.ExternalFunction(name, INTEGER(INTEGERS, NUMBERS, *arguments) if of_a_run else signature)
        called: Any = _called(external) if of_a_run else external
        called.address, called.there, called.function = made.address, made.there, function
        return called

    return name_entry


def called_from_c(signature: Any) -> Callable[[Callable[..., Any]], CFunction]:
    """A function for C alone, as a library asks for it: kept and compiled as kernel entries are."""
    return lambda function: CFunction(function, signature)


class CFunction:
    """Machine code that comes to be at its first call.

    Parameters
    ----------
    function : in Python.
    signature : Numba's types.

    Attributes
    ----------
    address : of what is called.
    there : has it now instead.
    """

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        remember_the_sources()
        self.function = function
        self._signature = signature
        self._code: Any = None
        kinds = [kind for one in signature.args for kind in _for_c(one)]
        self._first = CalledFirst(f"{function.__module__}.{function.__name__}", kinds, self._find, *_for_c(signature.return_type))
        self.address = self._first.address
        self.there = self._first.there

    def _find(self) -> int:
        self._code = entry_code(self.function, self._signature)
        return self._code.address(ENTRY)


def _for_c(kind: Any) -> list[str]:
    """LLVM's names of what stands for a type in a call."""
    if kind == RUN:
        return ["ptr", "ptr"]
    return ["ptr"] if isinstance(kind, types.CPointer) else [_FOR_C[kind]]


def _called(external: Any) -> Any:
    """The function of two pointers as one of a run."""

    @native
    def call(run, *others):  # type: ignore[no-untyped-def]
        return external(run.h, run.r, *others)

    return call
