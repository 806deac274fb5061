"""Start values from initial equations (stage: compiled). In: a model with equations that hold at its start only. Out: values, and their derivatives.

All equations of the model, with the initial ones, are solved for derivatives, algebraic unknowns and as many states as there are initial equations,
by a damped Newton method (Deuflhard 2004, Newton Methods for Nonlinear Problems, section 3.1: natural monotonicity) from the declared starts. Which
states these are follows from the structure: a matching of the equations with the unknowns is extended by one state for each initial equation, by one
whose start is a guess where there is one, else by one whose start was not said to be fixed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from tidegate.errors import InitializationError, StructureError
from tidegate.expressions import Expr, Role, differentiate, evaluate, jacobian, symbol
from tidegate.model import Equation, Model, VariableRole
from tidegate.names import listed
from tidegate.structure import equation_name, maximum_matching, smooth_symbols

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
    model : of index one, with initial equations.

    Raises
    ------
    StructureError : there are more initial equations than start values that they could determine.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._equations: tuple[Equation, ...] = (*model.equations, *model.initial_equations)
        states = [(v, item) for v in model.by_role(VariableRole.STATE) for item in v.symbols()]
        rates = [symbol(Role.DERIVATIVE, item.data.name) for _, item in states]
        algebraic = [item for v in model.by_role(VariableRole.ALGEBRAIC) for item in v.symbols()]
        guesses = [item for v, item in states if v.fixed is False]
        others = [item for v, item in states if v.fixed is None]
        columns = [*algebraic, *rates, *guesses, *others]
        number = {item: k for k, item in enumerate(columns)}
        rows = [sorted(number[s] for s in smooth_symbols((item.left, item.right)) if s in number) for item in self._equations]
        n_unknowns, n_guesses = len(algebraic) + len(rates), len(guesses)
        chosen = self._states_for(rows, n_unknowns, n_unknowns + n_guesses)
        self.unknowns = [*columns[:n_unknowns], *(columns[k] for k in chosen)]
        self._residuals = [item.residual for item in self._equations]
        self._slopes = jacobian(self._residuals, self.unknowns)

    def _states_for(self, rows: Sequence[Sequence[int]], n_unknowns: int, n_guessed: int) -> list[int]:
        """Columns of the states that initial equations determine: alternating paths from these rows to columns that are free."""
        n = len(self._model.equations)
        matching = maximum_matching([[k for k in row if k < n_unknowns] for row in rows[:n]], n_unknowns)
        row_of = {column: row for row, column in enumerate(matching.column_of_row) if column >= 0}
        taken: list[int] = []
        for start in range(n, len(rows)):
            end = _augmented(rows, row_of, start, n_guessed) if n_guessed > n_unknowns else None
            if end is None:
                end = _augmented(rows, row_of, start, 1 << 60)
            if end is None:
                raise self._too_many(start - n)
            taken.append(end)
        return taken

    def _too_many(self, k: int) -> StructureError:
        item = self._model.initial_equations[k]
        fixed = [name for v in self._model.by_role(VariableRole.STATE) if v.fixed for name in v.names]
        why = f"; fixed are {listed(fixed)}" if fixed else ""
        return StructureError(
            f"{self._model.name}: no start value is left for the initial equation `{_text(item)}` to determine{why}",
            origin=item.origin,
            hint="leave out one of them, or one fixed=True",
        )

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
        for (row, column), entry in jacobian(self._residuals, others).items():
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


def _augmented(rows: Sequence[Sequence[int]], row_of: dict[int, int], start: int, below: int) -> int | None:
    """One more row matched; the column that it ends with, or None if there is no path to a free column with a number below the limit."""
    came: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        row = waiting.popleft()
        for column in (k for k in rows[row] if k < below and k not in came):
            came[column] = row
            if column not in row_of:
                _turned(row_of, came, start, column)
                return column
            waiting.append(row_of[column])
    return None


def _turned(row_of: dict[int, int], came: Mapping[int, int], start: int, column: int) -> None:
    """The matching with the path that led to a free column turned over."""
    column_of = {row: at for at, row in row_of.items()}
    while True:
        row = came[column]
        row_of[column] = row
        if row == start:
            return
        column = column_of[row]
