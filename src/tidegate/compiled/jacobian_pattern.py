"""The sparsity pattern of M and J, and the order in which its systems are eliminated (stage: compiled). Facts for ``linear.sparse``.

Without algebraic equations, pivots are those of the diagonal; of small models in the order of Markowitz (The elimination form of the inverse, 1957).
Otherwise each column is matched to a row, so that what the structure says is regular has a diagonal without zeros (Duff 1981); of the matrix with
that diagonal the minimum degree order of A + A^T is taken, by SuperLU. Where there are algebraic equations, pivots of that diagonal may vanish, as
those of coordinates do between which is chosen while the model runs: there the order is COLAMD's, which is good for every choice of pivots, unless it
fills L and U much more. Pivots that numbers ask for besides have room for several times what the structure takes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.quick_dataclass import dataclass

__all__ = ["Sparsity", "sparsity_of"]

LEAST_UNKNOWNS: Final = 10  # below that dense systems are solved as fast
LEAST_WITH_ALGEBRAIC: Final = 24  # the same where SciPy has to be loaded
MOST_FILL: Final = 0.5  # of all elements, in L and U
_MANY: Final = 100  # unknowns of which SciPy finds the order sooner
_ROOM: Final = 4
_MUCH: Final = 2.0  # times the elements that a matched diagonal would give
_SMALLEST: Final = 0.5  # of arbitrary elements of size one
_HELD: Final = 10.0  # what M makes larger

IntArray = NDArray[np.int64]
Columns = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Sparsity:
    """Where M and J may have elements other than zero.

    An algebraic equation stands in the row of an unknown with which it may have nothing to do, and has no element on the diagonal for that: it would
    tie the two together, and L and U of a model without long ties would be full.

    Parameters
    ----------
    first : where each column begins among the elements, and where the last one ends.
    row : of every element.
    diagonal : number of the element on the diagonal of every column; where there is none, and M is zero, of any other.
    order : columns as they are eliminated.
    preferred : row that is matched to each column.
    lower, upper : rows of each column of L and U below and above the diagonal, by the steps at which rows and columns are eliminated.
    room : for elements of L, and of U.
    """

    first: IntArray
    row: IntArray
    diagonal: IntArray
    order: IntArray
    preferred: IntArray
    lower: Columns
    upper: Columns
    room: int

    @cached_property
    def facts(self) -> dict[str, IntArray]:
        """What the memory of a run holds of it, by the names of ``compiled.schema``."""
        n = len(self.order)
        steps = np.empty(n, dtype=np.int64)
        steps[self.preferred[self.order]] = np.arange(n)
        alike = np.arange(n, dtype=np.int64)
        for k in range(n - 2, -1, -1):
            if self.lower[k] == (k + 1, *self.lower[k + 1]):
                alike[k] = alike[k + 1]
        return {
            "column_first": self.first,
            "entry_row": self.row,
            "diagonal": self.diagonal,
            "column_order": self.order,
            "preferred_row": self.preferred,
            "row_step": steps,
            "last_alike": alike,
            "lower_first": _beginnings(self.lower),
            "lower_row": np.fromiter(chain.from_iterable(self.lower), np.int64),
            "upper_first": _beginnings(self.upper),
            "upper_row": np.fromiter(chain.from_iterable(self.upper), np.int64),
        }

    @property
    def numbers(self) -> dict[tuple[int, int], int]:
        """Number of the element by row and column."""
        columns = np.repeat(np.arange(len(self.diagonal)), np.diff(self.first))
        return {(i, j): k for k, (i, j) in enumerate(zip(self.row.tolist(), columns.tolist(), strict=True))}

    def columns_of(self, values: NDArray[np.float64], chosen: IntArray) -> NDArray[np.float64]:
        """Some columns of the matrix whose elements have these values, as a dense one."""
        full = np.zeros((len(self.diagonal), len(chosen)))
        for k, j in enumerate(chosen.tolist()):
            part = slice(int(self.first[j]), int(self.first[j + 1]))
            full[self.row[part], k] = values[part]
        return full


def sparsity_of(n: int, jacobian: Iterable[tuple[int, int]], held: NDArray[np.bool_]) -> Sparsity | None:
    """The pattern of a system of n equations; None where dense systems are as good.

    Parameters
    ----------
    jacobian : rows and columns of the elements of J that are not structurally zero.
    held : True for rows with an element of M, on the diagonal.
    """
    has_algebraic = not held.all()
    if n < (LEAST_WITH_ALGEBRAIC if has_algebraic else LEAST_UNKNOWNS):
        return None
    entries = set(jacobian) | {(i, i) for i in np.flatnonzero(held).tolist()}
    # where nothing is, as in a system that has no solution, something has to stand
    entries |= {(j, j) for j in set(range(n)) - {j for _, j in entries}}
    if len(entries) > MOST_FILL * n * n:
        return None
    first, row = _by_columns(n, entries)
    plan = _plan_by_scipy(first, row, held) if has_algebraic or n >= _MANY else _plan_without_algebraic(n, entries)
    fill = plan.fill
    if fill > MOST_FILL * n * n:
        return None
    diagonal = first[:-1].copy()
    is_diagonal = np.flatnonzero(row == np.repeat(np.arange(n), np.diff(first)))
    diagonal[row[is_diagonal]] = is_diagonal
    return Sparsity(first, row, diagonal, plan.order, plan.preferred, plan.lower, plan.upper, min(_ROOM * fill, n * n) // 2 + n)


def _by_columns(n: int, entries: Iterable[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    """Where each column begins, and the rows of all elements."""
    columns, rows = np.array(sorted((j, i) for i, j in entries), dtype=np.int64).T
    return np.searchsorted(columns, np.arange(n + 1)), rows.copy()


@dataclass(frozen=True, eq=False)
class _Plan:
    """An order of elimination, the rows preferred as pivots, and the pattern of L and U that follows."""

    order: IntArray
    preferred: IntArray
    lower: Columns
    upper: Columns

    @property
    def fill(self) -> int:
        """Elements of L and U."""
        return len(self.order) + sum(map(len, self.lower)) + sum(map(len, self.upper))


def _plan_without_algebraic(n: int, entries: Iterable[tuple[int, int]]) -> _Plan:
    """Pivots on the diagonal, in the order of Markowitz (1957): next is the one whose row and column have the fewest pairs of elements beside it.

    Of several the one that waits for the fewest before it: what does not depend on each other is computed at once by the processor.
    """
    rows: list[set[int]] = [set() for _ in range(n)]
    columns: list[set[int]] = [set() for _ in range(n)]
    for i, j in entries:
        if i != j:
            rows[i].add(j)
            columns[j].add(i)
    left, order, before = set(range(n)), np.empty(n, dtype=np.int64), [0] * n
    for k in range(n):
        pivot = min(left, key=lambda q: (len(rows[q]) * len(columns[q]), before[q], q))
        order[k] = pivot
        left.remove(pivot)
        for i in columns[pivot]:
            rows[i] |= rows[pivot]
            rows[i] -= {i, pivot}
        for j in rows[pivot]:
            columns[j] |= columns[pivot]
            columns[j] -= {j, pivot}
        for q in columns[pivot] | rows[pivot]:
            before[q] = max(before[q], before[pivot] + 1)
    steps = np.empty(n, dtype=np.int64)
    steps[order] = np.arange(n)
    return _Plan(order, np.arange(n, dtype=np.int64), *_fill(*_by_columns(n, ((int(steps[i]), int(steps[j])) for i, j in entries))))


def _plan_by_scipy(first: IntArray, row: IntArray, held: NDArray[np.bool_]) -> _Plan:
    from scipy import sparse  # 50 ms, for large models only

    n = len(held)
    matrix: Any = sparse.csc_matrix((np.ones(len(row)), row, first), shape=(n, n))
    plan = _matched_plan(matrix, held)
    if held.all():
        return plan
    # which pivots an algebraic equation gives depends on the values: an order is better for which every choice does
    free = _free_plan(matrix, held)
    return free if free is not None and free.fill <= _MUCH * plan.fill else plan


def _plan(matrix: Any, order: IntArray, preferred: IntArray) -> _Plan:
    ordered = matrix[preferred[order]][:, order].tocsc()
    return _Plan(order, preferred, *_fill(ordered.indptr, ordered.indices))


def _matched_plan(matrix: Any, held: NDArray[np.bool_]) -> _Plan:
    preferred = _matched(matrix, held)
    return _plan(matrix, _order(matrix, preferred), preferred)


def _free_plan(matrix: Any, held: NDArray[np.bool_]) -> _Plan | None:
    """The order of columns in which no choice of pivots fills much (COLAMD, Davis et al. 2004), with the rows that arbitrary values prefer.

    None where the structure is singular: SuperLU, on the way to say so, may end the process.
    """
    from scipy.sparse import csc_matrix, diags
    from scipy.sparse.csgraph import maximum_bipartite_matching
    from scipy.sparse.linalg import splu

    n = len(held)
    if (maximum_bipartite_matching(matrix.tocsr(), perm_type="row") < 0).any():
        return None
    generator = np.random.default_rng(1)  # arbitrary, and the same in every run
    values = matrix.copy()
    values.data = generator.uniform(_SMALLEST, 1.0, size=values.nnz) * generator.choice([-1.0, 1.0], size=values.nnz)
    try:
        factors = splu(csc_matrix(values + diags(np.where(held, _HELD, 0.0))), permc_spec="COLAMD", options={"Equil": False})
    except RuntimeError:  # singular, by a chance that nobody will see
        return None
    order, rows = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    order[factors.perm_c] = np.arange(n)
    rows[factors.perm_r] = np.arange(n)
    preferred = np.empty(n, dtype=np.int64)
    preferred[order] = rows
    return _plan(matrix, order, preferred)


def _matched(matrix: Any, held: NDArray[np.bool_]) -> IntArray:
    """For every column a row: rows that M holds keep their own, algebraic equations are matched to what is left."""
    from scipy.sparse.csgraph import maximum_bipartite_matching

    preferred = np.arange(len(held), dtype=np.int64)
    algebraic = np.flatnonzero(~held)
    if algebraic.size:
        block = matrix[algebraic][:, algebraic].tocsr()
        found = maximum_bipartite_matching(block, perm_type="row")  # row by column, -1 where there is none
        if (found >= 0).all():
            preferred[algebraic] = algebraic[found]
    return preferred


def _order(matrix: Any, preferred: IntArray) -> IntArray:
    """Minimum degree order of the matrix with matched rows on its diagonal."""
    from scipy.sparse import csc_matrix, identity
    from scipy.sparse.linalg import splu

    n = len(preferred)
    matched = csc_matrix(matrix[preferred])
    dominant = csc_matrix(matched + float(n) * identity(n))
    permuted = splu(dominant, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}).perm_c
    order = np.empty(n, dtype=np.int64)
    order[permuted] = np.arange(n)
    return order


def _fill(beginnings: IntArray, rows_of_columns: IntArray) -> tuple[Columns, Columns]:
    """Rows of the columns of L and of U, with pivots on the diagonal.

    A column has the rows that the graph of L reaches from those of the matrix (Gilbert and Peierls 1988); of an older column only rows up to the
    first one that stands in U too have to be looked at (Eisenstat and Liu 1992).
    """
    first, row = beginnings.tolist(), rows_of_columns.tolist()
    n = len(first) - 1
    lower: list[tuple[int, ...]] = []
    upper: list[tuple[int, ...]] = []
    looked_at: list[tuple[int, ...]] = []
    is_short = [False] * n
    for k in range(n):
        found = set(row[first[k] : first[k + 1]])
        waiting = [i for i in found if i < k]
        while waiting:
            new = [i for i in looked_at[waiting.pop()] if i not in found]
            found.update(new)
            waiting += [i for i in new if i < k]
        rows = sorted(found | {k})
        here = bisect_left(rows, k)
        upper.append(tuple(rows[:here]))
        lower.append(tuple(rows[here + 1 :]))
        looked_at.append(lower[k])
        for s in upper[k]:
            if not is_short[s]:
                end = bisect_left(lower[s], k)
                if end < len(lower[s]) and lower[s][end] == k:
                    looked_at[s] = lower[s][: end + 1]
                    is_short[s] = True
    return tuple(lower), tuple(upper)


def _beginnings(columns: Sequence[Sequence[int]]) -> IntArray:
    return np.concatenate([[0], np.cumsum([len(column) for column in columns], dtype=np.int64)])
