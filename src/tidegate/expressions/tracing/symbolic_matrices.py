"""`np.linalg.solve`, `inv` and `det` of matrices of expressions (stage: tracing the user's Python). In: arrays; out: arrays of expressions.

Up to three rows by cofactors (Cramer 1750), which need no pivots. Above, Gaussian elimination, in which every column's largest element comes to the
pivot's row by comparisons at each evaluation, as LAPACK does it (Golub and Van Loan, Matrix Computations, section 3.4). The solution does not
depend on which row that is, so that these comparisons are no events.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from tidegate.errors import UntraceableError
from tidegate.expressions.no_event import without_own_event
from tidegate.expressions.nodes import as_expr, select
from tidegate.expressions.tracing.value_kinds import is_array

__all__ = ["determinant", "inverse", "solution"]

_MOST: Final = 16  # rows: the expressions grow with the third power
_BY_COFACTORS: Final = 3

Rows = list[list[Any]]


def solution(a: Any, b: Any) -> Any:
    """x of ``a x = b`` for one right side or, in columns, several."""
    rows, right = _square("solve", a), np.asarray(b, dtype=object)
    if right.ndim not in (1, 2) or right.shape[0] != len(rows):
        raise np.linalg.LinAlgError(f"np.linalg.solve of a {len(rows)} by {len(rows)} matrix and a right side of shape {right.shape}")
    columns = right.reshape(len(rows), -1)
    found: Any = np.array(_solved(rows, columns.tolist()), dtype=object)
    return found.reshape(right.shape)


def inverse(a: Any) -> Any:
    """The matrix that undoes ``a``."""
    rows = _square("inv", a)
    return np.array(_solved(rows, np.eye(len(rows)).tolist()), dtype=object)


def determinant(a: Any) -> Any:
    """Zero for a singular matrix."""
    rows = _square("det", a)
    if len(rows) <= _BY_COFACTORS:
        return _small_determinant(rows)
    pivots = [row[k] for k, row in enumerate(_eliminated(rows, [[] for _ in rows]))]
    return prod(pivots)


def _square(name: str, a: Any) -> Rows:
    array: Any = a if is_array(a) else np.array(a, dtype=object)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not 0 < array.shape[0] <= _MOST:
        raise UntraceableError(
            f"np.linalg.{name} of symbols with shape {array.shape} cannot be followed; square matrices of up to {_MOST} rows can",
            hint="write the equations as residuals with tg.dae, or mark the function with tg.opaque",
        )
    return array.tolist()


def _solved(rows: Rows, right: Rows) -> Rows:
    n = len(rows)
    if n <= _BY_COFACTORS:
        whole = _small_determinant(rows)
        adjugate = [[_cofactor(rows, j, i) for j in range(n)] for i in range(n)]
        return [[sum(adjugate[i][j] * right[j][k] for j in range(n)) / whole for k in range(len(right[0]))] for i in range(n)]
    rows = _eliminated(rows, right)
    found: Rows = [[] for _ in rows]
    for i in reversed(range(n)):
        known = [sum(rows[i][j] * found[j][k] for j in range(i + 1, n)) for k in range(len(right[0]))]
        found[i] = [(rows[i][n + k] - known[k]) / rows[i][i] for k in range(len(right[0]))]
    return found


def _small_determinant(rows: Rows) -> Any:
    if len(rows) == 1:
        return rows[0][0]
    return sum(rows[0][j] * _cofactor(rows, 0, j) for j in range(len(rows)))


def _cofactor(rows: Rows, i: int, j: int) -> Any:
    if len(rows) == 1:
        return 1.0
    minor = _small_determinant([row[:j] + row[j + 1 :] for k, row in enumerate(rows) if k != i])
    return minor if (i + j) % 2 == 0 else -minor


def _eliminated(rows: Rows, right: Rows) -> Rows:
    """Rows with their right sides, zero below the diagonal (what stands there is not looked at).

    Every exchange turns two rows by a right angle, so that the determinant stays, and all pivots but the last are positive: none changes its sign
    unless the matrix becomes singular, and a divisor that does is a pole.
    """
    work = [[*row, *more] for row, more in zip(rows, right, strict=True)]
    for k in range(len(rows)):
        for i in range(k + 1, len(rows)):
            upper, lower = work[k], work[i]
            turned = _turn(upper[k], lower[k])
            pairs = [turned(above, below) for above, below in zip(upper[k:], lower[k:], strict=True)]
            work[k] = [*upper[:k], *(above for above, _ in pairs)]
            work[i] = [*lower[:k], *(below for _, below in pairs)]
        for i in range(k + 1, len(rows)):
            factor = work[i][k] / work[k][k]
            work[i] = [*work[i][: k + 1], *(own - factor * above for above, own in zip(work[k][k + 1 :], work[i][k + 1 :], strict=True))]
    return work


def _turn(upper: Any, lower: Any) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Two rows, of which the first elements are given, as they are after the larger one of these has come up, and is positive."""
    above, below = as_expr(upper), as_expr(lower)
    exchanged = without_own_event(below * below > above * above)
    is_positive = without_own_event(select(exchanged, below, above) >= 0.0)

    def turned(first: Any, second: Any) -> tuple[Any, Any]:
        pair = select(exchanged, second, first), select(exchanged, -as_expr(first), second)
        up, down = (select(is_positive, item, -item) for item in pair)
        return up, down

    return turned
