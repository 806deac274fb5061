"""The rules of events where a condition, what it asks about, and what it resets belong to different parts: numbers are as in one class."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import allowed
from run_checks import event_times
from tidegate.results import EventLog

LN2 = math.log(2.0) / 2


class Motion(tg.Component):
    """A state with a rate that is given from outside."""

    x, rate = tg.State(0.0), tg.InputSignal()

    def equations(self) -> Any:
        yield tg.der(self.x) == self.rate


class Growth(tg.Component):
    x = tg.State(1.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 2 * self.x


class Timer(tg.Component):
    """The time as a state, so that thresholds of it are searched for."""

    t = tg.State(0.0)

    def equations(self) -> Any:
        yield tg.der(self.t) == 1.0


class Memory(tg.Component):
    x, y = tg.Discrete(0.0), tg.Discrete(0.0)


class Flag(tg.Component):
    up = tg.Discrete(False)


class Counter(tg.Component):
    x = tg.Discrete(0.0)

    @tg.every(0.1)
    def count(self) -> Any:
        return {self.x: tg.pre(self.x) + 0.1}


class NoFalseStart(tg.Component):
    """E1."""

    timer, memory = Timer(), Memory()

    @tg.when(lambda self: self.timer.t > -1)
    def by_state(self) -> Any:
        return {self.memory.x: 1.0}

    @tg.when(lambda self: tg.time > -1)
    def by_time(self) -> Any:
        return {self.memory.y: 1.0}


def no_false_start(result: tg.Result, method: str) -> None:
    assert event_times(result) == []
    assert (result["memory.x"] == 0.0).all()
    assert (result["memory.y"] == 0.0).all()


class Clocks(tg.Component):
    """E2."""

    timer, a, b = Timer(), Counter(), Counter()


def clocks(result: tg.Result, method: str) -> None:
    assert len(result.events) == 11
    for name in ("a.x", "b.x"):
        assert result.at([0.05, 0.55], name).values == pytest.approx([0.1, 0.6])


class Resetting(tg.Component):
    """E3: the times are those of one part, the states those of three others."""

    timer, x, y, z = Timer(), Motion(), Motion(x=-1.0), Motion()

    def equations(self) -> Any:
        for part, rate in ((self.x, np.sin(10 * tg.time)), (self.y, np.cos(10 * tg.time)), (self.z, np.sin(10 * tg.time))):
            yield part.rate == rate

    @tg.when(lambda self: self.timer.t > 0.1, lambda self: self.timer.t > 0.2)
    def up(self) -> Any:
        return {self.x.x: self.x.x + 1, self.y.x: self.y.x + 1}

    @up.elsewhen(lambda self: self.timer.t > 0.5)
    def down(self) -> Any:
        return {self.x.x: self.x.x - 1, self.y.x: self.y.x - 1}

    @down.elsewhen(lambda self: self.timer.t > 0.7)
    def zero(self) -> Any:
        return {self.z.x: 0.0}


def resetting(result: tg.Result, method: str) -> None:
    assert event_times(result) == pytest.approx([0.1, 0.2, 0.5, 0.7], rel=1e-9)
    final = [result.final[name] for name in ("x.x", "y.x", "z.x")]
    assert final == pytest.approx([1.1839071529076, -0.0544021110889, 0.1592973783420], abs=allowed(method, 1e-8, 1e-10, 1000))


class Chain(tg.Component):
    """E4: each flag is a part of its own."""

    timer = Timer(t=1.0)
    y, z, c1, c2, c3 = (Flag() for _ in range(5))

    @tg.when(lambda self: self.timer.t >= 1.5)
    def first(self) -> Any:
        return {self.y.up: True}

    @tg.when(lambda self: self.y.up)
    def second(self) -> Any:
        return {self.z.up: True}

    @tg.when(lambda self: tg.pre(self.z.up))
    def third(self) -> Any:
        return {self.c1.up: True}

    @tg.when(lambda self: tg.pre(self.c1.up))
    def fourth(self) -> Any:
        return {self.c2.up: True}

    @tg.when(lambda self: tg.pre(self.c2.up))
    def fifth(self) -> Any:
        return {self.c3.up: True}


class Link(tg.Component):
    """Passes on what it is told."""

    told, up = tg.InputSignal(), tg.Discrete(False)
    said = tg.OutputSignal()

    def equations(self) -> Any:
        yield self.said == self.up

    @tg.when(lambda self: self.told > 0.5)
    def hear(self) -> Any:
        return {self.up: True}


class Row(tg.Component):
    """E4 by signals: each part knows its own input only."""

    timer = Timer(t=1.0)
    y, z, c1, c2, c3 = (Link() for _ in range(5))

    def equations(self) -> Any:
        yield self.y.told == tg.where(self.timer.t >= 1.5, 1.0, 0.0)
        links = [self.y, self.z, self.c1, self.c2, self.c3]
        for k in range(4):
            yield tg.connect(links[k].said, links[k + 1].told)


def chain(result: tg.Result, method: str) -> None:
    assert event_times(result) == pytest.approx([0.5], rel=1e-9)
    (event,) = result.events
    assert event.rounds >= 4
    names = [f"{name}.up" for name in "y z c1 c2 c3".split()]
    assert [event.before[name] for name in names] == [0.0] * 5
    assert [event.after[name] for name in names] == [1.0] * 5


class Branches(tg.Component):
    """E6."""

    timer, memory = Timer(), Memory()

    @tg.when(lambda self: self.timer.t >= 0.5)
    def a(self) -> Any:
        return {self.memory.x: 1.0}

    @a.elsewhen(lambda self: self.timer.t >= 0.5)
    def b(self) -> Any:
        return {self.memory.x: 2.0}

    @tg.when(lambda self: self.timer.t * 2 >= 1.0)
    def c(self) -> Any:
        return {self.memory.y: tg.pre(self.memory.y) + 1}

    @c.elsewhen(lambda self: self.timer.t * 4 >= 2.0)
    def d(self) -> Any:
        return {self.memory.y: tg.pre(self.memory.y) + 0.1}


def branches(result: tg.Result, method: str) -> None:
    assert (result.final["memory.x"], result.final["memory.y"]) == (1.0, 1.0)


class OldValues(tg.Component):
    """E8 (a)."""

    growth, memory = Growth(), Memory()

    @tg.when(lambda self: self.growth.x > 2)
    def note(self) -> Any:
        return {self.memory.x: np.sin(self.growth.x), self.memory.y: 2 * self.growth.x + tg.pre(self.memory.x) + 5}


def old_values(result: tg.Result, method: str) -> None:
    assert event_times(result) == pytest.approx([LN2], rel=allowed(method, 1e-9, 1e-10))
    assert (result.final["memory.x"], result.final["memory.y"]) == pytest.approx((0.9092974268, 9.0), rel=1e-9)


class Reader(tg.Component):
    """E8 (b): condition and clock in one part, the state in another."""

    x, y1, y3 = tg.InputSignal(), tg.Discrete(0.0), tg.Discrete(0.0)

    @tg.when(lambda self: [self.x > 2, tg.sample(0, 2), self.x < 5])
    def note(self) -> Any:
        return {self.y1: np.sin(self.x), self.y3: 2 * self.x + np.sin(self.x) + 5}


class SampledToo(tg.Component):
    growth, reader = Growth(), Reader()

    def equations(self) -> Any:
        yield self.reader.x == self.growth.x


def sampled_too(result: tg.Result, method: str) -> None:
    assert event_times(result) == pytest.approx([0.0, LN2], rel=allowed(method, 1e-9, 1e-10))
    found = [[event.after[f"reader.{name}"] for name in ("y1", "y3")] for event in result.events]
    assert found == [pytest.approx([0.8414709848, 7.8414709848]), pytest.approx([0.9092974268, 9.9092974268])]


class Sine(tg.Component):
    u, y = tg.InputSignal(), tg.OutputSignal()

    def equations(self) -> Any:
        yield self.y == np.sin(self.u)


class Together(tg.Component):
    """E8 (c): an equation in a third part lies between the two bodies."""

    growth, memory, sine = Growth(), Memory(), Sine()

    def equations(self) -> Any:
        yield self.sine.u == self.memory.x

    @tg.when(lambda self: self.growth.x > 2)
    def write(self) -> Any:
        return {self.memory.x: np.sin(self.growth.x)}

    @tg.when(lambda self: self.growth.x > 2)
    def read(self) -> Any:
        return {self.memory.y: 2 * self.growth.x + tg.pre(self.memory.x) + self.sine.y}


def together(result: tg.Result, method: str) -> None:
    assert event_times(result) == pytest.approx([LN2], rel=allowed(method, 1e-9, 1e-10))
    assert result.final["memory.y"] == pytest.approx(4.7890723436, rel=1e-8)


class Program(tg.Component):
    """E11: a program text in a part, whose result another part integrates."""

    i = tg.Algebraic()

    def equations(self) -> Any:
        yield self.i == self.walk(tg.time)

    def walk(self, t: Any) -> Any:
        i = 0.0
        x = np.sin(t)
        if x < 0:
            i = 1.0
        x = np.cos(t)
        if x < 0:
            i = i + 2
        return i


class Programmed(tg.Component):
    program, motion = Program(), Motion()

    def equations(self) -> Any:
        yield self.motion.rate == self.program.i


def programmed(result: tg.Result, method: str) -> None:
    assert event_times(result) == pytest.approx([k * math.pi / 2 for k in range(1, 7)], rel=1e-9)
    middles = [(k + 0.5) * math.pi / 2 for k in range(6)] + [9.9]
    rows = np.searchsorted(result.t, middles)
    assert result["program.i"].values[rows] == pytest.approx([0, 2, 3, 1, 0, 2, 3], abs=1e-9)
    assert result.final["motion.x"] == pytest.approx(math.pi / 2 * (0 + 2 + 3 + 1 + 0 + 2) + 3 * (10 - 3 * math.pi), rel=allowed(method, 1e-8, 1e-9))


class Stop(tg.Component):
    @tg.when(lambda self: tg.time >= 0.9)
    def stop(self) -> Any:
        tg.terminate("that is enough")


class Warner(tg.Component):
    x = tg.InputSignal()

    @tg.when(lambda self: self.x > 1.1)
    def warn(self) -> Any:
        if tg.time >= 0.5:
            tg.message("above 1.1")

    @warn.elsewhen(lambda self: self.x > 1.2)
    def warn_again(self) -> Any:
        if tg.time >= 0.55:
            tg.message("above 1.2")


class Repeated(tg.Component):
    """E13: the state, its reset, the warnings and the end in four places."""

    motion, warner, stop = Motion(x=1.0), Warner(), Stop()

    def equations(self) -> Any:
        yield self.motion.rate == 10 * np.sin(1.0 * tg.time)
        yield self.warner.x == self.motion.x

    @tg.when(lambda self: self.motion.x > 1.5)
    def reset(self) -> Any:
        return {self.motion.x: 1.0}


def repeated(result: tg.Result, method: str) -> None:
    resets = [event.time for event in result.events if "reset" in event.causes]
    assert resets == pytest.approx([math.acos(1 - 0.05 * k) for k in range(1, 8)], rel=allowed(method, 1e-9, 1e-10))
    assert (result.status, result.time[-1]) == ("terminated", 0.9)
    assert "that is enough" in result.message
    assert result.at(0.5, "motion.x") == pytest.approx(1.2241743811, rel=allowed(method, 1e-8, 1e-9))
    assert result.final["motion.x"] == pytest.approx(1.2839003173, rel=allowed(method, 1e-8, 1e-9))
    told = [(event.time, message) for event in result.events for message in event.messages if message.startswith("above")]
    assert [time for time, _ in told[:2]] == pytest.approx([math.acos(0.84), math.acos(0.83)], rel=1e-8)
    assert [message for _, message in told[:2]] == ["above 1.1", "above 1.2"]


class Words(tg.Component):
    """E15: what is done at the start and at the end of a part."""

    y, z = tg.Discrete(0.0), tg.Discrete(0.0)

    @tg.initially
    def begin(self) -> Any:
        return {self.y: 7.0}

    @tg.finally_
    def end(self) -> Any:
        return {self.z: 2.0}


class FirstAndLast(tg.Component):
    timer, words = Timer(), Words()


def first_and_last(result: tg.Result, method: str) -> None:
    assert result["words.y"].values == pytest.approx(7.0)
    assert result["words.z"].values[:-1] == pytest.approx(0.0)
    assert result.final["words.z"] == 2.0


class Side(tg.Component):
    """Direction and side of events: each relation in a part of its own kind."""

    before, at, after, from_then = (tg.OutputSignal() for _ in range(4))

    def equations(self) -> Any:
        yield self.before == tg.where(tg.time < -0.2, 1.0, 0.0)
        yield self.at == tg.where(tg.time <= -0.1, 1.0, 0.0)
        yield self.after == tg.where(tg.time > 0.1, 1.0, 0.0)
        yield self.from_then == tg.where(tg.time >= 0.2, 1.0, 0.0)


class Sides(tg.Component):
    side, motion = Side(), Motion()

    def equations(self) -> Any:
        yield self.motion.rate == self.side.before + 10 * self.side.at + 100 * self.side.after + 1000 * self.side.from_then


def sides(result: tg.Result, method: str) -> None:
    assert event_times(result) == pytest.approx([-0.2, -0.1, 0.1, 0.2], abs=1e-12)
    assert result.final["motion.x"] == pytest.approx(0.8 + 9 + 90 + 800, rel=1e-9)


Check = Callable[[tg.Result, str], None]
TABLE: dict[str, tuple[type[tg.Component], tuple[float, float], Check]] = {
    "E1": (NoFalseStart, (0.0, 1.0), no_false_start),
    "E2": (Clocks, (0.0, 1.0), clocks),
    "E3": (Resetting, (0.0, 1.0), resetting),
    "E4": (Chain, (0.0, 1.0), chain),
    "E4 by signals": (Row, (0.0, 1.0), chain),
    "E6": (Branches, (0.0, 1.0), branches),
    "E8a": (OldValues, (0.0, 1.0), old_values),
    "E8b": (SampledToo, (0.0, 1.0), sampled_too),
    "E8c": (Together, (0.0, 1.0), together),
    "E11": (Programmed, (0.0, 10.0), programmed),
    "E13": (Repeated, (0.0, 2.0), repeated),
    "E15": (FirstAndLast, (0.0, 1.0), first_and_last),
    "sides": (Sides, (-1.0, 1.0), sides),
}


@cache
def model(rule: str) -> Any:
    """Lowered once, so that all methods share its code."""
    return TABLE[rule][0]().lower()


@pytest.mark.parametrize("rule", TABLE)
def test_each_rule_holds_among_parts(rule: str, method: str) -> None:
    _, span, check = TABLE[rule]
    check(tg.simulate(model(rule), span, rtol=1e-10, method=method), method)


def without(result: tg.Result, head: str) -> tg.Result:
    """The result in the names of a part of the model."""

    def stripped(values: dict[str, float]) -> dict[str, float]:
        return {name.removeprefix(head): value for name, value in values.items()}

    found = copy(result)
    found.columns = tuple(replace(column, name=column.name.removeprefix(head)) for column in result.columns)
    assert found.interpolant is not None
    found.interpolant = copy(found.interpolant)
    found.interpolant.names = tuple(name.removeprefix(head) for name in found.interpolant.names)
    found.events = EventLog(
        [
            replace(
                event,
                before=stripped(dict(event.before)),
                after=stripped(dict(event.after)),
                causes=tuple(cause.removeprefix(head) for cause in event.causes),
            )
            for event in result.events
        ]
    )
    return found


@pytest.mark.slow
@pytest.mark.parametrize("rule", TABLE)
def test_no_rule_asks_how_deep_a_part_stands_or_whether_it_comes_from_a_file(rule: str, tmp_path: Path) -> None:
    kind, span, check = TABLE[rule]

    class Inner(tg.Component):
        piece = kind()

    class Outer(tg.Component):
        inner = Inner()

    class Stored(tg.Component):
        piece = tg.load_component(tg.precompile(kind(), tmp_path / "part.tgm"))()

    for whole, head in ((Outer, "inner.piece."), (Stored, "piece.")):
        check(without(tg.simulate(whole(), span, rtol=1e-10), head), "radau")


class Walls(tg.Component):
    """E7: two walls of their own class turn one velocity round, by what they are told."""

    x, v, told = tg.State(0.0), tg.Discrete(1.0), tg.Discrete(0.0)
    left, right = Timer(), Timer()

    def equations(self) -> Any:
        yield tg.der(self.x) == self.v

    @tg.when(lambda self: self.x > 1)
    def on_the_right(self) -> Any:
        return {self.v: -1.0}

    @tg.when(lambda self: self.x < 0)
    def on_the_left(self) -> Any:
        return {self.v: 1.0}

    @tg.when(lambda self: self.left.t > 4.5)
    def first(self) -> Any:
        return {self.told: 1.0}

    @tg.when(lambda self: self.right.t > 4.5)
    def second(self) -> Any:
        return {self.told: 2.0}


def test_two_writers_act_each_at_their_own_instants_and_are_named_where_they_meet(method: str) -> None:
    class Room(tg.Component):
        walls = Walls()

    with pytest.raises(tg.RunError, match=r"walls\.first.*walls\.second.*walls\.told|walls\.told.*walls\.first.*walls\.second") as caught:
        tg.simulate(Room(), (0.0, 5.0), rtol=1e-9, method=method)
    result = caught.value.result
    assert result is not None
    turns = [event.time for event in result.events if event.kind == "state"]
    assert turns[:4] == pytest.approx([1.0, 2.0, 3.0, 4.0], rel=1e-7)
    assert result.t[-1] == pytest.approx(4.5, rel=1e-7)
    # equal values are no conflict, nor is what happens at different times
    apart = tg.simulate(Room(mods={"walls.left.t": 1.0}), (0.0, 5.0), rtol=1e-9, method=method)
    assert apart.final["walls.told"] == 2.0
