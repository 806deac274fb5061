"""Each part that fluid goes through against a closed form."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import tidegate as tg
from tidegate.library import fluid as fl

RTOL = 1e-8
PRESSURE = 9810.0  # Pa under 1 m of water


def close(value: Any, scale: float = 1.0) -> Any:
    """1e-6 of the size of the quantity, 100 tolerances of the run."""
    return pytest.approx(value, rel=1e-6, abs=1e-6 * scale)


class Emptied(tg.Component):
    tank, valve, drain = fl.Tank(A=0.5, h=2.0), fl.Valve(K=1e-4), fl.Drain()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.tank.outlet, self.valve.port_a)
        yield tg.connect(self.valve.port_b, self.drain.port)
        yield self.valve.opening == tg.where(tg.time < 20.0, 1.0, 0.25)


@pytest.mark.slow
def test_a_tank_empties_as_torricelli_says(dae_method: str) -> None:
    result = tg.simulate(Emptied(), (0.0, 100.0), outputs=[20.0, 60.0, 100.0], rtol=RTOL, method=dae_method)
    # d sqrt(h) / dt = -K sqrt(rho g) opening / (2 A)
    k = 1e-4 * math.sqrt(PRESSURE) / (2 * 0.5)
    roots = [math.sqrt(2.0) - k * (20.0 + 0.25 * more) for more in (0.0, 40.0, 80.0)]
    assert result["tank.h"].values == close([root**2 for root in roots])
    assert result["valve.q"].values[1:] == close([1e-4 * 0.25 * math.sqrt(PRESSURE) * root for root in roots[1:]], 1e-3)


class Vessels(tg.Component):
    """A pump fills the first of two tanks, between which and from the second of which water flows through pipes."""

    check_units = False  # the signal is made of time
    one, two = fl.Tank(A=0.5, h=0.3), fl.Tank(A=0.2, h=1.0)
    pump, source, extra, signal = fl.Pump(q_max=2e-3, dp_max=5e4), fl.FixedPressure(p=1e4), fl.FixedFlow(q=3e-4), fl.SignalFlow()
    between, outflow, drain = fl.LaminarPipe(R=4e6), fl.LaminarPipe(R=9e6), fl.Drain()
    pressure, flow = fl.PressureSensor(), fl.FlowSensor()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.port, self.pump.port_a)
        yield tg.connect(self.pump.port_b, self.one.outlet, self.between.port_a, self.pressure.port)
        yield tg.connect(self.between.port_b, self.flow.port_a)
        yield tg.connect(self.flow.port_b, self.two.outlet, self.outflow.port_a)
        yield tg.connect(self.outflow.port_b, self.drain.port)
        yield tg.connect(self.extra.port, self.signal.port, self.two.inlet)
        yield self.pump.speed == 0.8
        yield self.signal.q == 1e-6 * tg.time


@pytest.mark.slow
def test_communicating_vessels_move_as_their_matrix_does(dae_method: str) -> None:
    result = tg.simulate(Vessels(), (0.0, 200.0), rtol=RTOL, method=dae_method)
    # pump: 0.8 q_max (1 + (1e4 - p1) / dp_max)
    a, b, c = 0.8 * 2e-3 * PRESSURE / 5e4, PRESSURE / 4e6, PRESSURE / 9e6
    rates = np.array(
        [
            [-(a + b) / 0.5, b / 0.5, 0.8 * 2e-3 * 1.2 / 0.5, 0],
            [b / 0.2, -(b + c) / 0.2, 3e-4 / 0.2, 1e-6 / 0.2],
            [0, 0, 0, 0],
            [0, 0, 1, 0],
        ]
    )
    one, two, *_ = expm(200.0 * rates) @ [0.3, 1.0, 1.0, 0.0]
    found = result.final
    assert (found["one.h"], found["two.h"]) == close((one, two))
    assert (found["pressure.y"], found["flow.y"]) == (close(PRESSURE * one, 1e4), close(b * (one - two), 1e-3))


class Checked(tg.Component):
    """Two tanks with a valve between them, which lets nothing back when it is a check valve."""

    low, high, valve = fl.Tank(A=0.5, h=0.2), fl.Tank(A=0.3, h=1.0), fl.Valve(K=1e-4)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.low.outlet, self.valve.port_a)
        yield tg.connect(self.valve.port_b, self.high.outlet)
        yield self.valve.opening == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("backward", [0.0, 1.0])
def test_a_valve_lets_fluid_back_unless_it_is_a_check_valve(backward: float, dae_method: str) -> None:
    found = tg.simulate(Checked(valve={"backward": backward}), (0.0, 10.0), rtol=RTOL, method=dae_method).final
    # the difference of levels x: d sqrt(x) / dt = -K sqrt(rho g) (1/A1 + 1/A2) / 2
    root = math.sqrt(0.8) - 10.0 * 1e-4 * math.sqrt(PRESSURE) * (1 / 0.5 + 1 / 0.3) / 2
    moved = backward * (0.8 - root**2) / (1 / 0.5 + 1 / 0.3)
    assert (found["low.h"], found["high.h"]) == close((0.2 + moved / 0.5, 1.0 - moved / 0.3))


@pytest.mark.slow
def test_levels_of_two_tanks_become_one_level(dae_method: str) -> None:
    found = tg.simulate(Checked(), (0.0, 300.0), rtol=RTOL, method=dae_method).final
    level = (0.5 * 0.2 + 0.3 * 1.0) / 0.8
    assert (found["low.h"], found["high.h"]) == close((level, level))
