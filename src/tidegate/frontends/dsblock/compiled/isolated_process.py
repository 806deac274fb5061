"""The other process of an isolated block: it loads the library and carries out what ``isolated_block`` asks for (``python -m`` this module).

In: requests through a connection. Out: answers, warnings and lines of the log; and, ahead of every callback, its letter through a pipe, so that the
other side knows where the process has ended should it do so.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from tidegate.frontends.dsblock.compiled.compiled_block import CompiledBlock, CompiledRun, Models
from tidegate.frontends.dsblock.compiled.library import opened
from tidegate.frontends.dsblock.compiled.native_model import NativeModel
from tidegate.frontends.dsblock.compiled.requests import runtime

__all__ = ["serve"]

_FLAG: Final = "always"


class _Lines(logging.Handler):
    """What is logged, kept for the answer."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


class _Served:
    """One block and its runs, by number."""

    def __init__(self, letters: int) -> None:
        self._letters = letters
        self._models: Models | None = None
        self._runs: dict[int, CompiledRun] = {}

    def ready(self) -> None:
        """Python has started, and the runtime is there: what takes long from here on is the block's doing."""
        runtime().library.tg_tell_ends(0)  # the other side does

    def load(self, path: Path, prefix: str, language: Any, data_file: str | None, folders: tuple[Path, ...]) -> Any:
        library = opened(path, prefix, language)
        library.watcher = self._enters
        self._models = Models(library, lambda one: NativeModel(one, prefix, data_file, folders))
        return self._models.description, library.symbols

    def _enters(self, letter: str) -> None:
        with suppress(BrokenPipeError):  # at the end, when the other side has gone and BLOCKC is called
            os.write(self._letters, letter.encode())

    def begin(self, number: int, environment: Any, at: Any) -> Any:
        assert self._models is not None
        run, reply = CompiledBlock(self._models, environment).begin(at)
        self._runs[number] = run
        return reply

    def ask(self, number: int, what: str, *given: Any, **named: Any) -> Any:
        answer = getattr(self._runs[number], what)(*given, **named)
        if what == "end":
            del self._runs[number]
        return answer

    def close(self) -> None:
        if self._models is not None:
            self._models.close()


def serve(requests: Connection, letters: int) -> None:
    """Answer until the other side is gone."""
    served, lines = _Served(letters), _Lines()
    log = logging.getLogger("tidegate.dsblock")
    log.setLevel(logging.INFO)
    log.addHandler(lines)
    while True:
        try:
            what, given, named = requests.recv()
        except (EOFError, OSError):
            return
        lines.lines = []
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter(_FLAG)
            try:
                answer, error = getattr(served, what)(*given, **named), None
            except BaseException as raised:  # noqa: BLE001 - it is raised on the other side
                answer, error = None, raised
        requests.send((answer, error, [str(each.message) for each in warned], lines.lines))


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])), int(sys.argv[2]))
