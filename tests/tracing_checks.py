"""How traced functions are compared with themselves: the graph evaluated at a point, and the function called with that point."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tidegate.expressions import Expr, Role, as_real, evaluate, symbol
from tidegate.expressions.tracing import Vector, VectorNames, trace

__all__ = ["POINTS", "SYMBOLS", "assert_same", "symbols"]

NAMES = ("a", "b", "c")


SYMBOLS = [symbol(Role.UNKNOWN, name) for name in NAMES]


# the graph knows one zero only, as copysign says of itself, and adding 0 makes that of floats positive; half of a subnormal number may be zero
COORDINATE = st.one_of(st.floats(-3, 3, allow_subnormal=False).map(lambda x: x + 0.0), st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0]))
POINTS = st.tuples(*[COORDINATE for _ in NAMES])


def symbols() -> Vector:
    return Vector(SYMBOLS, VectorNames("y", {name: (at, ()) for at, name in enumerate(NAMES)}))


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return np.asarray(value, dtype=object).ravel().tolist()


@functools.cache
def traced(function: Callable[..., Any]) -> list[Expr]:
    return [as_real(item) for item in flat(trace(function, [symbols()]).value)]


def assert_same(function: Callable[..., Any], point: tuple[float, ...]) -> None:
    with np.errstate(all="ignore"):  # infinities and NaN are values that the graph must have too
        expected = [float(item) for item in flat(function(np.array(point)))]
    found = evaluate(traced(function), dict(zip(SYMBOLS, point, strict=True)))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
