"""Derivatives through opaque processes: random scripts against central differences of their closed forms, single cases, and what would lose them."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.frontends.processes.moved_number import Moved, moves_of, plain

__all__: list[str] = []

_SPEC = importlib.util.spec_from_file_location("closed_forms_of_processes", Path(__file__).with_name("test_compiled_flow.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
closed: Any = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = closed
_SPEC.loader.exec_module(closed)

NAMES = ("inflow", "loss", "level", "delay")
Gen = Generator[Any, Any, None]


def scaled(orders: list[list[tuple[Any, ...]]], theta: dict[str, float]) -> list[list[tuple[Any, ...]]]:
    """The same scripts with every inflow, level and delay multiplied."""
    by_kind = {"inflow": "inflow", "wait": "level", "timeout": "delay"}

    def one(order: tuple[Any, ...]) -> tuple[Any, ...]:
        if order[0] == "timeout":
            return "timeout", order[1] * theta["delay"]
        if order[0] in by_kind:
            return (*order[:2], order[2] * theta[by_kind[order[0]]], *order[3:])
        return order

    return [[one(order) for order in script] for script in orders]


def by_hand(vessels: list[Any], orders: list[list[tuple[Any, ...]]], theta: dict[str, float]) -> tuple[list[list[tuple[int, float]]], list[float]]:
    own = [closed.Vessel(vessel.y, vessel.a * theta["inflow"], vessel.b * theta["loss"]) for vessel in vessels]
    scripts = [closed.Script(script) for script in scaled(orders, theta)]
    closed.carry_out_by_hand(own, scripts)
    return [script.log for script in scripts], [vessel.y for vessel in own]


def run(vessels: list[Any], orders: list[list[tuple[Any, ...]]], **options: Any) -> tuple[tg.Environment, list[list[tuple[int, Any]]], list[Any]]:
    env = tg.Environment(abserror=1e-11, relerror=1e-11, sensitivities="all", **options)
    theta = {name: env.parameter(1.0, name=name) for name in NAMES}
    levels = [env.variable(vessel.y, name="y") for vessel in vessels]
    inflows: list[Any] = [theta["inflow"].value * vessel.a for vessel in vessels]  # undeclared numbers that move
    losses = [vessel.b for vessel in vessels]
    logs: list[list[tuple[int, Any]]] = [[] for _ in orders]

    def body(k: int) -> Any:
        declared = env.parameter(0.0, name="declared")
        declared.value = inflows[k]

        def flows() -> None:
            levels[k].rate = declared.value - losses[k] * theta["loss"].value * levels[k].state

        return declared, env.continuous(flows)

    bodies = [body(k) for k in range(len(vessels))]

    def waits(k: int, bound: Any, *, upwards: bool) -> Gen:
        level = levels[k]
        yield env.wait_until((lambda: level.state > bound) if upwards else (lambda: level.state < bound))

    def process(number: int) -> Gen:
        for at, order in enumerate(orders[number]):
            match order[0]:
                case "timeout":
                    yield env.timeout(order[1] * theta["delay"].value)
                    logs[number].append((at, env.now))
                case "wait":
                    yield from waits(order[1], order[2] * theta["level"].value, upwards=order[3])
                    logs[number].append((at, env.now))
                case "inflow":
                    bodies[order[1]][0].value = order[2] * theta["inflow"].value
                case "state":
                    levels[order[1]].state = order[2]
                case _:
                    getattr(levels[order[1]], order[0])()

    for level, (_, flow) in zip(levels, bodies, strict=True):
        tg.Group(flow, level).start()
    for number in range(len(orders)):
        env.process(process(number))
    env.run(until=closed.END)
    return env, logs, levels


def compare(seed: int, **options: Any) -> bool:
    """Whether the seed's differences tell anything: the same events happen on both sides, and two step sizes agree."""
    generator = np.random.default_rng(seed)
    vessels = [closed.Vessel(*generator.uniform([0.0, 0.0, 0.2], [3.0, 4.0, 2.0]).tolist()) for _ in range(int(generator.integers(1, 4)))]
    orders = [closed.random_orders(generator, len(vessels)) for _ in range(int(generator.integers(1, 4)))]
    env, logs, levels = run(vessels, orders, **options)
    centre = by_hand(vessels, orders, dict.fromkeys(NAMES, 1.0))
    told = False
    for name in NAMES:
        found: list[list[float]] = []
        for h in (1e-5, 2e-5):
            sides = [by_hand(vessels, orders, dict.fromkeys(NAMES, 1.0) | {name: 1.0 + sign * h}) for sign in (1.0, -1.0)]
            if any([[at for at, _ in log] for log in side[0]] != [[at for at, _ in log] for log in centre[0]] for side in sides):
                break
            numbers = [[time for log in side[0] for _, time in log] + side[1] for side in sides]
            found.append([(a - b) / (2.0 * h) for a, b in zip(*numbers, strict=True)])
        if len(found) < 2 or not np.allclose(*found, rtol=1e-5, atol=1e-5):
            continue
        told = True
        mine = [moves_of(time).get(name, 0.0) for log in logs for _, time in log]
        column = env.result.sensitivity
        mine += [float(np.asarray(column(level.name, name))[-1]) for level in levels]
        # central differences of the closed form are good to the square of the step size; tolerances of 1e-11 by slopes of a hundredth
        assert mine == pytest.approx(found[0], rel=1e-4, abs=1e-4), name
    return told


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_processes_move_with_parameters_as_their_closed_forms_do(seed: int) -> None:
    assert compare(seed)


