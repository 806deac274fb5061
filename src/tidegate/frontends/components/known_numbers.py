"""What a component's attributes are while its methods are called with numbers (front end of components): floats that know their names and rates.

A number is a Python float: an ``if``, a dictionary or ``math`` sees nothing else. Beside its value it has a name, by which the body of an event
assigns to it, and its derivative by time, which ``tg.der`` gives; arithmetic keeps the derivative. ``==`` holds both sides, so that
a yielded equation can be read, and is as true as Python's.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ClassVar, Final, Self

import numpy as np

from tidegate.expressions import Expr, evaluate, symbol
from tidegate.expressions.node_data import Role
from tidegate.expressions.tracing import Truth

__all__ = ["Moment", "Number", "Numbers", "Pending", "Sides", "ValuedNumber", "WantedFirst", "now", "number_of"]

_TIME: Final = symbol(Role.TIME, "time")
_SIMPLE: Final[dict[str, Callable[[float, float], float]]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
_STEP: Final = 1e-6  # of a value: difference quotients of a function that is applied to one


def _of_time(item: Expr, t: float) -> float:
    """The value of an expression of time: what is written in an equation is a sum or product of a few of them."""
    if item is _TIME:
        return t
    if item.op == "const":
        return float(item.data)
    if len(item.args) == 2 and all(arg is _TIME or arg.op == "const" for arg in item.args) and item.op in _SIMPLE:
        left, right = (t if arg is _TIME else float(arg.data) for arg in item.args)
        return _SIMPLE[item.op](left, right)
    return evaluate([item], {_TIME: t})[0]


class Moment:
    """A time, and what expressions of time are then: the same ones are asked for in every equation, and again for every unknown.

    Parameters
    ----------
    t : time.
    has_rates : whether derivatives by time of what is no variable are worked out; otherwise ``tg.der`` of it raises ``WantedFirst``.
    """

    __slots__ = ("has_rates", "rates", "t", "values")

    def __init__(self, t: float, *, has_rates: bool = True) -> None:
        self.t = t
        self.has_rates = has_rates
        self.values: dict[Expr, float] = {}
        self.rates: dict[Expr, float] = {}

    def value(self, item: Expr) -> float:
        """Of an expression of time."""
        if item not in self.values:
            self.values[item] = _of_time(item, self.t)
        return self.values[item]

    def rate(self, item: Expr) -> float:
        """Its derivative; NaN where none is worked out."""
        if not self.has_rates:
            return math.nan
        if item not in self.rates:
            step = _STEP * max(abs(self.t), 1.0)
            self.rates[item] = (_of_time(item, self.t + step) - _of_time(item, self.t - step)) / (2.0 * step)
        return self.rates[item]


now: Final[ContextVar[Moment]] = ContextVar("now")


class WantedFirst(BaseException):
    """What was put off is needed: the values of outputs, or derivatives. No error, and not to be caught as one by what is called."""


class Sides:
    """Both sides of ``left == right``, and whether they are equal."""

    __slots__ = ("left", "right")

    def __init__(self, left: Any, right: Any) -> None:
        self.left = left
        self.right = right

    def __bool__(self) -> bool:
        return bool(float(self.left) == float(self.right))

    def __float__(self) -> float:
        return float(bool(self))

    def __int__(self) -> int:
        return int(bool(self))

    __hash__ = object.__hash__


def _as_truth(name: str, *, is_reflected: bool) -> None:
    """What is done with it as with a truth value."""
    compute: Any = getattr(operator, name)

    def rule(self: Sides, *others: Any) -> Any:
        return compute(Truth(self), *(Truth(other) if isinstance(other, Sides) else other for other in others))

    def reflected(self: Sides, other: Any) -> Any:
        return compute(other, Truth(self))

    setattr(Sides, f"__{name.rstrip('_')}__", rule)
    if is_reflected:
        setattr(Sides, f"__r{name.rstrip('_')}__", reflected)


for _name in ("and_", "or_", "xor", "add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _as_truth(_name, is_reflected=True)
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert"):
    _as_truth(_name, is_reflected=False)


class Pending:
    """An output whose value has not been asked for: it may stand alone on a side of an equation; all else raises ``WantedFirst``.

    Parameters
    ----------
    name : of the element.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else Sides(self, other)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc is np.equal and method == "__call__" and not options and all(np.ndim(item) == 0 for item in inputs):
            return Sides(*inputs)
        raise WantedFirst


