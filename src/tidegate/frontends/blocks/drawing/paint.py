"""A scene as a picture of pixels or a PDF (picture of a diagram), painted by matplotlib."""

from __future__ import annotations

from io import BytesIO
from typing import Final

from tidegate.frontends.blocks.drawing.scene import Circle, Scene, Text
from tidegate.frontends.blocks.drawing.svg import COLOURS

__all__ = ["painted"]

_DPI: Final = 192  # two dots a pixel of the scene, which has 96 to the inch
_POINTS: Final = 72 / 96  # of a pixel


def painted(scene: Scene, kind: str) -> bytes:
    """The contents of a file.

    Parameters
    ----------
    scene : to be painted.
    kind : ``"png"`` or ``"pdf"``.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle as Disc
    from matplotlib.patches import Polygon

    figure = Figure(figsize=(scene.width / 96, scene.height / 96), dpi=_DPI, facecolor=COLOURS["paper"])
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0.0, scene.width)
    axes.set_ylim(scene.height, 0.0)
    axes.set_axis_off()
    for order, thing in enumerate(scene.things):
        if isinstance(thing, Text):
            anchor = {"start": "left", "middle": "center", "end": "right"}[thing.anchor]
            shown = thing.text.replace("$", r"\$")
            size = thing.size * _POINTS
            axes.text(thing.x, thing.y, shown, size=size, ha=anchor, va="center_baseline", color=COLOURS[thing.tint], zorder=order)
            continue
        edge, width = COLOURS[thing.tint], thing.width * _POINTS
        if isinstance(thing, Circle):
            axes.add_patch(Disc((thing.x, thing.y), thing.radius, facecolor=COLOURS[thing.fill], edgecolor=edge, linewidth=width, zorder=order))
        elif thing.fill:
            axes.add_patch(Polygon(thing.points, closed=True, facecolor=COLOURS[thing.fill], edgecolor=edge, linewidth=width, zorder=order))
        else:
            axes.add_line(Line2D([x for x, _ in thing.points], [y for _, y in thing.points], color=edge, linewidth=width, zorder=order))
    page = BytesIO()
    figure.savefig(page, format=kind)
    return page.getvalue()
