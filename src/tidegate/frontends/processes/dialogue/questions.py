"""One question: what it shows, what it takes, and how often it comes again (stage: front end).

A dialogue is a generator. It yields questions, lines that are to be shown, and wishes for the debugger; it is sent the text of each answer. It knows
no terminal: whoever drives it decides who answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import field, replace
from typing import Any, Final

from tidegate.names import listed
from tidegate.quick_dataclass import dataclass

__all__ = ["Debugging", "EndOfAnswers", "Question", "Talk", "ask", "ask_choice", "ask_real", "ask_whether", "ask_whole"]

_REAL: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)?([EeDd][+-]?\d+)?")


class EndOfAnswers(Exception):  # noqa: N818, like StopIteration it is no error
    """Nobody answers any more: the recorded answers have come to their end, or the terminal was closed."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes
    ----------
    text : the question.
    kind : "yes or no", "real", "whole" or "choice".
    default : what an empty answer stands for, as it is shown; None where an answer must be given.
    choices : the words of which one is wanted, of kind "choice" and "yes or no"; each may be shortened as long as it is clear which one is meant.
    help : what "?" explains; "" for nothing.
    refused : why the answer before was not taken; "" for a question that is asked for the first time.
    """

    text: str
    kind: str
    default: str | None = None
    choices: tuple[str, ...] = ()
    help: str = ""
    refused: str = ""

    @property
    def prompt(self) -> str:
        """The question as a terminal shows it, with the default between slashes."""
        return f"{self.text} " if self.default is None else f"{self.text} /{self.default}/ "


@dataclass(frozen=True, slots=True)
class Debugging:
    """The debugger is wanted.

    Attributes
    ----------
    comes_back : the dialogue goes on behind it; if not, the run is left.
    changes : what was changed so far, which is to hold there.
    """

    comes_back: bool
    changes: dict[str, Any] = field(default_factory=dict[str, Any])


type Talk[T] = Generator[Question | Debugging | str, str, T]


def ask[T](question: Question, read: Callable[[str], T], default: T | None = None) -> Talk[T]:
    """Ask until there is an answer that can be taken: ``read`` makes a value of it, or raises a ValueError that says why not."""
    while True:
        answer = (yield question).strip()
        if answer == "?":
            if question.help:
                yield question.help
            continue
        if not answer:
            if question.default is None:
                question = replace(question, refused="there is no default")
                continue
            if default is not None:
                return default
            answer = question.default
        try:
            return read(answer)
        except ValueError as reason:
            question = replace(question, refused=str(reason))
            yield str(reason)


def ask_whether(text: str, *, default: bool, explanation: str = "") -> Talk[bool]:
    """A question for yes or no."""
    choices = ("yes", "no")
    question = Question(text, "yes or no", choices[not default], choices, explanation)
    return (yield from ask(question, lambda answer: _chosen(answer, choices) == "yes"))


def ask_choice(text: str, choices: Sequence[str], default: str | None = None, *, listing: Sequence[str] = (), explanation: str = "") -> Talk[str]:
    """A question for one of several words; ``listing`` are those of them that are shown."""
    question = Question(text, "choice", default, tuple(listing or choices), explanation)
    return (yield from ask(question, lambda answer: _chosen(answer, choices)))


def ask_real(text: str, rule: Callable[[float], str], default: float | None = None, *, explanation: str = "") -> Talk[float]:
    """A question for a number; ``rule`` says what is wrong with one, or "".

    A value is kept before it is looked at: where a default is offered, a value that was refused is the default until a good one comes.
    """
    return (yield from _ask_number(text, _real, rule, default, explanation, "real"))


def ask_whole(text: str, rule: Callable[[float], str], default: int, *, explanation: str = "") -> Talk[int]:
    """A question for a whole number."""
    return int((yield from _ask_number(text, _whole, rule, default, explanation, "whole")))


def _ask_number(
    text: str, number: Callable[[str], float], rule: Callable[[float], str], default: float | None, explanation: str, kind: str
) -> Talk[float]:
    refused = ""
    while True:
        question = Question(text, kind, None if default is None else f"{default:g}", help=explanation, refused=refused)
        value = yield from ask(question, number, default)
        refused = rule(value)
        if not refused:
            return value
        yield refused
        default = default if default is None else value


def _real(text: str) -> float:
    match = _REAL.fullmatch(text)
    if match is None or (match[1] is None and match[2] is None):
        raise ValueError(f"{text!r} is no number; 0.1, .1, 1E-5 and E-5 are")
    sign = "-" if text.startswith("-") else ""
    value = float(f"{sign}{match[1] or 1}{(match[2] or '').upper().replace('D', 'E')}")
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large")
    return value


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is no whole number") from None


def _chosen(answer: str, choices: Sequence[str]) -> str:
    """The word that an answer stands for: itself, or the only one that begins so."""
    wish = answer.casefold()
    meant = [choice for choice in choices if choice.casefold() == wish] or [choice for choice in choices if choice.casefold().startswith(wish)]
    if len(meant) == 1:
        return meant[0]
    raise ValueError(f"{answer} may be {listed(meant)}" if meant else f"{answer} is none of {listed(choices)}")
