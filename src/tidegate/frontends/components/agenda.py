"""The events of a component (front end of components: clauses go in, neutral ``when`` chains, time events and actions come out)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Final, cast

from tidegate.errors import Origin, UsageError
from tidegate.expressions import ONE, Expr, Role, as_real, dependencies, node, select, symbol
from tidegate.expressions.substitute import substitute
from tidegate.frontends.components.clauses import Clause, Trigger
from tidegate.frontends.components.elements import elements
from tidegate.frontends.components.equalities import Equality
from tidegate.frontends.components.following import Follower
from tidegate.frontends.components.instants import Instant, active, determined
from tidegate.model import Action, Assignment, Branch, TimeEvent, Variable, VariableRole, When, element_names, expression_of
from tidegate.model.at_start import with_starts_of
from tidegate.quick_dataclass import dataclass

__all__ = ["Agenda", "Body", "read_agenda"]

_HARDLY: Final = 1e-9  # of a period: a tick this little before the start of the run is at the start


@dataclass(frozen=True, eq=False)
class Body:
    """What one clause does, whatever its triggers.

    Parameters
    ----------
    chain : name of the clause that begins its chain; clauses of one chain never happen in the same round.
    triggers : its conditions, and (first, period) of its time events.
    """

    name: str
    chain: str
    actions: tuple[Action, ...]
    triggers: frozenset[object]
    origin: Origin

    @cached_property
    def targets(self) -> frozenset[Expr]:
        """What it assigns to."""
        return frozenset(action.target for action in self.actions if isinstance(action, Assignment))

    @cached_property
    def reads(self) -> frozenset[Expr]:
        """Symbols in its right-hand sides and conditions."""
        return dependencies(*map(expression_of, self.actions))


def _replaced(action: Action, mapping: Mapping[Expr, Expr]) -> Action:
    (new,) = substitute([expression_of(action)], mapping)
    return replace(action, value=new) if isinstance(action, Assignment) else replace(action, condition=new)


@dataclass(frozen=True, eq=False)
class Agenda:
    """What happens when, as the neutral model says it."""

    whens: tuple[When, ...] = ()
    time_events: tuple[TimeEvent, ...] = ()
    initial_actions: tuple[Action, ...] = ()
    final_actions: tuple[Action, ...] = ()
    bodies: Mapping[str, Body] = field(default_factory=dict[str, Body])
    clocks: tuple[Variable, ...] = ()
    instants: tuple[Instant, ...] = ()

    def replaced(
        self, mapping: Mapping[Expr, Expr], asked: Mapping[Expr, Expr], in_bodies: Mapping[str, Mapping[Expr | None, Mapping[Expr, Expr]]]
    ) -> Agenda:
        """The same with nodes replaced: in new values by ``mapping``, in conditions and times by ``asked``.

        In some bodies there are others besides, for each variable that is assigned to; None stands for what a body says.
        """

        def actions(given: Iterable[Action], besides: Mapping[Expr | None, Mapping[Expr, Expr]] | None = None) -> tuple[Action, ...]:
            own = {target: {**mapping, **found} for target, found in (besides or {}).items()}
            return tuple(_replaced(item, own.get(item.target if isinstance(item, Assignment) else None, mapping)) for item in given)

        # one tuple for all triggers of a body: that is how it is known as one
        bodies = {name: replace(body, actions=actions(body.actions, in_bodies.get(name))) for name, body in self.bodies.items()}

        def branch(given: Branch) -> Branch:
            own = bodies.get(given.label)
            done = own.actions if own is not None else actions(given.actions)
            return replace(given, conditions=tuple(substitute(given.conditions, asked)), actions=done)

        def event(given: TimeEvent) -> TimeEvent:
            first = substitute([given.first], asked)[0]
            period = None if given.period is None else substitute([given.period], asked)[0]
            only = None if given.condition is None else substitute([given.condition], asked)[0]
            done = bodies[given.label].actions if given.label in bodies else actions(given.actions)
            return replace(given, first=first, period=period, condition=only, actions=done)

        return Agenda(
            tuple(replace(when, branches=tuple(branch(item) for item in when.branches)) for when in self.whens),
            tuple(event(item) for item in self.time_events),
            actions(self.initial_actions),
            actions(self.final_actions),
            bodies,
            self.clocks,
            self.instants,
        )

    def renamed(self, mapping: Mapping[Expr, Expr], prefix: str, owner: str) -> Agenda:
        """The same of a component that stands in another.

        Parameters
        ----------
        mapping : its symbols, and what they are there.
        prefix : in front of its clauses' names.
        owner : its path, for messages.
        """
        moved = self.replaced(mapping, mapping, {})

        def placed(origin: Origin) -> Origin:
            return replace(origin, path=owner)

        def named(action: Action) -> Action:
            return replace(action, target=mapping.get(action.target, action.target)) if isinstance(action, Assignment) else action

        kept: dict[int, tuple[Action, ...]] = {}  # clauses with the same tuple of actions are one body, and stay one

        def actions(given: tuple[Action, ...]) -> tuple[Action, ...]:
            return kept.setdefault(id(given), tuple(map(named, given)))

        def label(name: str) -> str:
            return f"{prefix}.{name}" if name else ""

        def trigger(given: Any) -> Any:
            if isinstance(given, tuple):
                return tuple(item if item is None else mapping_of(item) for item in cast("tuple[Any, ...]", given))
            return mapping_of(given)

        def mapping_of(item: Expr) -> Expr:
            return substitute([item], mapping)[0]

        def branch(given: Branch) -> Branch:
            return replace(given, actions=actions(given.actions), label=label(given.label), origin=placed(given.origin))

        def event(given: TimeEvent) -> TimeEvent:
            return replace(given, actions=actions(given.actions), label=label(given.label), origin=placed(given.origin))

        def instant(given: Instant) -> Instant:
            equalities = {mapping[target]: _moved(item, mapping, owner) for target, item in given.equalities.items()}
            return Instant(label(given.name), mapping[given.flag], equalities, placed(given.origin))

        def body(given: Body) -> Body:
            triggers = frozenset(map(trigger, given.triggers))
            return Body(label(given.name), label(given.chain), actions(given.actions), triggers, placed(given.origin))

        return Agenda(
            tuple(replace(when, branches=tuple(map(branch, when.branches)), origin=placed(when.origin)) for when in moved.whens),
            tuple(map(event, moved.time_events)),
            tuple(map(named, moved.initial_actions)),
            tuple(map(named, moved.final_actions)),
            {label(name): body(item) for name, item in moved.bodies.items()},
            tuple(replace(clock, name=f"{prefix}.{clock.name}", origin=placed(clock.origin)) for clock in moved.clocks),
            tuple(instant(item) for item in moved.instants),
        )

    def rewritten(self, new: Callable[[Action], tuple[Action, ...]], at_ends: Callable[[Action], tuple[Action, ...]]) -> Agenda:
        """The same with others in place of each action: of one of a clause, and of one at the start or at the end."""
        kept: dict[int, tuple[Action, ...]] = {}

        def actions(given: tuple[Action, ...]) -> tuple[Action, ...]:
            return kept.setdefault(id(given), tuple(item for action in given for item in new(action)))

        def ends(given: tuple[Action, ...]) -> tuple[Action, ...]:
            return tuple(item for action in given for item in at_ends(action))

        def when(given: When) -> When:
            return replace(given, branches=tuple(replace(branch, actions=actions(branch.actions)) for branch in given.branches))

        return replace(
            self,
            whens=tuple(map(when, self.whens)),
            time_events=tuple(replace(event, actions=actions(event.actions)) for event in self.time_events),
            initial_actions=ends(self.initial_actions),
            final_actions=ends(self.final_actions),
            bodies={name: replace(body, actions=actions(body.actions)) for name, body in self.bodies.items()},
        )

    @classmethod
    def joined(cls, several: Sequence[Agenda]) -> Agenda:
        """Of components that make up one model."""
        if len(several) == 1:
            return several[0]
        return cls(
            tuple(when for one in several for when in one.whens),
            tuple(event for one in several for event in one.time_events),
            tuple(action for one in several for action in one.initial_actions),
            tuple(action for one in several for action in one.final_actions),
            {name: body for one in several for name, body in one.bodies.items()},
            tuple(clock for one in several for clock in one.clocks),
            tuple(instant for one in several for instant in one.instants),
        )


def _moved(item: Equality, mapping: Mapping[Expr, Expr], owner: str) -> Equality:
    left, right = substitute([item.left, item.right], mapping)
    return replace(item, left=left, right=right, origin=replace(item.origin, path=owner))


@dataclass(eq=False)
class _ClauseReader:
    """Follows the clauses one after the other."""

    clauses: Mapping[str, Clause]
    follower: Follower
    clocks: dict[Variable, Assignment] = field(default_factory=dict[Variable, Assignment])
    clock_counts: Counter[str] = field(default_factory=Counter[str])
    gated: list[tuple[Expr, Expr, Expr | None]] = field(default_factory=list[tuple[Expr, Expr, Expr | None]])

    def body(self, clause: Clause) -> Any:
        return clause.body.__get__(self.follower.component)

    def samples(self, name: str, trigger: Trigger, actions: tuple[Action, ...], place: Origin) -> list[TimeEvent]:
        """The clocks among the conditions of a ``when`` that has been read."""
        return [TimeEvent(first, actions, period, only, name, trigger.priority, place) for first, period, only in self.gated]

    def branches(self, name: str, trigger: Trigger, actions: tuple[Action, ...], place: Origin) -> dict[str, Branch | None]:
        """What a ``when`` says: a branch for each element where an array of conditions meets arrays of its shape; else one, for the empty name.

        None stands for a branch that has nothing but clocks.
        """
        what = f"the condition of {name}"
        conditions, shape = self.follower.conditions(trigger.conditions, what, trigger.origin)
        self.gated = []
        found: list[Expr] = []
        for condition in conditions:
            clock, rest = _clock_in(condition, self.follower.samples)
            if clock is None:
                found.append(condition)
            else:
                self.gated.append((*self.follower.samples[clock], rest))
        conditions = tuple(found)
        if not conditions and self.follower.samples:
            return {"": None}
        _refuse_nested(conditions, self.follower.samples, what, self.follower.placed(trigger.origin))
        constant = next((item for item in conditions if item.is_constant), None)
        if constant is not None or not conditions:
            value = "missing" if constant is None else "always true" if constant.value else "never true"
            raise UsageError(f"{what} is {value}", origin=self.follower.placed(trigger.origin), hint="it must contain time or a variable")
        parts = [self._part(action, shape) for action in actions]
        if all(part is None for part in parts):
            return {"": Branch(conditions, actions, name, place, trigger.at_start)}
        branches: dict[str, Branch | None] = {}
        for k, (element, condition) in enumerate(zip(element_names("", shape), conditions, strict=True)):
            own = tuple(action for action, part in zip(actions, parts, strict=True) if part in (None, k))
            branches[element] = Branch((condition,), own, f"{name}{element}", place, trigger.at_start)
        return branches

    def _part(self, action: Action, shape: tuple[int, ...]) -> int | None:
        """Which element of a shape an action assigns to; None if it does something else."""
        found = self.follower.parts.get(action) if shape and isinstance(action, Assignment) else None
        return None if found is None or found[0] != shape else found[1]

    def times(self, name: str, trigger: Trigger, actions: tuple[Action, ...], place: Origin) -> list[TimeEvent]:
        what, origin = f"the time of {name}", trigger.origin
        given = [self.follower.value(item, origin) for item in trigger.times]
        firsts = [as_real(item) for one in given for item in elements(one, what, self.follower.placed(origin))]
        period = None if trigger.kind == "at" else self.follower.number(trigger.period, f"the period of {name}", origin)
        read = {item for item in (dependencies(period) if period is not None else ()) if item.data.role is Role.DISCRETE}
        events: list[TimeEvent] = []
        for first in firsts:
            if period is not None and read:
                events += self._varying_clock(TimeEvent(first, actions, period, label=name, priority=trigger.priority, origin=place), read)
            else:
                events.append(TimeEvent(first, actions, period, label=name, priority=trigger.priority, origin=place))
        return events

    def _varying_clock(self, event: TimeEvent, read: set[Expr]) -> list[TimeEvent]:
        """A clock whose period discrete variables change: its next time is one too, set at every tick from the period that the tick leaves behind."""
        number = self.clock_counts[event.label]
        self.clock_counts[event.label] += 1
        name = f"next({event.label})" if not number else f"next({event.label}, {number + 1})"
        following = symbol(Role.DISCRETE, name)
        assert event.period is not None
        (period,) = substitute([event.period], {item: symbol(Role.NEXT, item.data.name) for item in read})
        now = symbol(Role.TIME, "time")
        missed = -node("floor", (_HARDLY - (now - event.first) / event.period,))
        start = select(now > event.first, event.first + missed * event.period, event.first)
        described = f"next time of {event.label}"
        self.clocks[Variable(name, VariableRole.DISCRETE, description=described, origin=event.origin, is_hidden=True)] = Assignment(
            following, start, event.origin
        )
        advance = Assignment(following, following + period, event.origin)
        event = replace(event, first=following, period=None)
        return [replace(event, repeats=True), replace(event, actions=(advance,), label="")]


def _head_name(clause: Clause, clauses: Mapping[str, Clause]) -> str:
    """The name of the chain's first clause; a subclass may have put its own in that place."""
    head = clause.head
    known = next((name for name, item in clauses.items() if item is head), None)
    if known is not None:
        return known
    if head.name not in clauses:
        raise UsageError(f"{clause.name} follows {head.name} with elsewhen, but {head.name} is no clause of this component", origin=clause.origin)
    return head.name


