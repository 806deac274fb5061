"""The terminal of a person at a session of CSMP-10(ARL) (stage: the language's own method): history, completion, editing, and ``^`` during a run."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidegate.csmp.session.terminal import EndOfReplies

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

__all__ = ["ConsoleTerminal", "watched"]

_INTERRUPTING: Final = b"^"
_LOOKS: Final = 0.2  # seconds between two looks at the keyboard during a run


class ConsoleTerminal:
    """Asks a person, by prompt_toolkit.

    Parameters
    ----------
    history : file of earlier replies; None keeps them for this session only.
    source, sink : other than the process's own terminal.
    """

    is_interactive = True
    shows_dialogue = True
    place = ""

    def __init__(self, history: Path | None = None, *, source: Input | None = None, sink: Output | None = None) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
        from prompt_toolkit.history import FileHistory, InMemoryHistory
        from prompt_toolkit.shortcuts import CompleteStyle

        if history is not None:
            try:
                history.parent.mkdir(parents=True, exist_ok=True)
                history.touch()
            except OSError:
                history = None
        self._session: PromptSession[str] = PromptSession(
            history=InMemoryHistory() if history is None else FileHistory(str(history)),
            auto_suggest=AutoSuggestFromHistory(),
            complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE,
            reserve_space_for_menu=0,
            input=source,
            output=sink,
        )

    def ask(self, prompt: str, choices: Sequence[str] = ()) -> str:
        """The reply of the person; Ctrl-D ends the session."""
        from prompt_toolkit.completion import WordCompleter

        try:
            return self._session.prompt(prompt, completer=WordCompleter(list(choices), ignore_case=True, WORD=True))
        except EOFError:
            raise EndOfReplies from None

    def say(self, text: str) -> None:
        """Show a line."""
        self._session.output.write(f"{text}\n")
        self._session.output.flush()

    def explain(self, text: str) -> None:
        """Show an explanation."""
        self.say(text)


@contextmanager
def watched(interrupt: Callable[[], None]) -> Generator[None]:
    """While the block runs, ``^`` typed at the terminal calls ``interrupt``. Does nothing where there is no terminal to watch."""
    if os.name != "posix" or not _is_keyboard():
        yield
        return
    import select
    import termios
    import tty

    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.is_set():
            ready, _, _ = select.select([number], [], [], _LOOKS)
            if ready and os.read(number, 1) == _INTERRUPTING:
                interrupt()

    tty.setcbreak(number)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def _is_keyboard() -> bool:
    try:
        return sys.stdin.isatty() and sys.stdin.fileno() >= 0
    except (OSError, ValueError):  # closed, or replaced by something that is no file
        return False
