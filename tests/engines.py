"""The integration methods that every trap and every rule of events is tried with, in one place."""

from __future__ import annotations

from typing import Final

__all__ = ["DAE_METHODS", "METHODS"]

METHODS: Final = ["radau", "ida", "bdf", "adams"]
DAE_METHODS: Final = ["radau", "ida"]  # those that solve for algebraic unknowns too
