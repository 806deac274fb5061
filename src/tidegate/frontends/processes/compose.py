"""What flows, put together as a neutral model (stage: front end, its last step).

Bodies and conditions are followed once, and again when what they read of their surroundings has changed or others take part. What was found to change
becomes a discrete variable, so that the next change needs no other model: numbers that bodies read, and which variables and bodies take part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UntraceableError
from tidegate.expressions import Expr, Role, as_expr, symbol, walk
from tidegate.expressions.tracing import Reads
from tidegate.frontends.processes.alike import conditions_alike
from tidegate.frontends.processes.flows import Continuous, Parameter, Variable
from tidegate.frontends.processes.follow import FollowedBodies, FollowedCondition, Kind, Symbols, follow_bodies, follow_condition, kind_of
from tidegate.frontends.processes.moved_number import Moved, moves_of, plain
from tidegate.frontends.processes.surroundings import Number, in_symbols, is_number, putting
from tidegate.model import Branch, Equation, Form, Model, Terminate, VariableRole, When
from tidegate.model import Variable as ModelVariable
from tidegate.quick_dataclass import dataclass

__all__ = ["Composer", "Composition", "derivative_by"]

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
    sensitive : names of the parameters by which derivatives are wanted.
    """

    model: Model
    states: tuple[Variable, ...]
    held: Mapping[Expr, int]
    is_pure: bool
    sensitive: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Sources:
    """Where the values of discrete variables come from: positions, and what has the values there."""

    variables: tuple[tuple[int, Variable], ...]
    parameters: Mapping[Parameter, tuple[int, Parameter]]
    numbers: tuple[tuple[int, Number], ...]
    running: tuple[tuple[int, Any], ...]


class _Placed:
    """Somebody who waits, with the place for the condition.

    Attributes
    ----------
    cells : of the condition's closure.
    contents : what it closes over, numbers with a symbol left out: each cell with what is in it.
    followed : what was found of the condition, as long as the composer's generation is this one.
    sources : of the composition for which the rest is known.
    armed : where it is put in the vector of that, that somebody waits; -1 where the model has no clause for the condition.
    numbers : where the numbers of the condition are put, each with its cell and what was in it.
    reads : what else the condition reads of its surroundings; None for nothing.
    """

    __slots__ = ("armed", "cells", "contents", "followed", "generation", "numbers", "place", "reads", "sources")

    def __init__(self, condition: Any, place: _Place, followed: FollowedCondition, generation: int) -> None:
        self.cells: tuple[Any, ...] = getattr(condition, "__closure__", None) or ()
        with_symbols = set(followed.numbers.values())
        self.contents = [(cell, cell.cell_contents) for k, cell in enumerate(self.cells) if k not in with_symbols]
        self.place = place
        self.take(followed, generation)

    def take(self, followed: FollowedCondition, generation: int) -> None:
        """What was found of the condition."""
        self.followed, self.generation = followed, generation
        self.reads = followed.reads or None
        self.sources: _Sources | None = None
        self.armed = -1
        self.numbers: list[list[Any]] = []

    def is_as_before(self, generation: int) -> bool:
        """Whether nothing has changed that decides about the place."""
        if self.generation != generation:
            return False
        for cell, content in self.contents:  # noqa: SIM110 - asked of all who wait at every event, and half as dear so
            if cell.cell_contents is not content:
                return False
        return True

    def find_positions(self, sources: _Sources, held: Mapping[Expr, int]) -> None:
        """For another composition."""
        self.sources, self.armed = sources, held.get(self.followed.armed, -1)
        numbers = self.followed.numbers.items() if self.armed >= 0 else ()
        self.numbers = [[held[number], self.cells[k], None] for number, k in numbers if number in held]


