"""Which runs a sweep is made of (stage: sweep). In go the caller's values of parameters, in any of their forms; out comes a table of one row a run.

The dimensions of the answer are those of the question: a grid has one for each parameter, a table the one dimension ``member``, a dataset its own.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled import CompiledModel
from tidegate.compiled.quantities import Located
from tidegate.errors import TidegateError, UsageError
from tidegate.executive import find_parameters, given_numbers, numbers_for, parameter_vector
from tidegate.numbers_as_texts import flag_attributes, texts_to_numbers
from tidegate.quick_dataclass import dataclass
from tidegate.results.labels import number
from tidegate.units import convert

__all__ = ["MEMBER", "TAKEN", "Members", "members_of"]

FloatArray = NDArray[np.float64]
Coordinate = tuple[tuple[str, ...], NDArray[Any], dict[str, str]]
MEMBER: Final = "member"
# names that a sweep's dataset uses for itself
TAKEN: Final = frozenset(
    "member time parameter event status message end_time steps event_count event_member event_time event_kind event_cause event_dt_dp".split()
)
_LOOKED_AT: Final = 1000  # members whose values are tried one by one before anything is run
_TOGETHER: Final = 10_000  # those whose values are tried together
_NOTHING: Final = "a parameter is given no value at all, so nothing would be run"
_HOW: Final = 'parameters={"k": [1.0, 2.0]} for runs one by one, grid={"k": [1.0, 2.0], "p": [3.0, 4.0]} for every combination'


@dataclass(frozen=True, eq=False)
class Members:
    """The runs of a sweep.

    Parameters
    ----------
    names : of the scalar parameters that vary.
    values : (members, names).
    dims, shape : of the dataset; members are counted in row order.
    coords : what labels them.
    fixed : values of other parameters that all runs share.
    """

    names: tuple[str, ...]
    values: FloatArray
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    coords: dict[str, Coordinate]
    fixed: dict[str, Any]

    def __len__(self) -> int:
        return len(self.values)

    def told(self, member: int) -> str:
        """The values of one run as people read them."""
        return ", ".join(f"{name} = {number(value)}" for name, value in zip(self.names, self.values[member].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _Axes:
    """Values of some parameters along some dimensions: (name, array over these dimensions)."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    columns: dict[str, FloatArray]
    coords: dict[str, Coordinate]


def members_of(compiled: CompiledModel, parameters: Any, grid: Mapping[str, Any] | None) -> Members:
    """The runs that are asked for, names and values checked.

    Raises
    ------
    UsageError, UnitError : a name, a shape, a value or a unit does not fit.
    """
    fixed: dict[str, Any] = {}
    axes: list[_Axes] = []
    if parameters is not None:
        table, fixed = _table(compiled, parameters)
        axes += [table] if table is not None else []
    if grid is not None:
        axes += _grid(compiled, grid)
    if not axes:
        raise UsageError("no parameter varies, so there is nothing to sweep over", hint=_HOW)
    names = [name for part in axes for name in part.columns]
    both = [name for name in names if names.count(name) > 1] + [name for name in names if name in fixed]
    if both:
        raise UsageError(f"parameter {both[0]} is given twice", hint="once is enough")
    dims = tuple(dim for part in axes for dim in part.dims)
    if len(set(dims)) < len(dims):
        raise UsageError(f"two dimensions of the sweep are called {next(dim for dim in dims if dims.count(dim) > 1)}", hint="rename one of them")
    shape = tuple(size for part in axes for size in part.shape)
    if not math.prod(shape):
        raise UsageError(_NOTHING, hint=_HOW)
    values, before = np.empty((math.prod(shape), len(names))), 0
    for part in axes:
        after = len(shape) - before - len(part.shape)
        for name, column in part.columns.items():
            spread = column.reshape((1,) * before + part.shape + (1,) * after)
            values[:, names.index(name)] = np.broadcast_to(spread, shape).ravel()
        before += len(part.shape)
    coords = {name: coordinate for part in axes for name, coordinate in part.coords.items()}
    members = Members(tuple(names), values, dims, shape, coords, fixed)
    _check_values(compiled, members)
    return members


