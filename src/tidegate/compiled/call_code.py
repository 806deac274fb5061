"""Machine code of a call by address (stage: compiled), by hand. Loaded where something is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from tidegate.compiled.view_type import data_of

__all__ = ["make_call"]

_DOUBLE = ir.DoubleType()
_POINTER = ir.PointerType(_DOUBLE)
_INTEGER = ir.IntType(64)


def make_call(kinds: str, *arguments: Any, is_integer: bool = False) -> tuple[Any, Callable[..., Any]]:
    """The signature and the code generator of a call of these types, whose arguments behind the address are of these kinds.

    d double, i integer, a view, p pointer. It returns an integer (``is_integer``) or nothing.
    """
    signature = types.int64(*arguments) if is_integer else types.void(*arguments)

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        low: list[Any] = []
        actual: list[Any] = []
        for kind, numba_type, value in zip(kinds, sig.args[1:], values[1:], strict=True):
            if kind == "p":
                low.append(value.type)
                actual.append(value)
            elif kind == "i":
                low.append(_INTEGER)
                actual.append(context.cast(builder, value, numba_type, types.int64))
            elif kind == "d":
                low.append(_DOUBLE)
                actual.append(context.cast(builder, value, numba_type, types.float64))
            else:
                low.append(_POINTER)
                actual.append(builder.bitcast(data_of(builder, value), _POINTER))
        function_type = ir.FunctionType(_INTEGER if is_integer else ir.VoidType(), low)
        function = builder.inttoptr(values[0], function_type.as_pointer())
        outcome = builder.call(function, actual)
        return outcome if is_integer else context.get_dummy_value()

    return signature, generate
