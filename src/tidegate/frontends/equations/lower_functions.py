"""From plain functions to the neutral model (the last file of this front end).

In: functions with start values and parameters. Out: a ``Model`` whose equations are what the functions compute on symbols.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tidegate.errors import InvalidModelError, Origin, UsageError
from tidegate.expressions import ZERO, Expr, Role, symbol, walk
from tidegate.expressions.tracing import at_start, function_origin, require_agreement, trace
from tidegate.expressions.tracing.value_kinds import is_mapping
from tidegate.frontends.equations.follow_functions import FunctionsDescription, Lowering, by_name, called, numbers_of, numbers_of_texts, plainly
from tidegate.frontends.equations.followed_before import FollowedBefore
from tidegate.frontends.equations.lower_events import lower_events
from tidegate.frontends.equations.part_equations import part_equations
from tidegate.frontends.equations.quantities import FunctionQuantities, Kind, NamedPiece, Problems, read_quantities
from tidegate.frontends.equations.returned import Returned
from tidegate.model import Definition, Equation, Form, Model, Variable, VariableRole
from tidegate.model.at_start import with_starts_of
from tidegate.model.stabilisation import chosen_stabilisation
from tidegate.names import listed, suggestion

__all__ = ["lower", "together"]

_GIVEN_AS: Final = {"y": "y0", "d": "discrete"}
_MOST_TEXTS: Final = 100  # of one variable


def lower(description: FunctionsDescription, before: FollowedBefore | None = None) -> Model:
    """The neutral model of plain functions; they are followed again until no text is met that is new.

    Parameters
    ----------
    before : what the functions gave when they were followed last; those that would give the same are not followed again.

    Raises
    ------
    UntraceableError
        for what cannot be followed on symbols.
    InvalidModelError
        for everything else that is wrong, all at once.
    """
    before = before or FollowedBefore()
    while True:
        n_texts = description.n_texts
        try:
            found = _lowered(description, before)
        except Exception:
            if description.n_texts == n_texts:
                raise
        else:
            if description.n_texts == n_texts:
                return found
        _check_texts(description)


def _check_texts(description: FunctionsDescription) -> None:
    for (owner, name), texts in description.met.items():
        if len(texts) > _MOST_TEXTS:
            shown = listed([repr(text) for text, _ in texts], 6)
            what = f"{owner}[{name!r}] is given or compared with more than {_MOST_TEXTS} texts: {shown}"
            raise UsageError(what, origin=description.origin, hint="let it be one of a few texts, as 'idle' and 'heating', and count with numbers")


def _lowered(description: FunctionsDescription, before: FollowedBefore) -> Model:
    """The neutral model, with the texts that were met so far."""
    starts, start_origins = _start_values(description, before)
    y = starts[0] if description.parts is None else before.of(("y",), starts, lambda: together(starts))
    d, discrete_origins = _quantities_of(description.d, "d", description, before)
    lowering = Lowering(description, y, d, before)
    lowering.condition_origins.update({**discrete_origins, **start_origins})
    if description.parts is not None:
        equations, sizes = part_equations((description.function, *description.parts.functions), starts, lowering.follow)
        states = set(y.elements[: sizes[0]])
    else:
        equations, sizes = _derivatives(lowering) if description.form is Form.ODE else _residuals(lowering), ()
        states = set(y.elements) if description.form is Form.ODE else _differentiated(equations)
    outputs, definitions = _outputs(lowering)
    variables = [*_unknowns(y, states, description), *_discretes(d, description), *_parameters(description), *outputs]
    whens, time_events = lower_events(lowering, states)
    _check_names(variables, lowering)
    derivative_starts = _derivative_starts(lowering, states)
    array_of = {element: piece.name for piece in (*y.pieces, *d.pieces) for element in piece.elements}
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
        time_events=time_events,
        initial_actions=tuple(with_starts_of((), (branch for when in whens for branch in when.branches))),
        condition_origins=lowering.condition_origins,
        origin=description.origin,
        time_unit=description.units.get("time", ""),
        check_units=description.check_units,
        stabilisation=chosen_stabilisation(description.name, description.parts.stabilisation, sizes) if description.parts else "",
        makes_consistent=description.parts is not None and description.parts.makes_consistent,
    )


def _start_values(description: FunctionsDescription, before: FollowedBefore) -> tuple[tuple[FunctionQuantities, ...], Mapping[Expr, Origin]]:
    if description.parts is not None:
        found = [_quantities_of(start, f"x{k + 1}", description, before) for k, start in enumerate(description.parts.starts)]
        return tuple(quantities for quantities, _ in found), {c: o for _, origins in found for c, o in origins.items()}
    y, origins = _quantities_of(description.y0, "y", description, before)
    return (y,), origins


def together(starts: Sequence[FunctionQuantities]) -> FunctionQuantities:
    """x1, x2 and x3 of an HDAE as one vector."""
    pieces = tuple(piece for quantities in starts for piece in quantities.pieces)
    return FunctionQuantities("y", pieces, (sum(len(piece.values) for piece in pieces),))


def _quantities_of(
    given: Any, owner: str, description: FunctionsDescription, before: FollowedBefore
) -> tuple[FunctionQuantities, Mapping[Expr, Origin]]:
    """Start values that were given, or those that a function of the parameters gives."""
    if isinstance(given, FunctionQuantities):
        return given, {}
    return before.of((owner, description.n_texts), (given,), lambda: _quantities_by(given, owner, description))


def _quantities_by(function: Any, owner: str, description: FunctionsDescription) -> tuple[FunctionQuantities, Mapping[Expr, Origin]]:
    """Start values that a function of the parameters gives; there are none without a function."""
    if function is None:
        return read_quantities(owner, None, [], description.origin), dict[Expr, Origin]()
    origin = function_origin(function)
    arguments = tuple(description.p.vector(Role.PARAMETER) for _ in description.taken_alone(function, _GIVEN_AS.get(owner, owner)))
    followed = trace(function, arguments)
    start = at_start(arguments, numbers_of(description.p, Role.PARAMETER, {}))
    among = numbers_of_texts(description.p, Role.PARAMETER)
    require_agreement(called(function), origin, followed.value, lambda point: plainly(function, arguments, point), start, among=among)
    problems: Problems = []
    if followed.value is None:
        problems.append((f"the function given as {_GIVEN_AS.get(owner, owner)} returns nothing", origin))
    y = read_quantities(owner, followed.value, problems, origin, description.met if owner == "d" else None)
    if problems:
        raise InvalidModelError(problems)
    return y, followed.condition_origins


# -- equations


def _derivatives(lowering: Lowering) -> list[Equation]:
    y = lowering.y
    returned = Returned(lowering.follow(lowering.description.function), lowering.description.name, lowering.description.origin)
    values, places = returned.by_elements(y)
    labels = [f"der({name})" for name in y.elements]
    return [
        Equation(symbol(Role.DERIVATIVE, name), value, place, label)
        for name, value, place, label in zip(y.elements, values, places, labels, strict=True)
    ]


def _residuals(lowering: Lowering) -> list[Equation]:
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


def _discretes(d: FunctionQuantities, description: FunctionsDescription) -> Iterable[Variable]:
    for piece in d.pieces:
        yield _held(piece, VariableRole.DISCRETE, _kind(piece), description.origin)


def _parameters(description: FunctionsDescription) -> Iterable[Variable]:
    for piece in description.p.pieces:
        yield _held(piece, VariableRole.PARAMETER, piece.kind, description.origin)


def _held(piece: NamedPiece, role: VariableRole, kind: Kind, origin: Origin) -> Variable:
    return Variable(piece.name, role, piece.shape, start=piece.values, kind=kind, texts=tuple(piece.texts), origin=origin)


def _outputs(lowering: Lowering) -> tuple[list[Variable], list[Definition]]:
    functions = by_name(lowering.description.outputs)
    if not functions:
        return [], []
    followed = {name: lowering.follow(function, name=f"the output {name}" if name else "outputs") for name, function in functions.items()}
    places = {name: function_origin(function) for name, function in functions.items()}
    origin = next(iter(places.values()))
    entries: Any = {name: each.value for name, each in followed.items()}
    if "" in followed:
        entries, places = followed[""].value, followed[""].item_origins
    if not is_mapping(entries):
        raise UsageError(f"outputs returns {entries!r}", origin=origin, hint="return a dict: {'name': value, ...}")
    problems: Problems = []
    quantities = read_quantities("outputs", entries, problems, origin, lowering.description.met)
    lowering.problems.extend(problems)
    variables: list[Variable] = []
    definitions: list[Definition] = []
    for piece in quantities.pieces:
        place = places.get(piece.name, origin)
        variables.append(Variable(piece.name, VariableRole.OUTPUT, piece.shape, kind=_kind(piece), texts=tuple(piece.texts), origin=place))
        definitions.extend(Definition(name, value, place) for name, value in zip(piece.elements, piece.values, strict=True))
    return variables, definitions


def _kind(piece: NamedPiece) -> Kind:
    """A controller's 0 stands for 0.0, as among the start values of states."""
    return "real" if piece.kind == "integer" and not piece.texts else piece.kind


def _with_unit(variable: Variable, units: Mapping[str, str], array_of: Mapping[str, str]) -> Variable:
    unit = units.get(variable.name, units.get(array_of.get(variable.name, ""), ""))
    return replace(variable, unit=unit) if unit else variable


def _check_names(variables: list[Variable], lowering: Lowering) -> None:
    origin = lowering.description.origin
    names = Counter(variable.name for variable in variables)
    lowering.problems.extend((f"the name {name!r} is given to {count} quantities", origin) for name, count in names.items() if count > 1)
    pieces = [*names, *(piece.name for piece in (*lowering.y.pieces, *lowering.d.pieces))]
    for name in lowering.description.units:
        if name not in pieces and name != "time":
            hint = suggestion(name, pieces, f"its quantities are {listed(pieces)}")
            lowering.problems.append((f"units names {name!r}, which the model does not have; {hint}", origin))


def _derivative_starts(lowering: Lowering, states: set[str]) -> dict[str, Expr]:
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
