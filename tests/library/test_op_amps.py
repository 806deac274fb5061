"""Circuits with operational amplifiers, of random parts: a filter, an integrator that saturates, a rectifier of diodes without knee in the loop.

The truth of the filter is the exponential of its matrix, that of the others SciPy between instants that are found by hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import tidegate as tg
from tidegate.library import electrical as el

Values = dict[str, float]
EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-13}
ALLOWED = 1e-6  # of the largest value: a hundred tolerances


def drawn(seed: int, ranges: dict[str, tuple[float, float]]) -> Values:
    """Anywhere in decades."""
    random = np.random.default_rng(seed)
    return {name: float(np.exp(random.uniform(*np.log(ends)))) for name, ends in ranges.items()}


def source(p: Values, t: float) -> float:
    return p["u.V"] * math.sin(2.0 * math.pi * p["u.f"] * t + p["u.phase"])


class SallenKey(tg.Component):
    u, R1, R2, A, Ra, Rb, G = el.SineVoltage(), el.Resistor(), el.Resistor(), el.IdealOpAmp(), el.Resistor(), el.Resistor(R=1e4), el.Ground()
    C1, C2 = el.Capacitor(v=tg.start(0.0, fixed=True)), el.Capacitor(v=tg.start(0.0, fixed=True))

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.u.p, self.R1.p)
        yield tg.connect(self.R1.n, self.R2.p, self.C1.p)
        yield tg.connect(self.R2.n, self.C2.p, self.A.in_p)
        yield tg.connect(self.A.out, self.C1.n, self.Ra.p)
        yield tg.connect(self.Ra.n, self.Rb.p, self.A.in_n)
        yield tg.connect(self.u.n, self.C2.n, self.Rb.n, self.G.p)


def filtered(p: Values, end: float) -> NDArray[np.float64]:
    """Voltages of both capacitors; v2 is what the amplifier hears, gain times v2 what it says."""
    gain, r1, r2, c1, c2, w = 1.0 + p["Ra.R"] / 1e4, p["R1.R"], p["R2.R"], p["C1.C"], p["C2.C"], 2.0 * math.pi * p["u.f"]
    matrix = np.zeros((4, 4))  # of v1, v2, sine and cosine
    matrix[0] = [-(1.0 / r1 + 1.0 / r2) / c1, -(gain / r1 + (gain - 1.0) / r2) / c1, p["u.V"] / r1 / c1, 0.0]
    matrix[1, :2] = [1.0 / r2 / c2, (gain - 1.0) / r2 / c2]
    matrix[2, 3], matrix[3, 2] = w, -w
    return (expm(matrix * end) @ [0.0, 0.0, math.sin(p["u.phase"]), math.cos(p["u.phase"])])[:2]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_sallen_key_filter_follows_its_matrix_and_so_do_its_derivatives(seed: int, dae_method: str) -> None:
    tens, parts = (1e2, 1e5), (1e-9, 1e-5)
    p = drawn(
        seed, {"u.V": (0.5, 5), "u.f": (10, 1e3), "u.phase": (0.1, 6), "R1.R": tens, "R2.R": tens, "C1.C": parts, "C2.C": parts, "Ra.R": (10, 1e4)}
    )
    end = 15.0 * math.sqrt(p["R1.R"] * p["R2.R"] * p["C1.C"] * p["C2.C"])
    names = ["R1.R", "C2.C", "Ra.R", "u.f"]
    result = tg.simulate(SallenKey(), (0.0, end), rtol=1e-8, method=dae_method, parameters=p, sensitivities=names)
    sizes = [np.abs(result[name].values).max() for name in ("C1.v", "C2.v")]
    assert np.abs((filtered(p, end) - [result.final["C1.v"], result.final["C2.v"]]) / sizes).max() < ALLOWED
    for name in names:
        found = result.sensitivity("C2.v", name).values * p[name]
        best = min(
            abs(found[-1] - (filtered({**p, name: p[name] * (1.0 + h)}, end) - filtered({**p, name: p[name] * (1.0 - h)}, end))[1] / (2.0 * h))
            for h in (1e-4, 1e-5, 1e-6)
        )
        assert best < ALLOWED * (np.abs(found).max() + sizes[1]), name


class Limited(tg.Component):
    """An amplifier of finite gain, which says no more than its supply."""

    in_p, in_n, out = el.Pin(), el.Pin(), el.Pin()
    A, V = tg.Parameter(1e5), tg.Parameter(10.0, unit="V")

    def equations(self) -> Iterator[Any]:
        yield self.in_p.i == 0
        yield self.in_n.i == 0
        wanted = self.A * (self.in_p.v - self.in_n.v)
        yield self.out.v == tg.where(wanted > self.V, self.V, tg.where(wanted < -self.V, -self.V, wanted))


class Saturating(tg.Component):
    u, R, C, A, G = el.SineVoltage(), el.Resistor(), el.Capacitor(v=tg.start(0.0, fixed=True)), Limited(), el.Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.u.p, self.R.p)
        yield tg.connect(self.R.n, self.C.p, self.A.in_n)
        yield tg.connect(self.C.n, self.A.out)
        yield tg.connect(self.u.n, self.A.in_p, self.G.p)


def integrated(p: Values, end: float) -> tuple[float, int]:
    """The voltage of the capacitor, and how often the amplifier came to its supply or away from it."""
    gain, most = p["A.A"], p["A.V"]
    edge = most * (1.0 + gain) / gain

    def rate(t: float, y: Any, side: int) -> list[float]:
        heard = y[0] + side * most if side else y[0] / (1.0 + gain)
        return [(source(p, t) - heard) / p["R.R"] / p["C.C"]]

    def high(t: float, y: Any, side: int) -> float:
        return y[0] - edge

    def low(t: float, y: Any, side: int) -> float:
        return y[0] + edge

    t, y, side, changes = 0.0, [0.0], 0, 0
    while t < end:
        stops: list[Any] = [high, low] if side == 0 else [low] if side > 0 else [high]
        high.direction, low.direction = (1, -1) if side == 0 else (-1, 1)  # type: ignore[attr-defined]
        high.terminal = low.terminal = True  # type: ignore[attr-defined]
        part = solve_ivp(rate, (t, end), y, args=(side,), events=stops, max_step=end / 100, **EXACT)
        t, y = float(part.t[-1]), part.y[:, -1].tolist()
        if part.status == 1:
            changes += 1
            side = 0 if side else -1 if y[0] > 0.0 else 1
    return y[0], changes


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(2))
def test_an_integrator_saturates_and_comes_back_and_so_do_its_derivatives(seed: int, dae_method: str) -> None:
    p = drawn(seed, {"u.V": (2, 9), "u.f": (5, 100), "u.phase": (0.1, 6), "R.R": (1e3, 2e4), "C.C": (1e-8, 1e-7), "A.A": (10, 1e6), "A.V": (1, 8)})
    end, names = 2.3 / p["u.f"], ["A.V", "R.R"]
    result = tg.simulate(Saturating(), (0.0, end), rtol=1e-8, method=dae_method, parameters=p, sensitivities=names)
    truth, changes = integrated(p, end)
    size = np.abs(result["C.v"].values).max()
    assert changes > 0
    assert len(result.events) == changes
    assert result.final["C.v"] == pytest.approx(truth, abs=ALLOWED * size)
    for name in names:
        wanted = (integrated({**p, name: p[name] * (1.0 + 1e-4)}, end)[0] - integrated({**p, name: p[name] * (1.0 - 1e-4)}, end)[0]) / 2e-4
        assert float(result.sensitivity("C.v", name).values[-1]) * p[name] == pytest.approx(wanted, abs=1e-4 * size), name


class Precise(tg.Component):
    """Two diodes in the loop of an amplifier, one of which always conducts; behind it a resistor to a capacitor."""

    u, A, D, D2, G = el.SineVoltage(), el.IdealOpAmp(), el.IdealDiode(), el.IdealDiode(), el.Ground()
    R, R1, R2, RL, C = el.Resistor(), el.Resistor(), el.Resistor(), el.Resistor(), el.Capacitor(v=tg.start(0.0, fixed=True))

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.u.p, self.R1.p)
        yield tg.connect(self.R1.n, self.R2.p, self.A.in_n, self.D2.p)
        yield tg.connect(self.D2.n, self.A.out, self.D.p)
        yield tg.connect(self.D.n, self.R2.n, self.RL.p, self.R.n)
        yield tg.connect(self.RL.n, self.C.p)
        yield tg.connect(self.u.n, self.A.in_p, self.C.n, self.R.p, self.G.p)


@cache
def precise() -> Any:
    return tg.prepare(Precise(), (0.0, 0.04), rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_diodes_in_a_loop_hand_the_current_over(seed: int) -> None:
    """At the instant at which one gives it to the other both modes hold; which is right shows a moment later."""
    ohms = (1e3, 1e5)
    ranges = {"u.V": (0.5, 5), "u.f": (25, 100), "u.phase": (0.1, 6), "R1.R": ohms, "R2.R": ohms, "R.R": ohms, "RL.R": ohms, "C.C": (1e-7, 1e-5)}
    p = drawn(seed, ranges) | {"D.knee": 0.6 * (seed % 2), "D2.knee": 0.6 * (seed // 2 % 2)}
    result = precise().with_parameters(**p).run()

    def rate(t: float, y: Any) -> list[float]:
        out = max(-p["R2.R"] * source(p, t) / p["R1.R"], y[0] / (1.0 + p["RL.R"] * (1.0 / p["R.R"] + 1.0 / p["R2.R"])))
        return [(out - y[0]) / p["RL.R"] / p["C.C"]]

    truth = solve_ivp(rate, (0.0, 0.04), [0.0], max_step=1e-4, **EXACT)
    assert result.final["C.v"] == pytest.approx(truth.y[0, -1], abs=ALLOWED * np.abs(truth.y).max())
