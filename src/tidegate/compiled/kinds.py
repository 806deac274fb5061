"""Kinds of numbers that native code takes and gives (stage: compiled): said without Numba, which takes longer to load than a run of kept code.

``numba_types`` makes Numba's types of them where something is compiled.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["BYTES", "INTEGER", "INTEGERS", "NOTHING", "NUMBER", "NUMBERS", "RUN", "WORD", "WORDS", "Kind", "Signature"]


class Kind(NamedTuple):
    """One kind; called with others it is the signature of a function that takes these and returns it.

    Parameters
    ----------
    name : what Numba calls it; of a pointer, what it points to.
    for_c : LLVM's names of what stands for it in a call.
    is_pointer : whether it is one.
    """

    name: str
    for_c: tuple[str, ...]
    is_pointer: bool = False

    def __call__(self, *arguments: Kind) -> Signature:
        """A signature, as Numba writes one."""
        return Signature(self, arguments)


class Signature(NamedTuple):
    """What a function returns and takes."""

    returned: Kind
    arguments: tuple[Kind, ...]


NOTHING: Final = Kind("void", ("void",))
NUMBER: Final = Kind("float64", ("double",))
INTEGER: Final = Kind("int64", ("i64",))
WORD: Final = Kind("int32", ("i32",))  # C's int
NUMBERS: Final = Kind("float64", ("ptr",), is_pointer=True)
INTEGERS: Final = Kind("int64", ("ptr",), is_pointer=True)
WORDS: Final = Kind("int32", ("ptr",), is_pointer=True)
BYTES: Final = Kind("uint8", ("ptr",), is_pointer=True)
RUN: Final = Kind("run", ("ptr", "ptr"))  # its integers and its numbers
