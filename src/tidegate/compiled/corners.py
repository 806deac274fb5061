"""Equations whose derivatives by parameters bend or have poles where their values are smooth enough for the steps (stage: compiled).

In: right-hand sides. Out: whether the error of sensitivities has to be looked at beside that of values. A relation that makes no event is a corner
inside a step. A root, such as ``sqrt(max(u, 0))``, begins and ends vertically: it is integrated with steps that say nothing of its derivative, which
is one over a root. And a root of what comes to zero and turns round, as ``sqrt(1 - cos(u))`` and ``cbrt(u**2)`` are, bends there
without any event; those of whole squares have one (``structure.jumps_and_bends``).
"""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.compiled.divisors import divided_by, factors
from tidegate.compiled.peaks import moves, turning
from tidegate.expressions import Expr, walk
from tidegate.expressions.interval import bounds
from tidegate.expressions.no_event import is_quiet
from tidegate.expressions.zeros import may_be_zero

__all__ = ["has_bends", "has_corners"]


def has_corners(rates: Iterable[Expr], continuous: frozenset[Expr]) -> bool:
    """Whether there is a relation that makes no event, or a root of what may come to zero.

    Parameters
    ----------
    rates : locked right sides.
    continuous : symbols that move between events.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> from tidegate.expressions.elementary import sqrt
    >>> u = symbol(Role.UNKNOWN, "u")
    >>> [has_corners([root], frozenset([u])) for root in (sqrt(u), sqrt(1.0 + u * u), u)]
    [True, False, False]
    """
    items = list(walk(rates))
    return any(map(is_quiet, items)) or any(may_be_zero(end for end in _ends(items) if moves(end, continuous)))


def has_bends(rates: Iterable[Expr], continuous: frozenset[Expr]) -> bool:
    """Whether there is a root of what may turn round at zero; then there are corners too. Parameters are those of ``has_corners``.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> from tidegate.expressions.elementary import sqrt
    >>> u = symbol(Role.UNKNOWN, "u")
    >>> roots = [sqrt(u), sqrt(1.0 + u * u), 1.0 / sqrt(u * u), sqrt(u * u)]
    >>> [has_bends([root], frozenset([u])) for root in roots]
    [False, False, False, True]
    """
    items = list(walk(rates))
    divided = {part for item in items for part in divided_by(item)}
    return any(may_be_zero(end for end in turning(_ends(items), continuous) if divided.isdisjoint(factors(end))))


def _is_sum_of_sizes(item: Expr) -> bool:
    """Whether two things would have to be zero at the same time, as in ``x**2 + y**2``, which they are not but by chance."""
    return item.op == "add" and not any(arg.is_constant for arg in item.args) and all(low >= 0.0 for low, _ in bounds(list(item.args), {}))


def _ends(items: Iterable[Expr]) -> set[Expr]:
    """What nodes are infinitely steep with where that is zero, or nearly so, but for what is zero by chance only."""
    nodes = list(items)
    divisors = set(walk([item.args[1] for item in nodes if item.op == "div"]))
    powers = {item.args[0] for item in divisors if item.op == "pow" and _is_broken(item.args[1])}  # of ``u**3 / u**2.5`` half a power is left
    return {end for end in (*powers, *(end for item in nodes for end in _ends_of(item))) if not _is_sum_of_sizes(end)}


def _ends_of(item: Expr) -> list[Expr]:
    (first, *_) = item.args or (item,)
    if item.op in ("sqrt", "cbrt") or (item.op == "pow" and _is_broken(item.args[1]) and 0.0 < item.args[1].value < 2.0):
        return [first]
    return [(1.0 - first) * (1.0 + first)] if item.op in ("asin", "acos") else []


def _is_broken(exponent: Expr) -> bool:
    return exponent.is_constant and not exponent.value.is_integer()
