"""Addresses as pointers, and pointers as a run, for native code (stage: compiled)."""

from __future__ import annotations

from typing import Any

from tidegate.compiled.workspace import intrinsic

__all__ = ["integers_at", "pointer", "run_at", "words_of"]


@intrinsic
def pointer(_typing_context: Any, address: Any) -> Any:
    """An address as a pointer to numbers."""
    from tidegate.compiled.view_code import make_pointer

    return make_pointer("float64", address)


@intrinsic
def integers_at(_typing_context: Any, address: Any) -> Any:
    """An address as a pointer to integers."""
    from tidegate.compiled.view_code import make_pointer

    return make_pointer("int64", address)


@intrinsic
def words_of(_typing_context: Any, view: Any) -> Any:
    """The memory of a view as integers of 32 bits, as libraries take them."""
    from tidegate.compiled.view_code import make_words

    return make_words(view)


@intrinsic
def run_at(_typing_context: Any, h: Any, r: Any) -> Any:
    """The run whose memory two pointers point to."""
    from tidegate.compiled.run_type import RUN
    from tidegate.compiled.view_code import make_run

    return make_run(RUN, h, r)
