"""``min``, ``max`` and ``int`` of native code are those of Python, of numbers of any kind, also of those that are none."""

from __future__ import annotations

import ctypes
import itertools
import math

import pytest

from tidegate.compiled.jit import INTEGER, NUMBER, NUMBERS, called_from_c

__all__: list[str] = []

_CALLED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, ctypes.c_double, ctypes.c_double, ctypes.c_int64, ctypes.c_void_p)
_NUMBERS = (0.0, -0.0, 1.5, -2.5, 7.0, math.inf, -math.inf, math.nan)


@called_from_c(INTEGER(NUMBER, NUMBER, NUMBER, INTEGER, NUMBERS))
def chosen(a, b, c, k, out):  # type: ignore[no-untyped-def]
    """The least and the largest of numbers of one and of two kinds, of two and of three; what is left of a number and of a truth as an integer."""
    out[0] = min(a, b)
    out[1] = max(a, b)
    out[2] = min(a, b, c)
    out[3] = max(a, b, c)
    out[4] = min(a, k)
    out[5] = max(k, a)
    out[6] = min(k, 3)
    out[7] = max(1, k, 2.5)
    return int(1e6 * min(max(c, -4.0), 4.0)) + int(k) * int(k > 2)


def _by_python(a: float, b: float, c: float, k: int) -> list[float]:
    return [min(a, b), max(a, b), min(a, b, c), max(a, b, c), min(a, float(k)), max(float(k), a), min(k, 3), max(1.0, float(k), 2.5)]


@pytest.mark.parametrize("k", [-3, 0, 2, 3, 8])
def test_the_least_and_the_largest_are_those_of_python(k: int) -> None:
    native = _CALLED(chosen.address)
    for a, b, c in itertools.product(_NUMBERS, repeat=3):
        out = (ctypes.c_double * 8)()
        whole = native(a, b, c, k, ctypes.addressof(out))
        for mine, his in zip(out, _by_python(a, b, c, k), strict=True):
            assert mine == his or (math.isnan(mine) and math.isnan(his))
            assert math.isnan(mine) or math.copysign(1.0, mine) == math.copysign(1.0, his)
        if not math.isnan(c):
            assert whole == int(1e6 * min(max(c, -4.0), 4.0)) + k * (k > 2)
