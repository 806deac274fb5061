"""What an environment shows of itself: in one line, as a table, as the time of the step, and while it runs."""

from __future__ import annotations

import time
from typing import Any

import pytest
import simpy

import tidegate as tg
from tidegate.frontends.processes import Environment, Group

__all__: list[str] = []


def falling(**options: Any) -> tuple[Environment, Any, Any]:
    env = Environment(**options)
    y, k = env.variable(2.0, name="y<", unit="m"), env.parameter(0.5, name="k", unit="1/s")

    @env.continuous
    def fall() -> None:
        y.rate = -k.value * y.state

    Group(y, fall).start()
    return env, y, k


def test_one_line_says_what_it_is_and_a_table_what_stands_in_it() -> None:
    env, y, k = falling()
    assert repr(env) == "<Environment at t = 0: 1 of 1 variables flow, 0 conditions are waited for>"
    assert (repr(y), repr(k)) == ("<Variable y< = 2 m>", "<Parameter k = 0.5 1/s>")
    stopped = env.variable(3.0, name="z")
    assert repr(stopped) == "<Variable z = 3, stopped>"
    html = env._repr_html_()
    assert "Environment at t = 0: 1 of 2 variables flow" in html
    assert "<th style='text-align:left'>y&lt;</th><td>2</td><td>m</td><td>flows</td>" in html
    assert "z</th><td>3</td><td></td><td>stopped</td>" in html
    assert "k</th><td>0.5</td><td>1/s</td><td>parameter</td>" in html


def test_what_is_asleep_or_carries_derivatives_is_shown_as_a_number() -> None:
    env, y, k = falling(sensitivities="all", abserror=1e-10, relerror=1e-10)
    env.run(until=2)
    assert repr(y).startswith("<Variable y< = 0.73575888")
    assert repr(k) == "<Parameter k = 0.5 1/s>"
    assert "0.73575888" in env._repr_html_()


def test_the_time_of_the_step_is_known_where_bodies_are_called() -> None:
    """A difference equation: one more at the end of each step, by what was at its start; dt is 0 where a period begins."""
    env = Environment(method="euler", dtmax=0.25, compiled=False)
    y = env.variable(0.0)
    seen: list[tuple[float, float, float]] = []

    @env.continuous
    def recurrence() -> None:
        if env.dt > 0:
            y.state = y.laststate + 1
        seen.append((env.lasttime, env.dt, env.now))

    Group(y, recurrence).start()
    env.run(until=1)
    assert y.state == 4
    assert seen[0] == (0, 0, 0)
    assert all(now == last + dt for last, dt, now in seen)
    assert {dt for _, dt, _ in seen} == {0, 0.25}
    assert (env.lasttime, env.dt) == (0.75, 0.25)


def test_a_body_that_asks_for_the_step_cannot_be_compiled() -> None:
    """Else the step of the time at which it was followed would stand in the compiled code."""
    for name in ("dt", "lasttime"):
        env = Environment(compiled=True)
        y = env.variable(0.0)
        env.continuous(lambda env=env, y=y, name=name: setattr(y, "rate", getattr(env, name) * 1.0)).start()
        y.start()
        with pytest.raises(tg.UntraceableError):
            env.run(until=1)
        env = Environment(dtmax=0.5)
        y = env.variable(0.0)

        def body(env: Environment = env, y: Any = y, name: str = name) -> None:
            y.rate = 1.0 if env.dt >= 0.0 and env.lasttime >= 0.0 else 0.0

        Group(env.continuous(body), y).start()
        env.run(until=1)
        assert y.state == pytest.approx(1.0)
        assert "called" in str(env.result.statistics)


def test_whoever_gives_an_environment_a_dt_of_his_own_keeps_it() -> None:
    env, _, _ = falling()
    env.dt = 0.5  # pyright: ignore[reportAttributeAccessIssue] - SimPy's users hang things there
    env.run(until=1)
    assert env.dt == 0.5
    assert isinstance(env, simpy.Environment)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, False])
def test_progress_is_told_about_ten_times_a_second_within_a_period_and_between_events(compiled: bool) -> None:
    told: list[float] = []
    env, _, _ = falling(compiled=compiled, method="euler", dtmax=1e-6 if compiled else 1e-4, record=False, progress=told.append)

    def busy() -> Any:
        for _ in range(3):
            yield env.timeout(0.2)
            time.sleep(0.11)

    env.run(env.process(busy()))
    between = len(told)
    assert between >= 3
    env.run(until=2.5)
    assert len(told) - between >= 2
    assert told == sorted(told)
    assert told[-1] == 2.5


