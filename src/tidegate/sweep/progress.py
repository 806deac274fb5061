"""A bar with the runs that are done (stage: sweep). In go numbers of runs, out comes a bar on stderr, or calls of the caller's function."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self

from tidegate.notebook_bar import NotebookBar, is_in_notebook

__all__ = ["Progress"]

_PATIENCE: Final = 1.0  # seconds before a bar appears; shorter sweeps would only flicker


class Progress:
    """To be called with the number of runs that are done.

    Parameters
    ----------
    total : of all runs.
    wanted : None for a bar where somebody watches, False for none, or a function of the runs done and of all.
    """

    def __init__(self, total: int, wanted: bool | Callable[[int, int], object] | None) -> None:
        self._total = total
        self._tell = wanted if callable(wanted) else None
        self._is_shown = wanted is None or wanted is True
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(self._bar, NotebookBar):
            self._bar.stop(self._began)
        elif self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int) -> None:
        """Note that so many runs are done."""
        if self._tell is not None:
            self._tell(done, self._total)
        if not self._is_shown or time.monotonic() - self._began < _PATIENCE:
            return
        if self._bar is None and is_in_notebook():
            self._bar = NotebookBar()
        if isinstance(self._bar, NotebookBar):
            self._bar.update(done / max(self._total, 1), f"{done} of {self._total} runs")
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            console = Console(stderr=True)
            self._is_shown = console.is_terminal
            if not self._is_shown:
                return
            self._bar = Bar(TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console, transient=True)
            self._task = self._bar.add_task("runs", total=self._total)
            self._bar.start()
        self._bar.update(self._task, completed=done)
