"""Parameters of a run (stage: executive): the model's, with some replaced by the caller's, and whether the model can have these."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.errors import UsageError
from tidegate.names import listed, suggestion

__all__ = ["find_parameters", "parameter_vector", "refuse_clocks_too_fast"]

FloatArray = NDArray[np.float64]


def parameter_vector(model: CompiledModel, changes: Mapping[str, float]) -> FloatArray:
    """Values of all parameters, with some replaced by the caller's.

    Raises
    ------
    UsageError : there is no such parameter, or the model cannot have such a value.
    """
    names = model.layout.parameters
    places = {name: k for k, name in enumerate(names)}
    given: dict[int, float] = {}
    for name, value in changes.items():
        place = find_parameters(names, [name])[0] if name not in places else places[name]
        try:
            given[place] = float(value)
        except (TypeError, ValueError):
            raise UsageError(f"parameter {name} needs a number, not {value!r}") from None
        if not math.isfinite(given[place]):
            raise UsageError(f"parameter {name} must be finite, not {value}")
    result = model.start.parameters(given)
    problem = model.start.problem(result) if given else None
    if problem is not None:
        raise UsageError(problem[0], origin=problem[1])
    return result


def find_parameters(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Places of parameters by name; an array's name stands for all its elements."""
    places: list[int] = []
    known = f"the parameters are {listed(names) or '(none)'}"
    for name in wanted:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise UsageError(f"a parameter has a name, and {name!r} is none", hint=known)
        found = [k for k, each in enumerate(names) if each == name or each.startswith(f"{name}[")]
        if not found:
            raise UsageError(f"the model has no parameter {name!r}", hint=suggestion(name, names, known))
        places.extend(found)
    return places


def refuse_clocks_too_fast(model: CompiledModel, p: FloatArray, start: float, end: float) -> None:
    """UsageError for a clock of constant period whose ticks are the same floating-point number at the end of the run."""
    finest = math.ulp(max(abs(start), abs(end)))
    periods = model.start.periods(p)
    for k in np.flatnonzero((periods > 0.0) & (periods < finest)).tolist():
        raise UsageError(
            f"the clock {model.clocks[k].label or k + 1} ticks every {periods[k]:g}, and at t = {end:g} two times are at least {finest:.2g} apart",
            origin=model.clocks[k].origin,
            hint="a shorter run, or a longer period",
        )