@pytest.mark.hunt
def test_more_random_processes_move_with_parameters_as_their_closed_forms_do() -> None:
    assert sum(compare(seed) for seed in range(4, 64)) > 50


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["rke", "adams", "bdf", "ida"])
def test_random_processes_move_with_parameters_by_any_integrator(method: str) -> None:
    assert sum(compare(seed, method=method) for seed in range(64, 76)) > 8


def draining(**options: Any) -> tuple[tg.Environment, Any, Any, Any]:
    env = tg.Environment(abserror=1e-10, relerror=1e-10, **options)
    k, x = env.parameter(0.5, name="k"), env.variable(2.0, name="x")

    @env.continuous
    def flow() -> None:
        x.rate = -k.value * x.state

    tg.Group(flow, x).start()
    return env, k, x, flow


def test_a_result_has_the_derivatives_of_rows_and_of_the_times_of_events() -> None:
    env, _, x, _ = draining(sensitivities=["k"])
    times: list[Any] = []

    def operator() -> Gen:
        yield env.wait_until(lambda: x.state < 1.0)
        times.append(env.now)
        x.state = 3.0
        yield env.timeout(1.0)
        times.append(env.now)

    env.run(env.process(operator()))
    # x reaches 1 at ln 2 / k; from there on it is 3 exp(-k (t - ln 2 / k))
    slope = -math.log(2.0) / 0.25
    assert [time.moves["k"] for time in times] == pytest.approx([slope, slope], rel=1e-8)
    result = env.result
    assert result.events[0].dt_dp["k"] == pytest.approx(slope, rel=1e-8)
    assert result.sensitivity_parameters == ("k",)
    last = float(np.asarray(result.sensitivity("x", "k"))[-1])
    assert last == pytest.approx(-3.0 * math.exp(-0.5) * 1.0 + 0.5 * 3.0 * math.exp(-0.5) * slope, rel=1e-7)


def test_two_events_at_one_instant_that_move_apart_find_what_flows_between_them() -> None:
    """The second is due when the first is, but only the first moves with the delay: for a longer delay it comes after the other."""
    env, _, x, _ = draining(sensitivities=["k", "delay"])
    delay = env.parameter(1.0, name="delay")
    seen: list[Any] = []

    def first() -> Gen:
        yield env.timeout(delay.value)
        seen.append(x.state)

    def second() -> Gen:
        yield env.timeout(1.0)
        seen.append(x.state)

    env.process(first())
    env.process(second())
    env.run(until=2.0)
    state = 2.0 * math.exp(-0.5)
    assert [plain(value) for value in seen] == pytest.approx([state, state], rel=1e-9)
    assert [moves_of(value).get("delay", 0.0) for value in seen] == pytest.approx([-0.5 * state, 0.0], abs=1e-8)
    assert [moves_of(value)["k"] for value in seen] == pytest.approx([-state, -state], rel=1e-8)


def test_what_would_lose_derivatives_is_refused_with_what_keeps_them() -> None:
    env, _, x, _ = draining(sensitivities="all")

    def operator() -> Gen:
        yield env.timeout(1.0)
        x.state = math.sqrt(x.state)

    with pytest.raises(tg.UsageError, match=r"its derivatives would be lost here\n.*np\.sqrt"):
        env.run(env.process(operator()))


def test_numpys_functions_keep_derivatives() -> None:
    env, _, x, _ = draining(sensitivities="all")
    seen: list[Any] = []

    def operator() -> Gen:
        yield env.timeout(1.0)
        seen.append(np.sqrt(x.state))

    env.run(env.process(operator()))
    root = math.sqrt(2.0 * math.exp(-0.5))
    assert moves_of(seen[0])["k"] == pytest.approx(-0.5 * root, rel=1e-8)


def test_bodies_that_cannot_be_compiled_have_no_derivatives_and_say_so() -> None:
    env, _, x, _ = draining(sensitivities="all")
    seen: list[float] = []
    env.continuous(lambda: seen.append(x.state)).start()
    with pytest.raises(tg.TidegateError):
        env.run(until=1.0)
    with pytest.raises(tg.UsageError, match="compiled=False"):
        tg.Environment(compiled=False, sensitivities="all")


def test_a_name_that_no_parameter_has_is_told() -> None:
    env, *_ = draining(sensitivities=["kk"])
    with pytest.raises(tg.UsageError, match=r"no parameter 'kk' in this environment\n  try: k"):
        env.run(until=1.0)


@pytest.mark.parametrize("of", [
    lambda x: x * x + 2 * x - 1, lambda x: 3.0 / x + x / 2.0, lambda x: x**3 - 2.0**x, lambda x: abs(-x) % 0.7,
    lambda x: np.exp(x) * np.sin(x) - np.cos(x), lambda x: np.log(x) + np.sqrt(x), lambda x: np.tanh(x) + np.arctan(x) - np.tan(x),
    lambda x: -(1 - x),
])  # fmt: skip
def test_numbers_that_move_are_differentiated_by_their_operations(of: Any) -> None:
    h, at = 1e-6, 1.3
    expected = (of(at + h) - of(at - h)) / (2.0 * h)
    found = of(Moved(at, {"p": 1.0}))
    assert plain(found) == pytest.approx(of(at), rel=1e-14)
    assert moves_of(found)["p"] == pytest.approx(expected, rel=1e-7)  # of central differences
