"""Ctrl-C while a run goes on (stage: executive): noted at once, acted on where nothing that was computed is lost.

Python raises KeyboardInterrupt wherever it happens to be, also between taking rows out of a buffer and writing them down, or while a result is put
together. While ``held`` it is raised only inside the user's own functions, which may never end; elsewhere the run asks for it between two visits of
native code. A second Ctrl-C is raised wherever it comes. Other threads get none.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tidegate.compiled.opaque import OpaqueCalls

__all__ = ["Interrupts"]


class Interrupts:
    """Ctrl-C during one run.

    Attributes
    ----------
    wanted : Ctrl-C came and has not been acted on.
    """

    def __init__(self) -> None:
        self.wanted = False
        self._calls: OpaqueCalls | None = None
        self._in_user_code = False
        self._before: Any = None

    @contextmanager
    def held(self, calls: OpaqueCalls) -> Generator[None]:
        """In this block Ctrl-C is only noted, but in user's code, where it is raised.

        Parameters
        ----------
        calls : of the run, which know when an opaque function is being carried out.
        """
        self._before = signal.getsignal(signal.SIGINT)
        # a signal that is ignored, or not Python's, stays so
        if threading.current_thread() is not threading.main_thread() or not callable(self._before):
            yield
            return
        self._calls = calls
        signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, self._before)

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
            if self.wanted or self._in_user_code or (self._calls is not None and self._calls.is_in_python):
                raise
            self.wanted = True
