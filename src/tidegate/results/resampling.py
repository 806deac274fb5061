"""A result on a time axis that has each time once (stage: results). In go recorded times or
rows, out come times that xarray can select by.

A recorded event has two rows at one time, and what looks for a time in an axis (``sel(method="nearest")``, ``interp``) wants each once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.errors import UsageError
from tidegate.results.interpolant import Side
from tidegate.results.labels import number

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["once_each", "times_along"]

_MOST_TIMES: Final = 50_000_000  # some gigabytes; a distance that asks for more is a slip
_SLACK: Final = 1e-9  # of a distance: so far behind the end a last time still counts as the end


def once_each(recorded: xr.Dataset, side: Side) -> xr.Dataset:
    """Recorded rows, of two at one time the first ("left") or the last ("right")."""
    t: NDArray[np.float64] = recorded["time"].to_numpy()
    is_new = np.diff(t) != 0.0
    rows = np.concatenate([[True], is_new] if side == "left" else [is_new, [True]]) if t.size else np.zeros(0, dtype=bool)
    return recorded.isel(time=np.flatnonzero(rows))


def times_along(t: NDArray[np.float64], times: ArrayLike) -> NDArray[np.float64]:
    """Times in the order of the run, each once; equidistant ones for a distance.

    Parameters
    ----------
    t : recorded times.
    times : what the user gave.

    Raises
    ------
    UsageError : these are no times, and no distance.
    """
    try:
        given = np.asarray(times, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(
            f"resample({times!r}): times, or their distance, are expected", hint="result.resample(0.1), result.resample([0.0, 0.5])"
        ) from None
    if given.ndim:
        ordered = np.unique(given)
        return ordered[::-1] if t.size and t[-1] < t[0] else ordered
    distance = float(given)
    if not (np.isfinite(distance) and distance > 0.0):
        raise UsageError(f"resample({times!r}): the distance of times is positive", hint="result.resample(0.1); one time is result.at(2.5)")
    start, end = (float(t[0]), float(t[-1])) if t.size else (0.0, 0.0)
    count = abs(end - start) / distance + _SLACK
    if count > _MOST_TIMES:
        raise UsageError(f"resample({times!r}): that would be {number(count, 3)} times", hint="a longer distance")
    places = start + np.sign(end - start) * distance * np.arange(int(count) + 1)
    return np.clip(places, min(start, end), max(start, end))
