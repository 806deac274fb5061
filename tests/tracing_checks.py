"""How traced functions are compared with themselves: the graph evaluated at a point, and the function called with that point."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from tidegate.errors import UntraceableError
from tidegate.expressions import Expr, Role, as_real, evaluate, symbol
from tidegate.expressions.tracing import Vector, VectorNames, numbers_of, trace

__all__ = ["POINTS", "SYMBOLS", "assert_refused", "assert_same", "followed_or_refused", "symbols"]

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


def assert_refused(function: Callable[..., Any], what: str) -> None:
    """A function is refused, in words that a pattern finds."""
    with pytest.raises(UntraceableError) as caught:
        trace(function, [symbols()])
    assert re.search(what, str(caught.value), re.DOTALL)


def followed_or_refused(
    function: Callable[..., Any], points: Sequence[tuple[float, ...]], given: Callable[[list[float]], Any], what: str, *, may_raise: bool = False
) -> str:
    """Whether a function is refused; where it is not, that its graph gives what it gives when it is called, and NaN where it raises an error."""
    try:
        value = trace(function, [Vector(SYMBOLS)], may_raise=may_raise).value
    except UntraceableError:
        return "refused"
    followed = [as_real(item) for item in numbers_of(value) or ()]
    for point in points:
        try:
            expected = [float(item) for item in numbers_of(function(given(list(point)))) or ()]
        except (ValueError, AssertionError):
            if not may_raise:
                raise
            expected = [np.nan] * len(followed)
        found = evaluate(followed, dict(zip(SYMBOLS, point, strict=True)))
        # a few dozen operations on numbers of size one, in the same order but for what is simplified
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=what)
    return "agree"
