"""What a value is made of, to be compared with what it is later (stage: tracing the user's Python).

A snapshot keeps the contents of numbers, texts, arrays and plain containers, and everything else as the object that it is. The holdings of an object
are a snapshot of all that can be reached from it: its attributes and those of what stands there, what the user's classes say for all objects, what
functions close over, and what a class that is written in C says of itself when it is copied. Where a symbol stands, there may be any number later.
"""

from __future__ import annotations

import array
import sys
from collections import deque
from contextvars import ContextVar
from enum import Enum
from functools import lru_cache
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MappingProxyType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, Final, cast
from weakref import ReferenceType

import numpy as np

from tidegate.expressions.nodes import Expr
from tidegate.expressions.scipy_functions import is_sparse
from tidegate.expressions.tracing.source import is_pythons_own, is_tidegates_own, package_of
from tidegate.expressions.tracing.value_kinds import class_of, is_array, is_dict, is_sequence

__all__ = ["are_alike", "holdings", "snapshot"]

_LONG: Final = 100_000  # elements: of more, no copy is kept
_DEEPEST: Final = 6  # levels of containers
_DEEPEST_HELD: Final = 24  # of containers, objects and classes
_MOST_OBJECTS: Final = 2000  # that holdings reach
_ATOMS: Final = (bool, int, float, complex, str, bytes, type(None))
_BYTES: Final[tuple[Any, ...]] = (bytearray, memoryview, array.array)
_STAND_FOR_THEMSELVES: Final[tuple[Any, ...]] = (ModuleType, BuiltinFunctionType, CodeType, Enum, np.ufunc, np.dtype)
_ELSEWHERE: Final[tuple[Any, ...]] = (ModuleType, FunctionType, BuiltinFunctionType, type)
_OF_EVERY_CLASS: Final = frozenset(
    {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__static_attributes__", "__firstlineno__"}
)
_BY_STATEMENT: Final = 1 << 9  # of the flags of a class
_ANY: Final = object()  # a symbol stood there

Seen = dict[int, Any]


class _Held:
    """An object that is remembered by what it is, not by what is in it."""

    def __init__(self, value: Any) -> None:
        self.value = value


def snapshot(value: Any) -> Any:
    """What a value is, with the contents of containers and arrays."""
    return _taken(value, 0, None)


def holdings(value: Any) -> Any:
    """What an object is, with all that it holds; one that cannot be looked into as what it is."""
    try:
        return _taken(value, 0, {})
    except Exception:  # noqa: BLE001 - a class may do anything where it is asked
        return _Held(value)


def _taken(given: Any, depth: int, seen: Seen | None) -> Any:
    value: Any = given  # said so that what is asked below does not narrow it
    if isinstance(value, _ATOMS):
        return given
    if isinstance(value, np.generic):
        return _taken(np.asarray(given), depth, seen)
    if is_array(value):
        return _of_array(value, depth, seen)
    if is_sparse(value) and value.nnz <= _LONG:
        triples = value.tocoo()
        return ("sparse", value.shape, *(part.tobytes() for part in (triples.row, triples.col, triples.data)))
    if depth >= (_DEEPEST if seen is None else _DEEPEST_HELD):
        return _Held(given)
    if is_sequence(value) and len(value) <= _LONG:
        items: Any = value
        return (type(items).__name__, [_taken(item, depth + 1, seen) for item in items])
    if is_dict(value) and not isinstance(value, ModuleType) and len(value) <= _LONG:
        entries: dict[Any, Any] = value
        return ("dict", [(_taken(key, depth + 1, seen), _taken(item, depth + 1, seen)) for key, item in entries.items()])
    kind = class_of(value)
    if kind in (set, frozenset) and len(value) <= _LONG:
        return ("set", {_member(item) for item in value})
    if kind is deque and len(value) <= _LONG:
        return ("deque", [_taken(item, depth + 1, seen) for item in value])
    return _Held(given) if seen is None else _held_by(value, depth, seen)


def _of_array(value: Any, depth: int, seen: Seen | None) -> Any:
    """An array: a long one by a number that another content hardly has."""
    if value.dtype.hasobject:
        items = value.ravel().tolist() if depth < _DEEPEST and value.size <= _LONG else [value]
        return ("objects", value.shape, [_Held(item) if item is value else _taken(item, depth + 1, seen) for item in items])
    contents = value.tobytes()
    return ("array", value.shape, value.dtype.str, contents if value.size <= _LONG else hash(contents))


def _held_by(value: Any, depth: int, seen: Seen) -> Any:
    """An object with all that it holds; one that is met again, or stands for itself, as what it is."""
    if isinstance(value, Expr):
        return _ANY
    kind = class_of(value)
    if id(value) in seen or len(seen) > _MOST_OBJECTS or isinstance(value, _STAND_FOR_THEMSELVES) or _is_ours(kind) or hasattr(kind, "__next__"):
        return _Held(value)
    seen[id(value)] = value
    told = _by_kind(value, kind)
    if told is None:
        return _Held(value)
    return (kind.__name__, _taken(kind, depth, seen), [_taken(part, depth + 1, seen) for part in told])


def _by_kind(value: Any, kind: Any) -> list[Any] | None:
    """What an object holds; None where it stands for itself."""
    if isinstance(value, FunctionType):
        return _of_function(value) if _is_users(value.__code__.co_filename) else None
    if isinstance(value, type):
        return _of_class(value) if _is_users(_file_of(value)) else None
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if kind is ContextVar:
        return [value.get(None)]
    if isinstance(value, ReferenceType):
        return [value()]
    if isinstance(value, _BYTES):
        return [bytes(value)]
    if kind is MappingProxyType:
        return [dict(value)]
    entries = _attributes(value)
    if kind.__reduce__ is object.__reduce__ and kind.__reduce_ex__ is object.__reduce_ex__ and all(map(_is_statement, kind.__mro__[:-1])):
        return None if entries is None else [entries]
    try:  # a part of it may be hidden in C
        _, *told = value.__reduce_ex__(4)
    except Exception:  # noqa: BLE001 - what cannot be copied does not say more
        return None if entries is None else [entries]
    return [entries, *(list(part) if hasattr(part, "__next__") else part for part in told)]


def _of_function(function: FunctionType) -> list[Any]:
    """What a function reads besides its arguments; the modules, classes and functions among it as what they are."""
    own, cells = function.__globals__, function.__closure__ or ()
    named = {name: own[name] for name in function.__code__.co_names if name in own and not isinstance(own[name], _ELSEWHERE)}
    closed = [cell.cell_contents for cell in cells if cell != CellType()]
    return [function.__code__, function.__defaults__, function.__kwdefaults__, vars(function), named, closed]


def _of_class(kind: Any) -> list[Any]:
    """What the user's classes above an object say for all of them."""
    bases: tuple[Any, ...] = kind.__mro__
    return [_said_by(base) for base in bases if _is_users(_file_of(base))]


def _said_by(kind: Any) -> dict[str, Any]:
    entries = cast("dict[str, Any]", kind.__dict__)
    return {name: entry for name, entry in entries.items() if name not in _OF_EVERY_CLASS}


@lru_cache(maxsize=512)
def _is_users(file: str) -> bool:
    """Whether a file is the user's, and not one of a package."""
    return bool(file) and package_of(file) is None and not is_pythons_own(file) and not is_tidegates_own(file) and not file.startswith("<frozen")


def _file_of(kind: Any) -> str:
    """Where a class was written; of those of a notebook or console, nowhere in particular."""
    module = sys.modules.get(str(kind.__module__))
    is_pythons = str(kind.__module__) in sys.builtin_module_names
    return "" if is_pythons or not _is_statement(kind) else getattr(module, "__file__", None) or "<console>"


def _is_statement(kind: Any) -> bool:
    """Whether Python made a class, as `class` does, and not C."""
    return bool(kind.__flags__ & _BY_STATEMENT)


def _is_ours(kind: type) -> bool:
    return str(kind.__module__).startswith("tidegate.")


def _attributes(value: Any) -> dict[str, Any] | None:
    """What stands in an object's dictionary and slots; None if it has neither."""
    kind: Any = class_of(value)
    bases: tuple[Any, ...] = kind.__mro__
    slots: list[str] = [name for base in bases for name in _slots(base)]
    entries: Any = getattr(value, "__dict__", None)
    if not is_dict(entries):
        return {name: getattr(value, name, _ANY) for name in slots} if slots else None
    return {**entries, **{name: getattr(value, name, _ANY) for name in slots}}


def _slots(kind: Any) -> list[str]:
    entries = cast("dict[str, Any]", kind.__dict__)
    return [name for name, entry in entries.items() if isinstance(entry, MemberDescriptorType)]


def _member(value: Any) -> Any:
    return (type(value), value) if isinstance(value, _ATOMS) else id(value)


def are_alike(before: Any, now: Any) -> bool:
    """Whether two snapshots say the same."""
    if before is _ANY or now is _ANY:
        return True
    if isinstance(before, _Held) or isinstance(now, _Held):
        return isinstance(before, _Held) and isinstance(now, _Held) and before.value is now.value
    if is_sequence(before):
        return class_of(before) is class_of(now) and len(before) == len(now) and all(are_alike(a, b) for a, b in zip(before, now, strict=True))
    return class_of(before) is class_of(now) and (before == now or (before != before and now != now))
