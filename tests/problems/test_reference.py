"""Runs of the reference problems against values that were computed another way: closed forms with 40 digits, or a Taylor run.

Each problem folder names its equations and its source; ``tests/golden/hybrid.json`` holds the values.
"""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from reference_problems import GOLDEN, happened, numbers, problem, relay_after

__all__: list[str] = []

ALLOWED = 100.0  # errors in units of the tolerance asked for


def simulate(key: str, model: Any = None, *, rtol: float = 1e-8, atol: float = 1e-10, **options: Any) -> Any:
    chosen = problem(key)
    return tg.simulate(chosen.model if model is None else model, chosen.t_span, rtol=rtol, atol=atol, **options)


def event_times(result: Any) -> list[float]:
    return [event.time for event in happened(result)]


def assert_end_values(result: Any, expected: dict[str, str], rtol: float, atol: float) -> None:
    for name, text in expected.items():
        size = float(np.max(np.abs(np.asarray(result[name]))))
        assert result.final[name] == pytest.approx(float(text), rel=0.0, abs=ALLOWED * (rtol * size + atol)), name


def sensitivity(result: Any, variable: str, parameter: str) -> float:
    return float(np.asarray(result.sensitivity(variable, parameter))[-1])


# --- P1 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["model", "component_model"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_ball_bounces_nine_times_at_the_closed_form_times(form: str, rtol: float) -> None:
    result = simulate("P1", getattr(problem("P1"), form), rtol=rtol, atol=0.01 * rtol)
    assert event_times(result) == pytest.approx(numbers(GOLDEN["P1"]["event_times"]), rel=0.0, abs=ALLOWED * rtol)
    assert_end_values(result, GOLDEN["P1"]["end"], rtol, 0.01 * rtol)


@pytest.mark.parametrize("form", ["model", "component_model"])
def test_ball_keeps_its_derivative_with_respect_to_the_restitution(form: str) -> None:
    result = simulate("P1", getattr(problem("P1"), form), sensitivities=["e"])
    assert sensitivity(result, "h", "e") == pytest.approx(float(GOLDEN["P1"]["sens"]["dh_de"]), rel=1e-6)
    assert sensitivity(result, "v", "e") == pytest.approx(float(GOLDEN["P1"]["sens"]["dv_de"]), rel=1e-6)


def test_each_bounce_moves_with_the_restitution_as_the_geometric_series_says() -> None:
    # t_k = t_1 (1 + 2 e + ... + 2 e^(k-1)); the first bounce does not know e
    result = simulate("P1", sensitivities=["e"])
    first, e = math.sqrt(2.0 / 9.81), 0.8
    expected = [2.0 * first * sum(j * e ** (j - 1) for j in range(1, k)) for k in range(1, 10)]
    assert [event.dt_dp["e"] for event in happened(result)] == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_both_forms_of_the_ball_agree() -> None:
    function, component = (simulate("P1", getattr(problem("P1"), form)) for form in ("model", "component_model"))
    assert event_times(function) == pytest.approx(event_times(component), rel=1e-12)
    for name in ("h", "v"):
        assert function.final[name] == pytest.approx(component.final[name], rel=1e-9, abs=1e-12)


# --- P2 -------------------------------------------------------------------------------------------------------------


def test_hidden_crossing_matches_the_closed_form() -> None:
    expected = GOLDEN["P2"]
    result = simulate("P2", sensitivities=["p"])
    assert event_times(result) == pytest.approx(numbers(expected["event_times"]), rel=0.0, abs=ALLOWED * 1e-8)
    assert_end_values(result, expected["end"], 1e-8, 1e-10)
    assert sensitivity(result, "x", "p") == pytest.approx(float(expected["sens"]["dx_dp"]), rel=1e-6)
    assert [event.dt_dp["p"] for event in happened(result)] == pytest.approx(numbers(expected["sens"]["dt_dp"]), rel=1e-6)


