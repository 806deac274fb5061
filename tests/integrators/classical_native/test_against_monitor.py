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


def by_monitor(method: str, rates: Rates, start: list[float], atol: float, rtol: float, **limits: Any) -> tuple[np.ndarray, int]:
    """Time and states at the end of every step, and evaluations."""
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
    agenda.at(END)
    agenda.run()
    return np.array(rows), monitor.counters.evaluations


def natively(method: str, rates: Rates, start: list[float], atol: float, rtol: float, **limits: Any) -> tuple[np.ndarray, tg.Result]:
    """The same of the native method, whose model nothing is known of."""
    n = len(start)
    called = tg.opaque(rates, n_outputs=n) if n > 1 else tg.opaque(lambda t, y: rates(t, y)[0])

    def f(t: Any, y: Any) -> Any:
        return called(t, *(y[k] for k in range(n))) if n > 1 else [called(t, y[0])]

    source = tg.ode(f, y0=start)
    result = tg.simulate(source, (0.0, END), method=method, atol=atol, rtol=rtol, **limits)
    return np.column_stack([result.t, np.asarray(result["y"]).reshape(-1, n)]), result


def disagreement(method: str, seed: int) -> tuple[float, int, int]:
    """The largest difference, over all steps, as a part of the size; evaluations natively and in Python."""
    chance = random.Random(seed)
    rates, start = random_rates(chance)
    atol, rtol = 10.0 ** chance.uniform(-9, -3), 10.0 ** chance.uniform(-10, -4)
    longest = chance.uniform(0.02, 0.5)
    least = 1e-9 if method == "rke" else 0.0
    theirs, count = by_monitor(method, rates, start, atol, rtol, dtmin=least, dtmax=longest)
    limits = {"min_step": least} if method == "rke" else {}
    ours, result = natively(method, rates, start, atol, rtol, max_step=longest, **limits)
    assert ours.shape == theirs.shape
    return float(np.max(np.abs(ours - theirs) / (1.0 + np.abs(theirs)))), result.statistics.evaluations, count


@pytest.mark.parametrize("method", METHODS)
def test_steps_are_those_of_the_engine_in_python(method: str) -> None:
    for seed in range(3):
        difference, evaluations, count = disagreement(method, seed)
        # rounding, some hundred steps of it
        assert difference <= 1e-13
        assert evaluations == count


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_steps_of_many_random_systems_are_those_of_the_engine_in_python(method: str) -> None:
    for seed in range(100, 300):
        difference, evaluations, count = disagreement(method, seed)
        assert difference <= 1e-12, seed
        assert evaluations == count, seed
