"""A neutral model as what a component says (front end of components: a model of another source goes in, equations and clauses come out)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tidegate.errors import Origin
from tidegate.expressions import Role, symbol
from tidegate.frontends.components.agenda import Agenda, Body
from tidegate.frontends.components.equalities import Equality
from tidegate.frontends.components.local_system import LocalSystem
from tidegate.model import Action, Definition, Model, TimeEvent, When

__all__ = ["system_of_model"]


def system_of_model(model: Model) -> LocalSystem:
    """A neutral model as what a component says."""
    equalities = [Equality(item.left, item.right, item.origin, item.label) for item in model.equations]
    equalities += [Equality(symbol(Role.UNKNOWN, item.name), item.value, item.origin, _label(item)) for item in model.definitions]
    initial = tuple(Equality(item.left, item.right, item.origin, item.label) for item in model.initial_equations)
    values = {
        variable.name: list(variable.start) if variable.shape else variable.start[0]
        for variable in model.variables
        if any(item.op != "const" for item in variable.start)
    }
    return LocalSystem(
        tuple(equalities),
        len(equalities),
        _agenda(model),
        values,
        model.condition_origins,
        initial=initial,
        names=frozenset(variable.name for variable in model.variables),
    )


def _label(item: Definition) -> str:
    return f"{item.origin.inside}, output {item.name}" if item.origin.is_sealed else f"{item.name} == {item.value!r}"


def _agenda(model: Model) -> Agenda:
    """Events with the same tuple of actions are one body, under a name of its own."""
    labels: dict[int, str] = {}
    kept: dict[str, tuple[Action, ...]] = {}
    triggers: dict[str, set[object]] = {}
    bodies: dict[str, Body] = {}

    def labelled(actions: tuple[Action, ...], label: str, chain: str, trigger: object, origin: Origin) -> str:
        own = labels.get(id(actions)) or _free(label or "event", kept)
        labels[id(actions)] = own
        kept[own] = actions
        triggers.setdefault(own, set()).add(trigger)
        bodies[own] = Body(own, bodies[own].chain if own in bodies else chain or own, actions, frozenset(triggers[own]), origin)
        return own

    whens: list[When] = []
    for when in model.whens:
        chain, branches = "", list(when.branches)
        for k, branch in enumerate(branches):
            own = ""
            for condition in branch.conditions:
                own = labelled(branch.actions, branch.label, chain, condition, branch.origin)
            chain = chain or own
            branches[k] = replace(branch, label=own)
        whens.append(replace(when, branches=tuple(branches)))
    time_events: list[TimeEvent] = [
        replace(item, label=labelled(item.actions, item.label, "", (item.first, item.period), item.origin)) for item in model.time_events
    ]
    return Agenda(tuple(whens), tuple(time_events), model.initial_actions, model.final_actions, bodies)


def _free(label: str, taken: Collection[str]) -> str:
    return label if label not in taken else next(name for k in range(2, len(taken) + 3) if (name := f"{label}{k}") not in taken)
