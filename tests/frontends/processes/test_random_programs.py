"""Random programs of processes against SimPy and small fixed steps, by several methods, with derivatives; and what was found by them."""

from __future__ import annotations

import math
from collections.abc import Generator
from functools import partial
from typing import Any

import pytest

from processes_in_steps import SteppedEnvironment
from random_processes import RandomProgram
from tidegate.frontends.processes import Environment, Group

__all__: list[str] = []

Gen = Generator[Any, Any, Any]

# the truth takes steps of 4e-3 by a method of order four, and what flows has rates about 1: what is noted is right to 1e-7, and events are that exact
TOLERANCE = 1e-5
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"method": "bdf"},
    {"method": "rke", "dtmax": 0.05},
    {"method": "radau"},
    {"method": "adams"},
    {"method": "pc", "dtmax": 0.05},
    {"compiled": False, "dtmax": 0.02},
)


def smooth_programs(first: int, number: int) -> list[RandomProgram]:
    """Programs whose rates do not jump by themselves, for which the truth is exact."""
    found = (RandomProgram(seed) for seed in range(first, first + 4 * number))
    return [program for program in found if not program.jumps][:number]


def differences(found: list[Any], truth: list[Any], tolerance: float) -> list[Any]:
    if [entry[0] for entry in found] != [entry[0] for entry in truth]:
        return [[entry[:2] for entry in found], [entry[:2] for entry in truth]]
    return [
        (a, b) for a, b in zip(found, truth, strict=True) if any(abs(x - y) > tolerance * (1 + abs(y)) for x, y in zip(a[1:], b[1:], strict=True))
    ]


def compare(program: RandomProgram) -> None:
    options = OPTIONS[program.seed % len(OPTIONS)]
    found = program.run(Environment(abserror=1e-9, relerror=1e-9, **options))
    assert differences(found, program.run(SteppedEnvironment()), TOLERANCE) == [], program.text


@pytest.mark.slow
@pytest.mark.parametrize("program", smooth_programs(0, 14), ids=lambda program: str(program.seed))
def test_a_random_program_does_what_simpy_does_in_small_steps(program: RandomProgram) -> None:
    compare(program)


@pytest.mark.hunt
@pytest.mark.parametrize("program", smooth_programs(1240, 30), ids=lambda program: str(program.seed))
def test_more_random_programs_do_what_simpy_does_in_small_steps(program: RandomProgram) -> None:
    compare(program)


def moved(program: RandomProgram, change: float) -> list[Any]:
    return program.run(Environment(abserror=1e-12, relerror=1e-11, dtmin=1e-13), program.p0 + change)


@pytest.mark.slow
@pytest.mark.parametrize("program", smooth_programs(2140, 10), ids=lambda program: str(program.seed))
def test_derivatives_by_a_parameter_are_differences_of_runs(program: RandomProgram) -> None:
    found = program.run(Environment(abserror=1e-11, relerror=1e-9, sensitivities=["p0"]))
    for change in (2e-5, 5e-6):
        more, less = moved(program, change), moved(program, -change)
        if len({tuple(entry[0] for entry in log) for log in (found, more, less)}) > 1:
            continue  # another order of things: there is no derivative
        for entry, above, below in zip(found, more, less, strict=True):
            slopes = [getattr(value, "moves", {}).get("p0", 0.0) for value in entry[1:]]
            wanted = [(a - b) / (2 * change) for a, b in zip(above[1:], below[1:], strict=True)]
            assert slopes == pytest.approx(wanted, rel=2e-4, abs=2e-4), (entry[0], program.text)


def rising(**options: Any) -> tuple[Environment, Any]:
    """An environment, and x in it, which is the time."""
    env = Environment(**options)
    x = env.variable(0.0, name="x")
    Group(x, env.continuous(lambda: setattr(x, "rate", 1.0))).start()
    return env, x


# -- several who go on at one instant


