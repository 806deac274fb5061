"""Where a right side may have a narrow peak (stage: compiled). In: locked right sides; out: what is smallest, or largest, at such a peak.

``exp(-u**2)`` and ``1 / (1 + u**2)**4`` rise and fall again within a short time while u goes by, and nothing of it shows at places apart from it.
So what an exponential is taken of, and what is divided by, is looked at inside each step (``events.pulses``) if it may turn round: what only rises
or falls with one variable, as in ``exp(-e / (r * temperature))``, turns round only where that variable does, whose polynomial the method knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tidegate.compiled.divisors import divided_by
from tidegate.expressions import ONE, TRUE, ZERO, Expr, select, walk
from tidegate.expressions.differentiate import jacobian
from tidegate.expressions.interval import bounds
from tidegate.expressions.sparsity import dependencies, is_affine

__all__ = ["turning_divisors", "turning_exponents"]


def turning_divisors(
    roots: Sequence[Expr], activity: Mapping[Expr, Expr], continuous: frozenset[Expr], others: Mapping[Expr, Expr]
) -> dict[Expr, Expr]:  # fmt: skip
    """Of every divisor that may turn round and is not among the others, what is to be watched: itself where it matters, else one.

    Parameters
    ----------
    roots : locked right sides.
    activity : of the nodes below them, the condition under which they matter; without one they always do.
    continuous : symbols that move between events.
    others : divisors that are watched anyhow.
    """
    found = _where_they_matter(roots, activity, divided_by)
    return {item: select(condition, item, ONE) for item, condition in found.items() if item not in others and _may_turn(item, continuous)}


def turning_exponents(roots: Sequence[Expr], activity: Mapping[Expr, Expr], continuous: frozenset[Expr]) -> dict[Expr, Expr]:
    """Of all that an exponential is taken of and that may turn round, the same, with the sign with which it is largest at a peak; else zero.

    Examples
    --------
    >>> from tidegate.expressions import Role, node, symbol
    >>> x, y = (symbol(Role.UNKNOWN, name) for name in "xy")
    >>> found = turning_exponents([node("exp", (-x * x,)) + node("exp", (2.0 * y - 1.0,))], {}, frozenset([x, y]))
    >>> [str(item) for item in found]
    ['-x*x']
    """
    found = _where_they_matter(roots, activity, _exponent)
    return {item: select(condition, item, ZERO) for item, condition in found.items() if _may_turn(item, continuous)}


def _exponent(item: Expr) -> list[Expr]:
    if item.op in ("exp", "expm1"):
        return [item.args[0]]
    if item.op == "pow" and item.args[0].is_constant and item.args[0].value > 0.0:
        return [item.args[1] if item.args[0].value > 1.0 else -item.args[1]]
    return []


def _where_they_matter(roots: Sequence[Expr], activity: Mapping[Expr, Expr], parts: Callable[[Expr], Iterable[Expr]]) -> dict[Expr, Expr]:
    matters: dict[Expr, Expr] = {}
    for item in walk(roots):
        for part in parts(item):
            matters[part] = matters.get(part, ~TRUE) | activity.get(item, TRUE)
    return matters


def _may_turn(item: Expr, continuous: frozenset[Expr]) -> bool:
    """Whether some slope of it may have either sign."""
    if any(part.op in ("call", "output", "slope") for part in walk([item])) or is_affine(item, continuous):
        return False
    moving = [s for s in dependencies(item) if s in continuous]
    return any(low < 0.0 < high for low, high in bounds(jacobian([item], moving).values(), {}))
