"""The one thing every front end offers: ``lower()`` turns it into the neutral model; and what those do that keep what comes of it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from tidegate.model.model import Model

__all__ = ["KeepsCode", "Lowerable"]


@runtime_checkable
class Lowerable(Protocol):
    """Anything that can be simulated. A ``Model`` lowers to itself."""

    def lower(self) -> Model:
        """The neutral model of this system."""
        ...


@runtime_checkable
class KeepsCode(Protocol):
    """A source that carries the machine code of its runs along, so that the next run finds it."""

    def without_code(self) -> Lowerable:
        """The same source as it was before any run."""
        ...
