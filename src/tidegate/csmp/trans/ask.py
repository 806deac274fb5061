"""Who is at the other end (stage: output program): a person, a pipe or a test. In go questions and lines, out come replies."""

from __future__ import annotations

import sys
from typing import Protocol, TextIO

__all__ = ["Questioner", "StreamTerminal"]


class Questioner(Protocol):
    """What the output program needs of a terminal."""

    def ask(self, prompt: str) -> str:
        """The reply to a prompt, without its line end.

        Raises
        ------
        EOFError
            When there are no more replies.
        """
        ...

    def say(self, text: str) -> None:
        """Print one line, or several."""
        ...


class StreamTerminal:
    """A terminal made of two streams.

    Parameters
    ----------
    replies : where replies are read from; the standard input if None. Replies that nobody types are shown behind their prompts, so that what
        comes out of a pipe reads like a session.
    page : where lines are printed; the standard output if None.
    """

    def __init__(self, replies: TextIO | None = None, page: TextIO | None = None) -> None:
        self._replies = replies or sys.stdin
        self._page = page or sys.stdout

    @property
    def is_interactive(self) -> bool:
        """Whether a person types the replies."""
        return self._replies.isatty()

    def ask(self, prompt: str) -> str:
        """Print the prompt and read a line."""
        self._page.write(f"{prompt} " if prompt not in ("", "*") else prompt)
        self._page.flush()
        line = self._replies.readline()
        reply = line.rstrip("\r\n")
        if not self.is_interactive:
            self._page.write(f"{reply}\n")
        if not line:
            raise EOFError
        return reply

    def say(self, text: str) -> None:
        """Print."""
        self._page.write(f"{text}\n")
        self._page.flush()
