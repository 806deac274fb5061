"""Heights of blocks in their columns (picture of a diagram). In go columns and boxes, out come heights that make lines straight.

Each column is moved towards its neighbours in turn. That is a least-squares problem with distances that must be kept, which pooling adjacent
violators solves exactly: R. E. Barlow, D. J. Bartholomew, J. M. Bremner and H. D. Brunk, "Statistical inference under order
restrictions", Wiley 1972.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median_low
from typing import Final

from tidegate.frontends.blocks.drawing.boxes import LABEL, Box
from tidegate.frontends.blocks.drawing.description import Drawing
from tidegate.frontends.blocks.drawing.layers import Columns
from tidegate.frontends.blocks.drawing.untangle import Bend, Item

__all__ = ["heights", "kept_apart"]

_GAP: Final = 18.0  # between two blocks of a column
_LINE: Final = 7.0  # half the room of a line that passes
_SWEEPS: Final = 8
_SLIP: Final = 12.0

_Tie = tuple[Item, float]  # a neighbour, and how far above it the item stands when their line is straight


def heights(drawing: Drawing, columns: Columns, boxes: Mapping[str, Box]) -> dict[Item, float]:
    """The middle of every block, and the height of every line that passes a column.

    Parameters
    ----------
    drawing : what is drawn.
    columns : its arrangement.
    boxes : of the blocks.
    """
    left, right = _ties(drawing, columns, boxes)
    y: dict[Item, float] = {}
    for column in columns.items:
        placed = kept_apart([0.0] * len(column), _distances(column, boxes))
        middle = 0.5 * (placed[0] + placed[-1]) if placed else 0.0
        y.update((item, place - middle) for item, place in zip(column, placed, strict=True))
    for _ in range(_SWEEPS):
        for ties, order in ((left, columns.items), (right, columns.items[::-1])):
            for column in order:
                _move(column, ties, y, boxes)
    # once more with both sides, then to the left, where the eye begins
    for column in columns.items:
        _move(column, {item: left.get(item) or right.get(item) or [] for item in column}, y, boxes)
    # not to the nearest even number, which could bring two items together that just keep their distance
    y = {item: float(math.floor(place + 0.5)) for item, place in y.items()}
    for column in columns.items:
        _snap(column, [*_tied(column, left), *_tied(column, right)], y, _distances(column, boxes))
    return y


def _tied(column: Sequence[Item], ties: Mapping[Item, Sequence[_Tie]]) -> list[tuple[int, _Tie]]:
    return [(i, tie) for i, item in enumerate(column) for tie in ties.get(item, ())]


def _snap(column: Sequence[Item], ties: Sequence[tuple[int, _Tie]], y: dict[Item, float], distances: Sequence[float]) -> None:
    """Make lines straight that nearly are, where there is room: a bend of a few pixels looks like a slip."""
    straight = {i for i, (other, rise) in ties if y[column[i]] == y[other] + rise}
    for i, (other, rise) in ties:
        if i not in straight and abs(y[other] + rise - y[column[i]]) <= _SLIP:
            moves = _pushed({i: y[other] + rise}, [y[item] for item in column], distances)
            if straight.isdisjoint(moves):
                y.update((column[k], place) for k, place in moves.items())
                straight.add(i)


def _pushed(moves: dict[int, float], places: Sequence[float], distances: Sequence[float]) -> dict[int, float]:
    """A move of one item, and of those that have to make room for it."""
    (i,) = moves
    for k in range(i - 1, -1, -1):
        if moves[k + 1] - places[k] >= distances[k]:
            break
        moves[k] = moves[k + 1] - distances[k]
    for k in range(i + 1, len(places)):
        if places[k] - moves[k - 1] >= distances[k - 1]:
            break
        moves[k] = moves[k - 1] + distances[k - 1]
    return moves


def _move(column: Sequence[Item], ties: Mapping[Item, Sequence[_Tie]], y: dict[Item, float], boxes: Mapping[str, Box]) -> None:
    # the lower median is one of the places itself, so that at least one line becomes straight
    wanted = [median_low([y[other] + rise for other, rise in ties[item]]) if ties.get(item) else y[item] for item in column]
    weights = [4.0 if isinstance(item, Bend) else 1.0 if ties.get(item) else 0.1 for item in column]
    y.update(zip(column, kept_apart(wanted, _distances(column, boxes), weights), strict=True))


def _ties(drawing: Drawing, columns: Columns, boxes: Mapping[str, Box]) -> tuple[dict[Item, list[_Tie]], dict[Item, list[_Tie]]]:
    """For every item its neighbours to the left and to the right."""
    left: dict[Item, list[_Tie]] = {}
    right: dict[Item, list[_Tie]] = {}
    for edge in drawing.edges:
        if edge in columns.feedback:
            continue
        net = (edge.from_id, edge.out_port)
        path: list[tuple[Item, float]] = [(edge.from_id, boxes[edge.from_id].out_port(edge.out_port)[1])]
        path.extend((Bend(net, k), 0.0) for k in range(columns.column[edge.from_id] + 1, columns.column[edge.to_id]))
        path.append((edge.to_id, boxes[edge.to_id].in_port(edge.in_port)[1]))
        for (start, out_y), (end, in_y) in pairwise(path):
            left.setdefault(end, []).append((start, out_y - in_y))
            right.setdefault(start, []).append((end, in_y - out_y))
    return left, right


def _distances(column: Sequence[Item], boxes: Mapping[str, Box]) -> list[float]:
    """From each item's middle to the next one's, at least."""
    above = [_LINE if isinstance(item, Bend) else 0.5 * boxes[item].height + _GAP / 2 for item in column]
    below = [_LINE if isinstance(item, Bend) else 0.5 * boxes[item].height + LABEL + _GAP / 2 for item in column]
    return [float(round(down + up + 0.5)) for down, up in zip(below, above[1:], strict=False)]


def kept_apart(wanted: Sequence[float], distances: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Places as near as possible to those wanted, by least squares, each at least its distance behind the one before.

    Parameters
    ----------
    wanted : n places.
    distances : n - 1 of them.
    weights : of the squares; 1 if None.

    Examples
    --------
    >>> kept_apart([0.0, 0.0, 10.0], [4.0, 4.0])
    [-2.0, 2.0, 10.0]
    """
    offsets = [0.0]
    for distance in distances:
        offsets.append(offsets[-1] + distance)
    pools: list[tuple[float, float, int]] = []  # mean, weight and number of members that move together
    for i, place in enumerate(wanted):
        mean, weight, count = place - offsets[i], weights[i] if weights else 1.0, 1
        while pools and pools[-1][0] >= mean:
            before, its_weight, its_count = pools.pop()
            mean = (before * its_weight + mean * weight) / (its_weight + weight)
            weight, count = weight + its_weight, count + its_count
        pools.append((mean, weight, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=False)]
