"""Machine code of views on a run's memory (stage: compiled), by hand. Loaded where something is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from tidegate.compiled.view_type import ViewType, data_of, view_of

__all__ = ["make_matrix", "make_pointer", "make_run", "make_vector", "make_words"]

_Made = tuple[Any, Callable[..., Any]]  # a signature, and what generates the code


def _moved(context: Any, builder: Any, pointer: Any, offset: Any, kind: Any) -> Any:
    return builder.gep(pointer, [context.cast(builder, offset, kind, types.intp)])


def make_vector(base: Any, offset: Any, *count: Any) -> _Made:
    """A view of numbers on memory behind a pointer; how many there are is for readers."""
    kind = ViewType(base.dtype, 1)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return view_of(context, builder, kind, _moved(context, builder, values[0], values[1], signature.args[1]), ())

    return kind(base, offset, *count), generate


def make_matrix(base: Any, offset: Any, rows: Any, columns: Any) -> _Made:
    """A view of a matrix on memory behind a pointer; how many rows there are is for readers."""
    kind = ViewType(base.dtype, 2)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        width = context.cast(builder, values[3], signature.args[3], types.intp)
        return view_of(context, builder, kind, _moved(context, builder, values[0], values[1], signature.args[1]), (width,))

    return kind(base, offset, rows, columns), generate


def make_words(view: Any) -> _Made:
    """A view of 32-bit integers on the memory of a view."""
    kind = ViewType(types.int32, 1)

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return view_of(context, builder, kind, data_of(builder, values[0]), ())

    return kind(view), generate


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
        made = context.get_value_type(signature.return_type)(None)
        for k, pointer in enumerate(values):
            made = builder.insert_value(made, pointer, k)
        return made

    return run(h, r), generate
