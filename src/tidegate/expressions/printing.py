"""Expressions as text (stage: expressions): a node in, one line of Python-like text out, for messages, logs and ``tidegate show``.

Relations come out as they were written (``gt(a - b)`` is ``a > b``), as do ``abs``, ``min``, ``max`` and ``==``.
Enormous expressions are cut with ``...``.
"""

from __future__ import annotations

from typing import Final

from tidegate.expressions.node_data import QUIET, Node, Symbol

__all__ = ["number_text", "relation_text", "text"]

MAX_DEPTH: Final = 60
MAX_PIECES: Final = 400

# Binding strengths of Python's grammar, weakest first.
_IF, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(10)

_INFIX: Final = {"add": ("+", _SUM), "sub": ("-", _SUM), "mul": ("*", _PRODUCT), "div": ("/", _PRODUCT), "and": ("and", _AND), "or": ("or", _OR)}
_RELATIONS: Final = {"ge": ">=", "gt": ">"}
_MIRRORED: Final = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}
_NEGATED: Final = {">=": "<", ">": "<=", "<=": ">", "<": ">="}


def number_text(value: float) -> str:
    """The shortest text that reads back as this number, integers without a point.

    Examples
    --------
    >>> number_text(12.0), number_text(0.1)
    ('12', '0.1')
    """
    if value == value and abs(value) < 1e16 and value == int(value):
        return str(int(value))
    return repr(value)


def text(expr: Node) -> str:
    """Readable Python-like text of an expression.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")
    >>> text((x + 1) * y > 2)
    '(x + 1)*y > 2'
    """
    return _Printer().print(expr, 0, 0)


def relation_text(expr: Node, *, holds: bool = True, direction: str = "") -> str:
    """Text of a relation, or of the relation that holds where it does not.

    Parameters
    ----------
    expr : condition; for one that is no single relation the opposite is written with ``not``.
    holds : False for the opposite.
    direction : ``"<"`` or ``">"`` as the relation itself was written; empty if that is not known.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")
    >>> text(x < y), relation_text(x < y, direction="<"), relation_text(x < y, direction="<", holds=False)
    ('y > x', 'x < y', 'x >= y')
    """
    if expr.op not in _RELATIONS:
        return text(expr if holds else ~expr)
    return _Printer().relation(expr, 0, holds=holds, direction=direction)


def _is_quiet(expr: Node) -> bool:
    """Whether this was written inside ``no_event``: a relation without events, or what such relations decide."""
    while expr.op in ("and", "or", "not", "select", "lookup"):
        expr = expr.args[0]
    return expr.data == QUIET or (expr.op == "segment" and getattr(expr.data, "is_quiet", False))


