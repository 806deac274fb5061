"""What the classical methods do natively: the printed counts of their source, orders, events, sensitivities, and what they refuse."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg

VARIABLE = ["rke", "pc"]
FIXED = ["euler", "adams2", "trapezoid", "heun"]
METHODS = VARIABLE + FIXED
ORDERS = {"euler": 1, "adams2": 2, "trapezoid": 2, "heun": 2}
GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "condis.json").read_text(encoding="utf-8"))
RUNS = {run["run"]: run for run in GOLDEN["appendix2"]["runs"]}


def step(method: str, length: float = 0.01) -> dict[str, float]:
    return {"max_step": length} if method in FIXED else {}


def jumping(t: float) -> float:
    """The rate of the printed problem."""
    return 0.0 if t < 1 else 1.0 if t < 2 else -1.0 if t < 3 else 0.0


@pytest.mark.parametrize(("number", "count"), [(1, 668), (2, 668), (3, 368), (4, 368)])
def test_jumps_that_nobody_sees_cost_the_printed_number_of_evaluations(number: int, count: int) -> None:
    """Output times are read from polynomials, so the runs with samples cost what those without do."""
    run = RUNS[number]
    rate = tg.opaque(jumping)
    method = run["method"].lower()
    limits: dict[str, Any] = {"min_step": run["dtmin"]} if method == "rke" else {}
    if run["sample_frequency"] > 0:
        limits["outputs"] = run["sample_frequency"]
    source = tg.ode(lambda t, y: [rate(t)], y0={"y": 0.0})
    result = tg.simulate(source, (0, 4), method=method, rtol=1e-14, atol=run["maxabserror"], max_step=run["dtmax"], **limits)
    assert result.statistics.evaluations == count
    if run["sample_frequency"] == 0:
        assert count == run["evaluations"]
        # what 27 bits make of the printed rows
        assert result.t == pytest.approx(np.array([row["t"] for row in run["rows"]]), abs=3e-8)
        assert np.asarray(result["y"]) == pytest.approx(np.array([row["y"] for row in run["rows"]]), abs=5e-8)


def logistic() -> Any:
    return tg.ode(lambda t, y, p: [p["r"] * y["x"] * (1 - y["x"])], y0={"x": 0.1}, p={"r": 1.5})


def grown(r: float, t: float) -> float:
    return 1 / (1 + 9 * math.exp(-r * t))


def grown_by_rate(r: float, t: float) -> float:
    return 9 * t * math.exp(-r * t) / (1 + 9 * math.exp(-r * t)) ** 2


@pytest.mark.parametrize("method", FIXED)
def test_errors_and_those_of_sensitivities_shrink_with_the_order_of_the_method(method: str) -> None:
    errors = []
    for length in (0.04, 0.02):
        result = tg.simulate(logistic(), (0, 4), method=method, max_step=length, sensitivities="all")
        slope = float(result.sensitivity("x", "r")[-1])
        errors.append((abs(result.final["x"] - grown(1.5, 4)), abs(slope - grown_by_rate(1.5, 4))))
    for coarse, fine in zip(*errors, strict=True):
        assert math.log2(coarse / fine) == pytest.approx(ORDERS[method], abs=0.25)


@pytest.mark.parametrize("method", VARIABLE)
def test_the_tolerance_is_kept(method: str) -> None:
    for rtol in (1e-4, 1e-7, 1e-10):
        result = tg.simulate(logistic(), (0, 4), method=method, rtol=rtol, atol=rtol, sensitivities="all")
        # the errors of some ten steps; those of S are not tested in a step, and are in proportion
        assert result.final["x"] == pytest.approx(grown(1.5, 4), abs=20 * rtol)
        assert float(result.sensitivity("x", "r")[-1]) == pytest.approx(grown_by_rate(1.5, 4), abs=100 * rtol)


@pytest.mark.parametrize("method", METHODS)
def test_values_between_steps_are_as_good_as_at_their_ends(method: str) -> None:
    times = np.linspace(0, 4, 38)
    result = tg.simulate(logistic(), (0, 4), method=method, outputs=times, rtol=1e-7, atol=1e-7, sensitivities="all", **step(method))
    off = 1e-6 if method in VARIABLE else 1e-2 if method == "euler" else 1e-4
    assert np.asarray(result["x"]) == pytest.approx(np.array([grown(1.5, t) for t in times]), abs=off)
    assert np.asarray(result.sensitivity("x", "r")).ravel() == pytest.approx(np.array([grown_by_rate(1.5, t) for t in times]), abs=10 * off)
    assert float(result.at(1.2345)["x"]) == pytest.approx(grown(1.5, 1.2345), abs=off)


# events


def ball() -> Any:
    bounce = tg.event(lambda t, y, p: y["h"] < 0, reset=lambda t, y, p: {"v": -p["e"] * y["v"]})
    return tg.ode(lambda t, y, p: {"h": y["v"], "v": -p["g"]}, y0={"h": 1.0, "v": 0.0}, p={"g": 9.81, "e": 0.8}, events=[bounce])


def bounces(g: float, e: float, count: int) -> list[float]:
    times, speed = [math.sqrt(2 / g)], math.sqrt(2 * g)
    for _ in range(count - 1):
        speed *= e
        times.append(times[-1] + 2 * speed / g)
    return times


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_bounces_when_it_must(method: str) -> None:
    result = tg.simulate(ball(), (0, 2.5), method=method, rtol=1e-9, **step(method))
    # all but Euler's method are exact on parabolas; its error is that of a step of 0.01 at each bounce and more behind it
    off = 0.12 if method == "euler" else 1e-11
    assert [event.time for event in result.events] == pytest.approx(bounces(9.81, 0.8, 4), abs=off)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "euler"])
def test_two_crossings_within_one_step_are_not_overlooked(method: str) -> None:
    """x = (t - 1.03)^2 - 1e-4, which all these methods follow exactly, is below zero for a fifth of a step."""
    dip = tg.event(lambda t, y: y["x"] < 0, reset=lambda t, y: {"n": y["n"] + 1})
    source = tg.ode(lambda t, y: {"x": 2 * (t - 1.03), "n": 0.0}, y0={"x": 1.03**2 - 1e-4, "n": 0.0}, events=[dip])
    result = tg.simulate(source, (0, 2), method=method, max_step=0.1)
    assert [event.time for event in result.events] == pytest.approx([1.02], abs=1e-11)
    assert result.final["n"] == 1


@pytest.mark.parametrize("method", METHODS)
def test_steps_end_at_time_events(method: str) -> None:
    """x' = u, and u changes its sign every 0.37: all six are exact on lines."""

    class Zigzag(tg.Component):
        x = tg.State(0.0)
        u = tg.Discrete(1.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == self.u

        @tg.every(0.37, start=0.37)
        def turn(self) -> Any:
            return {self.u: -self.u}

    result = tg.simulate(Zigzag(), (0, 2), method=method, **step(method, 0.1))
    assert result.final["x"] == pytest.approx(0.37 - 0.15, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_level_that_runs_dry_under_a_root_stops_there(method: str) -> None:
    """h' = -sqrt(h) has no value behind the event at t = 2; methods that may not take shorter steps say so."""
    source = tg.ode(lambda t, y: [-np.sqrt(y[0])], y0=[1.0], events=[tg.event(lambda t, y: y[0] < 1e-4, terminal=True)])
    result = tg.simulate(source, (0, 3), method=method, rtol=1e-8, atol=1e-9, **step(method, 0.001))
    assert result.t[-1] == pytest.approx(2 * (1 - 1e-2), abs=4e-3 if method == "euler" else 2e-5)


# sensitivities


def coupled() -> Any:
    def f(t: Any, y: Any, p: Any) -> Any:
        return {"a": -p["k"] * y["a"] * y["b"] + np.sin(p["w"] * t), "b": y["a"] - p["k"] * y["b"] ** 2}

    return tg.ode(f, y0={"a": 1.0, "b": 0.5}, p={"k": 1.3, "w": 2.0})


@pytest.mark.parametrize("method", FIXED)
def test_sensitivities_are_the_derivatives_of_the_numbers_the_method_gives(method: str) -> None:
    """Steps of fixed length, even coarse ones: central differences of the runs, to their own error."""
    run = {"method": method, "max_step": 0.15}
    result = tg.simulate(coupled(), (0, 3), sensitivities="all", **run)
    for name, value in {"k": 1.3, "w": 2.0}.items():
        high, low = (tg.simulate(coupled(), (0, 3), parameters={name: value + d}, **run).final for d in (1e-5, -1e-5))
        for unknown in ("a", "b"):
            difference = (high[unknown] - low[unknown]) / 2e-5
            assert float(result.sensitivity(unknown, name)[-1]) == pytest.approx(difference, abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_sensitivities_go_through_events(method: str) -> None:
    """Against Radau's, to what the methods leave of a bouncing ball: nothing but rounding, except Euler's."""
    result = tg.simulate(ball(), (0, 1.0), method=method, rtol=1e-9, sensitivities="all", **step(method, 0.005))
    g, e = 9.81, 0.8
    since, speed = 1.0 - math.sqrt(2 / g), math.sqrt(2 * g)
    by_e = speed * since
    by_g = -0.5 * since**2 + e * (0.5 * math.sqrt(2 / g) * since + speed * 0.5 * math.sqrt(2) * g**-1.5) - g * since * 0.5 * math.sqrt(2) * g**-1.5
    off = 0.1 if method == "euler" else 1e-8
    assert float(result.sensitivity("h", "e")[-1]) == pytest.approx(by_e, abs=off)
    assert float(result.sensitivity("h", "g")[-1]) == pytest.approx(by_g, abs=off)


@pytest.mark.parametrize("method", METHODS)
def test_a_mass_matrix_that_couples_derivatives_is_solved_for_them(method: str) -> None:
    class Masses(tg.Component):
        x = tg.State(1.0)
        y = tg.State(0.0)
        k = tg.Parameter(1.5)

        def equations(self) -> Any:
            yield 2 * tg.der(self.x) + tg.der(self.y) == -self.k * self.x
            yield tg.der(self.x) + 3 * tg.der(self.y) == self.x - self.y

    run = {"sensitivities": "all", "rtol": 1e-9, "atol": 1e-9}
    truth = tg.simulate(Masses(), (0, 2), **run)
    result = tg.simulate(Masses(), (0, 2), method=method, **run, **step(method, 0.002))
    off = 1e-2 if method == "euler" else 1e-5
    for name in ("x", "y"):
        assert result.final[name] == pytest.approx(truth.final[name], abs=off)
        assert float(result.sensitivity(name, "k")[-1]) == pytest.approx(float(truth.sensitivity(name, "k")[-1]), abs=off)


def switching(chance: random.Random) -> tuple[Any, int]:
    """Coupled rates that change where an unknown passes a parameter, and jumps of the others there."""
    n = chance.randint(1, 3)
    a, b, c = ([chance.uniform(0.3, 1.5) for _ in range(n)] for _ in range(3))
    level, kick = chance.uniform(0.2, 0.6), chance.choice([0.0, 0.3])

    def f(t: Any, y: Any, p: Any) -> Any:
        fast = 1.5 if y[0] > p["level"] else 1.0  # what passes the level goes on
        return [fast * p["a"] * a[i] - b[i] * y[i] + 0.3 * np.sin(c[i] * t + y[(i + 1) % n]) for i in range(n)]

    passes = tg.event(lambda t, y, p: y[0] > p["level"], reset=lambda t, y, p: [y[0]] + [y[i] + p["kick"] for i in range(1, n)])
    return tg.ode(f, y0=[0.0] * n, p={"a": 1.0, "level": level, "kick": kick}, events=[passes]), n


@pytest.mark.hunt
@pytest.mark.parametrize("method", METHODS)
def test_sensitivities_of_random_systems_with_switches_are_those_of_radau(method: str) -> None:
    for seed in range(28):
        source, n = switching(random.Random(seed))
        truth = tg.simulate(source, (0, 3), rtol=1e-11, atol=1e-12, sensitivities="all")
        result = tg.simulate(source, (0, 3), method=method, rtol=1e-9, atol=1e-9, sensitivities="all", **step(method, 5e-4))
        assert len(result.events) == len(truth.events), seed
        off = 2e-2 if method == "euler" else 2e-5 if method in FIXED else 1e-6
        for i in range(n):
            assert result.final[f"y[{i}]"] == pytest.approx(truth.final[f"y[{i}]"], abs=off), seed
            ours, theirs = (np.asarray(one.sensitivity(f"y[{i}]"))[-1] for one in (result, truth))
            assert ours == pytest.approx(theirs, rel=10 * off, abs=10 * off), seed


# what is said


def test_a_fixed_step_must_be_given() -> None:
    with pytest.raises(tg.UsageError, match=r"'heun' takes steps of one length, and no length is given[\s\S]*max_step="):
        tg.simulate(logistic(), (0, 1), method="heun")


@pytest.mark.parametrize("method", METHODS)
def test_algebraic_unknowns_are_refused_as_by_other_explicit_methods(method: str) -> None:
    source = tg.dae(lambda t, y, dy: [dy[0] + y[0] - y[1], y[1] ** 3 - 8 * y[0]], y0=[1.0, 2.0])
    with pytest.raises(tg.UsageError, match=rf"'{method}' solves differential equations only, and y\[1\] is an algebraic unknown[\s\S]*method='ida'"):
        tg.simulate(source, (0, 1), method=method, max_step=0.1)


def test_a_step_that_would_have_to_be_shorter_names_the_worst_unknown() -> None:
    jump = tg.opaque(jumping)
    source = tg.ode(lambda t, y: {"calm": -y["calm"], "wild": jump(t)}, y0={"calm": 1.0, "wild": 0.0})
    with pytest.raises(tg.StepSizeError, match=r"the error of wild is estimated at .* is allowed; min_step = 0.05 allows no shorter one"):
        tg.simulate(source, (0, 4), method="rke", max_step=0.2, min_step=0.05, rtol=1e-9, atol=1e-9)
    with pytest.raises(tg.StepSizeError, match=r"the error of wild .* max_halvings = 3 allows no shorter one"):
        tg.simulate(source, (0, 4), method="pc", max_step=0.2, max_halvings=3, rtol=1e-9, atol=1e-9)


def test_a_fixed_step_to_no_number_says_that_it_is_never_shorter() -> None:
    source = tg.ode(lambda t, y: [y[0] ** 3], y0=[1.0])
    with pytest.raises(tg.NotFiniteError, match=r"'euler' takes steps of max_step = 0.1 and never a shorter one"):
        tg.simulate(source, (0, 3), method="euler", max_step=0.1)


@pytest.mark.parametrize(("name", "method"), [("min_step", "pc"), ("min_step", "radau"), ("max_halvings", "rke"), ("disc_halvings", "auto")])
def test_limits_that_a_method_does_not_have_are_refused(name: str, method: str) -> None:
    with pytest.raises(tg.UsageError, match=f"{name} is for method="):
        tg.simulate(logistic(), (0, 1), method=method, **{name: 5})


@pytest.mark.parametrize("method", METHODS)
def test_a_simulation_in_pieces_takes_the_same_steps(method: str) -> None:
    whole = tg.simulate(logistic(), (0, 4), method=method, **step(method, 0.05))
    pieces = tg.Simulation(logistic(), method=method, **step(method, 0.05))
    for until in (0.7, 0.71, 2.0, 4.0):
        pieces.advance(until)
    assert pieces.result.final["x"] == whole.final["x"]
