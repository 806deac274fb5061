"""What flows, put together as a neutral model (stage: front end, its last step).

Bodies and conditions are followed once, and again when what they read of their surroundings has changed or others take part. What was found to change
becomes a discrete variable, so that the next change needs no other model: numbers that bodies read, and which variables and bodies take part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UntraceableError
from tidegate.expressions import Expr, Role, as_expr, symbol, walk
from tidegate.expressions.tracing import Reads
from tidegate.frontends.processes.flows import Continuous, Parameter, Variable
from tidegate.frontends.processes.follow import FollowedBodies, FollowedCondition, Kind, Symbols, follow_bodies, follow_condition, kind_of
from tidegate.frontends.processes.surroundings import Number, is_number
from tidegate.model import Branch, Equation, Form, Model, Terminate, VariableRole, When
from tidegate.model import Variable as ModelVariable

__all__ = ["Composer", "Composition"]

_Place = tuple[Any, int]


@dataclass(frozen=True, eq=False)
class Composition:
    """One way in which what flows is put together.

    Parameters
    ----------
    model : of it.
    states : the variables that are its states.
    held : its discrete variables, each with its position.
    is_pure : bodies set rates and nothing else.
    """

    model: Model
    states: tuple[Variable, ...]
    held: Mapping[Expr, int]
    is_pure: bool


class Composer:
    """Makes models of what flows at the time.

    Parameters
    ----------
    environment : whose time bodies and conditions read.
    variables, parameters, bodies : all there are; they may become more.
    """

    def __init__(self, environment: Any, variables: Sequence[Variable], parameters: Sequence[Parameter], bodies: Sequence[Continuous]) -> None:
        self._variables, self._all_bodies = variables, bodies
        self._symbols = Symbols(environment, variables, parameters)
        self._switched: frozenset[Any] = frozenset()
        self._constant: set[tuple[int, str]] = set()  # numbers that must be known when a body is followed
        self._fixed_kinds: set[Any] = set()  # of conditions whose numbers must be known
        self._regroupings = self._changes = 0
        self._followed: tuple[Any, FollowedBodies] | None = None
        self._places: dict[_Place, tuple[Any, FollowedCondition]] = {}
        self._waits: dict[Any, _Place] = {}
        self._known: dict[Any, Composition] = {}

    @property
    def n_compositions(self) -> int:
        """How many there have been."""
        return len(self._known)

    def compose(self, motion: Any) -> Composition:
        """The composition for what takes part and waits now.

        Raises
        ------
        UntraceableError : something of it cannot be followed.
        """
        while True:
            bodies = self._bodies(motion)
            self._conditions(motion, bodies)
            if self._followed is not None:
                break
        conditions = [followed for _, followed in self._places.values()]
        key = (tuple(bodies.rates.items()), tuple(followed.truth for followed in conditions))
        if key not in self._known:
            self._known[key] = _composition(bodies, conditions)
        return self._known[key]

    def values(self, motion: Any, composition: Composition) -> NDArray[np.float64]:
        """What the discrete variables of a composition are now."""
        symbols, held = self._symbols, composition.held
        values = np.full(len(held), np.nan)

        def put(item: Expr | None, value: float) -> None:
            at = None if item is None else held.get(item)
            if at is not None:
                values[at] = value

        for parameter in symbols.parameters:
            put(symbols.known(parameter), parameter.value)
        for number in symbols.numbers.values():
            put(symbols.known(number.key), number.get())
        for variable in self._variables:
            put(symbols.known(variable), variable.state)
        for item in self._switched:
            put(symbols.known(("running", item)), item in (motion.variables if isinstance(item, Variable) else motion.bodies))
        for _, followed in self._places.values():
            put(followed.armed, 0.0)
            for number in followed.numbers:
                put(number, 0.0)
        for wait, place in self._waits.items():
            followed = self._places[place][1]
            put(followed.armed, 1.0)
            for number, get in followed.numbers.items():
                put(number, get(wait.process.condition))
        assert not np.isnan(values).any() or any(math.isnan(item.state) for item in self._variables), "a symbol has no value"
        return values

    def waiting_at(self, label: str) -> Any:
        """Who waits where the clause of this name is; None for nobody."""
        return next((wait for wait, place in self._waits.items() if self._places[place][1].armed.data.name == label), None)

    # -- bodies

    def _bodies(self, motion: Any) -> FollowedBodies:
        active = tuple(motion.bodies)
        states = self._states(motion)
        if self._followed is not None:
            (old_states, order), followed = self._followed
            if old_states == states and self._is_like(order, active):
                if not self._has_changed(followed.reads):
                    return followed
            else:
                self._regroupings += 1
        if self._regroupings > 1:
            self._switched |= {*self._all_bodies, *self._variables}
        followed = self._follow_bodies(motion, active)
        self._places.clear()
        return followed

    def _states(self, motion: Any) -> tuple[Variable, ...]:
        return tuple(item for item in self._variables if item in self._switched or item in motion.variables)

    def _is_like(self, order: Sequence[Continuous], active: tuple[Continuous, ...]) -> bool:
        """Whether bodies followed in an order run as the active ones do: those missing have a flag."""
        running = set(active)
        return tuple(body for body in order if body in running) == active and all(body in running or body in self._switched for body in order)

    def _follow_bodies(self, motion: Any, active: tuple[Continuous, ...]) -> FollowedBodies:
        try:
            return self._follow_with(motion, active, self._switched)
        except UntraceableError:
            # perhaps because of one that was never started
            if not self._switched.difference(active, motion.variables):
                raise
            self._switched = frozenset()
            return self._follow_with(motion, active, self._switched)

    def _follow_with(self, motion: Any, active: tuple[Continuous, ...], switched: frozenset[Any]) -> FollowedBodies:
        idle = [body for body in self._all_bodies if body in switched and body not in active]
        order = tuple(sorted((*active, *idle), key=lambda body: -body.priority))
        states = self._states(motion)
        followed = self._with_numbers(lambda: follow_bodies(self._symbols, states, order, switched))
        self._followed = (states, order), followed
        return followed

    # -- numbers of the user's own

    def _has_changed(self, reads: Reads) -> bool:
        """Whether something that was read is not what it was; from the second time on, all numbers have a symbol, not only those that changed."""
        found = list(reads.changes())
        if not found:
            return False
        self._changes += 1
        for place, name in found if self._changes == 1 else reads.places():
            try:
                number = Number(place, name)
                if number.key not in self._constant and is_number(number.get()):
                    self._symbols.numbers.setdefault(number.key, number)
            except (KeyError, TypeError, ValueError):
                continue  # of a class, or a default: followed anew when it changes
        return True

    def _with_numbers[T](self, follow: Callable[[], T]) -> T:
        """What following gives; where a number must be known, as one that counts, all of them are constants again."""
        try:
            return follow()
        except UntraceableError:
            if not self._symbols.numbers:
                raise
            self._constant |= set(self._symbols.numbers)
            self._symbols.numbers.clear()
            self._places.clear()
            self._followed = None  # what was followed before may hold their symbols
            return follow()

    # -- conditions

    def _conditions(self, motion: Any, bodies: FollowedBodies) -> None:
        """A place for everyone who waits; places of earlier waits stay for later ones."""
        self._waits, taken = {}, set[_Place]()
        for wait in motion.waiting:
            kind = kind_of(wait.process.condition)
            if kind.key in self._fixed_kinds:
                kind = kind_of(wait.process.condition, has_numbers=False)
            place = next((kind.key, k) for k in range(len(taken) + 1) if (kind.key, k) not in taken)
            known = self._places.get(place)
            if known is None or self._has_changed(known[1].reads):
                place = self._follow_condition(motion, kind, place, bodies)
            taken.add(place)
            self._waits[wait] = place

    def _follow_condition(self, motion: Any, kind: Kind, place: _Place, bodies: FollowedBodies) -> _Place:
        states = set(self._states(motion))
        try:
            followed = self._with_numbers(lambda: follow_condition(self._symbols, kind, place[1], states.__contains__, bodies.rates))
        except UntraceableError:
            if not kind.cells:
                raise
            self._fixed_kinds.add(kind.key)
            fixed = kind_of(kind.condition, has_numbers=False)
            place = (fixed.key, 0)
            followed = self._with_numbers(lambda: follow_condition(self._symbols, fixed, 0, states.__contains__, bodies.rates))
        self._places[place] = (kind.condition, followed)
        return place


def _composition(bodies: FollowedBodies, conditions: Sequence[FollowedCondition]) -> Composition:
    states = tuple(bodies.rates)
    clauses = [item for item in conditions if item.truth is not None]
    truths = [(item.armed != 0) & item.truth for item in clauses]
    found = walk([*bodies.rates.values(), *truths])
    held = sorted({item for item in found if item.op == "symbol" and item.data.role is Role.DISCRETE}, key=lambda item: item.data.name)
    origins = dict(bodies.origins)
    for item in clauses:
        origins.update(item.origins)
    variables = [ModelVariable(item.name, VariableRole.STATE, unit=item.unit, start=(as_expr(float(item.state)),)) for item in states]
    model = Model(
        name="processes",
        form=Form.ODE,
        variables=(*variables, *(ModelVariable(item.data.name, VariableRole.DISCRETE, start=(as_expr(0.0),)) for item in held)),
        equations=tuple(Equation(symbol(Role.DERIVATIVE, item.name), rate, label=f"the rate of {item.name}") for item, rate in bodies.rates.items()),
        whens=tuple(
            When((Branch((truth,), (Terminate(item.armed.data.name),), item.armed.data.name, item.origin),), origin=item.origin)
            for item, truth in zip(clauses, truths, strict=True)
        ),
        condition_origins=origins,
        check_units=False,
    )
    return Composition(model, states, {item: k for k, item in enumerate(held)}, bodies.is_pure)
