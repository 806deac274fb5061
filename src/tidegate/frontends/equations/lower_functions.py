"""From plain functions to the neutral model (the last file of this front end).

In: functions with start values and parameters. Out: a ``Model`` whose equations are what the functions compute on symbols.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tidegate.errors import InvalidModelError, Origin, UsageError
from tidegate.expressions import ZERO, Expr, Role, as_real, evaluate, fleeting_equality, symbol, walk
from tidegate.expressions.tracing import Trace, Vector, at_start, function_origin, numeric, probe_values, require_agreement, trace
from tidegate.expressions.tracing.value_kinds import is_mapping
from tidegate.frontends.equations.event_clause import EventClause
from tidegate.frontends.equations.part_equations import part_equations
from tidegate.frontends.equations.quantities import FunctionQuantities, NamedPiece, Problems, read_quantities
from tidegate.frontends.equations.returned import Returned, flat
from tidegate.model import Action, Assignment, Branch, Definition, Equation, Form, Model, Terminate, Variable, VariableRole, When
from tidegate.model.remarks import collect_remarks
from tidegate.model.stabilisation import chosen_stabilisation
from tidegate.names import listed, suggestion

__all__ = ["FunctionsDescription", "Parts", "lower", "takes", "together"]

_TIME = symbol(Role.TIME, "time")


@dataclass(frozen=True, eq=False)
class Parts:
    """What an HDAE has besides its first function.

    Parameters
    ----------
    functions : f2 ... f5; None for one that is not there.
    starts : of x1, x2 and x3, or functions of the parameters that give them.
    stabilisation : the option that was chosen, as given; makes_consistent : likewise.
    """

    functions: tuple[Callable[..., Any] | None, ...]
    starts: tuple[Any, ...]
    stabilisation: Any = None
    makes_consistent: bool = False


@dataclass(frozen=True, eq=False)
class FunctionsDescription:
    """What the user gave to ``tg.ode``, ``tg.dae`` or ``tg.hdae``.

    Parameters
    ----------
    y0 : start values, or the function of the parameters that gives them.
    ydot0 : guesses of derivatives, as given.
    has_p : whether parameters were given at all.
    """

    name: str
    form: Form
    function: Callable[..., Any]
    y0: FunctionQuantities | Callable[..., Any]
    ydot0: Any
    p: FunctionQuantities
    has_p: bool
    units: Mapping[str, str]
    outputs: Callable[..., Any] | None
    events: tuple[EventClause, ...]
    origin: Origin
    check_units: bool = True
    parts: Parts | None = None


@dataclass(eq=False)
class _Lowering:
    """What is known while the functions of one model are followed."""

    description: FunctionsDescription
    y: FunctionQuantities
    problems: Problems = field(default_factory=Problems)
    condition_origins: dict[Expr, Origin] = field(default_factory=dict[Expr, Origin])

    def follow(self, function: Callable[..., Any], *extra: Any) -> Trace:
        """A function called with time, unknowns, what else it gets, and parameters if it takes them."""
        arguments = (_TIME, self.y.vector(Role.UNKNOWN), *extra)
        return self._traced(function, (*arguments, self.parameters()) if takes(function, len(arguments) + 1, self.description.has_p) else arguments)

    def parameters(self) -> Vector:
        """The vector `p`."""
        return self.description.p.vector(Role.PARAMETER)

    def _traced(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Trace:
        values = _numbers(self.description.p, Role.PARAMETER, {})
        values.update(_numbers(self.y, Role.UNKNOWN, values))
        token = probe_values.set({**values, _TIME: 0.0, **{symbol(Role.DERIVATIVE, name): 0.0 for name in self.y.elements}})
        try:
            followed = trace(function, arguments)
            start = at_start(arguments, probe_values.get())
            require_agreement(_called(function), function_origin(function), followed.value, lambda point: _plain(function, arguments, point), start)
        finally:
            probe_values.reset(token)
        for condition, origin in followed.condition_origins.items():
            self.condition_origins.setdefault(condition, origin)
        return followed


def _called(function: Any) -> str:
    """How messages name a function of the user."""
    return getattr(function, "__name__", type(function).__name__)


def _plain(function: Callable[..., Any], arguments: tuple[Any, ...], point: dict[Expr, float]) -> Any:
    """A function of the user called with numbers; what it says is not said in the model."""
    with collect_remarks():
        return function(*numeric(arguments, point))


def lower(description: FunctionsDescription) -> Model:
    """The neutral model of plain functions.

    Raises
    ------
    UntraceableError
        for what cannot be followed on symbols.
    InvalidModelError
        for everything else that is wrong, all at once.
    """
    starts, start_origins = _start_values(description)
    y = starts[0] if description.parts is None else together(starts)
    lowering = _Lowering(description, y)
    lowering.condition_origins.update(start_origins)
    if description.parts is not None:
        equations, sizes = part_equations((description.function, *description.parts.functions), starts, lowering.follow)
        states = set(y.elements[: sizes[0]])
    else:
        equations, sizes = _derivatives(lowering) if description.form is Form.ODE else _residuals(lowering), ()
        states = set(y.elements) if description.form is Form.ODE else _differentiated(equations)
    outputs, definitions = _outputs(lowering)
    variables = [*_unknowns(y, states, description), *_parameters(description), *outputs]
    whens = tuple(_when(lowering, item, at, states) for at, item in enumerate(description.events))
    _check_names(variables, lowering)
    derivative_starts = _derivative_starts(lowering, states)
    array_of = {element: piece.name for piece in y.pieces for element in piece.elements}
    if lowering.problems:
        raise InvalidModelError(lowering.problems)
    return Model(
        name=description.name,
        form=description.form,
        variables=tuple(_with_unit(variable, description.units, array_of) for variable in variables),
        equations=tuple(equations),
        definitions=tuple(definitions),
        derivative_starts=derivative_starts,
        whens=whens,
        condition_origins=lowering.condition_origins,
        origin=description.origin,
        time_unit=description.units.get("time", ""),
        check_units=description.check_units,
        stabilisation=chosen_stabilisation(description.name, description.parts.stabilisation, sizes) if description.parts else "",
        makes_consistent=description.parts is not None and description.parts.makes_consistent,
    )


def takes(function: Callable[..., Any], count: int, has_p: bool) -> bool:
    """Whether a function is called with so many arguments, the last of which is p."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return has_p
    positional = [item for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
    required = sum(item.default is item.empty for item in positional)
    is_open = any(item.kind is item.VAR_POSITIONAL for item in parameters)
    return required >= count or (has_p and (is_open or len(positional) >= count))


def _numbers(quantities: FunctionQuantities, role: Role, known: dict[Expr, float]) -> dict[Expr, float]:
    """Start values as numbers."""
    return dict(zip((symbol(role, name) for name in quantities.elements), evaluate(quantities.values, known), strict=True))


def _start_values(description: FunctionsDescription) -> tuple[tuple[FunctionQuantities, ...], Mapping[Expr, Origin]]:
    if description.parts is not None:
        found = [_quantities_of(start, f"x{k + 1}", description) for k, start in enumerate(description.parts.starts)]
        return tuple(quantities for quantities, _ in found), {c: o for _, origins in found for c, o in origins.items()}
    y, origins = _quantities_of(description.y0, "y", description)
    return (y,), origins


def together(starts: Sequence[FunctionQuantities]) -> FunctionQuantities:
    """x1, x2 and x3 of an HDAE as one vector."""
    pieces = tuple(piece for quantities in starts for piece in quantities.pieces)
    return FunctionQuantities("y", pieces, (sum(len(piece.values) for piece in pieces),))


def _quantities_of(given: Any, owner: str, description: FunctionsDescription) -> tuple[FunctionQuantities, Mapping[Expr, Origin]]:
    """Start values that were given, or those that a function of the parameters gives."""
    if isinstance(given, FunctionQuantities):
        return given, {}
    function = given
    origin = function_origin(function)
    arguments = (description.p.vector(Role.PARAMETER),) if takes(function, 1, has_p=True) else ()
    followed = trace(function, arguments)
    start = at_start(arguments, _numbers(description.p, Role.PARAMETER, {}))
    require_agreement(_called(function), origin, followed.value, lambda point: _plain(function, arguments, point), start)
    problems: Problems = []
    if followed.value is None:
        problems.append((f"the function given as {'y0' if owner == 'y' else owner} returns nothing", origin))
    y = read_quantities(owner, followed.value, problems, origin)
    if problems:
        raise InvalidModelError(problems)
    return y, followed.condition_origins


# -- equations


def _derivatives(lowering: _Lowering) -> list[Equation]:
    y = lowering.y
    returned = Returned(lowering.follow(lowering.description.function), lowering.description.name, lowering.description.origin)
    values, places = returned.by_elements(y)
    labels = [f"der({name})" for name in y.elements]
    return [
        Equation(symbol(Role.DERIVATIVE, name), value, place, label)
        for name, value, place, label in zip(y.elements, values, places, labels, strict=True)
    ]


def _residuals(lowering: _Lowering) -> list[Equation]:
    y = lowering.y
    followed = lowering.follow(lowering.description.function, y.vector(Role.DERIVATIVE, "ydot"))
    returned = Returned(followed, lowering.description.name, lowering.description.origin)
    values, places, labels = returned.in_order(y)
    return [Equation(ZERO, value, place, label) for value, place, label in zip(values, places, labels, strict=True)]


def _differentiated(equations: Sequence[Equation]) -> set[str]:
    found = walk(equation.right for equation in equations)
    return {item.data.name for item in found if item.op == "symbol" and item.data.role is Role.DERIVATIVE}


# -- variables


def _unknowns(y: FunctionQuantities, states: set[str], description: FunctionsDescription) -> list[Variable]:
    variables: list[Variable] = []
    for piece in y.pieces:
        appears = [name in states for name in piece.elements]
        if all(appears) or not any(appears):
            variables.append(_unknown(piece, VariableRole.STATE if appears[0] else VariableRole.ALGEBRAIC, description.origin))
            continue
        # part of the array is algebraic: each element is a variable of its own
        for name, value, is_state in zip(piece.elements, piece.values, appears, strict=True):
            variables.append(_unknown(NamedPiece(name, (), (value,)), VariableRole.STATE if is_state else VariableRole.ALGEBRAIC, description.origin))
    return variables


def _unknown(piece: NamedPiece, role: VariableRole, origin: Origin) -> Variable:
    return Variable(piece.name, role, piece.shape, start=piece.values, origin=origin)


def _parameters(description: FunctionsDescription) -> Iterable[Variable]:
    for piece in description.p.pieces:
        yield Variable(piece.name, VariableRole.PARAMETER, piece.shape, start=piece.values, kind=piece.kind, origin=description.origin)


def _outputs(lowering: _Lowering) -> tuple[list[Variable], list[Definition]]:
    function = lowering.description.outputs
    if function is None:
        return [], []
    followed = lowering.follow(function)
    origin = function_origin(function)
    if not is_mapping(followed.value):
        raise UsageError(f"outputs returns {followed.value!r}", origin=origin, hint="return a dict: {'name': value, ...}")
    entries: Any = followed.value
    problems: Problems = []
    quantities = read_quantities("outputs", entries, problems, origin)
    lowering.problems.extend(problems)
    variables: list[Variable] = []
    definitions: list[Definition] = []
    for piece in quantities.pieces:
        place = followed.item_origins.get(piece.name, origin)
        variables.append(Variable(piece.name, VariableRole.OUTPUT, piece.shape, origin=place))
        definitions.extend(Definition(name, value, place) for name, value in zip(piece.elements, piece.values, strict=True))
    return variables, definitions


def _with_unit(variable: Variable, units: Mapping[str, str], array_of: Mapping[str, str]) -> Variable:
    unit = units.get(variable.name, units.get(array_of.get(variable.name, ""), ""))
    if not unit:
        return variable
    return Variable(variable.name, variable.role, variable.shape, unit=unit, start=variable.start, kind=variable.kind, origin=variable.origin)


def _check_names(variables: list[Variable], lowering: _Lowering) -> None:
    origin = lowering.description.origin
    names = Counter(variable.name for variable in variables)
    lowering.problems.extend((f"the name {name!r} is given to {count} quantities", origin) for name, count in names.items() if count > 1)
    pieces = [*names, *(piece.name for piece in lowering.y.pieces)]
    for name in lowering.description.units:
        if name not in pieces and name != "time":
            hint = suggestion(name, pieces, f"its quantities are {listed(pieces)}")
            lowering.problems.append((f"units names {name!r}, which the model does not have; {hint}", origin))


def _derivative_starts(lowering: _Lowering, states: set[str]) -> dict[str, Expr]:
    given = lowering.description.ydot0
    if given is None:
        return {}
    y, origin = lowering.y, lowering.description.origin
    quantities = read_quantities("ydot", given, lowering.problems, origin)
    if not is_mapping(given):
        if len(quantities.values) != len(y.elements):
            lowering.problems.append((f"ydot0 has {len(quantities.values)} values, but y0 has {len(y.elements)}", origin))
            return {}
        return {name: value for name, value in zip(y.elements, quantities.values, strict=True) if name in states}
    shapes = {piece.name: piece.shape for piece in y.pieces}
    starts: dict[str, Expr] = {}
    for piece in quantities.pieces:
        if piece.name not in shapes:
            hint = suggestion(piece.name, shapes, f"y0 has {listed(shapes)}")
            lowering.problems.append((f"ydot0 names {piece.name!r}, which y0 does not have; {hint}", origin))
        elif piece.shape != shapes[piece.name]:
            lowering.problems.append((f"ydot0[{piece.name!r}] has shape {piece.shape}, but y0[{piece.name!r}] has {shapes[piece.name]}", origin))
        else:
            starts.update({name: value for name, value in zip(piece.elements, piece.values, strict=True) if name in states})
    return starts


# -- events


def _refuse_fleeting(condition: Expr, states: set[str], label: str, origin: Origin) -> None:
    def moves(item: Expr) -> bool:
        return item.data.role in (Role.TIME, Role.DERIVATIVE) or (item.data.role is Role.UNKNOWN and item.data.name in states)

    quantity = fleeting_equality(condition, moves)
    if quantity is not None:
        raise UsageError(
            f"the condition of {label} wants `{quantity!r}` to be exactly zero: it passes zero in no time, and this would never be seen to happen",
            origin=origin,
            hint="use >= or <=; for passing in either direction return both: lambda t, y: [y['h'] >= 1, y['h'] <= 1]",
        )


def _when(lowering: _Lowering, item: EventClause, at: int, states: set[str]) -> When:
    origin = function_origin(item.condition)
    followed = lowering.follow(item.condition)
    label = item.name or f"event {at + 1}"
    conditions: list[Expr] = []
    for value in flat(followed.value):
        if isinstance(value, bool | np.bool_) or (isinstance(value, Expr) and value.is_boolean):
            conditions.append(value if isinstance(value, Expr) else as_real(value) > 0)
            _refuse_fleeting(conditions[-1], states, label, origin)
        else:
            raise UsageError(
                f"the condition of {label} is {value!r}, which is neither true nor false", origin=origin, hint="compare it: lambda t, y: y['h'] < 0"
            )
    actions: list[Action] = []
    if item.reset is not None:
        with collect_remarks() as said:
            actions += _assignments(lowering, item.reset, label, said)
        actions += said
    if item.terminal:
        actions.append(Terminate(label))
    return When((Branch(tuple(conditions), tuple(actions), label, origin),), item.priority, origin)


def _assignments(lowering: _Lowering, reset: Callable[..., Any], label: str, said: Sequence[Action]) -> Iterable[Assignment]:
    """What a reset assigns; one that has something to say may return nothing."""
    origin = function_origin(reset)
    followed = lowering.follow(reset)
    y = lowering.y
    if followed.value is None and said:
        return []
    if not is_mapping(followed.value):
        described = f"the reset of {label}"
        values = flat(followed.value)
        if len(values) != len(y.elements) or not all(isinstance(value, int | float | Expr | np.number) for value in values):
            raise UsageError(
                f"{described} returns {followed.value!r}", origin=origin, hint="return a dict with the new values of the variables that change"
            )
        return [Assignment(symbol(Role.UNKNOWN, name), as_real(value), origin) for name, value in zip(y.elements, values, strict=True)]
    found: list[Assignment] = []
    entries: Any = followed.value
    known = {name: [name] for name in y.elements} | {piece.name: piece.elements for piece in y.pieces}
    for key, value in entries.items():
        name = y.elements[key] if isinstance(key, int) and -len(y.elements) <= key < len(y.elements) else key
        place = followed.item_origins.get(key, origin)
        if name not in known:
            hint = suggestion(name, known, f"the variables are {', '.join(piece.name for piece in y.pieces)}")
            raise UsageError(f"the reset of {label} names {key!r}, which is not a variable of y", origin=place, hint=hint)
        values = flat(value)
        if len(values) not in (1, len(known[name])):
            raise UsageError(f"the reset of {label} gives {len(values)} values to the {len(known[name])} elements of {name!r}", origin=place)
        spread = values * (len(known[name]) // len(values))
        found.extend(Assignment(symbol(Role.UNKNOWN, each), as_real(new), place) for each, new in zip(known[name], spread, strict=True))
    return found
