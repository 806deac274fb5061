"""What NumPy makes of numbers that go into an array of another type (stage: tracing the user's Python).

In: values, and the type that the user's code asked for. Out: the values as that type has them: whole numbers without their fraction, truth values. A
number is put into an array of whole numbers only where it is one: NumPy would cut off the fraction without a word, which nobody wants of a slope.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tidegate.errors import UntraceableError
from tidegate.expressions.nodes import Expr, as_boolean
from tidegate.expressions.tracing.whole_numbers import whole_part, whole_range

__all__ = ["converted", "entry_for", "kind_of", "kind_of_both"]

_ANY: Final = "fO"
_INSTEAD: Final = "make it an array of floats: np.array([0.0, 0.0]) or np.zeros(2)"
_NAMES: Final = {"i": "whole numbers", "u": "whole numbers without a sign", "b": "truth values", "c": "complex numbers"}


def kind_of(dtype: Any) -> str:
    """NumPy's letter for a type of numbers: f, i, u, b, c; f for none asked for, O for objects."""
    return "f" if dtype is None else np.dtype(dtype).kind


def converted(value: Any, dtype: Any) -> Any:
    """``np.array(value).astype(dtype)`` of one number or an array of objects."""
    kind = kind_of(dtype)
    if kind in _ANY:
        return value
    rule = {"i": whole_part, "b": _truth}.get(kind)
    if rule is None or (kind == "i" and np.dtype(dtype).itemsize < 4):
        raise UntraceableError(
            f"a symbolic value is converted to {np.dtype(dtype)}, of which the run knows nothing", hint="leave dtype out, or write dtype=float"
        )
    return np.frompyfunc(rule, 1, 1)(value)


def entry_for(value: Any, kind: str) -> Any:
    """What an array of a kind of numbers holds after ``array[...] = value``, of one number or an array of objects.

    Raises
    ------
    UntraceableError
        where a symbolic value that may be no whole number goes into an array of whole numbers.
    """
    if kind in _ANY:
        return value
    if kind == "b":
        return np.frompyfunc(_truth, 1, 1)(value)
    if kind not in "i?":
        raise UntraceableError(f"an array of {_NAMES.get(kind, 'no numbers')} is given a symbolic value", hint=_INSTEAD)
    return np.frompyfunc(_whole if kind == "i" else _whole_either_way, 1, 1)(value)


def kind_of_both(a: Any, b: Any) -> str:
    """The kind of what is one array or the other, depending on a condition: a question mark where they differ."""
    kinds = {getattr(item, "numpy_kind", item.dtype.kind) for item in map(np.asanyarray, (a, b))}
    kinds = {"f" if kind == "O" else kind for kind in kinds}
    return kinds.pop() if len(kinds) == 1 else "?"


def _truth(value: Any) -> Any:
    return as_boolean(value) if isinstance(value, Expr) else bool(value)


def _whole(value: Any) -> Any:
    if isinstance(value, Expr) and whole_range(value) is None:
        raise UntraceableError(f"an array of whole numbers is given `{value!r}`, of which NumPy would cut off the fraction", hint=_INSTEAD)
    return whole_part(value)


def _whole_either_way(value: Any) -> Any:
    if not isinstance(value, Expr) and value != int(value):
        raise UntraceableError(
            f"an array that is of whole numbers under a condition is given {value!r}, of which NumPy would cut off the fraction", hint=_INSTEAD
        )
    return _whole(value)
