"""Elementary functions for models (stage: expressions): numbers, arrays or expressions in, the same out.

Each works on floats, expressions, and arrays or sequences of either. ``SUBSTITUTES`` says which of them stands for which function of
``math`` and ``numpy`` when a user's own code is run on symbols. What has corners or jumps (``abs``, ``minimum``, ``sign``, ``floor`` ...) is
made of ``select`` and ``floor``, so that its corners become discontinuity functions.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable
from functools import reduce, wraps
from typing import Any, Final, cast

import numpy as np

from tidegate.errors import UntraceableError
from tidegate.expressions.chosen_texts import chosen_text, is_text
from tidegate.expressions.elementwise import elementwise, holds_expressions
from tidegate.expressions.ieee_arithmetic import apply
from tidegate.expressions.lookup_tables import constant_outside, table
from tidegate.expressions.no_event import no_event
from tidegate.expressions.nodes import FALSE, TRUE, Expr, as_boolean, as_expr, as_real, constant, node, select, value_of
from tidegate.wrong_calls import explained

__all__ = [
    "SUBSTITUTES",
    "absolute",
    "acos",
    "acosh",
    "all_of",
    "any_of",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "clip",
    "copysign",
    "cos",
    "cosh",
    "degrees",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "fmod",
    "heaviside",
    "hypot",
    "interp",
    "largest",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "power",
    "radians",
    "rounded",
    "sign",
    "sin",
    "sinh",
    "smallest",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "where",
]


def _unary(operation: str, description: str) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        return node(operation, (as_real(x),)) if isinstance(x, Expr) else apply(operation, (float(x),))

    def function(x: Any) -> Any:
        return elementwise(kernel, x)

    function.__name__ = function.__qualname__ = operation
    function.__doc__ = f"{description} of a number, an expression, or every element of an array."
    return function


sin: Final = _unary("sin", "Sine")
cos: Final = _unary("cos", "Cosine")
tan: Final = _unary("tan", "Tangent")
asin: Final = _unary("asin", "Inverse sine")
acos: Final = _unary("acos", "Inverse cosine")
atan: Final = _unary("atan", "Inverse tangent")
sinh: Final = _unary("sinh", "Hyperbolic sine")
cosh: Final = _unary("cosh", "Hyperbolic cosine")
tanh: Final = _unary("tanh", "Hyperbolic tangent")
asinh: Final = _unary("asinh", "Inverse hyperbolic sine")
acosh: Final = _unary("acosh", "Inverse hyperbolic cosine")
atanh: Final = _unary("atanh", "Inverse hyperbolic tangent")
exp: Final = _unary("exp", "Exponential")
expm1: Final = _unary("expm1", "exp(x) - 1")
log1p: Final = _unary("log1p", "log(1 + x)")
sqrt: Final = _unary("sqrt", "Square root")
cbrt: Final = _unary("cbrt", "Cube root")
erf: Final = _unary("erf", "Error function")
floor: Final = _unary("floor", "Largest integer not above x,")
_natural_log: Final = _unary("log", "Natural logarithm")


def log(x: Any, base: Any = None) -> Any:
    """Natural logarithm, or the logarithm to another base."""
    return _natural_log(x) if base is None else _natural_log(x) / _natural_log(base)


def _on_elements[**P](kernel: Callable[P, Any]) -> Callable[P, Any]:
    """A function of scalars, made one of arrays too."""

    @wraps(kernel)
    def function(*values: P.args, **named: P.kwargs) -> Any:
        if named:
            return elementwise(kernel, *inspect.signature(kernel).bind(*values, **named).args)
        return elementwise(kernel, *values)

    return function


@_on_elements
def log2(x: Any) -> Any:
    """Logarithm to base 2."""
    return _natural_log(x) / math.log(2.0) if isinstance(x, Expr) or not x > 0 else math.log2(x)


@_on_elements
def log10(x: Any) -> Any:
    """Logarithm to base 10."""
    return _natural_log(x) / math.log(10.0) if isinstance(x, Expr) or not x > 0 else math.log10(x)


def _operation(name: str, x: Any, y: Any) -> Any:
    if isinstance(x, Expr) or isinstance(y, Expr):
        return node(name, (as_real(x), as_real(y)))
    return apply(name, (float(x), float(y)))


def _choose(condition: Any, a: Any, b: Any) -> Any:
    # where a model is called with numbers, a condition of time has its truth: what is chosen stays what it is, with its name and rate
    if isinstance(condition, Expr) and not condition.is_constant and value_of.get() is None:
        return select(condition, a, b)
    return a if condition else b


@_on_elements
def atan2(y: Any, x: Any) -> Any:
    """Angle of the point (x, y), in (-pi, pi]."""
    return _operation("atan2", y, x)


@_on_elements
def power(x: Any, y: Any) -> Any:
    """``x**y``; NaN where it is not a real number."""
    return _operation("pow", x, y)


@_on_elements
def hypot(*coordinates: Any) -> Any:
    """Length of a vector with these coordinates."""
    squares: list[Any] = [c * c for c in coordinates]
    return sqrt(reduce(operator.add, squares, 0.0))


@_on_elements
def exp2(x: Any) -> Any:
    """``2**x``."""
    return _operation("pow", 2.0, x)


@_on_elements
def radians(x: Any) -> Any:
    """Degrees as radians."""
    return x * (math.pi / 180.0)


@_on_elements
def degrees(x: Any) -> Any:
    """Radians as degrees."""
    return x * (180.0 / math.pi)


@explained
@_on_elements
def where(condition: Any, a: Any, b: Any) -> Any:
    """``a`` where the condition holds, else ``b``, element by element; of texts too, where a variable is given them or compared with them.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> level = symbol(Role.UNKNOWN, "level")
    >>> where(level > 1, level - 1, 0)
    level - 1 if level > 1 else 0
    """
    if (is_text(a) or is_text(b)) and isinstance(condition, Expr) and not condition.is_constant:
        return chosen_text(condition, a, b)
    return _choose(condition, a, b)


@explained
@_on_elements
def minimum(a: Any, b: Any) -> Any:
    """The smaller of two; ``a`` where they are equal."""
    return _choose(a <= b, a, b)


@explained
@_on_elements
def maximum(a: Any, b: Any) -> Any:
    """The larger of two; ``a`` where they are equal."""
    return _choose(a >= b, a, b)


@explained
def clip(x: Any, low: Any = None, high: Any = None) -> Any:
    """x, but not below ``low`` and not above ``high``; None for no limit."""
    limited = x if low is None else maximum(x, low)
    return limited if high is None else minimum(limited, high)


@_on_elements
def absolute(x: Any) -> Any:
    """Absolute value."""
    return abs(x)


@explained
@_on_elements
def sign(x: Any) -> Any:
    """1 for positive, -1 for negative, 0 for zero."""
    return _choose(x > 0, 1.0, _choose(x < 0, -1.0, 0.0))


@_on_elements
def heaviside(x: Any, at_zero: Any) -> Any:
    """1 for positive, 0 for negative, ``at_zero`` for zero."""
    return _choose(x > 0, 1.0, _choose(x < 0, 0.0, at_zero))


@_on_elements
def copysign(size: Any, direction: Any) -> Any:
    """The absolute value of ``size`` with the sign of ``direction``; zero counts as positive."""
    return _choose(direction >= 0, abs(size), -abs(size))


@_on_elements
def ceil(x: Any) -> Any:
    """Smallest integer not below x."""
    return -floor(-x)


@_on_elements
def trunc(x: Any) -> Any:
    """x without its fraction, towards zero."""
    return _choose(x >= 0, floor(x), -floor(-x))


def rounded(x: Any, decimals: int = 0) -> Any:
    """x rounded to so many decimals, halves to what is even."""

    def kernel(a: Any) -> Any:
        return round(a, decimals) if isinstance(a, Expr) else float(np.round(float(a), decimals))

    return elementwise(kernel, x)


@_on_elements
def mod(x: Any, y: Any) -> Any:
    """Remainder of a division with the sign of the divisor, like ``x % y``."""
    return x % y


@_on_elements
def fmod(x: Any, y: Any) -> Any:
    """Remainder of a division with the sign of the dividend, like C's ``fmod``."""
    if not holds_expressions(x, y):
        return float(np.fmod(x, y))
    if as_expr(y) is constant(0.0):
        raise ZeroDivisionError("remainder of a division by zero")
    return x - y * trunc(x / y)


