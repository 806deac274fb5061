"""Random piecewise-linear systems whose switching times are known beforehand are solved to tolerance."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

import tidegate as tg

__all__: list[str] = []

RTOL = 1e-8
ATOL = 1e-10
ALLOWED = 100.0
PIECES = range(3)
Floats = st.floats

coefficients = st.lists(Floats(-2.0, 2.0, width=32), min_size=18, max_size=18)
durations = st.lists(Floats(0.125, 1.5, width=32), min_size=3, max_size=3)
rates = st.lists(Floats(0.25, 4.0, width=32), min_size=3, max_size=3)


def happened(result: Any) -> list[Any]:
    return [event for event in result.events if event.kind not in ("initial", "final")]


def linear(k: int, x: list[Any], p: Any) -> list[Any]:
    """The two linear equations of piece k."""
    return [p[f"a{k}_{i}0"] * x[0] + p[f"a{k}_{i}1"] * x[1] + p[f"b{k}_{i}"] for i in range(2)]


def by_state(t: Any, y: Any, p: Any) -> list[Any]:
    s, *x = y
    if s < p["level1"]:
        return [p["rate0"], *linear(0, x, p)]
    if s < p["level2"]:
        return [p["rate1"], *linear(1, x, p)]
    return [p["rate2"], *linear(2, x, p)]


def by_time(t: Any, y: Any, p: Any) -> list[Any]:
    x = list(y)
    if t < p["level1"]:
        return linear(0, x, p)
    return linear(1, x, p) if t < p["level2"] else linear(2, x, p)


def matrix_names() -> list[str]:
    names: list[str] = []
    for k in PIECES:
        names += [f"a{k}_{i}{j}" for i in range(2) for j in range(2)] + [f"b{k}_{i}" for i in range(2)]
    return names


@cache
def model(kind: str) -> Any:
    """One model for all examples; only its parameters change."""
    p = dict.fromkeys(matrix_names(), 1.0) | {"level1": 1.0, "level2": 2.0}
    if kind == "time":
        return tg.ode(by_time, y0={"x0": 1.0, "x1": -0.5}, p=p)
    return tg.ode(by_state, y0={"s": 0.0, "x0": 1.0, "x1": -0.5}, p=p | {f"rate{k}": 1.0 for k in PIECES})


def end_of_pieces(numbers: list[float], spans: list[float]) -> np.ndarray[Any, Any]:
    """x after the three pieces, by matrix exponentials of the systems with their constant terms."""
    x = np.array([1.0, -0.5, 1.0])
    for k, span in zip(PIECES, spans, strict=True):
        a00, a01, a10, a11, b0, b1 = numbers[6 * k : 6 * k + 6]
        x = expm(np.array([[a00, a01, b0], [a10, a11, b1], [0.0, 0.0, 0.0]]) * span) @ x
    return x[:2]


def amplification(numbers: list[float], spans: list[float]) -> float:
    """How much an error can grow on the way, at most."""
    growth = 0.0
    for k, span in zip(PIECES, spans, strict=True):
        a = np.array(numbers[6 * k : 6 * k + 4]).reshape(2, 2)
        growth += max(0.0, float(np.max(np.linalg.eigvalsh(0.5 * (a + a.T))))) * span
    return math.exp(growth)


def assert_solved(result: Any, numbers: list[float], spans: list[float]) -> None:
    switches = [event.time for event in happened(result)]
    assert switches == pytest.approx([spans[0], spans[0] + spans[1]], rel=ALLOWED * RTOL)
    size = max(float(np.max(np.abs(np.asarray(result[name])))) for name in ("x0", "x1"))
    bound = ALLOWED * (RTOL * max(size, 1.0) + ATOL) * amplification(numbers, spans)
    found = [result.final["x0"], result.final["x1"]]
    assert found == pytest.approx(list(end_of_pieces(numbers, spans)), rel=0.0, abs=bound)


@pytest.mark.slow
@settings(max_examples=40)
@given(numbers=coefficients, spans=durations, slopes=rates)
def test_switches_on_a_state_lie_where_the_thresholds_are_reached(numbers: list[float], spans: list[float], slopes: list[float]) -> None:
    levels = np.cumsum([slope * span for slope, span in zip(slopes, spans, strict=True)])
    values = dict(zip(matrix_names(), numbers, strict=True)) | {f"rate{k}": slopes[k] for k in PIECES}
    values |= {"level1": float(levels[0]), "level2": float(levels[1])}
    result = tg.simulate(model("state"), (0.0, sum(spans)), rtol=RTOL, atol=ATOL, parameters=values)
    assert_solved(result, numbers, spans)


@pytest.mark.slow
@settings(max_examples=40)
@given(numbers=coefficients, spans=durations)
def test_switches_on_time_happen_at_their_times(numbers: list[float], spans: list[float]) -> None:
    values = dict(zip(matrix_names(), numbers, strict=True)) | {"level1": spans[0], "level2": spans[0] + spans[1]}
    result = tg.simulate(model("time"), (0.0, sum(spans)), rtol=RTOL, atol=ATOL, parameters=values)
    assert_solved(result, numbers, spans)


@cache
def thermostat() -> Any:
    """x relaxes towards `high` while heating and towards `low` while not."""
    return tg.ode(
        lambda t, y, p: [p["gain"] * (p["low"] + (p["high"] - p["low"]) * y["heating"] - y["x"]), 0.0],
        y0={"x": 0.0, "heating": 1.0},
        p={"gain": 1.0, "low": -1.0, "high": 2.0, "upper": 1.0, "lower": 0.5},
        events=[
            tg.event(
                condition=lambda t, y, p: [y["x"] > p["upper"], y["x"] < p["lower"]],
                reset=lambda t, y, p: {"heating": 0.0 if y["x"] > p["upper"] else 1.0},
                name="relay",
            ),
        ],
    )


@pytest.mark.slow
@settings(max_examples=40)
@given(
    gain=Floats(0.2, 5.0),
    low=Floats(-2.0, -0.5),
    high=Floats(1.5, 3.0),
    upper=Floats(0.8, 1.2),
    band=Floats(0.05, 0.5),
)
def test_hysteresis_repeats_with_the_closed_form_period(gain: float, low: float, high: float, upper: float, band: float) -> None:
    lower = upper - band
    fall = math.log((upper - low) / (lower - low)) / gain
    rise = math.log((high - lower) / (high - upper)) / gain
    times = [math.log(high / (high - upper)) / gain]
    for k in range(7):
        times.append(times[-1] + (fall if k % 2 == 0 else rise))
    values = {"gain": gain, "low": low, "high": high, "upper": upper, "lower": lower}
    result = tg.simulate(thermostat(), (0.0, times[-1] + 0.5 * min(rise, fall)), rtol=RTOL, atol=ATOL, parameters=values, sensitivities=["gain"])
    found = happened(result)
    assert [event.time for event in found] == pytest.approx(times, rel=ALLOWED * RTOL)
    assert all(a.time < b.time for a, b in pairwise(found))
    # every time scales as 1/gain
    assert [event.dt_dp["gain"] for event in found] == pytest.approx([-time / gain for time in times], rel=1e-6)
