"""Whether clocks ticked when they should (stage: verification). In: plain clocks, steps and event log. Out: findings.

Between two events discrete variables are constant, and so are the times of a clock: those are *segments*. A single time must have its event where it
lies inside the segment for which it is given. A clock with a period goes on from each tick by the period that the tick left behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.model.plain_model import Instant, PlainClock, PlainModel
from tidegate.quick_dataclass import dataclass
from tidegate.results import Event, Result
from tidegate.results.labels import number
from tidegate.verify.pieces import StepPiece
from tidegate.verify.verification import Tally

__all__ = ["check_clocks"]

FloatArray = NDArray[np.float64]

_CLOSE: Final = 1e-9  # of the time: a clock's tick
_MOST_TICKS: Final = 100_000


@dataclass(frozen=True, eq=False)
class _Segment:
    """Between two events: values from its begin on."""

    start: float
    end: float
    at: Instant


@dataclass(eq=False)
class _Clocks:
    """What all clocks are looked at with."""

    segments: list[_Segment]
    begin: float
    end: float
    tally: Tally
    pieces: Sequence[StepPiece]

    def ticks(self, clock: PlainClock, time: float) -> set[bool]:
        """Whether a clock ticks at a time that is one of its own: by the values just before, and by those that the instant leaves behind."""
        ends = np.array([piece.end for piece in self.pieces])
        piece = self.pieces[min(int(np.searchsorted(ends, time - self.near(time))), ends.size - 1)]
        return {clock.ticks(piece.at(min(piece.theta(time), 1.0))), clock.ticks(self.after(time + self.near(time)))}

    def near(self, time: float) -> float:
        """How far a tick may be off."""
        return _CLOSE * max(abs(time), abs(self.end - self.begin))

    def is_inside(self, time: float) -> bool:
        """Whether a tick at this time must be in the log: at the ends of the run it need not."""
        return self.begin + self.near(time) < time < self.end - self.near(time)

    def missing(self, label: str, time: float, found: FloatArray) -> None:
        """A tick that must be there."""
        is_missing = not np.any(np.abs(found - time) <= self.near(time))
        self.tally.note("clock", label, time, np.inf if is_missing else 0.0, f"has no event at its time {number(time, 9)}")

    def spurious(self, label: str, time: float) -> None:
        """A tick that must not."""
        self.tally.note("clock", label, time, np.inf, f"has an event at t = {number(time, 9)}, which is no time of it")

    def after(self, time: float) -> Instant:
        """The values that an instant leaves behind."""
        k = int(np.searchsorted([item.start for item in self.segments], time, side="right")) - 1
        return self.segments[max(k, 0)].at


def check_clocks(model: PlainModel, result: Result, pieces: Sequence[StepPiece], tally: Tally) -> list[str]:
    """Every tick of a clock has an event at its time, and no other event is one of it; returned is what could not be judged."""
    clocks = _Clocks(_stretches(model, result, pieces), pieces[0].start, pieces[-1].end, tally, pieces)
    unjudged: list[str] = []
    for label in dict.fromkeys(clock.label for clock in model.clocks if clock.label):
        own = [clock for clock in model.clocks if clock.label == label]
        found = np.unique([event.time for event in result.events if label in event.causes])
        is_alone = len(own) == 1 and not any(other.label == label for other in model.clauses)
        periods = [clock.period(clocks.segments[0].at) for clock in own]
        if any(period is not None and not period > 0.0 for period in periods):
            unjudged.append(f"clock {label}, whose period is not positive at the start")
        elif sum((clocks.end - clocks.begin) / period for period in periods if period is not None) > _MOST_TICKS:
            unjudged.append(f"clock {label}, which ticks more than {_MOST_TICKS} times")
        elif any(period is not None and _varies(clock, clocks) for clock, period in zip(own, periods, strict=True)):
            if is_alone:
                _check_varying(own[0], clocks, found)
            else:
                unjudged.append(f"clock {label}, whose varying period is not its only reason to happen")
        else:
            _check_given(label, own, clocks, found, is_alone=is_alone)
    return unjudged


def _stretches(model: PlainModel, result: Result, pieces: Sequence[StepPiece]) -> list[_Segment]:
    last: dict[float, Event] = {event.time: event for event in result.events if event.kind in ("state", "time", "set")}
    first = pieces[0].at(0.0)
    starts = [first.t, *sorted(time for time in last if time > first.t)]
    ends = [*starts[1:], pieces[-1].end]
    found: list[_Segment] = []
    at = first
    for start, end in zip(starts, ends, strict=True):
        event = last.get(start)
        if event is not None:
            d = np.array([event.after.get(name, value) for name, value in zip(model.discretes, at.d.tolist(), strict=True)], dtype=float)
            y = np.array([event.after.get(name, value) for name, value in zip(model.unknowns, at.y.tolist(), strict=True)], dtype=float)
            at = Instant(start, y, at.ydot, d, d)
        found.append(_Segment(start, end, at))
    return found


def _varies(clock: PlainClock, clocks: _Clocks) -> bool:
    first = clocks.segments[0]
    known = {first.at.d.tobytes(): clock.period(first.at)}
    for segment in clocks.segments:
        key = segment.at.d.tobytes()
        if key not in known:
            known[key] = clock.period(segment.at)
    return len(set(known.values())) > 1


def _check_given(label: str, own: Sequence[PlainClock], clocks: _Clocks, found: FloatArray, *, is_alone: bool) -> None:
    """Single times, which may move from one segment to the next, and ticks at a constant distance."""
    times: list[float] = []
    for clock in own:
        wanted: list[float] = []
        period = clock.period(clocks.segments[0].at)
        if period is not None:
            wanted += [time for first in clock.times(clocks.segments[0].at) for time in _ticks(first, period, clocks)]
        known: dict[bytes, Sequence[float]] = {}
        for segment in clocks.segments if period is None else ():
            key = segment.at.d.tobytes()
            if key not in known:
                known[key] = clock.times(segment.at)
            near = clocks.near(segment.end)
            # one that an event moved to the very instant of that event is past
            wanted += [time for time in known[key] if segment.start + near * (segment.start > clocks.begin) < time <= segment.end + near]
            wanted += [time for time in known[key] if abs(time - clocks.begin) <= near and segment.start == clocks.begin]
        for time in wanted:
            says = clocks.ticks(clock, time)
            if clocks.is_inside(time) and says == {True}:
                clocks.missing(label, time, found)
            times += [time] * (True in says)
    every = np.array(times)
    for time in found.tolist() if is_alone else ():
        is_first = time <= clocks.begin + clocks.near(clocks.begin)  # which may have moved its own time on already
        if not is_first and not np.any(np.abs(every - time) <= clocks.near(time)):
            clocks.spurious(label, time)


def _ticks(first: float, period: float, clocks: _Clocks) -> list[float]:
    start = max(0, int(np.floor((clocks.begin - first) / period)))
    stop = int(np.floor((clocks.end + clocks.near(clocks.end) - first) / period))
    return [first + k * period for k in range(start, stop + 1)]


def _check_varying(clock: PlainClock, clocks: _Clocks, found: FloatArray) -> None:
    """A clock that goes on from its last tick."""
    at = clocks.segments[0].at
    (expected,) = clock.times(at)
    period = clock.period(at)
    assert period is not None
    if expected < clocks.begin - clocks.near(clocks.begin):  # it ticked before, by periods that may have been others in an earlier part of a run
        if found.size and found[0] <= clocks.begin + period + clocks.near(clocks.begin):
            expected = float(found[0])
        else:
            expected += np.ceil((clocks.begin - expected) / period - _CLOSE) * period
    for time in found.tolist():
        if time > expected + clocks.near(time):
            clocks.missing(clock.label, expected, found)
        elif time < expected - clocks.near(time):
            clocks.spurious(clock.label, time)
        else:
            clocks.missing(clock.label, expected, found)
        following = clock.period(clocks.after(time))
        expected = time + (period if following is None else following)
    if clocks.is_inside(expected):
        clocks.missing(clock.label, expected, found)
