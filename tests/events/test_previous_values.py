"""``tg.pre`` in the conditions of clauses: what a round of an event left behind against what was there before it (Modelica's edge and change)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg
from run_checks import event_times


class Steps(tg.Component):
    """A count that two clocks move up and down."""

    k = tg.Discrete(0)
    up = tg.Discrete(0)
    down = tg.Discrete(0)
    moved = tg.Discrete(0)
    x = tg.State(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 1.0

    @tg.every(1.0, start=1.0)
    def climb(self) -> Any:
        return {self.k: self.k + 2}

    @tg.every(1.0, start=1.5)
    def fall(self) -> Any:
        return {self.k: self.k - 1}

    @tg.when(lambda self: self.k > tg.pre(self.k))
    def rises(self) -> Any:
        return {self.up: self.up + 1}

    @tg.when(lambda self: self.k < tg.pre(self.k))
    def falls(self) -> Any:
        return {self.down: self.down + 1}

    @tg.when(lambda self: self.k != tg.pre(self.k))
    def changes(self) -> Any:
        return {self.moved: self.moved + 1}


def test_a_discrete_variable_that_moves_is_seen_by_the_conditions_on_its_value_before(method: str) -> None:
    result = tg.simulate(Steps(), (0.0, 3.25), method=method)
    assert {name: result.final[name] for name in ("k", "up", "down", "moved")} == {"k": 4, "up": 3, "down": 2, "moved": 5}
    assert event_times(result) == pytest.approx([1.0, 1.5, 2.0, 2.5, 3.0])


def test_the_edge_of_a_truth_value_is_one_round_long(method: str) -> None:
    class Edge(tg.Component):
        b = tg.Discrete(False)
        edges = tg.Discrete(0)
        x = tg.State(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.when(lambda self: np.sin(np.pi * self.x) > 0.5)
        def on(self) -> Any:
            return {self.b: True}

        @tg.when(lambda self: np.sin(np.pi * self.x) < -0.5)
        def off(self) -> Any:
            return {self.b: False}

        @tg.when(lambda self: self.b and not tg.pre(self.b))
        def edge(self) -> Any:
            return {self.edges: self.edges + 1}

    result = tg.simulate(Edge(), (0.0, 6.0), rtol=1e-8, method=method)
    assert result.final["edges"] == 3
    assert len(result.events) == 6


class Jumps(tg.Component):
    """A state that is thrown up at integers and down between them."""

    v = tg.State(0.0)
    twice = tg.Output(lambda self: 2 * self.v)
    ups = tg.Discrete(0)
    large = tg.Discrete(0)
    seen = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.v) == -1.0

    @tg.every(1.0, start=1.0)
    def throw(self) -> Any:
        return {self.v: self.v + 2.0}

    @tg.every(1.0, start=1.5)
    def drop(self) -> Any:
        return {self.v: self.v - 0.5}

    @tg.when(lambda self: self.v > tg.pre(self.v))
    def up(self) -> Any:
        return {self.ups: self.ups + 1}

    @tg.when(lambda self: self.v > tg.pre(self.v) + 1.5)
    def leap(self) -> Any:
        return {self.large: self.large + 1}

    @tg.when(lambda self: self.twice > tg.pre(self.twice))
    def look(self) -> Any:
        return {self.seen: self.seen + 1}


def test_a_reset_state_is_seen_by_conditions_on_its_value_before(method: str) -> None:
    result = tg.simulate(Jumps(), (0.0, 3.25), method=method)
    assert (result.final["ups"], result.final["large"], result.final["seen"]) == (3, 3, 3)
    assert result.final["v"] == pytest.approx(3 * 2.0 - 2 * 0.5 - 3.25)
    assert event_times(result) == pytest.approx([1.0, 1.5, 2.0, 2.5, 3.0])


def test_so_in_a_system_with_algebraic_unknowns(dae_method: str) -> None:
    class WithUnknown(Jumps):
        z = tg.Algebraic(0.0)

        @tg.replaces
        def equations(self) -> Any:
            yield tg.der(self.v) == self.z
            yield self.z + np.sin(self.z) == -1.0 - np.sin(1.0)

    result = tg.simulate(WithUnknown(), (0.0, 3.25), method=dae_method)
    assert (result.final["ups"], result.final["large"], result.final["seen"]) == (3, 3, 3)


def test_a_threshold_that_moves_with_the_value_before(method: str) -> None:
    class Ratchet(tg.Component):
        x = tg.State(0.0)
        k = tg.Discrete(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.when(lambda self: self.x > tg.pre(self.k) + 1.0)
        def click(self) -> Any:
            return {self.k: self.k + 1.0}

    result = tg.simulate(Ratchet(), (0.0, 4.5), method=method)
    assert event_times(result) == pytest.approx([1.0, 2.0, 3.0, 4.0])


def test_an_equation_with_the_value_before_is_a_pulse_within_the_event(dae_method: str) -> None:
    class Pulse(tg.Component):
        k = tg.Discrete(0.0)
        pulses = tg.Discrete(0)
        y = tg.Algebraic(0.0)

        def equations(self) -> Any:
            yield self.y == self.k - tg.pre(self.k)

        @tg.every(1.0, start=1.0)
        def tick(self) -> Any:
            return {self.k: self.k + 1.0}

        @tg.when(lambda self: self.y > 0.5)
        def count(self) -> Any:
            return {self.pulses: self.pulses + 1}

    result = tg.simulate(Pulse(), (0.0, 3.5), method=dae_method)
    assert result.final["pulses"] == 3
    assert np.max(np.abs(np.asarray(result["y"]))) == 0.0


def test_values_set_from_outside_are_an_edge_too(method: str) -> None:
    simulation = tg.Simulation(Steps(), method=method)
    simulation.advance(0.5)
    simulation["k"] = 7
    assert simulation["up"] == 1


@pytest.mark.parametrize(
    ("equation", "condition", "said"),
    [
        ("x", "k", "an equation asks for tg.pre of x, which between events is x itself"),
        ("k", "z", "the condition of look asks for pre\\(z\\), of an algebraic variable"),
        ("k", "der", "the condition of look asks for tg.pre of the derivative of x"),
    ],
)
def test_what_has_no_value_before_is_refused_by_name(equation: str, condition: str, said: str) -> None:
    class Asking(tg.Component):
        x = tg.State(0.0)
        z = tg.Algebraic(0.0)
        k = tg.Discrete(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == self.z
            yield self.z**3 + self.z == tg.pre(self.x if equation == "x" else self.k)

        @tg.when(lambda self: tg.pre({"k": self.k, "z": self.z, "der": tg.der(self.x)}[condition]) > self.k + 1.0)
        def look(self) -> Any:
            return {self.k: 0.0}

    with pytest.raises(tg.TidegateError, match=said):
        tg.simulate(Asking(), (0.0, 1.0))
