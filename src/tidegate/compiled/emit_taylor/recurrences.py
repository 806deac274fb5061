"""Which recurrence gives the coefficients of each node of a graph (stage: compiled): right sides of y' = f in, the rows of a program out.

Along a solution every node is a power series in time. With a, b, u, y for the series of operands and of the node itself, all operations come down
to a few recurrences for the coefficient of order k (Griewank and Walther, Evaluating Derivatives, 2008, section 13.2; Jorba and Zou,
Experimental Mathematics 14, 2005, proposition 1):

    y = a b         y_k = sum_{j=0}^{k} a_j b_{k-j}
    y = a / b       y_k = (a_k - sum_{j=0}^{k-1} y_j b_{k-j}) / b_0
    y = sqrt(a)     y_k = (a_k - sum_{j=1}^{k-1} y_j y_{k-j}) / (2 y_0)
    y' = u a'       y_k = 1/k sum_{j=1}^{k} j a_j u_{k-j}                                      exp, sin, tan, erf, ...
    u y' = a'       y_k = (a_k - 1/k sum_{j=1}^{k-1} j y_j u_{k-j}) / u_0                      log, asin, atan, ...
    a y' = c y a'   y_k = ((c + 1)/k sum_{j=1}^{k} j a_j y_{k-j} - sum_{j=1}^{k} a_j y_{k-j}) / a_0    powers with a constant exponent c

The companion u is another node of the graph, such as cos(a) for sin(a) or 1 + a**2 for atan(a); a row needs its coefficients below k only. Nodes that
no state and no time enter have one coefficient, the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tidegate.expressions import ONE, Expr, Role, as_real, constant, node
from tidegate.quick_dataclass import dataclass

__all__ = ["NoSeriesError", "Program", "Row", "series_program"]

_TWO_OVER_ROOT_PI: Final = constant(2.0 / math.sqrt(math.pi))
_LARGEST_PRODUCT: Final = 1 << 10  # whole exponents up to here are products, which are analytic at zero, too
_LINEAR: Final = frozenset(["add", "sub", "neg"])
_EXPONENTIAL: Final = frozenset(["exp", "expm1", "sinh", "cosh", "tanh", "erf", "pow"])
_AFFINE: Final = _LINEAR | {"state", "time", "same", "scale", "ratio", "select"}  # the second operand of scale and ratio, and conditions, do not move


class NoSeriesError(Exception):
    """A node that is no power series, and why not, in words."""

    def __init__(self, item: Expr, why: str) -> None:
        super().__init__(why)
        self.item = item
        self.why = why


@dataclass(frozen=True, eq=False)
class Row[Node]:
    """How the coefficients of one node follow from those of others; a node may stand for several side by side.

    Parameters
    ----------
    target : the node.
    kind : state, time, same, neg, add, sub, scale, ratio, mul, div, sqrt, product (y' = u a'), quotient (u y' = a'), power, angle or select.
    operands : nodes; None for one that is constant where only coefficients above the first are read.
    sign : of the right side of product and quotient.
    """

    target: Node
    kind: str
    operands: tuple[Node | None, ...] = ()
    sign: float = 1.0

    def needed(self, index: int) -> Node:
        """An operand that this kind of row always has."""
        item = self.operands[index]
        if item is None:
            raise ValueError(f"a row of kind {self.kind} without operand {index}")
        return item


@dataclass(frozen=True, eq=False)
class Program:
    """Rows in an order in which every coefficient of order k needs only those above it, or lower ones.

    Parameters
    ----------
    states : symbols whose derivatives are given.
    rates : these derivatives.
    rows : of all nodes that change with time, states and time included.
    first : nodes of which the first coefficient is needed.
    """

    states: tuple[Expr, ...]
    rates: tuple[Expr, ...]
    rows: tuple[Row[Expr], ...]
    first: tuple[Expr, ...]

    @property
    def is_affine(self) -> bool:
        """Whether y' = A y + b + c t with constant A, b, c, so that coefficients above the second follow by A alone."""
        return all(row.kind in _AFFINE for row in self.rows)

    @property
    def exponents(self) -> tuple[Expr, ...]:
        """What exponentials are taken of: where one moves far, they may rise from nothing behind all that a series at one point can tell."""
        return tuple(dict.fromkeys(row.needed(0) for row in self.rows if row.kind == "product" and row.target.op in _EXPONENTIAL))


