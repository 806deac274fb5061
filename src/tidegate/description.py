"""What is in a model . In goes anything lowerable, out comes a description in the user's names and lines.

Conditions are found where the run will find them: every relation of the graph below equations, definitions and event clauses. A relation of
time, parameters and discrete variables is met by the calendar ("time"), one without time only changes when an event assigns to a discrete variable
("held"), any other is found by watching the trajectory ("state").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from tidegate.errors import Origin
from tidegate.expressions import TRUE, Expr, Role, constant, makes_events, symbol, walk
from tidegate.expressions.lookup_tables import Grid
from tidegate.expressions.printing import text
from tidegate.expressions.sparsity import dependencies, dependency_sets
from tidegate.model import Action, Assignment, Lowerable, Message, Model, Variable
from tidegate.numbers_as_texts import TRUTHS
from tidegate.quick_dataclass import dataclass
from tidegate.results.labels import number
from tidegate.units import convert

__all__ = ["ClauseDescription", "ConditionDescription", "EquationDescription", "ModelDescription", "VariableDescription", "describe"]

_RELATIONS: Final = ("ge", "gt", "nonzero")
_CALENDAR: Final = frozenset({Role.TIME, Role.PARAMETER, Role.DISCRETE, Role.PREVIOUS})

Use = Literal["", "x", "'", "X"]


@dataclass(frozen=True, slots=True)
class VariableDescription:
    """A scalar or array of the model; ``start`` is text, since it may depend on parameters."""

    name: str
    role: str
    start: str
    unit: str
    description: str


@dataclass(frozen=True, slots=True)
class ConditionDescription:
    """A relation, the discontinuity function whose zero it changes at, and where it was written; of a table its corners, all in one."""

    relation: str
    function: str
    kind: Literal["state", "time", "held"]
    origin: Origin


@dataclass(frozen=True, slots=True)
class ClauseDescription:
    """Something that happens at an event: its name, when, what, how important, and where it was written."""

    label: str
    trigger: str
    actions: tuple[str, ...]
    priority: int
    origin: Origin


@dataclass(frozen=True, slots=True)
class EquationDescription:
    """An equation and which unknowns it uses: "x" itself, "'" its derivative, "X" both, "" neither."""

    label: str
    text: str
    uses: tuple[Use, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """A model for people to read.

    Parameters
    ----------
    name, form, origin : of the model.
    variables : everything but the parameters, in the user's order.
    parameters : likewise.
    conditions : every relation, in the order of the equations.
    clauses : what happens at events.
    unknowns : names of the columns of the sparsity pattern.
    equations : its rows.
    """

    name: str
    form: str
    origin: Origin
    variables: tuple[VariableDescription, ...]
    parameters: tuple[VariableDescription, ...]
    conditions: tuple[ConditionDescription, ...]
    clauses: tuple[ClauseDescription, ...]
    unknowns: tuple[str, ...]
    equations: tuple[EquationDescription, ...]


def describe(source: Lowerable) -> ModelDescription:
    """Describe anything that can be simulated.

    Examples
    --------
    >>> from tidegate.model import Equation, Form, VariableRole
    >>> level = Variable("level", VariableRole.STATE)
    >>> (x,) = level.symbols()
    >>> model = Model("tank", Form.ODE, (level,), (Equation(symbol(Role.DERIVATIVE, "level"), abs(x)),))
    >>> [condition.relation for condition in describe(model).conditions]
    ['level >= 0']
    """
    model = source.lower()
    parameters = model.parameters
    return ModelDescription(
        name=model.name,
        form=model.form.value,
        origin=model.origin,
        variables=tuple(_variable(variable) for variable in model.variables if variable not in parameters and not variable.is_hidden),
        parameters=tuple(_variable(variable) for variable in parameters),
        conditions=tuple(_conditions(model)),
        clauses=tuple(_clauses(model)),
        unknowns=tuple(name for variable in model.unknowns for name in variable.names),
        equations=tuple(_equations(model)),
    )


def _variable(variable: Variable) -> VariableDescription:
    name = variable.name + (f"[{','.join(map(str, variable.shape))}]" if variable.shape else "")
    start, unit = variable.start, variable.unit
    if variable.display_unit and all(item.is_constant for item in start):
        unit = variable.display_unit
        start = tuple(constant(convert(item.value, variable.unit, unit)) for item in start)
    shown = ", ".join(_short(item, variable) for item in start)
    return VariableDescription(name, variable.role.value, shown, unit, variable.description)


def _short(expr: Expr, variable: Variable) -> str:
    """A value of a variable, where it is a number as what that stands for."""
    if expr.op != "const":
        return text(expr)
    texts = TRUTHS if variable.kind == "boolean" else variable.texts
    return next((told for told, own in texts if own == expr.value), "") or number(expr.value, 10)


def _conditions(model: Model) -> Iterator[ConditionDescription]:
    places = _relation_origins(model.condition_origins)
    relations = [item for item in walk(_roots(model)) if makes_events(item)]
    for relation, symbols in zip(relations, dependency_sets(relation.args[0] for relation in relations), strict=True):
        roles = {item.data.role for item in symbols}
        kind = "state" if not roles <= _CALENDAR else "time" if Role.TIME in roles else "held"
        if relation.op in _RELATIONS:
            yield ConditionDescription(text(relation), text(relation.args[0]), kind, places.get(relation, Origin()))
        else:
            yield ConditionDescription(_pieces(relation), "", kind, places.get(relation, Origin()))


def _pieces(item: Expr) -> str:
    """What is passed from piece to piece, and how many edges there are."""
    if item.op == "floor":
        return f"{text(item)}: every integer"
    corners = len(item.data) - 2
    name = item.data.name if isinstance(item.data, Grid) else "table"
    return f"{name if name == 'table' else f'table `{name}`'} of {text(item.args[0])}: {corners} corner{'' if corners == 1 else 's'}"


def _relation_origins(origins: Mapping[Expr, Origin]) -> dict[Expr, Origin]:
    """Where each relation was written; one inside a condition that was written as a whole has that place."""
    places: dict[Expr, Origin] = {expr: origin for expr, origin in origins.items() if expr.op in _RELATIONS}
    for expr, origin in origins.items():
        for item in walk([expr]):
            if item.op in _RELATIONS:
                places.setdefault(item, origin)
    return places


def _roots(model: Model) -> Iterator[Expr]:
    """Everything looked at during a run; what happens once at its start or end causes no event."""
    for equation in model.equations:
        yield equation.right
        yield equation.left
    for definition in model.definitions:
        yield definition.value
    for when in model.whens:
        for branch in when.branches:
            yield from branch.conditions
            yield from _values(branch.actions)
    for event in model.time_events:
        yield from (expr for expr in (event.first, event.period, event.condition) if expr is not None)
        yield from _values(event.actions)
    for event in model.step_events:
        yield event.condition
        yield from _values(event.actions)


def _values(actions: Iterable[Action]) -> Iterator[Expr]:
    return (action.value for action in actions if isinstance(action, Assignment))


def _clauses(model: Model) -> Iterator[ClauseDescription]:
    owner = {item: variable for variable in model.discretes for item in variable.symbols()}
    if model.initial_actions:
        yield ClauseDescription("initially", "at the start", _actions(model.initial_actions, owner), 0, Origin())
    for when in model.whens:
        for i, branch in enumerate(when.branches):
            trigger = ("when " if i == 0 else "else when ") + " or ".join(map(text, branch.conditions))
            yield ClauseDescription(branch.label, trigger, _actions(branch.actions, owner), when.priority, branch.origin)
    for event in model.time_events:
        trigger = f"at {text(event.first)}" + (f", every {text(event.period)}" if event.period is not None else "")
        trigger += f", while {text(event.condition)}" if event.condition is not None else ""
        yield ClauseDescription(event.label, trigger, _actions(event.actions, owner), event.priority, event.origin)
    for event in model.step_events:
        trigger = f"after a step with {text(event.condition)}"
        yield ClauseDescription(event.label, trigger, _actions(event.actions, owner), event.priority, event.origin)
    if model.final_actions:
        yield ClauseDescription("finally", "at the end", _actions(model.final_actions, owner), 0, Origin())


def _actions(actions: Iterable[Action], owner: Mapping[Expr, Variable]) -> tuple[str, ...]:
    lines: list[str] = []
    for action in actions:
        if isinstance(action, Assignment):
            told = owner.get(action.target)
            lines.append(f"{text(action.target)} := {text(action.value) if told is None else _short(action.value, told)}")
        elif isinstance(action, Message):
            lines.append(f"say {action.text!r}{_if(action.condition)}")
        else:
            lines.append("terminate" + (f": {action.message}" if action.message else "") + _if(action.condition))
    return tuple(lines)


def _if(condition: Expr) -> str:
    return "" if condition is TRUE else f" if {text(condition)}"


def _equations(model: Model) -> Iterator[EquationDescription]:
    names = [name for variable in model.unknowns for name in variable.names]
    values = [symbol(Role.UNKNOWN, name) for name in names]
    derivatives = [symbol(Role.DERIVATIVE, name) for name in names]
    for i, equation in enumerate(model.equations):
        used = dependencies(equation.left) | dependencies(equation.right)
        uses: tuple[Use, ...] = tuple(_use(x in used, xdot in used) for x, xdot in zip(values, derivatives, strict=True))
        line = f"{text(equation.left)} = {text(equation.right)}"
        yield EquationDescription(equation.label or f"equation {i + 1}", line, uses, equation.origin)


def _use(has_value: bool, has_derivative: bool) -> Use:
    if has_value:
        return "X" if has_derivative else "x"
    return "'" if has_derivative else ""
