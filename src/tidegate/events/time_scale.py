"""How long "long" is for a model, from the model alone (stage: events): never from the length of the run, which a piece of a run would change.

In: the rates at a point, how large the unknowns have been, the step that led there. Out: a time.
"""

from __future__ import annotations

import numpy as np

from tidegate.compiled.jit import native

__all__ = ["time_scale"]


@native
def time_scale(run, rates):
    """Time in which the fastest unknown would change by its own size, its rate being at offset ``rates`` of r; the last step if that was longer.

    The unit of time where nothing moves and no step was taken.
    """
    fastest = 0.0
    for q in range(run.n):
        size = max(run.y_max[q], run.atol[q] / run.rtol)
        rate = abs(run.r[rates + q]) / size
        fastest = max(fastest, rate)
    scale = max(run.step_before_event, 0.0)
    if fastest > 0.0:
        scale = max(scale, 1.0 / fastest)
    if not scale > 0.0:
        return 1.0
    return scale if scale < np.inf else 1.0
