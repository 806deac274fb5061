"""How far a run has come, told about ten times a second (stage: front end)."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

from tidegate.errors import UsageError

__all__ = ["Progress", "progress_of"]

_PAUSE: Final = 0.1  # seconds


class Progress:
    """Tells the simulated time, never back, and not again before a pause is over."""

    def __init__(self, tell: Callable[[float], object]) -> None:
        self._tell = tell
        self._shown, self._last = perf_counter(), float("-inf")

    def __call__(self, time: float) -> None:
        """The run is here; whether that is told depends on when it was told last."""
        now = perf_counter()
        if now - self._shown > _PAUSE and time > self._last:
            self._shown = now
            self.end(time)

    def end(self, time: float) -> None:
        """Tell where the run has ended."""
        self._last = time
        self._tell(time)


def progress_of(tell: object) -> Progress | None:
    """What tells it, made of a function; nothing of None.

    Raises
    ------
    UsageError
        It is no function.
    """
    if tell is None:
        return None
    if not callable(tell):
        raise UsageError(f"progress must be a function, not {tell!r}", hint="progress=print")
    return Progress(tell)
