"""The plainest things the monitor can be given, for its tests: variables, bodies and samples that are a function, an agenda that is a list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tidegate.executive.monitor import Monitor, Settings

__all__ = ["Body", "Flow", "List", "Look", "model"]


@dataclass(eq=False)
class Flow:
    state: Any
    abserror: Any = 1e-6
    relerror: Any = 0.0
    rate: Any = 0.0
    laststate: Any = 0.0


@dataclass(eq=False)
class Body:
    evaluate: Callable[[], None]


@dataclass(eq=False)
class Look:
    observe: Callable[[], Any]
    frequency: Any = 0.0
    sampletime: Any = 0.0


@dataclass(eq=False)
class List:
    """Events by time, equal times in the order of their scheduling; what is woken is called."""

    events: list[tuple[Any, Callable[[], Any]]] = field(default_factory=list)
    monitor: Monitor | None = None

    def at(self, time: Any, deed: Callable[[], Any] = lambda: None) -> None:
        place = sum(due <= time for due, _ in self.events)
        self.events.insert(place, (time, deed))

    def next_time(self) -> Any:
        return self.events[0][0] if self.events else None

    def wake(self, process: Any) -> None:
        assert self.monitor is not None
        self.at(self.monitor.time, process)

    def carry_out(self) -> None:
        self.events.pop(0)[1]()

    def run(self, until: Any = None) -> Monitor:
        """To the end of the agenda, or to an event at a time, in front of which it stops."""
        assert self.monitor is not None
        if until is not None:
            done: list[int] = []
            self.at(until, lambda: done.append(1))
            while not done:
                self.monitor.advance()
        else:
            while self.events:
                self.monitor.advance()
        return self.monitor


def model(method: str = "rke", *, dtmin: Any = 1e-9, dtmax: Any = 0.2, time: Any = 0.0, **settings: Any) -> tuple[Monitor, List]:
    agenda = List()
    monitor = Monitor(agenda, Settings(method=method, dtmin=dtmin, dtmax=dtmax, **settings), time=time)  # type: ignore[arg-type]
    agenda.monitor = monitor
    return monitor, agenda
