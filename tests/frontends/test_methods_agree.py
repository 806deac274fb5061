"""What following the methods of a component gave is compared with the methods themselves, called as Python with numbers."""

from __future__ import annotations

import builtins
import itertools
import random
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.expressions.tracing import special_calls
from tidegate.frontends.components import following


@pytest.fixture
def wrong_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect of the following itself: the second of two values."""
    monkeypatch.setitem(special_calls._RULES, builtins.max, lambda tracer, args, kwargs: args[1])


class SaturatedEquation(tg.Component):
    x = tg.State(0.5)

    def equations(self):
        yield tg.der(self.x) == -max(self.x, 0.25)


class SaturatedCondition(tg.Component):
    x = tg.State(0.5)

    def equations(self):
        yield tg.der(self.x) == 1.0

    @tg.when(lambda self: max(self.x, 0.0 - 2.0 * self.x) > 0.75)
    def high(self):
        return {self.x: 0.0}


class SaturatedBody(tg.Component):
    x = tg.State(0.5)

    def equations(self):
        yield tg.der(self.x) == 1.0

    @tg.when(lambda self: self.x > 0.75)
    def high(self):
        return {self.x: max(self.x - 0.5, -1.0)}


class SaturatedOutput(tg.Component):
    x = tg.State(0.5)
    y = tg.Output(lambda self: max(self.x, 0.25))

    def equations(self):
        yield tg.der(self.x) == 1.0


@pytest.mark.parametrize("kind", [SaturatedEquation, SaturatedCondition, SaturatedBody, SaturatedOutput])
def test_a_defect_of_following_itself_is_found(kind: Any, wrong_maximum: None) -> None:
    with pytest.raises(tg.UntraceableError, match="was not followed rightly"):
        kind().lower()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SaturatedEquation, SaturatedCondition, SaturatedBody, SaturatedOutput])
def test_without_the_defect_they_are_models(kind: Any) -> None:
    assert tg.verify(tg.simulate(kind(), (0, 1))).ok


class Drawn(tg.Component):
    x = tg.State(0.5)

    def equations(self):
        yield tg.der(self.x) == -self.x * random.random()


class Counted(tg.Component):
    x = tg.State(0.5)
    counter = itertools.count(1)

    def equations(self):
        yield tg.der(self.x) == -self.x

    @tg.when(lambda self: self.x < 0.25)
    def low(self):
        return {self.x: 1.0 / next(self.counter)}


@pytest.mark.parametrize("kind", [Drawn, Counted])
def test_two_answers_at_one_point_are_refused_with_the_way_out(kind: Any) -> None:
    with pytest.raises(tg.UntraceableError, match="gives two answers to one question") as caught:
        kind().lower()
    assert "tg.opaque" in caught.value.hint


class Everything(tg.Component):
    """What may differ between numbers and symbols, and does not."""

    x = tg.State(0.5)
    phi = tg.State(np.array([0.1, 0.2, 0.3]))
    k = tg.Discrete(2)
    on = tg.Discrete(True)
    gain = tg.Parameter(np.array([1.0, 2.0, 3.0]))
    z = tg.Algebraic(0.5)
    y = tg.Output()
    late = tg.Output(lambda self: np.sin(tg.time * self.x) + (1.0 if tg.time > 1.0 else 0.0))

    def equations(self):
        yield tg.der(self.x) == (-0.5 if self.k == 2 else 0.1) - self.x
        yield tg.der(self.phi) == -self.gain * self.phi + np.minimum(self.phi, 0.15)
        yield self.z + tg.der(tg.time * self.x) == (1.0 if self.on and not self.x > 0.8 else 0.0)
        yield self.y == tg.der(self.x * self.phi[0]) + sum(self.phi) + float(self.k == 1 or self.k == 2)

    @tg.when(lambda self: self.x < 0.2)
    def low(self):
        return {self.phi: np.zeros(3), self.k: 3 - self.k, self.on: not self.on}

    @tg.when(lambda self: self.phi > 0.25)
    def high(self):
        return {self.phi[1]: 0.0}

    @tg.every(0.3)
    def tick(self):
        if self.x > 0.3:
            tg.message("still high")
            return {self.x: tg.pre(self.x) + 0.01 * tg.pre(self.k)}
        return None


def test_methods_of_every_sort_are_called_with_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No way back to following one path where the method itself can be asked; two variables of one value in a body are the exception."""
    failed: list[str] = []
    compare = following.Follower._compare

    def noted(self: Any, function: Any, followed: Any, values: Any, ways: Any, *others: Any) -> None:
        def called(point: Any) -> Any:
            try:
                return ways[0](point)
            except Exception as error:
                if "two variables have one value" not in str(error):
                    failed.append(f"{function}: {type(error).__name__}: {error}")
                raise

        compare(self, function, followed, values, (called, ways[1]), *others)

    monkeypatch.setattr(following.Follower, "_compare", noted)
    result = tg.simulate(Everything(), (0, 2), method="ida")
    assert failed == []
    assert len(result.events) > 5