def _clock_in(condition: Expr, samples: Mapping[Expr, Any]) -> tuple[Expr | None, Expr | None]:
    """The mark of a clock that stands alone or is joined by ``&`` with what must hold at its ticks, and that; no mark for any other condition."""
    waiting, parts = [condition], list[Expr]()
    while waiting:
        item = waiting.pop()
        if item.op == "and":
            waiting.extend(item.args)
        else:
            parts.append(item)
    clocks = [item for item in parts if item in samples]
    rest = [item for item in parts if item not in samples]
    if len(clocks) != 1 or dependencies(*rest) & dependencies(*samples):
        return None, None
    only: Expr | None = None
    for item in reversed(rest):
        only = item if only is None else only & item
    return clocks[0], only


def _refuse_nested(conditions: Iterable[Expr], samples: Mapping[Expr, Any], what: str, place: Origin) -> None:
    marks = dependencies(*samples)
    if marks and any(dependencies(item) & marks for item in conditions):
        raise UsageError(
            f"{what} has tg.sample inside a larger condition",
            origin=place,
            hint="write it as a condition by itself, or with & and what must hold at its ticks: tg.sample(0, 0.5) & (self.x > 1)",
        )


def _require_an_instant(clause: Clause, name: str, place: Origin) -> None:
    outside = ("at the start" if item.at_start else item.kind for item in clause.triggers if item.at_start or item.kind in ("initially", "finally"))
    wrong = next(outside, None)
    if wrong is not None:
        raise UsageError(
            f"{name} yields an equation, but happens {wrong}",
            origin=place,
            hint="return {self.x: value}, which is carried out there; equations hold at instants within a run",
        )