def series_program(states: Sequence[Expr], rates: Sequence[Expr], others: Iterable[Expr] = (), firsts: Iterable[Expr] = ()) -> Program:
    """The recurrences for the series of states with these derivatives.

    Parameters
    ----------
    states : symbols.
    rates : y', one a state.
    others : nodes whose series are wanted besides.
    firsts : nodes of which the first coefficient is.

    Raises
    ------
    NoSeriesError : a node is not a power series, or nothing is known about it.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> [row.kind for row in series_program([x], [x * x]).rows]
    ['state', 'mul']
    """
    builder = _Builder(states)
    roots = [*rates, *others]
    builder.add_all(roots)
    program_rows = [Row(state, "state") for state in states] + builder.rows
    needed = dict.fromkeys([*states, *rates])
    for row in program_rows:
        needed.update(dict.fromkeys(item for item in (row.target, *row.operands) if item is not None))
    return Program(tuple(states), tuple(rates), tuple(program_rows), tuple(dict.fromkeys([*needed, *firsts])))


class _Builder:
    """Visits nodes after what they need at the same order; companions, which are needed at lower orders only, come afterwards."""

    def __init__(self, states: Sequence[Expr]) -> None:
        self.varies: dict[Expr, bool] = dict.fromkeys(states, True)
        self.done: set[Expr] = set(states)
        self.rows: list[Row[Expr]] = []
        self.companions: list[Expr] = []

    def add_all(self, roots: Sequence[Expr]) -> None:
        """Rows of these nodes and of all below them."""
        waiting = list(roots)
        while waiting:
            self._add(waiting)
            waiting, self.companions = self.companions, []

    def _add(self, roots: Sequence[Expr]) -> None:
        planned: dict[Expr, Row[Expr]] = {}
        stack = [(root, False) for root in reversed(roots)]
        while stack:
            item, is_ready = stack.pop()
            if item in self.done:
                continue
            if is_ready:
                self.done.add(item)
                self.rows.append(planned[item])
                continue
            if not self.moves(item):
                self.done.add(item)
                continue
            row = planned[item] = self._row(item)
            stack.append((item, True))
            strict = row.operands[:1] if row.kind in ("product", "quotient", "power") else row.operands
            stack += [(operand, False) for operand in reversed(strict) if operand is not None and operand is not item]

    def moves(self, item: Expr) -> bool:
        """Whether a node changes with time."""
        stack = [item]
        known = self.varies
        while stack:
            top = stack[-1]
            if top in known:
                stack.pop()
            elif top.op == "symbol":
                known[top] = top.data.role in (Role.TIME, Role.UNKNOWN)
            else:
                missing = [arg for arg in top.args if arg not in known]
                if missing:
                    stack += missing
                else:
                    known[top] = any(known[arg] for arg in top.args)
        return known[item]

    def _moving(self, item: Expr) -> Expr | None:
        return item if self.moves(item) else None

    def _companion(self, item: Expr) -> Expr:
        self.companions.append(item)
        return item

    def _row(self, item: Expr) -> Row[Expr]:
        op = item.op
        if op in _RULES:
            return _RULES[op](self, item)
        if op == "symbol":
            if item.data.role is Role.TIME:
                return Row(item, "time")
            raise NoSeriesError(item, f"nothing is known about the derivative of {item!r}")
        if op in _FUNCTIONS:
            kind, companion, sign = _FUNCTIONS[op]
            (a,) = item.args
            u = companion(a, item)
            return Row(item, kind, (a, u if u is item else self._companion(u)), sign)
        raise NoSeriesError(item, _WHY_NOT.get(op, f"{op} has no power series"))

    # ---- operations

    def sum(self, item: Expr) -> Row[Expr]:
        """a + b or a - b."""
        a, b = (self._moving(arg) for arg in item.args)
        if a is not None and b is not None:
            return Row(item, item.op, (a, b))
        kind = "neg" if a is None and item.op == "sub" else "same"
        return Row(item, kind, (a if a is not None else b,))

    def negative(self, item: Expr) -> Row[Expr]:
        """-a."""
        return Row(item, "neg", item.args)

    def product(self, item: Expr) -> Row[Expr]:
        """a b."""
        a, b = item.args
        if not self.moves(b):
            return Row(item, "scale", (a, b))
        return Row(item, "mul", (a, b)) if self.moves(a) else Row(item, "scale", (b, a))

    def fraction(self, item: Expr) -> Row[Expr]:
        """a / b."""
        a, b = item.args
        return Row(item, "div", (self._moving(a), b)) if self.moves(b) else Row(item, "ratio", (a, b))

    def root(self, item: Expr) -> Row[Expr]:
        """The square root."""
        return Row(item, "sqrt", item.args)

    def power(self, item: Expr) -> Row[Expr]:
        """a to the power of b."""
        base, exponent = item.args
        if self.moves(exponent):
            # b**a = exp(a log b): y' = y (a log b)'
            return Row(item, "product", (exponent * node("log", (base,)), item))
        if exponent.op != "const":
            return Row(item, "power", (base, item, exponent))
        number = float(exponent.value)
        if number == 0.5:
            return Row(item, "sqrt", (base,))
        if number != int(number) or abs(number) > _LARGEST_PRODUCT:
            return Row(item, "power", (base, item, exponent))
        product = _multiplied(base, abs(int(number)))
        return Row(item, "same", (product,)) if number > 0 else Row(item, "div", (None, product))

    def cube_root(self, item: Expr) -> Row[Expr]:
        """The cube root."""
        return Row(item, "power", (item.args[0], item, constant(1.0 / 3.0)))

    def angle(self, item: Expr) -> Row[Expr]:
        """The angle of a point, from its y and x."""
        y, x = item.args
        u = self._companion(x * x + y * y)
        if not self.moves(x):
            return Row(item, "quotient", (self._moving(x * y), u))
        if not self.moves(y):
            return Row(item, "quotient", (self._moving(-(y * x)), u))
        return Row(item, "angle", (y, x, u))

    def choice(self, item: Expr) -> Row[Expr]:
        """One of two, by a condition that changes at events only."""
        condition, a, b = item.args
        if not self.moves(condition):
            return Row(item, "select", (condition, self._moving(a), self._moving(b)))
        if condition.op == "nonzero" and condition.data is None:
            # a derivative's own way round 0 * infinity, which no power series has
            return Row(item, "same", (a,)) if self.moves(a) else Row(item, "neg", (None,))
        raise NoSeriesError(item, _WHY_NOT["ge"])


