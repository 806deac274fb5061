"""From what the caller chose to a problem (stage: executive). In: a compiled model, a time span, options. Out: the run, ready to start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.errors import UsageError
from tidegate.executive.initial import acted_on
from tidegate.executive.options import Options, check_options, numbers_given, output_times
from tidegate.executive.parameters import find_parameters, parameter_vector, refuse_clocks_too_fast
from tidegate.integrators.interface import Problem
from tidegate.names import listed, suggestion

__all__ = ["problem_of"]


def problem_of(compiled: CompiledModel, t_span: tuple[float, float], options: Options) -> Problem:
    """The run of a model with these options, start values included.

    Raises
    ------
    UsageError : an option or a name that does not fit.
    """
    start, end = check_options(options, t_span)
    chosen = _chosen(compiled, options.sensitivities)
    p = parameter_vector(compiled, options.parameters)
    refuse_clocks_too_fast(compiled, p, start, end)
    waits = compiled.start.asks_solution
    values = compiled.start.values(p, start, chosen, with_actions=not waits)
    times = output_times(options, start, end)
    every_step = times is None
    problem = Problem(
        model=compiled,
        t_start=start,
        t_end=end,
        y=values.y,
        m=values.m,
        p=p,
        rtol=options.rtol,
        atol=_absolute_tolerances(compiled, options),
        step_max=options.max_step or np.inf,
        first_step=options.first_step or 0.0,
        sensitivity_parameters=np.array(chosen, dtype=np.int64),
        dy_dp=values.dy_dp,
        dd_dp=values.dd_dp,
        output_times=np.zeros(0) if times is None else times,
        step_rows=every_step,
        event_rows=every_step if options.event_rows is None else options.event_rows,
        keep_polynomials=options.dense,
    )
    return acted_on(problem) if waits else problem


def _chosen(compiled: CompiledModel, wanted: str | Sequence[str] | None) -> list[int]:
    if wanted == "all":
        return list(range(len(compiled.layout.parameters)))
    names = [] if wanted is None else [wanted] if isinstance(wanted, str) else wanted
    return list(dict.fromkeys(find_parameters(compiled, names)))


def _absolute_tolerances(compiled: CompiledModel, options: Options) -> NDArray[np.float64]:
    names = compiled.layout.unknowns
    usual = 0.01 * options.rtol * np.where(compiled.nominal > 0.0, compiled.nominal, 1.0)
    given = options.atol
    if given is None:
        return usual
    if isinstance(given, Mapping):
        for name, value in given.items():
            place = compiled.places.get(name)
            # what the compiler added has a name too
            places = [k for k, known in enumerate(names) if known == name] if place is None else place.indices
            if not len(places) or (place is not None and place.quantity.vector != "y"):
                hint = suggestion(name, names, f"the unknowns are {listed(names)}")
                raise UsageError(f"atol names {name!r}, which is no unknown of the model", hint=hint)
            numbers = _numbers(value)
            if numbers.size not in (1, len(places)):
                raise UsageError(f"atol has {numbers.size} values for {name}, which has {len(places)}", hint="a number, or one for each element")
            usual[places] = numbers.ravel()
        result = usual
    else:
        array = _numbers(given)
        if array.ndim == 0:
            result = np.full(len(names), float(array))
        elif array.shape == (len(own := [shown.index for shown in compiled.layout.shown if shown.column.role == "unknown"]),):
            result = usual
            result[own] = array
        else:
            raise UsageError(f"atol has {array.size} values for {len(own)} unknowns", hint="a number, one number an unknown, or a dict by name")
    if not np.all(np.isfinite(result)) or np.any(result <= 0):
        raise UsageError("atol must be positive everywhere", hint="a small number, e.g. 1e-12, where a variable may be exactly zero")
    return result


def _numbers(given: ArrayLike) -> NDArray[np.float64]:
    try:
        return numbers_given(given)
    except (TypeError, ValueError):
        raise UsageError(f"atol must be made of numbers, not {given!r}", hint="a number, one number an unknown, or a dict by name") from None
