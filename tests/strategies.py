"""Random expressions for hypothesis: grown like a user's model, from symbols through operators, with sharing."""

from __future__ import annotations

import math
from collections.abc import Callable

from hypothesis import strategies as st

from tidegate.expressions import Expr, Role, as_expr, symbol
from tidegate.expressions import elementary as f

SYMBOLS = [symbol(Role.UNKNOWN, name) for name in ("x", "y", "z")]

Step = Callable[[Expr, Expr, Expr], Expr]

RATIONAL: list[Step] = [
    lambda a, b, c: a + b,
    lambda a, b, c: a - b,
    lambda a, b, c: a * b,
    lambda a, b, c: a / b,
    lambda a, b, c: -a,
    lambda a, b, c: a**2,
    lambda a, b, c: a**3,
    lambda a, b, c: a**-2,
    lambda a, b, c: a**7,
    lambda a, b, c: a * 2.5 - 1,
    lambda a, b, c: 3 - a,
    lambda a, b, c: abs(a),
    lambda a, b, c: f.minimum(a, b),
    lambda a, b, c: f.where(a > b, c, a),
    lambda a, b, c: f.where((a >= b) & ~(c > 1), b, c),
    lambda a, b, c: f.where((a < 0) | (b != c), a, b),
    lambda a, b, c: f.floor(a),
    lambda a, b, c: f.sign(a) * b,
]

SMOOTH: list[Step] = [
    lambda a, b, c: a + b,
    lambda a, b, c: a - b,
    lambda a, b, c: a * f.tanh(b),
    lambda a, b, c: a / (1 + b * b),
    lambda a, b, c: f.sin(a) * f.cos(b),
    lambda a, b, c: f.exp(f.sin(a)),
    lambda a, b, c: f.log(1 + a * a),
    lambda a, b, c: f.sqrt(1 + a * a),
    lambda a, b, c: f.atan2(a, 1 + b * b),
    lambda a, b, c: (1 + a * a) ** f.sin(b),
    lambda a, b, c: f.atan(a) ** 3,
    lambda a, b, c: f.asinh(a) + f.erf(b),
    lambda a, b, c: f.cbrt(2 + f.cos(a)),
    lambda a, b, c: f.tan(f.sin(a)) - f.asin(f.tanh(b) / 2),
    lambda a, b, c: f.acosh(2 + f.sin(a)) * f.atanh(f.cos(b) / 2),
    lambda a, b, c: f.sinh(f.tanh(a)) + f.cosh(f.tanh(b)),
    lambda a, b, c: f.log1p(f.exp(f.tanh(a))) - f.expm1(f.sin(b)),
    lambda a, b, c: f.acos(f.sin(a) / 2),
    lambda a, b, c: f.hypot(a, 1.5) ** 0.5,
]

WILD: list[Step] = [
    *RATIONAL,
    *SMOOTH,
    lambda a, b, c: f.log(a),
    lambda a, b, c: f.sqrt(a),
    lambda a, b, c: f.exp(a),
    lambda a, b, c: f.tan(a),
    lambda a, b, c: f.asin(a),
    lambda a, b, c: a**b,
    lambda a, b, c: a**0.5,
    lambda a, b, c: a**1.7,
    lambda a, b, c: f.atan2(a, b),
    lambda a, b, c: f.interp(a, [-1.0, 0.0, 0.5, 2.0], [0.0, 1.0, -1.0, 3.0]),
]


@st.composite
def graphs(draw: st.DrawFn, steps: list[Step], size: int = 12) -> Expr:
    """An expression of SYMBOLS made with these steps; later steps use earlier results more than once."""
    pool = list(SYMBOLS)
    for _ in range(draw(st.integers(1, size))):
        step = draw(st.sampled_from(steps))
        pool.append(as_expr(step(*(draw(st.sampled_from(pool)) for _ in range(3)))))
    return pool[-1]


def points(low: float = -3.0, high: float = 3.0) -> st.SearchStrategy[dict[Expr, float]]:
    """A value for every symbol; simple numbers, where things meet, are as likely as others."""
    coordinate = st.one_of(st.floats(low, high, allow_nan=False), st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]))
    return st.fixed_dictionaries(dict.fromkeys(SYMBOLS, coordinate))


def same(a: float, b: float) -> bool:
    """Equal to the last bit (the sign of zero apart), or both NaN."""
    return a == b or (math.isnan(a) and math.isnan(b))
