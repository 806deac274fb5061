"""The neutral model: one frozen description of one system, the DSblock of Otter (versions 3.3 and 4.0a) in modern form.

Front ends make it, the later stages read it; nothing in it knows either. ``Lowerable`` is the one thing that every front end offers.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any, Protocol, runtime_checkable

from tidegate.errors import Origin
from tidegate.expressions import Expr
from tidegate.expressions.pickled import stored, unstored
from tidegate.later_stages import later
from tidegate.model.equations import Definition, Equation, OpaquePart
from tidegate.model.events import Action, StepEvent, TimeEvent, When
from tidegate.model.variables import Variable, VariableRole
from tidegate.quick_dataclass import dataclass

__all__ = ["Form", "KeepsCode", "Lowerable", "Model"]


class Form(enum.Enum):
    """What the equations are: DSblock 3.3, INFO(1) of BLOCKB."""

    ODE = "ODE"
    DAE = "DAE"
    HDAE = "HDAE"


@dataclass(frozen=True, eq=False)
class Model:
    """One hybrid system.

    Symbols: time is ``symbol(Role.TIME, "time")``; state and algebraic elements have ``Role.UNKNOWN`` and their element name, their derivatives
    ``Role.DERIVATIVE`` and the same name; inputs, discrete variables and parameters have the role of that name;
    ``tg.pre(d)`` of a discrete variable is ``Role.PREVIOUS`` with d's name. ``Role.NEXT`` may stand in the bodies of events only: what d becomes
    in the round in which the body happens, by the other bodies that happen in it.

    Parameters
    ----------
    name : how results and messages name the model.
    form : ODE, DAE or HDAE.
    variables : every variable, in the user's order.
    equations : as many as there are state and algebraic elements.
    definitions : values of outputs, indicators and auxiliary variables, element by element.
    derivative_starts : guesses of derivatives at the start, by name of the state's element (a DAE's ydot0).
    whens, time_events, step_events : the agenda.
    initial_equations : hold at the start, beside the others; each determines the start value of a state that is not fixed.
    initial_actions : carried out once at the start, before consistent values are computed.
    final_actions : carried out once at the end of a run.
    opaque_parts : callables that replace expressions, and hooks.
    condition_origins : where each relation or condition was written.
    origin : where the model was written.
    time_unit : unit of time, "" where none was given; derivatives are then taken to be per second.
    check_units : whether units that contradict each other are an error.
    constants : names of numbers that were fixed when the model was made; for messages.
    stabilisation : of an HDAE, in which of its five forms it is solved (``stabilisation``).
    makes_consistent : whether values that are off the constraints of an HDAE are moved onto them.
    constraints : of an HDAE in the form that is solved: its parts 2 to 5 as they were given; ``index_two`` : its unknowns of index two.
    """

    name: str
    form: Form
    variables: tuple[Variable, ...]
    equations: tuple[Equation, ...] = ()
    definitions: tuple[Definition, ...] = ()
    derivative_starts: Mapping[str, Expr] = field(default_factory=dict[str, Expr])
    whens: tuple[When, ...] = ()
    time_events: tuple[TimeEvent, ...] = ()
    step_events: tuple[StepEvent, ...] = ()
    initial_equations: tuple[Equation, ...] = ()
    initial_actions: tuple[Action, ...] = ()
    final_actions: tuple[Action, ...] = ()
    opaque_parts: tuple[OpaquePart, ...] = ()
    condition_origins: Mapping[Expr, Origin] = field(default_factory=dict[Expr, Origin])
    origin: Origin = field(default_factory=Origin)
    time_unit: str = ""
    check_units: bool = True
    constants: tuple[str, ...] = ()
    stabilisation: str = ""
    makes_consistent: bool = False
    constraints: tuple[Equation, ...] = ()
    index_two: tuple[Expr, ...] = ()

    def without_code(self) -> Model:
        """The same model, without the machine code that it carries after a run."""
        return replace(self)

    def __copy__(self) -> Model:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self  # nothing in it changes

    def __reduce__(self) -> tuple[Any, ...]:
        return _model_of, stored({entry.name: getattr(self, entry.name) for entry in fields(self)})

    def __str__(self) -> str:
        return later("as_text")(self)

    def lower(self) -> Model:
        """The model itself: a ``Model`` can be simulated like anything that lowers to one."""
        return self

    def by_role(self, *roles: VariableRole) -> list[Variable]:
        """The variables with one of these roles, in order."""
        return [variable for variable in self.variables if variable.role in roles]

    @property
    def unknowns(self) -> list[Variable]:
        """States and algebraic variables, in the user's order."""
        return self.by_role(VariableRole.STATE, VariableRole.ALGEBRAIC)

    @property
    def parameters(self) -> list[Variable]:
        """The parameters, in the user's order."""
        return self.by_role(VariableRole.PARAMETER)

    @property
    def discretes(self) -> list[Variable]:
        """The discrete variables, in the user's order."""
        return self.by_role(VariableRole.DISCRETE)


def _model_of(*parts: Any) -> Model:
    return Model(**unstored(*parts))


@runtime_checkable
class Lowerable(Protocol):
    """Anything that can be simulated. A ``Model`` lowers to itself."""

    def lower(self) -> Model:
        """The neutral model of this system."""
        ...


@runtime_checkable
class KeepsCode(Protocol):
    """A source that carries the machine code of its runs along, so that the next run finds it."""

    def without_code(self) -> Lowerable:
        """The same source as it was before any run."""
        ...
