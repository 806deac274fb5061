"""What is done for each run of a sweep (stage: sweep). In goes a prepared run and values of its parameters, out comes what is kept of it.

A study can be pickled: it goes to other processes, which make machine code of it once.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import RunError, TidegateError
from tidegate.executive import CarriedOut, ManyRuns, Prepared
from tidegate.names import unknown_name
from tidegate.results import Column, Result
from tidegate.results.columns import Group, group_columns, storage_names
from tidegate.sweep.batch import FAILED, FINISHED, KINDS, TERMINATED, Batch, Outcome, batch_of, joined
from tidegate.sweep.members import TAKEN
from tidegate.sweep.together import Wanted, kept

__all__ = ["Halted", "Portions", "Study", "stored_names", "study_of"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Halted(BaseException):
    """The sweep was stopped while a run was under way. No error: it ends the run, past everybody who catches errors."""


class Portions(Protocol):
    """Who says which runs are carried out next, to whoever carries them out."""

    def next(self) -> tuple[int, int]:
        """The first and the last of the next ones, without that last, in a table of runs; the same if that is all."""
        ...

    def took(self, seconds: float, runs: int) -> None:
        """How long these took, without what had to be done around them."""
        ...

    def to_take_up(self, carried: list[CarriedOut]) -> list[CarriedOut]:
        """What is to be made a batch of when these have been carried out: they and what others have left, or nothing if they are left to others."""
        ...


class Study:
    """The runs of one model with other parameters.

    Parameters
    ----------
    prepared : the run, with the model's own parameters and those that all runs share.
    names : of the scalar parameters that vary.
    groups : variables that are kept, by places in the columns of a result.
    times : at which they are; nothing for the end of the run only.
    keeps_events : whether the events are kept.
    """

    def __init__(self, prepared: Prepared, names: Sequence[str], groups: Sequence[Group], times: FloatArray | None, *, keeps_events: bool) -> None:
        self.prepared, self.names, self.groups, self.times, self.keeps_events = prepared, tuple(names), tuple(groups), times, keeps_events
        self.columns = [column for group in groups for column in group.columns]
        model, legend = prepared.problem.model, prepared.problem
        self.sensitivity_parameters = tuple(model.layout.parameters[int(k)] for k in legend.sensitivity_parameters)
        self._lock = threading.Lock()
        self._some_are_alone = False  # of the last batch: what these take is known behind it, so that the next one is to be small

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_many")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    @property
    def is_for_one_thread(self) -> bool:
        """Whether runs call Python of the user, or a model with a memory, which need not bear to be called by several threads at once."""
        model = self.prepared.problem.model
        return model.has_opaque or model.opening is not None or model.closing is not None

    def watching(self, is_halted: Callable[[], bool]) -> Study:
        """The same; runs that are under way when the sweep is halted end at once."""

        def look(_now: float) -> None:
            if is_halted():
                raise Halted

        return Study(self.prepared.watched(look), self.names, self.groups, self.times, keeps_events=self.keeps_events)

    def first(self, values: FloatArray) -> CarriedOut | None:
        """The first run, if that is a matter of moments, so that it is known how long the others will take."""
        return None if self._many is None else self._many.tried(values)

    def batch(
        self,
        portions: Portions,
        members: IntArray,
        values: FloatArray,
        is_halted: Callable[[], bool] = lambda: False,
        begun: CarriedOut | None = None,
    ) -> Batch | None:
        """Runs, portion by portion; those done when the sweep is halted, and nothing if there are none.

        Parameters
        ----------
        members, values : their numbers and their values, (members, names), of which portions are rows.
        begun : what ``first`` has carried out already.
        """
        parts: list[Batch] = []
        carried = [] if begun is None else [begun]
        runs, seconds = 0, 0.0
        while not is_halted():
            first, last = portions.next()
            if first == last:
                break
            if self._many is None:
                alone, took = self._alone(members[first:last], values[first:last], is_halted)
                parts += alone
            else:
                carried.append(self._many.carried_out(first, last, values, is_halted))
                took = carried[-1].seconds
            portions.took(took, last - first)
            runs, seconds = runs + last - first, seconds + took
            if self._some_are_alone:
                break
        if self._many is not None and (carried := portions.to_take_up(carried)):
            # Python, which threads do one behind the other in any case; so they do not take its lock from each other again and again
            with self._lock:
                found = self._many.recorded(carried)
                parts += [kept(self._many, found, members, Wanted(self.times, self.columns, self.keeps_events))] if len(found.runs) else []
            self._some_are_alone = bool(len(found.alone))
            if len(found.alone):
                alone, took = self._alone(members[found.alone], values[found.alone], is_halted)
                parts += alone
                portions.took(seconds + took, runs)
        return joined(parts) if parts else None

    def _alone(self, members: IntArray, values: FloatArray, is_halted: Callable[[], bool]) -> tuple[list[Batch], float]:
        began = time.perf_counter()
        done = list(self.outcomes(members.tolist(), values, is_halted))
        return [batch_of(done)] if done else [], time.perf_counter() - began

    @cached_property
    def _many(self) -> ManyRuns | None:
        return ManyRuns(self.prepared, self.names) if self.runs_together else None

    @cached_property
    def runs_together(self) -> bool:
        """Whether many runs are carried out in one call of native code, by ``batch``."""
        return ManyRuns.are_possible(self.prepared)

    def outcomes(self, members: Sequence[int], values: FloatArray, is_halted: Callable[[], bool] = lambda: False) -> Iterator[Outcome]:
        """The same, one by one."""
        for member, row in zip(members, values.tolist(), strict=True):
            if is_halted():
                return
            try:
                yield self.outcome(member, row)
            except Halted:
                return

    def outcome(self, member: int, row: Sequence[float]) -> Outcome:
        """One run."""
        problem = self.prepared.problem
        result: Result | None = None
        status, end, message = FINISHED, problem.t_end, ""
        try:
            # getting a run ready is Python, which other threads could not do beside it; what is made for several runs is made once
            with self._lock:
                run = self.prepared.with_parameters(**dict(zip(self.names, row, strict=True)))
            result = run.run()
            if result.status == "terminated":
                status, message = TERMINATED, result.message
                times = result.events.times
                end = float(max(result.t[-1:].max(initial=-math.inf), times[-1:].max(initial=-math.inf)))
        except RunError as error:
            status, message, result, end = FAILED, error.message, error.result, error.time
        except TidegateError as error:  # these values do not go together
            status, message, end = FAILED, error.message, problem.t_start
        return self._kept(member, status, message, end, result)

    def _kept(self, member: int, status: int, message: str, end: float, result: Result | None) -> Outcome:
        n_times, n_slopes = () if self.times is None else (len(self.times),), len(self.sensitivity_parameters)
        values = np.full((*n_times, len(self.columns)), np.nan)
        slopes = np.full((*n_times, n_slopes, len(self.columns)) if n_slopes else (0,), np.nan)
        if result is not None and result.t.size and (self.times is not None or status != FAILED):  # otherwise the end was not reached
            if self.times is not None:
                rows = np.searchsorted(result.t, self.times, side="right") - 1  # of several rows of one time the last
                places = np.flatnonzero((rows >= 0) & (result.t[np.maximum(rows, 0)] == self.times))
                rows = rows[places]
            else:
                rows, places = -1, slice(None)
            values[places] = result.values[rows][..., self.columns]
            if n_slopes and result.sensitivities is not None:
                slopes[places] = result.sensitivities[rows][..., self.columns]
        times, kinds, causes, dt_dp = np.zeros(0), list[int](), list[str](), np.zeros((0, n_slopes))
        if self.keeps_events and result is not None:
            found = result.events.columns()
            times, kinds, causes = found.times, [KINDS.index(kind) for kind in found.kinds], found.causes
            dt_dp = found.dt_dp.reshape(len(times), n_slopes)
        steps = 0 if result is None else result.statistics.steps
        return Outcome(member, status, message, end, steps, values, slopes, times, kinds, causes, dt_dp)


def study_of(prepared: Prepared, names: Sequence[str], variables: str | Sequence[str] | None, *, keeps_events: bool) -> Study:
    """What is to be done for each run.

    Parameters
    ----------
    prepared : with ``outputs`` for trajectories, or none for values at the end.
    variables : to be kept; None for all.

    Raises
    ------
    UsageError : there is no such variable.
    """
    problem = prepared.problem
    chosen = _chosen(problem.model.layout.columns, variables, problem.model.name)
    if prepared.options.outputs is not None:
        return Study(prepared, names, chosen, problem.output_times, keeps_events=keeps_events)
    # the end of a run that the model ends is a row at an event; functions of the user may end it anywhere
    model = problem.model
    ends_itself = model.initial.says or any(action.terminates for action in model.event_actions)
    if not model.has_opaque:
        prepared = prepared.recorded_at([problem.t_end], event_rows=ends_itself)
    return Study(prepared, names, chosen, None, keeps_events=keeps_events)


def _chosen(columns: Sequence[Column], variables: str | Sequence[str] | None, model: str) -> list[Group]:
    groups = {group.name: group for group in group_columns(columns)}
    if variables is None:
        return list(groups.values())
    places = {column.name: k for k, column in enumerate(columns)}
    chosen: dict[str, Group] = {}
    for name in [variables] if isinstance(variables, str) else variables:
        if not isinstance(name, str) or (name not in groups and name not in places):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise unknown_name("variable", name, [*groups, *places], of=f"model {model}")
        chosen[name] = groups[name] if name in groups else Group(name, (), (places[name],))
    return list(chosen.values())


def stored_names(groups: Sequence[Group], taken: Sequence[str]) -> dict[str, tuple[str, str]]:
    """For each variable the names in the dataset of its values and of its sensitivities, free of clashes with the sweep's own."""
    used = {*taken, *TAKEN}
    found: dict[str, tuple[str, str]] = {}
    for name, pair in storage_names(groups).items():
        free: list[str] = []
        for wanted in pair:
            while wanted in used:
                wanted += "_"  # noqa: PLW2901 - one underscore more until it is free
            used.add(wanted)
            free.append(wanted)
        found[name] = (free[0], free[1])
    return found
