"""IDAS and CVODES as engines of the same loop: right numbers, right events, right derivatives, and their sentences where they fail."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from examples import bouncing_ball, buck_converter, carver_circuit, hidden_crossing, pipe_friction, robertson, sampled_heater, valve_table

import tidegate as tg

__all__: list[str] = []

ENGINES = ["ida", "bdf", "adams"]
EXPLICIT = [bouncing_ball, hidden_crossing, buck_converter, sampled_heater, valve_table, pipe_friction]
ALLOWED = 1000.0  # errors at the end in units of rtol: a multistep method controls the error of a step, and thousands of steps add up


def worst(found: Any, truth: Any) -> float:
    """Largest difference of final values, relative to each one's size over the run."""
    size = np.abs(truth.values).max(axis=0) + 1e-9
    return float(np.max(np.abs(found.values[-1] - truth.values[-1]) / size))


def worst_derivative(found: Any, truth: Any) -> float:
    """Largest difference of final sensitivities, relative to the largest derivative of each variable and parameter over the run."""
    size = np.abs(truth.sensitivities).max(axis=0)
    values = np.abs(truth.values).max(axis=0)
    parameters = np.array([abs(truth.parameters[name]) or 1.0 for name in truth.sensitivity_parameters])
    return float(np.max(np.abs(found.sensitivities[-1] - truth.sensitivities[-1]) / (size + 0.01 * values / parameters[:, None] + 1e-12)))


@pytest.mark.hunt
@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("example", EXPLICIT)
def test_values_events_and_derivatives_agree_with_a_tight_run_of_our_own(example: Any, method: str) -> None:
    rtol = 1e-8
    truth = tg.simulate(example.model, example.t_span, rtol=1e-11, sensitivities="all")
    found = tg.simulate(example.model, example.t_span, rtol=rtol, sensitivities="all", method=method)
    assert [event.causes for event in found.events] == [event.causes for event in truth.events]
    length = example.t_span[1] - example.t_span[0]
    assert np.abs(found.events.times - truth.events.times).max(initial=0.0) <= ALLOWED * rtol * length
    assert worst(found, truth) <= ALLOWED * rtol
    assert worst_derivative(found, truth) <= ALLOWED * rtol
    assert found.statistics.method == method


@pytest.mark.parametrize("example", [carver_circuit, robertson])
def test_algebraic_unknowns_and_their_derivatives_agree_with_our_own(example: Any) -> None:
    rtol = 1e-8
    truth = tg.simulate(example.model, example.t_span, rtol=1e-11, sensitivities="all")
    found = tg.simulate(example.model, example.t_span, rtol=rtol, sensitivities="all", method="ida")
    assert len(found.events) == len(truth.events)
    assert worst(found, truth) <= ALLOWED * rtol
    assert worst_derivative(found, truth) <= ALLOWED * rtol


@pytest.mark.parametrize("method", ENGINES)
def test_bounces_are_where_the_closed_form_has_them(method: str) -> None:
    # h = 1 - g t^2 / 2, then parabolas of duration 2 e^k sqrt(2/g)
    g, e = 9.81, 0.8
    result = tg.simulate(bouncing_ball.model, (0.0, 3.0), rtol=1e-9, method=method)
    fall = math.sqrt(2 / g)
    expected = [fall * (1 + 2 * sum(e**j for j in range(1, k + 1))) for k in range(len(result.events))]
    assert len(expected) >= 5
    # a parabola is integrated to the tolerance, and the sixth bounce carries the errors of five
    assert result.events.times == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("p", [2.9, 2.99, 2.9999])
def test_two_crossings_in_one_step_are_both_found(method: str, p: float) -> None:
    result = tg.simulate(hidden_crossing.model, hidden_crossing.t_span, parameters={"p": p}, rtol=1e-8, method=method)
    assert len(result.events) == 3
    assert result.events.times[1] - result.events.times[0] > 0.0


@pytest.mark.parametrize("method", ENGINES)
def test_the_solution_between_the_steps_is_as_good_as_at_them(method: str) -> None:
    rtol = 1e-9
    result = tg.simulate(tg.ode(lambda t, y: [y[1], -y[0]], y0=[0.0, 1.0]), (0.0, 20.0), rtol=rtol, method=method)
    times = np.linspace(0.0, 20.0, 1001)
    values = result.at(times)["y"].values[:, 0]
    asked = tg.simulate(tg.ode(lambda t, y: [y[1], -y[0]], y0=[0.0, 1.0]), (0.0, 20.0), rtol=rtol, method=method, outputs=times)
    assert np.abs(values - np.sin(times)).max() <= ALLOWED * rtol
    # the same polynomial is behind both
    assert np.abs(asked.values[:, 0] - values).max() <= 1e-13


