"""What the operators of signals build (front end of blocks): operands go in, the output port of a new block comes out.

Sums and products with numbers are put together: ``1 - 2 * x + 3 * y`` is a ``WeightedSummer`` and an ``Offset``, not six blocks. A signal that has
a name in the diagram stays one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from tidegate.errors import UsageError
from tidegate.frontends.blocks.block import Block, OutPort
from tidegate.frontends.blocks.library.arithmetic import (
    Constant,
    Divider,
    Gain,
    HalfPower,
    Inverter,
    Magnitude,
    Multiplier,
    Offset,
    Summer,
    WeightedSummer,
)
from tidegate.frontends.blocks.library.logic import And, Compare, Not, Or
from tidegate.frontends.blocks.signals import BUILDERS, is_number
from tidegate.quick_dataclass import dataclass

__all__: list[str] = []

_MOST_WEIGHTS: Final = 3  # that a ``WeightedSummer`` takes
_KINDS: Final[dict[str, Callable[[], Block]]] = {
    "magnitude": Magnitude,
    "greater": partial(Compare, ">"),
    "less": partial(Compare, "<"),
    "at_least": partial(Compare, ">="),
    "at_most": partial(Compare, "<="),
    "both": And,
    "either": Or,
    "negation": Not,
}


@dataclass(frozen=True, eq=False)
class _Weighted:
    """``weight1 source1 + weight2 source2 + ... + offset``: what an operator makes of signals and numbers.

    Parameters
    ----------
    terms : source -> its weight, in the order written.
    offset : a number.
    """

    terms: Mapping[OutPort, float]
    offset: float = 0.0

    def times(self, factor: float) -> _Weighted:
        """It multiplied."""
        return _Weighted({source: factor * weight for source, weight in self.terms.items()}, factor * self.offset)

    def plus(self, other: _Weighted) -> _Weighted:
        """The sum."""
        total = dict(self.terms)
        for source, weight in other.terms.items():
            total[source] = total.get(source, 0.0) + weight
        return _Weighted(total, self.offset + other.offset)

    @property
    def is_one_block(self) -> bool:
        """Whether one block sums it up, with another for the offset."""
        signs = all(abs(weight) == 1.0 for weight in self.terms.values())
        return bool(self.terms) and all(weight != 0.0 for weight in self.terms.values()) and (signs or len(self.terms) <= _MOST_WEIGHTS)


def _weighted(operand: Any) -> _Weighted:
    """Of a number or a signal; of what an operator made and nobody named, what it was made of."""
    if is_number(operand):
        return _Weighted({}, float(operand))
    port = operand._signal()  # noqa: SLF001 - operators and signals are one front end
    made: _Weighted | None = port.block.made_of
    return _Weighted({port: 1.0}) if made is None else made


def _itself(operand: Any) -> _Weighted:
    """The same, but a signal is not looked into."""
    return _weighted(operand) if is_number(operand) else _Weighted({operand._signal(): 1.0})  # noqa: SLF001 - as above


def _sum_block(terms: Mapping[OutPort, float]) -> Any:
    """One block that sums up, or the only signal itself."""
    weights = list(terms.values())
    if len(weights) == 1:
        (source,) = terms
        return source if weights[0] == 1.0 else (Inverter() if weights[0] == -1.0 else Gain(weights[0]))(source)
    if all(abs(weight) == 1.0 for weight in weights):
        return Summer("".join("+" if weight > 0 else "-" for weight in weights))(*terms)
    return WeightedSummer(*weights)(*terms)


def _build(wanted: _Weighted, *operands: Any) -> Any:
    """The signal of a sum of operands, with as few blocks as it takes; blocks of operands that nobody reads any more go."""
    taken = [operand._signal() for operand in operands if not is_number(operand)]  # noqa: SLF001 - as above
    for port in taken:
        _forget(port, wanted.terms)
    total = _sum_block(wanted.terms)
    if total not in wanted.terms:
        total.block.was_made_of(_Weighted(wanted.terms))
    if wanted.offset != 0.0:
        total = Offset(wanted.offset)(total)
        total.block.was_made_of(wanted)
    for port in taken:
        if port.block.made_of is not None and port not in wanted.terms:
            port.block.was_put_into(total.block)
    return total


def _forget(port: OutPort, kept: Mapping[OutPort, float]) -> None:
    """Take what an operator made out of its diagram if nobody reads it; whoever uses it again puts it there again."""
    block, home = port.block, port.block.diagram
    if block.made_of is None or port in kept or home is None or not home.let_go(block):
        return
    for name in block.inputs:
        for source, _ in block.drivers(name):
            _forget(source, kept)


def _combined(a: Any, b: Any, factor: float) -> Any:
    """``a + factor * b``."""
    for one, other in ((_weighted, _weighted), (_weighted, _itself), (_itself, _weighted), (_itself, _itself)):
        wanted = one(a).plus(other(b).times(factor))
        if wanted.is_one_block:
            return _build(wanted, a, b)
    return Summer("++" if factor > 0 else "+-")(_constant(a), _constant(b))  # the same signal twice


def _add(a: Any, b: Any) -> Any:
    """``a + b``: a ``Summer``, an ``Offset`` where b is a number, a ``WeightedSummer`` where either is a signal times a number."""
    return _combined(a, b, 1.0)


def _subtract(a: Any, b: Any) -> Any:
    """``a - b``."""
    return _combined(a, b, -1.0)


def _scaled(a: Any, factor: float) -> Any:
    wanted = _weighted(a).times(factor)
    return _build(wanted, a) if wanted.is_one_block else Gain(factor)(a)


def _multiply(a: Any, b: Any) -> Any:
    """``a * b``: a ``Multiplier``, or a ``Gain`` where b is a number."""
    return _scaled(a, float(b)) if is_number(b) else Multiplier()(a, b)


def _negate(a: Any) -> Any:
    """``-a``: an ``Inverter``."""
    return _scaled(a, -1.0)


def _divide(a: Any, b: Any) -> Any:
    """``a / b``: a ``Divider``, or a ``Gain`` where b is a number."""
    if is_number(b):
        if float(b) == 0.0:
            raise UsageError(f"{a!r} is divided by zero")
        return _scaled(a, 1.0 / float(b))
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


BUILDERS.update(
    {"constant": _constant, "add": _add, "subtract": _subtract, "multiply": _multiply, "divide": _divide, "power": _power, "negate": _negate}
)
BUILDERS.update({name: partial(_joined, kind) for name, kind in _KINDS.items()})
