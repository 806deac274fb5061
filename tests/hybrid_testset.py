"""Models of published comparisons with events, jumps and sensitivities, and where ``tests/golden/hybrid_testset.json`` has their values.

H01 lithium cluster (EUROSIM comparison C1), H02 class-E amplifier (C3), H03 and H04 two-state relay (C5), H07 switching linear system of Hiskens
and Pai, H08 cubic switch of Galán, Feehery and Barton, H14 balls.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tidegate as tg

__all__ = ["BALLS", "CUBIC", "GOLDEN", "LITHIUM", "ClassE", "Relay", "RestingBall", "SpiralsByLine", "SpiralsByMode", "falling", "numbers"]

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden" / "hybrid_testset.json").read_text())
BALLS = GOLDEN["H14_balls"]


def numbers(texts: list[str]) -> list[float]:
    return [float(text) for text in texts]


def lithium(t: Any, y: Any, p: Any) -> list[Any]:
    r, m, f = y["r"], y["m"], y["f"]
    return [
        -0.1 * r + m * f,
        0.1 * r - m + 0.1 * f**2 - m * f,
        0.1 * r + 2 * m - m * f - 0.2 * f**2 - p["lf"] * f + p["p"],
    ]


LITHIUM = tg.ode(lithium, y0={"r": 84.99, "m": 1.674, "f": 9.975}, p={"lf": 1000.0, "p": 0.0})


class ClassE(tg.Component):
    """The transistor is a resistor that toggles by a factor of 1e8 at each half period."""

    x1 = tg.State(0.0)
    x2 = tg.State(0.0)
    x3 = tg.State(0.0)
    x4 = tg.State(0.0)
    on = tg.Discrete(False)

    def equations(self) -> Any:
        R = 0.05 if self.on else 5e6
        yield tg.der(self.x1) == (5 - self.x2) / 79.9e-6
        yield tg.der(self.x2) == (self.x1 - self.x2 / R - self.x3) / 17.9e-9
        yield tg.der(self.x3) == (self.x2 - 52.4 * self.x3 - self.x4) / 232e-6
        yield tg.der(self.x4) == self.x3 / 9.66e-9

    @tg.every(5e-6)
    def toggle(self) -> Any:
        return {self.on: not self.on}


class Relay(tg.Component):
    y1 = tg.State(4.2)
    y2 = tg.State(0.3)
    c3 = tg.Parameter(3.5651205)
    low = tg.Parameter(2.5)
    low_c2 = tg.Parameter(-0.3)
    low_c4 = tg.Parameter(2.73)
    c2 = tg.Discrete(0.4)
    c4 = tg.Discrete(5.5)

    def equations(self) -> Any:
        yield tg.der(self.y1) == 2.7e6 * (self.y2 + self.c2 - self.y1)
        yield tg.der(self.y2) == self.c3 * (self.c4 - self.y2)

    @tg.when(lambda self: self.y1 > 5.8)
    def drop_out(self) -> Any:
        return {self.c2: self.low_c2, self.c4: self.low_c4}

    @drop_out.elsewhen(lambda self: self.y1 < self.low and self.c2 < 0)
    def pull_in(self) -> Any:
        return {self.c2: 0.4, self.c4: 5.5}


class Spirals(tg.Component):
    """Two spirals that hand over to each other at lines through the origin."""

    x1 = tg.State(lambda self: self.a)
    x2 = tg.State(lambda self: self.b)
    a = tg.Parameter(0.0)
    b = tg.Parameter(1.0)
    l1 = tg.Parameter(2.75)
    l2 = tg.Parameter(0.36)
    first = tg.Discrete(True)

    def equations(self) -> Any:
        yield tg.der(self.x1) == ((self.x1 - 100 * self.x2) if self.first else (self.x1 + 10 * self.x2))
        yield tg.der(self.x2) == ((10 * self.x1 + self.x2) if self.first else (-100 * self.x1 + self.x2))


class SpiralsByMode(Spirals):
    @tg.when(lambda self: self.first and self.x2 < self.l1 * self.x1)
    def leave(self) -> Any:
        return {self.first: False}

    @leave.elsewhen(lambda self: (not self.first) and self.x2 > self.l2 * self.x1)
    def come_back(self) -> Any:
        return {self.first: True}


class SpiralsByLine(Spirals):
    @tg.when(lambda self: self.x2 < self.l1 * self.x1)
    def leave(self) -> Any:
        return {self.first: False}

    @leave.elsewhen(lambda self: self.x2 > self.l2 * self.x1)
    def come_back(self) -> Any:
        return {self.first: True}


CUBIC = tg.ode(lambda t, y, p: [4 - y["x"] if y["x"] ** 3 - 5 * y["x"] ** 2 + 7 * y["x"] <= p["p"] else 10 - 2 * y["x"]], y0={"x": 0.0}, p={"p": 2.9})


class RestingBall(tg.Component):
    h = tg.State(1.0)
    v = tg.State(0.0)
    e = tg.Parameter(0.7)
    g = tg.Discrete(9.81)

    def equations(self) -> Any:
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -self.g

    @tg.when(lambda self: self.h <= 0 and self.v < 0)
    def impact(self) -> Any:
        speed = -self.e * self.v
        if speed < 0.1:
            return {self.h: 0.0, self.v: 0.0, self.g: 0.0}
        return {self.h: 0.0, self.v: speed}


def falling(h: float, v: float, g: float, e: float) -> Any:
    bounce = tg.event(lambda t, y: y["h"] < 0, reset=lambda t, y, p: {"v": -p["e"] * y["v"]})
    return tg.ode(lambda t, y: [y["v"], -g], y0={"h": h, "v": v}, p={"e": e}, events=[bounce])
