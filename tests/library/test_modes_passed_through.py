"""Ideal diodes with coils: modes that are only passed through, modes that tie a state, and modes that would force one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import tidegate as tg
from tidegate.library import electrical as el

RTOL = 1e-8


class Freewheeling(tg.Component):
    opens = tg.Parameter(0.1, unit="s")
    V, G, R, L = el.ConstantVoltage(V=12.0), el.Ground(), el.Resistor(R=4.0), el.Inductor(L=0.1)
    switch, diode = el.IdealSwitch(), el.IdealDiode()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.V.p, self.switch.p)
        yield tg.connect(self.switch.n, self.R.p, self.diode.n)
        yield tg.connect(self.R.n, self.L.p)
        yield tg.connect(self.V.n, self.L.n, self.diode.p, self.G.p)
        yield self.switch.control == tg.where(tg.time < self.opens, 1.0, 0.0)


class NoWay(tg.Component):
    V, G, R, L, switch = el.ConstantVoltage(V=12.0), el.Ground(), el.Resistor(R=4.0), el.Inductor(L=0.1), el.IdealSwitch()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.V.p, self.switch.p)
        yield tg.connect(self.switch.n, self.R.p)
        yield tg.connect(self.R.n, self.L.p)
        yield tg.connect(self.V.n, self.L.n, self.G.p)
        yield self.switch.control == tg.where(tg.time < 0.1, 1.0, 0.0)


class HalfWave(tg.Component):
    source, G, R, L, D = el.SineVoltage(V=10.0, f=1.0), el.Ground(), el.Resistor(R=2.0), el.Inductor(L=0.3), el.IdealDiode()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.D.p)
        yield tg.connect(self.D.n, self.R.p)
        yield tg.connect(self.R.n, self.L.p)
        yield tg.connect(self.source.n, self.L.n, self.G.p)


class Limited(tg.Component):
    """A coil takes what a source of current gives while the diode beside it is off, and less while it is on."""

    J, G, R, L = el.SineCurrent(I=1.0, f=1.0, offset=2.0), el.Ground(), el.Resistor(R=2.0), el.Inductor(L=0.3)
    D, E = el.IdealDiode(), el.ConstantVoltage(V=-6.0)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.J.n, self.D.p, self.L.p)
        yield tg.connect(self.L.n, self.R.p)
        yield tg.connect(self.R.n, self.E.p)
        yield tg.connect(self.J.p, self.D.n, self.E.n, self.G.p)


def rising(t: float, V: float = 12.0, R: float = 4.0, L: float = 0.1) -> float:
    return V / R * (1.0 - math.exp(-R * t / L))


def falling(t: float, V: float = 12.0, R: float = 4.0, L: float = 0.1, opens: float = 0.1) -> float:
    return rising(opens, V, R, L) * math.exp(-R * (t - opens) / L)


def conducted(t: float) -> float:
    w, R, L = 2.0 * math.pi, 2.0, 0.3
    return 10.0 / (R * R + (w * L) ** 2) * (R * math.sin(w * t) - w * L * math.cos(w * t) + w * L * math.exp(-R * t / L))


BLOCKS = brentq(conducted, 0.5, 0.99, xtol=1e-15)  # in every period; it conducts again at the start of the next


def half_wave(t: float) -> float:
    return conducted(t % 1.0) if t % 1.0 < BLOCKS else 0.0


@pytest.mark.slow
def test_derivatives_go_through_a_mode_that_is_passed(dae_method: str) -> None:
    """By the resistance, the inductance and the time at which the switch opens, against differences of the closed form."""
    times = [0.05, 0.15, 0.2]
    result = tg.simulate(Freewheeling(), (0.0, 0.2), outputs=times, rtol=RTOL, sensitivities=["R.R", "L.L", "opens"], method=dae_method)
    for k, t in enumerate(times):
        for name, argument, value in (("R.R", "R", 4.0), ("L.L", "L", 0.1), ("opens", "opens", 0.1)):
            more, less = {argument: value * 1.00001}, {argument: value * 0.99999}
            if t < 0.1:
                wanted = 0.0 if name == "opens" else (rising(t, **more) - rising(t, **less)) / (2e-5 * value)
            else:
                wanted = (falling(t, **more) - falling(t, **less)) / (2e-5 * value)
            # a thousand tolerances, which is what differences of the closed form are good for as well
            assert result.sensitivity("L.i", name)[k] == pytest.approx(wanted, rel=1e-5, abs=1e-5), (t, name)


def test_a_current_that_has_no_way_is_refused_by_name(dae_method: str) -> None:
    with pytest.raises(tg.SingularSystemError, match=r"force L\.i from 2\.945\d* to \S+ at once at t = 0\.1") as caught:
        tg.simulate(NoWay(), (0.0, 0.2), method=dae_method)
    assert caught.value.result is not None
    assert caught.value.result.time[-1] == pytest.approx(0.1)


def test_a_rectifier_with_a_coil_blocks_and_conducts_again(dae_method: str) -> None:
    """The diode that blocks leaves the coil's current nothing but zero: a state that is tied, until the source has turned."""
    times = np.linspace(0.01, 3.99, 200)
    result = tg.simulate(HalfWave(), (0.0, 4.0), outputs=times, rtol=RTOL, method=dae_method)
    assert result["L.i"].values == pytest.approx([half_wave(t) for t in times], abs=1e-6)  # of 3, a hundred tolerances
    blocked = np.array([t % 1.0 > BLOCKS + 1e-6 for t in times])
    assert result["D.v"].values[blocked] == pytest.approx(10.0 * np.sin(2.0 * math.pi * times[blocked]), abs=1e-5)
    wanted = [time for k in range(4) for time in (k + BLOCKS, k + 1.0)]
    assert [event.time for event in result.events if event.time > 0.0] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.slow
