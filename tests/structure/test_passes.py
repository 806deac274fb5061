"""Passes from model to model: they follow one another, what they tell is put together, and a check leaves a model as it is."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from tidegate.errors import StructureError, UnitError
from tidegate.expressions import ZERO, Role, symbol
from tidegate.model import Equation, Form, Model, Variable, VariableRole
from tidegate.structure import PASSES, Check, Passed, eliminate_aliases, reduced

x, a, b, c = (symbol(Role.UNKNOWN, name) for name in "xabc")
rate = symbol(Role.DERIVATIVE, "x")
state, *algebraics = (Variable("x", VariableRole.STATE), *(Variable(name, VariableRole.ALGEBRAIC) for name in "abc"))


def model(*equations: Equation) -> Model:
    return Model("net", Form.DAE, (state, *algebraics[: len(equations) - 1]), equations)


def test_a_check_gives_the_very_same_model_or_refuses_it() -> None:
    sound = model(Equation(rate, -x))
    assert reduced(sound, PASSES[:2]).model is sound
    with pytest.raises(StructureError):
        reduced(model(Equation(rate, -x), Equation(x, x * x)), PASSES)
    in_metres = replace(sound, variables=(replace(state, unit="m"),), equations=(Equation(rate, x),))
    with pytest.raises(UnitError):
        reduced(in_metres, PASSES)


def test_a_check_sees_the_model_as_it_was_given() -> None:
    seen: list[Model] = []
    given = model(Equation(rate, -a), Equation(a, x))
    reduced(given, [Check(seen.append), eliminate_aliases, Check(seen.append)])
    assert seen[0] is given
    assert [variable.name for variable in seen[1].variables] == ["x"]


def test_what_two_passes_replaced_is_told_in_terms_of_the_last_model() -> None:
    def doubled(given: Model) -> Passed:
        return Passed(given, {b: 2 * a})

    def shown(given: Model) -> Passed:
        return Passed(given, {a: -x})

    found = reduced(model(Equation(rate, -x)), [doubled, shown])
    assert found.replaced == {b: 2 * -x, a: -x}


def test_relations_are_known_as_they_were_written() -> None:
    from tidegate.model import Branch, When

    when = When((Branch((a > 1.0, b > 2.0), ()),))
    found = reduced(replace(model(Equation(rate, -x), Equation(a, -x), Equation(ZERO, b - a)), whens=(when,)), [eliminate_aliases])
    (branch,) = found.model.whens[0].branches
    assert [repr(item) for item in branch.conditions] == [repr(-x > 1.0), repr(-x > 2.0)]
    assert [found.written[item] for item in branch.conditions] == [a > 1.0, b > 2.0]


def test_a_reduced_model_can_be_stored() -> None:
    found = reduced(model(Equation(rate, -a), Equation(a, x)), PASSES)
    again = pickle.loads(pickle.dumps(found))
    assert again.replaced == found.replaced
    assert [variable.name for variable in again.given.variables] == ["x", "a"]
    assert [variable.name for variable in again.model.variables] == ["x"]
