"""The picture of a result (stage: plot). In go a result and names, out comes a figure, saved when a path is given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tidegate.errors import UsageError
from tidegate.plot.colours import STROKES, strokes
from tidegate.plot.marks import EventMarks, mark_events
from tidegate.plot.panels import Panel, joined_panels, plain, sensitivity_panels, value_panels
from tidegate.plot.phase import draw_phase
from tidegate.plot.runs import Others, Run, runs_of, unit_of_time
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result, known_suffix, written_whole
from tidegate.results.labels import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PICTURE_FORMATS", "picture_format", "plot"]

PICTURE_FORMATS: Final = (".png", ".svg", ".pdf")

_MAX_PANELS: Final = 16  # more are unreadable on one page
_WIDTH: Final = 8.0  # inches; a page
_PANEL_HEIGHT: Final = 2.0  # inches
_TOP_HEIGHT: Final = 0.9  # inches, for the title and the causes of events
_MARGIN: Final = 0.05  # of the height, above and below curves, as matplotlib has it
_SQUARE: Final = 5.5  # inches, of a phase plot
_LONG: Final = 12  # curves in one column of a legend
_LONG_NAME: Final = 18  # letters beside a panel of usual height
_CYCLE: Final = frozenset(f"C{i}" for i in range(10))


def picture_format(path: str | Path) -> str:
    """The suffix of a file that a picture can be saved in.

    Raises
    ------
    UsageError
        For any other suffix.
    """
    return known_suffix(path, PICTURE_FORMATS, "a picture")


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """How a picture is to look; see ``Result.plot`` for each."""

    sensitivities: bool = False
    x: str | None = None
    y: str | Sequence[str] = ()
    others: Others = ()
    label: str = ""
    ax: Any = None
    events: EventMarks = None
    size: tuple[float, float] | None = None
    log: bool | str = False
    title: str | None = None
    xlim: tuple[float, float] | None = None

    def check(self) -> None:
        """Find what cannot be.

        Raises
        ------
        UsageError : what and why.
        """
        if self.log not in (False, True, "", "x", "y", "xy"):
            raise UsageError(f"log is {self.log!r}", hint='log=True or "y" for the vertical axis, "x" for the other, "xy" for both')
        for name in ("size", "xlim"):
            pair: Any = getattr(self, name)
            if pair is not None and (np.shape(pair) != (2,) or not np.all(np.isfinite(np.asarray(pair, dtype=float)))):
                raise UsageError(f"{name} is {pair!r}", hint="size=(8, 4), inches" if name == "size" else "xlim=(0, 5)")
        if self.y and self.x is None:
            raise UsageError("y is given, and no x", hint='plot(x="h", y="v") draws one over the other; plot("v") over time')
        if self.sensitivities and self.x is not None:
            raise UsageError("sensitivities are drawn over time", hint="leave x out")

    @property
    def is_phase(self) -> bool:
        """Whether it is no picture over time."""
        return self.x not in (None, "time")


def plot(result: Result, *names: str | Sequence[str], path: str | Path | None = None, **wishes: Any) -> Figure | Axes:
    """Draw trajectories over time, curves of one unit together, with a vertical mark and the cause at every event; ``Result.plot`` in full.

    Parameters
    ----------
    result : of a run.
    names : variables or elements of arrays; all unknowns, discrete variables and outputs when none is given.
    path : file to save the picture in, .png, .svg or .pdf; written whole or not at all.
    wishes : how it is to look.

    Examples
    --------
    >>> from tidegate.results import Column
    >>> figure = plot(Result("tank", [Column("level", unit="m")], [0.0, 1.0], [[2.0], [3.0]]))
    >>> figure.axes[0].get_ylabel(), figure.axes[0].get_xlabel()
    ('level (m)', 'time (s)')
    """
    wanted = Wishes(**wishes)
    wanted.check()
    suffix = picture_format(path) if path is not None else ""
    if not result.t.size:
        why = f": {result.message}" if result.message else ""
        raise UsageError(
            f"the result of {result.model_name} has no rows to draw{why}", hint="mend what ended the run before its first row, and run it again"
        )
    chosen = _flat(names) + _flat([wanted.y])
    runs = runs_of(result, wanted.others, wanted.label, None if wanted.is_phase else wanted.xlim)
    given = None if wanted.ax is None else list(np.ravel(np.asarray(wanted.ax, dtype=object)))
    if wanted.is_phase:
        axes = given if given is not None else [shown_figure(wanted.size or (_SQUARE, _SQUARE)).add_subplot()]
        draw_phase(axes[0], runs, str(wanted.x), chosen)
        if wanted.xlim is not None:
            axes[0].set_xlim(*wanted.xlim)
        axes[0].grid(visible=True, color="0.92", linewidth=0.6)
        note = ""
    else:
        axes = _over_time(runs, chosen, wanted, given)
        # of several results each has events of its own; the user's axes have marks of his own
        is_marked = wanted.events is not None or (len(runs) == 1 and given is None)
        note = mark_events(result, axes, wanted.events if is_marked else False)
    for each in axes:
        _scale(each, wanted.log)
    figure = cast("Figure", axes[0].get_figure(root=True))
    if given is None:
        title = wanted.title if wanted.title is not None else _title(runs, note)
        if title:
            figure.suptitle(title, fontsize="medium")
    elif wanted.title is not None:
        axes[0].set_title(wanted.title)
    if path is not None:
        with written_whole(path) as draft:
            figure.savefig(draft, format=suffix[1:])
    return figure if given is None else cast("Axes", wanted.ax)


def _flat(names: Sequence[str | Sequence[str]]) -> list[str]:
    flat: list[str] = []
    for name in names:
        if isinstance(name, str):
            flat.append(name)
        elif isinstance(name, Sequence) and not isinstance(name, bytes):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            flat.extend(name)
        else:
            hint = "several results in one picture: first.plot(others=[second])" if isinstance(name, Result) else 'result.plot("h", "v")'
            raise UsageError(f"plot was given {name!r} as the name of a variable", hint=hint)
    return flat


def shown_figure(size: tuple[float, float]) -> Figure:
    """A figure of this width and height in inches that a notebook shows; matplotlib is loaded for it."""
    from tidegate.plot.figure import ShownFigure

    return ShownFigure(size)


def _over_time(runs: Sequence[Run], names: Sequence[str], wanted: Wishes, given: list[Axes] | None) -> list[Axes]:
    """Panels below each other, or on the axes that the user gives."""
    result = runs[0].result
    panels = value_panels(result, names)[:_MAX_PANELS]
    if wanted.sensitivities:
        panels = panels + sensitivity_panels(result, names)[:_MAX_PANELS]
    if not panels:
        raise UsageError(f"the result of {result.model_name} has no variables to draw")
    if given is None:
        figure = shown_figure(wanted.size or (_WIDTH, _TOP_HEIGHT + _PANEL_HEIGHT * len(panels)))
        axes: list[Axes] = []
        for i in range(len(panels)):
            axes.append(figure.add_subplot(len(panels), 1, i + 1, sharex=axes[0] if axes else None))
    elif len(given) == 1:
        axes, panels = given, [joined_panels(panels)]
    elif len(given) < len(panels):
        raise UsageError(f"{len(panels)} panels do not go into {len(given)} axes", hint="name fewer variables, or give one axes for all curves")
    else:
        axes = given[: len(panels)]
    for panel, each in zip(panels, axes, strict=True):
        _draw(panel, each, runs, is_own=given is None, tells_run=len(runs) > 1 or bool(wanted.label))
        if given is None:
            each.label_outer()
    _thin_legends(axes)
    spans = [(float(run.result.t[0]), float(run.result.t[-1])) for run in runs if run.result.t.size]
    ends = (min(map(min, spans), default=0.0), max(map(max, spans), default=0.0))
    if wanted.xlim is not None:
        axes[0].set_xlim(*wanted.xlim)
        for each in axes if given is None and not wanted.log else ():
            _fit_height(each, *sorted(wanted.xlim))
    elif given is None and ends[0] != ends[1]:
        axes[0].set_xlim(*(ends if spans[0][0] <= spans[0][1] else ends[::-1]))
    unit = unit_of_time(result)
    axes[-1].set_xlabel(f"time ({unit})" if unit else "time")
    return axes


def _fit_height(axes: Axes, first: float, last: float) -> None:
    """What is seen of the curves fills the panel, not what lies beside it."""
    seen: list[float] = []
    for line in axes.lines:
        x, y = (np.asarray(data, dtype=float) for data in line.get_data())
        if x.size > 2:  # two points are a mark
            seen += y[(x >= first) & (x <= last) & np.isfinite(y)].tolist()
    if seen and min(seen) < max(seen):
        margin = _MARGIN * (max(seen) - min(seen))
        axes.set_ylim(min(seen) - margin, max(seen) + margin)


def _draw(panel: Panel, axes: Axes, runs: Sequence[Run], *, is_own: bool, tells_run: bool) -> None:
    result = runs[0].result
    is_one = len(panel.curves) == 1
    looks = strokes(len(runs) if is_one else len(panel.curves))
    for k, run in enumerate(runs):
        for j, curve in enumerate(panel.curves):
            mine = run.curve(curve, result)
            if mine is None:
                continue
            look = dict(looks[k if is_one else j])
            if not is_one:
                look["linestyle"] = STROKES[k % len(STROKES)] if len(runs) > 1 else look["linestyle"]
            if not is_own and look["color"] in _CYCLE:
                del look["color"]  # what comes into the user's picture goes on in its colours
            label = _label(curve.label, run, is_one=is_one, is_first=not k, tells_run=tells_run)
            is_stairs = result.columns[curve.column].is_held and curve.parameter < 0
            points = run.times.stairs(mine) if is_stairs else run.times.points(mine)
            axes.plot(*points, label=label, linewidth=1.3, drawstyle="steps-post" if is_stairs else "default", **look)
    beside = plain(_beside(panel))
    # two quantities of one unit on the user's axes: their names are in the legend
    axes.set_ylabel(beside if axes.get_ylabel() in ("", beside) else plain(panel.label))
    if panel.texts:
        axes.set_yticks([value for _, value in panel.texts], [plain(text) for text, _ in panel.texts])
    axes.grid(visible=True, color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    count = len(axes.lines)
    if count > 1 and is_own:
        size = "small" if count <= _LONG else "x-small"
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=size, frameon=False, ncols=-(-count // _LONG))
    elif count > 1:
        axes.legend(fontsize="small")


def _thin_legends(axes: Sequence[Axes]) -> None:
    """A legend that says the same as the one above it goes."""
    known: list[str] = []
    for each in axes:
        legend = each.get_legend()
        if legend is None:
            continue
        texts = [text.get_text() for text in legend.get_texts()]
        if texts == known:
            legend.remove()
        known = texts


def _label(name: str, run: Run, *, is_one: bool, is_first: bool, tells_run: bool) -> str:
    """A curve in the legend: by its own name, by that of its result, or by both."""
    text = name if not tells_run or (is_first and not is_one) else run.label if is_one else f"{name}, {run.label}"
    return plain(text) if not text.startswith("_") else f" {plain(text)}"  # matplotlib leaves such labels out of the legend


def _beside(panel: Panel) -> str:
    """The unit, and the name of a curve that is alone."""
    if len(panel.curves) > 1:
        return panel.label
    name = panel.curves[0].label
    if panel.curves[0].parameter >= 0:
        return "\n".join([name, *panel.label.split("\n")[1:]])
    if not panel.label:
        return name
    return f"{name} ({panel.label})" if len(name) + len(panel.label) < _LONG_NAME else f"{name}\n({panel.label})"


def _scale(axes: Axes, log: bool | str) -> None:
    which = "y" if log is True else log or ""
    if "x" in which:
        axes.set_xscale("log")
    if "y" in which:
        axes.set_yscale("log", nonpositive="mask")


def _title(runs: Sequence[Run], note: str) -> str:
    result = runs[0].result
    name = plain(result.model_name)
    if len(runs) > 1:
        return name if len({run.result.model_name for run in runs}) == 1 else ""
    failed = [f"failed at {number(float(result.t[-1]), 6)}"] if result.status == "failed" and result.t.size else []
    return ": ".join(filter(None, [name, ", ".join([*failed, *([note] if note else [])])]))
