"""Tangential contacts have no event time to differentiate: they are named, and what they would move is NaN; everything else keeps its derivative."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from examples.hidden_crossing import model as hidden_crossing

import tidegate as tg
from run_checks import event_times, slopes
from tidegate.compiled.influence import influenced


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_at_the_tangency_of_the_hidden_crossing_the_derivative_is_said_not_to_exist(rtol: float, method: str) -> None:
    with pytest.warns(tg.SensitivityWarning, match=r"touches its zero at t = 0\.287[67].*no derivative by p .*x by it are NaN"):
        result = tg.simulate(hidden_crossing, (0.0, 2.0), rtol=rtol, parameters={"p": 3.0}, sensitivities=["p"], method=method)
    derivative = np.asarray(result.sensitivity("x", "p"))
    contact = -math.log(3 / 4)
    assert np.isnan(derivative[np.asarray(result.time) > contact]).all()
    assert (derivative[np.asarray(result.time) < contact] == 0.0).all()
    # the later event's time depends on x, so it has none either
    assert [math.isnan(event.dt_dp["p"]) for event in result.events] == [True]


@pytest.mark.parametrize("below", [1e-5, 1e-7])
def test_just_beside_the_tangency_derivatives_are_large_and_nothing_is_warned_of(below: float, method: str) -> None:
    result = tg.simulate(hidden_crossing, (0.0, 2.0), rtol=1e-9, parameters={"p": 3.0 - below}, sensitivities=["p"], method=method)
    times = event_times(result)
    # at its first zero the cubic rises by (3 x^2 - 10 x + 7) (4 - x) in the first mode
    x = 4 * (1 - math.exp(-times[0]))
    assert result.events[0].dt_dp["p"] == pytest.approx(1 / ((3 * x * x - 10 * x + 7) * (4 - x)), rel=1e-4)


class Beside(tg.Component):
    """The contact of the hidden crossing, which no error of x can move, and two states that have nothing to do with it."""

    x = tg.State(0.0)
    above = tg.State(0.0)
    w = tg.State(1.0)
    p = tg.Parameter(3.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 4.0 - self.x
        yield tg.der(self.above) == (1.0 if self.x**3 - 5.0 * self.x**2 + 7.0 * self.x > self.p else 0.0)
        yield tg.der(self.w) == -self.p * self.w


def test_only_what_depends_on_the_condition_loses_its_derivative(method: str) -> None:
    with pytest.warns(tg.SensitivityWarning, match="derivatives of above by it are NaN"):
        result = tg.simulate(Beside(), (0.0, 0.5), rtol=1e-8, sensitivities="all", method=method)
    assert math.isnan(slopes(result, ["above"], "p")[0])
    assert slopes(result, ["x"], "p") == [0.0]
    assert slopes(result, ["w"], "p") == pytest.approx([-0.5 * math.exp(-1.5)], rel=1e-5)


def test_a_crossing_by_less_than_the_tolerances_is_named_and_has_no_derivative(method: str) -> None:
    with pytest.warns(tg.SensitivityWarning, match="no derivative by p"):
        result = tg.simulate(Beside(p=3.0 - 1e-13), (0.0, 0.5), rtol=1e-6, sensitivities="all", method=method)
    assert math.isnan(slopes(result, ["above"], "p")[0])


def waves(level: float) -> Any:
    """y[2] counts the time above the level."""
    return tg.ode(lambda t, y, p: [y[1], -y[0], 1.0 if y[0] > p["c"] else 0.0], y0=[0.0, 1.0, 0.0], p={"c": level})


@pytest.mark.parametrize("of", ["radau", "taylor", "bdf", "adams", "ida"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_an_exact_tangency_is_no_crossing_or_two_within_the_tolerances_and_named_either_way(rtol: float, of: str) -> None:
    with pytest.warns(tg.SensitivityWarning, match=r"where it only just reaches its zero|touches its zero"):
        result = tg.simulate(waves(1.0), (0.0, 5.0), rtol=rtol, sensitivities="all", method=of)
    times = event_times(result)
    assert len(times) in (0, 2)
    # as long as an arc of this height lasts; errors of methods of several steps add up
    longest = 2 * math.sqrt(2 * rtol * (1.0 if of in ("radau", "taylor") else 100.0))
    assert times == pytest.approx([math.pi / 2] * len(times), abs=longest)
    assert float(result["y[2]"][-1]) <= longest
    assert math.isnan(slopes(result, ["y[2]"], "c")[0])


@pytest.mark.parametrize(("rtol", "of_steps"), [(1e-10, {"max_step": 1.705}), (1e-12, {"first_step": 1.868}), (1e-10, {})])
def test_a_tangency_found_as_a_crossing_that_is_none_is_named(rtol: float, of_steps: dict[str, Any]) -> None:
    with pytest.warns(tg.SensitivityWarning, match=r"where it only just reaches its zero|touches its zero"):
        result = tg.simulate(waves(1.0), (0.0, 5.0), rtol=rtol, sensitivities="all", method="taylor", **of_steps)
    assert math.isnan(slopes(result, ["y[2]"], "c")[0])


@pytest.mark.parametrize("level", [1 + 1e-6, 1 - 1e-6])
def test_clear_misses_and_clear_crossings_keep_their_derivatives(level: float, method: str) -> None:
    result = tg.simulate(waves(level), (0.0, 6.0), rtol=1e-10, sensitivities="all", method=method)
    expected = 0.0 if level > 1 else -2 / math.sqrt(1 - level**2)
    # a part of 1e-6 above the level: an error of 1e-9 in the height is one of 5e-4 in the derivative
    assert slopes(result, ["y[2]"], "c") == pytest.approx([expected], rel=1e-2)


def test_a_run_without_sensitivities_says_nothing_of_contacts(method: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tg.simulate(hidden_crossing, (0.0, 2.0), parameters={"p": 3.0}, method=method)


def test_what_depends_on_a_relation_is_followed_through_equations_clauses_and_clocks() -> None:
    class Chain(tg.Component):
        x = tg.State(0.0)
        y = tg.State(0.0)
        z = tg.State(0.0)
        n = tg.Discrete(0)
        beside = tg.State(0.0)
        out = tg.Output(lambda self: self.z + self.x)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0
            yield tg.der(self.y) == (1.0 if self.x > 0.5 else 0.0)
            yield tg.der(self.z) == self.n
            yield tg.der(self.beside) == self.x

        @tg.when(lambda self: self.y > 0.25)
        def count(self) -> Any:
            return {self.n: self.n + 1}

    model = Chain().lower()
    assert influenced(model, Chain().x > 0.5) == {"y", "n", "z", "out"}
