"""Derivatives where an exponential is infinite (stage: expressions). In: a node, how its arguments move; out: how it moves there, as its limit does.

``1 / (1 + exp(u))`` is zero where ``exp(u)`` overflows, and so is its derivative, which by the rules is 0 * infinity. So a divisor's move is taken in
proportion to the divisor, which is finite: of ``exp(u)`` it is ``u'``, of a sum of two such the mean, by their shares. And what comes to an end, as
``tanh`` and the exponential of minus infinity do, does not move there at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from tidegate.expressions.nodes import ONE, ZERO, Expr, node, select, walk

__all__ = ["Growth", "PastOverflow", "Tangent", "may_overflow"]

# A tangent is None where it is structurally zero.
Tangent = Expr | None

_OVERFLOW: Final = {"exp", "expm1", "cosh", "sinh"}
_LARGE: Final = 1e100  # an exponential: what it is multiplied by, and its square, are finite up to here
# where functions stay as they are, whatever comes: the exponential of less than minus this is zero
_ENDS: Final = {"exp": 800.0, "tanh": 400.0, "erf": 40.0, "atan": _LARGE}


class Growth(NamedTuple):
    """Of what may be infinite by overflow, where it nearly is: an exponential in it, its move divided by itself, and its logarithm.

    The logarithm is None where it is not certain that it is positive.
    """

    steep: Expr
    relative: Expr
    logarithm: Expr | None


def may_overflow(roots: Iterable[Expr]) -> set[Expr]:
    """All nodes below these in which there is a function that may be infinite by overflow.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> sorted(map(str, may_overflow([x / (1.0 + node("exp", (x,)))])))
    ['1 + exp(x)', 'exp(x)', 'x/(1 + exp(x))']
    """
    found: set[Expr] = set()
    for item in walk(roots):
        if item.op in _OVERFLOW or not found.isdisjoint(item.args):
            found.add(item)
    return found


def _overflowing(item: Expr) -> Expr | None:
    """The argument whose overflow leaves a node finite: what it divides by, or would if its exponent were negative, or beyond which it rests."""
    if item.op == "div":
        return item.args[1]
    return item.args[0] if item.op == "pow" or item.op in _ENDS else None


class PastOverflow:
    """How the nodes below some roots move in one direction, where exponentials are infinite; they come one by one, arguments first.

    Parameters
    ----------
    roots : expressions.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> past, given = PastOverflow([1.0 / node("cosh", (x,))]), node("cosh", (x,))
    >>> past.note(given, [ONE], known := {})
    >>> str(past.limit(ONE / given, [None, node("sinh", (x,))], known, ZERO))
    '-(1/cosh(x)*tanh(x)) if cosh(x) > 1e+100 else 0'
    """

    def __init__(self, roots: Iterable[Expr]) -> None:
        nodes = list(walk(roots))
        self._steep = may_overflow(nodes)
        divisors = [part for item in nodes if (part := _overflowing(item)) is not None and part in self._steep]
        self._asked = self._steep.intersection(walk(divisors))
        self._still: dict[Expr, Growth] = {}
        for item in nodes:
            self.note(item, [None] * len(item.args), self._still)

    def note(self, item: Expr, moves: Sequence[Tangent], known: dict[Expr, Growth]) -> None:
        """Keep how a node grows, if it is ever asked for.

        Parameters
        ----------
        moves : of its arguments.
        known : what is kept of nodes below it in this direction.
        """
        if item in self._asked:
            found = _growth(item, moves, [self._of(arg, known) for arg in item.args])
            if found is not None:
                known[item] = found

    def limit(self, item: Expr, moves: Sequence[Tangent], known: Mapping[Expr, Growth], otherwise: Expr) -> Expr:
        """The derivative of a node, ``otherwise`` by the rules; its limit where that is 0 * infinity."""
        argument = _overflowing(item)
        if argument is None or argument not in self._steep:
            return otherwise
        if item.op in _ENDS:
            distance = -argument if item.op == "exp" else abs(argument)
            return select(node("gt", (distance - _ENDS[item.op],)), ZERO, otherwise)
        found = self._of(argument, known)
        if found is None:
            return otherwise
        if item.op == "pow":
            exponent = item.args[1]
            if not (exponent.is_constant and exponent.value < 0.0):
                return otherwise
            change = exponent * item * found.relative
        else:
            of_divided = moves[0]
            change = (ZERO if of_divided is None else of_divided) / argument - item * found.relative
        return select(node("gt", (found.steep - _LARGE,)), change, otherwise)

    def _of(self, item: Expr, known: Mapping[Expr, Growth]) -> Growth | None:
        """What is known of a node that moves, or else rests."""
        return known.get(item) or self._still.get(item)


def _growth(item: Expr, moves: Sequence[Tangent], below: Sequence[Growth | None]) -> Growth | None:
    first = below[0]
    match item.op:
        case "exp" | "expm1" | "cosh" | "sinh":
            return _of_exponential(item, moves[0])
        case "pow" if item.args[1].is_constant and item.args[1].value > 0.0:
            return _raised(item, first, item.args[1])
        case "sqrt":
            return _raised(item, first, ONE / 2.0)
        case "neg":
            return None if first is None else first._replace(logarithm=None)
        case "add" | "sub" | "mul":
            second = below[1]
            if first is not None and second is not None:
                return _product(item, first, second) if item.op == "mul" else _sum(first, second, 1.0 if item.op == "add" else -1.0)
            found = first or second
            if found is None:
                return None
            place = 1 if second is None else 0
            other, moved = item.args[place], moves[place]
            return _times(found, other, moved) if item.op == "mul" else _plus(item, found, other, moved)
        case _:
            return None


def _of_exponential(item: Expr, move: Tangent) -> Growth:
    (argument,) = item.args
    change = ZERO if move is None else move
    if item.op == "cosh":
        size = abs(argument)
        return Growth(item, node("tanh", (argument,)) * change, size + node("log1p", (node("exp", (-2.0 * size,)),)) - math.log(2.0))
    if item.op == "sinh":
        return Growth(abs(item), change / node("tanh", (argument,)), None)
    return Growth(item, change, argument)


def _raised(item: Expr, below: Growth | None, exponent: Expr) -> Growth | None:
    if below is None:
        return None
    return Growth(below.steep + item, exponent * below.relative, None if below.logarithm is None else exponent * below.logarithm)


def _product(item: Expr, first: Growth, second: Growth) -> Growth:
    known = None if first.logarithm is None or second.logarithm is None else first.logarithm + second.logarithm
    return Growth(abs(item), first.relative + second.relative, known)


def _sum(first: Growth, second: Growth, sign: float) -> Growth | None:
    """Of ``E + sign F``, by their shares."""
    if first.logarithm is None or second.logarithm is None:
        return None
    ahead = first.logarithm - second.logarithm
    is_ahead = node("ge", (ahead,))
    smaller = node("exp", (-abs(ahead),))
    larger_first = first.relative + sign * smaller * second.relative
    larger_second = second.relative + sign * smaller * first.relative
    relative = select(is_ahead, larger_first, larger_second) / (1.0 + sign * smaller)
    logarithm = select(is_ahead, first.logarithm, second.logarithm) + node("log1p", (smaller,)) if sign > 0.0 else None
    return Growth(first.steep + second.steep, relative, logarithm)


def _times(found: Growth, other: Expr, moved: Tangent) -> Growth:
    is_positive = other.is_constant and other.value > 0.0
    known = found.logarithm + math.log(other.value) if is_positive and found.logarithm is not None else None
    return Growth(found.steep, found.relative if moved is None else found.relative + moved / other, known)


def _plus(item: Expr, found: Growth, other: Expr, moved: Tangent) -> Growth:
    """Of ``E + c``, ``E'/(E + c)`` is ``(1 - c/(E + c)) E'/E``."""
    if item.op == "sub":
        if other is item.args[1]:
            other, moved = -other, None if moved is None else -moved
        else:
            found = found._replace(logarithm=None)
    relative = (1.0 - other / item) * found.relative
    return Growth(found.steep, relative if moved is None else moved / item + relative, found.logarithm)
