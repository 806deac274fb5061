"""What bodies say: messages and the end of the run, always or under a condition of the body, at events, at the start and at the end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from run_checks import event_times


class Warned(tg.Component):
    x = tg.State(1.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 10 * np.sin(tg.time)

    @tg.when(lambda self: self.x > 1.5)
    def reset(self) -> Any:
        return {self.x: 1.0}

    @tg.when(lambda self: tg.time >= 0.9)
    def stop(self) -> Any:
        tg.terminate("that is enough")

    @tg.when(lambda self: self.x > 1.1)
    def low(self) -> Any:
        if not tg.time < 0.5:
            tg.message("above 1.1")

    @low.elsewhen(lambda self: self.x > 1.2)
    def high(self) -> Any:
        if not tg.time < 0.55:
            tg.message("above 1.2")


def test_warnings_under_a_condition_appear_only_where_it_holds(method: str) -> None:
    result = tg.simulate(Warned(), (0.0, 2.0), rtol=1e-10, outputs=[0.5], event_rows=True, method=method)
    said = [(event.time, event.messages) for event in result.events if event.messages]
    # x = 1 + 10 (cos of the last reset - cos t): 1.1 and 1.2 are passed .01 and .02 of the cosine later
    assert said[0] == (pytest.approx(math.acos(0.85 - 0.01), rel=5e-8), ("above 1.1",))
    # hundreds of tolerances, for methods whose errors add up over the resets
    assert said[0][0] == pytest.approx(0.5735131044, abs=5e-8)
    assert said[1] == (pytest.approx(0.5916886424, abs=5e-8), ("above 1.2",))
    assert said[-1] == (0.9, ("that is enough",))
    resets = [event.time for event in result.events if "reset" in event.causes]
    assert resets == pytest.approx([math.acos(1 - 0.05 * k) for k in range(1, 8)], rel=5e-8)
    row = int(np.flatnonzero(np.asarray(result.time) == 0.5)[0])
    assert np.asarray(result["x"])[row] == pytest.approx(1.2241743811, abs=5e-8)
    assert result.final["x"] == pytest.approx(1.2839003173, abs=5e-8)
    assert result.status == "terminated"


def test_a_clock_speaks_and_ends_the_run_under_conditions(method: str) -> None:
    class Clock(tg.Component):
        n = tg.Discrete(0)

        @tg.every(1.0)
        def tick(self) -> Any:
            if self.n >= 3:
                tg.terminate("three")
            elif self.n >= 1:
                tg.message("more than none")
            else:
                tg.message("none")
            return {self.n: self.n + 1}

    result = tg.simulate(Clock(), (0.0, 10.0), method=method)
    assert [event.messages for event in result.events] == [("none",), ("more than none",), ("more than none",), ("three",)]
    assert (result.status, result.message, result.time[-1]) == ("terminated", "three", 3.0)


def test_a_remark_sees_the_values_before_the_round_it_is_made_in(method: str) -> None:
    class Rounds(tg.Component):
        n = tg.Discrete(0)
        done = tg.Discrete(False)

        @tg.at(1.0)
        def first(self) -> Any:
            if self.n > 0:
                tg.message("too late")
            return {self.n: 1}

        @tg.when(lambda self: self.n > 0)
        def second(self) -> Any:
            if self.n > 0 and not self.done:
                tg.message("in time")
            return {self.done: True}

    assert [event.messages for event in tg.simulate(Rounds(), (0.0, 2.0), method=method).events] == [("in time",)]


def test_a_condition_in_a_remark_causes_no_event(method: str) -> None:
    class Quiet(tg.Component):
        x = tg.State(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.every(1.0)
        def look(self) -> Any:
            if self.x > 0.5:
                tg.message("up")

    result = tg.simulate(Quiet(), (0.0, 2.5), method=method)
    assert event_times(result) == [0.0, 1.0, 2.0]
    assert [event.messages for event in result.events] == [(), ("up",), ("up",)]
    assert result.statistics.flips == 0


@pytest.mark.parametrize("level", [0.5, 2.5])
def test_a_reset_of_plain_functions_may_speak_too(level: float, method: str) -> None:
    def hit(t: Any, y: Any, p: Any) -> Any:
        if t > p["level"]:
            tg.terminate("late")
        else:
            tg.message("early")
        return {"y": 0.0}

    model = tg.ode(lambda t, y: [1.0], y0={"y": 0.0}, p={"level": level}, events=tg.event(lambda t, y: y["y"] > 1, reset=hit))
    result = tg.simulate(model, (0.0, 10.0), method=method)
    expected = math.ceil(level)
    assert event_times(result) == pytest.approx(range(1, expected + 1))
    assert [event.messages for event in result.events] == [("early",)] * (expected - 1) + [("late",)]
    assert result.message == "late"


def test_a_reset_that_only_speaks_returns_nothing(method: str) -> None:
    def say(t: Any, y: Any) -> None:
        tg.message("passed")

    model = tg.ode(lambda t, y: [1.0], y0={"y": 0.0}, events=tg.event(lambda t, y: y["y"] > 1, reset=say))
    assert [event.messages for event in tg.simulate(model, (0.0, 2.0), method=method).events] == [("passed",)]


class Ends(tg.Component):
    """Speaks at the start and at the end."""

    x = tg.State(1.0)
    k = tg.Parameter(2.0)
    n = tg.Discrete(0)
    ran = tg.Discrete(False)

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.k * self.x

    @tg.initially
    def hello(self) -> Any:
        if self.k > 1:
            tg.message("fast")
        if self.k > 10:
            tg.terminate("too fast")
        return {self.n: 5}

    @tg.when(lambda self: self.x < 2)
    def not_initially(self) -> Any:
        return {self.ran: True}

    @tg.finally_
    def goodbye(self) -> Any:
        if self.x < 0.5:
            tg.message("small")
        return {self.n: self.n + 1}


@pytest.mark.parametrize(
    ("k", "said", "status"),
    [
        (0.5, [("final", ())], "finished"),
        (2.0, [("initial", ("fast",)), ("final", ("small",))], "finished"),
        (20.0, [("initial", ("fast", "too fast")), ("final", ())], "terminated"),
    ],
)
def test_first_and_last_words_under_conditions(k: float, said: Any, status: str, method: str) -> None:
    result = tg.simulate(Ends(k=k), (0.0, 1.0), method=method)
    assert [(event.kind, event.messages) for event in result.events] == said
    assert [event.index for event in result.events] == list(range(len(said)))
    assert result.status == status
    assert result.final["n"] == 6
    assert result.time[-1] == (0.0 if status == "terminated" else 1.0)


def test_a_clause_whose_condition_holds_from_the_start_does_not_run_in_initialization(method: str) -> None:
    assert tg.simulate(Ends(), (0.0, 1.0), method=method).final["ran"] == 0.0
