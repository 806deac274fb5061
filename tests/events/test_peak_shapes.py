"""Narrow peaks of any shape are found, also where what makes them overflows a little way beside them; the truth is their area, by quadrature.

The peak is gone through by time, or by an unknown with a speed of its own that may change on the way: then the rate has that speed as a factor, so
that what the peak adds stays its area.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf

import tidegate as tg


def logistic(s: Any) -> Any:
    """From 0 to 1."""
    return 1.0 / (1.0 + np.exp(-s))


def second_difference(of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A peak where a function bends."""
    return lambda s: of(s + 1.0) + of(s - 1.0) - 2.0 * of(s)


SHAPES: dict[str, Callable[[Any], Any]] = {
    "sech": lambda s: 1.0 / np.cosh(s),
    "sech cubed": lambda s: np.cosh(s) ** -3.0,
    "beside a constant": lambda s: 1.0 / (0.3 + np.cosh(s) ** 2),
    "below a root": lambda s: 1.0 / np.sqrt(1.0 + np.cosh(s) ** 2),
    "sum of exponentials": lambda s: 1.0 / (np.exp(s) + np.exp(-s)),
    "divided by a bell": lambda s: 1.0 / np.exp(s * s),
    "1 and a bell": lambda s: 1.0 / (1.0 + np.exp(s * s)),
    "expm1": lambda s: 1.0 / (2.0 + np.expm1(s * s)),
    "Gumbel": lambda s: np.exp(-s - np.exp(-s)),
    "error functions": lambda s: erf(s + 1.0) - erf(s - 1.0),
    "angles": lambda s: np.arctan(s + 1.0) - np.arctan(s - 1.0),
    "angles of points": lambda s: np.arctan2(s + 1.0, 2.0) - np.arctan2(s - 1.0, 2.0),
    "hyperbolic angles": second_difference(np.arcsinh),
    "roots": second_difference(lambda s: np.sqrt(1.0 + s * s)),
    "lengths": second_difference(lambda s: np.hypot(1.0, s)),
    "cube roots": second_difference(lambda s: np.cbrt(1.0 + s * s)),
    "powers": second_difference(lambda s: (1.0 + s * s) ** 0.75),
    "logarithms": second_difference(lambda s: np.log(1.0 + s * s)),
    "quotients of roots": lambda s: (s + 1.0) / np.sqrt(1.0 + (s + 1.0) ** 2) - (s - 1.0) / np.sqrt(1.0 + (s - 1.0) ** 2),
    "difference of roots": lambda s: np.sqrt(s * s + 2.0) - np.sqrt(s * s + 1.0),
    "arc cosine": lambda s: np.arccos(1.0 - 2.0 / (1.0 + s * s)),
    "two poles": lambda s: 1.0 / ((s - 1.0) ** 2 + 1.0) / ((s + 1.0) ** 2 + 1.0),
    "from a size": lambda s: 1.0 / (1.0 + abs(s)) ** 3,
    "two logistic functions": lambda s: logistic(s + 2.0) - logistic(s - 2.0),
    "a logistic function and what is left of it": lambda s: logistic(s) * logistic(-s),
    "exponential of a root": lambda s: np.exp(-np.sqrt(1.0 + s * s)),
    "one less a quotient": lambda s: 1.0 - s**4 / (1.0 + s**4),
}
_ENDS = [-1e6, -1e5, -1e4, -1e3, -100.0, -30.0, -10.0, -3.0, -1.0, 0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 1e3, 1e4, 1e5, 1e6]
UNTIL = 10.0


def area(of: Callable[[Any], Any], first: float, last: float) -> float:
    """Below a shape, in pieces."""

    def value(s: float) -> float:
        with np.errstate(all="ignore"):
            found = float(of(np.float64(s)))
        return found if math.isfinite(found) else 0.0

    ends = [first, *(s for s in _ENDS if first < s < last), last]
    return sum(quad(value, a, b, limit=400, epsabs=1e-13, epsrel=1e-10, full_output=1)[0] for a, b in pairwise(ends))


class Clock(NamedTuple):
    """By what a peak is gone through: how far it is at a time, and how fast; time itself if there is no unknown."""

    place: Callable[[Any], Any]
    speed: Callable[[Any], Any]
    is_unknown: bool


CLOCKS = {
    "time": Clock(lambda t: t, lambda t: 1.0, is_unknown=False),
    "clock": Clock(lambda t: t, lambda t: 1.0, is_unknown=True),
    "slow clock": Clock(lambda t: 0.5 * t, lambda t: 0.5, is_unknown=True),
    "varying": Clock(lambda t: t + 0.3 * np.sin(2.0 * t), lambda t: 1.0 + 0.6 * np.cos(2.0 * t), is_unknown=True),
}


def wrong(name: str, seed: int, method: str) -> str:
    """What is wrong with one run through a peak of a width of 3e-6 to 0.03; "" for nothing."""
    chosen, shape = random.Random(f"{name} {seed}"), SHAPES[name]
    width, (kind, clock) = 10.0 ** chosen.uniform(-5.5, -1.5), chosen.choice(list(CLOCKS.items()))
    centre, height = float(clock.place(chosen.uniform(1.0, 9.0))), chosen.choice((1.0, 300.0))
    beside = chosen.random() < 0.4

    def right_side(t: Any, y: Any) -> dict[str, Any]:
        place, speed = (y["c"], clock.speed(t)) if clock.is_unknown else (t, 1.0)
        rates = {"x": height * shape((place - centre) / width) * speed}
        if clock.is_unknown:
            rates["c"] = speed
        return rates | ({"a": y["b"], "b": -4.0 * y["a"]} if beside else {})

    starts = {"x": 0.0} | ({"c": 0.0} if clock.is_unknown else {}) | ({"a": 1.0, "b": 0.0} if beside else {})
    expected = height * width * area(shape, -centre / width, (float(clock.place(UNTIL)) - centre) / width)
    found = tg.simulate(tg.ode(right_side, starts), (0.0, UNTIL), method=method, rtol=1e-7, atol=1e-9, progress=False).final["x"]
    close = max(3e-4 * abs(expected), 3e-6)
    return "" if abs(found - expected) <= close else f"{name} {seed}: {found} for {expected}, {width}, {centre}, {kind}"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["taylor", "radau"])
def test_a_peak_of_any_shape_adds_its_area(method: str) -> None:
    assert not [said for name in SHAPES if (said := wrong(name, 0, method))]


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["taylor", "radau", "rodas5p", "bdf", "adams", "ida"])
def test_more_peaks_of_any_shape_add_their_area(method: str) -> None:
    assert not [said for name in SHAPES for seed in range(1, 4) if (said := wrong(name, seed, method))]
