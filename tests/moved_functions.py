"""A function that moves with a parameter, as the rate of a decaying sum, on several clocks; and the truth of the sum and of its derivative.

Of ``F(c)``, the integral of ``f(t - c) exp(-k (T - t))`` from 0 to T, the derivative is ``exp(-k T) f(-c) - f(T - c) + k F``, by moving the variable,
whatever f does on its way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import quad

import tidegate as tg

__all__ = ["CLOCKS", "UNTIL", "model_of", "solved_model_of", "truth_of"]

UNTIL = 2.0
CLOCKS = ("time", "unknown", "two unknowns", "wave")


def model_of(function: Callable[[Any], Any], clock: str, c: float, decay: float) -> tg.Model:
    """The sum x of the function of what a clock shows, which is zero at c; the parameter is c."""

    def of_time(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": function(t - p["c"]) - decay * y["x"]}

    def of_unknown(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": function(y["s"]) - decay * y["x"], "s": 1.0}

    def of_two(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": function(y["a"] - y["b"]) - decay * y["x"], "a": 1.5, "b": 0.5}

    def of_wave(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": function(y["s"]) - decay * y["x"], "s": 1.0 + 0.2 * np.cos(t - p["c"])}

    rates, start = {
        "time": (of_time, lambda p: {"x": 0.0}),
        "unknown": (of_unknown, lambda p: {"x": 0.0, "s": -p["c"]}),
        "two unknowns": (of_two, lambda p: {"x": 0.0, "a": 0.0, "b": p["c"]}),
        "wave": (of_wave, lambda p: {"x": 0.0, "s": _shown(-p["c"], "wave")}),
    }[clock]
    return tg.ode(rates, start, p={"c": c})


def solved_model_of(function: Callable[[Any], Any], is_state: bool, c: float, decay: float) -> tg.Model:
    """Likewise, of an algebraic unknown that iterations find: ``z + arcsinh(z)`` is what it is where z is t - c, a state or not."""

    def residual(t: Any, y: Any, ydot: Any, p: Any) -> list[Any]:
        shown = y["s"] if is_state else t - p["c"]
        return [y["z"] + np.arcsinh(y["z"]) - shown - np.arcsinh(shown), ydot["x"] - function(y["z"]) + decay * y["x"], ydot["s"] - 1.0]

    return tg.dae(residual, lambda p: {"x": 0.0, "s": -p["c"], "z": -p["c"]}, p={"c": c})


def _shown(u: Any, clock: str) -> Any:
    return u + 0.2 * np.sin(u) if clock == "wave" else u


def truth_of(function: Callable[[Any], Any], breaks: Iterable[float], clock: str, c: float, decay: float) -> tuple[float, float]:
    """The sum at the end and its derivative by c; the function is called with numbers, between the places where it jumps or bends."""

    def rate(u: float) -> float:
        return float(function(float(_shown(u, clock))))

    ends = sorted({0.0, UNTIL, *(place + c for place in breaks if 0.0 < place + c < UNTIL)})
    value = sum(quad(lambda t: rate(t - c) * math.exp(-decay * (UNTIL - t)), *piece, epsabs=1e-12, limit=200)[0] for piece in pairwise(ends))
    return value, math.exp(-decay * UNTIL) * rate(-c) - rate(UNTIL - c) + decay * value
