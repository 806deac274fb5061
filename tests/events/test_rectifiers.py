"""Random rectifier circuits, in which a current rests at zero and leaves it with slope zero, so that nothing but following it tells where it goes.

The methods that follow it by expressions are judged by one that solves the equations as they are given.
"""

from __future__ import annotations

import random
from math import cos, pi
from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []


def rectifier(t: Any, y: Any, ydot: Any, p: Any) -> list[Any]:
    x1, x2, v1, v2, v3 = y
    if (x1 > 0 or v1 > v3) and (x2 <= 0 and v2 < v3):
        slope1, slope2 = (v1 - p["a"] * x1) / p["b"], 0.0
    elif (x2 > 0 or v2 > v3) and (x1 < 0 and v1 < v3):
        slope1, slope2 = 0.0, (v2 - p["a"] * x2) / p["b"]
    else:
        slope1 = p["c"] * v1 - p["d"] * v2 - p["e"] * x1
        slope2 = p["c"] * v2 - p["d"] * v1 - p["e"] * x2
    load = p["r"] * (x1 + x2) + p["l"] * (ydot["x1"] + ydot["x2"])
    return [ydot["x1"] - slope1, ydot["x2"] - slope2, p["A"] * cos(p["w"] * t) - v1, -p["k"] * v1 - v2, load - v3]


def circuit(draw: random.Random) -> dict[str, float]:
    """Coils of the branches and of the load with the same time constant, so that both branches together have rates of their own."""
    own, load, rate = draw.uniform(0.02, 0.2), draw.uniform(0.1, 0.3), draw.uniform(30.0, 70.0)
    ((c, d), _) = np.linalg.inv([[own + load, load], [load, own + load]]).tolist()
    return {
        "a": rate * (own + load), "b": own + load, "c": c, "d": -d, "e": rate, "r": rate * load, "l": load,
        "A": draw.uniform(50.0, 200.0), "w": draw.uniform(70.0, 150.0) * pi, "k": draw.uniform(0.8, 1.2),
    }  # fmt: skip


@pytest.fixture(scope="module")
def prepared() -> dict[str, Any]:
    start = {"x1": 0.0, "x2": 0.0, "v1": 100.0, "v2": -100.0, "v3": 80.0}
    model = tg.dae(rectifier, y0=start, p=circuit(random.Random(0)))
    return {method: tg.prepare(model, (0.0, 0.05), method=method, rtol=1e-9) for method in ("radau", "taylor", "rodas5p", "ida")}


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_current_that_leaves_zero_slowly_goes_where_the_equations_send_it(prepared: dict[str, Any], seed: int) -> None:
    values = circuit(random.Random(seed))
    truth = prepared["ida"].with_parameters(**values).run()
    assert len(truth.events) > 5
    for method in ("radau", "taylor", "rodas5p"):
        found = prepared[method].with_parameters(**values).run()
        assert found.events.times == pytest.approx(truth.events.times, abs=2e-6)
        assert [found.final[name] for name in ("x1", "x2")] == pytest.approx([truth.final[name] for name in ("x1", "x2")], abs=1e-4)
        assert found.statistics.jacobians < 60 * len(found.events) or method == "rodas5p"
