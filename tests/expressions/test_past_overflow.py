"""What stays finite where exponentials in it are infinite has the derivative of its limit there.

The truth are differences of the same formulas with 200 digits, for which no exponential is too large (mpmath).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import pytest

from tidegate.expressions import ONE, ZERO, Expr, Role, evaluate, jacobian, node, symbol, tangent

X, Y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")


class Functions(NamedTuple):
    """Those of expressions, or of numbers with many digits."""

    exp: Callable[[Any], Any]
    expm1: Callable[[Any], Any]
    cosh: Callable[[Any], Any]
    sinh: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    tanh: Callable[[Any], Any]
    atan: Callable[[Any], Any]
    erf: Callable[[Any], Any]


SYMBOLIC = Functions(*((lambda u, name=name: node(name, (u,))) for name in Functions._fields))
PRECISE = Functions(*(getattr(mpmath, name) for name in Functions._fields))._replace(
    exp=lambda u: mpmath.exp(u) if abs(u) < 1e9 else mpmath.mpf(0) if u < 0 else mpmath.inf
)


def steep(f: Functions, x: Any, y: Any, depth: int, chosen: random.Random) -> Any:
    """Sums, products and powers of exponentials that may be infinite."""
    rate = chosen.choice((-1.0, 1.0)) * 10.0 ** chosen.uniform(0.0, 3.6)
    grown = chosen.choice((f.exp, f.expm1, f.cosh))(rate * (x + chosen.uniform(-0.5, 0.5) * y))
    if depth == 0:
        return grown
    first, second = steep(f, x, y, depth - 1, chosen), steep(f, x, y, depth - 1, chosen)
    return chosen.choice(
        (
            lambda: first + second,
            lambda: first * second,
            lambda: 1.0 + y * y + first,
            lambda: f.sqrt(3.0 + first**2),
            lambda: 1.7 * first,
            lambda: (2.0 + first) ** 2,
            lambda: (2.0 + first) ** 1.5,
        )
    )()


def formula(seed: int) -> Callable[[Functions, Any, Any], Any]:
    """Something finite with such in it, of two variables."""

    def of(f: Functions, x: Any, y: Any) -> Any:
        chosen = random.Random(seed)
        kind = chosen.randrange(8)
        if kind == 0:
            whole = 2.5 + f.sinh(10.0 ** chosen.uniform(0.0, 3.6) * x)
        elif kind == 1:
            whole = steep(f, x, y, 0, chosen) - steep(f, x, y, 0, chosen)
        else:
            whole = 2.5 + steep(f, x, y, chosen.randint(0, 2), chosen)
        return chosen.choice(
            (
                lambda: y / whole,
                lambda: (x + y) * whole**-1.5,
                lambda: f.exp(-whole),
                lambda: f.tanh(whole),
                lambda: f.atan(whole),
                lambda: f.erf(whole) + 1.0 / whole,
            )
        )()

    return of


def wrong(seed: int) -> str:
    """What is wrong with the derivatives of one formula at a place; "" for nothing."""
    of, chosen = formula(seed), random.Random(f"at {seed}")
    at = {X: chosen.uniform(-2.0, 2.0), Y: chosen.uniform(-2.0, 2.0)}
    given = of(SYMBOLIC, X, Y)
    with mpmath.workdps(200):
        x, y = mpmath.mpf(at[X]), mpmath.mpf(at[Y])
        try:
            value = of(PRECISE, x, y)
        except ZeroDivisionError:
            return ""
        step = mpmath.mpf(10) ** -60
        slopes = [
            (of(PRECISE, x + step, y) - of(PRECISE, x - step, y)) / (2 * step),
            (of(PRECISE, x, y + step) - of(PRECISE, x, y - step)) / (2 * step),
        ]
        if isinstance(value, mpmath.mpc):
            return ""  # a root of something negative
        expected = [float(slope) for slope in slopes]
    if not math.isfinite(float(value)) or evaluate([given], at) != pytest.approx([float(value)], rel=1e-9, abs=1e-90):
        return ""  # the formula itself is infinite, or infinity by infinity
    entries = jacobian([given], [X, Y], past_overflow=True)
    moves = [tangent([given], {item: ONE}, past_overflow=True)[0] for item in (X, Y)]
    for found in (evaluate([entries.get((0, k), ZERO) for k in (0, 1)], at), evaluate(moves, at)):
        if found != pytest.approx(expected, rel=1e-8, abs=1e-9):
            return f"{seed}: {found} for {expected} of {given} at {at}"
    return ""


@pytest.mark.slow
def test_what_stays_finite_past_an_overflow_has_the_derivatives_of_its_limit() -> None:
    assert not [said for seed in range(600) if (said := wrong(seed))]


@pytest.mark.slow
def test_a_sum_of_many_exponentials_and_squares_of_squares_are_no_deeper_than_they_are_long() -> None:
    whole: Expr = ONE
    for k in range(2000):
        whole = whole + node("exp", (X * (0.5 + 1e-4 * k),))
    squared = node("cosh", (X,))
    for _ in range(40):
        squared = squared * squared
    slopes = tangent([1.0 / whole, 1.0 / (2.0 + squared)], {X: ONE}, past_overflow=True)
    assert evaluate(slopes, {X: 3000.0}) == [0.0, 0.0]
