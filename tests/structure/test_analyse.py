"""What the structural check accepts, and what it says of the systems that it refuses."""

import math

import numpy as np
import pytest

import tidegate as tg
from tidegate.errors import Origin, StructureError
from tidegate.expressions import ONE, ZERO, Expr, OpaqueFunction, Role, node, opaque_call, select, symbol
from tidegate.model import Equation, Form, Model, OpaquePart, Variable, VariableRole
from tidegate.structure import check_structure, incidence, variable_incidence
from tidegate.structure.incidence import smooth_symbols


def unknown(name: str) -> Expr:
    return symbol(Role.UNKNOWN, name)


def rate(name: str) -> Expr:
    return symbol(Role.DERIVATIVE, name)


def dae(states: str, algebraics: str, *sides: tuple[Expr | float, Expr | float], shapes: dict[str, tuple[int, ...]] | None = None) -> Model:
    shapes = shapes or {}
    variables = [Variable(name, VariableRole.STATE, shapes.get(name, ())) for name in states.split()]
    variables += [Variable(name, VariableRole.ALGEBRAIC, shapes.get(name, ())) for name in algebraics.split()]
    equations = [Equation(ZERO + left, ZERO + right, Origin("pump.py", 10 + k, f"line {10 + k}")) for k, (left, right) in enumerate(sides)]
    return Model("pump", Form.DAE, tuple(variables), tuple(equations))


x, y, z, w = (unknown(name) for name in "xyzw")


def test_an_index_one_system_passes() -> None:
    check_structure(dae("x", "z", (rate("x"), -z), (ZERO, z * z - x)))


def test_a_loop_of_algebraic_equations_passes() -> None:
    check_structure(dae("x", "y z", (rate("x"), y), (y + z, x), (y - z, x)))


def test_arrays_count_by_element() -> None:
    v0, v1 = unknown("v[0]"), unknown("v[1]")
    model = dae("v", "", (rate("v[0]"), v1), (rate("v[1]"), -v0), shapes={"v": (2,)})
    check_structure(model)
    assert incidence(model).columns == ("der(v[0])", "der(v[1])")


def test_an_opaque_system_is_left_alone() -> None:
    check_structure(Model("box", Form.DAE, (Variable("x", VariableRole.STATE),), opaque_parts=(OpaquePart("F", print, ("t", "x")),)))


def test_missing_equations_name_the_unknowns_left_over() -> None:
    with pytest.raises(StructureError) as caught:
        check_structure(dae("x", "y z", (rate("x"), y), (y, x)))
    assert "2 equations for 3 unknowns (x, y, z)" in caught.value.message
    assert "z stands in no equation" in caught.value.message
    assert caught.value.hint.startswith("add 1 equation")


def test_too_many_equations_are_listed_with_their_lines() -> None:
    with pytest.raises(StructureError) as caught:
        check_structure(dae("x", "y", (rate("x"), y), (y, x), (y, ONE)))
    assert "3 equations for 2 unknowns" in caught.value.message
    assert "equation 3 (line 12, pump.py:12)" in caught.value.message
    assert caught.value.hint.startswith("add 1 unknown")


def test_a_singular_system_names_the_competing_equations_and_the_unknowns_left_over() -> None:
    with pytest.raises(StructureError, match="structurally singular") as caught:
        check_structure(dae("x", "y z", (rate("x"), -x), (y, x), (y, x + 1)))
    assert "these 3 equations determine only x, y" in caught.value.message
    assert "equation 2 (line 11, pump.py:11)" in caught.value.message
    assert "z stands in no equation" in caught.value.message


def test_a_pendulum_is_refused_naming_the_constraint() -> None:
    length = symbol(Role.PARAMETER, "L")
    model = dae(
        "x y u v",
        "w",
        (rate("x"), unknown("u")),
        (rate("y"), unknown("v")),
        (rate("u"), -w * x),
        (rate("v"), -w * y - 9.81),
        (x * x + y * y, length**2),
    )
    with pytest.raises(StructureError, match="index of pump is greater than one") as caught:
        check_structure(model)
    assert "equation 5 (line 14, pump.py:14) constrains x, y only and has no unknown left to determine" in caught.value.message
    assert caught.value.origin == model.equations[4].origin
    assert "derivative" in caught.value.hint


def test_a_hidden_constraint_is_refused_naming_the_equations_that_compete() -> None:
    # z occurs in two equations that must both determine it: together they constrain x
    with pytest.raises(StructureError, match="index of pump is greater than one") as caught:
        check_structure(dae("x", "y z", (rate("x"), y), (z, x), (z, x * x - 1)))
    assert "these 2 equations determine only z" in caught.value.message


def test_what_stands_in_a_condition_only_determines_nothing() -> None:
    with pytest.raises(StructureError):
        check_structure(dae("x", "z", (rate("x"), -x), (ZERO, select(z > 0, x, -x))))


def test_the_arms_of_a_condition_count_together() -> None:
    check_structure(dae("x", "y z", (rate("x"), -x), (ZERO, select(x > 0, y - 1, z - 1)), (y, z)))


def test_rounding_determines_nothing_but_opaque_outputs_do() -> None:
    (out,) = opaque_call(OpaqueFunction(math.fabs, 1, "box"), [y])
    assert smooth_symbols([node("floor", (x,)) + out + select(z > 0, w, 1.0)]) == {y, w}


def test_a_state_counts_where_it_or_its_derivative_stands_when_singularity_is_judged() -> None:
    graph = variable_incidence(dae("x y", "", (rate("x"), y), (x, ONE)))
    assert graph.columns == ("x", "y")
    assert graph.rows == ((0, 1), (0,))


def test_the_refusal_of_an_index_above_one_fits_in_ten_lines() -> None:
    n = 30

    def chains(t, y, ydot):
        """n pendulums, each with its constraint on positions."""
        x, z, u, v, pull = y["x"], y["z"], y["u"], y["v"], y["pull"]
        return [
            *[ydot["x"][k] - u[k] for k in range(n)],
            *[ydot["z"][k] - v[k] for k in range(n)],
            *[ydot["u"][k] + pull[k] * x[k] for k in range(n)],
            *[ydot["v"][k] + pull[k] * z[k] + 9.81 for k in range(n)],
            *[x[k] ** 2 + z[k] ** 2 - 1.0 for k in range(n)],
        ]

    start = {name: np.full(n, value) for name, value in (("x", 1.0), ("z", 0.0), ("u", 0.0), ("v", 0.0), ("pull", 0.0))}
    with pytest.raises(StructureError, match="index of chains is greater than one") as caught:
        tg.simulate(tg.dae(chains, y0=start), (0, 1))
    assert len(str(caught.value).splitlines()) <= 10
    assert "and 26 more equations constrain states only" in str(caught.value)