def test_a_short_run_tells_its_end_only() -> None:
    told: list[float] = []
    env, _, _ = falling(progress=told.append)
    env.run(until=0.1)
    assert told[-1] == 0.1


def test_progress_that_is_no_function_is_refused() -> None:
    with pytest.raises(tg.UsageError, match="progress"):
        Environment(progress=3)  # pyright: ignore[reportArgumentType]


def test_the_log_of_events_says_who_goes_on() -> None:
    """Processes, also those that wait for one of several; processes in the style of Simula; the end of a process, and of the run."""
    env, _, _ = falling()
    done = env.event()

    def main() -> Any:
        yield env.timeout(1)
        yield env.timeout(1) | (env.timeout(3) & env.event())
        done.succeed()
        yield env.timeout(1)

    class Holding(tg.SimulaProcess):
        def actions(self) -> Any:
            yield self.hold(2.5)

    Holding(env, name="holding").activate()
    process = env.process(main())
    env.run(until=done)
    assert [event.cause for event in env.result.events] == ["main", "main"]
    env.run(until=2.75)
    env.run(until=process)
    env.run(until=3.25)
    assert [(event.time, event.cause) for event in env.result.events][2:] == [
        (2.5, "holding"),
        (2.75, "the end of the run"),
        (3, "main"),
        (3.25, "the end of the run"),
    ]


@pytest.mark.parametrize("where", ["body", "sample", "process", "condition"])
def test_a_run_that_is_left_ends_there(where: str, tmp_path: Any) -> None:
    """As CONDIS' leave: every sample looks once more, files are closed, and nothing comes behind."""
    env = Environment(method="euler", dtmax=0.25, compiled=False)
    y = env.variable(0.0)
    seen: list[float] = []
    file = tmp_path / "written.txt"

    def leave(at: str) -> bool:
        if at == where and env.now >= 0.5:
            env.leave()
        return False

    @env.continuous
    def body() -> None:
        y.rate = 1.0
        leave("body")

    def look() -> None:
        seen.append(env.now)
        leave("sample")

    def process() -> Any:
        env.open(file).write("begun")
        Group(y, body, env.sample(look)).start()
        yield env.timeout(0.5)
        leave("process")
        yield env.wait_until(lambda: leave("condition")) | env.timeout(1.0)
        seen.append(99.0)

    assert env.run(env.process(process())) is None
    assert env.now == (0.25 if where == "body" else 0.5)  # a step that a body leaves has not been taken
    assert seen[-1] == 0.5
    assert seen.count(0.5) >= (1 if where == "body" else 2)
    assert file.read_text() == "begun"


@pytest.mark.parametrize("method", ["euler", "adams2", "trapezoid", "heun", "rke"])
def test_a_difference_equation_advances_once_a_step_where_it_is_guarded_and_once_more_behind_each_event_where_not(method: str) -> None:
    """As the page for readers of CONDIS says: 4 periods of 2 steps."""
    for is_guarded, expected in ((True, 8.0), (False, 12.0)):
        env = Environment(method=method, dtmax=0.25, abserror=1e-3, compiled=False)
        n = env.variable(0.0)

        def step(env: Environment = env, n: Any = n, is_guarded: bool = is_guarded) -> None:
            if env.dt > 0 or not is_guarded:
                n.state = n.laststate + 1

        def process(env: Environment = env, n: Any = n, step: Any = step) -> Any:
            Group(n, env.continuous(step)).start()
            for _ in range(4):
                yield env.timeout(0.5)

        env.run(env.process(process()))
        assert n.state == expected


def test_the_step_behind_an_event_is_the_longest_for_the_predictor_corrector() -> None:
    """The page for readers of CONDIS: ten periods of 0.41 with dtmax 0.2 cost what Runge-Kutta-England costs, 280, where the original took 541."""
    for method in ("pc", "rke"):
        env = Environment(method=method, dtmax=0.2, abserror=1e-5, relerror=0, compiled=False)
        y = env.variable(1.0)

        def fall(y: Any = y) -> None:
            y.rate = -y.state

        def process(env: Environment = env, y: Any = y, fall: Any = fall) -> Any:
            Group(y, env.continuous(fall)).start()
            for _ in range(10):
                yield env.timeout(0.41)

        env.run(env.process(process()))
        assert env.monitor.counters.evaluations == 280