def read_agenda(clauses: Mapping[str, Clause], follower: Follower) -> Agenda:
    """Follow every clause of a component.

    Parameters
    ----------
    clauses : in the order of the class; a chain of ``when`` and ``elsewhen`` keeps this order.
    follower : knows the component.
    """
    reader = _ClauseReader(clauses, follower)
    chains: dict[str, list[Branch]] = {}
    leaders: dict[str, tuple[int, Origin]] = {}
    shapes: dict[str, tuple[str, ...]] = {}
    time_events: list[TimeEvent] = []
    initial: list[Action] = []
    final: list[Action] = []
    bodies: dict[str, Body] = {}
    instants: list[Instant] = []
    for name, clause in clauses.items():
        place = follower.placed(clause.origin)
        actions = follower.actions(reader.body(clause), name, place)
        if name in follower.yielded and all(trigger.kind == "initially" for trigger in clause.triggers):
            follower.initial += follower.yielded[name]
        elif name in follower.yielded:
            instants.append(Instant(name, active(name), determined(name, follower.yielded[name], place), place))
            actions = (*actions, Assignment(active(name), ONE, place))
            _require_an_instant(clause, name, place)
        triggers: set[object] = set()
        in_chain = name
        for trigger in clause.triggers:
            if trigger.kind == "when":
                head = _head_name(clause, clauses)
                given = reader.branches(name, trigger, actions, place)
                clocks = reader.samples(name, trigger, actions, place)
                time_events.extend(clocks)
                triggers.update((event.first, event.period) for event in clocks)
                branches = {element: branch for element, branch in given.items() if branch is not None}
                if not branches:
                    continue
                if shapes.setdefault(head, tuple(branches)) != tuple(branches):
                    raise UsageError(
                        f"{name} follows {head} with elsewhen, but only one of them is carried out by element",
                        origin=follower.placed(trigger.origin),
                        hint="give both a condition that is an array of one shape and let both assign to arrays of it, or end the chain",
                    )
                for element, branch in branches.items():
                    leaders.setdefault(f"{head}{element}", (trigger.priority, place))
                    chains.setdefault(f"{head}{element}", []).append(branch)
                    if element:
                        bodies[branch.label] = Body(branch.label, f"{head}{element}", branch.actions, frozenset(branch.conditions), place)
                if "" in branches:
                    in_chain = head
                    triggers.update(branches[""].conditions)
            elif trigger.kind == "initially":
                initial.extend(actions)
            elif trigger.kind == "finally":
                final.extend(actions)
            else:
                found = reader.times(name, trigger, actions, place)
                time_events.extend(found)
                triggers.update((event.first, event.period) for event in found)
        if triggers:
            bodies[name] = Body(name, in_chain, actions, frozenset(triggers), place)
    whens = tuple(When(tuple(branches), *leaders[chain]) for chain, branches in chains.items())
    initial = [*with_starts_of(initial, (branch for several in chains.values() for branch in several)), *reader.clocks.values()]
    return Agenda(whens, tuple(time_events), tuple(initial), tuple(final), bodies, tuple(reader.clocks), tuple(instants))
