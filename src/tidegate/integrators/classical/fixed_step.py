"""What the methods of fixed step offer: which increment is tried first, and whether it is corrected by the rate found there."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["FixedStep"]


class FixedStep(NamedTuple):
    """One method of fixed step H, by two functions of numbers and one decision.

    Attributes
    ----------
    order : of the global error.
    predicted : from a, the rate at the step's start times H, and b, half of that of the step before, to the increment after which the rate is taken.
        The second is used only if the step before was of the same length.
    is_corrected : whether, after a step before of the same length (or of another one), the increment is corrected.
    corrected : from a and the rate at the predicted end times H to the increment.
    """

    order: int
    predicted: Callable[[float, float, bool], float]
    is_corrected: Callable[[bool], bool]
    corrected: Callable[[float, float], float]
