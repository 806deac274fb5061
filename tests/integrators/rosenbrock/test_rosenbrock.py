"""Rodas5P where a Rosenbrock method can go wrong: time in every row, algebraic unknowns, fast sensors, sensitivities; truths in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate as tg


@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7])
def test_stiff_equations_driven_by_time_are_solved_within_the_tolerance_also_between_steps(rtol: float) -> None:
    model = tg.ode(lambda t, y: [-1e4 * (y[0] - math.cos(3 * t)) - 3 * math.sin(3 * t)], y0=[1.0])
    result = tg.simulate(model, (0.0, 5.0), method="rodas5p", rtol=rtol)
    times = np.linspace(0.0, 5.0, 301)
    assert result.at(times)["y[0]"].values == pytest.approx(np.cos(3 * times), abs=rtol)


def test_algebraic_unknowns_driven_by_time_and_derivatives_by_a_parameter() -> None:
    """x' = -k z, z = x cos t: x = exp(-k sin t), dx/dk = -sin t x."""
    model = tg.dae(
        lambda t, y, ydot, p: [ydot["x"] + p["k"] * y["z"], y["z"] - y["x"] * np.cos(t)],
        y0={"x": 1.0, "z": 1.0},
        ydot0={"x": -0.7, "z": 0.0},
        p={"k": 0.7},
    )
    times = np.linspace(0.0, 3.0, 17)
    result = tg.simulate(model, (0.0, 3.0), method="rodas5p", rtol=1e-7, sensitivities=["k"], outputs=times)
    x = np.exp(-0.7 * np.sin(times))
    assert result["x"].values == pytest.approx(x, abs=2e-6)
    assert result["z"].values == pytest.approx(x * np.cos(times), abs=2e-6)
    assert result.sensitivity("x", "k").values == pytest.approx(-np.sin(times) * x, abs=1e-5)


class Thermostat(tg.Component):
    """A room that is heated until its fast sensor has seen enough."""

    ambient = tg.Parameter(10.0)
    room = tg.Parameter(1.0)
    sensor = tg.Parameter(1e-4)
    low = tg.Parameter(19.0)
    high = tg.Parameter(21.0)
    power = tg.Parameter(20.0)
    T = tg.State(10.0)
    s = tg.State(10.0)
    on = tg.Discrete(1.0)

    def equations(self) -> Any:
        yield tg.der(self.T) == (self.ambient - self.T) / self.room + self.power * self.on
        yield tg.der(self.s) == (self.T - self.s) / self.sensor

    @tg.when(lambda self: self.s > self.high)
    def off(self) -> Any:
        return {self.on: 0.0}

    @tg.when(lambda self: self.s < self.low)
    def heat(self) -> Any:
        return {self.on: 1.0}


def switchings(p: dict[str, float], end: float) -> tuple[list[float], float]:
    """Times at which the heater is switched, and the last temperature: exponentials, and bisection where the sensor passes its threshold once."""
    t, on = 0.0, True
    temperature = sensed = p["ambient"]
    times: list[float] = []
    while True:
        rest = p["ambient"] + (p["power"] * p["room"] if on else 0.0)
        slow = (temperature - rest) * p["room"] / (p["room"] - p["sensor"])
        fast = sensed - rest - slow
        level, sign = (p["high"], 1.0) if on else (p["low"], -1.0)

        def at(d: float, rest: float = rest, slow: float = slow, fast: float = fast) -> float:
            return rest + slow * math.exp(-d / p["room"]) + fast * math.exp(-d / p["sensor"])

        left = end - t
        # behind ten times the sensor's own it only moves one way
        low, high = min(10 * p["sensor"], left), left
        if sign * (at(high) - level) <= 0.0:
            return times, rest + (temperature - rest) * math.exp(-left / p["room"])
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (low, middle) if sign * (at(middle) - level) > 0.0 else (middle, high)
        times.append(t + high)
        temperature, sensed = rest + (temperature - rest) * math.exp(-high / p["room"]), at(high)
        t, on = t + high, not on


def drawn(seed: int) -> tuple[dict[str, float], float]:
    random = np.random.default_rng(seed)
    values: NDArray[np.float64] = random.uniform(size=6)
    p = {
        "ambient": 16 * values[0], "room": 0.5 + 2.5 * values[1], "sensor": 10 ** (-5 + 3 * values[2]),
        "low": 18 + 1.5 * values[3], "high": 20 + 2 * values[4],
    }  # fmt: skip
    p["power"] = (1.3 + 2 * values[5]) * (p["high"] - p["ambient"]) / p["room"]
    return p, float(10 ** random.uniform(-8, -4))


@pytest.mark.parametrize("seed", range(4))
def test_a_room_with_a_fast_sensor_is_switched_when_it_should_be(seed: int) -> None:
    """The sensor lies beside the room's temperature by the error of the step, and its rate is that error times the fastest rate."""
    p, rtol = drawn(seed)
    times, last = switchings(p, 4.0)
    start = {"T": p["ambient"], "s": p["ambient"]}
    model = Thermostat(**p, **start)
    result = tg.simulate(model, (0.0, 4.0), method="rodas5p", rtol=rtol)
    # some ten times between events in which the room's temperature changes by some tolerances
    assert [event.time for event in result.events] == pytest.approx(times, abs=50 * rtol)
    assert result.final["T"] == pytest.approx(last, abs=50 * rtol * 20)


def test_a_saved_session_goes_on() -> None:
    model = Thermostat()
    whole = tg.simulate(model, (0.0, 2.0), method="rodas5p", rtol=1e-6)
    simulation = tg.Simulation(model, method="rodas5p", rtol=1e-6)
    simulation.advance(0.7)
    simulation.advance(2.0)
    assert [event.time for event in simulation.result.events] == pytest.approx([event.time for event in whole.events], abs=1e-5)


def test_delays_are_refused() -> None:
    with pytest.raises(tg.UsageError, match="delays"):
        tg.simulate(tg.ode(lambda t, y: [-tg.delay(y[0], 0.5)], y0=[1.0]), (0.0, 1.0), method="rodas5p")
