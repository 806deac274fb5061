"""The base class of components (front end of components: the user's class goes in, an instance that lowers comes out)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from tidegate.frontends.components.clauses import Clause
from tidegate.frontends.components.declarations import Declaration
from tidegate.frontends.components.equation_methods import equation_methods, refuse_super, require_self
from tidegate.frontends.components.lower_component import lower
from tidegate.frontends.components.model_part import as_part, is_source
from tidegate.frontends.components.part import Part
from tidegate.frontends.components.plain_component import PlainComponent
from tidegate.later_stages import later
from tidegate.model import Model
from tidegate.model.plain_expressions import PlainExpressions
from tidegate.model.plain_model import PlainModel

__all__ = ["Component"]


class Component(Part):
    """A system whose variables and parts are class attributes and whose equations and events are methods.

    Parameters
    ----------
    mods : values and attributes by path, ``{"R1.R": 5.0, "p.v.nominal": 100.0}``.
    values : parameter values, start values and input values that differ from the class's, by name; for a part another part or a dictionary of values.

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
    _kept_names: ClassVar[frozenset[str]] = frozenset(
        {"all_clauses", "check_units", "clauses", "declarations", "equation_methods", "equations", "lower", "mods", "own_declarations"}
        | {"part", "parts", "plainly", "time_unit"}
    )

    @classmethod
    def _part_of(cls, item: Any) -> Any:
        return as_part(item) if is_source(item) else item

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        refuse_super(cls)
        require_self(cls)

    def equations(self) -> Iterable[Any]:
        """The equations, each yielded as ``left == right``; those of base classes apply besides. A component without any needs no such method."""
        return ()

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

    def all_clauses(self) -> dict[str, Clause]:
        """The clauses of the class, and those that were given to this instance."""
        return {**self.clauses(), **{name: item for name, item in vars(self).items() if isinstance(item, Clause)}}

    def equation_methods(self) -> list[Any]:
        """The methods that give its equations, those of base classes first."""
        return equation_methods(self, last=Component)

    def lower(self) -> Model:
        """The neutral model of this component."""
        return lower(self, type(self).__name__)

    def __str__(self) -> str:
        return later("as_text")(self)

    def _repr_html_(self) -> str:
        return later("as_html")(self)

    def plainly(self, parameters: Mapping[str, float], model: Model) -> PlainModel:
        """The methods called as Python with numbers; see ``tidegate.model.plain_model``."""
        kinds = {name: {trigger.kind for trigger in clause.triggers} for name, clause in self.all_clauses().items()}
        says_more = any(branch.label.partition("[")[0] not in kinds for when in model.whens for branch in when.branches) or any(
            event.label and not kinds.get(event.label, set()) & {"at", "every"} for event in model.time_events
        )
        if self.parts() or says_more:  # what is not in the methods alone
            return PlainExpressions(model, parameters)
        return PlainComponent(self, model, parameters)

    def own_declarations(self) -> dict[str, Declaration]:
        """Its declarations with the values that were given to this instance."""
        return self._own_declarations()
