"""`tg.solve_ivp` answers as SciPy's does, and better where SciPy steps over a discontinuity. Truth comes from SciPy itself, or on paper."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from scipy.integrate import OdeSolution
from scipy.integrate import solve_ivp as scipy_solve_ivp

import tidegate as tg

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def both(fun: Any, t_span: Any, y0: Any, **options: Any) -> tuple[Any, Any]:
    ours = tg.solve_ivp(fun, t_span, y0, **TIGHT, **options)
    return ours, scipy_solve_ivp(fun, t_span, y0, method="DOP853", **TIGHT, **options)


def assert_same(ours: Any, theirs: Any, tolerance: float = 1e-8) -> None:
    """Everything but the times of the steps, which every method chooses for itself."""
    assert set(ours) == {*theirs, "traced", "called"}
    assert (ours.status, ours.message, ours.success) == (theirs.status, theirs.message, theirs.success)
    assert ours.t[[0, -1]] == pytest.approx(theirs.t[[0, -1]], abs=tolerance)
    assert ours.y[:, [0, -1]] == pytest.approx(theirs.y[:, [0, -1]], rel=tolerance, abs=tolerance)
    assert (ours.t_events is None) == (theirs.t_events is None)
    for name in ("t_events", "y_events"):
        for here, there in zip(ours[name] or [], theirs[name] or [], strict=True):
            assert here.shape[0] == there.shape[0]
            assert here.ravel() == pytest.approx(there.ravel(), rel=tolerance, abs=tolerance)


def exponential_decay(t: Any, y: Any) -> Any:
    return -0.5 * y


def upward_cannon(t: Any, y: Any) -> Any:
    return [y[1], -0.5]


def lotka_volterra(t: Any, z: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    x, y = z
    return [a * x - b * x * y, -c * y + d * x * y]


def oscillator(t: Any, y: Any) -> Any:
    return [y[1], -y[0]]


def position(terminal: Any = False, direction: float = 0) -> Any:
    def event(t: Any, y: Any, *args: Any) -> Any:
        return y[0]

    event.terminal, event.direction = terminal, direction  # type: ignore[attr-defined]
    return event


def lambert(x: float) -> float:
    """A loop whose length depends on the data, which cannot be followed."""
    w = x
    while abs(w * math.exp(w) - x) > 1e-14:
        w = w - (w - x * math.exp(-w)) / (1.0 + w)
    return w


# -- the examples of SciPy's documentation


def test_decay() -> None:
    ours, theirs = both(exponential_decay, [0, 10], [2, 4, 8])
    assert_same(ours, theirs)
    assert ours.y.shape == (3, ours.t.size)
    assert ours.y == pytest.approx(np.outer([2, 4, 8], np.exp(-0.5 * ours.t)), rel=1e-9)
    assert np.all(np.diff(ours.t) > 0)


def test_decay_at_given_times() -> None:
    ours, theirs = both(exponential_decay, [0, 10], [2, 4, 8], t_eval=[0, 1, 2, 4, 10])
    assert_same(ours, theirs)
    assert ours.t.tolist() == [0, 1, 2, 4, 10]
    assert ours.y == pytest.approx(theirs.y, rel=1e-9)


def test_cannon_ends_when_it_hits_the_ground() -> None:
    ours, theirs = both(upward_cannon, [0, 100], [0, 10], events=position(terminal=True, direction=-1))
    assert_same(ours, theirs)
    assert ours.status == 1
    assert ours.t_events[0] == pytest.approx([40.0])


def test_cannon_with_apex_and_dense_output() -> None:
    events = (position(terminal=True, direction=-1), lambda t, y: y[1])
    ours, theirs = both(upward_cannon, [0, 100], [0, 10], events=events, dense_output=True)
    assert_same(ours, theirs)
    assert ours.sol(ours.t_events[1][0]) == pytest.approx([100.0, 0.0], abs=1e-9)


@pytest.mark.slow
def test_lotka_volterra_with_args_and_dense_output() -> None:
    ours, theirs = both(lotka_volterra, [0, 15], [10, 5], args=(1.5, 1, 3, 1), dense_output=True, events=lambda t, z, a, b, c, d: z[0] - c / d)
    assert_same(ours, theirs, 1e-7)
    t = np.linspace(0, 15, 300)
    assert ours.sol(t) == pytest.approx(theirs.sol(t), abs=1e-6)


def test_complex_start_values_are_refused_with_the_way_out() -> None:
    with pytest.raises(tg.UsageError, match="real and imaginary parts"):
        tg.solve_ivp(lambda t, y: 1j * y, [0, 25], np.array([10 + 0j, 20 + 0j]))


# -- events


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_events_of_random_smooth_problems_are_those_of_scipy(seed: int) -> None:
    draw = random.Random(seed)
    n = draw.randint(1, 3)
    matrix = np.array([[draw.uniform(-1, 1) for _ in range(2 * n)] for _ in range(2 * n)])
    matrix = matrix - matrix.T - 0.05 * np.eye(2 * n)
    drive = draw.uniform(0.5, 2.0)

    def fun(t: Any, y: Any) -> Any:
        return matrix @ y + np.sin(drive * t)

    def make(weights: list[float], level: float, direction: int, terminal: int) -> Any:
        def event(t: Any, y: Any) -> Any:
            return sum(w * v for w, v in zip(weights, y, strict=True)) - level + 0.1 * np.cos(t)

        event.direction, event.terminal = direction, terminal  # type: ignore[attr-defined]
        return event

    events = [make([draw.uniform(-1, 1) for _ in range(2 * n)], draw.uniform(-0.3, 0.3), d, 0) for d in (-1, 0, 1)]
    events[seed % 3].terminal = draw.choice([0, 0, 3])
    t_span = (0.0, 12.0) if seed % 2 else (3.0, -9.0)
    # steps so short that no pair of zeros hides in one
    start = [draw.uniform(-1, 1) for _ in range(2 * n)]
    theirs = scipy_solve_ivp(fun, t_span, start, method="DOP853", max_step=0.02, events=events, **TIGHT)
    assert_same(tg.solve_ivp(fun, t_span, start, events=events, **TIGHT), theirs)
    assert sum(map(len, theirs.t_events)) > 0


@pytest.mark.parametrize("terminal", [True, 1, 2, 3, 4])
def test_run_ends_at_the_zero_that_terminal_counts(terminal: int) -> None:
    ours, theirs = both(oscillator, (0, 20), [1.0, 0.0], events=position(terminal))
    assert_same(ours, theirs)
    assert ours.t[-1] == pytest.approx(math.pi * (int(terminal) - 0.5))


@pytest.mark.parametrize("direction", [-1, 0, 1])
@pytest.mark.parametrize("terminal", [0, 1, 2])
@pytest.mark.parametrize("speed", [-1.0, 1.0])
def test_zero_at_the_start_counts_if_it_is_left_in_the_direction(direction: int, terminal: int, speed: float) -> None:
    ours, theirs = both(oscillator, (0, 8), [0.0, speed], events=position(terminal, direction), dense_output=True)
    assert_same(ours, theirs)
    assert ours.sol(ours.t[-1]) == pytest.approx(ours.y[:, -1], abs=1e-9)


def test_event_does_not_change_the_state_and_an_event_that_never_happens_is_empty() -> None:
    plain = tg.solve_ivp(oscillator, (0, 10), [1.0, 0.0], **TIGHT)
    watched = tg.solve_ivp(oscillator, (0, 10), [1.0, 0.0], events=[position(), lambda t, y: 3.0, lambda t, y: y[0] - 5], **TIGHT)
    assert watched.y[:, -1] == pytest.approx(plain.y[:, -1], abs=1e-9)
    assert [times.size for times in watched.t_events] == [3, 0, 0]
    assert [values.shape for values in watched.y_events] == [(3, 2), (0, 2), (0, 2)]


def test_events_of_time_alone_and_events_at_one_instant_are_all_noted() -> None:
    found = tg.solve_ivp(
        oscillator, (0, 5), [1.0, 0.0], events=[lambda t, y: t - 2.5, lambda t, y: 2.5 - t, lambda t, y: y[0] - math.cos(2.5)], **TIGHT
    )
    assert [times.tolist() for times in found.t_events] == [
        [pytest.approx(2.5)],
        [pytest.approx(2.5)],
        [pytest.approx(2.5), pytest.approx(2 * math.pi - 2.5)],
    ]


def test_two_zeros_within_one_step_are_found() -> None:
    found = tg.solve_ivp(lambda t, y: [1.0], (0, 10), [0.0], events=lambda t, y: (y[0] - 5.0) ** 2 - 1e-8)
    assert found.t_events[0] == pytest.approx([4.9999, 5.0001])


# -- discontinuities


@pytest.mark.hunt
def test_hidden_crossings_are_right_where_scipy_misses_them() -> None:
    def switching(t: Any, y: Any) -> Any:
        return [4.0 - y[0]] if y[0] ** 3 - 5 * y[0] ** 2 + 7 * y[0] <= 2.999 else [10.0 - 2 * y[0]]

    truth = tg.simulate(tg.ode(switching, y0=[0.0]), (0, 2), rtol=1e-10).final["y[0]"]
    stepped = scipy_solve_ivp(switching, (0, 2), [0.0], method="DOP853", max_step=1e-4).y[0, -1]
    assert truth == pytest.approx(stepped, abs=1e-4)
    assert tg.solve_ivp(switching, (0, 2), [0.0]).y[0, -1] == pytest.approx(truth, abs=1e-5)
    assert abs(scipy_solve_ivp(switching, (0, 2), [0.0], rtol=1e-6, atol=1e-8).y[0, -1] - truth) > 1e-3


def test_kinks_are_found_with_arguments_and_backwards() -> None:
    def bounded(t: Any, y: Any, limit: float) -> Any:
        return [min(t, limit)]

    assert tg.solve_ivp(bounded, (0, 4), [0.0], args=(1.0,), **TIGHT).y[0, -1] == pytest.approx(3.5, abs=1e-12)
    assert tg.solve_ivp(bounded, (4, 0), [3.5], args=(1.0,), **TIGHT).y[0, -1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_function_that_cannot_be_followed_is_called_as_it_is() -> None:
    def cooling(t: Any, y: Any) -> Any:
        return [-lambert(float(y[0]))]

    def cold(t: Any, y: Any) -> Any:
        return lambert(float(y[0])) - 0.4

    ours, theirs = both(cooling, (0, 1), [1.0], events=cold, dense_output=True)
    assert_same(ours, theirs)
    assert ours.t_events[0].size == 1


def test_function_that_remembers_is_not_taken_for_what_it_computed_once() -> None:
    class Scaled:
        calls = 0

        def __call__(self, t: Any, y: Any) -> Any:
            Scaled.calls += 1
            return [-y[0] if Scaled.calls < 2 else -2.0 * y[0]]

    assert tg.solve_ivp(Scaled(), (0, 1), [1.0], **TIGHT).y[0, -1] == pytest.approx(math.exp(-2.0))


# -- ways of calling


def test_vectorized_function_gets_columns() -> None:
    matrix = np.array([[-1.0, 2.0], [-2.0, -1.0]])

    def fun(t: Any, y: Any) -> Any:
        assert y.ndim == 2
        return matrix @ y

    ours, theirs = both(fun, (0, 3), [1, 2], vectorized=True, events=lambda t, y: y[0])
    assert_same(ours, theirs)


@pytest.mark.parametrize("t_eval", [None, [9, 3.5, 0], [5.0]])
def test_run_backwards(t_eval: Any) -> None:
    ours, theirs = both(lambda t, y: [y[1], 0.1 * t - y[0]], (10, 0), [1, 0], t_eval=t_eval, events=lambda t, y: y[0] - 0.2, dense_output=True)
    assert_same(ours, theirs)
    t = np.linspace(0, 10, 41)
    assert ours.sol(t) == pytest.approx(theirs.sol(t), abs=1e-8)
    assert (ours.sol.t_min, ours.sol.t_max) == (0, 10)


def test_terminal_event_cuts_the_times_asked_for() -> None:
    ours, theirs = both(upward_cannon, (0, 100), [0, 10], t_eval=np.arange(0, 101, 8), events=position(True, -1))
    assert ours.t.tolist()[:5] == theirs.t.tolist()[:5] == [0, 8, 16, 24, 32]
    assert ours.y[:, :5] == pytest.approx(theirs.y[:, :5], abs=1e-9)


def test_run_of_no_length_gives_the_start_twice() -> None:
    ours, theirs = both(oscillator, (3, 3), [0.0, 1.0], dense_output=True)
    assert_same(ours, theirs)
    assert ours.t.tolist() == [3, 3]
    assert ours.sol(3.0).tolist() == [0, 1]


def test_no_times_asked_for_give_none() -> None:
    found = tg.solve_ivp(oscillator, (0, 3), [0.0, 1.0], t_eval=[], events=position(direction=-1))
    assert found.t.shape == (0,)
    assert found.y.shape == (2, 0)


def test_dense_output_has_scipys_shape() -> None:
    ours, theirs = both(oscillator, (0, 3), [0.0, 1.0], dense_output=True)
    assert isinstance(theirs.sol, OdeSolution)
    for t in (1.5, [1.5], [0, 1, 2, 3]):
        assert ours.sol(t).shape == theirs.sol(t).shape
    assert ours.sol.ts[[0, -1]].tolist() == [0, 3]
    assert ours.sol.n_segments == ours.sol.ts.size - 1
    with pytest.raises(tg.UsageError, match="outside the run"):
        ours.sol(3.1)


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA", "auto"])
def test_every_name_of_a_method_is_taken(method: str) -> None:
    assert tg.solve_ivp(exponential_decay, (0, 1), [1.0], method=method).y[0, -1] == pytest.approx(math.exp(-0.5), rel=1e-5)


def test_scipys_options_are_taken() -> None:
    found = tg.solve_ivp(
        exponential_decay, (0, 1), [1.0, 2.0], "Radau", rtol=0, atol=[0, 1e-9], first_step=None, max_step=0.125, jac=lambda t, y: -0.5 * np.eye(2)
    )
    assert np.diff(found.t).max() <= 0.125 * (1 + 1e-12)
    assert found.y[:, -1] == pytest.approx(np.exp(-0.5) * np.array([1, 2]), rel=1e-10)
    assert min(found.nfev, found.njev, found.nlu) > 0


def test_result_answers_as_attribute_and_as_entry() -> None:
    found = tg.solve_ivp(exponential_decay, (0, 1), [1.0])
    assert found["t"] is found.t
    found.note = "mine"
    assert found["note"] == "mine"
    del found.note
    assert "note" not in found
    assert "success: True" in repr(found)
    assert {"t", "y", "sol", "nfev"} <= set(dir(found))
    with pytest.raises(AttributeError, match="has no 'x'"):
        _ = found.x


# -- what goes wrong


def test_failed_run_keeps_what_was_computed() -> None:
    found = tg.solve_ivp(lambda t, y: y**2, (0, 2), [1.0], events=lambda t, y: y[0] - 2.0)
    assert (found.status, found.success) == (-1, False)
    assert "step size" in found.message
    assert found.t[-1] == pytest.approx(1.0, abs=1e-5)
    assert found.t_events[0] == pytest.approx([0.5], abs=1e-6)
    assert found.y.shape == (1, found.t.size)


def test_failed_run_keeps_the_times_asked_for_that_it_reached() -> None:
    found = tg.solve_ivp(lambda t, y: y**2, (0, 2), [1.0], t_eval=[0, 0.5, 1.5], dense_output=True)
    assert found.t.tolist() == [0, 0.5]
    assert found.sol(0.75)[0] == pytest.approx(4.0, rel=1e-4)


def test_exception_of_the_function_is_the_callers() -> None:
    def late(t: Any, y: Any) -> Any:
        if float(y[0]) > 2:
            raise KeyError("mine")
        return [1.0]

    with pytest.raises(KeyError, match="mine"):
        tg.solve_ivp(late, (0, 10), [1.0])
    with pytest.raises(ZeroDivisionError):
        tg.solve_ivp(lambda t, y: [1 / 0], (0, 10), [1.0])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"fun": 3}, "cannot be called"),
        ({"fun": lambda t, y: [1, 2]}, "returns 2 derivatives, but y0 has 1"),
        ({"fun": lambda t, y: [1j]}, "complex"),
        ({"t_span": 3}, "t_span must hold two numbers"),
        ({"t_span": (0, math.inf)}, "no finite length"),
        ({"y0": 1.0}, "y0 must be a list"),
        ({"y0": [math.nan]}, "finite number"),
        ({"y0": []}, "empty"),
        ({"args": 3}, r"args=\(3,\)"),
        ({"method": "RK46"}, "did you mean 'RK45'"),
        ({"t_eval": [2, 1]}, "rising"),
        ({"t_eval": [0, 20]}, "beyond t_span"),
        ({"t_eval": 3}, "list of finite times"),
        ({"events": 3}, "events is 3"),
        ({"events": [tg.event(lambda t, y: y[0] < 0)]}, "tg.event belongs to tg.ode"),
        ({"events": lambda t, y: [1, 2]}, "one number is expected"),
        ({"events": position(terminal=-1)}, "terminal"),
        ({"events": position(terminal=1.5)}, "terminal"),
        ({"lband": 1}, "'lband'"),
        ({"min_step": 1}, "'min_step'"),
        ({"rtoll": 1}, "rtol"),
        ({"rtol": -1}, "must not be negative"),
        ({"atol": [1, 2]}, "atol has 2 values"),
        ({"first_step": -1}, "first_step must be positive"),
    ],
)
def test_wrong_arguments_are_refused_by_name(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(tg.UsageError, match=message):
        tg.solve_ivp(**{"fun": exponential_decay, "t_span": (0, 10), "y0": [1.0], **changed})


# -- what is followed, and what is called


@pytest.mark.slow
def test_result_says_which_functions_were_followed_and_why_the_others_are_called() -> None:
    followed = tg.solve_ivp(lambda t, y: [-y[0] if y[0] > 0.5 else 0.0], (0, 1), [1.0])
    assert followed.traced
    assert followed.called == {}

    def cooling(t: Any, y: Any) -> Any:
        return [-lambert(float(y[0]))]

    called = tg.solve_ivp(cooling, (0, 1), [1.0], events=[lambda t, y: y[0] - 0.7, lambda t, y: lambert(float(y[0])) - 0.4])
    assert not called.traced
    assert set(called.called) == {"fun", "events[1]"}
    assert "while" in called.called["fun"]


def test_function_with_a_wrong_branch_when_followed_is_called() -> None:
    def by_its_text(t: Any, y: Any) -> Any:
        return [1.0 if str(float(y[0])).startswith("-") else -1.0, 0.0 * y[1] + (y[0] > 0.0)]

    solution = tg.solve_ivp(by_its_text, (0, 1), [2.0, 0.0], **TIGHT)
    assert not solution.traced
    np.testing.assert_allclose(solution.y[:, -1], [1.0, 1.0], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sine", pytest.param("noise", marks=pytest.mark.slow)])
def test_called_function_with_kinks_nobody_sees_keeps_the_tolerance(kind: str) -> None:
    from scipy.interpolate import interp1d

    times = np.linspace(0.0, 10.0, 101)
    values = np.sin(3 * times) if kind == "sine" else np.random.default_rng(1).normal(size=101)
    curve = interp1d(times, values)

    def rates(t: Any, y: Any) -> list[Any]:
        return [float(curve(float.fromhex(float(t).hex()))) - y[0]]  # a detour that nobody follows: curves of SciPy are

    solution = tg.solve_ivp(rates, (0, 10), [1.0], rtol=1e-8, atol=1e-10)
    exact, h = 1.0, 0.1
    for left, right in itertools.pairwise(values):  # y' = left + slope s - y on every piece
        slope = (right - left) / h
        exact = (exact - left + slope) * math.exp(-h) + left - slope + slope * h
    assert not solution.traced
    assert solution.y[0, -1] == pytest.approx(exact, abs=1e-7)  # ten times the tolerance: local errors of 100 kinks add up
