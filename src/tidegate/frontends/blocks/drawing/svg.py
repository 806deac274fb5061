"""A scene as SVG (picture of a diagram). In goes a scene, out comes text that stands alone: no fonts, styles or scripts from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import Final

from tidegate.frontends.blocks.drawing.scene import Circle, Line, Scene, Text, Tint

__all__ = ["COLOURS", "svg"]

COLOURS: Final[Mapping[Tint, str]] = MappingProxyType(
    {"ink": "#222222", "faint": "#777777", "paper": "#ffffff", "curve": "#1f5fa8", "shade": "#e6eef8"}
)

# what XML cannot hold at all, not even escaped
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg(scene: Scene) -> str:
    """The text of an SVG file.

    Examples
    --------
    >>> print(svg(Scene(20, 10, "a < b", [Line(((0, 5), (20, 5)))])))
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10" width="20" height="10" role="img" font-family="sans-serif">
    <title>a &lt; b</title>
    <rect width="20" height="10" fill="#ffffff"/>
    <polyline points="0,5 20,5" fill="none" stroke="#222222" stroke-width="1.2"/>
    </svg>
    """
    width, height = _number(scene.width), _number(scene.height)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif">',
        f"<title>{_text(scene.title)}</title>",
        f'<rect width="{width}" height="{height}" fill="{COLOURS["paper"]}"/>',
        *map(_element, scene.things),
        "</svg>",
    ]
    return "\n".join(lines)


def _element(thing: Line | Circle | Text) -> str:
    if isinstance(thing, Text):
        place = f'x="{_number(thing.x)}" y="{_number(thing.y)}" font-size="{_number(thing.size)}" text-anchor="{thing.anchor}"'
        return f'<text {place} dominant-baseline="central" fill="{COLOURS[thing.tint]}">{_text(thing.text)}</text>'
    stroke = f'stroke="{COLOURS[thing.tint]}" stroke-width="{_number(thing.width)}"'
    if isinstance(thing, Circle):
        return f'<circle cx="{_number(thing.x)}" cy="{_number(thing.y)}" r="{_number(thing.radius)}" fill="{COLOURS[thing.fill]}" {stroke}/>'
    points = " ".join(f"{_number(x)},{_number(y)}" for x, y in thing.points)
    name, fill = ("polygon", COLOURS[thing.fill]) if thing.fill else ("polyline", "none")
    return f'<{name} points="{points}" fill="{fill}" {stroke}/>'


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub("�", text))
