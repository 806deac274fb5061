"""Following the functions of a component on its symbols (front end of components: methods and lambdas go in, expressions come out)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Final, cast

import numpy as np

from tidegate.errors import ModelError, Origin, UnknownNameError, UntraceableError, UsageError
from tidegate.expressions import Expr, Role, as_boolean, as_expr, as_real, evaluate, fleeting_equality, select, walk
from tidegate.expressions.tracing import Trace, Yielded, function_origin, numbers_of, require_agreement, trace
from tidegate.expressions.tracing.choices import Choice, item_of, number_among, without_choices
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.frontends.components.assertions import Demand
from tidegate.frontends.components.called import CalledAtPoint
from tidegate.frontends.components.compared_before import compared_at, note_compared
from tidegate.frontends.components.connect import Connection
from tidegate.frontends.components.declarations import Declaration, only_variables_of
from tidegate.frontends.components.elements import elements, flat, is_array, place_of, quantity
from tidegate.frontends.components.enabling import Enable
from tidegate.frontends.components.equalities import Equality, make_equality, merge_equalities, read_equalities
from tidegate.frontends.components.initial_equations import InitialEquations
from tidegate.frontends.components.samples import collected_samples
from tidegate.frontends.components.statements import noted_statements
from tidegate.model import Action, Assignment, VariableRole, element_names
from tidegate.model.remarks import collect_remarks, made_when
from tidegate.names import listed, suggestion
from tidegate.quick_dataclass import dataclass

__all__ = ["Follower"]

_Way = Callable[[Mapping[Expr, float]], Any]

_STATEMENTS: Final = (Connection, Demand, Enable, InitialEquations)  # what equations yield beside equations
_STATED: Final = {Connection: "a connection", Demand: "an assertion", Enable: "what is enabled", InitialEquations: "an initial equation"}
_POINTS: Final = 6  # at which one path is compared with all paths; each costs about what following costs
_WORK: Final = 4_000  # nodes times points: a larger graph is compared at fewer points


def _mapping(result: Any, name: str, origin: Origin) -> Mapping[Any, Any]:
    if isinstance(result, Mapping):
        return {place_of(key): value for key, value in cast("Mapping[Any, Any]", without_choices(result, origin)).items()}
    raise ModelError(
        f"{name} returns {result!r}; a dictionary is expected",
        origin=origin,
        hint="return {self.v: new_value}, or nothing after tg.message or tg.terminate",
    )


def _called(function: Any) -> str:
    """How messages name a function of the user."""
    return getattr(function, "__name__", type(function).__name__)


def _inside(text: str) -> str:
    """What stands between the parentheses of a statement."""
    return text.partition("(")[2].rpartition(")")[0] or text


def _several(item: Any) -> list[Any]:
    """What was yielded; of a list what is in it, where these are no equations."""
    found = flat(item) if is_array(item) else [item]
    return found if any(isinstance(one, _STATEMENTS) for one in found) else [item]


def _ended(equations: list[Equality], ends: Sequence[Expr]) -> list[Equality]:
    """Equations that have no solution where the method that yields them raises an exception: it ends the run there."""
    if not ends or not equations:
        return equations
    at = next((k for k, item in enumerate(equations) if item.left.op == "symbol" and item.left.data.role is Role.DERIVATIVE), 0)
    right = equations[at].right
    for condition in ends:
        right = select(condition, math.nan, right)
    return [replace(item, right=right) if k == at else item for k, item in enumerate(equations)]


def _in_order_of_size(values: list[float]) -> list[float]:
    """Residuals, which may come in another order and with the other sign."""
    return sorted(abs(value) for value in values)


def _sizes(found: Sequence[Equality], point: Mapping[Expr, float]) -> list[float]:
    """Residuals at a point."""
    return evaluate([item.residual for item in found], point)


def _effects(found: Sequence[Action], like: Sequence[Action]) -> list[Expr]:
    """New values of all that other actions assign to, and whether each of their remarks is made."""
    assigned = {item.target: item.value for item in found if isinstance(item, Assignment)}
    effects: list[Expr] = []
    for item in like:
        if isinstance(item, Assignment):
            effects.append(assigned.pop(item.target, item.target))
        else:
            effects.append(made_when(item, found))
    return effects + list(assigned.values())


@dataclass(eq=False)
class Follower:
    """Calls what the user wrote with one component, and keeps where each condition was written.

    Parameters
    ----------
    component : the instance whose attributes are symbols.
    name : how messages name it.
    declarations : its variables.
    connections : filled while following, with what equations connect.
    demands : assertions, filled while following.
    initial : equations that hold at the start, filled while following.
    samples : clocks among the conditions that were followed last, each with start and interval.
    yielded : filled while following, with equations of clauses.
    enables : likewise, with parts that can be off.
    condition_origins : filled likewise.
    parts : filled likewise, for what is assigned to an array: the array's shape and the element's place in it.
    """

    component: Any
    name: str
    declarations: Mapping[str, Declaration]
    connections: list[Connection] = field(default_factory=list[Connection])
    demands: list[Demand] = field(default_factory=list[Demand])
    initial: list[Equality] = field(default_factory=list[Equality])
    samples: Mapping[Expr, tuple[Expr, Expr]] = field(default_factory=dict[Expr, tuple[Expr, Expr]])
    yielded: dict[str, list[Equality]] = field(default_factory=dict[str, list[Equality]])
    enables: list[Enable] = field(default_factory=list[Enable])
    condition_origins: dict[Expr, Origin] = field(default_factory=dict[Expr, Origin])
    parts: dict[Assignment, tuple[tuple[int, ...], int]] = field(default_factory=dict[Assignment, tuple[tuple[int, ...], int]])

    @cached_property
    def _in_numbers(self) -> CalledAtPoint:
        return CalledAtPoint(self.component, self.declarations, self._declared)

    def _trace(self, function: Any, arguments: tuple[Any, ...], **options: Any) -> Trace:
        with only_variables_of(self.component):
            return trace(function, arguments, **options)

    def placed(self, origin: Origin) -> Origin:
        """The origin with the component's path."""
        return replace(origin, path=self.name)

    def _keep(self, origins: Mapping[Expr, Origin]) -> None:
        for condition, origin in origins.items():
            self.condition_origins.setdefault(condition, self.placed(origin))

    def value(self, given: Any, origin: Origin) -> Any:
        """A number as it is; a name or declaration as that variable; a function by following it."""
        if isinstance(given, Declaration):
            return getattr(self.component, given.name)
        if isinstance(given, str):
            declared = self.declarations.get(given)
            if declared is None:
                hint = suggestion(given, self.declarations, f"its variables are {listed(self.declarations)}")
                raise UsageError(f"{self.name} has no variable {given!r}", origin=self.placed(origin), hint=hint)
            return quantity(declared.symbol_role, given, declared.shape_of(declared.value))
        if is_function(given):
            with self._names_of_its_own():
                followed = self._trace(given, (self.component,))
            self._keep(followed.condition_origins)
            self._compare(
                given,
                followed,
                followed.value,
                (lambda point: self._in_numbers.value(given, point), lambda point: self._trace(given, (self.component,), point=point).value),
                origin,
            )
            return followed.value
        return given

    def number(self, given: Any, what: str, origin: Origin) -> Expr:
        """One real expression."""
        found = elements(self.value(given, origin), what, self.placed(origin))
        if len(found) != 1:
            raise UsageError(f"{what} has {len(found)} values; one is expected", origin=self.placed(origin))
        return as_real(found[0])

    def conditions(self, given: Sequence[Any], what: str, origin: Origin) -> tuple[tuple[Expr, ...], tuple[int, ...]]:
        """The conditions of a ``when``, each function may give several, and their shape if there is one function that gives an array."""
        with collected_samples() as self.samples:
            values = [self.value(one, origin) for one in given]
        found = tuple(as_boolean(item) for value in values for item in elements(value, what, self.placed(origin)))
        for condition in found:
            quantity = fleeting_equality(condition, self._moves)
            if quantity is not None:
                raise UsageError(
                    f"{what} wants `{quantity!r}` to be exactly zero: it passes zero in no time, so that this would never be seen to happen",
                    origin=self.placed(origin),
                    hint="use >= or <=, or both as two conditions for passing in either direction; @tg.at for a time",
                )
        only: Any = values[0] if len(values) == 1 else ()
        return found, np.shape(only) if type(only) not in (list, tuple) else ()

    @cached_property
    def _declared_as(self) -> dict[str, Declaration]:
        """The declaration of every element, by its name."""
        shapes = {name: item.shape_of(item.value) for name, item in self.declarations.items()}
        return {element: self.declarations[name] for name, shape in shapes.items() for element in element_names(name, shape)}

    def _moves(self, item: Expr) -> bool:
        """Whether a symbol surely changes continuously; outputs and algebraic variables may follow discrete ones."""
        declared = self._declared_as.get(item.data.name)
        return item.data.role in (Role.TIME, Role.DERIVATIVE) or (
            item.data.role is Role.UNKNOWN and declared is not None and declared.role is VariableRole.STATE
        )

    def equations(self, method: Callable[[], Any], place: Origin) -> list[Equality]:
        """The equations that a method yields or returns, merged over the branches of its conditions."""
        read, merge = self._reader(place)

        def equations_of(followed: Trace) -> list[Equality]:
            returned: Any = followed.value if is_array(followed.value) else ()
            if isinstance(followed.value, Equality | Expr) and not followed.yields:
                raise ModelError(
                    f"{_called(method)} returns one equation, and equations are yielded",
                    origin=self.placed(place),
                    hint="write `yield left == right`, one line an equation, or return a list of them",
                )
            return _ended(read([*followed.yields, *(Yielded(item, place) for item in returned)]), followed.ends)

        def along(point: Mapping[Expr, float]) -> list[float]:
            return _sizes(equations_of(self._trace(method, (), merge_yields=merge, make_equation=make_equality, point=point)), point)

        with noted_statements() as made, self._names_of_its_own():
            followed = self._trace(method, (), merge_yields=merge, make_equation=make_equality, may_raise=True)
        returned: Any = followed.value if is_array(followed.value) else ()
        self._require_yielded(made, [*followed.yields, *(Yielded(item, place) for item in returned)])
        yielded = {item.value for item in (*followed.yields, *(Yielded(item, place) for item in returned)) if isinstance(item.value, Expr)}
        self._keep({condition: origin for condition, origin in followed.condition_origins.items() if condition not in yielded})
        for item in (*followed.yields, *(Yielded(item, place) for item in returned)):
            self._state(item.value, self.placed(item.origin if item.origin.line else place))
        found = equations_of(followed)
        ways: tuple[_Way, _Way] = (lambda point: self._in_numbers.residuals(method, point), along)
        if found:
            self._compare(method, followed, [item.residual for item in found], ways, place, _in_order_of_size)
        return found

    @contextmanager
    def _names_of_its_own(self) -> Generator[None]:
        """Where Python does not know a name that the component has, ``self.`` was forgotten."""
        try:
            yield
        except UntraceableError as error:
            name = next(iter(re.findall("'([^']+)'", str(error.__cause__))), "")
            if isinstance(error.__cause__, NameError) and name:
                known = [*self.component.declarations(), *self.component._parts()]  # noqa: SLF001 - one package
                hint = f"write self.{name}" if name in known else suggestion(name, known, f"it has {listed(known) or 'no variables'}")
                place = self.placed(error.origin or Origin())
                raise UnknownNameError(f"the name {name} is not defined", origin=place, hint=hint) from error.__cause__
            raise

    def _require_yielded(self, made: Sequence[tuple[Any, str]], yielded: Sequence[Yielded]) -> None:
        """Whatever was made by ``tg.connect`` and the like is among what was yielded."""
        said = [one for item in yielded for one in _several(item.value) if isinstance(one, _STATEMENTS)]
        same, alike = {id(one) for one in said}, {repr(one) for one in said}  # what is followed along several paths is made several times
        for statement, name in made:
            if id(statement) not in same and repr(statement) not in alike:
                raise ModelError(f"{name}(...) is not yielded", origin=self.placed(statement.origin), hint=f"write `yield {name}(...)`")

    def _state(self, said: Any, origin: Origin) -> None:
        """Keep a statement that is no equation, with the place where it was yielded."""
        if is_array(said):
            for item in flat(said):
                self._state(item, origin)
        elif isinstance(said, Connection):
            self.connections.append(replace(said, origin=origin))
        elif isinstance(said, Demand):
            self.demands.append(replace(said, origin=origin))
        elif isinstance(said, Enable):
            if not said.path:
                return
            other = next((item for item in self.enables if item.path == said.path), None)
            if other is not None:
                raise ModelError(
                    f"tg.enable is said twice of {said.path}, here and at {other.origin}", origin=origin, hint="write one condition, with & or |"
                )
            for condition in (said.condition, ~said.condition):
                number = condition.args[0] if condition.op == "nonzero" else fleeting_equality(condition, self._moves)
                if number is not None and any(item.op == "symbol" and self._moves(item) for item in walk([number])):
                    raise UsageError(
                        f"the condition that enables {said.path} turns on whether `{number!r}` is exactly zero, which it is for no time",
                        origin=origin,
                        hint="give a condition: when=self.h > 0.5",
                    )
            self.enables.append(replace(said, origin=origin))
        elif isinstance(said, InitialEquations):
            self.initial += [replace(item, origin=origin, label=_inside(origin.text)) for item in said.equalities]

    def _reader(self, place: Origin) -> tuple[Callable[[Sequence[Yielded]], list[Equality]], Callable[..., list[Yielded]]]:
        """What reads the equations among the things that are yielded, and what merges those of two branches."""

        def read(items: Sequence[Yielded]) -> list[Equality]:
            own = [Yielded(one, item.origin) for item in items for one in _several(item.value) if not isinstance(one, _STATEMENTS)]
            return [equality for item in own for equality in read_equalities(item.value, self.placed(item.origin if item.origin.line else place))]

        def merge(condition: Expr, first: list[Yielded], second: list[Yielded]) -> list[Yielded]:
            wired = next((item.value for item in (*first, *second) if isinstance(item.value, _STATEMENTS)), None)
            if wired is not None:
                raise ModelError(
                    f"{_STATED[type(wired)]} depends on `{condition!r}`",
                    origin=self.placed(wired.origin),
                    hint="let it depend on a tg.Constant, which is known when the model is built",
                )
            merged = merge_equalities(condition, read(first), read(second), self.placed(place))
            return [Yielded(item, item.origin) for item in merged]

        return read, merge

    def actions(self, method: Callable[[], Any], name: str, origin: Origin) -> tuple[Action, ...]:
        """What the body of an event does; equations that it yields are kept in ``yielded``, under its name."""
        read, merge_yields = self._reader(origin)

        def merge(condition: Expr, first: Any, second: Any) -> Any:
            return self._merged_returns(condition, first, second, name, origin)

        def actions_of(point: Mapping[Expr, float] | None) -> tuple[Trace, tuple[Action, ...]]:
            with collect_remarks() as said, self._names_of_its_own():
                followed = self._trace(method, (), merge_yields=merge_yields, make_equation=make_equality, merge_returns=merge, point=point)
            found: list[Action] = []
            if followed.value is not None:
                for key, value in _mapping(followed.value, name, origin).items():
                    found.extend(self._assignments(key, value, name, origin))
            return followed, (*found, *said)

        followed, found = actions_of(None)
        for item in followed.yields:
            for one in _several(item.value):
                if isinstance(one, _STATEMENTS):
                    raise ModelError(
                        f"{name} yields {_STATED[type(one)]}; a clause yields equations",
                        origin=self.placed(item.origin),
                        hint="parts are connected and switched in `def equations(self)`, for the whole run",
                    )
        if followed.yields:
            self.yielded[name] = read(followed.yields)
        self._keep(followed.condition_origins)
        ways: tuple[_Way, _Way] = (lambda point: self._in_numbers.effects(method, found, point), lambda point: _effects(actions_of(point)[1], found))
        self._compare(method, followed, _effects(found, found), ways, origin)
        return found

    def _compare(
        self, function: Any, followed: Trace, values: Any, ways: tuple[_Way, _Way], origin: Origin, order: Callable[[Any], Any] | None = None
    ) -> None:
        """Compare what was followed with the function itself at several points; and the function with itself at the first.

        Parameters
        ----------
        values : what was followed, in the order of what the function gives at a point.
        ways : what it gives at a point: called as Python with numbers; where that is not possible, followed along the one path that is taken there.
        """
        numbers = numbers_of(values)
        if numbers is None:
            return
        roots = [as_expr(item) for item in numbers]
        start = self._start([*roots, *followed.condition_origins])
        called, along = ways
        answers: list[Any] = []

        def plain(point: Mapping[Expr, float]) -> Any:
            try:
                answers[:] = [called(point)]
            except Exception as error:  # whatever the user's code and what it calls do when they meet numbers
                if answers and not isinstance(error, UsageError):
                    raise  # it can be called: at this point it does not answer
                return along(point)
            return answers[0]

        with suppress(Exception):
            plain(start)
        most = compared_at(self.component, function, roots)
        if not answers:
            most = max(1, min(_POINTS, _WORK // (1 + sum(1 for _ in walk(roots))))) if followed.condition_origins else 1
        place = function_origin(function)
        shown, at = f"{self.name}.{_called(function)}", self.placed(place if place.line else origin)
        require_agreement(shown, at, values, plain, start, most, order, self._among(start))
        if answers:
            note_compared(self.component, function, roots)

    def _among(self, symbols: Iterable[Expr]) -> dict[Expr, list[float]]:
        """The numbers of their texts, for variables that have such."""
        declared = {item: self._declared_as.get(item.data.name) for item in symbols}
        return {item: [float(number) for _, number in given.texts] for item, given in declared.items() if given is not None and given.texts}

    def _start(self, roots: Sequence[Expr]) -> dict[Expr, float]:
        """Declared values of the symbols that matter, where these are numbers."""
        return {item: self._declared(item) for item in walk(roots) if item.op == "symbol"}

    def _declared(self, item: Expr) -> float:
        if item.data.role is Role.TIME or item.data.role is Role.DERIVATIVE:
            return 0.0
        given: Any = getattr(self._declared_as.get(item.data.name), "value", 1.0)
        values = [] if is_function(given) else flat(given)
        return float(values[0]) if values and isinstance(values[0], int | float) else 1.0

    def _merged_returns(self, condition: Expr, first: Any, second: Any, name: str, origin: Origin) -> Any:
        """New values of two branches; what only one of them assigns keeps its value in the other."""
        branches: list[Mapping[Any, Any]] = [{} if branch is None else _mapping(branch, name, origin) for branch in (first, second)]
        if self._overlaps(branches[0], branches[1], origin) or self._overlaps(branches[1], branches[0], origin):
            branches = [self._by_element(branch, origin) for branch in branches]
        merged: dict[Any, Any] = {}
        for key in {**branches[0], **branches[1]}:
            values = [flat(self._in_numbers_of(key, branch[key], origin)) if key in branch else self._elements_of(key, origin) for branch in branches]
            size = max(map(len, values))
            pairs = zip(*(value * size if len(value) == 1 else value for value in values), strict=True)
            merged[key] = [select(condition, *pair) for pair in pairs]
        return merged

    def _elements_of(self, key: Any, origin: Origin) -> list[Any]:
        target = self.value(key, origin) if isinstance(key, str | Declaration) else key
        return flat(item_of(target))

    def _in_numbers_of(self, key: Any, value: Any, origin: Origin) -> Any:
        """A new value, with the number of a text where that is given to a variable by its name."""
        declared = self._declared_as.get(key) if isinstance(key, str) else key if isinstance(key, Declaration) else None
        return number_among(declared.texts, value, declared.name, origin) if declared is not None and declared.texts else value

    def _overlaps(self, branch: Mapping[Any, Any], other: Mapping[Any, Any], origin: Origin) -> bool:
        """Whether an array is assigned as a whole here and in part there."""
        whole: set[Any] = {item for key in other for item in self._elements_of(key, origin)}
        return any(key not in other and any(item in whole for item in self._elements_of(key, origin)) for key in branch)

    def _by_element(self, branch: Mapping[Any, Any], origin: Origin) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, value in branch.items():
            targets, values = self._elements_of(key, origin), flat(self._in_numbers_of(key, value, origin))
            found.update(zip(targets, values * (len(targets) // len(values)) if len(values) < len(targets) else values, strict=True))
        return found

    def _assignments(self, key: Any, value: Any, name: str, origin: Origin) -> list[Assignment]:
        target, value = self.value(key, origin) if isinstance(key, str | Declaration) else key, self._in_numbers_of(key, value, origin)
        if isinstance(target, Choice):
            target, value = target.item, number_among(target.texts, value, target.variable, origin)
        targets = flat(target)
        if not all(isinstance(item, Expr) and item.op == "symbol" for item in targets):
            raise ModelError(
                f"{name} assigns to `{key!r}`, which is no variable", origin=origin, hint="the keys are variables: return {self.v: new_value}"
            )
        values = [as_real(item) for item in elements(value, f"the new value of {key!r} in {name}", origin)]
        if len(values) not in (1, len(targets)):
            raise ModelError(f"{name} gives {len(values)} values to the {len(targets)} elements of {key!r}", origin=origin)
        found = [Assignment(item, new, origin) for item, new in zip(targets, values * (len(targets) // len(values)), strict=True)]
        if shape := getattr(target, "shape", ()):
            self.parts.update((item, (shape, k)) for k, item in enumerate(found))
        return found
