"""Figures that show themselves (stage: plot). In goes a size, out comes a figure without a window, which a notebook shows without being told to."""

from __future__ import annotations

import io
from typing import Any, Final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

__all__ = ["ShownFigure"]

_DPI: Final = 130


class ShownFigure(Figure):
    """A figure that belongs to no pyplot window, and is a picture where it is the last line of a notebook's cell.

    Parameters
    ----------
    size : width and height, inches.
    """

    def __init__(self, size: tuple[float, float]) -> None:
        super().__init__(figsize=size, dpi=_DPI, layout="constrained")
        FigureCanvasAgg(self)

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, bytes], dict[str, dict[str, int]]]:
        page = io.BytesIO()
        self.savefig(page, format="png")
        width, height = (round(inches * 96) for inches in self.get_size_inches())  # a browser's pixels of an inch, however fine the picture
        return {"image/png": page.getvalue()}, {"image/png": {"width": width, "height": height}}
