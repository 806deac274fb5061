"""The equations of an HDAE from its five functions (front end of plain functions): each knows of which part it is.

In: functions, unknowns, and how functions are followed. Out: equations, and how many there are of F1 ... F5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidegate.errors import UsageError
from tidegate.expressions import ZERO, Role, symbol
from tidegate.expressions.tracing import Trace, function_origin
from tidegate.frontends.equations.quantities import FunctionQuantities
from tidegate.frontends.equations.returned import Returned
from tidegate.model import Equation

__all__ = ["part_equations"]


def part_equations(
    functions: tuple[Callable[..., Any] | None, ...], starts: tuple[FunctionQuantities, ...], follow: Callable[[Callable[..., Any]], Trace]
) -> tuple[list[Equation], tuple[int, ...]]:
    """Equations of all parts.

    Parameters
    ----------
    functions : f1 ... f5; None for one that is not there.
    starts : x1, x2 and x3.

    Raises
    ------
    UsageError : a part does not return as many values as there are unknowns that it determines, or more than it may.
    """
    equations: list[Equation] = []
    sizes: list[int] = []
    for k, function in enumerate(functions, 1):
        before = len(equations)
        if function is not None:
            origin = function_origin(function)
            returned = Returned(follow(function), f"f{k}", origin)
            if k == 1:
                values, places = returned.by_elements(starts[0])
                left = [symbol(Role.DERIVATIVE, name) for name in starts[0].elements]
                labels = [f"der({name})" for name in starts[0].elements]
            else:
                values, places = returned.residuals()
                left = [ZERO] * len(values)
                labels = [f"f{k}" if len(values) == 1 else f"f{k}[{i}]" for i in range(len(values))]
            equations += [Equation(*one, part=k) for one in zip(left, values, places, labels, strict=True)]
        sizes.append(len(equations) - before)
    _check_sizes(sizes, starts, functions)
    return equations, tuple(sizes)


def _check_sizes(sizes: list[int], starts: tuple[FunctionQuantities, ...], functions: tuple[Callable[..., Any] | None, ...]) -> None:
    _, _, n3, n4, n5 = sizes
    for k, start in enumerate(starts):
        if sizes[k] != len(start.elements):
            function = functions[k]
            raise UsageError(
                f"f{k + 1} returns {sizes[k]} values, but x{k + 1} has {len(start.elements)}",
                origin=None if function is None else function_origin(function),
                hint=f"f{k + 1} determines x{k + 1}",
            )
    if n4 not in (0, n3):
        raise UsageError(f"f4 returns {n4} values, and f3 {n3}", hint="f3 is the derivative of f4: as many, or no f4 at all")
    if n5 > n4 > 0:
        raise UsageError(f"f5 returns {n5} values, and f4 {n4}", hint="f4 holds the derivatives of f5, and constraints of speeds alone")
