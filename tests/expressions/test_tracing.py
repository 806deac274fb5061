"""A traced function's graph, evaluated, equals the function called with floats: every construct of Python that can be followed."""

# ruff: noqa: C417, C419, FURB136, PERF401 - these constructs are what is tested

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.expressions import Role, as_real, evaluate, symbol
from tidegate.expressions.tracing import Vector, trace
from tracing_checks import POINTS, SYMBOLS, assert_same, symbols

__all__: list[str] = []


# -- functions under test; each takes a vector of three numbers


def nested_branches(y):
    a, b, c = y
    if a > 0:
        if b > c:
            r = a + b
        elif b < -c:
            r = a - b
        else:
            r = c
    else:
        r = a * b if c >= 1 else -c
    return [r, r * 2]


def early_returns(y):
    a, b, c = y
    if a > 1:
        return [a, b]
    x = b
    if b > 0:
        if c > 0:
            return [c, a]
        x = x + 1
    elif c < -1:
        return [x, x]
    x = x * 2
    return [x, c]


def return_from_loops(y):
    for i in range(2):
        for v in y:
            if v > 2:
                if i:
                    return v
                continue
            if v < -2:
                return i
    return 0.5


def continued_loop(y):
    total = [0.0]
    last = 0.0
    counts = {"negative": 0}
    for v in y:
        if v < 0:
            counts["negative"] += 1
            continue
        if v > 2:
            last += 1
            continue
        total[0] += v
        last = v
    return [total[0], last, counts["negative"]]


def boolean_operators(y):
    a, b, c = y
    k = 0
    if (a > 0 and b > 0) or not c > 0:
        k = 1
    if -1 < a <= b < 2:
        k += 2
    return [k, a or b, (a > 0) and c, not a, bool(b), a == 1, a != b, any(v > 1 for v in y), all([v > -1 for v in y])]


def guarded_division(y):
    return 1.0 if (y[0] > 0 and 1 / y[0] > 0.5) else 0.0


def builtins_and_math(y):
    a, b, c = y
    return [
        min(a, b, c),
        max(y),
        abs(a),
        sum(y),
        sum(v * v for v in y),
        pow(a, 2),
        *divmod(a, 2),
        float(a),
        int(b),
        max(a, 0),
        min([a, b]),
        len(y),
        sum(map(lambda v: v if v > 0 else -v, y)),
        math.sqrt(abs(a)) * math.exp(-b),
        math.atan2(a, b),
        math.hypot(a, b, c),
        math.floor(a),
        math.copysign(a, b),
        functools.reduce(lambda p, q: p if p > q else q, y),
        a // 1,
        b % 2,
        -(+c),
    ]


def item_assignment(y):
    dy = np.zeros(3)
    if y[0] > 0:
        dy[0] = y[1]
        dy[1:] = y[1:] * 2
    else:
        dy[2] = 1.0
    dy[0] += y[2]
    return dy


def aliased_list(y):
    dy = [0.0] * 3
    alias = dy
    for i in range(3):
        if y[i] > 0:
            alias[i] = y[i]
        else:
            alias[i] -= 1
    return dy


def rebound_and_changed(y):
    d = [1.0, 2.0]
    if y[0] > 0:
        d = [y[1], y[2]]
    else:
        d[0] = y[2]
    matrix = np.zeros((2, 2))
    row = matrix[0]
    if y[1] > 0:
        row[1] = y[0]
    else:
        matrix = np.ones((2, 2))
    seen = d + list(matrix.ravel()) + list(row)
    if y[2] > 0:
        matrix[1, 0] = 7
    return seen + list(matrix.ravel())


def built_in_a_branch(y):
    if y[0] > 0:
        out = []
        for v in y:
            out.append(v * 2)
    else:
        out = [0.0, 1.0, 2.0]
    return out


def same_condition_again(y):
    if y[0] > 0:
        made = [1.0]
        made.append(y[1])
    else:
        made = None
    if y[0] > 0:
        return made[1]
    return 3.0


def structures_in_branches(y):
    state = {"a": [y[0], 1.0], "b": (y[1], y[2])}
    if y[0] > y[1]:
        state["a"][1] = y[2]
        state = {**state, "b": (1.0, y[0])}
    return [*state["a"], *state["b"]]


def swapped(y):
    low, high = y[0], y[1]
    if low > high:
        low, high = high, low
    return [low, high]


def arrays_of_floats_that_become_symbolic(y):
    z = y.copy()
    z *= 2
    z[1:] += y[0]
    w = np.array([0.0, 1.0, 2.0])
    w[0] = y[1]
    w += y
    v = np.zeros((2, 2))
    v[0, 1] = y[0]
    v[1] = y[:2]
    return list(z) + list(w) + list(v.ravel())


def comprehensions(y):
    positive = {k: (v if v > 0 else 0.0) for k, v in zip("abc", y, strict=True)}
    squares = {i: v**2 for i, v in enumerate(y) if i != 1}
    return [*positive.values(), *squares.values(), sum([1.0 for _ in y]), *(v for v in reversed(y))]


def concrete_while(y):
    i, s = 0, 0.0
    while i < 5:
        i += 1
        if i == 2:
            continue
        if i == 4:
            break
        s += y[i % 3] * i
    else:
        s = 99.0
    return s


