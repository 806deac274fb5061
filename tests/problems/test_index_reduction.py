"""Models whose states are tied together, against closed forms and differently written equations; ``golden/components.json`` holds the values."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp  # pyright: ignore[reportUnknownVariableType]

import tidegate as tg
from engines import allowed
from tidegate.expressions import as_expr
from tidegate.structure import chosen_states

__all__: list[str] = []

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "components.json").read_text())


def assert_golden(key: str, result: tg.Result, names: dict[str, str], rel: float) -> None:
    """Values at the golden times, relative to the size of each along the run."""
    for time, values in GOLDEN[key]["values"].items():
        row = int(np.argmin(np.abs(result.t - float(time))))
        assert result.t[row] == pytest.approx(float(time), abs=1e-12)
        for theirs, ours in names.items():
            size = max(abs(float(several[theirs])) for several in GOLDEN[key]["values"].values())
            assert float(result[ours].values[row]) == pytest.approx(float(values[theirs]), rel=0.0, abs=rel * size), (ours, time)


def golden_run(key: str, model: Any, method: str, **options: Any) -> tg.Result:
    times = sorted({0.0, *map(float, GOLDEN[key]["values"]), float(GOLDEN[key]["t_end"])})
    return tg.simulate(model, (0.0, times[-1]), outputs=times, rtol=1e-8, method=method, **options)


# -- electricity


class CapacitorLoop(tg.Component):
    """Two capacitors side by side behind a resistor."""

    v1 = tg.State(2.0, fixed=True)
    v2 = tg.State(0.5, fixed=False)
    i1, i2, i = (tg.Algebraic(0.0) for _ in range(3))
    V, R = tg.Parameter(10.0), tg.Parameter(1000.0)
    C1, C2 = tg.Parameter(1e-3), tg.Parameter(2e-3)
    ratio = tg.Parameter(1.0)  # with a number the two would be one variable under two names

    def equations(self):
        yield self.C1 * tg.der(self.v1) == self.i1
        yield self.C2 * tg.der(self.v2) == self.i2
        yield self.i == self.i1 + self.i2
        yield self.R * self.i == self.V - self.v1
        yield self.v1 == self.ratio * self.v2


class CapacitorOnSource(tg.Component):
    v = tg.State(0.0)
    i, i_r, i_s = (tg.Algebraic(0.0) for _ in range(3))
    C, R = tg.Parameter(1e-3), tg.Parameter(10.0)

    def equations(self):
        yield self.v == 5.0 * np.sin(100.0 * math.pi * tg.time)
        yield self.C * tg.der(self.v) == self.i
        yield self.R * self.i_r == self.v
        yield self.i + self.i_r + self.i_s == 0


def test_a_loop_of_capacitors_has_one_state(dae_method: str) -> None:
    assert chosen_states(CapacitorLoop().lower()).states == ("v1",)
    names = {"C1.v": "v1", "C2.v": "v2", "C1.i": "i1", "C2.i": "i2", "R.i": "i"}
    assert_golden("D02_capacitor_loop", golden_run("D02_capacitor_loop", CapacitorLoop(), dae_method), names, allowed(dae_method, 1e-6, 1e-8))


def test_the_sensitivity_of_a_loop_by_a_capacitance_is_that_of_the_closed_form(dae_method: str) -> None:
    result = tg.simulate(CapacitorLoop(), (0.0, 3.0), rtol=1e-8, method=dae_method, sensitivities=["C2"])
    exact = -8.0 * math.exp(-1.0) * 1.0 / (3e-3)  # v = 10 - 8 exp(-t/(R C)), dv/dC = -8 t/(R C^2) exp(-t/(R C)), t = R C
    for name in ("v1", "v2"):
        assert float(result.sensitivity(name, "C2").values[-1]) == pytest.approx(exact, rel=1e-5)


def test_a_capacitor_on_a_source_has_no_state(dae_method: str) -> None:
    assert chosen_states(CapacitorOnSource().lower()).n_states == 0
    names = {"C.v": "v", "C.i": "i", "R.i": "i_r", "source.i": "i_s"}
    assert_golden("D12_capacitor_across_source", golden_run("D12_capacitor_across_source", CapacitorOnSource(), dae_method), names, 1e-6)


def test_start_values_that_contradict_each_other_are_refused_by_name() -> None:
    class Both(CapacitorLoop):
        v2 = tg.State(3.0, fixed=True)

    for start in (lambda: tg.simulate(Both(), (0.0, 1.0)), lambda: tg.Simulation(Both())):
        with pytest.raises(tg.InitializationError) as caught:
            start()
        assert "start value 2 of v1 is to hold, but comes out as 3" in str(caught.value)
        assert "v2, whose start value is to hold too" in str(caught.value)
        assert "self.v1 == self.ratio * self.v2" in str(caught.value)


def test_start_values_that_agree_are_not_refused() -> None:
    class Both(CapacitorLoop):
        v2 = tg.State(2.0, fixed=True)

    assert tg.simulate(Both(), (0.0, 1.0)).final["v2"] == pytest.approx(10.0 - 8.0 * math.exp(-1.0 / 3.0), rel=1e-5)


# -- mechanics


class CoupledMasses(tg.Component):
    s1 = tg.State(0.1, fixed=True)
    s2 = tg.State()
    v1 = tg.State(0.0, fixed=True)
    v2 = tg.State(0.0)
    f = tg.Algebraic(0.0)
    m1, m2, c, d = tg.Parameter(1.0), tg.Parameter(2.0), tg.Parameter(30.0), tg.Parameter(1.5)
    ratio = tg.Parameter(1.0)
    a = tg.Output()

    def equations(self):
        yield tg.der(self.s1) == self.v1
        yield tg.der(self.s2) == self.v2
        yield self.m1 * tg.der(self.v1) == self.f - self.c * self.s1 - self.d * self.v1
        yield self.m2 * tg.der(self.v2) == 5.0 - self.f
        yield self.s1 == self.ratio * self.s2
        yield self.a == tg.der(self.v2)


def test_two_masses_that_are_joined_have_two_states(dae_method: str) -> None:
    assert chosen_states(CoupledMasses().lower()).states == ("s1", "v1")
    names = {"m1.s": "s1", "m2.s": "s2", "m1.v": "v1", "m2.v": "v2", "m1.a": "a"}
    result = golden_run("D04_coupled_masses", CoupledMasses(), dae_method)
    assert_golden("D04_coupled_masses", result, names, allowed(dae_method, 1e-6, 1e-8))
    last = GOLDEN["D04_coupled_masses"]["values"]["5"]
    assert result.final["f"] == pytest.approx(float(last["m2.flange.f"]), rel=1e-6)


def pendulum(angle: float = 2.5) -> Any:
    """In Cartesian coordinates, from rest."""

    def residual(t: Any, y: Any, ydot: Any, p: Any) -> Any:
        return [
            ydot["x"] - y["vx"],
            ydot["y"] - y["vy"],
            p["m"] * ydot["vx"] + y["x"] / p["L"] * y["pull"],
            p["m"] * ydot["vy"] + y["y"] / p["L"] * y["pull"] + p["m"] * p["g"],
            y["x"] ** 2 + y["y"] ** 2 - p["L"] ** 2,
        ]

    def start(p: Any) -> Any:
        return {"x": p["L"] * math.sin(angle), "y": -p["L"] * math.cos(angle), "vx": 0.0, "vy": 0.0, "pull": 0.0}

    return tg.dae(residual, y0=start, p={"m": 1.0, "L": 1.0, "g": 9.81}, name="pendulum")


def test_a_pendulum_that_turns_over_changes_its_states_and_nothing_else(dae_method: str) -> None:
    result = golden_run("D05_pendulum_index3", pendulum(), dae_method)
    names = {"x": "x", "y": "y", "vx": "vx", "vy": "vy", "tension": "pull"}
    assert_golden("D05_pendulum_index3", result, names, 1e-5)
    x, y, vx, vy = (result[name].values for name in ("x", "y", "vx", "vy"))
    assert np.max(np.abs(x**2 + y**2 - 1.0)) <= 1e-7
    assert np.max(np.abs(x * vx + y * vy)) <= 1e-7
    assert len(result.events) == 0
    assert result.statistics.events == 0
    assert result.statistics.extra["choices of states"] >= 4
    assert "choices of states" in str(result.statistics)
    assert np.all(np.diff(result.t) > 0.0)


class Falling(tg.Component):
    """A pendulum that counts how often it comes by below, and is thrown to its other side at 0.7."""

    x, y, vx, vy = tg.State(0.8), tg.State(-0.6), tg.State(0.0), tg.State(0.0)
    pull, passes = tg.Algebraic(), tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.vx
        yield tg.der(self.y) == self.vy
        yield tg.der(self.vx) == -self.x * self.pull
        yield tg.der(self.vy) == -self.y * self.pull - 9.81
        yield self.x**2 + self.y**2 == 1

    @tg.when(lambda self: self.x < 0, lambda self: self.x > 0)
    def below(self) -> Any:
        return {self.passes: self.passes + 1}

    @tg.at(0.7)
    def throw(self) -> Any:
        return {self.x: 0.0, self.y: 1.0, self.vx: 3.0, self.vy: 0.0}


@pytest.mark.slow
def test_a_choice_of_states_is_no_event_of_the_model_but_the_reset_that_brings_it_is(dae_method: str) -> None:
    result = tg.simulate(Falling(), (0.0, 3.0), rtol=1e-8, method=dae_method)
    assert {event.cause.partition(",")[0] for event in result.events} == {"below", "throw"}
    assert not any("choice" in event.cause or "way" in event.cause for event in result.events)
    assert result.statistics.events == len(result.events)
    assert [event.index for event in result.events] == list(range(len(result.events)))
    (thrown,) = (event for event in result.events if "throw" in event.causes)
    assert (thrown.time, thrown.after["y"], thrown.after["vx"]) == (0.7, pytest.approx(1.0), pytest.approx(3.0))
    # two rows for each of these events, and for nothing else
    assert np.count_nonzero(np.diff(result.t) == 0.0) == len(result.events)
    assert dae_method != "radau" or tg.verify(result, points=2).ok  # a tenth of a second for each of IDA's thousands of steps
    assert result.message == "reached the end of the time span"


def test_what_the_user_sets_is_an_event_though_nothing_but_the_states_follow() -> None:
    simulation = tg.Simulation(pendulum(0.0))
    simulation.advance(0.1)
    with pytest.raises(tg.UsageError, match="x is an algebraic variable") as caught:
        simulation["x"] = 1.0
    assert caught.value.hint == "set a parameter"
    simulation["g"] = 5.0
    simulation.advance(0.5)
    assert [event.kind for event in simulation.result.events] == ["set"]


@pytest.mark.slow
@pytest.mark.parametrize("parameter", ["L", "g"])
def test_sensitivities_of_a_pendulum_go_on_through_the_changes_of_its_states(parameter: str, dae_method: str) -> None:
    options: dict[str, Any] = {"rtol": 1e-10, "method": "radau", "outputs": [0.0, 0.5, 1.0, 2.5]}
    result = tg.simulate(pendulum(), (0.0, 2.5), sensitivities=[parameter], **{**options, "method": dae_method, "rtol": 1e-9})
    value, step = {"L": 1.0, "g": 9.81}[parameter], 1e-4
    up, down = (tg.simulate(pendulum(), (0.0, 2.5), parameters={parameter: value + by}, **options) for by in (step, -step))
    for name in ("x", "y", "vx", "vy", "pull"):
        difference = (up[name].values - down[name].values) / (2.0 * step)
        size = np.max(np.abs(difference))
        # of central differences: a third derivative of the order of 1e3 times a square of the step; of IDA: its tolerances, added up
        close = size * (1e-5 if dae_method == "radau" else 1e-4)
        np.testing.assert_allclose(result.sensitivity(name, parameter).values, difference, rtol=0.0, atol=close)


@pytest.mark.slow
def test_a_pendulum_keeps_its_energy_over_a_hundred_turns(dae_method: str) -> None:
    """With four choices of states a turn; by IDA, whose steps add up what they lose, at a tighter tolerance."""
    rtol = {"radau": 1e-8, "ida": 1e-10, "rodas5p": 1e-9}[dae_method]
    result = tg.simulate(_with_speed(pendulum(0.0), 8.0), (0.0, 100.0), rtol=rtol, method=dae_method, outputs=0.1)
    x, y, vx, vy = (result[name].values for name in ("x", "y", "vx", "vy"))
    angle = np.unwrap(np.arctan2(y, x))
    assert (angle[-1] - angle[0]) / (2.0 * math.pi) > 100.0
    assert result.statistics.extra["choices of states"] > 400
    energy = 0.5 * (vx**2 + vy**2) + 9.81 * y
    assert np.ptp(energy) <= 1e-6 * 32.0  # of the kinetic energy below
    assert np.max(np.abs(x**2 + y**2 - 1.0)) <= 1e-7


@pytest.mark.slow
def test_states_that_are_chosen_anew_cost_no_energy_beside_the_angle() -> None:
    """At 1e-8 IDA's steps, of the same equations with one angle for two coordinates, already lose a millionth of the energy in a hundred turns."""
    by_angle = tg.dae(lambda t, y, ydot: [ydot["a"] - y["w"], ydot["w"] + 9.81 * np.sin(y["a"])], {"a": 0.0, "w": 8.0}, {"a": 8.0, "w": 0.0})
    smooth = tg.simulate(by_angle, (0.0, 100.0), rtol=1e-8, method="ida", outputs=0.1)
    tied = tg.simulate(_with_speed(pendulum(0.0), 8.0), (0.0, 100.0), rtol=1e-8, method="ida", outputs=0.1)
    lost = np.ptp(0.5 * smooth["w"].values ** 2 - 9.81 * np.cos(smooth["a"].values)) / 32.0
    also = np.ptp(0.5 * (tied["vx"].values ** 2 + tied["vy"].values ** 2) + 9.81 * tied["y"].values) / 32.0
    assert lost > 3e-7
    assert also <= 10.0 * lost