class _Printer:
    """One printing job: counts what it has written, so that shared subexpressions cannot blow it up."""

    def __init__(self) -> None:
        self.pieces = 0
        self.is_quiet = False  # inside no_event(...)

    def print(self, expr: Node, strength: int, depth: int) -> str:
        """Text of ``expr`` for a place that needs at least this binding strength."""
        self.pieces += 1
        if depth > MAX_DEPTH or self.pieces > MAX_PIECES:
            return "..."
        if not self.is_quiet and _is_quiet(expr):
            self.is_quiet = True
            written, own = f"no_event({self._form(expr, depth + 1)[0]})", _ATOM
            self.is_quiet = False
        else:
            written, own = self._form(expr, depth + 1)
        return f"({written})" if own < strength else written

    def _form(self, expr: Node, depth: int) -> tuple[str, int]:
        op, args = expr.op, expr.args
        if op == "const":
            written = number_text(expr.data)
            return written, _SIGN if written.startswith("-") else _ATOM
        if op in ("true", "false"):
            return op.capitalize(), _ATOM
        if op == "symbol":
            return self._symbol(expr), _ATOM
        if op in _RELATIONS:
            return self.relation(expr, depth), _COMPARE
        if op in _INFIX:
            return self._infix(expr, depth)
        if op == "neg":
            return f"-{self.print(args[0], _SIGN, depth)}", _SIGN
        if op == "not":
            return f"not {self.print(args[0], _NOT, depth)}", _NOT
        if op == "nonzero":
            return (self.print(args[0], _ATOM, depth), _ATOM) if args[0].op == "symbol" else (f"{self.print(args[0], _SUM, depth)} != 0", _COMPARE)
        if op == "pow":
            return f"{self.print(args[0], _ATOM, depth)}**{self.print(args[1], _SIGN, depth)}", _POWER
        if op == "select":
            return self._select(expr, depth)
        return self._call(expr, depth), _ATOM

    def _symbol(self, expr: Node) -> str:
        symbol: Symbol = expr.data
        role, name = symbol.role.value, symbol.name
        wrapped = {
            "derivative": f"der({name})", "previous": f"pre({name})", "next": f"new({name})", "unknown before": f"pre({name})",
            "derivative before": f"pre(der({name}))",
        }  # fmt: skip
        return wrapped.get(role, name)

    def _call(self, expr: Node, depth: int) -> str:
        op, data = expr.op, expr.data
        if op == "output":
            called = self.print(expr.args[0], _ATOM, depth)
            source = expr.args[0] if expr.args[0].op == "call" else expr.args[0].args[0]
            return called if source.data.n_outputs == 1 else f"{called}[{data}]"
        if op == "slope":
            call = expr.args[0]
            return f"{call.data.name}.slope{data}({self._list(call, depth)})"
        name = {"segment": "piece", "lookup": "table"}.get(op, op)
        if op in ("call", "spline"):
            name = data.name
        return f"{name}({self._list(expr, depth)})"

    def _list(self, expr: Node, depth: int) -> str:
        return ", ".join(self.print(arg, _IF, depth) for arg in expr.args)

    def relation(self, expr: Node, depth: int, *, holds: bool = True, direction: str = "") -> str:
        """Text of ``ge`` or ``gt``; see ``relation_text``."""
        sign, g = _RELATIONS[expr.op], expr.args[0]
        left, right = g, None  # None is zero
        if g.op == "neg":
            left, sign = g.args[0], _MIRRORED[sign]
        elif g.op == "sub":
            left, right = g.args
            if left.op == "const":  # the user wrote the constant on the right far more often
                left, right, sign = right, left, _MIRRORED[sign]
        sides = ["0" if side is None else self.print(side, _SUM, depth) for side in (left, right)]
        if direction and direction != sign[0]:
            sides, sign = sides[::-1], _MIRRORED[sign]
        return f" {sign if holds else _NEGATED[sign]} ".join(sides)

    def _infix(self, expr: Node, depth: int) -> tuple[str, int]:
        sign, strength = _INFIX[expr.op]
        a, b = expr.args
        if expr.op == "and" and a.op == "ge" and b.op == "ge" and a.args[0].op == "sub" and b.args[0].op == "sub":
            left, right = a.args[0].args
            if b.args[0].args[0] is right and b.args[0].args[1] is left:
                return f"{self.print(right, _SUM, depth)} == {self.print(left, _SUM, depth)}", _COMPARE
        spaced = sign if sign in "*/" else f" {sign} "
        # a product or sum groups to the left, so the right operand needs to bind more strongly; so do negative numbers there
        right_strength = _POWER if strength in (_SUM, _PRODUCT) and (b.op == "neg" or (b.op == "const" and b.data < 0.0)) else strength + 1
        return f"{self.print(a, strength, depth)}{spaced}{self.print(b, right_strength, depth)}", strength

    def _select(self, expr: Node, depth: int) -> tuple[str, int]:
        condition, a, b = expr.args
        if condition.op == "ge":
            g = condition.args[0]
            if g is a and b.op == "neg" and b.args[0] is a:
                return f"abs({self.print(a, _IF, depth)})", _ATOM
            name = _extremum(g, a, b)
            if name:
                return f"{name}({self.print(a, _IF, depth)}, {self.print(b, _IF, depth)})", _ATOM
        written = f"{self.print(a, _OR, depth)} if {self.print(condition, _OR, depth)} else {self.print(b, _IF, depth)}"
        return written, _IF


def _extremum(g: Node, a: Node, b: Node) -> str:
    """``"max"`` where ``select(g >= 0, a, b)`` is the larger of two, ``"min"`` where it is the smaller, else empty."""
    if g.op == "sub":
        first, second = g.args
        if first is a and second is b:
            return "max"
        return "min" if first is b and second is a else ""
    if b.op == "const" and b.data == 0.0:
        if g is a:
            return "max"
        return "min" if g.op == "neg" and g.args[0] is a else ""
    return ""
