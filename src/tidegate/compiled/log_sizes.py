"""How large a part of a right side is where its value overflows (stage: compiled). In: expressions; out: their logarithms, as expressions.

``1 / cosh(u)`` is far from its peak zero to the last digit, and what it divides by infinite. But the logarithm of that, ``|u|``, tells all the way
where the peak is. Where terms of a sum differ in their growth, as in ``1 + exp(u)``, the larger one is the sum, and where they are as large as each
other lies a flank.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tidegate.expressions import ZERO, Expr, node, select, walk

__all__ = ["LogSizes", "log_size"]

_TINY: Final = 1e-300  # besides the size of what is taken a logarithm of: that of zero is a number
_HIGH: Final = 24.0  # a power that may overflow


def log_size(item: Expr) -> Expr:
    """The logarithm of the size of what does not overflow."""
    return node("log", (_TINY + abs(item),))


class LogSizes:
    """Logarithms of the sizes of all nodes below some roots that grow like an exponential.

    Parameters
    ----------
    roots : expressions.
    continuous : symbols that move between events.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> bell = node("cosh", (3.0 * x,)) ** 2.0
    >>> sizes = LogSizes([bell], frozenset([x]))
    >>> str(sizes.of(bell)), sizes.grows(x)
    ('2*abs(3*x)', False)
    """

    def __init__(self, roots: Iterable[Expr], continuous: frozenset[Expr]) -> None:
        self._found: dict[Expr, Expr] = {}
        moving = set(continuous)
        for item in walk(roots):  # no recursion: sums are long
            if moving.isdisjoint(item.args):
                continue
            moving.add(item)
            size = _of_function(item)
            if size is None and any(map(self.grows, item.args)):
                size = self._of_compound(item)
            if size is not None:
                self._found[item] = size

    def grows(self, item: Expr) -> bool:
        """Whether it may overflow where nothing else does."""
        return item in self._found

    def of(self, item: Expr) -> Expr:
        """The logarithm of its size, which does not overflow."""
        found = self._found.get(item)
        return log_size(item) if found is None else found

    def _of_compound(self, item: Expr) -> Expr | None:
        match item.op:
            case "mul":
                return self.of(item.args[0]) + self.of(item.args[1])
            case "div":
                return self.of(item.args[0]) - self.of(item.args[1])
            case "add" | "sub":
                return _larger(self.of(item.args[0]), self.of(item.args[1]))
            case "neg":
                return self.of(item.args[0])
            case "sqrt":
                return 0.5 * self.of(item.args[0])
            case "pow" if item.args[1].is_constant:
                return item.args[1] * self.of(item.args[0])
            case _:
                return None


def _of_function(item: Expr) -> Expr | None:
    """Of what grows by itself: an exponential, or a high power."""
    match item.op:
        case "exp":
            return item.args[0]
        case "expm1":
            return _larger(item.args[0], ZERO)
        case "cosh" | "sinh":
            return abs(item.args[0])
        case "pow" if item.args[0].is_constant and item.args[0].value > 0.0:
            return item.args[1] * node("log", (item.args[0],))
        case "pow" if item.args[1].is_constant and item.args[1].value >= _HIGH:
            return item.args[1] * log_size(item.args[0])
        case _:
            return None


def _larger(a: Expr, b: Expr) -> Expr:
    return select(node("ge", (a - b,)), a, b)
