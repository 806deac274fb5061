"""Assignments of the user's code: names, unpacking, items, attributes (stage: tracing the user's Python).

Every place is noted in the open journals before it changes. An array of floats that is given an expression is replaced by an array of expressions
under all its names.
"""

from __future__ import annotations

import ast
import sys
from types import CellType
from typing import Any, Final, cast

import numpy as np

from tidegate.expressions.nodes import Expr
from tidegate.expressions.tracing.array_types import entry_for
from tidegate.expressions.tracing.attributes import set_attribute
from tidegate.expressions.tracing.call_frames import CallFrame
from tidegate.expressions.tracing.chosen_entries import is_chosen, is_chosen_slice, mask_of_slice, places_of
from tidegate.expressions.tracing.conditional_elements import ChosenElements, chosen_elements
from tidegate.expressions.tracing.is_and_type import check_entry
from tidegate.expressions.tracing.looked_into import ITERATION, look_into
from tidegate.expressions.tracing.merge import merge
from tidegate.expressions.tracing.tracer import Tracer
from tidegate.expressions.tracing.value_kinds import is_array, is_dict, is_sequence
from tidegate.expressions.tracing.vector import Vector, is_symbolic, plain, settled_index

__all__ = ["assign", "assign_item", "bind", "delete", "private_name", "promoted"]

_OF_A_VIEW: Final = 2  # who refers to an array that is the memory of one view, and asked about


def bind(tracer: Tracer, name: str, value: Any, frame: CallFrame) -> None:
    """Bind a name where Python would."""
    home = frame.home(name)
    tracer.touch(home)
    if isinstance(home, CellType):
        home.cell_contents = value
    else:
        home[name] = value


def private_name(name: str, frame: CallFrame) -> str:
    """The name Python gives to a private attribute of the class a function stands in."""
    if not name.startswith("__") or name.endswith("__") or not frame.class_name:
        return name
    return f"_{frame.class_name.lstrip('_')}{name}"


def assign(tracer: Tracer, target: ast.expr, value: Any, frame: CallFrame) -> None:
    """Carry out ``target = value``."""
    if isinstance(target, ast.Name):
        bind(tracer, target.id, value, frame)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(tracer, target.elts, value, frame)
    elif isinstance(target, ast.Attribute):
        place = tracer.evaluate(tracer, target.value, frame)
        set_attribute(tracer, place, private_name(target.attr, frame), value)
    elif isinstance(target, ast.Subscript):
        place = tracer.value_of(target.value, frame, is_handed_on=True)
        index = tracer.evaluate(tracer, target.slice, frame)
        tracer.position = (frame.file, target)
        assign_item(tracer, place, index, value)
    else:
        raise tracer.error(f"`{ast.unparse(target)}` cannot be assigned to")


def _unpack(tracer: Tracer, targets: list[ast.expr], value: Any, frame: CallFrame) -> None:
    if isinstance(value, Expr):
        raise tracer.error(f"`{value!r}` is a single symbolic number and cannot be unpacked into {len(targets)} names", "unpack a list or an array")
    look_into(tracer, ITERATION, value)
    tracer.consumed(value)
    values = list(value)
    starred = [at for at, item in enumerate(targets) if isinstance(item, ast.Starred)]
    if starred:
        before, after = starred[0], len(targets) - starred[0] - 1
        if len(values) < before + after:
            raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(values)})")
        end = len(values) - after
        values = [*values[:before], tracer.made(values[before:end]), *values[end:]]
    if len(values) != len(targets):
        raise ValueError(f"{len(values)} values cannot be unpacked into {len(targets)} names")
    for item, single in zip(targets, values, strict=True):
        assign(tracer, item.value if isinstance(item, ast.Starred) else item, single, frame)


