"""What a right side divides by (stage: compiled): expressions that must not come to zero where they matter. In: locked right sides; out: divisors.

A method of error control only sees the points at which it asks. Where a divisor changes its sign between two of them, the right side has a pole in
between, beyond which there is no solution, and nothing of it shows at the points. ``events.poles`` watches these expressions on every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tidegate.expressions import ONE, TRUE, Expr, node, select, walk
from tidegate.expressions.zeros import may_be_zero
from tidegate.structure.continued_roots import root_that_goes_on

__all__ = ["divided_by", "divisors_of", "factors", "where_they_matter"]


def divided_by(item: Expr) -> Iterator[Expr]:
    """Factors of what one operation divides by: of a quotient, of a power while its exponent is negative, of a tangent.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, y = (symbol(Role.UNKNOWN, name) for name in "xy")
    >>> [str(factor) for factor in divided_by(1.0 / (x * (y - 1.0) ** 2))]
    ['x', 'y - 1']
    """
    if item.op == "div":
        yield from factors(item.args[1])
    elif item.op == "pow":
        base, exponent = item.args
        for factor in factors(base):
            divides = exponent < 0.0
            if divides is not ~TRUE:
                yield factor if divides is TRUE else select(divides, factor, ONE)
    elif item.op == "tan":
        yield node("cos", item.args)


def factors(expr: Expr) -> Iterator[Expr]:
    """Expressions of which one is zero where this one is; none where it is a number."""
    waiting, seen = [expr], set[Expr]()  # no recursion: products are long, and squares of squares hold a factor again and again
    while waiting:
        item = waiting.pop()
        if item in seen:
            continue
        seen.add(item)
        if item.op == "mul":
            waiting += reversed(item.args)
        elif item.op in ("neg", "sqrt", "cbrt", "div") or (item.op == "pow" and item.args[1].is_constant and item.args[1].value > 0.0):
            waiting.append(item.args[0])
        elif (root := root_that_goes_on(item)) is not None:
            waiting.append(root)
        elif item.op != "exp" and not item.is_constant:
            yield item


def where_they_matter(roots: Sequence[Expr], activity: Mapping[Expr, Expr], parts: Callable[[Expr], Iterable[Expr]]) -> dict[Expr, Expr]:
    """Of all parts of the nodes below the roots, the condition under which one of these nodes matters.

    Parameters
    ----------
    roots, activity : as of ``divisors_of``.
    parts : of a node, those that are asked for.
    """
    matters: dict[Expr, Expr] = {}
    for item in walk(roots):
        for part in parts(item):
            matters[part] = matters.get(part, ~TRUE) | activity.get(item, TRUE)
    return matters


def divisors_of(roots: Sequence[Expr], activity: Mapping[Expr, Expr], varies: Callable[[Expr], bool]) -> dict[Expr, Expr]:
    """Of every divisor that moves between events and may come to zero, what is to be watched: itself where it matters, else one.

    Parameters
    ----------
    roots : locked right sides.
    activity : of the nodes below them, the condition under which they matter; without one they always do.
    varies : whether a locked expression moves between events.
    """
    matters = where_they_matter(roots, activity, lambda item: filter(varies, divided_by(item)))
    around_zero = may_be_zero(matters)
    return {item: select(condition, item, ONE) for (item, condition), near in zip(matters.items(), around_zero, strict=True) if near}
