"""Numbers in statements: FORTRAN's free form in, the shortest exact text out. The 1PE forms of listings are in ``fortran_numbers``."""

from __future__ import annotations

import math
import re
from typing import Final

__all__ = ["HIGHEST_BLOCK", "exact", "parse", "whole"]

# A number of more digits is a slip of the keyboard; the columns of listings have five places.
HIGHEST_BLOCK: Final = 99_999

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[EDed][+-]?[0-9]+)?")


def exact(x: float) -> str:
    """The shortest text that reads back as the same number.

    Raises
    ------
    ValueError : for infinities and NaN, which no statement can hold.

    >>> exact(-5.0), exact(0.1), exact(1e-7)
    ('-5', '0.1', '1E-07')
    """
    if not math.isfinite(x):
        raise ValueError(f"{x} is not a number that a statement can hold")
    return repr(float(x)).removesuffix(".0").upper()


def parse(text: str) -> float:
    """The number that a field holds; exponents may be written with E or D.

    Raises
    ------
    ValueError : if it holds none, or one beyond all range.

    >>> parse("-1.5D-3"), parse(".5"), parse("2.")
    (-0.0015, 0.5, 2.0)
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    value = float(text.upper().replace("D", "E"))
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is too large")
    return value


def whole(text: str) -> int | None:
    """The integer that a field holds, or None if it holds something else.

    >>> whole("48"), whole("-3"), whole("2.5"), whole("K")
    (48, -3, None, None)
    """
    try:
        value = parse(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() else None