def _table(compiled: CompiledModel, given: Any) -> tuple[_Axes | None, dict[str, Any]]:
    """Runs one by one, and what they share."""
    xarray, pandas = sys.modules.get("xarray"), sys.modules.get("pandas")
    if xarray is not None and isinstance(given, xarray.Dataset):
        return _of_dataset(compiled, given), {}
    labels: NDArray[Any] | None = None
    if pandas is not None and isinstance(given, pandas.DataFrame):
        labels = np.asarray(given.index) if given.index.nlevels == 1 else None
        given = {name: given[name].to_numpy() for name in given.columns}
    if not isinstance(given, Mapping):
        raise UsageError(f"parameters must be a dict, a pandas DataFrame or an xarray Dataset, not {given!r}", hint=_HOW)
    columns: dict[str, FloatArray] = {}
    fixed: dict[str, Any] = {}
    sizes: dict[str, int] = {}
    for name, value in cast("Mapping[Any, Any]", given).items():
        located = _located(compiled, name)
        array = _array(compiled, name, value)
        rank = len(located.shape)
        if array.ndim <= rank:
            fixed[name] = numbers_for(f"parameter {name}", array, located.shape).reshape(located.shape)
            continue
        if not len(array):
            raise UsageError(_NOTHING, hint=_HOW)
        if array.ndim != rank + 1 or array.shape[1:] != located.shape:
            raise UsageError(f"parameter {name} needs a list of values, one for each run, not an array of shape {array.shape}", hint=_HOW)
        sizes[name] = len(array)
        for k, element in enumerate(located.names):
            columns[element] = array.reshape(len(array), -1)[:, k]
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{size} of {name}" for name, size in sizes.items())
        raise UsageError(f"the runs are given one by one, and there are different numbers of values: {told}", hint="grid={...} for every combination")
    if not columns:
        return None, fixed
    (count,) = set(sizes.values())
    coords: dict[str, Coordinate] = {_label(name): ((MEMBER,), column, _attributes(compiled, name)) for name, column in columns.items()}
    if labels is not None and len(set(labels.tolist())) == count:
        coords[MEMBER] = ((MEMBER,), labels, {})
    else:
        coords[MEMBER] = ((MEMBER,), np.arange(count), {})
    return _Axes((MEMBER,), (count,), columns, coords), fixed


def _of_dataset(compiled: CompiledModel, given: Any) -> _Axes:
    """A dataset whose variables are parameters; units that it gives are converted to the model's."""
    import xarray as xr

    arrays: dict[str, FloatArray] = {}
    names = [str(name) for name in given.data_vars]
    for name in names:
        if _located(compiled, name).shape:
            raise UsageError(f"parameter {name} is an array", hint=f"name its elements, such as {_located(compiled, name).names[0]}")
    spread = xr.broadcast(*(given[name] for name in names)) if names else ()
    dims = tuple(str(dim) for dim in spread[0].dims) if spread else ()
    for name, array in zip(names, spread, strict=True):
        values: Any = _array(compiled, name, array.to_numpy())
        own, unit = given[name].attrs.get("units", ""), _attributes(compiled, name).get("units", "")
        arrays[name] = np.asarray(convert(values, own, unit)) if own and unit and own != unit else values
    if not dims:
        raise UsageError("the dataset of parameters has no dimension, so there is nothing to sweep over", hint=_HOW)
    coords: dict[str, Coordinate] = {
        str(name): (tuple(map(str, coordinate.dims)), coordinate.to_numpy(), dict(coordinate.attrs)) for name, coordinate in given.coords.items()
    }
    coords |= {_label(name): (dims, array, _attributes(compiled, name)) for name, array in arrays.items()}
    return _Axes(dims, next(iter(arrays.values())).shape, arrays, coords)