@pytest.mark.parametrize("method", ["bdf", "adams"])
def test_algebraic_unknowns_are_refused_by_name(method: str) -> None:
    model = tg.dae(lambda t, y, ydot: [ydot["y1"] + y["y3"], y["y3"] ** 3 + y["y3"] - y["y1"]], y0={"y1": 1.0, "y3": 0.7})
    with pytest.raises(tg.UsageError, match=r"'(bdf|adams)' solves differential equations only, and y3 .*algebraic[\s\S]*method='ida'"):
        tg.simulate(model, (0.0, 1.0), method=method)


@pytest.mark.parametrize("method", ENGINES)
def test_a_regular_mass_matrix_is_no_obstacle(method: str) -> None:
    def coupled(t: Any, y: Any, ydot: Any, p: Any) -> list[Any]:
        return [p["m"] * ydot[0] + ydot[1] + 3.0 * y[0], ydot[0] + 2.0 * ydot[1] + y[1]]

    model = tg.dae(coupled, y0=[1.0, -1.0], p={"m": 2.0})
    truth = tg.simulate(model, (0.0, 2.0), rtol=1e-11, sensitivities="all")
    found = tg.simulate(model, (0.0, 2.0), rtol=1e-8, sensitivities="all", method=method)
    assert worst(found, truth) <= ALLOWED * 1e-8
    assert worst_derivative(found, truth) <= ALLOWED * 1e-8


@tg.opaque
def pendulum(t: Any, y: Any) -> Any:
    return np.array([y[1], -np.sin(y[0])])


@pytest.mark.slow
@pytest.mark.parametrize("method", ENGINES)
def test_functions_called_in_python_run_as_well(method: str) -> None:
    model = tg.ode(pendulum, y0=[1.0, 0.0], events=[tg.event(lambda t, y: y[0] < 0.0)])
    truth = tg.simulate(tg.ode(lambda t, y: [y[1], -np.sin(y[0])], y0=[1.0, 0.0]), (0.0, 10.0), rtol=1e-11)
    found = tg.simulate(model, (0.0, 10.0), rtol=1e-8, method=method)
    assert worst(found, truth) <= ALLOWED * 1e-8
    assert len(found.events) >= 1


@pytest.mark.parametrize("method", ENGINES)
def test_a_failure_says_what_sundials_says_and_nothing_goes_to_stderr(method: str, capfd: pytest.CaptureFixture[str]) -> None:
    model = tg.ode(lambda t, y: [-np.sqrt(y[0])], y0=[1.0])
    tg.simulate(tg.ode(lambda t, y: [-y[0]], y0=[1.0]), (0.0, 1.0), method=method)  # whatever is compiled is announced here
    capfd.readouterr()
    with pytest.raises(tg.NotFiniteError, match=r"SUNDIALS says: At t = ") as caught:
        tg.simulate(model, (0.0, 3.0), method=method)
    assert caught.value.result.t[-1] == pytest.approx(2.0, abs=0.01)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("method", ENGINES)
def test_a_solution_that_runs_away_stops_the_run(method: str) -> None:
    with pytest.raises(tg.RunError, match="t = ") as caught:
        tg.simulate(tg.ode(lambda t, y: [y[0] ** 2], y0=[1.0]), (0.0, 2.0), method=method)
    assert caught.value.time == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("method", ENGINES)
def test_a_run_repeated_is_the_same_to_the_last_bit(method: str) -> None:
    run = tg.prepare(bouncing_ball.model, bouncing_ball.t_span, method=method, sensitivities="all")
    first, second = run.run(), run.run()
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.events.times, second.events.times)
    again = run.integrator()
    for _ in range(2):
        again.start()
        again.advance(10_000)
        assert again.y == pytest.approx(first.values[-1], abs=0.0)
        again.reset()


@pytest.mark.parametrize("method", ENGINES)
def test_limits_of_the_step_are_kept(method: str) -> None:
    result = tg.simulate(tg.ode(lambda t, y: [-y[0]], y0=[1.0]), (0.0, 1.0), method=method, max_step=0.01, first_step=1e-5)
    steps = np.diff(result.t)
    assert steps.max() <= 0.01 * (1 + 1e-12)
    assert steps[0] == pytest.approx(1e-5)


