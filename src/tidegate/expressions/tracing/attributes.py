"""Attributes of the user's objects; properties written in Python are followed (stage: tracing the user's Python)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, Final

from tidegate.expressions.chosen_texts import is_unknown_text
from tidegate.expressions.tracing.reads import note_read
from tidegate.expressions.tracing.source import is_tidegates_own
from tidegate.expressions.tracing.tracer import Tracer
from tidegate.expressions.tracing.unknown_texts import text_attribute
from tidegate.expressions.tracing.value_kinds import class_of, is_array, is_dict
from tidegate.expressions.tracing.vector import Vector

__all__ = ["attribute", "note_absence", "set_attribute"]

_NOT_THERE: Final = object()  # None may be what is said for an object later


def attribute(tracer: Tracer, value: Any, name: str) -> Any:
    """``value.name``, with a property's function followed like any other."""
    if isinstance(value, Vector) and value.vector_names is not None and name in value.vector_names.places:
        # what the user calls `size` or `T` is meant, not numpy's attribute of that name
        return value[name]
    if is_unknown_text(value):
        return text_attribute(tracer, value, name)
    if class_of(value) is super:
        return _inherited(tracer, value, name)
    descriptor: Any = _class_entry(value, name)
    if isinstance(descriptor, property | cached_property):
        note_read(class_of(value), name, descriptor, lambda: _class_entry(value, name))
    if isinstance(descriptor, property) and isinstance(descriptor.fget, FunctionType):
        return tracer.call(tracer, descriptor.fget, (value,), {})
    if isinstance(descriptor, cached_property) and name not in vars(value):
        # what depends on symbols must not stay in the user's object, so it is not cached
        note_absence(tracer, value, name, vars(value).get)
        return tracer.call(tracer, descriptor.func, (value,), {})
    getter = getattr(class_of(descriptor), "__get__", None)
    if isinstance(getter, FunctionType) and not is_tidegates_own(getter.__code__.co_filename) and _comes_first(descriptor, value, name):
        return _got(tracer, getter, descriptor, value)
    try:
        found = getattr(value, name)
    except AttributeError:
        note_absence(tracer, value, name)
        raise
    entries = getattr(value, "__dict__", None)
    if is_dict(entries) and name in entries and not tracer.is_new(value):
        note_read(value, name, found, lambda: entries[name])
    elif isinstance(value, type):
        note_read(value, name, _own_entry(value, name), lambda: _own_entry(value, name))
    elif isinstance(descriptor, MemberDescriptorType) or (descriptor is None and not isinstance(value, ModuleType)):
        # in a slot, or given by __getattr__
        note_read(value, name, found, lambda: getattr(value, name))
    elif descriptor is not None and not isinstance(value, Vector):
        note_read(type(value), name, descriptor, lambda: _class_entry(value, name))
        if isinstance(descriptor, GetSetDescriptorType) and not tracer.is_new(value) and not is_array(value):  # what an array is has been noted
            note_read(value, name, found, lambda: getattr(value, name))
        if (found is descriptor or isinstance(descriptor, FunctionType)) and is_dict(entries):
            # what the class says for all may be said for this object later
            note_absence(tracer, value, name, entries.get)
    return found


def _comes_first(descriptor: Any, value: Any, name: str) -> bool:
    """Whether a descriptor is asked before the dictionary of the object, or that has no such entry; an array of variables is none."""
    return not isinstance(descriptor, Vector) and (hasattr(class_of(descriptor), "__set__") or name not in getattr(value, "__dict__", ()))


def _got(tracer: Tracer, getter: FunctionType, descriptor: Any, value: Any) -> Any:
    return tracer.call(tracer, getter, (descriptor, value, class_of(value)), {})


def note_absence(tracer: Tracer, value: Any, name: str, get: Callable[[str, object], object] | None = None) -> None:
    """Remember that an object, or its dictionary that is asked by ``get``, has no such attribute: it may get one."""
    if not tracer.is_new(value):
        again = partial(getattr, value, name, _NOT_THERE) if get is None else partial(get, name, _NOT_THERE)
        note_read(value, name, _NOT_THERE, again)


def _inherited(tracer: Tracer, value: Any, name: str) -> Any:
    """``super().name``: what the next class above has; each time another bound method, of the same function."""
    order: tuple[Any, ...] = value.__self_class__.__mro__
    above = order[order.index(value.__thisclass__) + 1 :]
    holder = next((base for base in above if name in vars(base)), None)
    if holder is None:
        return getattr(value, name)  # says that there is none
    entry = _own_entry(holder, name)
    note_read(holder, name, entry, lambda: _own_entry(holder, name))
    if isinstance(entry, property) and isinstance(entry.fget, FunctionType):
        return tracer.call(tracer, entry.fget, (value.__self__,), {})
    return getattr(value, name)


def set_attribute(tracer: Tracer, value: Any, name: str, new: Any) -> None:
    """``value.name = new``, noted in the open journals."""
    descriptor = _class_entry(value, name)
    if isinstance(descriptor, property) and isinstance(descriptor.fset, FunctionType):
        tracer.call(tracer, descriptor.fset, (value, new), {})
        return
    entries = getattr(value, "__dict__", None)
    if is_dict(entries):
        tracer.touch(entries)
    elif tracer.assumptions:
        raise tracer.error(
            f"attribute {name!r} of a {type(value).__name__}, which has no __dict__, is set in a branch that depends on symbols",
            "use a class without __slots__, or return the value instead",
        )
    setattr(value, name, new)


def _class_entry(value: Any, name: str) -> Any:
    return _own_entry(class_of(value), name)


def _own_entry(kind: Any, name: str) -> Any:
    """What a class or one above it has under a name, as it stands there."""
    bases: tuple[Any, ...] = kind.__mro__
    for base in bases:
        if name in vars(base):
            return vars(base)[name]  # pyright: ignore[reportUnknownVariableType] - whatever the user has put there
    return None
