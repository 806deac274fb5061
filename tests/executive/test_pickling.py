"""Results, failures, models and components go to other processes and come back whole; what a result holds is data and words."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import pickle
import tracemalloc
import weakref
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.compiled.native import NativeModule
from tidegate.errors import Origin
from tidegate.simulate import compiled_of

KIB = 1024
WAYS = {"pickle": lambda item: pickle.loads(pickle.dumps(item)), "deepcopy": copy.deepcopy, "copy": copy.copy}
both_ways = pytest.mark.parametrize("through", WAYS.values(), ids=list(WAYS))


class Ball(tg.Component):
    h = tg.State(1.0, unit="m")
    v = tg.State(0.0, unit="m/s")
    n = tg.Discrete(0.0)
    e = tg.Parameter(0.8)
    energy = tg.Output()

    def equations(self):
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -9.81
        yield self.energy == 9.81 * self.h + self.v * self.v / 2 + (100.0 if self.v > 0 else 0.0)

    @tg.when(lambda self: self.h < 0)
    def bounce(self):
        return {self.v: -self.e * self.v, self.n: tg.pre(self.n) + 1.0}


def decay(t, y, p):
    return [-p["k"] * y["x"] if y["x"] > 0.5 else -1.0]


def grow(t, y):
    return [y["x"] * y["x"]]


def halved(t, y, p):
    return {"half": y["x"] / 2}


DECAY = tg.ode(decay, y0={"x": 1.0}, p={"k": 1.0}, outputs=halved)
GROW = tg.ode(grow, y0={"x": 1.0})


def failed(model: Any = GROW, end: float = 2.0) -> tg.RunError:
    with pytest.raises(tg.RunError) as caught:
        tg.simulate(model, (0, end))
    return caught.value


def assert_same(one: tg.Result, other: tg.Result) -> None:
    assert one.t.tolist() == other.t.tolist()
    assert one.values.tolist() == other.values.tolist()
    assert (one.status, one.message, one.columns, one.parameters) == (other.status, other.message, other.columns, other.parameters)
    assert one.events == other.events
    assert str(one.events) == str(other.events)
    assert one.events.times.tolist() == other.events.times.tolist()
    np.testing.assert_array_equal(one.sensitivities, other.sensitivities)
    times = np.linspace(one.t[0], one.t[-1], 50)
    assert one.at(times).identical(other.at(times))


@both_ways
def test_a_result_comes_back_whole(through: Callable[[Any], Any], dae_method: str) -> None:
    result = tg.simulate(Ball(), (0, 2), sensitivities="all", method=dae_method)
    assert len(result.events) > 2
    assert_same(through(result), result)
    _ = result.dataset  # what has been made on the way is no part of it
    assert_same(through(result), result)


@both_ways
def test_a_failure_comes_back_with_its_result(through: Callable[[Any], Any]) -> None:
    error = failed()
    other = through(error)
    assert type(other) is type(error)
    assert (str(other), other.time, other.hint, other.origin) == (str(error), error.time, error.hint, error.origin)
    assert_same(other.result, error.result)


@both_ways
@pytest.mark.parametrize(
    "error",
    [
        tg.InvalidModelError([("x is wrong", None), ("y is wrong", Origin("m.py", 3))]),
        tg.UsageError("no", hint="yes"),
        tg.UnknownNameError("no name", hint="another"),
        tg.InterruptedRunError("interrupted at t = 2", time=2.0),
        tg.CallbackError("the function f raised", time=1.0, origin=Origin("m.py", 3)),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_error_comes_back_with_all_it_says(through: Callable[[Any], Any], error: Any) -> None:
    other = through(error)
    assert type(other) is type(error)
    assert str(other) == str(error)
    assert repr(vars(other)) == repr(vars(error))


@both_ways
@pytest.mark.parametrize("model", [DECAY, Ball(e=0.7)], ids=["function", "component"])
def test_a_model_comes_back_whole_before_and_after_a_run(through: Callable[[Any], Any], model: Any) -> None:
    for _ in range(2):
        other = through(model)
        assert_same(tg.simulate(other, (0, 1)), tg.simulate(model, (0, 1)))


@both_ways
def test_a_neutral_model_and_a_run_that_is_set_up_come_back(through: Callable[[Any], Any]) -> None:
    neutral = Ball().lower()
    result = tg.simulate(neutral, (0, 1))
    assert_same(tg.simulate(through(neutral), (0, 1)), result)
    assert_same(through(tg.prepare(neutral, (0, 1))).run(), result)


@pytest.mark.slow
def test_expressions_deeper_than_python_s_stack_are_no_obstacle() -> None:
    n = 3000

    def long_sum(t, y):
        total = 0.0
        for k in range(n):
            total = total + y["x"] * (k + 0.5)
        return [-total / n**2]

    neutral = tg.ode(long_sum, y0={"x": 1.0}, outputs=lambda t, y: {"total": long_sum(t, y)[0]}).lower()
    other = pickle.loads(pickle.dumps(neutral))
    assert other.equations[0].right is neutral.equations[0].right
    result = tg.simulate(neutral, (0, 1))
    assert_same(pickle.loads(pickle.dumps(result)), result)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["component", "function"])
def test_a_result_outlives_its_model_and_holds_no_machine_code(kind: str) -> None:
    model = Ball() if kind == "component" else tg.ode(decay, y0={"x": 1.0}, p={"k": 1.0}, outputs=halved)
    code = weakref.ref(compiled := compiled_of(neutral := model.lower()))
    module = weakref.ref(compiled.keep_alive[0])
    result = tg.simulate(model if kind == "function" else neutral, (0, 1), sensitivities="all")
    del model, neutral, compiled
    gc.collect()
    assert (code(), module()) == (None, None)
    assert any(cause.startswith(("h <", "x <=")) for event in result.events for cause in event.causes)
    assert np.isfinite(result.at(0.1, result.names[-1]))


@pytest.mark.slow
def test_the_result_of_a_failure_holds_no_machine_code() -> None:
    def other(t, y):
        return [y["x"] * y["x"] * (2.0 if y["x"] > 3.0 else 1.0)]

    failed(tg.ode(other, y0={"x": 1.5}))  # what of the kernel such a run comes to is loaded, and stays
    gc.collect()
    before = sum(isinstance(item, NativeModule) for item in gc.get_objects())
    result = failed(tg.ode(other, y0={"x": 1.0})).result
    gc.collect()
    assert len(result.events) == 1
    assert sum(isinstance(item, NativeModule) for item in gc.get_objects()) == before


@pytest.mark.slow
def test_a_thousand_results_share_what_is_the_same() -> None:
    run = tg.prepare(Ball(), (0.0, 1.0), outputs=[0.0, 0.5, 1.0], event_rows=False)
    for _ in range(3):
        run.run()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = [run.run() for _ in range(1000)]
        gc.collect()
        held = (tracemalloc.get_traced_memory()[0] - before) / len(kept)
    finally:
        tracemalloc.stop()
    # three rows, one event, a handful of steps; what Python needs for the objects of one result is most of it
    assert held < 8 * KIB


@pytest.mark.slow
def test_a_thousand_results_of_a_large_model_hold_only_their_numbers() -> None:
    n = 200
    model = tg.ode(lambda t, y: [-x if x > 0.5 else -2.0 * x for x in y["x"]], y0={"x": np.linspace(1.0, 2.0, n)})
    run = tg.prepare(model, (0.0, 0.01), outputs=[0.0, 0.01], dense=False)
    run.run()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = [run.run() for _ in range(100)]
        gc.collect()
        held = (tracemalloc.get_traced_memory()[0] - before) / len(kept)
    finally:
        tracemalloc.stop()
    # two rows of n numbers, the largest value of each by name
    assert held < 2 * 8 * n + 100 * n + 8 * KIB


def end_of(job: tuple[Any, float]) -> tg.Result:
    model, e = job
    return tg.simulate(model, (0, 1), parameters={"e": e})


def failing(model: Any) -> tg.Result:
    return tg.simulate(model, (0, 2))


@pytest.mark.slow
def test_runs_in_other_processes_give_the_same_as_here() -> None:
    jobs = [(Ball(), e) for e in (0.5, 0.6, 0.7)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        results = list(pool.map(end_of, jobs))
        with pytest.raises(tg.StepSizeError) as caught:
            pool.submit(failing, GROW).result()
    for job, result in zip(jobs, results, strict=True):
        assert_same(result, end_of(job))
    assert caught.value.result.status == "failed"
    assert caught.value.result.t[-1] == pytest.approx(1.0, abs=1e-3)
