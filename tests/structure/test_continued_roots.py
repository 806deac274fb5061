"""Which roots go on beyond the event where they end, and what they are there."""

from __future__ import annotations

import pytest

from tidegate.expressions import Expr, Role, evaluate, no_event, select, symbol
from tidegate.expressions.elementary import maximum, minimum, sqrt
from tidegate.model import Equation, Form, Model, Variable, VariableRole
from tidegate.structure.continued_roots import continued_roots

Z, S, K = symbol(Role.UNKNOWN, "z"), symbol(Role.UNKNOWN, "s"), symbol(Role.PARAMETER, "k")
STATE, ALGEBRAIC = Variable("s", VariableRole.STATE), Variable("z", VariableRole.ALGEBRAIC)


def _passed(expr: Expr, *variables: Variable) -> Expr:
    return continued_roots(Model("m", Form.DAE, variables or (STATE, ALGEBRAIC), (Equation(Z, expr),))).model.equations[0].right


GO_ON = {
    "size": abs(Z) ** 1.5,
    "more than": maximum(Z, 0.0) ** 1.5,
    "less than": (2.0 * maximum(K - Z, 0.0)) ** K,
    "size of a state": sqrt(abs(S - K)),
    "where it is chosen": select(Z > K, (Z - K) ** 1.5, 0.0),
    "where another is not": select(Z > K, 0.0, sqrt(K - Z)),
    "where all is so": select((Z > K) & (S > 1.0), (Z - K) ** 1.5, 0.0),
    "where neither is": select((Z > K) | (S > K), 0.0, ((K - S) / 3.0) ** 1.5),
    "in an inner choice": select(Z > 0.0, select(S > 1.0, S, Z**1.5), 0.0),
    "what is left of the larger": sqrt(maximum(Z, K) - K),
    "what is missing to the smaller": sqrt(K - minimum(Z, K)),
    "a sum and a product": (abs(Z) + 2.0 * maximum(S, 0.0) * (Z * Z)) ** 0.7,
}
ENDS = {
    "negative somewhere": Z**1.5,
    "a number of unknown sign": (K * abs(Z)) ** 1.5,
    "another's choice": select(S > 0.0, Z**1.5, 0.0),
    "the wrong side": select(Z > K, 0.0, (Z - K) ** 1.5),
    "either": select((Z > 0.0) | (S > 0.0), Z**1.5, 0.0),
    "asked at each evaluation": no_event(select(Z > 0.0, Z**1.5, 0.0)),
    "a whole power": abs(Z) ** 3,
    "no motion": abs(K) ** 1.5,
}


@pytest.mark.parametrize("name", GO_ON)
def test_a_root_goes_on_where_it_is_chosen_only_where_it_has_a_value(name: str) -> None:
    found = _passed(GO_ON[name])
    assert found is not GO_ON[name]
    at = {S: 0.3, Z: 0.9, K: 0.7}
    for moved in ({}, {Z: -0.4}, {S: -2.0}, {S: 1.5}, {Z: -0.4, S: 1.5}):
        expected, value = (evaluate([expr], at | moved)[0] for expr in (GO_ON[name], found))
        assert value == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("name", ENDS)
def test_all_others_end(name: str) -> None:
    assert _passed(ENDS[name]) is ENDS[name]


def test_nothing_goes_on_where_rates_are_given() -> None:
    assert _passed(abs(S) ** 1.5, STATE) is abs(S) ** 1.5


def test_a_root_that_ends_elsewhere_goes_on_only_where_it_is_chosen() -> None:
    root = (Z - K) ** 1.5
    chosen = select(Z > K, root, 0.0)
    assert _passed(chosen + root) is _passed(chosen) + root


def test_either_side_goes_on_whatever_the_other_is() -> None:
    inner = select(S > 0.0, abs(Z) ** 1.5, Z)
    found = _passed(select(Z > K, (Z - K) ** 1.5, inner))
    assert evaluate([found.args[1]], {Z: 0.45, K: 0.7})[0] == pytest.approx(-0.125, rel=1e-15)
    assert found.args[2] is _passed(inner)
    assert found.args[2] is not inner
    assert _passed(select(S > K, select(Z > K, (Z - K) ** 1.5, 0.0), Z**1.5)).args[1] is _passed(select(Z > K, (Z - K) ** 1.5, 0.0))


def test_a_condition_may_be_as_long_as_it_likes() -> None:
    condition = Z > K
    for k in range(3000):
        condition = condition & (float(k) < S)
    assert _passed(select(condition, (Z - K) ** 1.5, 0.0)).args[1].op == "select"


def test_beyond_its_end_it_is_odd() -> None:
    found = _passed(select(Z > K, (Z - K) ** 1.5, 0.0)).args[1]
    assert evaluate([found], {Z: 0.45, K: 0.7})[0] == pytest.approx(-0.125, rel=1e-15)
