"""Lowering of a component (front end of components: an instance and its declarations go in, the neutral model comes out).

Outputs are replaced by what defines them. The form is ODE where every equation is ``der(state) == expression``, one for each state and with no
algebraic variable; derivatives that are used elsewhere are then replaced by these expressions. Everything else is a DAE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, Role, as_real, dependencies, symbol
from tidegate.expressions.substitute import substitute
from tidegate.frontends.components.agenda import Agenda
from tidegate.frontends.components.at_once import Followers, equations_at_once, resolve
from tidegate.frontends.components.der_and_pre import continuous_of
from tidegate.frontends.components.elements import flat, quantity
from tidegate.frontends.components.equalities import Equality, replaced
from tidegate.frontends.components.flatten import Flat, component_place, flatten
from tidegate.frontends.components.instants import AtInstants, solved_at_instants
from tidegate.frontends.components.relations_before import relations_before
from tidegate.model import Assignment, Definition, Equation, Form, Model, Variable, VariableRole, expression_of
from tidegate.quick_dataclass import dataclass

__all__ = ["lower"]

_BEFORE: Final = {Role.UNKNOWN: Role.PREVIOUS, Role.DISCRETE: Role.PREVIOUS, Role.INPUT: Role.INPUT_BEFORE, Role.TIME: Role.TIME_BEFORE}


@dataclass(eq=False)
class _System:
    """What has been read so far; outputs and derivatives are replaced in it."""

    variables: list[Variable]
    equalities: list[Equality]
    definitions: dict[Expr, Equality]
    agenda: Agenda
    initial: list[Equality]
    at_instants: AtInstants | None = None


def lower(component: Any, name: str, *, is_open: bool = False) -> Model:
    """Make the neutral model of a component.

    Parameters
    ----------
    component : the outermost, with all its parts.
    name : how messages name it.
    is_open : its connectors are still to be connected, and equations are lacking.

    Raises
    ------
    ModelError : for what cannot be read as an equation or an event, at the user's line.
    UsageError : for values and names that do not fit.
    StructureError : for a part that has too many equations, or too few.
    """
    flat = flatten(component, name, is_open=is_open)
    _refuse_lost_values(flat)
    at_instants = _solve_at_instants(flat) if flat.agenda.instants else None
    system = _System([*flat.variables, *flat.agenda.clocks], flat.equalities, flat.values, flat.agenda, flat.initial, at_instants)
    _refuse_values_before([*flat.equalities, *flat.values.values()])
    _define_outputs(system)
    rates = _explicit_rates(system)
    form = Form.DAE if rates is None else Form.ODE
    _put_in(system, rates or {}, flat.condition_origins, is_open=is_open)
    equations = tuple(Equation(item.left, item.right, origin=item.origin, label=_label(item)) for item in _ordered(system, form))
    outputs = {item.data.name: Definition(item.data.name, as_real(found.right), found.origin) for item, found in system.definitions.items()}
    return Model(
        name,
        form,
        tuple(system.variables),
        equations,
        tuple(outputs[name] for variable in system.variables if variable.role is VariableRole.OUTPUT for name in variable.names if name in outputs),
        initial_equations=tuple(Equation(item.left, item.right, origin=item.origin, label=_label(item)) for item in system.initial),
        whens=system.agenda.whens,
        time_events=system.agenda.time_events,
        initial_actions=system.agenda.initial_actions,
        final_actions=system.agenda.final_actions,
        condition_origins=flat.condition_origins,
        origin=component_place(component, name),
        time_unit=component.time_unit,
        check_units=component.check_units,
        constants=tuple(flat.constants),
    )


def _refuse_lost_values(flat: Flat) -> None:
    """What a clause gives to a variable that equations determine would be gone in the same instant."""
    determined = {item for v in flat.variables if v.role is VariableRole.ALGEBRAIC for item in v.symbols()}
    happenings = [(b.label, b.origin, b.actions) for when in flat.agenda.whens for b in when.branches]
    happenings += [(event.label, event.origin, event.actions) for event in flat.agenda.time_events]
    for label, origin, actions in happenings:
        for action in actions:
            if isinstance(action, Assignment) and action.target in determined:
                own = action.target.data.name
                raise UsageError(
                    f"{label or 'a clause'} gives {own} a value, but {own} is what the equations say at every instant, also in this one",
                    origin=action.origin if action.origin.line else origin,
                    hint=f"give a value to a state or a tg.Discrete that these equations read; or declare {own} as tg.Discrete, without an equation",
                )


def _solve_at_instants(flat: Flat) -> AtInstants:
    """Discrete variables that equations of clauses determine become unknowns."""
    happening = [action for when in flat.agenda.whens for branch in when.branches for action in branch.actions]
    happening += [action for event in flat.agenda.time_events for action in event.actions]
    written = {action.target for action in happening if isinstance(action, Assignment)}
    found = solved_at_instants(flat.agenda.instants, flat.variables, written)
    flat.variables, mapping = found.variables, found.present | found.before
    flat.equalities = [replaced(item, mapping) for item in (*flat.equalities, *found.equalities)]
    flat.initial = [replaced(item, mapping) for item in flat.initial]
    flat.values = {target: replace(item, right=substitute([item.right], mapping)[0]) for target, item in flat.values.items()}
    agenda = flat.agenda.replaced(found.present | found.in_bodies, mapping, {}).rewritten(found.actions, found.actions_at_an_end)
    flat.agenda = replace(agenda, whens=(*agenda.whens, *found.whens))
    return found


def _label(item: Equality) -> str:
    return item.label or item.origin.text.removeprefix("yield ").strip()


def _states(system: _System) -> list[Expr]:
    return [symbol(Role.DERIVATIVE, name) for variable in system.variables if variable.role is VariableRole.STATE for name in variable.names]


def _define_outputs(system: _System) -> None:
    """Take the equations ``output == expression`` out of the system; what remains implicit makes its output an algebraic variable."""
    outputs = {item: v for v in system.variables if v.role is VariableRole.OUTPUT for item in flat(quantity(Role.UNKNOWN, v.name, v.shape))}
    declared = set(system.definitions)
    rest: list[Equality] = []
    for item in system.equalities:
        for target, value in ((item.left, item.right), (item.right, item.left)):
            if target in outputs and target not in system.definitions and target not in dependencies(value):
                system.definitions[target] = Equality(target, value, item.origin)
                break
        else:
            rest.append(item)
    resolved, circular = resolve({item: found.right for item, found in system.definitions.items()})
    for item in circular & declared:
        others = ", ".join(sorted(other.data.name for other in circular - {item}))
        raise UsageError(
            f"the output {item.data.name} depends on itself{f', through {others}' if others else ''}",
            origin=system.definitions[item].origin,
            hint="make it Algebraic and give it an equation",
        )
    loose = dependencies(*(side for item in rest for side in (item.left, item.right)))
    whole = {outputs[item].name for item in (*circular, *(item for item in outputs if item in loose and item not in resolved))}
    for item, found in list(system.definitions.items()):
        if outputs[item].name in whole:
            rest.append(system.definitions.pop(item))
        else:
            system.definitions[item] = replace(found, right=resolved[item])
    system.variables = [replace(v, role=VariableRole.ALGEBRAIC, fixed=False) if v.name in whole else v for v in system.variables]
    mapping = {item: found.right for item, found in system.definitions.items()}
    system.equalities = [replaced(item, mapping) for item in rest]


def _explicit_rates(system: _System) -> dict[Expr, Expr] | None:
    """The derivatives in terms of everything else, where every equation gives one; None for a DAE."""
    explicit = {item.left: item.right for item in system.equalities}
    if (
        any(v.role is VariableRole.ALGEBRAIC for v in system.variables)
        or set(explicit) != set(_states(system))
        or len(explicit) != len(system.equalities)
    ):
        return None
    resolved, circular = resolve(explicit)
    return None if circular else resolved


def _put_in(system: _System, rates: Mapping[Expr, Expr], origins: dict[Expr, Origin], *, is_open: bool) -> None:
    """Put outputs, and an ODE's derivatives, wherever they are used."""
    system.equalities = [replace(item, right=rates[item.left]) if item.left in rates else item for item in system.equalities]
    system.definitions = {item: replace(found, right=substitute([found.right], rates)[0]) for item, found in system.definitions.items()}
    mapping = dict(rates) | {item: found.right for item, found in system.definitions.items()}
    system.initial = [replaced(item, mapping) for item in system.initial]
    states = [symbol(Role.UNKNOWN, item.data.name) for item in _states(system)]
    at_once = equations_at_once(system.agenda, mapping, () if rates else system.equalities, states, system.at_instants)
    system.agenda = _at_both_ends(system.agenda, mapping)
    before = _values_before(system.agenda, mapping)
    asked = mapping | _values_asked_before(system.agenda, lambda: Followers.of(mapping, () if rates else system.equalities, states))
    if not asked and not before and not any(at_once.values()):
        return
    system.agenda = system.agenda.replaced(mapping | before, asked, at_once)
    _keep_places(origins, asked)
    _remember_relations(system, origins, is_open=is_open)


