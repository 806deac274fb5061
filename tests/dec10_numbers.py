"""Numbers of the DEC-10 in single precision, for golden data only: 27 bits, every result rounded to nearest, ties away from zero."""

from __future__ import annotations

import math
from functools import total_ordering
from typing import Any

__all__ = ["Dec"]

BITS = 27


@total_ordering
class Dec:
    """mantissa * 2**exponent, exactly."""

    __slots__ = ("exponent", "mantissa")

    def __init__(self, value: Any) -> None:
        if isinstance(value, Dec):
            self.mantissa, self.exponent = value.mantissa, value.exponent
            return
        numerator, denominator = value.as_integer_ratio()
        self.mantissa, self.exponent = _rounded(numerator, 1 - denominator.bit_length())

    def __float__(self) -> float:
        return math.ldexp(self.mantissa, self.exponent)

    def __repr__(self) -> str:
        return f"Dec({float(self)!r})"

    def __format__(self, how: str) -> str:
        return format(float(self), how)

    def __neg__(self) -> Dec:
        return _made(-self.mantissa, self.exponent)

    def __abs__(self) -> Dec:
        return _made(abs(self.mantissa), self.exponent)

    def __add__(self, other: Any) -> Dec:
        b = _dec(other)
        if not b.mantissa:
            return self
        if not self.mantissa:
            return b
        low = min(self.exponent, b.exponent)
        return _made((self.mantissa << (self.exponent - low)) + (b.mantissa << (b.exponent - low)), low)

    def __sub__(self, other: Any) -> Dec:
        return self + -_dec(other)

    def __mul__(self, other: Any) -> Dec:
        b = _dec(other)
        return _made(self.mantissa * b.mantissa, self.exponent + b.exponent)

    def __truediv__(self, other: Any) -> Dec:
        b = _dec(other)
        if not b.mantissa:
            raise ZeroDivisionError
        # enough quotient bits, and one more that says whether anything is left: no tie is taken for one that is none
        shift = 2 * BITS + 4
        quotient, left = divmod(abs(self.mantissa) << shift, abs(b.mantissa))
        sign = -1 if (self.mantissa < 0) != (b.mantissa < 0) else 1
        return _made(sign * (2 * quotient + (left != 0)), self.exponent - b.exponent - shift - 1)

    def __pow__(self, other: Any) -> Dec:
        """The routine of that machine returned the only power of the golden runs one unit too low: truncated."""
        exact = math.pow(float(self), float(other))
        fraction, exponent = math.frexp(exact)
        return _made(math.floor(fraction * 2**BITS), exponent - BITS)

    def __radd__(self, other: Any) -> Dec:
        return _dec(other) + self

    def __rsub__(self, other: Any) -> Dec:
        return _dec(other) - self

    def __rmul__(self, other: Any) -> Dec:
        return _dec(other) * self

    def __rtruediv__(self, other: Any) -> Dec:
        return _dec(other) / self

    def __eq__(self, other: object) -> bool:
        return float(self) == float(other)  # type: ignore[arg-type]  # 27 bits fit into a float

    def __lt__(self, other: Any) -> bool:
        return float(self) < float(other)

    def __hash__(self) -> int:
        return hash(float(self))


def _dec(value: Any) -> Dec:
    return value if isinstance(value, Dec) else Dec(value)


def _made(mantissa: int, exponent: int) -> Dec:
    made = Dec.__new__(Dec)
    made.mantissa, made.exponent = _rounded(mantissa, exponent)
    return made


def _rounded(mantissa: int, exponent: int) -> tuple[int, int]:
    extra = abs(mantissa).bit_length() - BITS
    if extra <= 0:
        return mantissa, exponent
    size = (abs(mantissa) + (1 << (extra - 1))) >> extra
    return (size if mantissa > 0 else -size), exponent + extra
