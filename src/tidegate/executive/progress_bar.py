"""A bar with the simulated time and the time left, for runs that take a while (stage: executive). In go times from the run, out comes a bar."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from tidegate.notebook_bar import NotebookBar, is_in_notebook
from tidegate.results.labels import number

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = ["ProgressBar"]

_PATIENCE: Final = 1.0  # seconds before a bar appears; shorter runs would only flicker


class ProgressBar:
    """To be called with the simulated time now and then; shows nothing in the first second, nor where nobody watches.

    Parameters
    ----------
    t_span : start and end of the run.
    is_quiet : never show anything.
    console : where to; stderr if not given, so that stdout holds the report alone. In a notebook it is below the cell.
    """

    def __init__(self, t_span: tuple[float, float], *, is_quiet: bool = False, console: Console | None = None) -> None:
        self._first, self._last = t_span
        self._console = console
        self._is_quiet = is_quiet
        self._began = time.monotonic()
        self._bar: Bar | None = None
        self._below_cell: NotebookBar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._below_cell is not None:
            self._below_cell.stop(self._began)

    def __call__(self, now: float) -> None:
        """Note that the run has come to this simulated time."""
        if self._is_quiet:
            return
        if self._bar is None and self._below_cell is None:
            if time.monotonic() - self._began < _PATIENCE:
                return
            if self._console is None and is_in_notebook():
                self._below_cell = NotebookBar()
            else:
                self._bar = self._shown(now)
        if self._below_cell is not None:
            self._below_cell.update(abs(now - self._first) / (abs(self._last - self._first) or 1.0), f"t = {number(now)}")
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=abs(now - self._first), description=number(now))

    def _shown(self, now: float) -> Bar | None:
        """The bar, now that it is wanted; None where nobody watches."""
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        console = self._console or Console(stderr=True)
        if not console.is_terminal:
            self._is_quiet = True
            return None
        columns = (TextColumn("t = {task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn())
        bar = Bar(*columns, console=console, transient=True)
        self._task = bar.add_task(number(now), total=abs(self._last - self._first))
        bar.start()
        return bar
