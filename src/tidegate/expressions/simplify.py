"""Simplification while the graph grows (stage: expressions): one node in, a simpler equal one or a number out.

Only what is cheap, local and exact in floating point (apart from the sign of zero, and from ``0*x`` and ``0/x``, which are zero whatever x does):
constants are folded, neutral elements dropped, double negations undone. Nothing is reordered, so that what the user wrote is what is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tidegate.expressions.ieee_arithmetic import apply
from tidegate.expressions.node_data import Node

__all__ = ["simplified"]


# Results are expressions made by operators, or plain numbers and truth values: nodes.py stands on this module, so it cannot make nodes itself.
_CONSTANT: Final = frozenset(("const", "true", "false"))
_BOOLEAN_RESULT: Final = frozenset(("ge", "gt", "nonzero", "and", "or", "not"))
_NOT_FOLDED: Final = frozenset(("symbol", "call", "slope", "output", "delay", "past", "same"))


def _is_number(x: Node, value: float) -> bool:
    return x.op == "const" and x.data == value


def _add(a: Node, b: Node) -> Node | float | None:
    if _is_number(b, 0.0):
        return a
    if _is_number(a, 0.0):
        return b
    if b.op == "neg":
        return a - b.args[0]
    return b - a.args[0] if a.op == "neg" else None


def _sub(a: Node, b: Node) -> Node | float | None:
    if a is b:
        return 0.0
    if _is_number(b, 0.0):
        return a
    if _is_number(a, 0.0):
        return -b
    return a + b.args[0] if b.op == "neg" else None


def _mul(a: Node, b: Node) -> Node | float | None:
    for x, y in ((a, b), (b, a)):
        if x.op == "const":
            if x.data == 0.0:
                return 0.0
            if x.data == 1.0:
                return y
            if x.data == -1.0:
                return -y
    if _are_opposite(a, b):
        return -(b * b)  # of which bounds know the sign
    return a.args[0] * b.args[0] if a.op == "neg" and b.op == "neg" else None


def _are_opposite(a: Node, b: Node) -> bool:
    if a.op == "sub" and b.op == "sub":
        return a.args[0] is b.args[1] and a.args[1] is b.args[0]
    return (a.op == "neg" and a.args[0] is b) or (b.op == "neg" and b.args[0] is a)


def _div(a: Node, b: Node) -> Node | float | None:
    if _is_number(a, 0.0):
        return 0.0
    if _is_number(b, 1.0):
        return a
    if _is_number(b, -1.0):
        return -a
    return a.args[0] / b.args[0] if a.op == "neg" and b.op == "neg" else None


def _neg(a: Node) -> Node | None:
    if a.op == "neg":
        return a.args[0]
    return a.args[1] - a.args[0] if a.op == "sub" else None


def _pow(a: Node, b: Node) -> Node | float | None:
    if _is_number(b, 0.0) or _is_number(a, 1.0):
        return 1.0
    return a if _is_number(b, 1.0) else None


def _select(condition: Node, a: Node, b: Node) -> Node | None:
    if a is b or condition.op == "true":
        return a
    return b if condition.op == "false" else None


def _floor(x: Node) -> Node | None:
    return x if x.op in ("floor", "segment") else None


def _and(a: Node, b: Node) -> Node | bool | None:
    if a.op == "false" or b.op == "false":
        return False
    if a.op == "true" or a is b:
        return b
    return a if b.op == "true" else None


def _or(a: Node, b: Node) -> Node | bool | None:
    if a.op == "true" or b.op == "true":
        return True
    if a.op == "false" or a is b:
        return b
    return a if b.op == "false" else None


def _not(a: Node) -> Node | None:
    return a.args[0] if a.op == "not" else None


_RULES: Final[dict[str, Callable[..., Node | float | bool | None]]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "pow": _pow,
    "select": _select,
    "floor": _floor,
    "and": _and,
    "or": _or,
    "not": _not,
}


def simplified(op: str, args: tuple[Node, ...], data: Any = None) -> Node | float | bool | None:
    """An equal node or number that is simpler than this operation on these arguments; None where there is none.

    Examples
    --------
    >>> from tidegate.expressions import Role, constant, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> simplified("mul", (x, constant(1.0)))
    x
    """
    for arg in args:
        if arg.op not in _CONSTANT:
            break
    else:
        if args and op not in _NOT_FOLDED:
            value = apply(op, tuple(arg.value for arg in args), data)
            if value is not None:
                return value != 0.0 if op in _BOOLEAN_RESULT else value
    rule = _RULES.get(op)
    return None if rule is None else rule(*args)
