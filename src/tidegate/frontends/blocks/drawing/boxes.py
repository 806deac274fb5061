"""Sizes of blocks and places of their ports (picture of a diagram). In goes a node, out comes a box round the origin.

Lengths are pixels, y goes downwards, as everywhere in a picture.
"""

from __future__ import annotations

import math
from typing import Final

from tidegate.frontends.blocks.drawing.description import DrawnNode
from tidegate.frontends.blocks.drawing.looks import Look, look_of
from tidegate.quick_dataclass import dataclass

__all__ = ["FONT", "LABEL", "Box", "box_of", "text_width"]

FONT: Final = 11.0  # height of letters
LABEL: Final = 16.0  # height of the line below a block

_PORT: Final = 20.0  # between two ports
_WIDTH: Final = 48.0
_HEIGHT: Final = 36.0
_CIRCLE: Final = 28.0


def text_width(text: str) -> float:
    """About the width of a text; letters of a proportional font are 0.6 of their height on average."""
    return 0.6 * FONT * len(text)


@dataclass(frozen=True, slots=True)
class Box:
    """A block at the origin.

    Parameters
    ----------
    node, look : what it is and how it looks; the outline may be plainer than the kind's, where it has too many ports for it.
    width, height : of the outline.
    label : below it.
    """

    node: DrawnNode
    look: Look
    width: float
    height: float
    label: str

    @property
    def cell_width(self) -> float:
        """With the label, which may be wider."""
        return max(self.width, text_width(self.label))

    def in_port(self, i: int) -> tuple[float, float]:
        """Where input i is, seen from the middle of the block."""
        y = _spread(i, self.node.n_in)
        return -self._reach(y), y

    def out_port(self, i: int) -> tuple[float, float]:
        """Where output i is."""
        y = _spread(i, self.node.n_out)
        return self._reach(y), y

    def _reach(self, y: float) -> float:
        if self.look.outline == "circle":
            return math.sqrt(max((0.5 * self.width) ** 2 - y**2, 0.0))
        return 0.5 * self.width


def box_of(node: DrawnNode) -> Box:
    """The box of a node, large enough for its texts and ports."""
    look = node.look or look_of(node.kind)
    ports = max(node.n_in, node.n_out)
    outline, sign = look.outline, node.text or look.sign
    if (outline == "triangle" and ports > 1) or (outline == "circle" and len(sign) > 3):
        outline = "box"
    label = node.label or node.id
    drawn = Look(outline, sign, () if node.text else look.curves, look.has_axes and not node.text, look.has_signs, look.glyph)
    if outline == "circle":
        # ports at the outermost tenth would meet the circle at too flat an angle
        size = max(_CIRCLE, _PORT * (ports - 1) / 0.8)
        return Box(node, drawn, size, size, label)
    names = max(map(text_width, node.in_names), default=0.0) + max(map(text_width, node.out_names), default=0.0)
    inside = max(text_width(sign), 2.0 * look.glyph if drawn.curves and names else 0.0)
    width = max(_WIDTH, inside + names + 16.0) * (1.35 if outline == "triangle" and len(sign) > 2 else 1.0)
    return Box(node, drawn, float(math.ceil(width)), max(_HEIGHT, _PORT * ports), label)


def _spread(i: int, count: int) -> float:
    return (i - 0.5 * (count - 1)) * _PORT
