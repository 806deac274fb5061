"""Parameters from data by least squares (stage: fit): ``tg.fit``, from the caller's words to a ``Fit``.

The derivatives are those of the runs, exact through events, so that no step for differences has to be chosen. Least squares is SciPy's trust region
reflective method (Branch, Coleman and Li 1999, doi:10.1137/S1064827595289108).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import IdentifiabilityWarning, RunError, TidegateError, UsageError
from tidegate.executive import find_parameters
from tidegate.fit.evaluation import Objective
from tidegate.fit.fitted import Fit, Outcome, Question
from tidegate.fit.observations import Series, observations
from tidegate.model import Lowerable, Variable
from tidegate.names import given_by_name, unknown_name
from tidegate.results import Result
from tidegate.simulate import prepare, simulate
from tidegate.starts_and_inputs import with_named_starts
from tidegate.wrong_calls import explained

__all__ = ["fit"]

FloatArray = NDArray[np.float64]
_PACKAGE: Final = str(Path(__file__).parents[1])
_RTOL: Final = 1e-8  # of a run: tighter than usual, since differences of runs decide
_ENOUGH: Final = 1e-10  # relative change of parameters and of the sum of squares at which least squares ends
_RESOLUTION: Final = 100.0  # times rtol: smaller singular values are errors of the runs
_BEYOND: Final = 1.25  # times the length up to the last datum: so far runs go, that late events find room
_LONGER: Final = (1.0, 2.0, 4.0, 8.0)  # times that, where the events that were measured have not all come
_LOSSES: Final = ("linear", "soft_l1", "huber", "cauchy", "arctan")
_NOT_HERE: Final = {
    "outputs": "runs are recorded at the times of the data",
    "sensitivities": "derivatives by the fitted parameters are always computed",
    "dense": "fit.result has dense output",
    "event_rows": "fit.result has both sides of its events",
    "out": "fit.result.save(path) writes the run with the fitted values",
}


@explained
def fit(  # noqa: PLR0913, options are keywords, and help and editors show them with their defaults
    source: Any,
    data: Any = None,
    parameters: str | Sequence[str] | Mapping[str, float | None] = (),
    t_span: tuple[float, float] | None = None,
    *,
    events: Mapping[str, Any] | None = None,
    sigma: Any = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    fixed: Mapping[str, Any] | None = None,
    loss: str = "linear",
    max_runs: int = 200,
    rtol: float = _RTOL,
    **options: Any,
) -> Fit:
    """Find values of parameters with which a model fits data best, in the sense of least squares, by exact derivatives through events.

    Parameters
    ----------
    source : the model, as for ``tg.simulate``.
    data : ``{"level": (times, values)}``, or (times, values, standard deviations); a table ``{"time": times, "level": values}``; a DataFrame with the
        times as index or in a column ``time``; a Dataset along ``time``. What is NaN was not measured.
    parameters : names; or a dict of names and the values to start from, None for the model's own.
    t_span : start and end of the runs; without it from 0 to a quarter beyond the last datum.
    events : times of events by a text in their cause: ``{"h < 0": times}``, from the first event on; NaN where one was not measured.
    sigma : standard deviations of the data: a number, or by name a number or a list. Without them all data weigh the same, and the spread is
        taken from what is left.
    bounds : limits by name, inside those that the model declares.
    fixed : values of other parameters.
    loss : "linear", or one of SciPy's that forgive outliers: "soft_l1", "huber", "cauchy", "arctan".
    max_runs : end after so many.
    rtol, options : of the runs, as for ``tg.simulate``.

    Returns
    -------
    Fit
        ``values``, ``standard_errors``, ``covariance``, ``correlation``, ``residuals``, ``result``, the run with these
        values; ``print`` shows a report.

    Raises
    ------
    UsageError : a name, a value or the data do not fit, or the run with the start values has not what was measured.
    RunError : the run with the start values fails.

    Warns
    -----
    IdentifiabilityWarning : the data do not determine some of the parameters, which are named.

    Examples
    --------
    >>> import tidegate as tg
    >>> model = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 1.0})
    >>> found = tg.fit(model, {"x": ([0.5, 1.0], [0.3679, 0.1353])}, ["k"])
    >>> f"{found.values['k']:.3f}"
    '2.000'
    """
    _check_options(options, loss, max_runs)
    names, given = _asked(parameters)
    limits = _declared(source)
    source = with_named_starts(source, names)
    end = 1.0 if t_span is None else t_span[1]
    first = prepare(source, (0.0, end) if t_span is None else t_span, rtol=rtol, dense=False, parameters=dict(fixed or {}), **options)
    model = first.problem.model
    indices = find_parameters(model, names)
    names = tuple(dict.fromkeys(model.layout.parameters[k] for k in indices))
    clash = [name for name in names if name in (fixed or {})]
    if clash:
        raise UsageError(f"parameter {clash[0]} is fitted, and fixed", hint="one of them")
    series = observations(model.layout, model.name, model.time_unit, data, events, sigma)
    is_open = t_span is None and any(one.is_events for one in series)
    if t_span is None:
        t_span = (0.0, _BEYOND * _last(series))
    start = np.array(
        [first.problem.p[model.layout.parameters.index(name)] if given.get(name) is None else given[name] for name in names], dtype=float
    )
    lower, upper = _bounds(names, limits, bounds, start)
    times = np.unique(np.concatenate([one.places for one in series if not one.is_events] or [np.zeros(0)]))
    settings: dict[str, Any] = {"rtol": rtol, "sensitivities": list(names), **options}
    recorded = {"outputs": times if times.size else [t_span[0]], "dense": False, "event_rows": False, "parameters": dict(fixed or {})}
    ends = [t_span[1] * longer for longer in (_LONGER if is_open else (1.0,))]
    prepared = [prepare(source, (t_span[0], end), **recorded, **settings) for end in ends]
    units = {name: model.located[name].quantity.unit for name in names}
    question = Question(model.name, names, start, lower, upper, units, series, _RESOLUTION * rtol)
    outcome = _solved(question, Objective(prepared, names, series), loss, max_runs)
    values = dict(zip(names, outcome.x.tolist(), strict=True))
    found = Fit(question, outcome, _run(source, t_span, {**(fixed or {}), **values}, settings))
    for sentence in found.unidentified:
        warnings.warn(sentence, IdentifiabilityWarning, skip_file_prefixes=(_PACKAGE,))
    return found


def _solved(question: Question, objective: Objective, loss: str, max_runs: int) -> Outcome:
    from scipy import optimize

    try:
        objective.at(question.start)
    except TidegateError as error:
        error.add(f"this was the run with the start values, {objective.told(question.start)}")
        raise
    solved: Any = optimize.least_squares(
        objective.differences,
        question.start,
        jac=objective.slopes,
        bounds=(question.lower, question.upper),
        x_scale="jac",
        loss=loss,
        xtol=_ENOUGH,
        ftol=_ENOUGH,
        gtol=_ENOUGH,
        max_nfev=max_runs,
    )
    best = objective.at(solved.x)
    at_limit = (solved.active_mask != 0) | (solved.x <= question.lower) | (solved.x >= question.upper)
    return Outcome(
        x=solved.x,
        model=best.model,
        differences=best.differences,
        slopes=best.slopes if loss == "linear" else solved.jac,
        at_limit=at_limit,
        success=bool(solved.success),
        message=_ENDS.get(int(solved.status), str(solved.message)),
        runs=objective.runs,
        failures=objective.failures,
    )


_ENDS: Final = {
    0: "the most runs that were allowed",
    1: "the slope of the sum of squares is zero",
    # Which of the two stops first is a matter of rounding, at differences of 1e-14.
    **dict.fromkeys((2, 3, 4), "the sum of squares or the parameters change no more"),
}


def _asked(parameters: Any) -> tuple[tuple[str, ...], dict[str, float | None]]:
    """Names, and start values that are given."""
    given: dict[str, float | None] = {}
    if isinstance(parameters, Mapping):
        given = dict(cast("Mapping[str, float | None]", parameters))
        for name, value in given.items():
            try:
                is_number = value is None or np.isfinite(float(value))
            except (TypeError, ValueError):
                is_number = False
            if not is_number:
                is_pair = isinstance(cast("object", value), tuple | list) and len(cast("Sequence[Any]", value)) == 2
                hint = f'limits are given by themselves: bounds={{"{name}": {value!r}}}' if is_pair else "None for the model's own"
                raise UsageError(f"the start value of {name} must be a finite number, not {value!r}", hint=hint)
        names = tuple(given)
    else:
        if not isinstance(parameters, Iterable):
            raise UsageError(f"parameters must be names, or start values by name, not {parameters!r}", hint='tg.fit(model, data, ["k"])')
        names = (parameters,) if isinstance(parameters, str) else tuple(cast("Iterable[str]", parameters))
    if not names:
        raise UsageError("no parameter is to be fitted", hint='tg.fit(model, data, ["k"])')
    return names, given


def _declared(source: Any) -> dict[str, Variable]:
    """The model's parameters by the names of their elements."""
    if isinstance(source, type) or not isinstance(source, Lowerable):
        return {}
    model: Any = source.lower()
    return {name: variable for variable in model.parameters for name in variable.names}


