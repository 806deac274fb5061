"""Results of successive parts of one run as one result (stage: results)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import accumulate
from typing import Any

import numpy as np

from tidegate.results.dense_outputs import DenseOutputs
from tidegate.results.event_log import Event, EventLog, LazyEvents, largest
from tidegate.results.interpolant import Interpolant
from tidegate.results.result import Result, RunStatus
from tidegate.results.statistics import Statistics

__all__ = ["joined"]


class _JoinedEvents(LazyEvents):
    """Logs one behind the other; an event is only made when it is looked at."""

    def __init__(self, logs: Sequence[EventLog], sizes: dict[str, float]) -> None:
        self._logs = [log for log in logs if len(log)]
        self._ends = list(accumulate(len(log) for log in self._logs))
        self._sizes = sizes

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def made(self, position: int) -> Event:
        """The event at this place of the whole run."""
        part = int(np.searchsorted(self._ends, position, side="right"))
        event = self._logs[part][position - (self._ends[part - 1] if part else 0)]
        return replace(event, index=position, sizes=self._sizes)


def joined(parts: Sequence[Result], *, status: RunStatus | None = None, message: str | None = None) -> Result:
    """One result of successive parts of a run.

    Parameters
    ----------
    parts : at least one; all of the same model, in the order of the run. Options, status and parameters are those of the last.
    status, message : of the whole; the last part's if not given.

    Examples
    --------
    >>> from tidegate.results import Column
    >>> parts = [Result("tank", [Column("level")], [0.0, 1.0], [2.0, 3.0]), Result("tank", [Column("level")], [2.0], [4.0])]
    >>> joined(parts)["level"].values.tolist()
    [2.0, 3.0, 4.0]
    """
    first, last = parts[0], parts[-1]
    values = np.concatenate([part.values for part in parts])
    sensitivities = [part.sensitivities for part in parts if part.sensitivities is not None]
    events = _JoinedEvents([part.events for part in parts], largest(first.columns, values))
    return Result(
        first.model_name,
        first.columns,
        np.concatenate([part.t for part in parts]),
        values,
        parameters=last.parameters,
        sensitivity_parameters=first.sensitivity_parameters,
        sensitivities=np.concatenate(sensitivities) if sensitivities else None,
        events=EventLog(events, np.concatenate([part.events.times for part in parts]), first.time_unit),
        statistics=_sum([part.statistics for part in parts]),
        interpolant=_interpolant(parts),
        dense_outputs=_dense_outputs(parts),
        options=last.options,
        status=last.status if status is None else status,
        message=last.message if message is None else message,
        parameter_units=first.parameter_units,
        time_unit=first.time_unit,
        folds_names=first.folds_names,
    )


def _sum(parts: Sequence[Statistics]) -> Statistics:
    extra: dict[str, Any] = {}
    for part in parts:
        for name, value in part.extra.items():
            if isinstance(value, str):
                extra[name] = value
            elif name.startswith("drift"):  # a largest value, where everything else is counted
                extra[name] = max(extra.get(name, 0), value)
            else:
                extra[name] = extra.get(name, 0) + value
    numbers = {entry.name: sum(getattr(part, entry.name) for part in parts) for entry in fields(Statistics) if entry.name not in ("method", "extra")}
    return Statistics(**numbers, method=", ".join(dict.fromkeys(part.method for part in parts if part.method)), extra=extra)


def _dense_outputs(parts: Sequence[Result]) -> DenseOutputs | None:
    sizes = [0 if part.interpolant is None else len(part.interpolant) for part in parts]
    return DenseOutputs.joined([part.dense_outputs for part in parts], sizes)


def _interpolant(parts: Sequence[Result]) -> Interpolant | None:
    """None as soon as one part kept no polynomials of its steps."""
    pieces = [part.interpolant for part in parts if part.interpolant is not None]
    if len(pieces) < len(parts):
        return None
    starts, widths = (np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("starts", "widths"))
    coefficients = np.zeros((len(starts), max(piece.coefficients.shape[1] for piece in pieces), *pieces[0].coefficients.shape[2:]))
    first = 0
    for piece in pieces:
        coefficients[first : first + len(piece), : piece.coefficients.shape[1]] = piece.coefficients
        first += len(piece)
    return Interpolant(starts, widths, coefficients, pieces[0].names)
