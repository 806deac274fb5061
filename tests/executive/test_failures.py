"""A run that stops early says why in the user's names, and keeps what was computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg


def stopped(kind: type[tg.RunError], run: Callable[[], Any], match: str) -> Any:
    with pytest.raises(kind, match=match) as caught:
        run()
    error = caught.value
    assert error.result is not None
    assert error.result.status == "failed"
    assert math.isfinite(error.time)
    return error


def test_a_solution_that_runs_to_infinity_collapses_the_step() -> None:
    model = tg.ode(lambda t, y: [y["x"] ** 2], y0={"x": 1.0})
    error = stopped(tg.StepSizeError, lambda: tg.simulate(model, (0.0, 2.0)), r"\bx = ")
    assert error.time == pytest.approx(1.0, abs=1e-5)
    assert error.result.time[-1] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("surface", [lambda t, y: y["x"] > 0, lambda t, y: y["x"] - y["w"] > 0, lambda t, y: y["x"] ** 3 > 0])
def test_pushing_back_from_both_sides_is_chattering(surface: Any) -> None:
    model = tg.ode(lambda t, y: [-1.0 if surface(t, y) else 1.0, 0.1], y0={"x": 1.0, "w": -0.5})
    error = stopped(tg.ChatteringError, lambda: tg.simulate(model, (0.0, 3.0)), "x")
    assert error.origin is not None
    assert error.origin.line > 0
    assert error.result.time[-1] > 0.5


class Ball(tg.Component):
    h = tg.State(1.0)
    v = tg.State(0.0)
    e = tg.Parameter(0.5)

    def equations(self) -> Any:
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -9.81

    @tg.when(lambda self: self.h < 0)
    def bounce(self) -> Any:
        return {self.v: -self.e * self.v}


@pytest.mark.parametrize("e", [0.3, 0.5, 0.8])
def test_bounces_that_accumulate_are_zeno_and_the_time_is_foretold(e: float) -> None:
    end = math.sqrt(2 / 9.81) * (1 + e) / (1 - e)
    error = stopped(tg.ZenoError, lambda: tg.simulate(Ball(e=e), (0.0, end + 1.0)), "h < 0")
    assert error.time == pytest.approx(end, rel=1e-5)
    foretold = float(error.message.split("t = ")[1].split(":")[0])
    assert foretold == pytest.approx(end, rel=2e-6)


def test_a_ball_that_stops_before_its_bounces_accumulate_is_fine() -> None:
    assert tg.simulate(Ball(), (0.0, 1.35)).status == "finished"


def test_nan_names_the_equation() -> None:
    model = tg.ode(lambda t, y: [-1.0, np.sqrt(y["x"] - 0.5)], y0={"x": 1.0, "z": 0.0})
    error = stopped(tg.NotFiniteError, lambda: tg.simulate(model, (0.0, 2.0)), r"sqrt\(x - 0.5\)")
    assert error.time == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize(("function", "match"), [(lambda y: np.log(y["x"] - 2), r"log\(x - 2\)"), (lambda y: 1 / y["z"], "1/z")])
def test_an_equation_that_is_not_finite_at_the_start_is_named(function: Any, match: str) -> None:
    model = tg.ode(lambda t, y: [-y["x"], function(y)], y0={"x": 1.0, "z": 0.0})
    error = stopped(tg.NotFiniteError, lambda: tg.simulate(model, (0.0, 1.0)), match)
    assert error.time == 0.0
    assert error.origin is not None


def test_a_singular_start_names_the_unknown_that_is_left_open() -> None:
    model = tg.dae(lambda t, y, ydot: [ydot["x"] + y["z"], y["z"] ** 2 - y["x"] ** 2], y0={"x": 0.0, "z": 0.0})
    stopped(tg.SingularSystemError, lambda: tg.simulate(model, (0.0, 1.0)), r"\bz\b.*at the start")


def test_equations_without_a_solution_name_the_algebraic_unknowns() -> None:
    model = tg.dae(lambda t, y, ydot: [ydot["x"] + y["z"], y["z"] ** 2 + 1 + y["x"] ** 2], y0={"x": 1.0, "z": 0.3})
    stopped(tg.InitializationError, lambda: tg.simulate(model, (0.0, 1.0)), r"\bz\b")


class Undecided(tg.Component):
    x = tg.State(0.0)
    n = tg.Discrete(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 1.0

    @tg.when(lambda self: self.x + self.n > 1)
    def up(self) -> Any:
        return {self.n: -10.0}

    @up.elsewhen(lambda self: self.x + self.n < 0)
    def down(self) -> Any:
        return {self.n: 10.0}


def test_rounds_that_do_not_come_to_rest_name_their_conditions() -> None:
    error = stopped(tg.UnsettledEventError, lambda: tg.simulate(Undecided(), (0.0, 3.0)), "does not converge")
    for words in ("up (`x + n > 1`, at Undecided ", "down (`x + n < 0`, at Undecided ", "test_failures.py:", "keep changing n, and with it each"):
        assert words in str(error)
    assert "tg.pre(n)" in error.hint
    assert error.time == pytest.approx(1.0, rel=1e-6)


def fragile(x: float) -> float:
    if x < 0.5:
        raise ValueError("too small")
    return x


def test_an_exception_in_an_opaque_function_is_kept_as_cause() -> None:
    opaque = tg.opaque(fragile)
    model = tg.ode(lambda t, y: [-opaque(y["x"])], y0={"x": 1.0})
    error = stopped(tg.CallbackError, lambda: tg.simulate(model, (0.0, 2.0)), "fragile raised ValueError: too small")
    assert isinstance(error.__cause__, ValueError)
    assert error.time == pytest.approx(math.log(2.0), abs=1e-2)


def test_an_exception_in_an_opaque_condition_stops_the_run() -> None:
    opaque = tg.opaque(fragile)
    model = tg.ode(lambda t, y: [-y["x"] if opaque(y["x"]) > 0.1 else 0.0], y0={"x": 1.0})
    stopped(tg.CallbackError, lambda: tg.simulate(model, (0.0, 2.0)), "too small")


def test_an_exception_that_a_shorter_step_avoids_is_forgotten_by_the_next_run() -> None:
    opaque = tg.opaque(fragile)
    model = tg.ode(lambda t, y, p: [-opaque(y["x"]) * p["k"]], y0={"x": 1.0}, p={"k": 1.0})
    stopped(tg.CallbackError, lambda: tg.simulate(model, (0.0, 2.0)), "too small")
    assert tg.simulate(model, (0.0, 0.5)).status == "finished"
    stopped(tg.TooManyStepsError, lambda: tg.simulate(model, (0.0, 0.5), max_steps=1), "1 steps")


@pytest.mark.parametrize("limit", [1, 7, 50, 500])
def test_the_number_of_steps_is_limited_exactly(limit: int) -> None:
    model = tg.ode(lambda t, y: [-y["x"] + np.sin(100 * t)], y0={"x": 1.0})
    error = stopped(tg.TooManyStepsError, lambda: tg.simulate(model, (0.0, 1000.0), max_steps=limit), f"{limit} steps")
    assert error.result.statistics.steps == limit


def test_enough_steps_are_no_failure() -> None:
    model = tg.ode(lambda t, y: [-y["x"]], y0={"x": 1.0})
    steps = tg.simulate(model, (0.0, 1.0)).statistics.steps
    assert tg.simulate(model, (0.0, 1.0), max_steps=steps).status == "finished"
