"""Components: what each declaration and equation of a class becomes in the neutral model, judged by evaluating it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidegate.frontends.components as tg
from component_values import Ball, assigned, right_sides, start, values_of, variable
from tidegate.expressions import Role, symbol
from tidegate.expressions.evaluate import evaluate
from tidegate.model import Bound, Form, VariableRole
from tidegate.model.validate import validate
from tidegate.structure import check_structure

numbers = st.floats(-10, 10)


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
