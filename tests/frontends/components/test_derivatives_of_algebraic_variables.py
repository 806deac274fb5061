"""A derivative of what was declared as algebraic: a state where nothing else determines it, else differentiated; with parts and without."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg


class Rates(tg.Component):
    """y, its rate and its acceleration follow from x; c is a state though it is not called one."""

    x, k = tg.State(1.0), tg.Parameter(2.0)
    y, rate, acceleration, c = tg.Algebraic(), tg.Algebraic(), tg.Algebraic(), tg.Algebraic(3.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == -self.k * self.x
        yield self.y == self.x**2 + np.sin(1.0 * tg.time)
        yield self.rate == tg.der(self.y)
        yield self.acceleration == tg.der(self.rate)
        yield tg.der(self.c) == -self.c


class Within(tg.Component):
    r = Rates()


class Several(tg.Component):
    """Of an array one element is differentiated."""

    x, y, rate = tg.State(1.0), tg.Algebraic(shape=2), tg.Algebraic()

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == -self.x
        yield self.y[0] == 2 * self.x
        yield self.y[1] == 3 * self.x
        yield self.rate == tg.der(self.y[1])


@pytest.mark.parametrize(("kind", "head"), [(Rates, ""), (Within, "r.")])
def test_derivatives_of_algebraic_variables_are_those_of_the_closed_form(kind: Any, head: str, dae_method: str) -> None:
    result = tg.simulate(kind(), (0.0, 1.0), rtol=1e-9, method=dae_method, sensitivities=[f"{head}k"], outputs=0.25)
    for k, t in enumerate(result.t.tolist()):
        square = math.exp(-4 * t)
        wanted = {"y": square + math.sin(t), "rate": -4 * square + math.cos(t), "acceleration": 16 * square - math.sin(t), "c": 3 * math.exp(-t)}
        assert {name: float(result[head + name][k]) for name in wanted} == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    # rate = -2 k exp(-2 k t) + cos t
    assert float(result.sensitivity(f"{head}rate", f"{head}k")[-1]) == pytest.approx((4 * 2.0 - 2) * math.exp(-4.0), rel=1e-5)


@pytest.mark.slow
def test_one_element_of_an_array_may_be_differentiated() -> None:
    result = tg.simulate(Several(), (0.0, 1.0), rtol=1e-9)
    assert [result.final[name] for name in ("y[0]", "y[1]", "rate")] == pytest.approx([2 / math.e, 3 / math.e, -3 / math.e], rel=1e-7)
    assert tg.verify(result).ok


def test_the_start_of_what_is_a_state_only_by_its_derivative_is_a_guess_that_others_overrule() -> None:
    class Tied(tg.Component):
        x, y, f = tg.State(1.0), tg.Algebraic(7.0), tg.Algebraic()

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == self.f
            yield tg.der(self.y) == -self.y - self.f
            yield self.x == 2 * self.y

    assert tg.simulate(Tied(), (0.0, 0.1))["y"][0] == pytest.approx(0.5)  # without a warning
