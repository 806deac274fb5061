"""A component whose attributes are numbers, and what its methods give then (front end of components).

In: a component, and values of its variables. Out: a copy of the instance that its own methods can be called on, as Python calls them. A run is judged
by it, and what following the methods gave is compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any, cast

import numpy as np

from tidegate.errors import UsageError
from tidegate.expressions import Expr, Role, symbol
from tidegate.expressions.nodes import decide, value_of
from tidegate.expressions.tracing.choices import without_choices
from tidegate.frontends.components.assertions import Demand
from tidegate.frontends.components.connect import Connection
from tidegate.frontends.components.declarations import Declaration
from tidegate.frontends.components.der_and_pre import before_of, time
from tidegate.frontends.components.elements import flat, is_array
from tidegate.frontends.components.enabling import Enable
from tidegate.frontends.components.equalities import equation_sides
from tidegate.frontends.components.initial_equations import InitialEquations
from tidegate.frontends.components.known_numbers import Moment, Number, Numbers, Pending, Sides, ValuedNumber, now, number_of
from tidegate.frontends.components.part_array import PartArray
from tidegate.model import Action, Assignment, element_names
from tidegate.model.remarks import collect_remarks

__all__ = ["AttributeValues", "CalledAtPoint", "assigned_in", "forget_cached", "instance_in_numbers", "plain_numbers", "read_sides", "standing_at"]


class AttributeValues:
    """What the attributes of the instance are: numbers by element name, and how they make up variables.

    Parameters
    ----------
    shapes : of every variable.
    wanted : called before a variable is read for the first time at an instant, with its name.
    kind : of the numbers.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], wanted: Callable[[str], None] | None = None, kind: type[Number] = Number) -> None:
        self.shapes = shapes
        self.owner = {element: name for name, shape in shapes.items() for element in element_names(name, shape)}
        self._wanted = wanted
        self._kind = kind
        self.numbers: dict[str, Any] = {}
        self._kept: dict[str, Any] = {}

    def set(self, name: str, value: float, rate: float = 0.0, before: float | None = None) -> None:
        """The value of an element."""
        self.numbers[name] = self._kind(value, name, rate, before)
        self._kept.pop(self.owner[name], None)

    def put_off(self, name: str) -> None:
        """An element that has no value yet."""
        self.numbers[name] = Pending(name)
        self._kept.pop(self.owner[name], None)

    def __getitem__(self, name: str) -> Any:
        if name not in self._kept:
            if self._wanted is not None:
                self._wanted(name)
            shape = self.shapes[name]
            if shape:
                self._kept[name] = Numbers([self.numbers[item] for item in element_names(name, shape)], shape)
            else:
                self._kept[name] = self.numbers[name]
        return self._kept[name]


def instance_in_numbers(component: Any, values: AttributeValues) -> Any:
    """A copy of a component whose variables have these values."""
    instance = cast(Any, object.__new__(cast(type, component.__class__)))
    instance.__dict__ |= component.__dict__ | {"_plain": values, "_placed_parts": {}}
    return instance


def forget_cached(instance: object) -> None:
    """What it and its parts have computed once of other numbers, as ``functools.cached_property`` does."""
    for name in _cached_names(type(instance)):
        vars(instance).pop(name, None)
    placed: dict[str, object] = vars(instance).get("_placed_parts", {})
    for part in placed.values():
        parts: list[object] = list(part.named("").values()) if isinstance(part, PartArray) else [part]
        for each in parts:
            forget_cached(each)


@cache
def _cached_names(kind: type) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for base in kind.__mro__ for name, item in vars(base).items() if isinstance(item, cached_property)))


@contextmanager
def standing_at(moment: Moment) -> Generator[None]:
    """Expressions of time, which ``tg.time`` makes, have their value at this moment."""
    tokens = now.set(moment), decide.set(lambda item: number_of(item) != 0.0), value_of.set(number_of)
    try:
        yield
    finally:
        now.reset(tokens[0])
        decide.reset(tokens[1])
        value_of.reset(tokens[2])


def read_sides(item: Any) -> list[Sides]:
    """Both sides of what ``equations`` yields; other statements are looked at elsewhere."""
    if isinstance(item, Connection | Demand | Enable | InitialEquations):
        return []
    if is_array(item):
        return [sides for element in flat(item) for sides in read_sides(element)]
    if isinstance(item, Sides):
        return [item]
    sides = equation_sides(item) if isinstance(item, Expr) else None
    if sides is not None:
        return [Sides(number_of(sides[0]), number_of(sides[1]))]
    raise UsageError(f"called with numbers, an equation is {item!r}, of which the sides are not known")


def plain_numbers(value: Any) -> Any:
    """A returned structure in which conditions and expressions of time are what they are at this moment."""
    if isinstance(value, Sides):
        return bool(value)
    if isinstance(value, Expr):
        return number_of(value)
    return [plain_numbers(item) for item in flat(value)] if is_array(value) else value


def assigned_in(returned: Any, shapes: Mapping[str, tuple[int, ...]], part: tuple[tuple[int, ...], int] | None = None) -> dict[str, float]:
    """New values by name of an element, of what the body of an event returned.

    Parameters
    ----------
    part : a shape and an element: of arrays of this shape only this element is assigned.
    """
    found: dict[str, float] = {}
    assigned: dict[Any, Any] = without_choices(returned) or {}
    for key, value in assigned.items():
        names = _names(key, shapes)
        values = [number_of(item) for item in flat(value)]
        values *= len(names) // len(values)
        if part is not None and _shape(key, shapes) == part[0]:
            names, values = [names[part[1]]], [values[part[1]]]
        found.update(zip(names, values, strict=True))
    return found


