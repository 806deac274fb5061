"""From what the caller chose to a problem (stage: executive). In: a compiled model, a time span, options. Out: the run, ready to start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.compiled.compiled_model import CompiledModel, Direction, StartValues
from tidegate.compiled.told_tolerance import tell_tolerance
from tidegate.errors import UsageError
from tidegate.executive.initial_actions import acted_on
from tidegate.executive.options import DISC_HALVINGS, MAX_HALVINGS, UNLIMITED, Options, check_options, numbers_given, output_times
from tidegate.executive.parameters import directions_of, find_parameters, parameter_vector, refuse_clocks_too_fast
from tidegate.integrators.interface import Problem
from tidegate.names import listed, suggestion

__all__ = ["problem_of", "with_parameters"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def problem_of(compiled: CompiledModel, t_span: tuple[float, float], options: Options, times: FloatArray | None = None) -> Problem:
    """The run of a model with these options, start values included.

    Parameters
    ----------
    times : to record at, if not those that the options say.

    Raises
    ------
    UsageError : an option or a name that does not fit.
    """
    start, end = check_options(options, t_span)
    chosen = _chosen(compiled, options.sensitivities)
    p = parameter_vector(compiled, options.parameters)
    directions = directions_of(compiled, chosen, options.parameters, p)
    compiled = (compiled.fitting and compiled.fitting(p)) or compiled
    refuse_clocks_too_fast(compiled, p, start, end)
    waits = compiled.start.asks_solution
    values = _start_values(compiled, p, start, directions, options.rtol)
    every_step = options.outputs is None
    problem = Problem(
        model=compiled,
        t_start=start,
        t_end=end,
        y=values.y,
        m=values.m,
        p=p,
        rtol=options.rtol,
        atol=_absolute_tolerances(compiled, options),
        goes_by_size=_goes_by_size(compiled, options.atol),
        step_max=options.max_step or np.inf,
        first_step=options.first_step or 0.0,
        sensitivity_parameters=np.array(chosen, dtype=np.int64),
        directions=tuple(directions),
        dy_dp=values.dy_dp,
        dd_dp=values.dd_dp,
        output_times=output_times(options, start, end) if times is None else times,
        step_rows=every_step,
        event_rows=every_step if options.event_rows is None else options.event_rows,
        keep_polynomials=options.dense,
        step_min=options.min_step or 0.0,
        max_halvings=int(options.max_halvings or (MAX_HALVINGS if options.max_step else UNLIMITED)),
        disc_halvings=int(options.disc_halvings or DISC_HALVINGS),
        proves=options.events == "proved",
    )
    return acted_on(problem) if waits else problem


def with_parameters(old: Problem, options: Options) -> Problem:
    """The same run with the parameters of these options, which are those of the old one otherwise.

    Raises
    ------
    UsageError : a name or a value that does not fit.
    """
    model = old.model
    p = parameter_vector(model, options.parameters)
    if model.start.asks_solution or (model.fitting and model.fitting(p)) not in (None, model):
        return problem_of(model, (old.t_start, old.t_end), options)
    directions = directions_of(model, old.sensitivity_parameters.tolist(), options.parameters, p)
    refuse_clocks_too_fast(model, p, old.t_start, old.t_end)
    values = _start_values(model, p, old.t_start, directions, options.rtol)
    return old.altered(y=values.y, m=values.m, p=p, directions=tuple(directions), dy_dp=values.dy_dp, dd_dp=values.dd_dp)


def _start_values(model: CompiledModel, p: FloatArray, start: float, directions: Sequence[Direction], rtol: float) -> StartValues:
    values = model.start.values(p, start, directions, with_actions=not model.start.asks_solution)
    tell_tolerance(model.layout, values.m, rtol)
    return values


def _chosen(compiled: CompiledModel, wanted: str | Sequence[str] | None) -> list[int]:
    if wanted == "all":
        return list(range(len(compiled.layout.parameters)))
    names = [] if wanted is None else [wanted] if isinstance(wanted, str) else wanted
    return list(dict.fromkeys(find_parameters(compiled, names)))


def _absolute_tolerances(compiled: CompiledModel, options: Options) -> FloatArray:
    usual = 0.01 * options.rtol * np.where(compiled.nominal > 0.0, compiled.nominal, 1.0)
    if options.atol is None:
        return usual
    if isinstance(options.atol, Mapping):
        result = _named_tolerances(compiled, options.atol, usual)
    else:
        array, own = _numbers(options.atol), [shown for shown in compiled.layout.shown if shown.column.role == "unknown"]
        if array.ndim == 0:
            result = np.full(len(usual), float(array))
        elif array.shape == (len(own),):
            result = _named_tolerances(compiled, {shown.column.name: value for shown, value in zip(own, array.tolist(), strict=True)}, usual)
        else:
            raise UsageError(f"atol has {array.size} values for {len(own)} unknowns", hint="a number, one number an unknown, or a dict by name")
    if not np.all(np.isfinite(result)) or np.any(result <= 0):
        raise UsageError("atol must be positive everywhere", hint="a small number, e.g. 1e-12, where a variable may be exactly zero")
    return result


def _goes_by_size(compiled: CompiledModel, given: Any) -> BoolArray:
    """Unknowns of which nobody said how large they are, or how accurate they have to be."""
    goes = compiled.nominal == 0.0
    if given is None:
        return goes
    if not isinstance(given, Mapping):
        return np.zeros_like(goes)
    named = _named_tolerances(compiled, dict.fromkeys(cast("Mapping[str, Any]", given), 0.5), np.ones(len(goes)))
    return goes & (named == 1.0)


def _named_tolerances(compiled: CompiledModel, given: Mapping[str, ArrayLike], usual: FloatArray) -> FloatArray:
    """One an unknown of the system; of several names for one the most accurate counts."""
    # what the compiler added has a name too
    indices = {name: k for k, name in enumerate(compiled.layout.unknowns)}
    indices |= {shown.column.name: shown.index for shown in compiled.layout.shown if shown.source == "unknown"}
    # what follows from others has the accuracy of these
    others = {shown.column.name for shown in compiled.layout.shown if shown.column.role == "unknown" and shown.source != "unknown"}
    by_name = {name: float(usual[k]) for name, k in indices.items()}
    for name, value in given.items():
        located = compiled.located.get(name)
        elements = [name] if located is None else located.names
        if any(element not in indices and element not in others for element in elements):
            known = [*indices, *others]
            hint = suggestion(name, known, f"the unknowns are {listed(known)}")
            raise UsageError(f"atol names {name!r}, which is no unknown of the model", hint=hint)
        numbers = _numbers(value)
        if numbers.size not in (1, len(elements)):
            raise UsageError(f"atol has {numbers.size} values for {name}, which has {len(elements)}", hint="a number, or one for each element")
        by_name |= dict(zip(elements, np.broadcast_to(numbers.ravel(), len(elements)).tolist(), strict=True))
    result = np.full(len(usual), np.inf)
    for name, value in by_name.items():
        if name in indices:
            result[indices[name]] = np.minimum(result[indices[name]], value)  # a NaN stays one, and is refused
        elif not (np.isfinite(value) and value > 0.0):
            result[:] = np.nan
    return result


def _numbers(given: ArrayLike) -> FloatArray:
    try:
        return numbers_given(given)
    except (TypeError, ValueError):
        raise UsageError(f"atol must be made of numbers, not {given!r}", hint="a number, one number an unknown, or a dict by name") from None
