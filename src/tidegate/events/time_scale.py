"""How long "long" is for a model, from the model alone (stage: events): never from the length of the run, which a piece of a run would change.

In: the rates at a point, how large the unknowns have been, the step that led there. Out: a time.
"""

from __future__ import annotations

import numpy as np

from tidegate.compiled.jit import native
from tidegate.compiled.workspace import O_ATOL, O_YMAX, RTOL, STEP_BEFORE_EVENT, N

__all__ = ["time_scale"]


@native
def time_scale(h, r, rates):
    """Time in which the fastest unknown would change by its own size, its rate being at offset ``rates`` of r; the last step if that was longer.

    The unit of time where nothing moves and no step was taken.
    """
    fastest = 0.0
    for q in range(h[N]):
        size = max(r[h[O_YMAX] + q], r[h[O_ATOL] + q] / r[RTOL])
        rate = abs(r[rates + q]) / size
        fastest = max(fastest, rate)
    scale = max(r[STEP_BEFORE_EVENT], 0.0)
    if 0.0 < fastest < np.inf:
        scale = max(scale, 1.0 / fastest)
    return scale if 0.0 < scale < np.inf else 1.0
