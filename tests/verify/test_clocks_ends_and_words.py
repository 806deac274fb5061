"""Varying clocks, what is said, how a run ends and what it does last: judged by the bodies, and told where it was tampered with."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import tidegate as tg
from tidegate.results import Event, EventLog, Result

__all__: list[str] = []


class Slowing(tg.Component):
    """A clock whose period is a variable, a sentence at every second tick, an end by a condition, and a last word."""

    n = tg.Discrete(0)
    period = tg.Discrete(0.3)
    alarm = tg.Discrete(1.7)
    last = tg.Discrete(0.0)
    x = tg.State(0.0)
    z = tg.Algebraic(0.0)
    double = tg.Output(lambda self: 2.0 * self.last)

    def equations(self) -> Any:
        yield tg.der(self.x) == 1.0
        yield self.z == 3.0 * self.last + self.x

    @tg.every(lambda self: self.period, start=0.1)
    def tick(self) -> Any:
        if self.n % 2 == 1:
            tg.message("an even tick")
        return {self.n: self.n + 1}

    @tg.at(1.1)
    def slow(self) -> Any:
        return {self.period: 2.0 * self.period}

    @tg.at(lambda self: self.alarm)
    def ring(self) -> Any:
        tg.message("it rings")
        if self.alarm < 2.0:
            return {self.alarm: self.alarm + 0.5}
        return {}

    @tg.when(lambda self: self.x > 2.75)
    def full(self) -> Any:
        tg.message("full")
        tg.terminate("the tank is full")

    @tg.finally_
    def note(self) -> Any:
        tg.message("the end")
        return {self.last: self.x, self.n: self.n + 100}


@cache  # nobody changes what it gives
def slowing(t_end: float = 5.0, **options: Any) -> Result:
    return tg.simulate(Slowing(), (0.0, t_end), rtol=1e-5, **options)


def changed(result: Result, change: Any) -> Result:
    """The result with its events handed through a function that gives each, or None."""
    other = copy(result)
    kept = [new for event in result.events if (new := change(event)) is not None]
    other.events = EventLog([replace(event, index=k) for k, event in enumerate(kept)])
    return other


def wrong(result: Result) -> set[tuple[str, str]]:
    """Kinds and names of what disagrees; what happens is judged at events, so that few points between them do."""
    return {(item.kind, item.name) for item in tg.verify(result, points=4).wrong}


@pytest.mark.hunt
@pytest.mark.parametrize("t_end", [2.0, pytest.param(5.0, marks=pytest.mark.slow)])
def test_a_right_run_is_verified(t_end: float, dae_method: str) -> None:
    result = slowing(t_end, method=dae_method)
    assert result.status == ("terminated" if t_end > 3.0 else "finished")
    check = tg.verify(result)
    assert check.notes == ()
    assert check.ok, str(check)
    judged = {(item.kind, item.name) for item in check.findings}
    assert {("clock", "tick"), ("clock", "ring"), ("message", "tick"), ("reset", "end of the run"), ("message", "end of the run")} <= judged
    assert (("end", "full") in judged) == (t_end > 3.0)


@pytest.mark.hunt
def test_a_varying_clock_is_judged_by_expressions_too() -> None:
    result = slowing()
    check = tg.verify(result, source=Slowing().lower())
    assert check.truth.startswith("the neutral model")
    assert check.ok, str(check)
    assert ("clock", "tick") in {(item.kind, item.name) for item in check.findings}
    late = changed(result, lambda e: None if "tick" in e.causes and e.time > 1.5 else e)
    assert ("clock", "tick") in {(item.kind, item.name) for item in tg.verify(late, source=Slowing().lower()).wrong}


@pytest.mark.hunt
def test_a_tick_too_few_is_told() -> None:
    result = slowing()
    times = [event.time for event in result.events if "tick" in event.causes]
    assert times == pytest.approx([0.1, 0.4, 0.7, 1.0, 1.3, 1.9, 2.5])
    assert ("clock", "tick") in wrong(changed(result, lambda e: None if e.time == times[-2] else e))
    assert ("clock", "tick") in wrong(changed(result, lambda e: None if e.time == times[-1] else e))
    assert ("clock", "tick") in wrong(changed(result, lambda e: None if e.time == times[0] else e))


@pytest.mark.hunt
def test_a_tick_too_many_is_told() -> None:
    result = slowing()
    others = iter([2.2])

    def twice(event: Event) -> Event:
        return replace(event, time=2.2) if "tick" in event.causes and event.time > 2.0 and next(others, None) else event

    assert ("clock", "tick") in wrong(changed(result, twice))


@pytest.mark.slow
def test_a_single_time_that_moved_is_judged() -> None:
    result = slowing()
    assert [event.time for event in result.events if "ring" in event.causes] == pytest.approx([1.7, 2.2])
    assert ("clock", "ring") in wrong(changed(result, lambda e: None if "ring" in e.causes and e.time > 2.0 else e))
    assert ("clock", "ring") in wrong(changed(result, lambda e: replace(e, time=2.3) if "ring" in e.causes and e.time > 2.0 else e))


@pytest.mark.hunt
def test_a_message_that_is_missing_or_too_much_is_told() -> None:
    result = slowing()
    assert sum("an even tick" in event.messages for event in result.events) == 3
    silent = changed(result, lambda e: replace(e, messages=()) if "ring" in e.causes else e)
    assert wrong(silent) == {("message", "ring")}
    (finding,) = tg.verify(silent).wrong
    assert "it rings" in finding.says
    assert wrong(changed(result, lambda e: replace(e, messages=("an even tick",)) if e.time < 0.2 else e)) == {("message", "tick")}
    assert wrong(changed(result, lambda e: replace(e, messages=("goodbye",)) if e.kind == "final" else e)) == {("message", "end of the run")}


@pytest.mark.hunt
def test_a_run_that_went_on_or_ended_for_no_reason_is_told() -> None:
    result = slowing()
    went_on = copy(result)
    went_on.status = "finished"
    assert wrong(went_on) == {("end", "full")}
    stopped = copy(slowing(2.0))
    stopped.status = "terminated"
    assert wrong(stopped) == {("end", "no body")}


@pytest.mark.hunt
@pytest.mark.parametrize("t_end", [2.0, pytest.param(5.0, marks=pytest.mark.slow)])
def test_a_wrong_last_value_is_told(t_end: float) -> None:
    result = copy(slowing(t_end))
    final = result.events[-1]
    assert final.kind == "final"
    for name, kinds in (("n", ("reset", "end of the run")), ("z", ("equation", "z at the end of the run"))):
        other = changed(result, lambda e, name=name: replace(e, after={**e.after, name: e.after[name] + 1.0}) if e.kind == "final" else e)
        assert kinds in wrong(other)
    column = [item.name for item in result.columns].index("double")
    result.values = result.values.copy()
    result.values[-1, column] += 0.01  # of 4 and more, at rtol 1e-5: outputs of a DAE are held to 100 of that
    assert wrong(result) == {("output", "double")}


@pytest.mark.slow
def test_what_is_done_last_and_is_not_in_the_log_is_told() -> None:
    assert ("missed event", "end of the run") in wrong(changed(slowing(2.0), lambda e: None if e.kind == "final" else e))


@pytest.mark.hunt
def test_the_table_says_in_one_line_what_was_not_judged() -> None:
    lines = [line for line in str(tg.verify(slowing(2.0))).splitlines() if line.startswith("not judged: ")]
    assert len(lines) == 1
    assert "start values" in lines[0]
    assert "derivatives by parameters" not in lines[0]
    model = tg.ode(lambda t, y, p: {"x": -p["k"] * y["x"]}, y0={"x": 1.0}, p={"k": 2.0})
    check = tg.verify(tg.simulate(model, (0.0, 1.0), sensitivities="all"))
    assert "derivatives by parameters" in check.unjudged
    assert "not judged" in check._repr_html_()


class OnlyDiscrete(tg.Component):
    period = tg.Discrete(0.5)

    @tg.every(lambda self: self.period)
    def tick(self) -> Any:
        return {self.period: 2 * self.period}


@pytest.mark.parametrize("begin", [0.0, 0.2, -1.0])
def test_a_model_of_nothing_but_discrete_variables_is_judged(begin: float) -> None:
    result = tg.simulate(OnlyDiscrete(), (begin, 10.0))
    assert tg.verify(result).ok
    assert wrong(changed(result, lambda e: None if e.time == max(result.events.times) else e)) == {("clock", "tick"), ("discrete variable", "period")}


@pytest.mark.hunt
def test_parts_of_a_run_with_a_varying_clock_and_a_last_word_are_judged() -> None:
    simulation = tg.Simulation(Slowing(), rtol=1e-5)
    for until in (0.5, 1.2, 2.0):
        check = tg.verify(simulation.advance(until))
        assert check.ok, str(check)
    simulation.finish()
    check = tg.verify(simulation.result)
    assert check.ok, str(check)
    assert ("reset", "end of the run") in {(item.kind, item.name) for item in check.findings}


def terminal(level: float) -> Any:
    stop = tg.event(lambda t, y: y["x"] > level, terminal=True, name="stop")
    return tg.ode(lambda t, y: {"x": 1.0}, y0={"x": 0.0}, events=stop)


@pytest.mark.slow
def test_terminal_events_of_functions_are_judged() -> None:
    result = tg.simulate(terminal(0.5), (0.0, 1.0))
    check = tg.verify(result)
    assert check.ok, str(check)
    assert ("end", "stop") in {(item.kind, item.name) for item in check.findings}
    result.status = "finished"
    assert wrong(result) == {("end", "stop")}


@pytest.mark.slow
def test_messages_and_ends_in_resets_of_functions_are_judged() -> None:
    def reset(t: Any, y: Any) -> Any:
        tg.message("over")
        if y["x"] > 0.4:
            tg.message("far over")
        return {"x": 0.0}

    over = tg.event(lambda t, y: y["x"] > 0.5, reset=reset, name="over")
    result = tg.simulate(tg.ode(lambda t, y: {"x": 1.0}, y0={"x": 0.0}, events=over), (0.0, 1.2))
    assert tg.verify(result).ok
    assert wrong(changed(result, lambda e: replace(e, messages=("over",)))) == {("message", "over")}


@pytest.mark.slow
def test_ends_of_solve_ivp_are_judged() -> None:
    def high(t: float, y: Any) -> Any:
        return y[0] - 0.5

    high.terminal = 2  # pyright: ignore[reportFunctionMemberAccess] - SciPy's way
    solution = tg.solve_ivp(lambda t, y: [y[1], -y[0]], (0.0, 10.0), [0.0, 1.0], events=high, dense_output=True)
    assert solution.status == 1
    assert tg.verify(solution).ok
    solution.status = 0
    assert {(item.kind, item.name) for item in tg.verify(solution).wrong} == {("end", "events[0]")}
