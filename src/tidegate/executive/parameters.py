"""Parameters of a run (stage: executive): the model's, with some replaced by the caller's, and whether the model can have these."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.compiled.compiled_model import CompiledModel, Direction
from tidegate.compiled.quantities import Located
from tidegate.errors import SensitivityWarning, UsageError
from tidegate.executive.options import numbers_given
from tidegate.names import listed, suggestion
from tidegate.numbers_as_texts import texts_to_numbers

__all__ = ["directions_of", "find_parameters", "given_numbers", "numbers_for", "parameter_vector", "refuse_clocks_too_fast", "too_fast"]

FloatArray = NDArray[np.float64]
_PACKAGE: Final = str(Path(__file__).parents[1])
_START: Final = "(0)"  # behind the name of a variable: the parameter that its start value is


def parameter_vector(model: CompiledModel, changes: Mapping[str, ArrayLike]) -> FloatArray:
    """Values of all parameters, with some replaced by the caller's.

    Raises
    ------
    UsageError : there is no such parameter, or the model cannot have such a value.
    """
    given = given_numbers(model, changes)
    result = model.start.parameters(given)
    problem = model.start.problem(result) if given or model.start.asks_parameters else None
    if problem is not None:
        raise UsageError(problem[0], origin=problem[1])
    return result


def given_numbers(model: CompiledModel, changes: Mapping[str, ArrayLike]) -> dict[int, float]:
    """The caller's values, by index.

    Raises
    ------
    UsageError : there is no such parameter, or no number is given.
    """
    given: dict[int, float] = {}
    for name, value in changes.items():
        located = _located(model, name)
        if isinstance(value, float) and not located.shape and math.isfinite(value) and not located.quantity.texts:
            given[int(located.indices[0])] = float(value)
            continue
        given |= dict(zip(located.indices.tolist(), _given(name, value, located).tolist(), strict=True))
    return given


def _given(name: str, value: ArrayLike, located: Located) -> FloatArray:
    number = texts_to_numbers(name, value, located.quantity.texts)
    return numbers_for(f"parameter {name}", number, located.shape)


def directions_of(model: CompiledModel, chosen: Sequence[int], changes: Mapping[str, ArrayLike], p: FloatArray) -> list[Direction]:
    """How all parameters move with each chosen one; of a model with a memory it is said that this stays as it is."""
    if not chosen:
        return []
    if model.opening is not None and not model.knows_memory:
        sentence = f"what {model.name} keeps in its memory is taken to be the same for all parameters: a derivative through it is left out"
        warnings.warn(sentence, SensitivityWarning, skip_file_prefixes=(_PACKAGE,))
    return model.start.directions(chosen, set(find_parameters(model, list(changes))), p)


def numbers_for(what: str, value: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """The elements of a value that the caller gives: an array of this shape, or one number for all of it.

    Raises
    ------
    UsageError : it is none, or not finite.
    """
    if isinstance(value, float) and not shape and math.isfinite(value):
        return np.array([value])  # what is set at every exchange
    expected = f"an array of shape {shape}" if shape else "a number"
    hint = f"a list or array of {math.prod(shape)} numbers, or one number for all" if shape else "a number, as 2.0"
    try:
        numbers = numbers_given(np.asarray(value) * 1)  # which makes numbers of truth values
    except (TypeError, ValueError):
        raise UsageError(f"{what} needs {expected}, not {value!r}", hint=hint) from None
    if numbers.shape != shape and numbers.ndim:
        raise UsageError(f"{what} needs {expected}, not one of shape {numbers.shape}", hint=hint)
    if not np.all(np.isfinite(numbers)):
        raise UsageError(f"{what} must be finite, not {value}", hint=hint)
    return np.broadcast_to(numbers, shape).ravel()


def find_parameters(model: CompiledModel, wanted: Sequence[str]) -> list[int]:
    """Indices of parameters by name; an array's name stands for all its elements."""
    return [located for name in wanted for located in _located(model, name).indices.tolist()]


def _located(model: CompiledModel, name: str) -> Located:
    names = model.layout.parameters
    known = f"the parameters are {listed(names) or '(none)'}"
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise UsageError(f"a parameter has a name, and {name!r} is none", hint=known)
    located = model.located.get(name)
    if located is None or located.quantity.vector != "p":
        if name in model.constants:
            own = name.rpartition(".")[2]
            hint = f"give it there: {model.name}({name}=...)" if own == name else f'give it there: {model.name}(mods={{"{name}": ...}})'
            raise UsageError(f"{name} is a constant, which is set when the model is made", hint=hint)
        if _START in name:
            raise _no_start_value(model, name, known)
        if located is not None:
            raise UsageError(f"{name} is a variable of the model, and no parameter", hint=_instead(name, located.quantity.vector))
        raise UsageError(f"the model has no parameter {name!r}", hint=suggestion(name, names, known))
    return located


def _instead(name: str, vector: str) -> str:
    """What may be meant by the name of a variable where one of a parameter is wanted."""
    if vector not in ("y", "m"):
        return "it is computed from others; name a parameter that it is made of"
    own, bracket, index = name.partition("[") if name.endswith("]") else (name, "", "")
    return f"its start value is a parameter by the name '{own}(0){bracket}{index}'"


def _no_start_value(model: CompiledModel, name: str, known: str) -> UsageError:
    """``x(0)`` is a parameter only of runs that were asked for it, and others have no such variable."""
    own = name.replace(_START, "")
    found = model.located.get(own)
    if found is None:
        items = [item for quantity in model.quantities if quantity.role in ("state", "algebraic", "discrete") for item in quantity.names]
        starts = [item.replace("[", f"{_START}[") if item.endswith("]") else f"{item}{_START}" for item in items]
        return UsageError(f"the model has no variable {own!r} whose start value {name!r} could be", hint=suggestion(name, starts, known))
    if found.quantity.vector not in ("y", "m") or found.quantity.role == "input":
        article = "an" if found.quantity.role[0] in "aeiou" else "a"
        return UsageError(f"{own} is {article} {found.quantity.role}, and has no start value", hint=known)
    hint = f'ask for it beforehand: y0={{"{own}": ...}} or sensitivities=["{name}"] of tg.prepare, then with_parameters(**{{"{name}": ...}})'
    return UsageError(f"the start value of {own} is no parameter of this run, which begins as the model says", hint=hint)


def refuse_clocks_too_fast(model: CompiledModel, p: FloatArray, start: float, end: float) -> None:
    """UsageError for a clock of constant period whose ticks are the same floating-point number at the end of the run."""
    if not model.clocks:
        return
    periods = model.start.periods(p)
    for k in np.flatnonzero(too_fast(periods, start, end)).tolist():
        finest = _finest(start, end)
        raise UsageError(
            f"the clock {model.clocks[k].label or k + 1} ticks every {periods[k]:g}, and at t = {end:g} two times are at least {finest:.2g} apart",
            origin=model.clocks[k].origin,
            hint="a shorter run, or a longer period",
        )


def too_fast(periods: FloatArray, start: float, end: float) -> NDArray[np.bool_]:
    """Which periods are positive and shorter than floating-point numbers resolve during the run."""
    return (periods > 0.0) & (periods < _finest(start, end))


def _finest(start: float, end: float) -> float:
    return math.ulp(max(abs(start), abs(end)))
