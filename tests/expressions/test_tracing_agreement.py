"""What is followed is what Python does, or it is refused: identity, keys, patterns, rounds left early, exceptions; and random functions."""

# ruff: noqa: C403, SIM102 - these constructs are what is tested

from __future__ import annotations

import functools
import math
import random
import time
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from random_functions import random_function
from tidegate.errors import UntraceableError
from tidegate.expressions import as_real, elementary, evaluate, select
from tidegate.expressions.tracing import Vector, compare, numeric, trace
from tidegate.model.remarks import collect_remarks, message
from tracing_checks import SYMBOLS, assert_same, followed_or_refused, symbols

__all__: list[str] = []

POINTS = [tuple(row) for row in np.random.default_rng(8).normal(scale=1.5, size=(40, 3)).tolist()]


# -- left early


def continued_then_returned(y):
    for i in range(3):
        if y[0] > i:
            continue
        return -1.0 * i - 0.1
    return 7.0


def continued_in_a_nested_branch_then_returned(y):
    r = 0.0
    for i in range(3):
        if y[0] > 0:
            if y[1] > i:
                continue
            r += 0.5
        if y[2] > 0:
            return 10.0 + i + r
        r += 1
    return r


def continued_while(y):
    k = 0
    while k < 3:
        k += 1
        if y[0] > k:
            continue
        if y[1] > 0:
            return k + 0.5
        return k
    return -1.0


def continued_after_an_inner_loop(y):
    for v in y:
        for w in y:
            if v * w > 1:
                pass
        if v > 0:
            continue
        if v < -1:
            return v
    return 0.0


def continued_with_a_list_that_is_changed_later(y):
    total = np.zeros(3)
    for k in range(2):
        values = [y[0], y[1]]
        part = np.zeros(2)
        total[k] = 1.0
        if y[2] > k:
            continue
        values[0] = 5.0
        part[0] = y[2]
        if y[k] > 0:
            continue
        part[1] = y[1]
        total[2] += 1.0
    return [*values, *part, *total]


def returned_with_a_list_that_is_changed_later(y):
    held = SimpleNamespace(values=[])

    def first(limit):
        held.values = [y[0], 1.0]
        if y[1] > limit:
            return 1.0
        held.values[0] = 7.0
        return 2.0

    return [first(0.0), *held.values]


def left_by_a_helper(y):
    def first_negative(values):
        for v in values:
            if v >= 0:
                continue
            return v
        return 1.0

    total = 0.0
    for k in range(3):
        if first_negative(y[k:]) < -1:
            continue
        total += 1.0
        if total > 1.5:
            return total + y[k]
    return total


def matched_values(y):
    match (np.sign(y[0]), y[1]):
        case (1.0, v) if v > 0:
            return v
        case (1.0 | -1.0, v):
            return v - 1
        case _:
            return 3.0


def matched_in_loops(y):
    total = 0.0
    for v in y:
        match [v, 2.0 * v]:
            case [p, q] if p > 1:
                continue
            case [p, q] if q < -1:
                return total + p
            case [p, *_]:
                total += p
    return total


def sequences_compared(y):
    a, b, c = y
    return [
        1.0 if (a > 0, b > 0) == (True, False) else 0.0,
        1.0 if [a > 0, 1] != [c > 0, 1] else 0.0,
        1.0 if (a, 1) == (a, 1, 2) else 2.0,
        1.0 if (a > 0) == (b > 0) else 0.0,
    ]


def kinds_of_numbers(y):
    return [
        1.0 if type(y[0]) is float else 2.0,
        1.0 if callable(y[0]) else 2.0,
        1.0 if hasattr(y[0], "sin") else 2.0,
        1.0 if y[0] is not None else 2.0,
        1.0 if isinstance(y[0], float) else 2.0,
    ]


def try_without_what_may_be_raised(y):
    known = {"k": 2.0}
    try:
        k = known["missing"]
    except KeyError:
        k = known["k"]
    else:
        k = 100.0
    try:
        r = y[0] * k + 1.0 / k
    except (KeyError, AttributeError):
        r = 0.0
    return r


