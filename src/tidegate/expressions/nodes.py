"""The symbolic graph: hash-consed scalar expressions (stage: the language every model is written in).

Equal expressions are one node, so that sharing costs nothing and identity is equality (Ershov 1958). A node has an
operation, arguments and data; the interpretations (evaluate, differentiate, bounds, machine code, text) live in files of their own and
dispatch on ``Expr.op``. Expressions are real (float) or boolean; ``Expr.is_boolean`` tells.

Operations
----------
real      const symbol add sub mul div neg pow, sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
          exp expm1 log log1p sqrt cbrt erf atan2, select(condition, a, b)
pieces    floor(x); segment(x) with data = grid: index k of the piece holding x, 0 <= k <= len(grid) - 2;
          lookup(k) with data = values: values[k]; spline(x) with data = a Spline
boolean   true false ge(g): g >= 0; gt(g): g > 0; nonzero(x): x != 0; and or not
opaque    call(*args) with data = an OpaqueFunction; output(call) with data = i; slope(call) with data = k: the call's
          outputs differentiated by argument k; output(slope) picks one of them
"""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, NoReturn, cast

import numpy as np

from tidegate.errors import UntraceableError, UsageError
from tidegate.expressions.node_data import OpaqueFunction, Role, Spline, Symbol
from tidegate.expressions.printing import text
from tidegate.expressions.simplify import simplified

__all__ = [
    "BOOLEAN_OPS",
    "FALSE",
    "ONE",
    "TRUE",
    "UNARY_FUNCTIONS",
    "ZERO",
    "Expr",
    "as_boolean",
    "as_expr",
    "as_real",
    "constant",
    "decide",
    "is_condition",
    "lookup",
    "node",
    "opaque_call",
    "raw_node",
    "segment",
    "select",
    "spline",
    "symbol",
    "value_of",
    "walk",
]

UNARY_FUNCTIONS: Final = frozenset("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log1p sqrt cbrt erf".split())
BOOLEAN_OPS: Final = frozenset("true false ge gt nonzero and or not".split())


# The hook that path-locked tracing installs: called with a symbolic condition that Python wants as a bool.
decide: ContextVar[Callable[[Expr], bool] | None] = ContextVar("decide", default=None)
# The hook of those who call a model with numbers: the value of an expression of time, where Python wants one.
value_of: ContextVar[Callable[[Expr], float] | None] = ContextVar("value_of", default=None)


class _Kept(weakref.ref["Expr"]):
    """An entry of the table of all nodes, which goes with its node; a ``WeakValueDictionary`` does the same at several times the cost."""

    __slots__ = ("key",)
    key: tuple[Any, ...]


_nodes: dict[tuple[Any, ...], _Kept] = {}
_lock = threading.RLock()  # taking it may collect garbage, and with it nodes of the same thread


def _forget(kept: _Kept, nodes: dict[tuple[Any, ...], _Kept] = _nodes, lock: Any = _lock) -> None:
    with lock:
        if nodes.get(kept.key) is kept:
            del nodes[kept.key]


