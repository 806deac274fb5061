"""Sizes and shapes that are easily forgotten: no states, hundreds of conditions, tables with a thousand corners, roots of higher multiplicity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from run_checks import event_times

__all__: list[str] = []


class Counter(tg.Component):
    """Nothing moves but time."""

    n = tg.Discrete(0)
    late = tg.Discrete(False)

    @tg.every(0.5)
    def count(self) -> Any:
        return {self.n: self.n + 1}

    @tg.when(lambda self: tg.time > 1.25)
    def pass_by(self) -> Any:
        return {self.late: True}

    @tg.when(lambda self: self.n >= 6)
    def stop(self) -> Any:
        tg.terminate("six")


def test_a_model_without_states_runs_on_its_calendar(method: str) -> None:
    result = tg.simulate(Counter(), (0.0, 10.0), method=method)
    assert event_times(result) == pytest.approx([0.0, 0.5, 1.0, 1.25, 1.5, 2.0, 2.5])
    assert result.final == {"n": 6.0, "late": 1.0}
    assert (result.status, result.message) == ("terminated", "six")


@pytest.mark.slow
def test_five_hundred_conditions_each_happen_once(method: str) -> None:
    count = 500

    def f(t: Any, y: Any) -> Any:
        return [1.0, sum((1.0 if y[0] > (k + 0.5) / count else 0.0) for k in range(count))]

    result = tg.simulate(tg.ode(f, y0=[0.0, 0.0]), (0.0, 1.0), rtol=1e-8, method=method)
    assert event_times(result) == pytest.approx([(k + 0.5) / count for k in range(count)], abs=1e-10)
    assert result.final["y[1]"] == pytest.approx(count / 2, rel=1e-8)


@pytest.mark.slow
def test_a_table_with_a_thousand_corners_is_followed_corner_by_corner(method: str) -> None:
    grid = np.linspace(0.0, 1.0, 1001)
    zigzag = np.where(np.arange(1001) % 2 == 0, 0.0, 1.0)
    look_up = tg.table(grid, zigzag)
    result = tg.simulate(tg.ode(lambda t, y: [1.0, look_up(y[0])], y0=[0.0, 0.0]), (0.0, 1.0), rtol=1e-8, method=method)
    # the last corner lies on the end of the run, with nothing behind it
    assert event_times(result)[:999] == pytest.approx(grid[1:-1], abs=1e-10)
    # a thousand restarts of a method leave a thousand errors
    assert result.final["y[1]"] == pytest.approx(0.5, rel=1e-7)


@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
@pytest.mark.parametrize("written", ["product", "states"])
def test_a_triple_root_is_one_crossing(written: str, rtol: float, method: str) -> None:
    def f(t: Any, y: Any) -> Any:
        cube = (y["x"] - 0.5) ** 3 if written == "product" else y["a"]
        return [1.0, y["b"], y["c"], 6.0, 1.0 if cube > 0 else 0.0]

    model = tg.ode(f, y0={"x": 0.0, "a": -0.125, "b": 0.75, "c": -3.0, "s": 0.0})
    result = tg.simulate(model, (0.0, 1.0), rtol=rtol, method=method)
    # the cube stays within its rounding noise, some 1e-14, for the cube root of that on both sides; so it does within the errors of states
    late = 1e-4 if written == "product" else max(1e-4, 2 * np.cbrt(rtol))
    assert event_times(result) == pytest.approx([0.5], abs=late)
    assert result.final["s"] == pytest.approx(0.5, abs=late)


@pytest.mark.parametrize("written", ["product", "states"])
def test_a_double_root_is_a_contact_and_no_event(written: str, method: str) -> None:
    def f(t: Any, y: Any) -> Any:
        square = (y["x"] - 0.5) ** 2 if written == "product" else y["a"]
        return [1.0, y["b"], 2.0, 1.0 if square < 0 else 0.0]

    model = tg.ode(f, y0={"x": 0.0, "a": 0.25, "b": -1.0, "s": 0.0})
    result = tg.simulate(model, (0.0, 1.0), rtol=1e-10, method=method)
    assert event_times(result) == []
    assert result.final["s"] == 0.0


def test_a_double_root_exactly_where_a_step_ends_is_a_contact_and_no_event(method: str) -> None:
    """The guard is zero there, its slope too, and even its round-off level."""
    count = tg.event(lambda t, y: (y[0] - 0.5) * (y[0] - 0.5) < 0)
    result = tg.simulate(tg.ode(lambda t, y: [1.0], y0=[0.0], events=[count]), (0, 1), method=method, max_step=0.125, first_step=0.125)
    assert event_times(result) == []


def test_a_relation_that_flips_without_changing_the_whole_is_no_event(method: str) -> None:
    def f(t: Any, y: Any) -> Any:
        # x > -2 holds throughout, and so does the bracket: where v > 0 fails, x > 2 fails too
        return [y["v"], -y["x"], 1.0 if y["x"] > -2 and (y["v"] > 0 or not y["x"] > 2) else 0.0]

    result = tg.simulate(tg.ode(f, y0={"x": 0.0, "v": 1.0, "s": 0.0}), (0.0, 20.0), rtol=1e-9, method=method)
    assert event_times(result) == []
    assert result.final["s"] == pytest.approx(20.0)


def test_a_guard_at_zero_at_the_start_that_rises_is_an_event_at_the_start_or_none(method: str) -> None:
    model = tg.ode(lambda t, y: [1.0, 2.0 if y["x"] > 0 else 5.0], y0={"x": 0.0, "s": 0.0})
    result = tg.simulate(model, (0.0, 1.0), rtol=1e-9, method=method)
    assert result.final["s"] == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize("second", [1e-6, 3.15e7])
def test_a_chain_of_decays_switches_alike_in_microseconds_and_years(second: float, method: str) -> None:
    def f(t: Any, y: Any) -> Any:
        return [-y["a"] / second, (y["a"] - (y["b"] if y["a"] < 0.5 else 0.0)) / second]

    result = tg.simulate(tg.ode(f, y0={"a": 1.0, "b": 0.0}), (0.0, 3 * second), rtol=1e-9, method=method)
    assert [t / second for t in event_times(result)] == pytest.approx([math.log(2)], rel=1e-8)
    # b' = a - b from b = 1/2, a = 1/2: b = (1/2 + s/2) exp(-s) with s = t - ln 2
    s = 3 - math.log(2)
    assert result.final["b"] == pytest.approx((0.5 + 0.5 * s) * math.exp(-s), rel=1e-7)
