"""Rows stand exactly at the times asked for, with the accuracy of the run, before and after events as promised."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg

SWING = tg.ode(lambda t, y: [y[1], -y[0], 1.0 if y[0] > 0 else -1.0], y0=[1.0, 0.0, 0.0])


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_values_at_asked_times_are_as_accurate_as_the_run(rtol: float) -> None:
    times = np.linspace(0.0, 10.0, 317)
    result = tg.simulate(SWING, (0.0, 10.0), outputs=times, rtol=rtol)
    assert np.array_equal(result.time, times)
    assert np.asarray(result["y[0]"]) == pytest.approx(np.cos(times), abs=10 * rtol)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_interpolation_between_steps_stays_near_the_tolerance(rtol: float) -> None:
    times = np.linspace(0.0, 10.0, 317)
    result = tg.simulate(SWING, (0.0, 10.0), rtol=rtol)
    # inside a step the collocation polynomial has fewer orders than at its end
    assert np.asarray(result.at(times)["y"])[:, 0] == pytest.approx(np.cos(times), abs=1000 * rtol)


def test_asking_for_times_does_not_change_the_steps() -> None:
    plain = tg.simulate(SWING, (0.0, 10.0))
    asked = tg.simulate(SWING, (0.0, 10.0), outputs=0.01)
    assert asked.statistics.steps == plain.statistics.steps
    assert asked.events.times.tolist() == plain.events.times.tolist()


def test_a_distance_of_times_ends_at_the_end() -> None:
    assert tg.simulate(SWING, (0.0, 1.0), outputs=0.25).time.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert tg.simulate(SWING, (0.0, 1.0), outputs=0.4).time.tolist() == [0.0, 0.4, 0.8, 1.0]


@pytest.mark.slow
def test_a_hundred_thousand_rows_fit_through_the_buffers() -> None:
    model = tg.ode(lambda t, y: [-y[0]], y0=[1.0])
    times = np.linspace(0.0, 1.0, 100_001)
    result = tg.simulate(model, (0.0, 1.0), outputs=times, rtol=1e-8)
    assert np.array_equal(result.time, times)
    assert np.asarray(result["y[0]"]) == pytest.approx(np.exp(-times), abs=1e-8)


class Kicked(tg.Component):
    x = tg.State(1.0)
    n = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.x

    @tg.every(0.25)
    def kick(self) -> Any:
        return {self.x: self.x + 1, self.n: self.n + 1}


def test_a_row_at_the_time_of_an_event_shows_what_came_of_it() -> None:
    result = tg.simulate(Kicked(), (0.0, 1.0), outputs=0.125)
    assert result.time.tolist() == (np.arange(9) / 8).tolist()
    assert np.asarray(result["n"]).tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5]


def test_both_sides_of_events_are_recorded_between_steps() -> None:
    result = tg.simulate(Kicked(), (0.0, 1.0))
    for event in result.events:
        rows = np.flatnonzero(result.time == event.time)
        n = np.asarray(result["n"])[rows]
        assert n[-1] - n[0] == 1
        assert np.asarray(result["x"])[rows[-1]] == pytest.approx(event.after["x"])


def test_events_between_asked_times_are_recorded_on_request() -> None:
    result = tg.simulate(Kicked(), (0.0, 1.0), outputs=[0.1, 0.9], event_rows=True)
    assert sorted(set(result.time.tolist())) == [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
    assert np.all(np.diff(result.time) >= 0)


def test_interpolation_at_an_event_has_two_sides() -> None:
    result = tg.simulate(Kicked(), (0.0, 1.0), rtol=1e-9)
    left, right = (float(result.at([0.5], side=side)["x"][0]) for side in ("left", "right"))
    assert right - left == pytest.approx(1.0, rel=1e-9)


def test_rows_of_a_terminated_run_end_at_its_end() -> None:
    class Stops(Kicked):
        @tg.when(lambda self: tg.time >= 0.6)
        def stop(self) -> Any:
            tg.terminate("enough")

    result = tg.simulate(Stops(), (0.0, 1.0), outputs=0.125)
    assert result.status == "terminated"
    assert result.time[-1] <= 0.6
    assert math.isclose(result.events.times[-1], 0.6)


def falling(outputs: Any) -> Any:
    return tg.ode(lambda t, y: [-1.0], y0={"x": 1.0}, outputs=outputs)


def test_outputs_that_are_not_finite_are_named_once_a_run_with_their_first_time() -> None:
    model = falling(lambda t, y: {"log": np.log(y["x"] + 0.1), "fine": y["x"] ** 2, "inverse": 1 / (y["x"] - 1)})
    with pytest.warns(tg.NotFiniteWarning) as caught:
        result = tg.simulate(model, (0.0, 2.0), outputs=0.5)
    (warning,) = caught
    assert "the output log is nan at t = 1.5 and in 1 later rows" in str(warning.message)
    assert "the output inverse is" in str(warning.message)
    assert "fine" not in str(warning.message)
    assert np.isnan(np.asarray(result["log"])[-2:]).all()
    assert warning.filename == __file__


def test_a_discrete_variable_that_becomes_nan_is_named() -> None:
    class Noting(tg.Component):
        x = tg.State(1.0)
        d = tg.Discrete(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == -1.0

        @tg.at(1.5)
        def note(self) -> Any:
            return {self.d: np.sqrt(self.x)}

    with pytest.warns(tg.NotFiniteWarning, match=r"the discrete variable d is nan at t = 1\.5"):
        tg.simulate(Noting(), (0.0, 2.0))
