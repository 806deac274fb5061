"""Indicators that rest within rounding of zero at the end of a run (stage: front end): which side they are on is chance, and is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.frontends.dsblock.warned import warn
from tidegate.names import listed

__all__ = ["warn_of_resting"]

FloatArray = NDArray[np.float64]
_ROUNDING: Final = 1e-14  # of the largest among unknowns and indicators
_MOST_NAMED: Final = 4


def warn_of_resting(block: str, names: Sequence[str], z: FloatArray, x: FloatArray) -> None:
    """Say so where two indicators or more rest beside zero and not at it.

    One alone is where its own event has put it. Two look at the same unknown, as a rule: what the one says of it, and what the other, need not agree,
    and a model that asks the same in another way may go on otherwise.
    """
    largest = max(1.0, float(np.max(np.abs(x), initial=0.0)), float(np.max(np.abs(z), initial=0.0)))
    near = [name for name, value in zip(names, z, strict=True) if 0.0 < abs(value) <= _ROUNDING * largest]
    if len(near) > 1:
        more = "" if len(near) <= _MOST_NAMED else f" and {len(near) - _MOST_NAMED} more"
        warn(
            f"at the end of the run indicators of DSblock {block} rest within rounding of zero, and not at it: {listed(near[:_MOST_NAMED])}{more}; "
            "on which side they lie is chance, and what depends on it may differ from the same model solved otherwise"
        )
