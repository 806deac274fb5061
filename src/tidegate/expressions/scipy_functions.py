"""Rules for functions of ``scipy.special``, of SciPy's sparse matrices, and of ``statistics`` (stage: expressions).

Nothing of these is imported here: who calls such a function has done so. Logistic functions follow from ``log(exp(a) + exp(b))``, which overflows
nowhere and loses no digits where they are small: expit(x) = exp(-log(1 + exp(-x))).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any, Final, TypeGuard

import numpy as np

from tidegate.expressions.elementary import SUBSTITUTES, erf, exp, exp2, log, log1p

__all__ = ["is_sparse", "product_with_sparse", "rule_of_scipy"]

_log_of_sum: Final = SUBSTITUTES[np.logaddexp]


def _expit(x: Any) -> Any:
    return exp(_log_expit(x))


def _log_expit(x: Any) -> Any:
    return -1.0 * _log_of_sum(0.0 * x, -1.0 * x)


def _logit(p: Any) -> Any:
    return log(p) - log1p(-1.0 * p)


def _exp10(x: Any) -> Any:
    return exp2(x * np.log2(10.0))


def _along(array: Any, axis: int | None) -> tuple[Any, int]:
    """The array, and the axis that is meant; of all elements where none is given."""
    given: Any = np.asarray(array, dtype=object)
    return (given.ravel(), 0) if axis is None else (given, axis)


def _log_sum_exp(a: Any, axis: int | None = None, b: Any = None, keepdims: bool = False) -> Any:
    weighted = a if b is None else np.asarray(a, dtype=object) + log(np.asarray(b, dtype=object))
    array, along = _along(weighted, axis)
    found: Any = np.asarray(reduce(_log_of_sum, np.moveaxis(array, along, 0)), dtype=object)
    if keepdims:
        return np.expand_dims(found, along) if axis is not None else found.reshape((1,) * np.ndim(a))
    return found if found.ndim else found.item()


def _log_softmax(x: Any, axis: int | None = None) -> Any:
    return np.asarray(x, dtype=object) - _log_sum_exp(x, axis, keepdims=True)


def _softmax(x: Any, axis: int | None = None) -> Any:
    return exp(_log_softmax(x, axis))


def _mean(data: Any) -> Any:
    values = list(data)
    return sum(values) / len(values)


_OF_SPECIAL: Final[dict[str, Callable[..., Any]]] = {
    "expit": _expit,
    "log_expit": _log_expit,
    "logit": _logit,
    "erf": erf,
    "erfc": SUBSTITUTES[math.erfc],
    "exp10": _exp10,
    "logsumexp": _log_sum_exp,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    **{function.__name__: SUBSTITUTES[function] for function in (np.cbrt, np.exp2, np.expm1, np.log1p)},
}
_OF_MODULES: Final[dict[str, dict[str, Callable[..., Any]]]] = {"scipy.special": _OF_SPECIAL, "statistics": {"mean": _mean, "fmean": _mean}}


def rule_of_scipy(function: Any) -> Callable[..., Any] | None:
    """What stands for a function of these modules; None for any other."""
    name = getattr(function, "__name__", "")
    for module, rules in _OF_MODULES.items():
        if name in rules and getattr(sys.modules.get(module), name, None) is function:
            return rules[name]
    return None


def is_sparse(value: Any) -> TypeGuard[Any]:
    """True for SciPy's sparse matrices and arrays."""
    kind: type = type(value)  # pyright: ignore[reportUnknownVariableType]
    return _is_sparse_kind(kind)


@cache
def _is_sparse_kind(kind: type) -> bool:
    return any(str(base.__module__).startswith("scipy.sparse") and base.__name__ in ("sparray", "spmatrix") for base in kind.__mro__)


def product_with_sparse(left: Any, right: Any) -> Any:
    """``left @ right``, where one of them is sparse and the other an array with expressions in it."""
    if not is_sparse(left):
        found: Any = product_with_sparse(right.T, np.asarray(left, dtype=object).T)
        return found.T
    array: Any = np.asarray(right, dtype=object)
    if array.ndim not in (1, 2) or array.shape[0] != left.shape[1]:
        raise ValueError(f"matmul: a sparse matrix of shape {left.shape} and an array of shape {array.shape} do not fit")
    entries: Any = left.tocoo()
    entries.sum_duplicates()
    terms: list[list[Any]] = [[] for _ in range(left.shape[0])]
    rows: Sequence[int] = entries.row.tolist()
    for row, column, number in zip(rows, entries.col.tolist(), entries.data.tolist(), strict=True):
        terms[row].append(number * array[column])
    result = np.empty((left.shape[0], *array.shape[1:]), dtype=object)
    for row, parts in enumerate(terms):
        result[row] = reduce(lambda a, b: a + b, parts) if parts else np.zeros(array.shape[1:]) if array.ndim > 1 else 0.0
    return result
