"""What the operators of signals build (front end of blocks): operands go in, the output port of a new block comes out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from tidegate.errors import UsageError
from tidegate.frontends.blocks.block import Block
from tidegate.frontends.blocks.library.arithmetic import Constant, Divider, Gain, HalfPower, Inverter, Magnitude, Multiplier, Offset, Summer
from tidegate.frontends.blocks.library.logic import And, Compare, Not, Or
from tidegate.frontends.blocks.signals import BUILDERS, is_number

__all__: list[str] = []

_KINDS: Final[dict[str, Callable[[], Block]]] = {
    "negate": Inverter,
    "magnitude": Magnitude,
    "greater": partial(Compare, ">"),
    "less": partial(Compare, "<"),
    "at_least": partial(Compare, ">="),
    "at_most": partial(Compare, "<="),
    "both": And,
    "either": Or,
    "negation": Not,
}


def _add(a: Any, b: Any) -> Any:
    """``a + b``: a ``Summer``, or an ``Offset`` where b is a number."""
    return Offset(float(b))(a) if is_number(b) else Summer("++")(a, b)


def _subtract(a: Any, b: Any) -> Any:
    """``a - b``."""
    return Offset(-float(b))(a) if is_number(b) else Summer("+-")(_constant(a), b)


def _multiply(a: Any, b: Any) -> Any:
    """``a * b``: a ``Multiplier``, or a ``Gain`` where b is a number."""
    return Gain(float(b))(a) if is_number(b) else Multiplier()(a, b)


def _divide(a: Any, b: Any) -> Any:
    """``a / b``: a ``Divider``, or a ``Gain`` where b is a number."""
    if is_number(b):
        if float(b) == 0.0:
            raise UsageError(f"{a!r} is divided by zero")
        return Gain(1.0 / float(b))(a)
    return Divider()(_constant(a), b)


def _power(a: Any, exponent: Any) -> Any:
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


def _constant(a: Any) -> Any:
    """The signal of a number: a ``Constant``."""
    return Constant(float(a)).out if is_number(a) else a


def _joined(kind: Callable[[], Block], *operands: Any) -> Any:
    return kind()(*map(_constant, operands))


BUILDERS.update({"constant": _constant, "add": _add, "subtract": _subtract, "multiply": _multiply, "divide": _divide, "power": _power})
BUILDERS.update({name: partial(_joined, kind) for name, kind in _KINDS.items()})
