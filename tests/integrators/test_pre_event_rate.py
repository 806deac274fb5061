"""Rates before an event do not repeat what a stiff model makes of the point's error; without stiffness they are those of the equations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import allowed
from run_checks import slopes

__all__: list[str] = []


RATE = 1e6
RTOL = 1e-8
MANY = 1_000.0  # tolerances: some thousand steps follow the slow motion; without the correction the distance from it would count RATE times as much
# fast follows slow = sin t, later by 1 / RATE; the kick adds one whenever it comes
CROSSING = math.pi / 6 + 1 / RATE
SLOPE = math.cos(CROSSING) + math.sin(CROSSING) / RATE
KICK: dict[str, Any] = {"reset": lambda t, y: {"slow": y["slow"] + 1.0}}


def test_the_time_at_which_a_fast_unknown_crosses_has_the_derivatives_of_the_slow_motion(method: str) -> None:
    model = tg.ode(
        lambda t, y: [RATE * (y["slow"] - y["fast"]), np.cos(t)],
        y0={"fast": 0.0, "slow": 0.0},
        p={"level": 0.5},
        events=tg.event(lambda t, y, p: y["fast"] > p["level"], **KICK),
    )
    result = tg.simulate(model, (0.0, 1.0), rtol=RTOL, sensitivities="all", method=method)
    assert [event.dt_dp["level"] for event in result.events] == pytest.approx([1 / SLOPE], abs=allowed(method, 1e-9, RTOL, MANY))
    assert slopes(result, ["fast", "slow"], "level") == pytest.approx([0.0, 0.0], abs=allowed(method, 1e-9, RTOL, MANY))


def test_so_has_the_time_at_which_an_algebraic_unknown_crosses(dae_method: str) -> None:
    model = tg.dae(
        lambda t, y, d: [d["fast"] - RATE * (y["slow"] - y["fast"]), d["slow"] - np.cos(t), y["seen"] - 2.0 * y["fast"]],
        y0={"fast": 0.0, "slow": 0.0, "seen": 0.0},
        p={"level": 0.5},
        events=tg.event(lambda t, y, p: y["seen"] > 2.0 * p["level"], **KICK),
    )
    result = tg.simulate(model, (0.0, 1.0), rtol=RTOL, sensitivities="all", method=dae_method)
    assert [event.dt_dp["level"] for event in result.events] == pytest.approx([1 / SLOPE], abs=allowed(dae_method, 1e-9, RTOL, MANY))
    assert slopes(result, ["fast", "slow", "seen"], "level") == pytest.approx([0.0, 0.0, 0.0], abs=allowed(dae_method, 1e-9, RTOL, MANY))


def test_without_stiffness_the_rates_are_those_of_the_equations(method: str) -> None:
    # x = exp(-t) crosses a at -ln a, where x' = -a whatever the polynomial says
    model = tg.ode(lambda t, y: [-y["x"]], y0={"x": 1.0}, p={"a": 0.5}, events=tg.event(lambda t, y, p: y["x"] < p["a"]))
    result = tg.simulate(model, (0.0, 1.0), rtol=RTOL, sensitivities="all", method=method)
    assert [event.time for event in result.events] == pytest.approx([math.log(2)], abs=allowed(method, 1e-9, RTOL))
    assert [event.dt_dp["a"] for event in result.events] == pytest.approx([-2.0], abs=allowed(method, 1e-9, RTOL))