def _remember_relations(system: _System, origins: dict[Expr, Origin], *, is_open: bool) -> None:
    """Put in what keeps the truth that relations had before a round, where a condition or a body asks for it."""
    unknowns = [item for v in system.variables if v.role in (VariableRole.STATE, VariableRole.ALGEBRAIC) for item in v.symbols()]
    found = relations_before(system.agenda, unknowns, is_open=is_open)
    if not found.variables and not found.in_bodies:
        return
    system.agenda = system.agenda.replaced(found.in_bodies, found.replaced, {})
    initial = (*system.agenda.initial_actions, *found.initial)
    system.agenda = replace(system.agenda, whens=(*system.agenda.whens, *found.whens), initial_actions=initial)
    system.variables.extend(found.variables)
    _keep_places(origins, found.replaced)


def _keep_places(origins: dict[Expr, Origin], mapping: Mapping[Expr, Expr]) -> None:
    """Conditions in which something was replaced stand where they stood."""
    for old, new in zip(list(origins), substitute(list(origins), mapping), strict=True):
        origins.setdefault(new, origins[old])


def _at_both_ends(agenda: Agenda, mapping: Mapping[Expr, Expr]) -> Agenda:
    """At the start and at the end of a run what anything was before is what it is."""
    actions = (*agenda.initial_actions, *agenda.final_actions)
    present = {item: mapping.get(own, own) for item in dependencies(*map(expression_of, actions)) if (own := continuous_of(item)) is not None}
    if not present:
        return agenda
    ends = Agenda(initial_actions=agenda.initial_actions, final_actions=agenda.final_actions).replaced(present, {}, {})
    return replace(agenda, initial_actions=ends.initial_actions, final_actions=ends.final_actions)


