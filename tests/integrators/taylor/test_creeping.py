"""Where the power series of the solution has hardly a radius Taylor's method hands over, instead of creeping."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import tidegate as tg


def rates(t: float, y: Any, p: Any) -> Any:
    return {"h": -p["k"] * np.sqrt(max(y["h"], 0.0)), "x": p["w"] * (math.cos(p["w"] * t) - y["x"])}


model = tg.ode(rates, y0={"h": 1.0, "x": 0.0}, p={"k": 0.5, "w": 1.0})


@pytest.mark.parametrize("seed", range(6))
def test_a_tank_runs_empty_beside_a_state_that_goes_on(seed: int) -> None:
    """sqrt(h) = 1 - k t / 2 until it is zero; x follows cos(w t) with the same rate w, so that x = (cos w t + sin w t - exp(-w t)) / 2."""
    draw = random.Random(seed)
    k, w, rtol = draw.uniform(0.2, 3.0), draw.uniform(0.3, 20.0), 10 ** draw.uniform(-9, -4)
    result = tg.simulate(model, (0.0, 10.0), method="taylor", parameters={"k": k, "w": w}, rtol=rtol, atol=rtol / 100, max_steps=2000)
    assert result.final["h"] == pytest.approx(max(1.0 - 5.0 * k, 0.0) ** 2, abs=10 * rtol)
    x = (math.cos(10 * w) + math.sin(10 * w) - math.exp(-10 * w)) / 2.0
    assert result.final["x"] == pytest.approx(x, abs=100 * rtol)
