"""The event log: what happened when, and why (stage: results). In go the executive's records, out come tables and filters.

In files and pickles an event is its time, the number of its wording, which is kept once, its rounds, the values before and after, and the derivatives
of its time.
"""

from __future__ import annotations

import io
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.errors import Origin, UnknownEventError
from tidegate.names import listed, unknown_name
from tidegate.quick_dataclass import dataclass
from tidegate.results.columns import Column
from tidegate.results.instead import OF_EVENTS, WORDS_OF_A_LOG, WORDS_OF_AN_EVENT, NoNumber
from tidegate.results.labels import FinalValues, number
from tidegate.wrong_calls import explained
from tidegate.wrong_names import answering

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

__all__ = ["Event", "EventColumns", "EventKind", "EventLog", "LazyEvents", "StoredEvents", "Wordings", "largest"]

EventKind = Literal["state", "time", "step", "set", "initial", "final"]

_KINDS: Final[tuple[EventKind, ...]] = ("state", "time", "step", "set", "initial", "final")
_BY_NAME: Final = 'result.events[0] is the first; .of("state"), .caused_by("level") and .between(1.0, 2.0) choose'
_SHOWN_CHANGES: Final = 3  # so many "v: -4.4 -> 3.5" fit beside time, kind and cause on a line
_NOISE: Final = 1e-12  # of the event's largest value: below it a value counts as zero in texts
_COUNTED: Final = 12  # digits of what counts: 131574 -> 131575
_ROUNDING: Final = 1e-9  # of a variable's size in the run: a smaller change is rounding, far below any tolerance in use
_SHOWN_ROWS: Final = 30  # a screen's height


class Sizes(dict[str, float]):
    """Sizes by name; ``told`` are the columns whose numbers stand for texts, ``truths`` those of truth values, ``kept`` what only events change."""

    told: Mapping[str, Column] = MappingProxyType({})
    truths: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()


def largest(columns: Sequence[Column], values: NDArray[np.float64]) -> dict[str, float]:
    """The largest finite absolute value of each column, by name; infinity for those that are hidden, so that no change in them is worth a word.

    Parameters
    ----------
    columns : the first of the result, or all.
    values : (rows, columns).
    """
    sizes = np.abs(values[:, : len(columns)])
    found = np.max(sizes, axis=0, where=np.isfinite(sizes), initial=0.0).tolist()
    sizes_by_name = Sizes({column.name: math.inf if column.is_hidden else size for column, size in zip(columns, found, strict=True)})
    sizes_by_name.told = {column.name: column for column in columns if column.texts}
    sizes_by_name.truths = frozenset(column.name for column in columns if column.is_truth)
    sizes_by_name.kept = frozenset(column.name for column in columns if column.role == "discrete")
    return sizes_by_name


class _ByName(dict[str, float]):
    """Derivatives by parameter; a name that is missing raises the error that tells the close ones."""

    def __missing__(self, name: str) -> float:
        raise unknown_name("sensitivity parameter", name, list(self), of="this event")


