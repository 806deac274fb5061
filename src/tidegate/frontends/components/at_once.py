"""What clauses of one instant see of each other (front end of components: the system and its agenda go in, replacements for each body come out).

Right-hand sides are values before the event, but an equation holds at every instant: a body that reads ``y`` of ``y == sin(d)`` reads it with the
value that another clause of the same instant gives to ``d`` (Modelica 8.6: at an event the equations are solved together). Assignments that would
need each other's new values so, in a circle, all see the values before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from tidegate.errors import ModelError
from tidegate.expressions import FALSE, ZERO, Expr, Role, dependencies, select, symbol
from tidegate.expressions.differentiate import differentiate
from tidegate.expressions.substitute import substitute
from tidegate.frontends.components.agenda import Agenda, Body
from tidegate.frontends.components.equalities import Equality
from tidegate.frontends.components.instants import AtInstants
from tidegate.model import Assignment
from tidegate.names import users_name
from tidegate.quick_dataclass import dataclass

__all__ = ["Followers", "equations_at_once", "resolve"]

_FREE = frozenset({Role.UNKNOWN, Role.DERIVATIVE})


def resolve(values: Mapping[Expr, Expr]) -> tuple[dict[Expr, Expr], set[Expr]]:
    """Put definitions into each other until none is left in them; those that go in a circle are the second answer."""
    resolved: dict[Expr, Expr] = {}
    waiting = dict(values)
    while waiting:
        ready = [item for item, value in waiting.items() if not any(used in waiting for used in dependencies(value))]
        if not ready:
            return resolved, set(waiting)
        new = substitute([waiting[item] for item in ready], resolved)
        resolved.update(zip(ready, new, strict=True))
        waiting = {item: value for item, value in waiting.items() if item not in resolved}
    return resolved, set()


@dataclass(frozen=True, eq=False)
class Followers:
    """What follows from equations when states and discrete variables are known.

    Parameters
    ----------
    values : symbol of an output, algebraic variable or derivative -> its value, where an equation can be solved for it alone.
    tied : symbol of any other -> the discrete variables in the equations it is solved from together with others.
    """

    values: Mapping[Expr, Expr]
    tied: Mapping[Expr, frozenset[Expr]]

    @classmethod
    def of(cls, known: Mapping[Expr, Expr], equalities: Iterable[Equality], states: Iterable[Expr]) -> Followers:
        """Solve what can be solved alone.

        Parameters
        ----------
        known : outputs and explicit derivatives, resolved.
        equalities : the other equations.
        states : symbols of the states.
        """
        held = set(states)
        explicit = dict(known)
        rest: list[Equality] = []
        for item in equalities:
            is_free = item.left.op == "symbol" and item.left.data.role in _FREE and item.left not in held
            if is_free and item.left not in explicit and item.left not in dependencies(item.right):
                explicit[item.left] = item.right
            else:
                rest.append(item)
        resolved, circular = resolve(explicit)
        rest += [Equality(item, explicit[item]) for item in circular]
        resolved, residuals = _solve_alone(resolved, [item.residual for item in rest], held)
        return cls(resolved, _tied(residuals, held))


def _free(residual: Expr, held: set[Expr]) -> list[Expr]:
    return [item for item in dependencies(residual) if item.data.role in _FREE and item not in held]


def _solve_alone(resolved: dict[Expr, Expr], residuals: list[Expr], held: set[Expr]) -> tuple[dict[Expr, Expr], list[Expr]]:
    """Solve residuals with one free symbol, linear with a number as its coefficient, for it, and put that in, until there are none."""
    residuals = substitute(residuals, resolved)
    while True:
        for residual in residuals:
            free = _free(residual, held)
            slope = differentiate(residual, free[0]) if len(free) == 1 else ZERO
            if slope.op == "const" and slope.value != 0.0:
                found = {free[0]: -substitute([residual], {free[0]: ZERO})[0] / slope}
                break
        else:
            return resolved, residuals
        residuals = substitute([item for item in residuals if item is not residual], found)
        resolved = dict(zip(resolved, substitute(resolved.values(), found), strict=True)) | found


def _tied(residuals: Iterable[Expr], held: set[Expr]) -> dict[Expr, frozenset[Expr]]:
    groups: list[tuple[set[Expr], set[Expr]]] = []
    for residual in residuals:
        free = set(_free(residual, held))
        discrete = {item for item in dependencies(residual) if item.data.role is Role.DISCRETE}
        for other in [group for group in groups if group[0] & free]:
            groups.remove(other)
            free |= other[0]
            discrete |= other[1]
        groups.append((free, discrete))
    return {item: frozenset(discrete) for free, discrete in groups for item in free}


_Step = tuple[str, str]  # the chain of a clause, and the name of what is assigned to; "" for what it says


@dataclass(eq=False)
class _Instant:
    """The bodies of a component, and which chains write which discrete variable.

    Parameters
    ----------
    determined : what says that a clause determines an unknown -> this; the clause sees it as it was.
    assigned : unknowns that clauses give values to, which others see as they were -> that one does so in this round.
    unnamed : what clauses of no body write, which keep what such equations have found.
    """

    bodies: Mapping[str, Body]
    followers: Followers
    determined: Mapping[Expr, Expr]
    assigned: Mapping[Expr, Expr]
    unnamed: Collection[Expr]

    def __post_init__(self) -> None:
        self.writers: dict[Expr, set[str]] = {target: {""} for target in self.unnamed}
        for body in self.bodies.values():
            for target in body.targets:
                if target.data.role is Role.DISCRETE:
                    self.writers.setdefault(target, set()).add(body.chain)
        self.needs: dict[_Step, set[_Step]] = {}
        for body in self.bodies.values():
            for target, value in _steps(body):
                found = {*self._others(body, self._moving(value)), *self._asked_for(value)} & self.writers.keys()
                self.needs.setdefault(_step(body, target), set()).update((chain, d.data.name) for d in found for chain in self.writers[d])

    def _moving(self, value: Expr) -> set[Expr]:
        """The discrete variables whose new values an expression depends on through equations."""
        reads = dependencies(value)
        follows = dependencies(*(self.followers.values[item] for item in reads & self.followers.values.keys()))
        return set(follows).union(*(self.followers.tied[item] for item in (reads | follows) & self.followers.tied.keys()))

    def _asked_for(self, value: Expr) -> set[Expr]:
        """Those whose new values it asks for, by name or by the name of what follows from them."""
        found: set[Expr] = set()
        for item in _new_values(value):
            own = symbol(Role.UNKNOWN, item.data.name)
            found |= dependencies(self.followers.values[own]) if own in self.followers.values else {symbol(Role.DISCRETE, item.data.name)}
        return found

    def _others(self, body: Body, discretes: Iterable[Expr]) -> list[Expr]:
        """Those that clauses write which can happen beside this one, and not this one too."""
        return [d for d in discretes if d not in body.targets and self.writers.get(d, set()) - {body.chain}]

    def _leads_back(self, step: _Step, to: _Step) -> bool:
        seen: set[_Step] = set()
        waiting = [step]
        while waiting:
            here = waiting.pop()
            if here == to:
                return True
            if here not in seen:
                seen.add(here)
                waiting.extend(self.needs.get(here, ()))
        return False

    def replacements(self, body: Body) -> dict[Expr | None, dict[Expr, Expr]]:
        """For each of its assignments: what it reads instead of something that follows from equations."""
        new: dict[Expr | None, dict[Expr, Expr]] = {}
        values = self.followers.values
        held = {values[item]: item for source, item in self.determined.items() if source in body.targets and item in values}
        for target, given in _steps(body):
            own: dict[Expr, Expr] = {}
            for item in dependencies(given) & values.keys():
                (value,) = substitute([values[item]], held)
                others = self._others(body, dependencies(value))
                here = _step(body, target)
                fresh = [d for d in others if not any(self._leads_back((chain, d.data.name), here) for chain in self.writers[d])]
                if fresh:
                    asked = [value, self.assigned.get(item, FALSE)]
                    new_value, is_assigned = substitute(asked, {d: symbol(Role.NEXT, d.data.name) for d in fresh})
                    own[item] = select(is_assigned, item, new_value)
            for item in _new_values(given):
                value = values.get(symbol(Role.UNKNOWN, item.data.name))
                if value is not None:
                    moved = [d for d in dependencies(value) if d.data.role is Role.DISCRETE]
                    (own[item],) = substitute([value], {d: symbol(Role.NEXT, d.data.name) for d in moved})
            if own:
                new[target] = {**new.get(target, {}), **own}
        return new

    def check(self, body: Body) -> None:
        """Refuse what is certain to need a system of equations solved between two bodies of one instant."""
        values = self.followers.values
        tied = next((item for item in _new_values(*_values(body)) if symbol(Role.UNKNOWN, item.data.name) in self.followers.tied), None)
        if tied is not None:
            raise ModelError(
                f"{body.name} samples {tied.data.name}, which follows from a system of equations, and these are solved after it",
                origin=body.origin,
                hint="sample a state, or what follows from states by equations that can be solved one by one",
            )
        asked = [(read, item) for read in body.reads for item in dependencies(values.get(read, read)) & self.followers.tied.keys()]
        for read, item in asked:
            for d in self._others(body, self.followers.tied[item]):
                other = next((b for b in self.bodies.values() if d in b.targets and b.chain != body.chain and b.triggers & body.triggers), None)
                if other is not None and not any(
                    self._leads_back(_step(other, there), _step(body, here)) for there, _ in _steps(other) for here, _ in _steps(body)
                ):
                    name, changed = read.data.name, users_name(d.data.name)
                    follows = "follows" if changed == name else f"follows from {changed}"
                    raise ModelError(
                        f"{body.name} reads {name}, which {follows} through a system of equations, and {other.name} changes {changed} at the same "
                        "instant",
                        origin=body.origin,
                        hint=f"tg.pre(self.{name}) for the value before the event, or an equation that gives {name} alone",
                    )


def _steps(body: Body) -> list[tuple[Expr | None, Expr]]:
    return [(action.target, action.value) if isinstance(action, Assignment) else (None, action.condition) for action in body.actions]


def _values(body: Body) -> list[Expr]:
    return [value for _, value in _steps(body)]


def _new_values(*values: Expr) -> list[Expr]:
    return [item for item in dependencies(*values) if item.data.role is Role.NEXT]


def _step(body: Body, target: Expr | None) -> _Step:
    return body.chain, "" if target is None else target.data.name


def equations_at_once(
    agenda: Agenda, known: Mapping[Expr, Expr], equalities: Iterable[Equality], states: Iterable[Expr], at_instants: AtInstants | None
) -> dict[str, dict[Expr | None, dict[Expr, Expr]]]:
    """For each body by name, and each variable that it assigns to, what stands in it for what other clauses of the instant may move.

    That is outputs, algebraic variables, derivatives, and inputs of blocks that sample.

    Parameters
    ----------
    agenda : as read, outputs still in it.
    known, equalities, states : as for ``Followers.of``, which is asked only if a body reads anything of the kind.
    at_instants : what clauses that yield equations have made of the model.

    Raises
    ------
    ModelError : for a body that certainly needs a value which only a system of equations gives.
    """
    held = set(states)
    writers = {body.chain for body in agenda.bodies.values() if any(target.data.role is Role.DISCRETE for target in body.targets)}
    readers = {body.chain for body in agenda.bodies.values() if any(item.data.role in _FREE and item not in held for item in body.reads)}
    asks = any(item.data.role is Role.NEXT for body in agenda.bodies.values() for item in body.reads)
    if not asks and (not writers or not readers or len(writers | readers) == 1):
        return {}
    determined, assigned = (at_instants.sources, at_instants.assigned) if at_instants is not None else ({}, {})
    unnamed = [action.target for when in agenda.whens for b in when.branches if not b.label for action in b.actions if isinstance(action, Assignment)]
    instant = _Instant(agenda.bodies, Followers.of(known, equalities, held), determined, assigned, unnamed)
    for body in agenda.bodies.values():
        instant.check(body)
    return {name: instant.replacements(body) for name, body in agenda.bodies.items()}
