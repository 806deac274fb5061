"""Roots of forces that are clipped at zero, as ``max(sin(t), 0)**0.5``: the equations end where the force changes its sign, which no unknown tells.

Truth is an integral, by quadrature between the roots that plain Python finds. All methods come to the end of the root by ever shorter steps.
"""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import tidegate as tg
from engines import METHODS_WITH_RODAS5P

ONE_STEP = {"radau", "rodas5p", "taylor", "auto"}
METHODS = [*METHODS_WITH_RODAS5P, "taylor", "rke"]


def forced(seed: int) -> tuple[Any, float, list[float]]:
    """A rate that is a function of time alone, its integral to 9, and where it begins and ends."""
    draw = random.Random(seed)
    a, b, w = draw.uniform(0.3, 2.0), draw.uniform(-0.6, 0.6), draw.uniform(0.5, 2.5)
    c, power, size = draw.uniform(0.0, 3.0), draw.uniform(0.25, 0.9), draw.uniform(0.5, 3.0)
    inner = draw.choice(
        [
            lambda t: a * np.sin(w * t + c) + b,
            lambda t: a - (0.4 * (t - 4.5) + 0.1 * c) ** 2,
            lambda t: 0.05 * (t - 1.1) * (t - 4.0 - c) * (8.3 - t),
            lambda t: np.exp(-0.2 * t) * np.cos(w * t + c) - 0.1 * b,
        ]
    )
    clipped = draw.choice(
        [
            lambda t: np.maximum(inner(t), 0.0) ** power,
            lambda t: np.sqrt(np.clip(inner(t), 0.0, 10.0)),
            lambda t: np.abs(inner(t)) ** power,
            lambda t: np.arccos(np.clip(1.0 - inner(t), -1.0, 1.0)),
            lambda t: np.where(inner(t) > 0.0, np.sqrt(np.abs(inner(t))), 0.1),
        ]
    )
    grid = np.linspace(0.0, 9.0, 4000)
    edges: list[float] = []
    for level in (0.0, 2.0):  # that of the arc cosine is at both
        sides = inner(grid) > level
        edges += [brentq(lambda t, level=level: float(inner(t)) - level, grid[k], grid[k + 1]) for k in np.flatnonzero(sides[1:] != sides[:-1])]
    places = sorted([0.0, *edges, 9.0])
    truth = sum(quad(lambda t: float(size * clipped(t)), left, right, epsabs=1e-12, limit=400)[0] for left, right in pairwise(places))
    return lambda t: size * clipped(t), truth, edges


SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 30))]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_forces_that_end_in_a_root_are_integrated(seed: int) -> None:
    rate, truth, _ = forced(seed)
    model = tg.ode(lambda t, y: [rate(t) - 0.0 * y["x"]], y0={"x": 0.0})
    for method in METHODS:
        final = tg.simulate(model, (0.0, 9.0), method=method, rtol=1e-8, atol=1e-8).final
        # SUNDIALS and the classical method look at the error at the end of a step alone, and every root has some twenty steps towards its end
        assert final["x"] == pytest.approx(truth, abs=1e-6 if method in ONE_STEP else 1e-4), method


@pytest.mark.parametrize("method", METHODS)
def test_the_end_of_a_root_is_an_event_at_its_time(method: str) -> None:
    arcs = 3.0 * quad(lambda t: math.sqrt(math.sin(t)), 0.0, math.pi)[0]
    cases = [
        (lambda t, y: [np.sqrt(np.maximum(1.0 - (t - 3.0) ** 2, 0.0))], [2.0, 4.0], 0.5 * math.pi),
        (
            lambda t, y: [np.sqrt(np.abs(np.sin(t)))],
            [k * math.pi for k in (1, 2, 3)],
            arcs + quad(lambda t: math.sqrt(-math.sin(t)), 3.0 * math.pi, 10.0)[0],
        ),
    ]
    for rate, times, truth in cases:
        asked = [0.25 * k for k in range(41)]  # among them 4, where the first of them ends
        result = tg.simulate(tg.ode(rate, y0={"x": 0.0}), (0.0, 10.0), method=method, outputs=asked)
        assert result.events.times == pytest.approx(times, rel=1e-14)
        assert result.t.tolist() == asked
        # what rises from zero where eight times the way to there is a multiple of its period: a step as long as that saw nothing of it
        assert result.final["x"] == pytest.approx(truth, rel=1e-3)


@pytest.mark.parametrize("method", ["radau", "rodas5p", "taylor"])
def test_a_force_that_begins_as_a_root_has_its_derivatives(method: str) -> None:
    """The area of half an ellipse; its derivative has poles at both ends, which the error of the area says nothing about."""

    def rates(t: Any, y: Any, p: Any) -> Any:
        return [p["a"] * np.sqrt(np.maximum(1.0 - ((t - p["c"]) / p["w"]) ** 2, 0.0))]

    model = tg.ode(rates, y0={"area": 0.0}, p={"a": 2.0, "c": 3.0, "w": 0.7})
    result = tg.simulate(model, (0.0, 10.0), method=method, rtol=1e-8, atol=1e-10, sensitivities="all")
    assert result.final["area"] == pytest.approx(0.7 * math.pi, abs=1e-7)
    assert result.sensitivities is not None
    # 1e-3 before the derivatives took part in the choice of steps
    assert result.sensitivities[-1, :, 0] == pytest.approx([0.35 * math.pi, 0.0, math.pi], abs=1e-4)
    assert result.events[0].dt_dp["w"] == pytest.approx(-1.0, abs=1e-12)
    assert result.events[1].dt_dp["c"] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_outputs_that_end_at_a_zero_have_a_value_in_the_row_before_the_event(method: str) -> None:
    """That row lies a rounding behind the zero; nothing integrates these outputs, so that no step has seen where they end."""

    class Watched(tg.Component):
        y = tg.State(0.1)
        of_time, of_state, clipped = tg.Output(), tg.Output(), tg.Output()

        def equations(self) -> Any:
            yield tg.der(self.y) == -np.sin(self.y + tg.time)
            yield self.of_time == np.sqrt(np.abs(np.sin(tg.time)))
            yield self.of_state == np.sqrt(np.abs(self.y))
            yield self.clipped == np.arccos(np.clip(2.0 * np.cos(tg.time), -1.0, 1.0))

    result = tg.simulate(Watched(), (0.0, 10.0), method=method)
    kinds = {event.cause for event in result.events}
    assert len(kinds) >= 4
    for name, truth in (("of_time", np.sqrt(np.abs(np.sin(result.t)))), ("of_state", np.sqrt(np.abs(result["y"].values)))):
        np.testing.assert_allclose(result[name].values, truth, atol=1e-7)
    assert np.isfinite(result["clipped"].values).all()
