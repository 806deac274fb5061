"""`tg.hdae`: constrained systems in all five forms against minimal coordinates, their starts, events and derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipk

import tidegate as tg
from constrained_systems import FORMS, Chain, OnSurface

G = 9.81


def pendulum(**others: Any) -> Any:
    """Of the length ``p["length"]``, let go at an angle whose cosine is ``p["across"]``, along a rod."""

    def start(p: Any) -> Any:
        return {"px": p["length"] * p["across"], "py": -p["length"] * (1 - p["across"] ** 2) ** 0.5, "vx": 0.0, "vy": 0.0}

    settings: dict[str, Any] = {
        "f1": lambda t, y, p: [y["vx"], y["vy"], -y["force"] * y["px"], -y["force"] * y["py"] - G],
        "f3": lambda t, y, p: y["vx"] ** 2 + y["vy"] ** 2 - y["force"] * (y["px"] ** 2 + y["py"] ** 2) - G * y["py"],
        "f4": lambda t, y, p: y["px"] * y["vx"] + y["py"] * y["vy"],
        "f5": lambda t, y, p: (y["px"] ** 2 + y["py"] ** 2 - p["length"] ** 2) / 2,
        "x1": start,
        "x3": lambda p: {"force": G / p["length"] * (1 - p["across"] ** 2) ** 0.5},
        "p": {"length": 1.0, "across": 1.0},
    }
    return tg.hdae(**settings | others, name="pendulum")


@pytest.mark.parametrize("method", ["radau", "ida"])
@pytest.mark.parametrize("form", FORMS)
def test_a_pendulum_ends_where_its_period_says_in_every_form(form: str, method: str) -> None:
    period = 4 * math.sqrt(1.0 / G) * ellipk(0.5)
    result = tg.simulate(pendulum(), (0, 2 * period), rtol=1e-8, hdae=form, method=method)
    assert result.final["px"] == pytest.approx(1.0, abs=2e-5)
    assert result.final["py"] == pytest.approx(0.0, abs=2e-5)
    drifts = result.statistics.extra
    if form in ("index1_stabilised", "index2_stabilised"):
        assert drifts["drift of F5"] < 1e-7
    assert 0 < drifts["drift of F4"] < 1e-6


@pytest.mark.slow
def test_what_is_not_stabilised_drifts_and_what_is_does_not() -> None:
    drifts = {form: tg.simulate(pendulum(), (0, 40), rtol=1e-6, hdae=form).statistics.extra["drift of F5"] for form in FORMS}
    assert drifts["index1"] > 5 * max(drifts["index1_stabilised"], drifts["index2_stabilised"])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau", "ida"])
@pytest.mark.parametrize("seed", range(3))
def test_random_particles_on_surfaces_move_as_in_minimal_coordinates(seed: int, method: str) -> None:
    random = np.random.default_rng(seed)
    system = OnSurface.random(random, has_friction=seed > 0)
    truth = system.final(2.0)
    model = tg.hdae(**system.functions(np.sin))
    for form in FORMS:
        result = tg.simulate(model, (0, 2), rtol=1e-8, hdae=form, make_consistent=True, method=method)
        found = [result.final[name] for name in ("x", "y", "z", "u", "v", "w")]
        assert found == pytest.approx(truth, abs=2e-5 if method == "ida" else 2e-6), form


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau", "ida"])
def test_random_chains_of_rods_with_friction_move_as_their_angles_do(method: str) -> None:
    chain = Chain.random(np.random.default_rng(1), 2)
    truth, model = chain.final(2.0), tg.hdae(**chain.functions())
    for form in FORMS:
        result = tg.simulate(model, (0, 2), rtol=1e-8, hdae=form, make_consistent=True, method=method)
        assert [result.final[name] for name in chain.names()] == pytest.approx(truth, abs=2e-5 if method == "ida" else 1e-6), form


def test_a_start_off_the_constraints_is_refused_naming_each_equation() -> None:
    model = pendulum(x1={"px": 1.1, "py": 0.0, "vx": 0.1, "vy": 0.0}, x3={"force": 0.0})
    with pytest.raises(tg.InitializationError, match=r"pendulum: f3 = 0\.01 .*f4 = 0\.11 .*f5 = 0\.105 "):
        tg.simulate(model, (0, 1))


def test_make_consistent_moves_the_start_by_the_smallest_change() -> None:
    model = pendulum(x1={"px": 1.1, "py": 0.0, "vx": 0.1, "vy": 0.0}, x3={"force": 0.0})
    first = tg.simulate(model, (0, 1), make_consistent=True)
    assert first["px"][0] == pytest.approx(1.0, abs=1e-9)
    assert first["py"][0] == pytest.approx(0.0, abs=1e-9)
    assert first["vx"][0] == pytest.approx(0.0, abs=1e-9)
    assert first["force"][0] == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("method", ["radau", "ida"])
@pytest.mark.parametrize("form", ["index1_stabilised", "index2", "index2_stabilised"])
def test_a_pendulum_hits_a_wall_when_its_periods_say(form: str, method: str) -> None:
    def reset(t: Any, y: Any, p: Any) -> Any:
        return {"vx": -0.5 * y["vx"], "vy": -0.5 * y["vy"]}

    wall = tg.event(lambda t, y, p: y["px"] < 0, reset, name="wall")
    result = tg.simulate(pendulum(events=wall), (0, 2.4), rtol=1e-9, hdae=form, method=method)
    times = [event.time for event in result.events]
    # from horizontal to the bottom a quarter of a period, then halves of one of the amplitude that is left: 1 - cos A = e^2 (1 - cos 90)
    quarter = math.sqrt(1 / G) * ellipk(0.5)
    halves = [2 * math.sqrt(1 / G) * ellipk((1 - math.cos(a)) / 2) for a in (math.acos(1 - 0.25), math.acos(1 - 0.0625))]
    assert times == pytest.approx([quarter, quarter + halves[0]], abs=1e-6)
    assert halves[1] + times[1] > 2.4


@pytest.mark.slow
def test_an_event_that_leaves_a_constraint_is_refused_or_moved_back() -> None:
    kick = tg.event(lambda t, y, p: y["px"] < 0.5, lambda t, y, p: {"vx": y["vx"] - 0.5}, name="kick")
    with pytest.raises(tg.InitializationError, match=r"(?s)the event at t = 0\.\d+ leaves f4 of pendulum.*make_consistent"):
        tg.simulate(pendulum(events=kick), (0, 1))
    result = tg.simulate(pendulum(events=kick), (0, 1), rtol=1e-8, make_consistent=True)
    event = result.events[0]
    before, after = event.before, event.after
    assert after["px"] * after["vx"] + after["py"] * after["vy"] == pytest.approx(0, abs=1e-9)
    assert after["px"] ** 2 + after["py"] ** 2 == pytest.approx(1, abs=1e-9)
    assert after["vx"] != pytest.approx(before["vx"], abs=1e-3)


@pytest.mark.parametrize("method", ["radau", "ida"])
@pytest.mark.parametrize("form", FORMS)
def test_derivatives_by_parameters_are_those_of_differences(form: str, method: str) -> None:
    wall = tg.event(lambda t, y, p: y["px"] < 0, lambda t, y, p: {"vx": -0.5 * y["vx"], "vy": -0.5 * y["vy"]})
    model = pendulum(events=wall, p={"length": 1.2, "across": 0.9})
    rtol = 1e-9
    result = tg.simulate(model, (0, 1.2), rtol=rtol, hdae=form, method=method, sensitivities="all")
    for name, value in (("length", 1.2), ("across", 0.9)):
        h = 1e-4
        ends = [tg.simulate(model, (0, 1.2), rtol=rtol, hdae=form, method=method, parameters={name: value + s * h}).final for s in (1, -1)]
        for unknown in ("px", "py", "vx", "vy"):
            difference = (ends[0][unknown] - ends[1][unknown]) / (2 * h)
            assert result.sensitivity(unknown, name)[-1] == pytest.approx(difference, rel=2e-3, abs=2e-3), (name, unknown)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau", "ida"])
@pytest.mark.parametrize("form", FORMS)
def test_forces_and_their_derivatives_are_as_exact_between_steps_as_x1(form: str, method: str) -> None:
    """A pendulum of length l let go at rest: its force is g (3 y - 2 y0) / l^2 with y = -py, from energy, at every point of its way."""
    rtol = 1e-7
    model = pendulum(p={"length": 1.2, "across": 0.9})
    result = tg.simulate(model, (0, 2), outputs=0.003, rtol=rtol, hdae=form, method=method, sensitivities="all")
    py, length, across = result["py"].values, 1.2, 0.9
    y0 = length * (1 - across**2) ** 0.5
    largest = 3 * G / length
    assert result["force"].values == pytest.approx(G * (-3 * py - 2 * y0) / length**2, abs=300 * rtol * largest)
    moved = {"length": y0 / length, "across": -length * across / (1 - across**2) ** 0.5}
    for name, of_y0 in moved.items():
        exact = G * (-3 * result.sensitivity("py", name).values - 2 * of_y0) / length**2
        if name == "length":
            exact -= 2 * G * (-3 * py - 2 * y0) / length**3
        assert result.sensitivity("force", name).values == pytest.approx(exact, abs=3e-5 * np.max(np.abs(exact))), name


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["radau", "ida"])
@pytest.mark.parametrize(("seed", "rtol"), [(3, 1e-6), (15, 1e-9)])
def test_derivatives_of_random_chains_of_rods_are_those_of_their_angles(seed: int, rtol: float, method: str) -> None:
    random = np.random.default_rng(seed)
    chain = Chain.random(random, int(random.integers(1, 5)))
    model, t_end = tg.hdae(**chain.with_parameters()), 0.7
    exact = {name: chain.derivative(name, t_end) for name in ("drag", "friction", "spring")}
    for form in FORMS:
        result = tg.simulate(model, (0, t_end), rtol=rtol, hdae=form, method=method, sensitivities="all", make_consistent=True)
        for name, expected in exact.items():
            found = [result.sensitivity(unknown, name)[-1] for unknown in chain.names()]
            # differences of the truth are right to 1e-8 of the largest
            assert found == pytest.approx(expected, abs=(100 * rtol + 1e-7) * np.max(np.abs(expected))), (form, name)


def test_a_start_that_does_not_move_with_a_parameter_has_no_derivatives() -> None:
    fixed = {"px": 1.0, "py": 0.0, "vx": 0.0, "vy": 0.0}
    model = pendulum(x1=fixed, x3={"force": 0.0})
    with pytest.raises(tg.InitializationError, match="f5 of pendulum moves with length"):
        tg.simulate(model, (0, 1), sensitivities=["length"])
    result = tg.simulate(model, (0, 0.1), sensitivities=["length"], make_consistent=True, rtol=1e-8)
    assert result.sensitivity("px", "length")[0] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hdae": "index_2"}, "did you mean 'index2'"),
        ({"hdae": "index2", "f4": None, "f5": None}, "uses F4, which pendulum does not have"),
        ({"method": "bdf"}, "algebraic"),
        ({"f4": lambda t, y, p: y["force"]}, "f4 of pendulum looks at force; F4 and F5 may look at x1 only"),
        ({"f4": lambda t, y, p: [y["px"], y["py"]]}, "f4 returns 2 values, and f3 1"),
        ({"x3": None}, "given f3, but no x3"),
        ({"x3": {"force": 1.0, "b": 1.0}}, "f3 returns 1 values, but x3 has 2"),
    ],
)
def test_what_cannot_be_is_said(given: dict[str, Any], message: str) -> None:
    options = {name: given[name] for name in given if name in ("hdae", "method")}
    parts = {name: given[name] for name in given if name not in options}
    with pytest.raises(tg.TidegateError, match=message):
        tg.simulate(pendulum(**parts), (0, 1), **options)


def test_other_models_have_no_forms_to_choose_from() -> None:
    with pytest.raises(tg.UsageError, match=r"tg\.hdae"):
        tg.simulate(tg.ode(lambda t, y: [-y[0]], y0=[1.0]), (0, 1), hdae="index2")


def test_without_f4_and_f5_it_is_a_dae() -> None:
    result = tg.simulate(pendulum(f4=None, f5=None), (0, 0.5), rtol=1e-9)
    other = tg.simulate(pendulum(), (0, 0.5), rtol=1e-9)
    assert result.final["px"] == pytest.approx(other.final["px"], abs=1e-7)


@pytest.mark.slow
def test_a_run_is_verified_by_the_functions_called_with_numbers() -> None:
    wall = tg.event(lambda t, y, p: y["px"] < 0, lambda t, y, p: {"vx": -0.5 * y["vx"], "vy": -0.5 * y["vy"]})
    assert tg.verify(tg.simulate(pendulum(events=wall), (0, 1.5), rtol=1e-7)).ok
