"""Derivatives by where a mode ends whose formula has no value behind it, a root that runs dry, and another begins, steeply or not."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import METHODS_WITH_RODAS5P
from moved_functions import CLOCKS, UNTIL, model_of, truth_of

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


def _check(before: str, behind: str, clock: str, c: float, decay: float, method: str) -> None:
    first, second = BEFORE[before], BEHIND[behind]

    def function(u: Any) -> Any:
        return first(u) if u < 0 else second(u)

    result = tg.simulate(model_of(function, clock, c, decay), (0.0, UNTIL), method=method, rtol=1e-7, sensitivities=["c"])
    value, slope = truth_of(function, [0.0], clock, c, decay)
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
