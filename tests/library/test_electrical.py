"""Each electrical part against a closed form; circuits of the golden file built of them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import tidegate as tg
from tidegate.library import electrical as el

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "components.json").read_text())
RTOL = 1e-8


def close(value: float, scale: float = 1.0) -> Any:
    """1e-6 of the size of the quantity, 100 tolerances of the run."""
    return pytest.approx(value, rel=1e-6, abs=1e-6 * scale)


class Sources(tg.Component):
    """A resistor at each source; voltages and currents are the sources' own formulas."""

    G = el.Ground()
    sine_v, sine_i = el.SineVoltage(V=3.0, f=2.0, phase=0.4, offset=-1.0), el.SineCurrent(I=3.0, f=2.0, phase=0.4, offset=-1.0)
    step_v, step_i = el.StepVoltage(V=3.0, offset=-1.0, start_time=0.3), el.StepCurrent(I=3.0, offset=-1.0, start_time=0.3)
    constant_i = el.ConstantCurrent(I=0.5)
    signal_v, signal_i = el.SignalVoltage(), el.SignalCurrent()
    R = tg.Array(el.Resistor, 7, R=2.0)
    voltage, current, potential = el.VoltageSensor(), el.CurrentSensor(), el.PotentialSensor()

    def equations(self) -> Iterator[Any]:
        sources = (self.sine_v, self.sine_i, self.step_v, self.step_i, self.constant_i, self.signal_v, self.signal_i)
        for k, source in enumerate(sources):
            if k != 0:
                yield tg.connect(source.p, self.R[k].p)
            yield tg.connect(source.n, self.R[k].n, self.G.p)
        yield tg.connect(self.sine_v.p, self.current.p)
        yield tg.connect(self.current.n, self.R[0].p)
        yield tg.connect(self.voltage.p, self.R[0].p, self.potential.p)
        yield tg.connect(self.voltage.n, self.R[0].n)
        yield self.signal_v.u == 2.0 * tg.time
        yield self.signal_i.u == 2.0 * tg.time


@pytest.mark.slow
def test_sources_and_sensors_do_what_their_formulas_say(dae_method: str) -> None:
    times = np.array([0.1, 0.25, 0.35, 0.9])
    result = tg.simulate(Sources(), (0.0, 1.0), outputs=times, rtol=RTOL, method=dae_method)
    sine, step = -1.0 + 3.0 * np.sin(4 * math.pi * times + 0.4), np.where(times < 0.3, -1.0, 2.0)
    # a source of current sends it in at p and through itself to n, so that it goes through the resistor from n to p
    for k, expected in enumerate([sine, -2.0 * sine, step, -2.0 * step, np.full(4, -1.0), 2.0 * times, -4.0 * times]):
        assert result[f"R[{k}].v"].values == pytest.approx(expected, rel=1e-8, abs=1e-8), k
    assert result["voltage.y"].values == pytest.approx(sine, abs=1e-8)
    assert result["potential.y"].values == pytest.approx(sine, abs=1e-8)
    assert result["current.y"].values == pytest.approx(sine / 2.0, abs=1e-8)
    assert [event.time for event in result.events] == pytest.approx([0.3])


class Resonator(tg.Component):
    C, L, R, G = el.Capacitor(C=0.02, v=3.0), el.Inductor(L=0.3, i=-1.0), el.Resistor(R=1.5), el.Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.C.p, self.L.p)
        yield tg.connect(self.L.n, self.R.p)
        yield tg.connect(self.R.n, self.C.n, self.G.p)


@pytest.mark.parametrize("seed", range(3))
def test_a_damped_resonator_moves_as_its_matrix_does(seed: int, dae_method: str) -> None:
    random = np.random.default_rng(seed)
    C, L, R, v, i = (float(x) for x in random.uniform([0.01, 0.1, 0.5, -5, -2], [0.05, 0.5, 3.0, 5, 2]))
    model = Resonator(C={"C": C, "v": v}, L={"L": L, "i": i}, R={"R": R})
    found = tg.simulate(model, (0.0, 1.0), rtol=RTOL, method=dae_method).final
    expected = expm(np.array([[0.0, -1.0 / C], [1.0 / L, -R / L]])) @ [v, i]
    assert [found["C.v"], found["L.i"]] == close(expected.tolist(), 5.0)


