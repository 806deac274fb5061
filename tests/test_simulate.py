"""The pipeline as a whole: what may be simulated, running again, and running side by side."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tidegate as tg

OSCILLATOR = tg.ode(lambda t, y, p: [y[1], p["mu"] * (1 - y[0] ** 2) * y[1] - y[0], 1.0 if y[0] > 0 else -1.0], y0=[2.0, 0.0, 0.0], p={"mu": 1.0})


class Counter(tg.Component):
    """Only discrete variables."""

    n = tg.Discrete(0)

    @tg.every(0.25)
    def tick(self) -> Any:
        return {self.n: self.n + 1}


def test_a_model_without_states_runs_from_event_to_event() -> None:
    result = tg.simulate(Counter(), (0.0, 1.0))
    assert result.final == {"n": 5.0}
    assert result.events.times.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("was_on", [True, False])
def test_garbage_is_collected_after_compiling_as_it_was_before(was_on: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        tg.prepare(Counter(), (0.0, 1.0))
        assert gc.isenabled() == was_on
        with pytest.raises(tg.UsageError):
            tg.prepare(tg.ode(lambda t, y: [y[0], y[0]], y0=[1.0]), (0.0, 1.0))
        assert gc.isenabled() == was_on
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("thing", [3, "model", Counter, lambda t, y: y, None], ids=["number", "text", "class", "function", "none"])
def test_what_is_no_model_is_refused(thing: Any) -> None:
    with pytest.raises(tg.UsageError):
        tg.simulate(thing, (0.0, 1.0))


def test_a_prepared_run_gives_the_same_again() -> None:
    run = tg.prepare(OSCILLATOR, (0.0, 20.0), sensitivities="all")
    first, second = run.run(), run.run()
    assert np.array_equal(first.time, second.time)
    assert first.final == second.final
    assert first.events.times.tolist() == second.events.times.tolist()


def test_threads_give_what_one_after_the_other_gives() -> None:
    runs = [tg.prepare(OSCILLATOR, (0.0, 200.0), parameters={"mu": mu}, sensitivities="all") for mu in (0.5, 2.0, 5.0, 10.0)]
    alone = [run.run() for run in runs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda run: run.run(), runs))
    for a, b in zip(alone, together, strict=True):
        assert np.array_equal(a.time, b.time)
        assert a.final == b.final
        assert np.array_equal(np.asarray(a.sensitivity("y[0]", "mu")), np.asarray(b.sensitivity("y[0]", "mu")))


def test_threads_may_share_one_prepared_run() -> None:
    run = tg.prepare(OSCILLATOR, (0.0, 100.0))
    expected = run.run().final
    with ThreadPoolExecutor(2) as pool:
        assert [result.final for result in pool.map(lambda _: run.run(), range(4))] == [expected] * 4


def test_progress_ends_at_the_end() -> None:
    seen: list[float] = []
    tg.simulate(OSCILLATOR, (0.0, 5.0), progress=seen.append)
    assert seen[-1] == 5.0
    assert seen == sorted(seen)
