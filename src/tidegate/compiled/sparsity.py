"""The sparsity pattern of M and J, and the order in which its systems are eliminated (stage: compiled). Facts for ``linear.sparse``.

Each column is matched to a row, so that what the structure says is regular has a diagonal without zeros (Duff 1981); of the matrix with that
diagonal the minimum degree order of A + A^T is taken, by SuperLU. Pivots beside that diagonal, which numbers may ask for, fill L and U further; they
have room for several times what the diagonal takes.
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
    room : for elements of L, and of U.
    """

    first: IntArray
    row: IntArray
    diagonal: IntArray
    order: IntArray
    preferred: IntArray
    room: int

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
    order, fill = _order(matrix, preferred)
    if fill > MOST_FILL * n * n:
        return None
    diagonal = np.flatnonzero(row == np.repeat(np.arange(n), np.diff(first)))
    return Sparsity(first, row, diagonal, order, preferred, min(_ROOM * fill, n * n) // 2 + n)


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


def _order(matrix: Any, preferred: IntArray) -> tuple[IntArray, int]:
    """Minimum degree order of the matrix with matched rows on its diagonal, and how many elements L and U have with these as pivots."""
    from scipy.sparse import csc_matrix, identity
    from scipy.sparse.linalg import splu

    n = len(preferred)
    matched = csc_matrix(matrix[preferred])
    dominant = csc_matrix(matched + float(n) * identity(n))
    factors = splu(dominant, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    order = np.empty(n, dtype=np.int64)
    order[factors.perm_c] = np.arange(n)
    return order, int(factors.nnz)
