"""Numbers and times that stand behind options (stage: command line). In go texts like ``5min``, out come numbers, or what is wrong.

They are read before a command begins, so that nothing is printed above the sentence about a wrong one.
"""

from __future__ import annotations

import math
import re
from typing import Final

import typer

from tidegate.errors import UnitError
from tidegate.quick_dataclass import dataclass
from tidegate.units import convert, parse

__all__ = ["QUANTITY", "Quantity", "quantity", "real", "whole"]

QUANTITY: Final = re.compile(r"^\s*(?P<number>[+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>.*?)\s*$")
_NOT_FINITE: Final = frozenset({"nan", "inf", "infinity"})
_TIMES: Final = "a number, with a unit if you like: 20, 0.5s, 5min, 2h, 3d, 1yr"
_SECOND: Final = "s"  # of a model that says nothing of its unit of time


@dataclass(frozen=True, slots=True)
class Quantity:
    """A time as it was typed.

    Parameters
    ----------
    value : the number.
    unit : behind it; "" for none, which is the model's.

    Examples
    --------
    >>> Quantity(5.0, "min").of("s"), Quantity(5.0).of("h"), Quantity(2.0, "h").of("")
    (300.0, 5.0, 7200.0)
    """

    value: float
    unit: str = ""

    def of(self, time_unit: str) -> float:
        """The number in a model's unit of time, which is the second where it says nothing."""
        return convert(self.value, self.unit, time_unit or _SECOND) if self.unit else self.value


def quantity(text: str) -> Quantity:
    """A time, with a unit if one is typed.

    Raises
    ------
    typer.BadParameter
        If it is none; behind a line feed stands what to try.

    Examples
    --------
    >>> quantity("5 min")
    Quantity(value=5.0, unit='min')
    """
    found = QUANTITY.match(text)
    if found is None:
        raise _wrong(text, "is no time", _TIMES)
    value = _finite(text, float(found["number"]))
    unit = found["unit"]
    if unit:
        try:
            is_time = parse(unit).is_compatible(parse(_SECOND))
        except UnitError as error:
            raise _wrong(text, f"is no time: {error.message}", _TIMES) from None
        if not is_time:
            raise _wrong(text, f"is no time: {unit} is no unit of time", _TIMES)
    return Quantity(value, unit)


def real(text: str) -> float:
    """A number.

    Raises
    ------
    typer.BadParameter
        If it is none.
    """
    try:
        return _finite(text, float(text))
    except ValueError:
        raise _wrong(text, "is no number", "a number, e.g. 0.5 or 1e-6") from None


def whole(text: str) -> int:
    """A whole number.

    Raises
    ------
    typer.BadParameter
        If it is none.
    """
    try:
        return int(text)
    except ValueError:
        raise _wrong(text, "is no whole number", "digits alone, e.g. 100") from None


def _finite(text: str, value: float) -> float:
    if not math.isfinite(value):
        raise _wrong(text, "is not finite", "a number that fits a double")
    return value


def _wrong(text: str, what: str, hint: str) -> typer.BadParameter:
    if text.strip().lower().lstrip("+-") in _NOT_FINITE:
        what = "is not finite"
    return typer.BadParameter(f"{text.strip() if what == 'is not finite' else repr(text)} {what}\n{hint}")
