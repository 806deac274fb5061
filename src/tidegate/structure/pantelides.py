"""How often each equation has to be differentiated (stage: structure). In: which derivative of which unknown stands where; out: numbers of times.

Pantelides 1988 (https://doi.org/10.1137/0909014): equations that compete for too few highest derivatives are differentiated, and with them the
unknowns that they hold, until every equation has a highest derivative of its own. Searches are iterated, not recursive; they begin from a maximum
matching, so that only equations without a partner are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tidegate.quick_dataclass import dataclass
from tidegate.structure.matching import maximum_matching

__all__ = ["Orders", "differentiations"]

_FREE: Final = -1


@dataclass(frozen=True, slots=True)
class Orders:
    """The result.

    Parameters
    ----------
    equations : how often each equation is differentiated.
    unknowns : of each unknown the order of its highest derivative, then.
    """

    equations: tuple[int, ...]
    unknowns: tuple[int, ...]


class _Search:
    """Equations, and the highest derivatives that they may take, while both grow.

    Parameters
    ----------
    rows : of every equation the columns in it, and the order of the highest derivative of each that stands there.
    highest : order of the highest derivative of every column.
    """

    def __init__(self, rows: Sequence[Mapping[int, int]], highest: Sequence[int]) -> None:
        self.rows = rows
        self.c, self.d = [0] * len(rows), list(highest)
        found = maximum_matching([[j for j, order in row.items() if order == self.d[j]] for row in rows], len(self.d))
        self.column_of_row, self.row_of_column = list(found.column_of_row), list(found.row_of_column)

    def give_partner(self, row: int) -> None:
        """Differentiate until the equation has a highest derivative of its own."""
        while not self._augment(row):
            pass

    def _augment(self, start: int) -> bool:
        came_from: dict[int, int] = {}  # column -> the row that reached it
        reached = [start]
        for row in reached:
            for column, order in self.rows[row].items():
                if column in came_from or order + self.c[row] != self.d[column]:
                    continue
                came_from[column] = row
                if self.row_of_column[column] == _FREE:
                    self._take(column, came_from)
                    return True
                reached.append(self.row_of_column[column])
        for row in reached:
            self.c[row] += 1
        for column in came_from:
            self.d[column] += 1
        return False

    def _take(self, column: int, came_from: Mapping[int, int]) -> None:
        while column != _FREE:
            row = came_from[column]
            self.row_of_column[column], self.column_of_row[row], column = row, column, self.column_of_row[row]


def differentiations(rows: Sequence[Mapping[int, int]], highest: Sequence[int]) -> Orders:
    """Numbers of differentiations by which a system becomes solvable for its highest derivatives.

    Parameters
    ----------
    rows : of every equation the unknowns in it, by number, and the order of the highest derivative of each that stands there. As many as
        unknowns; with any order counted they can be paired off, or there would be no end.
    highest : at least the largest order in which each unknown stands anywhere.

    Examples
    --------
    The pendulum x' = u, y' = v, u' = -x T, v' = -y T - 1, 1 = x^2 + y^2, with the unknowns x, y, u, v, T:

    >>> rows = [{0: 1, 2: 0}, {1: 1, 3: 0}, {2: 1, 0: 0, 4: 0}, {3: 1, 1: 0, 4: 0}, {0: 0, 1: 0}]
    >>> differentiations(rows, [1, 1, 1, 1, 0])
    Orders(equations=(1, 1, 0, 0, 2), unknowns=(2, 2, 1, 1, 0))
    """
    search = _Search(rows, highest)
    for row in [row for row, column in enumerate(search.column_of_row) if column == _FREE]:
        search.give_partner(row)
    return Orders(tuple(search.c), tuple(search.d))
