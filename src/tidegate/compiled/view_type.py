"""How Numba types and translates views on memory (stage: compiled): where they begin and how wide their rows are, and nothing of an array of numpy's.

An element is one load or store. Indices are what they say: none is counted from the end, none is checked unless ``TIDEGATE_CHECK_INDICES`` is set.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_builtin, lower_getattr
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature

from tidegate.compiled.kernel_keys import INDICES_ARE_CHECKED

__all__ = ["ViewType", "data_of", "view_of"]

_infer: Any = infer_global  # for type checkers, which do not see what it makes


class ViewType(types.Type):
    """Of a view of elements of a type, in so many dimensions, by rows."""

    def __init__(self, item: Any, dimensions: int) -> None:
        self.item, self.dimensions = item, dimensions
        super().__init__(f"tidegate.view({item}, {dimensions})")


@register_default(ViewType)
class _ViewModel(models.StructModel):
    """A pointer, and the sizes of all dimensions but the first."""

    def __init__(self, manager: Any, kind: ViewType) -> None:
        sizes = [(f"size{k}", types.intp) for k in range(1, kind.dimensions)]
        super().__init__(manager, kind, [("data", types.CPointer(kind.item)), *sizes])


def view_of(context: Any, builder: Any, kind: ViewType, start: Any, sizes: Sequence[Any]) -> Any:
    """Code for a view on memory that begins at a pointer; sizes are those of all dimensions but the first."""
    made = context.get_value_type(kind)(None)
    pointer = builder.bitcast(start, made.type.elements[0])
    for k, part in enumerate((pointer, *sizes)):
        made = builder.insert_value(made, part, k)
    return made


def data_of(builder: Any, value: Any) -> Any:
    """Code for where a view begins."""
    return builder.extract_value(value, 0)


def _parts(index: Any) -> list[Any]:
    """The types of a tuple, or the one there is."""
    return [*getattr(index, "types", (index,))]


def _left(view: Any, index: Any) -> int | None:
    """How many dimensions an index leaves; None where it is none."""
    if not isinstance(view, ViewType):
        return None
    parts = _parts(index)
    if not all(isinstance(part, types.Integer) for part in parts) or len(parts) > view.dimensions:
        return None
    return view.dimensions - len(parts)


@_infer(operator.getitem)
class _GetItem(AbstractTemplate):
    key = operator.getitem

    def generic(self, args: Any, kws: Any) -> Any:
        left = _left(*args) if len(args) == 2 and not kws else None
        if left is None:
            return None
        view, index = args
        return signature(ViewType(view.item, left) if left else view.item, view, index)


@_infer(operator.setitem)
class _SetItem(AbstractTemplate):
    key = operator.setitem

    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) != 3 or kws or _left(*args[:2]) != 0:
            return None
        view, index, _ = args
        return signature(types.none, view, index, view.item)


@infer_getattr
class _Attributes(AttributeTemplate):
    key = ViewType

    def resolve_ctypes(self, view: ViewType) -> Any:
        """As of an array: a pointer for C."""
        return types.CPointer(view.item)


@lower_getattr(ViewType, "ctypes")
def _pointer(_context: Any, builder: Any, _kind: Any, value: Any) -> Any:
    return data_of(builder, value)


def _place(context: Any, builder: Any, sig: Any, view: Any, index: Any) -> Any:
    """Pointer to what an index stands for."""
    kind, of = sig.args[:2]
    values = cgutils.unpack_tuple(builder, index) if isinstance(of, types.BaseTuple) else [index]
    parts = [context.cast(builder, value, one, types.intp) for value, one in zip(values, _parts(of), strict=True)]
    if INDICES_ARE_CHECKED:
        _check(builder, view, parts)
    at = parts[0]
    for k in range(1, kind.dimensions):
        at = builder.mul(at, builder.extract_value(view, k), flags=["nsw"])
        if k < len(parts):
            at = builder.add(at, parts[k], flags=["nsw"])
    return builder.gep(data_of(builder, view), [at], inbounds=True)


def _check(builder: Any, view: Any, parts: Sequence[Any]) -> None:
    trap = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), ()), "llvm.trap")
    for k, part in enumerate(parts):
        is_outside = builder.icmp_signed("<", part, part.type(0))
        if k > 0:
            is_outside = builder.or_(is_outside, builder.icmp_signed(">=", part, builder.extract_value(view, k)))
        with builder.if_then(is_outside, likely=False):
            builder.call(trap, ())


@lower_builtin(operator.getitem, ViewType, types.Integer)
@lower_builtin(operator.getitem, ViewType, types.BaseTuple)
def _read(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view, index = args
    place = _place(context, builder, sig, view, index)
    if not isinstance(sig.return_type, ViewType):
        return context.unpack_value(builder, sig.return_type, place)
    sizes = [builder.extract_value(view, k) for k in range(len(_parts(sig.args[1])) + 1, sig.args[0].dimensions)]
    return view_of(context, builder, sig.return_type, place, sizes)


@lower_builtin(operator.setitem, ViewType, types.Integer, types.Any)
@lower_builtin(operator.setitem, ViewType, types.BaseTuple, types.Any)
def _write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view, index, value = args
    context.pack_value(builder, sig.args[2], value, _place(context, builder, sig, view, index))
    return context.get_dummy_value()
