"""The way back from a labelled dataset to a result (stage: results). In goes what ``dataset`` laid out, out comes an equal ``Result``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import Origin, UsageError
from tidegate.results.columns import Column, group_columns, storage_names
from tidegate.results.event_log import Event, EventKind, EventLog, largest
from tidegate.results.interpolant import Interpolant
from tidegate.results.result import Result
from tidegate.results.statistics import Statistics

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["holds_a_sweep", "result_from"]

_AT_THE_ENDS: Final = ("initial", "final")  # kinds of events at times that are given
_OF_RUNS: Final = frozenset(["status", "message", "end_time", "steps"])  # what a sweep says of each of its runs


def holds_a_sweep(dataset: xr.Dataset) -> bool:
    """Whether a dataset holds the runs of a sweep, and not the result of one run."""
    return set(dataset.variables) >= _OF_RUNS and "columns" not in dataset.attrs


def result_from(dataset: xr.Dataset, *, source: str = "the dataset") -> Result:
    """The result that a dataset describes.

    Parameters
    ----------
    dataset : with the layout of ``Result.dataset``.
    source : how an error names it.

    Raises
    ------
    UsageError
        If it was not made by tidegate.
    """
    if holds_a_sweep(dataset):
        hint = "xarray.open_dataset reads them, and `tidegate show` lists them"
        raise UsageError(f"{source} holds the runs of a sweep, and not the result of one run", hint=hint)
    if "columns" not in dataset.attrs or "time" not in dataset.variables:
        raise UsageError(f"{source} is no result of tidegate", hint="give a file written by `tidegate run --out` or Result.to_netcdf")
    attributes = dataset.attrs
    columns = [Column(*fields) for fields in json.loads(attributes["columns"])]
    rows = dataset.sizes["time"]
    values = np.empty((rows, len(columns)))
    parameters = [str(name) for name in dataset["parameter"].values] if "parameter" in dataset.variables else []
    sensitivities = np.empty((rows, len(parameters), len(columns))) if parameters else None
    groups = group_columns(columns, is_whole=True)
    names = storage_names(groups)
    for group in groups:
        name, derivative = names[group.name]
        values[:, list(group.columns)] = dataset[name].values.reshape(rows, len(group.columns))
        if sensitivities is not None:
            sensitivities[:, :, list(group.columns)] = dataset[derivative].values.reshape(rows, len(parameters), len(group.columns))
    return Result(
        str(attributes["model"]),
        columns,
        dataset["time"].values,
        values,
        parameters=json.loads(attributes["parameters"]),
        sensitivity_parameters=parameters,
        sensitivities=sensitivities,
        events=_events(dataset, largest(columns, values)),
        statistics=Statistics.from_dict(json.loads(attributes["statistics"])),
        interpolant=_interpolant(dataset),
        options=json.loads(attributes["options"]),
        status=attributes["status"],
        message=str(attributes["message"]),
        parameter_units=json.loads(attributes["parameter_units"]),
        time_unit=str(dataset["time"].attrs.get("units", "")),
        folds_names=bool(attributes.get("folds_names", 0)),
    )


def _events(dataset: xr.Dataset, sizes: dict[str, float]) -> EventLog:
    times = dataset["event_time"].values
    before, after = _rows(dataset, "event_before"), _rows(dataset, "event_after")
    derivatives = _rows(dataset, "event_dt_dp", keeps_nan=True)  # of a time that has no derivative
    events: list[Event] = []
    for i, time in enumerate(times):
        origins = tuple(Origin(*fields) for fields in json.loads(str(dataset["event_origin"].values[i])))
        kind = cast(EventKind, str(dataset["event_kind"].values[i]))
        events.append(
            Event(
                index=i,
                time=float(time),
                kind=kind,
                causes=_lines(dataset["event_cause"].values[i]),
                origins=origins,
                priority=int(dataset["event_priority"].values[i]),
                rounds=int(dataset["event_rounds"].values[i]),
                before=before[i] if before else {},
                after=after[i] if after else {},
                dt_dp=derivatives[i] if derivatives and kind not in _AT_THE_ENDS else {},
                messages=_lines(dataset["event_message"].values[i]),
                sizes=sizes,
            )
        )
    return EventLog(events, times, str(dataset["time"].attrs.get("units", "")))


def _lines(text: Any) -> tuple[str, ...]:
    return tuple(str(text).split("\n")) if str(text) else ()


def _rows(dataset: xr.Dataset, name: str, *, keeps_nan: bool = False) -> list[dict[str, float]]:
    """One mapping an event; what an event has no value for was stored as NaN and is left out."""
    if name not in dataset.variables:
        return []
    array = dataset[name]
    labels = [str(label) for label in dataset[str(array.dims[1])].values]
    table: NDArray[np.float64] = array.values
    return [{label: float(value) for label, value in zip(labels, row, strict=True) if keeps_nan or not np.isnan(value)} for row in table]


def _interpolant(dataset: xr.Dataset) -> Interpolant | None:
    if "dense_coefficients" not in dataset.variables:
        return None
    names = [str(name) for name in dataset["dense_variable"].values]
    return Interpolant(dataset["dense_start"].values, dataset["dense_width"].values, dataset["dense_coefficients"].values, names)
