"""Situations in which derivatives come out as zero, or lose their jump: each is compared with its closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from examples.hidden_crossing import model as hidden_crossing

import tidegate as tg
from engines import allowed
from run_checks import event_times, slopes

__all__: list[str] = []


class Kicked(tg.Component):
    """x = exp(-t) falls to a at t = -ln a and is kicked up by b: x(1) = (1 + b/a) / e."""

    x = tg.State(1.0)
    a = tg.Parameter(0.5)
    b = tg.Parameter(0.25)

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.x

    @tg.when(lambda self: self.x < self.a)
    def kick(self) -> Any:
        return {self.x: self.x + self.b}


def test_parameters_in_a_guard_only_and_in_a_reset_only(method: str) -> None:
    result = tg.simulate(Kicked(), (0.0, 1.0), rtol=1e-10, sensitivities="all", method=method)
    assert slopes(result, ["x"], "a") == pytest.approx([-math.exp(-1)], rel=1e-8)
    assert slopes(result, ["x"], "b") == pytest.approx([2 * math.exp(-1)], rel=1e-8)


@pytest.mark.parametrize("outputs", [None, [math.log(2)], [math.log(2), 1.0], [0.5, math.log(2)]])
def test_the_derivative_of_a_time_survives_an_output_at_that_time(outputs: Any, method: str) -> None:
    result = tg.simulate(Kicked(), (0.0, 1.0), rtol=1e-10, sensitivities="all", outputs=outputs, method=method)
    assert event_times(result) == pytest.approx([math.log(2)], rel=allowed(method, 1e-9, 1e-10))
    assert [event.dt_dp["a"] for event in result.events] == pytest.approx([-2.0], rel=1e-9)
    assert [event.dt_dp["b"] for event in result.events] == pytest.approx([0.0], abs=1e-12)


class Started(tg.Component):
    x = tg.State(0.0)
    rate = tg.Discrete(0.0)
    T = tg.Parameter(0.3)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.rate

    @tg.at(lambda self: self.T)
    def start(self) -> Any:
        return {self.rate: 1.0}


@pytest.mark.parametrize("T", [0.3, 3 * 0.1])
def test_a_time_event_on_a_communication_point_keeps_its_derivative(T: float, method: str) -> None:
    result = tg.simulate(Started(T=T), (0.0, 1.0), outputs=np.arange(11) * 0.1, sensitivities="all", method=method)
    assert event_times(result) == [T]
    assert np.asarray(result["rate"]).tolist() == [0.0] * 3 + [1.0] * 8
    assert [event.dt_dp["T"] for event in result.events] == pytest.approx([1.0])
    assert np.asarray(result.sensitivity("x", "T"))[4:] == pytest.approx(-1.0)


class Numbered(tg.Component):
    """Conditions made of mode numbers have no slope along the flow: what moves them is the event that set the mode."""

    x = tg.State(0.0)
    s = tg.State(0.0)
    a = tg.Parameter(0.5)
    mode = tg.Discrete(1)
    level = tg.Discrete(1.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 1.0
        yield tg.der(self.s) == (self.a if self.mode > 1.5 else 0.0) + (self.x if self.level - 2.0 >= 0 else 0.0)

    @tg.when(lambda self: self.x > self.a)
    def advance(self) -> Any:
        return {self.mode: 2, self.level: self.level + 1}


def test_a_condition_made_of_a_mode_number_passes_derivatives_on(method: str) -> None:
    result = tg.simulate(Numbered(), (0.0, 2.0), rtol=1e-10, sensitivities="all", method=method)
    assert result.final["s"] == pytest.approx(0.5 * 1.5 + (4 - 0.25) / 2, rel=1e-9)
    assert slopes(result, ["s"], "a") == pytest.approx([2 - 3 * 0.5], rel=1e-9)
    assert [event.dt_dp["a"] for event in result.events] == pytest.approx([1.0])


def test_parameters_of_size_3e7_have_derivatives_as_good_as_others(method: str) -> None:
    def decay(t: Any, y: Any, p: Any) -> Any:
        rate = p["k"] * 1e-7
        return [-rate * y[0] if y[0] > p["c"] * 1e-8 else -2 * rate * y[0]]

    result = tg.simulate(tg.ode(decay, y0=[1.0], p={"k": 3e7, "c": 5e7}), (0.0, 1.0), rtol=1e-9, sensitivities="all", method=method)
    end = math.exp(-6.0) / 0.5  # exp(-2 k 1e-7) / (c 1e-8)
    assert slopes(result, ["y[0]"], "k") == pytest.approx([-2e-7 * end], rel=1e-7)
    assert slopes(result, ["y[0]"], "c") == pytest.approx([-end / 5e7], rel=1e-7)


@pytest.mark.parametrize("below", [1e-2, 1e-4, 1e-6])
def test_near_a_tangency_the_derivative_is_large_and_right(below: float, method: str) -> None:
    level = 1 - below
    model = tg.ode(lambda t, y, p: [y[1], -y[0], 1.0 if y[0] > p["c"] else 0.0], y0=[0.0, 1.0, 0.0], p={"c": level})
    result = tg.simulate(model, (0.0, 6.0), rtol=1e-11, sensitivities="all", method=method)
    slope = 1 / math.sqrt(1 - level**2)
    # an error of the wave's height counts 1 / (2 * below) times: 1e-4 is twenty tolerances at the nearest
    rel = 1e-4 if method == "radau" else 1e-3
    assert [event.dt_dp["c"] for event in result.events] == pytest.approx([slope, -slope], rel=rel)
    assert slopes(result, ["y[2]"], "c") == pytest.approx([-2 * slope], rel=rel)


@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
def test_at_a_tangency_the_derivative_is_said_not_to_exist(rtol: float, method: str) -> None:
    with pytest.warns(tg.SensitivityWarning, match=r"touches its zero at t = 0\.287[67].* no derivative by p \(tangency\)"):
        result = tg.simulate(hidden_crossing, (0.0, 2.0), rtol=rtol, parameters={"p": 3.0}, sensitivities=["p"], method=method)
    assert math.isnan(slopes(result, ["x"], "p")[0])
