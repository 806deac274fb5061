"""Pulses written as formulas of time are not stepped over by a model at rest, however narrow they are; truths are closed forms."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.compiled.waking import forcing_of, stops

T_END = 100.0


def pulse(kind: str, centre: float, width: float) -> tuple[Any, float]:
    """The pulse as a function of time, and what it adds up to."""
    if kind == "gauss":
        return lambda t: np.exp(-(((t - centre) / width) ** 2)), width * math.sqrt(math.pi)
    if kind == "sech":
        return lambda t: 1.0 / np.cosh(np.minimum(np.abs((t - centre) / width), 300.0)) ** 2, 2.0 * width
    # with a tail that is felt within T_END
    area = width * (math.atan((T_END - centre) / width) + math.atan(centre / width))
    return lambda t: 1.0 / (1.0 + ((t - centre) / width) ** 2), area


def case(seed: int) -> tuple[Any, float]:
    draw = random.Random(seed)
    kind = draw.choice(["gauss", "sech", "lorentz"])
    centre, width = draw.uniform(5.0, 90.0), 10.0 ** draw.uniform(-5.0, -0.5)
    function, area = pulse(kind, centre, width)
    height = 10.0 ** draw.uniform(-2.0, 2.0) / area
    return tg.ode(lambda t, y: [height * function(t)], y0={"x": 0.0}), height * area


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 40))])
def test_a_narrow_pulse_is_not_stepped_over(seed: int, method: str) -> None:
    model, area = case(seed)
    result = tg.simulate(model, (0.0, T_END), method=method, rtol=1e-6)
    # some thousand tolerances: multistep methods add up errors of hundreds of steps
    assert result.final["x"] == pytest.approx(area, rel=2e-3, abs=1e-6)


def test_an_event_that_only_a_narrow_pulse_brings_about_happens(method: str) -> None:
    model = tg.ode(lambda t, y: [(np.exp(-(((t - 61.3) / 1e-3) ** 2)) - y["z"]) * 1e7, 1.0 if y["z"] > 0.5 else 0.0], y0={"z": 0.0, "q": 0.0})
    result = tg.simulate(model, (0.0, T_END), method=method)
    assert result.final["q"] == pytest.approx(2e-3 * math.sqrt(math.log(2.0)), rel=1e-3)  # the lag of 1e-7 is less than that


@pytest.mark.slow
def test_every_pulse_of_a_train_is_seen(method: str) -> None:
    model = tg.ode(lambda t, y: [np.exp(-(((t % 10.0 - 5.0) / 0.01) ** 2))], y0={"x": 0.0})
    assert tg.simulate(model, (0.0, T_END), method=method).final["x"] == pytest.approx(10 * 0.01 * math.sqrt(math.pi), rel=1e-3)


@pytest.mark.slow
def test_pulses_are_seen_in_a_run_in_pieces_as_in_one() -> None:
    model, area = case(1)
    simulation = tg.Simulation(model)
    for end in (3.0, 40.0, 41.0, T_END):
        simulation.advance(end)
    assert simulation["x"] == tg.simulate(model, (0.0, T_END)).final["x"]
    assert simulation["x"] == pytest.approx(area, rel=1e-3)


@pytest.mark.slow
def test_a_pulse_that_a_parameter_moves_is_found_where_it_is() -> None:
    model = tg.ode(lambda t, y, p: [np.exp(-(((t - p["c"]) / 1e-3) ** 2))], y0={"x": 0.0}, p={"c": 10.0})
    for centre in (0.5, 33.3, 77.0):
        final = tg.simulate(model, (0.0, T_END), parameters={"c": centre}).final["x"]
        assert final == pytest.approx(1e-3 * math.sqrt(math.pi), rel=1e-3)


@pytest.mark.slow
def test_a_forcing_that_never_sleeps_is_left_to_the_control_of_the_error() -> None:
    model = tg.ode(lambda t, y: [np.sin(t) ** 2 + np.exp(-t)], y0={"x": 0.0})
    forcing = forcing_of(equation.residual for equation in model.lower().equations)
    assert len(forcing) == 2
    assert not stops(forcing, [], np.zeros(0), 0.0, 0.0, 1000.0).size
