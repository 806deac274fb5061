"""The polynomial of a step: from its coefficients and a fraction of the step to the increment there.

All polynomials of these methods begin at zero and go with s from 0 to 1 through the step: p(s) = c1 s + c2 s**2 + ... + c5 s**5. A step whose
polynomial is a cubic has c4 = c5 = 0.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Coefficients", "cubic", "value"]


class Coefficients(NamedTuple):
    """c1 to c5 of p(s) = c1 s + ... + c5 s**5."""

    c1: float
    c2: float
    c3: float
    c4: float
    c5: float


def value(c: Coefficients, s: float) -> float:
    """p(s), by Horner's rule from the highest power down."""
    return ((((c.c5 * s + c.c4) * s + c.c3) * s + c.c2) * s + c.c1) * s


def cubic(start: float, end: float, increment: float) -> Coefficients:
    """The cubic of a step known by its slopes and its increment: Hermite's interpolation.

    Parameters
    ----------
    start, end : the rates at both ends of the step, times its length.
    increment : what the step adds to the variable.
    """
    c3 = (start + end) - 2 * increment
    return Coefficients(start, increment - (start + c3), c3, 0 * c3, 0 * c3)
