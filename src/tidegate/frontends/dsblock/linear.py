"""Linear systems as blocks: ``x' = A x + B u``, ``y = C x + D u`` (DSblock 3.3 names such a ready-made block, LS)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.declaration import Declaration
from tidegate.frontends.dsblock.interface import DSblock
from tidegate.wrong_calls import explained

__all__ = ["LinearBlock", "linear"]

FloatArray = NDArray[np.float64]


class LinearBlock(DSblock):
    """See ``linear``."""

    def __init__(self, matrices: tuple[FloatArray, FloatArray, FloatArray, FloatArray], x0: FloatArray, name: str) -> None:
        self.a, self.b, self.c, self.d = matrices
        self.x0, self.name = x0, name

    def define(self, declare: Declaration) -> None:
        """X, U and Y, each an array, where there are any."""
        if self.a.shape[0]:
            declare.state("X", start=self.x0)
        if self.b.shape[1]:
            declare.input("U", shape=(self.b.shape[1],))
        if self.c.shape[0]:
            declare.output("Y", shape=(self.c.shape[0],))
            declare.outputs_depend_on(bool(np.any(self.d)))

    def derivatives(self, _t: float, x: Any, u: Any, _p: Any, _m: Any) -> Any:
        """A x + B u."""
        found = self.a @ x.X
        return {"X": found + self.b @ u.U if self.b.shape[1] else found}

    def outputs(self, _t: float, x: Any, u: Any, _p: Any, _m: Any) -> Any:
        """C x + D u."""
        own = self.c @ x.X if self.a.shape[0] else 0.0
        return {"Y": own + self.d @ u.U if self.b.shape[1] else own}


@explained
def linear(A: ArrayLike, B: ArrayLike, C: ArrayLike, D: ArrayLike | None = None, *, x0: ArrayLike = 0.0, name: str = "linear") -> LinearBlock:
    """The block ``X' = A X + B U``, ``Y = C X + D U``.

    Parameters
    ----------
    A, B, C, D : matrices of n by n, n by n_u, n_y by n, n_y by n_u numbers; D is zero if it is left out.
    x0 : start values.

    Raises
    ------
    UsageError : their shapes do not fit.

    Examples
    --------
    >>> import tidegate as tg
    >>> lag = tg.dsblock.linear([[-2.0]], [[2.0]], [[1.0]])
    >>> result = tg.simulate(lag, (0, 1), inputs={"U": 1.0}, rtol=1e-8)
    >>> print(f"{result.final['Y[0]']:.6f}")
    0.864665
    """
    a, b, c = (np.atleast_2d(np.asarray(matrix, dtype=float)) for matrix in (A, B, C))
    d = np.zeros((c.shape[0], b.shape[1])) if D is None else np.atleast_2d(np.asarray(D, dtype=float))
    n, n_u, n_y = a.shape[0], b.shape[1], c.shape[0]
    wanted = {"A": (a, (n, n)), "B": (b, (n, n_u)), "C": (c, (n_y, n)), "D": (d, (n_y, n_u))}
    wrong = [f"{letter} is {matrix.shape[0]} by {matrix.shape[1]}, not {rows} by {columns}"
             for letter, (matrix, (rows, columns)) in wanted.items() if matrix.shape != (rows, columns)]  # fmt: skip
    if wrong:
        raise UsageError(f"the matrices of {name} do not fit: {'; '.join(wrong)}", hint="A n by n, B n by n_u, C n_y by n, D n_y by n_u")
    return LinearBlock((a, b, c, d), np.broadcast_to(np.asarray(x0, dtype=float), (n,)).copy(), name)
