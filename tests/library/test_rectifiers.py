"""Rectifier bridges of ideal diodes, with inductances of the source and a capacitor: against plain Python that goes from mode to mode by itself.

A bridge floats beside its source while all diodes block, and is at zero everywhere at the start: which diodes conduct first no slope of a voltage
tells.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import tidegate as tg
from tidegate.library import electrical as el

FloatArray = NDArray[np.float64]

RTOL = 1e-8
SIZE = 1e-6  # of currents and of the voltage: a hundred tolerances, since several events are passed
FREQUENCY = 50.0
JUST = 1e-9  # behind an instant


class Bridge(tg.Component):
    u, R, L = el.SineVoltage(f=FREQUENCY), el.Resistor(), el.Inductor(i=tg.start(0.0, fixed=True))
    D1, D2, D3, D4 = el.IdealDiode(), el.IdealDiode(), el.IdealDiode(), el.IdealDiode()
    C, load, G = el.Capacitor(v=tg.start(0.0, fixed=True)), el.Resistor(), el.Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.u.p, self.R.p)
        yield tg.connect(self.R.n, self.L.p)
        yield tg.connect(self.L.n, self.D1.p, self.D2.n)
        yield tg.connect(self.u.n, self.D3.p, self.D4.n)
        yield tg.connect(self.D1.n, self.D3.n, self.C.p, self.load.p)
        yield tg.connect(self.D2.p, self.D4.p, self.C.n, self.load.n, self.G.p)


class ThreePhases(tg.Component):
    V, phase = tg.Parameter(100.0), tg.Parameter(0.0)
    ua, ub, uc = el.SignalVoltage(), el.SignalVoltage(), el.SignalVoltage()
    R, L = tg.Array(el.Resistor(), 3), tg.Array(el.Inductor(i=tg.start(0.0)), 3)
    top, low = tg.Array(el.IdealDiode(), 3), tg.Array(el.IdealDiode(), 3)
    C, load, G = el.Capacitor(v=tg.start(0.0, fixed=True)), el.Resistor(), el.Ground()

    def equations(self) -> Iterator[Any]:
        for k, source in enumerate((self.ua, self.ub, self.uc)):
            yield source.u == self.V * np.sin(2.0 * np.pi * (FREQUENCY * tg.time - k / 3.0) + self.phase)
            yield tg.connect(source.p, self.R[k].p)
            yield tg.connect(self.R[k].n, self.L[k].p)
            yield tg.connect(self.L[k].n, self.top[k].p, self.low[k].n)
            yield tg.connect(self.top[k].n, self.C.p)
            yield tg.connect(self.low[k].p, self.C.n)
        yield tg.connect(self.ua.n, self.ub.n, self.uc.n)
        yield tg.connect(self.C.p, self.load.p)
        yield tg.connect(self.C.n, self.load.n, self.G.p)


def side_by_side(phases: list[float], values: dict[str, float]) -> tg.Component:
    """Bridges of three phases each, with stars of their own, on one capacitor; the phase of the first source of each."""
    sources = [(f"{number}_{k}", phase - 2.0 * np.pi * k / 3.0) for number, phase in enumerate(phases) for k in range(3)]
    parts: dict[str, Any] = {"C": el.Capacitor(C=values["C"], v=tg.start(0.0, fixed=True)), "load": el.Resistor(R=values["load"]), "G": el.Ground()}
    for name, phase in sources:
        parts |= {f"u{name}": el.SineVoltage(V=values["V"], f=FREQUENCY, phase=phase), f"R{name}": el.Resistor(R=values["R"])}
        parts |= {f"L{name}": el.Inductor(L=values["L"], i=tg.start(0.0)), f"top{name}": el.IdealDiode(), f"low{name}": el.IdealDiode()}

    def equations(self: Any) -> Iterator[Any]:
        for name, _ in sources:
            u, r, coil, top, low = (getattr(self, f"{kind}{name}") for kind in ("u", "R", "L", "top", "low"))
            yield tg.connect(u.p, r.p)
            yield tg.connect(r.n, coil.p)
            yield tg.connect(coil.n, top.p, low.n)
            yield tg.connect(top.n, self.C.p)
            yield tg.connect(low.p, self.C.n)
        for number in range(len(phases)):
            yield tg.connect(*(getattr(self, f"u{number}_{k}").n for k in range(3)))
        yield tg.connect(self.C.p, self.load.p)
        yield tg.connect(self.C.n, self.load.n, self.G.p)

    return type("Bridges", (tg.Component,), {**parts, "equations": equations, "__module__": __name__})()


class Truth:
    """Wires with currents into the upper rail (+1), out of the lower one (-1), or none; the sum of currents is zero, their star floats.

    A bridge of one phase is one of two wires, the second without voltage, resistance and inductance of its own: both have half of these here.
    """

    def __init__(self, voltages: Callable[[float], FloatArray], r: float, henry: float, c: float, load: float) -> None:
        self.voltages, self.r, self.henry, self.c, self.load = voltages, r, henry, c, load
        self.n = len(voltages(0.0))

    def star(self, t: float, y: FloatArray, mode: tuple[int, ...]) -> float:
        """The potential of the star, of which currents that flow make the one with which they still add up to zero."""
        on = [k for k in range(self.n) if mode[k]]
        u = self.voltages(t)
        return -float(np.mean([u[k] - self.r * y[k] - (y[-1] if mode[k] > 0 else 0.0) for k in on]))

    def rates(self, t: float, y: FloatArray, mode: tuple[int, ...]) -> FloatArray:
        out, u = np.zeros(self.n + 1), self.voltages(t)
        if any(mode):
            star = self.star(t, y, mode)
            for k in range(self.n):
                if mode[k]:
                    out[k] = (u[k] + star - self.r * y[k] - (y[-1] if mode[k] > 0 else 0.0)) / self.henry
        out[-1] = (sum(y[k] for k in range(self.n) if mode[k] > 0) - y[-1] / self.load) / self.c
        return out

    def margins(self, t: float, y: FloatArray, mode: tuple[int, ...]) -> list[float]:
        """What is negative where the mode does not hold."""
        u = self.voltages(t)
        if not any(mode):
            return [y[-1] - (u.max() - u.min())]
        found: list[float] = []
        for k in range(self.n):
            potential = u[k] + self.star(t, y, mode)
            found += [mode[k] * y[k]] if mode[k] else [y[-1] - potential, potential]
        return found

    def fitting(self, t: float, y: FloatArray, sure: dict[int, int]) -> tuple[int, ...]:
        """The mode that holds a moment later; who flows clearly goes on."""
        tried: list[tuple[float, tuple[int, ...]]] = []
        for mode in itertools.product((0, 1, -1), repeat=self.n):
            if any(mode[k] != sign for k, sign in sure.items()) or (1 in mode) != (-1 in mode):
                continue
            ahead = y + JUST * self.rates(t + JUST, y, mode)
            tried.append((max(0.0, *(-x for x in self.margins(t + JUST, ahead, mode))), mode))
        return min(tried, key=lambda item: item[0])[1]

    def at(self, end: float) -> FloatArray:
        return follow([self], end)


def follow(bridges: list[Truth], end: float) -> FloatArray:
    """Currents of all wires, and the voltage of the capacitor that bridges share, which is all that they know of each other."""
    edges: list[int] = [0, *np.cumsum([bridge.n for bridge in bridges]).tolist()]

    def own(y: FloatArray, number: int) -> FloatArray:
        return np.append(y[edges[number] : edges[number + 1]], y[-1])

    t = 0.0
    y: FloatArray = np.zeros(sum(bridge.n for bridge in bridges) + 1)
    modes = [bridge.fitting(t, own(y, number), {}) for number, bridge in enumerate(bridges)]
    while t < end:
        leaves: list[Any] = []
        for number, (bridge, mode) in enumerate(zip(bridges, modes, strict=True)):
            for margin in range(len(bridge.margins(t, own(y, number), mode))):

                def leave(
                    t: float, y: FloatArray, number: int = number, bridge: Truth = bridge, margin: int = margin, mode: tuple[int, ...] = mode
                ) -> float:
                    return bridge.margins(t, own(y, number), mode)[margin]

                leave.terminal, leave.direction = True, -1  # type: ignore[attr-defined]
                leaves.append(leave)

        def flow(t: float, y: FloatArray, modes: tuple[tuple[int, ...], ...] = tuple(modes)) -> FloatArray:
            rates = [bridge.rates(t, own(y, number), mode) for number, (bridge, mode) in enumerate(zip(bridges, modes, strict=True))]
            leak = y[-1] / bridges[0].load / bridges[0].c  # which each of them counts
            return np.append(np.concatenate([rate[:-1] for rate in rates]), sum(rate[-1] for rate in rates) + (len(bridges) - 1) * leak)

        part: Any = solve_ivp(flow, (t, end), y, events=leaves, rtol=1e-10, atol=1e-12, method="DOP853", max_step=1e-4)
        t, y = float(part.t[-1]), part.y[:, -1].copy()
        for number, (bridge, mode) in enumerate(zip(bridges, modes, strict=True)):
            first = edges[number]
            flowing = {k: mode[k] for k in range(bridge.n) if mode[k] and abs(y[first + k]) > 1e-7 * np.abs(part.y).max()}
            y[[first + k for k in range(bridge.n) if k not in flowing]] = 0.0
            modes[number] = bridge.fitting(t, own(y, number), flowing)
    return y


def drawn(seed: int) -> tuple[float, float, float, float, float, float]:
    r = np.random.default_rng(seed)
    volts, ohms, henry, farad, load = (
        float(np.exp(r.uniform(*np.log(ends)))) for ends in ((5, 300), (0.01, 5), (1e-5, 3e-2), (1e-5, 5e-3), (3, 500))
    )
    return volts, ohms, henry, farad, load, float(r.uniform(0.015, 0.05))


def agree(result: tg.Result, names: list[str], truth: FloatArray) -> None:
    for name, value in zip(names, truth.tolist(), strict=True):
        assert result.final[name] == pytest.approx(value, abs=SIZE * np.abs(result[name].values).max()), name


def check_bridge(seed: int, method: str) -> None:
    volts, ohms, henry, farad, load, end = drawn(seed)
    values = {"u.V": volts, "R.R": ohms, "L.L": henry, "C.C": farad, "load.R": load}
    result = tg.simulate(Bridge(), (0.0, end), rtol=RTOL, method=method, parameters=values)

    def voltages(t: float) -> FloatArray:
        return 0.5 * volts * np.sin(2.0 * np.pi * FREQUENCY * t) * np.array([1.0, -1.0])

    agree(result, ["L.i", "C.v"], Truth(voltages, 0.5 * ohms, 0.5 * henry, farad, load).at(end)[[0, 2]])


def check_three_phases(seed: int, phase: float, method: str) -> None:
    volts, ohms, henry, farad, load, end = drawn(seed)
    values = {"V": volts, "phase": phase, "C.C": farad, "load.R": load}
    values |= {f"R[{k}].R": ohms for k in range(3)} | {f"L[{k}].L": henry for k in range(3)}
    result = tg.simulate(ThreePhases(), (0.0, end), rtol=RTOL, method=method, parameters=values)

    def voltages(t: float) -> FloatArray:
        return volts * np.sin(2.0 * np.pi * (FREQUENCY * t - np.arange(3) / 3.0) + phase)

    agree(result, ["L[0].i", "L[1].i", "L[2].i", "C.v"], Truth(voltages, ohms, henry, farad, load).at(end))


def check_side_by_side(seed: int, phases: list[float], method: str, end: float | None = None) -> None:
    volts, ohms, henry, farad, load, drawn_end = drawn(seed)
    end = drawn_end if end is None else end
    model = side_by_side(phases, {"V": volts, "R": ohms, "L": henry, "C": farad, "load": load})
    result = tg.simulate(model, (0.0, end), rtol=RTOL, method=method)

    def voltages(phase: float) -> Callable[[float], FloatArray]:
        return lambda t: volts * np.sin(2.0 * np.pi * (FREQUENCY * t - np.arange(3) / 3.0) + phase)

    truth = follow([Truth(voltages(phase), ohms, henry, farad, load) for phase in phases], end)
    agree(result, [*(f"L{number}_{k}.i" for number in range(len(phases)) for k in range(3)), "C.v"], truth)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 5])  # raise the number of seeds to search on
def test_a_bridge_of_four_diodes_follows_the_truth(seed: int) -> None:
    check_bridge(seed, "radau")


@pytest.mark.slow
@pytest.mark.parametrize("phase", [0.0, 0.3])
def test_three_phases_start_and_go_on_without_any_voltage_yet(phase: float) -> None:
    check_three_phases(4, phase, "radau")


@pytest.mark.hunt
@pytest.mark.parametrize(("seed", "phases"), [(1, [0.3, 0.3 + np.pi / 6.0]), (2, [0.0, 0.0]), (1, [0.1 + k * np.pi / 12.0 for k in range(4)])])
def test_twelve_and_more_pulses_start_and_go_on(seed: int, phases: list[float]) -> None:
    """Too many diodes to try all combinations: what each try shows leads to the next. Two bridges in step change at the same instants."""
    check_side_by_side(seed, phases, "radau", 4e-3)


@pytest.mark.slow
def test_a_leak_beside_a_small_inductance_is_no_obstacle() -> None:
    """Where a current has only a leak to flow through, rounding of a voltage is large beside it."""
    values = {"V": 135.0, "C.C": 1.5e-3, "load.R": 42.0, **{f"R[{k}].R": 0.06 for k in range(3)}, **{f"L[{k}].L": 1.5e-5 for k in range(3)}}
    leaks = {f"{side}[{k}].{name}": 1e-5 for side in ("top", "low") for k in range(3) for name in ("Ron", "Goff")}
    leaky = tg.simulate(ThreePhases(), (0.0, 0.03), rtol=RTOL, parameters={**values, **leaks})
    ideal = tg.simulate(ThreePhases(), (0.0, 0.03), rtol=RTOL, parameters=values)
    assert leaky.final["C.v"] == pytest.approx(ideal.final["C.v"], rel=1e-3)


@pytest.mark.slow
def test_a_search_that_gives_up_says_so() -> None:
    """A source that eleven diodes short-circuit: no combination of them holds, and not all two thousand were tried."""

    class Shorted(tg.Component):
        source, diodes, ground = el.ConstantVoltage(V=1.0), tg.Array(el.IdealDiode(), 11), el.Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.source.p, *(self.diodes[k].p for k in range(11)))
            yield tg.connect(self.source.n, self.ground.p, *(self.diodes[k].n for k in range(11)))

    with pytest.raises(tg.SingularSystemError, match="too many to try all combinations"):
        tg.simulate(Shorted(), (0.0, 1.0))


def in_series(volts: float, ohms: float, henry: float, phase: float) -> tg.Component:
    """Two bridges whose sources have nothing in series, 30 degrees apart, one upon the other; a coil keeps the current going."""
    names = [f"{number}_{k}" for number in range(2) for k in range(3)]
    phases = [phase + number * np.pi / 6.0 - 2.0 * np.pi * k / 3.0 for number in range(2) for k in range(3)]
    parts: dict[str, Any] = {"L": el.Inductor(L=henry, i=tg.start(0.0, fixed=True)), "R": el.Resistor(R=ohms), "G": el.Ground()}
    for name, angle in zip(names, phases, strict=True):
        parts |= {f"u{name}": el.SineVoltage(V=volts, f=FREQUENCY, phase=angle), f"top{name}": el.IdealDiode(), f"low{name}": el.IdealDiode()}

    def equations(self: Any) -> Iterator[Any]:
        def pins(kind: str, pin: str, number: int) -> list[Any]:
            return [getattr(getattr(self, f"{kind}{number}_{k}"), pin) for k in range(3)]

        for number in range(2):
            yield tg.connect(*pins("u", "n", number))
            for ends in zip(pins("u", "p", number), pins("top", "p", number), pins("low", "n", number), strict=True):
                yield tg.connect(*ends)
        yield tg.connect(*pins("top", "n", 0), self.L.p)
        yield tg.connect(*pins("low", "p", 0), *pins("top", "n", 1))
        yield tg.connect(*pins("low", "p", 1), self.R.n, self.G.p)
        yield tg.connect(self.L.n, self.R.p)

    return type("InSeries", (tg.Component,), {**parts, "equations": equations, "__module__": __name__})()


@pytest.mark.slow
@pytest.mark.parametrize("phase", [0.0, 0.3])
def test_bridges_in_series_hand_over_at_once(phase: float) -> None:
    """Without inductances of the sources the voltage is what the highest of them are above the lowest, and twelve times a period it changes."""
    volts, ohms, henry, end = 100.0, 8.0, 0.02, 0.03

    def rate(t: float, y: FloatArray) -> list[float]:
        angles = 2.0 * np.pi * (FREQUENCY * t - np.arange(3) / 3.0) + phase
        return [(sum(volts * float(np.ptp(np.sin(angles + shift))) for shift in (0.0, np.pi / 6.0)) - ohms * y[0]) / henry]

    result = tg.simulate(in_series(volts, ohms, henry, phase), (0.0, end), rtol=RTOL)
    assert len(result.events) == 18
    assert result.final["L.i"] == pytest.approx(solve_ivp(rate, (0.0, end), [0.0], rtol=1e-10, atol=1e-12, max_step=1e-4).y[0, -1], rel=1e-6)
