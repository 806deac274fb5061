"""A model that somebody else made, as a part (front end of components: a source of any front end goes in, a class of parts comes out).

Its variables are the part's: what goes in is an input signal, all else can be read. Nothing of it is followed: its equations and events are in the
neutral model, and need no more than new names. So a block, a diagram, and whatever lowers to a ``Model`` is a part like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Final

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr
from tidegate.expressions.tracing import written_at
from tidegate.frontends.components.connectors import InputSignal
from tidegate.frontends.components.declarations import UNSET, Algebraic, Declaration, Discrete, Input, Output, Parameter, State
from tidegate.frontends.components.part import Part
from tidegate.model import Form, Lowerable, Model, Variable, VariableRole
from tidegate.model.ports import HasPorts, OpenModel
from tidegate.wrong_calls import explained

__all__ = ["ModelPart", "as_part", "declaration_of", "is_source"]

_KINDS: Final[dict[VariableRole, type[Declaration]]] = {
    VariableRole.STATE: State,
    VariableRole.ALGEBRAIC: Algebraic,
    VariableRole.INPUT: Input,
    VariableRole.DISCRETE: Discrete,
    VariableRole.PARAMETER: Parameter,
}


class ModelPart(Part):
    """A part whose equations are those of a model that is there."""

    _source: ClassVar[tuple[Any, ...]] = ()  # in a tuple, since a component that is an attribute would be a part
    _opened: ClassVar[OpenModel]

    def __getattr__(self, name: str) -> Any:
        known = {} if name.startswith("_") else self._names()
        return getattr(self, known[name]) if name in known else super().__getattr__(name)

    @classmethod
    def _names(cls) -> dict[str, str]:
        """Further names of its variables: those the source has, and u and y where there is one input and one output."""
        opened, declared = cls._opened, cls.declarations()
        found = dict(opened.aliases)
        needed = [port for port in opened.inputs if port in opened.required] or list(opened.inputs)
        if len(needed) == 1:
            found.setdefault("u", needed[0])
        if len(opened.outputs) == 1:
            found.setdefault("y", opened.outputs[0])
        return {name: full for name, full in found.items() if name not in declared}

    @classmethod
    def ports(cls) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of what goes in and of what comes out."""
        return cls._opened.inputs, cls._opened.outputs

    @classmethod
    def _signals(cls) -> list[str]:
        """Its ports by the shorter of their names."""
        shorter = {full: name for name, full in cls._names().items() if name in ("u", "y")}
        return [shorter.get(name, name) for name in (*cls._opened.outputs, *cls._opened.inputs)]

    def equation_methods(self) -> list[Any]:
        """It has none."""
        return []

    def _modify(self, name: str, value: Any) -> None:
        if name not in self.declarations():
            super()._modify(self._names().get(name, name), value)
        elif isinstance(self.declarations()[name], Output):
            raise UsageError(f"{type(self).__name__}.{name} is an output; its value follows from the equations", origin=self._written_at)
        else:  # names may have dots in them: those of blocks in a diagram
            self._overrides[name] = value

    def model_with(self, given: Collection[str]) -> Model:
        """Its model.

        Parameters
        ----------
        given : names of its inputs that are connected.
        """
        opened = self._opened
        loose = [port for port in opened.inputs if port not in given and port not in opened.required]
        (source,) = self._source
        if loose and isinstance(source, HasPorts):
            opened = source.open_model([port for port in opened.inputs if port not in loose])
        return opened.model

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (*self._source, self.__getstate__())


def _made_again(source: Any, inside: Mapping[str, Any]) -> ModelPart:
    part = as_part(source)
    vars(part).update(inside)
    return part


def is_source(item: Any) -> bool:
    """Whether it becomes a part where it stands among parts: a block, or a diagram."""
    return not isinstance(item, type) and isinstance(item, HasPorts)


