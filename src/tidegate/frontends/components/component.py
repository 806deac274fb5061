"""The base class of components (front end of components: the user's class goes in, an instance that lowers comes out)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

import numpy as np

from tidegate.errors import UsageError
from tidegate.frontends.components.clauses import Clause
from tidegate.frontends.components.declarations import Declaration, Output
from tidegate.frontends.components.lower_component import ComponentParts, lower
from tidegate.frontends.components.plain_component import PlainComponent
from tidegate.model import Model
from tidegate.names import suggestion

__all__ = ["Component"]

_KEPT: Final = frozenset({"check_units", "clauses", "declarations", "equations", "lower", "plainly", "time_unit"})


class Component:
    """A system whose variables are class attributes and whose equations and events are methods.

    Parameters
    ----------
    values : parameter values, start values and input values that differ from the class's, by name.

    Attributes
    ----------
    time_unit : unit of time, e.g. ``time_unit = "h"``; where none is given, derivatives are taken to be per second.
    check_units : False for a model whose units need not fit.

    Examples
    --------
    >>> from tidegate.frontends.components import Parameter, State, der, when
    >>> class Ball(Component):
    ...     h = State(1.0, unit="m")
    ...     v = State(0.0, unit="m/s")
    ...     e = Parameter(0.8)
    ...
    ...     def equations(self):
    ...         yield der(self.h) == self.v
    ...         yield der(self.v) == -9.81
    ...
    ...     @when(lambda self: self.h < 0)
    ...     def bounce(self):
    ...         return {self.v: -self.e * self.v}
    >>> Ball(e=0.7).e
    e
    """

    time_unit: ClassVar[str] = ""
    check_units: ClassVar[bool] = True
    _overrides: dict[str, Any]

    def __init__(self, **values: Any) -> None:
        known = self.declarations()
        for name in values:
            if name not in known:
                hint = suggestion(name, known, f"its variables are {', '.join(known) or 'none'}")
                raise UsageError(f"{type(self).__name__} has no variable {name!r}", hint=hint)
            if isinstance(known[name], Output):
                raise UsageError(f"{type(self).__name__}.{name} is an output; its value follows from the equations", origin=known[name].origin)
        self._overrides = dict(values)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        inherited: dict[str, Declaration] = {}
        for base in reversed(cls.__mro__[1:]):
            inherited |= {name: item for name, item in vars(base).items() if isinstance(item, Declaration)}
        for name, item in list(vars(cls).items()):
            if isinstance(item, Declaration) and name in _KEPT:
                raise UsageError(f"{cls.__name__}.{name}: this name is kept for the component itself", origin=item.origin, hint="choose another name")
            declared = inherited.get(name)
            if declared is None or isinstance(item, Declaration):
                continue
            if not isinstance(item, bool | int | float | list | tuple | np.ndarray | np.generic):
                raise UsageError(
                    f"{cls.__name__}.{name} is {item!r}, but {declared.owner} declares a variable of this name",
                    origin=declared.origin,
                    hint=f"give a new value, `{name} = 1.0`, a new declaration, or choose another name",
                )
            setattr(cls, name, declared.with_value(item))

    def equations(self) -> Iterable[Any]:
        """The equations, each yielded as ``left == right``; a component without any needs no such method."""
        return ()

    @classmethod
    def declarations(cls) -> dict[str, Declaration]:
        """Every declared variable by name; those of base classes first."""
        found: dict[str, Declaration] = {}
        for base in reversed(cls.__mro__):
            found |= {name: item for name, item in vars(base).items() if isinstance(item, Declaration)}
        return found

    @classmethod
    def clauses(cls) -> dict[str, Clause]:
        """Every method that happens at an event, by name; those of base classes first."""
        found: dict[str, Clause] = {}
        for base in reversed(cls.__mro__):
            for name, item in vars(base).items():
                if isinstance(item, Clause):
                    found[name] = item
                else:
                    found.pop(name, None)
        return {own: clause for name, item in found.items() for own, clause in item.named(name).items()}

    def lower(self) -> Model:
        """The neutral model of this component."""
        return lower(ComponentParts(self, type(self).__name__, self._own_declarations(), self._own_clauses()))

    def plainly(self, parameters: Mapping[str, float], model: Model) -> PlainComponent:
        """The methods called as Python with numbers; see ``tidegate.model.plain_model``."""
        return PlainComponent(ComponentParts(self, type(self).__name__, self._own_declarations(), self._own_clauses()), model, parameters)

    def _own_clauses(self) -> dict[str, Clause]:
        return {**self.clauses(), **{name: item for name, item in vars(self).items() if isinstance(item, Clause)}}

    def _own_declarations(self) -> dict[str, Declaration]:
        overrides = vars(self).get("_overrides", {})
        return {name: item.with_value(overrides[name]) if name in overrides else item for name, item in self.declarations().items()}
