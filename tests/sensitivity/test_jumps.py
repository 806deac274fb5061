"""Sensitivities through every kind of event agree with closed forms, or with central differences of whole runs."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from run_checks import central_differences, event_times, slopes

RTOL = 1e-10


def check(model: Any, t_end: float, names: list[str], parameters: list[str], *, steps: tuple[float, ...] = (1e-4, 1e-5), rel: float = 1e-6) -> Any:
    """Sensitivities of end values and event times against central differences with several steps, of which the best counts."""
    result = tg.simulate(model, (0.0, t_end), rtol=RTOL, sensitivities="all")
    for parameter in parameters:
        found = slopes(result, names, parameter) + [event.dt_dp[parameter] for event in result.events if event.kind not in ("initial", "final")]
        misses = []
        for step in steps:
            ends, times = central_differences(model, (0.0, t_end), names, parameter, step)
            truth = np.array(ends + times)
            misses.append(np.abs(np.array(found) - truth) / np.maximum(np.abs(truth), 0.1))
        assert np.min(misses, axis=0).max() < rel, (parameter, found)
    return result


def test_a_rate_that_switches_on_a_level() -> None:
    """x' = a until x = 1, then b, from x = c: everything in closed form."""
    model = tg.ode(lambda t, y, p: [p["a"] if y["x"] < 1 else p["b"]], y0=lambda p: {"x": p["c"]}, p={"a": 1.0, "b": 2.0, "c": 0.25})
    result = tg.simulate(model, (0.0, 2.0), rtol=RTOL, sensitivities="all")
    assert [slopes(result, ["x"], name)[0] for name in "abc"] == pytest.approx([2.0 * 0.75, 2.0 - 0.75, 2.0], rel=1e-9)
    assert [result.events[0].dt_dp[name] for name in "abc"] == pytest.approx([-0.75, 0.0, -1.0], rel=1e-9, abs=1e-12)


def test_a_start_value_that_depends_on_a_parameter() -> None:
    model = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0=lambda p: {"x": p["a"] ** 2}, p={"k": 0.5, "a": 3.0})
    result = tg.simulate(model, (0.0, 1.0), rtol=RTOL, sensitivities="all")
    assert slopes(result, ["x"], "a") == pytest.approx([6.0 * math.exp(-0.5)], rel=1e-8)
    assert slopes(result, ["x"], "k") == pytest.approx([-9.0 * math.exp(-0.5)], rel=1e-8)


class Ball(tg.Component):
    h = tg.State(lambda self: self.height)
    v = tg.State(0.0)
    e = tg.Parameter(0.8)
    g = tg.Parameter(9.81)
    height = tg.Parameter(1.0)
    floor = tg.Parameter(0.0)

    def equations(self) -> Any:
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -self.g

    @tg.when(lambda self: self.h < self.floor)
    def bounce(self) -> Any:
        return {self.v: -self.e * self.v}


@pytest.mark.slow
def test_a_bouncing_ball_in_start_value_guard_and_reset() -> None:
    check(Ball(), 2.0, ["h", "v"], ["e", "g", "height", "floor"])


def test_bounce_times_in_closed_form() -> None:
    result = tg.simulate(Ball(), (0.0, 3.0), rtol=RTOL, sensitivities=["e", "g"])
    fall = math.sqrt(2 / 9.81)
    for k, event in enumerate(result.events):
        assert event.time == pytest.approx(fall * (1 + 2 * sum(0.8**j for j in range(1, k + 1))), rel=1e-9)
        assert event.dt_dp["e"] == pytest.approx(fall * 2 * sum(j * 0.8 ** (j - 1) for j in range(1, k + 1)), rel=1e-8, abs=1e-10)
        assert event.dt_dp["g"] == pytest.approx(-event.time / (2 * 9.81), rel=1e-8)


