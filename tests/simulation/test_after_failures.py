"""A simulation that failed, or was interrupted, stands where it stopped, can be mended, and goes on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from simulation_models import BALL, LINE

METHODS = ("radau", "ida")


def test_after_too_many_steps_it_goes_on_where_it_stopped() -> None:
    simulation = tg.Simulation(BALL, rtol=1e-9)
    with pytest.raises(tg.TooManyStepsError) as caught:
        simulation.advance(2.0, max_steps=5)
    assert simulation.status == "failed"
    assert 0.0 < simulation.time == simulation.result.t[-1] == caught.value.result.t[-1]
    simulation.advance(2.0, max_steps=None)
    whole = tg.simulate(BALL, (0.0, 2.0), rtol=1e-9)
    assert simulation.result.events.times == pytest.approx(whole.events.times, abs=1e-8)
    assert (simulation.status, simulation.result.status) == ("ready", "finished")
    assert np.all(np.diff(simulation.result.t) >= 0)


def test_the_method_and_the_tolerance_can_change_on_the_way() -> None:
    simulation = tg.Simulation(BALL, rtol=1e-4)
    simulation.advance(1.0)
    simulation.advance(1.5, method="ida", rtol=1e-8)
    simulation.advance(2.0, method="radau")
    assert simulation.result.statistics.method == "taylor, ida, radau"
    assert simulation.options["rtol"] == 1e-8
    # as accurate as the first part was
    assert simulation["h"] == pytest.approx(tg.simulate(BALL, (0.0, 2.0), rtol=1e-9).final["h"], abs=1e-2)


@pytest.mark.parametrize("outputs", [None, 0.01])
def test_a_mode_that_is_not_defined_is_left_by_setting_a_value(outputs: float | None) -> None:
    model = tg.ode(lambda t, y, p: [-np.sqrt(y["x"] - p["floor"]) - 0.1], y0={"x": 1.0}, p={"floor": 0.5})
    simulation = tg.Simulation(model, outputs=outputs)
    with pytest.raises(tg.NotFiniteError):
        simulation.advance(10.0)
    assert simulation["x"] == pytest.approx(0.5, abs=2e-5)
    assert simulation.result.t[-1] <= simulation.time
    simulation["floor"] = -5.0
    simulation.advance(2.0)
    assert simulation.status == "ready"
    assert np.all(np.diff(simulation.result.t) >= 0)
    assert np.all(np.isfinite(simulation.result.values))


@pytest.mark.parametrize("method", ["radau", "ida", "bdf", "adams"])
def test_a_run_that_fails_twice_can_still_be_mended(method: str) -> None:
    model = tg.ode(lambda t, y: [-np.sqrt(y["h"])], y0={"h": 1.0})
    simulation = tg.Simulation(model, method=method, rtol=1e-8)
    for _ in range(3):
        with pytest.raises(tg.NotFiniteError):
            simulation.advance(5.0)
        # (1 - t/2)^2 is zero at t = 2; nearly all of the way there is kept
        assert simulation.time == pytest.approx(2.0, abs=0.05)
    start = simulation.time
    simulation["h"] = 4.0
    assert "nan" in simulation.summary().lower()  # why it failed is still said
    simulation.advance(5.0)
    # errors of the multistep methods are some hundred times rtol
    assert simulation["h"] == pytest.approx((2.0 - (5.0 - start) / 2) ** 2, abs=1e-5)


def test_chattering_ends_when_what_pushes_back_is_taken_away() -> None:
    model = tg.ode(lambda t, y, p: [p["push"] - 1.0 if y["x"] > 0 else 1.0], y0={"x": 1.0}, p={"push": 0.0})
    simulation = tg.Simulation(model)
    with pytest.raises(tg.ChatteringError):
        simulation.advance(10.0)
    simulation["push"] = 3.0
    simulation.advance(3.0)
    assert simulation["x"] == pytest.approx(4.0, abs=1e-4)


def test_an_event_without_consistent_values_is_tried_again_and_not_skipped() -> None:
    class Switched(tg.Component):
        z = tg.Algebraic(1.0)
        x = tg.State(0.0)
        level = tg.Discrete(1.0)
        ticks = tg.Discrete(0)
        new = tg.Parameter(-1.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0
            yield self.z * self.z == self.level

        @tg.at(2.0)
        def switch(self) -> Any:
            return {self.level: self.new}

        @tg.every(0.5)
        def tick(self) -> Any:
            return {self.ticks: self.ticks + 1}

    simulation = tg.Simulation(Switched())
    with pytest.raises(tg.InitializationError):
        simulation.advance(3.0)
    assert (simulation["level"], simulation["ticks"]) == (1.0, 4.0)
    assert simulation.time == pytest.approx(2.0, abs=1e-4)
    simulation["new"] = 4.0
    simulation.advance(3.0)
    assert (simulation["z"], simulation["ticks"]) == (pytest.approx(2.0), 7.0)


def test_a_setting_without_consistent_values_leaves_everything_as_it_was() -> None:
    class Root(tg.Component):
        z = tg.Algebraic(1.0)
        x = tg.State(0.0)
        square = tg.Parameter(1.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == self.z
            yield self.z * self.z == self.square

    simulation = tg.Simulation(Root())
    simulation.advance(1.0)
    with pytest.raises(tg.InitializationError):
        simulation["square"] = -1.0
    assert (simulation["square"], simulation["z"], len(simulation.result.events)) == (1.0, 1.0, 0)
    assert simulation.advance(2.0).final["x"] == pytest.approx(2.0)


def test_an_exception_of_the_callers_own_function_keeps_what_was_computed() -> None:
    def stop(t: float) -> None:
        raise RuntimeError("enough")

    simulation = tg.Simulation(LINE, progress=stop)
    with pytest.raises(RuntimeError, match="enough"):
        simulation.advance(1.0)
    assert simulation.time == 1.0
    simulation.advance(2.0, progress=None)
    assert simulation["x"] == pytest.approx(2.0)


def test_ctrl_c_keeps_what_was_computed_and_it_goes_on() -> None:
    def stop(t: float) -> None:
        raise KeyboardInterrupt

    simulation = tg.Simulation(LINE, progress=stop)
    with pytest.raises(tg.InterruptedRunError) as caught:
        simulation.advance(1.0)
    assert caught.value.result.t[-1] == 1.0
    assert (simulation.status, simulation.time) == ("failed", 1.0)
    assert simulation.advance(2.0, progress=None).final["x"] == pytest.approx(2.0)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_callback_is_called_again(error: type[BaseException]) -> None:
    limit = 0.5

    def pull(x: float) -> float:
        if x < limit:
            raise error("enough")
        return -x

    function = tg.opaque(pull)
    simulation = tg.Simulation(tg.ode(lambda t, y: [function(y["x"])], y0={"x": 1.0}), rtol=1e-8)
    with pytest.raises(tg.InterruptedRunError if error is KeyboardInterrupt else tg.CallbackError):
        simulation.advance(2.0)
    # nothing behind the zero of x - 0.5, where the trouble is, and not far before it either
    assert 0.0 <= simulation.time < math.log(2.0)
    limit = 0.0
    simulation.advance(2.0)
    assert simulation["x"] == pytest.approx(math.exp(-2.0), rel=1e-6)
    assert np.all(np.diff(simulation.result.t) >= 0)


@pytest.mark.slow
def test_rows_within_the_step_that_was_stopped_are_written_once() -> None:
    class Slow(tg.Component):
        x = tg.State(1.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == -self.x

    simulation = tg.Simulation(Slow(), outputs=1e-5)
    for limit in (1, 2, 3):
        try:
            simulation.advance(1.0, max_steps=limit)
        except tg.TooManyStepsError:
            assert simulation.result.t[-1] <= simulation.time * (1 + 1e-14)
    simulation.advance(1.0, max_steps=None)
    times = simulation.result.t
    assert np.all(np.diff(times) > 0)
    assert simulation.result["x"].values == pytest.approx(np.exp(-times), rel=1e-4)


def test_new_rows_are_handed_over_once_and_in_order() -> None:
    parts: list[tg.Result] = []
    simulation = tg.Simulation(BALL, on_rows=parts.append)
    for until in (0.5, 1.0, 1.5):
        simulation.advance(until)
    assert np.concatenate([part.t for part in parts]).tolist() == simulation.result.t.tolist()


def test_it_shows_itself_in_one_line_and_as_a_table() -> None:
    simulation = tg.Simulation(BALL)
    assert repr(simulation) == "<Simulation of Ball at t = 0, ready>"
    assert "<td>9.81</td>" in simulation._repr_html_()
    assert repr(simulation.parameters) == "{'e': 0.8}"


def test_a_failure_says_from_where_the_simulation_can_go_on() -> None:
    simulation = tg.Simulation(tg.ode(lambda t, y: [-(y["level"] ** 0.5) - 0.1], y0={"level": 1.0}))
    with pytest.raises(tg.RunError, match=r"the simulation stands at t = .* and can go on from there") as caught:
        simulation.advance(3.0)
    told = float(str(caught.value).partition("stands at t = ")[2].split()[0])
    assert told == pytest.approx(simulation.time, rel=1e-9)
    assert told < caught.value.time


def test_final_actions_that_have_no_consistent_values_can_be_tried_again_with_others() -> None:
    class Closing(tg.Component):
        x = tg.State(1.0)
        z = tg.Algebraic(1.0)
        d = tg.Discrete(1.0)
        last = tg.Parameter(-1.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == -1.0
            yield self.z * self.z == self.d

        @tg.when(lambda self: self.x < 0.5)
        def halt(self) -> Any:
            tg.terminate("enough")

        @tg.finally_
        def end(self) -> Any:
            return {self.d: self.last}

    simulation = tg.Simulation(Closing())
    with pytest.raises(tg.RunError, match="do not determine z") as caught:
        simulation.advance(1.0)
    assert caught.value.result.t[-1] == pytest.approx(0.5, abs=1e-9)
    assert simulation.status == "failed"
    assert simulation.time == pytest.approx(0.5, abs=1e-4)
    assert not simulation.result.events
    simulation["last"] = 4.0
    simulation.advance(1.0)
    assert simulation.status == "terminated"
    assert simulation.result.final["z"] == pytest.approx(2.0)
    assert [event.kind for event in simulation.result.events] == ["set", "state", "final"]


def test_what_is_told_after_parameters_were_set_is_what_a_simulation_with_these_parameters_tells() -> None:
    """Between two settings what numbers mean is not worked out again; the plain way is a simulation that has them from its start."""

    def falls(t: float, y: Any, p: Any) -> list[Any]:
        return [-p["k"] * y["x"] if y["x"] > p["limit"] else -p["k"]]

    model = tg.ode(falls, y0={"x": 1.0}, p={"k": 1.0, "limit": 0.5})
    moved = tg.Simulation(model)
    for k, limit in ((3.0, 0.9), (1.5, 0.25), (2.0, 0.7)):
        moved.set({"k": k, "limit": limit})
    plain = tg.Simulation(model, parameters={"k": 2.0, "limit": 0.7})
    one, other = moved.advance(0.4), plain.advance(0.4)
    assert one.final["x"] == pytest.approx(other.final["x"], rel=1e-9)
    told, plainly = ([event for event in part.events if event.kind == "state"] for part in (one, other))
    assert [event.time for event in told] == pytest.approx([event.time for event in plainly], rel=1e-9)
    assert [(event.causes, event.origins) for event in told] == [(event.causes, event.origins) for event in plainly]
    assert len(told) == 1
    assert one.parameters == other.parameters
