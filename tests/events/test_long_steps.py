"""Steps much longer than a run: what moves slowly, beside a guard that time alone takes to its zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from slow_motions import SlowMotions

RATES: dict[str, Callable[[float], Callable[[Any, Any], Any]]] = {
    "constant": lambda speed: lambda t, y: [speed],
    "dying out": lambda speed: lambda t, y: [-speed * y[0]],
    "nonlinear": lambda speed: lambda t, y: [-speed * y[0] ** 3],
    "rounded": lambda speed: lambda t, y: [(y[0] + 8.0 * speed - y[0]) * 0.125],
}


def times(rate: Callable[[Any, Any], Any], guard: Callable[[Any, Any], Any], t_end: float, y0: float = 1.0, **options: Any) -> list[float]:
    model = tg.ode(rate, y0=[y0], discrete={"n": 0}, events=tg.event(guard, lambda t, y, d: {"n": d["n"] + 1}))
    return [event.time for event in tg.simulate(model, (0.0, t_end), **({"rtol": 1e-8} | options)).events if event.changes]


@pytest.mark.parametrize("method", ["taylor", "radau", "bdf"])
@pytest.mark.parametrize("kind", RATES)
@pytest.mark.parametrize("speed", [1e-6, 1e-10, 1e-12])
def test_a_fast_guard_of_time_crosses_when_it_does_however_slow_the_state_is(method: str, kind: str, speed: float) -> None:
    found = times(RATES[kind](speed), lambda t, y: np.sin(t + 0.1) < -0.3, 25.0, method=method)
    assert found == pytest.approx([math.pi + math.asin(0.3) - 0.1 + 2.0 * math.pi * k for k in range(4)], abs=1e-11)


def test_a_zero_of_another_guard_long_after_the_end_hides_none_in_the_run() -> None:
    # the dead space is left at t = 38; the series of the rate seems to go on, by rounding, so that steps grow to 1e10
    def rate(_t: Any, y: Any) -> Any:
        outside = y[0] + 0.002 if y[0] < -0.002 else 0.0
        return [(outside - y[0]) / 0.118]

    expected = (math.pi - math.asin(0.32) - 0.695) / 7.78 + 2.0 * math.pi / 7.78 * np.arange(8)
    for rtol in (1e-6, 1e-8, 1e-10):
        found = times(rate, lambda t, y: np.sin(7.78 * t + 0.695) < 0.32, 6.0, y0=-0.651, rtol=rtol, atol=0.01 * rtol)
        assert found == pytest.approx(expected[expected < 6.0], abs=1e-11)


def test_where_rounding_leaves_nothing_of_a_guard_far_ahead_it_is_still_looked_at_near_by() -> None:
    found = times(lambda t, y: [3e-12], lambda t, y: np.sin((5.0 * t) ** 2) > 0.0838, 1.0, method="taylor")
    first = math.asin(0.0838)
    expected = [math.sqrt(first + 2.0 * math.pi * k) / 5.0 for k in range(4)]
    assert found == pytest.approx([t for t in expected if t < 1.0], abs=1e-11)


def test_a_straight_line_in_time_crosses_when_it_does_in_a_step_a_thousand_million_million_long() -> None:
    def guard(t: Any, y: Any) -> Any:
        return 7.41 * t - y[0] + 1.0 > 0.3

    assert times(lambda t, y: [2e-18], guard, 2.5, method="taylor") == pytest.approx([0.3 / 7.41], rel=1e-12)


def seen(first: int, method: str) -> int:
    """How many of ten models have been judged."""
    judged = 0
    for seed in range(first, first + 10):
        motions = SlowMotions(seed)
        if motions.crossings is not None:
            result = tg.simulate(motions.model, motions.span, rtol=1e-8, atol=1e-10, method=method)
            assert not motions.misfit(result), f"{seed}: {motions.misfit(result)}"
            judged += 1
    return judged


@pytest.mark.slow
@pytest.mark.parametrize("method", ["taylor", "radau", "ida"])
@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(10, 60, 10))])
def test_random_guards_of_time_beside_slow_motions_cross_when_closed_forms_say(first: int, method: str) -> None:
    assert seen(first, method) >= 8
