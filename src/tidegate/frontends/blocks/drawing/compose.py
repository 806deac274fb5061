"""From a drawing to a picture (picture of a diagram): blocks get places, signals get lines, and both become simple things to paint."""

from __future__ import annotations

import math
from typing import Final

from tidegate.frontends.blocks.drawing.boxes import FONT, LABEL, Box, box_of, text_width
from tidegate.frontends.blocks.drawing.description import Drawing
from tidegate.frontends.blocks.drawing.layers import columns_of
from tidegate.frontends.blocks.drawing.positions import heights
from tidegate.frontends.blocks.drawing.scene import Circle, Line, Scene, Text
from tidegate.frontends.blocks.drawing.wires import Point, Wire, wiring_of
from tidegate.quick_dataclass import dataclass

__all__ = ["DrawingPlan", "add_box", "compose", "plan_of"]

_MARGIN: Final = 12.0  # round everything
_TITLE: Final = 24.0
_ARROW: Final = 7.0


@dataclass(frozen=True, eq=False)
class DrawingPlan:
    """Where everything is.

    Parameters
    ----------
    drawing : what is drawn.
    boxes : by the ids of the nodes.
    places : of their middles.
    wires : one for each edge.
    dots : where a signal branches.
    width, height : of the paper.
    """

    drawing: Drawing
    boxes: dict[str, Box]
    places: dict[str, Point]
    wires: list[Wire]
    dots: list[Point]
    width: float
    height: float


def plan_of(drawing: Drawing) -> DrawingPlan:
    """Lay a drawing out, from left to right.

    Parameters
    ----------
    drawing : any.

    Examples
    --------
    >>> from tidegate.frontends.blocks.drawing.description import Edge, DrawnNode
    >>> plan = plan_of(Drawing([DrawnNode("u", "Step", n_in=0), DrawnNode("y", "Scope", n_out=0)], [Edge("u", 0, "y", 0)]))
    >>> plan.places["u"][0] < plan.places["y"][0], len(plan.wires[0].points)
    (True, 2)
    """
    boxes = {node.id: box_of(node) for node in drawing.nodes}
    columns = columns_of(drawing)
    y = heights(drawing, columns, boxes)
    wiring = wiring_of(drawing, columns, boxes, y)
    y = wiring.heights
    top = min(
        [*(y[name] - 0.5 * box.height for name, box in boxes.items()), *(point[1] for wire in wiring.wires for point in wire.points)], default=0.0
    )
    # room for the name of a signal above the highest line
    down = _MARGIN + (_TITLE if drawing.title else 0.0) + 8.0 - top

    def moved(point: Point) -> Point:
        return point[0] + _MARGIN, point[1] + down

    places = {name: moved((wiring.middles[columns.column[name]], y[name])) for name in boxes}
    wires = [Wire(wire.edge, _without_idle_corners([moved(point) for point in wire.points])) for wire in wiring.wires]
    width = max(wiring.width, 1.4 * text_width(drawing.title)) + 2 * _MARGIN
    return DrawingPlan(
        drawing, boxes, places, wires, [moved(dot) for dot in wiring.dots], math.ceil(width), math.ceil(wiring.bottom + down + _MARGIN)
    )


def compose(drawing: Drawing) -> Scene:
    """The picture of a drawing."""
    plan = plan_of(drawing)
    scene = Scene(plan.width, plan.height, drawing.title or "block diagram")
    if drawing.title:
        scene.things.append(Text(0.5 * plan.width, _MARGIN + 4, drawing.title, 1.25 * FONT))
    for wire in plan.wires:
        *_, (x, y) = wire.points
        if not wire.edge.has_arrow:
            scene.things.append(Line(wire.points))
            continue
        scene.things.append(Line((*wire.points[:-1], (x - 0.5 * _ARROW, y))))
        scene.things.append(Line(((x, y), (x - _ARROW, y - 0.5 * _ARROW), (x - _ARROW, y + 0.5 * _ARROW)), fill="ink", width=0.5))
    scene.things.extend(Circle(x, y, 2.5, fill="ink") for x, y in plan.dots)
    _add_names(scene, plan)
    for name, box in plan.boxes.items():
        add_box(scene, box, *plan.places[name])
    for wire in plan.wires:
        if plan.boxes[wire.edge.to_id].look.has_signs or wire.edge.sign < 0:
            x, y = wire.points[-1]
            scene.things.append(Text(x - 9, y - 7, "−" if wire.edge.sign < 0 else "+", FONT))
    return scene


