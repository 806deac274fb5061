"""Maximum matching and the parts it divides a system into (stage: structure; rows of column numbers go in).

Hopcroft and Karp 1973 (https://doi.org/10.1137/0202019) for the matching; Dulmage and Mendelsohn 1958, as in Pothen and Fan 1990
(https://doi.org/10.1145/98267.98287), for the parts. No recursion: systems may be long chains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tidegate.quick_dataclass import dataclass

__all__ = ["Matching", "Parts", "dulmage_mendelsohn", "maximum_matching"]

_FREE: Final = -1
_FAR: Final = -1

Rows = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Matching:
    """Pairs of rows and columns, each used at most once.

    Parameters
    ----------
    column_of_row : the column matched to each row, -1 where none.
    row_of_column : the row matched to each column, -1 where none.
    """

    column_of_row: tuple[int, ...]
    row_of_column: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of pairs."""
        return sum(column != _FREE for column in self.column_of_row)

    @property
    def is_perfect(self) -> bool:
        """True where every row and every column is matched."""
        return self.size == len(self.column_of_row) == len(self.row_of_column)


@dataclass(frozen=True, slots=True)
class Parts:
    """The coarse decomposition of Dulmage and Mendelsohn.

    Parameters
    ----------
    over_rows, over_columns : more equations than unknowns: these equations compete for too few unknowns.
    under_rows, under_columns : fewer equations than unknowns: these unknowns share too few equations.
    well_rows, well_columns : the part that determines itself.
    """

    over_rows: tuple[int, ...]
    over_columns: tuple[int, ...]
    under_rows: tuple[int, ...]
    under_columns: tuple[int, ...]
    well_rows: tuple[int, ...]
    well_columns: tuple[int, ...]


def _layers(rows: Rows, column_of_row: list[int], row_of_column: list[int]) -> tuple[list[int], bool]:
    """Distance of every row from the free rows along alternating paths, and whether one reaches a free column."""
    distance = [0 if column == _FREE else _FAR for column in column_of_row]
    front = [row for row, column in enumerate(column_of_row) if column == _FREE]
    reached = False
    while front and not reached:
        following: list[int] = []
        for row in front:
            for column in rows[row]:
                partner = row_of_column[column]
                if partner == _FREE:
                    reached = True
                elif distance[partner] == _FAR:
                    distance[partner] = distance[row] + 1
                    following.append(partner)
        front = following
    return distance, reached


def _augment(start: int, rows: Rows, column_of_row: list[int], row_of_column: list[int], distance: list[int], tried: list[int]) -> None:
    """Follow one alternating path through the layers from a free row; swap its pairs if it ends at a free column."""
    path = [start]
    while path:
        row = path[-1]
        if tried[row] == len(rows[row]):
            distance[row] = _FAR
            path.pop()
            continue
        column = rows[row][tried[row]]
        tried[row] += 1
        partner = row_of_column[column]
        if partner == _FREE:
            for member in reversed(path):
                previous = column_of_row[member]
                column_of_row[member], row_of_column[column] = column, member
                column = previous
            return
        if distance[partner] == distance[row] + 1:
            path.append(partner)


def maximum_matching(rows: Rows, n_columns: int) -> Matching:
    """Match as many rows as possible, each to a column of its own.

    Parameters
    ----------
    rows : for each row the columns it may take.
    n_columns : number of columns.

    Examples
    --------
    >>> maximum_matching([[0, 1], [0]], 2).column_of_row
    (1, 0)
    """
    column_of_row = [_FREE] * len(rows)
    row_of_column = [_FREE] * n_columns
    while True:
        distance, reached = _layers(rows, column_of_row, row_of_column)
        if not reached:
            return Matching(tuple(column_of_row), tuple(row_of_column))
        tried = [0] * len(rows)
        for row in range(len(rows)):
            if column_of_row[row] == _FREE:
                _augment(row, rows, column_of_row, row_of_column, distance, tried)


def _reach(neighbours: Rows, partner: Sequence[int], partner_of_neighbour: Sequence[int]) -> tuple[set[int], set[int]]:
    """What alternating paths from the free rows reach, rows and columns; of columns and rows with the roles exchanged."""
    found = {item for item, other in enumerate(partner) if other == _FREE}
    found_neighbours: set[int] = set()
    stack = list(found)
    while stack:
        for neighbour in neighbours[stack.pop()]:
            following = partner_of_neighbour[neighbour]
            found_neighbours.add(neighbour)
            if following not in found:
                found.add(following)
                stack.append(following)
    return found, found_neighbours


def _transposed(rows: Rows, n_columns: int) -> list[list[int]]:
    rows_of: list[list[int]] = [[] for _ in range(n_columns)]
    for row, columns in enumerate(rows):
        for column in columns:
            rows_of[column].append(row)
    return rows_of


def dulmage_mendelsohn(rows: Rows, n_columns: int, matching: Matching | None = None) -> Parts:
    """Divide a system into its over-, under- and well-determined parts; the same for every maximum matching.

    Examples
    --------
    >>> dulmage_mendelsohn([[0], [0], [1, 2]], 3)
    Parts(over_rows=(0, 1), over_columns=(0,), under_rows=(2,), under_columns=(1, 2), well_rows=(), well_columns=())
    """
    matching = matching or maximum_matching(rows, n_columns)
    over_rows, over_columns = _reach(rows, matching.column_of_row, matching.row_of_column)
    under_columns, under_rows = _reach(_transposed(rows, n_columns), matching.row_of_column, matching.column_of_row)
    return Parts(
        tuple(sorted(over_rows)),
        tuple(sorted(over_columns)),
        tuple(sorted(under_rows)),
        tuple(sorted(under_columns)),
        tuple(row for row in range(len(rows)) if row not in over_rows and row not in under_rows),
        tuple(column for column in range(n_columns) if column not in over_columns and column not in under_columns),
    )