@pytest.mark.parametrize(
    "function",
    [
        continued_then_returned,
        continued_in_a_nested_branch_then_returned,
        continued_while,
        continued_after_an_inner_loop,
        continued_with_a_list_that_is_changed_later,
        returned_with_a_list_that_is_changed_later,
        left_by_a_helper,
        matched_values,
        matched_in_loops,
        sequences_compared,
        try_without_what_may_be_raised,
    ],
)
def test_every_path_is_the_one_python_takes(function: Any) -> None:
    for point in POINTS:
        assert_same(function, point)


def test_a_symbol_is_the_number_it_will_be_where_its_kind_is_asked_for() -> None:
    assert trace(kinds_of_numbers, [symbols()]).value == kinds_of_numbers([1.0, 2.0, 3.0])


def test_what_is_said_after_an_early_return_is_conditional() -> None:
    def body(y):
        if y[0] > 0:
            if y[1] > 0:
                return 1.0
        message("reached")
        return 2.0

    with collect_remarks() as said:
        trace(body, [symbols()])
    (remark,) = said
    a, b, c = SYMBOLS
    assert evaluate([remark.condition], {a: 1.0, b: 1.0, c: 0.0}) == [0.0]
    assert evaluate([remark.condition], {a: 1.0, b: -1.0, c: 0.0}) == [1.0]
    assert evaluate([remark.condition], {a: -1.0, b: 1.0, c: 0.0}) == [1.0]


# -- refused


def looked_up(y):
    return {1.0: 5.0}.get(np.sign(y[0]), 0.0)


def looked_up_by_a_variable(y):
    return {1.0: 5.0}.get(y[0], 0.0)


def number_among_symbols(y):
    return {y[0]: 5.0}.get(1.0, 0.0)


def kept_in_a_set(y):
    return len({y[0] > 0, y[1] > 0}) * 1.0


def made_a_set(y):
    return len(set([np.sign(v) for v in y])) * 1.0


def counted(y):
    return Counter(np.sign(v) for v in y)[1.0] * 1.0 if y is None else Counter([np.sign(v) for v in y])[1.0] * 1.0


def is_true(y):
    return 1.0 if (y[0] > 0) is True else 0.0


def is_not_false(y):
    return 1.0 if (y[0] > 0) is not False else 0.0


def same_symbols(y):
    return 1.0 if y[0] is y[1] else 0.0


def matched_truths(y):
    match (y[0] > 0, y[1] > 0):
        case (True, True):
            return 1.0
        case _:
            return 3.0


def member(y):
    return 1.0 if y[0] in (1.0, "one") else 0.0


def root_with_handler(y):
    try:
        return math.sqrt(y[0])
    except ValueError:
        return -3.0


def division_with_handler(y):
    try:
        r = 1.0
        r /= y[0]
    except ZeroDivisionError:
        r = 9.0
    return r


def division_in_a_helper_with_handler(y):
    def inverse(x):
        return 1.0 / x

    try:
        return inverse(y[0])
    except Exception:  # noqa: BLE001
        return 9.0


def cleaned_up(y):
    r = 0.0
    for v in y:
        try:
            if v > 0:
                continue
            r += 1.0
        finally:
            r += 0.1
    return r


def moved_iterator(y):
    values = iter([1.0, 2.0, 3.0])
    r = next(values)
    if y[0] > 0:
        r += next(values)
    return r + next(values)


def changed_under_another_name(y):
    first = [1.0, 2.0]
    second = first
    if y[0] > 0:
        second = [v + 1.0 for v in first]
    first[0] = 5.0
    return second[0]


def changed_by_another_name(y):
    first = np.zeros(2)
    second = first
    if y[0] > 0:
        second = np.ones(2)
    second[0] = 5.0
    return first[0]


def read_the_clock(y):
    return y[0] + time.time()


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (looked_up, "among keys"),
        (looked_up_by_a_variable, "among keys"),
        (number_among_symbols, "among keys"),
        (kept_in_a_set, "among keys"),
        (made_a_set, "among keys"),
        (counted, "among keys"),
        (is_true, "`is` compares"),
        (is_not_false, "`is` compares"),
        (same_symbols, "`is` compares"),
        (matched_truths, "`match`"),
        (member, "`in`"),
        (root_with_handler, "ValueError"),
        (division_with_handler, "ZeroDivisionError"),
        (division_in_a_helper_with_handler, "ZeroDivisionError"),
        (cleaned_up, "`finally`"),
        (moved_iterator, "iterator"),
        (changed_under_another_name, "another name"),
        (changed_by_another_name, "another name"),
        (read_the_clock, "clock"),
    ],
)
def test_what_depends_on_which_object_a_symbol_is_is_refused_with_its_line_and_a_way_out(function: Any, said: str) -> None:
    with pytest.raises(UntraceableError, match=said) as caught:
        trace(function, [symbols()])
    assert caught.value.origin is not None
    assert caught.value.origin.line > function.__code__.co_firstlineno
    assert caught.value.hint