def test_a_run_is_saved_and_goes_on_while_a_state_is_tied(tmp_path: Path, dae_method: str) -> None:
    simulation = tg.Simulation(HalfWave(), rtol=RTOL, method=dae_method)
    simulation.advance(0.8)
    again = tg.Simulation.load(simulation.save(tmp_path / "half.sim"), HalfWave())
    for one in (simulation, again):
        one.advance(0.9)
        assert one["D.v"] == pytest.approx(10.0 * math.sin(1.8 * math.pi), rel=1e-6)
        one.advance(2.3)
        assert one["L.i"] == pytest.approx(half_wave(2.3), abs=1e-6)


@pytest.mark.slow
def test_a_run_is_saved_and_goes_on_behind_a_mode_that_was_passed(tmp_path: Path, dae_method: str) -> None:
    simulation = tg.Simulation(Freewheeling(), rtol=RTOL, method=dae_method)
    simulation.advance(0.1)
    again = tg.Simulation.load(simulation.save(tmp_path / "wheel.sim"), Freewheeling())
    for one in (simulation, again):
        one.advance(0.2)
        assert one["L.i"] == pytest.approx(falling(0.2), rel=1e-6)


@pytest.mark.slow
def test_a_state_is_tied_to_what_moves(dae_method: str) -> None:
    """What drives the constraint is differentiated as well. Truth: one equation at a time by scipy, the diode's two bounds found by it too."""
    R, L, E = 2.0, 0.3, 6.0

    def given(t: float) -> float:
        return 2.0 + math.sin(2.0 * math.pi * t)

    def rate(t: float) -> float:
        return 2.0 * math.pi * math.cos(2.0 * math.pi * t)

    def free(_t: float, y: Any) -> list[float]:
        return [(E - R * y[0]) / L]

    def reaches(t: float, y: Any) -> float:
        return y[0] - given(t)

    def lets_go(t: float) -> float:
        return L * rate(t) + R * given(t) - E

    reaches.terminal, reaches.direction = True, 1.0  # type: ignore[attr-defined]
    times = np.linspace(0.02, 2.9, 97)
    wanted, t, y = np.zeros(len(times)), 0.0, 0.0
    while t < 3.0:
        part = solve_ivp(free, (t, 3.0), [y], events=reaches, rtol=1e-11, atol=1e-12, dense_output=True)
        end = part.t[-1]
        inside = (times >= t) & (times <= end)
        wanted[inside] = part.sol(times[inside])[0]
        if end >= 3.0:
            break
        grid = np.linspace(end + 1e-6, end + 1.0, 4001)
        k = next(k for k in range(len(grid) - 1) if lets_go(grid[k]) < 0.0 <= lets_go(grid[k + 1]))
        t = brentq(lets_go, grid[k], grid[k + 1], xtol=1e-14)
        inside = (times >= end) & (times <= t)
        wanted[inside] = [given(s) for s in times[inside]]
        y = given(t)
    result = tg.simulate(Limited(), (0.0, 2.9), outputs=times, rtol=RTOL, method=dae_method)
    assert result["L.i"].values == pytest.approx(wanted, abs=1e-6)