def _pending() -> None:
    def wanted(*_: Any) -> Any:
        raise WantedFirst

    arithmetic = ("add", "sub", "mul", "truediv", "mod", "floordiv", "pow", "and", "or", "divmod")
    others = ("neg", "pos", "abs", "invert", "float", "int", "index", "bool", "round", "floor", "ceil", "trunc", "str", "format")
    for name in (*arithmetic, *(f"r{item}" for item in arithmetic), *others, "lt", "le", "gt", "ge", "ne"):
        setattr(Pending, f"__{name}__", wanted)
    for name in ("real", "imag", "rate", "before"):
        setattr(Pending, name, property(wanted))


_pending()


class Number(float):
    """A value with its name, its derivative by time, and its value before the event's round."""

    __slots__ = ("before", "name", "rate")
    carries_more: ClassVar[bool] = True  # so that an expression leaves it to this class to compute with both

    name: str
    rate: float
    before: float

    def __new__(cls, value: float, name: str = "", rate: float = 0.0, before: float | None = None) -> Self:
        """A float with more to it."""
        made = super().__new__(cls, value)
        made.name, made.rate = name, rate
        made.before = float(value) if before is None else before
        return made

    def __hash__(self) -> int:
        return hash(self.name) if self.name else float.__hash__(self)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, str) or other is None:
            return False
        if isinstance(other, np.ndarray):
            return NotImplemented
        return Sides(self, other)

    def __ne__(self, other: object) -> Any:
        return not self.__eq__(other)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or any(np.ndim(item) > 0 for item in inputs):
            return getattr(ufunc, method)(*(float(item) if isinstance(item, Number) else item for item in inputs), **options)
        if ufunc is np.equal:
            return Sides(*inputs)
        return _applied(ufunc, inputs)

    def __and__(self, other: Any) -> Truth:
        return Truth(bool(self) and bool(other))

    def __or__(self, other: Any) -> Truth:
        return Truth(bool(self) or bool(other))

    def __xor__(self, other: Any) -> Truth:
        return Truth(bool(self) is not bool(other))

    __rand__ = __and__
    __ror__ = __or__
    __rxor__ = __xor__

    def __invert__(self) -> Truth:
        return Truth(not self)


class ValuedNumber(Number):
    """One that is found among the keys of a dictionary by its value, as Python finds a float, and not by its name."""

    __slots__ = ()
    __hash__ = float.__hash__


def number_of(value: Any) -> float:
    """The number something stands for: an expression is one of time."""
    if isinstance(value, Expr):
        return now.get().value(value)
    return float(value)


def _rate_of(value: Any) -> float:
    if isinstance(value, Number):
        return value.rate
    if isinstance(value, Expr) and not value.is_constant:
        return now.get().rate(value)
    return 0.0


