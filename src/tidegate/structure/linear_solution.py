"""Equations solved for unknowns that enter linearly (stage: structure). In: residuals and symbols; out: expressions, and what they are divided by.

What is divided by is a number that is not zero, or is made of parameters and can be looked at before a run; nothing else is divided by.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.expressions import ONE, ZERO, Expr, Role, as_real, differentiate, evaluate, walk
from tidegate.expressions.evaluate_many import Values, evaluate_many
from tidegate.expressions.node_data import OPAQUE
from tidegate.expressions.substitute import substitute
from tidegate.model import Equation
from tidegate.quick_dataclass import dataclass

__all__ = ["LARGEST", "Solution", "VanishingError", "are_rounding", "hidden_symbols", "is_rounding", "solved", "solved_together"]

LARGEST: Final = 3  # unknowns that are solved for together
_ROUNDING: Final = 1e-14  # of the terms that it is the sum of: what is less is zero
_LOCKED: Final = frozenset({"floor", "segment", "lookup"})


class VanishingError(Exception):
    """Equations do not determine their unknowns."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Values of unknowns that were solved for, and what they were divided by."""

    values: tuple[Expr, ...]
    divisor: Expr


def hidden_symbols(roots: Iterable[Expr]) -> set[Expr]:
    """The symbols that conditions, ``floor`` and table look-ups in these expressions read: what stands there cannot be solved for."""
    below = [item for item in walk(roots) if item.is_boolean or item.op in _LOCKED]
    return {item for item in walk(below) if item.op == "symbol"}


def _may_divide(divisor: Expr, avoided: Collection[Expr]) -> bool:
    if divisor.op == "const":
        return divisor.value != 0.0 and math.isfinite(divisor.value)
    if divisor in avoided or -divisor in avoided:
        return False
    return all(item.data.role is Role.PARAMETER if item.op == "symbol" else item.op not in OPAQUE for item in walk([divisor]))


def solved(equation: Equation, unknown: Expr, avoided: Collection[Expr]) -> Solution | None:
    """An equation solved for an unknown that stands in it linearly, in terms of the others; None where it cannot be.

    Parameters
    ----------
    avoided : what must not be divided by.
    """
    for one, other in ((equation.left, equation.right), (equation.right, equation.left)):
        if one is unknown and all(item is not unknown for item in walk([other])):
            return Solution((other,), ONE)
    residual = equation.residual
    factor = differentiate(residual, unknown)
    if not _may_divide(factor, avoided) or unknown in hidden_symbols([residual]):
        return None
    if factor.is_constant and abs(factor.value) <= _ROUNDING * _size_of_factor(residual, unknown):
        return None  # nothing but rounding
    (rest,) = substitute([residual], {unknown: ZERO})
    return _quotients([-rest], factor)


def _quotients(numerators: Sequence[Expr], divisor: Expr) -> Solution:
    """Values, without signs that cancel."""
    if divisor.op == "neg" or (divisor.is_constant and divisor.value < 0.0):
        return _quotients([-item for item in numerators], -divisor)
    return Solution(tuple(item / divisor for item in numerators), ONE if divisor.is_constant else divisor)


def _size_of_factor(item: Expr, unknown: Expr) -> float:
    """What the absolute values of the factors of an unknown in a sum add up to; zero where this is no plain sum."""
    total = 0.0
    waiting = [(item, 1.0)]
    while waiting:
        part, size = waiting.pop()
        if part is unknown:
            total += size
        elif part.op in ("add", "sub", "neg"):
            waiting += [(arg, size) for arg in part.args]
        elif part.op in ("mul", "div") and part.args[1].is_constant:
            factor = abs(part.args[1].value)
            waiting.append((part.args[0], size * factor if part.op == "mul" else size / factor if factor else 0.0))
        elif part.op == "mul" and part.args[0].is_constant:
            waiting.append((part.args[1], size * abs(part.args[0].value)))
    return total


def is_rounding(divisor: Expr, values: Mapping[Expr, float]) -> bool:
    """Whether an expression of parameters is zero, or no more than the rounding of what it is made of, or not finite."""
    order = list(walk([divisor]))
    size = _sizes(order, evaluate([as_real(part) for part in order], values))[divisor]
    (value,) = evaluate([divisor], values)
    return not (math.isfinite(value) and abs(value) > _ROUNDING * size)


def are_rounding(divisor: Expr, values: Mapping[Expr, Values]) -> NDArray[np.bool_]:
    """The same of an arithmetic expression at many points."""
    order = list(walk([divisor]))
    with np.errstate(all="ignore"):  # infinity times zero is NaN, of which nothing is known, and so says the last line
        size = _sizes(order, evaluate_many([as_real(part) for part in order], values))[divisor]
    (value,) = evaluate_many([divisor], values)
    return ~(np.isfinite(value) & (np.abs(value) > _ROUNDING * size))


def _sizes(order: Sequence[Expr], values: Sequence[Any]) -> dict[Expr, Any]:
    """Of each part the sum of the sizes of the terms that it is made of."""
    sizes: dict[Expr, Any] = {}
    for part, value in zip(order, values, strict=True):
        sizes[part] = abs(value)
        if part.op in ("add", "sub"):
            sizes[part] = sizes[part.args[0]] + sizes[part.args[1]]
        elif part.op == "mul":
            sizes[part] = sizes[part.args[0]] * sizes[part.args[1]]
        elif part.op == "neg":
            sizes[part] = sizes[part.args[0]]
    return sizes


def solved_together(residuals: Sequence[Expr], unknowns: Sequence[Expr], avoided: Collection[Expr]) -> Solution | None:
    """As many unknowns as residuals, by Cramer's rule; None if one does not enter linearly or what would be divided by is not known before a run.

    Raises
    ------
    VanishingError : what would be divided by is zero, or no more than rounding, or is to be avoided.
    """
    n = len(unknowns)
    if n > LARGEST or hidden_symbols(residuals) & set(unknowns):
        return None
    rows = [[differentiate(residual, unknown) for unknown in unknowns] for residual in residuals]
    wanted = set(unknowns)
    if any(item in wanted for item in walk([entry for row in rows for entry in row])):
        return None
    divisor = _determinant(rows)
    if divisor.is_constant and abs(divisor.value) <= _ROUNDING * _size_of_determinant(residuals, unknowns):
        raise VanishingError
    if not _may_divide(divisor, avoided):
        if divisor in avoided or -divisor in avoided:
            raise VanishingError
        return None
    rest = [-item for item in substitute(residuals, dict.fromkeys(unknowns, ZERO))]
    values = [_determinant([[*row[:k], right, *row[k + 1 :]] for row, right in zip(rows, rest, strict=True)]) for k in range(n)]
    return _quotients(values, divisor)


def _size_of_determinant(residuals: Sequence[Expr], unknowns: Sequence[Expr]) -> float:
    """What the absolute values of its terms add up to, where they are numbers."""
    sizes = np.array([[_size_of_factor(residual, unknown) for unknown in unknowns] for residual in residuals])
    return float(sum(np.prod([sizes[k, column] for k, column in enumerate(order)]) for order in permutations(range(len(unknowns)))))


def _determinant(rows: Sequence[Sequence[Expr]]) -> Expr:
    if len(rows) == 1:
        return rows[0][0]
    found = ZERO
    for k, entry in enumerate(rows[0]):
        if entry is not ZERO:
            minor = entry * _determinant([[*row[:k], *row[k + 1 :]] for row in rows[1:]])
            found = found - minor if k % 2 else found + minor
    return found
