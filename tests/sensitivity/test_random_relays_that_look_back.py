"""Random relays with delays, conditions on the past and clauses: values, events and all derivatives are those of polynomials found by NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate as tg
from delayed_relays import END, Relays, Run, UnclearError

__all__: list[str] = []

FloatArray = NDArray[np.float64]


def slopes_of_truth(plan: Relays, name: str, times: list[float], h: float) -> tuple[FloatArray, FloatArray] | None:
    """Central differences of values and of times of events; None where other events happen."""
    runs = []
    for way in (1.0, -1.0):
        try:
            runs.append(Run(plan, {**plan.parameters, name: plan.parameters[name] + way * h}, is_strict=False))
        except UnclearError:
            return None
    up, down = runs
    if len(up.events) != len(down.events):
        return None
    values = np.array([np.subtract(up.at(t), down.at(t)) for t in times])
    return values / (2.0 * h), np.subtract(up.events, down.events) / (2.0 * h)


def clear_plan(seed: int) -> tuple[Relays, Run, list[float]] | None:
    """A plan in which something happens, its solution, and times that are not beside a break; None if it is a matter of rounding what happens."""
    plan = Relays(seed)
    try:
        truth = Run(plan, plan.parameters)
    except UnclearError:
        return None
    borders = truth.breaks | {b + value for b in truth.breaks for name, value in plan.parameters.items() if name.startswith("tau")}
    times = [t for t in plan.times if min(abs(t - b) for b in borders) > 0.01]
    return (plan, truth, times) if truth.events and times else None


def check(plan: Relays, truth: Run, times: list[float]) -> None:
    result = tg.simulate(plan.model(), (0.0, END), rtol=1e-8, sensitivities="all", outputs=times, event_rows=False)
    assert result.events.times == pytest.approx(truth.events, abs=1e-7)
    rows = np.searchsorted(result.t, times)
    values = np.stack([np.asarray(result[name])[rows] for name in plan.names], axis=1)
    assert values == pytest.approx(np.array([truth.at(t) for t in times]), abs=1e-7)
    for name in plan.parameters:
        found = np.stack([np.asarray(result.sensitivity(x, name))[rows] for x in plan.names], axis=1)
        moved = np.array([event.dt_dp[name] for event in result.events])
        off = np.inf
        for h in (1e-5, 1e-6, 1e-4):
            slopes = slopes_of_truth(plan, name, times, h)
            if slopes is not None and len(slopes[1]) == len(moved):
                both = zip((found, moved), slopes, strict=True)
                off = min(off, max(float(np.max(np.abs(own - true) / (1.0 + np.abs(true)))) for own, true in both))
        assert off < 1e-6, name


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 33, 54, 71, 72, 76, 96])
def test_relays_that_look_back_have_their_values_events_and_derivatives(seed: int) -> None:
    plan = clear_plan(seed)
    assert plan is not None
    check(*plan)


@pytest.mark.hunt
@pytest.mark.parametrize("part", range(20))
def test_more_relays_that_look_back_have_their_values_events_and_derivatives(part: int) -> None:
    plans = [plan for seed in range(100 + 12 * part, 112 + 12 * part) if (plan := clear_plan(seed)) is not None]
    assert plans
    for plan in plans:
        check(*plan)
