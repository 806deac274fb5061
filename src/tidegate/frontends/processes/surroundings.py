"""Numbers of the user's own that bodies and conditions read: where they stand, and how a symbol is put in their place (stage: front end)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from types import CellType
from typing import Any

from tidegate.expressions import Expr, Role, symbol
from tidegate.frontends.processes.flows import Parameter, Variable
from tidegate.frontends.processes.moved_number import Moved

__all__ = ["TIME", "Number", "OfStep", "in_symbols", "is_number", "putting"]

TIME = symbol(Role.TIME, "time")


def is_number(value: Any) -> bool:
    """Whether a value is a plain number, which a symbol can stand for; truth values are not."""
    return type(value) in (int, float, Moved)


class Number:
    """A place that holds a number: a global, a variable of an outer function, an attribute.

    Parameters
    ----------
    place : the namespace, cell or object.
    name : in it.

    Raises
    ------
    TypeError : the place is a class, whose attributes may be those of another.
    """

    __slots__ = ("_entries", "name", "place")

    def __init__(self, place: Any, name: str) -> None:
        if isinstance(place, type):
            raise TypeError(place)
        self.place, self.name = place, name
        self._entries: Any = None if isinstance(place, CellType) else place if isinstance(place, dict) else vars(place)

    @property
    def key(self) -> tuple[int, str]:
        """Which place it is."""
        return id(self.place), self.name

    def get(self) -> Any:
        """What is there now."""
        return self.place.cell_contents if self._entries is None else self._entries[self.name]

    def put(self, value: Any) -> None:
        """Put something else there."""
        if self._entries is None:
            self.place.cell_contents = value
        else:
            self._entries[self.name] = value


@contextmanager
def putting(values: Mapping[Number, Any]) -> Generator[None]:
    """While this lasts, other values stand in these places."""
    before = [(number, number.get()) for number in values]
    try:
        for number, value in values.items():
            number.put(value)
        yield
    finally:
        for number, value in before:
            number.put(value)


class _Last:
    """Something of the step: compiled code knows no steps, and whoever computes with this is told so."""

    def __init__(self, words: str) -> None:
        self._words = words

    def __repr__(self) -> str:
        return self._words


class OfStep:
    """A number of the monitor's present step, as an attribute of the environment, which may be given another meaning by its user."""

    def __init__(self, words: str, get: Callable[[Any], float]) -> None:
        self.__doc__ = words
        self._get = get

    def __get__(self, environment: Any, kind: object = None) -> Any:
        return self if environment is None else self._get(environment.monitor)


@contextmanager
def in_symbols(environment: Any, states: Mapping[Variable, Any], values: Mapping[Parameter, Any], now: Any = TIME) -> Generator[None]:
    """While this lasts, whoever reads a state, a parameter or the time reads what is given here."""
    before: list[tuple[dict[str, Any], dict[str, Any]]] = [(vars(item), dict(vars(item))) for item in (environment, *states, *values)]
    try:
        vars(environment)["_now"] = now
        for name in ("lasttime", "dt"):
            vars(environment).setdefault(name, _Last(f"{name} of the step"))
        for variable, state in states.items():
            entries = vars(variable)
            entries["state"], entries["rate"] = state, 0.0
            if isinstance(state, Expr):
                entries["laststate"] = _Last(f"the last state of {variable.name}")
        for parameter, value in values.items():
            vars(parameter)["_value"] = value
        yield
    finally:
        for entries, contents in before:
            entries.clear()
            entries.update(contents)
