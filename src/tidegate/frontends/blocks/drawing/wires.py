"""Lines between blocks (picture of a diagram). In go columns and the heights of what stands in them, out come right-angled lines.

Between two columns there is a channel. A signal that changes its height in a channel does so on a track, which it shares only with signals that leave
it alone; a signal that goes back runs in a lane below everything. The order of the tracks is the vertical constraint graph of channel routing:
A. Hashimoto and J. Stevens, "Wire routing by optimizing channel assignment within large apertures", Proceedings of the 8th Design Automation Workshop
(1971) 155-169.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Final

from tidegate.frontends.blocks.drawing.boxes import LABEL, Box, text_width
from tidegate.frontends.blocks.drawing.description import Drawing, Edge
from tidegate.frontends.blocks.drawing.layers import Columns
from tidegate.frontends.blocks.drawing.untangle import Bend, Item, Net
from tidegate.quick_dataclass import dataclass

__all__ = ["Crossing", "Wire", "Wiring", "wiring_of"]

TRACK: Final = 10.0  # between two parallel lines
_MARGIN: Final = 16.0  # between a column and the first track; an arrowhead needs 8
_NUDGES: Final = (4.0, -4.0, 7.0)  # enough to tell two lines apart, and less than any two things in a column are apart
_TOUCH: Final = 3.0  # lines at heights closer than this look like one

Point = tuple[float, float]


@dataclass(slots=True)
class Crossing:
    """What one signal does in one channel.

    Parameters
    ----------
    lefts, rights : heights at which it enters from the column to the left, and leaves for the column to the right.
    lane : height of its lane below, if it takes one here.
    track : of its vertical line, from the left; -1 if it goes straight on.
    """

    lefts: set[float] = field(default_factory=set[float])
    rights: set[float] = field(default_factory=set[float])
    lane: float | None = None
    track: int = -1

    @property
    def heights(self) -> list[float]:
        """All heights, from the top."""
        return sorted(self.lefts | self.rights | ({self.lane} if self.lane is not None else set()))


@dataclass(frozen=True, slots=True)
class Wire:
    """The line of one edge, from port to port, with its corners."""

    edge: Edge
    points: tuple[Point, ...]


@dataclass(frozen=True, eq=False)
class Wiring:
    """All lines, and where the columns stand.

    Parameters
    ----------
    middles : of the columns, x.
    heights : of blocks, some of them moved a little for the sake of a line.
    wires : one for each edge.
    dots : where a signal branches.
    width, bottom : of everything that is drawn so far; the left end is 0.
    """

    middles: list[float]
    heights: Mapping[Item, float]
    wires: list[Wire]
    dots: list[Point]
    width: float
    bottom: float


def wiring_of(drawing: Drawing, columns: Columns, boxes: Mapping[str, Box], y: Mapping[Item, float]) -> Wiring:
    """Draw the lines.

    Parameters
    ----------
    drawing : what is drawn.
    columns : its arrangement.
    boxes : of the blocks.
    y : heights of the blocks' middles, and of lines that pass a column.
    """
    floor = max(
        [y[name] + 0.5 * box.height + LABEL for name, box in boxes.items()] + [place for item, place in y.items() if isinstance(item, Bend)],
        default=0.0,
    )
    lanes = _lanes(columns, floor)
    y, channels = _tracked(drawing, columns, boxes, y, lanes)
    middles, starts, width = _across(drawing, columns, boxes, channels)

    def x_of(net: Net, k: int) -> float:
        return starts[k] + TRACK * channels[k][net].track

    wires: list[Wire] = []
    for edge in drawing.edges:
        net = (edge.from_id, edge.out_port)
        start, end = columns.column[edge.from_id], columns.column[edge.to_id]
        out_x, out_y = boxes[edge.from_id].out_port(edge.out_port)
        in_x, in_y = boxes[edge.to_id].in_port(edge.in_port)
        corners: list[Point] = [(middles[start] + out_x, y[edge.from_id] + out_y)]
        target = (middles[end] + in_x, y[edge.to_id] + in_y)
        if edge in columns.feedback:
            lane = lanes[net]
            right, left = x_of(net, start + 1), x_of(net, end)
            corners.extend([(right, corners[0][1]), (right, lane), (left, lane), (left, target[1])])
        else:
            for k in range(start + 1, end + 1):
                height = target[1] if k == end else y[Bend(net, k)]
                if height != corners[-1][1]:
                    x = x_of(net, k)
                    corners.extend([(x, corners[-1][1]), (x, height)])
        wires.append(Wire(edge, (*corners, target)))
    dots = [(x_of(net, k), height) for k, channel in enumerate(channels) for net, crossing in channel.items() for height in _branches(crossing)]
    dots.extend(_lane_dots(columns, lanes, x_of))
    return Wiring(middles, y, wires, dots, width, max([floor, *(lane + TRACK for lane in lanes.values())]))


def _lanes(columns: Columns, floor: float) -> dict[Net, float]:
    """Heights of the lanes; short ones lie above long ones, and two share a height where they do not meet."""
    spans: dict[Net, tuple[int, int]] = {}
    for edge in columns.feedback:
        net, start, end = (edge.from_id, edge.out_port), columns.column[edge.to_id], columns.column[edge.from_id] + 1
        spans[net] = (min(start, spans[net][0]) if net in spans else start, end)
    rows: list[list[tuple[int, int]]] = []
    lanes: dict[Net, float] = {}
    for net, (start, end) in sorted(spans.items(), key=lambda item: (item[1][1] - item[1][0], item[0])):
        row = next((k for k, taken in enumerate(rows) if all(end < first or last < start for first, last in taken)), len(rows))
        if row == len(rows):
            rows.append([])
        rows[row].append((start, end))
        lanes[net] = floor + TRACK * (row + 1)
    return lanes


def _channels(
    drawing: Drawing, columns: Columns, boxes: Mapping[str, Box], y: Mapping[Item, float], lanes: Mapping[Net, float]
) -> list[dict[Net, Crossing]]:
    """What every signal does in every channel; channel k is to the left of column k."""
    channels: list[dict[Net, Crossing]] = [{} for _ in range(len(columns.items) + 1)]
    for edge in drawing.edges:
        net = (edge.from_id, edge.out_port)
        start, end = columns.column[edge.from_id], columns.column[edge.to_id]
        height = y[edge.from_id] + boxes[edge.from_id].out_port(edge.out_port)[1]
        target = y[edge.to_id] + boxes[edge.to_id].in_port(edge.in_port)[1]
        if edge in columns.feedback:
            leaves, enters = channels[start + 1].setdefault(net, Crossing()), channels[end].setdefault(net, Crossing())
            leaves.lefts.add(height)
            enters.rights.add(target)
            leaves.lane = enters.lane = lanes[net]
        else:
            for k in range(start + 1, end + 1):
                crossing = channels[k].setdefault(net, Crossing())
                crossing.lefts.add(height)
                height = target if k == end else y[Bend(net, k)]
                crossing.rights.add(height)
    return channels


def _tracked(
    drawing: Drawing, columns: Columns, boxes: Mapping[str, Box], y: Mapping[Item, float], lanes: Mapping[Net, float]
) -> tuple[Mapping[Item, float], list[dict[Net, Crossing]]]:
    """Channels with tracks. Signals that change places with each other would lie on each other; what one of them goes to is moved a little."""
    moved: dict[Item, float] = {}
    tried: dict[Item, int] = {}
    while True:
        heights = {item: place + moved.get(item, 0.0) for item, place in y.items()}
        channels = _channels(drawing, columns, boxes, heights, lanes)
        stuck = [(net, k) for k, channel in enumerate(channels) for net in _set_tracks(channel)]
        ends = [end for net, k in stuck for end in _ends(drawing, columns, net, k)]
        item = min((end for end in ends if tried.get(end, 0) < len(_NUDGES)), key=lambda end: tried.get(end, 0), default=None)
        if item is None:
            return heights, channels
        moved[item] = _NUDGES[tried.get(item, 0)]
        tried[item] = tried.get(item, 0) + 1


def _ends(drawing: Drawing, columns: Columns, net: Net, k: int) -> list[Item]:
    """What stands in column k and is met by a signal."""
    blocks = {edge.to_id for edge in drawing.edges if (edge.from_id, edge.out_port) == net and columns.column[edge.to_id] == k}
    return [item for item in (columns.items[k] if k < len(columns.items) else []) if item == Bend(net, k) or item in blocks]


def _set_tracks(channel: Mapping[Net, Crossing]) -> list[Net]:
    """Give a track to everything that changes its height, so that no two signals lie on each other and few cross.

    Returns
    -------
    Signals that had to turn before one that comes in where they go out.
    """
    stuck: list[Net] = []
    turning = {net: crossing for net, crossing in channel.items() if len(crossing.heights) > 1}
    # what goes up turns the earlier the higher it comes from, what goes down the later
    waiting = sorted(turning, key=lambda net: _turn(turning[net]))
    before = {net: {other for other in turning if other != net and _must_turn_first(turning[other], turning[net])} for net in turning}
    placed: list[Net] = []
    while waiting:
        net = next((each for each in waiting if not before[each] - set(placed)), None)
        if net is None:
            net = waiting[0]
            stuck.append(net)
        waiting.remove(net)
        crossing = turning[net]
        crossing.track = 0
        for other in placed:
            if other in before[net] or net in before[other] or _overlap(crossing.heights, turning[other].heights):
                crossing.track = max(crossing.track, turning[other].track + 1)
        placed.append(net)
    return stuck


def _turn(crossing: Crossing) -> tuple[bool, float]:
    first = min(crossing.lefts) if crossing.lefts else crossing.heights[-1]
    goes_down = first < 0.5 * (crossing.heights[0] + crossing.heights[-1])
    return goes_down, -first if goes_down else first


def _must_turn_first(crossing: Crossing, other: Crossing) -> bool:
    """Whether a signal comes in at a height at which the other one goes out."""
    return any(abs(left - right) < _TOUCH for left in crossing.lefts for right in other.rights)


def _overlap(heights: Sequence[float], others: Sequence[float]) -> bool:
    return heights[0] <= others[-1] + _TOUCH and others[0] <= heights[-1] + _TOUCH


def _across(
    drawing: Drawing, columns: Columns, boxes: Mapping[str, Box], channels: Sequence[Mapping[Net, Crossing]]
) -> tuple[list[float], list[float], float]:
    """Middles of the columns, the first track of every channel, and the width of everything."""
    names = {(edge.from_id, edge.out_port): edge.name for edge in drawing.edges if edge.name}
    middles: list[float] = []
    starts: list[float] = []
    x = 0.0
    for k, channel in enumerate(channels):
        tracks = max((crossing.track + 1 for crossing in channel.values()), default=0)
        # the names of the signals that leave the column to the left stand before the tracks
        written = max((text_width(names[net]) + 6 for net in channel if net in names and columns.column[net[0]] == k - 1), default=0.0)
        is_inner = 0 < k < len(columns.items)
        starts.append(x + (max(_MARGIN, written) if k else 0.0))
        if is_inner:
            x = starts[-1] + max(tracks - 1, 0) * TRACK + _MARGIN
        elif tracks or written:
            x = starts[-1] + max(tracks - 1, 0) * TRACK + (_MARGIN if k == 0 else 0.0)
        if k < len(columns.items):
            width = max((boxes[item].cell_width for item in columns.items[k] if isinstance(item, str)), default=0.0)
            middles.append(float(round(x + 0.5 * width)))
            x = middles[-1] + 0.5 * width
    return middles, starts, x


def _branches(crossing: Crossing) -> list[float]:
    """Heights at which a vertical line meets another one and goes on."""
    heights = crossing.heights
    if len(heights) < 2:
        return []
    ends = [height for height in (heights[0], heights[-1]) if height in crossing.lefts and height in crossing.rights]
    return heights[1:-1] + ends


def _lane_dots(columns: Columns, lanes: Mapping[Net, float], x_of: Callable[[Net, int], float]) -> list[Point]:
    """Where a line leaves a lane that goes on."""
    dots: list[Point] = []
    for net, lane in lanes.items():
        ends = sorted({columns.column[edge.to_id] for edge in columns.feedback if (edge.from_id, edge.out_port) == net})
        dots.extend((x_of(net, end), lane) for end in ends[1:])
    return dots
