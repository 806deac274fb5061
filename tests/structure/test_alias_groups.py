"""Aliases of numbers, of states, and those that appear when others are known; what the one that stays takes over, and what is refused."""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import pytest

import tidegate as tg
from tidegate.errors import StructureError
from tidegate.expressions import ZERO, Expr, Role, select, symbol
from tidegate.model import Assignment, Bound, Branch, Equation, Form, Model, Variable, VariableRole, When
from tidegate.simulate import compiled_of
from tidegate.structure import eliminate_aliases


def unknown(name: str) -> Expr:
    return symbol(Role.UNKNOWN, name)


def rate(name: str) -> Expr:
    return symbol(Role.DERIVATIVE, name)


def dae(variables: list[Variable], *equations: tuple[Expr | float, Expr | float], **more: Any) -> Model:
    return Model("net", Form.DAE, tuple(variables), tuple(Equation(ZERO + left, ZERO + right) for left, right in equations), **more)


def algebraic(*names: str, **more: Any) -> list[Variable]:
    return [Variable(name, VariableRole.ALGEBRAIC, **more) for name in names]


def states(*names: str, start: float | None = 1.0, **more: Any) -> list[Variable]:
    return [Variable(name, VariableRole.STATE, start=() if start is None else (ZERO + start,), **more) for name in names]


x, y, a, b, c = (unknown(name) for name in ("x", "y", "a", "b", "c"))


# -- numbers


@pytest.mark.parametrize(("left", "right", "value"), [
    (a, 0.0, 0.0), (a, 2.5, 2.5), (2.5, a, 2.5), (-a, 2.0, -2.0), (2.0 * a - 6.0, 0.0, 3.0), (a + a, 4.0, 2.0),
])  # fmt: skip
def test_an_unknown_that_is_a_number_goes(left: Any, right: Any, value: float) -> None:
    passed = eliminate_aliases(dae([*states("x"), *algebraic("a")], (rate("x"), a - x), (left, right)))
    assert passed.replaced[a].value == value
    assert [variable.name for variable in passed.model.variables] == ["x"]


def test_a_ground_makes_aliases_of_what_it_shortens_whatever_the_order() -> None:
    equations = [(c, a - b), (b, 0.0), (rate("x"), -c), (a, x)]
    for order in (equations, equations[::-1]):
        passed = eliminate_aliases(dae([*states("x"), *algebraic("a", "b", "c")], *order))
        assert {name: passed.replaced[unknown(name)] for name in "abc"} == {"a": x, "b": ZERO, "c": x}


def test_numbers_are_shown_under_every_name(dae_method: str) -> None:
    model = dae(
        [*states("x"), *algebraic("a", unit="V"), *algebraic("b"), *algebraic("c", start=(ZERO + 1.0,))],
        (rate("x"), a - x), (a, -b), (b, -3.0), (c * c, x + 3.0),
    )  # fmt: skip
    assert compiled_of(model).layout.unknowns == ("x", "c")
    result = tg.simulate(model, (0.0, 1.0), method=dae_method, rtol=1e-8, sensitivities="all")
    assert result["a"].attrs["units"] == "V"
    assert result["a"].values.tolist() == [3.0] * len(result.t)
    assert result["b"].values.tolist() == [-3.0] * len(result.t)
    assert result.at(0.3, "b") == -3.0
    assert result.final["x"] == pytest.approx(3.0 - 2.0 * math.exp(-1.0), rel=1e-6)
    assert tg.verify(result).ok
    assert tg.Simulation(model)["b"] == -3.0


def test_a_number_outside_its_limits_is_refused() -> None:
    with pytest.raises(StructureError, match=r"a is -1 by `.*`, and must be at least 0"):
        eliminate_aliases(dae([*states("x"), *algebraic("a", minimum=Bound(0.0))], (rate("x"), a - x), (a, -1.0)))


def test_what_changes_with_a_condition_is_no_alias() -> None:
    model = dae([*states("x"), *algebraic("a")], (rate("x"), -a), (a, select(x > 0.5, x, -x)))
    assert eliminate_aliases(model).model is model
    model = dae([*states("x"), *algebraic("a")], (rate("x"), -a), (0.0, select(x > 0.5, a - x, a + x)))
    assert eliminate_aliases(model).model is model


# -- states


def capacitors(first: list[Variable], second: list[Variable], sign: float = 1.0) -> Model:
    """Two capacitors of 1 and 3 side by side, discharged over 1: together x' = -x / 4."""
    other = y if sign > 0 else -y
    slope = rate("y") if sign > 0 else -rate("y")
    i, j = unknown("i"), unknown("j")
    return dae([*first, *second, *algebraic("i", "j")], (rate("x"), i), (3.0 * slope, j), (x, other), (i + j, -x))


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_two_states_that_are_one_are_integrated_once(sign: float, dae_method: str) -> None:
    model = capacitors(states("x", start=2.0), states("y", start=2.0 * sign), sign)
    assert "y" not in compiled_of(model).layout.unknowns
    result = tg.simulate(model, (0.0, 1.0), method=dae_method, rtol=1e-8)
    assert result.final["x"] == pytest.approx(2.0 * math.exp(-0.25), rel=1e-6)
    assert result.final["y"] == sign * result.final["x"]
    assert result.final["i"] == pytest.approx(-0.5 * math.exp(-0.25), rel=1e-6)
    assert tg.verify(result).ok


def test_states_that_start_apart_are_refused_by_both_names() -> None:
    with pytest.raises(StructureError, match=r"x starts at 2 and y at 1, but `.*` makes them equal"):
        tg.simulate(capacitors(states("x", start=2.0), states("y", start=1.0)), (0.0, 1.0))
    with pytest.raises(StructureError, match=r"x starts at 2 and y at 2, but `.*` makes them opposite"):
        tg.simulate(capacitors(states("x", start=2.0), states("y", start=2.0), -1.0), (0.0, 1.0))