def _grid(compiled: CompiledModel, grid: Any) -> list[_Axes]:
    """One dimension for each parameter."""
    if not isinstance(grid, Mapping):
        raise UsageError(f"grid must be a dict of lists of values by parameter, not {grid!r}", hint=_HOW)
    axes: list[_Axes] = []
    for name, value in cast("Mapping[Any, Any]", grid).items():
        located = _located(compiled, name)
        if located.shape:
            raise UsageError(
                f"parameter {name} is an array, and a grid has numbers along each dimension", hint=f"name an element: {located.names[0]}"
            )
        array = np.atleast_1d(_array(compiled, name, value))
        if array.ndim != 1:
            raise UsageError(f"the grid needs a list of values of {name}, not an array of shape {array.shape}", hint=_HOW)
        label = _label(name)
        axes.append(_Axes((label,), (len(array),), {name: array}, {label: ((label,), array, _attributes(compiled, name))}))
    return axes


def _label(name: str) -> str:
    """A parameter's name in the dataset; NetCDF reads a slash as a folder."""
    name = name.replace("/", ":")
    return f"{name}_" if name in TAKEN else name


def _located(compiled: CompiledModel, name: Any) -> Located:
    find_parameters(compiled, [name])  # refuses what is none
    return compiled.located[name]


def _array(compiled: CompiledModel, name: str, value: Any) -> FloatArray:
    if isinstance(value, Iterator):
        value = list(cast("Iterator[Any]", value))
    texts = _located(compiled, name).quantity.texts
    if texts:  # or members of an enumeration
        whole = np.asarray(value, dtype=object)
        value = np.array([texts_to_numbers(f"parameter {name}", item, texts) for item in whole.ravel().tolist()]).reshape(whole.shape)
    try:
        given = np.asarray(value) * 1
    except (TypeError, ValueError):
        raise UsageError(f"parameter {name} needs numbers, not {value!r}", hint=_HOW) from None
    return numbers_for(f"parameter {name}", given, given.shape).reshape(given.shape)


def _attributes(compiled: CompiledModel, name: str) -> dict[str, Any]:
    quantity = compiled.located[name].quantity
    attributes: dict[str, Any] = {key: text for key, text in (("units", quantity.unit), ("long_name", quantity.description)) if text}
    return attributes | flag_attributes(quantity.meanings)


def _is_doubtful(compiled: CompiledModel, members: Members) -> bool:
    """Whether there may be something to say against the values of a run."""
    shared, indices = given_numbers(compiled, members.fixed), find_parameters(compiled, members.names)
    for first in range(0, len(members), _TOGETHER):
        values = members.values[first : first + _TOGETHER]
        doubtful = compiled.start.doubtful(shared | dict(zip(indices, values.T, strict=True)), len(values))
        if doubtful is None or doubtful.any():
            return True
    return False


def _check_values(compiled: CompiledModel, members: Members) -> None:
    """UsageError for the first run that the model cannot have: each value by itself, and of some hundred runs all values together."""
    if not _is_doubtful(compiled, members):
        return
    for k, name in enumerate(members.names):
        quantity = compiled.located[name].quantity
        distinct, first = np.unique(members.values[:, k], return_index=True)
        for value, member in zip(distinct.tolist(), first.tolist(), strict=True):
            problem = quantity.problem(name, value)
            if problem:
                raise UsageError(f"{problem} (run {member + 1} of {len(members)}: {members.told(member)})", origin=quantity.origin)
    for member in np.unique(np.linspace(0, len(members) - 1, min(len(members), _LOOKED_AT)).astype(np.intp)).tolist():
        values = dict(zip(members.names, members.values[member].tolist(), strict=True))
        try:
            parameter_vector(compiled, {**members.fixed, **values})
        except TidegateError as error:
            error.add(f"run {member + 1} of {len(members)}: {members.told(member)}")
            raise
