"""Mistyped attributes of what flows, and objects taken for their numbers: told in words, with the name that was meant."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.frontends.processes import Environment, Group

__all__: list[str] = []

Gen = Generator[Any, Any, Any]


def tank(**options: Any) -> tuple[Environment, Any, Any]:
    env = Environment(**options)
    return env, env.variable(2.0, name="y", unit="m"), env.parameter(3.0, name="k")


MISTYPED: list[tuple[Callable[[Any, Any, Any], object], str, str]] = [
    (lambda y, k, s: setattr(y, "rte", 1.0), "no attribute 'rte' in the variable y", "rate"),
    (lambda y, k, s: setattr(y, "stat", 1.0), "no attribute 'stat' in the variable y", "state"),
    (lambda y, k, s: y.stae, "no attribute 'stae' in the variable y", "state"),
    (lambda y, k, s: y.strat(), "no attribute 'strat' in the variable y", "start"),
    (lambda y, k, s: setattr(k, "valu", 1.0), "no attribute 'valu' in the parameter k", "value"),
    (lambda y, k, s: k.vlaue, "no attribute 'vlaue' in the parameter k", "value"),
    (lambda y, k, s: setattr(s, "evry", 1.0), "no attribute 'evry' in the sample look", "every"),
    (lambda y, k, s: s.sampeltime, "no attribute 'sampeltime' in the sample look", "sampletime"),
    (lambda y, k, s: Group(y).strt(), "no attribute 'strt' in the group", "start"),
    (lambda y, k, s: setattr(Group(y), "members", [s]), "no attribute 'members' in the group", ""),
    (lambda y, k, s: setattr(y, "active", True), "active of the variable y cannot be set", "call start() or stop()"),
    (lambda y, k, s: setattr(y, "start", 3.0), "start of the variable y cannot be set", "call start() or stop()"),
    (lambda y, k, s: setattr(k, "state", 3.0), "no attribute 'state' in the parameter k", "value"),
]


@pytest.mark.parametrize(("deed", "message", "meant"), MISTYPED, ids=[str(k) for k in range(len(MISTYPED))])
def test_a_mistyped_attribute_is_an_error_with_the_name_that_is_meant(deed: Callable[[Any, Any, Any], object], message: str, meant: str) -> None:
    env, y, k = tank()

    def look() -> None:
        pass

    with pytest.raises(tg.UsageError) as caught:
        deed(y, k, env.sample(look))
    assert caught.value.message == message
    assert meant in caught.value.hint


def test_protocols_of_python_find_nothing_where_there_is_nothing() -> None:
    _, y, k = tank()
    for one in (y, k, Group(y)):
        assert not hasattr(one, "__len_hint__")
        assert not hasattr(one, "nothing")
        assert copy.copy(one).__dict__ == one.__dict__


def test_a_class_derived_from_group_has_attributes_of_its_own() -> None:
    class Rocket(Group):
        def __init__(self, *members: Any) -> None:
            super().__init__(*members)
            self.mass = 3.0

    _, y, _ = tank()
    assert Rocket(y).mass == 3.0


@pytest.mark.parametrize("compiled", [None, True, False])
@pytest.mark.parametrize("where", ["body", "process", "condition", "sample"])
def test_a_rate_that_is_mistyped_ends_the_run_wherever_it_is_set(where: str, compiled: bool | None) -> None:
    """Bodies followed on symbols or called, at once; in a run that goes on, at the latest at the end of the period."""
    env, y, _ = tank(method="radau" if compiled else "rke", compiled=compiled, dtmax=0.1)

    @env.continuous
    def body() -> None:
        y.rate = -y.state
        if where == "body":
            y.rte = 1.0

    def look() -> None:
        if where == "sample" and env.now > 1.5:
            y.rte = 1.0

    def condition() -> bool:
        if where == "condition":
            y.rte = 1.0
        return y.state > 100

    def process() -> Gen:
        Group(y, body, env.sample(look, every=0.25)).start()
        yield env.timeout(1.0)
        if where == "process":
            y.rte = 1.0
        yield env.wait_until(condition) | env.timeout(1.0)
        yield env.timeout(1.0)

    with pytest.raises(tg.TidegateError, match="no attribute 'rte' in the variable y"):
        env.run(env.process(process()))
    assert env.now <= (3.0 if where == "sample" else 2.0 if where == "condition" else 1.0)


COMPUTED: list[Callable[[Any], object]] = [
    lambda v: v * 2,
    lambda v: 2.0 - v,
    lambda v: v / 2,
    lambda v: 2**v,
    lambda v: -v,
    abs,
    lambda v: v > 1,
    lambda v: v <= 1,
    lambda v: v == 2.0,
    lambda v: np.arange(3.0) * v,
    np.sqrt,
    lambda v: 1 if v else 2,
    lambda v: v + v,
]


@pytest.mark.parametrize("which", range(len(COMPUTED)))
def test_whoever_computes_with_a_variable_or_a_parameter_is_told_where_its_number_is(which: int) -> None:
    _, y, k = tank()
    for one, sentence, hint in (
        (y, "y is a variable, and no number itself; its number is y.state", "write y.state"),
        (k, "k is a parameter, and no number itself; its number is k.value", "write k.value"),
    ):
        with pytest.raises(tg.UsageError) as caught:
            COMPUTED[which](one)
        assert (caught.value.message, caught.value.hint) == (sentence, hint)
    assert math.sqrt(k) == math.sqrt(3.0)
    with pytest.raises(tg.UsageError, match=r"its number is y\.state"):
        math.sqrt(y)
    assert {y: 1, k: 2}[y] == 1
    assert y != k
    assert y in [k, y]


@pytest.mark.parametrize("compiled", [None, True, False])
@pytest.mark.parametrize("where", ["body", "process", "condition"])
def test_a_parameter_written_for_its_value_is_told_wherever_it_is(where: str, compiled: bool | None) -> None:
    env, y, k = tank(method="radau" if compiled else "rke", compiled=compiled, dtmax=0.1)

    @env.continuous
    def body() -> None:
        y.rate = -(k if where == "body" else k.value) * y.state

    def process() -> Gen:
        Group(y, body).start()
        yield env.timeout(1.0)
        if where == "process":
            yield env.timeout(2.0 * k)
        yield env.wait_until(lambda: y.state < (k if where == "condition" else k.value))

    with pytest.raises(tg.UsageError, match=r"k is a parameter, and no number itself; its number is k\.value"):
        env.run(env.process(process()))


def test_a_body_that_is_mistyped_is_told_at_its_first_call_and_others_cost_no_look_up() -> None:
    """One period of 200 steps or more: names are looked at in the first evaluation only, and behind the period."""
    env, y, _ = tank(compiled=False, dtmax=0.01)
    kinds: dict[str, int] = {}

    @env.continuous
    def body() -> None:
        y.rate = -y.state
        kinds[type(y).__name__] = kinds.get(type(y).__name__, 0) + 1
        if y.state < 1.0:
            y.rte = 0.0

    Group(y, body).start()
    with pytest.raises(tg.UnknownNameError, match="no attribute 'rte' in the variable y"):
        env.run(until=2.0)
    assert kinds["Variable"] <= 2
    assert kinds["Moving"] > 200
    assert type(y).__name__ == "Variable"
    assert "rte" not in vars(y)
