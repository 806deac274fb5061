"""Ctrl-C while a run goes on (stage: executive): noted at once, acted on where nothing that was computed is lost.

Python raises KeyboardInterrupt wherever it happens to be, also between taking rows out of a buffer and writing them down, or while a result is put
together. Here it is raised only inside the user's own functions, which may never end; elsewhere the run asks for it between two visits of
native code. A second Ctrl-C is raised wherever it comes. Other threads get none.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Final, Self

from tidegate.compiled.callbacks import OpaqueCalls

__all__ = ["Interrupts"]

SIGINT: Final = int(signal.SIGINT)
# what stands behind the public functions, which spend ten times as long as these on looking for an enumeration's name of every handler
_fast: Any = getattr(signal, "_signal", signal)
getsignal, set_signal = _fast.getsignal, _fast.signal


class Interrupts:
    """Ctrl-C during one run. In a block ``with`` it, Ctrl-C is only noted, but in user's code, where it is raised.

    Parameters
    ----------
    calls : of the run, which know when an opaque function is being carried out.

    Attributes
    ----------
    wanted : Ctrl-C came and has not been acted on.
    """

    def __init__(self, calls: OpaqueCalls) -> None:
        self.wanted = False
        self._calls = calls
        self._in_user_code = False
        self._before: Any = None

    def __enter__(self) -> Self:
        self.wanted = False
        before = getsignal(SIGINT)
        # a signal that is ignored, or not Python's, stays so
        if callable(before) and threading.current_thread() is threading.main_thread():
            self._before = before
            set_signal(SIGINT, self._note)
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None) -> None:
        if self._before is not None:
            set_signal(SIGINT, self._before)

    @contextmanager
    def in_user_code(self) -> Generator[None]:
        """In this block, which calls a function of the user, Ctrl-C is raised at once."""
        before, self._in_user_code = self._in_user_code, True
        try:
            yield
        finally:
            self._in_user_code = before

    def _note(self, number: int, frame: FrameType | None) -> None:
        try:
            self._before(number, frame)
        except KeyboardInterrupt:
            if self.wanted or self._in_user_code or self._calls.is_in_python:
                raise
            self.wanted = True
