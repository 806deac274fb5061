"""Numbers copied from memory to memory in native code (stage: compiled): by the C library, which takes as many at a time as the processor can."""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import INTEGER, NUMBERS, library_function, native

__all__ = ["copy_numbers"]

_copy: Final = library_function("memcpy", INTEGER(NUMBERS, NUMBERS, INTEGER))
_BYTES: Final = 8


@native
def copy_numbers(target, source, count):
    """So many numbers, or integers, behind one pointer to behind another; the two may not overlap."""
    _copy(target, source, _BYTES * count)
