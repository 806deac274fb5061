"""Derivatives by where a mode ends whose formula has no value behind it, a root that runs dry, and another begins, steeply or not.

The truth follows from the value: of ``F(c)``, the integral of ``f(t - c) exp(-k (T - t))``, the derivative is
``exp(-k T) f(-c) - f(T - c) + k F``, by moving the variable, whatever ``f`` does at zero.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import tidegate as tg
from engines import METHODS_WITH_RODAS5P

UNTIL = 2.0
BEFORE: dict[str, Callable[[Any], Any]] = {
    "root": lambda u: np.sqrt(-u),
    "power": lambda u: (-u) ** 1.5,
    "angle": lambda u: np.arccos(1.0 + u / 3.0),
    "root of a logarithm": lambda u: np.sqrt(-u) * np.log1p(-u),
    "line": lambda u: 0.7 - u,
    "wave": lambda u: np.sin(3.0 * u),
}
BEHIND: dict[str, Callable[[Any], Any]] = {
    "root": np.sqrt,
    "falling root": lambda u: -np.sqrt(u),
    "power": lambda u: 1.0 + u**1.5,
    "line": lambda u: u - 0.3,
    "nothing": lambda u: 0.0 * u,
}
CLOCKS = ("time", "unknown", "two unknowns", "wave")


def _warped(u: Any, clock: str) -> Any:
    return u + 0.2 * np.sin(u) if clock == "wave" else u


def _model(before: str, behind: str, clock: str, c: float, decay: float) -> tg.Model:
    first, second = BEFORE[before], BEHIND[behind]

    def rate(u: Any, x: Any) -> Any:
        return (first(u) if u < 0 else second(u)) - decay * x

    def of_time(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": rate(t - p["c"], y["x"])}

    def of_unknown(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": rate(y["s"], y["x"]), "s": 1.0}

    def of_two(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": rate(y["a"] - y["b"], y["x"]), "a": 1.5, "b": 0.5}

    def of_wave(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": rate(y["s"], y["x"]), "s": 1.0 + 0.2 * np.cos(t - p["c"])}

    rates, start = {
        "time": (of_time, lambda p: {"x": 0.0}),
        "unknown": (of_unknown, lambda p: {"x": 0.0, "s": -p["c"]}),
        "two unknowns": (of_two, lambda p: {"x": 0.0, "a": 0.0, "b": p["c"]}),
        "wave": (of_wave, lambda p: {"x": 0.0, "s": _warped(-p["c"], "wave")}),
    }[clock]
    return tg.ode(rates, start, p={"c": c})


def _truth(before: str, behind: str, clock: str, c: float, decay: float) -> tuple[float, float]:
    def rate(u: float) -> float:
        return float((BEFORE[before] if u < 0.0 else BEHIND[behind])(_warped(u, clock)))

    def weighted(t: float) -> float:
        return rate(t - c) * float(np.exp(-decay * (UNTIL - t)))

    value = sum(quad(weighted, *piece, epsabs=1e-12, limit=200)[0] for piece in pairwise((0.0, c, UNTIL)))
    return value, float(np.exp(-decay * UNTIL)) * rate(-c) - rate(UNTIL - c) + decay * value


def _check(before: str, behind: str, clock: str, c: float, decay: float, method: str) -> None:
    result = tg.simulate(_model(before, behind, clock, c, decay), (0.0, UNTIL), method=method, rtol=1e-7, sensitivities=["c"])
    value, slope = _truth(before, behind, clock, c, decay)
    assert [round(e.time - c, 6) for e in result.events] == [0.0]
    assert result.events[0].dt_dp["c"] == pytest.approx(1.0, abs=1e-6)
    assert result.final["x"] == pytest.approx(value, abs=2e-6)
    # one over a root is integrated over to the root of what steps can be short
    assert float(result.sensitivity("x", "c")[-1]) == pytest.approx(slope, abs=1e-4)


@pytest.mark.parametrize("method", ["auto", *METHODS_WITH_RODAS5P])
@pytest.mark.parametrize(("before", "behind"), [("root", "root"), ("wave", "falling root"), ("root of a logarithm", "line")])
def test_a_derivative_by_where_a_formula_ends_is_that_of_the_value(before: str, behind: str, method: str) -> None:
    _check(before, behind, "unknown", 0.7337, 0.1, method)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_random_formulas_that_end_have_the_derivatives_of_their_values(seed: int) -> None:
    draw = random.Random(seed)
    before, behind, clock = draw.choice(list(BEFORE)), draw.choice(list(BEHIND)), draw.choice(CLOCKS)
    c, decay = round(draw.uniform(0.3, 1.7), 4), draw.choice([0.0, 0.1, 1.0])
    for method in ("auto", "radau", "rodas5p"):
        _check(before, behind, clock, c, decay, method)
