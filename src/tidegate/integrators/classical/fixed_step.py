"""What the methods of fixed step are made of: how the increment is predicted, and when it is corrected by the rate found there."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["FixedStep"]


class FixedStep(NamedTuple):
    """One method of fixed step H.

    Attributes
    ----------
    order : of the global error.
    extrapolated : from a, the rate at the step's start times H, and b, half of that of the step before, if that was exactly as long, to the increment
        predicted; None for a, which is also predicted where no such step comes before.
    corrects : whether an increment that was extrapolated is corrected by the trapezoidal rule.
    corrects_first : whether one that was not is.
    """

    order: int
    extrapolated: Callable[[float, float], float] | None
    corrects: bool
    corrects_first: bool
