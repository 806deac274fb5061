"""Bounds enclose every value in the box, and are tight where it matters."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import SYMBOLS, WILD, graphs
from tidegate.expressions import Expr, OpaqueFunction, evaluate, node, opaque_call, select, table, walk
from tidegate.expressions import elementary as f
from tidegate.expressions.interval import bounds
from tidegate.expressions.nodes import UNARY_FUNCTIONS

x, y, z = SYMBOLS
WHOLE = (-math.inf, math.inf)


def boxes(low: float = -4.0, high: float = 4.0) -> st.SearchStrategy[tuple[dict[Expr, tuple[float, float]], dict[Expr, float]]]:
    """A box and a point in it."""
    coordinate = st.one_of(st.floats(low, high), st.sampled_from([-1.0, 0.0, 0.5, 1.0]))
    fraction = st.floats(0, 1)

    def pair(values: list[tuple[float, float, float]]) -> tuple[dict[Expr, tuple[float, float]], dict[Expr, float]]:
        box = {item: (min(a, b), max(a, b)) for item, (a, b, _) in zip(SYMBOLS, values, strict=True)}
        inside = {item: min(max(lo + s * (hi - lo), lo), hi) for (item, (lo, hi)), (_, _, s) in zip(box.items(), values, strict=True)}
        return box, inside

    return st.lists(st.tuples(coordinate, coordinate, fraction), min_size=3, max_size=3).map(pair)


@pytest.mark.slow
@given(graphs(WILD, size=10), boxes())
def test_bounds_enclose_the_value_at_every_point(expr: Expr, case: tuple[dict[Expr, tuple[float, float]], dict[Expr, float]]) -> None:
    box, inside = case
    below = list(walk([expr]))
    values = evaluate(below, inside)
    if any(math.isnan(value) for value in values):
        return  # outside of the domain of a function there is nothing to enclose
    for item, value, (lo, hi) in zip(below, values, bounds(below, box), strict=True):
        assert lo <= value <= hi, item


@pytest.mark.parametrize("name", sorted(UNARY_FUNCTIONS | {"floor"}))
@given(a=st.floats(-8, 8), b=st.floats(-8, 8), s=st.floats(0, 1))
def test_functions_are_enclosed(name: str, a: float, b: float, s: float) -> None:
    lo, hi = min(a, b), max(a, b)
    (value,) = evaluate([node(name, (x,))], {x: min(max(lo + s * (hi - lo), lo), hi)})
    ((below, above),) = bounds([node(name, (x,))], {x: (lo, hi)})
    assert math.isnan(value) or below <= value <= above


@pytest.mark.slow
@given(graphs(WILD, size=6), st.floats(0.1, 0.9), st.floats(1.1, 1.9))
def test_points_have_nearly_their_value_as_bounds(expr: Expr, a: float, b: float) -> None:
    at = {x: a, y: b, z: 0.3}
    below = list(walk([expr]))
    values = evaluate(below, at)
    if any(not abs(value) < 1e3 for value in values):
        return
    (lo, hi), value = bounds([expr], {item: (v, v) for item, v in at.items()})[0], values[-1]
    if lo > -math.inf and hi < math.inf and not any(item.op in ("floor", "select", "segment", "div", "pow", "log", "tan") for item in below):
        assert hi - lo <= 1e-6 * (1 + abs(value))


TIGHT: list[tuple[Callable[[], Expr], tuple[float, float], tuple[float, float]]] = [
    (lambda: x * x, (-1, 2), (0, 4)),
    (lambda: x**2, (-3, 2), (0, 9)),
    (lambda: x**3, (-3, 2), (-27, 8)),
    (lambda: x**-2, (1, 2), (0.25, 1)),
    (lambda: x**0.5, (0, 4), (0, 2)),
    (lambda: x**17, (-1, 2), (-1, 131072)),
    (lambda: f.sin(x), (0, 3), (0, 1)),
    (lambda: f.sin(x), (4, 5), (-1, math.sin(4))),
    (lambda: f.cos(x), (-1, 1), (math.cos(1), 1)),
    (lambda: f.cos(x), (3, 3.2), (-1, math.cos(3))),
    (lambda: f.sin(x), (0, 100), (-1, 1)),
    (lambda: f.tan(x), (-1, 1), (-math.tan(1), math.tan(1))),
    (lambda: f.tan(x), (1, 2), WHOLE),
    (lambda: 1 / x, (-1, 1), WHOLE),
    (lambda: 1 / x, (2, 4), (0.25, 0.5)),
    (lambda: f.log(x), (-2, -1), WHOLE),
    (lambda: f.log(x), (-2, 1), (-math.inf, 0)),
    (lambda: f.sqrt(x), (-1, 4), (0, 2)),
    (lambda: f.acos(x), (-1, 1), (0, math.pi)),
    (lambda: f.atanh(x), (-1, 0.5), (-math.inf, math.atanh(0.5))),
    (lambda: f.cosh(x), (-1, 2), (1, math.cosh(2))),
    (lambda: f.exp(x), (-1000, 1000), (0, math.inf)),
    (lambda: f.atan2(x, -1), (-1, 1), (-math.pi, math.pi)),
    (lambda: f.atan2(x, 1), (-1, 1), (-math.pi / 4, math.pi / 4)),
    (lambda: f.floor(x), (-1.5, 2.5), (-2, 2)),
    (lambda: f.cbrt(x), (-8, 27), (-2, 3)),
    (lambda: table([0, 1, 2], [0, 1, 0], "cubic")(x), (0, 2), (0, 1)),
    (lambda: abs(x), (-3, -2), (2, 3)),
    (lambda: f.minimum(x, 5), (0, 1), (0, 1)),
    (lambda: select(x > 0, 2.0, 3.0), (-1, 1), (2, 3)),
]


@pytest.mark.parametrize(("made", "box", "expected"), TIGHT)
def test_bounds_of_one_operation_are_its_range(made: Callable[[], Expr], box: tuple[float, float], expected: tuple[float, float]) -> None:
    ((lo, hi),) = bounds([made()], {x: box})
    assert (lo, hi) == pytest.approx(expected, rel=1e-13, abs=1e-13)
    assert lo <= expected[0]
    assert hi >= expected[1]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (x > 0, (1, 1)),
        (x < 0, (0, 0)),
        (x > 2, (0, 1)),
        ((x > 0) & (x > 2), (0, 1)),
        ((x > 0) | (x > 2), (1, 1)),
        (~(x > 0), (0, 0)),
        (x >= 1, (1, 1)),
    ],
)
def test_conditions_are_certain_or_unknown(condition: Expr, expected: tuple[float, float]) -> None:
    assert bounds([condition], {x: (1.0, 3.0)}) == [expected]


def test_a_known_mode_takes_only_its_arm() -> None:
    expr = select(node("nonzero", (z,)), x, y)
    box = {x: (0.0, 1.0), y: (5.0, 6.0)}
    assert bounds([expr], box | {z: (1.0, 1.0)}) == [(0.0, 1.0)]
    assert bounds([expr], box | {z: (0.0, 0.0)}) == [(5.0, 6.0)]
    assert bounds([expr], box | {z: (0.0, 1.0)}) == [(0.0, 6.0)]


def test_nothing_is_known_of_opaque_outputs_and_absent_symbols() -> None:
    (only,) = opaque_call(OpaqueFunction(lambda a: [a], 1, "f"), [x])
    assert bounds([only, y], {x: (0.0, 1.0)}) == [WHOLE, WHOLE]
