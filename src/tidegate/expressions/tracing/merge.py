"""Two branches become one: values that differ are joined by ``select`` (stage: tracing the user's Python).

In: a condition and what a variable holds where it is true and where it is false. Out: one value of the same structure.
What has no common structure becomes a ``Diverged`` value, which is an error only if it is used later.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from enum import Enum, Flag
from functools import partial
from inspect import isroutine
from typing import Any, Final, cast

import numpy as np

from tidegate.errors import Origin
from tidegate.expressions.chosen_texts import chosen_text, is_text
from tidegate.expressions.nodes import Expr, select
from tidegate.expressions.tracing.array_types import kind_of_both
from tidegate.expressions.tracing.branch_changes import EMPTY, Contents, owner
from tidegate.expressions.tracing.call_frames import BoundClosure, Closure
from tidegate.expressions.tracing.source import followed_place
from tidegate.expressions.tracing.value_kinds import class_of, is_array, is_dict
from tidegate.expressions.tracing.vector import Vector
from tidegate.quick_dataclass import dataclass

__all__ = [
    "ChosenFunction",
    "Diverged",
    "MismatchError",
    "Views",
    "describe",
    "filled",
    "frozen",
    "is_scalar",
    "is_there",
    "joined_objects",
    "merge",
    "merge_keys",
    "merge_later",
    "merge_partly",
]

_DEEPEST: Final = 40  # levels of nested containers; beyond it a structure surely contains itself


# told the condition, the new object, and the two it was made of: a change of one of them is no change of the others
joined_objects: Final[ContextVar[Callable[[Expr, Any, Any, Any], None] | None]] = ContextVar("joined_objects", default=None)


class MismatchError(Exception):
    """Two values have no structure in common; the message says how they differ."""


@dataclass(frozen=True, eq=False)
class Diverged:
    """A variable that holds things of different structure, or nothing, depending on a condition."""

    condition: Expr
    if_true: Any
    if_false: Any
    reason: str
    origin: Origin


def is_scalar(value: Any) -> bool:
    """True for numbers, truth values and expressions."""
    return isinstance(value, Expr | int | float | np.number | np.bool_) or (is_array(value) and np.asarray(value).shape == ())


def describe(value: Any) -> str:
    """A few words on what a value is."""
    if value is EMPTY:
        return "nothing"
    if value is None:
        return "None"
    if is_scalar(value):
        return "a number"
    if is_array(value):
        return f"an array of shape {np.asarray(value).shape}"
    if is_dict(value):
        return f"a dict with keys {list(value)}"  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, list | tuple | set | deque):
        return f"a {type(value).__name__} of length {len(value)}"  # pyright: ignore[reportUnknownArgumentType,reportUnknownMemberType]
    return f"{value!r}" if isinstance(value, str) else f"an object of type {type(value).__name__}"


@dataclass(frozen=True, eq=False)
class ChosenFunction:
    """One of two functions, as a condition says: a call of it is a call of either, in a branch each."""

    condition: Expr
    if_true: Any
    if_false: Any


@dataclass(frozen=True, eq=False)
class Views:
    """What mutable objects held at the end of each of two branches, where that is not what they hold now."""

    if_true: Contents
    if_false: Contents


def merge(condition: Expr, a: Any, b: Any, views: Views | None = None, depth: int = 0) -> Any:
    """``a`` where the condition holds, else ``b``, element by element.

    Parameters
    ----------
    condition : decides.
    a, b : what the two branches give.
    views : what changed in the branches, if it was put back since.

    Raises
    ------
    MismatchError
        if the two have different structure.
    """
    if a is b:
        return a
    if depth > _DEEPEST:
        raise MismatchError("a structure that contains itself")
    if is_scalar(a) and is_scalar(b) and not (_is_member(a) and _is_member(b)):
        return _merge_scalars(condition, a, b)
    result = _merge_structures(condition, a, b, views, depth)
    note = joined_objects.get()
    if note is not None and result is not a:
        note(condition, result, a, b)
    return result


def _here() -> Origin:
    place = followed_place.get()
    return Origin() if place is None else place()


def merge_later(condition: Expr, a: Any, b: Any, views: Views | None = None) -> Any:
    """Like ``merge_partly``, but what has no common structure is ``Diverged``."""
    try:
        return merge_partly(condition, a, b, views)
    except MismatchError as mismatch:
        return Diverged(condition, a, b, str(mismatch), _here())


def merge_partly(condition: Expr, a: Any, b: Any, views: Views | None = None) -> Any:
    """Like ``merge``, but dictionaries need not have the same keys; ``joined_objects`` is told of those that have not."""
    try:
        return merge(condition, a, b, views)
    except MismatchError:
        if type(a) is not dict or type(b) is not dict:
            raise
    merged = merge_keys(condition, cast("dict[Any, Any]", a), cast("dict[Any, Any]", b), views)
    note = joined_objects.get()
    if note is not None:
        note(condition, merged, a, b)
    return merged


def _merge_name(condition: Expr, a: Any, b: Any, views: Views | None = None) -> Any:
    """What a name or a key holds after two branches, of which one may have left it unbound: ``EMPTY``."""
    if a is not b and (a is EMPTY or b is EMPTY):
        return Diverged(condition, a, b, "", _here())
    return merge_later(condition, a, b, views)


def merge_keys(condition: Expr, a: dict[Any, Any], b: dict[Any, Any], views: Views | None = None) -> dict[Any, Any]:
    """A dictionary of all keys that two have; what only one has is ``Diverged``, and ``EMPTY`` in the other branch."""
    if views is not None:
        a, b = _held(a, views.if_true), _held(b, views.if_false)
    return {key: _merge_name(condition, a.get(key, EMPTY), b.get(key, EMPTY), views) for key in {**a, **b}}


def is_there(value: Any) -> bool | Expr:
    """Whether a name or a key holds anything."""
    if not isinstance(value, Diverged):
        return value is not EMPTY
    return (value.condition & is_there(value.if_true)) | (~value.condition & is_there(value.if_false))


def filled(value: Any, old: Any) -> Any:
    """The value of a key, and where it is not there the old one."""
    if value is EMPTY:
        return old
    if not isinstance(value, Diverged):
        return value
    return _merge_name(value.condition, filled(value.if_true, old), filled(value.if_false, old))


def _merge_structures(condition: Expr, a: Any, b: Any, views: Views | None, depth: int) -> Any:
    if views is not None:
        a, b = _held(a, views.if_true), _held(b, views.if_false)
    for one, other, test in ((a, b, condition), (b, a, ~condition)):
        joined = one.joined_under(test, other) if hasattr(class_of(one), "joined_under") else None
        if joined is not None:
            return joined
    if is_array(a) or is_array(b):
        return _merge_arrays(condition, a, b, views)
    if is_text(a) and is_text(b):
        return a if isinstance(a, str | Enum) and type(a) is type(b) and a == b else chosen_text(condition, a, b)
    if _is_called(a) and _is_called(b) and not (isinstance(a, type) and isinstance(b, type)):
        return a if a == b else ChosenFunction(condition, a, b)
    if type(a) is not type(b):
        raise MismatchError(f"{describe(a)} in one branch and {describe(b)} in the other")
    if isinstance(a, list | tuple | dict | deque):
        return _merge_containers(condition, a, b, views, depth)
    if hasattr(a, "__dict__") and not callable(a) and not isinstance(a, type):
        return _merge_objects(condition, a, b, views, depth)
    if not isinstance(a, Diverged) and a == b:
        return a
    raise MismatchError(f"{describe(a)} in one branch and {describe(b)} in the other")


def _is_member(value: Any) -> bool:
    """Members of an enumeration stay such, also those that are numbers; sets of bits are numbers."""
    return isinstance(value, Enum) and not isinstance(value, Flag)


def _is_called(value: Any) -> bool:
    return isinstance(value, ChosenFunction | Closure | BoundClosure | partial | np.ufunc | type) or isroutine(value)


def _held(value: Any, contents: Contents) -> Any:
    """The value as it was at the end of a branch: a copy where it has changed since."""
    entries = getattr(value, "__dict__", None)
    if entries is not None and id(entries) in contents:
        changed = copy.copy(value)
        vars(changed).clear()
        vars(changed).update(contents[id(entries)][1])
        return changed
    base = owner(value)
    if base is None or id(base) not in contents:
        return value
    then = contents[id(base)][1]
    if base is value:
        return then
    # a part of an array: let the array hold what it held then, for a moment
    now = base.copy()
    base[...] = then
    part = value.copy()
    base[...] = now
    return part


def _merge_scalars(condition: Expr, a: Any, b: Any) -> Any:
    a = a.item() if is_array(a) else a
    b = b.item() if is_array(b) else b
    if not isinstance(a, Expr) and not isinstance(b, Expr) and type(a) is type(b) and a == b:
        return a
    return select(condition, a, b)


def _merge_arrays(condition: Expr, a: Any, b: Any, views: Views | None) -> Any:
    try:
        first, second = np.asarray(a), np.asarray(b)
    except ValueError:
        first, second = np.empty(0), np.empty((0, 0))
    if first.shape != second.shape or is_dict(a) or is_dict(b):
        raise MismatchError(f"{describe(a)} in one branch and {describe(b)} in the other")
    if np.dtype(object) not in {first.dtype, second.dtype} and np.array_equal(first, second):
        return a
    pairs = zip(first.ravel().tolist(), second.ravel().tolist(), strict=True)
    values = [merge(condition, x, y, views) for x, y in pairs]
    merged = Vector(values, getattr(a, "vector_names", None))
    merged.numpy_kind = kind_of_both(a, b)
    return merged.reshape(first.shape) if first.ndim != 1 else merged


def _merge_containers(condition: Expr, a: Any, b: Any, views: Views | None, depth: int) -> Any:
    if is_dict(a):
        entries: dict[Any, Any] = a
        if set(entries) != set(b):
            different = sorted(map(repr, set(entries) ^ set(b)))
            raise MismatchError(f"a dict with key {', '.join(different)} in one branch only")
        return {key: merge(condition, value, b[key], views, depth + 1) for key, value in entries.items()}
    if len(a) != len(b):
        raise MismatchError(f"{describe(a)} in one branch and {describe(b)} in the other")
    values = [merge(condition, x, y, views, depth + 1) for x, y in zip(a, b, strict=True)]
    if isinstance(a, deque):
        return deque(values, a.maxlen)
    if type(a) is list:
        return values
    return type(a)(*values) if hasattr(a, "_fields") else tuple(values)


def _attributes(value: Any) -> dict[str, Any]:
    return value.__dict__


def _merge_objects(condition: Expr, a: Any, b: Any, views: Views | None, depth: int) -> Any:
    first, second = _attributes(a), _attributes(b)
    if set(first) != set(second):
        raise MismatchError(f"objects of type {type(a).__name__} with different attributes")
    merged = copy.copy(a)
    for name, value in first.items():
        _attributes(merged)[name] = merge(condition, value, second[name], views, depth + 1)
    return merged


def frozen(value: Any, depth: int = 0) -> Any:
    """A copy that later changes of the user's containers do not reach."""
    if depth > _DEEPEST:
        return value
    if is_array(value):
        return value.copy()  # pyright: ignore[reportUnknownVariableType,reportUnknownMemberType]
    if type(value) is list:
        return [frozen(item, depth + 1) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if type(value) is tuple:
        return tuple(frozen(item, depth + 1) for item in value)  # pyright: ignore[reportUnknownVariableType]
    if type(value) is dict:
        return {key: frozen(item, depth + 1) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value
