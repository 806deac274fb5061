"""Smooth runs of a sweep of which a step is taken at once are those of ``tg.simulate`` to the last bit, whatever else happens in them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from random_models import Once
from smooth_models import SmoothModel, smooth_model
from sweep_checks import assert_is_the_loop, looped
from tidegate.executive import ManyRuns, many_runs
from tidegate.integrators.taylor import taylor_method
from tidegate.integrators.taylor.taylor_method import order_for
from tidegate.integrators.taylor.together import Together


@pytest.fixture
def side_by_side(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many calls there were of what carries several runs on, which are few enough to be left to it."""
    calls: list[int] = []
    real = Together.go_on

    def go_on(self: Together, several: Any, enter: Any) -> bool:
        calls.append(len(several.rows))
        return real(self, several, enter)

    monkeypatch.setattr(Together, "go_on", go_on)
    monkeypatch.setattr(taylor_method, "_WORTH_WHILE", 0)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 12))])
def test_random_smooth_runs_side_by_side_are_runs_alone(side_by_side: list[int], seed: int, tmp_path: Path) -> None:
    check(smooth_model(seed, tmp_path, 21), 1 + seed % 2, side_by_side)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 20))])
def test_random_runs_with_events_side_by_side_are_runs_alone(side_by_side: list[int], seed: int, tmp_path: Path) -> None:
    check(smooth_model(seed, tmp_path, 21, with_conditions=True), 1 + seed % 2, side_by_side)


def check(case: SmoothModel, workers: int, side_by_side: list[int]) -> None:
    model, options = Once(case.model), {"max_steps": 5000} | case.options | {"method": "taylor"}
    values = {name: [row[name] for row in case.rows] for name in case.rows[0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.ToleranceWarning)
        found = tg.sweep(model, case.t_span, values, workers=workers, **options)
        results = looped(model, case.rows, case.t_span, **options)
    assert_is_the_loop(found, results, case.names)
    assert found["steps"].values.tolist() == [result.statistics.steps for result in results], case.text
    compiled = tg.prepare(model, case.t_span, **options).problem.model
    series = compiled.series
    is_watched = series.functions(order_for(options["rtol"]), with_tangent=False).n_guards == int((~compiled.guards.is_time).sum())
    assert bool(side_by_side) == (is_watched and series.members(order_for(options["rtol"]), may_be_made=True) is not None)


def lorenz() -> Any:
    def rates(t, y, p):
        return {"x": p["s"] * (y["y"] - y["x"]), "y": y["x"] * (p["r"] - y["z"]) - y["y"], "z": y["x"] * y["y"] - p["b"] * y["z"]}

    return Once(tg.ode(rates, {"x": 1.0, "y": 1.0, "z": 1.0}, p={"s": 10.0, "r": 28.0, "b": 8 / 3}))


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [None, 0.5, 0.002])
def test_runs_of_very_different_lengths_take_each_others_places(side_by_side: list[int], outputs: float | None) -> None:
    """Runs of r = 1 rest, those of r = 300 take ten times as many steps; 2500 rows of a run are more than a buffer takes of several."""
    values = np.random.default_rng(1).choice([1.0, 5.0, 28.0, 300.0], 40)
    options: dict[str, Any] = {"outputs": outputs, "rtol": 1e-7}
    found = tg.sweep(lorenz(), (0.0, 5.0), {"r": values}, workers=1, **options)
    assert_is_the_loop(found, looped(lorenz(), [{"r": r} for r in values], (0.0, 5.0), **options), ["x", "y", "z"])
    assert side_by_side


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9])
def test_fewer_runs_than_there_are_places(side_by_side: list[int], count: int) -> None:
    values = [20.0 + k for k in range(count)]
    found = tg.sweep(lorenz(), (0.0, 3.0), {"r": values}, workers=1)
    assert_is_the_loop(found, looped(lorenz(), [{"r": r} for r in values], (0.0, 3.0)), ["x", "y", "z"])
    assert side_by_side


def test_runs_that_fail_and_runs_with_too_many_steps_leave_nothing_behind(side_by_side: list[int]) -> None:
    """x' = a x^2 has no solution behind 1 / a."""
    model = Once(tg.ode(lambda t, y, p: {"x": p["a"] * y["x"] ** 2, "z": np.cos(30.0 * t * p["w"])}, {"x": 1.0, "z": 0.0}, p={"a": 1.0, "w": 1.0}))
    rows = [{"a": a, "w": w} for a in (0.2, 1.7, 0.5, 3.0) for w in (0.1, 1.0, 9.0)]
    values = {name: [row[name] for row in rows] for name in ("a", "w")}
    found = tg.sweep(model, (0.0, 1.0), values, max_steps=60, outputs=0.1, workers=1)
    results = looped(model, rows, (0.0, 1.0), max_steps=60, outputs=0.1)
    assert_is_the_loop(found, results, ["x", "z"])
    assert set(found["status"].values.tolist()) == {"finished", "failed"}
    assert side_by_side


@pytest.mark.slow
def test_machine_code_for_several_runs_is_made_once_a_sweep_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    real = Together.begin
    monkeypatch.setattr(Together, "begin", lambda self, several: (calls.append(1), real(self, several))[1])
    model = lorenz()
    few = tg.sweep(model, (0.0, 3.0), {"r": np.linspace(20.0, 30.0, 30)}, workers=1)
    assert not calls
    many = tg.sweep(model, (0.0, 3.0), {"r": np.linspace(20.0, 30.0, 6001)}, workers=1)
    assert calls
    np.testing.assert_array_equal(many["x"].values[0], few["x"].values[0])
    np.testing.assert_array_equal(many["x"].values[-1], few["x"].values[-1])


def test_runs_that_are_over_are_kept_when_somebody_stops_a_sweep(side_by_side: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Those under way are left out, whatever they have written down already."""
    monkeypatch.setattr(many_runs, "_MOST_STEPS", 4000)
    visits: list[int] = []

    def is_halted() -> bool:
        visits.append(1)
        return len(visits) > 2

    values = np.linspace(20.0, 30.0, 500)
    many = ManyRuns(tg.prepare(lorenz(), (0.0, 5.0), outputs=[1.0, 5.0], dense=False), ["r"])
    found = many.recorded([many.carried_out(0, 500, values[:, None], is_halted)])
    assert side_by_side
    assert 8 < len(found.runs) < 400
    assert not len(found.alone)
    assert np.bincount(found.row_owner).tolist() == [2] * len(found.runs)
    last = tg.simulate(lorenz(), (0.0, 5.0), outputs=[1.0, 5.0], parameters={"r": values[found.runs[-1]]})
    np.testing.assert_array_equal(found.rows["values"][-2:], last.values)
