"""Sweeps by joblib, whose processes get models, runs and simulations and give results and errors back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
import pytest

import tidegate as tg

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def workers() -> Iterator[joblib.Parallel]:
    with joblib.Parallel(2, backend="loky") as pool:
        yield pool
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


class Ball(tg.Component):
    h = tg.State(1.0)
    v = tg.State(0.0)
    e = tg.Parameter(0.8)

    def equations(self):
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -9.81

    @tg.when(lambda self: self.h < 0)
    def bounce(self):
        return {self.v: -self.e * self.v}


def assert_same(one: tg.Result, other: tg.Result) -> None:
    assert one.t.tolist() == other.t.tolist()
    assert one.values.tolist() == other.values.tolist()
    assert list(one.events) == list(other.events)
    times = np.linspace(one.t[0], one.t[-1], 50)
    assert one.at(times).identical(other.at(times))


def local_component() -> Any:
    class Tank(tg.Component):
        level = tg.State(0.0)
        inflow = tg.Parameter(0.5)

        def equations(self):
            yield tg.der(self.level) == self.inflow - (3.0 * (self.level - 1.0) if self.level > 1.0 else 0.0)

    return Tank()


MODELS = {
    "component": (Ball, "e"),
    "component in a function": (local_component, "inflow"),
    "function": (lambda: tg.ode(lambda t, y, p: [-p["k"] * y["x"] if y["x"] > 0.5 else -1.0], y0={"x": 1.0}, p={"k": 1.0}), "k"),
    "neutral model": (lambda: Ball().lower(), "e"),
}


@pytest.mark.parametrize("kind", list(MODELS))
def test_a_sweep_gives_what_a_loop_gives(workers: joblib.Parallel, kind: str) -> None:
    maker, name = MODELS[kind]
    model = maker()
    values = (0.6, 0.7, 0.8, 0.9)
    results = workers(joblib.delayed(tg.simulate)(model, (0, 1.5), parameters={name: value}, sensitivities=[name]) for value in values)
    for value, result in zip(values, results, strict=True):
        assert_same(result, tg.simulate(model, (0, 1.5), parameters={name: value}, sensitivities=[name]))


@pytest.mark.parametrize("method", ["ida", "bdf", "adams"])
def test_a_sweep_by_another_engine_gives_what_a_loop_gives(workers: joblib.Parallel, method: str) -> None:
    results = workers(joblib.delayed(tg.simulate)(Ball(), (0, end), method=method) for end in (0.5, 1.0))
    for end, result in zip((0.5, 1.0), results, strict=True):
        assert_same(result, tg.simulate(Ball(), (0, end), method=method))


def test_a_run_that_is_set_up_and_a_simulation_go_to_workers(workers: joblib.Parallel) -> None:
    prepared = tg.prepare(Ball(), (0, 2))
    simulation = tg.Simulation(Ball())
    simulation.advance(1.0)
    first, second = workers([joblib.delayed(prepared.run)(), joblib.delayed(simulation.advance)(2.0)])
    assert_same(first, prepared.run())
    assert simulation.time == 1.0
    assert second.events.times == pytest.approx(simulation.advance(2.0).events.times, rel=1e-9)


def test_the_error_of_a_worker_has_its_result(workers: joblib.Parallel) -> None:
    model = tg.ode(lambda t, y: [y["x"] * y["x"]], y0={"x": 1.0})
    with pytest.raises(tg.StepSizeError, match="largest variable there is x = ") as caught:
        workers(joblib.delayed(tg.simulate)(model, (0, end)) for end in (0.5, 2.0))
    assert caught.value.result.status == "failed"
    assert caught.value.result.t[-1] == pytest.approx(1.0, abs=1e-3)


def test_other_errors_of_a_worker_are_the_library_s_own(workers: joblib.Parallel) -> None:
    with pytest.raises(tg.UsageError, match="the model has no parameter 'f'"):
        workers(joblib.delayed(tg.simulate)(Ball(), (0, 1), parameters={name: 0.5}) for name in ("e", "f"))
