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
def watched(interrupt: Callable[[], None], source: Input | None = None) -> Generator[None]:
    """While the block runs, ``^`` typed at the terminal calls ``interrupt``; all else that is typed waits for the next question.

    Does nothing where there is no terminal to watch.

    Parameters
    ----------
    interrupt : what to call.
    source : whose next question gets what was typed ahead; the process's own terminal if not given.
    """
    if os.name != "posix" or not _is_keyboard():
        yield
        return
    import select
    import termios
    import tty

    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    is_over = threading.Event()
    typed = bytearray()

    def look(patience: float) -> bool:
        """Take a key, if there is one before patience ends."""
        if not select.select([number], [], [], patience)[0]:
            return False
        key = os.read(number, 1)
        if key == _INTERRUPTING:
            interrupt()
        else:
            typed.extend(key)
        return bool(key)

    def watch() -> None:
        while not is_over.is_set():
            look(_LOOKS)

    tty.setcbreak(number, termios.TCSADRAIN)  # keeps what was typed before
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()
        while look(0.0):
            pass
        termios.tcsetattr(number, termios.TCSADRAIN, before)
        _keep(typed.decode(errors="replace"), source)


def _keep(typed: str, source: Input | None) -> None:
    """Let the next question be answered by keys that were pressed before it was asked."""
    if not typed:
        return
    from prompt_toolkit.application.current import get_app_session
    from prompt_toolkit.input.typeahead import store_typeahead
    from prompt_toolkit.input.vt100_parser import Vt100Parser
    from prompt_toolkit.key_binding.key_processor import KeyPress

    keys: list[KeyPress] = []
    parser = Vt100Parser(keys.append)
    parser.feed_and_flush(typed)
    store_typeahead(source or get_app_session().input, keys)


def _is_keyboard() -> bool:
    try:
        return sys.stdin.isatty() and sys.stdin.fileno() >= 0
    except (OSError, ValueError):  # closed, or replaced by something that is no file
        return False
