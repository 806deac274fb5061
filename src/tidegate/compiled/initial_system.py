"""Start values from initial equations (stage: compiled). In: a model with equations that hold at its start only. Out: values, and their derivatives.

All equations of the model, with the initial ones, are solved for derivatives, algebraic unknowns and as many states as there are initial equations,
by a damped Newton method (Deuflhard 2004, Newton Methods for Nonlinear Problems, section 3.1: natural monotonicity) from the declared starts. Which
states these are follows from the structure (``structure/start_unknowns``), and so do start values that must hold and are equations of this kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import InitializationError
from tidegate.expressions import Expr, differentiate, evaluate, jacobian
from tidegate.model import Equation, Model
from tidegate.structure import equation_name
from tidegate.structure.held_starts import HeldStarts
from tidegate.structure.start_unknowns import start_unknowns

__all__ = ["InitialSystem"]

FloatArray = NDArray[np.float64]

_MOST: Final = 100  # iterations
_SHORTEST: Final = 1e-8  # of a Newton step that is damped
_CLOSE: Final = 1e-13  # of a correction beside the size of an unknown
_ROUNDING: Final = 1e-9  # of a correction that does not become smaller
_LARGE: Final = 400  # unknowns: above, the matrix is sparse


class InitialSystem:
    """The equations that hold at the start.

    Parameters
    ----------
    model : of index one.
    held : start values that must hold.

    Raises
    ------
    StructureError : there are more initial equations than start values that they could determine.
    """

    def __init__(self, model: Model, held: HeldStarts | None = None) -> None:
        found = start_unknowns(model, held or HeldStarts())
        self._model, self.held, self.given_way = model, found.held, found.given_way
        self._equations = (*model.equations, *model.initial_equations, *found.held)
        self.unknowns = [*found.determined, *found.initial, *found.given_way]
        self._residuals = [item.residual for item in self._equations]
        self._slopes = jacobian(self._residuals, self.unknowns, past_overflow=True)

    def solve(self, values: Mapping[Expr, float]) -> dict[Expr, float]:
        """Values of the unknowns, from those they are declared with.

        Raises
        ------
        InitializationError : none were found.
        """
        known = {**dict.fromkeys(self.unknowns, 0.0), **values}
        z = np.array([known[item] for item in self.unknowns])
        f, slopes = self._at(known, z)
        for _ in range(_MOST):
            step = self._solved(slopes, -f)
            size = _norm(step, z)
            if not np.isfinite(size):
                break
            if size <= _CLOSE:
                return dict(zip(self.unknowns, (z + step).tolist(), strict=True))
            taken = self._damped(known, z, step, size, slopes)
            if taken is None:
                if size <= _ROUNDING:  # where rounding keeps the next one from being smaller
                    return dict(zip(self.unknowns, (z + step).tolist(), strict=True))
                break
            z, f, slopes = taken
        worst = int(np.argmax(np.abs(np.nan_to_num(f, nan=np.inf))))
        raise InitializationError(
            f"the initial equations of {self._model.name} could not be solved; farthest from holding is {self._named(worst)}",
            origin=self._equations[worst].origin,
            hint="give start values closer to the solution; they are where the search begins",
        )

    def _damped(
        self, known: Mapping[Expr, float], z: FloatArray, step: FloatArray, size: float, slopes: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """The longest part of a Newton step, of halves, after which the next with the same matrix would be shorter; None if there is none."""
        damping = 1.0
        while damping > _SHORTEST:
            new, new_slopes = self._at(known, z + damping * step)
            if np.all(np.isfinite(new)) and _norm(self._solved(slopes, new), z) <= (1.0 - 0.25 * damping) * size:
                return z + damping * step, new, new_slopes
            damping *= 0.5
        return None

    def _named(self, k: int) -> str:
        n = len(self._model.equations)
        return equation_name(self._model, k) if k < n else f"`{_text(self._equations[k])}`"

    def derivatives(
        self, values: Mapping[Expr, float], chosen: Sequence[Mapping[Expr, float]], given: Mapping[Expr, FloatArray]
    ) -> dict[Expr, FloatArray]:
        """Derivatives of the unknowns in directions of parameters, at a solution.

        Parameters
        ----------
        values : of everything.
        chosen : rates of the parameters that move, in each direction.
        given : derivatives of start values that the equations do not determine.
        """
        _, slopes = self._at(values, np.array([values[item] for item in self.unknowns]))
        right = np.zeros((len(self._residuals), len(chosen)))
        for k, direction in enumerate(chosen):
            for parameter, rate in direction.items():
                right[:, k] += rate * np.array(evaluate([differentiate(item, parameter) for item in self._residuals], values))
        own = set(self.unknowns)
        others = [item for item in given if item not in own]
        for (row, column), entry in jacobian(self._residuals, others, past_overflow=True).items():
            right[row] += evaluate([entry], values)[0] * given[others[column]]
        found = np.column_stack([self._solved(slopes, -right[:, k]) for k in range(len(chosen))]) if chosen else np.zeros((len(own), 0))
        return {item: found[k] for k, item in enumerate(self.unknowns)}

    def _at(self, known: Mapping[Expr, float], z: FloatArray) -> tuple[FloatArray, Any]:
        values = {**known, **dict(zip(self.unknowns, z.tolist(), strict=True))}
        numbers = evaluate([*self._residuals, *self._slopes.values()], values)
        n = len(self._residuals)
        return np.array(numbers[:n]), np.array(numbers[n:])

    def _solved(self, slopes: FloatArray, right: FloatArray) -> FloatArray:
        n = len(self._residuals)
        rows, columns = (np.array([place[k] for place in self._slopes], dtype=np.intp) for k in (0, 1))
        if n > _LARGE:
            from scipy.sparse import csc_matrix  # 0.1 s, for large models only
            from scipy.sparse.linalg import splu

            try:
                return np.asarray(splu(csc_matrix((slopes, (rows, columns)), shape=(n, n))).solve(right), dtype=float)
            except RuntimeError:
                return np.full(n, np.nan)
        matrix = np.zeros((n, n))
        matrix[rows, columns] = slopes
        try:
            return np.linalg.solve(matrix, right)
        except np.linalg.LinAlgError:
            return np.full(n, np.nan)


def _text(item: Equation) -> str:
    return item.label or f"{item.left!r} == {item.right!r}"


def _norm(step: FloatArray, z: FloatArray) -> float:
    return float(np.max(np.abs(step) / (np.abs(z) + 1.0), initial=0.0))
