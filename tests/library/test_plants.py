"""What engineers control and size: a motor with a PID block that saturates, a cylinder with stops and valves, a counter-flow heat exchanger; random.

The truth of motor and cylinder is SciPy from instant to instant found by hand, that of the exchanger the formula of effectiveness and number of
transfer units for cells that are stirred: with a = UA / (n C_hot) and r = C_hot / C_cold the differences of temperature at both ends have the ratio
((1 + a) / (1 + r a))^n, which becomes exp(NTU (1 - r)) for many cells (Kays and London, Compact Heat Exchangers, 1984, chapter 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import tidegate as tg
from tidegate.library import electrical as el
from tidegate.library import fluid, machines, thermal
from tidegate.library import rotational as ro
from tidegate.library import translational as tr

Values = dict[str, float]
FloatArray = NDArray[np.float64]
ALLOWED = 1e-6  # of the largest value: a hundred tolerances
EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12, "method": "DOP853"}


def drawn(seed: int, ranges: dict[str, tuple[float, float]]) -> Values:
    random = np.random.default_rng(seed)
    return {name: float(random.uniform(*ends)) for name, ends in ranges.items()}


def until(rate: Callable[..., Any], t: float, y: FloatArray, end: float, leaves: list[Callable[..., float]]) -> tuple[float, FloatArray, int]:
    """On to the end, or to where the first of ``leaves`` falls through zero; its number, or -1."""
    for leave in leaves:
        leave.terminal, leave.direction = True, -1  # type: ignore[attr-defined]
    part: Any = solve_ivp(rate, (t, end), y, events=leaves, max_step=0.02, **EXACT)
    which = [k for k, times in enumerate(part.t_events) if len(times)] if part.status == 1 else [-1]
    return float(part.t[-1]), part.y[:, -1].copy(), which[0]


class Servo(tg.Component):
    """Speed of a motor, by the voltage."""

    wanted, error, pid = (
        tg.blocks.Constant(10.0),
        tg.blocks.WeightedSummer(1.0, -1.0),
        tg.blocks.PID(2.0, 3.0, lower=-8.0, upper=12.0, tracking_time=0.5),
    )
    source, R, L, motor, ground = el.SignalVoltage(), el.Resistor(), el.Inductor(i=tg.start(0.0, fixed=True)), machines.RotationalEMF(), el.Ground()
    rotor, load, speed = ro.Inertia(w=tg.start(0.0, fixed=True)), ro.StepTorque(), ro.SpeedSensor()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.wanted.out, self.error.x1)
        yield tg.connect(self.speed.y, self.error.x2)
        yield tg.connect(self.error.out, self.pid.x1)
        yield tg.connect(self.pid.out, self.source.u)
        yield tg.connect(self.source.p, self.R.p)
        yield tg.connect(self.R.n, self.L.p)
        yield tg.connect(self.L.n, self.motor.p)
        yield tg.connect(self.motor.n, self.source.n, self.ground.p)
        yield tg.connect(self.motor.flange, self.rotor.flange_a)
        yield tg.connect(self.rotor.flange_b, self.load.flange, self.speed.flange)


SERVO = {
    "R.R": (0.3, 2.0), "L.L": (0.02, 0.3), "motor.k": (0.3, 1.2), "rotor.J": (0.05, 0.6), "load.tau": (-4.0, 4.0), "load.start_time": (1.0, 3.0),
    "pid.kp": (0.5, 6.0), "pid.ki": (0.5, 8.0), "pid.tracking_time": (0.05, 2.0), "wanted.value": (3.0, 25.0),
}  # fmt: skip


def controlled(p: Values, end: float) -> FloatArray:
    """Current, speed, integral."""
    low, high = -8.0, 12.0

    def unlimited(y: Any) -> float:
        return p["pid.kp"] * (p["wanted.value"] - y[1]) + y[2]

    def rate(t: float, y: Any, side: int, tau: float) -> list[float]:
        u = unlimited(y)
        out = high if side > 0 else low if side < 0 else u
        e = p["wanted.value"] - y[1]
        current = (out - p["R.R"] * y[0] - p["motor.k"] * y[1]) / p["L.L"]
        return [current, (p["motor.k"] * y[0] + tau) / p["rotor.J"], p["pid.ki"] * e + (out - u) / p["pid.tracking_time"]]

    t, y = 0.0, np.zeros(3)
    side = 1 if unlimited(y) > high else 0
    for stop, tau in ((min(p["load.start_time"], end), 0.0), (end, p["load.tau"])):
        while t < stop:
            leaves: list[Any] = [lambda _, y: high - unlimited(y), lambda _, y: unlimited(y) - low]
            if side:
                leaves = [(lambda _, y: unlimited(y) - high) if side > 0 else (lambda _, y: low - unlimited(y))]
            t, y, which = until(lambda t, y, side=side, tau=tau: rate(t, y, side, tau), t, y, stop, leaves)
            if which >= 0:
                side = 0 if side else 1 if which == 0 else -1
    return y


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(2))
def test_a_motor_with_a_controller_that_saturates_follows_the_truth_and_so_do_its_derivatives(seed: int, dae_method: str) -> None:
    p, end, names = drawn(seed, SERVO), 5.0, ["motor.k", "pid.tracking_time", "load.tau"]
    result = tg.simulate(Servo(), (0.0, end), rtol=1e-8, method=dae_method, parameters=p, sensitivities=names)
    found = np.array([result.final[name] for name in ("L.i", "rotor.w", "pid.integral")])
    assert found == pytest.approx(controlled(p, end), abs=ALLOWED * np.abs(result["rotor.w"].values).max())
    for name in names:
        best = min(
            abs(
                float(result.sensitivity("rotor.w", name).values[-1])
                - (controlled({**p, name: p[name] + h}, end) - controlled({**p, name: p[name] - h}, end))[1] / (2.0 * h)
            )
            for h in (1e-4, 1e-5)
        )
        assert best < 1e-4 * (1.0 + np.abs(result.sensitivity("rotor.w", name).values).max()), name


class Chamber(tg.Component):
    """A volume that a piston makes larger: ``C dp/dt = port.q - area v``, and presses it with ``area p``."""

    port, rod = fluid.Port(), tr.Flange()
    C, area = tg.Parameter(1.0, unit="m^3/Pa"), tg.Parameter(1.0, unit="m^2")
    p = tg.State(0.0, unit="Pa")
    v = tg.Algebraic(unit="m/s")

    def equations(self) -> Iterator[Any]:
        yield self.p == self.port.p
        yield self.v == tg.der(self.rod.s)
        yield self.C * tg.der(self.p) == self.port.q - self.area * self.v
        yield self.rod.f == -self.area * self.p


class Cylinder(tg.Component):
    """A valve with four ways, moved as a sine, between a pump, a tank and both sides of a piston with stops; it presses against a spring."""

    pump, tank, left, right = fluid.FixedPressure(p=20.0), fluid.FixedPressure(p=0.0), Chamber(C=0.1), Chamber(C=0.1, area=-0.6)
    pl, pr, lt, rt = fluid.Valve(), fluid.Valve(), fluid.Valve(), fluid.Valve()
    piston, spring, wall = tr.StoppedMass(m=2.0, s_min=-0.5, s_max=0.8), tr.SpringDamper(), tr.Fixed()
    w, phase = tg.Parameter(1.0), tg.Parameter(0.0)

    def equations(self) -> Iterator[Any]:
        spool = np.sin(self.w * tg.time + self.phase)
        for valve, opening in ((self.pl, spool), (self.rt, spool), (self.pr, -spool), (self.lt, -spool)):
            yield valve.opening == opening
        yield tg.connect(self.pump.port, self.pl.port_a, self.pr.port_a)
        yield tg.connect(self.tank.port, self.lt.port_b, self.rt.port_b)
        yield tg.connect(self.left.port, self.pl.port_b, self.lt.port_a)
        yield tg.connect(self.right.port, self.pr.port_b, self.rt.port_a)
        yield tg.connect(self.left.rod, self.piston.flange_a)
        yield tg.connect(self.right.rod, self.piston.flange_b, self.spring.flange_b)
        yield tg.connect(self.spring.flange_a, self.wall.flange)


CYLINDER = {
    "pump.p": (5.0, 40.0), "left.C": (0.02, 0.2), "right.C": (0.02, 0.2), "piston.m": (0.5, 4.0), "spring.c": (0.5, 30.0), "spring.d": (0.1, 3.0),
    "w": (0.8, 3.0), "phase": (0.0, 6.0),
}  # fmt: skip
SMALL = 0.01


def moved(p: Values, end: float, k: float) -> FloatArray:
    """Place and speed of the piston, pressures left and right."""

    def flow(opening: float, dp: float) -> float:
        root = math.copysign(abs(dp) ** 0.5, dp) if abs(dp) > SMALL else dp * (5.0 - (dp / SMALL) ** 2) / (4.0 * SMALL**0.5)
        return k * max(opening, 0.0) * root

    def push(y: Any) -> float:
        return y[2] - 0.6 * y[3] - p["spring.c"] * y[0] - p["spring.d"] * y[1]

    def rate(t: float, y: Any, rests: int) -> list[float]:
        x = math.sin(p["w"] * t + p["phase"])
        q1 = flow(x, p["pump.p"] - y[2]) - flow(-x, y[2])
        q2 = flow(-x, p["pump.p"] - y[3]) - flow(x, y[3])
        v = 0.0 if rests else y[1]
        return [v, 0.0 if rests else push(y) / p["piston.m"], (q1 - v) / p["left.C"], (q2 + 0.6 * v) / p["right.C"]]

    t, y, rests = 0.0, np.zeros(4), 0
    turns = [(n * math.pi - p["phase"]) / p["w"] for n in range(1 + math.floor(p["phase"] / math.pi), 40)]
    for stop in [*(turn for turn in turns if 0.0 < turn < end), end]:
        while t < stop:
            leaves: list[Any] = [lambda _, y: 0.8 - y[0], lambda _, y: y[0] + 0.5]
            if rests:
                leaves = [lambda _, y, rests=rests: rests * push(y)]
            t, y, which = until(lambda t, y, rests=rests: rate(t, y, rests), t, y, stop, leaves)
            if which >= 0:
                y[1] = 0.0
                side = 1 if which == 0 else -1
                rests = side if not rests and side * push(y) > 0.0 else 0  # or it is pulled away at once
    return y


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_cylinder_comes_to_its_stops_and_leaves_them(seed: int, dae_method: str) -> None:
    p, end, k = drawn(100 + seed, CYLINDER), 6.0, 0.3
    valves = {f"{name}.{what}": value for name in ("pl", "pr", "lt", "rt") for what, value in (("K", k), ("dp_small", SMALL))}
    result = tg.simulate(Cylinder(), (0.0, end), rtol=1e-8, method=dae_method, parameters=p | valves, sensitivities=["pump.p"])
    names = ("piston.s", "piston.v", "left.p", "right.p")
    sizes = np.array([np.abs(result[name].values).max() for name in names])
    assert np.array([result.final[name] for name in names]) / sizes == pytest.approx(moved(p, end, k) / sizes, abs=ALLOWED)
    by_pressure = np.array([float(result.sensitivity(name, "pump.p").values[-1]) for name in names])
    differences = [
        (moved({**p, "pump.p": p["pump.p"] + h}, end, k) - moved({**p, "pump.p": p["pump.p"] - h}, end, k)) / (2.0 * h) for h in (1e-3, 1e-4)
    ]
    assert min(float(np.max(np.abs(by_pressure - d) * p["pump.p"] / sizes)) for d in differences) < 1e-4


class Stream(tg.Component):
    """A stirred cell of a stream: ``M dT/dt = C (inlet - T) + heat.Q_flow``."""

    inlet, out, heat = tg.InputSignal(unit="K"), tg.OutputSignal(unit="K"), thermal.HeatPort()
    M, C = tg.Parameter(1.0, unit="J/K"), tg.Parameter(1.0, unit="W/K")
    T = tg.State(300.0, unit="K")

    def equations(self) -> Iterator[Any]:
        yield self.T == self.heat.T
        yield self.out == self.T
        yield self.M * tg.der(self.T) == self.C * (self.inlet - self.T) + self.heat.Q_flow


def exchanger(n: int) -> tg.Component:
    class Exchanger(tg.Component):
        UA, C_hot, C_cold = tg.Parameter(1.0, unit="W/K"), tg.Parameter(1.0, unit="W/K"), tg.Parameter(1.0, unit="W/K")
        T_hot, T_cold = tg.Parameter(360.0, unit="K"), tg.Parameter(290.0, unit="K")
        hot = tg.Array(Stream, n, C=lambda self, k: self.C_hot)
        cold = tg.Array(Stream, n, C=lambda self, k: self.C_cold, M=2.0)
        wall = tg.Array(thermal.ThermalConductor, n, G=lambda self, k: self.UA / n)

        def equations(self) -> Iterator[Any]:
            yield self.hot[0].inlet == self.T_hot
            yield self.cold[n - 1].inlet == self.T_cold
            for k in range(n):
                yield tg.connect(self.hot[k].heat, self.wall[k].port_a)
                yield tg.connect(self.wall[k].port_b, self.cold[k].heat)
                if k:
                    yield tg.connect(self.hot[k - 1].out, self.hot[k].inlet)
                    yield tg.connect(self.cold[k].out, self.cold[k - 1].inlet)

    return Exchanger()


def effectiveness(p: Values, n: int) -> float:
    """What the hot stream loses, by what there is between both inlets."""
    a, r = p["UA"] / (n * p["C_hot"]), p["C_hot"] / p["C_cold"]
    ends = ((1.0 + r * a) / (1.0 + a)) ** n
    return (1.0 - ends) / (1.0 - r * ends)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "n"), [(0, 1), (1, 4), (2, 25)])
def test_a_counter_flow_exchanger_has_the_effectiveness_of_the_formula(seed: int, n: int, dae_method: str) -> None:
    p = drawn(200 + seed, {"UA": (0.5, 6.0), "C_hot": (0.5, 3.0), "C_cold": (0.5, 3.0), "T_hot": (320.0, 400.0), "T_cold": (280.0, 310.0)})
    result = tg.simulate(exchanger(n), (0.0, 2000.0), rtol=1e-9, method=dae_method, parameters=p, sensitivities=["UA", "C_cold"])

    def outlet(p: Values) -> float:
        return p["T_hot"] - effectiveness(p, n) * (p["T_hot"] - p["T_cold"])

    assert result.final[f"hot[{n - 1}].T"] == pytest.approx(outlet(p), rel=1e-8)
    for name in ("UA", "C_cold"):
        wanted = (outlet({**p, name: p[name] + 1e-4}) - outlet({**p, name: p[name] - 1e-4})) / 2e-4
        assert float(result.sensitivity(f"hot[{n - 1}].T", name).values[-1]) == pytest.approx(wanted, rel=1e-5, abs=1e-6), name
    if n == 25:
        many = 1.0 - math.exp(-p["UA"] / p["C_hot"] * (1.0 - p["C_hot"] / p["C_cold"]))
        many /= 1.0 - p["C_hot"] / p["C_cold"] * (1.0 - many)
        assert effectiveness(p, n) == pytest.approx(many, rel=0.1)
