"""Sums of unknowns with numbers as factors (stage: structure): what can be added up without knowing any parameter."""

from __future__ import annotations

from typing import Final

from tidegate.expressions import Expr

__all__ = ["plain_sum"]

_LONGEST: Final = 64  # operations in a sum that may come down to two unknowns when the others are known


def plain_sum(item: Expr) -> tuple[dict[Expr, float], float] | None:
    """The symbols that are added, with their factors, and the number beside them; None for anything else than a sum that is not long.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, y = (symbol(Role.UNKNOWN, name) for name in "xy")
    >>> plain_sum(x - 2.0 * y + 3.0)
    ({x: 1.0, y: -2.0}, 3.0)
    """
    factors: dict[Expr, float] = {}
    number = 0.0
    waiting: list[tuple[Expr, float]] = [(item, 1.0)]
    for _ in range(_LONGEST):
        if not waiting:
            return factors, number
        part, factor = waiting.pop()
        if part.op == "symbol":
            factors[part] = factors.get(part, 0.0) + factor
        elif part.op == "const":
            number += factor * part.value
        elif part.op in ("add", "sub", "neg"):
            signs = (-factor,) if part.op == "neg" else (factor, -factor if part.op == "sub" else factor)
            waiting += reversed(list(zip(part.args, signs, strict=True)))
        elif part.op == "mul" and any(arg.op == "const" for arg in part.args):
            one, other = part.args
            waiting.append((other, factor * one.value) if one.op == "const" else (one, factor * other.value))
        else:
            return None
    return None
