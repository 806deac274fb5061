"""Models that tests of simulations share: a ball that bounces and ticks, what is heated, a straight line."""

from __future__ import annotations

from typing import Any

import tidegate as tg

__all__ = ["BALL", "LINE", "Ball", "Heated"]


class Ball(tg.Component):
    """Two numbers follow the flight: an algebraic one and an output; a clock and a bounce count."""

    h = tg.State(1.0, unit="m")
    v = tg.State(0.0)
    height = tg.Algebraic(0.0)
    bounces = tg.Discrete(0)
    ticks = tg.Discrete(0)
    e = tg.Parameter(0.8)
    energy = tg.Output(lambda self: self.h * 9.81 + self.v**2 / 2)

    def equations(self) -> Any:
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -9.81
        yield self.height == 2 * self.h

    @tg.when(lambda self: self.h < 0)
    def bounce(self) -> Any:
        return {self.v: -self.e * self.v, self.bounces: self.bounces + 1}

    @tg.every(0.3)
    def tick(self) -> Any:
        return {self.ticks: self.ticks + 1}


class Heated(tg.Component):
    T = tg.State(20.0)
    u = tg.Input(0.0)

    def equations(self) -> Any:
        yield tg.der(self.T) == self.u - 0.1 * (self.T - 20.0)


# one pair of shared models: a component is compiled once for each object
BALL = Ball().lower()
LINE = tg.ode(lambda t, y, p: [p["slope"]], y0={"x": 0.0}, p={"slope": 1.0})