def _shape(key: Any, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    if isinstance(key, Number | Numbers):
        return np.shape(key)
    return shapes.get(key.name if isinstance(key, Declaration) else str(key), ())


def _names(key: Any, shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    if isinstance(key, Number | Pending):
        return [key.name]
    if isinstance(key, Numbers):
        return [item.name for item in flat(key)]
    name = key.name if isinstance(key, Declaration) else str(key)
    return element_names(name, shapes[name]) if name in shapes else [name]


class CalledAtPoint:
    """A component's methods called at points: what each gives in the order and form of what following it gave.

    Parameters
    ----------
    component : the instance.
    declarations : its variables.
    otherwise : the value of an element whose symbol is in none of the graphs, which therefore does not matter.
    """

    def __init__(self, component: Any, declarations: Mapping[str, Declaration], otherwise: Callable[[Expr], float]) -> None:
        self._component = component
        self._values = AttributeValues({name: item.shape_of(item.value) for name, item in declarations.items()}, kind=ValuedNumber)
        self.instance = instance_in_numbers(component, self._values)
        self._element_of: dict[Expr, Expr] = {}  # of its own symbol, of its derivative, and of what may stand for its value before
        self._texts: dict[Expr, Declaration] = {}
        self._elsewhere: dict[float, Expr] = {}  # its value where a point says nothing
        for name, item in declarations.items():
            for element in element_names(name, self._values.shapes[name]):
                own = symbol(item.symbol_role, element)
                if item.texts:
                    self._texts[own] = item
                self._element_of |= dict.fromkeys([own, symbol(Role.DERIVATIVE, element), *before_of(own)], own)
                value = otherwise(own) + 1e-3 * (1 + len(self._elsewhere))  # no two alike: keys of a dictionary are told apart by their values
                while value in self._elsewhere and value + 1e-3 != value:
                    value += 1e-3
                self._elsewhere.setdefault(value, own)
                self._values.set(element, value)

    def function_of(self, method: Callable[[], Any]) -> Callable[[Any], Any]:
        """The function behind a method of the component, for another instance."""
        function: Any = getattr(method, "__func__", None)
        if function is None or getattr(method, "__self__", None) is not self._component:
            raise UsageError("this is no method of the component")
        return function

    @contextmanager
    def at(self, point: Mapping[Expr, float]) -> Generator[Any]:
        """The instance with the values of a point."""
        known = self._values.numbers
        moved = {own: float(known[own.data.name]) for own in (self._element_of.get(item) for item in point) if own is not None}
        for own, elsewhere in moved.items():
            rate = point.get(symbol(Role.DERIVATIVE, own.data.name), 0.0)
            self._values.set(own.data.name, point.get(own, elsewhere), rate, next((point[old] for old in before_of(own) if old in point), None))
        try:
            with standing_at(Moment(point.get(time, 0.0))):
                yield self.instance
        finally:
            forget_cached(self.instance)
            for own, elsewhere in moved.items():
                self._values.set(own.data.name, elsewhere)

    def _has_equal(self, point: Mapping[Expr, float]) -> bool:
        """Whether two elements have one value at a point."""
        given = {item: value for item, value in point.items() if self._element_of.get(item) is item and item not in self._texts}
        texts = [
            (known.enumeration, next((text for text, number in known.texts if number == point[item]), ""))
            for item, known in self._texts.items()
            if item in point
        ]
        if len(set(texts)) < len(texts):
            return True
        others = [self._elsewhere[value] for value in given.values() if value in self._elsewhere]
        are_apart = len(self._elsewhere) == len(self._values.numbers) and len(set(given.values())) == len(given)
        return not are_apart or any(item not in given for item in others)

    def value(self, function: Callable[[Any], Any], point: Mapping[Expr, float]) -> Any:
        """What a function of the component gives."""
        with self.at(point) as instance:
            return plain_numbers(function(instance))

    def residuals(self, method: Callable[[], Any], point: Mapping[Expr, float]) -> list[float]:
        """Of the equations that a method yields or returns."""
        with self.at(point) as instance:
            sides = [each for item in self.function_of(method)(instance) or () for each in read_sides(item)]
            return [number_of(item.left) - number_of(item.right) for item in sides]

    def effects(self, method: Callable[[], Any], like: tuple[Action, ...], point: Mapping[Expr, float]) -> list[float]:
        """New values of all that these actions assign to, and whether each of these remarks is made; then what else is assigned to.

        Raises
        ------
        UsageError : where values are equal, so that they say as keys of a dictionary no longer which variable is meant; for a remark of another text.
        """
        with self.at(point) as instance, collect_remarks() as said:
            if self._has_equal(point):
                raise UsageError("two variables have one value")
            assigned = assigned_in(self.function_of(method)(instance), self._values.shapes)
            kept = {name: float(self._values.numbers[name]) for name in (item.target.data.name for item in like if isinstance(item, Assignment))}
        if any(item not in like for item in said):
            raise UsageError("a remark has another text")
        found: list[float] = []
        for item in like:
            if isinstance(item, Assignment):
                name = item.target.data.name
                found.append(assigned.pop(name) if name in assigned else kept[name])
            else:
                found.append(float(item in said))
        return found + list(assigned.values())
