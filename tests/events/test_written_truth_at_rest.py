"""A clipped quantity compared with its own bound: below the bound nothing moves in it, and the relation has the truth that is written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []


def _pushed(rate_below: float) -> Any:
    """``z`` follows from ``x`` by an algebraic equation; x rises above the bound falls, and below it moves at the rate given."""

    def residual(t: Any, y: Any, ydot: Any) -> list[Any]:
        x, z = y["x"], y["z"]
        clipped = np.clip(z - 0.9, -0.5, 0.4)
        return [ydot["x"] - (rate_below if clipped <= -0.5 else -1.0), z + 0.1 * z**3 - 0.3 * np.sin(3.0 * t) - x]

    return tg.dae(residual, y0={"x": 0.8, "z": 0.7})


@pytest.mark.parametrize("rtol", [1e-3, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("method", ["radau", "ida"])
def test_pushing_back_below_the_bound_is_chattering_at_every_tolerance(method: str, rtol: float) -> None:
    with pytest.raises(tg.ChatteringError):
        tg.simulate(_pushed(2.0), (0.0, 3.0), method=method, rtol=rtol)


@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
@pytest.mark.parametrize("method", ["radau", "ida"])
def test_falling_on_below_the_bound_takes_the_other_rate(method: str, rtol: float) -> None:
    result = tg.simulate(_pushed(-0.25), (0.0, 2.0), method=method, rtol=rtol)
    (event,) = [event for event in result.events if "<= -0.5" in event.cause]
    late = float(result.at(event.time + 0.2)["x"]) - float(result.at(event.time + 1e-9)["x"])
    assert late == pytest.approx(-0.25 * 0.2, abs=1e-3)
