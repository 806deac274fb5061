"""The grade "sealed" of a component in a file: its neutral model with nothing readable in it but what is public (front end of components).

In: a model with open connectors, and which of its names are public. Out: the same equations in the same order; other names are numbers, and texts,
lines and names of clauses are gone (DSblock 4.0a as we read it, section 10). No machine code is stored: it could be neither looked at nor
differentiated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from tidegate.errors import Origin, UnknownNameError, UsageError
from tidegate.expressions import Expr, walk
from tidegate.expressions.substitute import substitute
from tidegate.frontends.components.at_once import resolve
from tidegate.model import Action, Assignment, Message, Model, Terminate, TimeEvent, Variable, VariableRole, When
from tidegate.model.rewriting import expressions_of, renamed, rewritten, with_actions
from tidegate.model.validate import value_problem
from tidegate.names import suggestion

__all__ = ["sealed", "without_names_of_tables"]

_PLACE: Final = Origin(is_sealed=True)
_CONDITIONS: Final = ("ge", "gt", "nonzero", "segment", "floor", "and", "or", "not")  # what may become a condition of an event


def sealed(model: Model, of_connectors: Collection[str], public: Collection[str] | None) -> Model:
    """The model without what is not public.

    Parameters
    ----------
    model : of an open component.
    of_connectors : names of variables of its connectors, which stay.
    public : names of variables, or of parts whose variables and parameters all are public; every parameter if not given.

    Raises
    ------
    UnknownNameError : there is no such variable or part.
    UsageError : a parameter is to be a number inside, and its value or its limits leave open which.
    """
    kept = {*of_connectors, *_public(model, public)}
    kept |= {variable.name for variable in model.by_role(VariableRole.INPUT, VariableRole.OUTPUT)}
    model = _with_numbers(model, [variable for variable in model.parameters if variable.name not in kept])
    numbers = {variable.name: _number_of(variable.name, k + 1) for k, variable in enumerate(model.variables) if variable.name not in kept}
    model = renamed(model, numbers)
    hidden = set(numbers.values())
    variables = tuple(_silent(variable, numbers, is_hidden=variable.name in hidden) for variable in model.variables)
    return _without_places(_without_sentences(replace(model, variables=variables, constants=(), origin=_PLACE)))


def _public(model: Model, public: Collection[str] | None) -> set[str]:
    known = [variable.name for variable in model.variables if not variable.is_hidden]
    if public is None:
        return {variable.name for variable in model.parameters if not variable.is_hidden}
    found: set[str] = set()
    for name in public:
        own = {item for item in known if item == name or item.startswith(f"{name}.")}
        if not own:
            raise UnknownNameError(f"{model.name} has no {name!r} that could be public", hint=suggestion(name, known, "name a variable, or a part"))
        found |= own
    return found


def _with_numbers(model: Model, gone: Iterable[Variable]) -> Model:
    """The model in which parameters are their values."""
    pairs = {item: start for variable in gone for item, start in zip(variable.symbols(), variable.starts(), strict=True)}
    mapping, _ = resolve(pairs)
    for variable in gone:
        for item in variable.symbols():
            value = mapping[item]
            problem = value_problem(variable, item.data.name, value.value) if value.is_constant else ""
            if problem:
                raise UsageError(problem, origin=variable.origin)
            if not value.is_constant and (variable.minimum, variable.maximum) != (None, None):
                what = f"{item.data.name} has limits, and follows from parameters that are open"
                raise UsageError(f"{what}: inside a sealed part nothing could watch them", origin=variable.origin, hint="name it in public=[...] too")
    names = {variable.name for variable in gone}
    variables = tuple(replace(v, start=tuple(substitute(v.start, mapping))) for v in model.variables if v.name not in names)
    return replace(rewritten(model, mapping), variables=variables)


def _number_of(name: str, number: int) -> str:
    # as deep as it was: of variables that are one the one that is nearest to the whole stays
    return f"{'.' * name.count('.')}sealed {number}"


def _silent(variable: Variable, numbers: Mapping[str, str], *, is_hidden: bool) -> Variable:
    present = tuple(numbers.get(name, name) for name in variable.present_while)
    held = tuple(numbers.get(name, name) for name in variable.held_by)
    if not is_hidden:
        return replace(variable, origin=_PLACE, present_while=present, held_by=held)
    told: dict[str, Any] = {"unit": "", "description": "", "display_unit": "", "quantity": "", "texts": ()}
    return replace(variable, origin=_PLACE, present_while=present, is_hidden=True, held_by=held, **told)


def _without_sentences(model: Model) -> Model:
    """Sentences of clauses are numbers."""
    number: dict[str, int] = {}

    def silent(action: Action) -> Action:
        if isinstance(action, Assignment):
            return replace(action, origin=_PLACE)
        text = action.text if isinstance(action, Message) else action.message
        own = f"{model.name} is sealed; this is its sentence {number.setdefault(text, len(number) + 1)}" if text else ""
        return replace(action, message=own) if isinstance(action, Terminate) else replace(action, text=own)

    def actions(given: tuple[Action, ...]) -> tuple[Action, ...]:
        return tuple(map(silent, given))

    new = with_actions(model, actions)
    return replace(new, initial_actions=actions(model.initial_actions), final_actions=actions(model.final_actions))


def _without_places(model: Model) -> Model:
    """Equations and clauses are numbers, and conditions are known as such of the sealed part."""
    label: dict[str, str] = {"": ""}

    def named(given: str) -> str:
        return label.setdefault(given, f"event {len(label)}")

    def when(given: When) -> When:
        return replace(given, branches=tuple(replace(one, label=named(one.label), origin=_PLACE) for one in given.branches), origin=_PLACE)

    def time_event(given: TimeEvent) -> TimeEvent:
        return replace(given, label=named(given.label), origin=_PLACE)

    starts = [start for variable in model.variables for start in variable.start]
    conditions = [item for item in walk([*expressions_of(model), *starts]) if item.op in _CONDITIONS]
    origins: dict[Expr, Origin] = {item: replace(_PLACE, text=f"condition {k + 1}") for k, item in enumerate(conditions)}
    equations = tuple(replace(e, origin=_PLACE, label=f"{_PLACE.inside}, equation {k + 1}") for k, e in enumerate(model.equations))
    initial = tuple(replace(e, origin=_PLACE, label=f"{_PLACE.inside}, initial equation {k + 1}") for k, e in enumerate(model.initial_equations))
    return replace(
        model,
        equations=equations,
        initial_equations=initial,
        definitions=tuple(replace(item, origin=_PLACE) for item in model.definitions),
        whens=tuple(map(when, model.whens)),
        time_events=tuple(map(time_event, model.time_events)),
        condition_origins=origins,
    )


def without_names_of_tables(data: dict[str, Any]) -> dict[str, Any]:
    """A model as plain data (``model.portable``), without what its tables are called."""
    for kind, inner in data["shared"]:
        if kind in ("Grid", "QuietGrid"):
            inner[1] = ""
        elif kind == "Spline":
            inner["name"] = "table"
    return data
