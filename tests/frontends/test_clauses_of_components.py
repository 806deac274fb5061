"""Clauses of components: what each becomes in the neutral model, judged by evaluating it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidegate.frontends.components as tg
from component_values import Ball, assigned, values_of
from tidegate.expressions import Role, dependencies, symbol
from tidegate.expressions.evaluate import evaluate
from tidegate.model import Message, Terminate
from tidegate.model.validate import parameter_values, problems, validate

numbers = st.floats(-10, 10)


def test_a_when_clause_has_its_condition_action_priority_and_place() -> None:
    model = Ball().lower()
    (when,) = model.whens
    (branch,) = when.branches
    assert (when.priority, branch.label) == (20, "bounce")
    assert evaluate(branch.conditions, values_of(model, h=-0.1)) == [1.0]
    assert assigned(branch.actions, model, v=-5.0) == {"v": 4.0}
    assert branch.origin.path == "Ball"
    assert branch.origin.file.endswith("component_values.py")


def test_a_chain_of_elsewhen_keeps_its_order() -> None:
    class Chain(tg.Component):
        i = tg.Discrete(0)

        @tg.when(lambda self: tg.time >= 0.5, priority=10)
        def first(self):
            return {self.i: 1}

        @first.elsewhen(lambda self: tg.time >= 0.5)
        def second(self):
            return {self.i: 2}

        @second.elsewhen(lambda self: tg.time >= 0.7)
        def third(self):
            return {self.i: 3}

    model = Chain().lower()
    (when,) = model.whens
    assert when.priority == 10
    assert [branch.label for branch in when.branches] == ["first", "second", "third"]
    validate(model)


def test_two_writers_in_separate_clauses_are_a_model_unless_they_always_happen_together() -> None:
    class Valve(tg.Component):
        close = tg.Discrete(False)

        @tg.when(lambda self: tg.time > 1)
        def early(self):
            return {self.close: True}

        @tg.when(lambda self: tg.time > 2)
        def late(self):
            return {self.close: False}

    class Torn(Valve):
        @tg.when(lambda self: tg.time > 1)
        def late(self):
            return {self.close: False}

    assert problems(Valve().lower()) == []
    (found,) = problems(Torn().lower())
    assert "close is assigned by both early" in found[0]
    assert "late" in found[0]


def test_branches_of_one_chain_and_triggers_of_one_body_are_one_writer() -> None:
    class Valve(tg.Component):
        close = tg.Discrete(False)

        @tg.when(lambda self: tg.time > 1)
        def early(self):
            return {self.close: True}

        @early.elsewhen(lambda self: tg.time > 2)
        def late(self):
            return {self.close: False}

    class Kept(tg.Component):
        held = tg.Discrete(0.0)
        late = tg.Output(lambda self: 2 * tg.time)

        @tg.when(lambda self: tg.time > 1)
        @tg.every(3.0)
        def keep(self):
            return {self.held: self.late}

    assert not problems(Valve().lower())
    assert not problems(Kept().lower())


def test_several_conditions_fire_one_clause() -> None:
    class Several(tg.Component):
        x = tg.State(0.0)
        flag = tg.Discrete(False)

        def equations(self):
            yield tg.der(self.x) == 1

        @tg.when(lambda self: (self.x > 0.1, self.x > 0.2), lambda self: self.x > 1 and not self.flag, "flag")
        def note(self):
            return {self.flag: not self.flag}

    model = Several().lower()
    (branch,) = model.whens[0].branches
    assert evaluate(branch.conditions, values_of(model, x=0.15)) == [1.0, 0.0, 0.0, 0.0]
    assert evaluate(branch.conditions, values_of(model, x=2.0, flag=1.0)) == [1.0, 1.0, 0.0, 1.0]
    assert assigned(branch.actions, model, flag=1.0) == {"flag": 0.0}


def test_time_events_take_numbers_names_declarations_and_functions() -> None:
    class Clock(tg.Component):
        T = tg.Parameter(0.25)
        t1 = tg.Parameter(3.0)
        n = tg.Discrete(0)
        m = tg.Discrete(0)

        @tg.every(T, start=lambda self: self.T / 2)
        def tick(self):
            return {self.n: tg.pre(self.n) + 1}

        @tg.at("t1", 4.0, [5.0, 6.0], lambda self: 2 * self.t1 + 1, priority=30)
        def mark(self):
            return {self.m: self.m + 1}

    model = Clock().lower()
    tick, *marks = model.time_events
    values = parameter_values(model)
    assert evaluate([tick.first], values) == [0.125]
    assert tick.period is not None
    assert evaluate([tick.period], values) == [0.25]
    assert evaluate([event.first for event in marks], values) == [3.0, 4.0, 5.0, 6.0, 7.0]
    assert all(event.period is None and event.priority == 30 and event.label == "mark" for event in marks)
    assert assigned(tick.actions, model, pre_n=4.0) == {"n": 5.0}
    validate(model)


def test_a_clock_starts_at_zero_unless_told_otherwise() -> None:
    class Clock(tg.Component):
        n = tg.Discrete(0.0)

        @tg.every(0.1)
        def tick(self):
            return {self.n: self.n + 0.1}

    (event,) = Clock().lower().time_events
    assert event.first.value == 0.0


def test_one_body_may_have_a_time_and_a_condition() -> None:
    class Both(tg.Component):
        x = tg.State(1.0)
        y = tg.Discrete(0.0)

        def equations(self):
            yield tg.der(self.x) == 2 * self.x

        @tg.every(2.0)
        @tg.when(lambda self: self.x > 2, lambda self: self.x < 5)
        def look(self):
            return {self.y: 2 * self.x}

    model = Both().lower()
    assert len(model.whens) == len(model.time_events) == 1
    assert assigned(model.time_events[0].actions, model, x=2.0) == assigned(model.whens[0].branches[0].actions, model, x=2.0) == {"y": 4.0}
    validate(model)


def test_start_and_end_have_actions_of_their_own() -> None:
    class Run(tg.Component):
        y = tg.Discrete(0.0)
        z = tg.Discrete(0.0)

        @tg.initially
        def begin(self):
            return {self.y: 7.0}

        @tg.finally_
        def end(self):
            return {self.z: 2.0}

    model = Run().lower()
    assert assigned(model.initial_actions, model) == {"y": 7.0}
    assert assigned(model.final_actions, model) == {"z": 2.0}
    validate(model)


def test_messages_and_the_end_of_a_run_are_actions() -> None:
    class Guarded(tg.Component):
        x = tg.State(0.0)

        def equations(self):
            yield tg.der(self.x) == 1

        @tg.when(lambda self: self.x > 1)
        def stop(self):
            tg.message("nearly full")
            tg.terminate("full")

    (branch,) = Guarded().lower().whens[0].branches
    assert branch.actions == (Message("nearly full"), Terminate("full"))


@pytest.mark.hunt
@given(numbers, numbers)
def test_a_body_may_choose_with_python_conditions(x: float, v: float) -> None:
    class Choice(tg.Component):
        x = tg.State(0.0)
        v = tg.State(0.0)

        def equations(self):
            yield tg.der(self.x) == self.v
            yield tg.der(self.v) == 0

        @tg.when(lambda self: abs(self.x) > 1)
        def wall(self):
            new = -self.v
            if self.x > 0:
                new = min(new, 0.0)
            return {self.v: new, self.x: 1.0 if self.x > 0 else -1.0}

    model = Choice().lower()
    expected = {"v": min(-v, 0.0) if x > 0 else -v, "x": 1.0 if x > 0 else -1.0}
    assert assigned(model.whens[0].branches[0].actions, model, x=x, v=v) == expected


@pytest.mark.slow
@given(numbers, numbers)
def test_what_a_branch_does_not_assign_keeps_its_value(x: float, v: float) -> None:
    class Sometimes(tg.Component):
        x = tg.State(0.0)
        v = tg.State(0.0)
        w = tg.State([0.0, 0.0])
        n = tg.Discrete(0)

        def equations(self):
            yield tg.der(self.x) == self.v
            yield tg.der(self.v) == 0
            yield tg.der(self.w) == [0, 0]

        @tg.when(lambda self: self.x > 5)
        def act(self):
            if self.v > 3:
                return {self.v: 1.0, self.n: self.n + 1}
            if self.v < -3:
                return {self.x: 0.0, "w": 2 * self.v}
            if self.x > 0:
                return {self.v: 2.0}
            return None

    model = Sometimes().lower()
    new = {"v": 1.0, "n": 8.0} if v > 3 else {"x": 0.0, "w[0]": 2 * v, "w[1]": 2 * v} if v < -3 else {"v": 2.0} if x > 0 else {}
    old = {"x": x, "v": v, "n": 7.0, "w[0]": 3.0, "w[1]": 4.0}
    assert assigned(model.whens[0].branches[0].actions, model, **old) == old | new


def test_previous_values_are_symbols() -> None:
    class Falling(Ball):
        @tg.when(lambda self: self.h > tg.pre(self.h) + 1.0)
        def thrown(self):
            tg.message("thrown")

    class Counter(tg.Component):
        n = tg.Discrete(0)

    assert tg.pre(Counter().n) is symbol(Role.PREVIOUS, "n")
    asked = Falling().lower().whens[-1].branches[0].conditions
    assert symbol(Role.PREVIOUS, "h") in dependencies(asked[0])
    assert tg.pre(2 * Counter().n) is 2 * symbol(Role.PREVIOUS, "n")


def test_a_chain_of_discrete_variables_lowers() -> None:
    class Rounds(tg.Component):
        x = tg.State(1.0)
        y = tg.Discrete(False)
        z = tg.Discrete(False)

        def equations(self):
            yield tg.der(self.x) == 1

        @tg.when(lambda self: self.x >= 1.5)
        def first(self):
            return {self.y: True}

        @tg.when(lambda self: self.y)
        def second(self):
            return {self.z: True}

    model = Rounds().lower()
    assert evaluate(model.whens[1].branches[0].conditions, values_of(model, y=1.0)) == [1.0]
    validate(model)


def test_lowering_twice_gives_equal_models() -> None:
    ball = Ball()
    first, second = ball.lower(), ball.lower()
    assert all(a.left is b.left and a.right is b.right for a, b in zip(first.equations, second.equations, strict=True))