def assign_item(tracer: Tracer, place: Any, index: Any, value: Any) -> None:
    """Carry out ``place[index] = value``."""
    if is_array(place) and place.ndim == 1 and is_chosen_slice(index):
        index = mask_of_slice(tracer, index, len(place))
    if isinstance(value, ChosenElements):
        value = value.at_places_of(index)
    elif is_array(place) and is_array(index) and np.ndim(value) and chosen_elements(place, index, tracer.here()) is not None:
        raise tracer.error("an array is put, one element after the other, to places that a mask chooses during the run", "write `a[mask] = b[mask]`")
    if is_array(place):
        index = settled_index(index)
        place = promoted(tracer, place, value, index)
    if is_chosen(index) and (is_array(place) or isinstance(place, list)):
        tracer.touch(place)
        for k, condition in places_of(tracer, place, index).items():
            place[k] = merge(condition, value, place[k])
        return
    check_entry(tracer, place, index)
    tracer.touch(place)
    if isinstance(place, np.flatiter):
        value = entry_for(value, getattr(cast(Any, place).base, "kind", "f"))
    place[index] = value


def promoted(tracer: Tracer, place: Any, *values: Any) -> Any:
    """The array itself, or the array of expressions that takes its place if it holds numbers and is given expressions, or is changed in a branch."""
    is_needed = is_symbolic(*values)
    if place.dtype == object or not (is_needed or tracer.assumptions):
        return place
    entry_for(np.asarray(plain(values[0]), dtype=object), place.dtype.kind)
    holders = [] if _has_other_views(tracer, place) else _holders(tracer, place)
    if not holders or not all(isinstance(container, dict | list) for container, _ in holders):
        if not is_needed:
            return place
        raise tracer.error(
            "an array of floats that was made outside the traced function, or is a part of another array or a tuple, is given a symbolic value",
            "make the array inside the function, with np.zeros or np.zeros_like, and assign to it directly; or return a list",
        )
    replacement = tracer.made(Vector(place.astype(object)))
    replacement.numpy_kind = place.dtype.kind
    for container, key in holders:
        tracer.touch(container)
        container[key] = replacement
    return replacement


def _has_other_views(tracer: Tracer, place: Any) -> bool:
    """Whether others may see the memory of an array that is not its own: the array that has it is known to somebody besides this view."""
    if place.base is None:
        return False
    noted = sum((id(place.base) in journal.created) + (id(place.base) in journal.touched) for journal in tracer.journals)
    return not is_array(place.base) or sys.getrefcount(place.base) - noted > _OF_A_VIEW


def _holders(tracer: Tracer, place: Any) -> list[tuple[Any, Any]]:
    """All that holds an array, and under which name or at which place, as far as the user's functions know of it."""
    found: list[tuple[Any, Any]] = []
    waiting: list[Any] = [*tracer.namespaces()]
    seen = {id(container) for container in waiting}
    while waiting:
        container = waiting.pop()
        for key, held in container.items() if is_dict(container) else enumerate(container):
            if held is place:
                found.append((container, key))
                continue
            inner = held if is_dict(held) or is_sequence(held) else getattr(held, "__dict__", None) if tracer.is_new(held) else None
            if inner is not None and id(inner) not in seen:
                seen.add(id(inner))
                waiting.append(inner)
    return found


def delete(tracer: Tracer, target: ast.expr, frame: CallFrame) -> None:
    """Carry out ``del target``."""
    if isinstance(target, ast.Name):
        home = frame.home(target.id)
        tracer.touch(home)
        if isinstance(home, CellType):
            del home.cell_contents
        elif target.id in home:
            del home[target.id]
        else:
            raise NameError(f"name {target.id!r} is not bound here")
    elif isinstance(target, ast.Attribute):
        place = tracer.evaluate(tracer, target.value, frame)
        tracer.touch(getattr(place, "__dict__", None))
        delattr(place, private_name(target.attr, frame))
    elif isinstance(target, ast.Subscript):
        place = tracer.evaluate(tracer, target.value, frame)
        index = tracer.evaluate(tracer, target.slice, frame)
        check_entry(tracer, place, index)
        tracer.touch(place)
        del place[index]
    elif isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            delete(tracer, item, frame)
