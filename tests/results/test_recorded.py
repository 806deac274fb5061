"""What a result has of a run is made when somebody looks: whatever is done with it first, it is the same."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import pytest

import tidegate as tg

NAMES = ("status", "columns", "events", "t", "values", "model_name", "message", "statistics", "interpolant", "options", "parameters")


@pytest.fixture
def fresh() -> Callable[[], tg.Result]:
    """Results of one run, at which nobody has looked."""
    model = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 2.0}, events=tg.event(lambda t, y: y["x"] < 0.5))
    prepared = tg.prepare(model, (0.0, 1.0), method="taylor")
    prepared.run()
    return prepared.run


def test_names_are_there_for_completion_before_anything_is_made(fresh: Callable[[], tg.Result]) -> None:
    assert set(NAMES) <= set(dir(fresh()))


def test_what_is_set_before_anybody_has_looked_stays(fresh: Callable[[], tg.Result]) -> None:
    result = fresh()
    result.source = "mine"
    assert (result.status, result.source) == ("finished", "mine")


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
def test_a_copy_made_before_anybody_has_looked_is_whole(fresh: Callable[[], tg.Result], way: Callable[[Any], Any]) -> None:
    result = fresh()
    other = way(result)
    assert other.names == result.names == ["x"]
    assert other.events.times.tolist() == result.events.times.tolist() == pytest.approx([0.5 * np.log(2.0)], rel=1e-7)
    np.testing.assert_array_equal(other.values, result.values)


@pytest.mark.slow
def test_threads_that_look_at_once_see_the_same(fresh: Callable[[], tg.Result]) -> None:
    for _ in range(20):
        result = fresh()
        seen: list[Any] = []
        threads = [Thread(target=lambda one=result, all_of=seen: all_of.append((one.status, one.values, one.columns))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 4
        assert all(values is result.values and columns is result.columns for _, values, columns in seen)


def test_a_wrong_name_is_told_before_and_after(fresh: Callable[[], tg.Result]) -> None:
    result = fresh()
    for _ in range(2):
        with pytest.raises(AttributeError, match="evnts"):
            _ = result.evnts
