"""Rodas5P where a Rosenbrock method can go wrong: time in every row, algebraic unknowns, fast sensors, sensitivities; truths in closed form."""

from __future__ import annotations

import math
from pathlib import Path
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


def test_a_saved_session_goes_on(tmp_path: Path) -> None:
    """The heater is on when it is saved, its sensor away from both thresholds."""
    model = Thermostat()
    whole = tg.simulate(model, (0.0, 2.0), method="rodas5p", rtol=1e-6)
    first = tg.Simulation(model, method="rodas5p", rtol=1e-6)
    first.advance(0.7)
    first.save(tmp_path / "room.sim")
    second = tg.Simulation.load(tmp_path / "room.sim", model)
    second.advance(2.0)
    assert second.result.statistics.method == "rodas5p"
    times = [event.time for event in whole.events]
    assert [event.time for event in second.result.events] == pytest.approx([time for time in times if time > 0.7], abs=1e-5)
    assert second.result.final["T"] == pytest.approx(whole.final["T"], abs=1e-4)


@pytest.mark.slow
def test_a_rod_of_many_cells_with_a_sparse_jacobian_ends_where_the_exponential_of_its_matrix_does() -> None:
    """d/d(k) is t A exp(k t A) y0, taken of the same spectral sum."""
    n, k, end = 80, 3.0, 0.5

    def rod(t: float, y: Any, p: Any) -> Any:
        return [p["k"] * ((y[i - 1] if i else 0.0) - 2.0 * y[i] + (y[i + 1] if i < n - 1 else 0.0)) for i in range(n)]

    start = np.sin(np.arange(n) ** 1.5)
    prepared = tg.prepare(tg.ode(rod, y0=start.tolist(), p={"k": k}), (0.0, end), method="rodas5p", rtol=1e-7, atol=1e-9, sensitivities=["k"])
    assert prepared.problem.model.sparsity is not None
    result = prepared.run()
    rates, shapes = np.linalg.eigh(np.diag(-2.0 * np.ones(n)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1))
    decayed = np.exp(k * end * rates) * (shapes.T @ start)
    found = [result[f"y[{i}]"].values[-1] for i in range(n)]
    slopes = [result.sensitivity(f"y[{i}]", "k").values[-1] for i in range(n)]
    assert found == pytest.approx(shapes @ decayed, abs=2e-6)
    assert slopes == pytest.approx(shapes @ (end * rates * decayed), abs=2e-6)


@pytest.mark.parametrize("method", ["radau", "rodas5p"])
@pytest.mark.parametrize(("power", "factor"), [(0.5, 1.0), (0.3, 2.1), (1.5, 0.7), (2.6, 1.9)])
def test_a_level_falls_by_a_power_that_is_a_parameter_and_rests(power: float, factor: float, method: str) -> None:
    """u' = -k max(u - l, 0)^p: (u - l)^(1-p) falls by (1 - p) k in the unit of time, to zero if p < 1."""

    def rates(t: float, y: Any, p: Any) -> Any:
        return {"u": -p["k"] * max(y["u"] - p["l"], 0.0) ** p["p"], "x": y["u"] - y["x"]}

    model = tg.ode(rates, y0={"u": 1.0, "x": 0.0}, p={"k": factor, "l": 0.2, "p": power})
    result = tg.simulate(model, (0.0, 4.0), method=method, rtol=1e-6, atol=1e-8)
    left = max(0.8 ** (1.0 - power) - (1.0 - power) * factor * 4.0, 0.0)
    assert result.final["u"] == pytest.approx(0.2 + left ** (1.0 / (1.0 - power)), abs=1e-6)


def test_delays_are_refused() -> None:
    with pytest.raises(tg.UsageError, match="delays"):
        tg.simulate(tg.ode(lambda t, y: [-tg.delay(y[0], 0.5)], y0=[1.0]), (0.0, 1.0), method="rodas5p")


@pytest.mark.slow
def test_index_two_is_refused_and_index_one_is_not() -> None:
    """A bead on the circle: f3 is the constraint differentiated twice."""
    bead = tg.hdae(
        f1=lambda t, y: [y["vx"], y["vy"], -y["force"] * y["px"], -y["force"] * y["py"] - 9.81],
        f3=lambda t, y: y["vx"] ** 2 + y["vy"] ** 2 - y["force"] * (y["px"] ** 2 + y["py"] ** 2) - 9.81 * y["py"],
        f4=lambda t, y: y["px"] * y["vx"] + y["py"] * y["vy"],
        f5=lambda t, y: (y["px"] ** 2 + y["py"] ** 2 - 1) / 2,
        x1={"px": 1.0, "py": 0.0, "vx": 0.0, "vy": 0.0},
        x3={"force": 0.0},
    )
    for form in ("index2", "index2_stabilised"):
        with pytest.raises(tg.UsageError, match="index two"):
            tg.simulate(bead, (0.0, 1.0), method="rodas5p", hdae=form)
    final = tg.simulate(bead, (0.0, 1.0), method="rodas5p", hdae="index1", rtol=1e-8).final
    assert 0.5 * (final["vx"] ** 2 + final["vy"] ** 2) + 9.81 * final["py"] == pytest.approx(0.0, abs=1e-6)
