"""What ``tg.solve_ivp`` gives back is judged by the user's own functions, and tampering with it is found."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []


def cannon(t: float, y: Any) -> Any:
    return [y[1], -9.81 - 0.1 * max(y[1], 0.0)]


def ground(t: float, y: Any) -> Any:
    return y[0]


def apex(t: float, y: Any) -> Any:
    return y[1]


ground.terminal, ground.direction = True, -1  # pyright: ignore[reportFunctionMemberAccess] - SciPy's way


def flight(**options: Any) -> tg.OdeResult:
    return tg.solve_ivp(cannon, (0.0, 10.0), [0.0, 20.0], events=[ground, apex], **{"dense_output": True, **options})


def wrong(solution: Any) -> set[tuple[str, str]]:
    """Kinds and names of what disagrees."""
    return {(item.kind, item.name) for item in tg.verify(solution).wrong}


@pytest.mark.slow
def test_a_right_solution_is_verified() -> None:
    check = tg.verify(flight())
    assert check.ok, str(check)
    assert check.truth == "the function, called as Python"
    judged = {(item.kind, item.name) for item in check.findings}
    assert {("equation", "y[0]"), ("condition", "events[0]"), ("condition", "events[1]"), ("reset", "events[1]")} <= judged


@pytest.mark.slow
def test_rows_at_asked_times_are_verified_too() -> None:
    solution = flight(t_eval=np.linspace(0.0, 3.0, 7))
    assert tg.verify(solution).ok
    solution.y[0, 3] += 1e-3
    assert wrong(solution) == {("row", "y[0]")}


@pytest.mark.slow
def test_a_run_backwards_is_verified() -> None:
    solution = tg.solve_ivp(cannon, (3.0, 0.0), [1.0, -5.0], events=apex, dense_output=True)
    assert solution.t_events is not None
    assert solution.t_events[0].size == 1
    check = tg.verify(solution)
    assert check.ok, str(check)
    assert "backwards" in check.notes[0]


@pytest.mark.slow
def test_an_event_that_is_taken_out_is_missed() -> None:
    solution = flight()
    assert solution.t_events is not None
    assert solution.y_events is not None
    solution.t_events[1], solution.y_events[1] = np.empty(0), np.empty((0, 2))
    assert wrong(solution) == {("missed event", "events[1]")}


@pytest.mark.slow
def test_an_event_at_another_time_is_found() -> None:
    solution = flight()
    assert solution.t_events is not None
    solution.t_events[1] += 1e-3
    assert {("missed event", "events[1]"), ("spurious event", "events[1]")} <= wrong(solution)


@pytest.mark.slow
def test_other_values_at_an_event_are_found() -> None:
    solution = flight()
    assert solution.y_events is not None
    solution.y_events[1][0, 0] += 1e-3
    assert ("reset", "events[1]") in wrong(solution)


@pytest.mark.slow
def test_a_dip_of_an_event_function_inside_a_long_step_is_missed_if_it_is_not_there() -> None:
    def dips(t: float, y: Any) -> Any:
        return (y[0] - 0.5) ** 2 - 1e-4

    solution = tg.solve_ivp(lambda t, y: [1.0], (0.0, 1.0), [0.0], events=dips, dense_output=True)
    assert tg.verify(solution).ok
    assert solution.t_events is not None
    assert solution.y_events is not None
    assert solution.t_events[0] == pytest.approx([0.49, 0.51])
    solution.t_events[0], solution.y_events[0] = np.empty(0), np.empty((0, 1))
    assert wrong(solution) == {("missed event", "events[0]")}


@pytest.mark.slow
def test_a_function_that_is_another_one_by_now_is_found() -> None:
    rate = [1.0]
    solution = tg.solve_ivp(lambda t, y: [-rate[0] * y[0]], (0.0, 1.0), [1.0], dense_output=True)
    assert tg.verify(solution).ok
    rate[0] = 1.01
    assert wrong(solution) == {("equation", "y[0]")}


@pytest.mark.slow
def test_arguments_columns_and_booleans_are_given_as_they_were() -> None:
    def column(t: float, y: Any, k: float) -> Any:
        return np.array([-k * y[0], k * y[0]])

    def low(t: float, y: Any, k: float) -> Any:
        return y[0] < 0.5

    solution = tg.solve_ivp(column, (0.0, 1.0), [1.0, 0.0], args=(2.0,), vectorized=True, events=low, dense_output=True)
    assert solution.t_events is not None
    assert solution.t_events[0] == pytest.approx([math.log(2.0) / 2.0])
    check = tg.verify(solution)
    assert check.ok, str(check)


@pytest.mark.slow
def test_a_function_that_was_called_is_judged_and_the_notes_say_so() -> None:
    def opaque(t: float, y: Any) -> Any:
        rest = float(y[0])
        while rest > 1.0:  # as often as the data want it
            rest = math.sqrt(rest)
        return [-rest]

    solution = tg.solve_ivp(opaque, (0.0, 2.0), [2.0], dense_output=True, rtol=1e-4)
    assert "fun" in solution.called
    check = tg.verify(solution)
    assert check.ok, str(check)
    assert check.notes[0].startswith("fun was called as it is, so that conditions in it were not located: ")


def test_what_cannot_be_judged_says_what_to_ask_for() -> None:
    with pytest.raises(tg.UsageError, match=r"no dense output.*\n.*dense_output=True"):
        tg.verify(flight(dense_output=False))
    with pytest.raises(tg.UsageError, match="no result of a run"):
        tg.verify([1.0])  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("way", [copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item))], ids=["deepcopy", "pickle"])
def test_a_copy_has_all_entries_and_says_that_it_does_not_know_its_function(way: Any) -> None:
    solution = flight()
    other = way(solution)
    assert list(other) == list(solution)
    assert other.sol(1.0) == pytest.approx(solution.sol(1.0), abs=0.0)  # pyright: ignore[reportOptionalCall]
    with pytest.raises(tg.UsageError, match="does not know its function"):
        tg.verify(other)
