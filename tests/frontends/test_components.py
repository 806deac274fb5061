"""Components: what each construct of a class becomes in the neutral model, judged by evaluating it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidegate.frontends.components as tg
from tidegate.expressions import Expr, Role, dependencies, symbol
from tidegate.expressions.evaluate import evaluate
from tidegate.model import Assignment, Bound, Form, Message, Model, Terminate, VariableRole
from tidegate.model.validate import parameter_values, problems, validate
from tidegate.structure import check_structure

numbers = st.floats(-10, 10)


class Ball(tg.Component):
    h = tg.State(1.0, unit="m", min=-1.0)
    v = tg.State(0.0, unit="m/s", description="upwards", nominal=4.0)
    e = tg.Parameter(0.8, min=0.0, max=Bound(1.0, is_open=True))
    g = 9.81

    def equations(self) -> Any:
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -self.g

    @tg.when(lambda self: self.h < 0, priority=20)
    def bounce(self):
        return {self.v: -self.e * self.v}


def values_of(model: Model, **given_values: float) -> dict[Expr, float]:
    """A value for every symbol of a model: as given by name (``der_x`` and ``pre_x`` too), else 0."""
    found = {symbol(Role.TIME, "time"): given_values.get("time", 0.0)} | parameter_values(model)
    for variable in model.variables:
        for name in variable.names:
            for role in Role:
                key = {Role.DERIVATIVE: f"der_{name}", Role.PREVIOUS: f"pre_{name}"}.get(role, name)
                if role is not Role.PARAMETER or name in given_values:
                    found[symbol(role, name)] = given_values.get(key, 0.0)
    return found


def right_sides(model: Model, **given_values: float) -> list[float]:
    return evaluate([equation.right for equation in model.equations], values_of(model, **given_values))


def assigned(actions: Any, model: Model, **given_values: float) -> dict[str, float]:
    """New values by the name of their target."""
    found = [action for action in actions if isinstance(action, Assignment)]
    return dict(zip([a.target.data.name for a in found], evaluate([a.value for a in found], values_of(model, **given_values)), strict=True))


def variable(model: Model, name: str) -> Any:
    return next(item for item in model.variables if item.name == name)


def start(model: Model, name: str) -> list[float]:
    return evaluate(variable(model, name).starts(), parameter_values(model))


# -- variables


def test_explicit_equations_make_an_ode() -> None:
    model = Ball().lower()
    assert model.name == "Ball"
    assert model.form is Form.ODE
    assert [equation.left.data.name for equation in model.equations] == ["h", "v"]
    assert right_sides(model, v=3.0) == [3.0, -9.81]
    validate(model)
    check_structure(model)


def test_variables_keep_what_was_declared() -> None:
    model = Ball().lower()
    assert [(item.name, item.role) for item in model.variables] == [
        ("h", VariableRole.STATE),
        ("v", VariableRole.STATE),
        ("e", VariableRole.PARAMETER),
    ]
    h, v, e = model.variables
    assert (h.unit, h.fixed, h.minimum, h.maximum) == ("m", None, Bound(-1.0), None)
    assert (v.description, v.nominal) == ("upwards", 4.0)
    assert (e.minimum, e.maximum) == (Bound(0.0), Bound(1.0, is_open=True))
    assert start(model, "h") == [1.0]


def test_an_instance_overrides_values_and_leaves_the_class_alone() -> None:
    model = Ball(e=0.5, h=2.0).lower()
    assert (start(model, "h"), start(model, "e")) == ([2.0], [0.5])
    assert start(Ball().lower(), "e") == [0.8]


def test_a_subclass_inherits_adds_and_overrides() -> None:
    class Spring(Ball):
        e = 0.6
        k = tg.Parameter(2.0)
        h = tg.State(0.5)

        @tg.replaces
        def equations(self):
            yield tg.der(self.h) == self.v
            yield tg.der(self.v) == -self.g - self.k * self.h

    model = Spring().lower()
    assert [item.name for item in model.variables] == ["h", "v", "e", "k"]
    assert (start(model, "e"), start(model, "h")) == ([0.6], [0.5])
    assert variable(model, "e").minimum == Bound(0.0)
    assert right_sides(model, v=1.0, h=2.0) == [1.0, -13.81]
    assert len(model.whens) == 1


def test_a_subclass_adds_to_the_equations_of_its_base() -> None:
    class Counted(Ball):
        path = tg.State(0.0)

        def equations(self) -> Any:
            yield tg.der(self.path) == abs(self.v)

    assert right_sides(Counted().lower(), v=-2.0) == [-2.0, -9.81, 2.0]


def test_kinds_follow_from_values() -> None:
    class Kinds(tg.Component):
        a = tg.Discrete(False)
        b = tg.Discrete(3)
        c = tg.Discrete(3.0)
        d = tg.Discrete(0, kind="real")
        n = tg.Parameter(2)
        on = tg.Parameter(True)
        x = tg.Parameter(2.5)

    model = Kinds(n=2.5).lower()
    assert [item.kind for item in model.variables] == ["boolean", "integer", "real", "real", "real", "boolean", "real"]
    assert start(model, "on") == [1.0]
    validate(model)


def test_starts_may_follow_parameters() -> None:
    class Tank(tg.Component):
        k = tg.Parameter(3.0)
        twice = tg.Parameter(lambda self: 2 * self.k)
        level = tg.State(lambda self: self.twice + 1 if self.k > 2 else 0.0)

        def equations(self):
            yield tg.der(self.level) == 0

    model = Tank().lower()
    assert start(model, "level") == [7.0]
    assert start(Tank(k=1.0).lower(), "level") == [0.0]
    validate(model)


def test_arrays_have_an_equation_for_each_element() -> None:
    class Chain(tg.Component):
        x = tg.State([1.0, 2.0, 3.0])
        m = tg.State(0.5, shape=(2, 2))
        k = tg.Parameter([1.0, 10.0, 100.0])

        def equations(self):
            yield tg.der(self.x) == -self.k * self.x
            for row in range(2):
                for column in range(2):
                    yield tg.der(self.m[row, column]) == self.m[column, row]

        @tg.when(lambda self: self.x[0] < 0.5)
        def reset(self):
            return {"x": 2 * self.x, self.m[0, 1]: 7.0}

    model = Chain().lower()
    assert model.form is Form.ODE
    assert right_sides(model, **{"x[0]": 1.0, "x[1]": 2.0, "x[2]": 3.0, "m[0,1]": 5.0}) == [-1.0, -20.0, -300.0, 0.0, 0.0, 5.0, 0.0]
    assert start(model, "m") == [0.5] * 4
    actions = model.whens[0].branches[0].actions
    assert assigned(actions, model, **{"x[1]": 4.0}) == {"x[0]": 0.0, "x[1]": 8.0, "x[2]": 0.0, "m[0,1]": 7.0}
    validate(model)


def test_inputs_and_algebraic_variables_make_a_dae() -> None:
    class Mix(tg.Component):
        u = tg.Input(5.0, unit="V")
        x = tg.State(1.0)
        z = tg.Algebraic(0.5)

        def equations(self):
            yield tg.der(self.x) == self.z - self.u
            yield self.z * self.z == self.x + 1

    model = Mix(u=6.0).lower()
    assert model.form is Form.DAE
    assert [item.role for item in model.variables] == [VariableRole.INPUT, VariableRole.STATE, VariableRole.ALGEBRAIC]
    assert start(model, "u") == [6.0]
    assert variable(model, "z").fixed is False
    residuals = evaluate([equation.residual for equation in model.equations], values_of(model, u=6.0, x=3.0, z=2.0, der_x=-4.0))
    assert residuals == [0.0, 0.0]
    validate(model)
    check_structure(model)


# -- equations


@pytest.mark.slow
@given(numbers, numbers)
def test_conditional_equations_are_merged_pairwise(x: float, y: float) -> None:
    class Modes(tg.Component):
        x = tg.State(0.0)
        y = tg.State(0.0)
        z = tg.Algebraic()

        def equations(self):
            yield tg.der(self.x) == self.z
            if self.x > 1:
                yield tg.der(self.y) == 2 * self.y
                yield self.z == self.y
            elif self.x > -1:
                yield self.z + 1 == 3 * self.x
                yield tg.der(self.y) == -self.y
            else:
                yield tg.der(self.y) == 0.0
                yield self.z == 4.0

    model = Modes().lower()
    z, rate = (y, 2 * y) if x > 1 else (3 * x - 1, -y) if x > -1 else (4.0, 0.0)
    residuals = evaluate([equation.residual for equation in model.equations], values_of(model, x=x, y=y, z=z, der_x=z, der_y=rate))
    assert residuals == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert len(model.equations) == 3
    assert model.equations[1].left is symbol(Role.DERIVATIVE, "y")
    check_structure(model)


def test_conditions_keep_their_strictness_and_place() -> None:
    class Relay(tg.Component):
        x = tg.State(0.0)

        def equations(self):
            yield tg.der(self.x) == (1.0 if self.x >= 2 else 3.0)

        @tg.when(lambda self: self.x > 5)
        def stop(self):
            return {self.x: 0.0}

    model = Relay().lower()
    assert right_sides(model, x=2.0) == [1.0]
    assert evaluate(model.whens[0].branches[0].conditions, values_of(model, x=5.0)) == [0.0]
    relations = {condition.op: origin for condition, origin in model.condition_origins.items() if condition.op in ("ge", "gt")}
    assert relations["ge"].line < relations["gt"].line
    assert relations["ge"].path == "Relay"
    assert "self.x >= 2" in relations["ge"].text
    assert not any(condition.op == "and" for condition in model.condition_origins)


def test_sides_are_read_whichever_way_they_are_written() -> None:
    class Ways(tg.Component):
        a = tg.State(0.0)
        b = tg.State(0.0)
        c = tg.State(0.0)
        d = tg.State(0.0)

        def equations(self):
            yield -self.a == tg.der(self.a)
            yield 2.0 == tg.der(self.b)  # noqa: SIM300 - the order is what is tested
            yield tg.der(self.c) == -self.a
            yield 0 == tg.der(self.d)  # noqa: SIM300

    model = Ways().lower()
    assert model.form is Form.ODE
    assert right_sides(model, a=3.0) == [-3.0, 2.0, -3.0, 0.0]


def test_equations_without_source_are_followed_too() -> None:
    text = """
