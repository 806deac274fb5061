"""Pictures of block diagrams: blocks from left to right, each in the shape of its kind, signals as right-angled lines.

In goes a plain description (``Drawing``), out comes SVG, or a file with pixels. Nothing here knows the classes of blocks.

    description -> layers (columns, crossings) -> place (heights) -> wires (lines) -> compose (scene) -> svg, paint
"""

from tidegate.frontends.blocks.drawing.description import Drawing, DrawnNode, Edge
from tidegate.frontends.blocks.drawing.draw import draw, save_drawing

__all__ = ["Drawing", "DrawnNode", "Edge", "draw", "save_drawing"]
