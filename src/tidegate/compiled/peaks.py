"""Where a right side may have a narrow peak (stage: compiled). In: locked right sides; out: what is smallest, or largest, at such a peak.

``exp(-u**2)`` and ``1 / (1 + u**2)**4`` rise and fall again within a short time while u goes by, and nothing of it shows at places apart from it.
So what an exponential is taken of, and what is divided by, is looked at inside each step (``events.pulses``) if it may turn round: what only rises
or falls with one variable, as in ``exp(-e / (r * temperature))``, turns round only where that variable does, whose polynomial the method knows.
A high power, ``cos(t)**60``, is an exponential of a logarithm. Two flanks side by side, ``tanh(u + 1) - tanh(u - 1)``, make a peak as well, and so
does ``1 - tanh(u)**2``: each flank is where u comes to zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tidegate.compiled.divisors import divided_by, factors, where_they_matter
from tidegate.compiled.log_sizes import LogSizes, log_size
from tidegate.expressions import ONE, ZERO, Expr, select, walk
from tidegate.expressions.differentiate import jacobian
from tidegate.expressions.interval import bounds
from tidegate.expressions.node_data import OPAQUE
from tidegate.expressions.sparsity import dependencies, is_affine

__all__ = ["flanks", "high_powers", "moves", "turning", "turning_divisors", "turning_exponents"]

_HIGH: Final = 3.0  # squares are so wide that steps see them ...
_HIGH_OF_STATES: Final = 24.0  # ... and of what moves with one unknown only those are so narrow that a step that follows it may pass a peak


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
    found = where_they_matter(roots, activity, _divisors)
    return {item: select(found[item], item, ONE) for item in turning((item for item in found if item not in others), continuous)}


def turning_exponents(roots: Sequence[Expr], activity: Mapping[Expr, Expr], continuous: frozenset[Expr]) -> dict[Expr, Expr]:
    """Of all that an exponential is taken of and that may turn round, the same, with the sign with which it is largest at a peak; else zero.

    Examples
    --------
    >>> from tidegate.expressions import Role, node, symbol
    >>> x, y = (symbol(Role.UNKNOWN, name) for name in "xy")
    >>> found = turning_exponents([node("exp", (-x * x,)) + node("exp", (2.0 * y - 1.0,))], {}, frozenset([x, y]))
    >>> [str(item) for item in found]
    ['-(x*x)']
    """
    divided = _divided(roots)
    found = where_they_matter(roots, activity, lambda item: [part for u in _exponent(item) for part in ((u, -u) if item in divided else (u,))])
    return {item: select(found[item], item, ZERO) for item in turning(found, continuous)}


def high_powers(roots: Sequence[Expr], activity: Mapping[Expr, Expr], continuous: frozenset[Expr]) -> dict[Expr, Expr]:
    """Of all high powers of what moves, and of those of what may turn round whose exponents are not known before the run, their logarithms, likewise.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, y = (symbol(Role.UNKNOWN, name) for name in "xy")
    >>> [str(item) for item in high_powers([(x * y) ** 60.0 + y**2.0], {}, frozenset([x, y]))]
    ['60*log(1e-300 + abs(x*y))']
    """
    powers = _as_powers(roots)
    matters = where_they_matter(roots, activity, lambda item: [item] if powers[item][1] is not ONE else [])
    found: dict[Expr, Expr] = {}
    for item, condition in matters.items():
        base, exponent = powers[item]
        turns = not is_affine(base, continuous)
        is_high = exponent.value >= (_HIGH if turns else _HIGH_OF_STATES) if exponent.is_constant else turns and bool(turning([base], continuous))
        if is_high and moves(base, continuous) and not _is_opaque(item):
            height = exponent * log_size(base)
            found[height] = select(condition, height, ZERO)
    return found


def flanks(roots: Sequence[Expr], activity: Mapping[Expr, Expr], continuous: frozenset[Expr]) -> dict[Expr, Expr]:
    """Of every hyperbolic tangent, and of sums of exponentials that something is divided by, minus the size of what is zero amid its flank, likewise.

    Examples
    --------
    >>> from tidegate.expressions import Role, node, symbol
    >>> t, y = symbol(Role.TIME, "time"), symbol(Role.UNKNOWN, "y")
    >>> found = flanks([node("tanh", (5.0 * y,)), y / (1.0 + node("exp", (3.0 * t,)))], {}, frozenset([t, y]))
    >>> [str(item) for item in found]
    ['-2*abs(5*y)', '-abs(3*time)']
    """
    divided = _divided(roots)
    sizes = LogSizes(divided, continuous)

    def flanks_of(item: Expr) -> list[Expr]:
        if item.op == "tanh" or (item.op in ("cosh", "sinh") and item in divided):
            return [-2.0 * abs(item.args[0])]
        if item.op == "erf":
            return [-(item.args[0] * item.args[0])]
        if item.op in ("add", "sub") and item in divided and any(map(sizes.grows, item.args)):
            steeper, other = sorted(item.args, key=sizes.grows, reverse=True)
            return [-abs(sizes.of(steeper) - sizes.of(other))]
        return []

    found = where_they_matter(roots, activity, flanks_of)
    return {item: select(condition, item, ZERO) for item, condition in found.items() if moves(item, continuous) and not _is_opaque(item)}


def _divided(roots: Sequence[Expr]) -> set[Expr]:
    """All nodes below what something bends with."""
    return set(walk([part for item in walk(roots) for part in _bending(item)]))


def _bending(item: Expr) -> list[Expr]:
    """What a node bends sharply with where that is small: what it divides by, or would if it were differentiated."""
    match item.op:
        case "div":
            return [item.args[1]]
        case "sqrt" | "cbrt" | "log" | "log1p":
            return [item.args[0]]
        case "pow" if not (item.args[1].is_constant and item.args[1].value > 0.0 and item.args[1].value.is_integer()):
            return [item.args[0]]
        case "atan" | "asinh":
            return [1.0 + item.args[0] * item.args[0]]
        case "atan2":
            y, x = item.args
            return [x * x + y * y]
        case _:
            return []


def _as_powers(roots: Sequence[Expr]) -> dict[Expr, tuple[Expr, Expr]]:
    """Of every node below the roots what is raised, and to which power: of ``(x*x)**3`` x and 6."""
    found: dict[Expr, tuple[Expr, Expr]] = {}
    for item in walk(roots):  # no recursion: products are long
        found[item] = item, ONE
        if item.op == "pow":
            base, exponent = found[item.args[0]]
            found[item] = base, exponent * item.args[1]
        elif item.op == "mul":
            (base, exponent), (other, its) = (found[factor] for factor in item.args)
            if base is other:
                found[item] = base, exponent + its
    return found


def moves(item: Expr, continuous: frozenset[Expr]) -> bool:
    """Whether it reads any of these symbols."""
    return any(s in continuous for s in dependencies(item))


def _is_opaque(item: Expr) -> bool:
    """Whether it reads an opaque function, of which nothing is known."""
    return any(part.op in OPAQUE for part in walk([item]))


def _divisors(item: Expr) -> list[Expr]:
    """Factors, and the whole, which may turn round though none of them does."""
    bending = _bending(item)
    return [*divided_by(item), *(part for part in bending if part.op == "mul"), *(factor for part in bending for factor in factors(part))]


def _exponent(item: Expr) -> list[Expr]:
    if item.op in ("exp", "expm1"):
        return [item.args[0]]
    if item.op == "pow" and item.args[0].is_constant and item.args[0].value > 0.0:
        return [item.args[1] if item.args[0].value > 1.0 else -item.args[1]]
    return []


def turning(items: Iterable[Expr], continuous: frozenset[Expr]) -> list[Expr]:
    """Those of which some slope may have either sign."""
    bent = [item for item in items if not is_affine(item, continuous) and not _is_opaque(item)]
    moving = sorted({s for item in bent for s in dependencies(item) if s in continuous}, key=str)
    slopes = jacobian(bent, moving)
    turning = {row for (row, _), (low, high) in zip(slopes, bounds(slopes.values(), {}), strict=True) if low < 0.0 < high}
    return [item for row, item in enumerate(bent) if row in turning]
