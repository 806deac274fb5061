"""Question and answer in a session of CSMP-10(ARL) (stage: the language's own method): replies recorded, numbers read, diagnostics said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tidegate.csmp.language.diagnostics import Diagnostic, say
from tidegate.csmp.language.fields import split
from tidegate.csmp.language.written_numbers import parse
from tidegate.csmp.session.help import help_on
from tidegate.csmp.session.terminal import EndOfReplies, Recorder, Terminal

__all__ = ["Dialogue", "Refused", "incorrect", "numbers_of"]

_HELP: Final = "?"


class Refused(Exception):  # noqa: N818, it is an answer to a command
    """A command cannot go on; what is said is said, and the rest of the line is dropped.

    Parameters
    ----------
    is_forgotten : the user said no to a question that a script is not asked, so that the command is taken from the record.
    """

    def __init__(self, *, is_forgotten: bool = False) -> None:
        super().__init__()
        self.is_forgotten = is_forgotten


class Dialogue:
    """Asks and says.

    Parameters
    ----------
    terminal : who answers.
    recorder : of replies.

    Attributes
    ----------
    is_over : nobody answers any more.
    """

    def __init__(self, terminal: Terminal, recorder: Recorder) -> None:
        self.terminal = terminal
        self.recorder = recorder
        self.n_diagnostics = 0
        self.is_over = False

    def ask(self, prompt: str, topic: str, choices: Sequence[str] = (), *, is_recorded: bool = True) -> str:
        """The reply; ``?`` is answered here."""
        while True:
            if self.is_over:
                raise EndOfReplies
            reply = self.terminal.ask(prompt, choices)
            if reply.strip() != _HELP:
                break
            for line in help_on(topic):
                self.terminal.say(line)
        if is_recorded:
            self.recorder.reply(reply)
            if self.recorder.fault:
                self.terminal.explain(self.recorder.fault)
                self.recorder.fault = ""
        return reply

    def head(self, text: str) -> None:
        """Show what belongs to the dialogue: headings, echoes, channels."""
        if self.terminal.shows_dialogue:
            self.terminal.say(text)

    def say(self, text: str) -> None:
        """Show what always counts."""
        self.terminal.say(text)

    def diagnose(self, diagnostic: Diagnostic, *, is_warning: bool = False) -> None:
        """Show a diagnostic, where it is, and what to try. A warning does not count as a failure."""
        self.n_diagnostics += not is_warning
        self.terminal.say(f"! {diagnostic.text}")
        place = f"{diagnostic.file}:{diagnostic.line}" if diagnostic.file and diagnostic.line else self.terminal.place
        if place:
            self.terminal.explain(f"  at {place}" + (f": {diagnostic.statement}" if diagnostic.statement else ""))
        if diagnostic.hint:
            self.terminal.explain(f"  try: {diagnostic.hint}")

    def refuse(self, *diagnostics: Diagnostic) -> Refused:
        """Show why a command cannot go on; to be raised."""
        for diagnostic in diagnostics:
            self.diagnose(diagnostic)
        return Refused()

    def is_yes(self, prompt: str, *, is_recorded: bool = True) -> bool:
        """Whether the answer begins with Y."""
        return self.ask(prompt, "yes", ("Y", "N"), is_recorded=is_recorded).strip()[:1].upper() == "Y"

    def numbers(self, prompt: str, topic: str, count: int, least: int | None = None) -> list[float]:
        """As many numbers as are wanted; those left out at the end are 0. A line that cannot be read is asked for again.

        Parameters
        ----------
        prompt, topic : of the question.
        count : how many.
        least : how many must be given; all if None.
        """
        while True:
            reply = self.ask(prompt, topic)
            found = numbers_of(reply, count)
            if found is not None and found[1] >= (count if least is None else least):
                return found[0]
            self.diagnose(incorrect(reply))


def numbers_of(reply: str, count: int) -> tuple[list[float], int] | None:
    """Numbers of a line, filled up with zeros, and how many were there; None if it cannot be read."""
    fields = split(reply)
    if fields.has_label or len(fields.values) > count:
        return None
    try:
        found = [0.0 if value is None else parse(value) for value in fields.values]
    except ValueError:
        return None
    return found + [0.0] * (count - len(found)), len(found)


def incorrect(reply: str) -> Diagnostic:
    """A line of numbers that cannot be read."""
    return say("INCORRECT RECORD", record=reply.strip())