def _of_numbers(numpys: Callable[[Any], Any], symbols_are: Expr) -> Callable[[Any], Any]:
    """What NumPy says of numbers; of symbols, what holds as long as a run goes on: it ends where one is not finite."""

    def kernel(x: Any) -> Any:
        if isinstance(x, Expr):
            return symbols_are if not x.is_constant else TRUE if numpys(x.value) else FALSE
        return bool(numpys(x))

    return lambda x: elementwise(kernel, x)


@_on_elements
def _log_of_sum(x: Any, y: Any) -> Any:
    """log(exp(x) + exp(y)), where neither exponential overflows; both branches are the same smooth function."""
    return no_event(maximum(x, y) + log1p(exp(-absolute(x - y))))


def _parts(x: Any) -> tuple[Any, Any]:
    """What is behind the point, and the whole part, both with the sign of x."""
    whole = trunc(x)
    return x - whole, whole


def _whole_and_remainder(x: Any, y: Any) -> tuple[Any, Any]:
    return x // y, x % y


@_on_elements
def _remainder(x: Any, y: Any) -> Any:
    """x less the multiple of y that is nearest to it (IEEE 754)."""
    return x - y * rounded(x / y) if holds_expressions(x, y) else math.remainder(x, y)


def _scaled(x: Any, exponent: Any) -> Any:
    return x * 2.0**exponent


