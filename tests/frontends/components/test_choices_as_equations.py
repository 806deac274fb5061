"""``tg.where(condition, a, b) == 0``: an equation that determines one unknown on one side of a condition, and another on the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg


class Choice(tg.Component):
    """Where x is above a half w is zero, else z is; the other one is x."""

    x, z, w = tg.State(1.0), tg.Algebraic(), tg.Algebraic()

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == -self.x
        yield self.w + self.z == self.x


class Directly(Choice):
    def equations(self) -> Iterator[Any]:
        yield tg.where(self.x > 0.5, self.w, self.z) == 0


class TheOtherWayRound(Choice):
    def equations(self) -> Iterator[Any]:
        yield tg.where(self.x <= 0.5, self.z, self.w) == 0.0


class Named(Choice):
    def equations(self) -> Iterator[Any]:
        above = self.x > 0.5
        equation = tg.where(above, self.w, self.z) == 0
        yield equation


class Listed(Choice):
    def equations(self) -> Iterator[Any]:
        yield from [tg.where(self.x > 0.5, a, b) == 0 for a, b in [(self.w, self.z)]]


class ByAFunction(Choice):
    def chosen(self) -> Any:
        return tg.where(self.x > 0.5, self.w, self.z)

    def equations(self) -> Iterator[Any]:
        yield self.chosen() == 0


class ByADiscrete(Choice):
    above = tg.Discrete(True)

    def equations(self) -> Iterator[Any]:
        yield tg.where(self.above, self.w, self.z) == 0

    @tg.when(lambda self: self.x <= 0.5)
    def below(self) -> Any:
        return {self.above: False}


class WithAValue(Choice):
    """The first is a parameter less the unknown."""

    a = tg.Parameter(0.0)

    def equations(self) -> Iterator[Any]:
        yield tg.where(self.x > 0.5, self.a - self.w, self.z) == 0


class ByNumpy(Choice):
    def equations(self) -> Iterator[Any]:
        yield np.where(self.x > 0.5, self.w, self.z) == 0


class Whole(tg.Component):
    """As a part, chosen by what another part says."""

    class Inner(tg.Component):
        is_above = tg.InputSignal()
        x, z, w = tg.State(1.0), tg.Algebraic(), tg.Algebraic()

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == -self.x
            yield self.w + self.z == self.x
            yield tg.where(self.is_above > 0.5, self.w, self.z) == 0

    inner = Inner()

    def equations(self) -> Iterator[Any]:
        yield self.inner.is_above == tg.where(self.inner.x > 0.5, 1.0, 0.0)


class ByTime(Choice):
    """At the time when x is a half."""

    def equations(self) -> Iterator[Any]:
        yield tg.where(tg.time < np.log(2.0), self.w, self.z) == 0


class ByTimeOnTheRight(Choice):
    def equations(self) -> Iterator[Any]:
        yield np.where(tg.time < np.log(2.0), self.w - 0.0 * self.x, self.z) == 0


KINDS = [ByTime, ByTimeOnTheRight, Directly, TheOtherWayRound, Named, Listed, ByAFunction, ByADiscrete, WithAValue, ByNumpy, Whole]


@pytest.mark.parametrize("kind", KINDS)
def test_each_side_of_the_condition_determines_its_own_unknown(kind: Any) -> None:
    head = "inner." if kind is Whole else ""
    result = tg.simulate(kind(), (0.0, 1.0), rtol=1e-9, outputs=[0.3, 0.6, 0.8])
    x = np.exp(-result.t)
    assert result[f"{head}w"].values == pytest.approx(np.where(x > 0.5, 0.0, x), abs=1e-7)
    assert result[f"{head}z"].values == pytest.approx(np.where(x > 0.5, x, 0.0), abs=1e-7)
    assert any(event.time == pytest.approx(np.log(2.0), rel=1e-8) for event in result.events)


@pytest.mark.hunt
def test_a_choice_by_time_is_judged_by_its_value() -> None:
    class Driven(tg.Component):
        x, u = tg.State(1.0), tg.Algebraic()

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == -self.x
            yield tg.where(tg.time < 0.5, self.x - self.u, self.u - 2.0) == 0

    model = Driven()
    result = tg.simulate(model, (0.0, 1.0))
    assert tg.verify(result, model).ok

    class Later(tg.Component):
        x, u = tg.State(1.0), tg.Algebraic()

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == -self.x
            yield tg.where(tg.time < 0.5, self.x - self.u, self.u - 2.5) == 0

    assert not tg.verify(tg.simulate(Later(), (0.0, 1.0)), model).ok


def test_of_arrays_element_by_element() -> None:
    class Several(tg.Component):
        x = tg.State(np.array([1.0, 0.8]))
        z, w = tg.Algebraic(shape=2), tg.Algebraic(shape=2)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == -self.x
            yield self.w + self.z == self.x
            yield tg.where(self.x > 0.5, self.w, self.z) == 0

    result = tg.simulate(Several(), (0.0, 1.0), rtol=1e-9, outputs=[0.3, 0.6, 0.8])
    x = np.exp(-result.t)[:, None] * np.array([1.0, 0.8])
    assert result["w"].values == pytest.approx(np.where(x > 0.5, 0.0, x), abs=1e-7)


def test_a_condition_is_one_or_zero_where_a_number_is_to_be_equal_to_it() -> None:
    class Lamps(tg.Component):
        x = tg.State(0.0)
        a = tg.Algebraic(0.0)
        y = tg.Output()

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0
            yield self.a == (self.x > 0.6)
            yield (self.x < 0.2) == self.y

    result = tg.simulate(Lamps(), (0.0, 1.0), outputs=[0.1, 0.5, 0.9], event_rows=False)
    assert result["a"].values.tolist() == [0, 0, 1]
    assert result["y"].values.tolist() == [1, 0, 0]
