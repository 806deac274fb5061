"""`~`, `&`, `|` and `^` of relations mean the same in every front end, and when a model is called with numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.expressions.tracing import PlainNumber, Truth

END = 3.0
Formula = tuple[Any, ...]


def formula(rng: np.random.Generator, depth: int) -> Formula:
    if depth == 0 or rng.random() < 0.15:
        return ("relation", round(float(rng.uniform(0.1, END - 0.1)), 3), bool(rng.random() < 0.5))
    operation = str(rng.choice(["~", "&", "|", "^"]))
    return (operation, *(formula(rng, depth - 1) for _ in range(1 if operation == "~" else 2)))


def said(item: Formula, x: Any) -> Any:
    """The formula of a quantity."""
    if item[0] == "relation":
        return x > item[1] if item[2] else x < item[1]
    if item[0] == "~":
        return ~said(item[1], x)
    if item[0] == "&":
        return said(item[1], x) & said(item[2], x)
    if item[0] == "|":
        return said(item[1], x) | said(item[2], x)
    return said(item[1], x) ^ said(item[2], x)


def thresholds(item: Formula) -> list[float]:
    return [item[1]] if item[0] == "relation" else [found for part in item[1:] for found in thresholds(part)]


def duration(item: Formula) -> float:
    """How long the formula of time holds, by NumPy's truth values."""
    ends = np.array(sorted({0.0, END, *thresholds(item)}))
    held: Any = said(item, (ends[:-1] + ends[1:]) / 2)
    return float(np.diff(ends) @ np.asarray(held, dtype=float))


def by_ode(item: Formula) -> Any:
    def rates(_t: Any, y: Any) -> dict[str, Any]:
        return {"clock": 1.0, "x": np.where(said(item, y["clock"]), 1.0, 0.0)}

    return tg.ode(rates, y0={"clock": 0.0, "x": 0.0})


def by_dae(item: Formula) -> Any:
    def residual(t: Any, y: Any, ydot: Any) -> list[Any]:
        return [ydot["x"] - (1.0 if said(item, t) else 0.0), y["a"] - y["x"]]

    return tg.dae(residual, y0={"x": 0.0, "a": 0.0})


class Timed(tg.Component):
    clock, x = tg.State(0.0), tg.State(0.0)
    holds, changes = tg.Discrete(False), tg.Discrete(0)

    def formula(self) -> Formula:
        raise NotImplementedError

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.clock) == 1.0
        yield tg.der(self.x) == tg.where(said(self.formula(), self.clock), 1.0, 0.0)

    @tg.when(lambda self: ~said(self.formula(), self.clock))
    def off(self) -> Any:
        return {self.holds: said(self.formula(), self.clock), self.changes: self.changes + 1}

    @tg.when(lambda self: said(self.formula(), self.clock))
    def on(self) -> Any:
        return {self.holds: ~tg.pre(self.holds)}


def by_component(item: Formula) -> Any:
    def own(_self: Any) -> Formula:
        return item

    return type("Timed", (Timed,), {"formula": own})()


def by_part(item: Formula) -> Any:
    def nothing(_self: Any) -> list[Any]:
        return []

    return type("Whole", (tg.Component,), {"inner": by_component(item), "equations": nothing})()


@pytest.mark.hunt
@pytest.mark.parametrize(("made", "name"), [(by_ode, "x"), (by_dae, "x"), (by_component, "x"), (by_part, "inner.x")])
def test_random_formulas_hold_as_long_as_by_numpys_truth_values(made: Callable[[Formula], Any], name: str) -> None:
    rng = np.random.default_rng(11)
    for depth in (1, 2, 3, 4):
        item = formula(rng, depth)
        result = tg.simulate(made(item), (0.0, END), rtol=1e-8)
        assert result.final[name] == pytest.approx(duration(item), abs=1e-6), item
        assert tg.verify(result).ok


@pytest.mark.slow
def test_clauses_see_the_same_truth() -> None:
    rng = np.random.default_rng(3)
    for _ in range(3):
        item = formula(rng, 3)
        ends = np.array(sorted({0.0, END, *thresholds(item)}))
        truth = said(item, (ends[:-1] + ends[1:]) / 2)
        final = tg.simulate(by_component(item), (0.0, END)).final
        assert (final["holds"], final["changes"]) == (truth[-1], np.sum(truth[:-1] & ~truth[1:])), item


def test_solve_ivp_takes_them() -> None:
    def rate(t: Any, y: Any) -> list[Any]:
        return [np.where(~(y[0] > 1.0) ^ (t > 1.5), 1.0, 0.5)]

    found = tg.solve_ivp(rate, (0.0, 2.0), [0.0])
    assert found.y[0, -1] == pytest.approx(1.75)


def test_a_power_written_as_in_other_languages_is_refused() -> None:
    def rate(_t: Any, y: Any) -> list[Any]:
        return [y["x"] ^ 2]

    with pytest.raises(tg.UntraceableError, match=r"\^ says that one of two conditions holds, and not both; a power is x\*\*y"):
        tg.simulate(tg.ode(rate, y0={"x": 1.0}), (0.0, 1.0))


def test_truths_answer_as_numpys_and_count_as_pythons() -> None:
    for a, b in itertools.product((False, True), repeat=2):
        one, two = Truth(a), Truth(b)
        for other in (two, b):
            assert (one & other, one | other, one ^ other) == (a and b, a or b, a is not b)
        assert (~one, ~~one, one + two, -one) == (not a, a, int(a) + int(b), -int(a))
        assert np.where(one, 1.0, 2.0) == (1.0 if a else 2.0)


def test_plain_numbers_are_floats_whose_comparisons_are_truths() -> None:
    rng = np.random.default_rng(0)
    for a, b in rng.uniform(0.5, 3.0, (5, 2)).tolist():
        x = PlainNumber(a)
        for found, wanted in [(x + b, a + b), (b - x, b - a), (x / b, a / b), (b**x, b**a), (x % b, a % b), (b // x, b // a), (-x, -a), (abs(x), a)]:
            assert (type(found), found) == (PlainNumber, wanted)
        assert [~(x > b), ~(x <= b), ~(b < x), ~(x == b)] == [not a > b, not a <= b, not b < a, a != b]
        np.testing.assert_array_equal(x * np.array([1.0, 2.0]), np.array([a, 2 * a]))
