"""Runs by Taylor series against closed forms, another program's integrator and golden values; what the method cannot do is refused by name."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tidegate as tg
from reference_problems import GOLDEN, happened, numbers, problem
from tidegate.errors import UsageError

__all__: list[str] = []


def run(model: Any, end: float, **options: Any) -> Any:
    return tg.simulate(model, (0.0, end), method="taylor", **options)


def _orbit(t: Any, y: Any) -> list[Any]:
    x, z, u, v = y
    cubed = (x * x + z * z) ** 1.5
    return [u, v, -x / cubed, -z / cubed]


@cache
def orbit() -> Any:
    """Eccentricity 0.6, period 2 pi."""
    return tg.ode(_orbit, y0=[0.4, 0.0, 0.0, 2.0])


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10, 1e-13])
def test_an_orbit_closes_and_keeps_its_energy(rtol: float) -> None:
    result = run(orbit(), 20.0 * math.pi, rtol=rtol)
    x, z, u, v = (np.asarray(result[name]) for name in ("y[0]", "y[1]", "y[2]", "y[3]"))
    # errors along the orbit grow with the square of the number of turns
    assert [x[-1], z[-1], u[-1], v[-1]] == pytest.approx([0.4, 0.0, 0.0, 2.0], rel=0.0, abs=3000 * rtol)
    energy = 0.5 * (u * u + v * v) - 1.0 / np.hypot(x, z)
    assert energy == pytest.approx(-0.5, rel=0.0, abs=100 * rtol)


def _ring(n: int) -> Any:
    def rates(t: float, y: Any) -> list[Any]:
        return [(y[(i + 1) % n] - y[i - 2]) * y[i - 1] - y[i] + 8.0 for i in range(n)]

    return rates


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 40], ids=["straight", "looped"])
def test_lorenz_ring_agrees_with_another_program(n: int) -> None:
    start = [8.0 + math.sin(i) for i in range(n)]
    result = run(tg.ode(_ring(n), y0=start), 2.0, rtol=1e-11)
    other = solve_ivp(_ring(n), (0.0, 2.0), start, method="DOP853", rtol=1e-13, atol=1e-13)
    assert [result.final[f"y[{i}]"] for i in range(n)] == pytest.approx(other.y[:, -1].tolist(), rel=1e-8)


def test_series_whose_last_coefficients_vanish_by_accident_do_not_let_a_step_pass() -> None:
    # of exp(t^6 / 6) only every sixth coefficient is there, of t^30 none that is looked at
    result = run(tg.ode(lambda t, y: [t**5 * y[0], 31.0 * t**30], y0=[1.0, 0.0]), 1.5, rtol=1e-8)
    assert [result.final["y[0]"], result.final["y[1]"]] == pytest.approx([math.exp(1.5**6 / 6.0), 1.5**31], rel=1e-6)


def test_dense_output_and_outputs_inside_steps_are_as_good_as_the_steps() -> None:
    times = np.linspace(0.0, 10.0, 37)
    model = tg.ode(lambda t, y: [y[1], -y[0]], y0=[0.0, 1.0])
    result = run(model, 10.0, rtol=1e-10, outputs=times)
    assert np.asarray(result["y[0]"]) == pytest.approx(np.sin(times), abs=1e-8)
    dense = run(model, 10.0, rtol=1e-10)
    assert len(np.asarray(dense["y[0]"])) < 30
    assert np.asarray(dense.at(times)["y[0]"]) == pytest.approx(np.sin(times), abs=1e-8)


def test_start_step_and_largest_step_are_kept() -> None:
    model = tg.ode(lambda t, y: [-y[0]], y0=[1.0])
    times = np.asarray(run(model, 1.0, max_step=0.1, first_step=1e-3).time)
    assert np.diff(times).max() <= 0.1 * (1 + 1e-12)
    assert times[1] <= 1e-3 * (1 + 1e-12)


def test_derivatives_by_parameters_are_those_of_the_closed_form() -> None:
    # x = x0 exp(-k t^2 / 2) with x0 = a^2
    model = tg.ode(lambda t, y, p: [-p["k"] * t * y["x"]], y0={"x": 4.0}, p={"k": 1.5})
    result = run(model, 1.2, rtol=1e-9, sensitivities=["k"], outputs=[0.7, 1.2])
    for row, t in enumerate((0.7, 1.2)):
        expected = -0.5 * t * t * 4.0 * math.exp(-0.75 * t * t)
        assert float(np.asarray(result.sensitivity("x", "k"))[row]) == pytest.approx(expected, rel=1e-7)


def test_derivatives_that_begin_to_move_in_a_power_or_a_root_are_not_lost() -> None:
    # x' = a, u' = sqrt(1 + x), w' = (2 + x)^1.5: dx/da = t is zero where the step begins
    model = tg.ode(lambda t, y, p: [p["a"], (1.0 + y["x"]) ** 0.5, (2.0 + y["x"]) ** 1.5], y0={"x": 0.0, "u": 0.0, "w": 0.0}, p={"a": 2.0})
    result = run(model, 1.0, rtol=1e-10, sensitivities=["a"])
    a = 2.0
    du = (a * math.sqrt(1.0 + a) - ((1.0 + a) ** 1.5 - 1.0) * 2.0 / 3.0) / (a * a)
    dw = (a * (2.0 + a) ** 1.5 - ((2.0 + a) ** 2.5 - 2.0**2.5) * 2.0 / 5.0) / (a * a)
    found = [float(np.asarray(result.sensitivity(name, "a"))[-1]) for name in "uw"]
    assert found == pytest.approx([du, dw], rel=1e-8)


@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-10, 1e-12])
def test_ball_and_hidden_crossing_have_their_golden_events(rtol: float) -> None:
    for key, parameter, names in (("P1", "e", "hv"), ("P2", "p", "x")):
        golden, chosen = GOLDEN[key], problem(key)
        result = tg.simulate(chosen.model, chosen.t_span, method="taylor", rtol=rtol, atol=0.01 * rtol, sensitivities=[parameter])
        times = [event.time for event in happened(result)]
        assert times == pytest.approx(numbers(golden["event_times"]), rel=0.0, abs=10 * rtol)
        for name in names:
            assert result.final[name] == pytest.approx(float(golden["end"][name]), rel=0.0, abs=100 * rtol)
            slope = float(np.asarray(result.sensitivity(name, parameter))[-1])
            assert slope == pytest.approx(float(golden["sens"][f"d{name}_d{parameter}"]), rel=1e3 * rtol)


@pytest.mark.parametrize("rtol", [1e-4, 1e-8, 1e-14])
def test_a_hidden_crossing_is_found_however_short_it_is(rtol: float) -> None:
    chosen = problem("P2")
    for digits in range(1, 10):
        result = tg.simulate(chosen.model, chosen.t_span, method="taylor", rtol=rtol, parameters={"p": 3.0 - 10.0**-digits})
        assert len(happened(result)) == 3, digits


def _phases(t: Any, y: Any, p: Any) -> list[Any]:
    s, c = y["s"], y["c"]
    # sin(t - a) sin(t - b), written in states
    above = (s * math.cos(p["a"]) - c * math.sin(p["a"])) * (s * math.cos(p["b"]) - c * math.sin(p["b"]))
    return [c, -s, 1.0 if above > 0.0 else -1.0]


@cache
def phases() -> Any:
    return tg.ode(_phases, y0={"s": 0.0, "c": 1.0, "x": 0.0}, p={"a": 1.0, "b": 2.0})


@pytest.mark.parametrize("rtol", [1e-5, 1e-8, 1e-12])
def test_pairs_of_crossings_at_random_places_are_all_found(rtol: float) -> None:
    random = np.random.default_rng(7)
    for _ in range(12):
        a = float(random.uniform(0.2, 2.5))
        b = a + 10.0 ** float(random.uniform(-3.0, -0.7))
        roots = sorted(phase + k * math.pi for phase in (a, b) for k in range(3) if phase + k * math.pi < 7.0)
        result = run(phases(), 7.0, rtol=rtol, parameters={"a": a, "b": b})
        times = [event.time for event in happened(result)]
        assert times == pytest.approx(roots, rel=0.0, abs=max(1e4 * rtol, 1e-11) / (b - a))


def _refused() -> dict[str, tuple[Any, str]]:
    cubic = tg.table([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.0, 1.0], kind="cubic", name="curve")
    called = tg.opaque(lambda x: x * x)
    return {
        "algebraic": (tg.dae(lambda t, y, ydot: [ydot["x"] - y["z"], y["z"] ** 5 + y["z"] + y["x"]], y0={"x": 1.0, "z": -0.5}), "`?z`?.* algebraic"),
        "no_event": (tg.ode(lambda t, y: [tg.no_event(tg.where(y["x"] > 0.5, 1.0, 2.0))], y0={"x": 0.0}), "no_event"),
        "cubic table": (tg.ode(lambda t, y: [cubic(y["x"])], y0={"x": 0.0}), "cubic table"),
        "opaque": (tg.ode(lambda t, y: [called(y["x"])], y0={"x": 1.0}), "only Python can evaluate"),
    }


@pytest.mark.parametrize("name", ["algebraic", "no_event", "cubic table", "opaque"])
def test_what_has_no_series_is_refused_by_name(name: str) -> None:
    model, said = _refused()[name]
    with pytest.raises(UsageError, match=said):
        run(model, 1.0)


def test_a_stiff_model_is_handed_over_to_radau_and_a_run_prepared_once_begins_with_series_again() -> None:
    # x' = -k (x - cos t): behind the start x follows (k^2 cos t + k sin t) / (k^2 + 1)
    k = 1e5
    prepared = tg.prepare(tg.ode(lambda t, y: [-k * (y[0] - np.cos(t))], y0=[0.0]), (0.0, 10.0), method="taylor", rtol=1e-8)
    results = [prepared.run() for _ in range(2)]
    for result in results:
        assert result.statistics.steps < 500  # an explicit method needs k t / 5 of them
        assert result.statistics.jacobians > 0
        assert result.final["y[0]"] == pytest.approx((k * k * math.cos(10.0) + k * math.sin(10.0)) / (k * k + 1.0), abs=1e-7)
    assert np.array_equal(np.asarray(results[0]["y[0]"]), np.asarray(results[1]["y[0]"]))


def resting(t: Any, y: Any, p: Any) -> list[Any]:
    """A damped mass that has come to rest long before it is driven from t = 2000 on."""
    return [y["v"], -y["x"] - 20.0 * y["v"] + (p["a"] * np.sin(2.0 * (t - 2000.0)) if t > 2000.0 else 0.0)]


@pytest.mark.slow
@pytest.mark.parametrize("sensitivities", [None, ["a"]])
def test_where_motion_begins_again_series_go_on_again(sensitivities: list[str] | None) -> None:
    model = tg.ode(resting, y0={"x": 1.0, "v": 0.0}, p={"a": 1.0})
    prepared = tg.prepare(model, (0.0, 4000.0), method="taylor", rtol=1e-8, sensitivities=sensitivities, outputs=[4000.0])
    radau = tg.simulate(model, (0.0, 4000.0), method="radau", rtol=1e-8, outputs=[4000.0])
    # driven by sin(2 t): x = -(3 sin(2 t) + 40 cos(2 t)) / 1609 and what dies out
    truth = -(3.0 * math.sin(4000.0) + 40.0 * math.cos(4000.0)) / 1609.0
    for result in (prepared.run(), prepared.run()):
        assert result.final["x"] == pytest.approx(truth, abs=1e-6)
        assert 0 < result.statistics.newton_iterations < radau.statistics.newton_iterations / 4
        if sensitivities:
            assert float(np.asarray(result.sensitivity("x", "a"))[-1]) == pytest.approx(truth, abs=1e-6)


def test_runs_of_a_sweep_are_handed_over_and_back_as_single_ones_are() -> None:
    model = tg.ode(resting, y0={"x": 1.0, "v": 0.0}, p={"a": 1.0})
    sizes = [0.5, 1.0, 2.0]
    found = tg.sweep(model, (0.0, 3000.0), parameters={"a": sizes}, method="taylor", rtol=1e-8)
    single = [tg.simulate(model, (0.0, 3000.0), parameters={"a": size}, method="taylor", rtol=1e-8, outputs=[3000.0]) for size in sizes]
    assert found["x"].values.tolist() == [result.final["x"] for result in single]
    assert all(result.statistics.jacobians > 0 for result in single)


def test_events_and_derivatives_go_on_behind_a_handing_over() -> None:
    # the fast state follows z, which crosses 0.5 at t = 5 / a and flips the drive
    def rates(t: Any, y: Any, p: Any) -> list[Any]:
        return [-1e5 * (y["x"] - y["z"]), 0.1 * p["a"] if y["z"] < 0.5 else 0.3]

    model = tg.ode(rates, y0={"x": 0.0, "z": 0.0}, p={"a": 1.0})
    result = run(model, 10.0, rtol=1e-8, sensitivities=["a"])
    assert result.statistics.jacobians > 0
    assert [event.time for event in happened(result)] == pytest.approx([5.0], rel=1e-7)
    assert result.final["z"] == pytest.approx(2.0, rel=1e-7)
    assert float(np.asarray(result.sensitivity("z", "a"))[-1]) == pytest.approx(0.3 * 5.0, rel=1e-6)


@pytest.mark.parametrize("rate", [1.0, 1e-3, 1e4])
def test_a_model_that_only_rests_or_is_sampled_finely_is_not_called_stiff(rate: float) -> None:
    model = tg.ode(lambda t, y, p: [p["w"] * y[1], -p["w"] * y[0]], y0=[0.0, 1.0], p={"w": rate})
    result = run(model, 300.0 / rate, rtol=1e-7, max_step=0.05 / rate)
    assert result.statistics.jacobians == 0
    assert result.final["y[0]"] == pytest.approx(math.sin(300.0), abs=1e-4)


@pytest.mark.parametrize("start", [0.0, -1.0])
def test_roots_and_powers_of_zero_are_gone_through(start: float) -> None:
    # u' = 1, v' = max(u, 0)**0.5: the root rests at zero, or leaves it as no power series does
    result = run(tg.ode(lambda t, y: [1.0, max(y[0], 0.0) ** 0.5, max(y[0], 0.0) ** 2.5], y0=[start, 0.0, 0.0]), 2.0, rtol=1e-8)
    u = 2.0 + start
    assert [result.final["y[1]"], result.final["y[2]"]] == pytest.approx([2.0 / 3.0 * u**1.5, u**3.5 / 3.5], rel=1e-7)


def test_a_tank_runs_empty_and_stays_so() -> None:
    result = run(tg.ode(lambda t, y: [-(max(y[0], 0.0) ** 0.5)], y0=[1.0]), 3.0, rtol=1e-8, outputs=[1.0, 3.0])
    assert np.asarray(result["y[0]"]) == pytest.approx([0.25, 0.0], abs=1e-8)


def test_derivatives_of_powers_of_zero_are_those_of_the_closed_form() -> None:
    # x = a t; the integral of x^c is a^c t^(c + 1) / (c + 1)
    a, c, t = 2.0, 2.5, 3.0
    model = tg.ode(lambda t, y, p: [p["a"], y["x"] ** p["c"], y["x"] ** 1.5], y0={"x": 0.0, "u": 0.0, "w": 0.0}, p={"a": a, "c": c})
    result = run(model, t, rtol=1e-9, sensitivities=["a"])
    found = [float(np.asarray(result.sensitivity(name, "a"))[-1]) for name in "uw"]
    assert found == pytest.approx([c * a ** (c - 1.0) * t ** (c + 1.0) / (c + 1.0), 1.5 * a**0.5 * t**2.5 / 2.5], rel=1e-8)


def test_the_first_step_of_affine_equations_is_as_long_as_their_series_says_and_loses_no_crossing() -> None:
    level = {"first": 2.9999, "last": 3.0001}
    model = tg.ode(lambda t, y, p: [4.0 - y[0], 1.0 if (y[0] - p["first"]) * (y[0] - p["last"]) < 0.0 else 0.0], y0=[0.0, 0.0], p=level)
    result = run(model, 2.0, rtol=1e-8)
    # a guess would have been 1e-9, and each of the first steps at most a hundred of it
    assert float(result.time[1]) > 0.05
    assert [float(event.time) for event in result.events] == pytest.approx([-math.log1p(-x / 4.0) for x in level.values()], abs=1e-9)


def test_the_first_step_of_other_equations_does_not_trust_their_series() -> None:
    centre, width = 1.3819, 0.125
    model = tg.ode(lambda t, y: [np.exp(-(((t - centre) / width) ** 2))], y0=[0.0])
    result = run(model, 8.0, rtol=1e-11)
    assert float(result.time[1]) < 0.1 * width


def test_the_first_step_from_nothing_is_as_long_as_the_rate_and_its_slope_say() -> None:
    model = tg.ode(lambda t, y: [np.cos(100.0 * t) - 3.0 * y[0], np.sin(y[0])], y0=[0.0, 0.0])
    result = run(model, 0.1, rtol=1e-9)
    # x' changes by as much as itself in 1/3
    assert 1e-3 < float(result.time[1]) < 1.0 / 3.0
    t = result.time
    expected = (3.0 * np.cos(100.0 * t) + 100.0 * np.sin(100.0 * t) - 3.0 * np.exp(-3.0 * t)) / (100.0**2 + 3.0**2)
    assert np.asarray(result["y[0]"]) == pytest.approx(expected, abs=1e-11)


def test_the_first_step_from_nothing_is_short_where_the_series_ends_as_if_nothing_were_to_come() -> None:
    model = tg.ode(lambda t, y: [1.0 + 1e-12 * t + np.exp(-(((t - 5.0) / 0.05) ** 2))], y0=[0.0])
    result = run(model, 10.0, rtol=1e-9)
    assert float(result.time[1]) < 1e-3
    assert float(result["y[0]"][-1]) == pytest.approx(10.0 + 5e-11 + 0.05 * math.sqrt(math.pi), rel=1e-9)
