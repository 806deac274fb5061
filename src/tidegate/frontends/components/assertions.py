"""What must hold, and what ends a run (front end of components: statements among equations)."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, as_boolean
from tidegate.expressions.tracing import written_at
from tidegate.frontends.components.statements import noted
from tidegate.model import Branch, Message, Terminate, When
from tidegate.model.remarks import terminate as terminate_in_body
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["Demand", "assertion", "clause_of", "terminate"]

Level = Literal["error", "warning", "terminate"]


@dataclass(frozen=True, eq=False)
class Demand:
    """What ``tg.assertion`` and ``tg.terminate`` with a condition give: to be yielded among the equations.

    Parameters
    ----------
    happens : the condition under which something is said.
    level : whether the run then fails, goes on, or ends as a success.
    """

    happens: Expr
    text: str
    level: Level
    origin: Origin = field(default_factory=Origin)


@explained
def assertion(condition: Any, text: str, level: Literal["error", "warning"] = "error") -> Demand:
    """What must hold during the whole run, its start included; to be yielded by ``equations``.

    Parameters
    ----------
    condition : of variables, parameters and time.
    text : what is wrong where it does not hold.
    level : "error" ends the run there with an ``AssertionFailedError`` that carries what was computed; "warning" notes the text in the log of events.

    Raises
    ------
    UsageError : for another level, or a text that is none.

    Examples
    --------
    >>> from tidegate.frontends.components import Component, State, der
    >>> class Tank(Component):
    ...     h = State(0.5)
    ...     def equations(self):
    ...         yield der(self.h) == 1.0
    ...         yield assertion(self.h < 2.0, "the tank flows over")
    >>> Tank().lower().whens[0].branches[0].label
    'assertion 1'
    """
    place = written_at()
    if level not in ("error", "warning"):
        raise UsageError(f"the level of an assertion is {level!r}", origin=place, hint="it is 'error' or 'warning'")
    return noted(Demand(~as_boolean(condition), _text(text, "tg.assertion", place), level, place), "tg.assertion", place)


@explained
def terminate(reason: Any = "", text: str | None = None) -> Demand | None:
    """End the run, as a success: in the body of an event with a reason; or yielded by ``equations`` with a condition and a reason.

    Parameters
    ----------
    reason : kept in the result and shown to the user; among equations the condition.
    text : among equations the reason.

    Raises
    ------
    UsageError : called with a reason only outside the body of an event.
    UntraceableError : for a reason that is no text.

    Examples
    --------
    >>> from tidegate.frontends.components import Component, State, der
    >>> class Tank(Component):
    ...     h = State(0.5)
    ...     def equations(self):
    ...         yield der(self.h) == 1.0
    ...         yield terminate(self.h > 2.0, "the tank is full")
    >>> Tank().lower().whens[0].branches[0].label
    'terminate 1'
    """
    if text is None:
        terminate_in_body(reason)
        return None
    place = written_at()
    return noted(Demand(as_boolean(reason), _text(text, "tg.terminate", place), "terminate", place), "tg.terminate", place)


def _text(given: object, name: str, place: Origin) -> str:
    if not isinstance(given, str):
        raise UsageError(f"{name} was given {given!r}; a text is expected", origin=place)
    return given


def clause_of(demand: Demand, number: int) -> tuple[When, Message | Terminate]:
    """The clause of a statement, and what is said at the start if it happens there.

    Parameters
    ----------
    number : of the statement among those of its kind in its component, from one.
    """
    action = Message(demand.text) if demand.level == "warning" else Terminate(demand.text, is_failure=demand.level == "error")
    label = f"{'terminate' if demand.level == 'terminate' else 'assertion'} {number}"
    when = When((Branch((demand.happens,), (action,), label, demand.origin),), origin=demand.origin)
    if isinstance(action, Message):
        return when, Message(demand.text, demand.happens)
    return when, Terminate(demand.text, demand.happens, action.is_failure)
