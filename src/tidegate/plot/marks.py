"""Marks at events (stage: plot). In goes the event log, out come vertical lines with the causes on top, thinned where they are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from tidegate.results import EventLog, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["mark_events"]

_MAX_LINES: Final = 200  # across the picture; closer lines merge into a grey area
_MAX_LABELS: Final = 12  # so many rotated texts stand beside each other
_LABEL_LENGTH: Final = 28


def mark_events(result: Result, axes: Sequence[Axes]) -> str:
    """Draw a vertical line at every event on every axes, and the causes above the first.

    Parameters
    ----------
    result : with the log; the start and the end of the run are not marked.
    axes : from top to bottom, with their horizontal limits set.

    Returns
    -------
    A sentence about what was left out, "" if nothing was.
    """
    log = result.events.of("state", "time", "step", "set")
    if not log or not axes:
        return ""
    lines, labels = _thinned(log, axes[0], _MAX_LINES), _thinned(log, axes[0], _MAX_LABELS)
    times = log.times
    for each in axes:
        each.vlines(times[lines], 0.0, 1.0, transform=each.get_xaxis_transform(), colors="0.6", linewidths=0.7, linestyles="dotted", zorder=0)
    top = axes[0]
    for i in labels:
        causes = log[i].causes or (log[i].kind,)
        text = causes[0] + (f" +{len(causes) - 1}" if len(causes) > 1 else "")
        shown = text if len(text) <= _LABEL_LENGTH else text[: _LABEL_LENGTH - 3] + "..."
        top.annotate(
            shown.replace("$", r"\$"),
            (float(times[i]), 1.0),
            xycoords=top.get_xaxis_transform(),
            xytext=(0, 3),
            textcoords="offset points",
            rotation=40,
            fontsize="x-small",
            color="0.35",
            annotation_clip=True,
        )
    if len(lines) < len(log):
        return f"{len(log)} events, {len(lines)} of them marked"
    return f"{len(log)} events, {len(labels)} of them named" if len(labels) < len(log) else ""


def _thinned(log: EventLog, axes: Axes, limit: int) -> list[int]:
    """Indices of events that keep a distance of 1/limit of the picture's width."""
    left, right = axes.get_xlim()
    places = (log.times - left) / (right - left) * limit if right != left else np.zeros(len(log))
    kept: list[int] = []
    last = -np.inf
    for i, place in enumerate(np.abs(places)):
        if abs(place - last) >= 1.0:
            kept.append(i)
            last = place
    return kept
