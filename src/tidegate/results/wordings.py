"""What events say of themselves, each wording once, and their numbers (stage: results); for files and for pickling.

An event is its time, the number of its wording, its rounds, the values before and after, and the derivatives of its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import Origin
from tidegate.results.events import Event, EventLog, LazyEvents

__all__ = ["StoredEvents", "Wordings", "stored_log"]


def stored_log(log: EventLog) -> tuple[Any, ...]:
    """What pickling keeps of a log: no model, no expressions, only words and numbers."""
    events = list(log)
    wordings, numbers = Wordings().taken_in(events)
    return _log_of, (wordings, np.array(numbers, dtype=float), dict(events[0].sizes) if events else {}, log.time_unit)


def _log_of(wordings: list[dict[str, Any]], numbers: NDArray[np.float64], sizes: dict[str, float], time_unit: str) -> EventLog:
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

    def __init__(self, wordings: Sequence[dict[str, Any]], numbers: NDArray[np.float64], sizes: dict[str, float] | None = None) -> None:
        self._wordings = wordings
        self._numbers = numbers
        self._sizes = sizes or {}
        self._starts: list[int] = []
        place = 0
        while place < len(numbers):
            self._starts.append(place)
            place += 3 + sum(map(len, wordings[int(numbers[place + 1])]["names"]))

    def __len__(self) -> int:
        return len(self._starts)

    def made(self, place: int) -> Event:
        """The event at this place."""
        start = self._starts[place]
        time, number, rounds = self._numbers[start : start + 3].tolist()
        wording = self._wordings[int(number)]
        values: list[dict[str, float]] = []
        start += 3
        for names in wording["names"]:
            values.append(dict(zip(names, self._numbers[start : start + len(names)].tolist(), strict=True)))
            start += len(names)
        return Event(
            index=place,
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
