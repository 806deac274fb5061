"""What the user of a simulation chooses, checked (stage: simulation). In: options, times; out: the same, frozen, and the times to record at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.executive import Options, check_names, output_times, time_number

__all__ = ["ASSUMED_LENGTH", "changed", "checked", "finite_time", "recording_times"]

FloatArray = NDArray[np.float64]

# before the first call of ``advance`` nobody knows how long the run will be; only values at the start are looked at on this assumption
ASSUMED_LENGTH: Final = 1.0
_UNCHANGEABLE: Final = {
    "parameters": 'set the parameter: simulation["k"] = 3',
    "sensitivities": "they are followed from the start: tg.Simulation(..., sensitivities=...)",
}
_SLACK: Final = 1e-9  # of the distance of output times: so close to the end a time is the end


def finite_time(name: str, value: float) -> float:
    """A time, or the error that tells which argument is none."""
    try:
        found = time_number(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} must be a time, not {value!r}", hint=f"{name}=10.0") from None
    if not math.isfinite(found):
        raise UsageError(f"{name} must be a finite time, not {value}", hint=f"{name}=10.0")
    return found


def checked(options: Mapping[str, Any], t_start: float) -> Options:
    """Options of which the names and the output times are right; the rest is checked when a run is prepared."""
    check_names(options)
    chosen = Options(**dict(options))
    if chosen.outputs is not None:
        # the end of the run is not known: whatever times are given lie in it
        last = t_start + ASSUMED_LENGTH
        with suppress(TypeError, ValueError):  # what is no number is refused below
            last = max(last, float(np.max(np.asarray(chosen.outputs, dtype=float), initial=t_start)))
        output_times(chosen, t_start, last)
    return chosen


def changed(options: Options, changes: Mapping[str, Any], t_start: float) -> Options:
    """The options with some replaced, of those that can be once a run has begun."""
    check_names(changes)
    for name, hint in _UNCHANGEABLE.items():
        if name in changes:
            raise UsageError(f"{name} cannot be changed once a simulation has begun", hint=hint)
    return checked({name: getattr(options, name) for name in Options.__dataclass_fields__} | dict(changes), t_start)


def recording_times(options: Options, t_start: float, after: float, until: float) -> FloatArray:
    """The output times behind ``after`` and up to ``until``, which is always one of them; none if every step is recorded."""
    if options.outputs is None:
        return np.zeros(0)
    times: FloatArray = np.asarray(options.outputs, dtype=float)
    if times.ndim == 0:
        distance = float(times)
        first = max(math.floor((after - t_start) / distance), 0) if math.isfinite(after) else 0
        times = t_start + distance * np.arange(first, math.ceil((until - t_start) / distance) + 1, dtype=float)
        times = times[times < until - _SLACK * distance]
    return np.append(times[(times > after) & (times < until)], until)
