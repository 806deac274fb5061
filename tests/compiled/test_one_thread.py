"""Inside a run the linear algebra library uses one thread, and what it used before when the run is left."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.compiled.one_thread import OneThread, one_thread

SIZE = 40  # above the size up to which our own code factors


class Library:
    """Counts its threads."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.calls = 0

    def get(self) -> int:
        return self.threads

    def put(self, threads: int) -> None:
        self.calls += 1
        self.threads = threads


def test_the_last_to_leave_sets_the_number_back() -> None:
    library = Library(8)
    alone = OneThread(library.get, library.put)
    with alone:
        with alone:
            assert library.threads == 1
        assert library.threads == 1
    assert library.threads == 8


def test_it_is_set_back_when_a_run_fails() -> None:
    library = Library(4)
    with pytest.raises(ZeroDivisionError), OneThread(library.get, library.put):
        raise ZeroDivisionError
    assert library.threads == 4


def test_a_library_with_one_thread_is_left_alone() -> None:
    library = Library(1)
    with OneThread(library.get, library.put):
        pass
    assert library.calls == 0


def test_threads_that_come_and_go_never_leave_one_behind() -> None:
    library = Library(8)
    alone = OneThread(library.get, library.put)

    def come_and_go() -> None:
        for _ in range(500):
            with alone:
                assert library.threads == 1

    workers = [threading.Thread(target=come_and_go) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert library.threads == 8


@pytest.mark.slow
def test_the_library_of_scipy_is_found_and_a_run_holds_it_at_one_thread() -> None:
    alone = one_thread()
    before = alone.threads
    alone.threads = 2
    if alone.threads != 2:
        pytest.skip("the library that SciPy is linked to has no threads here")
    seen: list[int] = []

    def watched(x: Any) -> float:
        seen.append(alone.threads)
        return -float(x)

    def all_coupled(t: Any, y: Any) -> list[Any]:
        x = y["x"]
        total = sum(x[k] for k in range(SIZE))
        return [tg.opaque(watched, n_outputs=1)(x[0]), *(total - SIZE * x[k] for k in range(1, SIZE))]

    decay = tg.ode(all_coupled, y0={"x": np.ones(SIZE)})
    try:
        result = tg.simulate(decay, (0.0, 1.0))
        assert float(result.final["x[0]"]) == pytest.approx(np.exp(-1.0), rel=1e-5)
        assert set(seen[-10:]) == {1}  # what was called before the run, to find out about the function, does not count
        assert alone.threads == 2
    finally:
        alone.threads = before
