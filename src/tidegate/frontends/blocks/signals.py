"""Signals (front end of blocks): operands go in, blocks that join them come out; ``library/operators`` says which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tidegate.errors import UsageError

__all__ = ["BUILDERS", "Signals", "build", "is_number"]

BUILDERS: Final[dict[str, Callable[..., Any]]] = {}  # ``library/operators`` fills it: blocks have signals, and signals know none of the blocks


def build(operator: str, *operands: Any) -> Any:
    """The output port of the block that an operator makes."""
    if not all(isinstance(item, Signals) or is_number(item) for item in operands):
        return NotImplemented
    return BUILDERS[operator](*operands)


def is_number(value: object) -> bool:
    """True for what counts as a number in a parameter or an operator; a truth value does not."""
    return not isinstance(value, bool) and hasattr(value, "__float__") and not isinstance(value, Signals)


class Signals:
    """The operators of signals; each builds a block that joins the diagram of its operands."""

    __array_ufunc__ = None  # np.float64(2) * signal asks the signal

    def _signal(self) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return build("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return build("add", self, other)

    def __sub__(self, other: Any) -> Any:
        return build("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return build("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return build("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return build("multiply", self, other)

    def __truediv__(self, other: Any) -> Any:
        return build("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return build("divide", other, self)

    def __neg__(self) -> Any:
        return build("negate", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return build("magnitude", self)

    def __gt__(self, other: Any) -> Any:
        return build("greater", self, other)

    def __lt__(self, other: Any) -> Any:
        return build("less", self, other)

    def __ge__(self, other: Any) -> Any:
        return build("at_least", self, other)

    def __le__(self, other: Any) -> Any:
        return build("at_most", self, other)

    def __and__(self, other: Any) -> Any:
        return build("both", self, other)

    def __or__(self, other: Any) -> Any:
        return build("either", self, other)

    def __invert__(self) -> Any:
        return build("negation", self)

    def __pow__(self, other: Any) -> Any:
        return build("power", self, other)

    def __bool__(self) -> bool:
        raise UsageError(
            f"Python asked whether the signal {self!r} is true, which is known only during the run",
            hint="write a & b, a | b, ~a for and, or, not; blocks.Switch(a, condition, b) for a choice",
        )