@pytest.mark.parametrize("certain", [True, None])
def test_a_start_value_that_must_hold_counts_before_a_guess(certain: bool | None) -> None:
    guess = states("x", start=7.0, fixed=False)
    result = tg.simulate(capacitors(guess, states("y", start=1.0, fixed=certain)), (0.0, 1.0))
    assert result["x"].values[0] == 1.0
    result = tg.simulate(capacitors(states("x", start=None), states("y", start=3.0, fixed=certain)), (0.0, 1.0))
    assert result["x"].values[0] == 3.0


def test_start_values_of_parameters_must_agree_in_every_run() -> None:
    p, q = symbol(Role.PARAMETER, "p"), symbol(Role.PARAMETER, "q")
    first = [Variable("x", VariableRole.STATE, start=(p,)), Variable("p", VariableRole.PARAMETER, start=(ZERO + 2.0,))]
    second = [Variable("y", VariableRole.STATE, start=(q,)), Variable("q", VariableRole.PARAMETER, start=(ZERO + 2.0,))]
    model = capacitors(first, second)
    assert tg.simulate(model, (0.0, 1.0), parameters={"p": 5.0, "q": 5.0})["y"].values[0] == 5.0
    with pytest.raises(tg.UsageError, match=r"x and y are one, by .* and must start at different values"):
        tg.simulate(model, (0.0, 1.0), parameters={"p": 5.0})
    second[1] = Variable("q", VariableRole.PARAMETER, start=(ZERO + 3.0,))
    with pytest.raises(tg.UsageError, match="must start at different values"):
        tg.simulate(capacitors(first, second), (0.0, 1.0))


def test_setting_either_of_two_states_sets_both() -> None:
    simulation = tg.Simulation(capacitors(states("x", start=2.0), states("y", start=-2.0), -1.0))
    simulation.advance(0.5)
    simulation.set({"y": -1.0})
    assert simulation["x"] == 1.0
    assert simulation["y"] == -1.0
    simulation.advance(1.5)
    assert simulation["x"] == pytest.approx(math.exp(-0.25), rel=1e-5)


def test_the_state_that_a_clause_sets_stays(dae_method: str) -> None:
    half = When((Branch((y < 1.0,), (Assignment(y, ZERO + 2.0),), "refill"),))
    model = capacitors(states("x", start=2.0), states("y", start=2.0))
    model = Model(model.name, model.form, model.variables, model.equations, whens=(half,))
    assert "x" not in compiled_of(model).layout.unknowns
    result = tg.simulate(model, (0.0, 4.0), method=dae_method, rtol=1e-8)
    (event,) = result.events
    assert event.time == pytest.approx(4.0 * math.log(2.0), abs=1e-6)  # a few tolerances
    assert event.after["x"] == event.after["y"] == 2.0


# -- who stays, and within which limits


def test_a_state_stays_before_a_shorter_path_and_that_before_the_first() -> None:
    deep, short = unknown("part.pin.v"), unknown("v")
    names = [*algebraic("part.pin.v"), *algebraic("v"), *states("part.x")]
    model = dae(names, (deep, short), (short * short, unknown("part.x")), (rate("part.x"), -deep))
    assert eliminate_aliases(model).replaced[deep] is short
    model = dae([*algebraic("v"), *states("part.x")], (short, unknown("part.x")), (rate("part.x"), -short))
    assert eliminate_aliases(model).replaced[short] is unknown("part.x")


def test_limits_are_those_of_all_and_none_left_is_refused() -> None:
    first, second = algebraic("a", minimum=Bound(-5.0), maximum=Bound(2.0)), algebraic("b", minimum=Bound(-1.0, is_open=True))
    passed = eliminate_aliases(dae([*states("x"), *first, *second], (rate("x"), -a), (a, -b), (a * a, x)))
    (left,) = (variable for variable in passed.model.unknowns if variable.name == "a")
    assert left.maximum == Bound(1.0, is_open=True)
    assert left.minimum == Bound(-5.0)
    first, second = algebraic("a", minimum=Bound(1.0)), algebraic("b", minimum=Bound(0.0))
    with pytest.raises(StructureError, match=r"within the limits of both a \(at least 1\) and b \(at least 0\), which `.*` makes opposite"):
        eliminate_aliases(dae([*states("x"), *first, *second], (rate("x"), -a), (a, -b), (a * a, x)))


@pytest.mark.hunt
def test_aliases_are_found_in_as_many_calls_as_grow_with_their_number() -> None:
    def calls(n: int) -> int:
        names = [f"a{k}" for k in range(n)]
        equations = [(unknown(one), unknown(other)) for one, other in itertools.pairwise(names)]
        equations += [(unknown(f"d{k}"), unknown(names[k]) - unknown("g")) for k in range(n)]
        equations += [(unknown("g"), 0.0), (unknown(names[-1]), x)]
        model = dae([*algebraic(*names, *(f"d{k}" for k in range(n)), "g"), *states("x")], *equations, (rate("x"), -unknown("d0")))
        counted = itertools.count()
        before = sys.getprofile()
        sys.setprofile(lambda *_: next(counted) and None)
        try:
            passed = eliminate_aliases(model)
        finally:
            sys.setprofile(before)
        assert [v.name for v in passed.model.unknowns] == ["x"]
        return next(counted)

    calls(20)
    assert calls(1000) < 12 * calls(100)  # ten times as many; of n^2 it would be a hundred times
