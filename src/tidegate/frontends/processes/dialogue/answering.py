"""Who answers the questions of a dialogue: a person at a terminal, a handler object, a function, answers that were recorded (stage: front end)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol, cast, runtime_checkable

from tidegate.errors import UsageError
from tidegate.frontends.processes.dialogue.questions import Debugging, EndOfAnswers, Question, Talk

__all__ = ["Answering", "Function", "Recorded", "answering", "converse"]

_MOST_IN_VAIN: Final = 100  # answers in a row to one question that cannot be taken


@runtime_checkable
class Answering(Protocol):
    """Who answers. A handler object has these methods; only ``answer`` is a must."""

    def answer(self, question: Question) -> str:
        """The answer, as text; empty for the default, "?" for help. Raise EndOfAnswers where there is none: the error is raised then."""
        ...


class Recorded:
    """Answers that were recorded, or written down in advance.

    Parameters
    ----------
    answers : texts in the order of the questions; where the debugger is wanted, a function of the environment that does what was done there.
    """

    def __init__(self, answers: Iterable[str | Callable[[Any], Any]]) -> None:
        self._answers = iter(answers)

    def answer(self, question: Question) -> str:
        """The next of them."""
        answer = next(self._answers, None)
        if answer is None:
            raise EndOfAnswers
        if not isinstance(answer, str):
            raise UsageError(f"the recorded answer to {question.text!r} is no text but {answer!r}")
        return answer

    def debug(self, env: Any, _: object) -> None:
        """Do what was done in the debugger."""
        deed = next(self._answers, None)
        if deed is None:
            raise EndOfAnswers
        if not callable(deed):
            raise UsageError(f"the debugger was wanted, and the recorded answer is {deed!r}", hint="put a function of the environment there")
        deed(env)


class Function:
    """A function of the question that returns the answer."""

    def __init__(self, function: Callable[[Question], str]) -> None:
        self._function = function

    def answer(self, question: Question) -> str:
        """What the function returns."""
        return self._function(question)


def answering(on_error: object) -> Answering | None:
    """Who answers, of what the user gave; None where errors are raised.

    Raises
    ------
    UsageError
        For something that cannot answer.
    """
    if on_error == "raise":
        return None
    if on_error == "ask":
        return _person()
    if isinstance(on_error, Answering):
        return on_error
    if callable(on_error):
        return Function(cast(Callable[[Question], str], on_error))
    if isinstance(on_error, Iterable) and not isinstance(on_error, str):
        return Recorded(cast(Iterable[str], on_error))
    raise UsageError(
        f"on_error cannot be {on_error!r}", hint="'raise', 'ask', an object with a method answer(question), a function, or a list of recorded answers"
    )


def _person() -> Answering | None:
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()):
        return None
    from tidegate.frontends.processes.dialogue.terminal import TerminalAnswers

    return TerminalAnswers()


def converse[T](talk: Talk[T], who: Answering, debug: Callable[[Debugging], None], record: Callable[[str], None]) -> T:
    """Lead a dialogue to its end, and return what it comes to.

    Parameters
    ----------
    talk : the dialogue.
    who : answers.
    debug : opens the debugger.
    record : is told every answer.

    Raises
    ------
    EndOfAnswers
        If nobody answers any more.
    UsageError
        If what answers gives no text, or the same useless one for ever.
    """
    tell: Callable[[str], Any] | None = getattr(who, "tell", None)
    last, in_vain = "", 0
    try:
        item = next(talk)
        while True:
            answer = ""
            if isinstance(item, str):
                if tell is not None:
                    tell(item)
            elif isinstance(item, Debugging):
                debug(item)
            else:
                answer = who.answer(item)
                if not isinstance(answer, str):  # pyright: ignore[reportUnnecessaryIsInstance] - it is the user's
                    raise UsageError(f"the answer to {item.text!r} is no text but {answer!r}")
                in_vain = in_vain + 1 if item.text == last else 0
                last = item.text
                if in_vain > _MOST_IN_VAIN:
                    raise UsageError(f"{item.text!r} was answered {_MOST_IN_VAIN} times in a row, and {answer!r} is no answer to it: {item.refused}")
                record(answer)
            item = talk.send(answer)
    except StopIteration as end:
        return end.value
