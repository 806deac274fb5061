"""The log says why an event happened: what the user wrote, as it reads afterwards, the condition that was crossed first."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import tidegate as tg


def causes(model: Any, t_end: float) -> list[tuple[str, ...]]:
    return [event.causes for event in tg.simulate(model, (0.0, t_end)).events]


def ramp(slope: Any, *, start: float = 0.0, p: dict[str, float] | None = None) -> Any:
    return tg.ode(lambda t, y, p: [slope(t, y["x"], p)], y0={"x": start}, p=p or {})


@pytest.mark.parametrize(
    ("slope", "expected"),
    [
        (lambda t, x, p: 1.0 if x < p["top"] else 2.0, "x >= top"),
        (lambda t, x, p: 1.0 if x <= p["top"] else 2.0, "x > top"),
        (lambda t, x, p: 2.0 if p["top"] < x else 1.0, "top < x"),
        (lambda t, x, p: 2.0 if x >= p["top"] else 1.0, "x >= top"),
        (lambda t, x, p: 1.0 if x < 0.5 else 2.0, "x >= 0.5"),
        (lambda t, x, p: 1.0 if not x > 0.5 else 2.0, "x > 0.5"),
    ],
)
def test_a_relation_reads_as_written_and_as_it_now_is(slope: Any, expected: str) -> None:
    assert causes(ramp(slope, p={"top": 0.5}), 1.0) == [(expected,)]


def test_relations_with_the_same_zero_are_named_once() -> None:
    def slope(t: Any, x: Any, p: Any) -> Any:
        if x > p["top"]:
            return 1.0
        return 2.0 if x <= p["top"] and p["top"] - x >= 0 else 3.0

    assert causes(ramp(slope, p={"top": 0.5}), 1.0) == [("x > top",)]


def test_a_clause_is_named_before_its_condition() -> None:
    class Ball(tg.Component):
        h = tg.State(1.0)
        v = tg.State(0.0)

        def equations(self):
            yield tg.der(self.h) == self.v
            yield tg.der(self.v) == -9.81

        @tg.when(lambda self: self.h < 0)
        def bounce(self):
            return {self.v: -0.8 * self.v}

    assert causes(Ball(), 0.6) == [("bounce", "h < 0")]


def test_the_calendar_comes_before_what_follows_from_it() -> None:
    class Lamp(tg.Component):
        x = tg.State(1.0)
        on = tg.Discrete(False)
        count = tg.Discrete(0)

        def equations(self):
            yield tg.der(self.x) == (1.0 if self.on else 0.0)

        @tg.when(lambda self: self.on)
        def counts(self):
            return {self.count: self.count + 1}

        @tg.at(1.0)
        def switches(self):
            return {self.on: True}

    assert causes(Lamp(), 2.0) == [("switches", "counts")]


def test_an_edge_of_a_table_is_named_by_where_it_lies() -> None:
    curve = tg.table([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    model = tg.ode(lambda t, y, p: [1.0 - y["x"], 0.1 * curve(y["x"] + y["w"])], y0={"x": 0.25, "w": 0.25}, p={})
    assert causes(model, 3.0) == [("x + w >= 1",)]


def test_a_whole_number_is_named_from_either_side() -> None:
    def slope(t: Any, x: Any, p: Any) -> Any:
        return p["rate"] + 1e-3 * (x // 1)

    assert causes(ramp(slope, start=0.5, p={"rate": 1.0}), 1.0) == [("x >= 1",)]
    assert causes(ramp(slope, start=0.5, p={"rate": -1.0}), 1.0) == [("x < 0",)]


def test_each_cause_has_the_line_where_it_is_written() -> None:
    model = ramp(lambda t, x, p: 1.0 if x < 0.5 else 2.0)
    (event,) = tg.simulate(model, (0.0, 1.0)).events
    (origin,) = event.origins
    assert origin.text == "x < 0.5"
    assert origin.file.endswith("test_causes.py")


def test_compiling_is_no_part_of_the_run() -> None:
    statistics = tg.simulate(ramp(lambda t, x, p: 1.0 if x < 0.5 else 2.0), (0.0, 1.0)).statistics
    assert statistics.seconds > 0.0
    assert statistics.compile_seconds > 0.0


def low_passes(condition: Any) -> list[tuple[str, ...]]:
    class Ball(tg.Component):
        h = tg.State(1.0)
        v = tg.State(0.0)
        armed = tg.Discrete(False)
        passes = tg.Discrete(0)

        def equations(self):
            yield tg.der(self.h) == self.v
            yield tg.der(self.v) == -9.81

        @tg.when(lambda self: self.h < 0)
        def bounce(self):
            return {self.v: -0.8 * self.v}

        @tg.at(1.0)
        def arm(self):
            return {self.armed: True}

        @tg.when(condition)
        def low(self):
            return {self.passes: self.passes + 1}

    return causes(Ball(), 1.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "condition",
    [lambda self: tg.time > 1 and self.h < 0.1, lambda self: self.armed and self.h < 0.1, lambda self: self.h < 0.1 if tg.time > 1 else False],
    ids=["time", "discrete", "conditional"],
)
def test_a_relation_off_the_active_path_is_no_cause(condition: Any) -> None:
    found = low_passes(condition)
    assert found[0] == ("bounce", "h < 0")
    assert ("low", "h < 0.1") in found
    assert [cause for cause in found if "low" not in cause and "h < 0.1" in cause] == []


def test_a_relation_that_mattered_and_changed_along_is_a_cause() -> None:
    def slopes(t: Any, y: Any) -> Any:
        return [1.0 if y["x"] < 0.5 else 2.0, 1.0 if y["w"] < 0.5 else 2.0]

    jump = tg.event(lambda t, y: y["x"] >= 0.25, reset=lambda t, y: {"w": 3.0}, name="jump")
    assert causes(tg.ode(slopes, y0={"x": 0.0, "w": 0.0}, events=jump), 0.4) == [("jump", "x >= 0.25", "w >= 0.5")]


def test_values_before_and_after_are_plain_numbers() -> None:
    (event,) = tg.simulate(ramp(lambda t, x, p: 1.0 if x < 0.5 else 2.0), (0.0, 1.0)).events
    assert {type(value) for value in (*event.before.values(), *event.after.values())} == {float}


def limit_of(y: Any) -> Any:
    return 0.3 if y["x"] > 2.5 else (0.4 if y["x"] > 1.2 else 0.5)


@pytest.mark.slow
def test_a_condition_behind_helper_functions_is_named_as_it_was_written() -> None:
    def sinking(t, y):
        level = y["x"]
        for k in range(4):
            level = level * 0.9 if level > limit_of(y) * k else level + 0.1
        return [-1.0 if level + limit_of(y) * y["x"] > 0.7 else -0.5]

    causes = [cause for event in tg.simulate(tg.ode(sinking, y0={"x": 3.0}), (0, 4)).events for cause in event.causes]
    mine = [cause for cause in causes if "limit_of" in cause]
    assert mine
    line = sinking.__code__.co_firstlineno
    for cause in mine:
        assert cause.startswith(("level <= limit_of(y) * k (", 'level + limit_of(y) * y["x"] <= 0.7 ('))
        assert re.search(rf"test_causes.py:({line + 3}|{line + 4})\)$", cause)
    assert all(len(cause) < 200 and "if" not in cause for cause in causes)
    assert "x <= 2.5" in causes  # what is short is told in the model's names


@pytest.mark.slow
def test_a_long_condition_is_shortened_in_a_failure_too() -> None:
    weights = np.linspace(0.1, 0.9, 60)

    def chattering(t, y):
        total = 0.0
        for weight in weights:
            total = total + weight * y["x"]
        return [-1.0 if total > 0.5 * y["x"] + 0.25 * total else 1.0]

    with pytest.raises(tg.ChatteringError) as caught:
        tg.simulate(tg.ode(chattering, y0={"x": 1.0}), (0, 2))
    assert '`total > 0.5 * y["x"] + 0.25 * total (' in caught.value.message
    assert len(caught.value.message) < 300


@pytest.mark.slow
def test_corners_of_a_table_of_time_are_counted_and_not_listed() -> None:
    weather = tg.table(np.arange(0.0, 101.0), np.tile([0.0, 2.0], 51)[:101])
    said = tg.event(lambda t, y: t >= 40.0, reset=lambda t, y: {"x": 1.0})
    model = tg.ode(lambda t, y: [weather(t) - y["x"]], y0={"x": 0.0}, events=said)
    result = tg.simulate(model, (0.0, 100.0), rtol=1e-9)
    assert result.events.times.tolist() == [40.0]
    assert result.statistics.events == 1
    assert result.statistics.extra["corners of tables"] == 98
    # between corners x is w + w' (s - 1) + (x0 - w + w') exp(-s)
    x = 1.0
    for k in range(40, 100):
        w, slope = (0.0, 2.0) if k % 2 == 0 else (2.0, -2.0)
        x = w + (x - w + slope) * math.exp(-1.0)
    assert result.final["x"] == pytest.approx(x, abs=1e-8)


def test_corners_of_a_table_of_a_state_are_listed() -> None:
    lookup = tg.table([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    model = tg.ode(lambda t, y: [1.0, lookup(y["x"])], y0={"x": 0.0, "z": 0.0})
    result = tg.simulate(model, (0.0, 2.0))
    assert result.events.times == pytest.approx([1.0], abs=1e-9)
    assert "corners of tables" not in result.statistics.extra
