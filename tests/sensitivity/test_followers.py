"""A parameter whose value follows from another is held in derivatives by that other, and this is never done without a word."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tidegate as tg


class Chain(tg.Component):
    """x' = -j with j = 2 k and k = 3 x0."""

    x0 = tg.Parameter(1.0)
    k = tg.Parameter(lambda self: 3.0 * self.x0)
    j = tg.Parameter(lambda self: 2.0 * self.k)
    x = tg.State(0.0)

    def equations(self) -> Any:
        """One state."""
        yield tg.der(self.x) == -self.j


def test_what_is_left_out_of_a_derivative_is_told_with_what_to_ask_for() -> None:
    with pytest.warns(tg.SensitivityWarning, match="k follows from x0.*likewise j from x0"):
        tg.simulate(Chain(), (0.0, 1.0), sensitivities=["x0"])


def test_nothing_is_told_where_all_is_asked_for_or_nothing_follows() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = tg.simulate(Chain(), (0.0, 1.0), sensitivities="all")
        tg.simulate(Chain(), (0.0, 1.0), sensitivities=["x0"], parameters={"k": 3.0})
    # dx/dx0 in all: its own share, none, and that of j times dj/dk dk/dx0
    total = result.sensitivity("x", "x0")[-1] + 6.0 * result.sensitivity("x", "j")[-1]
    assert total == pytest.approx(-6.0, rel=1e-9)
