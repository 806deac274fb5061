"""Equations hold at every instant: what bodies of one round see of each other (Modelica, chapter 8.6: at an event they are solved together)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from run_checks import event_times, slopes
from tidegate.expressions import Role, symbol
from tidegate.model import Form, Model, Variable, VariableRole


class Sines(tg.Component):
    """Both bodies happen where x = 2; y2 follows from what the second gives y1."""

    x = tg.State(1.0)
    y1 = tg.Discrete(0.0)
    y2 = tg.Output()
    y3 = tg.Discrete(0.0)
    y4 = tg.Discrete(0.0)
    y5 = tg.Discrete(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 2 * self.x
        yield self.y2 == np.sin(self.y1)

    @tg.when(lambda self: self.x > 2)
    def read(self) -> Any:
        return {self.y3: 2 * self.x + tg.pre(self.y1) + self.y2, self.y4: tg.pre(self.y2), self.y5: self.y1}

    @tg.when(lambda self: self.x > 2)
    def write(self) -> Any:
        return {self.y1: np.sin(self.x)}


class WithUnknown(Sines):
    y2 = tg.Algebraic(0.0)


class Solved(WithUnknown):
    @tg.replaces
    def equations(self) -> Any:
        yield tg.der(self.x) == 2 * self.x
        yield 2 * self.y2 - 2 * np.sin(self.y1) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Sines, WithUnknown, Solved])
def test_what_follows_from_an_equation_is_new_and_what_another_body_assigns_is_old(kind: Any, dae_method: str) -> None:
    result = tg.simulate(kind(), (0.0, 1.0), rtol=1e-10, method=dae_method)
    # errors of a hundred steps add up to some ten tolerances
    assert event_times(result) == pytest.approx([math.log(2) / 2], rel=1e-8)
    # 2 x + the old y1 + sin of the new y1
    assert result.final["y3"] == pytest.approx(4.7890723436, rel=1e-8)
    assert result.final["y4"] == 0.0
    assert result.final["y5"] == 0.0


def test_a_derivative_that_another_body_moves_is_new_and_pre_gives_the_one_before(method: str) -> None:
    class Switched(tg.Component):
        x = tg.State(0.0)
        rate = tg.Discrete(1.0)
        new = tg.Discrete(0.0)
        old = tg.Discrete(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == self.rate + self.x

        @tg.at(0.5)
        def change(self) -> Any:
            return {self.rate: 3.0}

        @tg.at(0.5)
        def note(self) -> Any:
            return {self.new: tg.der(self.x), self.old: tg.pre(tg.der(self.x))}

    final = tg.simulate(Switched(), (0.0, 1.0), rtol=1e-10, method=method).final
    x = math.exp(0.5) - 1
    assert (final["new"], final["old"]) == pytest.approx((3 + x, 1 + x), rel=1e-8)


def test_a_reset_state_is_old_for_every_body_of_the_round(method: str) -> None:
    class Reset(tg.Component):
        x = tg.State(1.0)
        double = tg.Output(lambda self: 2 * self.x)
        seen = tg.Discrete(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.at(0.5)
        def reset(self) -> Any:
            return {self.x: 0.0}

        @tg.at(0.5)
        def note(self) -> Any:
            return {self.seen: self.double}

    assert tg.simulate(Reset(), (0.0, 1.0), method=method).final["seen"] == pytest.approx(3.0)


class Controllers(tg.Component):
    """Each of two controllers reads the sum that the other one moves."""

    a = tg.Discrete(1.0)
    b = tg.Discrete(2.0)
    total = tg.Output(lambda self: self.a + self.b)
    log = tg.Discrete(0.0)

    @tg.every(1.0, start=1.0)
    def first(self) -> Any:
        return {self.a: self.total}

    @tg.every(1.0, start=1.0)
    def second(self) -> Any:
        return {self.b: 10 * self.total}

    @tg.every(1.0, start=1.0)
    def note(self) -> Any:
        return {self.log: self.total}


def test_bodies_in_a_circle_see_the_values_before_and_a_third_sees_what_they_make(method: str) -> None:
    final = tg.simulate(Controllers(), (0.0, 1.5), method=method).final
    assert (final["a"], final["b"], final["log"]) == (3.0, 30.0, 33.0)


def test_a_body_sees_what_follows_from_its_own_values_as_it_was(method: str) -> None:
    class Controller(tg.Component):
        u = tg.Discrete(1.0)
        error = tg.Output(lambda self: 5.0 - self.u)

        @tg.every(1.0, start=1.0)
        def control(self) -> Any:
            return {self.u: self.u + 0.5 * self.error}

    assert tg.simulate(Controller(), (0.0, 2.5), method=method).final["u"] == 4.0


def test_derivatives_go_through_the_new_value(method: str) -> None:
    class Model(tg.Component):
        x = tg.State(0.0)
        gain = tg.Parameter(2.0)
        d = tg.Discrete(0.0)
        square = tg.Output(lambda self: self.d**2)
        seen = tg.Discrete(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.at(1.0)
        def write(self) -> Any:
            return {self.d: self.gain * self.x}

        @tg.at(1.0)
        def read(self) -> Any:
            return {self.seen: self.square}

    result = tg.simulate(Model(), (0.0, 2.0), sensitivities="all", method=method)
    assert result.final["seen"] == pytest.approx(4.0)
    assert slopes(result, ["seen"], "gain") == pytest.approx([4.0])


class Tied(WithUnknown):
    z = tg.Algebraic(0.5)

    @tg.replaces
    def equations(self) -> Any:
        yield tg.der(self.x) == 2 * self.x
        yield self.y2**3 + self.z == np.sin(self.y1)
        yield self.y2 - self.z**3 == 0


def test_a_system_of_equations_between_two_bodies_of_one_instant_is_refused_by_name() -> None:
    with pytest.raises(tg.ModelError, match="read reads y2, which follows from y1 through a system of equations, and write changes y1") as caught:
        tg.simulate(Tied(), (0.0, 1.0))
    assert "tg.pre(self.y2)" in caught.value.hint


def test_pre_and_bodies_of_other_instants_need_no_system_solved(dae_method: str) -> None:
    class Before(Tied):
        @tg.when(lambda self: self.x > 2)
        def read(self) -> Any:
            return {self.y3: tg.pre(self.y2)}

    class Later(Tied):
        @tg.when(lambda self: self.x > 3)
        def read(self) -> Any:
            return {self.y3: self.y2}

    assert tg.simulate(Before(), (0.0, 1.0), method=dae_method).final["y3"] == pytest.approx(0.0, abs=1e-9)
    y2 = tg.simulate(Later(), (0.0, 1.0), method=dae_method).final["y3"]
    assert y2**3 + np.cbrt(y2) == pytest.approx(math.sin(math.sin(2.0)), rel=1e-4)


def test_new_values_that_depend_on_each_other_are_refused() -> None:
    from tidegate.compiled.compile import compile_model
    from tidegate.expressions import ONE
    from tidegate.model import Assignment, TimeEvent
    from tidegate.structure import reduced

    a, b = (symbol(Role.DISCRETE, name) for name in "ab")
    events = tuple(TimeEvent(ONE, (Assignment(x, symbol(Role.NEXT, y.data.name)),), label=x.data.name) for x, y in ((a, b), (b, a)))
    variables = tuple(Variable(name, VariableRole.DISCRETE) for name in "ab")
    with pytest.raises(tg.ModelError, match="the new values of a, b depend on each other"):
        compile_model(reduced(Model("circle", Form.ODE, variables, time_events=events), []))
