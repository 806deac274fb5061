"""What a traced function read of its surroundings (stage: tracing the user's Python).

A value that a function closes over, a global, a default or an attribute of the user's object is part of the graph as it was when the function was
followed. So it is remembered, by content: numbers, texts, arrays, and lists and dictionaries of them; everything else as the object that it is.
Whoever keeps a graph asks before using it again whether anything has changed since.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from operator import is_
from types import ModuleType
from typing import Any, Final

import numpy as np

from tidegate.expressions.scipy_functions import is_sparse
from tidegate.expressions.tracing.value_kinds import class_of, is_array, is_dict, is_sequence

__all__ = ["Reads", "collect_reads", "note_read"]

_MOST_ELEMENTS: Final = 100_000  # of one container; a larger one is remembered as the object that it is
_LISTS: Final = (list, tuple)
_ATOMS: Final = (bool, int, float, complex, str, bytes, type(None))
_DEEPEST: Final = 6  # levels of containers
_IS, _EQUALS, _EACH_IS, _CLOSELY = range(4)  # how what was read is compared with what is there now

_collector: Final[ContextVar[Reads | None]] = ContextVar("reads", default=None)


class Reads:
    """Values that were read while functions were followed, each with how to read it again."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[Any, Callable[[], Any], Any, tuple[Any, ...] | None]] = {}
        self._quick: dict[tuple[int, str], tuple[Callable[[], Any], Any, int]] = {}  # how to read again, what there was, how to compare

    def __bool__(self) -> bool:
        return bool(self._known)

    def note(self, place: Any, name: str, value: Any, again: Callable[[], Any]) -> None:
        """Remember what ``name`` is at a place, the first time it is read there."""
        if (id(place), name) not in self._known:
            self._known[id(place), name] = (place, again, _snapshot(value, 0), _parts(value))
            self._quick[id(place), name] = (again, *_quickly(value))

    def changed(self) -> str:
        """The name of something that is not what it was; empty if there is none."""
        return next((name for _, name in self.changes()), "")

    def are_as_before(self) -> bool:
        """Whether everything is still the same objects; False where that alone does not tell, and it has to be looked at closely."""
        try:
            for again, before, how in self._quick.values():
                now = again()
                if how == _IS:
                    if now is not before:
                        return False
                elif how == _CLOSELY or type(now) is not type(before):
                    return False
                elif how == _EQUALS:
                    if now != before:
                        return False
                elif len(now) != len(before) or not all(map(is_, now, before)):
                    return False
        except Exception:  # noqa: BLE001 - what cannot be read or compared any more has changed
            return False
        return True

    def changes(self) -> Generator[tuple[Any, str]]:
        """Everything that is not what it was: where it was read, and its name there."""
        for (_, name), (place, again, before, parts) in self._known.items():
            try:
                now = again()
            except (ValueError, AttributeError, KeyError):
                yield place, name
                continue
            # most of it is the same object: then nothing needs to be compared
            items = now if type(now) in _LISTS else (now,)
            if (parts is None or len(items) != len(parts) or not all(map(is_, items, parts))) and not _same(before, _snapshot(now, 0)):
                yield place, name

    def places(self) -> Generator[tuple[Any, str]]:
        """Where something was read, and its name there."""
        for (_, name), (place, *_) in self._known.items():
            yield place, name

    def forget(self, owners: Collection[Any] = (), places: Collection[tuple[Any, str]] = ()) -> None:
        """What was read of these objects, and at these places, may change."""
        whole, parts = {id(owner) for owner in owners}, {(id(place), name) for place, name in places}
        self._known = {key: entry for key, entry in self._known.items() if key[0] not in whole and key not in parts}
        self._quick = {key: entry for key, entry in self._quick.items() if key in self._known}


@contextmanager
def collect_reads() -> Generator[Reads]:
    """Gather what functions read of their surroundings while they are followed."""
    found = Reads()
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)


def note_read(place: Any, name: str, value: Any, again: Callable[[], Any]) -> None:
    """Tell whoever gathers that a value was read."""
    collector = _collector.get()
    if collector is not None:
        collector.note(place, name, value, again)


def _parts(value: Any) -> tuple[Any, ...] | None:
    """The value, or the values in a list: as long as these are the same objects, nothing has changed; None where they have contents of their own."""
    parts = tuple(value) if type(value) in _LISTS else (value,)
    have_contents = any(is_sequence(part) or is_dict(part) or is_array(part) or class_of(part) in (set, deque) or is_sparse(part) for part in parts)
    return None if have_contents else parts


def _quickly(value: Any) -> tuple[Any, int]:
    """What to keep of a value, and how to compare it with what is there later, as long as that is the same objects."""
    parts = _parts(value)
    if parts is None:
        return None, _CLOSELY
    if type(value) not in _LISTS:
        return value, _IS
    # objects that are equal to themselves only are compared at once
    are_objects = all(kind.__eq__ is object.__eq__ or getattr(kind, "is_equal_to_itself_only", False) for kind in set(map(type, parts)))
    return type(value)(parts), _EQUALS if are_objects else _EACH_IS


class _Held:
    """An object that is remembered by what it is, not by what is in it."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _snapshot(given: Any, depth: int) -> Any:
    value: Any = given  # said so that what is asked below does not narrow it
    if isinstance(value, _ATOMS):
        return given
    if isinstance(value, np.generic):
        return _snapshot(np.asarray(given), depth)
    if is_array(value) and value.dtype != object and value.size <= _MOST_ELEMENTS:
        return ("array", value.shape, value.dtype.str, value.tobytes())
    if is_sparse(value) and value.nnz <= _MOST_ELEMENTS:
        triples = value.tocoo()
        return ("sparse", value.shape, *(part.tobytes() for part in (triples.row, triples.col, triples.data)))
    if depth < _DEEPEST and is_sequence(value) and len(value) <= _MOST_ELEMENTS:
        items: Any = value
        return (type(items).__name__, [_snapshot(item, depth + 1) for item in items])
    if depth < _DEEPEST and is_dict(value) and not isinstance(value, ModuleType) and len(value) <= _MOST_ELEMENTS:
        entries: dict[Any, Any] = value
        return ("dict", [(_snapshot(key, depth + 1), _snapshot(item, depth + 1)) for key, item in entries.items()])
    kind = class_of(value)
    if kind in (set, frozenset) and len(value) <= _MOST_ELEMENTS:
        return ("set", {_member(item) for item in value})
    if depth < _DEEPEST and kind is deque and len(value) <= _MOST_ELEMENTS:
        return ("deque", [_snapshot(item, depth + 1) for item in value])
    return _Held(value)


def _member(value: Any) -> Any:
    return (type(value), value) if isinstance(value, _ATOMS) else id(value)


def _same(before: Any, now: Any) -> bool:
    if isinstance(before, _Held) or isinstance(now, _Held):
        return isinstance(before, _Held) and isinstance(now, _Held) and before.value is now.value
    if is_sequence(before):
        return class_of(before) is class_of(now) and len(before) == len(now) and all(_same(a, b) for a, b in zip(before, now, strict=True))
    return class_of(before) is class_of(now) and (before == now or (before != before and now != now))
