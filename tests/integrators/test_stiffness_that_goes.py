"""Systems that are stiff in one place and not in the next: what is judged by the matrix of the first would be wrong in the second without a word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tidegate as tg
from engines import SUNDIALS_METHODS

__all__: list[str] = []


def friction(width: float) -> Any:
    """A swinging mass with dry friction, its jump drawn out over a small speed: stiff at rest only."""
    return lambda t, y: [y[1], -y[0] - 0.1 * y[1] / np.sqrt(y[1] * y[1] + width * width)]


def guided(seed: int) -> Any:
    """A speed is held by a strong guide, and let go: at a time, with the speed, or for a while."""
    draw = np.random.default_rng(seed)
    k, t0, w = 10 ** draw.uniform(3, 6), draw.uniform(0.5, 4), 10 ** draw.uniform(-0.5, 0.5)
    a, b, c = draw.uniform(0.5, 2, 3)

    def rates(t: Any, y: Any) -> Any:
        if seed % 3 == 0:
            s = 0.5 * k * (1.0 - np.tanh(10.0 * (t - t0) / w))
        elif seed % 3 == 1:
            s = 0.5 * k * (1.0 + np.tanh((y[1] - 0.3 * a) * 10 / w))
        else:
            s = k * np.exp(-(((t - t0) / w) ** 4))
        return [b * y[1], -s * (y[1] - 0.2 * c) - a * y[0] + np.cos(c * t)]

    return rates


def require(rates: Any, y0: list[float], end: float, tolerances: tuple[float, ...], allowed: float) -> None:
    """All of SUNDIALS' methods come to the right end."""
    # lsoda changes its method, and is no relative of what is tested
    truth = solve_ivp(rates, (0.0, end), y0, method="LSODA", rtol=1e-10, atol=1e-13, max_step=0.01).y[:, -1]
    for method in SUNDIALS_METHODS:
        for rtol in tolerances:
            found = np.array(list(tg.simulate(tg.ode(rates, y0=y0), (0.0, end), rtol=rtol, method=method).final.values()))
            off = float(np.max(np.abs(found - truth)) / max(np.max(np.abs(truth)), 0.1) / rtol)
            assert off < allowed, (method, rtol, off)


@pytest.mark.parametrize("width", [1e-3, 1e-5, 1e-7])
def test_dry_friction_stops_a_mass_at_any_tolerance(width: float) -> None:
    # steps of a multistep method add up over half a dozen stops; 1e5 and more was found where it went wrong
    require(friction(width), [1.0, 0.0], 10.0, (1e-3, 1e-4, 1e-6), 200.0)


@pytest.mark.parametrize("seed", [5, 6, 9, 14, 17, 21, 24])
def test_what_was_held_and_is_let_go_moves_as_it_should(seed: int) -> None:
    require(guided(seed), [0.0, 1.0], 8.0, (1e-3, 1e-5), 300.0)