class Composer:
    """Makes models of what flows at the time.

    Parameters
    ----------
    environment : whose time bodies and conditions read.
    variables, parameters, bodies : all there are; they may become more.
    generators : of the processes that live.
    sensitive : names of the parameters by which derivatives are wanted; they may become more.

    Attributes
    ----------
    before_following : called before bodies and conditions are followed.
    armed : positions of the discrete variables that say that somebody waits.
    """

    def __init__(
        self,
        environment: Any,
        variables: Sequence[Variable],
        parameters: Sequence[Parameter],
        bodies: Sequence[Continuous],
        generators: Callable[[], Iterable[Any]],
        sensitive: Sequence[str] = (),
    ) -> None:
        self._sensitive = sensitive
        self._variables, self._all_bodies, self._generators = variables, bodies, generators
        self._symbols = Symbols(environment, variables, parameters)
        self._switched: frozenset[Any] = frozenset()
        self._constant: set[tuple[int, str]] = set()  # numbers that must be known when a body is followed
        self._fixed_kinds: set[Any] = set()  # of conditions whose numbers must be known
        self._regroupings = self._changes = 0
        self._followed: tuple[Any, FollowedBodies] | None = None
        self._places: dict[_Place, tuple[Any, FollowedCondition]] = {}
        self._codes: dict[Any, set[Any]] = {}  # of conditions, with the kinds that have come
        self._known: dict[Any, Composition] = {}
        self._sources: dict[Composition, _Sources] = {}
        self.before_following: Callable[[], None] = lambda: None
        self._last: Composition | None = None  # None where something is not as it was when it was made
        self._seen: Any = None
        self._filled: _Sources | None = None  # the composition whose values are kept
        self._running: Any = None
        self.armed: list[int] = []
        self._changed: dict[Parameter, None] = {}
        self._standing: tuple[Composition | None, int, list[Variable]] | None = None
        self._placed: dict[Any, _Placed] = {}  # who waits
        self._generation = 0  # of places

    def note_change(self, parameter: Parameter) -> None:
        """A parameter has been set."""
        self._changed[parameter] = None

    def set_parameters(self) -> tuple[Parameter, ...]:
        """Those that have been set since their values were put."""
        return tuple(self._changed)

    def standing(self) -> list[Variable]:
        """Variables that are no states of the last composition."""
        if self._standing is None or self._standing[:2] != (self._last, len(self._variables)):
            flowing = frozenset[Variable](() if self._last is None else self._last.states)
            self._standing = self._last, len(self._variables), [variable for variable in self._variables if variable not in flowing]
        return self._standing[2]

    def set_names(self) -> list[str]:
        """Names of parameters, and of what bodies read, that have been set since the period began."""
        read = [] if self._followed is None else [name for _, name in self._followed[1].reads.changes()]
        return [parameter.name for parameter in self._changed] + read

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
        sensitive = tuple(self._sensitive)
        if self._last is not None and self._last.sensitive == sensitive:
            return self._last
        conditions = [followed for _, followed in self._places.values()]
        key = (tuple(bodies.rates.items()), tuple(followed.truth for followed in conditions), sensitive)
        if key not in self._known:
            self._known[key] = _composition(bodies, conditions, sensitive)
        self._last = self._known[key]
        self._sources[self._last] = self._sources_of(self._last)
        for parameter in self._symbols.parameters:
            parameter.changed = self.note_change
        return self._last

    def put_values(self, motion: Any, composition: Composition, values: NDArray[np.float64]) -> tuple[Parameter, ...]:
        """Put what the discrete variables of a composition are now in place of what they were when this was called before.

        Parameters
        ----------
        values : of the same composition, zeros the first time.

        Returns
        -------
        The parameters that have been set.
        """
        sources, held = self._sources[composition], composition.held
        if sources is not self._filled:
            # another composition was there before
            self._filled, self._running, self.armed, values[:] = sources, None, [], 0.0
            self._changed |= dict.fromkeys(parameter for _, parameter in sources.parameters.values())
        for parameter in self._changed:
            if parameter in sources.parameters:
                values[sources.parameters[parameter][0]] = plain(parameter.value)
        changed, self._changed = tuple(self._changed), {}
        for at, variable in sources.variables:
            values[at] = plain(variable.state)
        for at, number in sources.numbers:
            values[at] = plain(number.get())
        if self._running != self._seen:
            self._running = self._seen
            for at, item in sources.running:
                values[at] = item in (motion.variables if isinstance(item, Variable) else motion.bodies)
        armed: list[int] = []
        for placed in self._placed.values():
            if placed.sources is not sources:
                placed.find_positions(sources, held)
            if placed.armed >= 0:
                armed.append(placed.armed)
                for entry in placed.numbers:
                    value = entry[1].cell_contents
                    if value is not entry[2]:
                        entry[2] = value
                        values[entry[0]] = plain(value)
        if armed != self.armed:
            _put(values, self.armed, 0.0)
            _put(values, armed, 1.0)
            self.armed = armed
        return changed

    def called_rates(self, motion: Any) -> dict[Variable, float]:
        """Rates of the variables that take part, by calling the bodies with numbers that carry no derivatives."""
        symbols = self._symbols
        self.before_following()
        states = {variable: plain(variable.state) for variable in self._variables}
        values = {parameter: plain(parameter.value) for parameter in symbols.parameters}
        numbers = {number: plain(number.get()) for number in symbols.numbers.values()}
        with putting(numbers), in_symbols(symbols.environment, states, values, plain(symbols.environment.now)):
            for body in motion.bodies:
                body.function()
            return {track.variable: track.variable.rate for track in motion.variables}

    def slopes(self, composition: Composition) -> NDArray[np.float64]:
        """How the discrete variables move with parameters now, (parameters, variables)."""
        names, held, sources = composition.sensitive, composition.held, self._sources[composition]
        found = np.zeros((len(names), len(held)))

        def put(at: int, value: Any) -> None:
            for name, slope in moves_of(value).items():
                found[names.index(name), at] = slope

        for at, variable in sources.variables:
            put(at, variable.state)
        for at, parameter in sources.parameters.values():
            put(at, parameter.value)
        for at, number in sources.numbers:
            put(at, number.get())
        for placed in self._placed.values():
            for number, k in placed.followed.numbers.items():
                if number in held:
                    put(held[number], placed.cells[k].cell_contents)
        return found

    def _sources_of(self, composition: Composition) -> _Sources:
        symbols, held = self._symbols, composition.held

        def positions(items: Iterable[Any], key: Callable[[Any], Any]) -> tuple[tuple[int, Any], ...]:
            known = ((symbols.known(key(item)), item) for item in items)
            return tuple((held[expression], item) for expression, item in known if expression is not None and expression in held)

        sources = _Sources(
            positions(self._variables, lambda item: item),
            {item: (at, item) for at, item in positions(symbols.parameters, lambda item: item)},
            positions(symbols.numbers.values(), lambda item: item.key),
            positions(self._switched, lambda item: ("running", item)),
        )
        found = {at for some in (sources.variables, sources.parameters.values(), sources.numbers, sources.running) for at, _ in some}
        for _, followed in self._places.values():
            found.update(held[item] for item in (followed.armed, *followed.numbers) if item in held)
        if len(found) < len(held):
            lost = [item.data.name for item, at in held.items() if at not in found]
            raise AssertionError(f"nothing has the values of {lost}")
        return sources

    def unwatched(self) -> list[Any]:
        """Those who wait, in their order, for whom the model has no clause."""
        return [wait for wait, placed in self._placed.items() if placed.followed.truth is None]

    def waiting_at(self, label: str) -> Any:
        """Who waits where the clause of this name is; None for nobody."""
        return next((wait for wait, placed in self._placed.items() if placed.followed.armed.data.name == label), None)

    # -- bodies

    def _bodies(self, motion: Any) -> FollowedBodies:
        seen, before = (motion.bodies.changes, motion.variables.changes, len(self._variables), len(self._all_bodies)), self._seen
        self._seen = seen
        if before == seen and self._followed is not None and not self._has_changed(self._followed[1].reads):
            return self._followed[1]
        active = tuple(motion.bodies)
        states = self._states(motion)
        if self._followed is not None and before != seen:
            (old_states, order), followed = self._followed
            if old_states == states and self._is_like(order, active):
                if not self._has_changed(followed.reads):
                    return followed
            else:
                self._regroupings += 1
        if self._regroupings > 1:
            self._switched |= {*self._all_bodies, *self._variables}
        followed = self._follow_bodies(motion, active)
        self._forget_places()
        return followed

    def _forget_places(self) -> None:
        self._places.clear()
        self._placed.clear()
        self._generation += 1
        self._last = None

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
        if reads.are_as_before():
            return False
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
        self.before_following()
        try:
            return follow()
        except UntraceableError:
            moving = [Number(place, name) for place, name in self._symbols.reads.places() if _is_moved(place, name)]
            if moving:
                # a number that moves with parameters is none that is known when a body is followed
                self._symbols.numbers |= {number.key: number for number in moving}
                return follow()
            if not self._symbols.numbers:
                raise
            self._constant |= set(self._symbols.numbers)
            self._symbols.numbers.clear()
            self._forget_places()
            self._followed = None  # what was followed before may hold their symbols
            return follow()

    # -- conditions

    def _conditions(self, motion: Any, bodies: FollowedBodies) -> None:
        """A place for everyone who waits; places of earlier waits stay for later ones."""
        before, generation = self._placed, self._generation
        self._placed = now = dict[Any, _Placed]()
        taken: set[_Place] | None = None  # as long as all who wait have waited before, no two of them have the same place
        for wait in motion.waiting:
            known = before.get(wait)
            if known is not None and known.is_as_before(self._generation) and (taken is None or known.place not in taken):
                reads = known.reads
                if reads is None or not self._has_changed(reads):
                    if taken is not None:
                        taken.add(known.place)
                    now[wait] = known
                    continue
            if taken is None:
                taken = {placed.place for placed in now.values()}
            place = known.place if known is not None and known.is_as_before(self._generation) and known.place not in taken else None
            self._put_in_place(motion, wait, place, taken, bodies)
        if generation != self._generation and self._followed is not None:
            # somebody's place was followed anew, perhaps for another
            for placed in self._placed.values():
                placed.take(self._places[placed.place][1], self._generation)

    def _put_in_place(self, motion: Any, wait: Any, place: _Place | None, taken: set[_Place], bodies: FollowedBodies) -> None:
        """Find the place of somebody who waits, the one kept for the condition if it has one, and follow the condition there if need be."""
        condition = wait.process.condition
        must_follow = place is not None  # it was followed there, and what it reads has changed since
        if place is None:
            place = self._place(condition, taken)
        entry = self._places.get(place)
        if entry is None or must_follow or (entry[1].reads and self._has_changed(entry[1].reads)):
            kind = kind_of(condition, has_numbers=place[0] not in self._fixed_kinds)
            place = self._follow_condition(motion, kind, place, bodies)
            if entry is None and self._followed is not None:
                self._foresee(motion, kind, bodies)
        taken.add(place)
        followed = self._places.get(place)
        if followed is not None:  # None where all are to be followed anew
            self._placed[wait] = _Placed(condition, place, followed[1], self._generation)

    def _place(self, condition: Any, taken: set[_Place]) -> _Place:
        """A place that nobody has, for conditions of this kind."""
        kind = kind_of(condition)
        if kind.key in self._fixed_kinds:
            kind = kind_of(condition, has_numbers=False)
        return next((kind.key, k) for k in range(len(taken) + 1) if (kind.key, k) not in taken)

    def _foresee(self, motion: Any, kind: Kind, bodies: FollowedBodies) -> None:
        """Places for conditions like one that is new, for whoever else may wait for them."""
        condition: Any = kind.condition
        codes = self._codes.setdefault(getattr(condition, "__code__", condition), set())
        codes.add(kind.key)
        for other in conditions_alike(condition, self._variables, self._generators(), with_any_variable=len(codes) > 1):
            like = kind_of(other)
            if (like.key, 0) not in self._places and like.key not in self._fixed_kinds:
                try:
                    self._follow_condition(motion, like, (like.key, 0), bodies)
                except UntraceableError:
                    continue

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
        if place in self._places:
            self._generation += 1
        self._places[place] = (kind.condition, followed)
        self._last = None
        return place


