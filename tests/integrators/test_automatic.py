"""Which method stands behind "auto", and that results do not depend on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import tidegate as tg
from random_models import random_model
from reference_problems import happened, problem

__all__: list[str] = []


def method_of(model: Any, t_end: float, **options: Any) -> str:
    return tg.simulate(model, (0.0, t_end), **options).statistics.method


@pytest.mark.parametrize(
    ("name", "method"), [("P1", "taylor"), ("P2", "taylor"), ("P3", "taylor"), ("P8", "taylor"), ("P4", "radau"), ("P6", "radau")]
)
def test_what_starts_stiff_is_left_to_radau_and_an_index_one_circuit_is_an_ode(name: str, method: str) -> None:
    assert method_of(problem(name).model, 1e-2) == method


def decay(t: Any, y: Any, p: Any) -> list[Any]:
    return [-p["k"] * (y["x"] - np.cos(t))]


def settling(t: Any, y: Any, p: Any) -> list[Any]:
    return [-p["k"] * (y["x"] - 1.0)]


def test_the_length_of_the_run_counts_and_values_of_parameters_do_not() -> None:
    model = tg.ode(settling, y0={"x": 0.0}, p={"k": 1.0})
    assert method_of(model, 1e3) == "taylor"
    assert method_of(model, 1e4) == "radau"
    assert method_of(model, 1e3, parameters={"k": 1e5}) == "taylor"  # as the other runs of a sweep; Radau goes on where that is stiff
    assert method_of(model, 1e4, parameters={"k": 1e-5}) == "radau"


def test_what_is_driven_about_as_fast_as_it_dies_out_is_not_stiff_however_long_the_run() -> None:
    driven = tg.ode(decay, y0={"x": 0.0}, p={"k": 1.0})
    assert method_of(driven, 1e5, outputs=[1e5]) == "taylor"
    assert method_of(tg.ode(decay, y0={"x": 0.0}, p={"k": 1e4}), 1e2) == "radau"


def lorenz(t: Any, y: Any) -> list[Any]:
    return [10.0 * (y[1] - y[0]), y[0] * (28.0 - y[2]) - y[1], y[0] * y[1] - 8.0 / 3.0 * y[2]]


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-10])
@pytest.mark.parametrize("t_end", [10.0, 1000.0])
def test_what_dies_out_hardly_faster_than_it_swings_and_grows_is_not_stiff(rtol: float, t_end: float) -> None:
    model = tg.ode(lorenz, y0=[1.0, 1.0, 1.0])
    assert method_of(model, t_end, rtol=rtol, outputs=[t_end]) == "taylor"


@pytest.mark.slow
def test_a_relaxation_oscillator_is_judged_by_how_long_the_motion_lets_steps_be() -> None:
    def van_der_pol(t: Any, y: Any, p: Any) -> list[Any]:
        return [y["v"], p["mu"] * (1.0 - y["x"] ** 2) * y["v"] - y["x"]]

    def by(mu: float) -> str:
        return method_of(tg.ode(van_der_pol, y0={"x": 2.0, "v": 0.0}, p={"mu": mu}), 1e3 * mu, outputs=[1e3 * mu])

    assert [by(mu) for mu in (1.0, 5.0, 1000.0)] == ["taylor", "taylor", "radau"]


@pytest.mark.hunt
def test_what_is_switched_again_and_again_is_not_stiff_however_long_the_run() -> None:
    def heat(t: Any, y: Any, p: Any, d: Any) -> list[Any]:
        return [-p["k"] * (y["T"] - 10.0) + 20.0 * d["on"]]

    switches = [
        tg.event(lambda t, y, p, d: y["T"] > 21.0, reset=lambda t, y, p, d: {"on": 0.0}),
        tg.event(lambda t, y, p, d: y["T"] < 19.0, reset=lambda t, y, p, d: {"on": 1.0}),
    ]
    house = tg.ode(heat, y0={"T": 15.0}, p={"k": 0.5}, discrete={"on": 1.0}, events=switches)
    result = tg.simulate(house, (0.0, 1e4), outputs=[1e4])
    assert result.statistics.method == "taylor"
    first = math.log(35.0 / 29.0) / 0.5  # drawn to 50 when it is on, ...
    period = math.log(31.0 / 29.0) / 0.5 + math.log(11.0 / 9.0) / 0.5  # ... and to 10 when it is off
    times = [event.time for event in result.events]
    assert times[0] == pytest.approx(first, abs=1e-8)
    assert times[2::2] == pytest.approx([first + k * period for k in range(1, len(times[2::2]) + 1)], rel=1e-7)


@pytest.mark.hunt
def test_a_model_that_calls_python_is_not_tried_before_it_is_run() -> None:
    def calls(method: str) -> int:
        count = 0

        def put_back(t: Any, y: Any, p: Any) -> dict[str, Any]:
            nonlocal count
            count += 1
            return {"x": 0.5}

        opaque = tg.opaque(put_back)
        model = tg.ode(decay, y0={"x": 0.0}, p={"k": 1e3}, events=tg.event(lambda t, y, p: y["x"] < 0.0, reset=opaque))
        tg.simulate(model, (0.0, 1e2), method=method)
        return count

    assert calls("auto") == calls("radau") > 0


@pytest.mark.parametrize(("rtol", "method"), [(1e-3, "rodas5p"), (1e-5, "rodas5p"), (1e-6, "radau")])
def test_what_starts_stiff_and_has_no_events_is_left_to_rodas5p_at_moderate_tolerances(rtol: float, method: str) -> None:
    stiff = tg.ode(decay, y0={"x": 1.0}, p={"k": 1e4})
    result = tg.simulate(stiff, (0.0, 3.0), rtol=rtol, sensitivities=["k"])
    assert result.statistics.method == method
    assert result.final["x"] == pytest.approx((1e8 * math.cos(3.0) + 1e4 * math.sin(3.0)) / (1e8 + 1.0), abs=10 * rtol)
    with_event = tg.ode(decay, y0={"x": 1.0}, p={"k": 1e4}, events=tg.event(lambda t, y, p: y["x"] < 0.0))
    assert method_of(with_event, 3.0, rtol=rtol) == "radau"
    assert method_of(stiff, 1e-3, rtol=rtol) == "taylor"


def swinging(t: Any, y: Any) -> list[Any]:
    return [1e4 * y[1], -1e4 * y[0] - y[1]]


def emptied(t: Any, y: Any) -> list[Any]:
    return [-(y["x"] ** 0.5)]


def grown(t: Any, y: Any) -> list[Any]:
    return [y["x"] ** 1.5]


def logarithmic(t: Any, y: Any) -> list[Any]:
    return [np.log(y["x"])]


def orbit(t: Any, y: Any) -> list[Any]:
    cube = np.sqrt(y[0] ** 2 + y[1] ** 2) ** 3
    return [y[2], y[3], -y[0] / cube, -y[1] / cube]


def bent(t: Any, y: Any) -> list[Any]:
    return [tg.no_event(abs(y["x"] - 0.5))]


def large(t: Any, y: Any) -> list[Any]:
    return [y[k - 1] * y[k - 2] - y[k] for k in range(300)]


def late(t: Any, y: Any) -> list[Any]:
    return [1.0, -(1.0 + 1e6 * y["s"] * (y["s"] > 1.0)) * (y["x"] - y["s"])]


def test_what_swings_is_not_stiff_however_fast() -> None:
    model = tg.ode(swinging, y0=[0.0, 1.0])
    assert method_of(model, 0.1) == "taylor"


def test_what_bends_without_an_event_is_left_to_radau() -> None:
    assert method_of(tg.ode(bent, y0={"x": 1.0}), 0.1) == "radau"


@pytest.mark.parametrize("f", [emptied, grown, logarithmic, orbit])
def test_roots_powers_and_logarithms_have_series(f: Any) -> None:
    assert method_of(tg.ode(f, y0=[1.0, 0.0, 0.0, 1.0] if f is orbit else {"x": 1.0}), 0.1) == "taylor"


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("power", [0.3, 0.5, 0.7])
def test_where_equations_end_the_run_ends_and_names_them(power: float, rtol: float) -> None:
    def outflow(t: Any, y: Any, p: Any) -> list[Any]:
        return [-p["k"] * y["level"] ** power - 0.1]

    model = tg.ode(outflow, y0={"level": 1.0}, p={"k": 0.7})
    with pytest.raises(tg.NotFiniteError, match=r"der\(level\) gives nan") as caught:
        tg.simulate(model, (0.0, 10.0), rtol=rtol)
    result = caught.value.result
    assert result.statistics.method == "taylor"
    end, _ = quad(lambda h: 1.0 / (0.7 * h**power + 0.1), 0.0, 1.0, epsabs=1e-12)
    assert result.t[-1] == pytest.approx(end, abs=30.0 * rtol)
    assert result.statistics.steps < 2000


@pytest.mark.slow
def test_a_large_model_is_left_to_radau() -> None:
    model = tg.ode(large, y0=[0.1] * 300)
    assert method_of(model, 0.1) == "radau"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [8, 41, 18])
def test_random_models_come_out_the_same_by_the_method_that_was_not_chosen(seed: int) -> None:
    model = random_model(seed)
    chosen = tg.simulate(model.source, (0.0, model.t_end), rtol=1e-8)
    other = "radau" if chosen.statistics.method == "taylor" else "taylor"
    assert chosen.statistics.method == ("radau" if seed == 18 else "taylor")
    result = tg.simulate(model.source, (0.0, model.t_end), rtol=1e-8, method=other)
    assert [event.time for event in happened(chosen)] == pytest.approx([event.time for event in happened(result)], abs=1e-6)
    for name, value in result.final.items():
        assert chosen.final[name] == pytest.approx(value, abs=1e-6), name


def test_a_run_that_turns_stiff_is_gone_on_with_by_radau() -> None:
    model = tg.ode(late, y0={"s": 0.0, "x": 0.0})
    result = tg.simulate(model, (0.0, 10.0), rtol=1e-8)
    assert result.statistics.method == "taylor"
    assert result.statistics.jacobians > 0
    assert result.statistics.steps < 2000
    assert math.isclose(result.final["x"], 10.0, abs_tol=1e-5)


@pytest.mark.parametrize(("rate", "method"), [(10.0, "taylor"), (1e4, "radau")])
def test_algebraic_unknowns_and_coupled_derivatives_count_in_what_is_stiff(rate: float, method: str) -> None:
    """Two states whose derivatives stand together in both equations, and an algebraic unknown."""
    couple = np.array([[1.0, 0.3], [0.2, 1.0]])

    def residual(t: Any, y: Any, ydot: Any, p: Any) -> Any:
        forces = -np.array([rate, 1.0]) * y["x"] + np.array([y["z"][0], 0.0])
        return np.concatenate([couple @ (ydot["x"] - forces), p["k"] * y["z"] - np.sin(t)])

    model = tg.dae(residual, {"x": [1.0, 1.0], "z": [0.0]}, p={"k": 2.0})
    result = tg.simulate(model, (0.0, 4.0), rtol=1e-8, sensitivities=["k"])
    assert result.statistics.method == method
    r, t = rate, 4.0

    def exact(k: float) -> float:
        return math.exp(-r * t) + (r * math.sin(t) - math.cos(t) + math.exp(-r * t)) / (k * (1.0 + r * r))

    assert result.final["x[0]"] == pytest.approx(exact(2.0), abs=1e-7)
    assert result.sensitivity("x", "k").values[-1][0] == pytest.approx((exact(2.001) - exact(1.999)) / 0.002, abs=1e-6)
