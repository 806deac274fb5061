"""What was measured (stage: fit). In go the caller's data in any of their forms, out come series of variables and of event times, with weights."""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.layout import Layout
from tidegate.dates import refuse_dates
from tidegate.errors import UsageError
from tidegate.names import unknown_name
from tidegate.quick_dataclass import dataclass

__all__ = ["Series", "observations"]

FloatArray = NDArray[np.float64]
_TIMES: Final = ("time", "t")  # what the times of a table are called, unless a variable of the model is
_HOW: Final = 'data={"level": (times, values)}, events={"h < 0": times}'


@dataclass(frozen=True, eq=False)
class Series:
    """One quantity that was measured several times.

    Parameters
    ----------
    name : of a variable, or a text in the causes of events.
    is_events : whether it is times of events.
    places : times of a variable; numbers of events, the first is 0.
    values : measured values, or times.
    sigma : standard deviations; None where none are given.
    unit : of the values.
    column : of the variable in results.
    """

    name: str
    is_events: bool
    places: FloatArray
    values: FloatArray
    sigma: FloatArray | None
    unit: str = ""
    column: int = -1

    @property
    def label(self) -> str:
        """What it is, in a sentence."""
        return f"times of `{self.name}`" if self.is_events else self.name


def observations(layout: Layout, model: str, time_unit: str, data: Any, events: Any, sigma: Any) -> list[Series]:
    """All series.

    Parameters
    ----------
    data : by name (times, values), or (times, values, standard deviations); or lists by name, one of which is ``time``; or a DataFrame with the
        times as index, or in such a column; or a Dataset along ``time``. What is NaN was not measured.
    events : by a text in their causes times of events, the first event first; NaN for those that were not measured.
    sigma : standard deviations: a number, or by name numbers or lists.

    Raises
    ------
    UsageError : they do not fit together, or to the model.
    """
    places = {column.name: k for k, column in enumerate(layout.columns)}
    found: list[Series] = []
    for name, (times, values, own) in _by_name(data, places).items():
        if name not in places:
            raise unknown_name("variable", name, list(places), of=f"model {model}")
        series = Series(
            name, False, _numbers(f"times of {name}", times), _numbers(name, values), own, layout.columns[places[name]].unit, places[name]
        )
        if np.isinf(series.values).any():
            raise UsageError(f"data of {name} hold infinity", hint="NaN stands for what was not measured")
        if series.places.shape != series.values.shape:
            raise UsageError(f"data of {name} have {series.places.size} times and {series.values.size} values", hint="one value for each time")
        if not np.isfinite(series.places).all():
            wrong = series.places[~np.isfinite(series.places)]
            raise UsageError(f"data of {name} have the time {wrong[0]} among their times", hint="leave out what was measured nobody knows when")
        found.append(series)
    if events is not None and not isinstance(events, Mapping):
        raise UsageError(f"events must be a dict of times by cause, not {events!r}", hint=_HOW)
    for text, times in cast("Mapping[Any, Any]", events or {}).items():
        given = _numbers(f"times of {text}", times)
        if np.any(np.diff(given[np.isfinite(given)]) <= 0.0):
            raise UsageError(
                f"times of `{text}` must be increasing, the first event first", hint="sort them; NaN stands for one that was not measured"
            )
        found.append(Series(str(text), True, np.arange(given.size, dtype=float), given, None, time_unit))
    series = [_measured(_weighted(one, sigma)) for one in found]
    _check_names(series, sigma)
    if not sum(one.values.size for one in series):
        are_missing = any(one.values.size for one in found)
        raise UsageError(
            "there are no data: all values are NaN, which stands for what was not measured" if are_missing else "there are no data", hint=_HOW
        )
    _check_weights(series)
    return series


