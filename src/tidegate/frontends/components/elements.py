"""Scalars and arrays alike (front end of components: what users give goes in, flat lists of elements in row order come out)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, Role, as_expr, symbol
from tidegate.expressions.tracing.choices import item_of
from tidegate.expressions.tracing.vector import Vector
from tidegate.model import element_names

__all__ = ["ArrayKey", "ArrayOfSymbols", "Given", "elements", "flat", "is_array", "place_of", "quantity"]


# what decorators and declarations take: a number, an array, a name or declaration, or a function of the component
Given = Callable[[Any], Any] | object


class ArrayOfSymbols(Vector):
    """The symbols of an array variable; it may be the key of a dict of new values, ``{self.phi: np.zeros(3)}``."""

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] # numpy says None, since arrays can change; symbols do not
        return hash(tuple(self.ravel().tolist()))


class ArrayKey(tuple[Expr, ...]):  # noqa: SLOT001, a tuple cannot have slots, and there are few of these
    """The elements of an array variable as the key of a dict that is looked up, which an array cannot be: arrays compare by element."""

    shape: tuple[int, ...] = ()


def place_of(key: Any) -> Any:
    """An array as ``ArrayKey``; everything else as it is."""
    if not isinstance(key, np.ndarray):
        return key
    place = ArrayKey(flat(key))
    place.shape = key.shape
    return place


def is_array(value: object) -> bool:
    """True for what holds several values in order."""
    return isinstance(value, np.ndarray | list | tuple)


def flat(value: Any) -> list[Any]:
    """The elements of an array in row order, or the value alone."""
    return list(np.asarray(value, dtype=object).ravel())


def elements(value: Any, what: str, origin: Origin) -> list[Expr]:
    """The expressions of a number, an expression, or an array of them in row order.

    Raises
    ------
    UsageError : for anything else, calling it ``what``.
    """
    try:
        return [as_expr(item_of(item)) for item in flat(value)]
    except TypeError:
        raise UsageError(f"{what} is {value!r}; numbers or expressions of the component's variables are expected", origin=origin) from None


def quantity(role: Role, name: str, shape: tuple[int, ...]) -> Any:
    """The symbol of a scalar, or an array of the symbols of the elements.

    Examples
    --------
    >>> quantity(Role.UNKNOWN, "x", (2,)).tolist()
    [x[0], x[1]]
    """
    if not shape:
        return symbol(role, name)
    return ArrayOfSymbols([symbol(role, element) for element in element_names(name, shape)]).reshape(shape)
