"""The table of constructs of DSblock 4.0a (section 4 of our reading): each row at work, one test a row."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from circuit_parts import Circuit


class Clocked(tg.Component):
    """A state that rises with the time, and whatever a row adds."""

    x = tg.State(0.0)
    n, m = tg.Discrete(0), tg.Discrete(0)
    b = tg.Discrete(False)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == 1.0


def final(model: tg.Component, end: float = 2.0) -> dict[str, float]:
    return tg.simulate(model, (0.0, end), rtol=1e-8).final


def test_time() -> None:
    class Row(Clocked):
        y = tg.Output(lambda self: 2 * tg.time)

    assert final(Row())["y"] == pytest.approx(4.0)


def test_relations_are_events_by_default() -> None:
    class Row(Clocked):
        y = tg.State(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.y) == tg.where(self.x > 1, 3.0, 0.0) + (1.0 if self.x > 1.5 else 0.0)

    result = tg.simulate(Row(), (0.0, 2.0), rtol=1e-8)
    assert [event.time for event in result.events] == pytest.approx([1.0, 1.5], abs=1e-8)
    assert result.final["y"] == pytest.approx(3.5)


def test_no_event_shields() -> None:
    class Row(Clocked):
        y = tg.Algebraic()

        def equations(self) -> Iterator[Any]:
            yield self.y == tg.no_event(tg.where(self.x > 1, 3.0, 0.0))

    result = tg.simulate(Row(), (0.0, 2.0))
    assert not result.events
    assert result.final["y"] == 3.0


def test_when_with_several_conditions_and_elsewhen() -> None:
    class Row(Clocked):
        @tg.when(lambda self: self.x > 0.5, lambda self: self.x > 1.0)
        def first(self) -> Any:
            return {self.n: self.n + 1}

        @first.elsewhen(lambda self: self.x > 1.0, lambda self: self.x > 1.5)
        def second(self) -> Any:
            return {self.m: self.m + 1}

    found = final(Row())
    assert (found["n"], found["m"]) == (2, 1)


def test_new_values_see_those_before_the_round() -> None:
    class Row(Clocked):
        @tg.when(lambda self: self.x > 1.0)
        def jump(self) -> Any:
            return {self.x: 10.0 * self.x, self.n: self.n + self.m + 1, self.m: self.n}

    found = final(Row())
    assert (found["x"], found["n"], found["m"]) == pytest.approx((11.0, 1, 0))


def test_old_values() -> None:
    class Row(Clocked):
        @tg.when(lambda self: self.x > 0.5, lambda self: self.x > 1.0)
        def keep(self) -> Any:
            return {self.n: tg.pre(self.n) + 2}

    assert final(Row())["n"] == 4


def test_initial_and_terminal() -> None:
    class Row(Clocked):
        @tg.initially
        def begin(self) -> Any:
            return {self.x: 5.0}

        @tg.finally_
        def end(self) -> Any:
            return {self.n: 7}

    found = final(Row())
    assert (found["x"], found["n"]) == pytest.approx((7.0, 7))


def test_samples_as_clocks_and_in_expressions() -> None:
    class Row(Clocked):
        @tg.every(0.5, start=0.25)
        def tick(self) -> Any:
            return {self.n: self.n + 1}

        @tg.when(lambda self: tg.sample(0.25, 0.5), lambda self: self.x > 1.1)
        def tock(self) -> Any:
            return {self.m: self.m + 1}

    found = final(Row())
    assert (found["n"], found["m"]) == (4, 5)


def test_a_control_that_is_enabled() -> None:
    class Row(tg.Component):
        h, control = tg.State(0.0), Clocked()

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.h) == 1.0
            yield tg.enable(self.control, when=self.h > 0.5)

    assert final(Row())["control.x"] == pytest.approx(1.5)


def test_edge_and_change() -> None:
    class Row(Clocked):
        @tg.every(0.5, start=0.5)
        def turn(self) -> Any:
            return {self.b: ~self.b}

        @tg.when(lambda self: tg.edge(self.b))
        def rises(self) -> Any:
            return {self.n: self.n + 1}

        @tg.when(lambda self: tg.change(self.b))
        def changes(self) -> Any:
            return {self.m: self.m + 1}

    found = final(Row())
    assert (found["n"], found["m"]) == (2, 4)


def test_connect() -> None:
    result = tg.simulate(Circuit(), (0.0, 0.005), rtol=1e-8)
    assert result.final["C.v"] == pytest.approx(6.877224575316580, rel=1e-6)
    assert result.final["L.p.i"] == pytest.approx(2.006612244280106, rel=1e-6)


def test_extends() -> None:
    class Base(tg.Component):
        x, k = tg.State(1.0), tg.Parameter(1.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == -self.k * self.x

    class Row(Base):
        k = 2.0
        y = tg.State(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.y) == self.x

    found = final(Row())
    assert (found["x"], found["y"]) == pytest.approx((math.exp(-4.0), (1 - math.exp(-4.0)) / 2), rel=1e-6)


def test_der_chained() -> None:
    class Van(tg.Component):
        """der(der(y)) = -lambda (1 - y^2) der(y) - y, as the draft has it."""

        y, v = tg.State(1.0), tg.State(0.0)

        def equations(self) -> Iterator[Any]:
            yield self.v == tg.der(self.y)
            yield tg.der(self.v) == -0.5 * (1 - self.y**2) * self.v - self.y

    direct = tg.ode(lambda t, y: {"y": y.v, "v": -0.5 * (1 - y.y**2) * y.v - y.y}, y0={"y": 1.0, "v": 0.0})
    assert final(Van())["y"] == pytest.approx(tg.simulate(direct, (0.0, 2.0), rtol=1e-8).final["y"], rel=1e-6)


def test_attributes() -> None:
    class Row(tg.Component):
        c = tg.Constant(2)
        p = tg.Parameter(3.0, unit="m/s", display_unit="km/h", quantity="Velocity", min=0, max=10, nominal=3.0, description="speed")
        u = tg.Input(1.0, unit="m/s")
        x = tg.State(4.0, unit="m", fixed=True, state_select="prefer", nominal=4.0)
        a = tg.Algebraic(0.5, unit="m")
        y = tg.Output(lambda self: self.c * self.x, unit="m")
        z = tg.State(np.zeros((2, 3)))

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == self.p + self.u
            yield self.a == 2 * self.x
            yield tg.der(self.z) == np.ones((2, 3))

    model = Row().lower()
    found = {variable.name: variable for variable in model.variables}
    assert model.constants == ("c",)
    assert (found["p"].unit, found["p"].display_unit, found["p"].quantity, found["p"].description) == ("m/s", "km/h", "Velocity", "speed")
    assert (found["p"].minimum.value, found["p"].maximum.value, found["p"].nominal) == (0.0, 10.0, 3.0)  # type: ignore[union-attr]
    assert (found["x"].fixed, found["x"].state_select, found["a"].fixed, found["z"].shape) == (True, "prefer", False, (2, 3))
    assert final(Row())["y"] == pytest.approx(2 * (4.0 + 8.0))


def test_parts_inherit_that_they_are_given_from_outside_or_fixed() -> None:
    class Inner(tg.Component):
        u, y = tg.InputSignal(), tg.OutputSignal()

        def equations(self) -> Iterator[Any]:
            yield self.y == 2 * self.u

    class Row(tg.Component):
        inner, x = Inner(), tg.State(0.0)
        u = tg.Input(3.0)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.u, self.inner.u)
            yield tg.der(self.x) == self.inner.y

    # an input that turns out to be connected is an unknown like any other
    roles = {variable.name: variable.role.name for variable in Row().lower().variables}
    assert (roles["u"], roles["inner.u"], roles["inner.y"]) == ("INPUT", "ALGEBRAIC", "ALGEBRAIC")
    assert final(Row())["x"] == pytest.approx(12.0)
