"""What is computed at the two ends of a run: the last row follows from the final actions, conditions at the start are asked at consistent values."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from run_checks import slopes


class Ending(tg.Component):
    x = tg.State(1.0)
    d = tg.Discrete(1.0)
    p = tg.Parameter(5.0)
    y = tg.Algebraic(0.0)
    z = tg.Algebraic(0.0)
    out = tg.Output(lambda self: 10 * self.d + self.x)

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.p * 0.0 - 1.0
        yield self.y == 2 * self.d
        yield self.z**3 + self.z == (self.y if self.y < 5 else self.y + 20.0)

    @tg.when(lambda self: self.y > 5)
    def never(self) -> Any:
        return {self.x: 100.0}

    @tg.finally_
    def end(self) -> Any:
        return {self.d: self.p}


def test_what_follows_from_the_final_actions_is_in_the_last_row(dae_method: str) -> None:
    result = tg.simulate(Ending(), (0.0, 1.0), sensitivities="p", method=dae_method)
    assert result.final["d"] == 5.0
    # z^3 + z = 30 at z = 3; no clause happens any more, so that x stays
    assert result.final == pytest.approx({"x": 0.0, "d": 5.0, "y": 10.0, "z": 3.0, "out": 50.0}, abs=1e-9)
    assert slopes(result, ["d", "y", "z", "out", "x"], "p") == pytest.approx([1.0, 2.0, 2.0 / 28.0, 10.0, 0.0], abs=1e-9)
    assert np.asarray(result["y"])[-2] == pytest.approx(2.0)
    last = result.events[-1]
    assert (last.kind, last.before["y"], last.after["y"]) == ("final", pytest.approx(2.0), pytest.approx(10.0))


def test_so_where_there_are_no_algebraic_unknowns(method: str) -> None:
    class Plain(tg.Component):
        x = tg.State(1.0)
        d = tg.Discrete(1.0)
        out = tg.Output(lambda self: 10 * self.d + (1.0 if self.x > 3 else 0.0))

        def equations(self) -> Any:
            yield tg.der(self.x) == -self.x

        @tg.finally_
        def end(self) -> Any:
            return {self.d: 2.0, self.x: 4.0}

    result = tg.simulate(Plain(), (0.0, 1.0), method=method)
    assert (result.final["d"], result.final["x"], result.final["out"]) == (2.0, 4.0, 21.0)


def test_final_actions_that_leave_no_solution_are_an_error_with_the_result() -> None:
    class Impossible(tg.Component):
        d = tg.Discrete(1.0)
        z = tg.Algebraic(1.0)

        def equations(self) -> Any:
            yield self.z**2 == self.d

        @tg.finally_
        def end(self) -> Any:
            return {self.d: -1.0}

    with pytest.raises(tg.RunError) as caught:
        tg.simulate(Impossible(), (0.0, 1.0))
    assert caught.value.result is not None
    assert caught.value.result.final["z"] == pytest.approx(1.0)


def test_a_run_in_pieces_ends_in_the_same_way(dae_method: str) -> None:
    simulation = tg.Simulation(Ending(), method=dae_method)
    simulation.advance(0.5)
    simulation.advance(1.0)
    assert simulation.finish().final == pytest.approx({"x": 0.0, "d": 5.0, "y": 10.0, "z": 3.0, "out": 50.0}, abs=1e-9)


def test_derivatives_that_do_not_exist_stay_so_and_only_those() -> None:
    class Touching(tg.Component):
        x = tg.State(0.0)
        above = tg.State(0.0)
        v = tg.State(1.0)
        p = tg.Parameter(3.0)
        d = tg.Discrete(0.0)
        y = tg.Algebraic(0.0)
        z = tg.Algebraic(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 4.0 - self.x
            yield tg.der(self.above) == (1.0 if self.x**3 - 5.0 * self.x**2 + 7.0 * self.x > self.p else 0.0)
            yield tg.der(self.v) == -self.p * self.v
            yield self.y == self.v * self.d
            yield self.z == self.above + self.d

        @tg.finally_
        def end(self) -> Any:
            return {self.d: 2.0}

    with pytest.warns(tg.SensitivityWarning, match="have no derivative|derivatives of"):
        result = tg.simulate(Touching(), (0.0, 0.5), rtol=1e-8, sensitivities="p")
    found = slopes(result, ["v", "y", "z"], "p")
    assert found[:2] == pytest.approx([-0.5 * np.exp(-1.5), -np.exp(-1.5)], rel=1e-6)
    assert np.isnan(found[2])


class Beginning(tg.Component):
    """y is 4 at the start, whatever was declared."""

    s = tg.State(2.0)
    y = tg.Algebraic(0.0)
    k = tg.Discrete(0.0)
    j = tg.Discrete(0.0)

    def equations(self) -> Any:
        yield tg.der(self.s) == 0.0
        yield self.y**3 + self.y == self.s**6 + self.s**2

    @tg.initially
    def begin(self) -> Any:
        if self.y > 3:
            tg.message("full")
        if self.y < 3:
            tg.message("empty")
        return {self.k: 1.0 if self.y > 3 else -1.0, self.j: self.y}


def test_what_is_done_and_said_at_the_start_reads_consistent_values(dae_method: str) -> None:
    result = tg.simulate(Beginning(), (0.0, 1.0), rtol=1e-9, method=dae_method)
    assert result.events[0].messages == ("full",)
    assert (result.final["k"], result.final["j"]) == (1.0, pytest.approx(4.0, rel=1e-9))


def test_derivatives_go_through_what_is_read_at_the_start(dae_method: str) -> None:
    class From(Beginning):
        a = tg.Parameter(2.0)
        s = tg.State(lambda self: self.a)

    result = tg.simulate(From(), (0.0, 1.0), rtol=1e-9, sensitivities="a", method=dae_method)
    # dy/da of y^3 + y = a^6 + a^2, that is y = a^2
    assert slopes(result, ["j", "y"], "a") == pytest.approx([4.0, 4.0], rel=1e-6)


def test_what_an_initial_action_sets_is_seen_by_what_is_said_at_the_start(method: str) -> None:
    class Filled(tg.Component):
        level = tg.State(0.0)

        def equations(self) -> Any:
            yield tg.der(self.level) == 0.0

        @tg.initially
        def fill(self) -> Any:
            if self.level > 1:
                tg.message("full")
            return {self.level: 2.0}

    result = tg.simulate(Filled(), (0.0, 1.0), method=method)
    assert [event.messages for event in result.events] == [("full",)]


class Waiting(tg.Component):
    x = tg.State(1.0)
    k = tg.Discrete(0)
    c = tg.Parameter(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == np.sin(tg.time)

    @tg.when(lambda self: self.x > self.c)
    def above(self) -> Any:
        return {self.k: 1}


def test_a_clause_whose_condition_held_from_the_start_to_the_end_is_named_in_the_message(method: str) -> None:
    result = tg.simulate(Waiting(), (0.0, 10.0), method=method)
    assert len(result.events) == 0
    assert "above never happened: the condition was true from the start to the end" in result.message
    assert "above" not in tg.simulate(Waiting(c=1.5), (0.0, 10.0), method=method).message


def test_one_that_became_false_on_the_way_is_not() -> None:
    class Falling(Waiting):
        @tg.replaces
        def equations(self) -> Any:
            yield tg.der(self.x) == -1.0

    assert "above" not in tg.simulate(Falling(), (0.0, 2.0)).message
    simulation = tg.Simulation(Falling())
    simulation.advance(0.5)
    simulation.advance(2.0)
    assert "above" not in simulation.finish().message


def test_a_run_in_pieces_says_it_at_its_end(method: str) -> None:
    simulation = tg.Simulation(Waiting(), method=method)
    simulation.advance(0.5)
    simulation.advance(2.0)
    assert "above never happened" in simulation.finish().message


class Falling(tg.Component):
    x = tg.State(1.0)
    d = tg.Discrete(0.0)
    rate = tg.Parameter(1.0)
    low = tg.Parameter(-1.0)
    out = tg.Output(lambda self: 2 * self.x + self.d)

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.rate

    @tg.when(lambda self: self.x < self.low)
    def halt(self) -> Any:
        tg.terminate("low enough")


class Speaking(Falling):
    @tg.finally_
    def end(self) -> Any:
        tg.message("over")


class Setting(Falling):
    @tg.finally_
    def end(self) -> Any:
        return {self.d: 3 * self.x + 10}


@pytest.mark.parametrize("outputs", [[0.0, 0.5], [0.5], [0.95], None])
@pytest.mark.parametrize("low", [-1.0, 0.3])
def test_final_actions_are_done_on_what_holds_at_the_end_and_not_on_an_earlier_row(outputs: list[float] | None, low: float, method: str) -> None:
    end, x = (1.0, 0.0) if low < 0 else (0.7, 0.3)
    for model, d in ((Speaking(low=low), 0.0), (Setting(low=low), 3 * x + 10)):
        result = tg.simulate(model, (0.0, 1.0), outputs=outputs, event_rows=False, sensitivities=["rate"], method=method)
        last = result.events[-1]
        assert (last.kind, last.time) == ("final", pytest.approx(end))
        assert last.before == pytest.approx({"x": x, "d": 0.0}, abs=1e-6)
        assert last.after == pytest.approx({"x": x, "d": d}, abs=1e-6)
        assert result.t[-1] == pytest.approx(end)
        assert result.final == pytest.approx({"x": x, "d": d, "out": 2 * x + d}, abs=1e-6)
        # at this time, not where the time of the end moves to
        assert slopes(result, ["x", "d", "out"], "rate") == pytest.approx([-end, -3 * end if d else 0.0, (-5 if d else -2) * end], abs=1e-6)


@pytest.mark.parametrize("model", [Speaking, Setting])
def test_so_in_a_simulation_whose_last_row_lies_before_what_was_set(model: Any, method: str) -> None:
    simulation = tg.Simulation(model(), outputs=[0.25], sensitivities=["rate"], method=method)
    simulation.advance(0.5)
    simulation["x"] = 2.0
    result = simulation.finish()
    d = 16.0 if model is Setting else 0.0
    assert {name: simulation[name] for name in ("x", "d", "out")} == result.final
    assert simulation.discretes["d"] == d
    assert pickle.loads(pickle.dumps(simulation))["d"] == d
    assert result.final == pytest.approx({"x": 2.0, "d": d, "out": 4.0 + d}, abs=1e-9)
    assert slopes(result, ["x", "d", "out"], "rate") == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
