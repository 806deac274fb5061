"""A prepared run is run again in the memory of the one before, and shows it nowhere."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from examples import bouncing_ball, stiff_relay

import tidegate as tg

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
