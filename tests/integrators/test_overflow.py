"""Exponentials that overflow in a divisor: 1 / (1 + exp(u)) is 0 there, and so are its derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg

SLOW, STEEP, WHERE, T_END = 0.3, 1e4, 0.5, 2.0


def switch(_t: Any, y: Any, p: Any) -> list[Any]:
    """From 0.3 to 1.3 where y passes c: a logistic function as it is written in papers, whose exponential is infinite at the start."""
    return [1.0 / (1.0 + np.exp(-STEEP * (y["y"] - p["c"]))) + p["a"]]


@pytest.mark.parametrize("method", ["auto", "taylor", "radau", "bdf", "ida", "rodas5p"])
def test_a_steep_logistic_function_of_the_unknown_is_run_through_with_its_derivatives(method: str) -> None:
    model = tg.ode(switch, y0={"y": 0.0}, p={"c": WHERE, "a": SLOW})
    result = tg.simulate(model, (0.0, T_END), rtol=1e-8, atol=1e-10, method=method, sensitivities=["c"])
    # the time from 0 to y: with u = exp(-STEEP (y - c)) the rate is a + 1 / (1 + u), and its inverse integrates to logarithms
    y = float(result.final["y"])
    sides = [np.logaddexp(0.0, np.log(SLOW / (1.0 + SLOW)) - STEEP * (at - WHERE)) for at in (0.0, y)]
    needed = y / (1.0 + SLOW) + (sides[0] - sides[1]) / STEEP * (1.0 / SLOW - 1.0 / (1.0 + SLOW))
    assert needed == pytest.approx(T_END, abs=1e-5)
    # y(T) moves by 1 - (1 + a) / a with c
    assert float(result.sensitivity("y", "c")[-1]) == pytest.approx(1.0 - (1.0 + SLOW) / SLOW, abs=2e-3)


@pytest.mark.parametrize("method", ["auto", "radau", "ida"])
def test_logistic_guards_cross_where_they_do_and_the_times_have_their_derivatives(method: str) -> None:
    def logistic(u: Any) -> Any:
        return 1.0 / (1.0 + np.exp(-u))

    def count(_t: Any, _y: Any, d: Any) -> Any:
        return {"n": d["n"] + 1}

    events = [
        tg.event(lambda t, y, p: logistic(STEEP * (y["y"] - p["c"])) > 0.5, count, name="level"),
        tg.event(lambda t, y, p: logistic(STEEP * (t - 1.2)) + logistic(-STEEP * (t - 1.7)) > 1.5, count, name="window"),
        tg.event(lambda t, y, p: y["y"] / np.cosh(1e3 * (t - p["c"])) > 0.5 * y["y"], count, name="peak"),
    ]
    model = tg.ode(lambda t, y: [1.0 - 0.3 * y["y"]], y0={"y": 0.0}, p={"c": WHERE}, discrete={"n": 0}, events=events)
    result = tg.simulate(model, (0.0, 2.5), rtol=1e-8, atol=1e-10, method=method, sensitivities=["c"])
    half = np.arccosh(2.0) / 1e3
    expected = {"peak": (WHERE - half, 1.0), "level": (-np.log(1.0 - 0.3 * WHERE) / 0.3, 1.0 / (1.0 - 0.3 * WHERE)), "window": (1.2, 0.0)}
    found = {event.cause.split(",")[0]: (event.time, event.dt_dp["c"]) for event in result.events if event.changes}
    assert list(found) == list(expected)
    for name, (time, slope) in expected.items():
        assert found[name][0] == pytest.approx(time, abs=1e-7)
        assert found[name][1] == pytest.approx(slope, abs=1e-6)


def test_an_overflowed_logistic_function_is_an_algebraic_variable_like_any_other() -> None:
    def residuals(_t: Any, y: Any, ydot: Any) -> list[Any]:
        return [ydot["y"] - y["w"] - SLOW, y["w"] + 0.01 * y["w"] ** 3 - 1.0 / (1.0 + np.exp(-STEEP * (y["y"] - WHERE)))]

    result = tg.simulate(tg.dae(residuals, y0={"y": 0.0, "w": 0.0}), (0.0, T_END), rtol=1e-8)
    # 0.3 up to c, and from there on with the root of w + w^3 / 100 = 1
    assert float(result.final["w"]) == pytest.approx(0.9902885, abs=1e-6)
    assert float(result.final["y"]) == pytest.approx(WHERE + (SLOW + 0.9902885) * (T_END - WHERE / SLOW), abs=1e-3)


def test_power_series_that_are_about_to_overflow_are_left_to_another_method() -> None:
    # below y = -0.387 the square is infinite, and before it comes to that its series are, but for those over ever shorter steps
    model = tg.ode(lambda t, y: [-1.0 - 0.1 * y["y"] + 1.0 / (1.0 + np.exp(-400.0 * (y["y"] - 0.5)) ** 2)], y0={"y": -0.2})
    result = tg.simulate(model, (0.0, 0.6), rtol=1e-8, method="taylor", max_steps=2000)
    # the switch is 0 all along
    assert float(result.final["y"]) == pytest.approx(-10.0 + 9.8 * np.exp(-0.06), abs=1e-7)