@pytest.mark.parametrize("p", [2.9, 2.99, 2.999, 2.9999, 2.99999])
@pytest.mark.parametrize("rtol", [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10])
def test_no_crossing_is_stepped_over_however_close_its_twin(p: float, rtol: float) -> None:
    result = simulate("P2", rtol=rtol, atol=0.01 * rtol, parameters={"p": p})
    assert len(happened(result)) == 3


@pytest.mark.parametrize("p", [2.9, 2.99, 2.999, 2.9999, 2.99999])
def test_crossings_lie_at_the_roots_of_the_cubic(p: float) -> None:
    # up to the second root x goes from 0 towards 4, then 5, then 4 again: each piece is an exponential
    roots = sorted(np.roots([1.0, -5.0, 7.0, -p]).real)
    first = -math.log(1.0 - roots[0] / 4.0)
    second = first - 0.5 * math.log((5.0 - roots[1]) / (5.0 - roots[0]))
    third = second - math.log((4.0 - roots[2]) / (4.0 - roots[1]))
    result = simulate("P2", rtol=1e-10, atol=1e-12, parameters={"p": p})
    assert event_times(result) == pytest.approx([first, second, third], rel=0.0, abs=1e-7)


# --- P3 -------------------------------------------------------------------------------------------------------------

# In which direction a parameter may be changed. Where v1 = v2 = 0 ends mode A, v3 = (r3 - l3 a1/a2) x1 before and (r3 + l3 (a7 + a11)) x1 after it
# (likewise for mode B), both exactly zero for the values given. With v3 above v2 after the event, mode C calls for A at once and A for C: such a
# model has no solution there, so that its derivatives are one-sided. The four that multiply only voltages may go both ways.
CARVER_SIDES = {
    "a1": -1, "a2": 1, "a3": -1, "a4": 1, "a5": 0, "a6": 0, "a7": -1, "a8": -1, "a9": 0, "a10": 0, "a11": -1, "a12": -1, "r3": -1, "l3": 1,
}  # fmt: skip


def carver_mode(x1: Any, x2: Any) -> str:
    """Mode A holds x2, mode B holds x1; where both move, both branches conduct."""
    if np.ptp(x2) < 1e-9:
        return "A"
    return "B" if np.ptp(x1) < 1e-9 else "C"


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_carver_circuit_matches_the_closed_form(rtol: float) -> None:
    expected = GOLDEN["P3"]
    result = simulate("P3", rtol=rtol, atol=0.01 * rtol)
    assert event_times(result) == pytest.approx(numbers(expected["event_times"]), rel=0.0, abs=ALLOWED * rtol * 0.05)
    assert_end_values(result, expected["end"], rtol, 0.01 * rtol)


def test_carver_circuit_goes_through_its_modes_in_order() -> None:
    result = simulate("P3")
    edges = [0.0, *event_times(result), 0.05]
    modes = ""
    for left, right in itertools.pairwise(edges):
        inside = result.at(np.linspace(left, right, 12)[1:-1])
        modes += carver_mode(*(np.asarray(inside[name]) for name in ("x1", "x2")))
    assert modes == GOLDEN["P3"]["modes"]


def test_carver_circuit_has_the_closed_form_derivative() -> None:
    result = simulate("P3", sensitivities=["a5"])
    for key, text in GOLDEN["P3"]["sens"].items():
        variable = key[1:].split("_")[0]
        assert sensitivity(result, variable, "a5") == pytest.approx(float(text), rel=1e-6, abs=1e-8), key


@cache
def carver_with_all_derivatives() -> Any:
    return simulate("P3", rtol=1e-10, atol=1e-12, sensitivities="all")


@cache
def carver_outcome(parameter: str, value: float) -> np.ndarray[Any, Any]:
    """The eight end values and the ten event times of one run."""
    result = simulate("P3", rtol=1e-12, atol=1e-14, parameters={parameter: value})
    times = event_times(result)
    assert len(times) == 10
    return np.array([*(result.final[name] for name in GOLDEN["P3"]["end"]), *times])