def _applied(function: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
    """A function of numbers, with its derivative by difference quotients where any of them has one."""
    values = [number_of(item) for item in inputs]
    result: Any = function(*values)
    if np.asarray(result).dtype.kind == "b":
        return Truth(result)
    if not now.get().has_rates:
        return Number(float(result), rate=math.nan)
    rates = [_rate_of(item) for item in inputs]
    slope = 0.0
    for k, rate in enumerate(rates):
        if rate != 0.0:
            step = _STEP * max(abs(values[k]), 1e-3)
            above, below = ([*values[:k], values[k] + sign * step, *values[k + 1 :]] for sign in (1.0, -1.0))
            slope += rate * (float(function(*above)) - float(function(*below))) / (2.0 * step)
    return Number(float(result), rate=slope)


def _operator(name: str, rule: Callable[[float, float, float, float], tuple[float, float]]) -> None:
    """Arithmetic of two numbers: rule(a, a', b, b') gives the value and its derivative."""

    def forward(self: Number, other: Any) -> Any:
        if isinstance(other, np.ndarray) or not isinstance(other, float | int | Expr | np.number | np.bool_):
            return NotImplemented
        return Number(*_named(rule(float(self), self.rate, number_of(other), _rate_of(other))))

    def reflected(self: Number, other: Any) -> Any:
        if isinstance(other, np.ndarray) or not isinstance(other, float | int | Expr | np.number | np.bool_):
            return NotImplemented
        return Number(*_named(rule(number_of(other), _rate_of(other), float(self), self.rate)))

    setattr(Number, f"__{name}__", forward)
    setattr(Number, f"__r{name}__", reflected)


def _comparison(name: str) -> None:
    compare: Callable[[float, float], bool] = getattr(operator, name)

    def rule(self: Number, other: Any) -> Any:
        return Truth(compare(float(self), number_of(other))) if isinstance(other, float | int | Expr) else NotImplemented

    setattr(Number, f"__{name}__", rule)


def _named(pair: tuple[float, float]) -> tuple[float, str, float]:
    return pair[0], "", pair[1]


def _power(a: float, da: float, b: float, db: float) -> tuple[float, float]:
    value = a**b
    slope = 0.0 if da == 0.0 else b * a ** (b - 1.0) * da
    if db != 0.0:
        slope += value * float(np.log(a)) * db
    return value, slope


_operator("add", lambda a, da, b, db: (a + b, da + db))
_operator("sub", lambda a, da, b, db: (a - b, da - db))
_operator("mul", lambda a, da, b, db: (a * b, da * b + a * db))
_operator("truediv", lambda a, da, b, db: (a / b, (da - a / b * db) / b))
_operator("mod", lambda a, da, b, db: (a % b, da - a // b * db))
_operator("floordiv", lambda a, _da, b, _db: (a // b, 0.0))
_operator("pow", _power)
for _name in ("lt", "le", "gt", "ge"):
    _comparison(_name)
Number.__neg__ = lambda self: Number(-float(self), rate=-self.rate)
Number.__pos__ = lambda self: self
Number.__abs__ = lambda self: Number(abs(float(self)), rate=-self.rate if float(self) < 0.0 else self.rate)


class Numbers(np.ndarray):
    """An array of numbers; ``==`` gives the sides of each element."""

    def __new__(cls, values: Any, shape: tuple[int, ...]) -> Self:
        """An object array of them."""
        made = np.empty(len(values), dtype=object)
        made[:] = values
        return made.reshape(shape).view(cls)

    def __eq__(self, other: object) -> Any:
        one, two = np.broadcast_arrays(np.asarray(self, dtype=object), np.asarray(other, dtype=object))
        sides = np.empty(one.shape, dtype=object)
        sides.ravel()[:] = [Sides(a, b) for a, b in zip(one.ravel().tolist(), two.ravel().tolist(), strict=True)]
        return sides

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] # the key of new values, as the symbols of an array are
        return hash(tuple(self.ravel().tolist()))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Functions that numpy has for floats only are applied element by element."""
        plain: list[Any] = [np.asarray(item, dtype=object) if isinstance(item, Numbers) else item for item in inputs]
        try:
            found: Any = getattr(ufunc, method)(*plain, **options)
        except TypeError:
            if method != "__call__" or options:
                raise
            found = np.frompyfunc(lambda *items: _applied(ufunc, items), len(plain), 1)(*plain)
        return found.view(Numbers) if getattr(found, "dtype", np.dtype(float)).kind == "O" else found
