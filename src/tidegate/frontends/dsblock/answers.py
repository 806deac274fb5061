"""What callbacks of a block written in Python answer, and what they are told (DSblock 3.3: arguments of BLOCKS, BLOCKV and BLOCKP, by name)."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["Accepted", "EventAction", "Happening", "Ignored", "Phase", "Refused", "Start", "Warned"]


class Phase(enum.Enum):
    """How far a block has come: what may be called, and what may not yet or not any more."""

    DESCRIBED = "described"
    DIMENSIONED = "dimensioned"
    DEFINED = "defined"
    STARTED = "started"
    RUNNING = "running"
    CLOSED = "closed"


@explained
@dataclass(frozen=True, slots=True)
class Happening:
    """What happens at an event.

    Parameters
    ----------
    time, state, step : which kinds; several may happen at once.
    zero : names of the indicators that are zero here and came from another sign.
    """

    time: bool
    state: bool
    step: bool
    zero: tuple[str, ...]

    def __contains__(self, name: str) -> bool:
        return name.upper() in {zero.upper() for zero in self.zero}


@explained
@dataclass(frozen=True, slots=True)
class Start:
    """What ``start`` answers; None leaves a thing as it is declared.

    Parameters
    ----------
    x, xdot : start values, by name (those not named stay), or all of them.
    next_event : time of the first time event.
    may_reach : how far beyond it a step may go.
    directions : of indicators, by name or all: 0 both, 1 rising, -1 falling.
    n_states, n_indicators : how many of them there are at first.
    """

    x: Mapping[str, Any] | Sequence[Any] | None = None
    xdot: Mapping[str, Any] | Sequence[Any] | None = None
    next_event: float | None = None
    may_reach: float | None = None
    directions: Mapping[str, int] | Sequence[int] | None = None
    n_states: int | None = None
    n_indicators: int | None = None


@explained
@dataclass(frozen=True, slots=True)
class EventAction:
    """What ``event`` answers; likewise.

    Parameters
    ----------
    action : "continue" (nothing has changed), "restart" or "stop".
    priority : from 1, most important, to 100: which event points are stored.
    """

    action: Literal["continue", "restart", "stop"] = "restart"
    x: Mapping[str, Any] | Sequence[Any] | None = None
    xdot: Mapping[str, Any] | Sequence[Any] | None = None
    next_event: float | None = None
    may_reach: float | None = None
    directions: Mapping[str, int] | Sequence[int] | None = None
    n_states: int | None = None
    n_indicators: int | None = None
    priority: int = 50
    reason: str = ""


@explained
@dataclass(frozen=True, slots=True)
class Accepted:
    """A changed parameter is taken; with it other start values."""

    x0: Mapping[str, Any] | Sequence[Any] | None = None
    xdot0: Mapping[str, Any] | Sequence[Any] | None = None


@explained
@dataclass(frozen=True, slots=True)
class Warned:
    """It is taken, and the user is warned."""

    reason: str
    x0: Mapping[str, Any] | Sequence[Any] | None = None
    xdot0: Mapping[str, Any] | Sequence[Any] | None = None


@explained
@dataclass(frozen=True, slots=True)
class Refused:
    """It cannot have this value."""

    reason: str


@explained
@dataclass(frozen=True, slots=True)
class Ignored:
    """It may have this value, but nothing depends on it now."""
