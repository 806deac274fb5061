"""What events do, flattened: conditions with their memory, action flags, and the bodies as expressions on the flags.

In: the model's ``when`` clauses and time events, and its locking. Out: one action flag for every branch and time event, and
for every variable that an event can write an expression that is its new value where a flag is set and its old value elsewhere.
What a body says under a condition is a *remark*: it has a flag of its own, set where the body's flag is and the condition holds.
Several bodies may write one variable; those of one instant must then agree, unless their priorities say which counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from tidegate.compiled.compiled_model import EventAction
from tidegate.compiled.locking import Locking
from tidegate.compiled.vector_symbols import action_symbol, count_symbol, drop_symbol
from tidegate.compiled.workspace import FIRST_REMARK
from tidegate.errors import ModelError, Origin
from tidegate.expressions import FALSE, TRUE, ZERO, Expr, Role, as_real, differentiate, heard, makes_events, node, select, symbol, walk
from tidegate.expressions.sparsity import dependencies
from tidegate.expressions.substitute import substitute
from tidegate.model import Action, Assignment, Message, Model, Terminate
from tidegate.quick_dataclass import dataclass

__all__ = ["TargetWriter", "TransitionBody", "Transitions", "flatten_transitions", "states_before"]

_ROUNDING: Final = 8 * 2.220446049250313e-16  # of two values: so far apart they are one


@dataclass(frozen=True, eq=False)
class TransitionBody:
    """One thing that can happen at an event: an ``EventAction`` with ``actions``, which say what it does."""

    label: str
    actions: tuple[Action, ...]
    chain: int
    conditions: tuple[int, ...]
    priority: int
    origin: Origin
    is_noted: bool = True
    inner_modes: tuple[int, ...] | None = None
    at_start: bool = False

    def told(self) -> EventAction:
        """The same without expressions."""
        messages = [a.text for a in self.actions if isinstance(a, Message)] + [a.message for a in self.actions if isinstance(a, Terminate)]
        return EventAction(
            self.label,
            self.chain,
            self.conditions,
            self.priority,
            self.origin,
            self.is_noted,
            terminates=any(isinstance(action, Terminate) for action in self.actions),
            messages=tuple(filter(None, messages)),
            targets=tuple(action.target.data.name for action in self.actions if isinstance(action, Assignment)),
            fails=any(isinstance(action, Terminate) and action.is_failure for action in self.actions),
            is_expected=self.inner_modes is None and not self.at_start,
            inner_modes=self.inner_modes,
            keeps=self.inner_modes is not None and self.at_start,
        )


@dataclass(frozen=True, eq=False)
class TargetWriter:
    """One branch or time event that gives a variable a new value.

    Parameters
    ----------
    event_action : its number.
    value : what it gives.
    """

    event_action: int
    value: Expr


@dataclass(frozen=True, eq=False)
class Transitions:
    """Every branch and time event of a model.

    Parameters
    ----------
    event_actions : branches in order, then remarks, then time events.
    conditions : locked conditions of all branches, then of remarks.
    n_rising : how many of these are conditions of branches, which fire when they become true.
    times : next time of each time event, an expression of p, m and its count.
    enabled : locked condition under which each time event happens.
    new_values : symbol of a state or discrete variable -> its value after the bodies.
    conflict : holds where bodies of set flags give one variable different values and no priority decides.
    writers : symbol of a variable with several writers -> these.
    """

    event_actions: tuple[TransitionBody, ...]
    conditions: tuple[Expr, ...]
    n_rising: int
    times: tuple[Expr, ...]
    enabled: tuple[Expr, ...]
    new_values: dict[Expr, Expr]
    conflict: Expr = FALSE
    writers: Mapping[Expr, tuple[TargetWriter, ...]] = field(default_factory=dict[Expr, tuple[TargetWriter, ...]])


def states_before(model: Model) -> tuple[Expr, ...]:
    """The unknowns whose values before a round some condition of a clause asks for."""
    read = dependencies(*(condition for when in model.whens for branch in when.branches for condition in branch.conditions))
    asked = {s.data.name for s in read if s.data.role is Role.PREVIOUS}
    return tuple(s for variable in model.unknowns for s in variable.symbols() if s.data.name in asked)


def _with_drops(conditions: Sequence[Expr], states: Sequence[Expr]) -> list[Expr]:
    """The value of a state before the round as what it is now and how far it fell, so that it moves with the state between events."""
    if not states:
        return list(conditions)
    found = substitute(conditions, {symbol(Role.PREVIOUS, s.data.name): s + drop_symbol(s) for s in states})
    drops = {drop_symbol(s) for s in states}
    rested: dict[Expr, Expr] = {}
    for item in walk(found):
        if item.op in ("ge", "gt") and dependencies(item) & drops:
            # x against its own value before: x itself cancels, and no guard has to watch a function that is always zero
            (g,) = item.args
            # what goes in steps has no rate either, and is not always the same
            steps = {step: symbol(Role.MODE, f"step {k}") for k, step in enumerate(walk([g])) if makes_events(step)}
            (smooth,) = substitute([g], steps)
            still = {s: ZERO for s in dependencies(smooth) if s.data.role is Role.UNKNOWN and differentiate(smooth, s) is ZERO}
            rested[item] = node(item.op, tuple(substitute(substitute([smooth], still), {kept: step for step, kept in steps.items()})))
    return substitute(found, rested)


def flatten_transitions(model: Model, locking: Locking) -> Transitions:
    """Lock conditions (they get guards) and bodies (they do not), number the flags, merge bodies by target.

    Raises
    ------
    ModelError : for bodies that need each other's new values.
    """
    branches: list[TransitionBody] = []
    conditions: list[Expr] = []
    before = states_before(model)
    for chain, when in enumerate(model.whens):
        for branch in when.branches:
            indices = tuple(range(len(conditions), len(conditions) + len(branch.conditions)))
            known = len(locking.modes)
            conditions.extend(locking.lock(_with_drops([heard(condition) for condition in branch.conditions], before)))
            inner = tuple(range(known, len(locking.modes))) if when.is_inner else None
            is_noted = _is_noted(branch.actions)
            body = TransitionBody(branch.label, branch.actions, chain, indices, when.priority, branch.origin, is_noted, inner, branch.at_start)
            branches.append(body)
    times: list[Expr] = []
    enabled: list[Expr] = []
    scheduled: list[TransitionBody] = []
    for index, event in enumerate(model.time_events):
        first = event.first
        period = event.period
        times.append(first if period is None else first + count_symbol(index) * period)
        (condition,) = locking.lock([heard(event.condition) if event.condition is not None else TRUE])
        enabled.append(condition)
        scheduled.append(TransitionBody(event.label, event.actions, -1, (), event.priority, event.origin))
    n_rising = len(conditions)
    event_actions, remarks = _with_remarks(branches, scheduled, n_rising)
    present = {symbol(Role.PREVIOUS, s.data.name): s for variable in model.unknowns for s in variable.symbols()}
    writers = _writers(event_actions, locking, present)
    values: dict[Expr, Expr] = {}
    conflict = FALSE
    for target, several in writers.items():
        values[target], differ = _merged(target, several, event_actions)
        conflict = conflict | differ
    locked = locking.lock(substitute(remarks, present), add_guards=False)
    shared = {target: several for target, several in writers.items() if len(several) > 1}
    *new, given, (conflict,), remarks = _without_next(
        [*([value] for value in values.values()), [w.value for several in shared.values() for w in several], [conflict], locked], values
    )
    values = {target: value for target, (value,) in zip(values, new, strict=True)}
    known = iter(given)
    shared = {target: tuple(TargetWriter(w.event_action, next(known)) for w in several) for target, several in shared.items()}
    return Transitions(tuple(event_actions), (*conditions, *remarks), n_rising, tuple(times), tuple(enabled), values, conflict, shared)


def _is_noted(actions: Sequence[Action]) -> bool:
    """Whether a clause that changes nothing is an event all the same; one without any action is there for that."""
    return not actions or any(isinstance(action, Message | Terminate) and action.condition is TRUE for action in actions)


def _with_remarks(branches: Sequence[TransitionBody], scheduled: Sequence[TransitionBody], n_rising: int) -> tuple[list[TransitionBody], list[Expr]]:
    """Branches and time events without what they say under conditions, and between them the remarks, whose conditions are the second answer."""
    groups: list[tuple[TransitionBody, Expr, list[Action]]] = []
    kept: list[TransitionBody] = []
    for event_action in (*branches, *scheduled):
        said: dict[Expr, list[Action]] = {}
        for action in event_action.actions:
            if isinstance(action, Message | Terminate) and action.condition is not TRUE:
                said.setdefault(action.condition, []).append(action)
        aside = [action for actions in said.values() for action in actions]
        kept.append(
            replace(event_action, actions=tuple(action for action in event_action.actions if not any(action is other for other in aside)))
            if said
            else event_action
        )
        groups.extend((event_action, condition, actions) for condition, actions in said.items())
    index_of = {id(event_action): k if k < len(branches) else k + len(groups) for k, event_action in enumerate((*branches, *scheduled))}
    remarks = [
        replace(event_action, actions=tuple(actions), chain=FIRST_REMARK + k, conditions=(n_rising + k,), is_noted=True)
        for k, (event_action, _, actions) in enumerate(groups)
    ]
    conditions = [node("nonzero", (action_symbol(index_of[id(event_action)]),)) & condition for event_action, condition, _ in groups]
    return [*kept[: len(branches)], *remarks, *kept[len(branches) :]], conditions


def _writers(event_actions: Sequence[TransitionBody], locking: Locking, present: Mapping[Expr, Expr]) -> dict[Expr, tuple[TargetWriter, ...]]:
    """For every variable that is assigned who does it, the least important first."""
    found: dict[Expr, list[TargetWriter]] = {}
    for index in sorted(range(len(event_actions)), key=lambda k: -event_actions[k].priority):
        for action in event_actions[index].actions:
            if isinstance(action, Assignment):
                (value,) = locking.lock(substitute([action.value], present), add_guards=False)
                found.setdefault(action.target, []).append(TargetWriter(index, as_real(value)))
    return {target: tuple(several) for target, several in found.items()}


def _merged(target: Expr, writers: Sequence[TargetWriter], event_actions: Sequence[TransitionBody]) -> tuple[Expr, Expr]:
    """The new value of a variable, and where its writers do not agree: of the most important that happen, that is."""
    merged, conflict = target, FALSE
    for priority in sorted({event_actions[w.event_action].priority for w in writers}, reverse=True):
        happens, differ = FALSE, FALSE
        equals = [w for w in writers if event_actions[w.event_action].priority == priority]
        chains = {event_actions[w.event_action].chain for w in equals}
        may_meet = len(chains) > 1 or -1 in chains  # of one chain only one happens in a round
        for value, several in _by_value(equals):
            flag = FALSE
            for w in several:
                flag = flag | node("nonzero", (action_symbol(w.event_action),))
            if happens is not FALSE and may_meet:
                differ = differ | (flag & happens & _differs(value, merged))
            merged = select(flag, value, merged)
            happens = happens | flag
        conflict = select(happens, differ, conflict)
    return merged, conflict


def _by_value(writers: Sequence[TargetWriter]) -> list[tuple[Expr, list[TargetWriter]]]:
    """Writers that give the very same value are one."""
    found: dict[Expr, list[TargetWriter]] = {}
    for writer in writers:
        found.setdefault(writer.value, []).append(writer)
    return list(found.items())


def _differs(a: Expr, b: Expr) -> Expr:
    gap, size = a - b, select(a > 0.0, a, -a) + select(b > 0.0, b, -b)
    return (gap > _ROUNDING * size) | (-gap > _ROUNDING * size)


def _without_next(groups: Sequence[Sequence[Expr]], values: Mapping[Expr, Expr]) -> list[list[Expr]]:
    """The expressions with new values of discrete variables in place of the symbols that stand for them."""
    found = [list(group) for group in groups]
    new = {symbol(Role.NEXT, target.data.name): value for target, value in values.items() if target.data.role is Role.DISCRETE}
    # each pass resolves one link of a chain of bodies; a longer chain than there are variables is a circle
    for _ in range(len(new) + 1):
        awaited = {s for group in found for item in group for s in dependencies(item) if s.data.role is Role.NEXT}
        if not awaited:
            return found
        mapping = {s: new.get(s, symbol(Role.DISCRETE, s.data.name)) for s in awaited}
        found = [substitute(group, mapping) for group in found]
    names = ", ".join(sorted(s.data.name for s in new))
    raise ModelError(f"the new values of {names} depend on each other", hint="let one of the bodies read the value before the event")
