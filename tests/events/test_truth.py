"""What a relation says at a zero that stays, and that relations which depend on each other are settled before any clause looks.

The truth is the closed form of x(t), put into the same formula in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import allowed
from run_checks import event_times, slopes

__all__: list[str] = []

RTOL = 1e-6


def held(condition: Callable[[Any], Any], rate: float, start: float, method: str, **options: Any) -> Any:
    """Run x' = rate, q' = 1 while the condition holds, from x = start to t = 3."""
    model = tg.ode(lambda t, y: [rate, 1.0 if condition(y["x"]) else 0.0], y0={"x": start, "q": 0.0})
    return tg.simulate(model, (0.0, 3.0), rtol=RTOL, method=method, **options)


FALLING: dict[str, tuple[Callable[[Any], Any], float]] = {
    "max > 0": (lambda x: max(x, 0.0) > 0, 1.0),
    "max <= 0": (lambda x: max(x, 0.0) <= 0, 2.0),
    "max squared": (lambda x: max(x, 0.0) ** 2 > 0, 1.0),
    "max < 0": (lambda x: max(x, 0.0) < 0, 0.0),
    "not max > 0": (lambda x: not max(x, 0.0) > 0, 2.0),
    "conditional expression": (lambda x: (x if x > 0 else 0.0) > 0, 1.0),
    "clip == lower bound": (lambda x: abs(np.clip(x, -0.5, 0.5) + 0.5) <= 0, 1.5),
    "clip == upper bound": (lambda x: np.clip(x, -0.5, 0.5) == 0.5, 0.5),
    "force behind a gap": (lambda x: 50.0 * max(x - 0.25, 0.0) > 0, 0.75),
    "a bound within a bound": (lambda x: min(max(x, 0.0), 0.5) >= 0.5, 0.5),
    "a saturated actuator": (lambda x: abs(np.clip(3.0 * x, -1.0, 1.0)) >= 1, 2.0 / 3.0 + 5.0 / 3.0),
    "sign": (lambda x: np.sign(max(x, 0.0)) > 0, 1.0),
    "floor of a bound": (lambda x: np.floor(max(x, -1.0)) >= -1, 3.0),
}


@pytest.mark.parametrize("name", list(FALLING))
def test_a_quantity_that_rests_on_its_threshold_has_the_truth_that_is_written(name: str, method: str) -> None:
    condition, expected = FALLING[name]
    result = held(condition, -1.0, 1.0, method)
    assert result.final["q"] == pytest.approx(expected, abs=allowed(method, 1e-9, RTOL))


RISING: dict[str, tuple[Callable[[Any], Any], float]] = {
    "min >= 1": (lambda x: min(x, 1.0) >= 1, 2.0),
    "min > 1": (lambda x: min(x, 1.0) > 1, 0.0),
    "min < 1": (lambda x: min(x, 1.0) < 1, 1.0),
    "flat piece of a table": (lambda x: np.interp(x, [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 1.0, 2.0]) >= 1, 2.0),
    "flat piece, not above": (lambda x: np.interp(x, [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 1.0, 2.0]) > 1, 1.0),
    "floor of a bound": (lambda x: np.floor(min(x, 2.0)) >= 2, 1.0),
}


@pytest.mark.parametrize("name", list(RISING))
def test_and_so_has_one_that_comes_from_below(name: str, method: str) -> None:
    condition, expected = RISING[name]
    result = held(condition, 1.0, 0.0, method)
    assert result.final["q"] == pytest.approx(expected, abs=allowed(method, 1e-9, RTOL))


def test_derivatives_pass_through_a_quantity_that_comes_to_rest(method: str) -> None:
    model = tg.ode(lambda t, y, p: [-p["v"], 1.0 if max(y["x"] - p["a"], 0.0) > 0 else 0.0], y0={"x": 1.0, "q": 0.0}, p={"a": 0.25, "v": 0.5})
    result = tg.simulate(model, (0.0, 3.0), rtol=1e-8, sensitivities="all", method=method)
    assert result.final["q"] == pytest.approx(1.5, abs=allowed(method, 1e-9, 1e-8))
    assert slopes(result, ["q"], "a") == pytest.approx([-2.0], rel=1e-6)
    assert slopes(result, ["q"], "v") == pytest.approx([-3.0], rel=1e-6)


class Resting(tg.Component):
    """x falls and is put on zero, where it stays: x > 0 ends, and `x <= 0` happens."""

    x = tg.State(1.0)
    q = tg.State(0.0)
    stopped = tg.Discrete(False)
    n = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == (0.0 if self.stopped else -1.0)
        yield tg.der(self.q) == (1.0 if self.x > 0 else 0.0)

    @tg.at(0.5)
    def stop(self) -> Any:
        return {self.x: 0.0, self.stopped: True}

    @tg.when(lambda self: self.x <= 0)
    def count(self) -> Any:
        return {self.n: self.n + 1}


def test_a_state_put_on_its_threshold_where_it_rests_has_reached_it(method: str) -> None:
    result = tg.simulate(Resting(), (0.0, 2.0), rtol=RTOL, method=method)
    assert result.final["n"] == 1
    assert result.final["q"] == pytest.approx(0.5, abs=allowed(method, 1e-9, RTOL))


class Thrown(tg.Component):
    """x is put on zero with no speed; what comes next decides: its curvature, or the rate of that."""

    x = tg.State(1.0)
    v = tg.State(0.0)
    a = tg.State(0.0)
    q = tg.State(0.0)
    n = tg.Discrete(0)
    bend = tg.Parameter(0.0)
    jerk = tg.Parameter(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.v
        yield tg.der(self.v) == self.a
        yield tg.der(self.a) == self.jerk
        yield tg.der(self.q) == (1.0 if self.x >= 0 else 0.0)

    @tg.at(1.0)
    def put(self) -> Any:
        return {self.x: 0.0, self.v: 0.0, self.a: self.bend}

    @tg.when(lambda self: self.x < 0)
    def below(self) -> Any:
        return {self.n: self.n + 1}


@pytest.mark.parametrize(("bend", "jerk", "falls"), [(-1.0, 0.0, True), (1.0, 0.0, False), (0.0, -1.0, True), (0.0, 1.0, False), (1e-3, -1.0, False)])
def test_where_the_slope_is_zero_the_first_derivative_that_is_not_decides(bend: float, jerk: float, falls: bool, method: str) -> None:
    # no jerk before the event: x and its derivatives are constant there
    model = Thrown(bend=bend, jerk=jerk if bend == 0.0 else 0.0)
    result = tg.simulate(model, (0.0, 1.5), rtol=RTOL, method=method)
    after = [event for event in result.events if event.time >= 1.0]
    assert after[0].time == 1.0
    if falls:
        assert result.final["n"] >= 1
        assert "below" in after[0].causes


def test_relations_that_depend_on_each_other_are_settled_before_a_clause_looks(method: str) -> None:
    class Sawtooth(tg.Component):
        x = tg.State(0.0)
        n = tg.Discrete(0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.when(lambda self: (0.0 if self.x % 1 < 0.9 else 1 - self.x % 1) > 0.5)
        def never(self) -> Any:
            return {self.n: self.n + 1}

    result = tg.simulate(Sawtooth(), (0.0, 3.5), rtol=RTOL, method=method)
    assert result.final["n"] == 0
    assert "never" not in [cause for event in result.events for cause in event.causes]


def test_a_sawtooth_in_an_algebraic_equation_starts_again(dae_method: str) -> None:
    class Sawtooth(tg.Component):
        x = tg.State(0.0)
        q = tg.State(0.0)
        z = tg.Algebraic(0.0)
        n = tg.Discrete(0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0
            yield tg.der(self.q) == self.z
            yield self.z + 0.1 * self.z**3 == (0.0 if self.x % 1 < 0.9 else 1 - self.x % 1)

        @tg.when(lambda self: self.z > 0.5)
        def never(self) -> Any:
            return {self.n: self.n + 1}

    result = tg.simulate(Sawtooth(), (0.0, 3.5), rtol=1e-8, method=dae_method)
    assert result.final["n"] == 0
    assert result.final["q"] == pytest.approx(3 * 0.005, abs=1e-5)


def test_an_algebraic_unknown_that_rests_on_its_threshold(dae_method: str) -> None:
    class Bounded(tg.Component):
        x = tg.State(1.0)
        q = tg.State(0.0)
        z = tg.Algebraic(1.0)
        n = tg.Discrete(0)

        def equations(self) -> Any:
            yield tg.der(self.x) == -1.0
            yield tg.der(self.q) == (1.0 if self.z > 0 else 0.0)
            yield self.z == np.maximum(self.x, 0.0)

        @tg.when(lambda self: self.z <= 0)
        def empty(self) -> Any:
            return {self.n: self.n + 1}

    result = tg.simulate(Bounded(), (0.0, 3.0), rtol=RTOL, method=dae_method)
    assert result.final["n"] == 1
    assert result.final["q"] == pytest.approx(1.0, abs=allowed(dae_method, 1e-9, RTOL))


def test_a_level_that_runs_dry_rests_below_the_relation_that_emptied_it(method: str) -> None:
    model = tg.ode(lambda t, y: [-1.0 if y["x"] >= 0 else 0.0, 1.0 if y["x"] >= 0 else 0.0], y0={"x": 1.0, "q": 0.0})
    result = tg.simulate(model, (0.0, 3.0), rtol=RTOL, method=method)
    assert result.final["q"] == pytest.approx(1.0, abs=allowed(method, 1e-9, RTOL))
    assert abs(result.final["x"]) < allowed(method, 1e-12, RTOL)
    assert len(event_times(result)) == 1


PASSING: dict[str, tuple[Callable[[Any], Any], int]] = {
    "min <= 0 always": (lambda x: min(x, 0.0) <= 0.0, 0),
    "not max >= 0 never": (lambda x: not max(x, 0.0) >= 0.0, 0),
    "bounds within bounds": (lambda x: not max(min(max(x, -0.621), 0.689), -0.25) > 0.689, 0),
    "the last point of a table": (lambda x: np.interp(x, [-1.0, -0.4, 0.1, 0.6, 0.9], [-0.355, -0.355, 0.5, 0.5, -0.443]) < -0.443, 0),
    "max > 0 once": (lambda x: max(x, 0.0) > 0.0, 1),
}


@pytest.mark.parametrize("name", list(PASSING))
def test_a_bound_that_its_quantity_reaches_is_not_passed(name: str) -> None:
    condition, times = PASSING[name]

    class Passing(tg.Component):
        x = tg.State(-1.0)
        n = tg.Discrete(0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.when(lambda self: condition(self.x))
        def count(self) -> Any:
            return {self.n: self.n + 1}

    assert tg.simulate(Passing(), (0.0, 3.0), rtol=RTOL).final["n"] == times
