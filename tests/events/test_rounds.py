"""The rounds of one event: rising conditions, chains, values before the round, priority (event iteration of Modelica, chapter 8.6)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import allowed
from run_checks import event_times


class Running(tg.Component):
    """Something for time to pass by."""

    w = tg.State(1.0)

    def equations(self) -> Any:
        yield tg.der(self.w) == -self.w


def test_a_condition_that_holds_from_the_start_does_not_rise(method: str) -> None:
    class Model(Running):
        x = tg.Discrete(0.0)

        @tg.when(lambda self: tg.time > -1)
        def set(self) -> Any:
            return {self.x: 1.0}

    result = tg.simulate(Model(), (0.0, 1.0), method=method)
    assert np.asarray(result["x"]) == pytest.approx(0.0)
    assert event_times(result) == []


def test_two_clocks_of_one_period_agree_and_tick_at_the_start(method: str) -> None:
    class Model(Running):
        x = tg.Discrete(0.0)
        y = tg.Discrete(0.0)

        @tg.every(0.1)
        def a(self) -> Any:
            return {self.x: tg.pre(self.x) + 0.1}

        @tg.every(0.1)
        def b(self) -> Any:
            return {self.y: tg.pre(self.y) + 0.1}

    result = tg.simulate(Model(), (0.0, 1.0), outputs=[0.05, 0.55], method=method)
    assert np.asarray(result["x"]) == pytest.approx([0.1, 0.6])
    assert np.asarray(result["y"]) == pytest.approx([0.1, 0.6])
    assert len(result.events) == 11


def test_every_element_of_a_vector_condition_fires_once_and_elsewhen_follows(method: str) -> None:
    class Model(tg.Component):
        x = tg.State(0.0)
        y = tg.State(-1.0)
        z = tg.State(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == np.sin(10 * tg.time)
            yield tg.der(self.y) == np.cos(10 * tg.time)
            yield tg.der(self.z) == np.sin(10 * tg.time)

        @tg.when(lambda self: tg.time > 0.1, lambda self: tg.time > 0.2)
        def up(self) -> Any:
            return {self.x: self.x + 1, self.y: self.y + 1}

        @up.elsewhen(lambda self: tg.time > 0.5)
        def down(self) -> Any:
            return {self.x: self.x - 1, self.y: self.y - 1}

        @down.elsewhen(lambda self: tg.time > 0.7)
        def zero(self) -> Any:
            return {self.z: 0.0}

    result = tg.simulate(Model(), (0.0, 1.0), rtol=1e-10, method=method)
    assert event_times(result) == [0.1, 0.2, 0.5, 0.7]
    x, y = 0.1 * (1 - math.cos(10.0)) + 1.0, 0.1 * math.sin(10.0)
    assert result.final == pytest.approx({"x": x, "y": y, "z": 0.1 * (math.cos(7.0) - math.cos(10.0))}, abs=1e-8)


def test_a_chain_of_events_is_one_event_of_many_rounds(method: str) -> None:
    class Model(tg.Component):
        x = tg.State(1.0)
        y = tg.Discrete(False)
        z = tg.Discrete(False)
        c1 = tg.Discrete(False)
        c2 = tg.Discrete(False)
        c3 = tg.Discrete(False)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.when(lambda self: self.x >= 1.5)
        def first(self) -> Any:
            return {self.y: True}

        @tg.when(lambda self: self.y)
        def second(self) -> Any:
            return {self.z: True}

        @tg.when(lambda self: tg.pre(self.z))
        def third(self) -> Any:
            return {self.c1: True}

        @tg.when(lambda self: tg.pre(self.c1))
        def fourth(self) -> Any:
            return {self.c2: True}

        @tg.when(lambda self: tg.pre(self.c2))
        def fifth(self) -> Any:
            return {self.c3: True}

    result = tg.simulate(Model(), (0.0, 1.0), method=method)
    assert event_times(result) == pytest.approx([0.5], rel=1e-12)
    event = result.events[0]
    assert event.rounds >= 4
    names = "y z c1 c2 c3".split()
    assert [event.before[name] for name in names] == [0.0] * 5
    assert [event.after[name] for name in names] == [1.0] * 5


def test_the_first_true_branch_of_a_chain_wins(method: str) -> None:
    class Model(Running):
        i = tg.Discrete(0)
        x = tg.Discrete(0.0)

        @tg.when(lambda self: tg.time >= 0.5)
        def a(self) -> Any:
            return {self.i: 1}

        @a.elsewhen(lambda self: tg.time >= 0.5)
        def b(self) -> Any:
            return {self.i: 2}

        @tg.when(lambda self: tg.time * 2 >= 1.0)
        def c(self) -> Any:
            return {self.x: tg.pre(self.x) + 1}

        @c.elsewhen(lambda self: tg.time * 4 >= 2.0)
        def d(self) -> Any:
            return {self.x: tg.pre(self.x) + 0.1}

    result = tg.simulate(Model(), (0.0, 1.0), method=method)
    assert result.final["i"] == 1.0
    assert result.final["x"] == 1.0


def test_bodies_see_the_values_before_the_round(method: str) -> None:
    class Model(tg.Component):
        x = tg.State(1.0)
        y1 = tg.Discrete(0.0)
        y3 = tg.Discrete(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 2 * self.x

        @tg.when(lambda self: self.x > 2)
        def note(self) -> Any:
            return {self.y1: np.sin(self.x), self.y3: 2 * self.x + tg.pre(self.y1) + 5}

    result = tg.simulate(Model(), (0.0, 1.0), rtol=1e-10, method=method)
    assert event_times(result) == pytest.approx([math.log(2.0) / 2], rel=allowed(method, 1e-9, 1e-10))
    assert [result.final["y1"], result.final["y3"]] == pytest.approx([math.sin(2.0), 9.0], rel=1e-9)


def test_two_bodies_at_one_instant_swap_without_a_third_place(method: str) -> None:
    class Model(Running):
        a = tg.Discrete(1.0)
        b = tg.Discrete(2.0)

        @tg.at(0.5)
        def one(self) -> Any:
            return {self.a: self.b}

        @tg.at(0.5)
        def two(self) -> Any:
            return {self.b: self.a}

    assert {k: v for k, v in tg.simulate(Model(), (0.0, 1.0), method=method).final.items() if k != "w"} == {"a": 2.0, "b": 1.0}


def test_falling_conditions_and_a_clock_on_the_same_body(method: str) -> None:
    class Model(tg.Component):
        x = tg.State(1.0)
        y = tg.Discrete(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 2 * self.x

        @tg.when(lambda self: self.x > 2, lambda self: self.x < 5)
        @tg.every(2.0)
        def note(self) -> Any:
            return {self.y: 2 * self.x + np.sin(self.x) + 5}

    result = tg.simulate(Model(), (0.0, 1.0), rtol=1e-10, method=method)
    assert event_times(result) == pytest.approx([0.0, math.log(2.0) / 2], rel=allowed(method, 1e-9, 1e-10))
    assert [event.after["y"] for event in result.events] == pytest.approx([7.8414709848, 9.9092974268], rel=1e-9)


def test_two_relations_that_read_the_same_are_two(method: str) -> None:
    def program(t: Any, y: Any) -> Any:
        i = 0.0
        x = np.sin(t)
        if x < 0:
            i = 1.0
        x = np.cos(t)
        if x < 0:
            i = i + 2
        return [i]

    result = tg.simulate(tg.ode(program, y0=[0.0]), (0.0, 10.0), rtol=1e-8, method=method)
    assert event_times(result) == pytest.approx([k * math.pi / 2 for k in range(1, 7)], rel=1e-9)
    assert result.final["y[0]"] == pytest.approx(math.pi / 2 * (0 + 2 + 3 + 1 + 0 + 2) + 3 * (10 - 3 * math.pi), rel=1e-8)


def test_repeated_resets_messages_and_the_end(method: str) -> None:
    class Model(tg.Component):
        x = tg.State(1.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 10 * np.sin(tg.time)

        @tg.when(lambda self: self.x > 1.5)
        def reset(self) -> Any:
            return {self.x: 1.0}

        @tg.when(lambda self: tg.time >= 0.9)
        def stop(self) -> Any:
            tg.terminate("that is enough")

    result = tg.simulate(Model(), (0.0, 2.0), rtol=1e-10, method=method)
    assert event_times(result) == pytest.approx([*(math.acos(1 - 0.05 * k) for k in range(1, 8)), 0.9], rel=allowed(method, 1e-9, 1e-10))
    assert result.status == "terminated"
    assert "that is enough" in result.message
    assert result.time[-1] == 0.9
    assert result.final["x"] == pytest.approx(1.2839003173, rel=allowed(method, 1e-9, 1e-10))


def test_first_and_last_words(method: str) -> None:
    class Model(Running):
        y = tg.Discrete(0.0)
        z = tg.Discrete(0.0)
        last = tg.Discrete(0.0)

        @tg.initially
        def begin(self) -> Any:
            return {self.y: 7.0}

        @tg.finally_
        def end(self) -> Any:
            return {self.z: 2.0, self.last: self.w}

    result = tg.simulate(Model(), (0.0, 1.0), rtol=1e-9, method=method)
    assert np.asarray(result["y"]) == pytest.approx(7.0)
    assert np.asarray(result["z"])[:-1] == pytest.approx(0.0)
    assert result.final["z"] == 2.0
    assert result.final["last"] == pytest.approx(math.exp(-1.0), rel=1e-8)


class Balls(tg.Component):
    h = tg.State(np.ones(5))
    v = tg.State(np.zeros(5))
    e = tg.Parameter(0.8)

    def equations(self) -> Any:
        for k in range(5):
            yield tg.der(self.h[k]) == self.v[k]
            yield tg.der(self.v[k]) == -9.81

    @tg.when(lambda self: self.h[0] < 0)
    def bounce0(self) -> Any:
        return {self.v[0]: -self.e * self.v[0]}

    @tg.when(lambda self: self.h[1] < 0)
    def bounce1(self) -> Any:
        return {self.v[1]: -self.e * self.v[1]}

    @tg.when(lambda self: self.h[2] < 0)
    def bounce2(self) -> Any:
        return {self.v[2]: -self.e * self.v[2]}

    @tg.when(lambda self: self.h[3] < 0)
    def bounce3(self) -> Any:
        return {self.v[3]: -self.e * self.v[3]}

    @tg.when(lambda self: self.h[4] < 0)
    def bounce4(self) -> Any:
        return {self.v[4]: -self.e * self.v[4]}


@pytest.mark.slow
def test_five_equal_balls_bounce_at_once(method: str) -> None:
    result = tg.simulate(Balls(), (0.0, 3.0), rtol=1e-8, method=method)
    fall = math.sqrt(2 / 9.81)
    assert event_times(result) == pytest.approx([fall * (1 + 8 * (1 - 0.8**k)) for k in range(6)], rel=allowed(method, 1e-9, 1e-8))
    assert len({round(result.final[f"h[{k}]"], 12) for k in range(5)}) == 1


def test_a_condition_on_a_mode_variable_of_every_kind_and_its_priority(method: str) -> None:
    class Model(tg.Component):
        x = tg.State(0.0)
        is_on = tg.Discrete(False)
        steps = tg.Discrete(3)
        rate = tg.Discrete(0.5)

        def equations(self) -> Any:
            yield tg.der(self.x) == (self.rate if self.is_on else self.steps)

        @tg.when(lambda self: self.x > 3)
        def on(self) -> Any:
            return {self.is_on: True, self.steps: self.steps * 2}

        @on.elsewhen(lambda self: self.x > 3.5)
        def off(self) -> Any:
            return {self.is_on: False}

    result = tg.simulate(Model(), (0.0, 3.0), rtol=1e-9, method=method)
    assert event_times(result) == pytest.approx([1.0, 2.0], rel=1e-9)
    assert result.final == pytest.approx({"x": 3.5 + 6.0, "is_on": 0.0, "steps": 6.0, "rate": 0.5}, rel=1e-9)
