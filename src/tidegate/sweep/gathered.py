"""What the runs of a sweep have come to, put together as one dataset (stage: sweep). In go batches in any order, out comes an ``xarray.Dataset``.

Trajectories lie along the sweep's own dimensions, then ``time``. Events are a contiguous ragged array (CF conventions, 9.3.3): ``event_count`` says
how many each run has, and what belongs to them lies along ``event``, those of the first run first, runs counted in row order. The variables that are
large are a ``Values``, in memory or in a file; everything else is held here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tidegate.results.dataset import attributes_of, versions_told
from tidegate.sweep.batch import KINDS, NOT_RUN, STATUS, Batch
from tidegate.sweep.members import Members
from tidegate.sweep.study import Study, stored_names

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Gathered", "InMemory", "Shape", "Values", "segments"]

FloatArray = NDArray[np.float64]


class _Events(NamedTuple):
    """Events of runs whose numbers follow each other, those of the first run first.

    Parameters
    ----------
    owners : whose each is.
    kinds, causes : as texts.
    """

    owners: NDArray[np.int64]
    times: FloatArray
    kinds: NDArray[Any]
    causes: NDArray[Any]
    dt_dp: FloatArray


def _borders(members: NDArray[np.int64]) -> list[int]:
    """Places between which numbers follow each other, the first and that behind the last among them."""
    return [0, *(np.flatnonzero(np.diff(members) != 1) + 1).tolist(), len(members)]


def _events_of(batch: Batch) -> list[_Events]:
    members = batch.members
    kinds, causes = np.array(KINDS, dtype=object)[batch.event_kinds], np.array(batch.causes, dtype=object)[batch.event_causes]
    found = _Events(np.repeat(members, batch.counts), batch.event_times, kinds, causes, batch.event_dt_dp)
    ends = np.concatenate([[0], np.cumsum(batch.counts)])[_borders(members)].tolist()
    parts: list[Any] = [[array[first:last] for array in found] for first, last in pairwise(ends) if first < last]
    return [_Events(*part) for part in parts]


class Shape:
    """Names, dimensions and attributes of the large variables of a sweep.

    Parameters
    ----------
    study, members : of the sweep.
    """

    def __init__(self, study: Study, members: Members) -> None:
        self.study, self.members = study, members
        names = stored_names(study.groups, [*members.coords, *members.dims])
        along: tuple[tuple[str, int], ...] = tuple(zip(members.dims, members.shape, strict=True))
        if study.times is not None:
            along = (*along, ("time", len(study.times)))
        slopes = ("parameter", len(study.sensitivity_parameters))
        columns = study.prepared.problem.model.layout.columns
        self.variables: dict[str, tuple[tuple[tuple[str, int], ...], dict[str, Any]]] = {}
        self._sources: dict[str, tuple[bool, list[int], tuple[int, ...]]] = {}  # of slopes?, columns of a batch, shape of the variable
        first = 0
        for group in study.groups:
            own = tuple((f"{names[group.name][0]}_{axis}", size) for axis, size in enumerate(group.shape))
            places = list(range(first, first + len(group.columns)))
            first += len(places)
            stored, derivative = names[group.name]
            self.variables[stored] = ((*along, *own), attributes_of(group, columns[group.columns[0]], stored))
            self._sources[stored] = (False, places, group.shape)
            if slopes[1]:
                told = {"long_name": f"derivative of {group.name} by each parameter", "derivative_of": stored}
                self.variables[derivative] = ((*along, slopes, *own), told)
                self._sources[derivative] = (True, places, group.shape)

    def blocks(self, batch: Batch) -> Iterator[tuple[str, FloatArray]]:
        """Each variable with its values in a batch, (runs, ...)."""
        for name, (is_slope, places, shape) in self._sources.items():
            table = batch.slopes if is_slope else batch.values
            yield name, table[..., places].reshape(*table.shape[:-1], *shape)


class Values(Protocol):
    """Where the large variables are."""

    def put(self, batch: Batch) -> None:
        """Take in the values of a batch."""
        ...


class InMemory:
    """The large variables as arrays.

    Parameters
    ----------
    shape : of them.
    """

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._arrays = {name: np.full([size for _, size in along], np.nan) for name, (along, _) in shape.variables.items()}

    def put(self, batch: Batch) -> None:
        """Take in the values of a batch."""
        where = np.unravel_index(batch.members, self._shape.members.shape)
        for name, block in self._shape.blocks(batch):
            self._arrays[name][where] = block

    def variables(self) -> dict[str, Any]:
        """As xarray takes them."""
        own = self._shape.variables
        return {name: (tuple(dim for dim, _ in own[name][0]), array, own[name][1]) for name, array in self._arrays.items()}


def segments(members: NDArray[np.int64], shape: Sequence[int]) -> Iterator[tuple[tuple[int | slice, ...], slice, tuple[int, ...]]]:
    """Blocks of an array of this shape that together are these members: where each goes, which of the members it is, and its shape.

    Parameters
    ----------
    members : numbers of runs, counted in row order.

    Examples
    --------
    >>> [(where, runs) for where, runs, _ in segments(np.array([2, 3, 4, 5, 6]), (3, 3))]
    [((0, slice(2, 3, None)), slice(0, 1, None)), ((slice(1, 2, None),), slice(1, 4, None)), ((2, slice(0, 1, None)), slice(4, 5, None))]
    """
    for first, last in pairwise(_borders(members)):
        done = first
        for where, count, block in _blocks(int(members[first]), last - first, tuple(shape)):
            yield where, slice(done, done + count), block
            done += count


def _blocks(start: int, count: int, shape: tuple[int, ...]) -> Iterator[tuple[tuple[int | slice, ...], int, tuple[int, ...]]]:
    """The same for ``count`` members from ``start`` on."""
    if len(shape) == 1:
        yield (slice(start, start + count),), count, (count,)
        return
    each = math.prod(shape[1:])
    while count:
        row, offset = divmod(start, each)
        if offset or count < each:
            part = min(each - offset, count)
            yield from (((row, *where), size, block) for where, size, block in _blocks(offset, part, shape[1:]))
        else:
            part = count // each * each
            yield (slice(row, row + part // each),), part, (part // each, *shape[1:])
        start, count = start + part, count - part


class Gathered:
    """What is small of every run: how it ended, and its events.

    Parameters
    ----------
    shape : of the sweep.
    """

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        n = len(shape.members)
        self.status = np.full(n, NOT_RUN, dtype=np.int8)
        self._messages: dict[int, str] = {}
        self._end_time = np.full(n, np.nan)
        self._steps = np.zeros(n, dtype=np.int64)
        self._counts = np.zeros(n, dtype=np.int64)
        self._events: list[_Events] = []

    @property
    def left(self) -> NDArray[np.int64]:
        """Numbers of the runs that have not been run."""
        return np.flatnonzero(self.status == NOT_RUN)

    def take(self, batch: Batch) -> None:
        """Take in a batch."""
        members = batch.members
        if any(batch.messages):
            self._messages |= {member: text for member, text in zip(members.tolist(), batch.messages, strict=True) if text}
        self._end_time[members], self._steps[members], self._counts[members] = batch.end_time, batch.steps, batch.counts
        if len(batch.event_times):
            self._events += _events_of(batch)
        _ = self.coordinates  # made while other runs go on
        self.status[members] = batch.status  # last, since what is not noted here counts as not run

    @cached_property
    def coordinates(self) -> xr.Coordinates:
        """What labels the runs, times and parameters."""
        import xarray as xr

        members, study = self._shape.members, self._shape.study
        coords: dict[str, Any] = dict(members.coords)
        if study.times is not None:
            coords["time"] = ("time", study.times, self._unit_of_time)
        if study.sensitivity_parameters:
            coords["parameter"] = ("parameter", np.array(study.sensitivity_parameters, dtype=str))
        return xr.Dataset(coords=coords).coords

    @property
    def _unit_of_time(self) -> dict[str, str]:
        unit = self._shape.study.prepared.problem.model.time_unit
        return {"units": unit} if unit else {}

    def dataset(self, large: Mapping[str, Any]) -> xr.Dataset:
        """Coordinates, how every run ended, the events, and the variables that are large.

        Parameters
        ----------
        large : as xarray takes them.
        """
        import xarray as xr

        members, time = self._shape.members, self._unit_of_time
        messages = np.full(len(members), "", dtype=object if self._messages else str)
        for member, text in self._messages.items():
            messages[member] = text

        def of_runs(array: NDArray[Any], **attributes: str) -> tuple[tuple[str, ...], NDArray[Any], dict[str, str]]:
            return members.dims, array.reshape(members.shape), attributes

        variables: dict[str, Any] = {
            "status": of_runs(np.array(STATUS)[self.status], long_name="how the run ended"),
            "message": of_runs(messages, long_name="why it ended"),
            "end_time": of_runs(self._end_time, long_name="time at which the run ended", **time),
            "steps": of_runs(self._steps, long_name="steps of the integrator"),
        }
        if self._shape.study.keeps_events:
            variables |= self._event_variables(of_runs, time)
        variables |= large
        return xr.Dataset(variables, coords=self.coordinates, attrs=self._attributes())

    def _event_variables(self, of_runs: Any, time: dict[str, str]) -> dict[str, Any]:
        import xarray as xr

        n_slopes = len(self._shape.study.sensitivity_parameters)
        held = [events for events in self._events if self.status[events.owners[0]] != NOT_RUN]
        held.sort(key=lambda events: int(events.owners[0]))
        empty = _Events(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, str), np.zeros(0, str), np.zeros((0, n_slopes)))
        owners, times, kinds, causes, dt_dp = map(np.concatenate, zip(*(held or [empty]), strict=True))
        counts = np.where(self.status == NOT_RUN, 0, self._counts)
        variables: dict[str, Any] = {
            "event_count": of_runs(counts, long_name="number of events of the run", sample_dimension="event"),
            "event_member": (("event",), owners, {"long_name": "number of the run, counted in row order"}),
            "event_time": (("event",), times, {"long_name": "time of the event", **time}),
            # of texts xarray would look at every one
            "event_kind": xr.Variable(("event",), kinds, fastpath=True),
            "event_cause": xr.Variable(("event",), causes, fastpath=True),
        }
        if n_slopes:
            variables["event_dt_dp"] = (("event", "parameter"), dt_dp, {"long_name": "derivative of the event's time"})
        return variables

    def _attributes(self) -> dict[str, Any]:
        study = self._shape.study
        problem, options = study.prepared.problem, study.prepared.options
        names = problem.model.layout.parameters
        shared = {name: value for name, value in zip(names, problem.p.tolist(), strict=True) if name not in study.names}
        return {
            "model": problem.model.name,
            "t_span": [problem.t_start, problem.t_end],
            "options": json.dumps(options.shown(), default=str),
            "parameters": json.dumps(shared),
            "versions": versions_told(),
        }
