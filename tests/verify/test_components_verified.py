"""Models of parts, whose index is reduced and whose modes change within an instant, before the judge; and wrong ones, which must not pass."""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import tidegate as tg
from golden_components import MODELS, Clutched, Joined
from tidegate.library import translational as tr
from tidegate.results import EventLog


@cache
def golden_run(name: str, rtol: float, method: str, part: float = 1.0) -> tg.Result:
    return tg.simulate(MODELS[name].make(), (0.0, part * MODELS[name].end), rtol=rtol, method=method)


@pytest.mark.slow
# each step is judged by some hundred calls of Python, and IDA takes thousands of steps for what Radau does in a hundred
@pytest.mark.parametrize(("method", "rtol", "part"), [("radau", 1e-8, 1.0), ("ida", 1e-5, 0.5)])
@pytest.mark.parametrize("name", [pytest.param(key, marks=[] if key.startswith("D04") else [pytest.mark.slow]) for key in MODELS])
def test_golden_models_are_verified(name: str, method: str, rtol: float, part: float) -> None:
    check = tg.verify(golden_run(name, rtol, method, part), points=2)
    assert check.ok, str(check)


class Pendulum(tg.Component):
    """D05 in one piece."""

    check_units = False
    m, L, g = tg.Parameter(1.0), tg.Parameter(1.0), tg.Parameter(9.81)
    x, y = tg.State(math.sin(2.5)), tg.State(-math.cos(2.5))
    vx, vy, tension = tg.State(0.0), tg.State(0.0), tg.Algebraic()

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == self.vx
        yield tg.der(self.y) == self.vy
        yield self.m * tg.der(self.vx) == -self.x / self.L * self.tension
        yield self.m * tg.der(self.vy) == -self.y / self.L * self.tension - self.m * self.g
        yield self.x**2 + self.y**2 == self.L**2


@cache
def swinging(method: str) -> tg.Result:
    return tg.simulate(Pendulum(), (0.0, 0.5), rtol=1e-5, method=method)


class WrongGravity(Pendulum):
    """A sign is wrong."""

    @tg.replaces
    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == self.vx
        yield tg.der(self.y) == self.vy
        yield self.m * tg.der(self.vx) == -self.x / self.L * self.tension
        yield self.m * tg.der(self.vy) == -self.y / self.L * self.tension + self.m * self.g
        yield self.x**2 + self.y**2 == self.L**2


class WrongTension(Pendulum):
    """One force is a hundredth too large."""

    @tg.replaces
    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == self.vx
        yield tg.der(self.y) == self.vy
        yield self.m * tg.der(self.vx) == -self.x / self.L * self.tension * 1.01
        yield self.m * tg.der(self.vy) == -self.y / self.L * self.tension - self.m * self.g
        yield self.x**2 + self.y**2 == self.L**2


class WrongSpeed(Pendulum):
    """The derivative of an unknown that is mostly no state is another."""

    @tg.replaces
    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == self.vx
        yield tg.der(self.y) == 1.01 * self.vy
        yield self.m * tg.der(self.vx) == -self.x / self.L * self.tension
        yield self.m * tg.der(self.vy) == -self.y / self.L * self.tension - self.m * self.g
        yield self.x**2 + self.y**2 == self.L**2


@pytest.mark.hunt
@pytest.mark.parametrize("wrong", [WrongGravity, WrongTension, WrongSpeed])
def test_a_pendulum_with_a_wrong_equation_is_not_verified(wrong: type[tg.Component], dae_method: str) -> None:
    check = tg.verify(swinging(dae_method), source=wrong(), points=2)
    assert "equation" in {item.kind for item in check.wrong}, str(check)


@pytest.mark.hunt
@pytest.mark.parametrize("changed", [{"damper.d": -1.5}, {"m2.m": 2.02}])
def test_joined_masses_with_a_wrong_part_are_not_verified(changed: dict[str, float], dae_method: str) -> None:
    result = copy(golden_run("D04_coupled_masses", 1e-5, dae_method, 0.1))
    result.parameters = {**result.parameters, **changed}
    check = tg.verify(result, source=Joined(), points=2)
    assert "equation" in {item.kind for item in check.wrong}, str(check)


class Late(Clutched):
    """Pressed otherwise a thousandth of a second later."""

    @tg.replaces
    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.motor.flange, self.J1.flange_a)
        yield tg.connect(self.J1.flange_b, self.clutch.flange_a)
        yield tg.connect(self.clutch.flange_b, self.J2.flange_a)
        yield tg.connect(self.J2.flange_b, self.load.flange_b)
        yield tg.connect(self.load.flange_a, self.wall.flange)
        yield self.clutch.capacity == tg.where(tg.time < 1, 0.0, tg.where(tg.time < 4.001, 20.0, tg.where(tg.time < 5, 2.0, 25.0)))


@pytest.mark.hunt
def test_a_clutch_that_is_released_late_is_not_verified(dae_method: str) -> None:
    check = tg.verify(tg.simulate(Late(), (0.0, 4.2), rtol=1e-5, method=dae_method), source=Clutched(), points=2)
    assert not check.ok


@pytest.mark.slow
def test_an_event_that_is_taken_away_or_put_in_is_told() -> None:
    found = golden_run("D09_friction_clutch", 1e-5, "radau")
    events = list(found.events)
    stuck = next(event for event in events if "clutch.stick" in event.causes)
    less = copy(found)
    less.events = EventLog([event for event in events if event is not stuck], time_unit="")
    assert not tg.verify(less, points=2).ok
    more = copy(found)
    extra = replace(stuck, time=3.0, before=stuck.after)  # it is stuck there already, and nothing jumps
    more.events = EventLog(sorted([*events, extra], key=lambda event: event.time), time_unit="")
    assert "spurious event" in {item.kind for item in tg.verify(more, points=2).wrong}


@pytest.mark.slow
def test_a_mass_that_hits_its_stop_and_is_pulled_away_at_once_is_verified() -> None:
    """It rests for no time at all: what the stop would press it with is in no row, and is solved for."""

    class Pulled(tg.Component):
        mass, force = tr.StoppedMass(s_max=1.0, v=2.0), tr.ConstantForce(f=-1.0)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.force.flange, self.mass.flange_a)

    result = tg.simulate(Pulled(), (0.0, 2.0), rtol=1e-8)
    hit = 2.0 - 2.0**0.5
    assert result.final["mass.s"] == pytest.approx(1.0 - 0.5 * (2.0 - hit) ** 2, rel=1e-7)
    assert tg.verify(result).ok
