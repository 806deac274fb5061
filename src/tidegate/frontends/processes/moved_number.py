"""Numbers that know how they move with parameters (stage: front end): what a process reads and computes with in a run with sensitivities.

A process is Python that nobody can differentiate by looking at it, so its arithmetic carries derivatives along (forward accumulation, Wengert 1964).
What would lose them, ``float()`` or a function of ``math``, is refused; comparisons and rounding look at the number alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tidegate.errors import UsageError

__all__ = ["Moved", "asked", "moved", "moves_of", "plain"]

Moves = Mapping[str, float]


def plain(value: Any) -> float:
    """The number alone."""
    return value.number if isinstance(value, Moved) else value


def moves_of(value: Any) -> Moves:
    """How a number moves with parameters; those that are not named do not move it."""
    return value.moves if isinstance(value, Moved) else {}


def moved(number: float, moves: Moves) -> Any:
    """A number with derivatives; a plain one where all are zero."""
    kept = {name: slope for name, slope in moves.items() if slope != 0.0}
    return Moved(number, kept) if kept else number


def _combined(a: Any, b: Any, of_a: float, of_b: float) -> dict[str, float]:
    found = {name: of_a * slope for name, slope in moves_of(a).items()}
    for name, slope in moves_of(b).items():
        found[name] = found.get(name, 0.0) + of_b * slope
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, Moved | int | float) or (hasattr(value, "dtype") and getattr(value, "shape", None) == ())


class Moved:
    """A number and its derivatives by parameters, by name.

    Examples
    --------
    >>> x = Moved(3.0, {"k": 1.0})
    >>> y = x * x + 1
    >>> y.number, y.moves
    (10.0, {'k': 6.0})
    """

    __slots__ = ("moves", "number")
    is_looked_at = False  # where the number alone decides, ``float`` and functions of ``math`` may ask for it

    def __init__(self, number: float, moves: Moves) -> None:
        self.number, self.moves = number, moves

    # -- arithmetic

    def __add__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        return moved(self.number + plain(other), _combined(self, other, 1.0, 1.0))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        return moved(self.number - plain(other), _combined(self, other, 1.0, -1.0))

    def __rsub__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        return moved(plain(other) - self.number, _combined(self, other, -1.0, 1.0))

    def __mul__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        return moved(self.number * plain(other), _combined(self, other, plain(other), self.number))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _quotient(self, other) if _is_number(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return _quotient(other, self) if _is_number(other) else NotImplemented

    def __floordiv__(self, other: Any) -> Any:
        return self.number // plain(other)  # a step function: it moves nowhere, but where it jumps

    def __rfloordiv__(self, other: Any) -> Any:
        return plain(other) // self.number

    def __mod__(self, other: Any) -> Any:
        return self - other * (self.number // plain(other)) if _is_number(other) else NotImplemented

    def __rmod__(self, other: Any) -> Any:
        return other - self * (plain(other) // self.number) if _is_number(other) else NotImplemented

    def __pow__(self, other: Any) -> Any:
        return _power(self, other) if _is_number(other) else NotImplemented

    def __rpow__(self, other: Any) -> Any:
        return _power(other, self) if _is_number(other) else NotImplemented

    def __neg__(self) -> Any:
        return moved(-self.number, {name: -slope for name, slope in self.moves.items()})

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return -self if self.number < 0.0 else self

    # -- what looks at the number alone

    def __eq__(self, other: object) -> bool:
        return bool(self.number == plain(other))

    def __lt__(self, other: Any) -> bool:
        return bool(self.number < plain(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.number <= plain(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.number > plain(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.number >= plain(other))

    def __hash__(self) -> int:
        return hash(self.number)

    def __bool__(self) -> bool:
        return bool(self.number)

    def __int__(self) -> int:
        return int(self.number)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.number, digits)

    def __floor__(self) -> int:
        return math.floor(self.number)

    def __ceil__(self) -> int:
        return math.ceil(self.number)

    def __trunc__(self) -> int:
        return math.trunc(self.number)

    def __format__(self, specification: str) -> str:
        return format(self.number, specification)

    def __repr__(self) -> str:
        return repr(self.number)

    def __float__(self) -> float:
        if Moved.is_looked_at:
            return self.number
        raise UsageError(
            "a number that moves with a parameter is asked for as a plain float: its derivatives would be lost here",
            hint="numpy's functions (np.sqrt for math.sqrt) keep them; .number is the number alone, where they are not wanted",
        )

    # -- numpy's functions of one number, which it looks for under these names

    def sqrt(self) -> Any:
        """The square root."""
        return _function(self, math.sqrt, lambda _, y: 0.5 / y)

    def exp(self) -> Any:
        """The exponential."""
        return _function(self, math.exp, lambda _, y: y)

    def log(self) -> Any:
        """The natural logarithm."""
        return _function(self, math.log, lambda x, _: 1.0 / x)

    def log10(self) -> Any:
        """The logarithm to base 10."""
        return _function(self, math.log10, lambda x, _: 1.0 / (x * math.log(10.0)))

    def sin(self) -> Any:
        """The sine."""
        return _function(self, math.sin, lambda x, _: math.cos(x))

    def cos(self) -> Any:
        """The cosine."""
        return _function(self, math.cos, lambda x, _: -math.sin(x))

    def tan(self) -> Any:
        """The tangent."""
        return _function(self, math.tan, lambda _, y: 1.0 + y * y)

    def arcsin(self) -> Any:
        """The angle of a sine."""
        return _function(self, math.asin, lambda x, _: 1.0 / math.sqrt(1.0 - x * x))

    def arccos(self) -> Any:
        """The angle of a cosine."""
        return _function(self, math.acos, lambda x, _: -1.0 / math.sqrt(1.0 - x * x))

    def arctan(self) -> Any:
        """The angle of a tangent."""
        return _function(self, math.atan, lambda x, _: 1.0 / (1.0 + x * x))

    def sinh(self) -> Any:
        """The hyperbolic sine."""
        return _function(self, math.sinh, lambda x, _: math.cosh(x))

    def cosh(self) -> Any:
        """The hyperbolic cosine."""
        return _function(self, math.cosh, lambda x, _: math.sinh(x))

    def tanh(self) -> Any:
        """The hyperbolic tangent."""
        return _function(self, math.tanh, lambda _, y: 1.0 - y * y)


def asked(condition: Callable[[], Any]) -> Any:
    """What a condition says: the numbers alone decide it."""
    before, Moved.is_looked_at = Moved.is_looked_at, True
    try:
        return condition()
    finally:
        Moved.is_looked_at = before


def _function(x: Moved, of: Callable[[float], float], slope: Callable[[float, float], float]) -> Any:
    y = of(x.number)
    rate = slope(x.number, y)
    return moved(y, {name: rate * move for name, move in x.moves.items()})


def _quotient(a: Any, b: Any) -> Any:
    quotient = plain(a) / plain(b)
    return moved(quotient, _combined(a, b, 1.0 / plain(b), -quotient / plain(b)))


def _power(a: Any, b: Any) -> Any:
    base, exponent = plain(a), plain(b)
    power = base**exponent
    by_base = exponent * base ** (exponent - 1) if moves_of(a) else 0.0
    by_exponent = power * math.log(base) if moves_of(b) else 0.0
    return moved(power, _combined(a, b, by_base, by_exponent))