def _with_speed(model: Any, speed: float) -> Any:
    lowered = model.lower()
    variables = [replace(v, start=(as_expr(speed),)) if v.name == "vx" else v for v in lowered.variables]
    return replace(lowered, variables=tuple(variables))


def double_pendulum(angles: tuple[float, float], masses: tuple[float, float]) -> Any:
    """Rods of length 1, from rest, in Cartesian coordinates."""

    def residual(t: Any, y: Any, ydot: Any, p: Any) -> Any:
        r, v, pull = y["r"], y["v"], y["pull"]
        dx, dy = r[2] - r[0], r[3] - r[1]
        return [
            *[ydot["r"][k] - v[k] for k in range(4)],
            masses[0] * ydot["v"][0] + pull[0] * r[0] - pull[1] * dx,
            masses[0] * ydot["v"][1] + pull[0] * r[1] - pull[1] * dy + masses[0] * p["g"],
            masses[1] * ydot["v"][2] + pull[1] * dx,
            masses[1] * ydot["v"][3] + pull[1] * dy + masses[1] * p["g"],
            r[0] ** 2 + r[1] ** 2 - 1.0,
            dx**2 + dy**2 - 1.0,
        ]

    a, b = angles
    first = np.array([math.sin(a), -math.cos(a)])
    start = {"r": np.concatenate([first, first + np.array([math.sin(b), -math.cos(b)])]), "v": np.zeros(4), "pull": np.zeros(2)}
    return tg.dae(residual, y0=start, p={"g": 9.81}, name="double")


