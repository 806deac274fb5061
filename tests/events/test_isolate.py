"""The earliest zero of a guard is found however close the next one is, and whatever its multiplicity; a zero that does not switch is none."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tidegate as tg
from run_checks import event_times

roots_in_five = st.lists(st.floats(0.05, 4.95), min_size=3, max_size=3)


@cache
def cubic_of_time_state() -> Any:
    """A nonlinear guard with three given zeros on x = t."""
    return tg.ode(
        lambda t, y, p: [1.0, 1.0 if (y["x"] - p["a"]) * (y["x"] - p["b"]) * (y["x"] - p["c"]) > 0 else 0.0],
        y0={"x": 0.0, "on": 0.0},
        p={"a": 1.0, "b": 2.0, "c": 3.0},
    )


@cache
def cubic_state() -> Any:
    """A state that is itself the cubic, so that the guard is linear."""

    def slope(t: Any, y: Any, p: Any) -> Any:
        a, b, c = p["a"], p["b"], p["c"]
        return [(t - b) * (t - c) + (t - a) * (t - c) + (t - a) * (t - b), 1.0 if y["g"] > 0 else 0.0]

    return tg.ode(slope, y0=lambda p: {"g": -p["a"] * p["b"] * p["c"], "on": 0.0}, p={"a": 1.0, "b": 2.0, "c": 3.0})


@pytest.mark.slow
@settings(max_examples=60)
@given(roots=roots_in_five, gap=st.floats(-4.0, -0.5))
def test_two_zeros_close_together_inside_a_step_are_both_found(roots: list[float], gap: float) -> None:
    a, _, c = sorted(roots)
    b = a + 10.0**gap
    a, b, c = sorted((a, b, c))
    # the dip between two zeros must be deeper than the rounding of the guard's own terms
    assume(min(y - x for x, y in pairwise((a, b, c))) > 8e-5)
    assume(c - a > 0.05)
    assume(c < 4.99)
    result = tg.simulate(cubic_of_time_state(), (0.0, 5.0), parameters={"a": a, "b": b, "c": c}, rtol=1e-4)
    assert event_times(result) == pytest.approx([a, b, c], abs=1e-7)
    assert result.final["on"] == pytest.approx(b - a + 5.0 - c, abs=1e-6)


@pytest.mark.slow
@settings(max_examples=60)
@given(roots=roots_in_five, gap=st.floats(-3.0, -0.5))
def test_a_state_that_dips_through_zero_inside_a_step_is_noticed(roots: list[float], gap: float) -> None:
    a, _, c = sorted(roots)
    a, b, c = sorted((a, a + 10.0**gap, c))
    assume(min(y - x for x, y in pairwise((a, b, c))) > 8e-4)
    assume(c < 4.9)
    result = tg.simulate(cubic_state(), (0.0, 5.0), parameters={"a": a, "b": b, "c": c}, rtol=1e-9, atol=1e-13)
    assert event_times(result) == pytest.approx([a, b, c], abs=2e-3)
    assert len(event_times(result)) == 3


@cache
def swing() -> Any:
    return tg.ode(lambda t, y, p: [y[1], -y[0], 1.0 if y[0] > p["c"] else 0.0], y0=[0.0, 1.0, 0.0], p={"c": 0.9})


@pytest.mark.slow
@settings(max_examples=40)
@given(distance=st.floats(-8.0, -0.5))
def test_a_sine_that_barely_exceeds_a_level_crosses_it_twice(distance: float) -> None:
    d = 10.0**distance
    result = tg.simulate(swing(), (0.0, 6.0), parameters={"c": 1.0 - d}, rtol=1e-11, atol=1e-14)
    first = math.atan2(1.0 - d, math.sqrt(d * (2.0 - d)))
    # a level error of 1e-11 moves the crossing by that over the slope
    allowed = 1e-7 * math.sqrt(1e-8 / d) + 1e-9
    assert event_times(result) == pytest.approx([first, math.pi - first], abs=allowed)


@cache
def wave() -> Any:
    return tg.ode(lambda t, y, p: [1.0, 1.0 if np.sin(p["w"] * y[0]) > p["c"] else 0.0], y0=[0.0, 0.0], p={"w": 1.0, "c": 0.9})


@pytest.mark.slow
@settings(max_examples=40)
@given(distance=st.floats(-6.0, -0.5), frequency=st.floats(1.0, 40.0))
def test_many_crossings_inside_one_step_are_all_found(distance: float, frequency: float) -> None:
    d = 10.0**distance
    first = math.atan2(1.0 - d, math.sqrt(d * (2.0 - d)))
    expected = sorted(x / frequency for k in range(40) for x in (first + 2 * math.pi * k, math.pi - first + 2 * math.pi * k))
    expected = [time for time in expected if time < 3.0]
    assume(all(abs(time - 3.0) > 1e-6 for time in expected))
    result = tg.simulate(wave(), (0.0, 3.0), parameters={"w": frequency, "c": 1.0 - d}, rtol=1e-5)
    assert event_times(result) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("level", [1e-2, 1e-6, 1e-10, 1e-13, 0.0, -1e-13, -1e-10, -1e-6])
def test_a_parabola_crosses_a_level_above_its_bottom_only(level: float) -> None:
    model = tg.ode(lambda t, y, p: [2 * (t - 1), 1.0 if y[0] < p["level"] else 0.0], y0=[1.0, 0.0], p={"level": 0.0})
    result = tg.simulate(model, (0.0, 2.0), parameters={"level": level}, rtol=1e-8)
    half = math.sqrt(max(level, 0.0))
    assert event_times(result) == pytest.approx([1.0 - half, 1.0 + half] if level > 0 else [], abs=1e-6)
    assert result.final["y[1]"] == pytest.approx(2 * half, abs=1e-6)


@pytest.mark.parametrize("power", [1, 3, 5])
def test_zeros_of_odd_multiplicity_switch_once(power: int) -> None:
    nonlinear = tg.ode(lambda t, y: [1.0, 1.0 if (y[0] - 1) ** power > 0 else 0.0], y0=[0.0, 0.0])
    as_state = tg.ode(lambda t, y: [power * (t - 1) ** (power - 1), 1.0 if y[0] > 0 else 0.0], y0=[-1.0, 0.0])
    for model in (nonlinear, as_state):
        result = tg.simulate(model, (0.0, 2.0), rtol=1e-8)
        # rounding moves a zero of multiplicity k by its k-th root
        assert event_times(result) == pytest.approx([1.0], abs=(1e-13) ** (1 / power) + 1e-9)


@pytest.mark.parametrize("power", [2, 4])
def test_zeros_of_even_multiplicity_do_not_switch(power: int) -> None:
    model = tg.ode(lambda t, y: [1.0, 1.0 if (y[0] - 1) ** power >= 0 else 0.0, 1.0 if (y[0] - 1) ** power < 0 else 0.0], y0=[0.0, 0.0, 0.0])
    result = tg.simulate(model, (0.0, 2.0), rtol=1e-8)
    assert event_times(result) == []
    assert [result.final["y[1]"], result.final["y[2]"]] == pytest.approx([2.0, 0.0], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("relation", ["x > 0", "x >= 0", "x < 0", "x <= 0"])
@pytest.mark.parametrize("direction", [1.0, -1.0])
@pytest.mark.parametrize("kind", ["state", "time", "sine", "product"])
def test_a_guard_that_is_zero_at_the_start_takes_the_side_it_leaves_to(relation: str, direction: float, kind: str) -> None:
    truth = {
        "x > 0": lambda x: x > 0,
        "x >= 0": lambda x: x >= 0,
        "x < 0": lambda x: x < 0,
        "x <= 0": lambda x: x <= 0,
    }[relation]
    of = {
        "state": lambda t, x: x,
        "time": lambda t, x: direction * t,
        "sine": lambda t, x: np.sin(direction * t),
        "product": lambda t, x: x * (1 + x * x),
    }[kind]
    model = tg.ode(lambda t, y: [direction, 1.0 if truth(of(t, y[0])) else 0.0], y0=[0.0, 0.0])
    result = tg.simulate(model, (0.0, 1.0))
    assert result.final["y[1]"] == pytest.approx(1.0 if truth(direction) else 0.0, abs=1e-9)
    assert event_times(result) in ([], pytest.approx([0.0], abs=1e-12))


def test_a_state_that_rests_on_its_threshold_does_not_switch_until_it_leaves() -> None:
    model = tg.ode(lambda t, y: [0.0 if t < 1 else 1.0, 1.0 if y[0] > 0 else 0.0], y0=[0.0, 0.0])
    result = tg.simulate(model, (0.0, 3.0))
    assert event_times(result) == pytest.approx([1.0], abs=1e-9)
    assert result.final["y[1]"] == pytest.approx(2.0, rel=1e-6)


def test_a_state_that_tends_to_its_threshold_never_crosses_it() -> None:
    model = tg.ode(lambda t, y: [max(-y[0], 0.0) - max(y[0], 0.0)], y0=[1.0])
    result = tg.simulate(model, (0.0, 12.0))
    assert event_times(result) == []


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e7])
@pytest.mark.parametrize("start", [0.0, 3.0])
def test_events_scale_with_time(scale: float, start: float) -> None:
    model = tg.ode(lambda t, y, p: [y[1] / p["s"], -y[0] / p["s"], (1.0 if y[0] > 0.5 else 0.0) / p["s"]], y0=[1.0, 0.0, 0.0], p={"s": 1.0})
    result = tg.simulate(model, (start * scale, (start + 20.0) * scale), parameters={"s": scale}, rtol=1e-9, sensitivities="all")
    third = math.pi / 3
    expected = sorted(x for k in range(4) for x in (third + 2 * math.pi * k, 2 * math.pi * (k + 1) - third) if x < 20.0)
    assert np.array(event_times(result)) / scale - start == pytest.approx(expected, abs=1e-8)
    assert [event.dt_dp["s"] for event in result.events] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("rtol", [1e-5, 1e-7, 1e-9, 1e-11, 1e-13])
def test_an_event_at_the_very_end_of_a_run_does_not_stop_it(rtol: float) -> None:
    model = tg.ode(lambda t, y, p: [y[0], 1.0 if y[0] >= p["a"] else 0.0], y0=[1.0, 0.0], p={"a": 1.0})
    for t_end in np.linspace(0.1, 3.0, 30):
        result = tg.simulate(model, (0.0, float(t_end)), parameters={"a": math.exp(t_end)}, rtol=rtol)
        assert result.status == "finished"
        assert len(event_times(result)) <= 1
