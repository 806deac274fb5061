"""Text is readable, and Python reads it as the same expression."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from strategies import SYMBOLS, Step, graphs, points, same
from tidegate.expressions import Expr, Role, evaluate, opaque_call, select, symbol, text
from tidegate.expressions.elementary import absolute, clip, floor, maximum, minimum, sin, sqrt
from tidegate.expressions.node_data import OpaqueFunction
from tidegate.expressions.printing import relation_text

x, y, z = SYMBOLS

ARITHMETIC: list[Step] = [
    lambda a, b, c: a + b,
    lambda a, b, c: a - b,
    lambda a, b, c: a * b,
    lambda a, b, c: a / b,
    lambda a, b, c: -a,
    lambda a, b, c: a**2,
    lambda a, b, c: a**-3,
    lambda a, b, c: a * -2.5,
    lambda a, b, c: a - (b - 1e-7),
    lambda a, b, c: select((a > b) | ~(b >= c), a, c - 1),
    lambda a, b, c: abs(a) - minimum(b, c),
]


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (x > y, "x > y"),
        (x < y, "y > x"),
        (x < 0, "x < 0"),
        (x > 0, "x > 0"),
        (x <= 2, "x <= 2"),
        (2 >= x, "x <= 2"),  # noqa: SIM300 - the order is what is tested
        (~(x >= y), "not x >= y"),
        (x == y, "x == y"),
        ((x > 0) & (y > 0) | (z > 0), "x > 0 and y > 0 or z > 0"),
        ((x > 0) & ((y > 0) | (z > 0)), "x > 0 and (y > 0 or z > 0)"),
        (12.0 * x + 0.1, "12*x + 0.1"),
        (x - (y - z), "x - (y - z)"),
        (-(x**2), "-x**2"),
        ((-x) ** 2, "(-x)**2"),
        (x ** (y + 1), "x**(y + 1)"),
        (select(x > 0, x, y - 1), "x if x > 0 else y - 1"),
        (absolute(x + y), "abs(x + y)"),
        (maximum(x, y), "max(x, y)"),
        (minimum(x, 3), "min(x, 3)"),
        (maximum(x, 0), "max(x, 0)"),
        (clip(x, 0, y), "min(max(x, 0), y)"),
        (sin(sqrt(x)) * floor(y), "sin(sqrt(x))*floor(y)"),
        (symbol(Role.DERIVATIVE, "h") - symbol(Role.PREVIOUS, "n"), "der(h) - pre(n)"),
        (opaque_call(OpaqueFunction(max, 1, "worst"), [x, y])[0], "worst(x, y)"),
        (opaque_call(OpaqueFunction(divmod, 2, "divmod"), [x, y])[1], "divmod(x, y)[1]"),
    ],
)
def test_text_reads_as_written(expr: Expr, expected: str) -> None:
    assert text(expr) == expected == repr(expr)


@pytest.mark.parametrize(
    ("relation", "direction", "holds", "expected"),
    [
        (x < y, "", True, "y > x"),
        (x < y, "<", True, "x < y"),
        (x < y, ">", True, "y > x"),
        (x < y, "<", False, "x >= y"),
        (x >= y, "", False, "x < y"),
        (x <= 2, "<", False, "x > 2"),
        (x > 0, "", False, "x <= 0"),
        (x < 0, ">", True, "0 > x"),
        ((x > 0) & (y > 0), "<", True, "x > 0 and y > 0"),
        ((x > 0) & (y > 0), "<", False, "not (x > 0 and y > 0)"),
    ],
)
def test_a_relation_reads_in_either_direction_and_as_its_opposite(relation: Expr, direction: str, holds: bool, expected: str) -> None:
    assert relation_text(relation, direction=direction, holds=holds) == expected


@pytest.mark.slow
@given(graphs(ARITHMETIC, size=8), points())
def test_python_reads_back_the_same_value(expr: Expr, at: dict[Expr, float]) -> None:
    written = text(expr)
    if "..." in written:
        return
    try:
        value = float(
            eval(written, {repr(item): at[item] for item in SYMBOLS} | {"abs": abs, "min": min, "max": max, "inf": math.inf, "nan": math.nan})
        )
    except (ZeroDivisionError, OverflowError):
        return
    assert same(value, evaluate([expr], at)[0]) or value == pytest.approx(evaluate([expr], at)[0], rel=1e-12)


@pytest.mark.slow
def test_enormous_expressions_are_cut() -> None:
    expr: Expr = x
    for _ in range(3000):
        expr = expr * expr + y
    assert "..." in text(expr)
    assert len(text(expr)) < 10_000
