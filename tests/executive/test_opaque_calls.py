"""Calls of opaque functions, and what they raise, belong to the run that made them, not to the model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import tidegate as tg

__all__: list[str] = []

RUNS = 4


def at_once(deeds: list[Callable[[], object]]) -> list[object]:
    """What each deed returns or raises, all begun at the same moment in threads of their own."""
    start = threading.Barrier(len(deeds))

    def do(deed: Callable[[], object]) -> object:
        start.wait()
        try:
            return deed()
        except tg.RunError as error:
            return error

    with ThreadPoolExecutor(len(deeds)) as pool:
        return list(pool.map(do, deeds))


def test_each_of_several_runs_at_once_counts_its_own_calls(method: str) -> None:
    pull = tg.opaque(lambda x: -x, n_outputs=1)
    model = tg.ode(lambda t, y: [pull(y["x"])], y0={"x": 1.0})
    alone = tg.simulate(model, (0, 1), method=method).statistics.opaque_calls
    assert alone > 10
    results = at_once([lambda: tg.simulate(model, (0, 1), method=method)] * RUNS)
    assert [result.statistics.opaque_calls for result in results] == [alone] * RUNS


@pytest.mark.slow
def test_a_run_gets_the_exception_of_its_own_call_and_no_other(method: str) -> None:
    def measured(x: float, limit: float) -> float:
        if x < limit:
            raise ValueError(f"below {limit}")
        return -x

    function = tg.opaque(measured, n_outputs=1)
    model = tg.ode(lambda t, y, p: [function(y["x"], p["limit"])], y0={"x": 1.0}, p={"limit": 0.0})
    limits = [0.0, 0.5, 0.0, 0.6]
    found = at_once([lambda limit=limit: tg.simulate(model, (0, 2), method=method, parameters={"limit": limit}) for limit in limits] * 3)
    for limit, outcome in zip(limits * 3, found, strict=True):
        if limit:
            assert isinstance(outcome, tg.CallbackError)
            assert f"below {limit}" in outcome.message
        else:
            assert isinstance(outcome, tg.Result)
            assert outcome.final["x"] == pytest.approx(0.1353, abs=1e-3)


@pytest.mark.slow
def test_a_function_that_simulates_itself_is_counted_apart() -> None:
    inner_pull = tg.opaque(lambda x: -x, n_outputs=1)
    inner = tg.ode(lambda t, y: [inner_pull(y["x"])], y0={"x": 1.0})
    outer_pull = tg.opaque(lambda x: -x * tg.simulate(inner, (0, 1)).final["x"], n_outputs=1)
    plain_pull = tg.opaque(lambda x: -x * 0.36787944, n_outputs=1)
    nested = tg.simulate(tg.ode(lambda t, y: [outer_pull(y["x"])], y0={"x": 1.0}), (0, 1))
    plain = tg.simulate(tg.ode(lambda t, y: [plain_pull(y["x"])], y0={"x": 1.0}), (0, 1))
    assert nested.statistics.opaque_calls == plain.statistics.opaque_calls


def test_an_exception_that_the_run_got_over_is_not_what_a_later_failure_is_put_down_to() -> None:
    seen: list[float] = []

    def shy(x: float) -> float:
        if x > 0.3 and not seen:
            seen.append(x)
            raise ValueError("only once")
        return 1.0

    function = tg.opaque(shy, n_outputs=1)
    model = tg.ode(lambda t, y: [function(y["x"]), y["v"] * y["v"]], y0={"x": 0.0, "v": 1.0})
    with pytest.raises(tg.RunError) as caught:
        tg.simulate(model, (0, 2))
    assert caught.value.time == pytest.approx(1.0, abs=1e-3)
    assert not isinstance(caught.value, tg.CallbackError)


def test_a_value_looked_at_between_two_advances_raises_what_its_function_raised() -> None:
    def reading(x: float) -> float:
        if limit and x < limit:
            raise ValueError("no reading")
        return 2.0 * x

    limit = 0.0
    function = tg.opaque(reading, n_outputs=1)
    simulation = tg.Simulation(tg.ode(lambda t, y: [-y["x"]], y0={"x": 1.0}, outputs=lambda t, y: {"r": function(y["x"])}))
    simulation.advance(1.0)
    assert simulation["r"] == pytest.approx(2 * 0.36788, abs=1e-4)
    limit = 0.9
    with pytest.raises(tg.CallbackError, match="no reading"):
        _ = simulation["r"]
