"""What parts are not for (front end of components: an attribute or an operation with a part goes in, an error that shows the way comes out).

Each of these would be lost, or go wrong far away from where it was written: parts in lists, classes in place of parts, arithmetic with parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn, cast

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr
from tidegate.frontends.components.declarations import Declaration

__all__ = ["by_name", "refuse_arithmetic", "require_mods", "require_no_collection"]

_OPERATORS: Final = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_OTHERS: Final = ("lt", "le", "gt", "ge", "neg", "pos", "abs", "float", "getitem", "iter")


def by_name(value: Any) -> Any:
    """A value as it is; a declaration, ``R=R0`` in the body of a class, as a function of the component that it is written in."""
    if not isinstance(value, Declaration):
        return value

    def of_the_component_around(around: Any) -> Any:
        return getattr(around, value.name)

    return of_the_component_around


def require_mods(mods: Any, place: Origin) -> None:
    """What is given for a part by paths is a mapping, or nothing.

    Raises
    ------
    UsageError : for anything else.
    """
    if mods is not None and not isinstance(mods, Mapping):
        raise UsageError(f"mods is {mods!r:.60}; values by names are expected", origin=place, hint='mods={"resistor.R": 5.0}')


def require_no_collection(owner: str, name: str, item: Any, kind: type, place: Origin) -> None:
    """Parts are found by their names, so that they are attributes and stand in no list.

    Raises
    ------
    UsageError : for a list, tuple, set or dictionary that holds parts, and for a class of parts.
    """
    if isinstance(item, type) and issubclass(item, kind):
        raise UsageError(
            f"{owner}.{name} is the class {item.__name__}, and no part", origin=place, hint=f"make an instance: {name} = {item.__name__}()"
        )
    held: list[Any] = []
    if isinstance(item, list | tuple | set):
        held = list(cast("Iterable[Any]", item))
    elif isinstance(item, Mapping):
        held = list(cast("Mapping[Any, Any]", item).values())
    first: Any = next((one for one in held if isinstance(one, kind)), None)
    if first is not None:
        own = type(first).__name__
        raise UsageError(
            f"{owner}.{name} holds parts in a {type(cast('Any', item)).__name__}, where nothing has a name",
            origin=place,
            hint=f"write {name} = tg.Array({own}, {len(held)}), or make each an attribute: {name}1, {name}2 = {own}(), {own}()",
        )


def refuse_arithmetic[T](kind: type[T]) -> type[T]:
    """Class decorator: operators on instances raise a ``UsageError``; so does comparing them, except by ``is``."""

    def refused(self: Any, *_: Any) -> NoReturn:
        known = [name for name in self.declarations() if not name.startswith("_")]
        name = repr(self)
        raise UsageError(
            f"{name} is a part; nothing can be computed with it as a whole",
            hint=f"take a variable of it: {', '.join(known[:6])}" if known else "take a variable of it",
        )

    def equal(self: Any, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, kind | Expr):
            raise UsageError(f"{self!r} == {other!r}: parts are connected, and equations hold between variables", hint=_EQUAL)
        return False

    # set here and not written into the class, so that editors and type checkers go on saying that parts have no arithmetic
    methods = dict.fromkeys((*_OPERATORS, *(f"r{name}" for name in _OPERATORS), *_OTHERS), refused)
    for name, method in {**methods, "eq": equal, "hash": object.__hash__}.items():
        setattr(kind, f"__{name}__", method)
    return kind


_EQUAL: Final = "yield tg.connect(self.a.p, self.b.p), or an equation between variables: self.a.p.v == self.b.p.v"
