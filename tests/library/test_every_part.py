"""Each class of the library alone between sources of what flows or of a potential, against its formula; a class without a row here is a failure."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate import library
from tidegate.library import electrical as el
from tidegate.library import fluid as fl
from tidegate.library import machines
from tidegate.library import rotational as ro
from tidegate.library import thermal as th
from tidegate.library import translational as tr
from tidegate.pictures import icon_of

END = 1.0
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "library.md").read_text(encoding="utf-8")
DOMAINS: dict[type, tuple[str, str]] = {
    el.Pin: ("v", "i"), fl.Port: ("p", "q"), th.HeatPort: ("T", "Q_flow"), tr.Flange: ("s", "f"), ro.Flange: ("phi", "tau"),
}  # fmt: skip


@dataclass(frozen=True)
class Rig:
    """A part, what its connectors and signals are given, and what its formula says of the end.

    Parameters
    ----------
    part : the part.
    potential : connectors whose potential is given, as functions of time.
    flow : connectors into which something flows.
    signal : its signals that come in.
    expected : values at the end, by names within the part.
    joined : connectors that are connected.
    """

    part: tg.Component
    expected: dict[str, float]
    potential: dict[str, Any] = field(default_factory=dict[str, Any])
    flow: dict[str, Any] = field(default_factory=dict[str, Any])
    signal: dict[str, Any] = field(default_factory=dict[str, Any])
    joined: tuple[str, ...] = ()


def source(connector: type, given: int) -> tg.Component:
    """What gives the connectors of a class a potential (0) or sends something into them (1)."""
    potential, flow = DOMAINS[connector]

    class Source(tg.Component):
        check_units = False
        port, u = connector(), tg.InputSignal()

        def equations(self) -> Iterator[Any]:
            yield (getattr(self.port, potential) == self.u) if given == 0 else (getattr(self.port, flow) == -self.u)

    return Source()


def in_rig(rig: Rig) -> tg.Component:
    """The part between its sources."""
    kinds = {name: type(getattr(type(rig.part), name)) for name in [*rig.potential, *rig.flow]}
    sources = {f"at_{name}": source(kinds[name], int(name in rig.flow)) for name in kinds}

    def equations(self: Any) -> Iterator[Any]:
        for name, value in {**rig.potential, **rig.flow}.items():
            yield tg.connect(getattr(self, f"at_{name}").port, getattr(self.it, name))
            yield getattr(self, f"at_{name}").u == value
        for name, value in rig.signal.items():
            yield getattr(self.it, name) == value
        if rig.joined:
            yield tg.connect(*(getattr(self.it, name) for name in rig.joined))

    body = {"check_units": False, "it": rig.part, "equations": equations, "__module__": __name__, **sources}
    return type("InRig", (tg.Component,), body)()


T = tg.time
SIN, RISE = np.sin(T), T**2
AT_END = math.sin(1.0)


class Varistor(el.OnePort):
    check_units = False

    def equations(self) -> Iterator[Any]:
        yield self.i == 0.5 * self.v**3


class Gyrator(el.TwoPort):
    G = tg.Parameter(0.1, unit="S")

    def equations(self) -> Iterator[Any]:
        yield self.i1 == self.G * self.v2
        yield self.i2 == -self.G * self.v1


class Block(tr.Body):
    m = tg.Parameter(2.0, unit="kg")

    def equations(self) -> Iterator[Any]:
        yield self.m * self.a == self.flange_a.f + self.flange_b.f


class Hardening(tr.Compliant):
    check_units = False

    def equations(self) -> Iterator[Any]:
        yield self.f == 5.0 * self.s_rel + 2.0 * self.s_rel**3


class Bushing(ro.Compliant):
    check_units = False

    def equations(self) -> Iterator[Any]:
        yield self.tau == 5.0 * self.phi_rel + 2.0 * self.phi_rel**3


class Membrane(th.ThermalElement):
    check_units = False

    def equations(self) -> Iterator[Any]:
        yield self.Q_flow == 3.0 * self.dT


class Filter(fl.FlowElement):
    check_units = False

    def equations(self) -> Iterator[Any]:
        yield self.dp == 1e6 * self.q + 1e9 * self.q * abs(self.q)


COUPLED = np.linalg.solve([[1.0, 0.3], [0.3, 0.5]], [AT_END, 2.0])  # currents of a transformer at whose sides cos(t) and 2 V stand
ACROSS = {"p": SIN, "n": 0.1}  # volts
THROUGH = {"flange_a": 0.2, "flange_b": RISE}  # metres, radians
WARM = {"port_a": 400.0, "port_b": 300.0}
PRESSED = {"port_a": 3e4, "port_b": 2e4}

ELECTRICAL = {
    "OnePort": [Rig(Varistor(), {"v": AT_END - 0.1, "i": 0.5 * (AT_END - 0.1) ** 3, "n.i": -0.5 * (AT_END - 0.1) ** 3}, ACROSS)],
    "TwoPort": [Rig(Gyrator(), {"p1.i": 0.2, "p2.i": -0.3, "n2.i": 0.3}, {"p1": 3.5, "n1": 0.5, "p2": 2.5, "n2": 0.5})],
    "Ground": [Rig(el.Ground(), {"p.v": 0.0, "p.i": 2.0}, flow={"p": 2.0})],
    "Resistor": [Rig(el.Resistor(R=2.0), {"p.i": (AT_END - 0.1) / 2.0, "n.i": (0.1 - AT_END) / 2.0}, ACROSS)],
    "Capacitor": [Rig(el.Capacitor(C=0.5, v=2.0), {"v": 2.0 + 2.0 * AT_END, "p.v": 2.3 + 2.0 * AT_END}, {"n": 0.3}, {"p": np.cos(T)})],
    "Inductor": [Rig(el.Inductor(L=0.5, i=2.0), {"i": 2.0 + 2.0 * AT_END}, {"p": np.cos(T), "n": 0.0})],
    "ConstantVoltage": [Rig(el.ConstantVoltage(V=3.0), {"p.v": 3.5, "i": 1.5}, {"n": 0.5}, {"p": 1.5})],
    "SineVoltage": [Rig(el.SineVoltage(V=3.0, f=0.4, phase=0.2, offset=1.0), {"p.v": 1.0 + 3.0 * math.sin(0.8 * math.pi + 0.2)}, {"n": 0.0})],
    "StepVoltage": [
        Rig(el.StepVoltage(V=3.0, offset=1.0, start_time=0.5), {"p.v": 4.0}, {"n": 0.0}),
        Rig(el.StepVoltage(V=3.0, offset=1.0, start_time=1.5), {"p.v": 1.0}, {"n": 0.0}),
    ],
    "SignalVoltage": [Rig(el.SignalVoltage(), {"p.v": 1.0}, {"n": 0.0}, signal={"u": RISE})],
    "ConstantCurrent": [Rig(el.ConstantCurrent(I=3.0), {"p.i": 3.0, "n.i": -3.0}, ACROSS)],
    "SineCurrent": [Rig(el.SineCurrent(I=3.0, f=0.4, phase=0.2, offset=1.0), {"p.i": 1.0 + 3.0 * math.sin(0.8 * math.pi + 0.2)}, ACROSS)],
    "StepCurrent": [
        Rig(el.StepCurrent(I=3.0, offset=1.0, start_time=0.5), {"p.i": 4.0}, ACROSS),
        Rig(el.StepCurrent(I=3.0, offset=1.0, start_time=1.5), {"p.i": 1.0}, ACROSS),
    ],
    "SignalCurrent": [Rig(el.SignalCurrent(), {"p.i": 1.0, "n.i": -1.0}, ACROSS, signal={"u": RISE})],
    "IdealDiode": [
        Rig(el.IdealDiode(Ron=0.1, Goff=1e-3, knee=0.7), {"v": 0.7 + 0.1 * (2.0 - 7e-4), "off": 0.0}, {"n": 0.0}, {"p": 2.0}),
        Rig(el.IdealDiode(Ron=0.1, Goff=1e-3, knee=0.7), {"i": -3e-3, "off": 1.0}, {"p": -3.0, "n": 0.0}),
    ],
    "Diode": [
        Rig(el.Diode(Is=1e-6, Vt=0.1, R=1e3), {"i": 1e-6 * math.expm1(5.0) + 5e-4}, {"p": 0.5, "n": 0.0}),
        Rig(el.Diode(Is=1e-20, Vt=0.1, R=1e3), {"i": 1e-20 * (math.exp(40.0) * 11.0 - 1.0) + 5e-3}, {"p": 5.0, "n": 0.0}),
    ],
    "IdealSwitch": [
        Rig(el.IdealSwitch(Ron=0.5), {"v": 1.0}, {"n": 0.0}, {"p": 2.0}, {"control": 1.0}),
        Rig(el.IdealSwitch(Goff=0.25), {"i": 0.5}, {"p": 2.0, "n": 0.0}, signal={"control": 0.5}),
    ],
    "IdealTransformer": [Rig(el.IdealTransformer(ratio=3.0), {"v2": AT_END / 3.0, "i1": -0.5}, {"p1": SIN, "n1": 0.0, "n2": 0.0}, {"p2": 1.5})],
    "Transformer": [
        Rig(el.Transformer(L1=1.0, L2=0.5, M=0.3), {"i1": COUPLED[0], "i2": COUPLED[1]}, {"p1": np.cos(T), "n1": 0.0, "p2": 2.0, "n2": 0.0})
    ],
    "IdealOpAmp": [
        Rig(el.IdealOpAmp(), {"out.v": AT_END, "out.i": 1.5, "in_p.i": 0.0, "in_n.i": 0.0}, {"in_p": SIN}, {"out": 1.5}, joined=("in_n", "out"))
    ],
    "PotentialSensor": [Rig(el.PotentialSensor(), {"y": AT_END, "p.i": 0.0}, {"p": SIN})],
    "VoltageSensor": [Rig(el.VoltageSensor(), {"y": AT_END - 0.1, "p.i": 0.0}, ACROSS)],
    "CurrentSensor": [Rig(el.CurrentSensor(), {"y": 2.0, "p.v": 0.3}, {"n": 0.3}, {"p": 2.0})],
}
MACHINES = {
    "RotationalEMF": [Rig(machines.RotationalEMF(k=0.3), {"p.v": 0.6, "flange.tau": -0.45}, {"flange": RISE, "n": 0.0}, {"p": 1.5})],
    "TranslationalEMF": [Rig(machines.TranslationalEMF(k=0.3), {"p.v": 0.6, "flange.f": -0.45}, {"flange": RISE, "n": 0.0}, {"p": 1.5})],
}
TRANSLATIONAL = {
    "Body": [Rig(Block(s=0.1, v=0.5), {"a": 2.0, "v": 1.0, "s": 0.6}, flow={"flange_a": 6.0 * T, "flange_b": -2.0})],
    "Mass": [Rig(tr.Mass(m=2.0, s=0.1, v=0.5), {"a": 2.0, "v": 1.0, "s": 0.1 + 0.5}, flow={"flange_a": 6.0 * T, "flange_b": -2.0})],
    "StoppedMass": [
        Rig(tr.StoppedMass(m=2.0, s_max=0.5), {"s": 0.5, "v": 0.0, "f_stop": -4.0, "rest": 1.0}, flow={"flange_a": 4.0}),
        Rig(tr.StoppedMass(m=2.0, s_max=0.5, e=0.5, v=1.0), {"s": 0.25, "v": -0.5, "f_stop": 0.0}, flow={"flange_a": 0.0}),
    ],
    "ElasticStop": [
        Rig(tr.ElasticStop(s_max=0.1, c=100.0, d=2.0), {"flange.f": 15.1}, {"flange": 0.2 + 0.05 * T}),
        Rig(tr.ElasticStop(s_min=-0.1, c=100.0, d=2.0), {"flange.f": -15.1}, {"flange": -0.2 - 0.05 * T}),
        Rig(tr.ElasticStop(s_max=0.1, c=100.0, d=50.0), {"flange.f": 0.0}, {"flange": 1.5 - T}),
    ],
    "Fixed": [Rig(tr.Fixed(s0=0.5), {"flange.s": 0.5, "flange.f": 2.0}, flow={"flange": 2.0})],
    "Compliant": [Rig(Hardening(), {"flange_b.f": 4.0 + 1.024, "flange_a.f": -5.024}, THROUGH)],
    "Spring": [Rig(tr.Spring(c=5.0, s_rel0=0.3), {"flange_b.f": 2.5, "flange_a.f": -2.5}, THROUGH)],
    "Damper": [Rig(tr.Damper(d=0.7), {"flange_b.f": 1.4, "flange_a.f": -1.4}, THROUGH)],
    "SpringDamper": [Rig(tr.SpringDamper(c=5.0, d=0.7, s_rel0=0.3), {"flange_b.f": 3.9, "flange_a.f": -3.9}, THROUGH)],
    "ConstantForce": [Rig(tr.ConstantForce(f=3.0), {"flange.f": -3.0}, {"flange": 0.0})],
    "StepForce": [Rig(tr.StepForce(f=3.0, offset=1.0, start_time=at), {"flange.f": f}, {"flange": 0.0}) for at, f in ((0.5, -4.0), (1.5, -1.0))],
    "SignalForce": [Rig(tr.SignalForce(), {"flange.f": -1.0}, {"flange": 0.0}, signal={"f": RISE})],
    "Rod": [Rig(tr.Rod(L=0.5), {"flange_b.s": 0.5 + AT_END, "flange_a.f": -2.0}, {"flange_a": SIN}, {"flange_b": 2.0})],
    "Lever": [Rig(tr.Lever(ratio=3.0), {"flange_a.s": 3.0 * AT_END, "flange_b.f": -6.0}, {"flange_b": SIN}, {"flange_a": 2.0})],
    "Friction": [
        Rig(tr.Friction(), {"flange_a.f": s * 4.0, "flange_b.f": -s * 4.0}, {"flange_a": s * 2.0 * T, "flange_b": 0.0}, signal={"capacity": 4.0})
        for s in (1, -1)
    ],
    "Brake": [Rig(tr.Brake(), {"flange_a.f": s * 4.0}, {"flange_a": s * 2.0 * T}, signal={"capacity": 4.0}) for s in (1, -1)],
    "SlidingFriction": [Rig(tr.SlidingFriction(f_coulomb=2.0, d=0.5), {"flange_a.f": s * 3.0}, {"flange_a": s * 2.0 * T}) for s in (1, -1)],
    "SpeedSensor": [Rig(tr.SpeedSensor(), {"y": 2.0, "flange.f": 0.0}, {"flange": RISE})],
    "ForceSensor": [Rig(tr.ForceSensor(), {"y": 2.0, "flange_a.s": 0.3}, {"flange_b": 0.3}, {"flange_a": 2.0})],
}
ROTATIONAL = {
    "Inertia": [Rig(ro.Inertia(J=2.0, phi=0.1, w=0.5), {"a": 2.0, "w": 1.0, "phi": 0.1 + 0.5}, flow={"flange_a": 6.0 * T, "flange_b": -2.0})],
    "Fixed": [Rig(ro.Fixed(phi0=0.5), {"flange.phi": 0.5, "flange.tau": 2.0}, flow={"flange": 2.0})],
    "Compliant": [Rig(Bushing(), {"flange_b.tau": 4.0 + 1.024, "flange_a.tau": -5.024}, THROUGH)],
    "Spring": [Rig(ro.Spring(c=5.0, phi_rel0=0.3), {"flange_b.tau": 2.5, "flange_a.tau": -2.5}, THROUGH)],
    "Damper": [Rig(ro.Damper(d=0.7), {"flange_b.tau": 1.4, "flange_a.tau": -1.4}, THROUGH)],
    "SpringDamper": [Rig(ro.SpringDamper(c=5.0, d=0.7, phi_rel0=0.3), {"flange_b.tau": 3.9, "flange_a.tau": -3.9}, THROUGH)],
    "ConstantTorque": [Rig(ro.ConstantTorque(tau=3.0), {"flange.tau": -3.0}, {"flange": 0.0})],
    "StepTorque": [
        Rig(ro.StepTorque(tau=3.0, offset=1.0, start_time=at), {"flange.tau": x}, {"flange": 0.0}) for at, x in ((0.5, -4.0), (1.5, -1.0))
    ],
    "SignalTorque": [Rig(ro.SignalTorque(), {"flange.tau": -1.0}, {"flange": 0.0}, signal={"tau": RISE})],
    "Gear": [Rig(ro.Gear(ratio=3.0), {"flange_a.phi": 3.0 * AT_END, "flange_b.tau": -6.0}, {"flange_b": SIN}, {"flange_a": 2.0})],
    "Clutch": [
        Rig(ro.Clutch(), {"flange_a.tau": s * 4.0, "flange_b.tau": -s * 4.0}, {"flange_a": s * 2.0 * T, "flange_b": 0.0}, signal={"capacity": 4.0})
        for s in (1, -1)
    ],
    "Brake": [Rig(ro.Brake(), {"flange_a.tau": s * 4.0}, {"flange_a": s * 2.0 * T}, signal={"capacity": 4.0}) for s in (1, -1)],
    "BearingFriction": [Rig(ro.BearingFriction(tau_coulomb=2.0, d=0.5), {"flange_a.tau": s * 3.0}, {"flange_a": s * 2.0 * T}) for s in (1, -1)],
    "SpeedSensor": [Rig(ro.SpeedSensor(), {"y": 2.0, "flange.tau": 0.0}, {"flange": RISE})],
    "TorqueSensor": [Rig(ro.TorqueSensor(), {"y": 2.0, "flange_a.phi": 0.3}, {"flange_b": 0.3}, {"flange_a": 2.0})],
}
THERMAL = {
    "HeatCapacitor": [Rig(th.HeatCapacitor(C=5.0, T=300.0), {"T": 301.0, "port.T": 301.0}, flow={"port": 10.0 * T})],
    "ThermalElement": [Rig(Membrane(), {"port_a.Q_flow": 300.0, "port_b.Q_flow": -300.0}, WARM)],
    "ThermalConductor": [Rig(th.ThermalConductor(G=2.0), {"port_a.Q_flow": 200.0, "port_b.Q_flow": -200.0}, WARM)],
    "ThermalResistor": [Rig(th.ThermalResistor(R=2.0), {"port_a.Q_flow": 50.0, "port_b.Q_flow": -50.0}, WARM)],
    "Convection": [Rig(th.Convection(), {"port_a.Q_flow": 300.0, "port_b.Q_flow": -300.0}, WARM, signal={"Gc": 3.0 * T})],
    "BodyRadiation": [Rig(th.BodyRadiation(Gr=0.5), {"port_a.Q_flow": 0.5 * 5.670374419e-8 * (400.0**4 - 300.0**4)}, WARM)],
    "FixedTemperature": [Rig(th.FixedTemperature(T=280.0), {"port.T": 280.0, "port.Q_flow": 3.0}, flow={"port": 3.0})],
    "SignalTemperature": [Rig(th.SignalTemperature(), {"port.T": 281.0}, flow={"port": 3.0}, signal={"T": 280.0 + RISE})],
    "FixedHeatFlow": [Rig(th.FixedHeatFlow(Q_flow=7.0), {"port.Q_flow": -7.0}, {"port": 300.0})],
    "SignalHeatFlow": [Rig(th.SignalHeatFlow(), {"port.Q_flow": -1.0}, {"port": 300.0}, signal={"Q_flow": RISE})],
    "TemperatureSensor": [Rig(th.TemperatureSensor(), {"y": 301.0, "port.Q_flow": 0.0}, {"port": 300.0 + RISE})],
    "HeatFlowSensor": [Rig(th.HeatFlowSensor(), {"y": 2.0, "port_a.T": 300.0}, {"port_b": 300.0}, {"port_a": 2.0})],
}
FLUID = {
    "Tank": [
        Rig(
            fl.Tank(A=2.0, h=0.5, rho=900.0, g=9.8),
            {"h": 0.9, "outlet.p": 900.0 * 9.8 * 0.9, "inlet.p": 0.0},
            flow={"inlet": 1.0, "outlet": -0.4 * T},
        )
    ],
    "FlowElement": [Rig(Filter(), {"dp": 2000.0, "port_b.q": -1e-3}, {"port_b": 2e4}, {"port_a": 1e-3})],
    "LaminarPipe": [Rig(fl.LaminarPipe(R=2e6), {"port_a.q": 5e-3, "port_b.q": -5e-3}, PRESSED)],
    "Valve": [
        Rig(fl.Valve(K=1e-4), {"q": 5e-3}, PRESSED, signal={"opening": 0.5}),
        Rig(fl.Valve(K=1e-4), {"q": -5e-3}, {"port_a": 2e4, "port_b": 3e4}, signal={"opening": 0.5}),
        Rig(fl.Valve(K=1e-4, backward=0.0), {"q": 0.0}, {"port_a": 2e4, "port_b": 3e4}, signal={"opening": 0.5}),
        Rig(fl.Valve(K=1e-4, dp_small=4.0), {"q": 1e-4 * (5.0 - 0.25) / 4.0}, {"port_a": 2.0, "port_b": 0.0}, signal={"opening": 1.0}),
        Rig(fl.Valve(K=1e-4), {"q": 0.0}, PRESSED, signal={"opening": -0.5}),
    ],
    "Pump": [Rig(fl.Pump(q_max=2e-3, dp_max=5e4), {"q": 2e-3 * 0.8 * 0.5}, {"port_a": 2e4, "port_b": 3e4}, signal={"speed": 0.5})],
    "FixedPressure": [Rig(fl.FixedPressure(p=2e4), {"port.p": 2e4, "port.q": 3.0}, flow={"port": 3.0})],
    "Drain": [Rig(fl.Drain(), {"port.p": 0.0, "port.q": 3.0}, flow={"port": 3.0})],
    "FixedFlow": [Rig(fl.FixedFlow(q=0.02), {"port.q": -0.02}, {"port": 2e4})],
    "SignalFlow": [Rig(fl.SignalFlow(), {"port.q": -1.0}, {"port": 2e4}, signal={"q": RISE})],
    "PressureSensor": [Rig(fl.PressureSensor(), {"y": 2e4, "port.q": 0.0}, {"port": 2e4})],
    "FlowSensor": [Rig(fl.FlowSensor(), {"y": 0.02, "port_a.p": 2e4}, {"port_b": 2e4}, {"port_a": 0.02})],
}
PROOFS = {
    "electrical": ELECTRICAL,
    "machines": MACHINES,
    "translational": TRANSLATIONAL,
    "rotational": ROTATIONAL,
    "thermal": THERMAL,
    "fluid": FLUID,
}
EXPORTED = [(domain, name) for domain in library.__all__ for name in importlib.import_module(f"tidegate.library.{domain}").__all__]


def exported(domain: str, name: str) -> Any:
    return getattr(importlib.import_module(f"tidegate.library.{domain}"), name)


@pytest.mark.slow
@pytest.mark.parametrize(("domain", "name"), EXPORTED)
def test_every_class_alone_does_what_its_formula_says(domain: str, name: str) -> None:
    kind = exported(domain, name)
    if issubclass(kind, tg.Connector):
        assert kind in DOMAINS, "a connector that no sources of this test are made for"
        return
    rigs = PROOFS[domain].get(name, [])
    assert rigs, f"{domain}.{name} has no row: nothing proves its formula"
    for rig in rigs:
        assert isinstance(rig.part, kind)
        final = tg.simulate(in_rig(rig), (0.0, END), rtol=1e-9).final
        found = {key: final[f"it.{key}"] for key in rig.expected}
        assert found == pytest.approx(rig.expected, rel=1e-6, abs=1e-9), rig.part


@pytest.mark.parametrize("connector", DOMAINS, ids=lambda kind: kind.__module__.rsplit(".", 1)[1] + "." + kind.__name__)
def test_what_flows_into_a_connection_sums_up_to_zero_and_its_potentials_are_one(connector: type) -> None:
    potential, flow = DOMAINS[connector]

    class Joined(tg.Component):
        check_units = False
        holds, sends, takes = source(connector, 0), source(connector, 1), source(connector, 1)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.holds.port, self.sends.port, self.takes.port)
            yield self.holds.u == 2.5
            yield self.sends.u == 3.0
            yield self.takes.u == -1.0

    final = tg.simulate(Joined(), (0.0, 1.0)).final
    assert [final[f"{name}.port.{potential}"] for name in ("holds", "sends", "takes")] == pytest.approx([2.5] * 3)
    assert [final[f"{name}.port.{flow}"] for name in ("holds", "sends", "takes")] == pytest.approx([2.0, -3.0, 1.0])


@pytest.mark.parametrize(("domain", "name"), EXPORTED)
def test_every_class_stands_on_the_page_with_its_icon_connectors_and_parameters(domain: str, name: str) -> None:
    kind = exported(domain, name)
    section = PAGE.split(f"\n## {domain.capitalize()}\n")[1].split("\n## ")[0]
    row = next(line for line in section.splitlines() if line.startswith(f"| `{name}` |"))
    _, _, icon, connectors, parameters, equation, _ = (cell.strip() for cell in row.replace("|f|", "").replace("|tau|", "").split("|"))
    assert equation
    if issubclass(kind, tg.Connector):
        assert all(word in parameters for word in DOMAINS[kind])
        return
    assert icon == f"![{name}](../images/library/{domain}.{name}.svg)"
    drawn = Path(__file__).parents[2] / "docs" / "images" / "library" / f"{domain}.{name}.svg"
    assert "<svg" in drawn.read_text(encoding="utf-8")
    assert icon_of(kind) is not None
    own = {key: value for base in reversed(kind.__mro__) for key, value in vars(base).items() if not key.startswith("_")}
    joined = {key for key, value in own.items() if isinstance(value, tg.Connector | tg.InputSignal | tg.OutputSignal)}
    assert {word.split(" ")[0] for word in connectors.split(", ") if word} == joined
    told = {key for key, value in own.items() if isinstance(value, tg.Parameter) and not key.startswith(("one_", "unit_"))}
    states = {key for key, value in own.items() if isinstance(value, tg.State) and value.fixed is not False}
    shown = {word.removeprefix("state ").split(" ")[0] for word in parameters.split(", ") if word}
    assert shown == (told - {"slow"}) | states