def _values_before(agenda: Agenda, mapping: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """For ``tg.pre`` of what is no discrete variable in bodies: what it follows from, before the round."""
    asked = {item: own for body in agenda.bodies.values() for item in body.reads if (own := continuous_of(item)) is not None}
    # discrete variables are in bodies what they were
    return {item: _before(mapping.get(own, own), but=Role.DISCRETE) for item, own in asked.items()}


def _before(value: Expr, *, but: Role | None = None) -> Expr:
    roles = {s: s.data.role for s in dependencies(value)}
    (found,) = substitute([value], {s: symbol(_BEFORE[role], s.data.name) for s, role in roles.items() if role in _BEFORE and role is not but})
    return found


def _values_asked_before(agenda: Agenda, find_followers: Callable[[], Followers]) -> dict[Expr, Expr]:
    """For ``tg.pre`` of what is no discrete variable in conditions and times: of a state it is kept, of what follows from states it follows."""
    roots = [item for when in agenda.whens for branch in when.branches for item in branch.conditions]
    roots += [item for event in agenda.time_events for item in (event.first, event.period, event.condition) if item is not None]
    asked = {item: own for item in dependencies(*roots) if (own := continuous_of(item)) is not None}
    if not asked:
        return {}
    followers = find_followers()
    found: dict[Expr, Expr] = {}
    for item, own in asked.items():
        value = followers.values.get(own, own)
        if not followers.tied.keys().isdisjoint(dependencies(value)):
            value = own
        if any(s.data.role is Role.DERIVATIVE for s in dependencies(value)):
            label = next((b.label for when in agenda.whens for b in when.branches if item in dependencies(*b.conditions)), "a clause")
            raise UsageError(
                f"the condition of {label} asks for tg.pre of {_as_written(own)}, which is not known before the round",
                hint="keep its value in a tg.Discrete at the event before, or ask for tg.pre of the states",
            )
        found[item] = _before(value)
    return found


def _as_written(own: Expr) -> str:
    return f"the derivative of {own.data.name}" if own.data.role is Role.DERIVATIVE else own.data.name


def _refuse_values_before(equalities: Iterable[Equality]) -> None:
    """An equation holds between events too, where the value before is the value."""
    for item in equalities:
        for used in dependencies(item.left, item.right):
            own = continuous_of(used)
            if own is not None:
                raise UsageError(
                    f"an equation asks for tg.pre of {own.data.name}, which between events is {own.data.name} itself",
                    origin=item.origin,
                    hint="leave tg.pre out, or keep the value in a tg.Discrete at the event",
                )


def _ordered(system: _System, form: Form) -> Sequence[Equality]:
    """In the order of the states for an ODE, as written for a DAE."""
    if form is not Form.ODE:
        return system.equalities
    by_left = {item.left: item for item in system.equalities}
    return [by_left[item] for item in _states(system)]
