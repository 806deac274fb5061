"""What is the same for all runs of a model, made once and kept with its machine code (stage: executive), so that a thousand results share it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from tidegate.compiled.interface import CompiledModel

__all__ = ["kept_with_the_model"]


def kept_with_the_model[T](make: Callable[[CompiledModel], T]) -> Callable[[CompiledModel], T]:
    """A function of a compiled model that is carried out once for each. What it returns must not be changed, nor refer back to the model."""
    name = f"_kept_{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def kept(compiled: CompiledModel) -> T:
        # like the machine code of a neutral model: it lives as long as what it was made of, and in no table of ours
        store = vars(compiled)
        if name not in store:
            store[name] = make(compiled)
        return store[name]

    return kept
