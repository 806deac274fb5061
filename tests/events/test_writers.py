"""Several clauses that write one variable: each acts at its own instants, and only different values in one round of one instant are an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import allowed
from run_checks import event_times, slopes


class Walls(tg.Component):
    """A ball that flies to and fro between two walls, slower after each."""

    x = tg.State(0.5)
    v = tg.State(1.0)
    e = tg.Parameter(0.8)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.v
        yield tg.der(self.v) == 0.0

    @tg.when(lambda self: self.x < 0)
    def left(self) -> Any:
        return {self.v: -self.e * self.v}

    @tg.when(lambda self: self.x > 1)
    def right(self) -> Any:
        return {self.v: -self.e * self.v}


def test_two_walls_turn_one_velocity_round(method: str) -> None:
    result = tg.simulate(Walls(), (0.0, 5.0), rtol=1e-9, sensitivities="e", method=method)
    times = [0.5, 0.5 + 1 / 0.8, 0.5 + 1 / 0.8 + 1 / 0.64]
    assert event_times(result) == pytest.approx(times, rel=1e-9)
    assert [event.causes[0] for event in result.events] == ["right", "left", "right"]
    assert result.final["v"] == pytest.approx(-(0.8**3), rel=1e-12)
    # d(v)/d(e) of (-e)^3
    assert slopes(result, ["v"], "e") == pytest.approx([-3 * 0.64], rel=allowed(method, 1e-9, 1e-9))


def test_on_and_off_by_two_clocks(method: str) -> None:
    class Switch(tg.Component):
        on = tg.Discrete(False)
        x = tg.State(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == (1.0 if self.on else 0.0)

        @tg.every(1.0)
        def start(self) -> Any:
            return {self.on: True}

        @tg.every(1.0, start=0.25)
        def stop(self) -> Any:
            return {self.on: False}

    assert tg.simulate(Switch(), (0.0, 4.0), method=method).final["x"] == pytest.approx(1.0, rel=1e-9)


class Meeting(tg.Component):
    """The conditions meet at t = 1 if c is one."""

    x = tg.State(0.0)
    c = tg.Parameter(1.0)
    k = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 1.0

    @tg.when(lambda self: tg.time > self.c)
    def one(self) -> Any:
        return {self.k: 1}

    @tg.at(1.0)
    def other(self) -> Any:
        return {self.k: self.given()}

    def given(self) -> Any:
        return 2


def test_two_values_in_one_round_of_one_instant_are_an_error_that_names_everything(method: str) -> None:
    with pytest.raises(tg.ConflictError, match=r"at t = 1 one and other happen together and give k different values: 1 and 2\n  one at ") as caught:
        tg.simulate(Meeting(), (0.0, 2.0), method=method)
    result = caught.value.result
    assert result is not None
    assert result.status == "failed"
    assert result.t[-1] == 1.0
    assert caught.value.time == 1.0
    assert tg.simulate(Meeting(c=1.5), (0.0, 2.0), method=method).final["k"] == 1


def test_equal_values_are_no_conflict(method: str) -> None:
    class Agreeing(Meeting):
        def given(self) -> Any:
            return tg.time  # one, but for a rounding error

    assert tg.simulate(Agreeing(), (0.0, 2.0), method=method).final["k"] == pytest.approx(1.0, rel=1e-15)


def test_the_more_important_of_two_counts(method: str) -> None:
    class Ordered(Meeting):
        @tg.at(1.0, priority=10)
        def other(self) -> Any:
            return {self.k: 2}

    assert tg.simulate(Ordered(), (0.0, 2.0), method=method).final["k"] == 2


def test_two_of_equal_importance_behind_a_third_do_not_matter(method: str) -> None:
    class Third(Meeting):
        @tg.when(lambda self: tg.time > 1.0, priority=1)
        def first(self) -> Any:
            return {self.k: 3}

    assert tg.simulate(Third(), (0.0, 2.0), method=method).final["k"] == 3


def test_a_later_round_of_the_same_instant_may_write_again(method: str) -> None:
    class Rounds(tg.Component):
        k = tg.Discrete(0)

        @tg.at(1.0)
        def one(self) -> Any:
            return {self.k: 1}

        @tg.when(lambda self: self.k == 1)
        def two(self) -> Any:
            return {self.k: 2}

    assert tg.simulate(Rounds(), (0.0, 2.0), method=method).final["k"] == 2


def test_pairs_of_spheres_exchange_velocities(method: str) -> None:
    class Spheres(tg.Component):
        x = tg.State(np.array([0.0, 1.0, 3.0]))
        v = tg.State(np.array([2.0, 0.0, 0.0]))

        def equations(self) -> Any:
            for k in range(3):
                yield tg.der(self.x[k]) == self.v[k]
                yield tg.der(self.v[k]) == 0.0

        for i in range(2):

            @tg.when(lambda self, i=i: self.x[i + 1] - self.x[i] < 0)
            def hit(self, i: int = i) -> Any:
                return {self.v[i]: self.v[i + 1], self.v[i + 1]: self.v[i]}

    result = tg.simulate(Spheres(), (0.0, 2.0), method=method)
    assert event_times(result) == pytest.approx([0.5, 1.5])
    assert [result.final[f"v[{k}]"] for k in range(3)] == pytest.approx([0.0, 0.0, 2.0])


def test_two_events_of_functions_may_write_one_variable(method: str) -> None:
    right = tg.event(lambda t, y: y["x"] > 1, reset=lambda t, y: {"v": -y["v"]}, name="right")
    left = tg.event(lambda t, y: y["x"] < 0, reset=lambda t, y: {"v": -y["v"]}, name="left")
    model = tg.ode(lambda t, y: [y["v"], 0.0], y0={"x": 0.5, "v": 1.0}, events=[right, left])
    result = tg.simulate(model, (0.0, 3.0), method=method)
    assert [event.causes[0] for event in result.events] == ["right", "left", "right"]

    far = tg.event(lambda t, y: t > 0.25, reset=lambda t, y: {"v": 7.0}, name="far")
    near = tg.event(lambda t, y: 2 * t > 0.5, reset=lambda t, y: {"v": -y["v"]}, name="near")
    clashing = tg.ode(lambda t, y: [y["v"], 0.0], y0={"x": 0.5, "v": 1.0}, events=[near, far])
    with pytest.raises(tg.ConflictError, match="give v different values: -1 and 7"):
        tg.simulate(clashing, (0.0, 3.0), method=method)


def test_clauses_that_always_happen_together_are_refused_before_the_run() -> None:
    class Twice(tg.Component):
        k = tg.Discrete(0)

        @tg.every(1.0)
        def one(self) -> Any:
            return {self.k: 1}

        @tg.every(1.0)
        def two(self) -> Any:
            return {self.k: 2}

    with pytest.raises(tg.InvalidModelError, match=r"k is assigned by both one and two, which always happen together"):
        tg.simulate(Twice(), (0.0, 2.0))


def test_a_run_in_pieces_can_be_mended_after_a_conflict(method: str) -> None:
    simulation = tg.Simulation(Meeting(), method=method)
    with pytest.raises(tg.ConflictError):
        simulation.advance(2.0)
    assert simulation.time < 1.0
    simulation["c"] = 1.5
    assert simulation.advance(2.0).final["k"] == 1


class Crossings(tg.Component):
    """Two straight lines reach their thresholds at one instant, and a clock too, unless something is late."""

    x = tg.State(0.0)
    y = tg.State(1.0)
    k = tg.Discrete(0)
    late = tg.Parameter(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 1.0
        yield tg.der(self.y) == -2.0

    @tg.when(lambda self: self.x - self.late >= 0.5)
    def up(self) -> Any:
        return {self.k: 1}


class TwoLines(Crossings):
    @tg.when(lambda self: self.y <= 0.0)
    def down(self) -> Any:
        return {self.k: 2}


class LineAndClock(Crossings):
    @tg.at(0.5)
    def tick(self) -> Any:
        return {self.k: 2}


@pytest.mark.parametrize("source", [TwoLines, LineAndClock])
def test_crossings_of_states_that_coincide_conflict_if_they_differ(source: Any, method: str) -> None:
    with pytest.raises(tg.ConflictError, match="give k different values"):
        tg.simulate(source(), (0.0, 2.0), method=method)


@pytest.mark.parametrize("source", [TwoLines, LineAndClock])
def test_crossings_of_states_that_do_not_coincide_do_not(source: Any, method: str) -> None:
    assert tg.simulate(source(late=0.25), (0.0, 2.0), method=method).final["k"] == 1
