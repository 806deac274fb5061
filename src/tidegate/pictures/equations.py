"""Which unknown stands in which equation, in the order in which they are solved (stage: pictures). In: a structure report; out: a scene.

Row and column k are one equation and the unknown that it gives, so that what is solved one by one is a triangle, and what is solved together a
square on the diagonal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tidegate.frontends.blocks.drawing.scene import Line, Scene, Text, Tint
from tidegate.structure import StructureReport

__all__ = ["equations_scene"]

_NAMED: Final = 80  # unknowns; of more there is no room for names
_CELL: Final = 14.0
_SIDE: Final = 900.0  # of a matrix without names
_FONT: Final = 11.0
_LONGEST: Final = 60  # letters of an equation
_MARGIN: Final = 12.0
_TITLE: Final = 30.0
_LEGEND: Final = 26.0


def equations_scene(name: str, report: StructureReport) -> Scene:
    """The picture of a model's equations and unknowns.

    Parameters
    ----------
    name : of the model.
    report : what becomes of it.
    """
    unknowns = [item for block in report.blocks for item in block.unknowns]
    n, count = len(unknowns), len(report.blocks)
    is_named = n <= _NAMED
    cell = _CELL if is_named else max(0.6, min(_CELL, _SIDE / n))
    texts = [_shortened(text) for block in report.blocks for text in block.equations] if is_named else []
    left = _MARGIN + (max((_width(item) for item in unknowns), default=0.0) + 34.0 if is_named else 0.0)
    top = _MARGIN + _TITLE
    right = max((_width(text) for text in texts), default=0.0) + 12.0 if is_named else 0.0
    title = f"{name}: {n} equation{'s' * (n != 1)} in {count} block{'s' * (count != 1)}" if n else f"{name}: explicit equations, one for each state"
    width = max(left + n * cell + right + _MARGIN, _width(title) * 1.25 + 2 * _MARGIN, 430.0)
    scene = Scene(round(width), round(top + n * cell + _LEGEND + _MARGIN), title)
    scene.things.append(Text(_MARGIN, _MARGIN + 6, title, 1.2 * _FONT, "start"))
    scene.things.extend(_blocks(report, left, top, cell))
    if is_named:
        scene.things.extend(_names(report, texts, left, top))
    scene.things.extend(_entries(report, unknowns, left, top, cell))
    scene.things.extend(_legend(left if is_named else _MARGIN, top + n * cell + _LEGEND - 4))
    return scene


def _width(text: str) -> float:
    return 0.6 * _FONT * len(text)


def _shortened(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"


def _square(x: float, y: float, side: float, tint: Tint) -> Line:
    return Line(((x, y), (x + side, y), (x + side, y + side), (x, y + side)), tint, 0.0, fill=tint)


def _blocks(report: StructureReport, left: float, top: float, cell: float) -> Iterator[Line]:
    """The frame, and an outlined square for each block of several equations."""
    n = sum(block.size for block in report.blocks)
    whole = ((left, top), (left + n * cell, top), (left + n * cell, top + n * cell), (left, top + n * cell))
    yield Line(whole, "faint", 0.8, fill="paper")
    row = 0
    for block in report.blocks:
        if block.size > 1:
            x, y, side = left + row * cell, top + row * cell, block.size * cell
            yield Line(((x, y), (x + side, y), (x + side, y + side), (x, y + side)), "curve", 1.2, fill="shade")
        row += block.size


def _names(report: StructureReport, texts: Sequence[str], left: float, top: float) -> Iterator[Line | Text]:
    n = len(texts)
    row = 0
    for number, block in enumerate(report.blocks):
        for k, unknown in enumerate(block.unknowns):
            y = top + (row + 0.5) * _CELL
            is_torn = unknown in block.tearing
            if row:
                yield Line(((left, y - 0.5 * _CELL), (left + n * _CELL, y - 0.5 * _CELL)), "shade", 0.5)
            yield Text(left - 6, y, unknown, _FONT, "end", "curve" if is_torn else "ink")
            if not k:
                yield Text(_MARGIN, y, f"{number + 1}", 0.85 * _FONT, "start", "faint")
            yield Text(left + n * _CELL + 6, y, texts[row], 0.9 * _FONT, "start", "faint")
            row += 1


def _entries(report: StructureReport, unknowns: Sequence[str], left: float, top: float, cell: float) -> Iterator[Line]:
    place = {name: k for k, name in enumerate(unknowns)}
    gap = 0.15 * cell if cell > 4 else 0.0
    row = 0
    for block in report.blocks:
        for uses in block.uses:
            for name in uses:
                column = place.get(name)
                if column is not None:
                    tint: Tint = "faint" if column != row else "curve" if name in block.tearing else "ink"
                    yield _square(left + column * cell + gap, top + row * cell + gap, cell - 2 * gap, tint)
            row += 1


def _legend(x: float, y: float) -> Iterator[Line | Text]:
    said: tuple[tuple[Tint, str], ...] = (("ink", "what an equation gives"), ("faint", "what stands in it"), ("curve", "tearing variable"))
    for tint, text in said:
        yield _square(x, y - 5, 10, tint)
        yield Text(x + 15, y, text, 0.9 * _FONT, "start", "faint")
        x += 25 + _width(text)
