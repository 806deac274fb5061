"""Arrays of parts (front end of components: one part and a shape go in, as many placed parts come out)."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.expressions.tracing import written_at
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.frontends.components.class_body import require_value
from tidegate.frontends.components.conditional import Absent
from tidegate.frontends.components.declarations import Constant, Declaration
from tidegate.frontends.components.elements import ArrayOfSymbols, Given, is_array
from tidegate.frontends.components.known_numbers import Numbers
from tidegate.frontends.components.model_part import as_part, is_source
from tidegate.frontends.components.part import Part, Parts
from tidegate.frontends.components.part_rules import by_name, require_mods
from tidegate.model import element_names
from tidegate.model.ports import HasPorts
from tidegate.names import suggestion
from tidegate.part_paths import without_indices
from tidegate.wrong_calls import explained

__all__ = ["Array", "PartArray"]

_TWO: Final = 2  # arguments, or more, of a function that is asked for each element by itself: the component, and the place


@explained
class Array(Parts):
    """As many parts of one class as a shape has places.

    Parameters
    ----------
    part : a class, or an instance with values that all of them have.
    shape : a number, a tuple, the name of a ``tg.Constant`` of the component around, or a function of it.
    mods : likewise by path, ``{"R1.R": 5.0}``.
    values : values of each; an array with one dimension more than the variable gives each its own, and so does ``lambda self, k: ...``, of two
        dimensions ``lambda self, i, j: ...``.

    Examples
    --------
    >>> from tidegate.frontends.components import Component, Parameter, State, der
    >>> class Cell(Component):
    ...     x = State(1.0)
    ...     k = Parameter(2.0)
    ...     def equations(self):
    ...         yield der(self.x) == -self.k * self.x
    >>> class Row(Component):
    ...     cell = Array(Cell, 3, k=[1.0, 2.0, 3.0])
    >>> Row().cell[1].x
    cell[1].x
    """

    def __init__(self, part: type[Part] | Part | HasPorts, shape: Given, *, mods: Mapping[str, Any] | None = None, **values: Any) -> None:
        self._origin = written_at()
        one: Any = part() if isinstance(part, type) else part
        self._written: Any = as_part(one) if is_source(one) else one
        if not isinstance(self._written, Part):
            raise UsageError(f"tg.Array is given {part!r}; a class of parts is expected", origin=self._origin, hint=_HOW)
        require_mods(mods, self._origin)
        given = {**values, **(mods or {})}
        self._shape, self._values, self._name = shape, {name: by_name(value) for name, value in given.items()}, ""
        known = [*self._written.declarations(), *self._written._parts()]  # noqa: SLF001 - one class
        for name, value in given.items():
            require_value(value, f"{type(self._written).__name__}.{name}")
            if name.partition(".")[0].partition("[")[0] not in known:
                hint = suggestion(name, known, f"its variables are {', '.join(known) or 'none'}")
                raise UsageError(f"{type(self._written).__name__} has no variable {name!r}", origin=self._origin, hint=hint)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        return instance.part(self._name) if isinstance(instance, Part) else self

    def placed(self, outer: Part, name: str) -> PartArray:
        """All of them with their paths.

        Raises
        ------
        UsageError : for a shape that is none, or values that do not fit it.
        """
        shape = self._shape_in(outer)
        places = element_names(name, shape)
        for path in vars(outer).get("_mods", {}):
            head = path.partition(".")[0]
            if head.startswith(f"{name}[") and head not in places:
                raise UsageError(f"{name} has the shape {shape}, so that there is no {head}", origin=outer._written_at, hint="places count from 0")  # noqa: SLF001
        values: list[dict[str, Any]] = [{} for _ in places]
        for key, given in self._values.items():
            for own, value in zip(values, self._divided(key, given, outer, shape), strict=True):
                own[key] = value
        parts = [outer._with_path(self._written, place, own) for place, own in zip(places, values, strict=True)]  # noqa: SLF001 - one class
        return PartArray(parts, shape, places)

    def _shape_in(self, outer: Part) -> tuple[int, ...]:
        given: Any = self._shape
        if isinstance(given, Constant):
            given = given.__get__(outer)
        elif isinstance(given, str):
            declared = outer.declarations().get(given)
            if not isinstance(declared, Constant):
                known = [name for name, item in outer.declarations().items() if isinstance(item, Constant)]
                raise UsageError(
                    f"the shape of {self._name} is {given!r}, but {type(outer).__name__} has no tg.Constant of this name",
                    origin=self._origin,
                    hint=suggestion(given, known, f"its constants are {', '.join(known) or 'none'}"),
                )
            given = getattr(outer, given)
        elif is_function(given):
            given = given(outer)
        shape = tuple(cast("Sequence[Any]", given)) if isinstance(given, tuple | list) else (given,)
        if not all(isinstance(length, int | np.integer) and not isinstance(length, bool) and length >= 0 for length in shape):
            raise UsageError(
                f"the shape of {self._name} is {given!r}; whole numbers are expected",
                origin=self._origin,
                hint="a number that decides how many parts there are is a tg.Constant",
            )
        return tuple(int(length) for length in shape)

    def _divided(self, name: str, given: Any, outer: Part, shape: tuple[int, ...]) -> list[Any]:
        """What each of them has of what was given for all."""
        size = int(np.prod(shape))
        n_taken = len(inspect.signature(given).parameters) if is_function(given) else 0
        if n_taken >= _TWO:
            if n_taken not in (_TWO, 1 + len(shape)):
                told = f"the function that gives {self._name} its {name} takes {n_taken} arguments; the component and a place are expected"
                hint = "lambda self, k: ..." if len(shape) == 1 else f"lambda self, {', '.join('ijklmn'[: len(shape)])}: ..."
                raise UsageError(told, origin=self._origin, hint=hint)
            if n_taken == 1 + len(shape):
                return [given(outer, *place) for place in np.ndindex(*shape)]
            return [given(outer, place) for place in np.ndindex(*shape)]
        declared = self._written.declarations().get(name)
        own = declared.shape_of(declared.value) if isinstance(declared, Declaration) else ()
        found: tuple[int, ...] = np.shape(cast("Any", given)) if is_array(given) else ()
        if declared is None or len(found) <= len(own):
            return [given] * size
        if found[: len(shape)] != shape:
            raise UsageError(f"{self._name} has the shape {shape}, but {name} was given values of the shape {found}", origin=self._origin)
        array: Any = np.asarray(given)
        return [array[place].tolist() for place in np.ndindex(*shape)]


_HOW: Final = "write tg.Array(Resistor, 3), and tg.Array(Resistor, 3, R=lambda self, k: 10.0 * (k + 1)) where each has numbers of its own"


class PartArray:
    """Placed parts, by place; an attribute of it is that of all of them, as an array.

    Parameters
    ----------
    parts : in row order.
    shape : of the array.
    names : of each.
    """

    def __init__(self, parts: Sequence[Any], shape: tuple[int, ...], names: Sequence[str]) -> None:
        self._items = np.empty(len(parts), dtype=object)
        for k, part in enumerate(parts):
            self._items[k] = part
        self._items = self._items.reshape(shape)
        self._names = tuple(names)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return self._items.shape

    @property
    def common_name(self) -> str:
        """Without places: ``cell.p`` of ``cell[0].p`` and ``cell[1].p``."""
        return without_indices(self._names[0]) if self._names else "this array"

    def named(self, _: str) -> dict[str, Any]:
        """Every part by its name."""
        return dict(zip(self._names, self._items.ravel().tolist(), strict=True))

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self))])

    def __getitem__(self, place: Any) -> Any:
        try:
            found: Any = self._items[place]
        except IndexError:
            raise UsageError(f"{self.common_name} has the shape {self.shape}, so that it has no place {place}", hint="places count from 0") from None
        if not isinstance(found, np.ndarray):
            return found
        several = cast("NDArray[Any]", found)
        numbers = np.arange(self._items.size).reshape(self._items.shape)[place]
        return PartArray(several.ravel().tolist(), several.shape, [self._names[k] for k in np.ravel(numbers)])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = [getattr(part, name) for part in self._items.ravel().tolist()]
        if found and isinstance(found[0], Part | PartArray | Absent):
            return PartArray(found, self.shape, [f"{own}.{name}" for own in self._names])
        whole = np.empty((len(found), *np.shape(found[0] if found else ())), dtype=object)
        for k, item in enumerate(found):
            whole[k] = item
        kind = Numbers if found and isinstance(found[0], Numbers | float) else ArrayOfSymbols
        shape = (*self.shape, *whole.shape[1:])
        if kind is Numbers:
            return Numbers(whole.ravel().tolist(), shape)
        return ArrayOfSymbols(whole.reshape(shape).tolist())

    def __repr__(self) -> str:
        return f"[{', '.join(self._names)}]"
