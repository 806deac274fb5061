"""Simula's list of events, kept in SimPy's queue (stage: front end).

SimPy's queue is ordered by time, rank and a number that counts up. Between its two ranks (0 urgent, 1 normal) there is room for ours, and between
two numbers for as many fractions as are wanted: so an entry can stand directly before or behind any other. Who executes stands in front of all, in a
rank of its own; those that were displaced by it, and those that it puts directly behind itself, follow in that rank. The monitor works only when
nobody is left there: this is where the control entries of CONDIS stand.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from simpy.events import Event

__all__ = ["FRONT", "EventList", "Notice", "Place"]

FRONT: Final = -2  # in front of all of SimPy's own
_PAUSED: Final = 0.25
_PRIOR: Final = 0.5
_NORMAL: Final = 1
_DEEPEST: Final = 40  # plain calls inside each other; Python's own stack bears some hundred

type Place = tuple[float, float, int | Fraction]


class Notice(Event):
    """A process is due at a place in the list."""

    def __init__(self, env: Any, process: Any, place: Place) -> None:
        super().__init__(env)
        self._ok, self._value = True, None
        self.process, self.place = process, place

    @property
    def is_behind_a_period(self) -> bool:
        """Whether the monitor works before it; not where it belongs to the event that is being executed."""
        return self.place[1] != FRONT


class EventList:
    """The processes of an environment that are due, in their order, and the one that executes.

    Attributes
    ----------
    current : the process that executes; None outside of processes of this style.
    """

    def __init__(self, env: Any) -> None:
        self._env = env
        self._queue: list[tuple[Any, Any, Any, Event]] = env._queue  # noqa: SLF001 - the order is SimPy's
        self._counter = env._eid  # noqa: SLF001
        self.current: Any = None
        self._depth = 0

    def __iter__(self) -> Iterator[Any]:
        """The processes in their order, the current one first."""
        if self.current is not None:
            yield self.current
        for *_, event in sorted(self._queue, key=lambda entry: entry[:3]):
            if isinstance(event, Notice):
                yield event.process

    # places

    def in_front(self) -> Place:
        """In front of everything."""
        return self._env.now, FRONT, -next(self._counter)

    def at(self, time: float, *, is_prior: bool = False) -> Place:
        """At a time, not before now, behind all others of that time, or in front of them."""
        now = self._env.now
        if time > now:
            return (time, _PRIOR, -next(self._counter)) if is_prior else (time, _NORMAL, next(self._counter))
        return self.in_front() if is_prior else (now, _NORMAL, next(self._counter))

    def behind_a_period(self) -> Place:
        """Now, before whatever else is due now, but behind a period of the monitor."""
        return self._env.now, _PAUSED, -next(self._counter)

    def before(self, place: Place) -> Place:
        """Directly before another place."""
        time, rank, number = place
        nearest = max((one for one in self._numbers(place) if one < number), default=None)
        if nearest is not None:
            return time, rank, _between(nearest, number)
        return time, rank, -next(self._counter) if rank != _NORMAL else Fraction(number) - Fraction(1, 2)

    def behind(self, place: Place) -> Place:
        """Directly behind another place."""
        time, rank, number = place
        nearest = min((one for one in self._numbers(place) if one > number), default=None)
        if nearest is not None:
            return time, rank, _between(number, nearest)
        return time, rank, Fraction(number) + Fraction(1, 2) if rank != _NORMAL else next(self._counter)

    def _numbers(self, place: Place) -> Iterator[int | Fraction]:
        """Of all who have this time and rank."""
        taken: list[Place] = [entry[:3] for entry in self._queue]
        if self.current is not None:
            taken.append(self.current.place)
        return (number for time, rank, number in taken if (time, rank) == place[:2])

    # entries

    def enter(self, notice: Notice) -> None:
        """A process becomes due."""
        heapq.heappush(self._queue, (*notice.place, notice))

    def take_out(self, notice: Notice) -> None:
        """A process is due no more."""
        self._queue[:] = [entry for entry in self._queue if entry[3] is not notice]
        heapq.heapify(self._queue)

    def first(self) -> Event | None:
        """What is due next, of SimPy's events too."""
        return self._queue[0][3] if self._queue else None

    # plain calls

    def can_go_deeper(self) -> bool:
        """Whether one more plain call inside the others is possible."""
        return self._depth < _DEEPEST

    def run_front(self, until: Any) -> bool:
        """Let everyone execute who stands in front of a process, which stands in a plain call; False if its turn has not come by that.

        That is where it was cancelled or moved, or where another one has its turn that stands in a plain call further out.
        """
        self._depth += 1
        try:
            while isinstance(notice := self.first(), Notice) and notice.place[1] == FRONT:
                if notice.process is until:
                    heapq.heappop(self._queue)
                    return True
                if notice.process.is_in_a_call:
                    return False
                self._env.step_plainly()
        finally:
            self._depth -= 1
        return False


def _between(one: int | Fraction, other: int | Fraction) -> Fraction:
    return (Fraction(one) + Fraction(other)) / 2
