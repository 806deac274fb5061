"""The numbers that are shown (stage: output program). In go a result, channels and a window of time, out come rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.csmp.trans.result_channels import TIME, ResultChannel, channels_of, chosen_channels, listed
from tidegate.errors import UsageError
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result
from tidegate.results.labels import number

__all__ = ["Selection", "Window", "choose", "even_step", "of_channels", "title_of"]

_SLACK: Final = 1e-4  # part of a step: limits and steps are typed as decimals
_EVEN: Final = 1e-6  # part of a step by which rows may be off and still count as evenly spaced
_NO_ROWS: Final = "mend what ended the run before its first row, and run it again"
_MAX_ROWS: Final = 1_000_000  # of a window with a step; more is a slip of the pen


@dataclass(frozen=True, slots=True)
class Window:
    """Part of a run.

    Parameters
    ----------
    lower, upper : limits of time; None for those of the file.
    step : between rows; None for the rows that were stored.

    Examples
    --------
    >>> Window.parsed("0:10:0.5")
    Window(lower=0.0, upper=10.0, step=0.5)
    """

    lower: float | None = None
    upper: float | None = None
    step: float | None = None

    @classmethod
    def parsed(cls, text: str) -> Window:
        """What an option says: ``FROM:TO:STEP``, each of which may be left out.

        Raises
        ------
        UsageError
            If it is no such text.
        """
        parts = text.split(":")
        try:
            values = [float(part) if part.strip() else None for part in parts]
        except ValueError:
            values = []
        if not values or len(values) > 3:
            raise UsageError(f"{text!r} is no window of time", hint="FROM:TO or FROM:TO:STEP, for example 0:10:0.5")
        return cls(*values)

    def within(self, result: Result) -> tuple[float, float]:
        """The limits inside a result.

        Raises
        ------
        UsageError
            If they are not in the file, in the wrong order or the step is not positive.
        """
        if not result.t.size:
            raise UsageError(f"the result of {result.model_name} has no rows{f': {result.message}' if result.message else ''}", hint=_NO_ROWS)
        first, last = sorted((float(result.t[0]), float(result.t[-1])))
        lower, upper = first if self.lower is None else self.lower, last if self.upper is None else self.upper
        slack = _SLACK * (self.step if self.step and self.step > 0 else last - first)
        if not (first - slack <= lower <= upper <= last + slack):
            raise UsageError(
                f"time from {number(lower)} to {number(upper)} is not inside the file's, which goes from {number(first)} to {number(last)}",
                hint=f"{number(first)} <= lower <= upper <= {number(last)}",
            )
        if self.step is not None and not (math.isfinite(self.step) and self.step > 0 and (upper - lower) / self.step < _MAX_ROWS):
            raise UsageError(f"no rows can be printed in steps of {number(self.step)}", hint=f"a step between 0 and {number(upper - lower)}")
        return max(lower, first), min(upper, last)


@dataclass(frozen=True, eq=False)
class Selection:
    """What is shown: channels and their rows.

    Parameters
    ----------
    title : above everything.
    channels : columns, in the order asked for.
    times : (rows,).
    values : (rows, channels).
    result, window : where they come from; pictures draw from the result itself, which may know more than its rows.
    """

    title: str
    channels: tuple[ResultChannel, ...]
    times: NDArray[np.float64]
    values: NDArray[np.float64]
    result: Result
    window: Window

    @property
    def time_heading(self) -> str:
        """Above the times, in tables for other programs and in pictures."""
        return f"time ({self.result.time_unit})" if self.result.time_unit else "time"


def choose(
    result: Result,
    blocks: str | Sequence[str | int] | None = None,
    *,
    window: Window | None = None,
    labels: Mapping[int, str] | None = None,
    title: str = "",
) -> Selection:
    """Take channels and a window of time out of a result.

    Parameters
    ----------
    result : of any run.
    blocks : numbers of blocks, names or labels, as a sequence or in one text with commas; None for all.
    window : part of the run, and the step between rows; all stored rows if None. A row between stored ones is taken from the dense output where there
        is one; else a discrete variable keeps its value, and anything else goes along a straight line from row to row.
    labels : other labels, by the index of the column.
    title : instead of the result's.

    Raises
    ------
    UsageError
        For a column that is not there, or a window that is not inside the file.

    Examples
    --------
    >>> from tidegate.results import Column
    >>> result = Result("tank", [Column("level"), Column("flow")], [0.0, 1.0], [[2.0, 5.0], [3.0, 6.0]])
    >>> selection = choose(result, "flow", window=Window(step=0.5))
    >>> selection.times.tolist(), selection.values[:, 0].tolist()
    ([0.0, 0.5, 1.0], [5.0, 5.5, 6.0])
    """
    if blocks is None:
        channels = channels_of(result, labels)
    else:
        wanted = listed(blocks) if isinstance(blocks, str) else [str(block) for block in blocks]
        channels = chosen_channels(result, wanted, labels)
    return of_channels(result, channels, window or Window(), title)


def of_channels(result: Result, channels: Sequence[ResultChannel], window: Window, title: str = "") -> Selection:
    """The same of channels that were chosen before."""
    lower, upper = window.within(result)
    if window.step is None:
        slack = 1e-12 * max(abs(lower), abs(upper))
        rows = np.flatnonzero((result.t >= lower - slack) & (result.t <= upper + slack))
        times = result.t[rows]
        table = result.values[rows]
    else:
        count = math.floor((upper - lower) / window.step + _SLACK)
        times = np.minimum(lower + window.step * np.arange(count + 1), upper)
        table = _between(result, times)
    columns = [times if channel.column == TIME else table[:, channel.column] for channel in channels]
    values = np.column_stack(columns) if columns else np.zeros((times.size, 0))
    return Selection(title or title_of(result), tuple(channels), times, values, result, window)


def title_of(result: Result) -> str:
    """What the run was called."""
    return str(result.options.get("title") or result.model_name)


def even_step(times: NDArray[np.float64]) -> float | None:
    """The distance of times that are evenly spaced; None for others."""
    if times.size < 2:
        return None
    step = float(times[-1] - times[0]) / (times.size - 1)
    return step if step and bool(np.all(np.abs(np.diff(times) - step) <= _EVEN * abs(step))) else None


def _between(result: Result, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of every column at any times of the run; at an event those after it."""
    backwards = bool(result.t[0] > result.t[-1])
    t, values = (result.t[::-1], result.values[::-1]) if backwards else (result.t, result.values)
    after = np.clip(np.searchsorted(t, times, side="right"), 1, max(t.size - 1, 1))
    before = after - 1
    after = np.minimum(after, t.size - 1)
    gap = t[after] - t[before]
    part = np.clip(np.divide(times - t[before], gap, out=np.zeros_like(times), where=gap > 0), 0.0, 1.0)
    table = values[before] + part[:, None] * (values[after] - values[before])
    held = [i for i, column in enumerate(result.columns) if column.role == "discrete"]
    table[:, held] = np.where(part[:, None] < 1.0, values[before][:, held], values[after][:, held])
    dense = result.interpolant
    if dense is not None and len(dense):
        first, last = sorted(dense.span)
        inside = (times >= first) & (times <= last)
        names = {name: k for k, name in enumerate(dense.names)}
        known = [(i, names[column.name]) for i, column in enumerate(result.columns) if column.name in names and i not in held]
        rows = np.flatnonzero(inside)
        if known and rows.size:
            smooth = dense(times[rows])
            for i, k in known:
                table[rows, i] = smooth[:, k]
    return table
