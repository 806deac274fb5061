"""Ports of blocks (front end of blocks): what is connected, and the operators that build further blocks from signals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.errors import UsageError

if TYPE_CHECKING:
    from tidegate.frontends.blocks.block import Block

__all__ = ["InPort", "OutPort", "Port", "Signal", "Signals", "is_number"]


def is_number(value: object) -> bool:
    """True for what counts as a number in a parameter or an operator; a truth value does not."""
    return not isinstance(value, bool) and hasattr(value, "__float__") and not isinstance(value, Signals)


class Signals:
    """The operators of signals; each builds a block that joins the diagram of its operands."""

    __array_ufunc__ = None  # np.float64(2) * signal asks the signal

    def _signal(self) -> OutPort:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return _operation("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _operation("add", self, other)

    def __sub__(self, other: Any) -> Any:
        return _operation("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _operation("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return _operation("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _operation("multiply", self, other)

    def __truediv__(self, other: Any) -> Any:
        return _operation("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _operation("divide", other, self)

    def __neg__(self) -> Any:
        return _operation("negate", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return _operation("magnitude", self)

    def __gt__(self, other: Any) -> Any:
        return _operation("greater", self, other)

    def __lt__(self, other: Any) -> Any:
        return _operation("less", self, other)

    def __ge__(self, other: Any) -> Any:
        return _operation("at_least", self, other)

    def __le__(self, other: Any) -> Any:
        return _operation("at_most", self, other)

    def __and__(self, other: Any) -> Any:
        return _operation("both", self, other)

    def __or__(self, other: Any) -> Any:
        return _operation("either", self, other)

    def __invert__(self) -> Any:
        return _operation("negation", self)

    def __pow__(self, other: Any) -> Any:
        return _operation("power", self, other)

    def __bool__(self) -> bool:
        raise UsageError(
            f"Python asked whether the signal {self!r} is true, which is known only during the run",
            hint="write a & b, a | b, ~a for and, or, not; blocks.Switch(a, condition, b) for a choice",
        )


def _operation(name: str, *operands: Any) -> Any:
    from tidegate.frontends.blocks.library import operators  # the library is made of blocks, which have ports

    if not all(isinstance(item, Signals) or is_number(item) for item in operands):
        return NotImplemented
    return getattr(operators, name)(*operands)


class Port:
    """A place of a block where signals go in or come out.

    Parameters
    ----------
    block : whose port it is.
    name : as the block calls it.
    """

    __slots__ = ("block", "name")

    def __init__(self, block: Block, name: str) -> None:
        self.block = block
        self.name = name

    @property
    def path(self) -> str:
        """The block's path and the port's name."""
        return f"{self.block.path}.{self.name}"

    def __repr__(self) -> str:
        return self.path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Port) and other.block is self.block and other.name == self.name and type(other) is type(self)

    def __hash__(self) -> int:
        return hash((id(self.block), self.name))


class InPort(Port):
    """Where a signal goes into a block."""


class OutPort(Port, Signals):
    """Where a signal comes out of a block; sums, products and comparisons of such build blocks."""

    def _signal(self) -> OutPort:
        return self


Signal = OutPort | float