def _by_name(data: Any, known: Container[str]) -> dict[str, tuple[Any, Any, Any]]:
    xarray, pandas = sys.modules.get("xarray"), sys.modules.get("pandas")
    if data is None:
        return {}
    if pandas is not None and isinstance(data, pandas.DataFrame):
        times = next((name for name in _TIMES if name in data.columns and name not in known), None)
        along = data.index if times is None else data[times]
        return {str(name): (along.to_numpy(), data[name].to_numpy(), None) for name in data.columns if name != times}
    if xarray is not None and isinstance(data, xarray.Dataset):
        for name in data.data_vars:
            if data[name].dims != ("time",):
                raise UsageError(f"data of {name} lie along {', '.join(map(str, data[name].dims)) or 'nothing'}, and time is expected", hint=_HOW)
        return {str(name): (data["time"].to_numpy(), data[name].to_numpy(), None) for name in data.data_vars}
    if not isinstance(data, Mapping):
        raise UsageError(f"data must be a dict, a pandas DataFrame or an xarray Dataset, not {type(data).__name__}", hint=_HOW)
    found: dict[str, tuple[Any, Any, Any]] = {}
    own_times = next((name for name in _TIMES if name in data and name not in known), None)
    if own_times is not None:  # a table, one list of which is the times of all others
        table = cast("Mapping[Any, Any]", data)
        return {str(name): (table[own_times], values, None) for name, values in table.items() if name != own_times}
    for name, given in cast("Mapping[Any, Any]", data).items():
        if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str) or len(cast("Sequence[Any]", given)) not in (2, 3):
            raise UsageError(f"data of {name} must be (times, values)", hint=f'{_HOW}; or a table, data={{"time": times, "{name}": values}}')
        times, values, *own = cast("Sequence[Any]", given)
        found[str(name)] = (times, values, own[0] if own else None)
    return found


def _numbers(what: str, given: Any) -> FloatArray:
    try:
        refuse_dates(what, given)
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"{what} must be numbers", hint=_HOW) from None
    if found.ndim != 1:
        raise UsageError(f"{what} must be a list of numbers, not an array of shape {found.shape}", hint=_HOW)
    return found


def _weighted(series: Series, sigma: Any) -> Series:
    """With standard deviations, from wherever they come."""
    given: Any = cast("Mapping[Any, Any]", sigma).get(series.name) if isinstance(sigma, Mapping) else sigma
    given = given if series.sigma is None else series.sigma
    if given is None:
        return series
    try:
        refuse_dates(f"standard deviations of {series.label}", given)
        deviations = np.broadcast_to(np.asarray(given, dtype=float), series.values.shape)
    except (TypeError, ValueError):
        raise UsageError(f"sigma of {series.label} must be a number, or one for each of {series.values.size} values", hint="sigma=0.01") from None
    if not (np.isfinite(deviations) & (deviations > 0.0)).all():
        raise UsageError(f"sigma of {series.label} must be positive", hint="leave out what was not measured: its value is NaN")
    return replace(series, sigma=deviations)


def _measured(series: Series) -> Series:
    keeps = np.isfinite(series.values)
    sigma = None if series.sigma is None else series.sigma[keeps]
    return replace(series, places=series.places[keeps], values=series.values[keeps], sigma=sigma)


def _check_names(series: Sequence[Series], sigma: Any) -> None:
    names = [one.name for one in series]
    for name in cast("Mapping[Any, Any]", sigma) if isinstance(sigma, Mapping) else ():
        if name not in names:
            raise unknown_name("data", name, names)


def _check_weights(series: Sequence[Series]) -> None:
    """Squares of metres and of seconds have no sum."""
    weighted = [one for one in series if one.sigma is not None]
    bare = [one for one in series if one.sigma is None]
    if bare and weighted:
        raise UsageError(f"sigma is given for {weighted[0].label} and not for {bare[0].label}", hint="standard deviations for all data, or for none")
    if len({(one.unit, one.is_events) for one in bare}) > 1:
        told = " and ".join(one.label + (f" in {one.unit}" if one.unit else "") for one in bare[:2])
        raise UsageError(f"{told} have no common measure without standard deviations", hint='sigma={"level": 0.01, "h < 0": 0.002}')
