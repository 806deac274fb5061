"""Indicators that come to zero at the instant of an event, but for what the time tolerance leaves between (DSblock 3.3: BLOSID TYPE 1, HINFO).

In: a run at an event. Out: a truth value an indicator. Events that are equal in time within the tolerance are one: a block is told of all of them
at once, so that what crosses a little later must be known here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import TidegateError
from tidegate.frontends.dsblock.block import Entry, Run
from tidegate.wishes import RetryStep, StopRun

__all__ = ["about_to_cross"]


def about_to_cross(
    run: Run, entry: Entry, rate: NDArray[np.float64] | None, later: tuple[float, NDArray[np.float64]], directions: NDArray[Any]
) -> NDArray[np.bool_]:
    """Which of the indicators that are there change their sign between the point and a time shortly behind it, in a direction that is asked for.

    Parameters
    ----------
    rate : x'; what is not known of it is NaN; None where nothing is.
    later : that time, and the inputs there.
    directions : 0 for every crossing, 1 and -1 for rising and falling ones.
    """
    n = entry.n_indicators
    found = np.zeros(len(directions), dtype=bool)
    time, u = later
    if not n:
        return found
    x = entry.x if rate is None else entry.x + (time - entry.time) * np.nan_to_num(rate[: len(entry.x)])
    try:
        now, then = run.indicators(entry)[:n], run.indicators(replace(entry, time=time, x=x, u=u))[:n]
    except (TidegateError, RetryStep, StopRun):
        return found  # the run will come to it
    with np.errstate(invalid="ignore"):
        found[:n] = (np.sign(now) * np.sign(then) < 0.0) & ((directions[:n] == 0) | (directions[:n] == np.sign(then)))
    return found
