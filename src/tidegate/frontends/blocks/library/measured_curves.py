"""The function block (front end of blocks): measured points in, a curve through them out.

Interpolation follows CSMP-10(ARL): straight lines, or polynomials through the nearest points; beyond the ends the last piece is continued. Where one
piece follows another is located as an event. The polynomials are those of Newton's divided differences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from tidegate.expressions import Expr, as_expr, as_real, lookup, node
from tidegate.expressions.lookup_tables import Grid, table
from tidegate.frontends.blocks.block import About, Block
from tidegate.frontends.blocks.pen import Pen

__all__ = ["Function"]


class Function(Block):
    """``out = f(x1)``, f given by points.

    Parameters
    ----------
    x, y : the points, x increasing.
    degree : 1 for straight lines; n for polynomials of degree n through n + 1 neighbouring points: as many on each side of x1 for odd n, centred
        on the point nearest to x1 for even n, the last n + 1 near the ends and beyond.
    interpolate : instead of a degree, a function ``interpolate(x1, pairs)`` of expressions, pairs being the list of (x, y).
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Function([0.0, 1.0, 3.0], [0.0, 2.0, 1.0]).points
    [(0.0, 0.0), (1.0, 2.0), (3.0, 1.0)]
    """

    code = "F"

    def __init__(
        self,
        x: Sequence[float] | np.ndarray,
        y: Sequence[float] | np.ndarray,
        degree: int = 1,
        *,
        interpolate: Callable[..., Any] | None = None,
        **about: Unpack[About],
    ) -> None:
        super().__init__(about)
        self.require(degree >= 1 and degree == int(degree), f"degree is {degree!r}", "give an integer, 1 for straight lines")
        self._table = table(x, y, name=self.path)  # checks the points
        self._degree = int(degree)
        self._interpolate = interpolate
        n = len(self._table.x)
        if interpolate is None:
            self.require(n > degree, f"a polynomial of degree {degree} needs {degree + 1} points, and there are {n}")

    @property
    def points(self) -> list[tuple[float, float]]:
        """The points."""
        return list(zip(self._table.x, self._table.y, strict=True))

    @property
    def degree(self) -> int:
        """Of the pieces."""
        return self._degree

    def signals(self, pen: Pen) -> Expr:
        """The value of the curve."""
        x = pen.x()
        if self._interpolate is not None:
            return as_real(pen.follow(self._interpolate, (x, self.points)).value)
        return as_expr(self._table(x)) if self._degree == 1 else self._polynomial(x)

    def _polynomial(self, x: Expr) -> Expr:
        xs, n = np.asarray(self._table.x), self._degree
        last = len(xs) - n - 1  # the first point of the last window
        if n % 2:
            borders, windows = xs[1:-1], [min(max(k - n // 2, 0), last) for k in range(len(xs) - 1)]
        else:
            borders, windows = (xs[1:] + xs[:-1]) / 2, [min(max(k - n // 2, 0), last) for k in range(len(xs))]
        kept = [k for k in range(len(borders)) if windows[k] != windows[k + 1]]
        firsts = [windows[0], *(windows[k + 1] for k in kept)]
        # the ends of a grid count for nothing: its end pieces reach to infinity
        corners = [borders[k] for k in kept]
        grid = Grid([min(xs[0], *corners) - 1.0, *corners, max(xs[-1], *corners) + 1.0], self.path) if corners else None
        piece = as_expr(0.0) if grid is None else node("segment", (as_real(x),), grid)
        coefficients = np.array([_divided_differences(self._table.x[k : k + n + 1], self._table.y[k : k + n + 1]) for k in firsts])
        value = lookup(piece, coefficients[:, n].tolist())
        for j in reversed(range(n)):
            value = lookup(piece, coefficients[:, j].tolist()) + value * (x - lookup(piece, [float(xs[k + j]) for k in firsts]))
        return value


def _divided_differences(x: Sequence[float], y: Sequence[float]) -> list[float]:
    """Coefficients of Newton's form of the polynomial through these points."""
    c = list(y)
    for order in range(1, len(x)):
        for k in reversed(range(order, len(x))):
            c[k] = (c[k] - c[k - 1]) / (x[k] - x[k - order])
    return c
