"""Runs with sparse systems against the same with dense ones, and against closed forms: steps, events, algebraic equations, sensitivities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.compiled import jacobian_pattern

__all__: list[str] = []

CELLS = 40


class Rod(tg.Component):
    """Cells in a row, heated by thermostats; the flow between two cells is an algebraic unknown."""

    T = tg.State(np.linspace(15.0, 25.0, CELLS))
    q = tg.Algebraic(np.zeros(CELLS + 1))
    on = tg.Discrete(False)
    k = tg.Parameter(30.0)
    power = tg.Parameter(40.0)

    def equations(self) -> Any:
        for i in range(1, CELLS):
            yield self.q[i] == self.k * (self.T[i - 1] - self.T[i])
        yield self.q[0] == 0.0
        yield self.q[CELLS] == 0.5 * self.T[CELLS - 1]
        for i in range(CELLS):
            yield tg.der(self.T[i]) == self.q[i] - self.q[i + 1] + (self.power if self.on and i == 0 else 0.0)

    @tg.when(lambda self: self.T[0] < 18.0)
    def too_cold(self) -> Any:
        return {self.on: True}

    @too_cold.elsewhen(lambda self: self.T[0] > 22.0)
    def too_warm(self) -> Any:
        return {self.on: False}


def _run(method: str, monkeypatch: pytest.MonkeyPatch, *, is_sparse: bool) -> tg.Result:
    monkeypatch.setattr(jacobian_pattern, "LEAST_WITH_ALGEBRAIC", 10 if is_sparse else 10_000)
    # a model of its own: what has been compiled is kept with the class
    model = type("Rod", (Rod,), {"__module__": __name__})()
    return tg.simulate(model, (0.0, 40.0), method=method, rtol=1e-8, sensitivities=["k", "power"], outputs=np.linspace(0, 40, 41))


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["radau", "ida"])
def test_a_rod_with_thermostats_runs_alike(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sparse = _run(method, monkeypatch, is_sparse=True)
    dense = _run(method, monkeypatch, is_sparse=False)
    assert len(sparse.events) == len(dense.events) >= 4
    for one, other in zip(sparse.events, dense.events, strict=True):
        assert one.time == pytest.approx(other.time, rel=1e-6)  # both by a run at 1e-8, whose steps differ
    for name in ("T", "q"):
        assert np.allclose(sparse[name], dense[name], rtol=0.0, atol=2e-5)
    for parameter in ("k", "power"):
        assert np.allclose(sparse.sensitivity("T", parameter), dense.sensitivity("T", parameter), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_heat_equation_decays_as_its_slowest_mode_and_so_does_its_derivative(method: str) -> None:
    n = 60
    x = np.arange(1, n + 1) / (n + 1)

    def heat(t: float, y: Any, p: Any) -> list[Any]:
        u = [0.0, *y, 0.0]
        return [p["k"] * (n + 1) ** 2 * (u[i - 1] - 2.0 * u[i] + u[i + 1]) for i in range(1, n + 1)]

    model = tg.ode(heat, y0={"u": np.sin(np.pi * x)}, p={"k": 1.0})
    end = 0.05
    result = tg.simulate(model, (0.0, end), method=method, rtol=1e-8, atol=1e-10, sensitivities=["k"])
    rate = 4.0 * (n + 1) ** 2 * np.sin(np.pi / (2 * (n + 1))) ** 2
    truth = np.sin(np.pi * x) * np.exp(-rate * end)
    assert np.allclose(np.asarray(result["u"])[-1], truth, rtol=0.0, atol=2e-7)
    # sensitivities have the tolerance of the run; its error adds up over some hundred steps
    assert np.allclose(np.asarray(result.sensitivity("u", "k"))[-1], -rate * end * truth, rtol=0.0, atol=2e-6)


def test_the_pattern_of_a_grid_is_sparse_and_that_of_a_mean_field_is_not() -> None:
    n = 50
    grid = {(i, j) for i in range(n) for j in (i - 1, i, i + 1) if 0 <= j < n}
    held = np.ones(n, dtype=bool)
    assert jacobian_pattern.sparsity_of(n, grid, held) is not None
    assert jacobian_pattern.sparsity_of(n, {(i, j) for i in range(n) for j in range(n)}, held) is None
    assert jacobian_pattern.sparsity_of(5, {(i, i) for i in range(5)}, np.ones(5, dtype=bool)) is None