def carver_quotient(parameter: str, value: float, step: float) -> np.ndarray[Any, Any]:
    """A difference quotient of second order, central or towards the side on which there is a solution."""
    side = CARVER_SIDES[parameter]
    if side == 0:
        return (carver_outcome(parameter, value + step) - carver_outcome(parameter, value - step)) / (2.0 * step)
    here, near, far = (carver_outcome(parameter, value + k * side * step) for k in range(3))
    return side * (4.0 * near - 3.0 * here - far) / (2.0 * step)


@pytest.mark.slow
@pytest.mark.parametrize("parameter", CARVER_SIDES)
def test_carver_derivatives_are_those_of_the_whole_run(parameter: str) -> None:
    result = carver_with_all_derivatives()
    names = list(GOLDEN["P3"]["end"])
    ends = np.array([sensitivity(result, name, parameter) for name in names])
    shifts = np.array([event.dt_dp[parameter] for event in happened(result)])
    found = np.concatenate([ends, shifts])
    value = problem("P3").parameters[parameter]
    size = abs(value) if value != 0.0 else 1.0  # a parameter that is zero has no relative step
    # a step is too long by truncation or too short by rounding: each quantity is judged at the step that suits it best
    misses = [np.abs(carver_quotient(parameter, value, step * size) - found) for step in (1e-3, 3e-4, 1e-4, 3e-5)]
    scale = np.concatenate([np.full(len(ends), np.max(np.abs(ends))), np.full(len(shifts), np.max(np.abs(shifts)))])
    assert np.all(np.min(misses, axis=0) <= 1e-5 * scale + 1e-9 / size)


# --- P4 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rtol", [1e-6, 1e-7, 1e-8, 1e-9, 1e-10])
def test_stiff_relay_switches_five_times(rtol: float) -> None:
    expected = GOLDEN["P4"]
    result = simulate("P4", rtol=rtol, atol=0.01 * rtol)
    times = event_times(result)
    assert times == pytest.approx(numbers(expected["event_times"]), rel=0.0, abs=ALLOWED * rtol)
    assert result.final["y2"] == pytest.approx(float(expected["end"]["y2"]), rel=ALLOWED * rtol)
    assert result.final["y1"] == pytest.approx(relay_after(times[-1]), rel=ALLOWED * max(rtol, 1e-9))


# --- P6 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_robertson_matches_the_taylor_run(rtol: float) -> None:
    result = simulate("P6", rtol=rtol, atol=1e-6 * rtol)
    assert happened(result) == []
    assert_end_values(result, GOLDEN["P6"]["end"], rtol, 1e-6 * rtol)


def test_robertson_has_the_derivatives_of_the_variational_equations() -> None:
    result = simulate("P6", atol=1e-14, sensitivities="all")
    for key, text in GOLDEN["P6"]["sens"].items():
        variable, parameter = key[1:].split("_d")
        assert sensitivity(result, variable, parameter) == pytest.approx(float(text), rel=1e-6), key


# --- P8 -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_buck_converter_has_every_one_of_its_events() -> None:
    expected = GOLDEN["P8"]
    result = simulate("P8")
    inside = [event for event in happened(result) if 0.0 < event.time < problem("P8").t_span[1]]
    empty = [event.time for event in inside if event.kind == "state"]
    assert len(inside) == expected["n_events"]
    assert len(empty) == expected["n_zero_current_events"]
    assert empty[0] == pytest.approx(float(expected["first_zero_current"]), rel=ALLOWED * 1e-8)
    assert empty[-1] == pytest.approx(float(expected["last_zero_current"]), rel=ALLOWED * 1e-8)
    assert_end_values(result, expected["end"], 1e-8, 1e-10)


@pytest.mark.slow
def test_no_event_of_the_buck_converter_is_lost_to_a_loose_tolerance() -> None:
    result = simulate("P8", rtol=1e-5, atol=1e-7)
    inside = [event for event in happened(result) if 0.0 < event.time < problem("P8").t_span[1]]
    assert len(inside) == GOLDEN["P8"]["n_events"]