def _multiplied(base: Expr, n: int) -> Expr:
    """base**n by squaring."""
    product: Expr | None = None
    while n:
        if n & 1:
            product = base if product is None else product * base
        n >>= 1
        if n:
            base = base * base
    return ONE if product is None else product


def _function(name: str, x: Expr) -> Expr:
    return node(name, (as_real(x),))


_RULES: Final = {
    "add": _Builder.sum, "sub": _Builder.sum, "neg": _Builder.negative, "mul": _Builder.product, "div": _Builder.fraction,
    "sqrt": _Builder.root, "pow": _Builder.power, "cbrt": _Builder.cube_root, "atan2": _Builder.angle, "select": _Builder.choice,
}  # fmt: skip

# kind, companion u of (argument, the node itself), sign
_FUNCTIONS: Final = {
    "exp": ("product", lambda a, y: y, 1.0),
    "expm1": ("product", lambda a, y: _function("exp", a), 1.0),
    "sin": ("product", lambda a, y: _function("cos", a), 1.0),
    "cos": ("product", lambda a, y: _function("sin", a), -1.0),
    "tan": ("product", lambda a, y: 1.0 + y * y, 1.0),
    "sinh": ("product", lambda a, y: _function("cosh", a), 1.0),
    "cosh": ("product", lambda a, y: _function("sinh", a), 1.0),
    "tanh": ("product", lambda a, y: 1.0 - y * y, 1.0),
    "erf": ("product", lambda a, y: _TWO_OVER_ROOT_PI * _function("exp", -(a * a)), 1.0),
    "log": ("quotient", lambda a, y: a, 1.0),
    "log1p": ("quotient", lambda a, y: 1.0 + a, 1.0),
    "atan": ("quotient", lambda a, y: 1.0 + a * a, 1.0),
    "atanh": ("quotient", lambda a, y: (1.0 - a) * (1.0 + a), 1.0),
    "asin": ("quotient", lambda a, y: _function("sqrt", (1.0 - a) * (1.0 + a)), 1.0),
    "acos": ("quotient", lambda a, y: _function("sqrt", (1.0 - a) * (1.0 + a)), -1.0),
    "asinh": ("quotient", lambda a, y: _function("sqrt", 1.0 + a * a), 1.0),
    "acosh": ("quotient", lambda a, y: _function("sqrt", (a - 1.0) * (a + 1.0)), 1.0),
}

_QUIET: Final = "it has a relation, a floor or a table inside no_event, or a root that is vertical at zero, which jumps or bends without an event"
_CALLED: Final = "it calls a function that only Python can evaluate"
_WHY_NOT: Final[Mapping[str, str]] = {
    **dict.fromkeys(["ge", "gt", "nonzero", "and", "or", "not", "floor", "segment", "lookup"], _QUIET),
    **dict.fromkeys(["call", "output", "slope"], _CALLED),
    "spline": "it reads a cubic table, whose third derivative jumps at its knots",
}
