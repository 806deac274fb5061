"""Exponentials that overflow in a divisor: 1 / (1 + exp(u)) is 0 there, and so are its derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg

SLOW, STEEP, WHERE, T_END = 0.3, 1e4, 0.5, 2.0


def switch(_t: Any, y: Any, p: Any) -> list[Any]:
    """From 0.3 to 1.3 where y passes c: a logistic function as it is written in papers, whose exponential is infinite at the start."""
    return [1.0 / (1.0 + np.exp(-STEEP * (y["y"] - p["c"]))) + p["a"]]


@pytest.mark.parametrize("method", ["auto", "taylor", "radau", "bdf", "ida", "rodas5p"])
def test_a_steep_logistic_function_of_the_unknown_is_run_through_with_its_derivatives(method: str) -> None:
    model = tg.ode(switch, y0={"y": 0.0}, p={"c": WHERE, "a": SLOW})
    result = tg.simulate(model, (0.0, T_END), rtol=1e-8, atol=1e-10, method=method, sensitivities=["c"])
    # the time from 0 to y: with u = exp(-STEEP (y - c)) the rate is a + 1 / (1 + u), and its inverse integrates to logarithms
    y = float(result.final["y"])
    sides = [np.logaddexp(0.0, np.log(SLOW / (1.0 + SLOW)) - STEEP * (at - WHERE)) for at in (0.0, y)]
    needed = y / (1.0 + SLOW) + (sides[0] - sides[1]) / STEEP * (1.0 / SLOW - 1.0 / (1.0 + SLOW))
    assert needed == pytest.approx(T_END, abs=1e-5)
    # y(T) moves by 1 - (1 + a) / a with c
    assert float(result.sensitivity("y", "c")[-1]) == pytest.approx(1.0 - (1.0 + SLOW) / SLOW, abs=2e-3)