@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize("sensitivities", [None, ["gate"]])
def test_all_whose_conditions_begin_to_hold_at_one_instant_go_on_though_the_first_turns_the_flow(late: int, sensitivities: Any) -> None:
    env = Environment(sensitivities=sensitivities)
    x, gate = env.variable(0.0, name="x"), env.parameter(0.0, name="gate")
    Group(x, env.continuous(lambda: setattr(x, "rate", 1.0 - 2.0 * gate.value))).start()
    gone: list[int] = []

    def operator(k: int) -> Gen:
        if k == late:
            yield env.timeout(0.5)
        yield env.wait_until(lambda: 10.0 + 10.0 * k < 30.0 and x.state > 1.0)
        gone.append(k)
        gate.value = 1.0

    for k in range(2):
        env.process(operator(k))
    env.run(until=3)
    assert gone == [1 - late, late]
    assert float(getattr(x.state, "number", x.state)) == pytest.approx(-1.0, abs=1e-9)
    assert [event.time for event in env.result.events][1:3] == pytest.approx([1.0, 1.0], abs=1e-12)


def test_who_waits_for_what_the_first_has_taken_goes_on_waiting() -> None:
    env, x = rising()
    times: list[float] = []

    def consumer() -> Gen:
        yield env.wait_until(lambda: x.state >= 1.0)
        x.state -= 1.0
        times.append(env.now)

    for _ in range(3):
        env.process(consumer())
    env.run(until=5)
    assert times == pytest.approx([1.0, 2.0, 3.0], abs=1e-9)


def test_the_first_in_the_list_goes_on_first_where_an_event_makes_several_conditions_hold() -> None:
    env = Environment()
    x = env.variable(0.7, name="x")
    Group(x, env.continuous(lambda: setattr(x, "rate", 0.1))).start()
    order: list[str] = []

    def waits(name: str, condition: Any, then: float = 0.0) -> Gen:
        yield env.wait_until(condition)
        order.append(name)
        x.state += then

    env.process(waits("first", lambda: env.now >= 0.0, 0.7))
    env.process(waits("second", lambda: x.state >= 1.0))
    env.process(waits("third", lambda: math.sin(env.now) < 0.6))
    env.run(until=1)
    assert order == ["first", "second", "third"]


@pytest.mark.parametrize("method", ["auto", "taylor", "radau", "adams"])
def test_who_begins_to_wait_for_what_holds_only_at_this_instant_goes_on_at_once(method: str) -> None:
    env, x = rising(method=method)
    times: list[float] = []

    def empties() -> Gen:
        yield env.wait_until(lambda: x.state <= 0.0)
        times.append(env.now)
        yield env.timeout(2.0)
        x.state = 0.0
        yield env.wait_until(lambda: x.state <= 0.0)
        times.append(env.now)
        yield env.wait_until(lambda: math.sin(math.pi * env.now / 2.0) <= 0.0)
        times.append(env.now)

    env.process(empties())
    env.run(until=5)
    assert times == [0.0, 2.0, pytest.approx(2.0, abs=1e-9)]
    assert [type(time) for time in times[1:]] == [float, float]


# -- what a run consists of


def test_two_tanks_that_level_out_need_a_tolerance_that_no_process_knows_of() -> None:
    env = Environment(abserror=1e-10, relerror=1e-10)
    a, b, valve = env.variable(4.0, name="a"), env.variable(0.0, name="b"), env.parameter(0.0, name="valve")

    def flow() -> None:
        through = valve.value * math.sqrt(abs(a.state - b.state)) * (1 if a.state > b.state else -1)
        a.rate, b.rate = -through, through

    Group(a, b, env.continuous(flow)).start()

    def operator() -> Gen:
        yield env.timeout(1.0)
        valve.value = 0.5
        yield env.wait_until(lambda: a.state - b.state < 1.0)
        return env.now

    # d = a - b: d' = -2 k sqrt(d), so sqrt(d) = 2 - k (t - 1), which is 1 at t = 3 and 0 at t = 5
    assert env.run(env.process(operator())) == pytest.approx(3.0, abs=1e-8)
    env.run(until=8)
    assert (a.state, b.state) == pytest.approx((2.0, 2.0), abs=1e-8)


def test_what_is_written_between_events_of_one_instant_is_what_the_first_has_left() -> None:
    env = Environment()
    x, gate, other = env.variable(0.0, name="x"), env.parameter(0.0, name="gate"), env.parameter(0.0, name="other")
    Group(x, env.continuous(lambda: setattr(x, "rate", 1.0 - 2.0 * gate.value + other.value))).start()

    def sets(parameter: Any) -> Gen:
        yield env.timeout(1.0)
        parameter.value = 1.0

    env.process(sets(gate))
    env.process(sets(other))
    env.run(until=2)
    first, second = env.result.events[:2]
    assert [first.after[name] for name in ("x", "gate", "other")] == pytest.approx([1.0, 1.0, 0.0])
    assert [second.before[name] for name in ("x", "gate", "other")] == pytest.approx([1.0, 1.0, 0.0])
    assert [second.after[name] for name in ("gate", "other")] == [1.0, 1.0]


