"""Where equations end at a threshold that a solution reaches without crossing it: a tank that runs down to its outlet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import METHODS, METHODS_WITH_RODAS5P

__all__: list[str] = []

K = np.linspace(0.75, 5.0, 12)


def outlet() -> Any:
    """Filled at the rate 1 until 2, and drained by a root above 0.5."""

    def rates(t: Any, y: Any, p: Any) -> Any:
        return [(1.0 if t < 2.0 else 0.0) - p["k"] * max(y["level"] - 0.5, 0.0) ** 0.5]

    return tg.ode(rates, y0={"level": 0.0}, p={"k": 2.0})


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_a_tank_runs_down_to_its_outlet_and_stays_there(rtol: float) -> None:
    # 122 of 176 such runs ended with a NotFiniteError when a polynomial may not dip below the outlet by rounding between two points that are right
    model = outlet()
    for k in K:
        result = tg.simulate(model, (0.0, 10.0), rtol=rtol, parameters={"k": float(k)})
        # the end of a root's fall is felt as the square of its time: what rounding and tolerances leave is small
        assert result.final["level"] == pytest.approx(0.5, abs=10.0 * rtol)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "taylor"])
def test_every_method_empties_the_tank(method: str) -> None:
    assert tg.simulate(outlet(), (0.0, 10.0), method=method).final["level"] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("method", [*METHODS_WITH_RODAS5P, "taylor"])
@pytest.mark.parametrize("start", [0.25, 1.0, 2.0, 3.7, 4.0])
def test_a_tank_that_runs_empty_says_so_once(start: float, method: str) -> None:
    # series of a parabola come to exactly nothing where the root of the start is a short number: no crossing, but the end of the fall
    def rates(t: Any, y: Any) -> Any:
        return [-(y["h"] ** 0.5) if y["h"] > 0.0 else 0.0]

    result = tg.simulate(tg.ode(rates, y0={"h": start}, events=[tg.event(lambda t, y: y["h"] <= 0.0)]), (0.0, 6.0), method=method)
    assert [event.time for event in result.events] == pytest.approx([2.0 * start**0.5], rel=1e-3)
    assert result.final["h"] == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("method", [*METHODS_WITH_RODAS5P, "taylor"])
def test_a_run_that_cannot_go_on_does_not_blame_what_dies_out_beside_it(method: str) -> None:
    def rates(t: Any, y: Any) -> Any:
        return {"x": 1.0 / (1.0 - t) ** 1.5, "z": -y["z"]}

    model = tg.ode(rates, y0={"x": 0.0, "z": 1e-9}, events=[tg.event(lambda t, y: y["z"] < 0.0)])
    with pytest.raises(tg.RunError) as told:
        tg.simulate(model, (0.0, 3.0), method=method)
    assert "`z < 0`" not in str(told.value)
    assert len(told.value.result.events) <= 1
