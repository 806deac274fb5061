"""A result as one page to explore (stage: plot). In goes a ``Result``, out comes HTML with its curves, events and the script that draws them.

The page needs no server and loads nothing: the script stands in it, numbers as the base64 of doubles, and its own policy forbids the network.
``explore.html`` is the page, ``explore.js`` the script.
"""

from __future__ import annotations

import base64
import json
from html import escape
from pathlib import Path
from string import Template
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.plot.curves import Times
from tidegate.plot.marks import are_ticks
from tidegate.plot.panels import chosen_columns, value_panels
from tidegate.plot.runs import unit_of_time
from tidegate.results import EventLog, Result, known_suffix, written_whole
from tidegate.wrong_calls import explained

__all__ = ["Page", "explore"]

_POINTS: Final = 20_000  # of a curve, over the whole run
_NUMBERS: Final = 1_500_000  # of all curves: 16 MB of text
_EVENTS: Final = 5_000  # more make the page slow
_SHOWN_PANELS: Final = 4  # at first
_HEIGHT: Final = 560  # pixels in a notebook


@explained
class Page:
    """A page of HTML that needs nothing else; a notebook shows it.

    Parameters
    ----------
    html : the whole page.
    title : of the page.
    """

    def __init__(self, html: str, title: str) -> None:
        self.html = html
        self.title = title

    def __repr__(self) -> str:
        return f"<page of {self.title}, {len(self.html) // 1024} kB: .save('{self.title}.html'), or .open() in a browser>"

    def save(self, path: str | Path) -> Path:
        """Write it to a file, whole or not at all.

        Raises
        ------
        UsageError : the suffix is not .html.
        """
        known_suffix(path, (".html",), "a page")
        with written_whole(path) as draft:
            Path(draft).write_text(self.html, encoding="utf-8")
        return Path(path)

    def open(self) -> Path:
        """Show it in the browser, from a file among the temporary ones."""
        import tempfile
        import webbrowser

        path = self.save(Path(tempfile.mkdtemp(prefix="tidegate-")) / "explore.html")
        webbrowser.open(path.as_uri())
        return path

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'


def explore(result: Result, *names: str, path: str | Path | None = None) -> Page:
    """Make the page of a result; see ``Result.explore``.

    Examples
    --------
    >>> from tidegate.results import Column
    >>> page = explore(Result("tank", [Column("level", unit="m")], [0.0, 1.0], [[2.0], [3.0]]))
    >>> "https://" in page.html, "level" in page.html
    (False, True)
    """
    if not result.t.size:
        raise UsageError(f"the result of {result.model_name} has no rows to explore", hint="mend what ended the run before its first row")
    if path is not None:
        known_suffix(path, (".html",), "a page")
    home = Path(__file__).parent
    page = Template((home / "explore.html").read_text(encoding="utf-8"))
    # what stands in a script must not end it
    data = json.dumps(_data(result, names), allow_nan=False, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    script = (home / "explore.js").read_text(encoding="utf-8")
    made = Page(page.substitute(title=escape(result.model_name), summary=escape(_summary(result)), data=data, script=script), result.model_name)
    if path is not None:
        made.save(path)
    return made


def _summary(result: Result) -> str:
    count = len(result.events)
    return result.summary() + (f"; the first {_EVENTS} events are marked" if count > _EVENTS else "")


def _data(result: Result, names: tuple[str, ...]) -> dict[str, Any]:
    panels = value_panels(result, list(result.names))
    wanted = set(chosen_columns(result, names)) if names else {curve.column for panel in panels[:_SHOWN_PANELS] for curve in panel.curves[:10]}
    count = sum(len(panel.curves) for panel in panels)
    times = Times(result, points=max(min(_POINTS, _NUMBERS // max(count, 1)), 500))
    grids: list[NDArray[np.float64]] = []
    curves: list[dict[str, Any]] = []
    backwards = -1 if result.t[-1] < result.t[0] else 1
    for k, panel in enumerate(panels):
        for curve in panel.curves:
            column = result.columns[curve.column]
            t, y = times.unbroken(curve)
            grid = next((i for i, known in enumerate(grids) if known.size == t.size), len(grids))  # there are two: with and without dense output
            if grid == len(grids):
                grids.append(t)
            facts = {"name": column.name, "unit": column.shown_unit, "description": column.description, "panel": k, "texts": list(column.texts)}
            curves.append(facts | {"grid": grid, "values": _packed(y[::backwards]), "shown": curve.column in wanted, "stairs": column.is_held})
    unit = unit_of_time(result)
    span = sorted((float(result.t[0]), float(result.t[-1])))
    return {
        "grids": [_packed(t[::backwards]) for t in grids],
        "curves": curves,
        "events": _events(result.events),
        "span": span if span[0] < span[1] else [span[0] - 0.5, span[0] + 0.5],
        "timeLabel": f"time ({unit})" if unit else "time",
    }


def _packed(values: NDArray[np.float64]) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def _events(log: EventLog) -> list[dict[str, Any]]:
    """What the page tells of events; ``clock`` marks those that are marked only when asked for."""
    columns = log.columns()
    clocks = are_ticks(columns.kinds, columns.causes)
    found: list[dict[str, Any]] = []
    for event, is_clock in zip(log[:_EVENTS], clocks, strict=False):
        if event.kind in ("initial", "final"):
            continue
        places = ", ".join(dict.fromkeys(str(origin) for origin in event.origins if str(origin)))
        change = event.change_text() or "; ".join(event.messages)
        found.append({"t": event.time, "kind": event.kind, "cause": event.cause, "change": change, "place": places, "clock": is_clock})
    return found