@pytest.mark.parametrize(
    "relation", [lambda t, p: t > p["T"], lambda t, p: p["T"] <= t, lambda t, p: 2 * t - 2 * p["T"] > 0, lambda t, p: np.exp(t) > np.exp(p["T"])]
)
def test_a_relation_of_time_and_a_parameter(relation: Any) -> None:
    model = tg.ode(lambda t, y, p: [(1.0 if relation(t, p) else -1.0) * y["x"]], y0={"x": 1.0}, p={"T": 0.7})
    result = tg.simulate(model, (0.0, 2.0), rtol=RTOL, sensitivities="all")
    end = math.exp(-0.7 + 1.3)
    assert result.final["x"] == pytest.approx(end, rel=1e-8)
    assert slopes(result, ["x"], "T") == pytest.approx([-2 * end], rel=1e-8)
    assert result.events[0].dt_dp["T"] == pytest.approx(1.0, rel=1e-9)


class Dosing(tg.Component):
    x = tg.State(1.0)
    when_to = tg.Parameter(1.0)
    period = tg.Parameter(0.3)
    k = tg.Parameter(0.5)
    dose = tg.Parameter(1.0)
    taken = tg.Discrete(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.k * self.x

    @tg.at(lambda self: self.when_to)
    def kick(self) -> Any:
        return {self.x: self.x + self.dose}

    @tg.every(lambda self: self.period, start=lambda self: self.period)
    def sample(self) -> Any:
        return {self.taken: self.x}


@pytest.mark.slow
def test_times_of_clocks_that_depend_on_parameters_and_samples_of_states() -> None:
    result = check(Dosing(), 2.0, ["x", "taken"], ["when_to", "period", "k", "dose"])
    ticks = [event for event in result.events if "sample" in event.causes]
    assert [event.dt_dp["period"] for event in ticks] == pytest.approx(list(range(1, len(ticks) + 1)))


class NextTime(tg.Component):
    """The next time of an event is itself a discrete variable that was sampled."""

    x = tg.State(1.0)
    a = tg.Parameter(0.3)
    following = tg.Discrete(lambda self: self.a)
    count = tg.Discrete(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.x

    @tg.when(lambda self: tg.time >= self.following)
    def again(self) -> Any:
        return {self.count: self.count + 1, self.following: self.following + 0.5 * self.x + 0.1}


@pytest.mark.slow
def test_event_times_that_depend_on_sampled_values() -> None:
    result = check(NextTime(), 2.0, ["x", "following"], ["a"])
    assert len(event_times(result)) == 7


class Chained(tg.Component):
    x = tg.State(0.0)
    v = tg.State(lambda self: self.a)
    y = tg.State(1.0)
    d = tg.Discrete(0.0)
    a = tg.Parameter(1.0)
    b = tg.Parameter(0.4)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.v
        yield tg.der(self.v) == -self.b * self.v
        yield tg.der(self.y) == -self.y * (1 + self.d)

    @tg.when(lambda self: self.x >= 0.5 * self.b + 0.2)
    def hit(self) -> Any:
        return {self.v: self.v * self.a + self.b, self.d: self.x * self.v}

    @tg.when(lambda self: self.d > 0.1)
    def second(self) -> Any:
        return {self.y: self.y + self.d * self.v}


@pytest.mark.slow
def test_one_event_that_triggers_another_passes_its_derivatives_on() -> None:
    check(Chained(), 2.0, ["x", "v", "y", "d"], ["a", "b"])


@cache
def rectifier() -> Any:
    def residual(t: Any, y: Any, ydot: Any, p: Any) -> Any:
        current = y["v"] / p["r1"] if y["v"] > p["threshold"] else y["v"] / p["r2"]
        return [ydot["v"] + y["i"] / p["c"], y["i"] - current - p["l"] * y["i"] ** 3]

    return tg.dae(residual, y0={"v": 2.0, "i": 0.0}, p={"r1": 1.0, "r2": 3.0, "threshold": 1.2, "c": 1.1, "l": 0.01})


def test_algebraic_unknowns_jump_with_the_mode() -> None:
    check(rectifier(), 2.0, ["v", "i"], ["r1", "r2", "threshold", "c", "l"])


def test_the_algebraic_unknown_has_its_sensitivity_from_the_start() -> None:
    result = tg.simulate(rectifier(), (0.0, 0.1), rtol=RTOL, sensitivities=["r1"])
    i = float(np.asarray(result["i"])[0])
    # i - v/r1 - l i^3 = 0 with v = 2
    assert float(np.asarray(result.sensitivity("i", "r1"))[0]) == pytest.approx(-2.0 / (1.0 - 3 * 0.01 * i**2), rel=1e-9)


def test_a_guard_on_an_algebraic_unknown() -> None:
    def residual(t: Any, y: Any, ydot: Any, p: Any) -> Any:
        return [ydot["x"] + p["k"] * y["z"], y["z"] + y["z"] ** 3 - y["x"] - (p["boost"] if y["z"] < p["level"] else 0.0)]

    model = tg.dae(residual, y0={"x": 1.0, "z": 0.5}, p={"k": 1.0, "level": 0.4, "boost": -0.1})
    check(model, 1.5, ["x", "z"], ["k", "level", "boost"])


@pytest.mark.slow
def test_a_mode_dependent_coupled_mass() -> None:
    def residual(t: Any, y: Any, ydot: Any, p: Any) -> Any:
        push = 0.5 if y["x"] < p["level"] else 0.0
        return [p["m1"] * ydot["x"] + p["m2"] * ydot["z"] + y["x"] + push, p["m2"] * ydot["x"] + p["m3"] * ydot["z"] + y["z"]]

    model = tg.dae(residual, y0={"x": 1.0, "z": 0.3}, p={"m1": 2.0, "m2": 0.5, "m3": 1.0, "level": 0.5})
    check(model, 3.0, ["x", "z"], ["m1", "m2", "m3", "level"])


@pytest.mark.parametrize("method", ["radau", "ida"])
def test_held_combinations_of_derivatives_move_with_the_parameter_in_them(method: str) -> None:
    """p x' + z' + x = 0 and x + z = s, mixed, with s from 0 to 1 at t = 1: p x + z is held there, so x jumps by 1/(1 - p), whose derivative counts.

    x' = x/(1 - p) otherwise, so that x(2) = (x0 q + 1/(1 - p)) q with q = exp(1/(1 - p)), differentiated by hand below.
    """

    def residual(t: Any, y: Any, ydot: Any, p: Any) -> Any:
        balance = p["p"] * ydot["x"] + ydot["z"] + y["x"]
        constraint = y["x"] + y["z"] - (1.0 if t > 1.0 else 0.0)
        return [balance + constraint, balance - 2.0 * constraint]

    model = tg.dae(residual, y0={"x": -0.5, "z": 0.5}, p={"p": 0.3})
    result = tg.simulate(model, (0.0, 2.0), sensitivities="all", rtol=1e-10, atol=1e-12, method=method)
    k = 1.0 / 0.7
    q = math.exp(k)
    x, dx = (k - 0.5 * q) * q, k**2 * (1.0 + k - q) * q
    # a multistep method adds up to some hundred tolerances
    assert [result.final["x"], result.final["z"]] == pytest.approx([x, 1.0 - x], rel=1e-7)
    assert slopes(result, ["x", "z"], "p") == pytest.approx([dx, -dx], rel=1e-6)


def test_outputs_have_sensitivities_too() -> None:
    model = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 0.5}, outputs=lambda t, y, p: {"heat": p["k"] * y["x"] ** 2})
    result = tg.simulate(model, (0.0, 1.0), rtol=RTOL, sensitivities="all")
    assert slopes(result, ["heat"], "k") == pytest.approx([math.exp(-1.0) - math.exp(-1.0)], abs=1e-9)
    assert float(np.asarray(result.sensitivity("heat", "k"))[0]) == pytest.approx(1.0)


