"""Models of index above one: which equations are differentiated, which states stay, and what is said where nothing can be done."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.errors import Origin
from tidegate.expressions import ONE, ZERO, Expr, OpaqueFunction, Role, node, opaque_call, select, symbol
from tidegate.model import Assignment, Branch, Definition, Equation, Form, Model, Variable, VariableRole, When
from tidegate.model.validate import validate
from tidegate.structure import PASSES, chosen_states, reduce_index, reduced

time = symbol(Role.TIME, "time")


def unknown(name: str) -> Expr:
    return symbol(Role.UNKNOWN, name)


def rate(name: str) -> Expr:
    return symbol(Role.DERIVATIVE, name)


def model(
    states: str, algebraics: str, *sides: tuple[Expr | float, Expr | float], changed: dict[str, dict[str, Any]] | None = None, **more: Any
) -> Model:
    roles = [(name, VariableRole.STATE) for name in states.split()] + [(name, VariableRole.ALGEBRAIC) for name in algebraics.split()]
    variables = [Variable(name, role, **(changed or {}).get(name, {})) for name, role in roles]
    equations = [Equation(ZERO + left, ZERO + right, Origin("rig.py", 10 + k, f"line {10 + k}")) for k, (left, right) in enumerate(sides)]
    return Model("rig", Form.DAE, (*variables, *more.pop("variables", ())), tuple(equations), **more)


a, b, f, x, y, u, v, w = (unknown(name) for name in "abfxyuvw")


def joined(**more: Any) -> Model:
    """Two masses of which one moves as the other does."""
    return model("a b", "f", (rate("a"), 1.0 - f), (2.0 * rate("b"), f), (2.0 * a, 3.0 * b), **more)


def pendulum(**more: Any) -> Model:
    sides = (rate("x"), u), (rate("y"), v), (rate("u"), -w * x), (rate("v"), -w * y - 9.81), (x * x + y * y, ONE)
    return model("x y u v", "w", *sides, **more)


def roles(found: Model) -> dict[str, str]:
    return {variable.name: variable.role.value for variable in found.unknowns}


# -- what is done


@pytest.mark.parametrize("given", [
    model("x", "y", (rate("x"), -y), (y * y, x)),
    model("x", "", (rate("x"), -x)),
    Model("plain", Form.ODE, (Variable("x", VariableRole.STATE),), (Equation(rate("x"), -x),)),
])  # fmt: skip
def test_a_model_of_index_one_is_left_as_it_is(given: Model) -> None:
    passed = reduce_index(given)
    assert passed.model is given
    assert not passed.replaced
    assert chosen_states(given).states == ("x",)


def test_the_later_declared_of_two_equal_states_becomes_algebraic() -> None:
    passed = reduce_index(joined())
    assert roles(passed.model) == {"a": "state", "b": "algebraic", "f": "algebraic", "der(b)": "algebraic"}
    assert passed.replaced == {rate("b"): unknown("der(b)")}
    assert len(passed.model.equations) == 4
    assert passed.model.equations[-1].label == "the derivative of equation 3"
    assert passed.model.equations[-1].origin.line == 12


@pytest.mark.parametrize(("first", "second", "state"), [
    ("default", "prefer", "b"), ("avoid", "default", "b"), ("never", "default", "b"), ("default", "always", "b"), ("never", "always", "b"),
    ("prefer", "prefer", "a"), ("always", "prefer", "a"), ("default", "avoid", "a"), ("default", "never", "a"),
])  # fmt: skip
def test_wishes_are_heeded(first: Any, second: Any, state: str) -> None:
    given = joined(changed={"a": {"state_select": first}, "b": {"state_select": second}})
    assert chosen_states(given).states == (state,)


def test_a_start_value_that_must_hold_makes_a_state_and_a_guess_none() -> None:
    assert chosen_states(joined(changed={"b": {"fixed": True}})).states == ("b",)
    assert chosen_states(joined(changed={"a": {"fixed": False}})).states == ("b",)
    assert chosen_states(joined(changed={"b": {"fixed": True}, "a": {"state_select": "prefer"}})).states == ("a",)


def test_what_events_reset_is_a_state() -> None:
    when = When((Branch((time > 0.5,), (Assignment(b, ONE),), "kick"),))
    assert chosen_states(joined(whens=(when,))).states == ("b",)


def test_a_pivot_that_cannot_vanish_is_preferred_to_one_that_may() -> None:
    given = model("a b", "f", (rate("a"), f), (rate("b"), -f), (a + b * b, ONE), changed={"a": {"state_select": "prefer"}})
    report = chosen_states(given)
    assert report.states == ("b",)
    assert not report.open


def test_a_pivot_of_parameters_counts_unless_it_is_zero() -> None:
    k, j = (symbol(Role.PARAMETER, name) for name in "kj")
    for value, state in ((2.0, "b"), (0.0, "a")):
        variables = (Variable("k", VariableRole.PARAMETER, start=(ZERO + value,)), Variable("j", VariableRole.PARAMETER, start=(ONE,)))
        wish = {"b": {"state_select": "prefer"}}
        given = model("a b", "f", (rate("a"), f), (rate("b"), -f), (k * a, j * b + time), variables=variables, changed=wish)
        assert chosen_states(given).states == (state,)


def test_a_parameter_that_is_divided_by_must_not_be_set_to_zero() -> None:
    ratio = symbol(Role.PARAMETER, "ratio")
    variables = (Variable("ratio", VariableRole.PARAMETER, start=(ONE,)),)
    changed = {"a": {"fixed": True, "start": (ONE,)}}
    given = model("a b", "f", (rate("a"), f), (rate("b"), -f), (a, ratio * b), variables=variables, changed=changed)
    assert tg.simulate(given, (0.0, 1.0), parameters={"ratio": 2.0}).final["b"] == pytest.approx(0.5)
    with pytest.raises(tg.UsageError, match=r"equation 3 .* determines b only while (-)?ratio is not zero"):
        tg.simulate(given, (0.0, 1.0), parameters={"ratio": 0.0})


def test_states_of_a_pendulum_are_chosen_while_it_runs() -> None:
    report = chosen_states(pendulum())
    assert [(group.names, group.n_states) for group in report.open] == [(("x", "y"), 1), (("u", "v"), 1)]
    assert report.n_states == 2
    assert report.differentiated[-1] == ("equation 5 (line 14, rig.py:14)", 2)
    assert any("chosen while the model runs" in line for line in report.lines())


def test_an_order_settles_the_choice() -> None:
    report = chosen_states(pendulum(changed={"x": {"state_select": "always"}, "u": {"state_select": "always"}}))
    assert report.states == ("x", "u")
    assert not report.open


def test_an_array_of_which_some_elements_are_states_is_taken_apart() -> None:
    z = [unknown(f"z[{k}]") for k in range(3)]
    variables = (Variable("z", VariableRole.STATE, (3,), start=(ONE, ONE + 0.5, ONE + 1.0)),)
    given = model("", "f", (rate("z[0]"), f - z[0]), (rate("z[1]"), -f), (rate("z[2]"), -z[2]), (3.0 * z[0], 2.0 * z[1]), variables=variables)
    validate(given)
    found = reduce_index(given).model
    assert roles(found) == {"f": "algebraic", "z[0]": "state", "z[1]": "algebraic", "z[2]": "state"}
    result = tg.simulate(given, (0.0, 1.0), rtol=1e-8)
    # z1 = 1.5 z0: 2.5 z0' = -z0
    np.testing.assert_allclose(result["z"].values[-1], [math.exp(-0.4), 1.5 * math.exp(-0.4), 2.0 * math.exp(-1.0)], rtol=1e-6)


def test_conditions_outputs_and_bodies_may_ask_for_the_derivative_of_what_is_no_state_any_more() -> None:
    variables = (
        Variable("seen", VariableRole.DISCRETE), Variable("speed", VariableRole.OUTPUT), Variable("speed2", VariableRole.OUTPUT),
    )  # fmt: skip
    when = When((Branch((rate("y") < -0.5,), (Assignment(symbol(Role.DISCRETE, "seen"), time),)),))
    given = model(
        "x y", "f", (rate("x"), -x + f), (rate("y"), -f), (2.0 * y, 2.0 * x + 2.0 * time),
        variables=variables, whens=(when,), definitions=(Definition("speed", rate("y")), Definition("speed2", 2.0 * rate("x"))),
        changed={"x": {"start": (ONE + 1.0,)}},
    )  # fmt: skip
    # x' + y' = -x, y' = x' + 1: x' = -(x + 1)/2, x = 3 exp(-t/2) - 1, y' = 1 - 1.5 exp(-t/2)
    result = tg.simulate(given, (0.0, 1.0), rtol=1e-9)
    assert result.final["speed"] == pytest.approx(1.0 - 1.5 * math.exp(-0.5), rel=1e-7)
    assert result.final["speed2"] == pytest.approx(-3.0 * math.exp(-0.5), rel=1e-7)
    up = When((Branch((rate("y") > 0.0,), (Assignment(symbol(Role.DISCRETE, "seen"), time),)),))
    crossed = tg.simulate(replace(given, whens=(up,)), (0.0, 1.0), rtol=1e-9)
    assert crossed.final["seen"] == pytest.approx(2.0 * math.log(1.5), rel=1e-7)


def test_what_is_differentiated_more_than_the_states_gets_states_of_its_own_derivatives() -> None:
    """0 = x - z, z'' from x'' = -x: z is algebraic in the model and stays so."""
    given = model("x u", "z q", (rate("x"), u), (rate("u"), -x), (unknown("z"), x * x), (unknown("q"), unknown("z") + 1.0))
    assert reduce_index(given).model is given


def test_a_root_in_a_constraint_makes_no_events() -> None:
    given = model("x y", "f", (rate("x"), node("cos", (time,))), (rate("y"), f), (y, (x + 2.0) ** 0.5))
    result = tg.simulate(given, (0.0, 10.0), rtol=1e-8)
    assert not result.events
    assert result.final["f"] == pytest.approx(0.5 * math.cos(10.0) / math.sqrt(2.0 + math.sin(10.0)), rel=1e-6)


def test_constraints_with_modes_are_differentiated_in_each() -> None:
    given = model("x y", "f", (rate("x"), ONE), (rate("y"), f), (y, select(x > 1.0, 3.0 * x - 2.0, x * x)))
    result = tg.simulate(given, (0.0, 2.0), rtol=1e-8)
    assert result.final == pytest.approx({"x": 2.0, "y": 4.0, "f": 3.0}, rel=1e-7)


# -- what is refused


def test_a_function_of_which_only_values_are_known_is_not_differentiated() -> None:
    (out,) = opaque_call(OpaqueFunction(math.sinh, 1, "shape"), [x])
    with pytest.raises(tg.StructureError, match=r"equation 3 .*would have to be differentiated.*`shape`") as caught:
        reduce_index(model("x y", "f", (rate("x"), f), (rate("y"), -f), (y, out)))
    assert caught.value.origin is not None
    assert caught.value.origin.line == 12


def test_constraints_that_say_the_same_are_named() -> None:
    given = model("a b", "f g", (rate("a"), f), (rate("b"), unknown("g")), (2.0 * a, 3.0 * b), (9.0 * b, 6.0 * a))
    with pytest.raises(tg.StructureError, match=r"(?s)not independent: equation 4 .*equation 3") as caught:
        reduce_index(given)
    assert caught.value.origin is not None
    assert caught.value.origin.line == 13


@pytest.mark.parametrize(("changed", "said"), [
    ({"a": {"state_select": "always"}, "b": {"state_select": "always"}}, r'state_select="always", but equation 3 .* leaves it no freedom'),
    ({"a": {"state_select": "never"}, "b": {"state_select": "never"}}, r'state_select="never", but no constraint determines it'),
    ({"f": {"state_select": "always"}}, r'f has state_select="always"'),
])  # fmt: skip
def test_orders_that_cannot_be_followed_are_errors(changed: dict[str, dict[str, Any]], said: str) -> None:
    with pytest.raises(tg.StructureError, match=said):
        reduce_index(joined(changed=changed))


def test_never_is_refused_where_nothing_is_reduced() -> None:
    with pytest.raises(tg.StructureError, match=r'x has state_select="never", but no constraint determines it'):
        reduce_index(model("x", "", (rate("x"), -x), changed={"x": {"state_select": "never"}}))


def test_an_event_cannot_reset_what_a_constraint_determines() -> None:
    actions = (Assignment(a, ONE), Assignment(b, ONE))
    with pytest.raises(tg.StructureError, match=r"[ab] is reset by an event, but it is determined by equation 3"):
        reduce_index(joined(whens=(When((Branch((time > 0.5,), actions),)),)))


def test_of_states_that_are_chosen_while_the_model_runs_an_event_resets_all_or_none() -> None:
    with pytest.raises(tg.StructureError, match=r"u is reset by an event that leaves v alone, but equation 5"):
        reduce_index(pendulum(whens=(When((Branch((time > 0.5,), (Assignment(u, -u),)),)),)))
    reduce_index(pendulum(whens=(When((Branch((time > 0.5,), (Assignment(u, -u), Assignment(v, -v))),)),)))


def test_wishes_are_checked() -> None:
    with pytest.raises(tg.InvalidModelError, match="state_select is 'perhaps'; it must be one of never, avoid"):
        validate(model("x", "", (rate("x"), -x), changed={"x": {"state_select": "perhaps"}}))
    with pytest.raises(tg.InvalidModelError, match="only states and algebraic variables"):
        validate(model("x", "", (rate("x"), -x), variables=(Variable("k", VariableRole.PARAMETER, state_select="prefer"),)))


# -- size


@pytest.mark.hunt
def test_a_long_chain_is_reduced_without_recursion() -> None:
    """Masses in a row, each joined to the next: one state stays."""
    n = 2000
    names = [f"s{k}" for k in range(n)]
    forces = [ZERO, *(unknown(f"f{k}") for k in range(1, n)), ONE]
    sides = [(rate(name), forces[k + 1] - forces[k]) for k, name in enumerate(names)]
    sides += [(unknown(names[k]) + 0.5, unknown(names[k + 1])) for k in range(n - 1)]
    given = model(" ".join(names), " ".join(f"f{k}" for k in range(1, n)), *sides)
    assert chosen_states(given).states == ("s0",)
    assert len(reduced(given, PASSES).model.unknowns) < 4 * n
