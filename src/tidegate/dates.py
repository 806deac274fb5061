"""Dates where a model's numbers are wanted. In: what a user gave; out: nothing, or the error.

numpy makes numbers of dates without a word: counts of whatever unit they happen to be kept in, microseconds or nanoseconds. A model's time is a
number in its own unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidegate.errors import UsageError

__all__ = ["refuse_dates"]


def refuse_dates(what: str, given: Any) -> None:
    """An error for dates, and for lengths of time of numpy and pandas.

    Parameters
    ----------
    what : how messages name it, as a plural.
    given : a number, or an array of some.

    Raises
    ------
    UsageError : they are dates, or lengths of time.
    """
    if isinstance(given, int | float):
        return
    kind = np.asarray(given).dtype.kind
    if kind == "M":
        raise UsageError(
            f"{what} are dates, and a model's time is a number", hint='seconds since the first: (dates - dates[0]) / np.timedelta64(1, "s")'
        )
    if kind == "m":
        raise UsageError(f"{what} are lengths of time with units of their own", hint='seconds: lengths / np.timedelta64(1, "s")')
