"""Parts of circuits as a user would write them, for tests of components; the circuit of DSblock 4.0a (section 11 of our reading of it)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import tidegate as tg


class Pin(tg.Connector):
    v = tg.Potential(unit="V", description="potential at the pin")
    i = tg.Flow(unit="A", description="current into the pin")


class TwoPin(tg.Component):
    p, n = Pin(), Pin()
    v = tg.Algebraic(unit="V")

    def equations(self) -> Iterator[Any]:
        yield self.v == self.p.v - self.n.v
        yield self.p.i + self.n.i == 0


class Resistor(TwoPin):
    R = tg.Parameter(1.0, unit="Ohm")

    def equations(self) -> Iterator[Any]:
        yield self.v == self.R * self.p.i


class Capacitor(TwoPin):
    C = tg.Parameter(1.0, unit="F", min=0)
    v = tg.State(0.0, unit="V")

    def equations(self) -> Iterator[Any]:
        yield self.C * tg.der(self.v) == self.p.i


class Inductor(TwoPin):
    L = tg.Parameter(1.0, unit="H")

    def equations(self) -> Iterator[Any]:
        yield self.v == self.L * tg.der(self.p.i)


class Source(TwoPin):
    V = tg.Parameter(10.0, unit="V")

    def equations(self) -> Iterator[Any]:
        yield self.v == self.V


class SineSource(TwoPin):
    VA = tg.Parameter(220.0, unit="V")
    f = tg.Parameter(50.0, unit="Hz")

    def equations(self) -> Iterator[Any]:
        yield self.v == self.VA * np.sin(2 * math.pi * self.f * tg.time)


class Ground(tg.Component):
    p = Pin()

    def equations(self) -> Iterator[Any]:
        yield self.p.v == 0


class Circuit(tg.Component):
    R1, R2 = Resistor(R=10), Resistor(R=100)
    C, L = Capacitor(C=0.01), Inductor(L=0.1)
    AC, G = SineSource(VA=220, f=50), Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.AC.p, self.R1.p, self.R2.p)
        yield tg.connect(self.R1.n, self.C.p)
        yield tg.connect(self.R2.n, self.L.p)
        yield tg.connect(self.C.n, self.L.n, self.AC.n, self.G.p)
