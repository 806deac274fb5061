"""A bar with the simulated time for runs that take a while (stage: command line). In go times from the run, out comes a bar on stderr."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from tidegate.results.labels import number

__all__ = ["Progress"]

_PATIENCE: Final = 1.0  # seconds before a bar appears; shorter runs would only flicker


class Progress:
    """To be called with the simulated time now and then; shows nothing in the first second, nor where nobody watches.

    Parameters
    ----------
    t_span : start and end of the run.
    is_quiet : never show anything.
    console : where to; stderr if not given, so that stdout holds the report alone.
    """

    def __init__(self, t_span: tuple[float, float], *, is_quiet: bool = False, console: Console | None = None) -> None:
        self._first, self._last = t_span
        self._console = console or Console(stderr=True)
        self._is_shown = self._console.is_terminal and not is_quiet
        self._began = time.monotonic()
        self._bar: Bar | None = None
        self._task = TaskID(0)

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, now: float) -> None:
        """Note that the run has come to this simulated time."""
        if not self._is_shown:
            return
        if self._bar is None:
            if time.monotonic() - self._began < _PATIENCE:
                return
            columns = (TextColumn("t = {task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn())
            self._bar = Bar(*columns, console=self._console, transient=True)
            self._task = self._bar.add_task(number(now), total=abs(self._last - self._first))
            self._bar.start()
        self._bar.update(self._task, completed=abs(now - self._first), description=number(now))
