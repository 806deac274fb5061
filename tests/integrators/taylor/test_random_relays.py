"""Random relays whose condition bends with the state, at tight tolerances, beside an independent truth.

The truth is SciPy's DOP853 in steps of at most 0.04 from event to event. What these models make of a change at the start is
less than ten times the change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
import pytest
from scipy.integrate import solve_ivp  # pyright: ignore[reportUnknownVariableType]

import tidegate as tg
from run_checks import event_times

__all__: list[str] = []

_END = 2.0
_RTOL = 1e-10
_N = 3


def _truth(p: dict[str, float], start: list[float], is_on: bool) -> tuple[list[float], list[float]]:
    """State at the end and times of the events."""
    t, y, times = 0.0, list(start), list[float]()

    def rates(t: float, y: list[float]) -> list[float]:
        push = p["u"] if is_on else 0.0
        return [y[1], -p["a"] * math.sin(y[0]) - p["d"] * y[1] + push + 0.2 * math.cos(3 * t)]

    def guard(t: float, y: list[float]) -> float:
        return math.sin(y[0]) + p["b"] * y[0] * y[1] - p["c"]

    while True:
        guard.__dict__.update(terminal=True, direction=-1 if is_on else 1)
        run = cast("Any", solve_ivp(rates, (t, _END), y, method="DOP853", rtol=1e-13, atol=1e-14, max_step=0.04, events=guard))
        t, y = float(run.t[-1]), [float(x) for x in run.y[:, -1]]
        if run.status != 1:
            return y, times
        times.append(t)
        is_on = not is_on


def _rates(t: Any, y: Any, p: Any) -> list[Any]:
    x, v = y
    push = p["u"] if np.sin(x) + p["b"] * x * v > p["c"] else 0.0
    return [v, -p["a"] * np.sin(x) - p["d"] * v + push + 0.2 * np.cos(3 * t)]


@dataclass(frozen=True)
class Case:
    """Parameters and what must come out."""

    parameters: dict[str, float]
    final: list[float]
    times: list[float]


@cache
def _cases() -> list[Case]:
    rng = np.random.default_rng(7)
    cases = list[Case]()
    for _ in range(_N):
        a, b, c, d, u, x, v = map(float, rng.uniform([5, -0.3, -0.3, 0.1, -1.5, 0.5, -1], [20, 0.3, 0.3, 0.5, 1.5, 1.5, 1]))
        p = {"a": a, "b": b, "c": c, "d": d, "u": u, "x": x, "v": v}
        is_on = math.sin(x) + b * x * v > c
        final, times = _truth(p, [x, v], is_on)
        cases.append(Case(p, final, times))
    return cases


@pytest.mark.slow
@pytest.mark.parametrize("method", ["taylor", "radau"])
def test_relays_at_tight_tolerances_are_as_near_to_the_truth_as_was_asked_for(method: str) -> None:
    model = tg.ode(_rates, y0=lambda p: [p["x"], p["v"]], p=dict.fromkeys("abcduxv", 0.5))  # pyright: ignore[reportUnknownLambdaType]
    prepared = tg.prepare(model, (0.0, _END), method=method, rtol=_RTOL)
    for case in _cases():
        result = prepared.with_parameters(**case.parameters).run()
        assert event_times(result) == pytest.approx(case.times, abs=10 * _RTOL)
        assert [float(result[f"y[{k}]"][-1]) for k in range(2)] == pytest.approx(case.final, abs=10 * _RTOL)
    assert sum(len(case.times) for case in _cases()) >= 2 * _N
