"""Declarations of a component's variables (front end of components: class attributes go in, neutral variables come out later).

On the class an attribute is its declaration; on an instance it is the symbol that stands for the variable, alone or in an array.
"""

from __future__ import annotations

import math
from copy import copy
from typing import Any, ClassVar, Final, Literal, Self, overload

import numpy as np

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Role
from tidegate.expressions.tracing import written_at
from tidegate.frontends.components.class_body import refuse_computations
from tidegate.frontends.components.elements import Given, quantity
from tidegate.model import Bound, VariableRole

__all__ = ["UNSET", "Algebraic", "Declaration", "Discrete", "Input", "Kind", "Output", "Parameter", "State"]

Kind = Literal["real", "integer", "boolean"]
Limit = float | Bound | None


class _Unset:
    """What stands where the user gave no value."""

    def __repr__(self) -> str:
        return "no value"


UNSET: Final = _Unset()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)


def _bound(limit: Limit, what: str, place: Origin) -> Bound | None:
    if limit is None or isinstance(limit, Bound):
        return limit
    if not _is_number(limit) or math.isnan(limit):
        raise UsageError(f"{what} is {limit!r}; a number is expected", origin=place, hint="write e.g. min=0.0, or tg.Bound(0.0, is_open=True)")
    return Bound(float(limit))


@refuse_computations
class Declaration:
    """A variable of a component class; the subclasses say which role it has."""

    role: ClassVar[VariableRole]
    symbol_role: ClassVar[Role]

    def __init__(
        self,
        value: Any,
        *,
        unit: str = "",
        description: str = "",
        limits: tuple[Limit, Limit] = (None, None),
        nominal: float | None = None,
        fixed: bool | None = None,
        shape: tuple[int, ...] | int | None = None,
        kind: Kind | None = None,
    ) -> None:
        self.name = ""
        self.owner = ""
        self.origin = written_at()
        self.value = value
        self.unit = unit
        self.description = description
        self.minimum = _bound(limits[0], "min", self.origin)
        self.maximum = _bound(limits[1], "max", self.origin)
        self.nominal = nominal
        self.fixed = fixed
        self.kind: Kind | None = kind
        self.shape = (shape,) if isinstance(shape, int) else None if shape is None else tuple(shape)
        if not isinstance(unit, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"unit is {unit!r}; a text is expected", origin=self.origin, hint='write e.g. unit="m/s"')

    def __set_name__(self, owner: type, name: str) -> None:
        if self.name and self.name != name:
            raise UsageError(
                f"{owner.__name__}.{name} is the same declaration as {self.owner}.{self.name}",
                origin=self.origin,
                hint="declare every variable on its own",
            )
        self.name, self.owner = name, owner.__name__

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Any: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if instance is None:
            return self
        plain = vars(instance).get("_plain")  # numbers stand for the variables while a run is judged
        if plain is not None:
            return plain[self.name]
        return quantity(self.symbol_role, self.name, self.shape_of(vars(instance).get("_overrides", {}).get(self.name, self.value)))

    def __set__(self, instance: object, value: object) -> None:
        raise UsageError(
            f"{type(instance).__name__}.{self.name} stands for a variable and cannot be assigned in Python",
            hint=f"yield an equation `self.{self.name} == ...`, return {{self.{self.name}: ...}} from an event, or construct with {self.name}=...",
        )

    def with_value(self, value: Any) -> Self:
        """The same declaration with another value; how a subclass or an instance overrides it."""
        other = copy(self)
        other.value = value
        return other

    def shape_of(self, value: Any) -> tuple[int, ...]:
        """Shape of this variable when it has this value: as declared, or that of the value."""
        if self.shape is not None:
            return self.shape
        if value is UNSET or callable(value):
            return ()
        return np.shape(value)


