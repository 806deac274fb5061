"""Unknowns that are small against one are computed as well as large ones, whatever their unit; where they may be rounding, that is said."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []

_METHODS = ("auto", "radau", "rodas5p", "bdf", "adams", "ida")
_RTOL = 1e-6


def _epidemic(start: float) -> Any:
    """Logistic growth, x = 1/2 at log(1/start - 1)."""
    return tg.ode(lambda t, y: {"x": y["x"] * (1.0 - y["x"])}, y0={"x": start}, events=tg.event(lambda t, y: y["x"] > 0.5))


@pytest.mark.parametrize("method", _METHODS)
@pytest.mark.parametrize("start", [1e-3, 1e-6, 1e-9])
def test_what_begins_very_small_grows_when_it_should(method: str, start: float) -> None:
    """The steps of a multistep method add up to hundreds of tolerances in x, and dx/x is the error in time."""
    result = tg.simulate(_epidemic(start), (0, 60), method=method, rtol=_RTOL)
    assert [event.time for event in result.events] == pytest.approx([math.log(1.0 / start - 1.0)], abs=1e3 * _RTOL)


class RandomUnits:
    """Random equations y' = L f(t, y / L), which are those of L = 1 in another unit: with `if`, resets, starts at zero and at rest."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.n = int(random.integers(2, 4))
        self.rates = np.round(random.uniform(-1.0, 1.0, (self.n, self.n)), 2) - 0.6 * np.eye(self.n)
        self.waves = np.round(random.uniform(0.3, 2.0, (self.n, 2)), 2)
        self.kinds = random.integers(0, 5, self.n).tolist()
        self.starts = np.round(random.uniform(-1.0, 1.0, self.n) * (random.random(self.n) < 0.7), 2).tolist()
        self.threshold, self.bounce = round(float(random.uniform(-0.4, 0.4)), 2), round(float(random.uniform(0.2, 0.9)), 2)

    def _shape(self, k: int, t: Any, x: Any) -> Any:
        """Nothing but numbers in it."""
        amplitude, rate = self.waves[k]
        own = x[k]
        kind = self.kinds[k]
        if kind == 0:
            return amplitude * np.sin(rate * t)
        if kind == 1:
            return amplitude * own if own < self.threshold else amplitude * self.threshold - rate * (own - self.threshold)
        if kind == 2:
            return np.tanh(x[(k + 1) % self.n] * rate) - own * own * own
        if kind == 3:
            return max(own, x[(k + 1) % self.n]) * amplitude - rate
        return amplitude * (1.0 if t > rate else 0.0)

    def model(self, unit: float) -> Any:
        names = [f"x{k}" for k in range(self.n)]

        def rates(t: Any, y: Any) -> dict[str, Any]:
            x = [y[name] / unit for name in names]
            return {name: unit * (sum(self.rates[k, j] * x[j] for j in range(self.n)) + self._shape(k, t, x)) for k, name in enumerate(names)}

        def reset(t: Any, y: Any) -> dict[str, Any]:
            return {"x0": -self.bounce * y["x0"], "x1": y["x1"] + 0.3 * unit}

        event = tg.event(lambda t, y: y["x1"] > (self.threshold + 0.5) * unit, reset=reset)
        return tg.ode(rates, y0={name: unit * start for name, start in zip(names, self.starts, strict=True)}, events=event)


def _compare_units(seed: int, methods: tuple[str, ...], units: tuple[float, ...]) -> None:
    random = RandomUnits(seed)
    truth = tg.simulate(random.model(1.0), (0, 4), method="radau", rtol=1e-10, atol=1e-12)
    times = [event.time for event in truth.events]
    for unit in units:
        for method in methods:
            result = tg.simulate(random.model(unit), (0, 4), method=method, rtol=_RTOL)
            assert [event.time for event in result.events] == pytest.approx(times, abs=1e-3), (method, unit)
            found = np.array([result.final[f"x{k}"] for k in range(random.n)]) / unit
            assert found == pytest.approx([truth.final[f"x{k}"] for k in range(random.n)], rel=1e-3, abs=1e-3), (method, unit)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_equations_are_the_same_in_a_small_unit(seed: int) -> None:
    _compare_units(seed, ("auto", "radau"), (1e-6, 1e-9))


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(4, 16))
def test_random_equations_are_the_same_in_every_unit_by_every_method(seed: int) -> None:
    _compare_units(seed, _METHODS, (1e-3, 1e-6, 1e-9))


@pytest.mark.parametrize("named", [True, False])
def test_what_a_front_has_not_reached_yet_asks_for_no_steps(named: bool) -> None:
    """A rod of 40 cells at zero, hot at one end: about the steps of a tolerance for its size; cell by cell three times as many."""
    n = 40

    def rates(t: Any, y: Any) -> Any:
        x = y["T"] if named else y
        found = 16.0 * (np.concatenate([[1.0], x[:-1]]) - 2.0 * x + np.concatenate([x[1:], x[-1:]]))
        return {"T": found} if named else found

    model = tg.ode(rates, y0={"T": np.zeros(n)} if named else np.zeros(n))
    own, given = (tg.simulate(model, (0, 20), method="radau", **options).statistics.steps for options in ({}, {"atol": 1e-8}))
    assert own <= 1.3 * given


