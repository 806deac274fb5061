"""SimPy's environment with variables that flow: golden counts, waits against closed forms, and SimPy's own parts beside them."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
import simpy

import tidegate as tg
from tidegate.frontends.processes import Environment, Group, environment

__all__: list[str] = []


@pytest.mark.parametrize(
    ("method", "dtmin", "every", "evaluations", "rows"),
    [("rke", 1e-9, 0.0, 668, 51), ("rke", 1e-9, 0.2, 696, 21), ("pc", 0.01, 0.0, 368, 78), ("pc", 0.01, 0.2, 396, 21)],
)
def test_a_rate_with_jumps_takes_the_published_number_of_evaluations(method: str, dtmin: float, every: float, evaluations: int, rows: int) -> None:
    """Appendix 2 of CONDIS; in double precision two fewer where twenty sums of 0.2 reach 4."""
    env = Environment(method=method, dtmin=dtmin, dtmax=0.2, abserror=1e-5, relerror=0.0, compiled=False)
    y = env.variable(0.0)

    @env.continuous
    def jumping() -> None:
        y.rate = 0.0 if env.now < 1 else 1.0 if env.now < 2 else -1.0 if env.now < 3 else 0.0

    seen: list[float] = []
    look = env.sample(lambda: seen.append(env.now), every=every)

    def main() -> Generator[Any, Any, None]:
        for part in (jumping, y, look):
            part.start()
        yield env.timeout(4)

    env.run(env.process(main()))
    assert (env.monitor.counters.evaluations, len(seen), env.now) == (evaluations, rows, 4)


def decaying(env: Environment, rate: float) -> tuple[Any, Any]:
    level = env.variable(2.0, unit="m")

    def tank() -> None:
        level.rate = -rate * level.state

    return level, env.continuous(tank)


@pytest.mark.parametrize("seed", range(12))
def test_processes_that_wait_for_levels_go_on_when_these_are_reached(seed: int) -> None:
    """Random levels of an exponential decay, several processes, timeouts beside the waits; the truth is the closed form."""
    generator = np.random.default_rng(seed)
    rate, begin = float(generator.uniform(0.2, 2.0)), float(generator.uniform(0.0, 3.0))
    env = Environment(dtmin=1e-10, dtmax=0.3, abserror=1e-10, relerror=1e-10)
    level, tank = decaying(env, rate)
    told: dict[int, float] = {}

    def operator() -> Generator[Any, Any, None]:
        yield env.timeout(begin)
        Group(tank, level).start()

    def watcher(number: int, bound: float) -> Generator[Any, Any, None]:
        yield env.timeout(starts[number])
        yield env.wait_until(lambda: level.state < bound)
        told[number] = env.now

    env.process(operator())
    bounds = generator.uniform(0.01, 1.9, size=4).tolist()
    starts = generator.uniform(0.0, 5.0, size=4).tolist()
    for number, bound in enumerate(bounds):
        env.process(watcher(number, bound))
    env.run()
    for number, bound in enumerate(bounds):
        expected = max(begin + math.log(2.0 / bound) / rate, starts[number])
        assert told[number] == pytest.approx(expected, abs=1e-7)  # tolerances of 1e-10 by the slope of a level


def test_a_wait_that_lost_against_a_timeout_is_forgotten() -> None:
    env = Environment(dtmax=0.2, abserror=1e-9)
    level, tank = decaying(env, 0.5)

    def operator() -> Generator[Any, Any, str]:
        Group(tank, level).start()
        slow = env.wait_until(lambda: level.state < 0.1)
        happened = yield slow | env.timeout(1.0, "late")
        assert slow not in happened
        yield env.timeout(10.0)
        return f"{env.now:g}"

    assert env.run(env.process(operator())) == "11"
    assert env.monitor.counters.state_events == 0


def test_an_interrupted_process_waits_no_more() -> None:
    env = Environment(dtmax=0.2, abserror=1e-9)
    level, tank = decaying(env, 0.5)
    log: list[tuple[str, float]] = []

    def waiter() -> Generator[Any, Any, None]:
        Group(tank, level).start()
        try:
            yield env.wait_until(lambda: level.state < 1.0)
        except simpy.Interrupt as interrupt:
            log.append((str(interrupt.cause), env.now))
        yield env.timeout(5.0)
        log.append(("end", env.now))

    process = env.process(waiter())

    def other() -> Generator[Any, Any, None]:
        yield env.timeout(0.5)
        process.interrupt("enough")

    env.process(other())
    env.run()
    assert log == [("enough", 0.5), ("end", 5.5)]
    assert env.monitor.counters.state_events == 0


def test_resources_are_shared_by_processes_that_wait_for_what_flows() -> None:
    env = Environment(dtmax=0.1, abserror=1e-8)
    pump, filled = simpy.Resource(env, 1), env.variable(0.0)
    done: list[float] = []

    @env.continuous
    def fill() -> None:
        filled.rate = 1.0

    def user() -> Generator[Any, Any, None]:
        with pump.request() as mine:  # pyright: ignore[reportUnknownVariableType]
            yield mine
            until = filled.state + 1.0
            yield env.wait_until(lambda: filled.state >= until)
        done.append(env.now)

    Group(fill, filled).start()
    for _ in range(3):
        env.process(user())
    env.run(until=10)
    assert done == pytest.approx([1.0, 2.0, 3.0], abs=1e-8)
    assert filled.state == pytest.approx(10.0, abs=1e-12)


@pytest.mark.parametrize("name", ["body", "sample"])
def test_exceptions_of_bodies_and_samples_say_whose_they_are_and_when(name: str) -> None:
    env = Environment(dtmax=0.1)
    x = env.variable(0.0)

    def bad() -> None:
        if env.now > 0.55:
            raise ValueError("too late")

    @env.continuous
    def flow() -> None:
        x.rate = 1.0

    Group(x, flow, env.continuous(bad) if name == "body" else env.sample(bad)).start()
    env.timeout(2.0)
    with pytest.raises(ValueError, match="too late") as caught:
        env.run()
    assert "'bad' at t = 0." in caught.value.__notes__[0]
    assert x.laststate < 0.7


def test_a_condition_that_never_holds_while_nothing_is_scheduled_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_MOST_STEPS", 1000)
    env = Environment(dtmax=1.0, method="euler")
    x = env.variable(0.0)

    def waiter() -> Generator[Any, Any, None]:
        x.start()
        yield env.wait_until(lambda: x.state > 1.0)

    env.process(waiter())
    with pytest.raises(Exception, match=r"7: time is at its maximum and no condition is true"):
        env.run()


def test_nothing_of_the_environment_is_the_monitors_while_nothing_flows() -> None:
    env = Environment()
    env.process(iter_timeouts(env, 3))
    env.run()
    assert "step" not in vars(env)
    assert env.monitor.counters.periods == 0


def iter_timeouts(env: Environment, count: int) -> Generator[Any, Any, None]:
    for _ in range(count):
        yield env.timeout(1.0)


def test_a_body_that_schedules_is_refused() -> None:
    env = Environment(dtmax=0.1)
    x = env.variable(0.0)

    @env.continuous
    def flow() -> None:
        x.rate = 1.0
        if env.now > 0.5:
            env.timeout(0.1)

    Group(x, flow).start()
    env.timeout(2.0)
    with pytest.raises(Exception, match="17: something was scheduled while time moves"):
        env.run()
    assert x.laststate < 0.7


def test_a_process_that_waits_for_what_holds_already_for_ever_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_MOST_AT_ONCE", 1000)
    env = Environment(dtmax=0.1)
    x = env.variable(0.0)

    def impatient() -> Generator[Any, Any, None]:
        x.start()
        while True:
            yield env.wait_until(lambda: x.state >= 0.0)

    env.process(impatient())
    with pytest.raises(tg.ChatteringError, match="waited for again and again at t = 0"):
        env.run(until=1)


@pytest.mark.parametrize("begins", ["before anything flows", "while it flows"])
@pytest.mark.parametrize("name", ["step", "schedule"])
def test_what_flows_flows_though_somebody_traces_events_as_the_manual_of_simpy_shows(name: str, begins: str) -> None:
    """x' = 1 for two units of time, then none for two, then one again; a function is put around ``env.step`` or ``env.schedule``."""
    env = Environment()
    x = env.variable(0.0)
    flow = Group(x, env.continuous(lambda: setattr(x, "rate", 1.0)))
    traced: list[float] = []

    def operator() -> Generator[Any, Any, None]:
        flow.start()
        for deed in (None, flow.stop, None, flow.start, None):
            yield env.timeout(1)
            if deed is not None:
                deed()

    def trace() -> None:
        wrapped = getattr(env, name)

        def traceable(*args: Any, **keywords: Any) -> None:
            traced.append(env.peek())
            wrapped(*args, **keywords)

        setattr(env, name, traceable)

    process = env.process(operator())
    if begins == "while it flows":
        env.step()
    trace()
    env.run(process)
    assert x.state == pytest.approx(3.0)
    assert len(traced) >= 5


def test_a_derived_environment_keeps_its_own_steps_while_something_flows() -> None:
    class Counting(Environment):
        steps = scheduled = 0

        def step(self) -> None:
            self.steps += 1
            super().step()

        def schedule(self, event: Any, priority: Any = 1, delay: float = 0) -> None:
            self.scheduled += 1
            super().schedule(event, priority, delay)

    env = Counting()
    x = env.variable(0.0)
    flow = Group(x, env.continuous(lambda: setattr(x, "rate", 1.0)))

    def operator() -> Generator[Any, Any, None]:
        yield env.timeout(1)
        flow.start()
        yield env.timeout(2)
        flow.stop()
        yield env.timeout(1)

    env.run(env.process(operator()))
    assert (x.state, env.now) == (pytest.approx(2.0), 4)
    # the start of the process, three timeouts, its end, which SimPy schedules once more where it stops a run
    assert (env.steps, env.scheduled) == (5, 6)
