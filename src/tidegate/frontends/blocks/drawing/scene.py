"""A picture as a list of simple things (picture of a diagram), which any painter can paint; lengths in pixels, y downwards."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from tidegate.quick_dataclass import dataclass

__all__ = ["Circle", "Line", "Scene", "Text", "Tint"]

Tint = Literal["ink", "faint", "paper", "curve", "shade"]  # what a painter has colours for


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points, or a polygon.

    Parameters
    ----------
    points : at least two.
    tint, width : of the line.
    fill : of the inside; the line is closed where there is one.
    """

    points: tuple[tuple[float, float], ...]
    tint: Tint = "ink"
    width: float = 1.2
    fill: Tint | None = None


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle."""

    x: float
    y: float
    radius: float
    fill: Tint = "paper"
    tint: Tint = "ink"
    width: float = 1.2


@dataclass(frozen=True, slots=True)
class Text:
    """A text, its middle at a height, its start, middle or end at a place."""

    x: float
    y: float
    text: str
    size: float
    anchor: Literal["start", "middle", "end"] = "middle"
    tint: Tint = "ink"


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that is painted, in order.

    Parameters
    ----------
    width, height : of the paper; its upper left corner is at 0, 0.
    title : for those who cannot see it.
    things : to be painted.
    """

    width: float
    height: float
    title: str = ""
    things: list[Line | Circle | Text] = field(default_factory=list[Line | Circle | Text])
