"""Scalar functions applied to arrays of numbers and expressions (stage: expressions).

In: a function of scalars and arguments that may be scalars, expressions, arrays or sequences. Out: a scalar or an array of their common shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from tidegate.expressions.nodes import Expr

__all__ = ["elementwise", "holds_expressions"]


def holds_expressions(*values: Any) -> bool:
    """True if any of these is an expression, or an array or sequence with one in it."""
    for value in values:
        if isinstance(value, Expr):
            return True
        if isinstance(value, np.ndarray):
            if value.dtype == object and any(isinstance(element, Expr) for element in value.flat):
                return True
        elif isinstance(value, (list, tuple)) and holds_expressions(*value):
            return True
    return False


def elementwise(function: Callable[..., Any], *values: Any) -> Any:
    """``function`` of scalars, broadcast over arrays and sequences as NumPy does; floats come back as a float array."""
    if not any(isinstance(value, (np.ndarray, list, tuple)) for value in values):
        return function(*values)
    arrays = [np.asarray(value, dtype=object) for value in values]
    result: Any = np.frompyfunc(function, len(values), 1)(*arrays)
    is_numeric = isinstance(result, np.ndarray) and not holds_expressions(result)
    return np.asarray(cast(Any, result).tolist()) if is_numeric else cast(Any, result)
