"""Machine code of views on a run's memory (stage: compiled): arrays that own nothing, by hand. Loaded where something is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numba import types
from numba.core import cgutils
from numba.np.arrayobj import populate_array

__all__ = ["array_view", "make_pointer", "make_run", "make_tail", "make_view"]

_Made = tuple[Any, Callable[..., Any]]  # a signature, and what generates the code


def array_view(context: Any, builder: Any, kind: Any, start: Any, sizes: Sequence[Any]) -> Any:
    """Code for an array of this type on memory that begins at a pointer: it owns nothing, the run does."""
    view = context.make_array(kind)(context, builder)
    item = context.get_constant(types.intp, kind.dtype.bitwidth // 8)
    strides = [item]
    for size in reversed(sizes[1:]):
        strides.insert(0, builder.mul(strides[0], size))
    data = builder.bitcast(start, view.data.type)
    populate_array(view, data=data, shape=sizes, strides=strides, itemsize=item, meminfo=None)
    return view._getvalue()  # noqa: SLF001, there is no public way to it


def make_view(base: Any, offset: Any, *shape: Any) -> _Made:
    """A view of this shape on memory behind a pointer."""
    view_type = types.Array(base.dtype, len(shape), "C")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        index = context.cast(builder, values[1], signature.args[1], types.intp)
        sizes = [context.cast(builder, v, t, types.intp) for v, t in zip(values[2:], signature.args[2:], strict=True)]
        return array_view(context, builder, view_type, builder.gep(values[0], [index]), sizes)

    return view_type(base, offset, *shape), generate


def make_tail(base: Any, offset: Any) -> _Made:
    """A view of everything behind a place."""
    view_type = types.Array(base.dtype, 1, "C")

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        one = context.get_constant(types.intp, 1)
        signature, inner = make_view(base, offset, types.intp)
        return inner(context, builder, signature, [values[0], values[1], one])

    return view_type(base, offset), generate


def make_pointer(name: str, address: Any) -> _Made:
    """An address as a pointer to what Numba calls ``name``."""
    result = types.CPointer(getattr(types, name))

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = context.cast(builder, values[0], signature.args[0], types.uint64)
        return builder.inttoptr(word, context.get_value_type(result))

    return result(address), generate


def make_run(run: Any, h: Any, r: Any) -> _Made:
    """The run, of this type, whose memory two pointers point to."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        memory = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        memory.h, memory.r = values
        return memory._getvalue()  # noqa: SLF001, there is no public way to it

    return run(h, r), generate
