"""Each translational part against a closed form; the joined masses of the golden file built of them."""

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
from tidegate.library import translational as tr

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "components.json").read_text())
RTOL = 1e-8


def close(value: Any, scale: float = 1.0) -> Any:
    """1e-6 of the size of the quantity, 100 tolerances of the run."""
    return pytest.approx(value, rel=1e-6, abs=1e-6 * scale)


class Chain(tg.Component):
    """Two masses, a lever, a rod; a constant, a step, a signal."""

    check_units = False  # the signal is made of time
    m1, m2, m3 = tr.Mass(m=1.5, s=tg.start(0.2, fixed=True), v=tg.start(-1.0, fixed=True)), tr.Mass(m=0.5), tr.Mass(m=2.0)
    spring, both, wall = tr.Spring(c=8.0, s_rel0=0.3), tr.SpringDamper(c=5.0, d=0.7, s_rel0=-0.2), tr.Fixed(s0=0.1)
    rod, lever = tr.Rod(L=0.4), tr.Lever(ratio=-2.0)
    step, signal, speed, force = tr.StepForce(f=3.0, offset=1.0, start_time=0.5), tr.SignalForce(), tr.SpeedSensor(), tr.ForceSensor()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.wall.flange, self.spring.flange_a, self.both.flange_a)
        yield tg.connect(self.spring.flange_b, self.both.flange_b, self.m1.flange_a, self.speed.flange)
        yield tg.connect(self.m1.flange_b, self.rod.flange_a)
        yield tg.connect(self.rod.flange_b, self.force.flange_a)
        yield tg.connect(self.force.flange_b, self.m2.flange_a, self.lever.flange_a)
        yield tg.connect(self.lever.flange_b, self.m3.flange_a)
        yield tg.connect(self.m3.flange_b, self.step.flange, self.signal.flange)
        yield self.signal.f == 2.0 * tg.time


@pytest.mark.slow
def test_a_chain_of_masses_moves_as_its_matrix_does(dae_method: str) -> None:
    result = tg.simulate(Chain(), (0.0, 1.5), rtol=RTOL, method=dae_method)
    # s2 = s1 + 0.4 = -2 s3; a force on m3 acts on s1 by -1/2, and m3 counts by a quarter
    mass = 1.5 + 0.5 + 2.0 / 4

    def matrix(step: float) -> Any:  # of s, v, 1, t
        constant = 8.0 * (0.1 + 0.3) + 5.0 * (0.1 - 0.2) - step / 2
        return np.array([[0, 1, 0, 0], [-13.0 / mass, -0.7 / mass, constant / mass, -1.0 / mass], [0, 0, 0, 0], [0, 0, 1, 0]])

    y = expm(matrix(4.0)) @ expm(0.5 * matrix(1.0)) @ [0.2, -1.0, 1.0, 0.0]
    found = result.final
    assert (found["m1.s"], found["m1.v"]) == close((y[0], y[1]), 2.0)
    assert (found["m3.s"], found["m3.v"], found["m2.s"], found["speed.y"]) == close((-(y[0] + 0.4) / 2, -y[1] / 2, y[0] + 0.4, y[1]), 2.0)
    a = float((matrix(4.0) @ y)[1])
    pulled = -8.0 * (y[0] - 0.4) - 5.0 * (y[0] + 0.1) - 0.7 * y[1]
    assert found["force.y"] == close(pulled - 1.5 * a, 5.0)


class Dropped(tg.Component):
    """A mass falls on a hard stop, from which it is lifted after 2 s."""

    check_units = False  # the force is made of time
    m, lift = tr.StoppedMass(m=2.0, s=1.0, s_min=0.0, s_max=10.0), tr.SignalForce()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.m.flange_a, self.lift.flange)
        yield self.lift.f == tg.where(tg.time < 2.0, -4.0, 8.0 * (tg.time - 2.5))


