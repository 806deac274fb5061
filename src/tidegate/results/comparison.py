"""Two results side by side (stage: results). In: both, tolerances; out: the largest deviation of each variable and where it is, events matched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from numbers import Real
from textwrap import shorten
from typing import Any, Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass
from tidegate.results.columns import Column
from tidegate.results.event_log import Event, EventLog
from tidegate.results.interpolant import Interpolant
from tidegate.results.labels import number
from tidegate.wrong_calls import explained

__all__ = ["Comparison", "Deviation", "EventPair", "apart_from_events", "compared"]

FloatArray = NDArray[np.float64]
_AROUND: Final = 10.0  # times the distance of two event times: no values are compared there
_SAME_TIME: Final = 1e-13  # of a time: rounding of it, which decides whether a row at an event is the one before it or the one after it
_NAME: Final = 60  # letters of a name; a cause can be a whole condition
_SHOWN: Final = 25  # rows of the table as text
_HEAD: Final = ("variable", "largest deviation", "allowed", "at t", "")


class ComparedResult(Protocol):
    """What is read of a result."""

    model_name: str
    t: FloatArray
    values: FloatArray
    columns: tuple[Column, ...]
    events: EventLog
    interpolant: Interpolant | None

    def at(self, times: Any, names: Any = None) -> Any:
        """Dense output."""
        ...


@dataclass(frozen=True)
class Deviation:
    """The largest deviation of a variable.

    Parameters
    ----------
    name : of a number.
    largest : |first - second|.
    allowed : ``atol + rtol size``, where the size is the largest absolute value of either.
    time : where it is.
    first, second : the values there.
    """

    name: str
    largest: float
    allowed: float
    time: float
    first: float
    second: float

    @property
    def is_within(self) -> bool:
        """Whether it is no larger than allowed."""
        return self.largest <= self.allowed


@dataclass(frozen=True)
class EventPair:
    """One event in both results.

    Parameters
    ----------
    cause : of it; first, second : its times; allowed : how far these may be apart.
    """

    cause: str
    first: float
    second: float
    allowed: float

    @property
    def is_within(self) -> bool:
        """Whether the times are no further apart than allowed."""
        return abs(self.first - self.second) <= self.allowed


@partial(explained, instead_of_call='comparison["x"] is the deviation of a variable, comparison.agrees the verdict')
@dataclass(frozen=True, eq=False)
class Comparison:
    """How far two results are apart; made by ``result.compare(other)``.

    Parameters
    ----------
    deviations : one a variable, the largest in tolerances first.
    events : those that both have, in the order of the first.
    problems : sentences about what only one of them has.
    times : at which values were compared.
    """

    deviations: tuple[Deviation, ...]
    events: tuple[EventPair, ...]
    problems: tuple[str, ...]
    times: FloatArray

    @property
    def agrees(self) -> bool:
        """True if both have the same variables and events, and no deviation is larger than allowed."""
        return not self.problems and all(one.is_within for one in (*self.deviations, *self.events))

    def __getitem__(self, name: str) -> Deviation:
        """The deviation of a variable."""
        for one in self.deviations:
            if one.name == name:
                return one
        raise KeyError(name)

    def _verdict(self) -> str:
        beyond = [one.name for one in self.deviations if not one.is_within]
        late = sum(not pair.is_within for pair in self.events)
        told = [f"{listed(beyond)} {'deviates' if len(beyond) == 1 else 'deviate'}"] if beyond else []
        told += [f"{late} of {len(self.events)} events {'is' if late == 1 else 'are'} at another time"] if late else []
        told += ["they have not the same variables, events or spans"] if self.problems else []
        return f"the results differ: {', '.join(told)}" if told else "the results agree"

    def _cells(self) -> list[tuple[str, ...]]:
        def row(name: str, apart: float, allowed: float, time: float, *, is_within: bool) -> tuple[str, ...]:
            cells = (shorten(name, _NAME, placeholder="..."), number(apart, 3), number(allowed, 3), number(time))
            return (*cells, "" if is_within else "beyond")

        worst: dict[str, EventPair] = {}
        for pair in self.events:
            known = worst.get(pair.cause)
            if known is None or abs(pair.first - pair.second) > abs(known.first - known.second):
                worst[pair.cause] = pair
        pairs = [row(f"time of {p.cause}", abs(p.first - p.second), p.allowed, p.first, is_within=p.is_within) for p in worst.values()]
        return [row(d.name, d.largest, d.allowed, d.time, is_within=d.is_within) for d in self.deviations] + pairs

    def __str__(self) -> str:
        cells = self._cells()
        rows = [_HEAD, *cells[:_SHOWN]]
        widths = [max(len(row[k]) for row in rows) for k in range(len(_HEAD))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        if len(cells) > _SHOWN:
            lines.append(f"and {len(cells) - _SHOWN} more, in .deviations and .events")
        return "\n".join([self._verdict(), *(f"  - {sentence}" for sentence in self.problems), *lines])

    def __repr__(self) -> str:
        return f"<Comparison: {self._verdict()}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in _HEAD)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._cells())
        problems = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.problems)
        return f"<p>{escape(self._verdict())}</p><ul>{problems}</ul><table><tr>{head}</tr>{body}</table>"


def compared(first: ComparedResult, second: ComparedResult, rtol: float, atol: float | Mapping[str, float]) -> Comparison:
    """What ``Result.compare`` gives.

    Raises
    ------
    UsageError : a tolerance does not fit, or the two have no time in common.
    """
    allowed = _tolerances(first, rtol, atol)
    problems: list[str] = []
    one, other = ({column.name: k for k, column in enumerate(result.columns) if not column.is_hidden} for result in (first, second))
    for names, which in ((one.keys() - other.keys(), "first"), (other.keys() - one.keys(), "second")):
        if names:
            problems.append(f"only the {which} has {listed(sorted(names))}")
    if first.t.size and second.t.size and (first.t[0], first.t[-1]) != (second.t[0], second.t[-1]):
        spans = [f"from {number(float(result.t[0]), 10)} to {number(float(result.t[-1]), 10)}" for result in (first, second)]
        problems.append(f"the first is {spans[0]}, the second {spans[1]}")
    times, values = _values(first, second, [name for name in one if name in other])
    length = float(abs(first.t[-1] - first.t[0])) if first.t.size else 0.0
    pairs = _matched(first.events, second.events, rtol * length, problems)
    near = [pair for pair in pairs if pair.is_within]  # where an event is elsewhere, the values between are elsewhere, too
    keep = apart_from_events(times, np.array([p.first for p in near]), np.array([p.second for p in near]))
    found = [_deviation(name, times[keep], a[keep], b[keep], rtol, allowed) for name, (a, b) in values.items() if np.any(keep)]
    order = sorted(found, key=lambda one: -(one.largest / one.allowed if one.allowed > 0.0 else np.inf * (one.largest > 0.0) if one.largest else 0.0))
    return Comparison(tuple(order), tuple(pairs), tuple(problems), times[keep])


def _tolerances(first: ComparedResult, rtol: float, atol: Any) -> Mapping[str, float]:
    if not _is_tolerance(rtol):
        raise UsageError(f"rtol must be a number, not negative, not {rtol!r}", hint="rtol=1e-6")
    names = [column.name for column in first.columns]
    given: dict[str, Any] = dict(cast("Mapping[str, Any]", atol)) if isinstance(atol, Mapping) else dict.fromkeys(names, atol)
    for name, value in given.items():
        if name not in names:
            raise UsageError(f"atol names {name!r}, which is no variable of {first.model_name}", hint=f"its variables are {listed(names)}")
        if not _is_tolerance(value):
            raise UsageError(f"atol must be a number, not negative, not {value!r}", hint='atol=1e-9, or atol={"x": 1e-9}')
    return given


def _is_tolerance(value: Any) -> bool:
    return isinstance(value, Real) and 0.0 <= float(value) < math.inf


def _values(first: ComparedResult, second: ComparedResult, names: Sequence[str]) -> tuple[FloatArray, dict[str, tuple[FloatArray, FloatArray]]]:
    """Common times, and what both have there; dense output where the rows of one are not those of the other."""
    start = max(float(result.t.min(initial=np.inf)) for result in (first, second))
    end = min(float(result.t.max(initial=-np.inf)) for result in (first, second))
    both = np.unique(first.t[np.isin(first.t, second.t)])
    wanted = np.unique(np.concatenate([result.t for result in (first, second)]))
    wanted = wanted[(wanted >= start) & (wanted <= end)]
    if not wanted.size:
        raise UsageError("the two results have no time in common", hint="compare runs over the same time span")
    dense = [result.interpolant is not None for result in (first, second)]
    if not all(dense):
        # at the rows of the one that is known between them only there
        wanted = both if not any(dense) else np.unique((second if dense[0] else first).t)
        wanted = wanted[(wanted >= start) & (wanted <= end)]
    if not wanted.size:
        raise UsageError("the two results were recorded at other times, and have no dense output", hint="outputs=times for both, or dense=True")
    seen = [_sampled(result, wanted, names) for result in (first, second)]
    return wanted, {name: (seen[0][name], seen[1][name]) for name in names if name in seen[0] and name in seen[1]}


def _sampled(result: ComparedResult, times: FloatArray, names: Sequence[str]) -> dict[str, FloatArray]:
    """Values at times; from rows where the time has one, the last of them, so that both are behind an event."""
    rows = np.clip(np.searchsorted(result.t, times, side="right") - 1, 0, result.t.size - 1)
    has_row = result.t[rows] == times
    places = {column.name: k for k, column in enumerate(result.columns)}
    found = {name: result.values[rows, places[name]] for name in names}
    if np.all(has_row):
        return found
    for name in names:
        try:
            dense = result.at(times[~has_row], name)
        except UsageError:  # an output that is known at rows only
            found[name] = np.where(has_row, found[name], np.nan)
            continue
        found[name] = found[name].copy()
        found[name][~has_row] = np.asarray(dense)
    return found


def _deviation(name: str, times: FloatArray, a: FloatArray, b: FloatArray, rtol: float, allowed: Mapping[str, float]) -> Deviation:
    is_there = np.isfinite(a) | np.isfinite(b)  # what neither has is no difference
    apart = np.where(is_there, np.abs(a - b), 0.0)
    apart = np.where(is_there & (np.isnan(a) ^ np.isnan(b)), np.inf, apart)
    worst = int(np.argmax(apart))
    sizes = np.abs(np.concatenate([a, b]))
    size = float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
    return Deviation(name, float(apart[worst]), allowed.get(name, 0.0) + rtol * size, float(times[worst]), float(a[worst]), float(b[worst]))


def _matched(first: Sequence[Event], second: Sequence[Event], allowed: float, problems: list[str]) -> list[EventPair]:
    """Events of one cause one after the other; what only one has becomes a sentence."""
    others: dict[str, list[Event]] = {}
    for event in second:
        others.setdefault(event.cause, []).append(event)
    pairs: list[EventPair] = []
    only: list[Event] = []
    for event in first:
        waiting = others.get(event.cause)
        if waiting:
            pairs.append(EventPair(event.cause, event.time, waiting.pop(0).time, allowed))
        else:
            only.append(event)
    left = sorted((event for several in others.values() for event in several), key=lambda event: event.time)
    for events, which in ((only, "first"), (left, "second")):
        if events:
            more = f", and {len(events) - 1} more" if len(events) > 1 else ""
            problems.append(f"only the {which} has {events[0].cause} at t = {number(events[0].time, 9)}{more}")
    return pairs


def apart_from_events(times: FloatArray, one: FloatArray, other: FloatArray) -> NDArray[np.bool_]:
    """Which times lie outside the intervals between an event's times in two results."""
    keep = np.ones(times.size, dtype=bool)
    for a, b in zip(one, other, strict=False):
        reach = max(_AROUND * abs(a - b), _SAME_TIME * abs(a))
        first, last = float(min(a, b) - reach), float(max(a, b) + reach)
        near = slice(int(np.searchsorted(times, first)), int(np.searchsorted(times, last, side="right")))
        keep[near] = False
    return keep
