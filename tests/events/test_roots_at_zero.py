"""Roots that are vertical at zero, where tanks are empty, run empty and are filled again: as newcomers write them, against what is known of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tidegate as tg

METHODS = ["radau", "ida", "bdf", "rodas5p", "taylor"]


def filled_for(time: float, inflow: float, k: float) -> float:
    """The level of a tank of area 1, ``h' = inflow - k sqrt(h)``, empty at first: by bisection in w = k sqrt(h) / inflow."""
    low, high = 0.0, 1.0
    for _ in range(200):
        w = 0.5 * (low + high)
        low, high = (w, high) if -2.0 * inflow / k**2 * (w + np.log1p(-w)) < time else (low, w)
    return float((inflow / k * 0.5 * (low + high)) ** 2)


class ByMax(tg.Component):
    h, start = tg.State(0.0), tg.Parameter(0.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.h) == tg.where(tg.time < self.start, 0.0, 0.3) - 0.5 * max(self.h, 0) ** 0.5


class ByChoice(ByMax):
    @tg.replaces
    def equations(self) -> Iterator[Any]:
        yield tg.der(self.h) == tg.where(tg.time < self.start, 0.0, 0.3) - tg.where(self.h > 0, 0.5 * np.sqrt(abs(self.h)), 0.0)


class ByAlgebraic(tg.Component):
    h, q, start = tg.State(0.0), tg.Algebraic(), tg.Parameter(0.0)

    def equations(self) -> Iterator[Any]:
        yield self.q == 0.5 * max(self.h, 0) ** 0.5
        yield tg.der(self.h) == tg.where(tg.time < self.start, 0.0, 0.3) - self.q


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [ByMax, ByAlgebraic])
@pytest.mark.parametrize("start", [0.0, 1.0])
def test_an_empty_tank_is_filled(kind: Any, start: float, method: str) -> None:
    final = tg.simulate(kind(start=start), (0.0, 4.0), rtol=1e-8, atol=1e-10, method=method).final
    assert final["h"] == pytest.approx(filled_for(4.0 - start, 0.3, 0.5), rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [ByMax, ByChoice, ByAlgebraic])
def test_a_tank_runs_empty_and_is_filled_again(kind: Any, method: str) -> None:
    result = tg.simulate(kind(h=0.04, start=2.0), (0.0, 4.0), outputs=[0.4, 1.5, 4.0], rtol=1e-8, atol=1e-10, method=method)
    assert result["h"].values == pytest.approx([0.01, 0.0, filled_for(2.0, 0.3, 0.5)], rel=1e-6, abs=1e-9)  # sqrt(h) falls by 1/4 a second


def test_a_root_of_what_is_negative_is_still_refused() -> None:
    class Outside(tg.Component):
        h = tg.State(1.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.h) == -1.0 - 0.1 * self.h**0.5

    with pytest.raises(tg.RunError):
        tg.simulate(Outside(), (0.0, 2.0))


class Joined(tg.Component):
    a, b, q = tg.State(1.0), tg.State(0.2), tg.Algebraic()

    def equations(self) -> Iterator[Any]:
        d = self.a - self.b
        yield self.q == np.sign(d) * abs(d) ** 0.5
        yield tg.der(self.a) == -self.q
        yield tg.der(self.b) == self.q


@pytest.mark.parametrize("method", ["radau", "ida", "bdf", "rodas5p"])
def test_two_tanks_come_to_one_level_and_rest(method: str) -> None:
    result = tg.simulate(Joined(), (0.0, 2.0), outputs=[0.5, 2.0], rtol=1e-8, atol=1e-10, method=method)
    d = result["a"].values - result["b"].values
    assert d == pytest.approx([(0.8**0.5 - 0.5) ** 2, 0.0], abs=1e-7)  # sqrt(d) falls by 1 a second
    assert result["a"].values + result["b"].values == pytest.approx([1.2, 1.2], rel=1e-9)


@pytest.mark.parametrize("method", ["radau", "ida", "bdf", "rodas5p"])
def test_what_flows_is_finite_and_nothing_where_levels_rest(method: str) -> None:
    result = tg.simulate(Joined(), (0.0, 2.0), method=method)  # q of nan would be a warning, and warnings are errors
    assert np.isfinite(result["q"].values).all()
    assert result.final["q"] == pytest.approx(0.0, abs=2e-3)
    assert len(result.events) == 0


class Tank(tg.Component):
    A, k, h = tg.Parameter(1.0), tg.Parameter(0.3), tg.State(1.0)
    inflow, q = tg.InputSignal(), tg.Output()

    def equations(self) -> Iterator[Any]:
        yield self.q == self.k * max(self.h, 0) ** 0.5
        yield self.A * tg.der(self.h) == self.inflow - self.q


# what flows out may be shown as nan in a row at the instant at which a tank is empty, and a warning says so
@pytest.mark.filterwarnings("ignore:the unknown T:tidegate.NotFiniteWarning")
@pytest.mark.parametrize("method", ["radau", "ida"])
@pytest.mark.parametrize("seed", range(6))
def test_random_cascades_are_filled_and_drained(seed: int, method: str) -> None:
    draw = random.Random(seed)
    n, start, fill = draw.randint(1, 3), [draw.choice([0.0, 0.0, draw.uniform(0.1, 1.0)]) for _ in range(3)], draw.uniform(0.1, 0.6)
    area, k = [draw.uniform(0.5, 2.0) for _ in range(n)], [draw.uniform(0.2, 0.8) for _ in range(n)]
    first, later = draw.uniform(1.0, 5.0), draw.uniform(3.0, 12.0)
    flows = draw.choice([(0.0, fill, 0.3 * fill), (fill, 0.0, 0.3 * fill)])
    ends = [first, first + later, first + later + draw.uniform(2.0, 10.0)]

    def equations(self: Any) -> Iterator[Any]:
        yield self.T0.inflow == tg.where(tg.time < ends[0], flows[0], tg.where(tg.time < ends[1], flows[1], flows[2]))
        for i in range(1, n):
            yield getattr(self, f"T{i}").inflow == getattr(self, f"T{i - 1}").q

    parts = {f"T{i}": Tank(A=area[i], k=k[i], h=start[i]) for i in range(n)}
    model = type("Cascade", (tg.Component,), {**parts, "equations": equations, "__module__": __name__})()
    final = tg.simulate(model, (0.0, ends[-1]), rtol=1e-7, atol=1e-10, method=method).final
    h, begin = np.array(start[:n]), 0.0
    for flow, end in zip(flows, ends, strict=True):

        def rates(_t: float, h: Any, flow: float = flow) -> Any:
            out = np.array(k) * np.sqrt(np.maximum(h, 0.0))
            return (np.array([flow, *out[:-1]]) - out) / np.array(area)

        h, begin = np.maximum(solve_ivp(rates, (begin, end), h, method="LSODA", rtol=1e-10, atol=1e-13).y[:, -1], 0.0), end
    assert [final[f"T{i}.h"] for i in range(n)] == pytest.approx(h.tolist(), abs=2e-5)
