"""The native classical methods step for step against the engine of plain Python, which the printed runs of their source have been compared with.

Both call the same Python functions of random smooth systems, so what differs is rounding in the loop's bookkeeping of time: a few units in the last
place, made larger on the way by the system itself.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from monitor_models import Body, Flow, Look, model
from tidegate.model.callables import CallableModel, Tick

METHODS = ["rke", "pc", "euler", "adams2", "trapezoid", "heun"]
FIXED = METHODS[2:]
END = 4.0
Rates = Callable[..., tuple[float, ...]]


def random_rates(chance: random.Random) -> tuple[Rates, list[float]]:
    """y_i' = a sin(b y_j + c t) - d y_i, now and then fast for a while, and start values."""
    n = chance.randint(1, 4)
    numbers = [[chance.uniform(0.2, 3.0) for _ in range(4)] for _ in range(n)]
    other = [chance.randrange(n) for _ in range(n)]
    sharp = chance.choice([0.0, 20.0])

    def rates(t: float, *y: float) -> tuple[float, ...]:
        pulse = sharp * math.exp(-((8.0 * (t - 1.7)) ** 2))
        return tuple(a * math.sin(b * y[j] + c * t) - (d + pulse) * y[i] for i, (j, (a, b, c, d)) in enumerate(zip(other, numbers, strict=True)))

    return rates, [chance.uniform(-2.0, 2.0) for _ in range(n)]


def by_monitor(
    method: str, rates: Rates, start: list[float], tolerances: tuple[float, float], period: float | None = None, **limits: Any
) -> tuple[np.ndarray, int]:
    """Time and states at the end of every step, and evaluations; with time events at which nothing changes."""
    atol, rtol = tolerances
    monitor, agenda = model(method, time=0.0, **limits)
    flows = [Flow(value, abserror=atol, relerror=rtol) for value in start]

    def evaluate() -> None:
        for flow, rate in zip(flows, rates(monitor.time, *(one.state for one in flows)), strict=True):
            flow.rate = rate

    rows: list[list[float]] = []
    for flow in reversed(flows):
        monitor.start_variable(flow)
    monitor.start_body(Body(evaluate))
    monitor.start_sample(Look(lambda: rows.append([monitor.time, *(one.state for one in flows)]), 0.0))
    for k in range(1, math.ceil(END / period) if period else 0):
        agenda.at(k * period)
    agenda.at(END)
    agenda.run()
    return np.array(rows), monitor.counters.evaluations


def natively(
    method: str, rates: Rates, start: list[float], tolerances: tuple[float, float], period: float | None = None, **limits: Any
) -> tuple[np.ndarray, int]:
    """The same of the native method, whose model nothing is known of."""
    names = [f"y{k}" for k in range(len(start))]
    ticks = [] if period is None else [Tick("tick", period, period, change=lambda at: {"n": at.d[0] + 1})]
    states = dict(zip(names, start, strict=True))
    source = CallableModel("random", states, lambda at: rates(at.time, *at.y.tolist()), discretes={"n": 0.0}, ticks=ticks)
    result = tg.simulate(source, (0.0, END), method=method, atol=tolerances[0], rtol=tolerances[1], **limits)
    return np.column_stack([result.t, *(np.asarray(result[name]) for name in names)]), result.statistics.evaluations


def once(rows: np.ndarray) -> np.ndarray:
    """The first row of each time; events have two."""
    return rows[np.append(True, np.diff(rows[:, 0]) > 1e-12)]


def both(method: str, seed: int, *, has_events: bool = False) -> tuple[float, int, int]:
    """The largest difference, over all steps, as a part of the size; evaluations natively and in Python."""
    chance = random.Random(seed)
    rates, start = random_rates(chance)
    tolerances = 10.0 ** chance.uniform(-9, -3), 10.0 ** chance.uniform(-10, -4)
    longest = chance.uniform(0.02, 0.5)
    period = chance.uniform(0.2, 1.5) if has_events else None
    least = {"rke": 1e-9}.get(method, 0.0)
    theirs, count = by_monitor(method, rates, start, tolerances, period, dtmin=least, dtmax=longest)
    limits = {"min_step": least} if least else {}
    ours, evaluations = natively(method, rates, start, tolerances, period, max_step=longest, **limits)
    theirs, ours = once(theirs), once(ours)
    assert ours.shape == theirs.shape, seed
    return float(np.max(np.abs(ours - theirs) / (1.0 + np.abs(theirs)))), evaluations, count


@pytest.mark.parametrize("method", METHODS)
def test_steps_are_those_of_the_engine_in_python(method: str) -> None:
    for seed in range(3):
        difference, evaluations, count = both(method, seed)
        # rounding, some hundred steps of it
        assert difference <= 1e-13
        assert evaluations == count


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_steps_between_time_events_are_those_of_the_engine_in_python(method: str) -> None:
    """The proposal of Runge-Kutta-England outlives them. It hangs on a small estimate, whose rounding is seen in lengths of steps."""
    for seed in range(3):
        assert both(method, seed, has_events=True)[0] <= (1e-7 if method == "rke" else 1e-13)


@pytest.mark.hunt
@pytest.mark.parametrize("method", METHODS)
def test_steps_of_many_random_systems_are_those_of_the_engine_in_python(method: str) -> None:
    for seed in range(100, 150):
        difference, evaluations, count = both(method, seed)
        assert difference <= 1e-12, seed
        assert evaluations == count, seed
        assert both(method, seed, has_events=True)[0] <= (1e-6 if method == "rke" else 1e-12), seed
