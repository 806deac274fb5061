"""Machine code in memory holds as long as the object that stands for it, and calls what the C library has."""

from __future__ import annotations

import ctypes
import math

import pytest

from tidegate.compiled.emit_llvm import FunctionSpec, emit_module
from tidegate.compiled.native import NativeModule, load
from tidegate.errors import UsageError
from tidegate.expressions import Expr, Role, symbol
from tidegate.expressions.elementary import erf, exp

X = symbol(Role.UNKNOWN, "x")


def made(value: Expr) -> NativeModule:
    return load(emit_module([FunctionSpec("value", ("x", "out"), frozenset(["x"]), {X: ("x", 0)}, [(0, value)])]))


def called(module: NativeModule, x: float) -> float:
    out = ctypes.c_double()
    ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.POINTER(ctypes.c_double))(module.address("value"))(x, out)
    return out.value


def test_code_lives_as_long_as_its_module_however_many_come_and_go() -> None:
    kept = {k: made(X + k) for k in range(3)}
    for k in range(70):
        assert called(made(X * (k + 2)), 3.0) == 3.0 * (k + 2)
    kept |= {k: made(X + k) for k in range(130, 133)}
    assert [called(module, 0.5) for module in kept.values()] == [k + 0.5 for k in kept]


def test_functions_of_the_c_library_are_those_of_python() -> None:
    module = made(erf(X) + exp(X))
    assert called(module, 0.3) == pytest.approx(math.erf(0.3) + math.exp(0.3), rel=1e-15)


def test_a_function_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="no function `rates`"):
        made(X).address("rates")
