"""What happens at events: transitions guarded by conditions, by times, or by the start and end of a run."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from tidegate.errors import Origin
from tidegate.expressions import TRUE, Expr
from tidegate.quick_dataclass import dataclass

__all__ = [
    "DEFAULT_PRIORITY",
    "LEAST_IMPORTANT",
    "Action",
    "Assignment",
    "Branch",
    "Message",
    "StepEvent",
    "Terminate",
    "TimeEvent",
    "When",
    "expression_of",
]

DEFAULT_PRIORITY: Final = 50  # DSblock 3.3, IPRIOR on entry of BLOCKV: 1 most important ... 100 least
LEAST_IMPORTANT: Final = 100


@dataclass(frozen=True, eq=False)
class Assignment:
    """``target := value`` at an event; the value sees everything as it was before the round, but for symbols of ``Role.NEXT``.

    Parameters
    ----------
    target : symbol of a state (reinit), of an algebraic unknown (a new guess), or of a discrete variable.
    value : expression; may contain unknowns, discrete variables, their previous values, time, parameters.
    """

    target: Expr
    value: Expr
    origin: Origin = field(default_factory=Origin)


@dataclass(frozen=True, slots=True)
class Terminate:
    """End the run at this event with this sentence.

    Parameters
    ----------
    condition : asked when the body happens; the run goes on where it does not hold.
    is_failure : the end is no success: the model says that something is wrong.
    """

    message: str = ""
    condition: Expr = field(default=TRUE, compare=False)
    is_failure: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """Note this sentence in the event log.

    Parameters
    ----------
    condition : asked when the body happens; nothing is noted where it does not hold.
    """

    text: str
    condition: Expr = field(default=TRUE, compare=False)


Action = Assignment | Terminate | Message


def expression_of(action: Action) -> Expr:
    """Its new value, or the condition of what it says."""
    return action.value if isinstance(action, Assignment) else action.condition


@dataclass(frozen=True, eq=False)
class Branch:
    """One ``when`` or ``elsewhen``: fires when its condition becomes true (and no earlier branch fires).

    Parameters
    ----------
    conditions : boolean expressions; any of them becoming true fires the branch.
    actions : what is done; branches and time events with the same tuple of actions are one body.
    label : how the log and messages name it, e.g. ``"bounce"``.
    at_start : whether it happens at the start of a run too, where a condition is true there; initial actions do that (``model.at_start``),
        of what is put in for the solution's sake the run itself.
    """

    conditions: tuple[Expr, ...]
    actions: tuple[Action, ...]
    label: str = ""
    origin: Origin = field(default_factory=Origin)
    at_start: bool = False


@dataclass(frozen=True, eq=False)
class When:
    """A chain of branches, of which the first that fires is carried out.

    Parameters
    ----------
    is_inner : it was put in for the solution's sake, as a choice of states is, and changes no variable of the user's: no event of the model.
    """

    branches: tuple[Branch, ...]
    priority: int = DEFAULT_PRIORITY
    origin: Origin = field(default_factory=Origin)
    is_inner: bool = False


@dataclass(frozen=True, eq=False)
class TimeEvent:
    """At ``first``, and every ``period`` after it where there is one.

    Parameters
    ----------
    first : expression of parameters and discrete variables.
    period : likewise; None for a single event, or where the event itself moves ``first``.
    repeats : True where ``first`` must lie ahead again after every time it happens.
    condition : the event happens only while this holds; None for always.
    """

    first: Expr
    actions: tuple[Action, ...]
    period: Expr | None = None
    condition: Expr | None = None
    label: str = ""
    priority: int = DEFAULT_PRIORITY
    origin: Origin = field(default_factory=Origin)
    repeats: bool = False


@dataclass(frozen=True, eq=False)
class StepEvent:
    """Looked at after every completed step of the integrator: acts when the condition holds there."""

    condition: Expr
    actions: tuple[Action, ...]
    label: str = ""
    priority: int = DEFAULT_PRIORITY
    origin: Origin = field(default_factory=Origin)
