"""Assignments of the user's code: names, unpacking, items, attributes (stage: tracing the user's Python).

Every place is noted in the open journals before it changes. An array of floats that is given an expression is replaced by an array of expressions
under all its names.
"""

from __future__ import annotations

import ast
from types import CellType
from typing import Any, cast

import numpy as np

from tidegate.expressions.nodes import Expr
from tidegate.expressions.tracing.array_types import entry_for
from tidegate.expressions.tracing.attributes import set_attribute
from tidegate.expressions.tracing.call_frames import CallFrame
from tidegate.expressions.tracing.chosen_entries import is_chosen, places_of
from tidegate.expressions.tracing.is_and_type import check_entry
from tidegate.expressions.tracing.merge import merge
from tidegate.expressions.tracing.tracer import Tracer
from tidegate.expressions.tracing.value_kinds import is_array
from tidegate.expressions.tracing.vector import Vector, is_symbolic, plain

__all__ = ["assign", "assign_item", "bind", "delete", "private_name", "promoted"]


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
    if is_array(place):
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
    """The array itself, or the array of expressions that takes its place if it holds numbers and is given expressions."""
    if place.dtype == object or not is_symbolic(*values):
        return place
    entry_for(np.asarray(plain(values[0]), dtype=object), place.dtype.kind)
    replacement = tracer.made(Vector(place.astype(object)))
    replacement.numpy_kind = place.dtype.kind
    count = 0
    for names in tracer.namespaces():
        for name, held in list(names.items()):
            if held is place:
                tracer.touch(names)
                names[name] = replacement
                count += 1
    if place.base is not None or not count:
        raise tracer.error(
            "an array of floats that was made outside the traced function, or is a part of another array, is given a symbolic value",
            "make the array inside the function, with np.zeros or np.zeros_like, and assign to it directly; or return a list",
        )
    return replacement


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
