"""Clocks that no run can follow to its end, refused before it starts (stage: executive). In: a compiled model, parameters, a time span."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.errors import UsageError
from tidegate.expressions import walk
from tidegate.expressions.evaluate import evaluate

__all__ = ["refuse_clocks_too_fast"]


def refuse_clocks_too_fast(compiled: CompiledModel, p: NDArray[np.float64], start: float, end: float) -> None:
    """UsageError for a clock of constant period whose ticks are the same floating-point number at the end of the run."""
    values = dict(zip(compiled.layout.parameters, p.tolist(), strict=True))
    for k, event in enumerate(compiled.model.time_events):
        if event.period is None or any(item.op == "symbol" and item not in values for item in walk([event.period])):
            continue
        (period,) = evaluate([event.period], values)
        finest = math.ulp(max(abs(start), abs(end)))
        if 0.0 < period < finest:
            raise UsageError(
                f"the clock {event.label or k + 1} ticks every {period:g}, and at t = {end:g} two times are at least {finest:.2g} apart",
                origin=event.origin,
                hint="a shorter run, or a longer period",
            )
