"""Numbers a user's function is called with (stage: tracing): as floats, but comparisons of them answer to `~`, `&`, `|` and `^` as symbols do.

Python's own truth values do not: ``~True`` is -2, which is true. NumPy's do, but ``(x > 1) + (x > 2)`` is True for them, and not 2.
"""

from __future__ import annotations

import operator
from typing import Any, Self

__all__ = ["PlainNumber", "Truth"]


class Truth(int):
    """A truth value, which counts as 0 or 1.

    Examples
    --------
    >>> ~Truth(True), Truth(True) ^ Truth(False), Truth(True) + Truth(True)
    (False, True, 2)
    """

    def __new__(cls, value: Any) -> Self:
        """0 or 1, for whatever is false or true."""
        return super().__new__(cls, bool(value))

    def __repr__(self) -> str:
        return repr(bool(self))

    __str__ = __repr__

    def __invert__(self) -> Truth:
        return Truth(not self)


class PlainNumber(float):
    """A float; what is computed of it with operators is one too.

    Examples
    --------
    >>> x = PlainNumber(2.0)
    >>> x, ~(2 * x - 1 > 1)
    (2.0, False)
    """

    __slots__ = ()


def _logical(name: str) -> None:
    compute: Any = getattr(operator, name)

    def rule(self: Truth, other: Any) -> Any:
        return Truth(compute(bool(self), bool(other))) if isinstance(other, int | float) else NotImplemented

    for side in ("", "r"):
        setattr(Truth, f"__{side}{name.rstrip('_')}__", rule)


def _arithmetic(name: str) -> None:
    compute: Any = getattr(float, name)

    def rule(self: PlainNumber, *others: Any) -> Any:
        found = compute(self, *others)
        return PlainNumber(found) if type(found) is float else found

    setattr(PlainNumber, name, rule)


def _comparison(name: str) -> None:
    compute: Any = getattr(float, name)

    def rule(self: PlainNumber, other: Any) -> Any:
        found = compute(self, other)
        return found if found is NotImplemented else Truth(found)

    setattr(PlainNumber, name, rule)


for _name in ("and_", "or_", "xor"):
    _logical(_name)
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _arithmetic(f"__{_name}__")
    _arithmetic(f"__r{_name}__")
for _name in ("__neg__", "__pos__", "__abs__"):
    _arithmetic(_name)
for _name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
    _comparison(_name)
PlainNumber.__hash__ = float.__hash__