def test_a_wait_that_lost_to_a_faster_event_waits_again_when_it_is_yielded_again() -> None:
    env, x = rising()
    seen: list[Any] = []

    def patient() -> Gen:
        wait = env.wait_until(lambda: x.state > 4.5)
        yield wait | env.timeout(1.0)
        yield env.timeout(2.0)
        yield wait | env.timeout(5.0)
        seen.append((env.now, wait.triggered))
        late = env.wait_until(lambda: x.state > 5.0)
        yield late | env.timeout(0.25)
        yield env.timeout(1.0)
        yield late | env.timeout(5.0)
        seen.append((env.now, late.triggered))

    env.process(patient())
    env.run(until=9)
    assert seen == [(pytest.approx(4.5), True), (pytest.approx(5.75), True)]


@pytest.mark.parametrize("method", ["taylor", "rodas5p", "rke"])
def test_what_waits_for_the_time_alone_needs_nothing_that_flows(method: str) -> None:
    env = Environment(method=method)

    def patient() -> Gen:
        yield env.wait_until(lambda: math.sin(env.now) > 0.5)
        return env.now

    assert env.run(env.process(patient())) == pytest.approx(math.asin(0.5), abs=1e-8)


# -- with derivatives


@pytest.mark.slow
def test_a_condition_asks_math_for_a_number_that_moves() -> None:
    env = Environment(sensitivities=["rate"], abserror=1e-10, relerror=1e-10)
    x, rate = env.variable(0.0, name="x"), env.parameter(0.5, name="rate")
    Group(x, env.continuous(lambda: setattr(x, "rate", rate.value))).start()

    def patient() -> Gen:
        yield env.wait_until(lambda: x.state >= 1.0)
        begin = env.now
        yield env.wait_until(lambda: math.sqrt(env.now) >= 1.5 and math.exp(rate.value * begin) > 2.0)
        yield env.wait_until(lambda: math.sqrt(x.state) >= math.sqrt(begin + 1.0))
        return env.now

    # begin = 1 / r, and x = r t = begin + 1 at t = 1 / r**2 + 1 / r = 6, which moves by -2 / r**3 - 1 / r**2
    found = env.run(env.process(patient()))
    assert float(found.number) == pytest.approx(6.0, abs=1e-8)
    assert found.moves["rate"] == pytest.approx(-20.0, rel=1e-7)


# -- what a result says of times at which nothing flows


@pytest.mark.parametrize("options", [{}, {"compiled": False, "dtmax": 0.1}, {"sensitivities": ["k"]}, {"method": "bdf"}], ids=str)
def test_between_events_a_result_has_what_stands_still_as_it_stood(options: dict[str, Any]) -> None:
    env = Environment(**options)
    x, other, k = env.variable(1.0, name="x"), env.variable(0.0, name="other"), env.parameter(0.5, name="k")
    group = Group(x, env.continuous(lambda: setattr(x, "rate", k.value)))

    def acts() -> Gen:
        yield env.timeout(1.0)
        x.state = 2.0
        yield env.timeout(1.0)
        group.start()
        yield env.timeout(1.0)
        group.stop()
        other.state = 5.0
        yield env.timeout(1.0)
        x.state = 7.0
        yield env.timeout(1.0)
        k.value = 9.0
        yield env.wait_until(lambda: env.now > 6.5)
        x.state = 1.0
        yield env.timeout(1.0)
        k.value = 0.5
        group.start()
        yield env.timeout(1.0)

    env.run(env.process(acts()))
    result = env.result
    # (until when, x there, its rate, other, k)
    truth = (
        (1, 1.0, 0.0, 0, 0.5),
        (2, 2.0, 0.0, 0, 0.5),
        (3, 2.0, 0.5, 0, 0.5),
        (4, 2.5, 0.0, 5, 0.5),
        (5, 7.0, 0.0, 5, 0.5),
        (6.5, 7.0, 0.0, 5, 9.0),
        (7.5, 1.0, 0.0, 5, 9.0),
        (8.5, 1.0, 0.5, 5, 0.5),
    )
    begin = 0.0
    for end, x0, rate, of_other, of_k in truth:
        for time in (begin + 0.01, 0.5 * (begin + end), end - 0.01):
            row = result.at(time)
            assert [float(row[name]) for name in ("x", "other", "k")] == pytest.approx([x0 + rate * (time - begin), of_other, of_k], abs=1e-7), time
        begin = end


