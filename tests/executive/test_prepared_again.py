"""A prepared run is run again in the memory of the one before, and shows it nowhere."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from examples import bouncing_ball, stiff_relay

import tidegate as tg
from tidegate.executive.recorder import Recording

__all__: list[str] = []


@pytest.mark.parametrize("method", ["radau", "ida", "bdf"])
@pytest.mark.parametrize("example", [bouncing_ball, stiff_relay])
def test_runs_of_one_preparation_are_equal_to_the_last_bit(example: object, method: str) -> None:
    run = tg.prepare(example.model, example.t_span, method=method, sensitivities="all")  # type: ignore[attr-defined]
    first = run.run()
    kept = first.values.copy(), [event.time for event in first.events], first.at(first.t[len(first.t) // 2])
    again = [run.run() for _ in range(3)]
    for result in again:
        assert np.array_equal(result.values, kept[0])
        assert [event.time for event in result.events] == kept[1]
        assert result.statistics.steps == first.statistics.steps
    # nothing of the first has moved
    assert np.array_equal(first.values, kept[0])
    assert first.at(first.t[len(first.t) // 2]) == kept[2]


def test_every_run_of_one_preparation_costs_the_same(method: str) -> None:
    """SUNDIALS goes on counting from the run before until it is started anew."""
    model = tg.ode(lambda t, y: [y[1], 20.0 * (1.0 - y[0] ** 2) * y[1] - y[0]], y0=[2.0, 0.0])
    run = tg.prepare(model, (0.0, 30.0), method=method)
    counts = [{name: count for name, count in run.run().statistics.to_dict().items() if "seconds" not in name} for _ in range(3)]
    assert counts[0]["rejected"] > 0
    assert counts[1:] == counts[:1] * 2


def test_a_run_that_failed_leaves_nothing_to_the_next() -> None:
    calls = {"left": 10_000, "made": 0}

    def decay(x: float) -> float:
        calls["left"] -= 1
        calls["made"] += 1
        if calls["left"] < 0:
            raise ValueError("out of order")
        return -x

    function = tg.opaque(decay)
    run = tg.prepare(tg.ode(lambda t, y: [function(y[0])], y0=[1.0]), (0.0, 1.0))
    calls["left"] = 5
    with pytest.raises(tg.RunError, match="out of order"):
        run.run()
    calls.update(left=10_000, made=0)
    result = run.run()
    assert float(result.final["y[0]"]) == pytest.approx(np.exp(-1.0), rel=1e-5)
    # the calls of the run that failed are not counted with it
    assert result.statistics.opaque_calls == calls["made"]


def test_threads_that_run_one_preparation_do_not_share_its_memory() -> None:
    run = tg.prepare(bouncing_ball.model, bouncing_ball.t_span)
    truth = run.run().values
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: run.run().values, range(40)))
    assert all(np.array_equal(values, truth) for values in found)


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_a_copy_of_a_preparation_has_memory_of_its_own(method: str) -> None:
    run = tg.prepare(bouncing_ball.model, bouncing_ball.t_span, method=method)
    truth = run.run().values
    for twin in (copy.deepcopy(run), copy.copy(run), pickle.loads(pickle.dumps(run))):
        assert np.array_equal(twin.run().values, truth)
        assert np.array_equal(run.run().values, truth)


def test_a_result_that_nobody_has_looked_at_yet_is_not_changed_by_the_next_run() -> None:
    rate = {"k": 1.0}
    function = tg.opaque(lambda x: -rate["k"] * x)
    model = tg.ode(lambda t, y: [function(y[0])], y0=[1.0], events=tg.event(lambda t, y: y[0] < 0.9, reset=lambda t, y: {0: 1.0}))
    run = tg.prepare(model, (0.0, 1.0))
    first = run.run()
    rate["k"] = 3.0
    second = run.run()
    rate["k"] = 1.0
    again = tg.prepare(model, (0.0, 1.0)).run()
    assert np.array_equal(first.values, again.values)
    assert first.events.times.tolist() == again.events.times.tolist() != second.events.times.tolist()
    assert first.statistics.steps == again.statistics.steps
    assert first.at(0.5, "y[0]") == again.at(0.5, "y[0]")
    assert first.events[0] == again.events[0]


@pytest.mark.parametrize("through", [lambda result: pickle.loads(pickle.dumps(result)), copy.copy, copy.deepcopy])
def test_a_copy_of_a_result_that_nobody_has_looked_at_is_whole(through: Callable[[tg.Result], tg.Result]) -> None:
    run = tg.prepare(bouncing_ball.model, bouncing_ball.t_span, sensitivities="all")
    truth, copied = run.run(), through(run.run())
    assert np.array_equal(copied.values, truth.values)
    assert np.array_equal(copied.sensitivities, truth.sensitivities)
    assert list(copied.events) == list(truth.events)
    assert (copied.message, copied.status, copied.options, copied.parameters) == (truth.message, truth.status, truth.options, truth.parameters)
    assert copied.statistics.steps == truth.statistics.steps
    times = np.linspace(*bouncing_ball.t_span, 20)
    assert np.array_equal(copied.interpolant(times), truth.interpolant(times))


@pytest.mark.slow
def test_threads_may_look_at_one_result_at_the_same_time() -> None:
    run = tg.prepare(bouncing_ball.model, bouncing_ball.t_span)
    truth = run.run()
    _ = truth.values
    names = ("values", "t", "events", "interpolant", "statistics", "message")
    for _ in range(20):
        result = run.run()
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda k, result=result: getattr(result, names[k % len(names)]), range(24)))
        assert all(found[k] is found[k % len(names)] for k in range(24))
        assert np.array_equal(result.values, truth.values)


def test_a_result_has_no_other_attributes_than_before_it_is_looked_at() -> None:
    result = tg.prepare(bouncing_ball.model, bouncing_ball.t_span).run()
    with pytest.raises(AttributeError, match="'Result' object has no attribute 'valeus'"):
        _ = result.valeus  # type: ignore[attr-defined]
    assert not hasattr(result, "__array__")


def test_a_result_that_nobody_looks_at_is_not_put_into_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of a study that read nothing but an event cost what the machine code costs."""
    run = tg.prepare(tg.ode(lambda t, y: [-y[0]], y0=[1.0], events=[tg.event(lambda t, y: y[0] < 0.5)]), (0.0, 1.0))
    run.run()
    with monkeypatch.context() as patch:
        patch.setattr(Recording, "_table", property(lambda _: pytest.fail("a table was made")))
        result = run.run()
    assert result.final["y[0]"] == pytest.approx(np.exp(-1.0), rel=1e-5)


