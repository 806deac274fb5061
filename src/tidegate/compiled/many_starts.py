"""Where many runs of one model start (stage: compiled): values for all of them, and for which of them more has to be asked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidegate.quick_dataclass import dataclass

__all__ = ["ManyStarts"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ManyStarts:
    """Start vectors; every array has a row for each run.

    Parameters
    ----------
    p, y, m : parameters, unknowns, and what is constant between events.
    dy_dp, dd_dp : derivatives of unknowns and discrete variables by the chosen parameters, (runs, parameters, values).
    periods : of every time event its constant period; NaN where it has none.
    is_doubtful : true where ``Start.problem`` may have something against the parameters, or another model fits them.
    """

    p: FloatArray
    y: FloatArray
    m: FloatArray
    dy_dp: FloatArray
    dd_dp: FloatArray
    periods: FloatArray
    is_doubtful: NDArray[np.bool_]
