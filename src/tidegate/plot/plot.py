"""The picture of a result (stage: plot). In go a result and names, out comes a figure, saved when a path is given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidegate.errors import UsageError
from tidegate.plot.curves import Times
from tidegate.plot.marks import mark_events
from tidegate.plot.panels import Panel, sensitivity_panels, value_panels
from tidegate.results import Result, known_suffix, written_whole
from tidegate.results.labels import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PICTURE_FORMATS", "picture_format", "plot"]

PICTURE_FORMATS: Final = (".png", ".svg", ".pdf")

_WIDTH: Final = 8.0  # inches; a page
_PANEL_HEIGHT: Final = 2.0  # inches
_TOP_HEIGHT: Final = 1.2  # inches, for the title and the causes of events
_DPI: Final = 130


def picture_format(path: str | Path) -> str:
    """The suffix of a file that a picture can be saved in.

    Raises
    ------
    UsageError
        For any other suffix.
    """
    return known_suffix(path, PICTURE_FORMATS, "a picture")


def plot(result: Result, *names: str, path: str | Path | None = None, sensitivities: bool = False) -> Figure:
    """Draw trajectories over time, curves of one unit together, with a vertical mark and the cause at every event.

    Parameters
    ----------
    result : of a run.
    names : variables or elements of arrays; all unknowns, discrete variables and outputs when none is given.
    path : file to save the picture in, .png, .svg or .pdf; written whole or not at all.
    sensitivities : draw the derivatives by each parameter below.

    Returns
    -------
    The figure; it belongs to no pyplot window.

    Examples
    --------
    >>> from tidegate.results import Column
    >>> figure = plot(Result("tank", [Column("level", unit="m")], [0.0, 1.0], [[2.0], [3.0]]))
    >>> figure.axes[0].get_ylabel()
    'm'
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    suffix = picture_format(path) if path is not None else ""
    if not result.t.size:
        why = f": {result.message}" if result.message else ""
        raise UsageError(
            f"the result of {result.model_name} has no rows to draw{why}", hint="mend what ended the run before its first row, and run it again"
        )
    panels = value_panels(result, names)
    if sensitivities:
        panels = panels + sensitivity_panels(result, names)
    if not panels:
        raise UsageError(f"the result of {result.model_name} has no variables to draw")
    figure = Figure(figsize=(_WIDTH, _TOP_HEIGHT + _PANEL_HEIGHT * len(panels)), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes: list[Axes] = []
    for i in range(len(panels)):
        axes.append(figure.add_subplot(len(panels), 1, i + 1, sharex=axes[0] if axes else None))
    times = Times(result)
    for panel, each in zip(panels, axes, strict=True):
        _draw(panel, each, times)
        each.label_outer()
    if result.t.size and result.t[0] != result.t[-1]:
        axes[0].set_xlim(float(result.t[0]), float(result.t[-1]))
    axes[-1].set_xlabel(f"time ({result.time_unit})" if result.time_unit else "time")
    note = mark_events(result, axes)
    figure.suptitle(_title(result, note), fontsize="medium")
    if path is not None:
        with written_whole(path) as draft:
            figure.savefig(draft, format=suffix[1:])
    return figure


def _draw(panel: Panel, axes: Axes, times: Times) -> None:
    for curve in panel.curves:
        label = curve.label.replace("$", r"\$")
        label = label if not label.startswith("_") else f" {label}"  # matplotlib leaves labels with an underscore out of the legend
        if panel.is_discrete:
            axes.step(*times.stairs(curve), where="post", label=label, linewidth=1.3)
        else:
            axes.plot(*times.points(curve), label=label, linewidth=1.3)
    axes.set_ylabel(panel.label.replace("$", r"\$"))
    if panel.texts:
        axes.set_yticks([value for _, value in panel.texts], [text.replace("$", r"\$") for text, _ in panel.texts])
    axes.grid(visible=True, color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", frameon=False)


def _title(result: Result, note: str) -> str:
    parts = [result.model_name.replace("$", r"\$")]
    if result.status == "failed" and result.t.size:
        parts.append(f"failed at {number(float(result.t[-1]), 6)}")
    return ": ".join([parts[0], ", ".join([*parts[1:], *([note] if note else [])])]) if parts[1:] or note else parts[0]