def _add_names(scene: Scene, plan: DrawingPlan) -> None:
    named: set[tuple[str, int]] = set()
    for wire in plan.wires:
        net = (wire.edge.from_id, wire.edge.out_port)
        if wire.edge.name and net not in named:
            named.add(net)
            x, y = wire.points[0]
            scene.things.append(Text(x + 4, y - 7, wire.edge.name, 0.9 * FONT, "start", "faint"))


def add_box(scene: Scene, box: Box, x: float, y: float) -> None:
    """Paint one block."""
    half_width, half_height, size = 0.5 * box.width, 0.5 * box.height, box.look.glyph
    # between the names of ports of which some are longer
    middle = x + 0.5 * (_longest(box.node.in_names) - _longest(box.node.out_names)) if box.look.curves else x
    scene.things.append(_outline(box, x, y))
    if box.look.outline == "double box":
        scene.things.append(_polygon(x, y, [(-half_width + 3, -half_height + 3), (half_width - 3, half_height - 3)]))
    if box.look.has_axes:
        scene.things.append(Line(((x - size - 2, y), (x + size + 2, y)), "faint", 0.6))
        scene.things.append(Line(((x, y - size - 2), (x, y + size + 2)), "faint", 0.6))
    for curve in box.look.curves:
        scene.things.append(Line(tuple((middle + size * u, y - size * v) for u, v in curve), "curve", 1.6))
    if box.look.sign:
        letters = 1.7 * FONT if box.look.sign == "∫" else 1.3 * FONT if len(box.look.sign) == 1 else FONT
        # the middle of a triangle is at a third of its height
        scene.things.append(Text(x - (box.width / 7 if box.look.outline == "triangle" else 0.0), y, box.look.sign, letters))
    for i, text in enumerate(box.node.in_names):
        scene.things.append(Text(x - half_width + 5, y + box.in_port(i)[1], text, 0.8 * FONT, "start", "faint"))
    for i, text in enumerate(box.node.out_names):
        scene.things.append(Text(x + half_width - 5, y + box.out_port(i)[1], text, 0.8 * FONT, "end", "faint"))
    scene.things.append(Text(x, y + half_height + 0.6 * LABEL, box.label, FONT))


def _longest(names: tuple[str, ...]) -> float:
    return 0.8 * max(map(text_width, names), default=0.0)


def _outline(box: Box, x: float, y: float) -> Line | Circle:
    half_width, half_height = 0.5 * box.width, 0.5 * box.height
    if box.look.outline == "circle":
        return Circle(x, y, half_width)
    if box.look.outline == "triangle":
        return Line(((x - half_width, y - half_height), (x + half_width, y), (x - half_width, y + half_height)), fill="paper")
    if box.look.outline == "octagon":
        cut = 0.3 * half_height
        corners = [(half_width, half_height - cut), (half_width - cut, half_height)]
        ring = [
            (u * s, v * t) for s, t, pair in ((1, 1, corners), (-1, 1, corners[::-1]), (-1, -1, corners), (1, -1, corners[::-1])) for u, v in pair
        ]
        return Line(tuple((x + u, y + v) for u, v in ring), fill="paper")
    if box.look.outline == "pill":
        angles = [math.pi * k / 8 for k in range(9)]
        right = [(half_width - half_height + half_height * math.sin(a), -half_height * math.cos(a)) for a in angles]
        return Line(tuple((x + u, y + v) for u, v in (*right, *((-u, -v) for u, v in right))), fill="paper")
    return _polygon(x, y, [(-half_width, -half_height), (half_width, half_height)], filled=True)


def _polygon(x: float, y: float, corners: list[Point], *, filled: bool = False) -> Line:
    (left, top), (right, bottom) = corners
    ring = ((x + left, y + top), (x + right, y + top), (x + right, y + bottom), (x + left, y + bottom))
    return Line(ring, fill="paper") if filled else Line((*ring, ring[0]), width=0.8)


def _without_idle_corners(points: list[Point]) -> tuple[Point, ...]:
    """The same line without points that lie on it."""
    kept: list[Point] = []
    for point in points:
        if kept and kept[-1] == point:
            continue
        while len(kept) > 1 and (kept[-2][0] == kept[-1][0] == point[0] or kept[-2][1] == kept[-1][1] == point[1]):
            kept.pop()
        kept.append(point)
    return tuple(kept)
