"""The active continuous bodies in their order: descending priority, among equals the one started earlier first."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.executive.monitor.interface import Body

__all__ = ["Bodies"]


class Bodies:
    """Which bodies run at an evaluation, and in which order."""

    def __init__(self) -> None:
        self._bodies: list[Body] = []
        self._priorities: list[float] = []
        self.changes = 0  # so far

    def __iter__(self) -> Iterator[Body]:
        return iter(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)

    def __contains__(self, body: Body) -> bool:
        return any(one is body for one in self._bodies)

    def start(self, body: Body, priority: float = 0.0) -> None:
        """Put a body behind all of at least its priority; nothing happens if it is active."""
        if body not in self:
            place = sum(one >= priority for one in self._priorities)
            self._bodies.insert(place, body)
            self._priorities.insert(place, priority)
            self.changes += 1

    def stop(self, body: Body) -> None:
        """Take a body out; nothing happens if it is not active."""
        for place, one in enumerate(self._bodies):
            if one is body:
                del self._bodies[place], self._priorities[place]
                self.changes += 1
                return

    def set_priority(self, body: Body, priority: float) -> None:
        """An active body becomes the last among those of its new priority."""
        if body in self:
            self.stop(body)
            self.start(body, priority)
