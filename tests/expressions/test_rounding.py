"""Bounds of rounding inside expressions hold against eleven more bits, and are not much larger than what rounding makes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tidegate.expressions import ZERO, Expr, Role, evaluate, node, select, symbol
from tidegate.expressions.rounding import roundings

X = symbol(Role.UNKNOWN, "x")
P = symbol(Role.PARAMETER, "p")
LONG = np.longdouble  # eleven bits more than a double where this suite runs
Exact = Callable[[Any, Any], Any]


def drawn(draw: random.Random, depth: int) -> tuple[Expr, Exact]:
    """An expression of x and p, and the same in more digits."""
    if depth == 0:
        kind = draw.randrange(3)
        if kind == 2:
            number = draw.uniform(-3.0, 3.0) * 10.0 ** draw.randint(0, 5)
            return X + number, lambda x, p: x + LONG(number)
        return (X, lambda x, p: x) if kind == 0 else (P, lambda x, p: p)
    kind = draw.choice(["add", "sub", "mul", "div", "sin", "exp", "sqrt", "atan", "square", "tanh"])
    a, exact_a = drawn(draw, depth - 1)
    if kind in ("add", "sub", "mul"):
        b, exact_b = drawn(draw, depth - 1)
        if kind == "mul":
            return a * b, lambda x, p: exact_a(x, p) * exact_b(x, p)
        return (a + b, lambda x, p: exact_a(x, p) + exact_b(x, p)) if kind == "add" else (a - b, lambda x, p: exact_a(x, p) - exact_b(x, p))
    if kind == "div":
        b, exact_b = drawn(draw, depth - 1)
        return a / (1.5 + b * b), lambda x, p: exact_a(x, p) / (1.5 + exact_b(x, p) ** 2)
    if kind == "square":
        return a**2, lambda x, p: exact_a(x, p) ** 2
    if kind == "exp":
        inner = node("sin", (a,))
        return node("exp", (inner,)), lambda x, p: np.exp(np.sin(exact_a(x, p)))
    if kind == "sqrt":
        return node("sqrt", (2.0 + a * a,)), lambda x, p: np.sqrt(2 + exact_a(x, p) ** 2)
    return node(kind, (a,)), lambda x, p: getattr(np, {"atan": "arctan"}.get(kind, kind))(exact_a(x, p))


@pytest.mark.skipif(np.finfo(LONG).eps > 1e-18, reason="no longer numbers here")
@pytest.mark.parametrize("seed", range(200))
def test_no_expression_is_further_from_its_exact_value_than_its_bound(seed: int) -> None:
    draw = random.Random(seed)
    expression, exact = drawn(draw, draw.randint(1, 4))
    bound = roundings([expression], [X])[0]
    for _ in range(10):
        x, p = draw.uniform(-2.0, 2.0), draw.choice([0.5, 1.0, 2.0, -0.25])
        value, allowed = (float(np.asarray(one)) for one in evaluate([expression, bound], {X: x, P: p}))
        if not np.isfinite(value):
            continue
        off = abs(LONG(value) - exact(LONG(x), LONG(p)))
        assert off <= 1.01 * (allowed + _of_parameters(expression, x, p)), (expression, x, p)


def _of_parameters(expression: Expr, x: float, p: float) -> float:
    """What rounding of p's own functions may make: the same bound, as if p moved, less that of x alone."""
    both, one = (float(np.asarray(evaluate(roundings([expression], moving), {X: x, P: p})[0])) for moving in ([X, P], [X]))
    return max(both - one, 0.0)


def test_rounding_is_that_of_the_largest_term() -> None:
    (bound,) = roundings([(X + 1e8) - 1e8], [X])
    assert 2e-9 < float(np.asarray(evaluate([bound], {X: 0.3})[0])) * 0.1 < 2e-8


def test_what_stands_still_rounds_everywhere_alike_and_adds_nothing() -> None:
    assert roundings([P * 3.7 + 1.0, X, -X, select(P, X, -X)], [X]) == [ZERO] * 4
