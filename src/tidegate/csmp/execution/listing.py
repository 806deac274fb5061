"""The debug listing (stage: csmp): what every block did at each half step, as data and in the language's two lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.csmp.fortran_numbers import five
from tidegate.csmp.language.program import CsmpProgram
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["DebugEntry", "debug_entries", "debug_text"]

_NUMBER: Final = 13  # characters of a column
_WHOLE: Final = 5
_TYPE: Final = 4


@dataclass(frozen=True, slots=True)
class DebugEntry:
    """A block as it was executed once.

    Parameters
    ----------
    time, block, kind : when and which.
    x : its output; ``x1``, ``x2``, ``x3`` are its inputs, 0 where it has none.
    m, p1, p2, p3 : the internal integer and the parameters, with what the language itself keeps there.
    """

    time: float
    block: int
    kind: str
    x: float
    x1: float
    x2: float
    x3: float
    m: int
    p1: float
    p2: float
    p3: float

    def lines(self) -> tuple[str, str]:
        """The two lines of the listing."""
        first = [five(self.time), f"{self.block:>{_WHOLE}}", f" {self.kind:<{_TYPE}}", *map(five, (self.x, self.x1, self.x2, self.x3))]
        second = ["", "", f"{self.m:>{_TYPE + 1}}", *map(five, (self.p1, self.p2, self.p3))]
        return _line(first), _line(second)


def _line(fields: Sequence[str]) -> str:
    widths = (_NUMBER, _WHOLE, _TYPE + 1, *[_NUMBER] * 4)
    return "".join(f"{field:>{width}}" for field, width in zip(fields, widths, strict=False)).rstrip()


def debug_entries(program: CsmpProgram, listed: Iterable[NDArray[np.float64]]) -> list[DebugEntry]:
    """Entries from the machine's records."""
    return [
        DebugEntry(time, int(b), program.blocks[int(b)].kind, x, x1, x2, x3, int(m), p1, p2, p3)
        for part in listed
        for time, b, x, x1, x2, x3, m, p1, p2, p3 in part.tolist()
    ]


@explained
def debug_text(entries: Iterable[DebugEntry]) -> list[str]:
    """The listing: two lines of headings, two for each entry."""
    headings = [_line(["TIME", "B", "T  ", "X", "X1", "X2", "X3"]), _line(["", "", "M", "P1", "P2", "P3"])]
    return [*headings, *(line for entry in entries for line in entry.lines())]
