"""Calls of ``tg.solve_ivp`` with functions that it knows: nothing is followed again, and everything is as it would be if it were."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tidegate as tg
from tidegate.solve_ivp import kept_plans

__all__: list[str] = []


def afresh(function: Any) -> Any:
    """The same function, which nobody has seen yet."""
    other = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    other.__dict__.update(function.__dict__)
    return other


@pytest.fixture
def followings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each problem whose functions have been followed."""
    found: list[int] = []
    follow: Callable[..., Any] = kept_plans.followed_of
    monkeypatch.setattr(kept_plans, "followed_of", lambda *given: found.append(1) or follow(*given))
    return found


def rotor(t: Any, y: Any, w: Any, damping: Any) -> list[Any]:
    return [w * y[1] - damping * y[0], -w * y[0] - damping * y[1]]


def rotated(t: float, y0: list[float], w: float, damping: float) -> list[float]:
    c, s, size = math.cos(w * t), math.sin(w * t), math.exp(-damping * t)
    return [size * (c * y0[0] + s * y0[1]), size * (c * y0[1] - s * y0[0])]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_other_numbers_are_followed_once_and_come_out_as_with_a_function_nobody_has_seen(seed: int, followings: list[int]) -> None:
    rng = np.random.default_rng(seed)
    function = afresh(rotor)
    for _ in range(5):
        y0, w, damping = rng.normal(size=2).tolist(), np.float64(rng.uniform(0.1, 30.0)), float(rng.uniform(0.0, 20.0))
        end = float(rng.uniform(0.1, 5.0))
        found = tg.solve_ivp(function, (0.0, end), y0, args=(w, damping), rtol=1e-8)
        assert found.y[:, -1] == pytest.approx(rotated(end, y0, w, damping), abs=1e-6)
        before = len(followings)
        other = tg.solve_ivp(afresh(rotor), (0.0, end), y0, args=(w, damping), rtol=1e-8)
        assert len(followings) == before + 1
        assert np.array_equal(found.t, other.t)
        assert np.array_equal(found.y, other.y)
    assert len(followings) == 6


def powers(t: Any, y: Any, k: Any) -> list[Any]:
    return [y[1], -(y[0] ** k) * 0.1 - y[0]]


def chosen(t: Any, y: Any, k: Any, name: Any) -> list[Any]:
    rate = y[0] if k > 1.0 else -y[0]
    return [rate * (2.0 if name == "double" else 1.0)]


def counted(t: Any, y: Any, n: Any) -> list[Any]:
    return [-sum(y[0] for _ in range(n))]


def whole(t: Any, y: Any, k: Any) -> list[Any]:
    return [float(int(k)) - y[0]]


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (powers, [(2.0,), (3.0,), (2.0,), (4.0,)]),
        (chosen, [(0.5, "single"), (2.0, "single"), (2.0, "double"), (0.5, "double")]),
        (counted, [(1,), (3,), (2,)]),
        (whole, [(1.7,), (3.2,), (1.7,)]),
    ],
)
def test_arguments_that_decide_what_is_computed_are_heeded(function: Any, calls: list[tuple[Any, ...]]) -> None:
    y0 = [-0.7, 0.3] if function is powers else [1.0]
    known = afresh(function)
    for args in calls:
        found = tg.solve_ivp(known, (0.0, 2.0), y0, args=args, rtol=1e-9)
        truth = solve_ivp(function, (0.0, 2.0), y0, args=args, rtol=1e-11, atol=1e-12)
        assert found.y[:, -1] == pytest.approx(truth.y[:, -1], abs=1e-6), args


GAIN = 1.0


def global_gain(t: Any, y: Any) -> list[Any]:
    return [-GAIN * y[0]]


def test_what_a_function_reads_may_change_between_two_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    rate, table = 1.0, [0.5]

    def fun(t: Any, y: Any) -> list[Any]:
        return [-rate * table[0] * y[0]]

    for value, entry in ((1.0, 0.5), (2.0, 0.5), (2.0, 1.5), (2.0, 1.5)):
        rate, table[0] = value, entry
        assert tg.solve_ivp(fun, (0.0, 1.0), [1.0]).y[0, -1] == pytest.approx(math.exp(-value * entry), abs=1e-6)
    for value in (1.0, 3.0):
        monkeypatch.setitem(global_gain.__globals__, "GAIN", value)
        assert tg.solve_ivp(global_gain, (0.0, 1.0), [1.0]).y[0, -1] == pytest.approx(math.exp(-value), abs=1e-6)


