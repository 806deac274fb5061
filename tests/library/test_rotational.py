"""Each rotational part against a closed form; the clutch of the golden file built of them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import tidegate as tg
from tidegate.library import rotational as ro

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "components.json").read_text())
RTOL = 1e-8
MODES = {"stuck": 0.0, "forward": 1.0, "backward": -1.0, "free": 2.0}


def close(value: Any, scale: float = 1.0) -> Any:
    """1e-6 of the size of the quantity, 100 tolerances of the run."""
    return pytest.approx(value, rel=1e-6, abs=1e-6 * scale)


class Train(tg.Component):
    """A torque turns J1; a gear by 3, J2, and behind a spring and a damper side by side the wall; J2 also at a spring with damper in one."""

    T, J1, J2, gear, wall = ro.ConstantTorque(tau=2.0), ro.Inertia(J=0.3), ro.Inertia(J=1.7), ro.Gear(ratio=3.0), ro.Fixed(phi0=0.2)
    spring, damper, both = ro.Spring(c=20.0, phi_rel0=0.1), ro.Damper(d=0.6), ro.SpringDamper(c=7.0, d=0.4)
    speed, torque = ro.SpeedSensor(), ro.TorqueSensor()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.T.flange, self.J1.flange_a, self.speed.flange)
        yield tg.connect(self.J1.flange_b, self.torque.flange_a)
        yield tg.connect(self.torque.flange_b, self.gear.flange_a)
        yield tg.connect(self.gear.flange_b, self.J2.flange_a)
        yield tg.connect(self.J2.flange_b, self.spring.flange_b, self.damper.flange_b, self.both.flange_b)
        yield tg.connect(self.wall.flange, self.spring.flange_a, self.damper.flange_a, self.both.flange_a)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_train_of_shafts_moves_as_its_matrix_does(seed: int, dae_method: str) -> None:
    ratio, J1, J2, phi, w = (float(x) for x in np.random.default_rng(seed).uniform([0.5, 0.1, 0.5, -1, -3], [4, 1, 3, 1, 3]))
    # J1's angle and speed are ratio times those of J2; J1's are the states, being declared first
    model = Train(gear={"ratio": ratio}, J1={"J": J1, "phi": ratio * phi, "w": ratio * w}, J2={"J": J2, "phi": phi, "w": w})
    result = tg.simulate(model, (0.0, 1.5), rtol=RTOL, method=dae_method)
    mass, c, d = J2 + ratio**2 * J1, 27.0, 1.0
    rest = 0.2 + (2.0 * ratio + 20.0 * 0.1) / c
    x, v = expm(1.5 * np.array([[0.0, 1.0], [-c / mass, -d / mass]])) @ [phi - rest, w]
    a = -(c * x + d * v) / mass
    found = result.final
    assert (found["J2.phi"], found["J2.w"], found["J2.a"]) == close((x + rest, v, a), 10.0)
    assert (found["speed.y"], found["torque.y"]) == close((ratio * v, 2.0 - J1 * ratio * a), 10.0)
    assert (found["spring.tau"], found["damper.tau"]) == close((20.0 * (x + rest - 0.3), 0.6 * v), 10.0)


class Braked(tg.Component):
    """A shaft at 8 rad/s; the brake holds it with 3 N m while it turns and with 4.5 N m at rest, from 1 s to 9 s; the motor gives t N m."""

    check_units = False  # the torque is made of time
    J, brake, motor = ro.Inertia(J=2.0, w=8.0), ro.Brake(peak=1.5), ro.SignalTorque()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.motor.flange, self.J.flange_a)
        yield tg.connect(self.J.flange_b, self.brake.flange_a)
        yield self.motor.tau == tg.where(tg.time < 5.5, -1.0, tg.time - 5.5)
        yield self.brake.capacity == tg.where(tg.time < 1, 0.0, tg.where(tg.time < 11, 3.0, 0.0))


@pytest.mark.slow
def test_a_brake_stops_a_shaft_holds_it_and_lets_it_go_on(dae_method: str) -> None:
    result = tg.simulate(Braked(), (0.0, 12.0), outputs=[0.5, 3.0, 5.0, 9.0, 10.5, 12.0], rtol=RTOL, method=dae_method)
    # w = 7.5 at 1 s, then -2 rad/s^2; at rest at 4.75 s; held until 5.5 + 4.5; then J w' = t - 8.5, and without brake J w' = t - 5.5
    at_11 = (2.5**2 - 1.5**2) / 4
    assert result["J.w"].values == close([7.75, 3.5, 0.0, 0.0, (2.0**2 - 1.5**2) / 4, at_11 + (6.5**2 - 5.5**2) / 4], 1.0)
    assert result["brake.tau"].values == close([0.0, 3.0, -1.0, 3.5, 3.0, 0.0], 1.0)
    assert [event.time for event in result.events] == pytest.approx([1.0, 4.75, 5.5, 10.0, 11.0], abs=1e-7)
    assert [event.after["brake.mode"] for event in result.events] == [1, 0, 0, 1, 2]


class Bearing(tg.Component):
    """J w' = A sin t - friction, from rest."""

    check_units = False  # the torque is made of time
    amplitude = tg.Parameter(3.0, unit="N m")
    J, friction, motor = ro.Inertia(J=0.5), ro.BearingFriction(tau_coulomb=1.0, tau_peak=2.0), ro.SignalTorque()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.motor.flange, self.J.flange_a)
        yield tg.connect(self.J.flange_b, self.friction.flange_a)
        yield self.motor.tau == self.amplitude * np.sin(tg.time)


