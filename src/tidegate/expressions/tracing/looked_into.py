"""Objects that Python itself looks into, instead of being followed: all they hold is remembered (stage: tracing the user's Python).

What is followed notes each attribute that it reads. But an operator that a class defines for itself, and a function that is not followed, may look at
anything that an object holds, and at the objects in containers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final, Protocol

import numpy as np

from tidegate.expressions.tracing.reads import are_collected, note_holdings, note_read
from tidegate.expressions.tracing.value_kinds import class_of, is_dict

__all__ = [
    "ARITHMETIC",
    "COMPARISON",
    "ENTRY",
    "ITERATION",
    "MEMBERSHIP",
    "TEXT",
    "TRUTH",
    "is_pythons",
    "look_into",
    "look_into_all",
    "look_into_call",
    "look_into_name",
    "note_kind",
]

Names = frozenset[str]


def _special(names: str) -> Names:
    return frozenset(f"__{name}__" for name in names.split())


_SIDES: Final = _special("add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod")
ARITHMETIC: Final = _SIDES | {f"__{side}{name[2:]}" for name in _SIDES for side in "ri"} | _special("neg pos abs invert")
COMPARISON: Final = _special("eq ne lt le gt ge")
ENTRY: Final = _special("getitem missing index")
ITERATION: Final = _special("iter getitem keys")
MEMBERSHIP: Final = _special("contains iter getitem")
TEXT: Final = _special("str repr format")
TRUTH: Final = _special("bool len")
_ANY: Final = (
    ARITHMETIC | COMPARISON | ENTRY | ITERATION | MEMBERSHIP | TEXT | TRUTH | _special("float int index round trunc floor ceil complex call reversed")
)
_CONTAINERS: Final[tuple[Any, ...]] = (list, tuple, set, frozenset, deque)
_AS_THEY_ARE: Final[tuple[Any, ...]] = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, Enum, np.ufunc, np.dtype)
_PLAIN: Final[tuple[Any, ...]] = (*_CONTAINERS, dict, bool, int, float, complex, str, bytes, range, slice, type(None), np.ndarray, np.generic, super)
_MOST: Final = 1000  # elements of containers
_LEVELS: Final = 3  # of containers
_SEE_NOTHING: Final[tuple[Any, ...]] = (
    isinstance,
    issubclass,
    id,
    callable,
    hasattr,
    getattr,
    setattr,
    delattr,
    type,
    object,
    print,
    globals,
    locals,
)
_SEE_ELEMENTS: Final[tuple[Any, ...]] = (sum, max, min, sorted, any, all, set, frozenset, str, repr, format)
_COMPARE_ELEMENTS: Final = frozenset({"index", "count", "remove", "sort", "__contains__", "__eq__"})
_WRITE_ELEMENTS: Final = frozenset({"join", "format", "format_map"})
_PYTHONS: Final = frozenset({"builtins", "math", "cmath", "_operator", "operator", "itertools", "_functools", "_heapq", "_bisect", "_statistics"})


class _Knows(Protocol):
    def is_new(self, value: Any) -> bool:
        """Whether what is followed has made an object."""
        ...


@lru_cache(maxsize=512)
def _may_hold(kind: type[Any]) -> bool:
    """Whether objects of a class are the user's, or of a library of his, and may hold what nothing else remembers."""
    return not issubclass(kind, (*_PLAIN, *_AS_THEY_ARE)) and not str(kind.__module__).startswith("tidegate") and not hasattr(kind, "__next__")


@lru_cache(maxsize=2048)
def _has_own(kind: type[Any], names: Names) -> bool:
    """Whether a class says for itself what one of these operations does."""
    return _may_hold(kind) and any(names & vars(base).keys() for base in kind.__mro__[:-1] if not str(base.__module__).startswith("tidegate"))


def look_into(knows: _Knows, names: Names, *values: Any) -> None:
    """Remember what operands hold whose class defines one of these operations."""
    if are_collected():
        for value in values:
            if _has_own(class_of(value), names) and not knows.is_new(value):
                _note(value)


def look_into_all(knows: _Knows, values: Iterable[Any], names: Names | None = None) -> None:
    """Remember what values hold, and the elements of containers, whose class defines one of these operations, or any."""
    if are_collected():
        for value in _reached(values, _LEVELS):
            if (_may_hold(class_of(value)) if names is None else _has_own(class_of(value), names)) and not knows.is_new(value):
                _note(value)


def _note(value: Any) -> None:
    note_holdings(value, class_of(value).__name__)


def _reached(values: Iterable[Any], levels: int) -> Iterator[Any]:
    for count, value in enumerate(values):
        if count == _MOST:
            return
        yield value
        if levels and isinstance(value, _CONTAINERS):
            yield from _reached(value, levels - 1)
        elif levels and is_dict(value):
            yield from _reached(value.values(), levels - 1)


def look_into_call(knows: _Knows, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Remember what the arguments of a call hold that is made as it is, and what is called, as far as it may be looked at."""
    if not are_collected() or any(function is one for one in _SEE_NOTHING):
        return
    receiver: Any = getattr(function, "__self__", None)
    given = (*args, *kwargs.values())
    if isinstance(receiver, _PLAIN) and receiver is not None:
        name = getattr(function, "__name__", "")
        if name in _COMPARE_ELEMENTS:
            look_into_all(knows, (receiver, *given), COMPARISON)
        elif name in _WRITE_ELEMENTS:
            look_into_all(knows, given, TEXT)
    elif is_pythons(function):
        if _module_of(function) != "builtins" or any(function is one for one in _SEE_ELEMENTS):
            look_into_all(knows, given, _ANY)
        else:
            look_into(knows, _ANY, *given)
    elif not _module_of(function).startswith("tidegate"):
        look_into_all(knows, (function, receiver, *given))


def is_pythons(function: Any) -> bool:
    """Whether a function is one of those that Python itself brings, and does what is written of it."""
    return _module_of(function) in _PYTHONS or class_of(function).__module__ == "operator"


def _module_of(function: Any) -> str:
    """Where a function or class is from; an object that can be called is no function of any module."""
    if isinstance(function, BuiltinFunctionType | FunctionType | MethodType | type):
        return str(function.__module__ or "")
    home = str(class_of(function).__module__)
    return home if isinstance(function, np.ufunc) or home.startswith("tidegate") else ""


def note_kind(value: Any) -> None:
    """Remember of which class an object is: it may become one of another."""
    if _may_hold(class_of(value)):
        note_read(value, "__class__", class_of(value), lambda: class_of(value))


def look_into_name(value: Any) -> None:
    """Remember all that can be reached from the value of a name that a function reads which is not followed."""
    if are_collected():
        for reached in _reached((value,), _LEVELS):
            if not isinstance(reached, (*_PLAIN, ModuleType, BuiltinFunctionType, Enum)):
                _note(reached)