def test_an_array_among_the_arguments_may_be_changed_in_place() -> None:
    rates = np.array([1.0, 2.0])

    def fun(t: Any, y: Any, k: Any) -> list[Any]:
        return [-k[0] * y[0], -k[1] * y[1]]

    for first in (1.0, 3.0):
        rates[0] = first
        assert tg.solve_ivp(fun, (0.0, 1.0), [1.0, 1.0], args=(rates,)).y[:, -1] == pytest.approx([math.exp(-first), math.exp(-2.0)], abs=1e-6)


def falling(t: Any, y: Any, g: Any, floor: Any) -> list[Any]:
    return [y[1], -g]


def on_the_floor(t: Any, y: Any, g: Any, floor: Any) -> Any:
    return y[0] - floor


def test_events_depend_on_arguments_on_the_start_and_on_what_the_function_says_of_itself() -> None:
    fall, touch = afresh(falling), afresh(on_the_floor)
    touch.terminal = True
    for y0, g, floor, hit in (([1.0, 0.0], 2.0, 0.0, 1.0), ([1.0, 0.0], 8.0, 0.0, 0.5), ([2.0, 0.0], 2.0, 1.0, 1.0), ([0.0, 1.0], 2.0, 0.0, 0.0)):
        found = tg.solve_ivp(fall, (0.0, 3.0), y0, events=touch, args=(g, floor), rtol=1e-9)
        assert (found.status, found.t_events[0].tolist()) == (1, pytest.approx([hit], abs=1e-8))
    touch.terminal = False
    found = tg.solve_ivp(fall, (0.0, 3.0), [0.0, 1.0], events=touch, args=(2.0, 0.0), rtol=1e-9)
    assert (found.status, found.t_events[0].tolist()) == (0, pytest.approx([0.0, 1.0], abs=1e-8))
    touch.terminal, touch.direction = 2, -1
    found = tg.solve_ivp(fall, (0.0, 3.0), [0.0, 1.0], events=touch, args=(2.0, 0.0), rtol=1e-9)
    assert found.t_events[0].tolist() == pytest.approx([1.0], abs=1e-8)


def test_runs_backwards_and_forwards_are_told_apart() -> None:
    function = afresh(rotor)
    y0 = [1.0, 0.5]
    end = tg.solve_ivp(function, (0.0, 2.0), y0, args=(3.0, 0.1), rtol=1e-9).y[:, -1]
    for _ in range(2):
        back = tg.solve_ivp(function, (2.0, 0.0), end, args=(3.0, 0.1), rtol=1e-9)
        assert back.y[:, -1] == pytest.approx(y0, abs=1e-7)


@pytest.mark.slow
def test_a_solution_of_a_known_function_is_verified_with_its_own_numbers() -> None:
    function = afresh(rotor)
    for w in (2.0, 5.0):
        solution = tg.solve_ivp(function, (0.0, 2.0), [1.0, 0.5], args=(w, 0.1), dense_output=True)
        assert tg.verify(solution).ok
        solution.y[0, -1] += 0.1
        assert not tg.verify(solution).ok


def test_whether_a_problem_is_stiff_is_up_to_its_own_numbers() -> None:
    """The method, and so every digit, is the same whatever was solved before."""

    def fun(t: Any, y: Any, k: Any) -> list[Any]:
        return [-k * (y[0] - np.cos(t))]

    tg.solve_ivp(fun, (0.0, 10.0), [1.0], args=(1.0,))
    stiff = tg.solve_ivp(fun, (0.0, 10.0), [1.0], args=(1e5,))
    alone = tg.solve_ivp(afresh(fun), (0.0, 10.0), [1.0], args=(1e5,))
    assert stiff.njev > 0
    assert np.array_equal(stiff.y, alone.y)


def test_threads_may_solve_one_problem_with_different_numbers() -> None:
    function = afresh(rotor)
    cases = [(float(w), float(d)) for w in np.linspace(1.0, 9.0, 8) for d in (0.0, 0.5)]
    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(lambda args: tg.solve_ivp(function, (0.0, 3.0), [1.0, 0.0], args=args, rtol=1e-9).y[:, -1], cases))
    for found, (w, d) in zip(ends, cases, strict=True):
        assert found == pytest.approx(rotated(3.0, [1.0, 0.0], w, d), abs=1e-7)
