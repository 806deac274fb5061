"""Numbers as the language reads and prints them: FORTRAN's free form in, its 1PE form or the shortest exact text out."""

from __future__ import annotations

import math
import re
from typing import Final

__all__ = ["HIGHEST_BLOCK", "exact", "five", "parse", "three", "whole"]

# A number of more digits is a slip of the keyboard; the columns of listings have five places.
HIGHEST_BLOCK: Final = 99_999

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[EDed][+-]?[0-9]+)?")


def five(x: float) -> str:
    """A real as everything but the output program's tables prints it, with five digits.

    >>> five(-0.101814), five(0.0)
    ('-1.0181E-01', '0.0000E-01')
    """
    return _scaled(x, 4)


def three(x: float) -> str:
    """A real in the output program's tables, with three digits.

    >>> three(-0.101814), three(0.0)
    ('-1.02E-01', '0.00E-01')
    """
    return _scaled(x, 2)


def _scaled(x: float, n_decimals: int) -> str:
    if x == 0.0:
        # FORTRAN's quirk: a zero has been shifted by the scale factor like any other number
        return f"{0.0:.{n_decimals}f}E-01"
    return f"{x:.{n_decimals}E}"


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
    """The whole number that a field holds, or None if it holds something else.

    >>> whole("48"), whole("-3"), whole("2.5"), whole("K")
    (48, -3, None, None)
    """
    try:
        value = parse(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() else None
