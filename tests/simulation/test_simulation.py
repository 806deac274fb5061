"""A simulation that is stopped, looked at and continued is the same run: pieces equal the whole, settings are events."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.hidden_crossing import model as hidden_crossing

import tidegate as tg
from simulation_models import BALL, LINE, Heated

METHODS = ("radau", "ida")


# -- pieces -----------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_pieces_equal_the_whole(method: str) -> None:
    whole = tg.simulate(BALL, (0.0, 2.0), sensitivities="all", rtol=1e-9, method=method)
    simulation = tg.Simulation(BALL, sensitivities="all", rtol=1e-9, method=method)
    for until in (0.1, 0.45, 0.4515, 1.2, 2.0):
        simulation.advance(until)
    pieces = simulation.result
    assert [event.causes for event in pieces.events] == [event.causes for event in whole.events]
    # a few times the tolerance: the pieces have other steps
    assert pieces.events.times == pytest.approx(whole.events.times, abs=1e-8)
    assert pieces.final == pytest.approx(whole.final, abs=1e-7)
    assert pieces.sensitivity("h", "e").values[-1] == pytest.approx(whole.sensitivity("h", "e").values[-1], abs=1e-6)
    assert pieces.statistics.events == len(whole.events)


def test_dense_output_goes_over_the_whole_time() -> None:
    simulation = tg.Simulation(BALL, rtol=1e-9)
    simulation.advance(0.2)
    simulation.advance(0.4)
    times = np.linspace(0.0, 0.4, 41)
    assert simulation.result.at(times, ["h"])["h"].values == pytest.approx(1.0 - 9.81 / 2 * times**2, abs=1e-8)


def test_rows_at_a_distance_are_those_of_one_run_and_the_stops() -> None:
    simulation = tg.Simulation(LINE, outputs=0.25)
    simulation.advance(0.6)
    assert simulation.advance(1.0).t.tolist() == [0.75, 1.0]
    assert simulation.result.t.tolist() == [0.0, 0.25, 0.5, 0.6, 0.75, 1.0]
    assert simulation.result["x"].values == pytest.approx(simulation.result.t, abs=1e-12)


def test_rows_at_given_times_are_recorded_when_their_time_comes() -> None:
    simulation = tg.Simulation(LINE, 1.0, outputs=[1.0, 2.0, 3.5])
    simulation.advance(3.0)
    simulation.advance(4.0)
    assert simulation.result.t.tolist() == [1.0, 2.0, 3.0, 3.5, 4.0]


def test_advancing_gives_what_is_new_and_standing_still_gives_nothing() -> None:
    simulation = tg.Simulation(LINE)
    assert simulation.advance(1.0).t[0] == 0.0
    assert simulation.advance(2.0).t[0] > 1.0
    assert simulation.advance(2.0).t.size == 0
    assert (simulation.time, simulation.status) == (2.0, "ready")


@pytest.mark.slow
def test_the_model_ends_the_run() -> None:
    class Until(tg.Component):
        x = tg.State(0.0)
        last = tg.Discrete(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.when(lambda self: self.x > 1)
        def enough(self) -> Any:
            tg.terminate("far enough")

        @tg.finally_
        def note(self) -> Any:
            return {self.last: self.x}

    simulation = tg.Simulation(Until())
    assert simulation.advance(3.0).status == "terminated"
    assert simulation.result.final["last"] == pytest.approx(1.0)
    with pytest.raises(tg.UsageError, match=r"cannot advance: the run was ended by the model .far enough. at t = 1"):
        simulation.advance(4.0)
    early = tg.Simulation(Until())
    early.advance(0.5)
    assert early.finish().final["last"] == pytest.approx(0.5)
    assert (early.status, early.result.events[-1].kind) == ("finished", "final")
    with pytest.raises(tg.UsageError, match="the run has ended"):
        early["x"] = 0.0


# -- values -----------------------------------------------------------------------------------------------------------------------------------


def test_values_are_read_by_name_before_and_after_the_first_advance() -> None:
    simulation = tg.Simulation(BALL)
    assert simulation.keys() == ["h", "v", "height", "bounces", "ticks", "e", "energy"]
    assert (simulation["height"], simulation["energy"], simulation["ticks"]) == (2.0, 9.81, 1.0)
    simulation.advance(0.5)
    assert simulation["height"] == pytest.approx(2 * simulation["h"])
    assert simulation["energy"] == pytest.approx(9.81 * 0.64, rel=1e-5)
    assert dict(simulation.states) == {"h": simulation["h"], "v": simulation["v"]}
    assert (dict(simulation.parameters), simulation.discretes["bounces"], simulation["time"]) == ({"e": 0.8}, 1.0, 0.5)
    assert "h" in simulation
    assert "energy" in simulation._ipython_key_completions_()


def test_setting_a_state_is_an_event_with_rows_on_both_sides() -> None:
    simulation = tg.Simulation(BALL)
    simulation.advance(0.25)
    before = simulation["h"]
    simulation["h"] = 2.0
    assert simulation["height"] == 4.0
    event = simulation.result.events.of("set")[0]
    assert (event.time, event.cause, event.changes["h"], event.changes["height"]) == (0.25, "h set by the user", (before, 2.0), (2 * before, 4.0))
    assert simulation.result.t[-2:].tolist() == [0.25, 0.25]
    assert simulation.result["h"].values[-2:].tolist() == [before, 2.0]
    assert simulation.result.at([0.25], ["h"], side="left")["h"].values[0] == pytest.approx(before)


def test_conditions_that_become_true_by_a_setting_fire() -> None:
    simulation = tg.Simulation(BALL)
    simulation.advance(0.1)
    simulation.set({"h": -0.001, "v": -3.0})
    assert (simulation["v"], simulation["bounces"]) == (pytest.approx(2.4), 1.0)
    assert simulation.result.events[-1].causes == ("h set by the user", "v set by the user", "bounce")


def test_settings_before_the_first_advance_count_from_the_start() -> None:
    simulation = tg.Simulation(LINE, 1.0)
    simulation["x"] = 5.0
    simulation.parameters["slope"] = 2.0
    simulation.advance(2.0)
    assert simulation["x"] == pytest.approx(7.0)
    assert [event.time for event in simulation.result.events] == [1.0, 1.0]


@pytest.mark.parametrize("method", METHODS)
def test_a_parameter_changes_what_comes_and_not_what_was(method: str) -> None:
    simulation = tg.Simulation(tg.ode(lambda t, y, p: [p["a"]], y0={"x": 0.0}, p={"a": 1.0}), method=method)
    simulation.advance(1.0)
    simulation["a"] = -2.0
    simulation.advance(3.0)
    assert simulation.result.at([0.5, 1.0, 2.0], ["x"])["x"].values == pytest.approx([0.5, 1.0, -1.0], abs=1e-5)
    assert simulation.result.events[0].changes == {"a": (1.0, -2.0)}
    assert simulation.result.parameters == {"a": -2.0}


def test_an_input_is_held_until_it_is_set_again() -> None:
    simulation = tg.Simulation(Heated(), rtol=1e-8)
    for power in (1.0, 3.0, 3.0):
        simulation.inputs["u"] = power
        simulation.advance(simulation.time + 5.0)
    first = 30.0 - 10.0 * math.exp(-0.5)
    assert simulation["T"] == pytest.approx(50.0 + (first - 50.0) * math.exp(-1.0), rel=1e-7)
    # the same value again changes nothing, and is no event
    assert [event.changes["u"] for event in simulation.result.events] == [(0.0, 1.0), (1.0, 3.0)]


def test_what_is_set_no_longer_depends_on_parameters() -> None:
    model = tg.ode(lambda t, y, p: [p["a"] * y["x"]], y0={"x": 1.0}, p={"a": 0.5})
    simulation = tg.Simulation(model, sensitivities=["a"], rtol=1e-9)
    simulation.advance(1.0)
    simulation["x"] = 2.0
    assert simulation.advance(2.0).sensitivity("x", "a").values[-1] == pytest.approx(2.0 * math.exp(0.5), rel=1e-7)


def test_a_clock_whose_period_is_set_goes_on_with_the_new_one() -> None:
    class Clock(tg.Component):
        ticks = tg.Discrete(0)
        period = tg.Parameter(0.3)

        def equations(self) -> Any:
            return []

        @tg.every(lambda self: self.period)
        def tick(self) -> Any:
            return {self.ticks: self.ticks + 1}

    simulation = tg.Simulation(Clock())
    simulation.advance(1.0)
    simulation["period"] = 0.125
    simulation.advance(1.3)
    assert simulation.result.events.of("time").times == pytest.approx([0.0, 0.3, 0.6, 0.9, 1.125, 1.25], abs=1e-12)


def test_arrays_are_read_and_set_as_a_whole_and_by_element() -> None:
    model = tg.ode(lambda t, y, p: [p["k"][0], p["k"][1]], y0=[1.0, 2.0], p={"k": [1.0, -1.0]})
    simulation = tg.Simulation(model)
    name = simulation.states.__iter__().__next__()
    simulation[name] = [3.0, 4.0]
    simulation[f"{name}[1]"] = 5.0
    simulation["k"] = 0.0
    simulation.advance(1.0)
    assert np.asarray(simulation[name]).tolist() == pytest.approx([3.0, 5.0])
    assert simulation.result.parameters == {"k[0]": 0.0, "k[1]": 0.0}
    with pytest.raises(tg.UsageError, match=r"k needs an array of shape \(2,\), not one of shape \(3,\)"):
        simulation["k"] = [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("hh", 1.0, "no variable or parameter 'hh' in model Ball\n  try: h"),
        ("height", 1.0, "height is an algebraic variable: the equations determine it at every instant\n  try: set a state .h, v. or a parameter"),
        ("energy", 1.0, "energy is an output"),
        ("h", float("nan"), "h must be finite, not nan"),
        ("h", "high", "h needs a number, not 'high'"),
    ],
)
def test_what_cannot_be_set_is_refused_and_changes_nothing(name: str, value: Any, sentence: str) -> None:
    simulation = tg.Simulation(BALL)
    with pytest.raises(tg.UsageError, match=sentence):
        simulation.set({"v": 1.0, name: value})
    assert simulation["v"] == 0.0
    with pytest.raises(tg.UsageError, match="no state 'e'"):
        simulation.states["e"] = 0.5


class Clocked(tg.Component):
    x = tg.State(1.0, min=0.0)
    share = tg.Parameter(0.5, min=0.0, max=1.0)
    period = tg.Parameter(0.5)
    ticks = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.share * self.x

    @tg.every(lambda self: self.period)
    def tick(self) -> Any:
        return {self.ticks: self.ticks + 1}


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("x", -1.0, "state x: its value -1 must be at least 0"),
        ("share", 1.5, "parameter share: its value 1.5 must be at least 0 and at most 1"),
        ("period", 0.0, "the period of tick is 0; it must be positive"),
    ],
)
def test_a_setting_that_the_model_would_refuse_at_its_start_is_refused(name: str, value: float, sentence: str) -> None:
    simulation = tg.Simulation(Clocked())
    simulation.advance(1.0)
    before = simulation[name]
    with pytest.raises(tg.UsageError, match=sentence):
        simulation[name] = value
    assert simulation[name] == before
    simulation.advance(2.0)
    assert simulation["ticks"] == 5.0


@pytest.mark.parametrize("begun", [False, True])
def test_a_method_that_is_refused_does_not_stay(begun: bool) -> None:
    root = tg.dae(lambda t, y, ydot: [ydot["x"] + y["root"], y["root"] ** 3 - y["x"]], y0={"x": 1.0, "root": 1.0})
    simulation = tg.Simulation(root, method="ida")
    if begun:
        simulation.advance(0.1)
    with pytest.raises(tg.UsageError, match="root is an algebraic unknown"):
        simulation.advance(0.2, method="bdf")
    simulation.advance(0.2)
    assert simulation.options["method"] == "ida"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rtol": 2.0}, "rtol must lie between"),
        ({"outputs": -1.0}, "no distance of output times"),
        ({"outputs": "often"}, "outputs must be times or a distance"),
        ({"rtoll": 1e-3}, "no option 'rtoll'\n  try: rtol"),
        ({"method": "rado"}, "there is no method 'rado'"),
    ],
)
def test_options_are_checked_when_they_are_given(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tg.UsageError, match=sentence):
        tg.Simulation(LINE, **options)
    simulation = tg.Simulation(LINE)
    with pytest.raises(tg.UsageError, match=sentence):
        simulation.advance(1.0, **options)
    assert simulation.advance(1.0).final["x"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "changes", "sentence"),
    [
        ((0.5,), {}, "advance.0.5. leads back: the simulation is at t = 1"),
        ((math.inf,), {}, "until must be a finite time"),
        (("soon",), {}, "until must be a time, not 'soon'"),
        ((2.0,), {"parameters": {"slope": 2.0}}, "parameters cannot be changed once a simulation has begun"),
        ((2.0,), {"sensitivities": "all"}, "sensitivities cannot be changed"),
    ],
)
def test_what_cannot_be_asked_of_an_advance(arguments: Any, changes: dict[str, Any], sentence: str) -> None:
    simulation = tg.Simulation(LINE)
    simulation.advance(1.0)
    with pytest.raises(tg.UsageError, match=sentence):
        simulation.advance(*arguments, **changes)
    assert simulation.time == 1.0


@pytest.mark.filterwarnings("ignore::tidegate.SensitivityWarning")
def test_a_derivative_that_does_not_exist_stays_lost_in_later_pieces_and_in_a_file(tmp_path: Path) -> None:
    # y[0] only touches 1, at pi/2; what grows above it has no derivative by c from there on, y[0] itself never had one
    model = tg.ode(lambda t, y, p: [y[1], -y[0], 1.0 if y[0] > p["c"] else 0.0], y0=[0.0, 1.0, 0.0], p={"c": 1.0})
    parts: list[tg.Result] = []
    whole = tg.simulate(model, (0.0, 4.0), sensitivities="all", rtol=1e-8)
    simulation = tg.Simulation(model, sensitivities="all", rtol=1e-8, on_rows=parts.append)
    for until in (1.0, 2.0, 3.0):
        simulation.advance(until)
    simulation.save(tmp_path / "touch")
    loaded = tg.Simulation.load(tmp_path / "touch", model)
    for each in (simulation, loaded):
        each.advance(4.0)
    lost = np.isnan(whole.sensitivities[-1])
    assert lost.any()
    for result in (simulation.result, loaded.result):
        assert np.isnan(result.sensitivities[-1]).tolist() == lost.tolist()
        assert not np.isnan(result.sensitivities[result.t < 1.5]).any()
        assert np.isnan(result.sensitivities[result.t > 1.6]).all(axis=0).tolist() == lost.tolist()
    assert np.isnan(parts[-1].sensitivities[-1]).tolist() == lost.tolist()


@pytest.mark.filterwarnings("ignore::tidegate.SensitivityWarning")
def test_an_event_whose_condition_lost_its_derivative_has_none_in_a_later_piece() -> None:
    simulation = tg.Simulation(hidden_crossing, parameters={"p": 3.0}, sensitivities=["p"])
    for until in (0.1, 0.5, 2.0):
        simulation.advance(until)
    assert [math.isnan(event.dt_dp["p"]) for event in simulation.result.events] == [True]


def test_the_user_is_warned_once_of_a_derivative_that_does_not_exist() -> None:
    model = tg.ode(lambda t, y, p: [y[1], -y[0], 1.0 if y[0] > p["c"] else 0.0], y0=[0.0, 1.0, 0.0], p={"c": 1.0})
    simulation = tg.Simulation(model, sensitivities="all", rtol=1e-8, method="radau")
    simulation.advance(1.0)
    with pytest.warns(tg.SensitivityWarning, match="touches its zero") as caught:
        simulation.advance(2.0)
    assert caught[0].filename == __file__
    simulation.advance(3.0)


def test_what_the_model_says_at_its_start_is_the_first_event() -> None:
    class Talking(tg.Component):
        x = tg.State(0.0)
        stop = tg.Parameter(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.initially
        def hello(self) -> Any:
            tg.message("hello")
            if self.stop > 0:
                tg.terminate("not today")

    parts: list[tg.Result] = []
    simulation = tg.Simulation(Talking(), on_rows=parts.append)
    assert simulation.result.events[0].messages == ("hello",)
    for until in (1.0, 2.0):
        simulation.advance(until)
    assert [event.kind for event in simulation.result.events] == ["initial"]
    assert [event.kind for part in parts for event in part.events] == ["initial"]
    over = tg.Simulation(Talking(), parameters={"stop": 1.0})
    assert (over.status, over.result.status) == ("terminated", "terminated")
    with pytest.raises(tg.UsageError, match=r"ended by the model .*not today"):
        over.advance(1.0)


def test_a_piece_of_one_step_tells_where_it_began() -> None:
    simulation = tg.Simulation(tg.ode(lambda t, y, p: [p["u"]], y0={"x": 0.0}, p={"u": 1.0}))
    simulation.advance(0.6)
    piece = simulation.advance(2.0)
    assert piece.t.tolist() == [2.0]
    assert piece.summary().startswith("model from 0.6 to 2, 1 row, 0 events")
