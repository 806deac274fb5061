"""What the bodies of events say while a front end follows them.

In: calls of ``tg.message`` and ``tg.terminate``. Out: the neutral model's actions, each with the condition of the body under which it was called.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from tidegate.errors import UntraceableError, UsageError
from tidegate.expressions.chosen_texts import NamingText, texts_of
from tidegate.expressions.nodes import FALSE, Expr
from tidegate.expressions.tracing import path_condition
from tidegate.model.events import Message, Terminate
from tidegate.wrong_calls import explained

__all__ = ["collect_remarks", "made_when", "message", "sentences", "terminate"]

_collector: Final[ContextVar[list[Message | Terminate] | None]] = ContextVar("collector", default=None)


@contextmanager
def collect_remarks() -> Generator[list[Message | Terminate]]:
    """Gather what ``message`` and ``terminate`` are called with while the body of an event is followed."""
    found: list[Message | Terminate] = []
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)


def sentences(remarks: Iterable[Message | Terminate]) -> tuple[str, ...]:
    """What is said by these, without those that say nothing."""
    return tuple(filter(None, (item.text if isinstance(item, Message) else item.message for item in remarks)))


def made_when(remark: Message | Terminate, said: Iterable[object]) -> Expr:
    """The condition under which a remark is one of those that are made, wherever in the body it stands."""
    found = FALSE
    for item in said:
        if isinstance(item, Message | Terminate) and item == remark:
            found |= item.condition
    return found


def _collect(action: Message | Terminate, name: str) -> None:
    found = _collector.get()
    if found is None:
        raise UsageError(
            f"tg.{name} is called outside the body of an event",
            hint="call it in a method under @tg.when, @tg.every, @tg.at, @tg.initially or @tg.finally_, or in the reset of a tg.event",
        )
    if not any(item == action and item.condition is action.condition for item in found):
        found.append(action)


def terminate(reason: str = "") -> None:
    """End the run, as a success, at the event in whose body this is called; under an ``if`` only when its condition holds then.

    Parameters
    ----------
    reason : kept in the result and shown to the user.

    Raises
    ------
    UsageError : outside the body of an event.
    UntraceableError : for a reason that is no text.

    Examples
    --------
    >>> with collect_remarks() as said:
    ...     terminate("the tank is full")
    >>> said[0].message
    'the tank is full'
    """
    _collect(Terminate(_text(reason, "terminate"), path_condition()), "terminate")


@explained
def message(text: str) -> None:
    """Note a sentence in the event log, from the body of an event; under an ``if`` only when its condition holds then.

    Parameters
    ----------
    text : the sentence.

    Raises
    ------
    UsageError : outside the body of an event.
    UntraceableError : for something that is no text.

    Examples
    --------
    >>> with collect_remarks() as said:
    ...     message("nearly full")
    >>> said[0].text
    'nearly full'
    """
    for condition, one in texts_of(text):
        _collect(Message(_text(one, "message"), path_condition() & condition), "message")


def _text(value: object, name: str) -> str:
    if isinstance(value, NamingText):
        raise UntraceableError(
            f"tg.{name} is given the value of `{value.item!r}` in its text, which is known only during the run",
            hint="leave it out: the values at the event stand in the event log beside the text",
        )
    if not isinstance(value, str):
        raise UntraceableError(
            f"tg.{name} was given {value!r}; a text is expected", hint="values at the event stand in the event log beside the text"
        )
    return value