def test_opaque_functions_have_sensitivities_by_differences() -> None:
    sine = tg.opaque(math.sin)
    model = tg.ode(lambda t, y, p: [-p["k"] * sine(y["x"])], y0={"x": 1.0}, p={"k": 1.0})
    result = tg.simulate(model, (0.0, 1.0), rtol=1e-8, sensitivities="all")
    # tan(x/2) = tan(1/2) exp(-k t), so dx/dk = -t sin(x)
    assert slopes(result, ["x"], "k") == pytest.approx([-math.sin(result.final["x"])], rel=1e-6)


def test_a_parameter_that_nothing_depends_on_has_zero_sensitivity() -> None:
    model = tg.ode(lambda t, y, p: [-y["x"]], y0={"x": 1.0}, p={"unused": 3.0})
    assert np.asarray(tg.simulate(model, (0.0, 1.0), sensitivities="all").sensitivity("x", "unused")) == pytest.approx(0.0)


def test_sensitivities_do_not_change_the_run() -> None:
    plain, with_them = (tg.simulate(Ball(), (0.0, 2.0), sensitivities=wanted) for wanted in (None, "all"))
    assert plain.final == with_them.final
    assert plain.statistics.steps == with_them.statistics.steps


def test_sensitivities_are_given_at_asked_times() -> None:
    model = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 0.5})
    times = np.linspace(0.0, 3.0, 31)
    result = tg.simulate(model, (0.0, 3.0), rtol=RTOL, sensitivities="all", outputs=times)
    assert np.asarray(result.sensitivity("x", "k")) == pytest.approx(-times * np.exp(-0.5 * times), abs=1e-8)


