"""The sparsity pattern of M and J, and the order in which its systems are eliminated (stage: compiled). Facts for ``linear.sparse``.

Each column is matched to a row, so that what the structure says is regular has a diagonal without zeros (Duff 1981); of the matrix with that
diagonal the minimum degree order of A + A^T is taken, by SuperLU. Pivots beside that diagonal, which numbers may ask for, fill L and U further; they
have room for several times what the diagonal takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sparsity", "sparsity_of"]

LEAST_UNKNOWNS: Final = 24  # below that dense systems are solved as fast
MOST_FILL: Final = 0.25  # of all elements, in L and U
_ROOM: Final = 4

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sparsity:
    """Where M and J may have elements other than zero, diagonal included.

    Parameters
    ----------
    first : where each column begins among the elements, and where the last one ends.
    row : of every element.
    diagonal : number of the element on the diagonal of every column.
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
    lower: tuple[tuple[int, ...], ...]
    upper: tuple[tuple[int, ...], ...]
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
    if n < LEAST_UNKNOWNS:
        return None
    entries = set(jacobian) | {(i, i) for i in range(n)}
    if len(entries) > MOST_FILL * n * n:
        return None
    from scipy import sparse  # 50 ms, for large models only

    rows, columns = np.array(sorted(entries), dtype=np.int64).T
    matrix: Any = sparse.csc_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    matrix.sort_indices()
    row = matrix.indices.astype(np.int64)
    first = matrix.indptr.astype(np.int64)
    preferred = _matched(matrix, held)
    order = _order(matrix, preferred)
    lower, upper = _fill(matrix[preferred][order][:, order])
    fill = n + 2 * sum(map(len, lower))
    if fill > MOST_FILL * n * n:
        return None
    diagonal = np.flatnonzero(row == np.repeat(np.arange(n), np.diff(first)))
    return Sparsity(first, row, diagonal, order, preferred, lower, upper, min(_ROOM * fill, n * n) // 2 + n)


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


def _fill(ordered: Any) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """Rows of the columns of L and U with pivots on the diagonal, as if the pattern were symmetric (elimination tree, Liu 1990)."""
    n = ordered.shape[0]
    rows, columns = (ordered + ordered.T).nonzero()
    below: list[set[int]] = [set() for _ in range(n)]
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        if i > j:
            below[j].add(i)
    upper: list[list[int]] = [[] for _ in range(n)]
    lower: list[tuple[int, ...]] = []
    for k, pattern in enumerate(below):
        column = tuple(sorted(pattern))
        lower.append(column)
        for i in column:
            upper[i].append(k)
        if column:
            below[column[0]].update(column[1:])
        pattern.clear()
    return tuple(lower), tuple(map(tuple, upper))


def _beginnings(columns: Sequence[Sequence[int]]) -> IntArray:
    return np.concatenate([[0], np.cumsum([len(column) for column in columns], dtype=np.int64)])
