"""Models and calls that make no sense are refused with the user's own names, never answered with a number.

Exceptions in the user's functions, and equations that are NaN or singular at the start, are tested with the executive.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []

SINGULAR = {
    "the same twice": lambda t, y, d: [d["x"] + y["a"], y["a"] + y["b"] - y["x"], 2 * y["a"] + 2 * y["b"] - 2 * y["x"]],
    "the same but for rounding": lambda t, y, d: [d["x"] + y["a"], y["a"] + y["b"] - y["x"], 0.1 * y["a"] + 0.1 * y["b"] - 0.1 * y["x"]],
    "the same in thirds": lambda t, y, d: [d["x"] + y["a"], y["a"] + y["b"] / 3 - y["x"], 0.3 * y["a"] + 0.1 * y["b"] - 0.3 * y["x"]],
}


@pytest.mark.parametrize("equations", list(SINGULAR))
def test_equations_that_say_the_same_leave_unknowns_open(equations: str, dae_method: str) -> None:
    model = tg.dae(SINGULAR[equations], y0={"x": 1.0, "a": 0.5, "b": 1.5 if "thirds" in equations else 0.5})
    with pytest.raises(tg.SingularSystemError, match=r"\ba\b.*at the start"):
        tg.simulate(model, (0.0, 1.0), method=dae_method)


@pytest.mark.parametrize("second", [lambda y: 0.0 * y["z"], lambda y: y["x"] - 0.5])
def test_an_unknown_that_a_mode_leaves_open_is_named_when_the_mode_is_entered(second: Any, dae_method: str) -> None:
    model = tg.dae(lambda t, y, d: [d["x"] - 1, y["z"] - y["x"] if t < 0.5 else second(y)], y0={"x": 0.0, "z": 0.0})
    with pytest.raises(tg.SingularSystemError, match=r"\bz\b.*t = 0\.5"):
        tg.simulate(model, (0.0, 1.0), method=dae_method)


def test_the_end_of_a_solution_branch_stops_the_run(dae_method: str) -> None:
    model = tg.dae(lambda t, y, d: [d["x"] + 1, y["z"] ** 2 - y["x"]], y0={"x": 1.0, "z": 1.0})
    with pytest.raises(tg.RunError, match=r"\bz\b") as caught:
        tg.simulate(model, (0.0, 2.0), method=dae_method)
    assert caught.value.time == pytest.approx(1.0, abs=1e-4)


def stepping(**event: Any) -> Any:
    return tg.ode(lambda t, y: [1.0], y0={"x": 0.0}, events=tg.event(lambda t, y: y["x"] > 0.5, **event))


CALLS: dict[str, tuple[Any, str]] = {
    "too many derivatives": (
        lambda method: tg.simulate(tg.ode(lambda t, y: [1.0, 2.0], y0=[0.0]), (0.0, 1.0), method=method),
        "returns 2 derivatives.*1 values",
    ),
    "too few derivatives": (
        lambda method: tg.simulate(tg.ode(lambda t, y: [1.0], y0=[0.0, 1.0]), (0.0, 1.0), method=method),
        "returns 1 derivatives.*2 values",
    ),
    "unknown parameter": (lambda method: tg.simulate(stepping(), (0.0, 1.0), parameters={"q": 1.0}, method=method), "no parameter 'q'"),
    "unknown signal": (lambda method: tg.simulate(stepping(), (0.0, 1.0), method=method)["speed"], "no variable 'speed'"),
    "unknown option": (lambda method: tg.simulate(stepping(), (0.0, 1.0), tol=1e-3, method=method), "no option 'tol'"),
    "unknown variable in a reset": (lambda method: tg.simulate(stepping(reset=lambda t, y: {"z": 1.0}), (0.0, 1.0), method=method), "names 'z'"),
    "start value that is NaN": (
        lambda method: tg.simulate(tg.ode(lambda t, y: [1.0], y0=[math.nan]), (0.0, 1.0), method=method),
        "finite number is expected",
    ),
    "parameter that is NaN": (
        lambda method: tg.simulate(tg.ode(lambda t, y, p: [p["a"]], y0=[0.0], p={"a": 1.0}), (0.0, 1.0), parameters={"a": math.nan}, method=method),
        "a must be finite",
    ),
    "division by zero while tracing": (
        lambda method: tg.simulate(tg.ode(lambda t, y: [1 / 0], y0=[1.0]), (0.0, 1.0), method=method),
        "ZeroDivisionError",
    ),
}


@pytest.mark.parametrize("call", list(CALLS))
def test_what_makes_no_sense_is_refused_by_name(call: str, method: str) -> None:
    run, match = CALLS[call]
    with pytest.raises(tg.TidegateError, match=match):
        run(method)


CONDITIONS: dict[str, tuple[Any, str]] = {
    "if, false beyond": (lambda t, y: [1.0, 1.0 if np.sqrt(0.5 - y["x"]) > 0.1 else 0.0], r"sqrt\(0\.5 - x\) > 0\.1"),
    "if, true before": (lambda t, y: [1.0, 1.0 if np.sqrt(0.5 - y["x"]) < 2 else 0.0], r"sqrt\(0\.5 - x\) < 2"),
}


@pytest.mark.parametrize("condition", list(CONDITIONS))
def test_a_condition_that_becomes_nan_is_named(condition: str, method: str) -> None:
    function, match = CONDITIONS[condition]
    with pytest.raises(tg.NotFiniteError, match=match) as caught:
        tg.simulate(tg.ode(function, y0={"x": 0.0, "s": 0.0}), (0.0, 1.0), method=method)
    assert caught.value.result is not None
    assert caught.value.result.final["x"] < 0.5 + 1e-9


@pytest.mark.parametrize("level", [-3.0, -1000.0])
def test_a_condition_of_an_event_that_becomes_nan_is_named(level: float, method: str) -> None:
    event = tg.event(lambda t, y: np.log(0.5 - y["x"]) < level, reset=lambda t, y: {"s": 1.0})
    model = tg.ode(lambda t, y: [1.0, 0.0], y0={"x": 0.0, "s": 0.0}, events=event)
    with pytest.raises(tg.NotFiniteError, match=r"log\(0\.5 - x\) < -"):
        tg.simulate(model, (0.0, 1.0), method=method)


def test_a_reset_to_nan_stops_the_run_at_the_event(method: str) -> None:
    with pytest.raises(tg.NotFiniteError) as caught:
        tg.simulate(stepping(reset=lambda t, y: {"x": np.sqrt(-y["x"])}), (0.0, 1.0), method=method)
    assert caught.value.time == pytest.approx(0.5, abs=1e-9)


def test_growth_beyond_the_largest_number_is_no_result(method: str) -> None:
    with pytest.raises(tg.NotFiniteError) as caught:
        tg.simulate(tg.ode(lambda t, y: [y["x"]], y0={"x": 1.0}), (0.0, 800.0), method=method)
    # a Rosenbrock method adds up multiples of rates, so that its stages overflow a little before the unknown does
    assert caught.value.time == pytest.approx(math.log(1.797e308), abs=4.0 if method == "rodas5p" else 1.0)


STIFF = tg.ode(lambda t, y, p: [-p["k"] * (y["x"] - np.cos(t)) - np.sin(t)], y0={"x": 0.0}, p={"k": 1.0})


@pytest.mark.parametrize("stiffness", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("stiff_method", ["radau", "ida", "bdf"])
def test_a_stiff_model_is_followed_by_the_methods_for_them(stiffness: float, stiff_method: str) -> None:
    result = tg.simulate(STIFF, (0.0, 10.0), rtol=1e-6, parameters={"k": stiffness}, max_steps=1_000, method=stiff_method)
    assert result.final["x"] == pytest.approx(math.cos(10.0), abs=1e-5)


@pytest.mark.parametrize("stiffness", [1e3, 1e6, 1e9])
def test_a_stiff_model_given_to_a_method_for_others_takes_too_many_steps_and_is_never_wrong(stiffness: float) -> None:
    with pytest.raises(tg.TooManyStepsError, match="1000 steps") as caught:
        tg.simulate(STIFF, (0.0, 10.0), rtol=1e-6, parameters={"k": stiffness}, max_steps=1_000, method="adams")
    assert caught.value.result is not None
    assert caught.value.result.final["x"] == pytest.approx(math.cos(caught.value.time), abs=1e-5)