def _are_close(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    return absolute(a - b) <= maximum(rel_tol * maximum(absolute(a), absolute(b)), abs_tol)


def _other_than_erf(x: Any) -> Any:
    return 1.0 - erf(x)


@_on_elements
def logical_and(a: Any, b: Any) -> Any:
    """True where both hold."""
    return as_boolean(a) & as_boolean(b) if holds_expressions(a, b) else bool(a and b)


@_on_elements
def logical_or(a: Any, b: Any) -> Any:
    """True where one of them holds, or both."""
    return as_boolean(a) | as_boolean(b) if holds_expressions(a, b) else bool(a or b)


@_on_elements
def logical_xor(a: Any, b: Any) -> Any:
    """True where exactly one of them holds."""
    return as_boolean(a) != as_boolean(b) if holds_expressions(a, b) else bool(a) != bool(b)


@_on_elements
def logical_not(a: Any) -> Any:
    """True where it does not hold."""
    return ~as_boolean(a) if isinstance(a, Expr) else not a


def _reduced(function: Callable[[Any, Any], Any], values: Any, axis: int | None, keepdims: bool, *first: Any) -> Any:
    array: Any = np.asarray(values, dtype=object)
    if axis is None:
        one = reduce(function, array.ravel().tolist(), *first)
        return np.full((1,) * array.ndim, one, dtype=object) if keepdims else one
    result = reduce(function, np.moveaxis(array, axis, 0), *first)
    return np.expand_dims(result, axis) if keepdims else result


def smallest(values: Any, axis: int | None = None, *, initial: Any = None, keepdims: bool = False) -> Any:
    """The smallest element of an array, or along one of its axes."""
    return _reduced(minimum, values, axis, keepdims, *(() if initial is None else (initial,)))


def largest(values: Any, axis: int | None = None, *, initial: Any = None, keepdims: bool = False) -> Any:
    """The largest element of an array, or along one of its axes."""
    return _reduced(maximum, values, axis, keepdims, *(() if initial is None else (initial,)))


def all_of(values: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """True where every element holds."""
    return _reduced(logical_and, values, axis, keepdims)


def any_of(values: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """True where one of the elements holds."""
    return _reduced(logical_or, values, axis, keepdims)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """Linear interpolation between points, constant outside, like ``np.interp``; its corners are located as events.

    Parameters
    ----------
    x : where.
    xp : abscissas of the points, increasing numbers.
    fp : values there: numbers or expressions.
    left, right : values outside; those of the end points if not given.
    """
    if holds_expressions(xp):
        raise UntraceableError(
            "np.interp was given symbolic abscissas xp",
            hint="let only x and fp depend on variables and parameters; or mark the function with tg.opaque",
        )
    if not holds_expressions(x, fp, left, right):
        return cast(Any, np.interp(x, xp, fp, left, right))
    inside = _interpolant([float(a) for a in xp], list(fp))

    def kernel(at: Any) -> Any:
        value = inside(at)
        if left is not None:
            value = _choose(at < xp[0], left, value)
        return value if right is None else _choose(at > xp[-1], right, value)

    return elementwise(kernel, x)


def _interpolant(xp: list[float], fp: list[Any]) -> Callable[[Any], Any]:
    if len(xp) == 1:
        return lambda _: as_expr(fp[0])
    if not holds_expressions(fp):
        return constant_outside(table(xp, fp, name="np.interp"))

    def kernel(at: Any) -> Any:
        value = fp[-1]
        for k in reversed(range(len(xp) - 1)):
            piece = fp[k] + (fp[k + 1] - fp[k]) * ((at - xp[k]) / (xp[k + 1] - xp[k]))
            value = _choose(at < xp[k + 1], piece, value)
        return _choose(at < xp[0], fp[0], value)

    return kernel


def _numpy_clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    return clip(a, a_min if min is None else min, a_max if max is None else max)


def _numpy_select(condlist: Any, choicelist: Any, default: Any = 0.0) -> Any:
    value = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        value = where(condition, choice, value)
    return value


def _numpy_where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        raise UntraceableError(
            "np.where with a symbolic condition alone would make indexes that are known only during the run",
            hint="use np.where(condition, a, b)",
        )
    return where(condition, x, y)


def _comparison(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: elementwise(compare, a, b)


def _distance(p: Any, q: Any) -> Any:
    return hypot(*(a - b for a, b in zip(p, q, strict=True)))


# np.remainder is np.mod, np.abs is np.absolute: one ufunc with two names is one key.
SUBSTITUTES: Final[dict[Callable[..., Any], Callable[..., Any]]] = {
    **{getattr(math, f.__name__): f for f in (sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, exp, expm1, log1p)},
    **{getattr(np, f.__name__): f for f in (sin, cos, tan, sinh, cosh, tanh, exp, exp2, expm1, log2, log10, log1p, sqrt, cbrt, hypot)},
    np.arcsin: asin,
    np.arccos: acos,
    np.arctan: atan,
    np.arcsinh: asinh,
    np.arccosh: acosh,
    np.arctanh: atanh,
    np.log: log,
    math.log: log,
    math.log2: log2,
    math.log10: log10,
    math.sqrt: sqrt,
    math.cbrt: cbrt,
    math.erf: erf,
    math.exp2: exp2,
    math.atan2: atan2,
    math.hypot: hypot,
    math.dist: _distance,
    math.pow: power,
    math.fabs: absolute,
    math.copysign: copysign,
    math.floor: floor,
    math.ceil: ceil,
    math.trunc: trunc,
    math.fmod: fmod,
    math.radians: radians,
    math.degrees: degrees,
    np.arctan2: atan2,
    np.power: power,
    np.float_power: power,
    np.absolute: absolute,
    np.fabs: absolute,
    np.copysign: copysign,
    np.floor: floor,
    np.ceil: ceil,
    np.trunc: trunc,
    np.rint: rounded,
    np.round: rounded,
    np.fmod: fmod,
    np.mod: mod,
    np.sign: sign,
    np.radians: radians,
    np.deg2rad: radians,
    np.degrees: degrees,
    np.rad2deg: degrees,
    np.heaviside: heaviside,
    np.minimum: minimum,
    np.maximum: maximum,
    np.fmin: minimum,
    np.fmax: maximum,
    np.clip: _numpy_clip,
    np.interp: interp,
    np.where: _numpy_where,
    np.select: _numpy_select,
    **dict.fromkeys((math.isfinite, np.isfinite), _of_numbers(np.isfinite, TRUE)),
    **dict.fromkeys((math.isnan, np.isnan), _of_numbers(np.isnan, FALSE)),
    **dict.fromkeys((math.isinf, np.isinf), _of_numbers(np.isinf, FALSE)),
    np.logaddexp: _log_of_sum,
    **dict.fromkeys((math.modf, np.modf), _parts),
    np.divmod: _whole_and_remainder,
    math.erfc: _other_than_erf,
    math.remainder: _remainder,
    math.ldexp: _scaled,
    math.isclose: _are_close,
    np.logical_and: logical_and,
    np.logical_or: logical_or,
    np.logical_xor: logical_xor,
    np.logical_not: logical_not,
    np.min: smallest,
    np.max: largest,
    np.all: all_of,
    np.any: any_of,
    np.greater: _comparison(operator.gt),
    np.greater_equal: _comparison(operator.ge),
    np.less: _comparison(operator.lt),
    np.less_equal: _comparison(operator.le),
    np.equal: _comparison(operator.eq),
    np.not_equal: _comparison(operator.ne),
}
