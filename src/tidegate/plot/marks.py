"""Marks at events (stage: plot). In goes the event log, out come vertical lines with short causes above them, or ticks where they are many.

A clock is a cause of time events that comes more than twice; it is not marked unless asked for, because its ticks say nothing that the axis does not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast, get_args

import numpy as np
from numpy.typing import NDArray

from tidegate.names import unknown_name
from tidegate.plot.panels import plain
from tidegate.results import Event, EventKind, EventLog, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["EventMarks", "are_ticks", "mark_events", "short_cause"]

FloatArray = NDArray[np.float64]
EventMarks = bool | str | Sequence[str] | None

_MAX_LINES: Final = 30  # more are ticks at the foot of the picture
_MAX_TICKS: Final = 400  # across the picture; closer ones cannot be told apart
_KINDS: Final = ("state", "time", "step", "set")
_CLOCK: Final = 3  # so often a cause of time events makes it a clock
_LABEL_LENGTH: Final = 24
_ROWS: Final = 3  # of labels above each other
_LABEL_SIZE: Final = 7.0  # points
_LETTER: Final = 0.56  # width of a letter on average, of the size of the type
_AXES_PART: Final = 0.8  # of the picture's width, roughly; labels and legends take the rest
_NUMBER: Final = re.compile(r"(?<=[<>=] )[-+.\de]+$")  # with which a condition ends
_LIMITS: Final = ("upper", "lower")


def mark_events(result: Result, axes: Sequence[Axes], wanted: EventMarks = None) -> str:
    """Draw a vertical line at every event on every axes, and the causes above the first; of more than thirty, ticks.

    Parameters
    ----------
    result : with the log; the start and the end of the run are not marked.
    axes : from top to bottom, with their horizontal limits set.
    wanted : None for all but clocks; True for all, False for none, "rug" for ticks, or kinds of events.

    Returns
    -------
    A sentence about what is drawn as ticks only, "" if nothing is.

    Raises
    ------
    UsageError : for a kind of event that there is not.
    """
    if wanted is False or not axes or not len(result.events):
        return ""
    log = result.events
    left, right = sorted(axes[0].get_xlim())
    chosen = _chosen(log, wanted)
    chosen = chosen[(log.times[chosen] >= left) & (log.times[chosen] <= right)]
    if not chosen.size:
        return ""
    is_rug = wanted == "rug" or (chosen.size > _MAX_LINES and wanted is not True)
    times = _apart(log.times[chosen], left, right)
    for each in axes:
        reach = (0.0, 0.035) if is_rug else (0.0, 1.0)
        look: dict[str, Any] = {"colors": "0.35", "linewidths": 0.5} if is_rug else {"colors": "0.6", "linewidths": 0.7, "linestyles": "dotted"}
        each.vlines(times, *reach, transform=each.get_xaxis_transform(), zorder=0, **look)
    if not is_rug:
        _label(log, chosen, axes[0])
    return f"{chosen.size} events" if is_rug else ""


def short_cause(event: Event) -> str:
    """What led to an event in a few words: the name of a clause, a short condition, or a block and which of its limits.

    Examples
    --------
    >>> from tidegate.errors import Origin
    >>> short_cause(Event(0, 1.0, "state", ("gain1.gain*position > c.upper",), (Origin(path="c"),)))
    'c: upper limit'
    """
    cause = event.causes[0] if event.causes else event.kind
    path = event.origins[0].path if event.origins else ""
    inside = re.search(rf"(?<![\w.]){re.escape(path)}\.(\w+)", cause) if path else None
    if inside and (inside[1] in _LIMITS or len(cause) > _LABEL_LENGTH):
        cause = f"{path}: {inside[1]}" + (" limit" if inside[1] in _LIMITS else "")
    return cause if len(cause) <= _LABEL_LENGTH else f"{cause[: _LABEL_LENGTH - 1].rstrip()}…"


def are_ticks(kinds: Sequence[str], causes: Sequence[str]) -> list[bool]:
    """Which events are a clock's, which is marked only when asked for: time events whose cause is there several times.

    Each new number of ``tg.noise`` has a cause of its own, ``time/0.25 >= 1``, ``time/0.25 >= 2``; but for the number these count as one.

    Examples
    --------
    >>> are_ticks(["time"] * 3 + ["state"], ["t >= 1", "t >= 2", "t >= 3", "x > 1"])
    [True, True, True, False]
    """
    alike = [_NUMBER.sub("", cause) for cause in causes]
    ticks = Counter(cause for kind, cause in zip(kinds, alike, strict=True) if kind == "time")
    return [kind == "time" and ticks[cause] >= _CLOCK for kind, cause in zip(kinds, alike, strict=True)]


def _chosen(log: EventLog, wanted: EventMarks) -> NDArray[np.intp]:
    """Places of the events to be marked."""
    columns = log.columns()
    if wanted is None or isinstance(wanted, bool) or wanted == "rug":
        hidden = are_ticks(columns.kinds, columns.causes) if wanted is not True else [False] * len(log)
        return np.flatnonzero([kind in _KINDS and not is_tick for kind, is_tick in zip(columns.kinds, hidden, strict=True)])
    kinds = [wanted] if isinstance(wanted, str) else list(wanted)
    for kind in kinds:
        if kind not in get_args(EventKind):
            raise unknown_name("kind of event", kind, [*get_args(EventKind), "rug"])
    return np.flatnonzero([kind in kinds for kind in columns.kinds])


def _apart(times: FloatArray, left: float, right: float) -> FloatArray:
    """Times that can be told apart in the picture."""
    places = np.floor((times - left) / (right - left) * _MAX_TICKS) if right != left else np.zeros(times.size)
    return times[np.sort(np.unique(places, return_index=True)[1])] if times.size > _MAX_TICKS else times


def _label(log: EventLog, chosen: NDArray[np.intp], top: Axes) -> None:
    """Each cause once, above its first event, in the lowest row that has room."""
    every = log.columns().causes
    causes = [every[int(i)] for i in chosen]
    often: Counter[str] = Counter()
    firsts: dict[str, int] = {}
    for cause, count in Counter(causes).items():
        first = int(chosen[causes.index(cause)])
        text = short_cause(log[first])
        often[text] += count
        firsts[text] = min(first, firsts.get(text, first))
    left, right = top.get_xlim()
    figure = cast("Figure", top.get_figure(root=True))
    width = float(figure.get_figwidth()) * _AXES_PART * 72.0
    ends = [-np.inf] * _ROWS
    for text, first in sorted(firsts.items(), key=lambda item: abs(log.times[item[1]] - left)):
        shown = text + (f" ×{often[text]}" if often[text] > 1 else "")
        place = float((log.times[first] - left) / (right - left)) * width
        needed = len(shown) * _LABEL_SIZE * _LETTER + 4.0
        begins = min(place, max(width - needed, 0.0))
        row = next((k for k in range(_ROWS) if ends[k] <= begins), None)
        if row is None:
            continue
        ends[row] = begins + needed
        line = {"arrowstyle": "-", "linewidth": 0.5, "color": "0.7", "shrinkA": 0.0, "shrinkB": 0.0, "relpos": (0.0, 0.0)}
        top.annotate(
            plain(shown),
            (float(log.times[first]), 1.0),
            xycoords=top.get_xaxis_transform(),
            xytext=(begins - place, 3 + row * (_LABEL_SIZE + 2.5)),
            textcoords="offset points",
            fontsize=_LABEL_SIZE,
            color="0.3",
            annotation_clip=True,
            arrowprops=line if row else None,
        )
