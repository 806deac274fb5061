"""Which unknowns a set of constraints determines (stage: structure). In: a sparse matrix of expressions; out: the columns that are pivots.

Gauss's elimination on expressions, with pivots that are numbers or of parameters alone, so that nothing is divided by what may vanish as long as
anything else is there. What is left has entries that vary; it falls into blocks, each with more columns than rows as far as that goes, whose pivots
somebody has to choose at every instant anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import groupby
from typing import Any, Final

from tidegate.expressions import ZERO, Expr, Role, evaluate
from tidegate.expressions.sparsity import dependencies
from tidegate.quick_dataclass import dataclass

__all__ = ["Block", "Pivots", "find_pivots"]

_NUMBER, _PARAMETERS, _VARYING = range(3)
_ROUNDING: Final = 1e-13  # relative to what was subtracted: less is zero


@dataclass(frozen=True)
class Block:
    """Constraints of which each determines one of some unknowns, and any may turn out to be the wrong one.

    Parameters
    ----------
    rows, columns : numbers, at least as many columns as rows.
    entries : of the reduced matrix; what is not there is zero.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    entries: Mapping[tuple[int, int], Expr]


@dataclass(frozen=True)
class Pivots:
    """What was found.

    Parameters
    ----------
    sure : column -> the row whose pivot it is, which cannot vanish, or which the user insists on.
    demanded : columns with a pivot of parameters, which must not be zero.
    blocks : the others.
    empty : rows of which nothing was left: they say what others say, or contradict them.
    """

    sure: dict[int, int] = field(default_factory=dict[int, int])
    demanded: dict[int, Expr] = field(default_factory=dict[int, Expr])
    blocks: list[Block] = field(default_factory=list[Block])
    empty: list[int] = field(default_factory=list[int])


class _Elimination:
    """The matrix while it is eliminated: rows that have no pivot yet, and for each column who of them has an entry there."""

    def __init__(self, rows: Mapping[int, Mapping[int, Expr]], parameters: Mapping[Expr, float]) -> None:
        self.rows = {row: dict(entries) for row, entries in rows.items()}
        self.holders: dict[int, set[int]] = {}
        for row, entries in self.rows.items():
            for column in entries:
                self.holders.setdefault(column, set()).add(row)
        self._parameters = parameters
        self._kinds: dict[Expr, int] = {}

    def kind(self, entry: Expr) -> int:
        """How far an entry can be relied on."""
        if entry not in self._kinds:
            self._kinds[entry] = self._found_kind(entry)
        return self._kinds[entry]

    def _found_kind(self, entry: Expr) -> int:
        if entry.op == "const":
            return _NUMBER
        if all(item.data.role is Role.PARAMETER for item in dependencies(entry)):
            (value,) = evaluate([entry], self._parameters)
            return _PARAMETERS if abs(value) > 0.0 else _VARYING
        return _VARYING

    def pivot_row(self, column: int, most: int) -> int | None:
        """The row, with the fewest entries, whose entry in the column is of this kind or better."""
        fitting = [row for row in self.holders.get(column, ()) if self.kind(self.rows[row][column]) <= most]
        return min(fitting, key=lambda row: (self.kind(self.rows[row][column]), len(self.rows[row]), row), default=None)

    def eliminate(self, column: int, row: int) -> None:
        """Take the row out, with the column that it determines."""
        entries = self.rows.pop(row)
        for other in entries:
            self.holders[other].discard(row)
        pivot = entries.pop(column)
        for other in self.holders.pop(column, set()):
            mine = self.rows[other]
            factor = mine.pop(column) / pivot
            for j, entry in entries.items():
                new = self._difference(mine.get(j, ZERO), factor * entry)
                if new is ZERO:
                    if mine.pop(j, None) is not None:
                        self.holders[j].discard(other)
                else:
                    mine[j] = new
                    self.holders[j].add(other)

    def _difference(self, a: Expr, b: Expr) -> Expr:
        new = a - b
        if new is ZERO or (self.kind(new) == _VARYING and not self._is_known(new)):
            return new
        first, second, value = evaluate([a, b, new], self._parameters)
        return ZERO if abs(value) <= _ROUNDING * (abs(first) + abs(second)) else new

    def _is_known(self, item: Expr) -> bool:
        return all(symbol.data.role is Role.PARAMETER for symbol in dependencies(item))


