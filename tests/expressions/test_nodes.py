"""The graph itself: one node for equal expressions, operators, conversions, numpy."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import weakref

import numpy as np
import pytest

from tidegate.errors import UntraceableError
from tidegate.expressions import FALSE, TRUE, Role, constant, evaluate, select, symbol, walk
from tidegate.expressions.nodes import decide

x, y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")


def test_equal_expressions_are_one_node() -> None:
    assert (x + y) * 2 is (x + y) * 2.0
    assert symbol(Role.UNKNOWN, "x") is x
    assert symbol(Role.PARAMETER, "x") is not x
    assert constant(-0.0) is constant(0.0)


def test_copies_and_pickles_of_a_node_are_the_node() -> None:
    expr = (x - 1) ** 2 > y
    assert copy.deepcopy([expr])[0] is expr
    assert copy.copy(expr) is expr
    assert pickle.loads(pickle.dumps(expr)) is expr


@pytest.mark.hunt
def test_nodes_nobody_holds_are_forgotten() -> None:
    expr = x * 123.456
    watcher = weakref.ref(expr)
    del expr
    gc.collect()
    assert watcher() is None


def test_walk_gives_arguments_before_their_users_once() -> None:
    shared = x + y
    order = list(walk([shared * shared, shared - x]))
    assert len(order) == len({id(item) for item in order})
    position = {id(item): k for k, item in enumerate(order)}
    assert all(position[id(arg)] < position[id(item)] for item in order for arg in item.args)


@pytest.mark.slow
def test_deep_graphs_need_no_recursion() -> None:
    expr = x
    for _ in range(20_000):
        expr = expr * 0.5 + 1
    assert evaluate([expr], {x: 3.0}) == pytest.approx([2.0])


@pytest.mark.parametrize(
    "operator", ["a % b", "a // b", "divmod(a, b)[1]", "a - b", "b ** a", "abs(a)", "math.ceil(a)", "math.trunc(a)", "round(a, 1)"]
)
@pytest.mark.parametrize("a", [-2.3, 0.7, 5.0])
def test_python_operators_mean_what_they_mean_on_numbers(operator: str, a: float) -> None:
    symbolic = eval(operator, {"a": x, "b": y, "math": math})
    assert evaluate([symbolic], {x: a, y: 1.5}) == pytest.approx([eval(operator, {"a": a, "b": 1.5, "math": math})])


def test_numpy_arrays_and_scalars_work_from_both_sides() -> None:
    a = np.array([1.0, 2.0])
    assert all(p is q for p, q in zip(a * x, [x, 2 * x], strict=True))
    assert np.float64(2.0) * x is 2 * x
    assert np.dot(a, np.array([x, y])) is x + 2 * y
    for function in (np.sin, np.arctan, np.log10, np.exp2, np.deg2rad, np.trunc, np.floor, np.ceil, np.fabs, np.square):
        traced = function(np.array([x, y]))
        assert evaluate(traced, {x: 0.7, y: 2.5}) == pytest.approx(list(function(np.array([0.7, 2.5]))))
    assert evaluate([np.hypot(x, y), np.arctan2(x, y)], {x: 3.0, y: 4.0}) == pytest.approx([5.0, math.atan2(3, 4)])


def test_a_condition_is_no_python_bool() -> None:
    with pytest.raises(UntraceableError, match="x > 1"):
        bool(x > 1)
    with pytest.raises(UntraceableError, match="as float"):
        math.gamma(x + 1)
    with pytest.raises(UntraceableError, match="index"):
        [1, 2][x]


def test_path_locking_asks_its_hook() -> None:
    token = decide.set(lambda condition: condition is (x > 1))
    try:
        assert bool(x > 1)
        assert not bool(x > 2)
    finally:
        decide.reset(token)


def test_strictness_is_kept() -> None:
    at = {x: 1.0, y: 1.0}
    assert evaluate([x > y, x >= y, x < y, x <= y, x == y, x != y], at) == [0, 1, 0, 1, 1, 0]


def test_conditions_simplify_by_truth_tables() -> None:
    p = x > 0
    assert (p & TRUE) is p
    assert (p | FALSE) is p
    assert (p & FALSE) is FALSE
    assert (p | TRUE) is TRUE
    assert ~~p is p
    assert select(~p, x, y) is select(p, y, x)
    assert select(p, select(p, x, y), y) is select(p, x, y)
