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
from tidegate.executive.contacts import influenced


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_at_the_tangency_of_the_hidden_crossing_the_derivative_is_said_not_to_exist(rtol: float, method: str) -> None:
    with pytest.warns(tg.SensitivityWarning, match=r"touches its zero at t = 0\.28768.*no derivative by p .*x by it are NaN"):
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


def waves(level: float) -> Any:
    """y[2] counts the time above the level; y[3] has nothing to do with it."""

    def f(t: Any, y: Any, p: Any) -> Any:
        return [y[1], -y[0], 1.0 if y[0] > p["c"] else 0.0, -p["c"] * y[3]]

    return tg.ode(f, y0=[0.0, 1.0, 0.0, 1.0], p={"c": level})


def test_only_what_depends_on_the_condition_loses_its_derivative(method: str) -> None:
    with pytest.warns(tg.SensitivityWarning, match=r"`y\[0\] > c` touches"):
        result = tg.simulate(waves(1.0), (0.0, 6.0), rtol=1e-10, sensitivities="all", method=method)
    assert slopes(result, ["y[0]", "y[1]"], "c") == [0.0, 0.0]
    assert math.isnan(slopes(result, ["y[2]"], "c")[0])
    assert slopes(result, ["y[3]"], "c") == pytest.approx([-6 * math.exp(-6.0)], rel=1e-7)


def test_a_crossing_by_less_than_the_tolerances_is_named_and_has_no_derivative(method: str) -> None:
    with pytest.warns(tg.SensitivityWarning, match="no derivative by c"):
        result = tg.simulate(waves(1.0 - 1e-13), (0.0, 6.0), rtol=1e-8, sensitivities="all", method=method)
    assert math.isnan(slopes(result, ["y[2]"], "c")[0])


@pytest.mark.parametrize("level", [1 + 1e-6, 1 - 1e-6])
def test_clear_misses_and_clear_crossings_keep_their_derivatives(level: float, method: str) -> None:
    result = tg.simulate(waves(level), (0.0, 6.0), rtol=1e-10, sensitivities="all", method=method)
    expected = 0.0 if level > 1 else -2 / math.sqrt(1 - level**2)
    assert slopes(result, ["y[2]"], "c") == pytest.approx([expected], rel=1e-3)


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
