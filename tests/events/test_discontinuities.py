"""Every discontinuous function of a right-hand side becomes an event exactly where it must, and none where nothing changes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import tidegate as tg
from run_checks import event_times

RTOL = 1e-9


def ramp(function: Callable[[Any], Any], t_end: float, start: float = 0.0, **options: Any) -> Any:
    """x runs through [start, start + t_end]; s is the integral of the function of x."""
    model = tg.ode(lambda t, y: [1.0, function(y["x"])], y0={"x": start, "s": 0.0})
    return tg.simulate(model, (0.0, t_end), rtol=RTOL, **options)


def swing(function: Callable[[Any], Any], t_end: float = 7.0) -> Any:
    """x = cos t; s is the integral of the function of x."""
    model = tg.ode(lambda t, y: [y["v"], -y["x"], function(y["x"])], y0={"x": 1.0, "v": 0.0, "s": 0.0})
    return tg.simulate(model, (0.0, t_end), rtol=RTOL)


THIRD = math.pi / 3
HALF = math.pi / 2


@pytest.mark.parametrize(
    ("function", "times"),
    [
        (lambda x: min(x, 0.5), [THIRD, 5 * THIRD]),
        (lambda x: max(x, -0.5), [2 * THIRD, 4 * THIRD]),
        (lambda x: min(max(x, -0.5), 0.5), [THIRD, 2 * THIRD, 4 * THIRD, 5 * THIRD]),
        (abs, [HALF, 3 * HALF]),
        (np.sign, [HALF, 3 * HALF]),
        (lambda x: np.clip(x, -0.5, 0.5), [THIRD, 2 * THIRD, 4 * THIRD, 5 * THIRD]),
        (lambda x: np.where(x > 0.5, 1.0, x), [THIRD, 5 * THIRD]),
        (lambda x: 1.0 if -0.5 < x < 0.5 else 0.0, [THIRD, 2 * THIRD, 4 * THIRD, 5 * THIRD]),
        (lambda x: np.heaviside(x, 0.5), [HALF, 3 * HALF]),
        (lambda x: np.copysign(2.0, x), [HALF, 3 * HALF]),
    ],
    ids="min max min-max abs sign clip where chain heaviside copysign".split(),
)
def test_corners_of_elementary_functions_are_events(function: Callable[[Any], Any], times: list[float]) -> None:
    result = swing(function)
    assert event_times(result) == pytest.approx(times, abs=1e-8)
    fine = np.linspace(0.0, 7.0, 700_001)
    values = np.array([float(function(x)) for x in np.cos(fine[::100])])
    assert result.final["s"] == pytest.approx(np.trapezoid(values, fine[::100]), abs=2e-3)


@pytest.mark.parametrize(
    ("function", "times", "integral"),
    [
        (np.floor, [1.0, 2.0, 3.0], 1.0 + 2.0 + 0.5 * 3),
        (np.ceil, [1.0, 2.0, 3.0], 1.0 + 2.0 + 3.0 + 0.5 * 4),
        (round, [0.5, 1.5, 2.5], 1.0 + 2.0 + 3.0),
        (lambda x: x % 1.0, [1.0, 2.0, 3.0], 1.5 + 0.125),
        (lambda x: x // 2.0, [2.0], 1.5),
        (lambda x: np.mod(x, 2.0), [2.0], 2.0 + 1.125),
        (lambda x: 1.0 if np.floor(x) >= 2 else 0.0, [2.0], 1.5),
        (lambda x: 1.0 if np.floor(x) > 2 else 0.0, [3.0], 0.5),
        (lambda x: 1.0 if np.floor(x) % 2 == 0 else -1.0, [1.0, 2.0, 3.0], 1.0 - 1.0 + 1.0 - 0.5),
        (lambda x: 1.0 if np.sign(x - 1.5) >= 1 else 0.0, [1.5], 2.0),
    ],
    ids="floor ceil round mod floordiv npmod floor-ge floor-gt parity sign-ge".split(),
)
def test_steps_of_rounding_functions_are_events(function: Callable[[Any], Any], times: list[float], integral: float) -> None:
    result = ramp(function, 3.5)
    changes = sorted({round(time, 6) for time in event_times(result)})
    assert set(times) <= set(changes)
    assert result.final["s"] == pytest.approx(integral, rel=1e-8)
    assert len(event_times(result)) == len(changes)


@pytest.mark.parametrize("function", [np.floor, lambda x: x % 1.0])
def test_rounding_functions_run_downwards_too(function: Callable[[Any], Any]) -> None:
    model = tg.ode(lambda t, y: [-1.0, function(y["x"])], y0={"x": 3.5, "s": 0.0})
    result = tg.simulate(model, (0.0, 3.25), rtol=RTOL)
    assert event_times(result) == pytest.approx([0.5, 1.5, 2.5], rel=1e-9)
    assert result.final["s"] == pytest.approx(1.5 + 2.0 + 1.0 if function is np.floor else 0.125 + 1.0 + (1.0 - 0.25**2) / 2, rel=1e-8)


@pytest.mark.parametrize("far", [10.0, 119.0, 1000.0, -500.0, 1e6])
def test_a_reset_may_jump_over_any_number_of_steps(far: float) -> None:
    model = tg.ode(
        lambda t, y: [1.0, np.floor(y["x"])],
        y0={"x": 0.25, "s": 0.0},
        events=[tg.event(condition=lambda t, y: t >= 0.5, reset=lambda t, y: {"x": far + 0.25})],
    )
    result = tg.simulate(model, (0.0, 1.0), rtol=RTOL)
    assert result.final["s"] == pytest.approx(0.5 * far, rel=1e-8, abs=1e-9)
    assert event_times(result) == [0.5]


@pytest.mark.slow
def test_all_corners_of_a_table_are_located() -> None:
    x = np.sort(np.random.default_rng(3).uniform(0.0, 10.0, 1000))
    y = np.sin(3 * x)
    table = tg.table(np.r_[-1.0, x, 11.0], np.r_[0.0, y, 0.0])
    result = ramp(table, 10.5)
    assert event_times(result) == pytest.approx(x, abs=1e-9)
    ends = np.r_[0.0, x, 10.5]
    values = np.interp(ends, np.r_[-1.0, x, 11.0], np.r_[0.0, y, 0.0])
    assert result.final["s"] == pytest.approx(np.trapezoid(values, ends), rel=1e-7)


def test_a_cubic_table_has_no_events_and_is_integrated() -> None:
    x = np.linspace(0.0, 6.0, 13)
    result = ramp(tg.table(x, np.sin(x), kind="cubic"), 6.0)
    assert event_times(result) == []
    assert result.final["s"] == pytest.approx(float(CubicSpline(x, np.sin(x)).integrate(0.0, 6.0)), abs=1e-6)


@pytest.mark.slow
def test_five_hundred_conditions_are_all_located() -> None:
    n = 500
    result = ramp(lambda x: sum(1.0 if x > (k + 0.5) / n else 0.0 for k in range(n)), 1.0)
    assert event_times(result) == pytest.approx((np.arange(n) + 0.5) / n, rel=1e-9)
    assert result.final["s"] == pytest.approx(n / 2, rel=1e-9)


@pytest.mark.slow
def test_five_hundred_conditions_at_one_instant_are_one_event() -> None:
    n = 500
    result = ramp(lambda x: sum(1.0 if (k + 1) * x > 0.5 * (k + 1) else 0.0 for k in range(n)), 1.0)
    assert event_times(result) == pytest.approx([0.5], rel=1e-12)
    assert result.final["s"] == pytest.approx(n / 2, rel=1e-9)


def test_a_condition_whose_value_does_not_change_is_no_event() -> None:
    result = ramp(lambda x: 1.0 if (x > 1 and x > 2) or x > 3 else 0.0, 4.0)
    assert event_times(result) == pytest.approx([2.0], rel=1e-12)
    assert result.final["s"] == pytest.approx(2.0, rel=1e-9)


def test_a_relation_off_the_active_path_is_no_event() -> None:
    def nested(x: Any) -> Any:
        if x > 2:
            return 1.0 if x > 3 else 2.0
        return 4.0 if x > 1 else 3.0

    result = ramp(nested, 4.0)
    assert event_times(result) == pytest.approx([1.0, 2.0, 3.0], rel=1e-12)
    assert result.final["s"] == pytest.approx(3.0 + 4.0 + 2.0 + 1.0, rel=1e-9)


@pytest.mark.parametrize("inner", [lambda t, x: x > 1, lambda t, x: t > 1, lambda t, x: x * x > 1, lambda t, x: np.sin(t) > np.sin(1.0)])
def test_a_relation_that_changed_while_it_did_not_matter_is_right_when_it_does(inner: Callable[[Any, Any], Any]) -> None:
    def f(t: Any, y: Any) -> Any:
        if y["x"] > 2:
            return [1.0, 1.0 if inner(t, y["x"]) else -1.0]
        return [1.0, 0.0]

    result = tg.simulate(tg.ode(f, y0={"x": 0.0, "s": 0.0}), (0.0, 2.1), rtol=RTOL)
    assert event_times(result) == pytest.approx([2.0], rel=1e-12)
    assert result.final["s"] == pytest.approx(0.1, rel=1e-8)


def test_locked_branches_are_not_evaluated_beyond_their_domain() -> None:
    """An outflow that ends: sqrt of a negative level is never looked at while the gate is shut."""
    model = tg.ode(lambda t, y: [0.5 - (np.sqrt(y["h"] - 1.0) if y["h"] > 1.0 else 0.0)], y0={"h": 0.0})
    result = tg.simulate(model, (0.0, 20.0), rtol=RTOL)
    assert event_times(result) == pytest.approx([2.0], rel=1e-9)
    assert result.final["h"] == pytest.approx(1.25, rel=1e-4)


def test_opaque_functions_are_integrated_and_switch() -> None:
    sine = tg.opaque(math.sin)
    model = tg.ode(lambda t, y: [-sine(y["x"]), 1.0 if sine(y["x"]) > 0.5 else 0.0], y0={"x": 1.0, "s": 0.0})
    result = tg.simulate(model, (0.0, 2.0), rtol=1e-8)
    switch = math.log(math.tan(0.5) / math.tan(math.pi / 12))
    assert event_times(result) == pytest.approx([switch], abs=1e-5)
    assert list(result.final.values()) == pytest.approx([2 * math.atan(math.tan(0.5) * math.exp(-2.0)), switch], abs=1e-5)
    assert result.statistics.opaque_calls > 0
