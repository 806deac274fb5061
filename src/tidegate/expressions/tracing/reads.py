"""What a traced function read of its surroundings (stage: tracing the user's Python).

A value that a function closes over, a global, a default or an attribute of the user's object is part of the graph as it was when the function was
followed. So it is remembered, by content: numbers, texts, arrays, and lists and dictionaries of them; everything else as the object that it is, of
which each attribute that is read is remembered in turn. What Python itself looks into, instead of being followed, is remembered with all it holds.
Whoever keeps a graph asks before using it again whether anything has changed since.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from operator import is_
from typing import Any, Final

from tidegate.expressions.scipy_functions import is_sparse
from tidegate.expressions.tracing.snapshots import are_alike, holdings, snapshot
from tidegate.expressions.tracing.value_kinds import class_of, is_array, is_dict, is_sequence

__all__ = ["Reads", "are_collected", "collect_reads", "hand_on", "note_holdings", "note_read"]

_LISTS: Final = (list, tuple)
_IS, _EQUALS, _EACH_IS, _CLOSELY = range(4)  # how what was read is compared with what is there now

_collector: Final[ContextVar[Reads | None]] = ContextVar("reads", default=None)


class Reads:
    """Values that were read while functions were followed, each with how to read it again."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[Any, Callable[[], Any], Any, tuple[Any, ...] | None]] = {}
        self._holdings: dict[int, tuple[Any, str, Any]] = {}  # objects, their names, and all they held
        self._quick: dict[tuple[int, str], tuple[Callable[[], Any], Any, int]] = {}  # how to read again, what there was, how to compare

    def __bool__(self) -> bool:
        return bool(self._known) or bool(self._holdings)

    def note(self, place: Any, name: str, value: Any, again: Callable[[], Any]) -> None:
        """Remember what ``name`` is at a place, the first time it is read there."""
        if (id(place), name) not in self._known:
            self._known[id(place), name] = (place, again, snapshot(value), _parts(value))
            self._quick[id(place), name] = (again, *_quickly(value))

    def note_holdings(self, value: Any, name: str) -> None:
        """Remember all that an object holds, the first time that it is looked into."""
        if id(value) not in self._holdings:
            self._holdings[id(value)] = value, name, holdings(value)

    def take_over(self, others: Reads) -> None:
        """Remember what was read by others as well."""
        self._known = others._known | self._known
        self._holdings = others._holdings | self._holdings
        self._quick = others._quick | self._quick

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
        return not any(True for _ in self._changed_holdings())

    def _changed_holdings(self) -> Generator[tuple[Any, str]]:
        return ((value, name) for value, name, before in self._holdings.values() if not are_alike(before, holdings(value)))

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
            if (parts is None or len(items) != len(parts) or not all(map(is_, items, parts))) and not are_alike(before, snapshot(now)):
                yield place, name
        yield from self._changed_holdings()

    def places(self) -> Generator[tuple[Any, str]]:
        """Where something was read, and its name there."""
        for (_, name), (place, *_) in self._known.items():
            yield place, name

    def looked_into(self) -> Generator[Any]:
        """The objects of which all that they hold was remembered."""
        for value, *_ in self._holdings.values():
            yield value

    def forget(self, owners: Collection[Any] = (), places: Collection[tuple[Any, str]] = ()) -> None:
        """What was read of these objects, and at these places, may change."""
        whole, parts = {id(owner) for owner in owners}, {(id(place), name) for place, name in places}
        self._known = {key: entry for key, entry in self._known.items() if key[0] not in whole and key not in parts}
        self._quick = {key: entry for key, entry in self._quick.items() if key in self._known}
        self._holdings = {key: entry for key, entry in self._holdings.items() if key not in whole}


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


def note_holdings(value: Any, name: str) -> None:
    """Tell whoever gathers that an object was looked into."""
    collector = _collector.get()
    if collector is not None:
        collector.note_holdings(value, name)


def hand_on(reads: Reads) -> None:
    """Tell whoever gathers what was read elsewhere."""
    collector = _collector.get()
    if collector is not None:
        collector.take_over(reads)


def are_collected() -> bool:
    """Whether anybody gathers what is read."""
    return _collector.get() is not None


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
