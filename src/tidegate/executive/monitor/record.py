"""What is written down of a run through periods, and the result that is made of it when it is asked for.

Rows come in blocks, each of some variables only: what is not in a block has kept its value. In go the monitor's steps, or the rows of compiled code;
out comes a ``Result``, as of every other run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import Origin
from tidegate.executive.monitor.inside import build
from tidegate.executive.monitor.motion import Motion
from tidegate.quick_dataclass import dataclass
from tidegate.results import Column, Event, EventLog, Interpolant, Result, RunStatus, Statistics
from tidegate.results.event_log import LazyEvents, largest

__all__ = ["Record", "Shown", "monitor_statistics"]

FloatArray = NDArray[np.float64]
_STEP_ROW = 0.0


class Shown(Protocol):
    """What has a column: a variable or a parameter."""

    name: str
    unit: str


@dataclass(frozen=True, slots=True)
class _Block:
    """Rows of some of what is shown."""

    items: tuple[Shown, ...]
    times: FloatArray
    values: FloatArray
    slopes: FloatArray | None = None  # (rows, parameters, items)


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Polynomials of some variables, the last row before them, and until when they hold: an event may have cut the last one short."""

    items: tuple[Shown, ...]
    starts: FloatArray
    widths: FloatArray
    coefficients: FloatArray
    row: int
    end: float


@dataclass(slots=True)
class _Happened:
    """One event; its rows are the last before it and the first behind it, which need not be another."""

    time: float
    is_state_event: bool
    cause: str
    origin: Origin | None
    before: int
    after: int
    dt_dp: Mapping[str, float]