class Hidden(tg.Component):
    a = tg.State(0.0)
    b = tg.State(0.0)
    z = tg.Algebraic()
    def equations(self):
        yield tg.der(self.a) == -self.a
        yield self.z - 1 == 2 * self.b
        if self.a > 1:
            yield tg.der(self.b) == self.z
        else:
            yield tg.der(self.b) == -3.0
"""
    names: dict[str, Any] = {"tg": tg, "__name__": "hidden"}
    exec(text, names)
    model = names["Hidden"]().lower()
    for a, rate in ((2.0, 5.0), (0.0, -3.0)):
        residuals = evaluate([equation.residual for equation in model.equations], values_of(model, a=a, b=2.0, z=5.0, der_a=-a, der_b=rate))
        assert residuals == [0.0, 0.0, 0.0]


def test_the_derivative_of_an_expression_follows_the_chain_rule() -> None:
    class Power(tg.Component):
        x = tg.State(1.0)
        y = tg.State(1.0)
        p = tg.Output(lambda self: tg.der(self.x * self.x + tg.time * self.y))

        def equations(self):
            yield tg.der(self.x) == self.y
            yield tg.der(self.y) == -self.x

    model = Power().lower()
    x, y, time = 3.0, 2.0, 5.0
    assert evaluate([model.definitions[0].value], values_of(model, x=x, y=y, time=time)) == [2 * x * y + y - time * x]
    validate(model)


def test_derivatives_used_elsewhere_are_replaced_in_an_ode() -> None:
    class Two(tg.Component):
        x = tg.State(1.0)
        y = tg.State(0.0)

        def equations(self):
            yield tg.der(self.y) == 2 * tg.der(self.x)
            yield tg.der(self.x) == -self.x

        @tg.when(lambda self: tg.der(self.y) > -1)
        def slow(self):
            return {self.y: tg.der(self.x)}

    model = Two().lower()
    assert model.form is Form.ODE
    assert right_sides(model, x=3.0) == [-3.0, -6.0]
    assert evaluate(model.whens[0].branches[0].conditions, values_of(model, x=0.4)) == [1.0]
    assert assigned(model.whens[0].branches[0].actions, model, x=3.0) == {"y": -3.0}
    assert model.condition_origins[model.whens[0].branches[0].conditions[0]].line > 0
    validate(model)


def test_outputs_are_put_in_where_they_are_used() -> None:
    class Body(tg.Component):
        x = tg.State(1.0)
        kinetic = tg.Output(lambda self: self.v**2 / 2)
        v = tg.Output()
        total = tg.Output(unit="J")

        def equations(self):
            yield self.v == 2 * self.x
            yield tg.der(self.x) == -self.v
            yield self.kinetic + 1 == self.total

        @tg.when(lambda self: self.total < 0.5)
        def stop(self):
            return {self.x: self.v}

    model = Body().lower()
    assert model.form is Form.ODE
    assert right_sides(model, x=3.0) == [-6.0]
    definitions = dict(zip([d.name for d in model.definitions], evaluate([d.value for d in model.definitions], values_of(model, x=3.0)), strict=True))
    assert definitions == {"kinetic": 18.0, "v": 6.0, "total": 19.0}
    assert assigned(model.whens[0].branches[0].actions, model, x=3.0) == {"x": 6.0}
    validate(model)


def test_an_implicit_output_becomes_algebraic() -> None:
    class Implicit(tg.Component):
        x = tg.State(1.0)
        y = tg.Output()

        def equations(self):
            yield tg.der(self.x) == -self.y
            yield self.y**3 + self.y == self.x

    model = Implicit().lower()
    assert model.form is Form.DAE
    assert variable(model, "y").role is VariableRole.ALGEBRAIC
    validate(model)
    check_structure(model)


# -- events


def test_a_when_clause_has_its_condition_action_priority_and_place() -> None:
    model = Ball().lower()
    (when,) = model.whens
    (branch,) = when.branches
    assert (when.priority, branch.label) == (20, "bounce")
    assert evaluate(branch.conditions, values_of(model, h=-0.1)) == [1.0]
    assert assigned(branch.actions, model, v=-5.0) == {"v": 4.0}
    assert branch.origin.path == "Ball"
    assert branch.origin.file.endswith("test_components.py")


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


@pytest.mark.slow
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
