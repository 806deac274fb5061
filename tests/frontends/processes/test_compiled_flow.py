"""Bodies that are followed and compiled: random processes against closed forms, what may change around them, and what cannot be followed."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import simpy

import tidegate as tg
from tidegate.errors import UntraceableError, UsageError
from tidegate.frontends.processes import Environment, Group

__all__: list[str] = []

END = 12.0


# -- a truth of its own: every variable follows y' = a - b y by its closed form, and processes are lists of orders


@dataclass
class Vessel:
    y: float
    a: float
    b: float
    since: float = 0.0
    flows: bool = True

    def at(self, time: float) -> float:
        if not self.flows:
            return self.y
        return self.a / self.b + (self.y - self.a / self.b) * math.exp(-self.b * (time - self.since))

    def settle(self, time: float) -> None:
        self.y, self.since = self.at(time), time

    def reaches(self, level: float, upwards: bool) -> float:
        """When the level is crossed, from `since` on; infinite for never."""
        aim = self.a / self.b
        if (self.y > level) if upwards else (self.y < level):
            return self.since
        ratio = (level - aim) / (self.y - aim) if self.flows and self.y != aim else -1.0
        return self.since - math.log(ratio) / self.b if 0.0 < ratio < 1.0 else math.inf


@dataclass
class Script:
    orders: list[tuple[Any, ...]]
    at: int = 0
    due: float = 0.0
    log: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])


def carry_out_by_hand(vessels: list[Vessel], scripts: list[Script]) -> None:
    for script in scripts:
        script.due = script.orders[0][1]
    now = 0.0
    while True:
        times: list[float] = []
        for script in scripts:
            if script.at >= len(script.orders):
                times.append(math.inf)
                continue
            order = script.orders[script.at]
            times.append(script.due if order[0] != "wait" else max(now, vessels[order[1]].reaches(order[2], order[3])))
        now = min(times)
        if now > END:
            break
        script = scripts[times.index(now)]
        script.log.append((script.at, now))
        for vessel in vessels:
            vessel.settle(now)
        for order in script.orders[script.at + 1 :]:
            script.at += 1
            if order[0] == "timeout":
                script.due = now + order[1]
                break
            if order[0] == "wait":
                break
            apply(vessels[order[1]], order)
        else:
            script.at += 1
    for vessel in vessels:
        vessel.settle(END)


def apply(vessel: Vessel, order: tuple[Any, ...]) -> None:
    match order[0]:
        case "inflow":
            vessel.a = order[2]
        case "state":
            vessel.y = order[2]
        case "stop":
            vessel.flows = False
        case "start":
            vessel.flows = True


def random_orders(generator: np.random.Generator, n: int) -> list[tuple[Any, ...]]:
    orders: list[tuple[Any, ...]] = [("timeout", float(generator.uniform(0.0, 1.0)))]
    for _ in range(int(generator.integers(3, 9))):
        k = int(generator.integers(n))
        orders.append(
            [
                ("timeout", float(generator.uniform(0.05, 2.0))),
                ("wait", k, float(generator.uniform(0.2, 4.0)), bool(generator.random() < 0.5)),
                ("inflow", k, float(generator.uniform(-1.0, 4.0))),
                ("state", k, float(generator.uniform(0.0, 4.0))),
                ("stop", k),
                ("start", k),
            ][int(generator.choice(6, p=[0.3, 0.3, 0.2, 0.1, 0.05, 0.05]))]
        )
    return orders


class Tank:
    """A vessel as a user may write it: its inflow is a parameter of the environment, or a plain attribute."""

    def __init__(self, env: Environment, vessel: Vessel, is_declared: bool) -> None:
        self.level = env.variable(vessel.y, name="level")
        self.inflow: Any = env.parameter(vessel.a, name="inflow") if is_declared else vessel.a
        self.is_declared = is_declared
        self.loss = vessel.b
        self.flow = env.continuous(self.flows)

    def flows(self) -> None:
        inflow = self.inflow.value if self.is_declared else self.inflow
        self.level.rate = inflow - self.loss * self.level.state

    def obey(self, order: tuple[Any, ...]) -> None:
        match order[0]:
            case "inflow" if self.is_declared:
                self.inflow.value = order[2]
            case "inflow":
                self.inflow = order[2]
            case "state":
                self.level.state = order[2]
            case "stop":
                self.level.stop()
            case "start":
                self.level.start()


def wait(env: Environment, level: Any, bound: float, *, upwards: bool, with_default: bool) -> Generator[Any, Any, None]:
    if with_default:
        yield env.wait_until(lambda own=bound: level.state > own if upwards else level.state < own)
    elif upwards:
        yield env.wait_until(lambda: level.state > bound)
    else:
        yield env.wait_until(lambda: level.state < bound)


def carry_out(env: Environment, vessels: list[Vessel], scripts: list[Script], generator: np.random.Generator) -> list[Tank]:
    tanks = [Tank(env, vessel, bool(generator.random() < 0.5)) for vessel in vessels]

    def process(script: Script) -> Generator[Any, Any, None]:
        for number, order in enumerate(script.orders):
            if order[0] == "timeout":
                yield env.timeout(order[1])
                script.log.append((number, env.now))
            elif order[0] == "wait":
                yield from wait(env, tanks[order[1]].level, order[2], upwards=order[3], with_default=bool(number % 2))
                script.log.append((number, env.now))
            else:
                tanks[order[1]].obey(order)

    for tank in tanks:
        Group(tank.flow, tank.level).start()
    for script in scripts:
        env.process(process(script))
    env.run(until=END)
    return tanks


def compare(seed: int, **options: Any) -> Environment:
    generator = np.random.default_rng(seed)
    vessels = [Vessel(*generator.uniform([0.0, 0.0, 0.2], [3.0, 4.0, 2.0]).tolist()) for _ in range(int(generator.integers(1, 4)))]
    orders = [random_orders(generator, len(vessels)) for _ in range(int(generator.integers(1, 5)))]
    env, mine = Environment(abserror=1e-10, relerror=1e-10, **options), [Script(one) for one in orders]
    tanks = carry_out(env, [Vessel(**vars(vessel)) for vessel in vessels], mine, generator)
    scripts = [Script(one) for one in orders]
    carry_out_by_hand(vessels, scripts)
    for found, expected in zip(mine, scripts, strict=True):
        assert [number for number, _ in found.log] == [number for number, _ in expected.log]
        # tolerances of 1e-10 by slopes of crossings that may be a hundredth
        assert [time for _, time in found.log] == pytest.approx([time for _, time in expected.log], abs=1e-6)
    assert [tank.level.state for tank in tanks] == pytest.approx([vessel.y for vessel in vessels], abs=1e-6)
    return env


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_processes_do_what_their_closed_forms_do(seed: int) -> None:
    assert "why bodies are called" not in compare(seed).result.statistics.extra


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(6, 45))
def test_more_random_processes_do_what_their_closed_forms_do(seed: int) -> None:
    assert "why bodies are called" not in compare(seed).result.statistics.extra


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(80, 100))
@pytest.mark.parametrize("method", ["bdf", "adams", "ida"])
def test_random_processes_run_with_any_integrator(seed: int, method: str) -> None:
    compare(seed, method=method)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 115))
def test_random_processes_do_the_same_where_bodies_are_called(seed: int) -> None:
    compare(seed, compiled=False, dtmin=1e-12, dtmax=0.05)


@pytest.mark.parametrize("method", ["auto", "bdf"])
def test_samples_have_seen_everything_in_front_of_a_failure_of_compiled_code(method: str) -> None:
    """y' = 2 y**2 from 1 is 1/(1 - 2 t): the pole at t = 0.5 stops the run, and samples have looked every 0.05 until there."""
    env = Environment(method=method)
    y = env.variable(1.0, name="y")
    seen: list[tuple[float, float]] = []
    Group(
        env.continuous(lambda: setattr(y, "rate", 2.0 * y.state * y.state)), y, env.sample(lambda: seen.append((env.now, y.state)), every=0.05)
    ).start()
    env.timeout(0.3)
    with pytest.raises(tg.RunError) as caught:
        env.run(until=2)
    # around the timeout they look twice; how near the pole a step ends is the method's affair
    in_front = sorted({(t, state) for t, state in seen if t < 0.48})
    assert [t for t, _ in in_front] == pytest.approx([0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45], abs=1e-12)
    assert [state for _, state in in_front] == pytest.approx([1.0 / (1.0 - 2.0 * t) for t, _ in in_front], rel=2e-3)
    recorded = caught.value.result.t
    assert sum((recorded > 0.31) & (recorded < 0.49)) > 3
    assert env.monitor.time == env.now == pytest.approx(0.5, abs=1e-3)