class Record:
    """What was written down so far.

    Parameters
    ----------
    variables, parameters : all there are, each with a name and a unit; they may become more.
    keeps_rows, keeps_polynomials : whether steps, and what is between them, are written down.

    Attributes
    ----------
    keeps_rows : as it was given.
    slopes_of : gives derivatives of ``everything``, (parameters, items), where there are some.
    """

    def __init__(self, variables: Sequence[Any], parameters: Sequence[Any], *, keeps_rows: bool = True, keeps_polynomials: bool = True) -> None:
        self._variables, self._parameters = variables, parameters
        self.keeps_rows, self._keeps_polynomials = keeps_rows, keeps_rows and keeps_polynomials
        self._blocks: list[_Block] = []
        self._pieces: list[_Pieces] = []
        self._events: list[_Happened] = []
        self._last: list[float] = []  # values of everything in the last row; empty where that had some only
        self._last_items: tuple[Any, ...] = ()
        self._time = float("nan")
        self._rows = 0
        self.slopes_of: Callable[[], FloatArray | None] | None = None
        self._known = -1  # how many variables and parameters have been written down
        # of the monitor's own steps, in one period
        self._tracked: tuple[Any, ...] = ()
        self._steps: list[tuple[float, list[float]]] = []
        self._polynomials: list[tuple[float, float, list[tuple[float, ...]]]] = []
        self._reached = float("nan")

    # -- writing down

    @property
    def is_behind_an_event(self) -> bool:
        """Whether nothing has been written down since the last event happened."""
        return bool(self._events) and self._events[-1].after < 0

    @property
    def everything(self) -> tuple[Any, ...]:
        """What has a column now."""
        return (*self._variables, *self._parameters)

    def mark(self, time: float, changed: Sequence[Any] | None = None, slopes: FloatArray | None = None) -> None:
        """Values as they are now, around an event.

        Parameters
        ----------
        changed : what may be other than in the last row; None for everything.
        slopes : derivatives of ``everything``, (parameters, items), which is written down then.
        """
        if not self.keeps_rows:
            return
        everything = self.everything
        if slopes is None and changed is None and self.slopes_of is not None:
            slopes = self.slopes_of()
        if slopes is not None or changed is None or len(everything) != self._known:
            changed, self._known = everything, len(everything)
        values = _numbers(changed)
        if changed and (time != self._time or values != self._last or changed is not everything):
            self._time, self._last, self._last_items = time, values if changed is everything else [], everything
            self._add(tuple(changed), np.array([time]), np.array([values], dtype=float), None if slopes is None else slopes[None])
        if self._events and self._events[-1].after < 0:
            self._events[-1].after = self._rows - 1

    def note(self, time: float) -> None:
        """Values as they are now, if they are others than before: nothing flows, and an event may have set them."""
        everything, before = self.everything, self._last
        if _numbers(everything) == before and everything == self._last_items:
            return
        if before and self._time < time:
            self._add(self._last_items, np.array([time]), np.array([before], dtype=float))
        self.mark(time)

    def event(self, time: float, *, is_state_event: bool, cause: str, origin: Origin | None, dt_dp: Mapping[str, float]) -> None:
        """Something is about to happen; ``dt_dp`` are derivatives of its time, by name, those that are not zero."""
        if self.keeps_rows:
            self._events.append(_Happened(time, is_state_event, cause, origin, self._rows - 1, -1, dt_dp))

    def step(self, motion: Motion) -> None:
        """A step of the monitor's own, at its end."""
        if not self.keeps_rows or not motion.variables:
            return
        tracks = list(motion.variables)
        items = tuple(track.variable for track in tracks)
        if items != self._tracked:
            self.finish_period()
            self._tracked = items
        if motion.time < motion.event:
            self._steps.append((motion.time, [track.variable.state for track in tracks]))
        if self._keeps_polynomials and motion.bodies:
            build(motion)
            coefficients = [(track.old + track.remainder, *track.polynomial) for track in tracks]
            self._polynomials.append((motion.lasttime, motion.full, coefficients))
            self._reached = motion.time

    def finish_period(self) -> None:
        """Write down the steps of a period together."""
        if self._polynomials:
            starts, widths, found = zip(*self._polynomials, strict=True)
            coefficients = np.array(found, dtype=float).transpose(0, 2, 1)
            begin, length = np.array(starts, dtype=float), np.array(widths, dtype=float)
            self._pieces.append(_Pieces(self._tracked, begin, length, coefficients, self._rows - 1, self._reached))
            self._polynomials = []
        if self._steps:
            times, values = zip(*self._steps, strict=True)
            self._add(self._tracked, np.array(times, dtype=float), np.array(values, dtype=float))
            self._steps = []

    def stretch(
        self, variables: tuple[Any, ...], rows: list[NDArray[np.void]], polynomials: list[NDArray[np.void]], end: float, y: FloatArray | None,
        slopes: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """What compiled code has written down up to a time, where the variables have these values, and derivatives if there are some."""
        if not self.keeps_rows or not variables:
            return
        n = len(variables)
        if self._keeps_polynomials:
            for block in polynomials:
                degree = int(block["degree"].max()) if len(block) else 0
                coefficients = block["coefficients"][:, : degree + 1, :n].copy()
                self._pieces.append(_Pieces(variables, block["start"].copy(), block["length"].copy(), coefficients, self._rows - 1, end))
        for block in rows:
            kept = block[(block["kind"] == _STEP_ROW) & (block["time"] < end) & (block["time"] > self._time)]
            if len(kept):
                self._add(variables, kept["time"].copy(), kept["values"][:, :n].copy(), kept["sensitivities"][:, :, :n].copy())
        if y is not None:
            self._time, self._last = end, []
            self._add(variables, np.array([end]), y[None].copy(), None if slopes is None else slopes[None].copy())

    def _add(self, items: tuple[Any, ...], times: FloatArray, values: FloatArray, slopes: FloatArray | None = None) -> None:
        if self.keeps_rows:
            self._blocks.append(_Block(items, times, values, slopes))
            self._rows += len(times)

    # -- reading

    def result(self, status: RunStatus, message: str, statistics: Statistics, options: Mapping[str, Any], sensitive: Sequence[str] = ()) -> Result:
        """Everything so far; ``sensitive`` are the names of the parameters by which there are derivatives."""
        shown = (*self._variables, *self._parameters)
        position = {id(item): k for k, item in enumerate(shown)}
        columns = [Column(item.name, "unknown" if k < len(self._variables) else "discrete", item.unit) for k, item in enumerate(shown)]
        times = np.concatenate([block.times for block in self._blocks]) if self._blocks else np.zeros(0)
        values = np.full((len(times), len(shown)), np.nan)
        slopes = np.zeros((len(times), len(sensitive), len(shown)))
        row = 0
        for block in self._blocks:
            end = row + len(block.times)
            if row:
                values[row:end], slopes[row:end] = values[row - 1], slopes[row - 1]
            columns_here = [position[id(item)] for item in block.items]
            values[row:end, columns_here] = block.values
            if sensitive and block.slopes is not None:
                known = block.slopes.shape[1]  # parameters may have become more since
                slopes[np.ix_(range(row, end), range(known), columns_here)] = block.slopes
            row = end
        happened = _Events(self._events, values, [column.name for column in columns], sensitive)
        events = EventLog(happened, np.array([event.time for event in self._events]))
        return Result(
            "processes",
            columns,
            times,
            values,
            events=events,
            statistics=statistics,
            interpolant=self._interpolant(columns, position, times, values),
            options=options,
            status=status,
            message=message,
            sensitivity_parameters=tuple(sensitive),
            sensitivities=slopes if sensitive else None,
        )

    def _interpolant(self, columns: Sequence[Column], position: Mapping[int, int], times: FloatArray, values: FloatArray) -> Interpolant | None:
        if not self._pieces:
            return None
        total = sum(len(pieces.starts) for pieces in self._pieces)
        degree = max(pieces.coefficients.shape[1] for pieces in self._pieces)
        coefficients = np.zeros((total, degree, len(columns)))
        at = 0
        for pieces in self._pieces:
            end = at + len(pieces.starts)
            if pieces.row >= 0:
                coefficients[at:end, 0] = values[pieces.row]
            held = [position[id(item)] for item in pieces.items]
            coefficients[at:end, : pieces.coefficients.shape[1], held] = pieces.coefficients
            at = end
        starts = np.concatenate([pieces.starts for pieces in self._pieces])
        widths = np.concatenate([pieces.widths for pieces in self._pieces])
        limits = np.concatenate([np.full(len(pieces.starts), pieces.end) for pieces in self._pieces])
        still = _uncovered(times, starts, np.minimum(starts + widths, limits))
        at_rest = np.zeros((len(still), degree, len(columns)))
        at_rest[:, 0] = values[still]
        # behind what begins at the same time: where an event has stopped what flows, both hold there
        order = np.argsort(np.concatenate([starts, times[still]]), kind="stable")
        starts, widths = np.concatenate([starts, times[still]])[order], np.concatenate([widths, np.diff(times)[still]])[order]
        return Interpolant(starts, widths, np.concatenate([coefficients, at_rest])[order], [column.name for column in columns])


def _uncovered(times: FloatArray, starts: FloatArray, ends: FloatArray) -> NDArray[np.intp]:
    """Rows behind which nothing flows up to the next one."""
    ahead = np.flatnonzero(np.diff(times) > 0.0)
    middle = 0.5 * (times[ahead] + times[ahead + 1])
    piece = np.searchsorted(starts, middle, side="right") - 1
    return ahead[(piece < 0) | (middle > ends[piece])]


def _numbers(items: Sequence[Any]) -> list[float]:
    """What they are now."""
    return [_number(item.state if hasattr(item, "state") else item.value) for item in items]


def _number(value: Any) -> float:
    """The number alone, of one that carries derivatives."""
    return getattr(value, "number", value)


class _Events(LazyEvents):
    """The event log, each event put into words when it is looked at."""

    def __init__(self, events: Sequence[_Happened], values: FloatArray, names: Sequence[str], sensitive: Sequence[str]) -> None:
        self._sensitive = sensitive
        self._events, self._values, self._names = tuple(events), values, names
        self._sizes = largest([Column(name) for name in names], values) if values.size else {}

    def __len__(self) -> int:
        return len(self._events)

    def made(self, position: int) -> Event:
        """The event at this place, put into words."""
        event = self._events[position]
        before, after = (dict(zip(self._names, self._values[row].tolist(), strict=True)) if row >= 0 else {} for row in (event.before, event.after))
        dt_dp = {name: event.dt_dp.get(name, 0.0) for name in self._sensitive}
        origins = () if event.origin is None else (event.origin,)
        kind = "state" if event.is_state_event else "time"
        return Event(position, event.time, kind, (event.cause,), origins, before=before, after=after, sizes=self._sizes, dt_dp=dt_dp)


def monitor_statistics(monitor: Any, method: str, flow: Any, seconds: float) -> Statistics:
    """What a run has cost.

    Parameters
    ----------
    monitor : of the run.
    flow : what has moved it by compiled code; None for nothing.
    """
    counts = monitor.counters
    called = counts.rk_accepted + counts.pc_accepted + counts.fixed_steps
    compiled, evaluations = (0, 0) if flow is None else flow.spent
    bodies = " and ".join(word for word, number in (("compiled", compiled), ("called", called)) if number)
    extra: dict[str, Any] = {"bodies": bodies or "none", "periods": counts.periods, "state_events": counts.state_events}
    if flow is not None and flow.reason:
        extra["why bodies are called"] = flow.reason
    return Statistics(
        steps=compiled + called,
        rejected=counts.rk_rejected + counts.pc_rejected,
        evaluations=counts.evaluations + evaluations,
        events=counts.periods,
        opaque_calls=counts.evaluations,
        seconds=seconds,
        method=method,
        extra=extra,
    )
