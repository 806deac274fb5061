"""Numbers as FORTRAN's 1PE format prints them, and times of a clock (before every stage, beside the units). In goes a number, out comes a text.

The programs of 1976 printed a zero with the exponent -01, and so do these.
"""

from __future__ import annotations

import math

__all__ = ["clock", "five", "one_pe", "three"]


def one_pe(value: float, digits: int) -> str:
    """A number with one digit before the point.

    Parameters
    ----------
    value : any number; one that is not finite gives ``NAN``, ``INF`` or ``-INF``.
    digits : significant digits, at least one.

    Examples
    --------
    >>> one_pe(-0.10181, 5), one_pe(0.0, 3), one_pe(6.02e123, 3)
    ('-1.0181E-01', '0.00E-01', '6.02E+123')
    """
    if not math.isfinite(value):
        return str(value).upper()
    if not value:
        return f"{0.0:.{digits - 1}f}E-01"
    return f"{value:.{digits - 1}E}"


def three(value: float) -> str:
    """Three significant digits, as in the tables of the output program.

    Examples
    --------
    >>> three(-0.10181)
    '-1.02E-01'
    """
    return one_pe(value, 3)


def five(value: float) -> str:
    """Five significant digits, as everywhere else.

    Examples
    --------
    >>> five(0.1)
    '1.0000E-01'
    """
    return one_pe(value, 5)


def clock(seconds: float) -> str:
    """Elapsed time as the report prints it: minutes and seconds have no leading zeros.

    Examples
    --------
    >>> clock(3.1), clock(838.74), clock(7325.5)
    ('3.10', '13:58.74', '2:2:5.50')
    """
    # rounded first, so that no minute has sixty seconds
    hundredths = round(seconds * 100)
    hours, rest = divmod(hundredths, 360_000)
    minutes, rest = divmod(rest, 6_000)
    parts = [str(hours)] * bool(hours) + [str(minutes)] * bool(hours or minutes)
    return ":".join([*parts, f"{rest / 100:.2f}"])
