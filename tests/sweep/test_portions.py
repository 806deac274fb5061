"""Runs of a sweep are shared out in portions: each is carried out once, whoever asks when; starts found ahead are those of the run itself."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidegate as tg
from random_models import Once
from sweep_checks import assert_is_the_loop, looped
from tidegate.executive import starts_of_runs
from tidegate.sweep import members, workers
from tidegate.sweep.study import Study
from tidegate.sweep.workers import _ForOneBatch, _Left


def left_of(count: int, n_workers: int, columns: int = 3) -> _Left:
    study: Any = SimpleNamespace(times=None, columns=range(columns), sensitivity_parameters=())
    return _Left(count, study, n_workers, 0.002)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    count=st.integers(1, 3000),
    n_workers=st.integers(1, 9),
    seconds=st.lists(st.floats(0.0, 10.0), min_size=1, max_size=30),
    most=st.integers(1, 4000),
)
def test_portions_are_all_runs_once(count: int, n_workers: int, seconds: list[float], most: int) -> None:
    left, seen = left_of(count, n_workers), []
    for k in range(count + 1):
        first, last = left.next(most)
        assert 0 <= last - first <= most
        if first == last:
            break
        seen += range(first, last)
        left.took(seconds[k % len(seconds)], last - first)
    assert seen == [*range(count)]
    assert left.is_over


def test_threads_that_ask_at_once_get_different_runs() -> None:
    left, lists = left_of(20_000, 4), [[] for _ in range(4)]

    def work(own: list[int]) -> None:
        while True:
            first, last = left.next(1 + len(own) % 7)
            if first == last:
                return
            own += range(first, last)
            left.took(1e-6, last - first)

    threads = [threading.Thread(target=work, args=(own,)) for own in lists]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(k for own in lists for k in own) == [*range(20_000)]


def test_a_batch_ends_when_it_is_full_or_has_taken_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    left = left_of(10, 1, columns=(1 << 20) // 4)
    assert left.fits == 4
    batch = _ForOneBatch(left)
    batch.took(1e-5, 1)
    assert [batch.next(), batch.next()] == [(0, 4), (0, 0)]
    monkeypatch.setattr(workers, "_BATCH_SECONDS", 0.0)
    batch = _ForOneBatch(left)
    assert [batch.next(), batch.next()] == [(4, 5), (0, 0)]  # at least one run


def test_a_worker_takes_up_what_it_has_done_while_others_run() -> None:
    left = left_of(6000, 2)
    batch = _ForOneBatch(left)
    done = 0
    while (portion := batch.next()) != (0, 0):
        done += portion[1] - portion[0]
        batch.took(1e-6 * (portion[1] - portion[0]), portion[1] - portion[0])
    assert 1000 <= done < 3000
    assert not left.is_over
    alone = _ForOneBatch(left_of(6000, 1))
    alone.took(1e-6, 1)
    assert [alone.next(), alone.next()] == [(0, 6000), (0, 0)]


@pytest.mark.parametrize("t_end", [1.0, 2000.0], ids=["a matter of moments", "long"])
def test_the_first_run_is_carried_out_whether_it_was_tried_before_or_not(t_end: float) -> None:
    """Tried are so many steps that nobody minds waiting; a long run is begun again by whose it is."""
    model = Once(tg.ode(lambda t, y, p: {"x": y["v"], "v": -p["k"] * y["x"]}, y0={"x": 1.0, "v": 0.0}, p={"k": 1.0}))
    k = np.linspace(1.0, 2.0, 5)
    found = tg.sweep(model, (0.0, t_end), {"k": k}, workers=2, progress=False)
    assert found["status"].values.tolist() == ["finished"] * 5
    steps = found["steps"].values.tolist()
    assert (min(steps) > 1000) is (t_end > 1.0)
    for row, value in enumerate(k.tolist()):
        single = tg.simulate(model, (0.0, t_end), parameters={"k": value}, outputs=[t_end])
        assert [found["x"].values[row], steps[row]] == [single.final["x"], single.statistics.steps]


class Tank(tg.Component):
    """Two values that must not be equal, a start that follows from them, and an instant that depends on one of them."""

    a, b = tg.Parameter(1.0), tg.Parameter(2.0)
    level = tg.State(lambda self: self.a / (self.b - self.a), min=0.0)
    full = tg.Discrete(0)

    def equations(self):
        yield tg.der(self.level) == self.a - self.b * self.level

    @tg.when(lambda self: tg.time > self.a)
    def count(self):
        return {self.full: self.full + 1}


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [1, 60, 1 << 18], ids=["one by one", "a few", "all"])
@pytest.mark.parametrize("n_workers", [1, 3])
def test_starts_found_ahead_are_those_of_the_run(monkeypatch: pytest.MonkeyPatch, ahead: int, n_workers: int) -> None:
    """Some values are refused (a start below its least value, or none at all), in the middle of what is found at once."""
    monkeypatch.setattr(starts_of_runs, "_NUMBERS_AHEAD", ahead)
    monkeypatch.setattr(members, "_LOOKED_AT", 1)  # of thousands of combinations not all are tried before
    draw = np.random.default_rng(3)
    a, b = draw.uniform(0.2, 1.0, 60), draw.uniform(1.1, 2.0, 60)
    b[[7, 8, 30]] = a[[7, 8, 30]]
    b[[20, 59]] = 0.5 * a[[20, 59]]
    found = tg.sweep(Once(Tank()), (0.0, 1.5), {"a": a, "b": b}, workers=n_workers, progress=False)
    refused = [7, 8, 20, 30, 59]
    assert np.flatnonzero(found["status"].values == "failed").tolist() == refused
    assert found["event_count"].values.tolist() == [int(k not in refused) for k in range(60)]
    good = np.delete(np.arange(60), refused)
    found = found.isel(member=good).assign(event_member=("event", np.arange(len(good))))
    assert_is_the_loop(found, looped(Once(Tank()), [{"a": a[k], "b": b[k]} for k in good], (0.0, 1.5)), ["level", "full"])


@pytest.mark.slow
def test_where_runs_are_made_alone_batches_become_small_enough_to_be_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their native part takes next to nothing: by that alone one worker would take them all."""
    model = Once(tg.ode(lambda t, y, p: {"x": p["a"] * y["x"] ** 2}, {"x": 1.0}, p={"a": 1.0}))  # no solution behind 1 / a
    alone: list[int] = []
    real = Study.outcomes

    def outcomes(self: Study, numbers: Any, values: Any, is_halted: Any) -> Any:
        alone.append(len(numbers))
        return real(self, numbers, values, is_halted)

    monkeypatch.setattr(Study, "outcomes", outcomes)
    monkeypatch.setattr(workers, "_BATCH_SECONDS", 0.002)
    found = tg.sweep(model, (0.0, 1.0), {"a": np.linspace(1.5, 2.0, 300)}, workers=1, progress=False)
    assert set(found["status"].values.tolist()) == {"failed"}
    assert sum(alone) == 300
    assert len(alone) > 10
