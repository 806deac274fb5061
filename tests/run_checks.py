"""What tests of runs share: times of events, values at the end, and derivatives of whole runs by central differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tidegate as tg

__all__ = ["central_differences", "event_times", "final_vector", "slopes"]


def event_times(result: Any) -> list[float]:
    """Times of what happened inside the run."""
    return [event.time for event in result.events if event.kind not in ("initial", "final")]


def final_vector(result: Any, name: str, size: int) -> NDArray[np.float64]:
    """An array variable at the end."""
    return np.array([result.final[f"{name}[{k}]"] for k in range(size)])


def slopes(result: Any, names: Sequence[str], parameter: str) -> list[float]:
    """Sensitivities at the end."""
    return [float(np.asarray(result.sensitivity(name, parameter))[-1]) for name in names]


def central_differences(
    model: Any, t_span: tuple[float, float], names: Sequence[str], parameter: str, step: float, **options: Any
) -> tuple[list[float], list[float]]:
    """Derivatives of the end values and of the event times, from two runs at tight tolerance."""
    value = tg.simulate(model, t_span, rtol=1e-4).parameters[parameter]
    high, low = (tg.simulate(model, t_span, parameters={parameter: value + side * step}, rtol=1e-12, atol=1e-14, **options) for side in (1.0, -1.0))
    ends = [(high.final[name] - low.final[name]) / (2 * step) for name in names]
    times = [(a - b) / (2 * step) for a, b in zip(event_times(high), event_times(low), strict=True)]
    return ends, times
