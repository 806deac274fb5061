"""Functions that a traced function calls: helpers, closures, methods, generators, code of others, and code without source."""

# ruff: noqa: B009, FURB136, PIE800, PLC3002 - these constructs are what is tested

from __future__ import annotations

import bisect
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tracing_checks import POINTS, assert_same

__all__: list[str] = []


def helper(x, *, k=2.0, **options):
    if x > 0:
        return k * x
    return options.get("z", 1.0) * x


def helpers(y):
    return [helper(y[0]), helper(y[1], k=3.0), helper(y[2], z=5.0), functools.partial(helper, k=4.0)(y[0])]


def closures(y):
    k = 2.0
    n = 0.0

    def g(x, s=3.0):
        nonlocal n
        n = n + x if x > 0 else n
        return x * k if x > 1 else s

    return [*[g(v) for v in y], n]


def changing_closure(y):
    s = [0.0, 0.0]

    def add(i, v):
        s[i] = s[i] + v

    for i in (0, 1):
        if y[i] > 0:
            add(i, y[2])
        if y[2] > 0:
            add(i, 1.0)
    return s


class Gain:
    def __init__(self, k):
        self.k = k

    @property
    def twice(self):
        return 2 * self.k if self.k > 0 else 0.0

    def __call__(self, x):
        return self.k * x if x > self.k else self.__hidden(x)

    def __hidden(self, x):
        return x - 1


class Offset(Gain):
    def __init__(self, k, m):
        super().__init__(k)
        self.m = m

    def __call__(self, x):
        return super().__call__(x) + self.m


def objects(y):
    t, u = Offset(1.0, 2.0), Gain(y[1])
    if y[0] > 0:
        u.k = 5.0
    return [t(y[0]), u(y[2]), u.twice]


class Plane:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Plane(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Plane(self.x * k, self.y * k)

    __rmul__ = __mul__


def operators_of_classes(y):
    p = Plane(y[0], y[1]) + 2.0 * Plane(1.0, y[2])
    if y[0] > 0:
        p = p * 2
    return [p.x, p.y]


@dataclass
class Point:
    x: float
    v: float = 0.0


def dataclasses_in_branches(y):
    p = Point(y[0])
    if y[1] > 0:
        p = Point(y[1], 2.0)
    else:
        p.v = y[2]
    return [p.x, p.v]


def generators(y):
    def absolute():
        for v in y:
            if v > 0:
                yield v
            else:
                yield -v
        yield from y

    return list(absolute())


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2 * f(*args, **kwargs)

    return wrapper


@doubled
def decorated(y):
    return y[0] if y[0] > 0 else y[1]


@functools.lru_cache
def cached(n):
    return n + 1


def odds_and_ends(y):
    a, *rest = y
    del rest[0]
    import math as m

    class Local:
        k = 2.0

        def f(self, x):
            return self.k * x if x > 0 else x

    text = f"{len(y)}"
    entries = {**{"k": a}}
    assert isinstance(a, float)
    return [a, rest[0], m.sin(a), tuple(y)[-1], entries["k"], cached(2), float(text), Local().f(y[1]), getattr(Point(a), "x")]


def lambdas_in_comprehension(y):
    return [(lambda x: x if x > 0 else 0.0)(v) for v in y]


def conditions_in_defaults_and_arguments(y):
    def shifted(x, by=y[0] if y[0] > 0 else 1.0, *rest, scale=2.0):
        return (x + by) * scale + sum(rest)

    return [shifted(y[1]), shifted(y[1], *y), shifted(x=y[2], scale=y[1] if y[2] > y[1] else y[2])]


def class_attributes(y):
    class Settings:
        gain = 2.0 * y[0]
        limit = gain + 1.0

    return [Settings.gain, Settings.limit if y[1] > 0 else Settings.gain]


def foreign_decisions(y):
    return [bisect.bisect([0.0, 1.0, 2.0], y[0]), int(np.searchsorted([0.0, 1.0, 2.0], y[1])), np.argmax(y)]


SOURCELESS: dict[str, Any] = {}


exec(
    """
import numpy as np

def decide(y):
    a, b, c = y
    if a > 0:
        return [a if b > c else b, a and c]
    return [min(a, b), -1.0 if not 0 < c < 1 else 2.0]

def vectors(y):
    z = np.where(y > 0, y, 0)
    if z.sum() > 1:
        z = np.sin(z)
    return z @ np.arange(9.0).reshape(3, 3)
""",
    SOURCELESS,
)


def calls_sourceless(y):
    return [SOURCELESS["decide"](y)[0], y[0]]


TWO = (lambda y: y[0] if y[0] > 0 else 0.0), (lambda y: y[1] ** 2 if y[1] > 0 else 1.0)


FUNCTIONS = [
    helpers,
    closures,
    changing_closure,
    objects,
    operators_of_classes,
    dataclasses_in_branches,
    generators,
    decorated,
    odds_and_ends,
    lambdas_in_comprehension,
    conditions_in_defaults_and_arguments,
    class_attributes,
    foreign_decisions,
]


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@given(point=POINTS)
def test_the_graph_of_a_function_has_the_function_s_values(function, point):
    assert_same(function, point)


@pytest.mark.slow
@pytest.mark.parametrize("function", [SOURCELESS["decide"], SOURCELESS["vectors"], calls_sourceless], ids=["decide", "vectors", "called"])
@given(point=POINTS)
def test_a_function_without_source_is_followed_on_every_path(function, point):
    assert_same(function, point)


@pytest.mark.slow
@pytest.mark.parametrize("function", TWO)
@given(point=POINTS)
def test_lambdas_on_one_line_are_told_apart(function, point):
    assert_same(function, point)