# -- what bodies read of their surroundings, and events change


class Pump:
    speed_of_all = 0.5

    def __init__(self) -> None:
        self.on, self.gear, self.flow = True, 1, 0.0


class Slotted:
    __slots__ = ("share",)

    def __init__(self) -> None:
        self.share = 0.3


class Served:
    """Gives whatever is asked for, as proxies do."""

    def __init__(self) -> None:
        self.kept = {"share": 0.4}

    def __getattr__(self, name: str) -> float:
        try:
            return vars(self)["kept"][name]
        except KeyError:
            raise AttributeError(name) from None


def turned(pump: Pump, share: float) -> float:
    return share * pump.speed_of_all


def surroundings(env: Environment, what: str) -> tuple[Any, Any]:  # noqa: C901, a table of cases
    """A body that reads something, and an event that changes it."""
    x = env.variable(1.0, name="x")
    y = env.variable(0.0, name="y")
    pump, other, valves, table = Pump(), Pump(), [0.3, 0.1], {"a": 0.4, "b": 0.2}
    tank = simpy.Container(env, capacity=10.0, init=2.0)
    array = np.array([0.2, 0.7])
    factor, chosen, rates = 0.5, pump, [lambda: 0.2, lambda: -0.1]
    other.gear = 3
    slotted, served, opened, queue = Slotted(), Served(), {"a", "b"}, deque([1.0, 2.0, 3.0])

    def body() -> None:  # noqa: C901, as above
        match what:
            case "an element of a list":
                x.rate = valves[0] - valves[1] * x.state
            case "an entry of a dictionary":
                x.rate = table["a"] - table["b"] * x.state
            case "a truth value of an object":
                x.rate = (0.4 if pump.on else -0.3) * x.state
            case "an index":
                x.rate = valves[pump.gear] - 0.1 * x.state
            case "a variable of an outer function":
                x.rate = factor * x.state
            case "another object":
                x.rate = 0.1 * chosen.gear
            case "an attribute of a class":
                x.rate = turned(pump, 0.7)
            case "what SimPy keeps":
                x.rate = 0.1 * tank.level - 0.2 * x.state
            case "a number in an array":
                x.rate = array[0] - 0.3 * x.state
            case "a function in a list":
                x.rate = rates[0]()
            case "another variable that does not flow":
                x.rate = 0.3 - y.state * x.state
            case "the time":
                x.rate = math.sin(env.now) - (0.2 if env.now > 1.5 else 0.0)
            case "what a body has put into an object":
                pump.flow = 0.3 * x.state
                x.rate = 0.4 - pump.flow
            case "an attribute read from a class":
                x.rate = Pump.speed_of_all * x.state
            case "a slot":
                x.rate = slotted.share
            case "an attribute that is made when it is asked for":
                x.rate = served.share * x.state
            case "a set":
                x.rate = 0.2 * len(opened)
            case "a queue":
                x.rate = 0.1 * queue[0] - 0.02 * len(queue)
            case "a loop of a length that changes":
                x.rate = sum(valves) * 0.3
            case _:
                raise AssertionError(what)

    def change(number: int) -> Any:
        nonlocal factor, chosen
        valves[0], table["a"], pump.on, pump.gear = 0.3 + 0.2 * number, 0.4 - 0.3 * number, not pump.on, number % 2
        factor, chosen, y.state, array[0] = -0.2 * number, (other, pump)[number % 2], 0.1 + 0.2 * number, 0.2 - 0.1 * number
        rates.reverse()
        slotted.share, served.kept["share"] = 0.3 - 0.2 * number, 0.4 - 0.2 * number
        opened.symmetric_difference_update({"b", "c"} if number % 2 else {"a"})
        queue.rotate()
        queue.append(0.5)
        valves.append(0.1)
        Pump.speed_of_all = 0.5 - 0.3 * number
        return tank.put(1.0)

    return x, (env.continuous(body), change, pump)


