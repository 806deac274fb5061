"""Values that equations of a connection determine together: torn inputs, derivatives, algebraic variables. In: residuals; out: x and xd that fit.

Of ``0 = F(t, x, xd)`` what the leading matrix E = dF/dxd sees of x stays as it is; the rest of x, and what E sees of xd, are found by Newton's
method with differences: n unknowns in n equations if the index is 1. Where they are not found, or nothing determines them, the loops are named.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import InitializationError, SingularSystemError
from tidegate.frontends.dsblock.forms import leading_matrix
from tidegate.quick_dataclass import dataclass

__all__ = ["Consistent", "consistent", "determines_nothing", "differences", "is_singular"]

FloatArray = NDArray[np.float64]
_RANK: Final = 1e-6  # singular values below this part of the largest count as zero: differences have some nine digits
_SINGULAR: Final = 1e-8  # of what a loop's values are determined by, likewise
_MAX_ITERATIONS: Final = 50
_MAX_HALVINGS: Final = 12
_CLOSE: Final = 1e-10  # of the last step, relative to the unknowns
_STEP: Final = float(np.cbrt(np.finfo(float).eps))


@dataclass(frozen=True)
class Consistent:
    """x and xd for which the residuals vanish."""

    x: FloatArray
    xd: FloatArray


def differences(function: Callable[[FloatArray], FloatArray], at: FloatArray) -> FloatArray:
    """The Jacobian of a function by central differences."""
    columns: list[FloatArray] = []
    for k in range(len(at)):
        step = _STEP * max(abs(at[k]), 1.0)
        above, below = at.copy(), at.copy()
        above[k], below[k] = at[k] + step, at[k] - step
        columns.append((function(above) - function(below)) / (above[k] - below[k]))
    return np.array(columns).T.reshape(-1, len(at))


def is_singular(matrix: FloatArray) -> bool:
    """Whether ``values - f(values) = 0`` determines its values; ``matrix`` is the Jacobian of the left side, in whatever units.

    What comes out is balanced against what is put in (Parlett and Reinsch 1969), so that units are of no account.
    """
    from scipy.linalg import matrix_balance  # pyright: ignore[reportUnknownVariableType] - its types are incomplete

    if not np.all(np.isfinite(matrix)):
        return True
    unit = np.eye(len(matrix))
    balanced = cast("FloatArray", matrix_balance(unit - matrix, permute=False)[0])
    values = np.linalg.svd(unit - balanced, compute_uv=False)
    return bool(values[-1] <= _SINGULAR * max(values[0], 1.0))


def determines_nothing(matrix: FloatArray) -> bool:
    """Whether equations with this Jacobian leave an unknown open, in whatever units: rows, then columns, are scaled to one."""
    if not np.all(np.isfinite(matrix)):
        return True
    for axis in (1, 0):
        largest = np.max(np.abs(matrix), axis=axis, keepdims=True)
        if not np.all(largest > 0.0):
            return True
        matrix = matrix / largest
    values = np.linalg.svd(matrix, compute_uv=False)
    return bool(values[-1] <= _SINGULAR * values[0])


def consistent(residual: Callable[[FloatArray, FloatArray], FloatArray], x: FloatArray, xd: FloatArray) -> Consistent:
    """x and xd near these that fit.

    Raises
    ------
    SingularSystemError : nothing determines them.
    InitializationError : they were not found.
    """
    leading = leading_matrix(residual, x, xd)
    _, values, rows = np.linalg.svd(leading) if np.all(np.isfinite(leading)) else (None, np.zeros(0), np.eye(len(x)))
    rank = int(np.sum(values > _RANK * max(values, default=0.0)))
    seen, unseen = rows[:rank].T, rows[rank:].T

    def of(unknowns: FloatArray) -> tuple[FloatArray, FloatArray]:
        return x + unseen @ unknowns[rank:], seen @ unknowns[:rank]

    start = np.concatenate([seen.T @ xd, np.zeros(len(x) - rank)])
    found = _newton(lambda unknowns: residual(*of(unknowns)), start)
    return Consistent(*of(found))


def _newton(function: Callable[[FloatArray], FloatArray], at: FloatArray) -> FloatArray:
    """A zero of a function, each step halved until the residual is smaller."""
    value = function(at)
    for _ in range(_MAX_ITERATIONS):
        if not np.any(value):
            return at
        jacobian = differences(function, at)
        if not np.all(np.isfinite(jacobian)):
            raise InitializationError("the equations are not finite")
        try:
            step = np.linalg.solve(jacobian, -value)
        except np.linalg.LinAlgError as error:
            raise SingularSystemError("nothing determines them: the equations are singular") from error
        if np.all(np.abs(step) <= _CLOSE * np.maximum(np.abs(at), 1.0)):
            return at + step
        size = np.linalg.norm(np.linalg.solve(jacobian, value))
        for halving in range(_MAX_HALVINGS):
            trial = at + step * 0.5**halving
            new = function(trial)
            # natural monotonicity (Deuflhard): the next step with the same matrix must be shorter
            if np.all(np.isfinite(new)) and np.linalg.norm(np.linalg.solve(jacobian, new)) < size * (1.0 - 0.25 * 0.5**halving):
                break
        else:
            if np.all(np.abs(step) <= 1e-6 * np.maximum(np.abs(at), 1.0)):
                return at  # rounding of the residuals is all that is left
            raise InitializationError("Newton's method does not get nearer to a solution")
        at, value = trial, new
    raise InitializationError("Newton's method does not come to an end")