class _Cell(tg.Component):
    before = tg.InputSignal()
    x = tg.State(start=0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 5.0 * (self.before - self.x)


class _Row(tg.Component):
    n = tg.Constant(60)
    cell = tg.Array(_Cell, n)

    def equations(self) -> Any:
        for k in range(self.n):
            yield self.cell[k].before == (1.0 if k == 0 else self.cell[k - 1].x)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["taylor", "radau", "bdf"])
def test_an_array_of_parts_is_held_to_the_tolerances_of_an_array_of_numbers(method: str) -> None:
    def rates(t: Any, y: Any) -> Any:
        x = [1.0, *y["x"]]
        return {"x": [5.0 * (x[k] - x[k + 1]) for k in range(60)]}

    by_hand = tg.simulate(tg.ode(rates, y0={"x": np.zeros(60)}), (0, 4), method=method, rtol=_RTOL)
    of_parts = tg.simulate(_Row(), (0, 4), method=method, rtol=_RTOL)
    assert of_parts.statistics.steps == pytest.approx(by_hand.statistics.steps, abs=2)
    assert of_parts.final["cell[20].x"] == pytest.approx(by_hand.final["x[20]"], rel=1e-3)


def _told(run: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tg.simulate(run, (0, 5), **options)
    return [str(item.message) for item in caught if issubclass(item.category, tg.ToleranceWarning)]


def _decay(start: float) -> Any:
    return tg.ode(lambda t, y: {"q": -y["q"]}, y0={"q": start})


def _beside(small: float) -> Any:
    return tg.ode(lambda t, y: {"q": -y["q"], "u": np.cos(t)}, y0={"q": small, "u": 0.0})


@pytest.mark.parametrize("method", _METHODS)
def test_what_may_be_rounding_is_said_to_be_held_to_little(method: str) -> None:
    (sentence,) = _told(_decay(1e-12), method=method)
    assert sentence.startswith("q is so small")
    assert _told(_decay(1e-12), method=method, atol={"q": 1e-20}) == []
    assert _told(_decay(1e-9), method=method) == []


def test_what_is_certainly_rounding_beside_large_unknowns_is_not_spoken_of() -> None:
    assert _told(_beside(1e-17)) == []
    assert _told(_beside(0.0)) == []
    assert _told(_beside(1e-9)) == []
    assert [sentence[:5] for sentence in _told(_beside(1e-12))] == ["q is "]


def test_a_nominal_size_settles_it() -> None:
    class Cell(tg.Component):
        q = tg.State(1e-12, nominal=1e-12)

        def equations(self) -> Any:
            yield tg.der(self.q) == -self.q

    assert _told(Cell()) == []
    assert tg.simulate(Cell(), (0, 5)).final["q"] == pytest.approx(1e-12 * math.exp(-5.0), rel=1e-4)


def test_an_unknown_that_waits_at_zero_is_held_to_its_size_when_it_moves() -> None:
    """At rest until t = 1, then x = 1e-8 (1 - exp(-(t - 1)))."""
    model = tg.ode(lambda t, y: {"x": (1e-8 if t > 1.0 else 0.0) - y["x"], "v": 0.0}, y0={"x": 0.0, "v": 0.0})
    for method in _METHODS:
        assert tg.simulate(model, (0, 5), method=method).final["x"] == pytest.approx(1e-8 * (1.0 - math.exp(-4.0)), rel=1e-4)


def test_a_run_in_pieces_keeps_the_tolerances_of_the_whole() -> None:
    whole = tg.simulate(_epidemic(1e-9), (0, 60), method="radau")
    simulation = tg.Simulation(_epidemic(1e-9), method="radau")
    for t in range(1, 61):
        simulation.advance(float(t))
    assert [event.time for event in simulation.result.events] == pytest.approx([event.time for event in whole.events], abs=1e-5)


def test_a_sweep_says_it_of_its_runs() -> None:
    model = tg.ode(lambda t, y, p: {"q": -p["k"] * y["q"]}, y0={"q": 1e-12}, p={"k": 1.0})
    with pytest.warns(tg.ToleranceWarning, match="q is so small"):
        sweep = tg.sweep(model, (0, 5), parameters={"k": [1.0, 2.0, 3.0]})
    assert np.isfinite(sweep["q"].values).all()


@pytest.mark.parametrize("method", ["auto", "radau", "rodas5p", "ida"])
def test_a_first_step_moves_time(method: str) -> None:
    """v' = 1e19 at t = 1e-6, where half a tolerance is reached in 1e-27."""
    model = tg.ode(lambda t, y: {"x": y["v"], "v": -1e18 * y["x"]}, y0={"x": 1.0, "v": 0.0})
    result = tg.simulate(model, (1e-6, 1.001e-6), method=method)
    assert result.final["x"] == pytest.approx(math.cos(1.0), abs=1e-4)
