"""What the monitor is given: variables, bodies, samples and an agenda, each by the few names it uses.

Numbers are written ``float``; any type that adds, multiplies, divides and compares, also with ints and floats, does as well.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, Protocol

__all__ = ["Agenda", "Body", "Condition", "Mover", "Process", "Sample", "Variable"]

Process = Any  # whoever waits: the monitor hands it back to the agenda, and looks no deeper
Condition = Callable[[], bool]


class Variable(Protocol):
    """What flows between events.

    Attributes
    ----------
    state : its value; the monitor writes trial values into it, events may set it.
    rate : its derivative; 0 before each evaluation, set by bodies.
    laststate : the value at the start of the step.
    abserror, relerror : its tolerance, looked at in each step.
    """

    state: float
    rate: float
    laststate: float
    abserror: float
    relerror: float


class Body(Protocol):
    """A continuous body: what computes rates."""

    def evaluate(self) -> None:
        """Set rates from time and states; called again and again, at points that may be tried in vain and earlier ones."""
        ...


class Sample(Protocol):
    """What observes.

    Attributes
    ----------
    frequency : above 0 an interval of time, 0 every step, below 0 only around events; changed by `Samples.set_frequency`.
    sampletime : the next time it is due, where the frequency is above 0; the monitor writes it.
    """

    frequency: float
    sampletime: float

    def observe(self) -> None:
        """Look at the system as it is now."""
        ...


class Agenda(Protocol):
    """The discrete events, in their order."""

    def next_time(self) -> float | None:
        """When the next event is due; None if nothing is scheduled."""
        ...

    def wake(self, process: Process) -> None:
        """Schedule a process, whose condition holds, at the present time, behind all others of that time."""
        ...

    def carry_out(self) -> None:
        """The next event happens."""
        ...


class Mover(Protocol):
    """What moves through a period by other means than steps of the monitor."""

    def takes(self, motion: Any) -> bool:
        """Whether it moves through the period that begins."""
        ...

    def needs_evaluation(self, motion: Any) -> bool:
        """Whether bodies are to be called at the start of the period all the same."""
        ...

    def unwatched(self, motion: Any) -> Iterable[Any]:
        """Those who have waited before, and whose conditions it does not look at by itself as the period begins."""
        ...

    def move(self, motion: Any) -> Generator[Any]:
        """From the present time to the event, or to where a condition begins to hold; samples that are due before look on the way."""
        ...
