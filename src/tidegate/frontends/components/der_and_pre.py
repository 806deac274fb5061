"""What users write inside a component's methods (front end of components): time, derivatives, values before, edges and changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tidegate.errors import UsageError
from tidegate.expressions import ONE, Expr, Role, as_boolean, as_real, symbol, walk
from tidegate.expressions.differentiate import tangent
from tidegate.expressions.substitute import substitute
from tidegate.expressions.tracing import Vector
from tidegate.expressions.tracing.choices import Choice, PlainText, choice_of, item_of
from tidegate.frontends.components.elements import flat, is_array
from tidegate.frontends.components.known_numbers import Number, Numbers, Pending, WantedFirst, now
from tidegate.wrong_calls import explained

__all__ = ["before_of", "change", "continuous_of", "der", "edge", "pre", "time"]

time: Final = symbol(Role.TIME, "time")


def _each(function: Callable[[Any], Any], x: Any) -> Any:
    if isinstance(x, Numbers):
        return Numbers([function(item) for item in flat(x)], x.shape)
    if isinstance(x, Number):
        return function(x)
    if isinstance(x, Pending):
        raise WantedFirst
    is_number: bool = isinstance(x, float | int) and now.get(None) is not None
    if is_number:
        # called with numbers: what came out of `math`, or was written as a number, does not know what it depends on
        raise UsageError(f"called with numbers, nothing tells where {x!r} comes from", hint="take it of variables and arithmetic with them")
    if is_array(x) and now.get(None) is not None:
        return Numbers([_each(function, item) for item in flat(x)], np.shape(x))
    if is_array(x):
        return Vector([function(as_real(item)) for item in flat(x)]).reshape(np.shape(x))
    try:
        number = as_real(x)
    except TypeError:
        raise UsageError(f"{x!r} has no derivative and no value before", hint="take a variable of it: tg.der(self.C.v)") from None
    return function(number)


def _derivative(x: Any) -> Any:
    if isinstance(x, Number):
        if x.rate != x.rate and not now.get().has_rates:
            raise WantedFirst
        return Number(x.rate)
    if x.op == "symbol" and x.data.role is Role.UNKNOWN:
        return symbol(Role.DERIVATIVE, x.data.name)
    seeds: dict[Expr, Expr] = {}
    for item in walk([x]):
        if item.op != "symbol":
            continue
        if item.data.role is Role.UNKNOWN:
            seeds[item] = symbol(Role.DERIVATIVE, item.data.name)
        elif item.data.role is Role.TIME:
            seeds[item] = ONE
        elif item.data.role not in (Role.PARAMETER, Role.DISCRETE):
            raise UsageError(
                f"der({x!r}) needs the derivative of {item.data.name}, which is not known", hint="take derivatives of states and expressions of them"
            )
    return tangent([x], seeds)[0]


@explained
def der(x: Any) -> Any:
    """The derivative with respect to time, of a state or of an expression of states, time and parameters; of arrays by element.

    Examples
    --------
    >>> der(symbol(Role.UNKNOWN, "h")) is symbol(Role.DERIVATIVE, "h")
    True
    """
    return _each(_derivative, x)


# what stands for the value before the round
_BEFORE: Final = {
    Role.UNKNOWN: Role.UNKNOWN_BEFORE, Role.DERIVATIVE: Role.DERIVATIVE_BEFORE, Role.INPUT: Role.INPUT_BEFORE, Role.TIME: Role.TIME_BEFORE,
}  # fmt: skip
_CONTINUOUS: Final = {before: role for role, before in _BEFORE.items()}


def _previous(x: Any) -> Any:
    if isinstance(x, Number):
        if not x.name:
            raise UsageError("called with numbers, only variables know their value before", hint="take tg.pre of each variable")
        return Number(x.before)
    found: dict[Expr, Expr] = {}
    for item in walk([x]):
        if item.op == "symbol" and item.data.role is Role.DISCRETE:
            found[item] = symbol(Role.PREVIOUS, item.data.name)
        elif item.op == "symbol" and item.data.role in _BEFORE:
            found[item] = symbol(_BEFORE[item.data.role], item.data.name)
    return substitute([x], found)[0] if found else x


def continuous_of(item: Expr) -> Expr | None:
    """The unknown, derivative, input or time whose value before the round this symbol stands for; None for every other symbol."""
    role = _CONTINUOUS.get(item.data.role)
    return None if role is None else symbol(role, item.data.name)


def before_of(item: Expr) -> list[Expr]:
    """Symbols that can stand for the value of a variable before the round."""
    return [symbol(role, item.data.name) for role in (Role.PREVIOUS, _BEFORE.get(item.data.role)) if role is not None]


@explained
def pre(x: Any) -> Any:
    """The value before a round of an event; between events the value itself.

    In the condition of a clause it is the value before the round that led there: ``self.k > tg.pre(self.k)`` becomes true in the round after one that
    has raised ``k``, and is false again in the next. So of discrete variables, of states, and of outputs, algebraic variables and inputs of parts
    that follow from these.

    In the body of a clause it is the value before the present round. Of a discrete variable or a state the body sees it anyway. Of an output or an
    algebraic variable it may differ from what the body sees, where another clause of the same instant changes what the variable follows from by an
    equation.

    Of a relation, as ``self.x > 0.5``, it is the truth that it had before it changed, in conditions and in bodies: the state is the same before and
    after.

    Examples
    --------
    >>> pre(symbol(Role.DISCRETE, "count")) is symbol(Role.PREVIOUS, "count")
    True
    """
    if isinstance(x, Choice | PlainText):
        return choice_of(_each(_previous, x.item), x.texts, f"pre({x.variable})", x.enumeration)
    return _each(_previous, x)


def _rises(x: Any) -> Any:
    if isinstance(x, Number):
        return bool(x) and not bool(_previous(x))
    return as_boolean(x) & ~as_boolean(_previous(x))


def _changes(x: Any) -> Any:
    before = _previous(x)
    if isinstance(x, Number):
        return float(x) != float(before)
    return as_real(x) != as_real(before)


@explained
def edge(b: Any) -> Any:
    """True at an event at which a truth value has become true: ``b`` and not ``tg.pre(b)``; of arrays by element.

    Between events it is false. Like ``tg.pre``, in the condition of a clause it compares with the value before the round that led there.

    Examples
    --------
    >>> edge(symbol(Role.DISCRETE, "on"))
    on and not pre(on)
    """
    return _each_truth(_rises, b)


@explained
def change(v: Any) -> Any:
    """True at an event at which a variable has changed: it is not ``tg.pre`` of it; of arrays by element.

    Examples
    --------
    >>> change(symbol(Role.DISCRETE, "gear"))
    not gear == pre(gear)
    """
    return _each_truth(_changes, item_of(v))


def _each_truth(function: Callable[[Any], Any], x: Any) -> Any:
    if is_array(x):
        return Vector([_each_truth(function, item) for item in flat(x)]).reshape(np.shape(x))
    if isinstance(x, Pending):
        raise WantedFirst
    return function(x)
