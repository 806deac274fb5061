"""The models of `tests/golden/components.json`, of parts of the library where it has them: one place for every test that runs all of them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from examples.hybrid_1998 import Hybrid

import tidegate as tg
from circuit_parts import Circuit
from tidegate.library import electrical as el
from tidegate.library import fluid as fl
from tidegate.library import rotational as ro
from tidegate.library import translational as tr

__all__ = ["GOLDEN", "MODELS", "Golden"]

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden" / "components.json").read_text())


class SeriesParallel(tg.Component):
    """D01."""

    source, G = el.ConstantVoltage(V=10.0), el.Ground()
    R1, R2, R3, R4, R5 = (el.Resistor(R=R) for R in (100.0, 200.0, 50.0, 300.0, 600.0))
    C1 = el.Capacitor(C=1e-3)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.R1.p)
        yield tg.connect(self.R1.n, self.R2.p, self.R3.p, self.R4.p, self.R5.p)
        yield tg.connect(self.R3.n, self.C1.p)
        yield tg.connect(self.source.n, self.G.p, self.R2.n, self.R4.n, self.R5.n, self.C1.n)


class Loop(tg.Component):
    """D02."""

    V, G, R = el.ConstantVoltage(V=10.0), el.Ground(), el.Resistor(R=1000.0)
    C1, C2 = el.Capacitor(C=1e-3, v=tg.start(2.0, fixed=True)), el.Capacitor(C=2e-3, v=tg.start(0.0, fixed=False))

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.V.p, self.R.p)
        yield tg.connect(self.R.n, self.C1.p, self.C2.p)
        yield tg.connect(self.V.n, self.C1.n, self.C2.n, self.G.p)


class Across(tg.Component):
    """D12."""

    source, G, C, R = el.SineVoltage(V=5.0), el.Ground(), el.Capacitor(C=1e-3, v=tg.start(0.0, fixed=False)), el.Resistor(R=10.0)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.C.p, self.R.p)
        yield tg.connect(self.source.n, self.C.n, self.R.n, self.G.p)


class Rectifier(tg.Component):
    """D03."""

    source, G = el.SineVoltage(V=10.0, f=50.0, phase=-math.pi / 6), el.Ground()
    Rs, R, C = el.Resistor(R=1.0), el.Resistor(R=100.0), el.Capacitor(C=1e-3)
    diode = el.IdealDiode()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.Rs.p)
        yield tg.connect(self.Rs.n, self.diode.p)
        yield tg.connect(self.diode.n, self.C.p, self.R.p)
        yield tg.connect(self.source.n, self.C.n, self.R.n, self.G.p)


class Freewheeling(tg.Component):
    """D13."""

    V, G, R, L = el.ConstantVoltage(V=12.0), el.Ground(), el.Resistor(R=4.0), el.Inductor(L=0.1)
    switch, diode = el.IdealSwitch(), el.IdealDiode()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.V.p, self.switch.p)
        yield tg.connect(self.switch.n, self.R.p, self.diode.n)
        yield tg.connect(self.R.n, self.L.p)
        yield tg.connect(self.V.n, self.L.n, self.diode.p, self.G.p)
        yield self.switch.control == tg.where(tg.time < 0.1, 1.0, 0.0)


class Joined(tg.Component):
    """D04."""

    wall, spring, damper = tr.Fixed(), tr.Spring(c=30.0), tr.Damper(d=1.5)
    m1, force = tr.Mass(m=1.0, s=0.1), tr.ConstantForce(f=5.0)
    m2 = tr.Mass(m=2.0, s=tg.start(0.1, fixed=False), v=tg.start(0.0, fixed=False))

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.wall.flange, self.spring.flange_a, self.damper.flange_a)
        yield tg.connect(self.spring.flange_b, self.damper.flange_b, self.m1.flange_a)
        yield tg.connect(self.m1.flange_b, self.m2.flange_a)
        yield tg.connect(self.m2.flange_b, self.force.flange)


class RodInPlane(tg.Component):
    """Of D05: from the origin to a point with these coordinates; the library moves along lines only."""

    x, y = tr.Flange(), tr.Flange()
    L, tension = tg.Parameter(1.0, unit="m"), tg.Algebraic(unit="N")

    def equations(self) -> Iterator[Any]:
        yield self.x.s**2 + self.y.s**2 == self.L**2
        yield self.x.f == self.x.s / self.L * self.tension
        yield self.y.f == self.y.s / self.L * self.tension


class Pendulum(tg.Component):
    """D05: a mass for each direction."""

    across, along = tr.Mass(s=math.sin(2.5)), tr.Mass(s=-math.cos(2.5))
    weight, rod = tr.ConstantForce(f=-9.81), RodInPlane()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.across.flange_b, self.rod.x)
        yield tg.connect(self.along.flange_b, self.rod.y)
        yield tg.connect(self.weight.flange, self.along.flange_a)


class Mixer(tg.Component):
    """Of D06."""

    T = tg.Parameter(5.0)
    c = tg.State(0.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.c) == (1 - self.c) / self.T


class Filled(tg.Component):
    """D06: a pipe with the resistance rho g / 0.1 lets 0.1 h flow out."""

    inflow, level = tg.Parameter(0.2, unit="m^3/s"), tg.Parameter(0.5, unit="m")
    source, tank, pipe, drain = fl.SignalFlow(), fl.Tank(A=1.0), fl.LaminarPipe(R=1000.0 * 9.81 / 0.1), fl.Drain()
    mixer = Mixer()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.port, self.tank.inlet)
        yield tg.connect(self.tank.outlet, self.pipe.port_a)
        yield tg.connect(self.pipe.port_b, self.drain.port)
        yield self.source.q == tg.where(tg.time < 10, self.inflow, tg.where(tg.time < 25, 0.0, self.inflow))
        yield tg.enable(self.mixer, when=self.tank.h > self.level)


class Clutched(tg.Component):
    """D09: the load's torque -0.5 w is a damper's."""

    J1, J2 = ro.Inertia(J=1.0, w=10.0), ro.Inertia(J=2.0)
    clutch = ro.Clutch()
    motor, load, wall = ro.StepTorque(offset=10.0, tau=-50.0, start_time=6.0), ro.Damper(d=0.5), ro.Fixed()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.motor.flange, self.J1.flange_a)
        yield tg.connect(self.J1.flange_b, self.clutch.flange_a)
        yield tg.connect(self.clutch.flange_b, self.J2.flange_a)
        yield tg.connect(self.J2.flange_b, self.load.flange_b)
        yield tg.connect(self.load.flange_a, self.wall.flange)
        yield self.clutch.capacity == tg.where(tg.time < 1, 0.0, tg.where(tg.time < 4, 20.0, tg.where(tg.time < 5, 2.0, 25.0)))


@dataclass(frozen=True)
class Golden:
    """A model and how the golden file's names are found in it.

    Parameters
    ----------
    make : the model.
    names : of the golden file, and what is called otherwise here; a minus in front where it counts the other way.
    end : of the run.
    sensitivities : parameters whose derivatives are compared with differences.
    """

    make: Callable[[], tg.Component]
    end: float
    names: dict[str, str] = field(default_factory=dict[str, str])
    sensitivities: tuple[str, ...] = ()


MODELS: dict[str, Golden] = {
    "circuit": Golden(Circuit, 0.1, {}, ("R1.R", "R2.R", "C.C", "L.L", "AC.VA", "AC.f")),
    "hybrid": Golden(Hybrid, 5.0),
    "D01_series_parallel": Golden(SeriesParallel, 1.0, {"node_a.v": "R2.p.v"}),
    "D02_capacitor_loop": Golden(Loop, 6.0),
    "D12_capacitor_across_source": Golden(Across, 0.02),
    "D03_half_wave_rectifier": Golden(Rectifier, 0.1, {}, ("R.R", "C.C", "source.V", "source.f")),
    "D13_freewheeling_diode": Golden(Freewheeling, 0.2),
    "D04_coupled_masses": Golden(Joined, 5.0, {"m2.flange.f": "-m2.flange_a.f"}),
    "D05_pendulum_index3": Golden(Pendulum, 10.0, {"x": "across.s", "y": "along.s", "vx": "across.v", "vy": "along.v", "tension": "rod.tension"}),
    "D06_tank_with_mixer": Golden(Filled, 30.0, {"enabled": "mixer.enabled"}, ("inflow", "pipe.R", "level", "mixer.T")),
    "D09_friction_clutch": Golden(Clutched, 7.0, {"mode": "clutch.mode"}, ("J1.J", "J2.J", "load.d", "motor.offset")),
}