@explained
@answering("event", WORDS_OF_AN_EVENT)
@dataclass(frozen=True, slots=True)
class Event:
    """One instant at which the system changed.

    Parameters
    ----------
    index : position in the log.
    time : when.
    kind : what found it: a state condition, the calendar, a completed step, a value set by the user, the start or the end of the run.
    causes : conditions and names of ``when`` clauses, in the user's words; several for simultaneous events.
    origins : where these are written.
    priority : 1 most important, 100 least.
    rounds : how often conditions were looked at anew until nothing changed.
    before, after : values by name; truth values are ``True`` and ``False``.
    dt_dp : derivative of the time by parameter, by name.
    messages : what the model said.
    sizes : largest absolute values in the whole run, by name; beside them rounding is told from change, which what has infinity never shows.
    """

    index: int
    time: float
    kind: EventKind
    causes: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    priority: int = 50
    rounds: int = 1
    before: Mapping[str, float] = field(default_factory=dict[str, float])
    after: Mapping[str, float] = field(default_factory=dict[str, float])
    dt_dp: Mapping[str, float] = field(default_factory=dict[str, float])
    messages: tuple[str, ...] = ()
    sizes: Mapping[str, float] = field(default_factory=dict[str, float], repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dt_dp", _ByName(self.dt_dp))
        for name in ("before", "after"):
            object.__setattr__(self, name, FinalValues(getattr(self, name)).with_truths(getattr(self.sizes, "truths", ())))

    @property
    def cause(self) -> str:
        """All causes in one line."""
        return ", ".join(self.causes)

    @property
    def changes(self) -> dict[str, tuple[float, float]]:
        """Values before and after of what the event changed."""
        pairs = ((name, self.before[name], value) for name, value in self.after.items() if name in self.before)
        return {name: (old, new) for name, old, new in pairs if old != new and not (old != old and new != new)}  # NaN stays NaN

    def change_text(self, limit: int = _SHOWN_CHANGES) -> str:
        """The changes that can be seen in one line, at most ``limit`` of them; where there are more, what a clause has set comes first."""
        changes = self.changes
        kept: frozenset[str] = getattr(self.sizes, "kept", frozenset())
        first: list[str] = []
        noise = _NOISE * max((abs(value) for value in (*self.before.values(), *self.after.values()) if math.isfinite(value)), default=0.0)
        parts: list[str] = []
        order: list[str] = []
        for name, pair in changes.items():
            column = getattr(self.sizes, "told", {}).get(name)
            digits = _COUNTED if name in kept and all(float(value).is_integer() for value in pair) else 4
            old, new = (number(value, digits) if column is None else column.told(value, digits) for value in pair)
            # rounding is no news, also in a value that is zero on both sides
            is_rounding = abs(pair[1] - pair[0]) <= _ROUNDING * max(*map(abs, pair), self.sizes.get(name, 0.0))
            if old != new and not is_rounding and not all(abs(value) <= noise for value in pair):
                (first if name in kept else parts).append(f"{name}: {old} -> {new}")
                order.append(f"{name}: {old} -> {new}")
        return listed(order if len(order) <= limit else [*first, *parts], limit)

    def __str__(self) -> str:
        change = self.change_text()
        return f"{number(self.time, 10)} {self.kind}: {self.cause}" + (f" ({change})" if change else "")


class LazyEvents(Sequence[Event], ABC):
    """A sequence of events each of which is made when it is looked at."""

    @abstractmethod
    def made(self, position: int) -> Event:
        """The event at a place from 0 to the last."""
        ...

    @property
    def times(self) -> NDArray[np.float64]:
        """Of all of them."""
        return np.array([event.time for event in self], dtype=float)

    def columns(self) -> EventColumns:
        """Times, kinds, causes and derivatives of the times of all of them."""
        return _columns_of(list(self))

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise UnknownEventError(f"there are {len(self)} events; number {index} is not among them")
        return self.made(position)


class EventColumns(NamedTuple):
    """What tables of many runs hold of events, one entry an event.

    Parameters
    ----------
    times : (events,).
    kinds, causes : texts.
    dt_dp : (events, parameters), derivatives of the times by the sensitivity parameters of the run.
    """

    times: NDArray[np.float64]
    kinds: list[str]
    causes: list[str]
    dt_dp: NDArray[np.float64]


@explained
@answering("events", WORDS_OF_A_LOG)
class EventLog(NoNumber, Sequence[Event]):
    """The events of a run in order; a sequence that filters and prints itself.

    Parameters
    ----------
    events : any sequence; one that makes its events on demand is only asked for those looked at.
    times : their times, where the caller has them as an array.
    time_unit : of these times, "" if none was given.

    Examples
    --------
    >>> log = EventLog([Event(0, 0.5, "state", ("level > 1",)), Event(1, 1.0, "time", ("clock",))])
    >>> log.times.tolist(), log.of("time")[0].cause
    ([0.5, 1.0], 'clock')
    """

    __slots__ = ("_events", "_times", "time_unit")
    _instead = OF_EVENTS

    def __init__(self, events: Sequence[Event] = (), times: ArrayLike | None = None, time_unit: str = "") -> None:
        self._events = events
        self.time_unit = time_unit
        self._times: NDArray[np.float64] | None = None if times is None else np.asarray(times, dtype=float)

    @property
    def times(self) -> NDArray[np.float64]:
        """(len,), unit of time."""
        if self._times is None:
            events = self._events
            self._times = events.times if isinstance(events, LazyEvents) else np.array([event.time for event in events], dtype=float)
        return self._times

    def __len__(self) -> int:
        return len(self._events)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> EventLog: ...
    def __getitem__(self, index: int | slice) -> Event | EventLog:
        if isinstance(index, slice):
            ends = (index.start, index.stop, index.step)
            if not all(end is None or hasattr(end, "__index__") for end in ends):
                raise UnknownEventError(f"events are cut by their numbers, not by {index}", hint=_BY_NAME)
            return EventLog([self._events[i] for i in range(*index.indices(len(self)))], time_unit=self.time_unit)
        if not hasattr(index, "__index__"):
            raise UnknownEventError(f"an event has a number, and {index!r} is none", hint=_BY_NAME)
        if not -len(self) <= index < len(self):
            raise UnknownEventError(f"there {'is 1 event' if len(self) == 1 else f'are {len(self)} events'}; number {index} is not among them")
        return self._events[index]

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EventLog) and list(self) == list(other)

    __hash__ = None  # pyright: ignore[reportAssignmentType] # compared by content, like a list

    def __reduce__(self) -> tuple[Any, ...]:
        # pickling keeps no model and no expressions, only words and numbers
        events = list(self)
        wordings, numbers = Wordings().taken_in(events)
        return _log_of, (wordings, np.array(numbers, dtype=float), events[0].sizes if events else {}, self.time_unit)

    def columns(self) -> EventColumns:
        """Times, kinds, causes and derivatives of the times, without the values before and after, which cost most of the making of an event."""
        return self._events.columns() if isinstance(self._events, LazyEvents) else _columns_of(self._events)

    def where(self, predicate: Callable[[Event], bool]) -> EventLog:
        """The events for which the predicate holds."""
        return EventLog([event for event in self if predicate(event)], time_unit=self.time_unit)

    def of(self, *kinds: EventKind) -> EventLog:
        """The events of these kinds: "state", "time", "step", "set", "initial", "final".

        Raises
        ------
        UsageError
            For a kind that does not exist.
        """
        for kind in kinds:
            if kind not in _KINDS:
                raise unknown_name("kind of event", kind, _KINDS)
        return self.where(lambda event: event.kind in kinds)

    def caused_by(self, text: str) -> EventLog:
        """The events with this text in one of their causes."""
        return self.where(lambda event: any(text in cause for cause in event.causes))

    def between(self, first: float, last: float) -> EventLog:
        """The events in this closed interval of time."""
        return self.where(lambda event: first <= event.time <= last)

    def to_dataframe(self, *, values: bool = True) -> pd.DataFrame:
        """One row an event: time, kind, cause, where it is written, priority, rounds, values before and after, and dt/d(parameter).

        Parameters
        ----------
        values : with columns ``x before`` and ``x after`` of every variable ``x``; without them long logs are quicker.
        """
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for event in self:
            places = ", ".join(dict.fromkeys(str(origin) for origin in event.origins if str(origin)))
            row: dict[str, Any] = {"time": event.time, "kind": event.kind, "cause": event.cause, "written at": places}
            row |= {"priority": event.priority, "rounds": event.rounds}
            for name in dict.fromkeys((*event.before, *event.after)) if values else ():
                if event.sizes.get(name) != math.inf:  # hidden
                    row |= {f"{name} before": event.before.get(name, math.nan), f"{name} after": event.after.get(name, math.nan)}
            rows.append(row | {f"dt/d({name})": value for name, value in event.dt_dp.items()})
        return pd.DataFrame(rows, columns=None if rows else ["time", "kind", "cause", "written at", "priority", "rounds"])

    def _selection(self, max_rows: int) -> tuple[list[Event], int, list[Event]]:
        """First events, how many are left out, last events."""
        if len(self) <= max_rows:
            return list(self), 0, []
        head = max(max_rows - max_rows // 4, 1)
        tail = max_rows - head
        return list(self[:head]), len(self) - max_rows, list(self[len(self) - tail :])

    @property
    def _time_title(self) -> str:
        return f"time ({self.time_unit})" if self.time_unit else "time"

    def _cells(self, event: Event) -> tuple[str, str, str, str, str]:
        note = event.change_text() or "; ".join(event.messages)
        return str(event.index), number(event.time, 10), event.kind, event.cause, note

    def table(self, max_rows: int = _SHOWN_ROWS) -> Table:
        """A rich table; what is more than ``max_rows`` is left out in the middle, and said."""
        from rich.table import Table
        from rich.text import Text

        table = Table(title=f"{len(self)} event{'' if len(self) == 1 else 's'}", title_justify="left", box=None, pad_edge=False)
        table.add_column("#", justify="right", style="dim")
        table.add_column(self._time_title, justify="right", no_wrap=True)
        table.add_column("kind")
        table.add_column("cause", overflow="fold")
        table.add_column("change", overflow="fold")
        head, left_out, tail = self._selection(max_rows)
        for event in head:
            table.add_row(*map(Text, self._cells(event)))
        if left_out:
            table.add_row("", "...", "", f"{left_out} more", "")
        for event in tail:
            table.add_row(*map(Text, self._cells(event)))
        return table

    def __str__(self) -> str:
        from rich.console import Console

        page = io.StringIO()
        Console(file=page, width=120, color_system=None).print(self.table())
        return "\n".join(line.rstrip() for line in page.getvalue().splitlines())

    @property
    def _counted(self) -> str:
        return f"{len(self)} event{'s' * (len(self) != 1)}"

    def __repr__(self) -> str:
        return f"<EventLog: {self._counted}>"

    def _repr_html_(self) -> str:
        head, left_out, tail = self._selection(_SHOWN_ROWS)
        lines = [_html_row(self._cells(event)) for event in head]
        if left_out:
            lines.append(f"<tr><td></td><td>...</td><td></td><td>{left_out} more</td><td></td></tr>")
        lines.extend(_html_row(self._cells(event)) for event in tail)
        header = "".join(f"<th>{title}</th>" for title in ("#", self._time_title, "kind", "cause", "change"))
        return f"<table><caption>{self._counted}</caption><tr>{header}</tr>{''.join(lines)}</table>"


def _columns_of(events: Sequence[Event]) -> EventColumns:
    names = list(dict.fromkeys(name for event in events for name in event.dt_dp))
    slopes = np.array([[dict(event.dt_dp).get(name, math.nan) for name in names] for event in events], dtype=float).reshape(len(events), len(names))
    return EventColumns(np.array([event.time for event in events]), [event.kind for event in events], [event.cause for event in events], slopes)


def _html_row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _log_of(wordings: list[dict[str, Any]], numbers: NDArray[np.float64], sizes: Mapping[str, float], time_unit: str) -> EventLog:
    return EventLog(StoredEvents(wordings, numbers, sizes), time_unit=time_unit)


class Wordings:
    """Remembers which wordings of events there have been."""

    def __init__(self) -> None:
        self._known: dict[Any, int] = {}

    def taken_in(self, events: Iterable[Event]) -> tuple[list[dict[str, Any]], list[float]]:
        """Wordings that are new, and the numbers of all these events."""
        new: list[dict[str, Any]] = []
        numbers: list[float] = []
        for event in events:
            names = (tuple(event.before), tuple(event.after), tuple(event.dt_dp))
            key = (event.kind, event.causes, event.origins, event.priority, event.messages, names)
            if key not in self._known:
                self._known[key] = len(self._known)
                facts = {"kind": event.kind, "causes": event.causes, "priority": event.priority, "messages": event.messages, "names": names}
                new.append({**facts, "origins": [[o.file, o.line, o.text, o.path] for o in event.origins]})
            numbers += [event.time, self._known[key], event.rounds, *event.before.values(), *event.after.values(), *event.dt_dp.values()]
        return new, numbers


class StoredEvents(LazyEvents):
    """Events from their wordings and numbers.

    Parameters
    ----------
    wordings, numbers : as ``Wordings`` made them.
    sizes : largest absolute values in the run, by name.
    """

    def __init__(self, wordings: Sequence[dict[str, Any]], numbers: NDArray[np.float64], sizes: Mapping[str, float] | None = None) -> None:
        self._wordings = wordings
        self._numbers = numbers
        self._sizes = sizes or {}
        self._starts: list[int] = []
        position = 0
        while position < len(numbers):
            self._starts.append(position)
            position += 3 + sum(map(len, wordings[int(numbers[position + 1])]["names"]))

    def __len__(self) -> int:
        return len(self._starts)

    def made(self, position: int) -> Event:
        """The event at this place."""
        start = self._starts[position]
        time, number, rounds = self._numbers[start : start + 3].tolist()
        wording = self._wordings[int(number)]
        values: list[dict[str, float]] = []
        start += 3
        for names in wording["names"]:
            values.append(dict(zip(names, self._numbers[start : start + len(names)].tolist(), strict=True)))
            start += len(names)
        return Event(
            index=position,
            time=time,
            kind=wording["kind"],
            causes=tuple(wording["causes"]),
            origins=tuple(Origin(*fields) for fields in wording["origins"]),
            priority=wording["priority"],
            rounds=int(rounds),
            before=values[0],
            after=values[1],
            dt_dp=values[2],
            messages=tuple(wording["messages"]),
            sizes=self._sizes,
        )
