"""A result as a labelled dataset (stage: results). In goes a ``Result``, out come xarray objects; ``reading`` is the way back.

Layout: variables along ``time``, arrays with further dimensions ``x_0, x_1``; sensitivities ``d_x`` along ``time`` and ``parameter``; what belongs
to events along ``event``; the step polynomials, only where a file is made of it, along ``dense_step``. Texts with structure are JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.errors import UsageError
from tidegate.numbers_as_texts import flag_attributes
from tidegate.results.columns import Column, Group, group_columns, storage_names
from tidegate.results.dense_outputs import DenseOutputs
from tidegate.results.event_log import EventLog
from tidegate.results.interpolant import Interpolant, Side
from tidegate.results.presence import hides_absent, is_absent
from tidegate.results.statistics import Statistics
from tidegate.versions import version_of

if TYPE_CHECKING:
    import xarray as xr


__all__ = [
    "LabelledResult",
    "at_times",
    "attributes_of",
    "dataset_of",
    "dense_variables",
    "of_parts",
    "time_attributes",
    "trajectories_of",
    "trajectory_of",
    "versions_told",
]

Variable = tuple[tuple[str, ...], NDArray[Any]] | tuple[tuple[str, ...], NDArray[Any], dict[str, Any]]


class LabelledResult(Protocol):
    """What of a ``Result`` is given labels; see there."""

    model_name: str
    columns: tuple[Column, ...]
    t: NDArray[np.float64]
    values: NDArray[np.float64]
    parameters: dict[str, float]
    parameter_units: dict[str, str]
    time_unit: str
    folds_names: bool
    sensitivity_parameters: tuple[str, ...]
    sensitivities: NDArray[np.float64] | None
    events: EventLog
    statistics: Statistics
    interpolant: Interpolant | None
    dense_outputs: DenseOutputs | None
    options: dict[str, Any]
    status: Any
    message: str
    groups: Any  # of type Group; the checker takes no cached property for a tuple

    def column(self, name: str) -> int:
        """Index of a scalar."""
        ...

    def group(self, name: str) -> Group:
        """What a name stands for."""
        ...

    def __contains__(self, name: object) -> bool: ...


_SIDES: Final[tuple[Side, ...]] = ("left", "right")
_VERSIONED: Final = ("tidegate", "numpy", "xarray")  # what decides the numbers and their form in a file


def trajectories_of(result: LabelledResult, *, is_whole: bool = False) -> xr.Dataset:
    """Values and sensitivities, without the events; hidden columns, which no user asks for, only where it is to be whole."""
    import xarray as xr

    coordinates: dict[str, Any] = {"time": ("time", result.t, time_attributes(result))}
    if result.sensitivities is not None:
        coordinates["parameter"] = ("parameter", np.array(result.sensitivity_parameters, dtype=str))
    variables: dict[str, Variable] = {}
    groups: Sequence[Group] = group_columns(result.columns, is_whole=True) if is_whole else result.groups
    names = storage_names(groups)
    for group in groups:
        name, derivative = names[group.name]
        attributes = attributes_of(group, result.columns[group.columns[0]], name)
        variables[name] = _values(group, name, result.values, attributes)
        if result.sensitivities is not None:
            cube = result.sensitivities[:, :, list(group.columns)].reshape(result.t.size, len(result.sensitivity_parameters), *group.shape)
            dimensions = ("time", "parameter", *_dimensions(group, name))
            variables[derivative] = (dimensions, cube, {"long_name": f"derivative of {group.name} by each parameter", "derivative_of": name})
    return xr.Dataset(variables, coords=coordinates, attrs=_run_attributes(result))


def trajectory_of(result: LabelledResult, group: Group, stored_name: str) -> xr.DataArray:
    """One variable of the dataset, made without the others."""
    import xarray as xr

    dimensions, values, attributes = _values(group, stored_name, result.values, attributes_of(group, result.columns[group.columns[0]], stored_name))
    return xr.DataArray(values, {"time": ("time", result.t, time_attributes(result))}, dimensions, stored_name, attributes)


def time_attributes(result: LabelledResult) -> dict[str, str]:
    """What is said of the time."""
    return {"units": result.time_unit} if result.time_unit else {}


def dataset_of(result: LabelledResult, *, trajectories: xr.Dataset | None = None) -> xr.Dataset:
    """Trajectories and events."""
    base = trajectories if trajectories is not None else trajectories_of(result)
    coordinates, variables = _event_variables(result.events, result.sensitivity_parameters if result.sensitivities is not None else ())
    return base.assign(variables).assign_coords(coordinates)


def dense_variables(interpolant: Interpolant) -> dict[str, Variable]:
    """The step polynomials, to be stored in a file."""
    return {
        "dense_start": (("dense_step",), interpolant.starts, {"long_name": "time where the step begins"}),
        "dense_width": (("dense_step",), interpolant.widths, {"long_name": "length of the step"}),
        "dense_coefficients": (
            ("dense_step", "dense_power", "dense_variable"),
            interpolant.coefficients,
            {"long_name": "polynomials of the steps in powers of (time - start) / width"},
        ),
        "dense_variable": (("dense_variable",), np.array(interpolant.names, dtype=str)),
    }


def _dimensions(group: Group, name: str) -> tuple[str, ...]:
    return group.dimensions or tuple(f"{name}_{axis}" for axis in range(len(group.shape)))


def _values(
    group: Group, name: str, rows: NDArray[np.float64], attributes: dict[str, Any]
) -> tuple[tuple[str, ...], NDArray[np.float64], dict[str, Any]]:
    values = rows[:, list(group.columns)].reshape(rows.shape[0], *group.shape)
    return ("time", *_dimensions(group, name)), values, attributes


def attributes_of(group: Group, column: Column, stored_name: str) -> dict[str, Any]:
    """What is said of a variable; its own name where it is stored under another."""
    texts = {"role": column.role, "units": column.unit, "long_name": column.description}
    texts |= {"display_units": column.display_unit, "quantity": column.quantity}
    attributes: dict[str, Any] = {key: text for key, text in texts.items() if text}
    if column.is_hidden:
        attributes["hidden"] = 1
    attributes |= flag_attributes(column.texts)
    if stored_name != group.name:
        attributes["user_name"] = group.name
    return attributes


def _run_attributes(result: LabelledResult) -> dict[str, Any]:
    columns = [[c.name, c.role, c.unit, c.description, c.display_unit, c.quantity, c.present_while, c.is_hidden, c.texts] for c in result.columns]
    return {
        "model": result.model_name,
        "status": result.status,
        "message": result.message,
        "options": json.dumps(result.options, default=str),
        "parameters": json.dumps(result.parameters, default=float),
        "parameter_units": json.dumps(result.parameter_units),
        "statistics": json.dumps(result.statistics.to_dict(), default=str),
        "columns": json.dumps(columns),
        **({"folds_names": 1} if result.folds_names else {}),
        "versions": versions_told(),
    }


@cache
def versions_told() -> str:
    """Of the packages that decide the numbers; looking for them takes longer than many a run."""
    return ", ".join(f"{package} {version_of(package)}" for package in _VERSIONED)


def _event_variables(events: EventLog, parameters: Sequence[str]) -> tuple[dict[str, Any], dict[str, Variable]]:
    log = list(events)
    names = list(dict.fromkeys(name for event in log for name in (*event.before, *event.after)))
    derivatives = list(dict.fromkeys([*parameters, *(name for event in log for name in event.dt_dp)]))
    # one dimension with the sensitivities where both have the same parameters
    dimension = "parameter" if derivatives == list(parameters) else "event_parameter"
    nan = float("nan")

    def texts(values: Sequence[str]) -> NDArray[Any]:
        return np.array(values, dtype=str)

    def table(rows: list[list[float]], width: int) -> NDArray[np.float64]:
        return np.array(rows, dtype=float).reshape(len(log), width)

    origins = [[[origin.file, origin.line, origin.text, origin.path] for origin in event.origins] for event in log]
    variables: dict[str, Variable] = {
        "event_time": (("event",), np.array(events.times, dtype=float)),
        "event_kind": (("event",), texts([event.kind for event in log])),
        "event_cause": (("event",), texts(["\n".join(event.causes) for event in log])),
        "event_origin": (("event",), texts([json.dumps(origin) for origin in origins])),
        "event_message": (("event",), texts(["\n".join(event.messages) for event in log])),
        "event_priority": (("event",), np.array([event.priority for event in log], dtype=np.int64)),
        "event_rounds": (("event",), np.array([event.rounds for event in log], dtype=np.int64)),
    }
    coordinates: dict[str, Any] = {}
    if names:
        coordinates["event_variable"] = ("event_variable", texts(names))
        variables["event_before"] = (("event", "event_variable"), table([[event.before.get(n, nan) for n in names] for event in log], len(names)))
        variables["event_after"] = (("event", "event_variable"), table([[event.after.get(n, nan) for n in names] for event in log], len(names)))
    if derivatives:
        if dimension == "event_parameter":
            coordinates[dimension] = (dimension, texts(derivatives))
        rows = [[event.dt_dp.get(n, nan) for n in derivatives] for event in log]
        variables["event_dt_dp"] = (("event", dimension), table(rows, len(derivatives)), {"long_name": "derivative of the event's time"})
    return coordinates, variables


def of_parts(result: LabelledResult, labels: xr.Dataset, group: Group, name: str, *, are_derivatives: bool = False) -> xr.DataArray:
    """Values, or their derivatives, of a name that stands for variables of many parts.

    Parameters
    ----------
    labels : trajectories of the result, whose coordinates it has.
    """
    import xarray as xr

    values = result.sensitivities if are_derivatives else result.values
    assert values is not None
    axes = ("time", "parameter") if are_derivatives else ("time",)
    attributes = {} if are_derivatives else attributes_of(group, result.columns[group.columns[0]], name)
    whole = values[..., list(group.columns)].reshape(*values.shape[:-1], *group.shape)
    shown = f"d_{name}" if are_derivatives else name
    return xr.DataArray(whole, dims=(*axes, *group.dimensions), coords={axis: labels[axis] for axis in axes}, name=shown, attrs=attributes)


def at_times(result: LabelledResult, times: ArrayLike, names: str | Sequence[str] | None, side: Side) -> xr.Dataset | xr.DataArray:
    """Dense output of some variables, or of the one that is named (``Result.at``)."""
    from tidegate.results.dense_dataset import DenseDataset

    given = _checked_times(times)
    if side not in _SIDES:
        raise UsageError(f"side is {side!r}", hint='"right" for the values after an event at that time, "left" for those before it')
    interpolant = result.interpolant
    if interpolant is None:
        raise UsageError("this result keeps no dense output", hint="ask for the times beforehand: tg.simulate(..., outputs=times)")
    t = np.atleast_1d(given)
    chosen = _chosen(result, names)
    sources = _Sources(result, interpolant, t, side)
    stored = storage_names(result.groups)
    variables: dict[str, Variable] = {}
    shown: str = ""
    for group in chosen:
        column = result.columns[group.columns[0]]
        values = sources.shown(group, column.role)
        if values is None and names is None:
            continue
        if values is None:
            raise UsageError(
                f"{column.role} {group.name} has no dense output: it is known only at the {result.t.size} recorded times",
                hint="ask for the times beforehand: tg.simulate(..., outputs=times)",
            )
        shown = stored[group.name][0] if group.name in stored else group.name
        dimensions = ("time", *_dimensions(group, shown))
        values = values.reshape(t.size, *group.shape)
        variables[shown] = (dimensions if given.ndim else dimensions[1:], values if given.ndim else values[0], attributes_of(group, column, shown))
    coordinates = {"time": (("time",) if given.ndim else (), given, time_attributes(result))}
    dataset = DenseDataset(variables, coords=coordinates, attrs={"folds_names": 1} if result.folds_names else None)
    return dataset[shown] if isinstance(names, str) else dataset


def _checked_times(times: ArrayLike) -> NDArray[np.float64]:
    try:
        given = np.asarray(times, dtype=float)
    except (TypeError, ValueError):
        hint = "result.at(2.5), result.at([1.0, 2.0])"
        if isinstance(times, str):
            hint = f'result["{times}"] for all its rows, result.at(2.5, "{times}") for its value at a time'
        raise UsageError(f"at({times!r}): a time or a list of times is expected", hint=hint) from None
    if given.ndim > 1:
        raise UsageError(f"at was given times of shape {given.shape}", hint="one time or a list of them")
    return given


class _Sources:
    """Where values at some times come from: step polynomials, formulas of outputs, rows of what is constant between events."""

    def __init__(self, result: LabelledResult, interpolant: Interpolant, times: NDArray[np.float64], side: Side) -> None:
        self._result, self._interpolant, self._times = result, interpolant, times
        self._side: Side = side
        self._dense = interpolant(times, side=side)
        self._position = {name: i for i, name in enumerate(interpolant.names)}
        outputs = result.dense_outputs
        self._outputs = {} if outputs is None else {name: i for i, name in enumerate(outputs.names)}

    @cached_property
    def _held(self) -> NDArray[np.float64]:
        result = self._result
        return result.values[_rows_at(result.t, self._times, self._side)] if result.t.size else result.values

    @cached_property
    def _computed(self) -> NDArray[np.float64]:
        assert self._result.dense_outputs is not None
        pieces = self._interpolant.pieces(self._times, self._side)
        return self._result.dense_outputs.at(self._times, self._dense, pieces, self._interpolant)

    def shown(self, group: Group, role: str) -> NDArray[np.float64] | None:
        """As ``values``, with NaN for what is not there where the run was asked for that."""
        found = self.values(group, role)
        if found is None or not hides_absent(self._result.options):
            return found
        found = found.copy()
        for k, index in enumerate(group.columns):
            absent = is_absent(self._result.columns[index], self._times.shape, self._switch)
            if absent is not None:
                found[absent, k] = np.nan
        return found

    def _switch(self, name: str) -> NDArray[np.float64] | None:
        if name not in self._result:
            return None
        found = self.values(Group(name, (), (self._result.column(name),)), "discrete")
        return None if found is None else found[:, 0]

    def values(self, group: Group, role: str) -> NDArray[np.float64] | None:
        """(times, elements); None for what is not known between the rows."""
        names = [self._result.columns[i].name for i in group.columns]
        if all(name in self._position for name in names):
            return self._dense[:, [self._position[name] for name in names]]
        if role == "discrete":
            return self._held[:, list(group.columns)]
        if all(name in self._outputs for name in names):
            return self._computed[:, [self._outputs[name] for name in names]]
        return None


def _chosen(result: LabelledResult, names: str | Sequence[str] | None) -> list[Group]:
    if names is None:
        return list(result.groups)
    if not isinstance(names, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise UsageError(f"names is {names!r}", hint='names of variables: result.at(t, "x"), result.at(t, ["x", "v"])')
    chosen: list[Group] = []
    for name in [names] if isinstance(names, str) else names:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise UsageError(f"names holds {name!r}", hint='names of variables: result.at(t, ["x", "v"])')
        chosen.append(result.group(name))
    return chosen


def _rows_at(recorded: NDArray[np.float64], times: NDArray[np.float64], side: Side) -> NDArray[np.intp]:
    """Row whose values hold at each time: the last one up to it; "left" takes the first of the rows at an event."""
    direction = -1.0 if recorded[-1] < recorded[0] else 1.0
    along, wanted = direction * recorded, direction * times
    rows = np.searchsorted(along, wanted, side="right") - 1
    if side == "left":
        first = np.searchsorted(along, wanted, side="left")
        exact = (first < along.size) & (along[np.minimum(first, along.size - 1)] == wanted)
        rows = np.where(exact, first, rows)
    return np.clip(rows, 0, along.size - 1)
