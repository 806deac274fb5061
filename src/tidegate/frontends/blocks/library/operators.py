"""What the operators of signals build (front end of blocks): operands go in, the output port of a new block comes out."""

from __future__ import annotations

from typing import Any

from tidegate.errors import UsageError
from tidegate.frontends.blocks.library.arithmetic import Constant, Divider, Gain, HalfPower, Inverter, Magnitude, Multiplier, Offset, Summer
from tidegate.frontends.blocks.library.logic import And, Compare, Not, Or
from tidegate.frontends.blocks.signals import builder, is_number

__all__ = [
    "add",
    "at_least",
    "at_most",
    "both",
    "constant",
    "divide",
    "either",
    "greater",
    "less",
    "magnitude",
    "multiply",
    "negate",
    "negation",
    "power",
    "subtract",
]


@builder
def add(a: Any, b: Any) -> Any:
    """``a + b``: a ``Summer``, or an ``Offset`` where b is a number."""
    return Offset(float(b))(a) if is_number(b) else Summer("++")(a, b)


@builder
def subtract(a: Any, b: Any) -> Any:
    """``a - b``."""
    return Offset(-float(b))(a) if is_number(b) else Summer("+-")(constant(a), b)


@builder
def multiply(a: Any, b: Any) -> Any:
    """``a * b``: a ``Multiplier``, or a ``Gain`` where b is a number."""
    return Gain(float(b))(a) if is_number(b) else Multiplier()(a, b)


@builder
def divide(a: Any, b: Any) -> Any:
    """``a / b``: a ``Divider``, or a ``Gain`` where b is a number."""
    if is_number(b):
        if float(b) == 0.0:
            raise UsageError(f"{a!r} is divided by zero")
        return Gain(1.0 / float(b))(a)
    return Divider()(constant(a), b)


@builder
def negate(a: Any) -> Any:
    """``-a``: an ``Inverter``."""
    return Inverter()(a)


@builder
def magnitude(a: Any) -> Any:
    """``abs(a)``: a ``Magnitude``."""
    return Magnitude()(a)


@builder
def power(a: Any, exponent: Any) -> Any:
    """``a**n`` for small whole n: ``Multiplier`` blocks; ``a**0.5``: a ``HalfPower``."""
    if is_number(exponent) and float(exponent) == 0.5:
        return HalfPower()(a)
    if not is_number(exponent) or float(exponent) not in (1.0, 2.0, 3.0, 4.0):
        raise UsageError(
            f"{a!r} is raised to {exponent!r}; powers 0.5, 1, 2, 3 and 4 have blocks", hint="blocks.UserBlock(lambda x: x**1.5)(signal) for others"
        )
    result = a
    for _ in range(int(float(exponent)) - 1):
        result = Multiplier()(result, a)
    return result


@builder
def greater(a: Any, b: Any) -> Any:
    """``a > b``: 1 where it holds, else 0."""
    return Compare(">")(a, constant(b))


@builder
def less(a: Any, b: Any) -> Any:
    """``a < b``."""
    return Compare("<")(a, constant(b))


@builder
def at_least(a: Any, b: Any) -> Any:
    """``a >= b``."""
    return Compare(">=")(a, constant(b))


@builder
def at_most(a: Any, b: Any) -> Any:
    """``a <= b``."""
    return Compare("<=")(a, constant(b))


@builder
def both(a: Any, b: Any) -> Any:
    """``a & b``."""
    return And()(a, b)


@builder
def either(a: Any, b: Any) -> Any:
    """``a | b``."""
    return Or()(a, b)


@builder
def negation(a: Any) -> Any:
    """``~a``."""
    return Not()(a)


@builder
def constant(a: Any) -> Any:
    """The signal of a number: a ``Constant``."""
    return Constant(float(a)).out if is_number(a) else a
