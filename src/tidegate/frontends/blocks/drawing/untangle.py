"""Fewer crossings, with an eye to ports (picture of a diagram). In go columns in some order, out come the same in a better one.

Two neighbours change places while that makes fewer lines cross: the last step of E. R. Gansner, E. Koutsofios, S. C. North and K.-P. Vo, "A technique
for drawing directed graphs", IEEE Transactions on Software Engineering 19 (1993) 214-230.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import Final

from tidegate.quick_dataclass import dataclass

__all__ = ["Bend", "Item", "Net", "WirePiece", "untangled"]

_PASSES: Final = 12  # it ends by itself when nothing becomes better; a large diagram need not be perfect

Net = tuple[str, int]  # all edges of one output: a block and its port


@dataclass(frozen=True, slots=True)
class Bend:
    """Where a signal passes a column on its way to a later one."""

    net: Net
    column: int


Item = str | Bend
_Ends = dict[Item, list[tuple[Item, float]]]  # what the lines of an item lead to, and how far down


@dataclass(frozen=True, slots=True)
class WirePiece:
    """A line from one column to the next.

    Parameters
    ----------
    start, end : what it connects.
    out_part, in_part : how far down its ports are, from 0 to less than 1.
    """

    start: Item
    out_part: float
    end: Item
    in_part: float


def untangled(columns: Sequence[Sequence[Item]], pieces: Sequence[WirePiece]) -> list[list[Item]]:
    """The columns in the best of some orders: as they are, or sorted along the lines from the right or from the left, with neighbours exchanged.

    Examples
    --------
    >>> untangled([["a", "b"], ["c"]], [WirePiece("a", 0.0, "c", 0.5), WirePiece("b", 0.0, "c", 0.0)])
    [['b', 'a'], ['c']]
    """
    left: _Ends = {}
    right: _Ends = {}
    for piece in pieces:
        left.setdefault(piece.end, []).append((piece.start, piece.out_part))
        right.setdefault(piece.start, []).append((piece.end, piece.in_part))
    number = {item: k for k, column in enumerate(columns) for item in column}
    gaps: list[list[WirePiece]] = [[] for _ in columns]
    for piece in pieces:
        gaps[number[piece.start]].append(piece)
    ways = (
        [list(column) for column in columns],
        _sorted(columns, right, range(len(columns) - 1, -1, -1)),
        _sorted(columns, left, range(len(columns))),
    )
    for way in ways:
        _exchange(way, (left, right))
    return min(ways, key=lambda way: _total(way, gaps))


def _sorted(columns: Sequence[Sequence[Item]], ends: _Ends, order: Iterable[int]) -> list[list[Item]]:
    """Each column by the means of what its lines lead to on one side; what leads nowhere keeps its place among the others."""
    result = [list(column) for column in columns]
    row = _rows(result)
    for k in order:
        means = {item: fmean(row[end] + part for end, part in ends[item]) if item in ends else row[item] for item in result[k]}
        result[k].sort(key=means.__getitem__)
        row.update((item, float(i)) for i, item in enumerate(result[k]))
    return result


def _exchange(columns: list[list[Item]], sides: Sequence[_Ends]) -> None:
    row = _rows(columns)
    for _ in range(_PASSES):
        has_changed = False
        for column in columns:
            for i in range(len(column) - 1):
                above, below = column[i], column[i + 1]
                if _crossings(above, below, sides, row) > _crossings(below, above, sides, row):
                    column[i], column[i + 1] = below, above
                    row[above], row[below] = row[below], row[above]
                    has_changed = True
        if not has_changed:
            break


def _rows(columns: Sequence[Sequence[Item]]) -> dict[Item, float]:
    return {item: float(i) for column in columns for i, item in enumerate(column)}


def _crossings(above: Item, below: Item, sides: Sequence[_Ends], row: Mapping[Item, float]) -> int:
    """How many lines of one cross a line of the other, if the first stands above."""
    count = 0
    for side in sides:
        for (first, part), (second, other) in product(side.get(above, ()), side.get(below, ())):
            count += row[first] + part > row[second] + other
    return count


def _total(columns: Sequence[Sequence[Item]], gaps: Sequence[Sequence[WirePiece]]) -> int:
    """Crossings of all lines."""
    row = _rows(columns)
    count = 0
    for pieces in gaps:
        ends = sorted((row[piece.start] + piece.out_part, row[piece.end] + piece.in_part) for piece in pieces)
        passed: list[float] = []
        for _, end in ends:
            # lines that began above and end below
            count += len(passed) - bisect_right(passed, end)
            insort(passed, end)
    return count
