"""Few unknowns of a block from which the others follow (stage: structure): tearing. Rows of columns go in, an order comes out.

Greedy, as Elmqvist and Otter 1994 (Methods for tearing systems of equations in object-oriented modelling) describe it: what no equation gives is a
tearing variable in any case; as long as an equation has one unknown left, and gives it, it does; where there is none the unknown becomes a tearing
variable that is hardest to get from its equations, and of these the one that stands in most. A chain of such steps makes errors grow from link to
link, so no unknown is more than a few steps away from tearing variables.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Final

from tidegate.quick_dataclass import dataclass

__all__ = ["Torn", "tear"]

_LEVELS: Final = 3  # steps from tearing variables to an unknown


@dataclass(frozen=True)
class Torn:
    """A block, torn.

    Parameters
    ----------
    tearing : columns that are to be solved for.
    inner : (row, column) in the order in which the rows give the columns.
    residual : the rows that are left, as many as there are tearing columns.
    """

    tearing: tuple[int, ...]
    inner: tuple[tuple[int, int], ...]
    residual: tuple[int, ...]


def tear(
    rows: Sequence[int], columns: Collection[int], reads: Callable[[int], Collection[int]], gives: Callable[[int, int], int], held: Collection[int]
) -> Torn:
    """Choose tearing variables of a block.

    Parameters
    ----------
    rows, columns : of the block.
    reads : the columns that a row reads.
    gives : whether a row can be solved for one of its columns: 2 easily, 1 by a division that may fail, 0 not at all.
    held : columns that are solved for in any case.

    Examples
    --------
    >>> tear([0, 1, 2], [0, 1, 2], [[0, 1], [0, 2], [1, 2]].__getitem__, lambda row, column: 2, [])
    Torn(tearing=(0,), inner=((0, 1), (1, 2)), residual=(2,))
    """
    own = {row: sorted(column for column in reads(row) if column in columns) for row in rows}
    rows_of: dict[int, list[int]] = {column: [] for column in sorted(columns)}
    for row, several in own.items():
        for column in several:
            rows_of[column].append(row)
    left = {row: set(several) for row, several in own.items()}
    count = {column: len(several) for column, several in rows_of.items()}
    level: dict[int, int] = {}
    tearing: list[int] = []
    inner: list[tuple[int, int]] = []
    used: set[int] = set()
    ready: deque[int] = deque()
    harder: deque[int] = deque()

    def know(column: int, steps: int) -> None:
        level[column] = steps
        for row in rows_of[column]:
            left[row].discard(column)
            if row not in used and len(left[row]) == 1:
                ready.append(row)

    for column, several in rows_of.items():
        if column in held or not any(gives(row, column) for row in several):
            tearing.append(column)
            know(column, 0)
    hardness = {column: sum(2 - gives(row, column) for row in several) for column, several in rows_of.items()}
    waiting = sorted(rows_of, key=lambda column: (-hardness[column], -count[column], column))
    ready = deque(row for row in rows if len(left[row]) == 1)
    place = 0
    while len(level) < len(rows_of):
        while ready or harder:
            is_easy = bool(ready)
            row = ready.popleft() if ready else harder.popleft()
            if row in used or len(left[row]) != 1:
                continue
            (column,) = left[row]
            if is_easy and gives(row, column) == 1:
                harder.append(row)
                continue
            steps = 1 + max((level[other] for other in own[row] if other != column), default=0)
            if steps <= _LEVELS and gives(row, column):
                used.add(row)
                inner.append((row, column))
                know(column, steps)
        while place < len(waiting) and waiting[place] in level:
            place += 1
        if place < len(waiting):
            tearing.append(waiting[place])
            know(waiting[place], 0)
    return Torn(tuple(tearing), tuple(inner), tuple(row for row in rows if row not in used))
