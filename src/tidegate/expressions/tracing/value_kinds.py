"""What kind of container a value of the user is, said so that type checkers believe it (stage: tracing the user's Python)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

import numpy as np

from tidegate.expressions.nodes import Expr

__all__ = ["class_of", "is_array", "is_collection", "is_dict", "is_function", "is_mapping", "is_sequence"]


def is_array(value: Any) -> TypeGuard[np.ndarray[Any, Any]]:
    """True for numpy arrays."""
    return isinstance(value, np.ndarray)


def is_sequence(value: Any) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """True for lists and tuples."""
    return isinstance(value, list | tuple)


def is_dict(value: Any) -> TypeGuard[dict[Any, Any]]:
    """True for dicts."""
    return isinstance(value, dict)


def is_mapping(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    """True for anything like a dict."""
    return isinstance(value, Mapping)


def is_collection(value: Any) -> TypeGuard[list[Any] | tuple[Any, ...] | set[Any] | frozenset[Any]]:
    """True for lists, tuples and sets."""
    return isinstance(value, list | tuple | set | frozenset)


def is_function(value: Any) -> TypeGuard[Callable[..., Any]]:
    """True for what can be called; an expression can be only so that the error of calling it says what is wrong."""
    return callable(value) and not isinstance(value, Expr)


def class_of(value: Any) -> Any:
    """The value's type."""
    return type(value)  # pyright: ignore[reportUnknownVariableType] - this is the place where it is made Any