def test_a_return_that_leaves_out_what_is_yielded_later_is_refused() -> None:
    def equations(y):
        yield y[0]
        if y[1] > 0:
            return
        yield y[2]

    with pytest.raises(UntraceableError, match="leaves out what is yielded"):
        trace(equations, [symbols()])


# -- the comparison itself


def assert_found(function: Any, followed: Any, start: tuple[float, ...] = (0.3, 0.2, 0.1)) -> None:
    values = dict(zip(SYMBOLS, start, strict=True))
    difference = compare(followed, lambda point: function(numeric(symbols(), point)), values)
    assert difference is not None
    assert not difference.is_own


A, B, C = SYMBOLS


def test_a_wrong_branch_is_found_wherever_it_is() -> None:
    assert_found(lambda y: y[0] if y[0] < 1e3 else 0.0, [select(A > 1e3, 7.0 * A, A)])  # far from the start
    assert_found(lambda y: 1.0 if y[1] > 100.0 and y[2] > 50.0 else 0.0, [select((B > 100.0) & (C > 50.0), 3.0, 0.0)])
    assert_found(lambda y: 5.0 if y[0] > 0 else 0.0, [as_real(0.0)], (-1.0, 0.0, 0.0))  # where the graph knows no relation at all


def test_rounding_and_odd_points_are_no_difference() -> None:
    start = dict(zip(SYMBOLS, (0.0, 1.0, 1e-3), strict=True))

    def rounded(point: Any) -> Any:
        a, b, c = (point[item] for item in SYMBOLS)
        return [math.log(b), (a + 1e7) - 1e7, math.sin(1e9 * c), a**3, 1.0 if a >= 0 else 2.0]

    followed = [elementary.log(B), A, elementary.sin(C * 1e9), A * A * A, select(A >= 0, 1.0, 2.0)]
    assert compare(followed, rounded, start) is None


def test_a_function_that_gives_two_answers_is_found() -> None:
    rng = random.Random(1)
    difference = compare([A], lambda point: [point[A] + rng.random()], {A: 1.0})
    assert difference is not None
    assert difference.is_own


# -- random functions


def check_random(seeds: range, *, raises: bool = False) -> Counter[str]:
    outcome: Counter[str] = Counter()
    for seed in seeds:
        try:
            function = random_function(seed, raises=raises)
        except SyntaxError:  # two assignments to one name where Python forbids it
            outcome["not Python"] += 1
            continue
        outcome[followed_or_refused(function, POINTS[:16], Vector, f"seed {seed}", may_raise=raises)] += 1
    return outcome


@pytest.mark.slow
def test_random_functions_agree_with_python_or_are_refused() -> None:
    assert check_random(range(24))["agree"] > 12


@pytest.mark.slow
def test_random_functions_give_nan_where_python_raises_an_error() -> None:
    assert check_random(range(24), raises=True)["agree"] > 10


@pytest.mark.hunt
def test_many_random_functions_give_nan_where_python_raises_an_error() -> None:
    assert check_random(range(10_000, 10_100), raises=True)["agree"] > 60  # 8 000 were tried once


@pytest.mark.hunt
@pytest.mark.parametrize("part", range(2))  # seeds up to 14 000 were tried once; all of them take too long for every run
def test_many_random_functions_agree_with_python_or_are_refused(part: int) -> None:
    outcome = check_random(range(10_000 + 150 * part, 10_150 + 150 * part))
    assert outcome["agree"] > 90
    assert outcome["refused"] < 60


def test_a_cached_function_is_followed() -> None:
    @functools.lru_cache
    def helper(x):
        return x if x > 0 else -x

    assert_same(lambda y: [helper(y[0]), helper(y[1])], (1.0, -2.0, 0.0))