def test_who_waits_in_stillness_behind_an_event_that_moved_goes_on_at_a_time_that_does_not() -> None:
    env = Environment(sensitivities=["rate"])
    x, rate = env.variable(0.0, name="x"), env.parameter(0.5, name="rate")
    group = Group(x, env.continuous(lambda: setattr(x, "rate", rate.value)))

    def acts() -> Gen:
        group.start()
        yield env.wait_until(lambda: x.state >= 1.0)
        group.stop()
        yield env.timeout(1.0)

    def patient() -> Gen:
        yield env.timeout(4.0)
        yield env.wait_until(lambda: rate.value > 0.1)
        return env.now

    env.process(acts())
    assert type(env.run(env.process(patient()))) is float


# -- in what form a condition is given


class Oven:
    """What heats up to a limit of its own, and cools down again."""

    def __init__(self, env: Environment, limit: float) -> None:
        self.env, self.limit = env, limit
        self.heat, self.load = env.variable(20.0), env.parameter(0.0)
        self.times: list[float] = []
        Group(self.heat, env.continuous(self.flow)).start()

    def flow(self) -> None:
        self.heat.rate = 8.0 * self.load.value - 0.4 * (self.heat.state - 20.0)

    def is_hot(self) -> bool:
        return bool(self.heat.state >= self.limit)

    def is_cool(self, bound: float = 24.0) -> bool:
        return bool(self.heat.state <= bound)

    def run(self) -> Gen:
        while True:
            self.load.value = 1.0
            yield self.env.wait_until(self.is_hot)
            self.times.append(self.env.now)
            self.load.value = 0.0
            yield self.env.wait_until(partial(self.is_cool, 23.0))
            self.times.append(self.env.now)


@pytest.mark.slow
def test_methods_and_partial_functions_of_thirty_objects_are_conditions_that_are_compiled() -> None:
    env = Environment(abserror=1e-9, relerror=1e-9)
    ovens = [Oven(env, 25.0 + 0.4 * k) for k in range(30)]
    for oven in ovens:
        env.process(oven.run())
    env.run(until=20)
    assert env.result.statistics.extra["bodies"] == "compiled"
    for oven in ovens:
        # from T0 to T it takes log((40 - T0) / (40 - T)) / 0.4 up, and log((T0 - 20) / (T - 20)) / 0.4 down
        top = oven.limit
        first, down = math.log(20.0 / (40.0 - top)) / 0.4, math.log((top - 20.0) / 3.0) / 0.4
        assert oven.times[:2] == pytest.approx([first, first + down], abs=1e-7)
        assert oven.times[2] == pytest.approx(first + down + math.log(17.0 / (40.0 - top)) / 0.4, abs=1e-7)


@pytest.mark.parametrize("form", ["method", "object", "partial", "function", "own number"])
def test_numbers_that_a_condition_closes_over_may_change_while_it_is_waited_for(form: str) -> None:
    env, x = rising()
    limit, times = 1.0, []

    class Part:
        own = 1.0

        def is_full(self) -> bool:
            return x.state > limit

        def is_over_its_own(self) -> bool:
            return x.state > self.own

        def __call__(self) -> bool:
            return x.state > limit

    def above(variable: Any) -> bool:
        return variable.state > limit

    part = Part()
    condition = {
        "method": part.is_full,
        "object": part,
        "partial": partial(above, x),
        "function": lambda: x.state > limit,
        "own number": part.is_over_its_own,
    }

    def waits() -> Gen:
        yield env.wait_until(condition[form])
        times.append(env.now)

    def changes() -> Gen:
        nonlocal limit
        for delay, bound in ((0.5, 2.0), (0.2, 3.0), (1.3, 2.5)):
            yield env.timeout(delay)
            limit = part.own = bound

    env.process(waits())
    env.process(changes())
    env.run(until=4)
    assert times == pytest.approx([2.5])