def test_a_tie_that_varies_is_refused(dae_method: str) -> None:
    class Circle(tg.Component):
        x, y, z = tg.State(0.6), tg.State(0.8), tg.Algebraic(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == self.z
            yield tg.der(self.y) == 0.1 * self.z
            yield self.z == tg.where(tg.time > 1.0, self.x**2 + self.y**2 - 1.0 + self.z, 0.1 * (self.x - 0.6))

    with pytest.raises(tg.SingularSystemError, match="in a way that changes while they do"):
        tg.simulate(Circle(), (0.0, 2.0), method=dae_method)


def given_current(t: float, R: float = 2.0, L: float = 0.3, V: float = 10.0, f: float = 1.0) -> float:
    """``conducted`` by all of its parameters, in its first period and the next ones."""
    w = 2.0 * math.pi * f

    def current(s: float) -> float:
        return V / (R * R + (w * L) ** 2) * (R * math.sin(w * s) - w * L * math.cos(w * s) + w * L * math.exp(-R * s / L))

    s = t % (1.0 / f)
    return current(s) if s < brentq(current, 0.5 / f, 0.99 / f, xtol=1e-15) else 0.0


@pytest.mark.slow
def test_derivatives_go_through_a_mode_that_ties_a_state(dae_method: str) -> None:
    """By resistance, inductance, amplitude and frequency: two diodes' times and the next period's start move with them."""
    times = [0.2, 0.6, 0.7, 0.9, 1.3, 1.55, 1.8, 2.4]
    named = {"R.R": ("R", 2.0), "L.L": ("L", 0.3), "source.V": ("V", 10.0), "source.f": ("f", 1.0)}
    result = tg.simulate(HalfWave(), (0.0, 2.5), outputs=times, rtol=RTOL, sensitivities=list(named), method=dae_method, event_rows=False)
    for name, (argument, value) in named.items():
        step = 1e-5 * value
        wanted = np.array(
            [(given_current(t, **{argument: value + step}) - given_current(t, **{argument: value - step})) / (2.0 * step) for t in times]
        )
        # a thousand tolerances; by the frequency they grow with time
        assert result.sensitivity("L.i", name).values == pytest.approx(wanted, abs=1e-5 * max(1.0, np.max(np.abs(wanted)))), name
    blocked = np.array([t % 1.0 > BLOCKS for t in times])
    assert result.sensitivity("D.v", "source.V").values[blocked] == pytest.approx(np.sin(2.0 * math.pi * np.array(times)[blocked]), abs=1e-5)
    assert np.all(np.abs(result.sensitivity("L.i", "R.R").values[blocked]) < 1e-9)


@pytest.mark.slow
def test_derivatives_of_what_a_state_is_tied_to_are_those_of_the_state(dae_method: str) -> None:
    """Where the diode is off the coil takes the source's current, and the diode's voltage follows from its rate."""
    times = np.linspace(0.42, 0.98, 8)
    options: dict[str, Any] = {"outputs": times, "rtol": RTOL, "method": dae_method, "sensitivities": ["J.I", "J.f", "J.offset", "L.L"]}
    result = tg.simulate(Limited(), (0.0, 0.98), **options)
    w = 2.0 * math.pi
    sine, cosine = np.sin(w * times), np.cos(w * times)
    current = {"J.I": sine, "J.f": w * times * cosine, "J.offset": np.ones(8), "L.L": np.zeros(8)}
    rate = {"J.I": w * cosine, "J.f": w * (cosine - w * times * sine), "J.offset": np.zeros(8), "L.L": np.zeros(8)}
    for name in options["sensitivities"]:
        assert result.sensitivity("L.i", name).values == pytest.approx(current[name], abs=1e-6), name
        voltage = 0.3 * rate[name] + 2.0 * current[name] + (w * cosine if name == "L.L" else 0.0)
        assert np.abs(result.sensitivity("D.v", name).values) == pytest.approx(np.abs(voltage), abs=1e-5), name


@pytest.mark.slow
def test_a_run_with_derivatives_is_saved_and_goes_on_while_a_state_is_tied(tmp_path: Path, dae_method: str) -> None:
    simulation = tg.Simulation(HalfWave(), rtol=RTOL, method=dae_method, sensitivities=["source.f"])
    simulation.advance(0.8)
    again = tg.Simulation.load(simulation.save(tmp_path / "half.sim"), HalfWave())
    step = 1e-5
    wanted = (given_current(1.3, f=1.0 + step) - given_current(1.3, f=1.0 - step)) / (2.0 * step)
    for one in (simulation, again):
        one.advance(1.3)
        assert float(one.result.sensitivity("L.i", "source.f").values[-1]) == pytest.approx(wanted, rel=1e-5)


def test_derivatives_go_on_where_a_parameter_moves_a_tie_with_what_it_ties(dae_method: str) -> None:
    class Lever(tg.Component):
        k = tg.Parameter(2.0)
        x, y, z = tg.State(0.6), tg.State(0.8), tg.Algebraic(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == self.z
            yield tg.der(self.y) == 0.1 * self.z
            yield self.z == tg.where(tg.time > 1.0, self.x - self.k * self.y + self.k * 0.8 - 0.6 + self.z, 0.1 * (self.x - 0.6))

    result = tg.simulate(Lever(), (0.0, 2.0), sensitivities=["k"], method=dae_method)
    assert result.final["x"] == pytest.approx(0.6)
    assert result.sensitivity("x", "k")[-1] == pytest.approx(0.0, abs=1e-8)  # y stays where it is
