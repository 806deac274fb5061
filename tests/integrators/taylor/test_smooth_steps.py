"""Steps taken many in a row are those that the loop takes one by one, to the last bit, whatever is kept of them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from smooth_models import SmoothModel, smooth_model
from tidegate.integrators.taylor import taylor_method

MOST_STEPS = 5000  # of a run, some of which have no end


def runs(case: SmoothModel, row: dict[str, float]) -> list[tg.Result]:
    """With polynomials, with rows at steps, with rows at times that are asked for, with the end alone; with derivatives."""
    begin, end = case.t_span
    asked = np.linspace(begin, end, 37)
    kept: list[dict[str, Any]] = [{}, {"dense": False}, {"dense": False, "outputs": asked}, {"outputs": asked}, {"dense": False, "outputs": [end]}]
    kept += [{"sensitivities": ["a", "b"]}, {"sensitivities": ["b"], "dense": False, "outputs": asked}, {"sensitivities": ["a"], "dense": False}]
    found: list[tg.Result] = []
    for options in kept:
        others = {name: value for name, value in case.options.items() if name != "outputs"}
        try:
            found.append(tg.simulate(case.model, case.t_span, parameters=row, method="taylor", **({"max_steps": MOST_STEPS} | others | options)))
        except tg.RunError as error:
            found.append(error.result)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 12))])
def test_smooth_steps_are_those_of_the_loop(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(smooth_model(seed, tmp_path, 2), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 20))])
def test_steps_far_from_events_are_those_of_the_loop(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(smooth_model(seed, tmp_path, 2, with_conditions=True), monkeypatch)


def check(case: SmoothModel, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.ToleranceWarning)
        many = [result for row in case.rows for result in runs(case, row)]
        monkeypatch.setattr(taylor_method, "_is_smooth", lambda problem, n_watched: False)
        one_by_one = [result for row in case.rows for result in runs(case, row)]
    for own, expected in zip(many, one_by_one, strict=True):
        assert (own.status, own.statistics.steps) == (expected.status, expected.statistics.steps), case.text
        assert own.t.tobytes() == expected.t.tobytes()
        assert own.values.tobytes() == expected.values.tobytes(), case.text
        assert own.events.times.tobytes() == expected.events.times.tobytes(), case.text
        assert np.array_equal(own.sensitivities, expected.sensitivities, equal_nan=True) if own.sensitivities is not None else True, case.text
    ends = {result.values[-1].tobytes() for result in many[:5] if result.status == "finished"}
    assert len(ends) <= 1, f"numbers depend on what is kept: {case.text}"


def test_what_grows_by_orders_of_magnitude_is_held_to_its_size_whatever_is_kept() -> None:
    """x' = 3 x from 1e-9: absolute tolerances follow its size; the closed form to 1e-5, ten times the tolerance."""
    model = tg.ode(lambda t, y: {"x": 3.0 * y["x"] * np.cos(0.1 * t), "v": y["x"]}, {"x": 1e-9, "v": 0.0})
    ends = [tg.simulate(model, (0.0, 8.0), rtol=1e-6, method="taylor", **options).final["x"] for options in ({}, {"dense": False, "outputs": [8.0]})]
    assert ends[0] == ends[1]
    assert ends[0] == pytest.approx(1e-9 * np.exp(30.0 * np.sin(0.8)), rel=1e-5)
