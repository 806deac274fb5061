"""Scales of plots whose divisions are 1, 2 or 5 times a power of ten (stage: output program). In go values, out come the ends of an axis."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.errors import UsageError
from tidegate.quick_dataclass import dataclass

__all__ = ["DIVISIONS", "Scale", "convenient_scale", "round_step"]

DIVISIONS: Final = 10  # of a plot; more cannot be counted by eye

_FLAT: Final = 1e-12  # a curve that changes by less than this part of its size is a constant with rounding errors
_TINY: Final = 1e-290  # below it a division of the scale would underflow
_SLACK: Final = 1e-9  # part of a division; 0.7 / 0.1 is not quite 7


@dataclass(frozen=True, slots=True)
class Scale:
    """The ends of an axis and the distance of its divisions.

    Parameters
    ----------
    lower, upper : with ``lower < upper``.
    step : between the marks.

    Raises
    ------
    UsageError
        If the ends are not finite, or in the wrong order.
    """

    lower: float
    upper: float
    step: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower < self.upper):
            raise UsageError(f"no scale goes from {self.lower:g} to {self.upper:g}", hint="two finite numbers, the lower first: SCALE 9, -10, 10")

    @property
    def marks(self) -> NDArray[np.float64]:
        """Where the divisions are; the ends belong to them where they are multiples of the step."""
        first, last = math.ceil(self.lower / self.step - _SLACK), math.floor(self.upper / self.step + _SLACK)
        return np.array([_multiple(self.step, i) for i in range(first, last + 1)])


def convenient_scale(values: ArrayLike, divisions: int = DIVISIONS) -> Scale:
    """The closest scale that shows all of a curve.

    Parameters
    ----------
    values : of the curve; those that are not finite do not count.
    divisions : the step is the smallest of 1, 2 and 5 times a power of ten that needs at most so many; at least two.

    Returns
    -------
    Ends that are multiples of the step. A constant gets a tenth of itself on both sides, and zero gets one.

    Examples
    --------
    >>> convenient_scale([-10.0, 6.06])
    Scale(lower=-10.0, upper=8.0, step=2.0)
    """
    array = np.asarray(values, dtype=float)
    finite = array[np.isfinite(array)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    size = max(abs(low), abs(high))
    if size < _TINY:
        low, high = -1.0, 1.0
    elif high / size - low / size <= _FLAT:  # divided first, since the difference of two huge numbers may overflow
        low, high = low - 0.1 * size, high + 0.1 * size
    power = math.floor(math.log10(max(high / divisions - low / divisions, _TINY))) - 1
    while True:
        for digit in (1, 2, 5):
            step = _decimal(digit, power)
            first, last = math.floor(low / step + _SLACK), math.ceil(high / step - _SLACK)
            if last - first <= divisions:
                return Scale(_decimal(first * digit, power), _decimal(last * digit, power), step)
        power += 1


def round_step(lower: float, upper: float, divisions: int = DIVISIONS) -> float:
    """The smallest step of 1, 2 or 5 times a power of ten that divides a range into at most so many parts."""
    return convenient_scale([0.0, upper - lower], divisions).step


def _decimal(count: int, power: int) -> float:
    """The double nearest to count times ten to the power: 3 and -1 give 0.3, where 3 * 0.1 does not."""
    return count * 10.0**power if power >= 0 else count / 10.0**-power


def _multiple(step: float, count: int) -> float:
    return float(f"{step * count:.12g}")