def derivative_by(name: str) -> str:
    """The model's parameter that stands for one of the environment: nothing reads it, and derivatives by it are set at events."""
    return f"d/d {name}"


def _is_moved(place: Any, name: str) -> bool:
    try:
        return isinstance(Number(place, name).get(), Moved)
    except (KeyError, TypeError, ValueError):
        return False


def _composition(bodies: FollowedBodies, conditions: Sequence[FollowedCondition], sensitive: tuple[str, ...]) -> Composition:
    states = tuple(bodies.rates)
    clauses = [item for item in conditions if item.truth is not None]
    truths = [(item.armed != 0) & item.truth for item in clauses]
    found = walk([*bodies.rates.values(), *truths])
    held = sorted({item for item in found if item.op == "symbol" and item.data.role is Role.DISCRETE}, key=lambda item: item.data.name)
    origins = dict(bodies.origins)
    for item in clauses:
        origins.update(item.origins)
    variables = [ModelVariable(item.name, VariableRole.STATE, unit=item.unit, start=(as_expr(float(plain(item.state))),)) for item in states]
    model = Model(
        name="processes",
        form=Form.ODE,
        variables=(
            *variables,
            *(ModelVariable(item.data.name, VariableRole.DISCRETE, start=(as_expr(0.0),)) for item in held),
            *(ModelVariable(derivative_by(name), VariableRole.PARAMETER, start=(as_expr(0.0),)) for name in sensitive),
        ),
        equations=tuple(Equation(symbol(Role.DERIVATIVE, item.name), rate, label=f"the rate of {item.name}") for item, rate in bodies.rates.items()),
        whens=tuple(
            When((Branch((truth,), (Terminate(item.armed.data.name),), item.armed.data.name, item.origin),), origin=item.origin)
            for item, truth in zip(clauses, truths, strict=True)
        ),
        condition_origins=origins,
        check_units=False,
    )
    return Composition(model, states, {item: k for k, item in enumerate(held)}, bodies.is_pure, sensitive)


def _put(values: NDArray[np.float64], positions: list[int], number: float) -> None:
    """One by one: a list as an index costs as much as fifty numbers, whatever its length."""
    for at in positions:
        values[at] = number
