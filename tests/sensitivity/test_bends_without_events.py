"""Roots of what comes to zero and turns round, and what is like them, bend where no event is; derivatives by parameters jump, or have a pole, there.

The truth follows from the value: of ``F(c)``, the integral of ``f(t - c) exp(-k (T - t))``, the derivative is
``exp(-k T) f(-c) - f(T - c) + k F``, by moving the variable.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import tidegate as tg
from engines import METHODS_WITH_RODAS5P

UNTIL, DECAY = 2.0, 0.1
BENDS = {
    "root of a square": lambda u: np.sqrt(u * u),
    "power of a square": lambda u: (u * u) ** 0.5,
    "three quarters": lambda u: (u * u) ** 0.75,
    "cube root of a square": lambda u: np.cbrt(u * u),
    "length": lambda u: np.hypot(u, 0.0),
    "arc cosine of a cosine": lambda u: np.arccos(np.cos(u)),
    "arc sine": lambda u: np.arcsin(1.0 - u * u / 4.0),
    "root of one less a cosine": lambda u: np.sqrt(1.0 - np.cos(u)),
}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "taylor", "radau", "rodas5p", "bdf"])
@pytest.mark.parametrize("name", BENDS)
def test_a_derivative_knows_where_a_root_bends(name: str, method: str) -> None:
    bend = BENDS[name]

    def of_time(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": bend(t - p["c"]) - DECAY * y["x"]}

    def of_unknown(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": bend(y["s"] - p["c"]) - DECAY * y["x"], "s": 1.0}

    for c in (0.7337, 1.234):
        value = sum(quad(lambda t, c=c: bend(t - c) * np.exp(-DECAY * (UNTIL - t)), *ends, epsabs=1e-12)[0] for ends in ((0.0, c), (c, UNTIL)))
        slope = np.exp(-DECAY * UNTIL) * bend(-c) - bend(UNTIL - c) + DECAY * value
        for rate, start in ((of_time, {"x": 0.0}), (of_unknown, {"x": 0.0, "s": 0.0})):
            found = tg.simulate(tg.ode(rate, start, p={"c": c}), (0.0, UNTIL), method=method, rtol=1e-7, sensitivities=["c"])
            assert found.final["x"] == pytest.approx(value, abs=2e-6)
            # a pole of the derivative, as of the cube root, is integrated over to a part of the tolerance that grows like its root
            assert float(found.sensitivity("x", "c")[-1]) == pytest.approx(slope, abs=5e-5)


@pytest.mark.parametrize("method", ["auto", *METHODS_WITH_RODAS5P])
def test_a_root_of_a_size_that_passes_zero_has_its_derivatives(method: str) -> None:
    """``x' = sqrt(abs(b))`` where ``b = t - c + 0.2 sin(t - c)`` goes through zero: by Taylor's method it was anything."""

    def rates(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": np.sqrt(abs(y["b"])), "b": 1.0 + 0.2 * np.cos(t - p["c"])}

    c = 0.7337
    model = tg.ode(rates, lambda p: {"x": 0.0, "b": -p["c"] - 0.2 * np.sin(p["c"])}, p={"c": c})
    result = tg.simulate(model, (0.0, UNTIL), method=method, rtol=1e-8, sensitivities=["c"])

    def size(u: float) -> float:
        return float(np.sqrt(abs(u + 0.2 * np.sin(u))))

    assert result.final["x"] == pytest.approx(quad(size, -c, 0.0)[0] + quad(size, 0.0, UNTIL - c)[0], abs=1e-6)
    assert float(result.sensitivity("x", "c")[-1]) == pytest.approx(size(-c) - size(UNTIL - c), abs=1e-5)