READ = [
    "an element of a list", "an entry of a dictionary", "a truth value of an object", "an index", "a variable of an outer function", "another object",
    "an attribute of a class", "what SimPy keeps", "a number in an array", "a function in a list", "another variable that does not flow", "the time",
    "what a body has put into an object", "a loop of a length that changes", "a slot", "an attribute read from a class",
    "an attribute that is made when it is asked for", "a set", "a queue",
]  # fmt: skip


def with_changes(what: str, **options: Any) -> list[float]:
    Pump.speed_of_all = 0.5
    env = Environment(abserror=1e-11, relerror=1e-11, dtmin=1e-12, dtmax=0.05, **options)
    x, (body, change, pump) = surroundings(env, what)
    seen: list[float] = []

    def operator() -> Generator[Any, Any, None]:
        Group(body, x).start()
        for number in range(5):
            yield env.timeout(0.7)
            seen.extend((x.state, x.rate, pump.flow))
            yield change(number)
        yield env.timeout(0.7)
        seen.extend((x.state, x.rate))

    env.run(env.process(operator()))
    if options.get("compiled") is None:
        assert env.result.statistics.extra["bodies"] == "compiled"
    return seen


@pytest.mark.parametrize("what", READ)
def test_what_events_change_around_bodies_is_seen_by_compiled_ones_too(what: str) -> None:
    assert with_changes(what) == pytest.approx(with_changes(what, compiled=False), abs=1e-8)  # tolerances of 1e-11 over 4 units of time