class Coupled(tg.Component):
    """The side 2 of each transformer is loaded by 4 Ohm; 12 V at side 1."""

    V, G = el.ConstantVoltage(V=12.0), el.Ground()
    R1 = el.Resistor(R=1.0)
    ideal, real = el.IdealTransformer(ratio=3.0), el.Transformer(L1=1.0, L2=0.2, M=0.4)
    load, second = el.Resistor(R=4.0), el.Resistor(R=4.0)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.V.p, self.R1.p, self.ideal.p1)
        yield tg.connect(self.R1.n, self.real.p1)
        yield tg.connect(self.V.n, self.ideal.n1, self.real.n1, self.ideal.n2, self.real.n2, self.G.p)
        yield tg.connect(self.ideal.p2, self.load.p)
        yield tg.connect(self.real.p2, self.second.p)
        yield tg.connect(self.load.n, self.second.n, self.G.p)


@pytest.mark.slow
def test_transformers_couple_two_circuits(dae_method: str) -> None:
    found = tg.simulate(Coupled(), (0.0, 0.5), rtol=RTOL, method=dae_method).final
    assert (found["load.v"], found["load.i"], found["ideal.i1"]) == close((4.0, 1.0, 1.0 / 3.0), 1.0)
    # L i' = (12 - R1 i1, -4 i2); from rest i = (E - exp(-L^-1 R t)) (12, 0)
    inductances = np.array([[1.0, 0.4], [0.4, 0.2]])
    rates = -np.linalg.solve(inductances, np.diag([1.0, 4.0]))
    currents = (np.eye(2) - expm(0.5 * rates)) @ [12.0, 0.0]
    assert [found["real.i1"], found["real.i2"]] == close(currents.tolist(), 12.0)


class Amplifiers(tg.Component):
    """An inverting amplifier by 5, and an integrator with 0.1 s."""

    V, G = el.StepVoltage(V=2.0, offset=1.0, start_time=0.5), el.Ground()
    R1, R2, R3, C = el.Resistor(R=1e3), el.Resistor(R=5e3), el.Resistor(R=1e5), el.Capacitor(C=1e-6)
    inverting, integrating = el.IdealOpAmp(), el.IdealOpAmp()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.V.p, self.R1.p, self.R3.p)
        yield tg.connect(self.R1.n, self.R2.p, self.inverting.in_n)
        yield tg.connect(self.R2.n, self.inverting.out)
        yield tg.connect(self.R3.n, self.C.p, self.integrating.in_n)
        yield tg.connect(self.C.n, self.integrating.out)
        yield tg.connect(self.V.n, self.inverting.in_p, self.integrating.in_p, self.G.p)


@pytest.mark.slow
def test_operational_amplifiers_amplify_and_integrate(dae_method: str) -> None:
    result = tg.simulate(Amplifiers(), (0.0, 1.0), outputs=[0.4, 1.0], rtol=RTOL, method=dae_method)
    assert result["inverting.out.v"].values == close([-5.0, -15.0], 1.0)
    assert result["integrating.out.v"].values == close([-4.0, -20.0], 1.0)


class Clamp(tg.Component):
    """A diode of each kind behind 100 Ohm; the signal goes from -2 V to 2 V."""

    check_units = False  # u is made of time
    u = tg.Algebraic(unit="V")
    V, W, G = el.SignalVoltage(), el.SignalVoltage(), el.Ground()
    R1, R2 = el.Resistor(R=100.0), el.Resistor(R=100.0)
    ideal, bent = el.IdealDiode(Ron=1.0, Goff=1e-3, knee=0.7), el.Diode(Is=1e-9, Vt=0.05, R=1e6)

    def equations(self) -> Iterator[Any]:
        yield self.u == -2.0 + 4.0 * tg.time
        yield self.V.u == self.u
        yield self.W.u == self.u
        yield tg.connect(self.V.p, self.R1.p)
        yield tg.connect(self.R1.n, self.ideal.p)
        yield tg.connect(self.W.p, self.R2.p)
        yield tg.connect(self.R2.n, self.bent.p)
        yield tg.connect(self.ideal.n, self.bent.n, self.V.n, self.W.n, self.G.p)


