"""Which derivatives are no longer derivatives (stage: structure). In: constraints with their orders; out: the unknowns that become algebraic.

Mattsson and Söderlind 1993 (https://doi.org/10.1137/0914043): of the highest derivatives as many become plain unknowns, *dummies*, as equations
were differentiated; of these as many one order lower as equations were differentiated twice, and so on. Which they are is up to the pivots of the
constraints; where every pivot may vanish the choice is left open, and made anew while the model runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import combinations
from math import comb
from typing import Any, Final

import numpy as np

from tidegate.expressions import ONE, ZERO, Expr, evaluate
from tidegate.quick_dataclass import dataclass
from tidegate.structure.pantelides import Orders
from tidegate.structure.pivots import Block, Pivots, find_pivots

__all__ = ["Constraints", "Dummies", "OpenChoice", "choose_dummies"]

_MOST_ALTERNATIVES: Final = 10  # sets of unknowns between which is chosen while the model runs
_MOST_ROWS: Final = 3  # of a determinant written down


@dataclass(frozen=True)
class Constraints:
    """What there is to choose from.

    Parameters
    ----------
    orders : how often each equation is differentiated, and the highest derivative of each unknown.
    slopes : for an equation that is differentiated, by unknown, the derivative of its highest derivative by that of the unknown.
    rank : of an unknown, and the order of a derivative: the least becomes a dummy first.
    may_be_dummy, must_be_dummy : whether it is allowed, or asked for.
    numbers : values of symbols at the start.
    parameters : those of parameters only.
    """

    orders: Orders
    slopes: Mapping[int, Mapping[int, Expr]]
    rank: Callable[[int, int], Any]
    may_be_dummy: Callable[[int, int], bool]
    must_be_dummy: Callable[[int, int], bool]
    numbers: Mapping[Expr, float]
    parameters: Mapping[Expr, float]


@dataclass(frozen=True)
class OpenChoice:
    """Some of these become dummies, which ones is decided at every instant.

    Parameters
    ----------
    columns : unknowns.
    order : of the derivatives that are chosen from, by unknown.
    rows : equations that determine as many of them.
    alternatives : positions in ``columns`` of those that are dummies, for each way to choose.
    sizes : of each way its determinant.
    """

    columns: tuple[int, ...]
    order: Mapping[int, int]
    rows: tuple[int, ...]
    alternatives: tuple[tuple[int, ...], ...]
    sizes: tuple[Expr, ...]


@dataclass(frozen=True)
class Dummies:
    """The choice.

    Parameters
    ----------
    because : (unknown, order of its derivative) -> the equation that determines it.
    open : choices left open, one for every order.
    frozen : blocks in which an entry may vanish and that were chosen once and for all, by unknowns.
    demanded : (unknown, equation that determines it) -> an expression of parameters that must not be zero.
    dependent : equations that say what others say, or contradict them.
    refused : an equation without any unknown that is allowed to be determined by it.
    """

    because: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    open: list[OpenChoice] = field(default_factory=list[OpenChoice])
    frozen: list[tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=list[tuple[tuple[int, ...], tuple[int, ...]]])
    demanded: dict[tuple[int, int], Expr] = field(default_factory=dict[tuple[int, int], Expr])
    dependent: list[int] = field(default_factory=list[int])
    refused: list[int] = field(default_factory=list[int])


def choose_dummies(constraints: Constraints) -> Dummies:
    """Go through the orders from the highest.

    Notes
    -----
    A block that is left open must come out the same one order lower, where its unknowns are differentiated twice; if it does not, it is closed.
    """
    closed: set[tuple[int, ...]] = set()
    while True:
        found, again = _choose(constraints, closed)
        if again is None:
            return found
        closed.add(again)


def _choose(constraints: Constraints, closed: set[tuple[int, ...]]) -> tuple[Dummies, tuple[int, ...] | None]:
    """The choice with some blocks closed; and one more that would have to be."""
    found = Dummies()
    c, d = constraints.orders.equations, constraints.orders.unknowns
    candidates = {j for j, order in enumerate(d) if order}
    before: list[Block] = []
    for stage in range(1, max(c, default=0) + 1):
        going_on = [block for block in before if any(d[j] >= stage for j in block.columns)]
        columns = {j for j in candidates if d[j] >= stage} | {j for block in going_on for j in block.columns if d[j] >= stage}
        pivots = _pivots(constraints, stage, columns, {j for block in going_on for j in block.columns})
        _note_dependent(constraints, stage, pivots, found)
        if found.dependent or found.refused:
            return found, None
        for block in going_on:
            if block not in pivots.blocks:
                return found, block.columns
        candidates, before = set(pivots.sure), []
        found.demanded.update({(j, pivots.sure[j]): pivot for j, pivot in pivots.demanded.items()})
        found.because.update({(j, d[j] - stage + 1): row for j, row in pivots.sure.items()})
        for block in pivots.blocks:
            alternatives = [] if block.columns in closed else _alternatives(block)
            if len(alternatives) > 1:
                before.append(block)
                sizes = tuple(_determinant(block, several) for several in alternatives)
                order = {j: d[j] - stage + 1 for j in block.columns}
                found.open.append(OpenChoice(block.columns, order, block.rows, tuple(alternatives), sizes))
            else:
                taken = _by_numbers(block, constraints.numbers)
                found.frozen.append((block.rows, tuple(taken)))
                candidates |= set(taken)
                found.because.update({(j, d[j] - stage + 1): row for j, row in zip(taken, block.rows, strict=True)})
    return found, None


def _pivots(constraints: Constraints, stage: int, columns: set[int], last: set[int]) -> Pivots:
    d = constraints.orders.unknowns
    order = {j: d[j] - stage + 1 for j in columns}
    allowed = {j for j in columns if constraints.may_be_dummy(j, order[j])}
    rows = {
        row: {j: entry for j, entry in constraints.slopes[row].items() if j in allowed}
        for row, times in enumerate(constraints.orders.equations)
        if times >= stage
    }
    insisted = [j for j in allowed if constraints.must_be_dummy(j, order[j])]
    return find_pivots(rows, lambda j: (j in last, constraints.rank(j, order[j])), insisted, constraints.parameters)


def _note_dependent(constraints: Constraints, stage: int, pivots: Pivots, found: Dummies) -> None:
    """Rows without a pivot: the equations are to blame, or what the user does not allow."""
    short = [row for block in pivots.blocks if len(block.rows) > len(block.columns) for row in block.rows]
    wrong = [*pivots.empty, *short]
    if wrong:
        d = constraints.orders.unknowns
        held = [row for row in wrong if any(not constraints.may_be_dummy(j, d[j] - stage + 1) for j in constraints.slopes[row])]
        (found.refused if held else found.dependent).extend(held or wrong)


def _alternatives(block: Block) -> list[tuple[int, ...]]:
    """Sets of columns whose determinant does not vanish identically, if they are few."""
    m, n = len(block.rows), len(block.columns)
    if m == n or m > _MOST_ROWS or comb(n, m) > _MOST_ALTERNATIVES:
        return []
    return [several for several in combinations(range(n), m) if _determinant(block, several) is not ZERO]


def _determinant(block: Block, several: Sequence[int]) -> Expr:
    return _expanded([[block.entries.get((row, block.columns[k]), ZERO) for k in several] for row in block.rows])


def _expanded(matrix: Sequence[Sequence[Expr]]) -> Expr:
    """Laplace's expansion along the first row."""
    if not matrix:
        return ONE
    total: Expr = ZERO
    for k, entry in enumerate(matrix[0]):
        if entry is not ZERO:
            product = entry * _expanded([[*row[:k], *row[k + 1 :]] for row in matrix[1:]])
            total = total - product if k % 2 else total + product
    return total


def _by_numbers(block: Block, numbers: Mapping[Expr, float]) -> list[int]:
    """The columns that are pivots at the start: for every row, in order, the column it determines."""
    m, n = len(block.rows), len(block.columns)
    matrix = np.zeros((m, n))
    places = [(block.rows.index(row), block.columns.index(column)) for row, column in block.entries]
    with np.errstate(all="ignore"):
        for place, value in zip(places, evaluate(block.entries.values(), numbers), strict=True):
            matrix[place] = value if np.isfinite(value) else 0.0
    taken = dict[int, int]()
    for _ in range(m):
        free = [i for i in range(m) if i not in taken]
        size = np.abs(matrix[free])
        size[:, list(taken.values())] = -1.0
        i, k = divmod(int(np.argmax(size)), n)
        i = free[i]
        taken[i] = k
        if matrix[i, k] != 0.0:
            for other in free:
                if other != i:
                    matrix[other] -= matrix[other, k] / matrix[i, k] * matrix[i]
    return [block.columns[taken[i]] for i in range(m)]