def steps_of(*relations: Any) -> Any:
    """q' = the sum of ones where relations hold, which take (t, x, z, p); x and z run like the time."""

    def rate(t: Any, y: Any, p: Any) -> list[Any]:
        return [1.0, 1.0, sum(1.0 if relation(t, y["x"], y["z"], p) else 0.0 for relation in relations)]

    return tg.ode(rate, y0={"x": 0.0, "z": 0.0, "q": 0.0}, p={"a": 1.0, "b": 1.0})


@pytest.mark.parametrize(
    "relations",
    [
        (lambda t, x, z, p: t > p["a"], lambda t, x, z, p: t > p["b"]),
        (lambda t, x, z, p: x > p["a"], lambda t, x, z, p: z > p["b"]),
        (lambda t, x, z, p: t > p["a"], lambda t, x, z, p: z > p["b"]),
    ],
)
def test_relations_that_change_together_and_add_up_have_each_their_derivative(relations: Any) -> None:
    result = tg.simulate(steps_of(*relations), (0.0, 3.0), rtol=RTOL, sensitivities="all")
    assert result.final["q"] == pytest.approx(4.0, rel=1e-9)
    assert slopes(result, ["q"], "a") == pytest.approx([-1.0], rel=1e-8)
    assert slopes(result, ["q"], "b") == pytest.approx([-1.0], rel=1e-8)


@pytest.mark.parametrize(
    "relation",
    [
        lambda t, x, z, p: t > p["a"] and t > p["b"],
        lambda t, x, z, p: x > p["a"] and z > p["b"],
        lambda t, x, z, p: x > p["a"] or z > p["b"],
    ],
)
def test_relations_that_change_together_and_need_each_other_have_no_derivative(relation: Any) -> None:
    with pytest.warns(tg.SensitivityWarning, match="happen together at t = 1"):
        result = tg.simulate(steps_of(relation), (0.0, 3.0), rtol=RTOL, sensitivities="all")
    assert result.final["q"] == pytest.approx(2.0, rel=1e-9)
    assert np.isnan([*slopes(result, ["q"], "a"), *slopes(result, ["q"], "b")]).all()
    assert slopes(result, ["x"], "a") == pytest.approx([0.0], abs=1e-12)


def test_conditions_of_one_quantity_that_change_together_have_one_time() -> None:
    model = tg.ode(lambda t, y, p: [-1.0, 1.0 if y["x"] > p["a"] and max(y["x"] - p["a"], 0.0) > 0 else 0.0], y0={"x": 1.0, "q": 0.0}, p={"a": 0.25})
    result = tg.simulate(model, (0.0, 2.0), rtol=RTOL, sensitivities="all")
    assert slopes(result, ["q"], "a") == pytest.approx([-1.0], rel=1e-8)
