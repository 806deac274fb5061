"""What is told of a model's structure: aliases, states, blocks; on the circuit of DSblock 4.0a, and what each demand of it computes."""

from __future__ import annotations

import pickle

import pytest

from circuit_parts import Circuit
from tidegate.expressions import ZERO, Expr, Role, symbol, walk
from tidegate.model import Definition, Equation, Form, Model, Variable, VariableRole
from tidegate.simulate import compiled_of
from tidegate.structure import PASSES, reduced
from tidegate.structure.report import AliasSet, structure_report


def unknown(name: str) -> Expr:
    return symbol(Role.UNKNOWN, name)


def test_the_circuit_has_the_aliases_states_and_blocks_that_its_specification_prints() -> None:
    report = structure_report(Circuit().lower())
    assert (report.n_unknowns, report.n_solved, report.is_ode) == (27, 2, True)
    assert set(report.states.states) == {"C.v", "L.p.i"}
    sets = [{item.stays, *item.equal, *(f"-{name}" for name in item.opposite)} for item in report.aliases if item.number is None]
    assert {"AC.p.v", "R1.p.v", "R2.p.v", "AC.v"} in sets
    assert {"R1.n.v", "C.p.v", "C.v"} in sets
    assert {"R2.n.v", "L.p.v", "L.v"} in sets
    assert {"L.p.i", "R2.p.i", "-R2.n.i", "-L.n.i"} in sets
    zeros = next(item for item in report.aliases if item.number == 0.0)
    assert {"C.n.v", "AC.n.v", "L.n.v", "G.p.v"} <= set(zeros.equal)
    assert all(not block.remaining for block in report.blocks)
    order = [name for block in report.blocks for name in block.unknowns]
    assert order.index("R1.v") < order.index("der(C.v)")
    assert sorted(order) == sorted({*order})


def test_blocks_tell_their_tearing_variables_and_what_is_left() -> None:
    a, b, c, x = (unknown(name) for name in "abcx")
    variables = [Variable("x", VariableRole.STATE), *(Variable(name, VariableRole.ALGEBRAIC) for name in "abc")]
    sides = [(a, b + c), (b, 2.0 * c), (a * a * a + a + c, x), (symbol(Role.DERIVATIVE, "x"), -c)]
    report = structure_report(Model("torn", Form.DAE, tuple(variables), tuple(Equation(ZERO + left, right) for left, right in sides)))
    block = next(block for block in report.blocks if block.size > 1)
    assert set(block.unknowns) == {"a", "b", "c"}
    assert len(block.tearing) == len(block.remaining) == 1
    assert block.equations == ("equation 1", "equation 2", "equation 3")
    text = list(report.lines())
    assert text[0] == "4 unknowns, of which 2 are solved for, by differential and algebraic equations"
    assert any("torn at" in line and "solved for" in line for line in text)
    assert pickle.loads(pickle.dumps(report)) == report


def test_sets_read_as_they_are_written() -> None:
    assert str(AliasSet("a", ("b",), ("c",))) == "a = b = -c"
    assert str(AliasSet("", ("b", "c"), (), 0.0)) == "0 = b = c"


# -- what a demand computes


def nodes(*roots: Expr) -> set[Expr]:
    return set(walk(roots))


def test_derivatives_compute_nothing_that_only_outputs_show() -> None:
    """The law of sections: no demand evaluates an equation that it does not need."""
    model = reduced(Circuit().lower(), PASSES)
    slopes = nodes(*(equation.right for equation in model.model.equations))
    shown = {item.data.name: value for item, value in model.replaced.items() if item.data.role is Role.UNKNOWN}
    # the ground's and the source's current are sums that no derivative reads
    for name in ("AC.p.i", "AC.n.i"):
        assert shown[name] not in slopes
    needed = {shown[name] for name in ("R1.v", "AC.v", "L.v")}
    assert needed <= slopes
    # each of these is computed once, whoever reads it
    assert sum(item.op == "sin" for item in slopes) == 1
    assert sum(item.op == "div" for item in slopes) == 3  # over R1, C and L


def test_machine_code_has_one_function_for_each_demand_and_none_computes_for_another() -> None:
    pytest.importorskip("llvmlite")
    x, y = unknown("x"), unknown("y")
    heavy: Expr = y
    for _ in range(50):
        heavy = heavy * heavy + 1.0
    variables = Variable("x", VariableRole.STATE), Variable("y", VariableRole.ALGEBRAIC), Variable("shown", VariableRole.OUTPUT)
    equations = Equation(symbol(Role.DERIVATIVE, "x"), -x), Equation(y, 2.0 * x)
    model = reduced(Model("m", Form.DAE, variables, equations, (Definition("shown", heavy),)), PASSES).model
    assert len(nodes(*(equation.right for equation in model.equations))) <= 3
    assert len(nodes(model.definitions[0].value)) > 50
    assert {"rhs", "outputs", "guards", "jacobian"} <= set(compiled_of(model).addresses)