def _bounds(
    names: Sequence[str], declared: Mapping[str, Variable], given: Mapping[str, tuple[float | None, float | None]] | None, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    lower, upper = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    given = given_by_name("bounds", given, "bounds={name: (0.0, 2.0)}, None for no limit")
    for name in given:
        if name not in names:
            raise unknown_name("fitted parameter", name, list(names))
    for k, name in enumerate(names):
        variable = declared.get(name)
        if variable is not None and variable.kind != "real":
            raise UsageError(f"parameter {name} is {variable.kind}, and least squares changes numbers a little", hint="tg.sweep tries values")
        if variable is not None and variable.minimum is not None:
            lower[k] = np.nextafter(variable.minimum.value, np.inf) if variable.minimum.is_open else variable.minimum.value
        if variable is not None and variable.maximum is not None:
            upper[k] = np.nextafter(variable.maximum.value, -np.inf) if variable.maximum.is_open else variable.maximum.value
        least, most = given.get(name, (None, None))
        lower[k], upper[k] = max(lower[k], -np.inf if least is None else least), min(upper[k], np.inf if most is None else most)
        if not lower[k] < upper[k]:
            raise UsageError(f"there is nothing between the limits of {name}, {lower[k]:g} and {upper[k]:g}", hint="a wider bound, or fixed={...}")
        if not lower[k] <= start[k] <= upper[k]:
            raise UsageError(f"{name} starts at {start[k]:g}, outside its limits {lower[k]:g} and {upper[k]:g}", hint="parameters={name: start}")
    return lower, upper


def _last(series: Sequence[Series]) -> float:
    last = max(float((one.values if one.is_events else one.places).max(initial=0.0)) for one in series)
    if not last > 0.0:
        raise UsageError("all data are at t = 0 or before", hint="t_span=(start, end) says how long the runs are")
    return last


def _run(source: Any, t_span: tuple[float, float], values: Mapping[str, Any], settings: Mapping[str, Any]) -> Result:
    """The run with the fitted values; behind the data it may fail."""
    try:
        return simulate(source, t_span, parameters=values, **settings)
    except RunError as error:
        if error.result is None:
            raise
        return error.result


def _check_options(options: Mapping[str, Any], loss: str, max_runs: int) -> None:
    for name, hint in _NOT_HERE.items():
        if name in options:
            raise UsageError(f"a fit has no option {name!r}", hint=hint)
    if "parameters" in options or loss not in _LOSSES:
        raise UsageError(f"loss is {loss!r}", hint=f"one of {', '.join(_LOSSES)}")
    if isinstance(max_runs, bool) or max_runs < 1:
        raise UsageError(f"max_runs is {max_runs!r}", hint="max_runs=200")
