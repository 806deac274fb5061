"""Strip and overlay plots (stage: output program). In goes a selection, out come figures as a recorder or a plotter draws them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from tidegate.csmp.trans.result_channels import TIME
from tidegate.csmp.trans.scales import DIVISIONS, Scale, convenient_scale, round_step
from tidegate.csmp.trans.selection import Selection
from tidegate.errors import UsageError
from tidegate.plot import Curve, CurvePoints, Times, picture_format
from tidegate.results import written_whole
from tidegate.results.labels import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MAX_OVERLAID", "overlay_plot", "strip_plot"]

MAX_OVERLAID: Final = 8  # curves in one graph

_WIDTH: Final = 8.0  # inches; a page
_STRIP: Final = 1.1  # inches, of one panel
_OVERLAY: Final = 5.0  # inches
_STRIP_DIVISIONS: Final = 4  # of a narrow panel; more would write over each other
_ALIKE: Final = 20.0  # curves share an axis while their sizes differ by less
_DPI: Final = 130


def strip_plot(selection: Selection, path: str | Path | None = None, scales: Mapping[int, Scale] | None = None) -> Figure:
    """One narrow panel for each curve above a common axis of time, like the paper of a chart recorder.

    Parameters
    ----------
    selection : what is shown.
    path : file to save the picture in, .png, .svg or .pdf; written whole or not at all.
    scales : by the index of the column; without one, the closest of 1-2-5 that shows all of the curve.

    Returns
    -------
    The figure; it belongs to no pyplot window.

    Raises
    ------
    UsageError
        For another suffix, or if nothing was chosen.
    """
    suffix = picture_format(path) if path is not None else ""
    count = _counted(selection)
    figure = _figure(_STRIP * count + 0.9)
    top: Axes | None = None
    for i, (channel, (times, values)) in enumerate(zip(selection.channels, _curves(selection), strict=True)):
        axes = figure.add_subplot(count, 1, i + 1, sharex=top)
        top = top or axes
        axes.plot(times, values, linewidth=1.1, color=f"C{i % 10}")
        _scaled(axes, (scales or {}).get(channel.column) or convenient_scale(values, _STRIP_DIVISIONS), _STRIP_DIVISIONS)
        axes.set_ylabel(_shown(channel.full_label), rotation=0, ha="right", va="center", fontsize="small")
        axes.tick_params(labelbottom=i == count - 1)
        axes.grid(linewidth=0.4, color="0.85")
    _finish(figure, selection, figure.axes[-1])
    return _saved(figure, path, suffix)


def overlay_plot(selection: Selection, path: str | Path | None = None, scales: Mapping[int, Scale] | None = None) -> Figure:
    """Up to eight curves in one graph.

    Curves of like size share a scale. Where their sizes differ by more than a factor of twenty, or scales were given, each has its own: the graph
    then has ten divisions, and the legend says what they mean for each curve.

    Parameters
    ----------
    selection : what is shown.
    path : file to save the picture in, .png, .svg or .pdf; written whole or not at all.
    scales : by the index of the column; without one, the closest of 1-2-5 that shows all of the curve.

    Returns
    -------
    The figure; it belongs to no pyplot window.

    Raises
    ------
    UsageError
        For another suffix, if nothing was chosen, or for more than eight curves.
    """
    suffix = picture_format(path) if path is not None else ""
    if _counted(selection) > MAX_OVERLAID:
        raise UsageError(
            f"{len(selection.channels)} curves do not go into one graph", hint=f"at most {MAX_OVERLAID}, or a strip plot, which takes any number"
        )
    given = [(scales or {}).get(channel.column) for channel in selection.channels]
    curves = _curves(selection)
    own = [scale or convenient_scale(values) for scale, (_, values) in zip(given, curves, strict=True)]
    figure = _figure(_OVERLAY)
    axes = figure.add_subplot()
    sizes = [max(abs(scale.lower), abs(scale.upper)) for scale in own]
    is_shared = not any(given) and max(sizes) < _ALIKE * min(sizes)
    for channel, scale, (times, values) in zip(selection.channels, own, curves, strict=True):
        if is_shared:
            axes.plot(times, values, linewidth=1.3, label=_shown(channel.full_label))
        else:
            divisions = 10.0 * (values - scale.lower) / (scale.upper - scale.lower)
            axes.plot(times, divisions, linewidth=1.3, label=_shown(f"{channel.full_label}: {number(scale.lower)} to {number(scale.upper)}"))
    _scaled(axes, convenient_scale(np.concatenate([values for _, values in curves])) if is_shared else Scale(0.0, 10.0, 1.0))
    if not is_shared:
        axes.set_ylabel("divisions")
    axes.grid(linewidth=0.4, color="0.85")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, fontsize="small", frameon=False)
    _finish(figure, selection, axes)
    return _saved(figure, path, suffix)


def _counted(selection: Selection) -> int:
    if not selection.channels:
        raise UsageError("there is nothing to draw", hint="name a block or a variable, or A for all")
    return len(selection.channels)


def _curves(selection: Selection) -> list[CurvePoints]:
    """Points of every curve: the stored rows and what lies between them; the rows of the window if it has a step."""
    result, window = selection.result, selection.window
    if window.step is not None:
        return [(selection.times, selection.values[:, i]) for i in range(len(selection.channels))]
    lower, upper = window.within(result)
    times = Times(result)
    curves: list[CurvePoints] = []
    for i, channel in enumerate(selection.channels):
        t, y = (selection.times, selection.values[:, i]) if channel.column == TIME else times.points(Curve(channel.label, channel.column))
        inside = (t >= lower) & (t <= upper)
        curves.append((t[inside], y[inside]))
    return curves


def _figure(height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, height), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _scaled(axes: Axes, scale: Scale, divisions: int = DIVISIONS) -> None:
    axes.set_ylim(scale.lower, scale.upper)
    axes.set_yticks(Scale(scale.lower, scale.upper, round_step(scale.lower, scale.upper, divisions)).marks.tolist())


def _finish(figure: Figure, selection: Selection, bottom: Axes) -> None:
    if selection.times.size and selection.times[0] != selection.times[-1]:
        bottom.set_xlim(float(selection.times[0]), float(selection.times[-1]))
    bottom.set_xlabel(_shown(selection.time_heading))
    figure.suptitle(_shown(selection.title), fontsize="medium")


def _saved(figure: Figure, path: str | Path | None, suffix: str) -> Figure:
    if path is not None:
        with written_whole(path) as draft:
            figure.savefig(draft, format=suffix[1:])
    return figure


def _shown(text: str) -> str:
    shown = text.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown  # matplotlib leaves labels with an underscore out of the legend
