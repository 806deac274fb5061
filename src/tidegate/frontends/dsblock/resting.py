"""Indicators that rest within rounding of zero (stage: front end): which side they are on is chance, and is said, while it is so and at the end.

In: a run at an event, and at its end. Out: a warning, once a run. One indicator alone is where its own event has put it. Two look at the same
unknown, as a rule: what the one says of it, and what the other, need not agree, and a model that asks the same in another way may go on otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import TidegateError
from tidegate.frontends.dsblock.block import Entry, Run
from tidegate.frontends.dsblock.warned import warn
from tidegate.names import listed
from tidegate.wishes import RetryStep, StopRun

__all__ = ["Rests"]

FloatArray = NDArray[np.float64]
_ROUNDING: Final = 1e-14  # of the largest among unknowns and indicators
_BACK: Final = 1e-3  # of the time since the event before: how far back they are looked at
_MOST_NAMED: Final = 4


class Rests:
    """Looks for them in the runs of a block.

    Parameters
    ----------
    block : its name; names : of its indicators.
    """

    def __init__(self, block: str, names: Sequence[str]) -> None:
        self._block, self._names = block, names
        self._told: set[int] = set()  # numbers of runs

    def look(self, number: int, run: Run, entry: Entry, rate: FloatArray | None, since: float) -> None:
        """At an event, before it is carried out: those that have rested since the event before, be they there at the end or not.

        Parameters
        ----------
        rate : x'; None where it is not known.
        since : the time of the event before.
        """
        elapsed = entry.time - since
        if number in self._told or rate is None or entry.n_indicators < 2 or not 0.0 < elapsed < math.inf:
            return
        n, back = entry.n_indicators, _BACK * elapsed
        try:
            rest = _near(run.indicators(entry)[:n], entry.x)
            if np.count_nonzero(rest) < 2:
                return
            x = entry.x - back * rate[: len(entry.x)]
            rest &= _near(run.indicators(replace(entry, time=entry.time - back, x=x))[:n], entry.x)
        except (TidegateError, RetryStep, StopRun):
            return  # the run will come to it
        self._tell(number, rest, f"from t = {since:.9g} to {entry.time:.9g}")

    def ended(self, number: int, z: FloatArray, x: FloatArray) -> None:
        """At the end of a run."""
        if number not in self._told:
            self._tell(number, _near(z, x), "at the end of the run")
        self._told.discard(number)

    def _tell(self, number: int, rest: NDArray[np.bool_], when: str) -> None:
        near = [name for name, is_near in zip(self._names, rest, strict=False) if is_near]
        if len(near) > 1:
            self._told.add(number)
            more = "" if len(near) <= _MOST_NAMED else f" and {len(near) - _MOST_NAMED} more"
            warn(
                f"{when} indicators of DSblock {self._block} rest within rounding of zero, and not at it: {listed(near[:_MOST_NAMED])}{more}; "
                "on which side they lie is chance, and what depends on it may differ from the same model solved otherwise"
            )


def _near(z: FloatArray, x: FloatArray) -> NDArray[np.bool_]:
    """Indicators beside zero and not at it."""
    largest = max(1.0, float(np.max(np.abs(x), initial=0.0)), float(np.max(np.abs(z), initial=0.0)))
    return (z != 0.0) & (np.abs(z) <= _ROUNDING * largest)
