"""Each thermal part against a closed form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import expm
from scipy.optimize import brentq

import tidegate as tg
from tidegate.library import thermal as th

RTOL = 1e-8


def close(value: Any, scale: float = 300.0) -> Any:
    """1e-6 of the size of a temperature, 100 tolerances of the run."""
    return pytest.approx(value, rel=1e-6, abs=1e-6 * scale)


class Wall(tg.Component):
    """Two bodies: a heater and a signal into the first, which conducts to the second, which loses heat to air and to a bath."""

    check_units = False  # signals are made of time
    one, two = th.HeatCapacitor(C=500.0, T=300.0), th.HeatCapacitor(C=200.0, T=350.0)
    heater, signal, between, resistor = th.FixedHeatFlow(Q_flow=40.0), th.SignalHeatFlow(), th.ThermalConductor(G=3.0), th.ThermalResistor(R=0.5)
    air, bath, convection = th.FixedTemperature(T=290.0), th.SignalTemperature(), th.Convection()
    temperature, flow = th.TemperatureSensor(), th.HeatFlowSensor()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.heater.port, self.signal.port, self.one.port, self.between.port_a, self.temperature.port)
        yield tg.connect(self.between.port_b, self.flow.port_a)
        yield tg.connect(self.flow.port_b, self.two.port, self.convection.port_a, self.resistor.port_a)
        yield tg.connect(self.convection.port_b, self.air.port)
        yield tg.connect(self.resistor.port_b, self.bath.port)
        yield self.convection.Gc == 1.5
        yield self.signal.Q_flow == 2.0 * tg.time
        yield 280.0 + tg.time == self.bath.T


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_two_bodies_warm_each_other_as_their_matrix_says(seed: int, dae_method: str) -> None:
    C1, C2, G, R = (float(x) for x in np.random.default_rng(seed).uniform([300, 100, 1, 0.3], [700, 300, 5, 0.8]))
    model = Wall(one={"C": C1}, two={"C": C2}, between={"G": G}, resistor={"R": R})
    result = tg.simulate(model, (0.0, 60.0), rtol=RTOL, method=dae_method)
    rates = np.array(
        [
            [-G / C1, G / C1, 40.0 / C1, 2.0 / C1],
            [G / C2, -(G + 1.5 + 1 / R) / C2, (1.5 * 290.0 + 280.0 / R) / C2, 1 / R / C2],
            [0, 0, 0, 0],
            [0, 0, 1, 0],
        ]
    )
    one, two, *_ = expm(60.0 * rates) @ [300.0, 350.0, 1.0, 0.0]
    found = result.final
    assert (found["one.T"], found["two.T"], found["temperature.y"], found["flow.y"]) == close((one, two, one, G * (one - two)))


def test_a_body_radiates_until_it_is_as_cold_as_what_is_around(dae_method: str) -> None:
    class Cooling(tg.Component):
        body, radiation, sky = th.HeatCapacitor(C=800.0, T=1200.0), th.BodyRadiation(Gr=0.7), th.FixedTemperature(T=250.0)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.body.port, self.radiation.port_a)
            yield tg.connect(self.radiation.port_b, self.sky.port)

    found = tg.simulate(Cooling(), (0.0, 50.0), rtol=RTOL, method=dae_method).final["body.T"]
    rate = 0.7 * 5.670374419e-8 / 800.0
    expected = brentq(lambda T: quad(lambda x: 1 / (x**4 - 250.0**4), T, 1200.0, epsabs=1e-22, epsrel=1e-12)[0] - 50.0 * rate, 260.0, 1190.0)
    assert found == close(expected)