@pytest.mark.slow
@pytest.mark.parametrize("e", [0.0, 0.6])
def test_a_mass_at_a_stop_bounces_rests_and_leaves(e: float, dae_method: str) -> None:
    result = tg.simulate(Dropped(m={"e": e}), (0.0, 3.0), outputs=[0.5, 2.25, 3.0], rtol=RTOL, method=dae_method)
    # falls with 2 m/s^2: hits after 1 s with 2 m/s; bounce k lasts 2 e^k s, so that with e = 0.6 it is in the air until 2 s at least
    times = [event.time for event in result.events if "m.hit_lower" in event.causes]
    assert times[0] == pytest.approx(1.0, abs=1e-7)
    assert result["m.s"][0] == close(0.75)
    if e == 0.0:
        assert len(times) == 1
        assert (result["m.s"][1], result["m.rest"][1], result["m.f_stop"][1]) == close((0.0, -1.0, 2.0))
        assert [event.time for event in result.events if "m.leave" in event.causes] == pytest.approx([2.5], abs=1e-7)
        assert (result.final["m.s"], result.final["m.v"]) == close((4.0 * 0.5**3 / 6, 4.0 * 0.5**2 / 2))  # 2 a = 8 (t - 2.5)
    else:
        s, v = 1.2 - 1.0, 1.2 - 2.0  # at 2 s
        # a = 4 (t - 2.5): v' from -2 at 2 s; the zero of s by its cubic
        roots = np.roots([4 / 6, -2 / 2, v, s])
        first = min(float(r.real) for r in roots if abs(r.imag) < 1e-12 and 1e-9 < r.real < 1.0)
        assert times[1] == pytest.approx(2.0 + first, abs=1e-7)
        up, rest = -0.6 * (v - 2 * first + 2 * first**2), 1.0 - first
        assert result.final["m.s"] == close(up * rest + (-2 + 4 * first) * rest**2 / 2 + 4 * rest**3 / 6)


@pytest.mark.slow
@pytest.mark.parametrize(("force", "rest", "s"), [(3.0, 1.0, 1.0), (-3.0, 0.0, 1.0 - 0.375)])
def test_a_mass_that_starts_at_a_stop_stays_or_leaves(force: float, rest: float, s: float) -> None:
    class Pressed(tg.Component):
        m, press = tr.StoppedMass(m=2.0, s=1.0), tr.ConstantForce(f=force)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.m.flange_b, self.press.flange)

    final = tg.simulate(Pressed(), (0.0, 0.7071067811865476), rtol=RTOL).final
    assert (final["m.rest"], final["m.s"]) == close((rest, s))


@pytest.mark.slow
def test_an_elastic_stop_throws_a_mass_back(dae_method: str) -> None:
    class Thrown(tg.Component):
        m, stop = tr.Mass(m=2.0, v=3.0), tr.ElasticStop(s_max=1.5, c=800.0)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.m.flange_a, self.stop.flange)

    result = tg.simulate(Thrown(), (0.0, 1.0), rtol=RTOL, method=dae_method)
    half = math.pi / 20.0  # of the period of c = 800, m = 2
    assert [event.time for event in result.events] == pytest.approx([0.5, 0.5 + half], abs=1e-7)
    assert (result.final["m.v"], result.final["m.s"]) == close((-3.0, 1.5 - 3.0 * (0.5 - half)))


class Sledge(tg.Component):
    """A block on a sledge: dry friction of 4 N joins them until the sledge is pulled too hard; the sledge rubs on the ground and is braked."""

    check_units = False  # the force is made of time
    block, sledge, between = tr.Mass(m=1.0), tr.Mass(m=3.0), tr.Friction()
    ground, brake, pull = tr.SlidingFriction(f_coulomb=2.0), tr.Brake(), tr.SignalForce()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.pull.flange, self.sledge.flange_a, self.ground.flange_a, self.brake.flange_a)
        yield tg.connect(self.sledge.flange_b, self.between.flange_a)
        yield tg.connect(self.between.flange_b, self.block.flange_a)
        yield self.between.capacity == 4.0
        yield self.brake.capacity == tg.where(tg.time < 20.0, 0.0, 50.0)
        yield self.pull.f == tg.time


