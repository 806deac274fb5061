"""How native code is compiled: small functions that are inlined, and kernel entries that call each other by name.

Numba optimises everything below a function again for every function above it; a deep call tree costs minutes. So the kernel is cut into kernel
entries: C functions on two pointers, compiled and kept on disk one by one when they are first called, found by the linker under their names. Inside a
kernel entry ``native`` functions are linked and inlined as usual.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tidegate.compiled.entry_code import ENTRY, entry_bitcode, entry_code
from tidegate.compiled.first_call import CalledFirst
from tidegate.compiled.kernel_keys import remember_the_sources
from tidegate.compiled.kinds import INTEGER, INTEGERS, NUMBER, NUMBERS, RUN, Kind, Signature
from tidegate.compiled.native import address_in_library
from tidegate.compiled.numba_later import External, ExternalOfRun, NativeFunction, loaded_entries

__all__ = ["INTEGER", "INTEGERS", "NUMBER", "NUMBERS", "CFunction", "called_from_c", "kernel_entry", "library_function", "native"]


def native(function: Callable[..., Any], calls: Sequence[Callable[..., Any]] = ()) -> Any:
    """A function that is linked into the kernel entries that call it; it has no wrapper for Python.

    Parameters
    ----------
    calls : functions of plain Python that it reaches.
    """
    return NativeFunction(function, calls)


def kernel_entry(*arguments: Kind, of_a_run: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """A function that other kernel entries call by name, and Python through ``address``; it returns an integer.

    Parameters
    ----------
    arguments : kinds behind the run, which comes first: for C two pointers.
    of_a_run : False for a kernel entry on memory of another kind, all of whose arguments are given.
    """
    signature = INTEGER(*((RUN,) if of_a_run else ()), *arguments)

    def name_entry(function: Callable[..., Any]) -> Any:
        name = f"tidegate_{function.__name__}"
        made = CFunction(function, signature, name)
        loaded_entries[name] = entry = (_EntryOfRun if of_a_run else _Entry)(made, name, signature)
        return entry

    return name_entry


def called_from_c(signature: Signature) -> Callable[[Callable[..., Any]], CFunction]:
    """A function for C alone, as a library asks for it: kept and compiled as kernel entries are."""
    return lambda function: CFunction(function, signature)


def library_function(name: str, signature: Signature) -> Any:
    """A function of the C library for native code; Numba's own of the same meaning would need Numba in every process.

    Parameters
    ----------
    name : which the machine code names.
    """
    address_in_library(name)  # tells the linker
    return External(name, signature)


class CFunction:
    """Machine code that comes to be at its first call.

    Parameters
    ----------
    function : in Python.
    signature : what it takes and returns.
    symbol : what other machine code names it.

    Attributes
    ----------
    there : has it now instead.
    """

    def __init__(self, function: Callable[..., Any], signature: Signature, symbol: str = "") -> None:
        remember_the_sources()
        self.function = function
        self._signature = signature
        self._code: Any = None
        kinds = [kind for one in signature.arguments for kind in one.for_c]
        self._first = CalledFirst(f"{function.__module__}.{function.__name__}", kinds, self._find, signature.returned.for_c[0], symbol)
        self.there = self._first.there

    @property
    def address(self) -> int:
        """Of what is called."""
        return self._first.address

    @property
    def is_there(self) -> bool:
        """Whether it has been called or asked for."""
        return self._first.is_there

    def bitcode(self) -> bytes:
        """What its machine code is made of, see ``own_code``."""
        return entry_bitcode(self.function, self._signature)

    def _find(self) -> int:
        self._code = entry_code(self.function, self._signature)
        return self._code.address(ENTRY)


class _Entry(External):
    """What Python has of a kernel entry, for native code a function on the memory that it is given."""

    def __init__(self, made: CFunction, name: str, signature: Signature) -> None:
        super().__init__(name, signature)
        self._made_for_c = made
        self.there, self.function, self.bitcode = made.there, made.function, made.bitcode

    @property
    def address(self) -> int:
        """Of what is called."""
        return self._made_for_c.address

    @property
    def is_there(self) -> bool:
        """Whether it has been called or asked for."""
        return self._made_for_c.is_there


class _EntryOfRun(_Entry, ExternalOfRun):
    """A function of two pointers for C, of a run for native code."""
