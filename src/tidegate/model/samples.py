"""Samples of a signal, as a caller gives them: (times, values), a pandas Series, a column of a result. In: whatever was given; out: two arrays."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.dates import refuse_dates
from tidegate.errors import UsageError

__all__ = ["samples", "told"]

FloatArray = NDArray[np.float64]
_LONGEST: Final = 80  # characters; a longer value is told by its kind and shape


def samples(given: Any, what: str) -> tuple[FloatArray, FloatArray] | None:
    """Times and a row of values for each; None where this is something else.

    Parameters
    ----------
    what : the signal, in messages.

    Raises
    ------
    UsageError : times are dates, or do not increase; values are no finite numbers, or not as many.
    """
    pair = _pair(given)
    if pair is None:
        return None
    refuse_dates(f"times of {what}", pair[0])
    refuse_dates(f"values of {what}", pair[1])
    try:
        times, values = (np.asarray(one, dtype=float) for one in pair)
    except (TypeError, ValueError):
        return None
    if times.ndim != 1 or not len(times) or values.shape[:1] != times.shape:
        raise UsageError(f"{what} has times of shape {times.shape} and values of shape {values.shape}", hint="(times, values), a value for each time")
    later = np.diff(times) > 0.0
    if not np.all(later):
        k = int(np.argmin(later))
        hint = "a result has two rows at each event: result.resample(times) has one" if hasattr(given, "coords") else "sort them, each time once"
        raise UsageError(f"times of {what} do not increase: {times[k]:.9g} is followed by {times[k + 1]:.9g}", hint=hint)
    if not np.all(np.isfinite(values)):
        k = int(np.argwhere(~np.isfinite(values))[0][0])
        raise UsageError(f"{what} is {values[k]} at {times[k]:.9g}", hint="give finite numbers only")
    return times, values


def _pair(given: Any) -> tuple[Any, Any] | None:
    if hasattr(given, "to_numpy") and hasattr(given, "index") and getattr(given, "ndim", 0) == 1:
        return given.index, given  # of pandas
    if hasattr(given, "coords") and hasattr(given, "dims") and getattr(given, "ndim", 0):
        first = given.dims[0]
        return (given.coords[first], given) if first in given.coords else None  # of xarray
    if isinstance(given, tuple | list):
        both: list[Any] = list(given)  # pyright: ignore[reportUnknownArgumentType] - whatever there is
        return (both[0], both[1]) if len(both) == 2 and all(np.ndim(one) for one in both) else None
    return None


def told(given: Any) -> str:
    """A value on one line, or what kind of thing it is where that takes more."""
    text = repr(given)
    if len(text) <= _LONGEST and "\n" not in text:
        return text
    return f"a {type(given).__name__} of shape {np.shape(given)}" if hasattr(given, "shape") else f"{text:.80}"