def stick_slip(inertia: float, amplitude: float, coulomb: float, peak: float, d: float, end: float) -> tuple[list[float], list[int], float]:
    """Times and modes of the changes, and the last speed: the closed form of each piece, its zero found by bisection."""
    from scipy.optimize import brentq

    def speed(t: float, start: float, w: float, sign: int) -> float:
        """J w' = A sin t - sign coulomb - d w."""
        k = d / inertia

        def particular(t: float) -> float:
            if k == 0.0:
                return (-amplitude * math.cos(t) - sign * coulomb * t) / inertia
            return amplitude / inertia * (k * math.sin(t) - math.cos(t)) / (k**2 + 1) - sign * coulomb / d

        return particular(t) + (w - particular(start)) * math.exp(-k * (t - start))

    t, w, mode, times, modes = 0.0, 0.0, 0, [], []
    while True:
        if mode == 0:
            after = math.asin(peak / amplitude)  # |sin| reaches peak / amplitude next at n pi + after
            following = next((n * math.pi + after for n in range(100) if n * math.pi + after > t + 1e-9), math.inf)
            if abs(amplitude * math.sin(t)) > peak:
                following = t
            if following > end:
                return times, modes, 0.0
            t, w, mode = following, 0.0, 1 if math.sin(following) > 0 else -1
        else:
            grid = np.linspace(t + 1e-3, end, 20001)
            values = np.array([speed(float(s), t, w, mode) for s in grid]) * mode
            below = np.flatnonzero(values < 0)
            if not below.size:
                return times, modes, speed(end, t, w, mode)
            k = int(below[0])
            start, own, sign = t, w, mode
            t = float(brentq(speed, grid[k - 1], grid[k], args=(start, own, sign), xtol=1e-13))
            w, mode = 0.0, 0
            if abs(amplitude * math.sin(t)) > peak:  # it goes on the other way at the same instant
                mode = 1 if math.sin(t) > 0 else -1
        times.append(t)
        modes.append(mode)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_shaft_in_a_bearing_sticks_and_slips_as_in_closed_form(seed: int, dae_method: str) -> None:
    inertia, amplitude, coulomb, excess, d = (float(x) for x in np.random.default_rng(seed).uniform([0.3, 2, 0.5, 0, 0], [1.0, 4, 1.5, 0.4, 0.5]))
    d = 0.0 if seed == 0 else d
    peak = coulomb + excess
    model = Bearing(amplitude=amplitude, J={"J": inertia}, friction={"tau_coulomb": coulomb, "tau_peak": peak, "d": d})
    result = tg.simulate(model, (0.0, 12.0), rtol=RTOL, method=dae_method)
    times, modes, last = stick_slip(inertia, amplitude, coulomb, peak, d, 12.0)
    assert [event.after["friction.mode"] for event in result.events] == modes
    assert [event.time for event in result.events] == pytest.approx(times, abs=1e-7 * 12)
    assert result.final["J.w"] == close(last, 5.0)