def find_pivots(
    rows: Mapping[int, Mapping[int, Expr]], rank: Callable[[int], Any], insisted: Sequence[int], parameters: Mapping[Expr, float]
) -> Pivots:
    """Choose for every row a column that it determines.

    Parameters
    ----------
    rows : entries of every row by column, without those that are zero.
    rank : of a column; the least is taken first, where it can be.
    insisted : columns that have to be determined, even by an entry that may vanish.
    parameters : their values, which tell where an entry of parameters alone is zero.

    Examples
    --------
    >>> from tidegate.expressions import Role, as_expr, symbol
    >>> x, y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")
    >>> found = find_pivots({0: {0: x, 1: y}, 1: {2: as_expr(1.0), 0: x}}, lambda column: column, [], {})
    >>> found.sure, [(block.rows, block.columns) for block in found.blocks]
    ({2: 1}, [((0,), (0, 1))])
    """
    work, found = _Elimination(rows, parameters), Pivots()
    columns = sorted(work.holders, key=lambda column: (rank(column), column))
    for column, most in _turns(columns, rank, set(insisted)):
        row = None if column in found.sure else work.pivot_row(column, most)
        if row is not None:
            pivot = work.rows[row][column]
            if work.kind(pivot) == _PARAMETERS:
                found.demanded[column] = pivot
            work.eliminate(column, row)
            found.sure[column] = row
    found.empty.extend(row for row, entries in work.rows.items() if not entries)
    left = {row: entries for row, entries in work.rows.items() if entries}
    found.blocks.extend(_blocks(left))
    return found


def _turns(columns: Sequence[int], rank: Callable[[int], Any], insisted: set[int]) -> Iterator[tuple[int, int]]:
    """Columns, and of what kind their pivots may be, in the order in which they are tried."""
    wanted = [column for column in columns if column in insisted]
    for most in (_NUMBER, _PARAMETERS, _VARYING):
        yield from ((column, most) for column in wanted)
    for _, several in groupby(columns, key=rank):
        alike = sorted(several, reverse=True)  # who was declared first is determined last
        for most in (_NUMBER, _PARAMETERS):
            yield from ((column, most) for column in alike)


def _blocks(rows: dict[int, dict[int, Expr]]) -> list[Block]:
    """Rows one by one while they have two columns or more that no other row has; then what hangs together."""
    holders: dict[int, set[int]] = {}
    for row, entries in rows.items():
        for column in entries:
            holders.setdefault(column, set()).add(row)
    found: list[Block] = []
    waiting = list(rows)
    left = dict(rows)
    while waiting:
        row = waiting.pop()
        if row not in left:
            continue
        own = [column for column in left[row] if holders.get(column) == {row}]
        if len(own) < 2 and len(own) < sum(column in holders for column in left[row]):
            continue
        found.append(_block([row], own, left))
        entries = left.pop(row)
        for column in own:
            del holders[column]
        for column in entries:
            if column in holders:
                holders[column].discard(row)
                waiting.extend(holders[column])
    while left:
        together, columns = _hanging_together(next(iter(left)), left, holders)
        found.append(_block(together, columns, left))
        for row in together:
            del left[row]
    return found[::-1]


def _hanging_together(first: int, left: Mapping[int, Mapping[int, Expr]], holders: Mapping[int, set[int]]) -> tuple[list[int], list[int]]:
    rows, columns = {first: None}, dict[int, None]()
    stack = [first]
    while stack:
        for column in left[stack.pop()]:
            if column in holders and column not in columns:
                columns[column] = None
                for row in holders[column]:
                    if row in left and row not in rows:
                        rows[row] = None
                        stack.append(row)
    return list(rows), list(columns)


def _block(rows: Sequence[int], columns: Sequence[int], left: Mapping[int, Mapping[int, Expr]]) -> Block:
    rows, columns = sorted(rows), sorted(columns)
    entries = {(row, column): left[row][column] for row in rows for column in columns if column in left[row]}
    return Block(tuple(rows), tuple(columns), entries)
