"""What a model says at one instant, in plain numbers: the interface between front ends and whoever judges a run.

Nothing here is traced or compiled: a front end that can call what the user wrote with numbers offers ``plainly``; for every other the neutral
model's expressions are evaluated as they were written, with no mode bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tidegate.model.model import Model
from tidegate.quick_dataclass import dataclass

__all__ = ["Instant", "PlainAction", "PlainClause", "PlainClock", "PlainModel", "Plainly"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Instant:
    """Numbers at one time.

    Parameters
    ----------
    t : time.
    y, ydot : (n,), unknowns in the order of ``PlainModel.unknowns``, and their derivatives.
    d : discrete variables in the order of ``PlainModel.discretes``.
    pre : discrete variables before the event's present round.
    following : what discrete variables become in this round by other bodies; None where nothing else happens.
    y_before : unknowns before the event's present round; None where they are what they are now.
    """

    t: float
    y: FloatArray
    ydot: FloatArray
    d: FloatArray
    pre: FloatArray
    following: FloatArray | None = None
    y_before: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class PlainAction:
    """What a body does.

    Parameters
    ----------
    values : new values of what it assigns, by element name.
    says : its sentences, those with which it ends the run among them.
    ends : whether it ends the run.
    is_clear : False where it does not tell what it assigns: two variables have one text, by which a dict cannot tell them apart.
    """

    values: Mapping[str, float]
    says: tuple[str, ...] = ()
    ends: bool = False
    is_clear: bool = True


class PlainClause(Protocol):
    """One ``when`` or ``elsewhen``, or the event of a plain function."""

    @property
    def label(self) -> str:
        """How the event log names it."""
        ...

    @property
    def chain(self) -> int:
        """Number of the chain it belongs to, of which one branch happens at a time."""
        ...

    @property
    def priority(self) -> int:
        """From 1, first, to 100."""
        ...

    @property
    def is_noted(self) -> bool:
        """Whether it has no body, and is an event all the same."""
        ...

    def conditions(self, at: Instant) -> Sequence[bool]:
        """Truth of each condition; any of them becoming true is the event."""
        ...

    def action(self, at: Instant) -> PlainAction:
        """What its body does."""
        ...


class PlainClock(Protocol):
    """Something that happens at times that are known beforehand."""

    @property
    def label(self) -> str:
        """How the event log names it."""
        ...

    @property
    def priority(self) -> int:
        """From 1, first, to 100."""
        ...

    def times(self, at: Instant) -> Sequence[float]:
        """Its single times, or the first ticks of its clocks."""
        ...

    def period(self, at: Instant) -> float | None:
        """Distance of the ticks; None for single times."""
        ...

    def ticks(self, at: Instant) -> bool:
        """Whether anything happens at a tick that falls on these values: the clock of a part that is off goes on silently."""
        ...

    def action(self, at: Instant) -> PlainAction:
        """As for a clause."""
        ...


class PlainModel(Protocol):
    """A model whose equations and events are called with numbers; names are of elements, in the order of the neutral model."""

    @property
    def truth(self) -> str:
        """Whose word it is, for tables."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Sentences about what its word does not cover."""
        ...

    @property
    def unknowns(self) -> Sequence[str]:
        """States and algebraic variables."""
        ...

    @property
    def discretes(self) -> Sequence[str]:
        """Discrete variables."""
        ...

    @property
    def equations(self) -> Sequence[str]:
        """How messages call each residual."""
        ...

    @property
    def clauses(self) -> Sequence[PlainClause]:
        """What happens when conditions become true."""
        ...

    @property
    def clocks(self) -> Sequence[PlainClock]:
        """What happens at times that are known."""
        ...

    def initial(self, at: Instant) -> PlainAction | None:
        """What is done once at the start of a run, asked at consistent values; None if there is nothing."""
        ...

    def final(self, at: Instant) -> PlainAction | None:
        """What is done once at its end; None if there is nothing."""
        ...

    def residuals(self, at: Instant) -> FloatArray:
        """Zero where the equations hold; of an explicit equation the right-hand side minus the derivative."""
        ...

    def outputs(self, at: Instant) -> Mapping[str, float]:
        """Values of the outputs by element name."""
        ...


@runtime_checkable
class Plainly(Protocol):
    """A source of models that can be called with numbers."""

    def plainly(self, parameters: Mapping[str, float], model: Model) -> PlainModel:
        """The model in plain numbers, with these values of its parameters' elements; of ``model``, its neutral form, only names, shapes and roles."""
        ...
