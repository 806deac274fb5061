"""What an expression measures (stage: structure): the units of the arguments of one operation go in, the unit of its value comes out.

Only what was given is held against anyone. A variable without unit is *unknown*, and so is what is computed from it. A *number* that the user wrote
is anything as an addend; as a factor it leaves a unit alone if it is small and simple (2, 1/3, 4*pi), and makes the product unknown otherwise, since
9.81 may be a constant and 3600 a conversion whose unit nobody told.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Final

from tidegate.quick_dataclass import dataclass
from tidegate.units import BASE_UNITS, DIMENSIONLESS, Unit

__all__ = [
    "NUMBER",
    "PURE",
    "UNKNOWN",
    "Measured",
    "agreed",
    "alternative",
    "has_same_zero",
    "is_pure",
    "literal",
    "negative",
    "power",
    "product",
    "quotient",
    "total",
]

_SIMPLE: Final = 9  # largest numerator and denominator of a factor without unit: 12, 24, 60 and 1000 convert units
_CLOSE: Final = 1e-9  # relative; conversion factors differ by rounding only, units by far more
_MOST_ROOTS: Final = 1000  # largest denominator of an exponent, so that x**0.7 has a unit and x**0.6180339 has none
_LEAST: Final = 1e-100  # smaller factors, and the inverse of larger ones, are of no use and could end in a division by zero
_TEMPERATURE: Final = tuple(Fraction(name == "K") for name in BASE_UNITS)


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known of the unit of an expression.

    Parameters
    ----------
    unit : None where it is not known. Its offset is that of a temperature: 273.15 K for one in degC, 0 for the difference of two, NaN if it
        cannot be told.
    literals : product of the numbers written as factors, NaN if it is not known. Any of them may have been meant as a conversion.
    is_number : made of nothing but numbers; has no unit.
    is_time : the time itself. ``sin(2*t)`` means a frequency in its 2, so that time takes a number for anything.
    """

    unit: Unit | None = None
    literals: float = 1.0
    is_number: bool = False
    is_time: bool = False


UNKNOWN: Final = Measured()
NUMBER: Final = Measured(literals=math.nan, is_number=True)
PURE: Final = Measured(DIMENSIONLESS)


def literal(value: float) -> Measured:
    """A number in the user's source.

    Examples
    --------
    >>> [literal(value).is_number for value in (2.0, 1 / 3, 2 * math.pi, 9.81, 3600.0)]
    [True, True, True, False, False]
    """
    if value == 0.0:
        return NUMBER
    size = abs(value)
    for base in (1.0, math.pi):
        for denominator in range(1, _SIMPLE + 1):
            numerator = size / base * denominator
            if 0.5 < numerator < _SIMPLE + 0.5 and math.isclose(numerator, round(numerator), rel_tol=1e-12):
                return Measured(literals=value, is_number=True)
    return UNKNOWN


def _is_same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_CLOSE)


def agreed(a: Measured, b: Measured) -> Measured | None:
    """What both are where they are added or compared; None if they contradict each other. The zeros of temperatures are not looked at."""
    if a.unit is None or b.unit is None:
        known = b if a.unit is None else a
        if known.unit is None:
            return NUMBER if a.is_number and b.is_number else UNKNOWN
        return UNKNOWN if known.is_time else known
    if a.unit.dimension != b.unit.dimension:
        return None
    literals = a.literals if a.literals == b.literals else 1.0
    if _is_same(a.unit.factor, b.unit.factor):
        return Measured(a.unit, literals, is_time=a.is_time and b.is_time)
    # 1000*x may be what x is in millimetres
    first, second = abs(a.unit.factor / a.literals), abs(b.unit.factor / b.literals)
    if _is_same(first, b.unit.factor):
        return Measured(b.unit)
    if _is_same(a.unit.factor, second):
        return Measured(a.unit)
    return Measured(Unit(a.unit.dimension, first, a.unit.offset)) if _is_same(first, second) else None