class State(Declaration):
    """A variable that the equations give a derivative.

    Parameters
    ----------
    start : number, array, or ``lambda self: ...`` of parameters.
    unit, description : texts for results.
    min, max : limits; a number, or a ``Bound`` that excludes the value itself.
    nominal : typical size.
    fixed : True if the start value must hold exactly, False if it is a guess.
    shape : of an array whose start is one number or a function.

    Examples
    --------
    >>> height = State(1.0, unit="m", min=0.0)
    """

    role = VariableRole.STATE
    symbol_role = Role.UNKNOWN

    def __init__(
        self,
        start: Given = 0.0,
        *,
        unit: str = "",
        description: str = "",
        min: Limit = None,
        max: Limit = None,
        nominal: float | None = None,
        fixed: bool = True,
        shape: tuple[int, ...] | int | None = None,
    ) -> None:
        super().__init__(start, unit=unit, description=description, limits=(min, max), nominal=nominal, fixed=fixed, shape=shape)


class Algebraic(Declaration):
    """A variable that the equations determine without its derivative; ``start`` is the guess of its first value.

    Examples
    --------
    >>> current = Algebraic(unit="A")
    """

    role = VariableRole.ALGEBRAIC
    symbol_role = Role.UNKNOWN

    def __init__(
        self,
        start: Given = 0.0,
        *,
        unit: str = "",
        description: str = "",
        min: Limit = None,
        max: Limit = None,
        nominal: float | None = None,
        shape: tuple[int, ...] | int | None = None,
    ) -> None:
        super().__init__(start, unit=unit, description=description, limits=(min, max), nominal=nominal, fixed=False, shape=shape)


class Input(Declaration):
    """A variable given from outside; holds its value.

    Examples
    --------
    >>> voltage = Input(24.0, unit="V")
    """

    role = VariableRole.INPUT
    symbol_role = Role.INPUT

    def __init__(
        self,
        value: Given = 0.0,
        *,
        unit: str = "",
        description: str = "",
        min: Limit = None,
        max: Limit = None,
        shape: tuple[int, ...] | int | None = None,
    ) -> None:
        super().__init__(value, unit=unit, description=description, limits=(min, max), shape=shape)


class Output(Declaration):
    """A variable to look at: defined by ``lambda self: ...`` here, or by an equation ``self.name == ...``.

    Examples
    --------
    >>> energy = Output(lambda self: 0.5 * self.v**2, unit="J/kg")
    """

    role = VariableRole.OUTPUT
    symbol_role = Role.UNKNOWN

    def __init__(
        self,
        value: Given = UNSET,
        *,
        unit: str = "",
        description: str = "",
        shape: tuple[int, ...] | int | None = None,
    ) -> None:
        super().__init__(value, unit=unit, description=description, shape=shape)


class Discrete(Declaration):
    """A variable that changes at events only.

    Parameters
    ----------
    start : its kind is inferred from it: a truth value, an integer or a real number.
    kind : to choose the kind otherwise.

    Examples
    --------
    >>> is_open = Discrete(False)
    """

    role = VariableRole.DISCRETE
    symbol_role = Role.DISCRETE

    def __init__(
        self,
        start: Given,
        *,
        unit: str = "",
        description: str = "",
        min: Limit = None,
        max: Limit = None,
        shape: tuple[int, ...] | int | None = None,
        kind: Kind | None = None,
    ) -> None:
        super().__init__(start, unit=unit, description=description, limits=(min, max), shape=shape, kind=kind)


class Parameter(Declaration):
    """A value that stays the same during a run; ``lambda self: ...`` makes it follow other parameters.

    Examples
    --------
    >>> stiffness = Parameter(2.0, unit="N/m", min=0.0)
    """

    role = VariableRole.PARAMETER
    symbol_role = Role.PARAMETER

    def __init__(
        self,
        value: Given,
        *,
        unit: str = "",
        description: str = "",
        min: Limit = None,
        max: Limit = None,
        nominal: float | None = None,
        shape: tuple[int, ...] | int | None = None,
        kind: Kind | None = None,
    ) -> None:
        super().__init__(value, unit=unit, description=description, limits=(min, max), nominal=nominal, shape=shape, kind=kind)