@pytest.mark.slow
def test_diodes_follow_their_characteristics(dae_method: str) -> None:
    times = np.linspace(0.0, 1.0, 21)
    result = tg.simulate(Clamp(), (0.0, 1.0), outputs=times, rtol=RTOL, method=dae_method)
    on = 0.7 * (1 + 100.0 * 1e-3)  # voltage of the source at the knee
    for k, u in enumerate(-2.0 + 4.0 * times):
        current = u * 1e-3 / (1 + 100 * 1e-3) if u < on else 0.7e-3 + (u - on) / 101.0
        assert result["ideal.i"][k] == close(current, 0.01)
        assert result["ideal.v"][k] == close(u - 100.0 * current)
        v = brentq(lambda v, u=u: 1e-9 * (math.exp(v / 0.05) - 1) + v / 1e6 - (u - v) / 100.0, -3.0, 1.0, xtol=1e-14)
        assert result["bent.v"][k] == close(v)
    assert [event.time for event in result.events] == pytest.approx([(2 + on) / 4], abs=1e-7)


class Switched(tg.Component):
    """A capacitor is charged through a switch with 1 Ohm until 0.5 s, and leaks through it at 0.1 S afterwards."""

    V, G, C, S = el.ConstantVoltage(V=1.0), el.Ground(), el.Capacitor(C=0.5), el.IdealSwitch(Ron=1.0, Goff=0.1)
    U, T, R, Z = el.ConstantVoltage(V=2.0), el.IdealSwitch(), el.Resistor(R=4.0), el.Ground()

    def equations(self) -> Iterator[Any]:
        yield self.S.control == tg.where(tg.time < 0.5, 1.0, 0.0)
        yield self.T.control == tg.where(tg.time < 0.5, 0.0, 1.0)
        yield tg.connect(self.V.p, self.S.p)
        yield tg.connect(self.S.n, self.C.p)
        yield tg.connect(self.V.n, self.C.n, self.G.p)
        yield tg.connect(self.U.p, self.T.p)
        yield tg.connect(self.T.n, self.R.p)
        yield tg.connect(self.U.n, self.R.n, self.Z.p)


@pytest.mark.slow
def test_a_switch_is_a_resistance_while_closed_and_a_conductance_while_open(dae_method: str) -> None:
    result = tg.simulate(Switched(), (0.0, 2.0), outputs=[0.5 - 1e-9, 2.0], rtol=RTOL, method=dae_method)
    closed = 1.0 - math.exp(-0.5 / 0.5)
    assert result["C.v"].values == close([closed, 1.0 - (1.0 - closed) * math.exp(-1.5 * 0.1 / 0.5)])
    assert result["R.v"].values == close([0.0, 2.0])
    assert result["T.v"].values == close([2.0, 0.0])
    assert [event.time for event in result.events] == pytest.approx([0.5])


@pytest.mark.slow
def test_sensitivities_go_through_a_diode(dae_method: str) -> None:
    # on: C v' = (V - knee - v)/R; the diode goes off where the sine does
    class Peak(tg.Component):
        V, G = el.ConstantVoltage(V=5.0), el.Ground()
        R, C, D = el.Resistor(R=2.0), el.Capacitor(C=0.3), el.IdealDiode(knee=0.6)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.V.p, self.R.p)
            yield tg.connect(self.R.n, self.D.p)
            yield tg.connect(self.D.n, self.C.p)
            yield tg.connect(self.V.n, self.C.n, self.G.p)

    result = tg.simulate(Peak(), (0.0, 1.0), sensitivities=["D.knee", "C.C"], rtol=1e-9, method=dae_method)
    decay = math.exp(-1.0 / 0.6)
    assert result.sensitivity("C.v", "D.knee")[-1] == close(decay - 1.0)
    assert result.sensitivity("C.v", "C.C")[-1] == close(-4.4 * decay / 0.6 / 0.3)
