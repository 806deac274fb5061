"""Interval arithmetic (stage: expressions): lower and upper bounds of arguments in, bounds of the result out.

Every rule is a plain function of floats that Numba can compile unchanged; ``bounds`` applies them to a graph. Results are rounded outwards by
more than the error of the operation, so that an interval without a zero proves that there is none (Moore, Interval Analysis, 1966; for
discontinuity functions Park and Barton, ACM TOMACS 6, 1996). Where an argument leaves the domain of a function, the part inside counts; if
nothing is inside, nothing is known, and the bounds are infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.expressions.ieee_arithmetic import MAX_MULTIPLIED_POWER
from tidegate.expressions.nodes import Expr, walk

__all__ = ["ARITHMETIC_ERROR", "LIBRARY_ERROR", "RULES", "BoundsAlong", "bounds"]

Values = Sequence[float] | NDArray[np.float64]

ARITHMETIC_ERROR: Final = 4e-16  # two units in the last place: one for the operation, one for the bound
LIBRARY_ERROR: Final = 2e-15  # C libraries are good to a few units in the last place
_TINY: Final = 1e-300  # covers results below the normal numbers
_MAX: Final = 1.7976931348623157e308
_EXP_OVERFLOW: Final = 709.782712893384
_EXP_UNDERFLOW: Final = -745.2
_LARGE_ANGLE: Final = 1e15  # above it, a float does not know its angle any more
_WHOLE_ABOVE: Final = 4503599627370496.0  # 2**52: every larger float is whole


def down(x: float, error: float) -> float:
    """A number certainly below x; NaN gives minus infinity."""
    if abs(x) <= _MAX:
        return x - (abs(x) * error + _TINY)
    return _MAX if x > 0.0 else -math.inf


def up(x: float, error: float) -> float:
    """A number certainly above x; NaN gives infinity."""
    if abs(x) <= _MAX:
        return x + (abs(x) * error + _TINY)
    return -_MAX if x < 0.0 else math.inf


def add(alo: float, ahi: float, blo: float, bhi: float) -> tuple[float, float]:
    """a + b; an exact zero leaves the other as it is."""
    if alo == 0.0 and ahi == 0.0:
        return blo, bhi
    if blo == 0.0 and bhi == 0.0:
        return alo, ahi
    # a sum that is zero is exactly zero
    lower, upper = alo + blo, ahi + bhi
    return (0.0 if lower == 0.0 else down(lower, ARITHMETIC_ERROR)), (0.0 if upper == 0.0 else up(upper, ARITHMETIC_ERROR))


def sub(alo: float, ahi: float, blo: float, bhi: float) -> tuple[float, float]:
    """a - b."""
    return add(alo, ahi, -bhi, -blo)


def neg(alo: float, ahi: float) -> tuple[float, float]:
    """-a, exactly."""
    return -ahi, -alo


def product(x: float, y: float) -> float:
    """x * y of two bounds, where zero times infinity is zero."""
    return 0.0 if x == 0.0 or y == 0.0 else x * y


def mul(alo: float, ahi: float, blo: float, bhi: float) -> tuple[float, float]:
    """a * b."""
    if (alo == 0.0 and ahi == 0.0) or (blo == 0.0 and bhi == 0.0):
        return 0.0, 0.0
    if not (alo <= ahi and blo <= bhi):
        return -math.inf, math.inf
    p, q, r, s = product(alo, blo), product(alo, bhi), product(ahi, blo), product(ahi, bhi)
    return down(min(p, q, r, s), ARITHMETIC_ERROR), up(max(p, q, r, s), ARITHMETIC_ERROR)


def square(alo: float, ahi: float) -> tuple[float, float]:
    """a * a, which is never negative."""
    return integer_power(alo, ahi, 2)


def div(alo: float, ahi: float, blo: float, bhi: float) -> tuple[float, float]:
    """a / b; unbounded if b may be zero."""
    if not (alo <= ahi and (blo > 0.0 or bhi < 0.0)):
        return -math.inf, math.inf
    if alo == 0.0 and ahi == 0.0:
        return 0.0, 0.0
    p, q, r, s = alo / blo, alo / bhi, ahi / blo, ahi / bhi
    if p != p or q != q or r != r or s != s:
        return -math.inf, math.inf
    return down(min(p, q, r, s), ARITHMETIC_ERROR), up(max(p, q, r, s), ARITHMETIC_ERROR)


def raised(x: float, y: float) -> float:
    """x**y of two bounds, x not negative; infinity where it may overflow."""
    if x == 0.0:
        return 0.0 if y > 0.0 else (1.0 if y == 0.0 else math.inf)
    exponent = y * math.log(x) if y != 0.0 else 0.0
    if exponent > 709.7:
        return math.inf
    return 0.0 if exponent < _EXP_UNDERFLOW else math.pow(x, y)


def multiplied(x: float, n: int) -> float:
    """x**n of a bound, for whole n > 0."""
    if n > MAX_MULTIPLIED_POWER:
        size = raised(abs(x), float(n))
        return -size if x < 0.0 and n % 2 == 1 else size
    result = 1.0
    base = x
    while n > 0:
        if n % 2 == 1:
            result = result * base
        n = n // 2
        if n > 0:
            base = base * base
    return result


def integer_power(alo: float, ahi: float, n: int) -> tuple[float, float]:
    """a**n for whole n."""
    if n == 0:
        return 1.0, 1.0
    if n < 0:
        lower, upper = positive_power(alo, ahi, -n)
        return div(1.0, 1.0, lower, upper)
    return positive_power(alo, ahi, n)


def positive_power(alo: float, ahi: float, n: int) -> tuple[float, float]:
    """a**n for whole n > 0."""
    p, q = multiplied(alo, n), multiplied(ahi, n)
    error = LIBRARY_ERROR + ARITHMETIC_ERROR * min(n, MAX_MULTIPLIED_POWER)
    if n == 2:
        error = ARITHMETIC_ERROR
    if n % 2 == 1:
        return overflow_safe(down(p, error)), up(q, error)
    if alo > 0.0:
        return max(overflow_safe(down(p, error)), 0.0), up(q, error)
    if ahi < 0.0:
        return max(overflow_safe(down(q, error)), 0.0), up(p, error)
    return 0.0, (0.0 if p == 0.0 and q == 0.0 and n == 2 else up(max(p, q), error))


def overflow_safe(lower: float) -> float:
    """A lower bound that holds although ``raised`` calls everything near the overflow infinite."""
    return min(lower, 1e308)


def power(alo: float, ahi: float, blo: float, bhi: float) -> tuple[float, float]:
    """a**b; whole exponents allow negative a."""
    if blo == bhi and abs(blo) < 1e9 and blo == math.floor(blo):
        return integer_power(alo, ahi, int(blo))
    if not (alo <= ahi and blo <= bhi) or ahi < 0.0 or (alo < 0.0 and blo != bhi):
        return -math.inf, math.inf
    x = max(alo, 0.0)
    p, q = raised(x, blo), raised(ahi, blo)
    lower, upper = min(p, q), max(p, q)
    if blo != bhi:
        p, q = raised(x, bhi), raised(ahi, bhi)
        lower, upper = min(lower, p, q), max(upper, p, q)
    # NaN comes from infinity to the power of zero and the like
    if lower != lower or upper != upper:
        return -math.inf, math.inf
    return max(overflow_safe(down(lower, LIBRARY_ERROR)), 0.0), up(upper, LIBRARY_ERROR)


def has_point(lo: float, hi: float, offset: float, period: float) -> bool:
    """True if one of the points ``offset + k * period`` may lie in [lo, hi]."""
    slack = 1e-15 + 1e-15 * (abs(lo) + abs(hi))
    k = math.floor((hi + slack - offset) / period)
    return offset + k * period >= lo - slack


def wave(lo: float, hi: float, at_lo: float, at_hi: float, peak: float) -> tuple[float, float]:
    """Sine or cosine from its values at the ends and the place of one of its maxima."""
    period = 2.0 * math.pi
    lower = -1.0 if has_point(lo, hi, peak + math.pi, period) else max(down(min(at_lo, at_hi), LIBRARY_ERROR), -1.0)
    upper = 1.0 if has_point(lo, hi, peak, period) else min(up(max(at_lo, at_hi), LIBRARY_ERROR), 1.0)
    return lower, upper


def is_angle(lo: float, hi: float) -> bool:
    """True if both bounds are known well enough, and close enough, to say something about their sine."""
    return abs(lo) < _LARGE_ANGLE and abs(hi) < _LARGE_ANGLE and hi - lo < 6.2831853


def sin(lo: float, hi: float) -> tuple[float, float]:
    """Sine, with its extrema inside."""
    return wave(lo, hi, math.sin(lo), math.sin(hi), 0.5 * math.pi) if is_angle(lo, hi) else (-1.0, 1.0)


def cos(lo: float, hi: float) -> tuple[float, float]:
    """Cosine, with its extrema inside."""
    return wave(lo, hi, math.cos(lo), math.cos(hi), 0.0) if is_angle(lo, hi) else (-1.0, 1.0)


def tan(lo: float, hi: float) -> tuple[float, float]:
    """Tangent; unbounded if a pole may lie inside."""
    if not is_angle(lo, hi) or has_point(lo, hi, 0.5 * math.pi, math.pi):
        return -math.inf, math.inf
    return down(math.tan(lo), LIBRARY_ERROR), up(math.tan(hi), LIBRARY_ERROR)


def asin(lo: float, hi: float) -> tuple[float, float]:
    """Inverse sine, rising on [-1, 1]."""
    if not (lo <= 1.0 and hi >= -1.0):
        return -math.inf, math.inf
    return down(math.asin(max(lo, -1.0)), LIBRARY_ERROR), up(math.asin(min(hi, 1.0)), LIBRARY_ERROR)


def acos(lo: float, hi: float) -> tuple[float, float]:
    """Inverse cosine, falling on [-1, 1]."""
    if not (lo <= 1.0 and hi >= -1.0):
        return -math.inf, math.inf
    return max(down(math.acos(min(hi, 1.0)), LIBRARY_ERROR), 0.0), up(math.acos(max(lo, -1.0)), LIBRARY_ERROR)


def atan(lo: float, hi: float) -> tuple[float, float]:
    """Inverse tangent, rising."""
    return down(math.atan(lo), LIBRARY_ERROR), up(math.atan(hi), LIBRARY_ERROR)


def atan2(ylo: float, yhi: float, xlo: float, xhi: float) -> tuple[float, float]:
    """Angle of a point: the corners of the box bound it, unless the box meets the cut along negative x."""
    if not (ylo > 0.0 or yhi < 0.0 or xlo > 0.0) and not (ylo == 0.0 and yhi == 0.0 and xhi < 0.0):
        return -3.1415926535897936, 3.1415926535897936
    p, q, r, s = math.atan2(ylo, xlo), math.atan2(ylo, xhi), math.atan2(yhi, xlo), math.atan2(yhi, xhi)
    return down(min(p, q, r, s), LIBRARY_ERROR), up(max(p, q, r, s), LIBRARY_ERROR)


def exp_of(x: float) -> float:
    """Exponential of a bound, without exceptions."""
    if x > _EXP_OVERFLOW:
        return math.inf
    return 0.0 if x < _EXP_UNDERFLOW else math.exp(x)


def exp(lo: float, hi: float) -> tuple[float, float]:
    """Exponential, rising and never negative."""
    return max(down(exp_of(lo), LIBRARY_ERROR), 0.0), up(exp_of(hi), LIBRARY_ERROR)


def expm1(lo: float, hi: float) -> tuple[float, float]:
    """exp(x) - 1, rising and never below -1."""
    upper = math.inf if hi > _EXP_OVERFLOW else math.expm1(hi)
    lower = math.inf if lo > _EXP_OVERFLOW else math.expm1(lo)
    return max(down(lower, LIBRARY_ERROR), -1.0), up(upper, LIBRARY_ERROR)


def sinh_of(x: float) -> float:
    """Hyperbolic sine of a bound, without exceptions."""
    return math.copysign(math.inf, x) if abs(x) > 710.4758600739439 else math.sinh(x)


def sinh(lo: float, hi: float) -> tuple[float, float]:
    """Hyperbolic sine, rising."""
    return down(sinh_of(lo), LIBRARY_ERROR), up(sinh_of(hi), LIBRARY_ERROR)


def cosh(lo: float, hi: float) -> tuple[float, float]:
    """Hyperbolic cosine, with its minimum at zero."""
    furthest = max(abs(lo), abs(hi))
    nearest = 0.0 if lo <= 0.0 <= hi else min(abs(lo), abs(hi))
    upper = math.inf if furthest > 710.4758600739439 else math.cosh(furthest)
    lower = math.inf if nearest > 710.4758600739439 else math.cosh(nearest)
    return max(down(lower, LIBRARY_ERROR), 1.0), up(upper, LIBRARY_ERROR)


def tanh(lo: float, hi: float) -> tuple[float, float]:
    """Hyperbolic tangent, rising between -1 and 1."""
    return max(down(math.tanh(lo), LIBRARY_ERROR), -1.0), min(up(math.tanh(hi), LIBRARY_ERROR), 1.0)


def asinh(lo: float, hi: float) -> tuple[float, float]:
    """Inverse hyperbolic sine, rising."""
    return down(math.asinh(lo), LIBRARY_ERROR), up(math.asinh(hi), LIBRARY_ERROR)


def acosh(lo: float, hi: float) -> tuple[float, float]:
    """Inverse hyperbolic cosine, rising from 1."""
    if not hi >= 1.0:
        return -math.inf, math.inf
    return max(down(math.acosh(max(lo, 1.0)), LIBRARY_ERROR), 0.0), up(math.acosh(hi), LIBRARY_ERROR)


def atanh(lo: float, hi: float) -> tuple[float, float]:
    """Inverse hyperbolic tangent, rising between its poles at -1 and 1."""
    if not (lo <= 1.0 and hi >= -1.0):
        return -math.inf, math.inf
    lower = -math.inf if lo <= -1.0 else (_MAX if lo >= 1.0 else math.atanh(lo))
    upper = math.inf if hi >= 1.0 else (-_MAX if hi <= -1.0 else math.atanh(hi))
    return down(lower, LIBRARY_ERROR), up(upper, LIBRARY_ERROR)


def log_of(x: float) -> float:
    """Logarithm of a bound, without exceptions."""
    return math.log(x) if x > 0.0 else -math.inf


def log(lo: float, hi: float) -> tuple[float, float]:
    """Natural logarithm, rising."""
    if not hi >= 0.0:
        return -math.inf, math.inf
    return down(log_of(lo), LIBRARY_ERROR), up(log_of(hi), LIBRARY_ERROR)


def log1p(lo: float, hi: float) -> tuple[float, float]:
    """log(1 + x), rising."""
    if not hi >= -1.0:
        return -math.inf, math.inf
    lower = math.log1p(lo) if lo > -1.0 else -math.inf
    upper = math.log1p(hi) if hi > -1.0 else -math.inf
    return down(lower, LIBRARY_ERROR), up(upper, LIBRARY_ERROR)


def sqrt(lo: float, hi: float) -> tuple[float, float]:
    """Square root, rising and never negative."""
    if not hi >= 0.0:
        return -math.inf, math.inf
    return max(down(math.sqrt(max(lo, 0.0)), ARITHMETIC_ERROR), 0.0), up(math.sqrt(hi), ARITHMETIC_ERROR)


def cube_root(x: float) -> float:
    """Cube root of a bound; Numba has none, so a power and one Newton step."""
    if x == 0.0 or abs(x) > _MAX or x != x:
        return x
    size = math.pow(abs(x), 1.0 / 3.0)
    size = size - (size - abs(x) / (size * size)) / 3.0
    return math.copysign(size, x)


def cbrt(lo: float, hi: float) -> tuple[float, float]:
    """Cube root, rising."""
    return down(cube_root(lo), LIBRARY_ERROR), up(cube_root(hi), LIBRARY_ERROR)


def erf(lo: float, hi: float) -> tuple[float, float]:
    """Error function, rising between -1 and 1."""
    return max(down(math.erf(lo), LIBRARY_ERROR), -1.0), min(up(math.erf(hi), LIBRARY_ERROR), 1.0)


def floor_of(x: float) -> float:
    """Largest integer not above a bound, without exceptions."""
    return float(math.floor(x)) if abs(x) < _WHOLE_ABOVE else x


def floor(lo: float, hi: float) -> tuple[float, float]:
    """Largest integer not above, exactly."""
    return floor_of(lo), floor_of(hi)


def ge(lo: float, hi: float) -> tuple[float, float]:
    """g >= 0: certainly (1, 1), certainly not (0, 0), or unknown (0, 1)."""
    return (1.0 if lo >= 0.0 else 0.0), (0.0 if hi < 0.0 else 1.0)


def gt(lo: float, hi: float) -> tuple[float, float]:
    """g > 0: certainly (1, 1), certainly not (0, 0), or unknown (0, 1)."""
    return (1.0 if lo > 0.0 else 0.0), (0.0 if hi <= 0.0 else 1.0)


def nonzero(lo: float, hi: float) -> tuple[float, float]:
    """x != 0: certainly (1, 1), certainly not (0, 0), or unknown (0, 1)."""
    return (1.0 if lo > 0.0 or hi < 0.0 else 0.0), (0.0 if lo == 0.0 and hi == 0.0 else 1.0)


def select(clo: float, chi: float, alo: float, ahi: float, blo: float, bhi: float) -> tuple[float, float]:
    """The arm that the condition chooses; both where it is unknown."""
    if clo > 0.5:
        return alo, ahi
    if chi < 0.5:
        return blo, bhi
    return min(alo, blo), max(ahi, bhi)


def piece_of(x: float, values: Values, first: int, size: int) -> int:
    """Index of the piece of the grid ``values[first : first + size]`` that holds x."""
    low, high = 0, size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if x >= values[first + middle]:
            low = middle
        else:
            high = middle
    return low


def segment(lo: float, hi: float, values: Values, first: int, size: int) -> tuple[float, float]:
    """Index of the piece of a grid, exactly."""
    return float(piece_of(lo, values, first, size)), float(piece_of(hi, values, first, size))


def lookup(lo: float, hi: float, values: Values, first: int, size: int) -> tuple[float, float]:
    """The smallest and largest of the values that the index may choose."""
    start = int(min(max(lo, 0.0), size - 1.0))
    stop = int(min(max(hi, 0.0), size - 1.0))
    lower = upper = values[first + start]
    for k in range(start + 1, stop + 1):
        lower, upper = min(lower, values[first + k]), max(upper, values[first + k])
    return lower, upper


def cubic(c3: float, c2: float, c1: float, c0: float, ulo: float, uhi: float) -> tuple[float, float]:
    """A cubic polynomial on [ulo, uhi]: its ends and the extrema between them."""
    p, q = ((c3 * ulo + c2) * ulo + c1) * ulo + c0, ((c3 * uhi + c2) * uhi + c1) * uhi + c0
    lower, upper = min(p, q), max(p, q)
    furthest = max(abs(ulo), abs(uhi))
    error = LIBRARY_ERROR * (((abs(c3) * furthest + abs(c2)) * furthest + abs(c1)) * furthest + abs(c0)) + _TINY
    # extrema: 3 c3 u^2 + 2 c2 u + c1 = 0, both roots without cancellation
    discriminant = c2 * c2 - 3.0 * c3 * c1
    if discriminant > 0.0:
        stable = -(c2 + math.copysign(math.sqrt(discriminant), c2))
        first = stable / (3.0 * c3) if c3 != 0.0 else ulo
        second = c1 / stable
        for u in (first, second):
            if ulo < u < uhi:
                value = ((c3 * u + c2) * u + c1) * u + c0
                lower, upper = min(lower, value), max(upper, value)
    return lower - error, upper + error


def spline(lo: float, hi: float, values: Values, first: int, size: int) -> tuple[float, float]:
    """A cubic table: its grid at ``first``, behind it four coefficients for every piece."""
    if not (lo > -_MAX and hi < _MAX):
        return -math.inf, math.inf
    start, stop = piece_of(lo, values, first, size), piece_of(hi, values, first, size)
    lower, upper = math.inf, -math.inf
    for k in range(start, stop + 1):
        ulo = (lo if k == start else values[first + k]) - values[first + k]
        uhi = (hi if k == stop else values[first + k + 1]) - values[first + k]
        c = first + size + 4 * k
        below, above = cubic(values[c], values[c + 1], values[c + 2], values[c + 3], ulo, uhi)
        lower, upper = min(lower, below), max(upper, above)
    return lower, upper


def both(alo: float, ahi: float, blo: float, bhi: float) -> tuple[float, float]:
    """a and b."""
    return min(alo, blo), min(ahi, bhi)


def either(alo: float, ahi: float, blo: float, bhi: float) -> tuple[float, float]:
    """a or b."""
    return max(alo, blo), max(ahi, bhi)


def negated(lo: float, hi: float) -> tuple[float, float]:
    """not a."""
    return 1.0 - hi, 1.0 - lo


# Everything that a compiler of the rules needs to know of.
RULES: Final[tuple[Callable[..., object], ...]] = (
    *(down, up, add, sub, neg, product, mul, square, div, raised, multiplied, integer_power, positive_power, overflow_safe, power),
    *(has_point, wave, is_angle, sin, cos, tan, asin, acos, atan, atan2, exp_of, exp, expm1, sinh_of, sinh, cosh, tanh, asinh, acosh, atanh),
    *(log_of, log, log1p, sqrt, cube_root, cbrt, erf, floor_of, floor, ge, gt, nonzero, select, both, either, negated),
    *(piece_of, segment, lookup, cubic, spline),
)

_BY_OPERATION: Final[dict[str, Callable[..., tuple[float, float]]]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "neg": neg,
    "pow": power,
    "select": select,
    "floor": floor,
    "atan2": atan2,
    "ge": ge,
    "gt": gt,
    "nonzero": nonzero,
    "and": both,
    "or": either,
    "not": negated,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "asin": asin,
    "acos": acos,
    "atan": atan,
    "exp": exp,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "sqrt": sqrt,
    "cbrt": cbrt,
    "erf": erf,
}


def bounds(exprs: Iterable[Expr], box: Mapping[Expr, tuple[float, float]]) -> list[tuple[float, float]]:
    """Bounds of expressions while their symbols stay within a box; symbols that are not in it may be anything.

    Conditions are (1, 1) where they certainly hold, (0, 0) where they certainly do not, else (0, 1). Opaque outputs have infinite bounds.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> bounds([x > 1, x < 5], {x: (2.0, 6.0)})
    [(1.0, 1.0), (0.0, 1.0)]
    """
    roots = list(exprs)
    found: dict[Expr, tuple[float, float]] = {item: (float(lo), float(hi)) for item, (lo, hi) in box.items()}
    for item in walk(roots):
        if item not in found:
            found[item] = _rule_of(item)(*(bound for arg in item.args for bound in found[arg]))
    return [found[root] for root in roots]


class BoundsAlong:
    """Bounds of one expression over many ranges of one symbol, while the others stay within a box: what does not move is bounded once.

    Parameters
    ----------
    expr : what is bounded.
    moving : the symbol whose ranges come later.
    box : ranges of the others, as for ``bounds``.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, t = symbol(Role.UNKNOWN, "x"), symbol(Role.TIME, "time")
    >>> along = BoundsAlong(x + t, t, {x: (2.0, 6.0)})
    >>> low, high = along(10.0, 20.0)
    >>> round(low, 9), round(high, 9)
    (12.0, 26.0)
    """

    def __init__(self, expr: Expr, moving: Expr, box: Mapping[Expr, tuple[float, float]]) -> None:
        moved = {moving}
        order: list[Expr] = []
        for item in walk([expr]):
            if item not in moved and item not in box and not moved.isdisjoint(item.args):
                moved.add(item)
                order.append(item)
        still = dict.fromkeys(item for item in (*(arg for item in order for arg in item.args), expr) if item not in moved)
        places = {item: k for k, item in enumerate((moving, *still, *order))}
        nothing_known = (-math.inf, math.inf)
        self._ranges = [nothing_known, *bounds(still, box), *(nothing_known for _ in order)]
        self._steps = [(_rule_of(item), places[item], tuple([places[arg] for arg in item.args])) for item in order]
        self._result = places[expr]

    def __call__(self, low: float, high: float) -> tuple[float, float]:
        """Bounds while the symbol moves from ``low`` to ``high``."""
        ranges = self._ranges
        ranges[0] = low, high
        for rule, place, arguments in self._steps:
            if len(arguments) == 1:
                ranges[place] = rule(*ranges[arguments[0]])
            elif len(arguments) == 2:
                ranges[place] = rule(*ranges[arguments[0]], *ranges[arguments[1]])
            else:
                ranges[place] = rule(*(bound for k in arguments for bound in ranges[k]))
        return ranges[self._result]


def _rule_of(item: Expr) -> Callable[..., tuple[float, float]]:
    """From the bounds of a node's arguments, one after another, to its own."""
    op = item.op
    if item.is_constant:
        value = item.value
        return lambda: (value, value)
    if op == "mul" and item.args[0] is item.args[1]:
        return _square_of_both
    if op in ("segment", "lookup"):
        return partial(segment if op == "segment" else lookup, values=item.data, first=0, size=len(item.data))
    if op == "spline":
        return partial(spline, values=(*item.data.grid.tolist(), *item.data.coefficients.T.ravel().tolist()), first=0, size=len(item.data.grid))
    return _BY_OPERATION.get(op, _anything)


def _square_of_both(low: float, high: float, _low: float, _high: float) -> tuple[float, float]:
    return square(low, high)


def _anything(*_: float) -> tuple[float, float]:
    return -math.inf, math.inf
