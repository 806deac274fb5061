"""How near to its zero a guard comes in a whole step, as LLVM text (stage: compiled): intervals of its affine parts in, of the guard out.

Affine parts have series of their own, of which bounds are taken power by power. What is made of them goes through interval arithmetic (Moore,
Interval Analysis, 1966): sums, products, quotients, whole powers, choices; and a few functions of which it is known how fast they change. A guard
with anything else in it is not watched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from tidegate.compiled.emit_taylor.number_text import NumberText
from tidegate.expressions import Expr, degrees, walk
from tidegate.quick_dataclass import dataclass

__all__ = ["NO_GUARDS", "GuardRanges", "WatchedGuards", "watched_guards"]

_AT_A_TIME: Final = 5  # powers of a part: so many are looked at without those above them
_HIGHEST_POWER: Final = 8
_FARTHEST: Final = 1.5  # exp(x) is below 1 + x + x**2 up to here

Range = tuple[str, str]


@dataclass(frozen=True, eq=False)
class WatchedGuards:
    """What a step watches of guards.

    Parameters
    ----------
    roots : the guards.
    parts : the largest parts of them that are affine and move.
    above : what is made of these, arguments before the nodes that use them.
    """

    roots: tuple[Expr, ...] = ()
    parts: tuple[Expr, ...] = ()
    above: tuple[Expr, ...] = ()

    @property
    def firsts(self) -> tuple[Expr, ...]:
        """Nodes of which the value at the start of the step is needed."""
        return tuple(dict.fromkeys([*self.roots, *self.above, *(arg for item in self.above for arg in item.args)]))


NO_GUARDS: Final = WatchedGuards()


def watched_guards(guards: Sequence[Expr], continuous: Iterable[Expr]) -> WatchedGuards | None:
    """What is to be watched of guards; None where nothing is known of something in one of them.

    Parameters
    ----------
    guards : functions of time, unknowns and of what is constant between events.
    continuous : symbols of time and of unknowns.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")
    >>> watched_guards([x * (y - 1.0) - 2.0], [x, y]).parts
    (y - 1, x)
    """
    degree = degrees(guards, continuous)
    parts: dict[Expr, None] = {}
    above: set[Expr] = set()
    waiting = list(guards)
    while waiting:
        item = waiting.pop()
        if degree[item] == 1:
            parts[item] = None
        elif degree[item] > 1 and item not in above:
            if not _is_known(item, degree):
                return None
            above.add(item)
            waiting += item.args
    return WatchedGuards(tuple(guards), tuple(parts), tuple(item for item in walk(guards) if item in above))


def _is_known(item: Expr, degree: Mapping[Expr, int]) -> bool:
    """Whether there is a range of this node, given those of its arguments."""
    if item.op == "pow":
        exponent = item.args[1]
        return exponent.op == "const" and exponent.value == int(exponent.value) and 1 < exponent.value <= _HIGHEST_POWER
    if item.op == "select":
        return degree[item.args[0]] == 0
    return item.op in _RULES


class GuardRanges:
    """Bounds on guards in a step.

    Parameters
    ----------
    text : where they are computed.
    guards : what is watched.
    series : of each of their parts.
    powers : of the step's length by the unit, from the first on, by which coefficients are multiplied.
    first : what gives the value of a node at the start.

    Attributes
    ----------
    conditions : that must hold, or the bounds are none.
    """

    def __init__(
        self, text: NumberText, guards: WatchedGuards, series: Sequence[Callable[[int], str]], powers: Sequence[str], first: Callable[[Expr], str]
    ) -> None:
        self.text, self.powers, self.first = text, powers, first
        self.conditions: list[str] = []
        self.zero, self.one = text.number(0.0), text.number(1.0)
        self.known: dict[Expr, Range] = {part: self._of_series(own) for part, own in zip(guards.parts, series, strict=True)}
        for item in guards.above:
            self.known[item] = _RULES[item.op](self, item)

    def distance(self, guard: Expr) -> tuple[str, str]:
        """The size of a guard at the start of the step, and how far it stays from zero at least, on its side."""
        text = self.text
        low, high = self._range(guard)
        begin = self.first(guard)
        return text.call("fabs", text.wide, begin), text.either(text.holds("olt", begin, self.zero), text.minus(self.zero, high), low)

    def _of_series(self, series: Callable[[int], str]) -> Range:
        """Bounds on a polynomial on [0, 1]: Horner's rule for a few powers at a time, so that none of these waits for another."""
        text = self.text
        low = high = series(0)
        order = len(self.powers) - 1
        for first in range(1, order + 1, _AT_A_TIME):
            least = most = self.zero
            for k in range(min(first + _AT_A_TIME - 1, order), first - 1, -1):
                term = text.times(series(k), self.powers[k])
                least = self._least(text.plus(term, least), self.zero)
                most = self._most(text.plus(term, most), self.zero)
            low, high = text.plus(low, least), text.plus(high, most)
        return low, high

    def _range(self, item: Expr) -> Range:
        """Of any node; one that does not move is where it was."""
        if item in self.known:
            return self.known[item]
        value = self.first(item)
        return value, value

    def _least(self, a: str, b: str) -> str:
        return self.text.minimum(a, b, self.text.wide)

    def _most(self, a: str, b: str) -> str:
        return self.text.maximum(a, b, self.text.wide)

    def _checked(self, low: str, high: str) -> Range:
        """A range that must be finite."""
        wide = self.text.call("fabs", self.text.wide, self.text.minus(high, low))
        self.conditions.append(self.text.holds("olt", wide, self.text.number(math.inf)))
        return low, high

    def _must_be_positive(self, low: str) -> None:
        self.conditions.append(self.text.holds("ogt", low, self.zero))

    def _moved(self, item: Expr) -> str:
        """How far a node may move from where it was."""
        text = self.text
        low, high = self._range(item)
        begin = self.first(item)
        return self._most(text.minus(high, begin), text.minus(begin, low))

    # ---- operations

    def add(self, item: Expr) -> Range:
        """a + b."""
        (low, high), (other_low, other_high) = map(self._range, item.args)
        return self.text.plus(low, other_low), self.text.plus(high, other_high)

    def sub(self, item: Expr) -> Range:
        """a - b."""
        (low, high), (other_low, other_high) = map(self._range, item.args)
        return self.text.minus(low, other_high), self.text.minus(high, other_low)

    def neg(self, item: Expr) -> Range:
        """-a."""
        low, high = self._range(item.args[0])
        return self.text.minus(self.zero, high), self.text.minus(self.zero, low)

    def mul(self, item: Expr) -> Range:
        """a b."""
        a, b = item.args
        return self._square(self._range(a)) if a is b else self._product(self._range(a), self._range(b))

    def _product(self, a: Range, b: Range) -> Range:
        ends = [self.text.times(one, other) for one in dict.fromkeys(a) for other in dict.fromkeys(b)]
        low = high = ends[0]
        for end in ends[1:]:
            low, high = self._least(low, end), self._most(high, end)
        return self._checked(low, high)

    def _square(self, a: Range) -> Range:
        text = self.text
        ends = [text.times(end, end) for end in a]
        is_around = text.both(text.holds("ole", a[0], self.zero), text.holds("oge", a[1], self.zero), text.wide)
        return self._checked(text.either(is_around, self.zero, self._least(*ends)), self._most(*ends))

    def pow(self, item: Expr) -> Range:
        """a**n, n whole."""
        return self._power(self._range(item.args[0]), int(item.args[1].value))

    def _power(self, a: Range, n: int) -> Range:
        if n == 1:
            return a
        if n % 2 == 0:
            return self._square(self._power(a, n // 2))
        # odd powers rise everywhere
        low, high = a
        for _ in range(n - 1):
            low, high = self.text.times(low, a[0]), self.text.times(high, a[1])
        return self._checked(low, high)

    def div(self, item: Expr) -> Range:
        """a / b, b on one side of zero."""
        text = self.text
        low, high = self._range(item.args[1])
        self._must_be_positive(text.times(low, high))
        inverses = [text.new(f"fdiv {text.one} {self.one}, {end}") for end in dict.fromkeys((high, low))]
        return self._product(self._range(item.args[0]), (inverses[0], inverses[-1]))

    def select(self, item: Expr) -> Range:
        """One of two."""
        text = self.text
        holds = text.holds("une", self.first(item.args[0]), self.zero)
        a, b = (self._range(arg) for arg in item.args[1:])
        return text.either(holds, a[0], b[0]), text.either(holds, a[1], b[1])

    def slower(self, item: Expr) -> Range:
        """A function that changes no faster than its argument."""
        value, moved = self.first(item), self._moved(item.args[0])
        return self.text.minus(value, moved), self.text.plus(value, moved)

    def wave(self, item: Expr) -> Range:
        """The same, between -1 and 1."""
        low, high = self.slower(item)
        return self._most(low, self.text.number(-1.0)), self._least(high, self.one)

    def exp(self, item: Expr) -> Range:
        """exp(a)."""
        text = self.text
        value, moved = self.first(item), self._moved(item.args[0])
        self.conditions.append(text.holds("olt", moved, text.number(_FARTHEST)))
        rise = text.plus(self.one, text.plus(moved, text.times(moved, moved)))
        return text.times(value, self._most(text.minus(self.one, moved), self.zero)), text.times(value, rise)

    def sqrt(self, item: Expr) -> Range:
        """The square root, by the slopes at the ends of what it is taken of."""
        text = self.text
        value, begin = self.first(item), self.first(item.args[0])
        low, high = self._range(item.args[0])
        self._must_be_positive(low)
        part, excess = (text.new(f"fdiv {text.one} {end}, {begin}") for end in (low, text.minus(high, begin)))
        return text.times(value, self._least(part, self.one)), text.times(value, text.plus(self.one, text.times(excess, text.number(0.5))))

    def log(self, item: Expr) -> Range:
        """The logarithm likewise."""
        text = self.text
        value, begin = self.first(item), self.first(item.args[0])
        low, high = self._range(item.args[0])
        self._must_be_positive(low)
        down = text.new(f"fdiv {text.one} {text.minus(begin, low)}, {low}")
        up = text.new(f"fdiv {text.one} {text.minus(high, begin)}, {begin}")
        return text.minus(value, down), text.plus(value, up)


_RULES: Final[dict[str, Callable[[GuardRanges, Expr], Range]]] = {
    "add": GuardRanges.add, "sub": GuardRanges.sub, "neg": GuardRanges.neg, "mul": GuardRanges.mul, "div": GuardRanges.div, "pow": GuardRanges.pow,
    "select": GuardRanges.select, "sin": GuardRanges.wave, "cos": GuardRanges.wave, "tanh": GuardRanges.slower, "atan": GuardRanges.slower,
    "asinh": GuardRanges.slower, "exp": GuardRanges.exp, "sqrt": GuardRanges.sqrt, "log": GuardRanges.log,
}  # fmt: skip