@pytest.mark.parametrize("what", ["print", "random", "a state", "the last state", "raise"])
def test_bodies_that_cannot_be_followed_are_called_and_the_statistics_say_why(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    env = Environment(abserror=1e-8, dtmax=0.1)
    x = env.variable(1.0, name="x")

    @env.continuous
    def body() -> None:
        x.rate = 1.0
        match what:
            case "print":
                print(x.state)  # noqa: T201
            case "random":
                x.rate = 1.0 + 1e-9 * random.random()
            case "a state":
                x.state = max(x.state, 0.0)
            case "the last state":
                x.rate = 1.0 if x.state - x.laststate < 100.0 else 0.0
            case _ if x.state > 1e9:
                raise ValueError(what)

    Group(body, x).start()
    env.run(until=1.0)
    assert x.state == pytest.approx(2.0, abs=1e-7)
    told = env.result.statistics
    assert told.extra["bodies"] == "called"
    assert told.extra["why bodies are called"]
    with pytest.raises(UntraceableError):
        strict(what).run(until=1.0)


def strict(what: str) -> Environment:
    env = Environment(compiled=True)
    x = env.variable(1.0, name="x")

    @env.continuous
    def body() -> None:
        x.state = 1.0

    Group(body, x).start()
    return env


def conditions(env: Environment, x: Any) -> dict[str, tuple[Any, Any]]:
    """Conditions on a variable that is the time, each with what changes at t = 1 so that it begins to hold at t = 2.5 and not at 1.5."""
    limits, table, pump, tank = [1.5], {"limit": 1.5}, Pump(), simpy.Container(env, capacity=10.0, init=1.5)
    limit, wanted = 1.5, 1.5
    level = env.parameter(1.5)
    declared = env.variable(1.5, name="declared")

    def nonlocally() -> None:
        nonlocal limit
        limit = 2.5

    return {
        "an element of a list": (lambda: x.state > limits[0], lambda: limits.__setitem__(0, 2.5)),
        "an entry of a dictionary": (lambda: x.state > table["limit"], lambda: table.update(limit=2.5)),
        "an attribute": (lambda: x.state > pump.flow, lambda: setattr(pump, "flow", 2.5)),
        "a variable of an outer function": (lambda: x.state > limit, nonlocally),
        "what SimPy keeps": (lambda: x.state > tank.level, lambda: tank.put(1.0)),
        "a parameter": (lambda: x.state > level.value, lambda: setattr(level, "value", 2.5)),
        "a variable that does not flow": (lambda: x.state > declared.state, lambda: setattr(declared, "state", 2.5)),
        "a truth value": (lambda: (x.state > wanted and not pump.on) or x.state > wanted + 1.0, lambda: None),
        "another truth value": (lambda: x.state > 2.5 if pump.gear else x.state > wanted, lambda: None),
        "the time": (lambda: env.now > 1.0 + limits[0] and x.state > 0.0, lambda: None),
        "a rate": (lambda: x.rate * x.state > table["limit"], lambda: table.update(limit=2.5)),
        "either": (lambda: x.state > 7.0 or x.state > limits[0], lambda: limits.__setitem__(0, 2.5)),
    }


@pytest.mark.parametrize("compiled", [None, False])
@pytest.mark.parametrize("what", list(conditions(Environment(), Environment().variable())))
def test_what_events_change_around_conditions_is_seen_while_somebody_waits(what: str, compiled: bool | None) -> None:
    env = Environment(abserror=1e-10, relerror=0.0, dtmax=0.3, compiled=compiled)
    x = env.variable(0.0, name="x")

    @env.continuous
    def flow() -> None:
        x.rate = 1.0

    condition, change = conditions(env, x)[what]
    if what == "an attribute":
        condition.__closure__[0].cell_contents.flow = 1.5
    told: list[float] = []

    def waiter() -> Generator[Any, Any, None]:
        Group(flow, x).start()
        yield env.wait_until(condition)
        told.append(env.now)

    def changer() -> Generator[Any, Any, None]:
        yield env.timeout(1.0)
        change()

    env.process(waiter())
    env.process(changer())
    env.run(until=9.0)
    assert told == pytest.approx([2.5], abs=2e-9)  # dtmin is 1e-9
    if compiled is None:
        assert "why bodies are called" not in env.result.statistics.extra


@pytest.mark.parametrize("method", ["rke", "auto", "adams"])
def test_a_level_is_found_to_rounding_where_only_absolute_errors_are_allowed(method: str) -> None:
    env = Environment(method=method, abserror=1e-5, relerror=0.0)
    x = env.variable(0.09)

    @env.continuous
    def flow() -> None:
        x.rate = 0.3

    def waiter() -> Generator[Any, Any, None]:
        Group(flow, x).start()
        yield env.wait_until(lambda: x.state > 3.0)

    env.run(env.process(waiter()))
    assert env.now == pytest.approx(9.7, abs=1e-9)  # dtmin
    assert x.state > 3.0


@pytest.mark.parametrize("what", ["a parameter", "a state", "a number that a body reads"])
@pytest.mark.parametrize("every", [0.3, 0.0])
def test_samples_that_set_what_flows_depends_on_are_refused_where_they_look_at_what_was_passed(what: str, every: float) -> None:
    env = Environment()
    x, k, share = env.variable(0.0, name="x"), env.parameter(1.0, name="k"), 1.0

    @env.continuous
    def flow() -> None:
        x.rate = k.value * share - 0.1 * x.state**2

    def look() -> None:
        nonlocal share
        if env.now == 0.0:
            return
        if what == "a parameter":
            k.value = env.now
        elif what == "a state":
            x.state = env.now
        else:
            share = env.now

    Group(flow, x, env.sample(look, every=every)).start()
    with pytest.raises(UsageError, match="samples only look"):
        env.run(until=20.0)  # more than one step: a change at the last point is one of the present


def test_a_condition_that_wants_equality_is_refused() -> None:
    env = Environment()
    x = env.variable(0.0, name="x")
    Group(env.continuous(lambda: setattr(x, "rate", 1.0)), x).start()
    env.wait_until(lambda: x.state == 1.0)
    with pytest.raises(UsageError, match="would never be seen"):
        env.run(until=3.0)


def test_wrong_arguments_are_told_at_once() -> None:
    env = Environment()
    with pytest.raises(UsageError, match="asked again and again"):
        env.wait_until(True)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="abserror is what a step may be wrong by"):
        env.variable(abserror=-1.0)
    with pytest.raises(UsageError, match="steps of one length"):
        Environment(method="euler")