@pytest.mark.slow
def test_a_block_on_a_sledge_sticks_and_slips(dae_method: str) -> None:
    result = tg.simulate(Sledge(), (0.0, 22.0), outputs=[1.0, 10.0, 19.0], rtol=RTOL, method=dae_method)
    # held until 2 s; 4 a = t - 2 until the block would need more than 4 N, at 18 s; then 3 a = t - 6 and the block has 4 m/s^2
    assert result["sledge.v"].values == close([0.0, 8.0, 32.0 + (13**2 - 12**2) / 6], 30.0)
    assert result["block.v"].values == close([0.0, 8.0, 36.0], 30.0)
    assert result["between.f"].values == close([0.0, 2.0, 4.0], 4.0)
    changes = [(event.time, event.after["ground.mode"], event.after["between.mode"], event.after["brake.mode"]) for event in result.events]
    # braked at 20 s with 50 N: 3 a = t - 56; the block is faster as soon as both have one speed, and goes on sliding
    speed, block = 32.0 + (14**2 - 12**2) / 6, 40.0
    assert speed > block
    tau = np.roots([1 / 6, -36 / 3 - 4.0, speed - block]).min()
    expected = [(2.0, 1, 0, 2), (18.0, 1, 1, 2), (20.0, 1, 1, 1), (20.0 + float(tau), 1, -1, 1)]
    assert [change[1:] for change in changes[:4]] == [change[1:] for change in expected]
    assert [change[0] for change in changes[:4]] == pytest.approx([change[0] for change in expected], abs=1e-6)


class Dragged(tr.Body):
    """Air brakes what moves as a whole, and a force may push it."""

    check_units = False
    m, c = tg.Parameter(2.0), tg.Parameter(0.6)

    def equations(self) -> Iterator[Any]:
        yield self.m * self.a == self.flange_a.f + self.flange_b.f - self.c * self.v * abs(self.v)


def test_a_body_alone_is_braked_by_what_its_equation_says(dae_method: str) -> None:
    result = tg.simulate(Dragged(s=0.3, v=-4.0), (0.0, 3.0), rtol=RTOL, sensitivities=["c"], method=dae_method)
    # v = v0 / (1 + c |v0| t / m), s = s0 + sign m/c ln(1 + c |v0| t / m)
    grown = 1.0 + 0.6 * 4.0 * 3.0 / 2.0
    assert (result.final["v"], result.final["s"]) == close((-4.0 / grown, 0.3 - 2.0 / 0.6 * math.log(grown)), 4.0)
    assert result.final["a"] == close(0.6 * (4.0 / grown) ** 2 / 2.0)
    assert result.sensitivity("v", "c").values[-1] == pytest.approx(4.0 / grown**2 * 4.0 * 3.0 / 2.0, rel=1e-5)


@pytest.mark.slow
def test_a_body_between_forces_comes_to_the_speed_at_which_they_balance(dae_method: str) -> None:
    class Pushed(tg.Component):
        body = Dragged(v=tg.start(0.0, fixed=True))
        push, pull, wall, free = tr.ConstantForce(f=3.0), tr.ConstantForce(f=2.4), tr.Fixed(s0=9.0), tr.Spring(c=0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.push.flange, self.body.flange_a)
            yield tg.connect(self.pull.flange, self.body.flange_b, self.free.flange_a)
            yield tg.connect(self.free.flange_b, self.wall.flange)

    # m v' = F - c v^2: v = u tanh(t u c / m), u = sqrt(F / c)
    speed = math.sqrt(5.4 / 0.6)
    found = tg.simulate(Pushed(), (0.0, 1.0), rtol=RTOL, method=dae_method).final
    assert (found["body.v"], found["body.flange_a.f"], found["body.flange_b.f"]) == close((speed * math.tanh(speed * 0.6 / 2.0), 3.0, 2.4), 3.0)
    assert found["body.s"] == close(2.0 / 0.6 * math.log(math.cosh(speed * 0.6 / 2.0)))