@explained
def as_part(source: Lowerable | HasPorts) -> Any:
    """A model as a part of components; blocks and diagrams are such without being asked for it.

    Parameters
    ----------
    source : anything that can be simulated, as it is made by ``tg.ode``, ``tg.Diagram`` and so on.

    Returns
    -------
    Part
        with the variables of the source; its inputs are to be connected.

    Raises
    ------
    UsageError : for what cannot be in another model: functions that are called and not followed.

    Examples
    --------
    >>> from tidegate.frontends.components import Component, State, der
    >>> class Tank(Component):
    ...     h = State(1.0)
    ...     def equations(self):
    ...         yield der(self.h) == -self.h
    >>> class Two(Component):
    ...     first, second = as_part(Tank()), as_part(Tank(h=2.0))
    >>> [variable.name for variable in Two().lower().variables]
    ['first.h', 'second.h']
    """
    place = written_at()
    if not isinstance(source, HasPorts | Lowerable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{source!r} is no model", origin=place, hint="give anything that can be simulated, or a block of tg.blocks")
    opened = source.open_model() if isinstance(source, HasPorts) else _opened(source.lower())
    model = opened.model
    name = getattr(source, "kind", "") if isinstance(source, HasPorts) else type(source).__name__
    _require_equations(model, place)
    declared = {variable.name: declaration_of(variable, opened) for variable in model.variables}
    kept = next((name for name in declared if hasattr(ModelPart, name)), None)
    if kept is not None:
        raise UsageError(f"{name}.{kept}: this name is kept for the part itself", origin=place, hint="choose another name")
    kind = type(name, (ModelPart,), {**declared, "_source": (source,), "_opened": opened, "__doc__": f"{name} as a part."})
    part: Any = kind()
    vars(part)["_written_at"] = place
    return part


def _opened(model: Model) -> OpenModel:
    inputs = tuple(variable.name for variable in model.by_role(VariableRole.INPUT))
    outputs = tuple(variable.name for variable in model.by_role(VariableRole.OUTPUT))
    return OpenModel(model, frozenset(name for name in inputs if "." not in name), inputs, outputs)


def _require_equations(model: Model, place: Origin) -> None:
    for present, what in ((model.opaque_parts, "functions that are called"), (model.step_events, "events of steps")):
        if present:
            raise UsageError(
                f"{model.name} has {what}, which cannot be a part of another model", origin=place, hint="write equations: tg.ode, tg.Component"
            )
    if model.form is Form.HDAE:
        raise UsageError(f"{model.name} has more equations than unknowns, and cannot be a part of another model", origin=place)


def declaration_of(variable: Variable, opened: OpenModel, wanted: type[Declaration] | None = None) -> Declaration:
    """What the class of the part declares; start values that are made of parameters are asked of the part.

    Parameters
    ----------
    wanted : kind of the declaration, where that does not follow from the role.
    """
    start = variable.start
    shape = variable.shape or None
    common: dict[str, Any] = {"unit": variable.unit, "description": variable.description, "shape": shape}
    kind = wanted or _KINDS.get(variable.role)
    if kind is None or issubclass(kind, Output):
        made: Declaration = (kind or Output)(UNSET, **common)
    elif issubclass(kind, InputSignal) or (kind is Input and variable.name in opened.required):
        made = InputSignal(**common)
    else:
        made = kind(_value(start, variable.shape), **common)
    made.origin, made.kind, made.texts = variable.origin, variable.kind, variable.texts
    made.minimum, made.maximum, made.nominal = variable.minimum, variable.maximum, variable.nominal
    made.fixed, made.state_select = variable.fixed, variable.state_select
    made.display_unit, made.quantity = variable.display_unit, variable.quantity
    made.present_while, made.is_potential = variable.present_while, variable.is_potential
    made.is_hidden, made.held_by = variable.is_hidden, variable.held_by
    return made


def _asked_of_the_part(part: Any) -> Any:
    """Stands for a start value that is made of parameters: the part's system knows it."""
    raise NotImplementedError(part)


def _value(start: tuple[Expr, ...], shape: tuple[int, ...]) -> Any:
    numbers = [item.value for item in start if item.op == "const"]
    if len(numbers) < len(start):
        return _asked_of_the_part
    if shape:
        return numbers or 0.0
    return numbers[0] if numbers else 0.0
