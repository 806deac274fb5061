"""The one thing every front end offers: ``lower()`` turns it into the neutral model."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from tidegate.model.model import Model

__all__ = ["Lowerable"]


@runtime_checkable
class Lowerable(Protocol):
    """Anything that can be simulated. A ``Model`` lowers to itself."""

    def lower(self) -> Model:
        """The neutral model of this system."""
        ...
