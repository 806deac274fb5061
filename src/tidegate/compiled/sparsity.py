"""The sparsity pattern of M and J, and the order in which its systems are eliminated (stage: compiled). Facts for ``linear.sparse``.

Each column is matched to a row, so that what the structure says is regular has a diagonal without zeros (Duff 1981); of the matrix with that diagonal the
minimum degree order of A + A^T is taken, by SuperLU. Whatever pivots numbers may ask for later, L and U have room: George and Ng 1985 bound
their patterns for every choice of rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sparsity", "sparsity_of"]

LEAST_UNKNOWNS: Final = 24  # below that dense systems are solved as fast
MOST_FILL: Final = 0.25  # of all elements, in L and U

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
    room_lower, room_upper : elements of L and U, at most.
    """

    first: IntArray
    row: IntArray
    diagonal: IntArray
    order: IntArray
    preferred: IntArray
    room_lower: int
    room_upper: int

    @property
    def numbers(self) -> dict[tuple[int, int], int]:
        """Number of the element by row and column."""
        columns = np.repeat(np.arange(len(self.diagonal)), np.diff(self.first))
        return {(i, j): k for k, (i, j) in enumerate(zip(self.row.tolist(), columns.tolist(), strict=True))}


def sparsity_of(n: int, jacobian: Iterable[tuple[int, int]], held: NDArray[np.bool_]) -> Sparsity | None:
    """The pattern of a system of n equations; None where dense systems are as good.

    Parameters
    ----------
    jacobian : rows and columns of the elements of J that are not structurally zero.
    held : True for rows with an element of M, on the diagonal.
    """
    if n < LEAST_UNKNOWNS:
        return None
    places = set(jacobian) | {(i, i) for i in range(n)}
    if len(places) > MOST_FILL * n * n:
        return None
    from scipy import sparse  # 50 ms, for large models only

    rows, columns = np.array(sorted(places), dtype=np.int64).T
    matrix: Any = sparse.csc_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    matrix.sort_indices()
    row = matrix.indices.astype(np.int64)
    first = matrix.indptr.astype(np.int64)
    preferred = _matched(matrix, held)
    order = _order(matrix, preferred)
    room_lower, room_upper = _room(first, row, order)
    if room_lower + room_upper > 2 * MOST_FILL * n * n:
        return None
    diagonal = np.flatnonzero(row == np.repeat(np.arange(n), np.diff(first)))
    return Sparsity(first, row, diagonal, order, preferred, room_lower, room_upper)


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
    size = float(np.diff(matched.indptr).max()) + 1.0
    dominant = csc_matrix(matched / size + 2.0 * identity(n))
    permuted = splu(dominant, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}).perm_c
    order = np.empty(n, dtype=np.int64)
    order[permuted] = np.arange(n)
    return order


def _room(first: IntArray, row: IntArray, order: IntArray) -> tuple[int, int]:
    """Elements of L and U for any choice of pivots: rows that could be one at a step all get the union of their patterns."""
    n = len(order)
    step = np.empty(n, dtype=np.int64)
    step[order] = np.arange(n)
    patterns: list[set[int]] = [set() for _ in range(n)]
    columns = np.repeat(np.arange(n), np.diff(first))
    for i, j in zip(row.tolist(), step[columns].tolist(), strict=True):
        patterns[i].add(j)
    # groups of rows with one pattern, by the step at which it begins
    waiting: dict[int, list[tuple[set[int], int]]] = {}
    for pattern in patterns:
        waiting.setdefault(min(pattern), []).append((pattern, 1))
    lower = upper = 0
    for k in range(n):
        groups = waiting.pop(k, [])
        if not groups:
            continue
        union, count = max(groups, key=lambda group: len(group[0]))
        count = sum(size for _, size in groups)
        for pattern, _ in groups:
            if pattern is not union:
                union |= pattern
        union.discard(k)
        lower += count - 1
        upper += len(union)
        if count > 1 and union:
            waiting.setdefault(min(union), []).append((union, count - 1))
    return lower, upper
