"""Resets of states that are tied: values that fit the constraints are taken over, others are refused with the constraint that they miss."""

from __future__ import annotations

from typing import Any

import pytest

import tidegate as tg


class Pendulum(tg.Component):
    x, y, vx, vy, T = tg.State(0.6), tg.State(-0.8), tg.State(0.0), tg.State(0.0), tg.Algebraic(1.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.vx
        yield tg.der(self.y) == self.vy
        yield tg.der(self.vx) == -self.T * self.x
        yield tg.der(self.vy) == -self.T * self.y - 9.81
        yield self.x**2 + self.y**2 == 1.0


class Pushed(Pendulum):
    @tg.at(0.2)
    def push(self) -> Any:
        return {self.vx: 2.0, self.vy: -2.0 * self.x / self.y}


class Hit(Pendulum):
    @tg.at(0.2)
    def hit(self) -> Any:
        return {self.vx: 2.0, self.vy: 0.0}


class Moved(Pendulum):
    @tg.at(0.2)
    def move(self) -> Any:
        return {self.x: 0.8, self.y: -0.6}


class Put(Pendulum):
    @tg.at(0.2)
    def put(self) -> Any:
        return {self.x: 0.8, self.y: -0.6, self.vx: 0.6, self.vy: 0.8}


class Missed(Pendulum):
    @tg.at(0.2)
    def put(self) -> Any:
        return {self.x: 0.8, self.y: -0.5, self.vx: 0.0, self.vy: 0.0}


@pytest.mark.slow
def test_values_that_fit_are_taken_over(dae_method: str) -> None:
    event = tg.simulate(Pushed(), (0.0, 0.5), method=dae_method).events[-1]
    assert event.after["vx"] == 2.0
    assert event.after["vy"] == pytest.approx(-2.0 * event.before["x"] / event.before["y"], rel=1e-6)
    after = tg.simulate(Put(), (0.0, 0.5), method=dae_method).events[-1].after
    assert [after[name] for name in ("x", "y", "vx", "vy")] == pytest.approx([0.8, -0.6, 0.6, 0.8], rel=1e-9)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Hit, r"vx, vy are reset to do not fit the derivative of equation 5"),
        (Moved, r"x, y are reset to do not fit the derivative of equation 5"),  # the speeds that are left alone point elsewhere there
        (Missed, r"x, y are reset to do not fit equation 5"),
    ],
)
def test_values_that_do_not_fit_are_refused_with_the_constraint(model: Any, words: str, dae_method: str) -> None:
    with pytest.raises(tg.AssertionFailedError, match=words):
        tg.simulate(model(), (0.0, 0.5), method=dae_method)
