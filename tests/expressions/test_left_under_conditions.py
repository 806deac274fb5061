"""`break` under a condition, `while` on one, `if` in comprehensions: followed as Python does it, or refused where it cannot be."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.errors import RunError, UntraceableError
from tidegate.expressions.tracing import trace
from tracing_checks import assert_same, symbols

__all__: list[str] = []

POINTS = [tuple(row) for row in np.random.default_rng(51).normal(scale=1.5, size=(60, 3)).tolist()]


def left_where_found(y):
    for v in y:
        if v > 1:
            break
    return [v]


def left_or_else(y):
    for k, level in enumerate((1.0, 0.0, -1.0)):
        if y[0] > level:
            r = k + y[1]
            break
    else:
        r = -5.0
    return [r, level]


def left_in_an_inner_loop(y):
    total = 0.0
    for v in y:
        for k in range(4):
            if v < k - 1:
                break
            total += v
        else:
            total += 10.0
            if total > 15:
                break
        total += 100.0
    return [total]


def left_by_all_that_leaves(y):
    total = 0.0
    for k in range(5):
        total += y[1]
        if y[0] > k:
            continue
        if total > 2:
            break
        if y[2] < -k:
            return [total, -1.0]
        total += 0.25
    return [total, 1.0]


def left_with_a_list(y):
    values, part = [0.0, 0.0], np.zeros(2)
    for k in range(2):
        values[k] = y[k]
        if y[2] > k:
            break
        part[k] = 1.0
        values = [values[1], values[0]]
    values[0] += 1.0
    return [*values, *part]


def searched_in_a_table(y):
    grid = [-1.0, 0.0, 0.5, 2.0]
    for k in range(3):
        if grid[k] <= y[0] < grid[k + 1]:
            break
    return [grid[k] + (y[0] - grid[k]) * k]


def iterated_until_near(y):
    a = abs(y[0]) + 0.5
    x = a
    for _ in range(40):
        step = 0.5 * (x - a / x)
        x -= step
        if abs(step) < 1e-9:
            break
    return [x - math.sqrt(a)]


def repeated_while(y):
    a, x, n = abs(y[0]) + 0.5, 1.0, 0
    while abs(x * x - a) > 1e-9 and n < 30:
        x, n = 0.5 * (x + a / x), n + 1
    return [x - math.sqrt(a)]


def repeated_while_something_is_left(y):
    level, k = y[0], 0
    while k < 5:
        k += 1
        level -= 0.3
        if level < y[1]:
            break
    return [level, float(k)]


def repeated_while_or_else(y):
    k, r = 0, 0.0
    while y[0] > k and k < 3:
        k += 1
        if y[1] > k:
            break
        if y[2] > 1:
            return [-1.0, r]
    else:
        r = 5.0 + k
        if y[2] < -1:
            return [-2.0, r]
    return [float(k), r]


def summed_where(y):
    total = [sum(v for v in y if v > 0), sum([v * v for v in y if v < 1]), sum((v for v in y if v > 0), 3.0), float(len([v for v in y if v > 0]))]
    return [*total, math.fsum(v for v in y if v > 0.5), *sum(np.array([v, 1.0]) for v in y if v > 0.5 or v > -9)]


def extremes_where(y):
    least, largest = min((v for v in y if v > 0), default=7.0), max([v for v in y if v < 0 or v > -99])
    assert list(map(max, [1.0, 2.0], [2.0, 1.0])) == [2.0, 2.0]
    return [
        *map(float, (least, largest)),
        *map(max, y, y[::-1]),
        sum(map(abs, (v for v in y if v > -1))),
        max((2.0 * v for v in y if v > 0.5), default=y[0]),
    ]


def first_where(y):
    return [
        next((v for v in y if v > 0), -3.0),
        next(k for k in (2.0, 0.0, -99.0) if y[0] > k),
        next((k for k, v in enumerate(y) if v < 0), 9),
        next(iter(filter(lambda v: v > 0, y)), 0.0),
    ]


def any_where(y):
    some, every = any(v > 1 for v in y if v > 0.5), all(v > -1 for v in y if v < 0)
    hot = [v for v in y if v > 0.5]
    return [1.0 if some else 0.0, 1.0 if every else 0.0, sum(hot) / len(hot) if hot else -1.0, 1.0 if not hot else 2.0]


def filtered_twice(y):
    def positive(v):
        return v if v > 0 else 0.5 * v

    return [
        sum(v * w for v in y if v > 0 for w in y if w < v),
        sum(positive(v) for v in y if v > -1 if positive(v) < 1),
        len(list(v for v in y if v > 0)) * 1.0,  # noqa: C400 - what is tried
        float(sum(1 for k, v in enumerate(y) if v > 0 and k != 1)),
    ]


def looped_over_some(y):
    total, seen = 0.0, 0.0
    for v in [u for u in y if u > 0]:
        if v > 2:
            continue
        total += v
        if total > 1.5:
            break
        seen += 1.0
    for k, v in [(k, v) for k, v in enumerate(y) if v < 1]:
        total += k * v
    for v in filter(lambda u: u > 0.5, y):
        seen += 10.0 * v
    return [total, seen]


def returned_from_a_loop_over_some(y):
    for v in (2.0 * u for u in y if u > 0.5):
        if v < 2:
            return [v, 1.0]
    return [0.0, 2.0]


def counted_to_a_number_known_later(y):
    n, m = min(max(int(y[0]), 0), 3), min(max(int(y[1]), 0), 2)
    total, k = 0.0, -1
    for k in range(n):
        total += y[1] * k + 1
        if total > 4:
            break
    some = [sum(j * j for j in range(n)), sum(range(m, n)), sum(range(1, n, 2)), max((j for j in range(n)), default=-1)]
    return [total, float(k), float(len(range(n))), *map(float, some)]


def sliced_up_to_a_number_known_later(y):
    n = int(y[0] > 0) + int(y[1] > 0)
    place = int(np.clip(int(y[2]), -3, 3))
    out, listed = np.zeros(3), [1.0, y[0], 3.0]
    out[:place] = 1.0
    out[place:] -= y[2]
    return [y[:n].sum(), sum(y[:n]), y[n:].sum(), np.sum(y[1 : n + 1]), *out, sum(listed[:place]), float(len(listed[place:]))]


def joined_behind_branches(y):
    hot = [v for v in y if v > 0.5] if y[0] > 0 else []
    if y[1] > 0:
        some, chosen = [v for v in y if v > 1], y[y > 0]
    else:
        some, chosen = [1.0, y[2]], y[y < 1]
    return [sum(hot), float(len(hot)), sum(some), chosen.sum(), sum(v * v for v in chosen), np.prod(chosen), np.std(y[y > -99.0])]


def sorted_values(y):
    low, middle, high = sorted(y)
    values = [y[0], 0.3, y[1]]
    values.sort(reverse=True)
    names = sorted([("a", y[0]), ("b", y[1]), ("c", y[2])], key=lambda pair: -pair[1])
    return [low, middle, high, *values, names[0][1], *np.fromiter((v * 2 for v in y), float)]


@pytest.mark.parametrize(
    "function",
    [
        left_where_found,
        left_or_else,
        left_in_an_inner_loop,
        left_by_all_that_leaves,
        left_with_a_list,
        searched_in_a_table,
        iterated_until_near,
        repeated_while,
        repeated_while_something_is_left,
        repeated_while_or_else,
        summed_where,
        extremes_where,
        first_where,
        any_where,
        filtered_twice,
        looped_over_some,
        counted_to_a_number_known_later,
        joined_behind_branches,
        sliced_up_to_a_number_known_later,
        returned_from_a_loop_over_some,
        sorted_values,
    ],
)
def test_what_is_left_or_left_out_under_conditions_is_followed_as_python_has_it(function: Callable[..., Any]) -> None:
    for point in POINTS:
        assert_same(function, point)


def left_from_an_iterator(y):
    rest = iter([1.0, 2.0, 3.0])
    for k in rest:
        if y[0] > k:
            break
    return [sum(rest)]


def looked_for_twice(y):
    found = (k for k in (2.0, 1.0, 0.0, -99.0) if y[0] > k)
    return [next(found), next(found, 0.0)]


def used_after_any(y):
    found = (v > 0 for v in y)
    return [1.0 if any(found) else 2.0, 1.0 if any(found) else 2.0]


def looked_for_with_a_trace(y):
    seen = [0.0]

    def noted(v):
        seen[0] += 1.0
        return v > 0

    return [next((v for v in y if noted(v)), 0.0), seen[0]]


def summed_lists(y):
    return sum([[v] for v in y if v > 0], [])  # noqa: RUF017 - what is tried


def counted_without_a_limit(y):
    return sum(k for k in range(int(y[0])))


def sliced_at_a_fraction(y):
    return sum(y[: y[0]])


def endless(y):
    x = y[0]
    while True:
        x *= 0.5
        if x < 1:
            break
    return [x]


def else_of_a_while(y):
    while True:
        k = 0
        while y[0] > k and k < 3:
            k += 1
            if y[1] > k:
                break
        else:
            break
        return [-1]
    return [k]


def indexed(y):
    return [[v for v in y if v > 0][0]]  # noqa: RUF015 - what is tried


def in_a_dict(y):
    return [sum({k: v for k, v in enumerate(y) if v > 0}.values())]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "what"),
    [
        (left_from_an_iterator, "how far it is then"),
        (endless, "more than 1000 rounds.*give it a limit"),
        (counted_without_a_limit, r"say how far it may come, range\(min"),
        (sliced_at_a_fraction, "the end of a slice, `a`, may be no whole number"),
        (looked_for_with_a_trace, "`next` of values that change something else"),
        (looked_for_twice, "used again after `next`"),
        (used_after_any, "used again after"),
        (summed_lists, "are no numbers"),
        (else_of_a_while, "`break` in the `else` of a `while`"),
        (indexed, r"(?s)its length would be known only during the run.*sum, len, min"),
        (in_a_dict, "its length would be known only during the run"),
    ],
)
def test_what_cannot_be_known_is_refused(function: Callable[..., Any], what: str) -> None:
    with pytest.raises(UntraceableError, match=rf"(?s){what}"):
        trace(function, [symbols()])


def test_the_least_of_none_ends_the_run_where_there_is_none() -> None:
    model = tg.ode(lambda t, y: [-1.0, -0.1 * min(v for v in (y[0], 2.0 * y[0]) if v > 0.5)], y0=[1.0, 0.0])
    with pytest.raises(RunError, match="nan") as caught:
        tg.simulate(model, (0.0, 2.0))
    assert caught.value.result is not None
    assert caught.value.result.t[-1] == pytest.approx(0.75, abs=1e-6)


def test_a_sum_of_what_is_there_changes_at_an_event_with_exact_sensitivities() -> None:
    """x' = -k where x > 1, plus -k where 2 x > 1: from 2 by -2 k to 1 at t = 1 / (2 k), then by -k to 0.5, then at rest."""
    model = tg.ode(lambda t, y, p: {"x": -sum(p["k"] for v in (y["x"], 2.0 * y["x"]) if v > 1.0)}, y0={"x": 2.0}, p={"k": 0.8})
    result = tg.simulate(model, (0.0, 1.0), sensitivities=["k"])
    first = 1.0 / 1.6
    assert result.final["x"] == pytest.approx(1.0 - 0.8 * (1.0 - first), rel=1e-9)
    assert result.sensitivity("x", "k")[-1] == pytest.approx(-1.0, rel=1e-8)  # 1 - k (1 - 1 / (2 k)) = 1.5 - k
