"""What the structural check accepts, and what it says of the systems that it refuses."""

import math

import pytest

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
