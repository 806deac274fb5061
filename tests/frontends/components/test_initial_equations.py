"""Start values that equations determine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from circuit_parts import Capacitor, Ground, Resistor, Source


class Tank(tg.Component):
    h = tg.State(0.5)
    q, k = tg.Parameter(3.0), tg.Parameter(2.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.h) == self.q - self.k * np.sqrt(self.h)
        yield tg.initial_equations(tg.der(self.h) == 0.25)


def test_a_rate_at_the_start_determines_the_start_value(method: str) -> None:
    result = tg.simulate(Tank(), (0.0, 0.1), rtol=1e-9, sensitivities=["q", "k"], method=method)
    assert result["h"].values[0] == pytest.approx(((3.0 - 0.25) / 2.0) ** 2, rel=1e-12)
    assert result.sensitivity("h", "q")[0] == pytest.approx(2 * 2.75 / 4, rel=1e-10)  # h = ((q - 1/4) / k)^2
    assert result.sensitivity("h", "k")[0] == pytest.approx(-2 * 2.75**2 / 8, rel=1e-10)


def test_the_start_follows_parameters_that_are_given() -> None:
    assert tg.simulate(Tank(), (0.0, 0.1), parameters={"q": 2.25})["h"].values[0] == pytest.approx(1.0, rel=1e-12)


def test_initial_equations_of_parts_are_solved_with_all_connections(dae_method: str) -> None:
    class Divider(tg.Component):
        s, r1, r2, c, g = Source(V=9.0), Resistor(R=1.0), Resistor(R=2.0), Capacitor(C=0.5), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.r1.p)
            yield tg.connect(self.r1.n, self.r2.p, self.c.p)
            yield tg.connect(self.r2.n, self.c.n, self.s.n, self.g.p)
            yield tg.initial_equations(tg.der(self.c.v) == 0)

    result = tg.simulate(Divider(), (0.0, 1.0), rtol=1e-9, sensitivities=["r1.R"], method=dae_method)
    assert result["c.v"].values[0] == pytest.approx(6.0, rel=1e-12)
    assert result.final["c.v"] == pytest.approx(6.0, rel=1e-8)
    assert result.sensitivity("c.v", "r1.R")[0] == pytest.approx(-9.0 * 2.0 / 9.0, rel=1e-9)


def test_guesses_give_way_before_values_that_were_not_called_guesses(dae_method: str) -> None:
    class Pair(tg.Component):
        x, y = tg.State(1.0), tg.State(2.0, fixed=False)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == -self.x
            yield tg.der(self.y) == self.x - self.y

        @tg.initially
        def related(self) -> Iterator[Any]:
            yield self.x + self.y == 5.0

    result = tg.simulate(Pair(), (0.0, 1.0), method=dae_method)
    assert (result["x"].values[0], result["y"].values[0]) == pytest.approx((1.0, 4.0))


def test_the_solution_near_the_guess_is_found() -> None:
    class Root(tg.Component):
        x = tg.State(-2.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == 0.0
            yield tg.initial_equations(self.x**2 == 2.0)

    assert tg.simulate(Root(), (0.0, 1.0)).final["x"] == pytest.approx(-math.sqrt(2.0))
    assert tg.simulate(Root(x=1.0), (0.0, 1.0)).final["x"] == pytest.approx(math.sqrt(2.0))


def test_more_equations_than_free_start_values_are_refused() -> None:
    class Full(tg.Component):
        x, y = tg.State(1.0, fixed=True), tg.State(2.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == -self.x
            yield tg.der(self.y) == -self.y
            yield tg.initial_equations(self.x == 3.0)

    with pytest.raises(tg.StructureError, match=r"no start value is left for the initial equation `self\.x == 3\.0` to determine; fixed are x"):
        tg.simulate(Full(), (0.0, 1.0))


def test_equations_without_a_solution_are_told() -> None:
    class Never(tg.Component):
        x = tg.State(1.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == 0.0
            yield tg.initial_equations(self.x**2 == -1.0)

    with pytest.raises(tg.InitializationError, match=r"could not be solved; farthest from holding is `self\.x\*\*2 == -1\.0`"):
        tg.simulate(Never(), (0.0, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_linear_systems_start_at_rest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    a = rng.normal(size=(n, n)) - 3.0 * np.eye(n)
    b = rng.normal(size=n)

    class Linear(tg.Component):
        x = tg.State(np.zeros(n))
        w = tg.Algebraic(np.zeros(n))
        u = tg.Parameter(1.0)

        def equations(self) -> Iterator[Any]:
            yield self.w == a @ self.x
            yield tg.der(self.x) == self.w + b * self.u
            yield tg.initial_equations(tg.der(self.x) == np.zeros(n))

    result = tg.simulate(Linear(), (0.0, 1.0), sensitivities=["u"], rtol=1e-8)
    truth = -np.linalg.solve(a, b)
    assert result["x"].values[0] == pytest.approx(truth, rel=1e-9, abs=1e-12)
    assert result.sensitivity("x", "u").values[0] == pytest.approx(truth, rel=1e-8, abs=1e-10)
