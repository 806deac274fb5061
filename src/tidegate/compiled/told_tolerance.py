"""Where a model reads the tolerance of the run (stage: compiled). In: the layout, values of m, the tolerance. Out: it stands in m."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.layout import Layout

__all__ = ["tell_tolerance"]


def tell_tolerance(layout: Layout, m: NDArray[np.float64], rtol: float) -> None:
    """Write the relative tolerance into m, of one run or of several as rows; nothing where the model does not read it."""
    if layout.tolerance >= 0:
        m[..., [layout.first_discrete + layout.tolerance, layout.first_previous + layout.tolerance]] = rtol
