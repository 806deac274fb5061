"""Who waits for which condition, highest priority first."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.executive.monitor.interface import Condition, Process
from tidegate.quick_dataclass import dataclass

__all__ = ["Wait", "Waiting"]


@dataclass(frozen=True, slots=True, eq=False)
class Wait:
    """One process, waiting."""

    process: Process
    condition: Condition
    priority: float


class Waiting:
    """The list of those who wait; which of them is continued is found by going through it.

    Attributes
    ----------
    new : those who have not been asked yet.
    """

    def __init__(self) -> None:
        self._waits: list[Wait] = []
        self.new: list[Wait] = []

    def __len__(self) -> int:
        return len(self._waits)

    def __iter__(self) -> Iterator[Wait]:
        return iter(self._waits)

    def __contains__(self, process: Process) -> bool:
        return any(wait.process is process for wait in self._waits)

    def add(self, process: Process, condition: Condition, priority: float = 0.0, *, is_prior: bool = False) -> Wait:
        """Put a process behind those of the same priority, or before them."""
        wait = Wait(process, condition, priority)
        place = sum(one.priority > priority or (not is_prior and one.priority == priority) for one in self._waits)
        self._waits.insert(place, wait)
        self.new.append(wait)
        return wait

    def remove(self, process: Process) -> bool:
        """Take the last entry of a process out of the list; False if it has none."""
        for place in range(len(self._waits) - 1, -1, -1):
            if self._waits[place].process is process:
                self.take_out(self._waits[place])
                return True
        return False

    def take_out(self, wait: Wait) -> None:
        """An entry is done with."""
        self._waits.remove(wait)
        if wait in self.new:
            self.new.remove(wait)

    def first_true(self) -> Wait | None:
        """The first whose condition holds; conditions behind it are not evaluated."""
        return next((wait for wait in self._waits if wait.condition()), None)
