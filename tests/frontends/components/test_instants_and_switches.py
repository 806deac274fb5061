"""Clauses that yield equations, parts that are switched off, edges, changes, samples."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import tidegate as tg
from circuit_parts import Capacitor, Ground, Resistor, Source

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "components.json").read_text())


class Ramp(tg.Component):
    """y is found together with x, which depends on it: 0.5 y = 1 - 2 s + t."""

    x, y, s = tg.Algebraic(), tg.Discrete(0.0), tg.State(0.0)
    k = tg.Parameter(0.25)

    def equations(self) -> Iterator[Any]:
        yield self.x == 3.0 - self.k * self.y + self.s
        yield tg.der(self.s) == 1.0

    @tg.every(0.5, start=0.5)
    def tick(self) -> Iterator[Any]:
        yield self.y == 7 - 2 * self.x + tg.time


class Implicit(tg.Component):
    x, y, s, n = tg.Algebraic(), tg.Discrete(1.0), tg.State(0.0), tg.Discrete(0)

    def equations(self) -> Iterator[Any]:
        yield self.x == self.s + 0.1 * self.y
        yield tg.der(self.s) == self.y

    @tg.when(lambda self: self.s > 0.5, lambda self: self.s > 1.0)
    def solve(self) -> Any:
        yield self.y**3 + self.x == 2 + tg.pre(self.y)
        return {self.n: self.n + 1}


def test_equations_of_a_clause_are_solved_with_all_others(dae_method: str) -> None:
    result = tg.simulate(Ramp(), (0.0, 1.2), outputs=[0.4, 0.7, 1.2], rtol=1e-9, method=dae_method)
    assert result["y"].values == pytest.approx([0.0, 1.0, 0.0], abs=1e-9)  # 2 (1 - 2 s + t) at 0.5 and at 1


def test_implicit_equations_of_a_clause_are_solved(dae_method: str) -> None:
    first = brentq(lambda y: y**3 + 0.5 + 0.1 * y - 3, 0, 3)
    second = brentq(lambda y: y**3 + 1.0 + 0.1 * y - 2 - first, 0, 3)
    later = 0.5 + 0.5 / first
    result = tg.simulate(Implicit(), (0.0, 1.2), rtol=1e-10, method=dae_method)
    assert [event.time for event in result.events] == pytest.approx([0.5, later], abs=1e-8)
    assert result.final["y"] == pytest.approx(second, rel=1e-8)
    assert result.final["s"] == pytest.approx(1.0 + second * (1.2 - later), rel=1e-7)
    assert result.final["n"] == 2


def test_equations_of_a_clause_have_derivatives(dae_method: str) -> None:
    # y = (1 - 2 s + t) / (1 - 2 k) at the tick
    result = tg.simulate(Ramp(), (0.0, 0.7), sensitivities=["k"], rtol=1e-9, method=dae_method)
    assert result.sensitivity("y", "k")[-1] == pytest.approx(2 * 0.5 / 0.5**2, rel=1e-7)


class Counter(tg.Component):
    """One more at each tick, by an equation or by a value."""

    x, d = tg.State(0.0), tg.Discrete(0.0)
    rises, again, seen = tg.Discrete(0), tg.Discrete(0), tg.Discrete(0.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == 1.0

    @tg.when(lambda self: self.d > tg.pre(self.d))
    def rise(self) -> Any:
        return {self.rises: 1 - self.rises, self.seen: tg.pre(self.d)}

    @tg.when(lambda self: (self.d > tg.pre(self.d)) & (self.rises >= 1))
    def later(self) -> Any:
        return {self.again: self.again + 1}

    @tg.when(lambda self: self.d > 2.5)
    def full(self) -> Any:
        return {self.d: 0.0}


class ByEquation(Counter):
    @tg.every(1.0, start=0.5)
    def tick(self) -> Any:
        yield self.d == tg.pre(self.d) + 1.0 + 0.0 * self.x


class ByValue(Counter):
    @tg.every(1.0, start=0.5)
    def tick(self) -> Any:
        return {self.d: tg.pre(self.d) + 1.0 + 0.0 * self.x}


@pytest.mark.slow
def test_what_an_equation_determines_has_changed_for_one_round_and_may_be_set_back_in_the_next() -> None:
    # a round longer, `later` would happen at every tick; and the third, which is set back at once, would be a conflict with what is kept
    found = [(final["d"], final["rises"], final["again"], final["seen"]) for final in (tg.simulate(m, (0.0, 5.2)).final for m in MODELS)]
    assert found == [(2.0, 1.0, 2.0, 2.0)] * 2


MODELS = (ByEquation(), ByValue())


class Two(tg.Component):
    x, d, w = tg.State(0.0), tg.Discrete(1.0), tg.Algebraic()

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == 1.0
        yield self.w + 0.1 * self.w**3 == self.d

    @tg.every(1.0, start=0.5)
    def tick(self) -> Any:
        yield self.d == 0.2


@pytest.mark.slow
def test_two_clauses_that_determine_one_variable_in_one_round_are_a_conflict_unless_one_goes_first() -> None:
    class Equations(Two):
        @tg.when(lambda self: self.x > 0.5)
        def other(self) -> Any:
            yield self.d == 0.4

    class Value(Two):
        @tg.when(lambda self: self.x > 0.5)
        def other(self) -> Any:
            return {self.d: 0.4}

    class First(Two):
        @tg.when(lambda self: self.x > 0.5, priority=3)
        def other(self) -> Any:
            return {self.d: 0.4}

    for model in (Equations(), Value()):
        with pytest.raises(tg.ConflictError, match=r"other and tick happen together and give d different values\n"):
            tg.simulate(model, (0.0, 0.7))
    assert tg.simulate(First(), (0.0, 0.7)).final["d"] == 0.4


def test_a_body_in_the_round_after_sees_what_an_equation_found() -> None:
    class Seen(Two):
        low, n, before = tg.Discrete(0.0), tg.Discrete(3), tg.Discrete(0.0)

        @tg.replaces
        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == 1.0
            yield self.w == self.d + self.x

        @tg.every(1.0, start=0.5)
        def tick(self) -> Any:
            yield self.d == tg.pre(self.d) - 0.5 * tg.pre(self.n) + 0.1 * self.x
            return {self.n: self.n + 1}

        @tg.when(lambda self: self.d < 0.0)
        def under(self) -> Any:
            return {self.low: self.d, self.before: tg.pre(self.d)}

    # d = 1 - 1.5 + 0.05, where n is 4 by the time that it is kept
    final = tg.simulate(Seen(), (0.0, 0.7)).final
    assert (final["d"], final["low"], final["before"], final["n"]) == pytest.approx((-0.45, -0.45, -0.45, 4.0), abs=1e-12)


@pytest.mark.slow
def test_start_values_and_settings_of_what_equations_of_clauses_determine() -> None:
    class Whole(tg.Component):
        a = Ramp()
        b = tg.as_part(Ramp().lower())

    for name in ("a", "b"):
        # y, until the first tick
        assert tg.simulate(Whole(), (0.0, 0.4), y0={f"{name}.y": 3.0}).final[f"{name}.y"] == 3.0
        assert tg.simulate(Whole(), (0.0, 0.4), sensitivities=[f"{name}.y(0)"]).sensitivity(f"{name}.x", f"{name}.y(0)")[-1] == -0.25
        simulation = tg.Simulation(Whole())
        simulation.advance(0.7)
        simulation[f"{name}.y"] = 7.0
        assert (simulation[f"{name}.y"], simulation[f"{name}.x"]) == pytest.approx((7.0, 3.0 - 0.25 * 7.0 + 0.7), abs=1e-6)
        simulation.advance(1.2)
        assert simulation[f"{name}.y"] == pytest.approx(0.0, abs=1e-6)  # as ever at 1


def test_a_clause_that_happens_in_two_rounds_running_determines_twice() -> None:
    class Twice(Two):
        @tg.when(lambda self: self.x > 0.5, lambda self: self.d > 1.5)
        def tick(self) -> Any:
            yield self.d == tg.pre(self.d) + 1.0

    assert tg.simulate(Twice(), (0.0, 0.7)).final["d"] == 3.0


@pytest.mark.slow
def test_clauses_of_parts_yield_equations_too() -> None:
    class Both(tg.Component):
        a, b = Ramp(), Implicit()

    result, alone = tg.simulate(Both(), (0.0, 1.2), rtol=1e-10), tg.simulate(Implicit(), (0.0, 1.2), rtol=1e-10)
    assert result.final["a.y"] == pytest.approx(0.0, abs=1e-9)
    assert result.final["b.y"] == pytest.approx(alone.final["y"], rel=1e-8)


def test_an_equation_that_could_determine_two_variables_is_refused() -> None:
    class Wrong(tg.Component):
        a, b, s = tg.Discrete(0.0), tg.Discrete(0.0), tg.State(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.s) == 1.0

        @tg.every(1.0)
        def tick(self) -> Iterator[Any]:
            yield self.a + self.b == self.s

    with pytest.raises(tg.ModelError, match=r"tick yields an equation that could determine any of a, b"):
        Wrong().lower()


def test_a_state_is_set_and_not_determined_by_an_equation_of_a_clause() -> None:
    class Ball(tg.Component):
        h, v = tg.State(1.0), tg.State(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.h) == self.v
            yield tg.der(self.v) == -9.81

        @tg.when(lambda self: self.h < 0)
        def bounce(self) -> Iterator[Any]:
            yield self.v == -0.8 * tg.pre(self.v)

    with pytest.raises(tg.ModelError, match="bounce yields an equation") as caught:
        Ball().lower()
    assert "return {self.v: ...} gives a state a new value" in str(caught.value.hint)


class Mixer(tg.Component):
    c, twice, ticks = tg.State(0.0), tg.Algebraic(), tg.Discrete(0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.c) == (1 - self.c) / 5
        yield self.twice == 2 * self.c

    @tg.every(1.0, start=0.5)
    def tick(self) -> Any:
        return {self.ticks: self.ticks + 1}


class Tank(tg.Component):
    h = tg.State(0.0)
    mixer = Mixer()

    def equations(self) -> Iterator[Any]:
        q = tg.where(tg.time < 10, 0.2, tg.where(tg.time < 25, 0.0, 0.2))
        yield tg.der(self.h) == q - 0.1 * self.h
        yield tg.enable(self.mixer, when=self.h > 0.5)


def test_a_tank_with_a_mixer_that_is_switched_off_has_the_golden_values(dae_method: str) -> None:
    golden = GOLDEN["D06_tank_with_mixer"]
    times = sorted(map(float, golden["values"]))
    result = tg.simulate(Tank(), (0.0, 30.0), outputs=times, rtol=1e-8, method=dae_method)
    for text, values in golden["values"].items():
        row = times.index(float(text))
        assert result["h"][row] == pytest.approx(float(values["tank.h"]), abs=1e-6)
        assert result["mixer.c"][row] == pytest.approx(float(values["mixer.c"]), abs=1e-6)
        assert result["mixer.twice"][row] == pytest.approx(2 * float(values["mixer.c"]), abs=1e-6)
        assert bool(result["mixer.enabled"][row]) is values["enabled"]
    found = [event.time for event in result.events if any(cause in ("mixer on", "mixer off") for cause in event.causes)]
    expected = [float(event["t"]) for event in golden["events"] if "nx" in event]
    assert found == pytest.approx(expected, abs=1e-7 * 30)
    on = [(expected[0], expected[1]), (expected[2], 30.0)]
    assert result.final["mixer.ticks"] == sum(low < k + 0.5 < high for k in range(30) for low, high in on)


def test_derivatives_go_through_a_part_that_is_switched(dae_method: str) -> None:
    class Fed(Tank):
        level = tg.Parameter(0.5)

        @tg.replaces
        def equations(self) -> Iterator[Any]:
            yield tg.der(self.h) == 0.2 - 0.1 * self.h
            yield tg.enable(self.mixer, when=self.h > self.level)

    result = tg.simulate(Fed(), (0.0, 5.0), sensitivities=["level"], rtol=1e-9, method=dae_method)
    # on at t1 = -10 log(1 - level/2); c = 1 - exp((t1 - t)/5)
    start = -10 * math.log(0.75)
    assert result.sensitivity("mixer.c", "level")[-1] == pytest.approx(-math.exp((start - 5) / 5) / 5 * 10 / 0.75 / 2, rel=1e-6)


def test_no_current_flows_through_a_part_that_is_off() -> None:
    class Leak(tg.Component):
        c = Capacitor(C=1.0, v=2.0)
        r, g, s = Resistor(R=1.0), Ground(), Source(V=0.0)
        q = Resistor(R=4.0)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.c.p, self.r.p, self.q.p)
            yield tg.connect(self.c.n, self.r.n, self.q.n, self.g.p, self.s.n)
            yield tg.enable(self.r, when=self.c.v > 1.0)

    result = tg.simulate(Leak(), (0.0, 3.0), rtol=1e-9)
    off = math.log(2.0) / 1.25
    assert result.events[0].time == pytest.approx(off, rel=1e-7)
    assert result.final["c.v"] == pytest.approx(math.exp(-(3.0 - off) / 4.0), rel=1e-6)
    assert (result.final["r.p.i"], result.final["r.n.i"]) == (0.0, 0.0)
    assert result.final["r.v"] == pytest.approx(1.0, rel=1e-6)  # kept as it was


def test_a_clause_of_a_part_that_is_off_sleeps_and_happens_when_it_wakes() -> None:
    class Alarm(tg.Component):
        x, rung = tg.Input(0.0), tg.Discrete(0)

        @tg.when(lambda self: self.x > 1.0)
        def ring(self) -> Any:
            return {self.rung: self.rung + 1}

    class Watch(tg.Component):
        y = tg.State(0.0)
        alarm = Alarm()

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.y) == tg.where(tg.time < 2.0, 1.0, tg.where(tg.time < 4.0, -1.0, 1.0))
            yield self.alarm.x == self.y
            yield tg.enable(self.alarm, when=tg.where(tg.time < 1.5, 0.0, tg.where(tg.time < 4.5, 1.0, 0.0)) > 0.5)

    # y passes 1 upwards at 1 (asleep, seen on waking at 1.5) and at 5 (asleep for good)
    result = tg.simulate(Watch(), (0.0, 6.0))
    assert result.final["alarm.rung"] == 1
    assert [event.time for event in result.events if "alarm.ring" in event.causes] == pytest.approx([1.5])


def test_edges_and_changes_are_seen_at_events() -> None:
    class Counted(tg.Component):
        x = tg.State(0.0)
        on, gear, edges, changes = tg.Discrete(False), tg.Discrete(0), tg.Discrete(0), tg.Discrete(0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == 1.0

        @tg.every(1.0, start=1.0)
        def toggle(self) -> Any:
            return {self.on: tg.where(self.on, False, True), self.gear: tg.where(self.x > 2.5, 3, 1)}

        @tg.when(lambda self: tg.edge(self.on))
        def rise(self) -> Any:
            return {self.edges: self.edges + 1}

        @tg.when(lambda self: tg.change(self.gear))
        def shift(self) -> Any:
            return {self.changes: self.changes + 1}

    final = tg.simulate(Counted(), (0.0, 5.5)).final
    assert (final["edges"], final["changes"]) == (3, 2)  # on at 1, 3, 5; gear 0 -> 1 at 1, 1 -> 3 at 3


def test_a_sample_among_conditions_makes_the_clause_happen_at_its_times(method: str) -> None:
    class Golden(tg.Component):  # E8 (b)
        x, y1, y3 = tg.State(1.0), tg.Discrete(0.0), tg.Discrete(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == 2 * self.x

        @tg.when(lambda self: [self.x > 2, tg.sample(0, 2), self.x < 5])
        def both(self) -> Any:
            return {self.y1: np.sin(self.x), self.y3: 2 * self.x + self.y1 + 5}

    result = tg.simulate(Golden(), (0.0, 1.0), outputs=[0.2, 0.5, 1.0], rtol=1e-10, method=method)
    assert result["y1"].values == pytest.approx([0.8414709848, 0.9092974268, 0.9092974268], abs=1e-8)


class Gated(tg.Component):
    """Ticks that count only while something holds: a state, the time, a discrete variable that another clause turns at ticks of its own."""

    x, level, on = tg.State(0.0), tg.Parameter(1.5), tg.Discrete(False)
    high, late, turned, either = tg.Discrete(0), tg.Discrete(0), tg.Discrete(0), tg.Discrete(0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == 1.0

    @tg.every(2.0, start=1.0)
    def turn(self) -> Any:
        return {self.on: tg.where(self.on, False, True)}

    @tg.when(lambda self: tg.sample(0, 0.5) & (self.x > self.level) & (self.x < 3.1))
    def above(self) -> Any:
        return {self.high: self.high + 1}

    @tg.when(lambda self: (tg.time > 2.25) & tg.sample(0.1, 0.2))
    def after(self) -> Any:
        return {self.late: self.late + 1}

    @tg.when(lambda self: tg.sample(0, 1) & (self.on > 0))
    def seen(self) -> Any:
        return {self.turned: self.turned + 1}

    @tg.when(lambda self: [tg.sample(0.05, 1) & (self.x > 2), self.x > 0.7])
    def both(self) -> Any:
        return {self.either: self.either + 1}


class GatedWithin(tg.Component):
    g = Gated()


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "head"), [(Gated, ""), (GatedWithin, "g.")])
def test_a_sample_with_a_condition_happens_at_ticks_at_which_that_holds(kind: Any, head: str, method: str) -> None:
    result = tg.simulate(kind(), (0.0, 4.8), rtol=1e-8, method=method)
    ticks = [0.5 * k for k in range(10)]
    assert result.final[f"{head}high"] == sum(1.5 < t < 3.1 for t in ticks) == 3
    assert result.final[f"{head}late"] == sum(0.1 + 0.2 * k > 2.25 for k in range(24)) == 13
    # on from 1 to 3, both turned at a tick of the other clock, which sees the value before: at 2 and at 3
    assert result.final[f"{head}turned"] == 2
    assert [event.time for event in result.events if f"{head}both" in event.causes] == pytest.approx([0.7, 2.05, 3.05, 4.05])
    assert method != "radau" or tg.verify(result).ok


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (lambda self: tg.sample(0, 1) | (self.x > 1), "tg.sample inside a larger condition"),
        (lambda self: tg.sample(0, 1) & tg.sample(0, 2), "tg.sample inside a larger condition"),
        (lambda self: ~tg.sample(0, 1) & (self.x > 1), "tg.sample inside a larger condition"),
        (lambda self: [tg.sample(0, -1)], "interval -1"),
    ],
)
def test_samples_elsewhere_are_refused(condition: Any, words: str) -> None:
    class Wrong(tg.Component):
        x = tg.State(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == 1.0

        @tg.when(condition)
        def clause(self) -> Any:
            return {self.x: 0.0}

    with pytest.raises(tg.UsageError, match=words):
        Wrong().lower()


class Room(tg.Component):
    C, G, P = tg.Parameter(10.0), tg.Parameter(1.0), tg.Parameter(20.0)
    T, on = tg.State(15.0), tg.Discrete(True)

    def equations(self) -> Iterator[Any]:
        yield self.C * tg.der(self.T) == -self.G * (self.T - 5.0) + tg.where(self.on, self.P, 0.0)


class House(tg.Component):
    rooms = tg.Array(Room(), 500)
    low, high = tg.Parameter(18.0), tg.Parameter(20.0)

    @tg.when(lambda self: self.high < self.rooms.T)
    def warm(self) -> Any:
        return {self.rooms.on: False}

    @tg.when(lambda self: self.low > self.rooms.T)
    def cold(self) -> Any:
        return {self.rooms.on: True}


def switches_of(c: float, end: float) -> list[float]:
    """Times at which a room's thermostat switches: temperatures approach 25, or 5, with the time constant C/G."""
    times, t, temperature, on = [], 0.0, 15.0, True
    while True:
        limit, to = (25.0, 20.0) if on else (5.0, 18.0)
        t += c * np.log((limit - temperature) / (limit - to))
        if t > end:
            return times
        times.append(t)
        temperature, on = to, not on


@pytest.mark.hunt
def test_one_clause_switches_each_of_five_hundred_rooms() -> None:
    c = np.linspace(5.0, 15.0, 500)
    result = tg.simulate(House(rooms={"C": c}), (0.0, 6.0), rtol=1e-8)
    expected = {f"rooms[{k}]": switches_of(c[k], 6.0) for k in range(500)}
    found: dict[str, list[float]] = {name: [] for name in expected}
    for event in result.events:
        for name in expected:
            if event.before[f"{name}.on"] != event.after[f"{name}.on"]:
                found[name].append(event.time)
    assert {name: len(times) for name, times in found.items()} == {name: len(times) for name, times in expected.items()}
    for name, times in expected.items():
        assert found[name] == pytest.approx(times, rel=1e-6)