def has_same_zero(a: Measured, b: Measured) -> bool:
    """False for a temperature in degC that stands where one in K, or a difference of two, is expected."""
    if a.unit is None or b.unit is None or math.isnan(a.unit.offset) or math.isnan(b.unit.offset):
        return True
    return math.isclose(a.unit.offset, b.unit.offset, rel_tol=_CLOSE, abs_tol=_CLOSE)


def _with_offset(quantity: Measured, offset: float) -> Measured:
    if quantity.unit is None or quantity.unit.offset == offset:
        return quantity
    return replace(quantity, unit=Unit(quantity.unit.dimension, quantity.unit.factor, offset))


def total(a: Measured, b: Measured, sign: float) -> Measured | None:
    """``a + sign * b``; None if they contradict each other."""
    found = agreed(a, b)
    if found is None or found.unit is None:
        return found
    if a.unit is None or b.unit is None:
        # 273.15 makes degC of K, 5.0 does not: who can tell
        return _with_offset(found, math.nan) if found.unit.dimension == _TEMPERATURE else found
    return _with_offset(found, a.unit.offset + sign * b.unit.offset)


def alternative(a: Measured, b: Measured) -> Measured | None:
    """Either of two, as a condition decides; None if they contradict each other."""
    found = agreed(a, b)
    if found is not None and not has_same_zero(a, b):
        return _with_offset(found, math.nan)
    return found


def negative(a: Measured) -> Measured:
    """``-a``."""
    return a if a.unit is None or not a.unit.offset else _with_offset(a, -a.unit.offset)


def _scaled(a: Measured, unit: Unit, number: float) -> Measured:
    """A quantity that is known, times a number."""
    if a.is_time:
        return UNKNOWN
    if unit.dimension == DIMENSIONLESS.dimension and _is_same(unit.factor, 1.0):
        return NUMBER  # 5.0*sin(x) may well be volts
    offset = unit.offset * number if unit.offset else 0.0
    return Measured(Unit(unit.dimension, unit.factor, offset), _bounded(a.literals * (1.0 if math.isnan(number) else number)))


def _bounded(literals: float) -> float:
    return literals if _LEAST < abs(literals) < 1.0 / _LEAST else math.nan


def _known(unit: Unit, literals: float) -> Measured:
    return Measured(unit, _bounded(literals)) if _LEAST < unit.factor < 1.0 / _LEAST else UNKNOWN


def product(a: Measured, b: Measured) -> Measured:
    """``a * b``; temperatures in degC count as differences there, as in ``cp*T``."""
    if a.unit is not None and b.unit is not None:
        return _known(a.unit * b.unit, a.literals * b.literals)
    if a.is_number and b.is_number:
        return replace(a, literals=_bounded(a.literals * b.literals))
    if a.unit is not None and b.is_number:
        return _scaled(a, a.unit, b.literals)
    if b.unit is not None and a.is_number:
        return _scaled(b, b.unit, a.literals)
    return UNKNOWN


def quotient(a: Measured, b: Measured) -> Measured:
    """``a / b``."""
    return product(a, replace(b, unit=None if b.unit is None else b.unit**-1, literals=_bounded(1.0 / b.literals)))


def power(a: Measured, exponent: float) -> Measured:
    """``a ** exponent`` for an exponent that is known."""
    ratio = Fraction(exponent).limit_denominator(_MOST_ROOTS) if math.isfinite(exponent) else Fraction(0)
    if a.is_number:
        return NUMBER
    if a.unit is None or a.is_time or not math.isclose(ratio, exponent, rel_tol=1e-12):
        return UNKNOWN
    try:
        return _known(a.unit**ratio, abs(a.literals) ** float(ratio))
    except OverflowError:
        return UNKNOWN


def is_pure(a: Measured) -> bool:
    """True unless it is known to have a unit, or to be a number in another scale than 1, such as degrees or percent."""
    if a.unit is None or a.is_time:
        return True
    return a.unit.dimension == DIMENSIONLESS.dimension and (_is_same(a.unit.factor, 1.0) or _is_same(abs(a.unit.factor / a.literals), 1.0))