@pytest.mark.parametrize("method", ENGINES)
def test_a_model_without_states_only_has_its_clock(method: str) -> None:
    class Counter(tg.Component):
        n = tg.Discrete(0)

        @tg.every(1.0)
        def ticks(self) -> Any:
            return {self.n: self.n + 1}

    result = tg.simulate(Counter(), (0.0, 3.5), method=method)
    assert result.final["n"] == tg.simulate(Counter(), (0.0, 3.5)).final["n"]


@pytest.mark.slow
def test_two_threads_run_at_once() -> None:
    found: list[Any] = [None, None]

    def work(place: int) -> None:
        for _ in range(20):
            found[place] = tg.simulate(bouncing_ball.model, bouncing_ball.t_span, method="ida", rtol=1e-9)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(found[0].values, found[1].values)


@pytest.mark.parametrize("method", ["radau", *ENGINES])
def test_a_run_goes_on_from_the_state_of_another_method(method: str) -> None:
    whole = tg.simulate(hidden_crossing.model, hidden_crossing.t_span, rtol=1e-9, sensitivities="all")
    half = tg.prepare(hidden_crossing.model, (0.0, 0.5 * hidden_crossing.t_span[1]), rtol=1e-9, sensitivities="all")
    first = half.integrator()
    first.start()
    first.advance(10_000)
    rest = tg.prepare(hidden_crossing.model, hidden_crossing.t_span, rtol=1e-9, sensitivities="all", method=method)
    rest.problem = replace(rest.problem, resume=first.state())
    second = rest.integrator()
    second.start()
    second.advance(100_000)
    assert second.time == hidden_crossing.t_span[1]
    assert second.y == pytest.approx(whole.values[-1], rel=1e-6)
    # derivatives are continued, not begun anew
    assert second.sensitivities == pytest.approx(whole.sensitivities[-1], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("method", ENGINES)
def test_many_at_rest_make_no_room_for_errors_of_the_one_that_moves(method: str) -> None:
    """The largest weighted error counts, as with Radau; in the root mean square of 200 the one could be 14 times as far off."""

    def swing(others: int) -> Any:
        rates = lambda t, y: [10.0 * np.cos(10.0 * t), *(0.0 * y[q] for q in range(1, 1 + others))]  # noqa: E731
        return tg.simulate(tg.ode(rates, y0=[0.0, *[1.0] * others]), (0.0, 3.0), method=method, rtol=1e-6, atol=1e-6)

    alone, among_many = swing(1), swing(200)
    assert among_many.statistics.steps == alone.statistics.steps
    assert among_many.final["y[0]"] == pytest.approx(alone.final["y[0]"], abs=1e-12)


@pytest.mark.parametrize("method", ENGINES)
def test_a_function_that_fails_behind_a_point_ends_the_run_there(method: str) -> None:
    """IDA itself would go on by a rounding error of time with every step."""

    def fragile(x: float) -> float:
        if x <= 0.9:
            raise ValueError("below")
        return -x

    function = tg.opaque(fragile)
    with pytest.raises(tg.CallbackError, match="fragile raised ValueError: below") as caught:
        tg.simulate(tg.ode(lambda t, y: [function(y["x"])], y0={"x": 1.0}), (0.0, 1.0), method=method)
    assert caught.value.result is not None
    assert float(caught.value.result.final["x"]) == pytest.approx(0.9, rel=1e-4)


_AT_THE_END_OF_MEMORY = """
import ctypes, mmap
from tidegate.integrators.sundials import objects
from tidegate.integrators.sundials.library import function_address

size = mmap.PAGESIZE
memory = mmap.mmap(-1, 2 * size)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.mprotect(ctypes.c_void_p(start + size), ctypes.c_size_t(size), 0) == 0
table = (ctypes.c_void_p * 2).from_address(start + size - 16)
table[0], table[1] = None, function_address("SUNMatZero_Dense")
made = (ctypes.c_void_p * 2)(None, ctypes.addressof(table))
objects._replace(ctypes.addressof(made), "SUNMatZero_Dense", objects._leave)
assert table[0] is None and table[1] == objects._leave.address
"""


@pytest.mark.slow
def test_nothing_is_read_behind_a_table_of_operations() -> None:
    # where threads have memory of their own such a table may be the last thing that is mapped
    done = subprocess.run([sys.executable, "-c", _AT_THE_END_OF_MEMORY], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_matrix_is_counted_once() -> None:
    decay = tg.ode(lambda t, y: [-200.0 * y["x"] + y["z"], -y["z"]], {"x": 1.0, "z": 1.0})
    for method in ("bdf", "ida"):
        done = tg.simulate(decay, (0.0, 2.0), method=method).statistics
        assert done.factorizations == done.jacobians > 0
