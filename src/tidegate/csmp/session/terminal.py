"""What a session of CSMP-10(ARL) speaks with (stage: the language's own method): a terminal, a script of replies, and the record of what was replied.

A session asks and says; it does not know whether a person, a file or a test answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

__all__ = ["EndOfReplies", "Recorder", "ScriptTerminal", "Terminal"]


class EndOfReplies(Exception):  # noqa: N818, like StopIteration it is no error
    """Nobody answers any more: the script has ended, or the terminal was closed."""


class Terminal(Protocol):
    """Answers questions and shows lines.

    ``is_interactive`` tells whether a person answers: only then are files overwritten after a question and replies recorded.
    ``shows_dialogue`` tells whether prompts, headings and what is read from files are wanted; diagnostics, rows and run lines always are.
    """

    @property
    def is_interactive(self) -> bool:
        """Whether a person answers."""
        ...

    @property
    def shows_dialogue(self) -> bool:
        """Whether headings and echoes are wanted."""
        ...

    def ask(self, prompt: str, choices: Sequence[str] = ()) -> str:
        """The reply to a prompt; ``choices`` are what may be completed. Raises EndOfReplies, and KeyboardInterrupt for Ctrl-C."""
        ...

    def say(self, text: str) -> None:
        """Show a line."""
        ...

    def explain(self, text: str) -> None:
        """Show what is no part of the language's own words: where a mistake is, and what to try."""
        ...

    @property
    def place(self) -> str:
        """Where the last reply stands, as ``BOMMP.IN:12``; "" at a keyboard."""
        ...


class ScriptTerminal:
    """Replies from a script, line by line, as BOMMP.IN holds them.

    Parameters
    ----------
    replies : lines; what is longer than the dialogue is left alone, what is shorter ends it.
    say : shows a line.
    is_echoed : show prompts, headings and replies, too, as a terminal would.
    name : of the script, for places in it.
    explain : shows explanations, which are dropped if it is not given.

    Examples
    --------
    >>> terminal = ScriptTerminal(["FIL"], print, is_echoed=True)
    >>> terminal.ask("*")
    *FIL
    'FIL'
    """

    is_interactive = False

    def __init__(
        self,
        replies: Iterable[str],
        say: Callable[[str], None],
        *,
        is_echoed: bool = False,
        name: str = "",
        explain: Callable[[str], None] | None = None,
    ) -> None:
        self._replies = iter(replies)
        self._say = say
        self._explain = explain
        self._name = name
        self._n_replies = 0
        self.shows_dialogue = is_echoed

    def ask(self, prompt: str, choices: Sequence[str] = ()) -> str:  # noqa: ARG002, a script completes nothing
        """The next line of the script."""
        reply = next(self._replies, None)
        if reply is None:
            raise EndOfReplies
        self._n_replies += 1
        reply = reply.rstrip("\r\n")
        if self.shows_dialogue:
            self._say(f"{prompt}{reply}".rstrip())
        return reply

    def say(self, text: str) -> None:
        """Show a line."""
        self._say(text)

    def explain(self, text: str) -> None:
        """Show an explanation."""
        if self._explain is not None:
            self._explain(text)

    @property
    def place(self) -> str:
        """Name of the script and number of the line."""
        return f"{self._name}:{self._n_replies}" if self._name else ""


class Recorder:
    """Writes replies to a file as they come, so that the file, given as a script, repeats the session.

    Parameters
    ----------
    path : of the file. An earlier record of that name is kept as ``NAME.1``; None records nothing.

    Attributes
    ----------
    fault : why the file cannot be written; "" while it can.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.fault = ""
        self._is_begun = False
        self._line_begin = 0
        self._done: list[str] = []  # commands of the line that have been carried out
        self._place = 0  # behind the replies to those
        self._replies: list[str] = []

    def command_line(self, reply: str) -> None:
        """A line of commands begins."""
        self._line_begin = len(self._replies)
        self._done = []
        self.reply(reply)
        self._place = len(self._replies)

    def reply(self, reply: str) -> None:
        """Note a reply; it is on disk when this returns, unless ``fault`` tells why it cannot be."""
        self._replies.append(reply)
        if self._path is None:
            return
        try:
            if not self._is_begun:
                self._set_aside(self._path)
                self._is_begun = True
                self._write(self._path)
            else:
                with self._path.open("a", encoding="utf-8", errors="replace") as file:
                    file.write(f"{reply}\n")
        except OSError as error:
            self._give_up(self._path, error)

    def done(self, command: str) -> None:
        """A command of the line has been carried out; its replies stay whatever becomes of the next."""
        self._done.append(command)
        self._place = len(self._replies)

    def take_back(self) -> None:
        """Forget the command that is being carried out and its replies: it was cancelled, or the user said no where a script is not asked."""
        kept = self._replies[self._line_begin + 1 : self._place]
        self._rewrite([*self._replies[: self._line_begin], *([";".join(self._done)] if self._done else []), *kept])

    def forget(self) -> None:
        """Forget everything."""
        self._rewrite([])

    def _rewrite(self, replies: list[str]) -> None:
        self._replies = replies
        if self._path is None or not self._is_begun:
            return
        try:
            self._write(self._path)
        except OSError as error:
            self._give_up(self._path, error)

    def _give_up(self, path: Path, error: OSError) -> None:
        self.fault = f"replies are not recorded: {path} cannot be written: {error.strerror or error}"
        self._path = None

    def _write(self, path: Path) -> None:
        path.write_text("".join(f"{line}\n" for line in self._replies), encoding="utf-8", errors="replace")

    @staticmethod
    def _set_aside(path: Path) -> None:
        if path.exists():
            path.replace(path.with_name(f"{path.name}.1"))
