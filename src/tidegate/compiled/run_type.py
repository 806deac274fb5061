"""How compiled code reads and writes the memory of a run: ``run.t``, ``run.n``, ``run.y[q]``, ``run.jacobian``, by the names of the schema.

A run is two pointers for Numba, to integers and to numbers; so it is for whoever calls a kernel entry from C or from Python. An array's view is made
where it is named and owns nothing. ``run.h`` and ``run.r`` are the pointers themselves, ``run.y_at`` is where an array begins.
"""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr

from tidegate.compiled.schema import FIELDS, LASTING, Field
from tidegate.compiled.view_type import ViewType, view_of
from tidegate.compiled.workspace import INDEX_OF

__all__ = ["RUN"]

_INTEGERS: Final = types.CPointer(types.int64)
_NUMBERS: Final = types.CPointer(types.float64)
_WORD: Final = ir.IntType(64)
_TYPES: Final[dict[str, Any]] = {"integer": types.int64, "number": types.float64, "complex": types.complex128}
_FIELDS: Final[dict[str, Field]] = {field.name: field for field in FIELDS}
_AT: Final = "_at"  # behind the name of an entry: where it stands


class RunType(types.Type):
    """The type of ``run``."""

    def __init__(self) -> None:
        super().__init__("tidegate.run")


RUN: Final = RunType()


@register_default(RunType)
class _RunModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("h", _INTEGERS), ("r", _NUMBERS)])


def _view_type(field: Field) -> Any:
    return ViewType(_TYPES[field.kind], len(field.shape or ()))


@infer_getattr
class _Attributes(AttributeTemplate):
    key = RunType

    def generic_resolve(self, _kind: Any, name: str) -> Any:
        if name in ("h", "r"):
            return _INTEGERS if name == "h" else _NUMBERS
        field = _FIELDS.get(name)
        if field is None:
            return types.int64 if name.removesuffix(_AT) in _FIELDS else None
        return _TYPES[field.kind] if field.shape is None else _view_type(field)


def _integer(builder: Any, h: Any, name: str) -> Any:
    value = builder.load(builder.gep(h, [ir.Constant(_WORD, INDEX_OF[name])]))
    if name in LASTING:
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def _size(builder: Any, h: Any, size: str | int) -> Any:
    if isinstance(size, int):
        return ir.Constant(_WORD, size)
    first, *rest = (_integer(builder, h, name) for name in size.split("*"))
    for one in rest:
        first = builder.mul(first, one)
    return first


def _offset(builder: Any, h: Any, field: Field) -> Any:
    """Where an array begins in its block."""
    if not field.part_of:
        return _integer(builder, h, field.name)
    return builder.add(_integer(builder, h, field.part_of), _integer(builder, h, field.begins))


def _view(context: Any, builder: Any, h: Any, block: Any, field: Field) -> Any:
    sizes = [_size(builder, h, one) for one in (field.shape or ())[1:]]
    return view_of(context, builder, _view_type(field), builder.gep(block, [_offset(builder, h, field)]), sizes)


def _block(builder: Any, value: Any, kind: str) -> Any:
    """The block of integers of a run, or that of numbers."""
    return builder.extract_value(value, 0 if kind == "integer" else 1)


@lower_getattr_generic(RunType)
def _read(context: Any, builder: Any, _kind: Any, value: Any, name: str) -> Any:
    h = _block(builder, value, "integer")
    if name in ("h", "r"):
        return h if name == "h" else _block(builder, value, "number")
    field = _FIELDS.get(name)
    if field is None:
        field = _FIELDS[name.removesuffix(_AT)]
        return ir.Constant(_WORD, INDEX_OF[field.name]) if field.shape is None else _offset(builder, h, field)
    block = _block(builder, value, field.kind)
    if field.shape is not None:
        return _view(context, builder, h, block, field)
    if field.kind == "integer":
        return _integer(builder, h, name)
    return builder.load(builder.gep(block, [ir.Constant(_WORD, INDEX_OF[name])]))


@lower_setattr_generic(RunType)
def _write(context: Any, builder: Any, signature: Any, values: Any, name: str) -> None:
    field = _FIELDS[name]
    block = _block(builder, values[0], field.kind)
    value = context.cast(builder, values[1], signature.args[1], _TYPES[field.kind])
    builder.store(value, builder.gep(block, [ir.Constant(_WORD, INDEX_OF[name])]))
