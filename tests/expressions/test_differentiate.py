"""Derivatives agree with differences of plain evaluation, and with each other."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import assume, given

from strategies import SMOOTH, SYMBOLS, WILD, graphs, points
from tidegate.errors import ModelError
from tidegate.expressions import (
    ONE,
    ZERO,
    Expr,
    OpaqueFunction,
    Role,
    dependencies,
    differentiate,
    evaluate,
    jacobian,
    node,
    opaque_call,
    select,
    symbol,
    table,
    tangent,
    walk,
)
from tidegate.expressions.nodes import UNARY_FUNCTIONS

x, y, z = SYMBOLS


def difference(expr: Expr, item: Expr, at: dict[Expr, float], step: float) -> float:
    above, below = (evaluate([expr], at | {item: at[item] + h})[0] for h in (step, -step))
    return (above - below) / (2 * step)


def check(expr: Expr, item: Expr, at: dict[Expr, float]) -> None:
    """Against Richardson's extrapolation of central differences, which tells its own error; nothing is said where that is large."""
    coarse, fine = difference(expr, item, at, 2e-3), difference(expr, item, at, 1e-3)
    (scale,) = evaluate([expr], at)
    if abs(coarse - fine) < 1e-3 * (1 + abs(fine)):
        (derivative,) = evaluate([differentiate(expr, item)], at)
        assert derivative == pytest.approx((4 * fine - coarse) / 3, abs=abs(coarse - fine) + 1e-9 * (1 + abs(scale) + abs(fine)))


@pytest.mark.slow
@given(graphs(SMOOTH, size=6), points())
def test_derivatives_are_the_limits_of_differences(expr: Expr, at: dict[Expr, float]) -> None:
    for item in SYMBOLS:
        check(expr, item, at)


@pytest.mark.parametrize("name", sorted(UNARY_FUNCTIONS))
@pytest.mark.parametrize("at", [0.3, 0.8])
def test_every_function_has_its_derivative(name: str, at: float) -> None:
    shift = 1.0 if name == "acosh" else 0.0
    check(node(name, (x * y + shift,)), x, {x: at, y: 0.9})


@pytest.mark.slow
@given(graphs(WILD, size=8), points())
def test_a_tangent_is_the_sum_of_derivatives_times_seeds(expr: Expr, at: dict[Expr, float]) -> None:
    seeds = [symbol(Role.SEED, f"d{k}") for k in range(3)]
    moves = dict(zip(seeds, (0.5, -1.25, 2.0), strict=True))
    whole = tangent([expr], dict(zip(SYMBOLS, seeds, strict=True)))
    apart = [differentiate(expr, item) for item in SYMBOLS]
    (along,) = evaluate(whole, at | moves)
    terms = [part * move for part, move in zip(evaluate(apart, at), moves.values(), strict=True)]
    # y/(x*y) near y = 0 cancels what is as large as 1/y: what rounding leaves of the largest number on the way says nothing
    largest = max(abs(value) for value in evaluate(list(walk([*whole, *apart])), at | moves))
    assume(all(math.isfinite(term) for term in terms) and largest < 1e100)
    assert along == pytest.approx(sum(terms), rel=1e-9, abs=1e-9 * (1 + max(map(abs, terms))) + 1e-13 * largest)


@pytest.mark.slow
@given(graphs(WILD, size=8), graphs(WILD, size=8))
def test_a_jacobian_holds_the_derivatives_and_no_zeros(first: Expr, second: Expr) -> None:
    entries = jacobian([first, second], SYMBOLS)
    for row, expr in enumerate([first, second]):
        for column, item in enumerate(SYMBOLS):
            assert entries.get((row, column), ZERO) is differentiate(expr, item)
    assert all(entry is not ZERO for entry in entries.values())


def test_a_jacobian_of_a_chain_costs_in_proportion_to_its_entries() -> None:
    states = [symbol(Role.UNKNOWN, f"u{k}") for k in range(300)]
    rates = [a * a - 2 * b * c for a, b, c in zip(states, states[1:], states[2:], strict=False)]
    entries = jacobian(rates, states)
    assert len(entries) == 3 * len(rates)
    assert len(list(walk(entries.values()))) < 8 * len(entries)


def test_derivatives_by_absent_symbols_are_zero() -> None:
    assert differentiate(x * x, y) is ZERO
    assert all(item is ZERO for item in tangent([x * x, x], {y: ONE}))
    assert differentiate(select(x > 0, y, 2.0), x) is ZERO


