"""How native code is compiled: small functions that are inlined, and units that call each other by name.

Numba optimises everything below a function again for every function above it; a deep call tree costs minutes. So the kernel is cut into units:
C functions on two pointers, compiled and kept on disk one by one, found by the linker under their names. Inside a unit ``native`` functions
are linked and inlined as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from llvmlite import binding
from numba import cfunc, njit, types

__all__ = ["NUMBER", "NUMBERS", "WHOLE", "WHOLES", "native", "unit"]

NUMBER: Final = types.float64
WHOLE: Final = types.int64
NUMBERS: Final = types.CPointer(types.float64)
WHOLES: Final = types.CPointer(types.int64)


def native(function: Callable[..., Any]) -> Any:
    """A function that is linked into the units that call it; it has no wrapper for Python."""
    return njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def unit(*arguments: Any) -> Callable[[Callable[..., Any]], Any]:
    """A function that other units call by name, and Python through ``address``; it returns an integer.

    Parameters
    ----------
    arguments : types behind the two pointers to the workspace, which come first.
    """
    signature = WHOLE(WHOLES, NUMBERS, *arguments)

    def compile_unit(function: Callable[..., Any]) -> Any:
        compiled = cfunc(signature, cache=True, error_model="numpy")(function)
        name = f"tidegate_{function.__name__}"
        binding.add_symbol(name, compiled.address)
        external: Any = types.ExternalFunction(name, signature)
        external.address = compiled.address
        external.keep_alive = compiled
        return external

    return compile_unit