class Expr:
    """One node of the graph. Build with operators and the functions of this module; never mutate.

    Attributes
    ----------
    op : name of the operation (module docstring).
    args : argument nodes.
    data : constant value, symbol, grid, ...; None where the operation needs none.
    """

    __slots__ = ("__weakref__", "args", "data", "op")
    op: str
    args: tuple[Expr, ...]
    data: Any

    @property
    def is_boolean(self) -> bool:
        """True for a condition, False for a real number."""
        return self.op in BOOLEAN_OPS

    @property
    def is_constant(self) -> bool:
        """True for a literal number or truth value."""
        return self.op in ("const", "true", "false")

    @property
    def value(self) -> float:
        """The number of a constant node."""
        if self.op == "const":
            return float(self.data)
        if self.op in ("true", "false"):
            return float(self.op == "true")
        raise ValueError(f"{self!r} is not a constant")

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return text(self)

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """Values are not called; said so, because ``tg.time()`` is written easily."""
        name = "tg.time" if self.op == "symbol" and self.data.role is Role.TIME else text(self)
        raise UsageError(
            f"{name} is a value and is not called",
            hint=f"write {name} without the parentheses behind it; a pandas Series at {name} is tg.table(series.index, series)({name})",
        )

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Expr:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return raw_node, (self.op, self.args, self.data)

    def __add__(self, other: Any) -> Any:
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _binary("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _binary("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary("div", other, self)

    def __pow__(self, other: Any) -> Any:
        return _binary("pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _binary("pow", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._quotient_floor(other, self)

    def __rfloordiv__(self, other: Any) -> Any:
        return as_expr(other).__floordiv__(self)

    def _quotient_floor(self, other: Any, numerator: Expr) -> Any:
        quotient = _binary("div", numerator, other)
        if quotient is NotImplemented:
            return NotImplemented
        if as_expr(other) is constant(0.0):
            raise ZeroDivisionError("whole part or remainder of a division by zero")
        return node("floor", (quotient,))

    def __mod__(self, other: Any) -> Any:
        quotient = self.__floordiv__(other)
        return NotImplemented if quotient is NotImplemented else self - as_expr(other) * quotient

    def __rmod__(self, other: Any) -> Any:
        return as_expr(other).__mod__(self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __neg__(self) -> Expr:
        return node("neg", (as_real(self),))

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Expr:
        x = as_real(self)
        return select(node("ge", (x,)), x, -x)

    def __floor__(self) -> Expr:
        return node("floor", (as_real(self),))

    def __ceil__(self) -> Expr:
        return -node("floor", (-self,))

    def __trunc__(self) -> Expr:
        x = as_real(self)
        return select(node("ge", (x,)), node("floor", (x,)), -node("floor", (-x,)))

    def __round__(self, digits: int | None = None) -> Expr:
        scale = 10.0 ** (digits or 0)
        x = as_real(self) * scale
        even = 2.0 * node("floor", ((x + 0.5) / 2.0,))  # at a tie
        return (even + select(node("gt", (x - even - 0.5,)), ONE, ZERO)) / scale

    def __ge__(self, other: Any) -> Any:
        return _relation("ge", self, other)

    def __gt__(self, other: Any) -> Any:
        return _relation("gt", self, other)

    def __le__(self, other: Any) -> Any:
        return _relation("ge", other, self)

    def __lt__(self, other: Any) -> Any:
        return _relation("gt", other, self)

    def __eq__(self, other: object) -> Any:
        if not _is_scalar(other):
            return NotImplemented
        a, b = as_expr(other), self
        if a.is_boolean or b.is_boolean:
            p, q = as_boolean(a), as_boolean(b)
            return (p & q) | (~p & ~q)
        return _relation("ge", a, b) & _relation("ge", b, a)

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return NotImplemented if equal is NotImplemented else ~equal

    def __and__(self, other: Any) -> Expr:
        _require_conditions("&", self, other)
        return node("and", (as_boolean(self), as_boolean(other)))

    def __rand__(self, other: Any) -> Expr:
        return self & other

    def __or__(self, other: Any) -> Expr:
        _require_conditions("|", self, other)
        return node("or", (as_boolean(self), as_boolean(other)))

    def __ror__(self, other: Any) -> Expr:
        return self | other

    def __xor__(self, other: Any) -> Expr:
        if not (_may_be_true(self) and _may_be_true(other)):
            raise TypeError("^ says that one of two conditions holds, and not both; a power is x**y")
        a, b = as_boolean(self), as_boolean(other)
        return (a & ~b) | (~a & b)

    __rxor__ = __xor__

    def __invert__(self) -> Expr:
        a = as_boolean(self)
        if a.op == "not":
            return a.args[0]
        if a is TRUE:
            return FALSE
        return TRUE if a is FALSE else node("not", (a,))

    def __bool__(self) -> bool:
        if self.is_constant:
            return self.value != 0.0
        hook = decide.get()
        if hook is not None:
            return hook(as_boolean(self))
        raise UntraceableError(
            f"Python asked for the truth of the symbolic condition `{self!r}`",
            hint="write it as `if`, `and`, `or`, `not`, tg.where or np.where in a function whose source can be read",
        )

    def __float__(self) -> float:
        if self.is_constant:
            return self.value
        hook = value_of.get()
        if hook is not None:
            return hook(self)
        raise self._no_number("float")

    def __int__(self) -> int:
        if self.is_constant:
            return int(self.value)
        raise self._no_number("int")

    def __index__(self) -> int:
        if self.op == "const" and self.value == int(self.value):
            return int(self.value)
        raise self._no_number("an index")

    def _no_number(self, wanted: str) -> UntraceableError:
        return UntraceableError(
            f"Python asked for `{self!r}` as {wanted}, but its value is known only during the run",
            hint="use functions of math, numpy or tidegate; or mark the calling function with tg.opaque",
        )

    def __getattr__(self, name: str) -> Any:
        # numpy's object loops call methods named like the function: np.sin(array_of_expr) -> element.sin()
        operation = _UNARY_METHODS.get(name)
        if operation is not None:
            return lambda: node(operation, (as_real(self),))
        method = _METHODS.get(name)
        if method is not None:
            return partial(method, as_real(self))
        raise AttributeError(f"a symbolic expression has no attribute {name!r}")


_UNARY_METHODS: Final = {name: name for name in UNARY_FUNCTIONS} | {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "floor": "floor",
}


def _arctan2(y: Expr, x: Any) -> Expr:
    return node("atan2", (y, as_real(x)))


def _hypot(x: Expr, y: Any) -> Expr:
    return node("sqrt", (x * x + y * y,))


def _logarithm(base: float) -> Callable[[Expr], Expr]:
    return lambda x: node("log", (x,)) / math.log(base)


def _scaled(factor: float) -> Callable[[Expr], Expr]:
    return lambda x: x * factor


def _exp2(x: Expr) -> Expr:
    return 2.0**x


def _conjugate(x: Expr) -> Expr:
    return x


_METHODS: Final[dict[str, Callable[..., Expr]]] = {
    "arctan2": _arctan2,
    "hypot": _hypot,
    "log2": _logarithm(2.0),
    "log10": _logarithm(10.0),
    "exp2": _exp2,
    "fabs": Expr.__abs__,
    "rint": Expr.__round__,
    "trunc": Expr.__trunc__,
    "conjugate": _conjugate,
    "radians": _scaled(math.pi / 180.0),
    "deg2rad": _scaled(math.pi / 180.0),
    "degrees": _scaled(180.0 / math.pi),
    "rad2deg": _scaled(180.0 / math.pi),
}


_SCALARS: Final = (Expr, int, float, np.floating, np.integer, np.bool_)


def _is_scalar(value: Any) -> bool:
    # a number that carries more than its value computes with expressions itself
    return isinstance(value, _SCALARS) and not getattr(cast(type, value.__class__), "carries_more", False)


def as_expr(value: Any) -> Expr:
    """The node of a number, a truth value or an expression; TypeError for anything else."""
    if value.__class__ is Expr:
        return value
    if value.__class__ is float:
        return constant(value)
    if isinstance(value, (bool, np.bool_)):
        return TRUE if value else FALSE
    if isinstance(value, _SCALARS):
        return constant(float(cast(Any, value)))
    if isinstance(value, np.ndarray) and value.shape == ():
        return as_expr(value.item())
    raise TypeError(f"{value!r} is not a number or an expression")


def as_real(value: Any) -> Expr:
    """Like ``as_expr``; a condition becomes 1.0 where true and 0.0 where false."""
    expr = as_expr(value)
    return node("select", (expr, ONE, ZERO)) if expr.op in BOOLEAN_OPS else expr


def as_boolean(value: Any) -> Expr:
    """Like ``as_expr``; a number becomes the condition that it is not zero."""
    expr = as_expr(value)
    if expr.is_boolean:
        return expr
    if expr.op == "const":
        return TRUE if expr.value != 0.0 else FALSE
    # a number made from a condition is that condition
    if expr.op == "select" and expr.args[1] is ONE and expr.args[2] is ZERO:
        return expr.args[0]
    return node("nonzero", (expr,))


def node(op: str, args: tuple[Expr, ...] = (), data: Any = None) -> Expr:
    """The one node with this operation, arguments and data; constants are folded and 0 and 1 dropped."""
    simpler = simplified(op, args, data)
    if simpler is not None:
        return as_expr(simpler)
    return raw_node(op, args, data)


def raw_node(op: str, args: tuple[Expr, ...] = (), data: Any = None) -> Expr:
    """Like ``node``, exactly as asked for, without simplification."""
    key = (op, *map(id, args), data)
    with _lock:
        kept = _nodes.get(key)
        found = None if kept is None else kept()
        if found is None:
            found = object.__new__(Expr)
            found.op, found.args, found.data = op, args, data
            kept = _nodes[key] = _Kept(found, _forget)
            kept.key = key
    return found


def constant(value: float) -> Expr:
    """The node of a number. Minus zero is zero: one value, one node."""
    return raw_node("const", (), float(value) + 0.0)


def symbol(role: Role, name: str) -> Expr:
    """The node of a named quantity."""
    return raw_node("symbol", (), Symbol(role, name))


TRUE: Final = raw_node("true")
FALSE: Final = raw_node("false")
ZERO: Final = constant(0.0)
ONE: Final = constant(1.0)


def _binary(op: str, a: Any, b: Any) -> Any:
    x, y = _operand(a), _operand(b)
    return NotImplemented if x is None or y is None else node(op, (x, y))


def _operand(value: Any) -> Expr | None:
    """What operators make of what they are given; None for what is no scalar."""
    if value.__class__ is Expr and value.op not in BOOLEAN_OPS:
        return value
    return as_real(value) if _is_scalar(value) else None


_TRUTHS: Final = (Role.DISCRETE, Role.PREVIOUS, Role.NEXT, Role.PARAMETER, Role.INPUT, Role.INPUT_BEFORE)


def _may_be_true(item: Any) -> bool:
    """Whether it is a condition, or a symbol that may stand for a truth value."""
    if isinstance(item, Expr):
        return item.is_boolean or (item.op == "symbol" and item.data.role in _TRUTHS)
    return is_condition(item)


def _require_conditions(sign: str, a: Any, b: Any) -> None:
    """Refuse what Python does bit by bit; a condition beside a number makes it the condition that it is not zero."""
    if not (is_condition(a) or is_condition(b) or (_may_be_true(a) and _may_be_true(b))):
        raise TypeError(f"{sign} of two numbers goes bit by bit; of a whole number n, bit k is set where n // 2**k % 2 == 1")


def is_condition(item: Any) -> bool:
    """True for a truth value, known or not."""
    return item.is_boolean if isinstance(item, Expr) else isinstance(item, bool | np.bool_)


def _relation(op: str, a: Any, b: Any) -> Any:
    difference = _binary("sub", a, b)
    return NotImplemented if difference is NotImplemented else node(op, (difference,))


def select(condition: Any, a: Any, b: Any) -> Expr:
    """``a`` where the condition holds, else ``b``; boolean if both are."""
    test = as_boolean(condition)
    if test is TRUE:
        return as_expr(a)
    if test is FALSE:
        return as_expr(b)
    x, y = as_expr(a), as_expr(b)
    if x is y:
        return x
    if test.op == "not":
        test, x, y = test.args[0], y, x
    # an arm that asks the same question again knows the answer
    if x.op == "select" and x.args[0] is test:
        x = x.args[1]
    if y.op == "select" and y.args[0] is test:
        y = y.args[2]
    if x.is_boolean and y.is_boolean:
        return (test & x) | (~test & y)
    return node("select", (test, as_real(x), as_real(y)))


def segment(x: Any, grid: Iterable[float]) -> Expr:
    """Index of the piece of ``grid`` (strictly increasing) that holds x: 0 left of grid[1], the last right of the last but one."""
    return node("segment", (as_real(x),), tuple(float(g) for g in grid))


def lookup(index: Any, values: Iterable[float]) -> Expr:
    """``values[index]`` for an index that is an integer within the range."""
    return node("lookup", (as_real(index),), tuple(float(v) for v in values))


def spline(x: Any, table: Spline) -> Expr:
    """The value of a cubic table at x; smooth, so its knots are no events."""
    return node("spline", (as_real(x),), table)


def opaque_call(function: OpaqueFunction, arguments: Iterable[Any]) -> list[Expr]:
    """One node for each output of an opaque function called with these arguments."""
    call = raw_node("call", tuple(as_real(a) for a in arguments), function)
    return [raw_node("output", (call,), i) for i in range(function.n_outputs)]


def walk(roots: Iterable[Expr], seen: set[Expr] | None = None) -> Iterator[Expr]:
    """Every node below the roots once, arguments before the nodes that use them; not again what has been seen, to which the others are added."""
    seen = set() if seen is None else seen
    for root in roots:
        stack: list[Expr | None] = [root]
        while stack:  # no recursion: graphs are deep
            item = stack.pop()
            if item is None:  # the node below has all its arguments behind it
                item = stack.pop()
                assert item is not None
                yield item
            elif item not in seen:
                seen.add(item)
                args = item.args
                if not args:
                    yield item
                    continue
                stack += (item, None)
                for arg in args[::-1]:
                    if arg not in seen:
                        stack.append(arg)
