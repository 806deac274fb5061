"""A model with other expressions in it (stage: model). In: a neutral model, and what stands in place of which symbol; out: a neutral model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from tidegate.expressions import Expr, symbol, walk
from tidegate.expressions.substitute import substitute
from tidegate.model.events import Action, Assignment, Branch, StepEvent, TimeEvent, When, expression_of
from tidegate.model.model import Model
from tidegate.model.variables import Variable, element_names

__all__ = ["expressions_of", "renamed", "rewritten", "with_actions"]


def expressions_of(model: Model) -> Iterator[Expr]:
    """Every expression of a model but start values and targets of assignments."""
    for equation in model.equations:
        yield from (equation.left, equation.right)
    for equation in model.initial_equations:
        yield from (equation.left, equation.right)
    for definition in model.definitions:
        yield definition.value
    for branch in (branch for when in model.whens for branch in when.branches):
        yield from (*branch.conditions, *map(expression_of, branch.actions))
    for event in model.time_events:
        yield from (item for item in (event.first, event.period, event.condition) if item is not None)
        yield from map(expression_of, event.actions)
    for step in model.step_events:
        yield from (step.condition, *map(expression_of, step.actions))
    yield from map(expression_of, (*model.initial_actions, *model.final_actions))


def rewritten(model: Model, mapping: Mapping[Expr, Expr]) -> Model:
    """The model with symbols replaced in all its expressions; start values and targets of assignments stay.

    Parameters
    ----------
    model : any.
    mapping : symbols and what stands in their place.
    """
    old = list(dict.fromkeys(expressions_of(model)))
    new = dict(zip(old, substitute(old, mapping), strict=True))
    # clauses with the same tuple of actions are one body, and stay one
    kept: dict[int, tuple[Action, ...]] = {}

    def action(given: Action) -> Action:
        return replace(given, value=new[given.value]) if isinstance(given, Assignment) else replace(given, condition=new[given.condition])

    def actions(given: tuple[Action, ...]) -> tuple[Action, ...]:
        return kept.setdefault(id(given), tuple(map(action, given)))

    def several(given: Iterable[Expr]) -> tuple[Expr, ...]:
        return tuple(new[item] for item in given)

    def branch(given: Branch) -> Branch:
        return replace(given, conditions=several(given.conditions), actions=actions(given.actions))

    def when(given: When) -> When:
        return replace(given, branches=tuple(map(branch, given.branches)))

    def time_event(given: TimeEvent) -> TimeEvent:
        period = None if given.period is None else new[given.period]
        condition = None if given.condition is None else new[given.condition]
        return replace(given, first=new[given.first], period=period, condition=condition, actions=actions(given.actions))

    def step_event(given: StepEvent) -> StepEvent:
        return replace(given, condition=new[given.condition], actions=actions(given.actions))

    return replace(
        model,
        equations=tuple(replace(item, left=new[item.left], right=new[item.right]) for item in model.equations),
        initial_equations=tuple(replace(item, left=new[item.left], right=new[item.right]) for item in model.initial_equations),
        definitions=tuple(replace(item, value=new[item.value]) for item in model.definitions),
        whens=tuple(map(when, model.whens)),
        time_events=tuple(map(time_event, model.time_events)),
        step_events=tuple(map(step_event, model.step_events)),
        initial_actions=actions(model.initial_actions),
        final_actions=actions(model.final_actions),
    )


def with_actions(model: Model, change: Callable[[tuple[Action, ...]], tuple[Action, ...]]) -> Model:
    """The model with other actions at its events; those of its start and end stay.

    Parameters
    ----------
    model : any.
    change : from the actions of a body to new ones.
    """
    # clauses with the same tuple of actions are one body, and stay one
    kept: dict[int, tuple[Action, ...]] = {}

    def actions(given: tuple[Action, ...]) -> tuple[Action, ...]:
        if id(given) not in kept:
            kept[id(given)] = change(given)
        return kept[id(given)]

    return replace(
        model,
        whens=tuple(replace(when, branches=tuple(replace(b, actions=actions(b.actions)) for b in when.branches)) for when in model.whens),
        time_events=tuple(replace(event, actions=actions(event.actions)) for event in model.time_events),
        step_events=tuple(replace(event, actions=actions(event.actions)) for event in model.step_events),
    )


def renamed(model: Model, names: Mapping[str, str], label_prefix: str = "") -> Model:
    """The model with other names of variables.

    Parameters
    ----------
    model : any.
    names : new names of variables by their names; the others keep theirs.
    label_prefix : taken away from names of clauses.
    """
    elements: dict[str, str] = {}
    for variable in model.variables:
        elements |= dict(zip(variable.names, element_names(names.get(variable.name, variable.name), variable.shape), strict=True))
    roots = [*expressions_of(model), *(item for variable in model.variables for item in variable.start), *model.condition_origins]
    roots += [action.target for actions in _all_actions(model) for action in actions if isinstance(action, Assignment)]
    symbols = [item for item in walk(roots) if item.op == "symbol" and item.data.name in elements]
    mapping = {item: symbol(item.data.role, elements[item.data.name]) for item in symbols}
    kept: dict[int, tuple[Action, ...]] = {}  # as above

    def actions(given: tuple[Action, ...]) -> tuple[Action, ...]:
        return kept.setdefault(
            id(given), tuple(replace(a, target=mapping.get(a.target, a.target)) if isinstance(a, Assignment) else a for a in given)
        )

    def moved(given: Variable) -> Variable:
        return replace(given, name=names.get(given.name, given.name), start=tuple(substitute(given.start, mapping)))

    def branch(given: Branch) -> Branch:
        return replace(given, actions=actions(given.actions), label=given.label.removeprefix(label_prefix))

    new = rewritten(model, mapping)
    return replace(
        new,
        variables=tuple(map(moved, new.variables)),
        equations=tuple(replace(item, label=item.label.replace(label_prefix, "")) for item in new.equations) if label_prefix else new.equations,
        definitions=tuple(replace(item, name=elements.get(item.name, item.name)) for item in new.definitions),
        whens=tuple(replace(when, branches=tuple(map(branch, when.branches))) for when in new.whens),
        time_events=tuple(replace(e, actions=actions(e.actions), label=e.label.removeprefix(label_prefix)) for e in new.time_events),
        initial_actions=actions(new.initial_actions),
        final_actions=actions(new.final_actions),
        condition_origins=dict(zip(substitute(model.condition_origins, mapping), model.condition_origins.values(), strict=True)),
    )


def _all_actions(model: Model) -> Iterator[tuple[Action, ...]]:
    yield from (branch.actions for when in model.whens for branch in when.branches)
    yield from (event.actions for event in model.time_events)
    yield from (event.actions for event in model.step_events)
    yield from (model.initial_actions, model.final_actions)