@pytest.mark.parametrize("method", ["radau", "taylor", "bdf"])
def test_runs_for_other_parameters_in_the_memory_of_one_before_are_those_of_a_fresh_one(method: str) -> None:
    def rates(t: float, y: Any, p: Any) -> list[Any]:
        force = p["push"] if y["x"] < p["level"] else -p["push"]
        return [y["v"], force - p["drag"] * y["v"]]

    model = tg.ode(rates, y0={"x": 0.0, "v": 0.5}, p={"push": 1.0, "level": 0.4, "drag": 0.1})
    options: dict[str, Any] = {"method": method, "rtol": 1e-7, "sensitivities": ["drag", "level"]}
    prepared = tg.prepare(model, (0.0, 5.0), **options)
    random = np.random.default_rng(5)
    for _ in range(4):
        values = {"push": float(random.uniform(0.5, 2.0)), "level": float(random.uniform(0.1, 0.6)), "drag": float(random.uniform(0.0, 0.5))}
        ours, fresh = prepared.with_parameters(**values).run(), tg.simulate(model, (0.0, 5.0), parameters=values, **options)
        assert np.array_equal(ours.time, fresh.time)
        assert np.array_equal(ours.values, fresh.values)
        assert np.array_equal(ours.sensitivities, fresh.sensitivities)
        assert ours.parameters == fresh.parameters
    first, again = prepared.run(), tg.simulate(model, (0.0, 5.0), **options)
    assert np.array_equal(first.values, again.values)


@pytest.mark.slow
def test_records_too_long_to_be_copied_are_those_of_fresh_runs_whatever_their_length() -> None:
    model = tg.ode(lambda t, y, p: [y["v"], p["mu"] * (1.0 - y["x"] ** 2) * y["v"] - y["x"]], y0={"x": 2.0, "v": 0.0}, p={"mu": 1.0})
    options: dict[str, Any] = {"method": "taylor", "rtol": 1e-9}
    prepared = tg.prepare(model, (0.0, 30.0), **options)
    sizes = [4.0, 4.0, 1.0, 1.0, 5.0, 0.5, 4.0]  # longer than the last one and shorter
    runs = [prepared.with_parameters(mu=mu).run() for mu in sizes]
    again = [prepared.run() for _ in range(3)]
    for mu, ours in [*zip(sizes, runs, strict=True), *((1.0, one) for one in again)]:
        fresh = tg.simulate(model, (0.0, 30.0), parameters={"mu": mu}, **options)
        copied = pickle.loads(pickle.dumps(ours))
        assert all(np.array_equal(fresh.values, one.values) for one in (ours, copied))
        assert all(fresh.at(7.3, "x") == one.at(7.3, "x") for one in (ours, copied))
