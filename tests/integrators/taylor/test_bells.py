"""What rises from nothing and falls again far ahead, where a series tells nothing of it yet, is not stepped over."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg

_BELLS: dict[str, tuple[Callable[[Any], Any], float]] = {
    # shapes of u, and their areas over all u
    "gauss": (lambda u: np.exp(-u * u), math.sqrt(math.pi)),
    "by a power": (lambda u: 0.3 ** (u * u), math.sqrt(math.pi / -math.log(0.3))),
    "hyperbolic": (lambda u: 1.0 / np.cosh(u), math.pi),
    "of a tangent": (lambda u: 1.0 - np.tanh(u) ** 2, 2.0),
    "between two flanks": (lambda u: 1.0 / ((1.0 + np.exp(-u - 3.0)) * (1.0 + np.exp(u - 3.0))), 6.0 / (1.0 - math.exp(-6.0))),
    "two of them": (lambda u: np.exp(-u * u) + np.exp(-((u - 20.0) ** 2)), 2.0 * math.sqrt(math.pi)),
}


def _models(shape: Callable[[Any], Any], centre: float, width: float) -> dict[str, Any]:
    return {
        "of time": tg.ode(lambda t, y: [shape((t - centre) / width)], y0=[0.0]),
        "of a state": tg.ode(lambda t, y: [shape((y[1] - centre) / width), 1.0], y0=[0.0, 0.0]),
        "beside others": tg.ode(lambda t, y: [shape((t - centre) / width), *[-k * y[k] for k in range(1, 6)]], y0=[0.0, *[1.0] * 5]),
    }


def test_a_bell_whose_formula_overflows_far_away_is_left_to_another_method() -> None:
    """cosh(500)**2 is infinite: its quotient is zero, which no series tells; steps of 1e-127 were taken without an end."""
    model = tg.ode(lambda t, y: {"x": 1.0 / np.cosh((t - 5.0) / 0.01) ** 2}, {"x": 0.0})
    result = tg.simulate(model, (0.0, 10.0), method="taylor", max_steps=5000)
    assert result.final["x"] == pytest.approx(0.02, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", _BELLS)
def test_no_bell_is_stepped_over(name: str) -> None:
    shape, area = _BELLS[name]
    rng = np.random.default_rng(len(name))
    for width in (0.3, 0.05, 0.01, 0.002):
        rtol = 10.0 ** rng.uniform(-9.0, -4.0)
        centre = rng.uniform(15.0 * width, min(600.0 * width, 5.0))
        for where, model in _models(shape, centre, width).items():
            result = tg.simulate(model, (0.0, centre + 100.0 * width), method="taylor", rtol=rtol, atol=1e-2 * rtol)
            got = float(result["y[0]"][-1]) / width
            assert got == pytest.approx(area, rel=1e-3 + 100 * rtol * 1e-2 / width), (where, width, centre, rtol)