def double_pendulum_by_angles(angles: tuple[float, float], masses: tuple[float, float], t_end: float) -> Any:
    """Positions at the end, by Lagrange's equations in the two angles."""
    m1, m2 = masses

    def rates(_t: float, z: Any) -> list[float]:
        a, b, u, w = z
        c, s = math.cos(a - b), math.sin(a - b)
        # (m1 + m2) a'' + m2 c b'' = -m2 s w^2 - (m1 + m2) g sin a;  c a'' + b'' = s u^2 - g sin b
        right = -m2 * s * w * w - (m1 + m2) * 9.81 * math.sin(a), s * u * u - 9.81 * math.sin(b)
        first = (right[0] - m2 * c * right[1]) / (m1 + m2 - m2 * c * c)
        return [u, w, first, right[1] - c * first]

    found: Any = solve_ivp(rates, (0.0, t_end), [*angles, 0.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-13)
    a, b, u, w = found.y[:, -1]
    first, second = np.array([math.sin(a), -math.cos(a)]), np.array([math.sin(b), -math.cos(b)])
    turned = u * np.array([math.cos(a), math.sin(a)]), w * np.array([math.cos(b), math.sin(b)])
    return np.concatenate([first, first + second]), np.concatenate([turned[0], turned[0] + turned[1]])


@pytest.mark.slow
@pytest.mark.parametrize("angles", [(2.0, 2.5), (-1.2, 3.0)])
def test_a_double_pendulum_moves_as_its_angles_do(angles: tuple[float, float], dae_method: str) -> None:
    masses = 1.0, 0.7
    model = double_pendulum(angles, masses)
    assert [group.n_states for group in chosen_states(model.lower()).open] == [1, 1, 1, 1]
    result = tg.simulate(model, (0.0, 2.0), rtol=1e-8, method=dae_method)
    assert result.statistics.extra["choices of states"] > 4
    positions, speeds = double_pendulum_by_angles(angles, masses, 2.0)
    # errors grow a hundredfold in this time: the motion is chaotic
    close = allowed(dae_method, 1e-5, 1e-8, 1e4)
    np.testing.assert_allclose(result["r"].values[-1], positions, rtol=0.0, atol=close)
    np.testing.assert_allclose(result["v"].values[-1], speeds, rtol=0.0, atol=10.0 * close)


class ThrownBack(tg.Component):
    """A pendulum that is thrown back by a wall below its pivot; without loss it comes back to where it began."""

    x = tg.State(1.0)
    y, vx, vy = tg.State(0.0), tg.State(0.0), tg.State(0.0)
    pull = tg.Algebraic(0.0)
    hits = tg.Discrete(0)

    def equations(self):
        yield tg.der(self.x) == self.vx
        yield tg.der(self.y) == self.vy
        yield tg.der(self.vx) == -self.x * self.pull
        yield tg.der(self.vy) == -self.y * self.pull - 9.81
        yield self.x**2 + self.y**2 == 1

    @tg.when(lambda self: self.x < 0.0)
    def wall(self):
        return {self.vx: -self.vx, self.vy: -self.vy, self.hits: self.hits + 1}


@pytest.mark.slow
def test_an_event_resets_states_that_are_chosen_while_the_model_runs(dae_method: str) -> None:
    # a quarter of the period of a pendulum let go at the horizontal: K(1/2) / sqrt(9.81)
    quarter = 1.8540746773013719184 / math.sqrt(9.81)
    result = tg.simulate(ThrownBack(), (0.0, 6.0 * quarter), rtol=1e-8, method=dae_method)
    hits = [event.time for event in result.events if "wall" in event.cause]
    assert hits == pytest.approx([quarter, 3.0 * quarter, 5.0 * quarter], rel=allowed(dae_method, 1e-6, 1e-8))
    assert result.final["hits"] == 3
    assert result.final["x"] == pytest.approx(1.0, abs=1e-6)
    assert np.min(result["x"].values) > -1e-6


@pytest.mark.slow
def test_the_first_choice_of_states_keeps_what_is_to_hold() -> None:
    class Given(ThrownBack):
        x = tg.State(0.6, fixed=True)
        y = tg.State(-0.1)

    result = tg.simulate(Given(), (0.0, 0.1))
    assert (result["x"].values[0], result["y"].values[0]) == pytest.approx((0.6, -0.8), rel=1e-9)

    class Both(ThrownBack):
        x = tg.State(0.6, fixed=True)
        y = tg.State(-0.7, fixed=True)

    with pytest.raises(tg.InitializationError, match=r"start value -0.7 of y is to hold, but comes out as -0.8: it follows from x, whose"):
        tg.simulate(Both(), (0.0, 0.1))


def test_initial_actions_choose_the_branch() -> None:
    class Begun(ThrownBack):
        phi = tg.Parameter(0.3)
        x, y = tg.State(0.0), tg.State(0.0)

        @tg.initially
        def begin(self):
            return {self.x: np.sin(self.phi), self.y: -np.cos(self.phi)}

    result = tg.simulate(Begun(), (0.0, 0.1), rtol=1e-8)
    assert (result["x"].values[0], result["y"].values[0]) == pytest.approx((math.sin(0.3), -math.cos(0.3)), rel=1e-9)


@pytest.mark.slow
def test_a_simulation_of_a_pendulum_is_saved_and_goes_on(tmp_path: Path) -> None:
    simulation = tg.Simulation(pendulum(), rtol=1e-8)
    for time in (1.0, 2.0, 5.0):
        simulation.advance(time)
    again = tg.Simulation.load(simulation.save(tmp_path / "pendulum.sim"), pendulum())
    again.advance(10.0)
    assert again["x"] == pytest.approx(float(GOLDEN["D05_pendulum_index3"]["values"]["10"]["x"]), rel=1e-7)


def tied(change: Any, start: float = 0.0) -> tg.Component:
    """Two states of which one follows the other at a distance that changes."""

    class Tied(tg.Component):
        a, b = tg.State(start), tg.State(0.0)
        push = tg.Algebraic(0.0)

        def equations(self):
            yield tg.der(self.a) == self.push - self.a
            yield tg.der(self.b) == -self.push
            yield 2 * self.a == 3 * self.b + change(tg.time)

    return Tied()


def test_a_constraint_that_jumps_is_refused_since_the_states_would_have_to(dae_method: str) -> None:
    """With an impulse I: a + I and b - I fit the new distance; without one the result would depend on which of them is the state."""
    with pytest.raises(tg.InitializationError, match=r"(?s)[ab] jumps from .* at t = 1 .*follows from [ab] by equation 3") as caught:
        tg.simulate(tied(lambda t: tg.where(t < 1.0, 0.0, 1.0)), (0.0, 2.0), method=dae_method)
    assert caught.value.result is not None
    simulation = tg.Simulation(tied(lambda t: tg.where(t < 1.0, 0.0, 1.0)), method=dae_method)
    simulation.advance(0.5)
    with pytest.raises(tg.InitializationError, match="at t = 1"):
        simulation.advance(2.0)


def test_a_constraint_may_change_its_slope(dae_method: str) -> None:
    result = tg.simulate(tied(lambda t: tg.where(t < 1.0, 0.0, t - 1.0)), (0.0, 2.0), method=dae_method, rtol=1e-8)
    # a' + b' = -a and a' = 1.5 b' + 0.5: a' = -(3 a - 1) / 5 behind t = 1
    assert result.final["a"] == pytest.approx((1.0 - math.exp(-0.6)) / 3.0, rel=1e-6)