class AtRest(tg.Component):
    """Three shafts at rest, two clutches between them."""

    J1, J2, J3 = ro.Inertia(J=1.0), ro.Inertia(J=1.0), ro.Inertia(J=1.0)
    c1, c2, first, second = ro.Clutch(), ro.Clutch(), ro.ConstantTorque(), ro.ConstantTorque()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.J1.flange_b, self.c1.flange_a)
        yield tg.connect(self.c1.flange_b, self.J2.flange_a)
        yield tg.connect(self.J2.flange_b, self.c2.flange_a)
        yield tg.connect(self.c2.flange_b, self.J3.flange_a)
        yield tg.connect(self.first.flange, self.J1.flange_a)
        yield tg.connect(self.second.flange, self.J2.flange_a)
        yield self.c1.capacity == 2.0
        yield self.c2.capacity == 3.0


def at_rest(one: float, two: float) -> tuple[float, float]:
    """What the clutches carry: of the few modes the one in which each that is stuck can hold, and each that slides slides its way."""
    for m1 in (0, 1, -1):
        for m2 in (0, 1, -1):
            # a1 = T1 - t1, a2 = T2 + t1 - t2, a3 = t2
            matrix = [[2.0, -1.0] if m1 == 0 else [1.0, 0.0], [1.0, -2.0] if m2 == 0 else [0.0, 1.0]]
            t1, t2 = np.linalg.solve(matrix, [one - two if m1 == 0 else 2.0 * m1, -two if m2 == 0 else 3.0 * m2])
            a1, a2, a3 = one - t1, two + t1 - t2, t2
            fits1 = abs(t1) <= 2.0 if m1 == 0 else (a1 - a2) * m1 > 0
            if fits1 and (abs(t2) <= 3.0 if m2 == 0 else (a2 - a3) * m2 > 0):
                return float(t1), float(t2)
    raise AssertionError


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_shafts_at_rest_begin_to_slide_where_they_cannot_hold(seed: int) -> None:
    one, two = (float(x) for x in np.random.default_rng(seed).uniform(-12.0, 12.0, 2))
    found = tg.simulate(AtRest(first={"tau": one}, second={"tau": two}), (0.0, 1.0), rtol=RTOL).final
    t1, t2 = at_rest(one, two)
    assert (found["c1.tau"], found["c2.tau"]) == close((t1, t2), 1.0)
    assert (found["J1.w"], found["J2.w"], found["J3.w"]) == close((one - t1, two + t1 - t2, t2), 10.0)


@pytest.mark.slow
@pytest.mark.parametrize("start", [-3.0, 1e9])
def test_what_does_not_hold_at_the_start_slides_at_once_whenever_that_is(start: float) -> None:
    class Pulled(tg.Component):
        J, bearing, motor = ro.Inertia(J=2.0, phi=1.0), ro.BearingFriction(tau_coulomb=1.0, tau_peak=1.5), ro.ConstantTorque(tau=3.0)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.motor.flange, self.J.flange_a)
            yield tg.connect(self.J.flange_b, self.bearing.flange_a)

    # 1 rad/s^2; it begins a billionth of the time later
    found = tg.simulate(Pulled(), (start, start + 10.0), rtol=RTOL).final["J.w"]
    assert found == pytest.approx(10.0, abs=2e-9 * max(1.0, abs(start)))
