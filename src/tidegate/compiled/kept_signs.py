"""Unknowns whose sign the equations keep (stage: compiled). In: locked right sides and guards; out: for each guard the unknown whose zero is its own.

If the right side of ``x' = f`` is zero wherever x is, whatever everything else is, and smooth there, then x = 0 is a solution of its own. No other
solution meets it (Picard-Lindeloef): what is above stays above, however small it becomes. A population that dies out, a current that decays, what is
left of a substance are such unknowns, at whatever rate that may vary. A guard that is zero wherever x is has no event there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tidegate.compiled.divisors import divided_by, may_be_zero
from tidegate.expressions import Expr, walk
from tidegate.expressions.nodes import constant
from tidegate.expressions.sparsity import dependencies
from tidegate.expressions.substitute import substitute

__all__ = ["keeps_its_sign", "kept_by"]

# what has a bounded derivative wherever it is finite; divisors and exponents are looked at by themselves
_SMOOTH: Final = frozenset("symbol add sub mul neg div pow select sin cos exp expm1 sinh cosh tanh atan erf".split())


def keeps_its_sign(x: Expr, rate: Expr, varies: Callable[[Expr], bool]) -> bool:
    """True if the locked right side of an unknown vanishes with it, and is smooth there.

    Parameters
    ----------
    varies : whether a locked expression moves between events.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, y = (symbol(Role.UNKNOWN, name) for name in "xy")
    >>> keeps_its_sign(x, -x * (1.0 + y), lambda _: True), keeps_its_sign(x, 0.1 - x, lambda _: True)
    (True, False)
    """
    if x not in dependencies(rate) or not _is_zero(substitute([rate], {x: constant(0.0)})[0]):
        return False
    with_x = {x}
    for item in walk([rate]):
        if not with_x.isdisjoint(item.args):
            with_x.add(item)
            if item.op not in _SMOOTH or not _is_smooth(item, with_x):
                return False
    divisors = [factor for item in walk([rate]) for factor in divided_by(item) if factor in with_x or varies(factor)]
    return not any(may_be_zero(divisors))


def _is_smooth(item: Expr, with_x: set[Expr]) -> bool:
    """Whether an operation of what has x in it is smooth where x is zero, if its divisors are not."""
    if item.op == "select":
        return item.args[0] not in with_x
    if item.op == "pow":
        base, exponent = item.args
        return exponent.is_constant and exponent.value == int(exponent.value) and exponent.value >= 1.0 and base in with_x
    return True


def _is_zero(expr: Expr) -> bool:
    return expr.is_constant and expr.value == 0.0


def kept_by(argument: Expr, unknowns: Sequence[Expr], kept: Callable[[int], bool]) -> int:
    """Number of the unknown with which a locked argument of a relation, a floor or a table vanishes, if its sign is kept; else -1.

    Parameters
    ----------
    kept : whether the sign of the unknown of this number is.
    """
    read = dependencies(argument)
    for index, x in enumerate(unknowns):
        if x in read and _is_zero(substitute([argument], {x: constant(0.0)})[0]) and kept(index):
            return index
    return -1
