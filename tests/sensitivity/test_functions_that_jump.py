"""What jumps or bends in Python and numpy, written as users write it: values, events and derivatives by where it stands."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from moved_functions import UNTIL, model_of, truth_of


def every(distance: float, first: float = 0.0) -> list[float]:
    return [first + k * distance for k in range(-40, 40)]


# what a user writes, and where it jumps or bends
ANGLES: dict[str, tuple[Callable[[Any], Any], Sequence[float]]] = {
    "angle of a point": (lambda u: np.arctan2(np.sin(4 * u), np.cos(4 * u)), every(math.pi / 4)),
    "angle of a point by math": (lambda u: math.atan2(math.sin(4 * u), math.cos(4 * u) + 0.3), every(math.pi / 4)),
    "angle of a straight line": (lambda u: np.arctan2(u, u - 1.0), [0.0]),
    "arc tangent of a tangent": (lambda u: np.arctan(np.tan(4 * u)), every(math.pi / 4, math.pi / 8)),
    "arc tangent over a tangent": (lambda u: np.arctan(1.0 / np.tan(4 * u)), every(math.pi / 4)),
    "arc tangent of a quotient": (lambda u: np.arctan(0.3 / u), [0.0]),
}
ROOTS: dict[str, tuple[Callable[[Any], Any], Sequence[float]]] = {
    "by a root of a square": (lambda u: u / np.sqrt(u * u), [0.0]),
    "by a length": (lambda u: u / np.hypot(u, 0.0), [0.0]),
    "by a norm": (lambda u: (0.3 - u) / np.linalg.norm([u - 0.3]), [0.3]),
    "root of a square": (lambda u: np.sqrt(u * u), [0.0]),
    "power of a square": (lambda u: (u**2) ** 0.75 + (u * u) ** 1.5, [0.0]),
    "root of a product of squares": (lambda u: np.sqrt(2.0 * u * u * (u - 0.2) ** 4 * np.cos(3 * u) ** 2), [*every(math.pi / 3, math.pi / 6), 0.0]),
    "arc sine of a sine": (lambda u: np.arcsin(np.sin(5 * u)), every(math.pi / 5, math.pi / 10)),
    "arc cosine of a cosine": (lambda u: np.arccos(np.cos(4 * u)), every(math.pi / 4)),
    "arc sine of a cosine": (lambda u: math.asin(math.cos(4 * u)), every(math.pi / 4)),
    "arc cosine of a sine": (lambda u: math.acos(math.sin(4 * u)), every(math.pi / 4, math.pi / 8)),
    "hyperbolic tangent of a quotient": (lambda u: np.tanh((1.0 + u * u) / u), [0.0]),
}
OTHERS: dict[str, tuple[Callable[[Any], Any], Sequence[float]]] = {
    "remainder": (lambda u: (3 * u) % 0.7, every(0.7 / 3)),
    "whole part": (lambda u: (3 * u) // 0.7, every(0.7 / 3)),
    "rounded": (lambda u: round(3 * u), every(1 / 6)),
    "fmod": (lambda u: math.fmod(3 * u, 0.7), every(0.7 / 3)),
    "ieee remainder": (lambda u: math.remainder(3 * u, 0.9), every(0.15)),
    "triangle": (lambda u: abs((3 * u + 0.25) % 1.0 - 0.5), every(1 / 12)),
    "square wave": (lambda u: np.sign(np.sin(7 * u)), every(math.pi / 7)),
    "chained comparison": (lambda u: 2.0 if -0.1 < u < 0.25 else -1.0, [-0.1, 0.25]),
    "select": (lambda u: np.select([u < -0.2, u < 0.3], [u * u, 0.1 * u], 1.0 + u), [-0.2, 0.3]),
    "table": (lambda u: np.interp(u, [-1.0, -0.2, 0.1, 0.5], [0.3, -1.0, 2.0, 0.0]), [-1.0, -0.2, 0.1, 0.5]),
    "element of a list": (lambda u: [0.3, 1.0, -2.0, 0.5][int(np.clip(2 + 2 * u, 0, 3))], every(0.5)),
    "middle of three": (lambda u: sorted([u, 0.2, -0.1])[1], [-0.1, 0.2]),
    "copied sign": (lambda u: np.copysign(1.0 + u, u), [-1.0, 0.0]),
    "product with a condition": (lambda u: (u > 0.1) * (1.0 + u) + (u < -0.2) * u, [-0.2, 0.1]),
}


def _check(function: Callable[[Any], Any], breaks: Sequence[float], seed: int, methods: Sequence[str]) -> None:
    draw = random.Random(seed)
    c, decay, clock = round(draw.uniform(0.5, 1.5), 4), draw.choice([0.0, 0.1, 1.0]), draw.choice(["time", "unknown", "two unknowns"])

    model = model_of(function, clock, c, decay)
    value, slope = truth_of(function, breaks, clock, c, decay)
    for method in methods:
        result = tg.simulate(model, (0.0, UNTIL), method=method, rtol=1e-7, sensitivities=["c"])
        assert result.final["x"] == pytest.approx(value, abs=2e-5), (method, clock)
        assert float(result.sensitivity("x", "c")[-1]) == pytest.approx(slope, abs=1e-4), (method, clock)


@pytest.mark.parametrize("name", {**ANGLES, **ROOTS})
def test_what_jumps_or_bends_has_an_event_there_and_the_derivative_of_its_value(name: str) -> None:
    function, breaks = {**ANGLES, **ROOTS}[name]
    _check(function, breaks, seed=0, methods=["auto"])
    result = tg.simulate(model_of(function, "unknown", 0.7337, 0.1), (0.0, UNTIL), rtol=1e-7)
    seen = {min(breaks, key=lambda place, t=t: abs(place + 0.7337 - t)) for t in result.events.times}
    assert all(min(abs(place + 0.7337 - t) for place in seen) < 1e-6 for t in result.events.times)
    # relations make an event also at zeros of an angle, where nothing jumps
    assert result.events or name.startswith("angle")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", {**ANGLES, **ROOTS, **OTHERS})
def test_what_jumps_has_the_derivative_of_its_value_on_every_clock(name: str, seed: int) -> None:
    # derivatives of tanh(1 / t) are no number for SUNDIALS just at the pole, and it says so
    methods = ["auto", "radau", "rodas5p", *(["bdf"] if "hyperbolic" not in name else [])]
    _check(*{**ANGLES, **ROOTS, **OTHERS}[name], seed=seed, methods=methods)


def test_an_angle_that_rests_on_its_cut_is_that_of_python() -> None:
    def resting(t: Any, y: Any) -> dict[str, Any]:
        return {"a": np.arctan2(y["w"], y["c"]), "w": 0.0, "c": -1.0}

    result = tg.simulate(tg.ode(resting, {"a": 0.0, "w": 0.0, "c": 1.0}), (0.0, 2.5))
    assert result.final["a"] == pytest.approx(1.5 * math.pi, rel=1e-6)  # nothing until c is negative, and pi from then on


def test_an_angle_that_cannot_jump_makes_no_event() -> None:
    def turning(t: Any, y: Any) -> dict[str, Any]:
        return {"a": np.arctan2(np.sin(3.0 * t), 2.0 + np.cos(3.0 * t)), "b": np.arctan(t / (1.0 + t * t))}

    assert not list(tg.simulate(tg.ode(turning, {"a": 0.0, "b": 0.0}), (0.0, 5.0)).events)
