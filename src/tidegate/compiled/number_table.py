"""The numbers of a module's machine code (stage: compiled), in a table beside the code.

A number of the user's, a gain or a table's values, is loaded from there, so that models that differ in nothing but such numbers have the same text,
and what LLVM made of it for the first serves them all: ``apart`` takes the numbers out of a text before it is compiled, and they are put where the
code looks for them when it is linked. Zero and powers of two stay in the code, where multiplying by them and dividing by them is cheaper.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["NUMBERS", "NumberTable", "apart", "is_written", "literal"]

NUMBERS: Final = "tidegate.numbers"  # the variable
_HEAD: Final = f"@{NUMBERS} = global ["
_DIGITS: Final = 16  # of a literal, in sixteens


def literal(value: float) -> str:
    """A number as LLVM reads it."""
    return f"0x{struct.pack('>d', value).hex().upper()}"


class NumberTable:
    """Numbers that a module looks up, in the order in which its code asks for them.

    Parameters
    ----------
    values : those that code which is written already asks for.
    """

    def __init__(self, values: Sequence[float] = ()) -> None:
        self.values: list[float] = list(values)
        self._places: dict[bytes, int] = {}

    def place(self, values: Sequence[float]) -> int:
        """Where these numbers stand side by side; the same numbers stand there once."""
        key = struct.pack(f"{len(values)}d", *values)
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values += values
        return self._places[key]

    def array(self, values: Sequence[float]) -> str:
        """An operand: the address of these numbers."""
        place = self.place(values)
        return f"getelementptr (double, ptr @{NUMBERS}, i64 {place})" if place else f"@{NUMBERS}"

    def operand(self, new: Callable[[str], str], value: float) -> str:
        """A number of the model's, from the table if it stands there; ``new`` gives the register that holds what an instruction gives."""
        return literal(value) if is_written(value) else new(f"load double, ptr {self.array([value])}")

    def definition(self) -> str:
        """The line of the text that says what stands there; nothing if nobody asked."""
        if not self.values:
            return ""
        return f"{_HEAD}{len(self.values)} x double] [{', '.join(f'double {literal(value)}' for value in self.values)}]\n"


def is_written(value: float) -> bool:
    """Whether a number is part of the code: zero, and what is multiplied by at no cost."""
    return math.frexp(value)[0] in (0.0, 0.5, -0.5) or not math.isfinite(value)


def apart(text: str) -> tuple[str, NDArray[np.float64] | None]:
    r"""A text without its numbers, and the numbers, if it has any.

    Examples
    --------
    >>> numbers = NumberTable()
    >>> numbers.place([3.0, 7.5])
    0
    >>> apart(numbers.definition())
    ('@tidegate.numbers = global [2 x double] zeroinitializer\n', array([3. , 7.5]))
    """
    before, head, rest = text.partition(_HEAD)
    if not head:
        return text, None
    size, _, rest = rest.partition("] [")
    numbers, _, after = rest.partition("]\n")
    digits = "".join(part[-_DIGITS:] for part in numbers.split(","))
    return f"{before}{head}{size}] zeroinitializer\n{after}", np.frombuffer(bytes.fromhex(digits), ">f8").astype(np.float64)
