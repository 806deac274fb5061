"""One-dimensional tables (stage: expressions): measured points in, a function of numbers, arrays and expressions out.

A linear table is made of ``segment`` and ``lookup`` nodes, so that its corners are located like every other discontinuity. A cubic table is the
not-a-knot spline (de Boor, A Practical Guide to Splines, 1978, chapter IV), twice differentiable, so that its knots need no event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np

from tidegate.dates import refuse_dates
from tidegate.errors import UsageError
from tidegate.expressions.elementwise import elementwise
from tidegate.expressions.ieee_arithmetic import apply, segment_index
from tidegate.expressions.node_data import Spline
from tidegate.expressions.nodes import Expr, as_real, constant, lookup, node, spline
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["Grid", "QuietGrid", "Table", "constant_outside", "table"]


class Grid(tuple[float, ...]):  # noqa: SLOT001 - a tuple's subclass can have no slots with names
    """Where the corners of a table are, and how the user calls it; equal to any other grid with the same corners."""

    name: str  # in a __dict__, since tuples have no slots
    is_quiet: bool = False

    def __new__(cls, x: Iterable[float], name: str = "") -> Self:
        """The corners x of the table ``name``."""
        grid = super().__new__(cls, x)
        grid.name = name
        return grid


class QuietGrid(Grid):
    """A grid whose corners are no events (``no_event``); another than the grid with events, so that both are nodes of their own."""

    is_quiet = True

    def __new__(cls, x: Iterable[float], name: str = "") -> Self:
        """The corners x, by the name they have if they have one."""
        return super().__new__(cls, x, name or getattr(x, "name", ""))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuietGrid) and tuple(self) == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((QuietGrid, tuple(self)))


@dataclass(frozen=True)
class Table:
    """A function of one variable through given points; the end pieces are continued outside of them.

    Parameters
    ----------
    x, y : the points, x strictly increasing.
    kind : ``"linear"`` or ``"cubic"``.
    name : how messages name it.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    kind: Literal["linear", "cubic"] = "linear"
    name: str = "table"

    @cached_property
    def slopes(self) -> tuple[float, ...]:
        """Slope of every linear piece."""
        return tuple((np.diff(self.y) / np.diff(self.x)).tolist())

    @cached_property
    def pieces(self) -> Spline:
        """The cubic pieces."""
        from scipy.interpolate import CubicSpline  # heavy: loads when a cubic table is first used

        return Spline(np.asarray(self.x), np.asarray(CubicSpline(self.x, self.y).c), self.name)

    def __call__(self, x: Any) -> Any:
        """The value at x: a number, an array, or an expression."""
        return elementwise(self._value, x)

    def _value(self, x: Any) -> Any:
        if isinstance(x, Expr):
            return self._expression(x)
        at = float(x)
        if self.kind == "cubic":
            return apply("spline", (at,), self.pieces)
        k = segment_index(at, self.x)
        return self.y[k] + self.slopes[k] * (at - self.x[k])

    def _expression(self, x: Expr) -> Expr:
        if self.kind == "cubic":
            return spline(x, self.pieces)
        k = node("segment", (as_real(x),), Grid(self.x, self.name)) if len(self.x) > 2 else constant(0.0)
        pieces = len(self.slopes)
        return lookup(k, self.y[:pieces]) + lookup(k, self.slopes) * (x - lookup(k, self.x[:pieces]))


def constant_outside(inside: Table) -> Callable[[Any], Any]:
    """A linear table that keeps its first and its last value outside of its points, to the last bit: a relation may compare with them."""
    grid = Grid((inside.x[0] - 1.0, *inside.x, inside.x[-1] + 1.0), inside.name)  # only what lies between the first and the last counts
    values, slopes, places = (inside.y[0], *inside.y), (0.0, *inside.slopes, 0.0), (inside.x[0], *inside.x)

    def value(x: Any) -> Any:
        k = node("segment", (as_real(x),), grid)
        return lookup(k, values) + lookup(k, slopes) * (x - lookup(k, places))

    return value


@explained
def table(
    x: Sequence[float] | np.ndarray,
    y: Sequence[float] | np.ndarray,
    kind: Literal["linear", "cubic"] = "linear",
    name: str = "table",
) -> Table:
    """A function through the points (x, y), for use in a model.

    Parameters
    ----------
    x : where the points are, strictly increasing, at least two.
    y : the values there, as many.
    kind : ``"linear"``, with corners that the simulator locates as events, or ``"cubic"``, a smooth spline.
    name : how messages name the table.

    Raises
    ------
    UsageError
        For points that are too few, not finite, not increasing or of unequal number.

    Examples
    --------
    >>> valve = table([0.0, 1.0, 2.0], [0.0, 10.0, 12.0])
    >>> valve(0.5), valve(3.0)
    (5.0, 14.0)
    """
    xs = _numbers(x, "x", name)
    ys = _numbers(y, "y", name)
    if len(xs) != len(ys):
        raise UsageError(f"table `{name}` has {len(xs)} values of x but {len(ys)} of y", hint="give one y for every x")
    if len(xs) < 2:
        raise UsageError(f"table `{name}` has {len(xs)} point{'s' if len(xs) != 1 else ''}", hint="give at least two points")
    for k, (left, right) in enumerate(pairwise(xs)):
        if not left < right:
            raise UsageError(
                f"x of table `{name}` does not increase: x[{k}] = {left!r}, x[{k + 1}] = {right!r}",
                hint="sort the points by x and drop repeated ones",
            )
    if kind not in ("linear", "cubic"):
        raise UsageError(f"table `{name}` is of unknown kind {kind!r}", hint='use kind="linear" or kind="cubic"')
    return Table(xs, ys, kind, name)


def _numbers(values: Any, axis: str, name: str) -> tuple[float, ...]:
    try:
        refuse_dates(f"{axis} of table `{name}`", values)
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{axis} of table `{name}` are not all numbers", hint="give a plain list of numbers") from error
    if array.ndim != 1:
        raise UsageError(f"{axis} of table `{name}` has {array.ndim} dimensions where 1 was expected", hint="give a flat list of numbers")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        k = int(bad[0])
        raise UsageError(f"{axis}[{k}] of table `{name}` is {array[k]}", hint="give finite numbers only")
    return tuple(array.tolist())
