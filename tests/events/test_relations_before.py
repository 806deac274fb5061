"""``tg.pre``, ``tg.edge`` and ``tg.change`` of what changes at a crossing, though the states it hangs on do not, and of inputs of parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg

Condition = Callable[[Any], Any]


class Ramp(tg.Component):
    """x is the time since the start, and what follows from it; a clock that counts at whole times."""

    x = tg.State(0.0)
    n = tg.Discrete(0)
    u = tg.Input(0.0)
    high = tg.Output(lambda self: self.x > 0.5)
    step = tg.Output(lambda self: 1.0 if self.x > 0.5 else 0.0)
    between = tg.Output(lambda self: (self.x > 0.5) & (self.x < 1.5))
    late = tg.Output(lambda self: 1.0 if tg.time > 1.5 else 0.0)
    rest = tg.Output(lambda self: self.x % 1.0)
    size = tg.Output(lambda self: abs(self.x - 1.0))

    def equations(self) -> Any:
        yield tg.der(self.x) == 1.0

    @tg.every(1.0)
    def tick(self) -> Any:
        return {self.n: self.n + 1}


def counted(condition: Condition, method: str = "auto", start: float = 0.0) -> float:
    """How often a clause with this condition happens until 3.2, where u is 1 from 1 to 2."""

    class Counting(Ramp):
        count = tg.Discrete(0)

        @tg.when(condition)
        def happens(self) -> Any:
            return {self.count: self.count + 1}

    result = tg.simulate(Counting(x=start), (0.0, 3.2), inputs={"u": lambda t: 1.0 if 1.0 < t < 2.0 else 0.0}, method=method)
    return float(result.final["count"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("condition", "times"),
    [
        pytest.param(lambda self: tg.edge(self.x > 0.5), 1, id="edge of a relation"),
        pytest.param(lambda self: tg.edge(self.high), 1, id="edge of an output"),
        pytest.param(lambda self: tg.change(self.high), 1, id="change of an output"),
        pytest.param(lambda self: tg.change(self.step), 1, id="change of a number"),
        pytest.param(lambda self: self.step > tg.pre(self.step), 1, id="it rises"),
        pytest.param(lambda self: self.step < tg.pre(self.step), 0, id="it never falls"),
        pytest.param(lambda self: (self.x > 0.5) & (tg.pre(self.x) <= 0.5), 1, id="written out"),
        pytest.param(lambda self: tg.change(self.between), 2, id="two relations"),
        pytest.param(lambda self: tg.pre(self.between) & ~self.between, 1, id="the end of two relations"),
        pytest.param(lambda self: tg.edge(self.high) & (self.n == 1), 1, id="at the right time"),
        pytest.param(lambda self: tg.sample(0.25, 0.5) & tg.pre(self.high), 5, id="at the times of a clock"),
        pytest.param(lambda self: tg.edge(self.high) & (self.n == 2), 0, id="at the wrong time"),
        pytest.param(lambda self: tg.edge(self.n > self.x + 0.5), 4, id="by a count"),
        pytest.param(lambda self: tg.edge(tg.time > 2.0), 1, id="edge of time"),
        pytest.param(lambda self: tg.change(self.late), 1, id="an output of time"),
        pytest.param(lambda self: tg.edge(self.u > 0.5), 1, id="an input"),
        pytest.param(lambda self: tg.change(np.floor(self.x)), 3, id="whole parts"),
        pytest.param(lambda self: tg.change(round(2.0 * self.x)), 6, id="rounded"),
        pytest.param(lambda self: self.rest < tg.pre(self.rest), 3, id="what starts anew"),
        pytest.param(lambda self: tg.change(self.size), 0, id="corners are no jumps"),
        pytest.param(lambda self: tg.change(self.x), 0, id="a state moves without jumps"),
        pytest.param(lambda self: 2.0 * self.x > tg.pre(self.x) + 2.0, 1, id="against its own value before"),
    ],
)
def test_a_relation_was_before_what_it_was_before_it_changed(condition: Condition, times: int) -> None:
    assert counted(condition) == times


@pytest.mark.parametrize("method", ["radau", "bdf", "rke"])
def test_every_method_sees_edges_of_relations(method: str) -> None:
    assert counted(lambda self: tg.edge(self.high), method) == 1


def test_what_holds_from_the_start_on_has_no_edge() -> None:
    assert counted(lambda self: tg.edge(self.high) & (self.n >= 1), start=0.7) == 0


@pytest.mark.slow
def test_a_relation_that_changes_again_in_the_round_that_it_leads_to_is_followed() -> None:
    class Back(tg.Component):
        x = tg.State(0.0)
        count = tg.Discrete(0)
        wholes = tg.Discrete(0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.when(lambda self: tg.edge(self.x > 1.25))
        def back(self) -> Any:
            return {self.x: 0.25, self.count: self.count + 1}

        @tg.when(lambda self: tg.change(np.floor(self.x)))
        def whole(self) -> Any:
            return {self.wholes: self.wholes + 1}

    result = tg.simulate(Back(), (0.0, 4.5))
    assert (result.final["count"], result.final["wholes"]) == (4, 8)
    assert result.final["x"] == pytest.approx(0.5)


class Follower(tg.Component):
    """A part that counts what its input does."""

    u = tg.Input(0.0)
    on = tg.Input(False)
    rises = tg.Discrete(0)
    edges = tg.Discrete(0)

    @tg.when(lambda self: self.u > tg.pre(self.u))
    def rise(self) -> Any:
        return {self.rises: self.rises + 1}

    @tg.when(lambda self: tg.edge(self.on))
    def edge(self) -> Any:
        return {self.edges: self.edges + 1}


class Driven(tg.Component):
    x = tg.State(0.0)
    n = tg.Discrete(0)
    k = tg.Discrete(0)
    level = tg.Algebraic(0.0)
    levels = tg.Discrete(0)
    f = Follower()

    def equations(self) -> Any:
        yield tg.der(self.x) == 1.0
        yield self.f.u == self.n - self.k
        yield self.f.on == (self.x > 0.6)
        yield self.level == 2 * self.n + 1

    @tg.every(1.0, start=0.5)
    def up(self) -> Any:
        return {self.n: self.n + 1}

    @tg.every(1.0, start=0.75)
    def down(self) -> Any:
        return {self.k: self.k + 1}

    @tg.when(lambda self: tg.change(self.level))
    def look(self) -> Any:
        return {self.levels: self.levels + 1}


def test_an_input_that_an_equation_gives_has_a_value_before() -> None:
    final = tg.simulate(Driven(), (0.0, 4.0)).final
    assert (final["f.rises"], final["f.edges"], final["levels"]) == (4, 1, 4)


def test_an_input_from_outside_has_none() -> None:
    with pytest.raises(tg.UsageError, match=r"a condition asks for tg\.pre of u, which is given from outside"):
        counted(lambda self: self.u > tg.pre(self.u))


def test_a_body_sees_relations_as_they_were_before_they_led_to_it() -> None:
    class Body(Ramp):
        before = tg.Discrete(-1.0)
        after = tg.Discrete(-1.0)
        edges = tg.Discrete(0)

        @tg.when(lambda self: self.high)
        def happens(self) -> Any:
            return {self.before: tg.pre(self.step), self.after: self.step, self.edges: self.edges + (1 if tg.edge(self.high) else 0)}

        @tg.at(1.7)
        def later(self) -> Any:
            return {self.edges: self.edges + (10 if tg.edge(self.high) else 0)}

    final = tg.simulate(Body(), (0.0, 2.0)).final
    assert (final["before"], final["after"], final["edges"]) == (0, 1, 1)


def test_what_keeps_relations_is_not_shown() -> None:
    class Edge(Ramp):
        count = tg.Discrete(0)

        @tg.when(lambda self: tg.edge(self.high))
        def happens(self) -> Any:
            return {self.count: self.count + 1}

    result = tg.simulate(Edge(), (0.0, 0.9))
    assert not [name for name in result.final if "pre(" in name]
    assert [event.causes for event in result.events] == [("tick",), ("happens", "x > 0.5")]
    assert "choices of states" not in result.statistics.extra


@pytest.mark.slow
def test_values_before_in_functions_are_those_of_discrete_variables() -> None:
    edge = tg.event(lambda t, y: tg.edge(y["x"] > 0.5), reset=lambda t, y: {"x": 0.0})
    with pytest.raises(tg.TidegateError, match=r"asks for tg\.pre of x, which is kept in components only"):
        tg.simulate(tg.ode(lambda t, y: [1.0], y0={"x": 0.0}, events=edge), (0.0, 1.0))


def test_an_output_is_read_with_all_new_values_though_another_branch_of_the_chain_writes_one() -> None:
    class Chained(tg.Component):
        x = tg.State(0.0)
        a = tg.Discrete(0)
        b = tg.Discrete(0)
        total = tg.Output(lambda self: self.a - self.b)
        seen = tg.Discrete(-1.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.when(lambda self: self.x > 5.0)
        def far(self) -> Any:
            return {self.a: 100}

        @far.elsewhen(lambda self: self.x > 1.0)
        def look(self) -> Any:
            return {self.seen: self.total}

        @tg.when(lambda self: self.x > 1.0)
        def both(self) -> Any:
            return {self.a: 7, self.b: 3}

    assert tg.simulate(Chained(), (0.0, 2.0)).final["seen"] == 4


def test_an_input_has_a_value_before_in_a_component_from_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "follower.tgm"
    tg.precompile(Follower(), path)
    stored = tg.load_component(path)

    class Whole(Driven):
        f = stored()

    final = tg.simulate(Whole(), (0.0, 4.0)).final
    assert (final["f.rises"], final["f.edges"]) == (4, 1)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "radau", "bdf", "rke"])
def test_what_a_relation_is_at_the_start_is_what_it_is_at_consistent_values(method: str) -> None:
    class Solved(tg.Component):
        x = tg.State(0.0)
        y = tg.State(0.2)
        w = tg.Output()
        n = tg.Discrete(0)
        edges = tg.Discrete(0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0
            yield tg.der(self.y) == 1.0 - self.y
            yield self.w == self.x**3 + self.x
            yield tg.initial_equations(tg.der(self.y) == 0.0)

        @tg.initially
        def ahead(self) -> Any:
            return {self.x: 0.7}

        @tg.every(1.0, start=0.25)
        def tick(self) -> Any:
            return {self.n: self.n + 1}

        @tg.when(lambda self: (tg.edge(self.y > 0.5) | tg.edge(self.w > 0.3) | tg.change(np.floor(self.x + 0.5))) & (self.n >= 1))
        def happens(self) -> Any:
            return {self.edges: self.edges + 1}

    result = tg.simulate(Solved(), (0.0, 0.7), method=method)
    assert (result.final["y"], result.final["edges"], result.final["n"]) == (pytest.approx(1.0), 0, 1)
