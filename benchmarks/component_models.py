"""Models put together of parts, and the same equations written by hand: a ladder, a plate, a chain of pendulums.

The ladder and the plate come down to ordinary differential equations, which the hand writes as ``tg.ode``, with as many parameters. The chain, in
Cartesian coordinates, has constraints between its states; the hand writes them as ``tg.dae``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

import tidegate as tg
from tidegate.library.electrical import Capacitor, ConstantVoltage, Ground, Resistor
from tidegate.library.thermal import FixedTemperature, HeatCapacitor, ThermalConductor

__all__ = ["chain", "chain_by_hand", "ladder", "ladder_by_hand", "plate", "plate_by_hand"]

ANGLE: Final = 0.3  # rad, of the chain at the start
GRAVITY: Final = 9.81


class _Ladder(tg.Component):
    """A source, and cells of a resistor and a capacitor."""

    n = tg.Constant(2)
    source, ground = ConstantVoltage(V=1.0), Ground()
    resistor, capacitor = tg.Array(Resistor, n, R=1.0), tg.Array(Capacitor, n, C=1.0)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.resistor[0].p)
        yield tg.connect(self.source.n, self.ground.p)
        for k in range(self.n):
            yield tg.connect(self.resistor[k].n, self.capacitor[k].p, *([self.resistor[k + 1].p] if k + 1 < self.n else []))
            yield tg.connect(self.capacitor[k].n, self.ground.p)


def ladder(n: int) -> Any:
    """Cells that are charged, of parts."""
    return _Ladder(n=n)


def ladder_by_hand(n: int) -> Any:
    """One equation a capacitor."""

    def rates(_t: float, y: Any, p: Any) -> list[Any]:
        v, r, c = [p["V"], *y["v"]], p["R"], p["C"]
        i = [(v[k] - v[k + 1]) / r[k] for k in range(n)]
        return [(i[k] - i[k + 1] if k + 1 < n else i[k]) / c[k] for k in range(n)]

    return tg.ode(rates, y0={"v": np.zeros(n)}, p={"R": np.ones(n), "C": np.ones(n), "V": 1.0}, check_units=False)


def _start_of_plate(_whole: Any, at: tuple[int, int]) -> float:
    return 300.0 + 50.0 * math.sin(at[0] + 2.0 * at[1])


class _Plate(tg.Component):
    """Cells of heat, joined in rows and columns; one edge is cold."""

    n = tg.Constant(2)
    cell = tg.Array(HeatCapacitor, lambda self: (self.n, self.n), T=_start_of_plate)
    along = tg.Array(ThermalConductor, lambda self: (self.n - 1, self.n))
    across = tg.Array(ThermalConductor, lambda self: (self.n, self.n - 1))
    edge, out = tg.Array(ThermalConductor, n), FixedTemperature(T=300.0)

    def equations(self) -> Iterator[Any]:
        for i in range(self.n):
            for j in range(self.n):
                ports = [self.cell[i, j].port]
                ports += [self.along[i, j].port_a] if i + 1 < self.n else []
                ports += [self.along[i - 1, j].port_b] if i else [self.edge[j].port_a]
                ports += [self.across[i, j].port_a] if j + 1 < self.n else []
                ports += [self.across[i, j - 1].port_b] if j else []
                yield tg.connect(*ports)
        yield tg.connect(self.out.port, *self.edge.port_b)


def plate(n: int) -> Any:
    """Heat in two dimensions, of parts."""
    return _Plate(n=n)


def plate_by_hand(n: int) -> Any:
    """One equation a cell."""

    def rates(_t: float, y: Any, p: Any) -> list[Any]:
        heat = [[0.0] * n for _ in range(n)]
        temp, along, across = y["T"], p["along"], p["across"]
        for i in range(n):
            for j in range(n):
                if i + 1 < n:
                    flow = along[i, j] * (temp[i, j] - temp[i + 1, j])
                    heat[i][j], heat[i + 1][j] = heat[i][j] - flow, heat[i + 1][j] + flow
                if j + 1 < n:
                    flow = across[i, j] * (temp[i, j] - temp[i, j + 1])
                    heat[i][j], heat[i][j + 1] = heat[i][j] - flow, heat[i][j + 1] + flow
        for j in range(n):
            heat[0][j] = heat[0][j] - p["edge"][j] * (temp[0, j] - p["T_out"])
        return [heat[i][j] / p["C"][i, j] for i in range(n) for j in range(n)]

    start = np.array([[_start_of_plate(None, (i, j)) for j in range(n)] for i in range(n)])
    p = {"along": np.ones((n - 1, n)), "across": np.ones((n, n - 1)), "edge": np.ones(n), "C": np.ones((n, n)), "T_out": 300.0}
    return tg.ode(rates, y0={"T": start}, p=p, check_units=False)


class _Joint(tg.Connector):
    x, y = tg.Potential(unit="m"), tg.Potential(unit="m")
    fx, fy = tg.Flow(unit="N"), tg.Flow(unit="N")


class _Pendulum(tg.Component):
    """A mass at ``b`` on a rod without mass, which turns about ``a``."""

    a, b = _Joint(), _Joint()
    m, L = tg.Parameter(1.0, unit="kg"), tg.Parameter(1.0, unit="m")
    g = tg.Parameter(GRAVITY, unit="m/s^2")
    x, y = tg.State(0.0, unit="m"), tg.State(-1.0, unit="m")
    vx, vy = tg.State(0.0, unit="m/s"), tg.State(0.0, unit="m/s")
    pull = tg.Algebraic(unit="N/m")

    def equations(self) -> Iterator[Any]:
        dx, dy = self.x - self.a.x, self.y - self.a.y
        yield self.b.x == self.x
        yield self.b.y == self.y
        yield tg.der(self.x) == self.vx
        yield tg.der(self.y) == self.vy
        yield self.a.fx == -self.pull * dx
        yield self.a.fy == -self.pull * dy
        yield self.m * tg.der(self.vx) == self.a.fx + self.b.fx
        yield self.m * tg.der(self.vy) == self.a.fy + self.b.fy - self.m * self.g
        yield dx**2 + dy**2 == self.L**2


class _Pivot(tg.Component):
    joint = _Joint()

    def equations(self) -> Iterator[Any]:
        yield self.joint.x == 0
        yield self.joint.y == 0


def _start_x(_whole: Any, k: int) -> float:
    return (k + 1) * math.sin(ANGLE)


def _start_y(_whole: Any, k: int) -> float:
    return -(k + 1) * math.cos(ANGLE)


class _Chain(tg.Component):
    n = tg.Constant(2)
    pivot = _Pivot()
    rod = tg.Array(_Pendulum, n, x=_start_x, y=_start_y)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.pivot.joint, self.rod[0].a)
        for k in range(1, self.n):
            yield tg.connect(self.rod[k - 1].b, self.rod[k].a)


def chain(n: int) -> Any:
    """Pendulums that hang on each other, let go while they are in line, of parts."""
    return _Chain(n=n)


def chain_by_hand(n: int) -> Any:
    """The same constraints."""

    def residual(_t: float, y: Any, ydot: Any, p: Any) -> list[Any]:
        x, z, pull = [0.0, *y["x"]], [0.0, *y["y"]], y["pull"]
        found: list[Any] = []
        for k in range(n):
            dx, dz = x[k + 1] - x[k], z[k + 1] - z[k]
            fx, fz = -pull[k] * dx, -pull[k] * dz
            if k + 1 < n:
                fx = fx + pull[k + 1] * (x[k + 2] - x[k + 1])
                fz = fz + pull[k + 1] * (z[k + 2] - z[k + 1])
            found += [ydot["x"][k] - y["vx"][k], ydot["y"][k] - y["vy"][k]]
            found += [p["m"][k] * ydot["vx"][k] - fx, p["m"][k] * ydot["vy"][k] - fz + p["m"][k] * p["g"][k]]
            found += [dx**2 + dz**2 - p["L"][k] ** 2]
        return found

    places = np.arange(1, n + 1)
    start = {
        "x": places * math.sin(ANGLE), "y": -places * math.cos(ANGLE), "vx": np.zeros(n), "vy": np.zeros(n), "pull": np.zeros(n),
    }  # fmt: skip
    p = {"m": np.ones(n), "L": np.ones(n), "g": np.full(n, GRAVITY)}
    return tg.dae(residual, y0=start, p=p, check_units=False)