@pytest.mark.parametrize(
    ("expr", "item", "at", "expected"),
    [
        (x**2, x, {x: 0.0}, 0.0),
        (x**1, x, {x: 0.0}, 1.0),
        (x**y, x, {x: 0.0, y: 2.0}, 0.0),
        (x**y, x, {x: 0.0, y: 1.0}, 1.0),
        (x**y, x, {x: 0.0, y: 0.0}, 0.0),
        (x**y, y, {x: 0.0, y: 2.0}, 0.0),
        (x**y, x, {x: -2.0, y: 3.0}, 12.0),
        (x**2.5, x, {x: 0.0}, 0.0),
        (node("sqrt", (x,)), x, {x: 0.0}, math.inf),
    ],
)
def test_powers_have_derivatives_at_zero_and_below(expr: Expr, item: Expr, at: dict[Expr, float], expected: float) -> None:
    assert evaluate([differentiate(expr, item)], at) == [expected]


def test_pieces_are_differentiated_between_their_jumps() -> None:
    saw = x - node("floor", (x,))
    assert differentiate(saw, x) is ONE
    assert evaluate([differentiate(abs(x), x)] * 2, {x: -2.0}) == [-1.0, -1.0]
    line = table([0.0, 1.0, 3.0], [0.0, 2.0, 1.0])(x)
    assert evaluate([differentiate(line, x)], {x: 0.5}) == [2.0]
    assert evaluate([differentiate(line, x)], {x: 2.0}) == [-0.5]


@pytest.mark.parametrize("at", [-0.5, 0.4, 1.7, 5.0])
def test_cubic_tables_have_smooth_derivatives(at: float) -> None:
    curve = table([0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 4.0, 2.0], kind="cubic")(x)
    check(curve, x, {x: at})
    check(differentiate(curve, x), x, {x: at})
    assert differentiate(curve, x) is differentiate(curve, x)


def test_second_derivatives_of_opaque_functions_are_refused_by_name() -> None:
    (only,) = opaque_call(OpaqueFunction(lambda a: [a * a], 1, "black_box"), [x * y])
    slope = differentiate(only, x)
    assert evaluate([slope], {x: 2.0, y: 3.0}) == pytest.approx([36.0])
    assert dependencies(slope) == {x, y}
    with pytest.raises(ModelError, match="`black_box` would have to be differentiated twice"):
        differentiate(slope, y)


_STEEP_FORMS: dict[str, tuple[Callable[[Expr, Expr], Expr], float, Callable[[Expr, Expr], Expr]]] = {
    # what is divided by, of an exponential e and of c; which power of e it grows with; what it is, divided by that, of c and 1 / e
    "e + c": (lambda e, c: e + c, 1.0, lambda c, s: 1.0 + c * s),
    "c - e": (lambda e, c: c - e, 1.0, lambda c, s: c * s - 1.0),
    "2.5 e + c": (lambda e, c: 2.5 * e + c, 1.0, lambda c, s: 2.5 + c * s),
    "(c + e)^2": (lambda e, c: (c + e) ** 2, 2.0, lambda c, s: (1.0 + c * s) ** 2),
    "(c + e)^1.5": (lambda e, c: (c + e) ** 1.5, 1.5, lambda c, s: (1.0 + c * s) ** 1.5),
    "c e^2": (lambda e, c: c * (e * e), 2.0, lambda c, _s: c),
    "(1 + e) (2 + e)": (lambda e, _c: (1.0 + e) * (2.0 + e), 2.0, lambda _c, s: (s + 1.0) * (2.0 * s + 1.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", _STEEP_FORMS)
def test_what_an_overflowed_exponential_divides_has_the_derivative_of_its_limit(form: str) -> None:
    divisor, power, shrunk = _STEEP_FORMS[form]
    draw, c = random.Random(form), x + z * z
    for _ in range(30):
        at = {x: draw.uniform(0.5, 2.0), y: draw.uniform(0.5, 2.0), z: draw.uniform(-2.0, 2.0)}
        grows = draw.choice([20.0, 100.0, 600.0, 3000.0]) * (x + 0.1 * y)
        given = z / divisor(node("exp", (grows,)), c)
        finite = z * node("exp", (-power * grows,)) / shrunk(c, node("exp", (-grows,)))
        inverse = divisor(node("exp", (grows,)), c) ** -1.0
        for item in SYMBOLS:
            expected, found = evaluate([differentiate(finite, item), tangent([given], {item: ONE}, past_overflow=True)[0]], at)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-100)
            entries = jacobian([given, z * inverse], [item], past_overflow=True)
            assert evaluate([entries.get((k, 0), ZERO) for k in (0, 1)], at) == pytest.approx([expected] * 2, rel=1e-9, abs=1e-100)