def try_with_and_match(y):
    try:
        x = {}["q"]
    except KeyError:
        x = y[0]
    finally:
        z = 1.0
    with np.errstate(all="ignore"):
        x = x + z
    match len(y):
        case 2:
            return 0.0
        case 3 | 4 as n if n > 2:
            return x * n


def matched_structure(y):
    match {"kind": "pair", "values": [y[0], y[1]]}:
        case {"kind": "single"}:
            return 0.0
        case {"kind": "pair", "values": [first, second]}:
            return first - second


def walrus(y):
    if (s := y[0] + y[1]) > 1:
        return s
    return [q := y[2], q * 2][1]


def in_place_calls(y):
    z = np.zeros_like(y)
    np.add(y, 1.0, out=z)
    values = list(z)
    if y[0] > 0:
        values[0], values[2] = values[2], values[0]
    else:
        values.reverse()
    return values


def starred_targets_and_chains(y):
    first = second = y[0]
    (a, *middle), last = [y[1], y[2], 5.0], first
    first += 1
    if y[1] > 0:
        *_, last = middle
    return [first, second, a, last]


def nested_fork_and_exit(y):
    def inner(x):
        if x > 0:
            if x > 1:
                return 1.0
            x = x * 2
        else:
            x = -x
        return x

    total = 0.0
    for v in y:
        if v > -1:
            total += inner(v)
        elif v < -2:
            continue
        total = total * 2 if inner(total) > 1 else total
    return total


def conditions_on_arrays(y):
    if (y > 0).all():
        return y * 2
    if np.any(y < -2):
        return y * 0
    return y


def masks(y):
    z = np.zeros_like(y)
    z[y > 0] = 1.0
    z[:] = np.where(y > 1, z * 2, z)
    return z


FUNCTIONS = [
    nested_branches,
    early_returns,
    return_from_loops,
    continued_loop,
    boolean_operators,
    guarded_division,
    builtins_and_math,
    item_assignment,
    aliased_list,
    rebound_and_changed,
    built_in_a_branch,
    same_condition_again,
    structures_in_branches,
    swapped,
    arrays_of_floats_that_become_symbolic,
    comprehensions,
    concrete_while,
    try_with_and_match,
    matched_structure,
    walrus,
    in_place_calls,
    starred_targets_and_chains,
    nested_fork_and_exit,
    conditions_on_arrays,
    masks,
]


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@given(point=POINTS)
def test_the_graph_of_a_function_has_the_function_s_values(function, point):
    assert_same(function, point)


def carver(t, y, ydot, a):
    x1, x2, x3, v1, v2, v3, z3, z4 = y
    if (x1 > 0 or v1 > v3) and (x2 <= 0 and v2 < v3):
        slope1 = (v1 - a[0] * x1) / a[1]
        slope2 = 0.0
    elif (x2 > 0 or v2 > v3) and (x1 < 0 and v1 < v3):
        slope1 = 0.0
        slope2 = (v2 - a[2] * x2) / a[3]
    else:
        slope1 = a[4] * v1 + a[5] * v2 + a[6] * x1 + a[7] * x2
        slope2 = a[8] * v1 + a[9] * v2 + a[10] * x1 + a[11] * x2
    return [
        x1 + x2 - x3,
        a[12] * (x1 + x2) + a[13] * (ydot[0] + ydot[1]) - v3,
        100.0 * math.cos(100.0 * math.pi * t) - v1,
        -v1 - v2,
        v1 - v3 - z3,
        v2 - v3 - z4,
        ydot[0] - slope1,
        ydot[1] - slope2,
    ]


@pytest.mark.slow
@given(st.lists(st.floats(-2, 2), min_size=31, max_size=31))
def test_a_circuit_with_three_modes_has_its_plain_values(numbers):
    unknowns = [symbol(Role.UNKNOWN, f"u{k}") for k in range(31)]
    t, y, ydot, a = unknowns[0], Vector(unknowns[1:9]), Vector(unknowns[9:17]), Vector(unknowns[17:31])
    followed = trace(carver, [t, y, ydot, a])
    numbers = [number if abs(number) > 1e-3 else 1.0 for number in numbers]
    expected = carver(numbers[0], numbers[1:9], numbers[9:17], numbers[17:31])
    found = evaluate([as_real(item) for item in followed.value], dict(zip(unknowns, numbers, strict=True)))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert len([condition for condition in followed.condition_origins if condition.op in ("ge", "gt")]) == 8


@pytest.mark.slow
def test_long_sums_and_long_loops_do_not_exhaust_the_stack():
    text = "total = lambda y: " + " + ".join(f"{k}.0 * y[0]" for k in range(900))
    space: dict[str, Any] = {}
    exec(text, space)
    assert evaluate([trace(space["total"], [symbols()]).value], {SYMBOLS[0]: 1.0}) == [sum(range(900))]

    def looped(y):
        x = y[0]
        for k in range(500):
            x = x + math.sin(k * y[1])
        return x

    assert evaluate([trace(looped, [symbols()]).value], {SYMBOLS[0]: 2.0, SYMBOLS[1]: 0.0}) == [2.0]
