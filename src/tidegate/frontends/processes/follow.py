"""Continuous bodies and conditions, followed on symbols (stage: front end).

A started variable is a state. What only events change is a discrete variable: a parameter, a variable that is not started, a number of the user's own
that has changed before, whether a switched body runs, and of every condition whether it is waited for and the numbers in it.
"""

from __future__ import annotations

import inspect
import re
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import FunctionType, MethodType
from typing import Any, Final

import numpy as np

from tidegate.errors import Origin, UntraceableError, UsageError
from tidegate.expressions import Expr, Role, as_boolean, as_expr, evaluate, fleeting_equality, select, symbol
from tidegate.expressions.tracing import Reads, collect_reads, function_origin, in_turn, require_agreement, trace
from tidegate.frontends.processes.flows import Continuous, Parameter, Variable
from tidegate.frontends.processes.moved_number import plain
from tidegate.frontends.processes.surroundings import TIME, Number, in_symbols, is_number, putting
from tidegate.quick_dataclass import dataclass

__all__ = ["FollowedBodies", "FollowedCondition", "Kind", "Symbols", "follow_bodies", "follow_condition", "kind_of"]

_MOST_CALLS: Final = 8  # of the bodies with numbers, to compare what they do with what was followed
_ARGUMENTS: Final = re.compile(r"^lambda[^:]*:\s*")
_NO_CODE: Final = (lambda: None).__code__
_CONTAINERS: Final = (list, tuple, dict, set, deque, np.ndarray)
_PLAIN: Final = (str, bool, type(None))


class Symbols:
    """One symbol for everything that can have one, under a name that nothing else has.

    Parameters
    ----------
    environment : whose time bodies and conditions read.
    variables, parameters : all there are; they may become more.
    """

    def __init__(self, environment: Any, variables: Sequence[Variable], parameters: Sequence[Parameter]) -> None:
        self.environment, self.variables, self.parameters = environment, variables, parameters
        self.numbers: dict[tuple[int, str], Number] = {}
        self.reads = Reads()  # of what was followed last, also in vain
        self._known: dict[Any, Expr] = {}
        self._names: set[str] = set()

    def of(self, item: Any, wish: str) -> Expr:
        """The discrete symbol that stands for something."""
        found = self._known.get(item)
        if found is None:
            taken = {variable.name for variable in self.variables}
            name, k = wish, 1
            while name in self._names or (name in taken and not isinstance(item, Variable)):
                k += 1
                name = f"{wish}_{k}"
            self._names.add(name)
            found = self._known[item] = symbol(Role.DISCRETE, name)
        return found

    def known(self, item: Any) -> Expr | None:
        """The symbol, if there is one already."""
        return self._known.get(item)

    def running(self, item: Variable | Continuous) -> Expr:
        """Whether a variable or a body takes part."""
        return self.of(("running", item), f"{item.name} active")

    def in_place(self, is_state: Callable[[Variable], bool]) -> tuple[dict[Variable, Expr], dict[Parameter, Expr], dict[Number, Expr]]:
        """What stands for every variable, parameter and number."""
        states = {
            variable: symbol(Role.UNKNOWN, variable.name) if is_state(variable) else self.of(variable, variable.name) for variable in self.variables
        }
        return (
            states,
            {parameter: self.of(parameter, parameter.name) for parameter in self.parameters},
            {number: self.of(number.key, number.name) for number in self.numbers.values()},
        )

    def forget_own(self, reads: Reads) -> None:
        """What has a symbol may change."""
        reads.forget(
            (self.environment, *type(self.environment).__mro__, Variable, Parameter, *self.variables, *self.parameters),
            [(n.place, n.name) for n in self.numbers.values()],
        )


@dataclass(frozen=True, eq=False)
class FollowedBodies:
    """What the bodies do.

    Parameters
    ----------
    rates : of the states.
    is_pure : they set rates and nothing else.
    reads : what they read of the user's surroundings that no symbol stands for.
    origins : where conditions in them are written.
    """

    rates: Mapping[Variable, Expr]
    is_pure: bool
    reads: Reads
    origins: Mapping[Expr, Origin]


def follow_bodies(symbols: Symbols, states: Sequence[Variable], bodies: Sequence[Continuous], switched: Collection[Any]) -> FollowedBodies:
    """Follow bodies in turn.

    Parameters
    ----------
    states : the variables that are states.
    bodies : in the order in which they run.
    switched : those of both that may be started and stopped without being followed again.

    Raises
    ------
    UntraceableError : a body cannot be followed, or sets a state.
    """
    for body in bodies:
        if "print" in getattr(inspect.unwrap(body.function), "__code__", _NO_CODE).co_names:
            raise UntraceableError("a continuous body prints, and would be silent when compiled", origin=function_origin(body.function))
    among = set(states)
    in_place = symbols.in_place(among.__contains__)
    chosen = [(body.function, symbols.running(body) != 0 if body in switched else True) for body in bodies]
    with collect_reads() as symbols.reads, putting(in_place[2]), in_symbols(symbols.environment, *in_place[:2]):
        followed = trace(in_turn, (chosen,))
        after = {id(place): contents for place, contents in followed.changed}
        for variable, before in in_place[0].items():
            if after.get(id(vars(variable)), vars(variable))["state"] is not before:
                raise UntraceableError(
                    f"a continuous body sets the state of {variable.name}, instead of its rate", hint="compiled=False calls such bodies"
                )
        rates = {variable: as_expr(after.get(id(vars(variable)), vars(variable))["rate"]) for variable in states}
        own = {id(vars(variable)) for variable in symbols.variables}
        is_pure = own.issuperset(after)
    _compare(symbols, rates, bodies, chosen, in_place)
    reads = symbols.reads
    symbols.forget_own(reads)
    for variable in states:
        if variable in switched:
            rates[variable] = select(symbols.running(variable) != 0, rates[variable], as_expr(0.0))
    return FollowedBodies(rates, is_pure, reads, followed.condition_origins)


def _compare(symbols: Symbols, rates: Mapping[Variable, Expr], bodies: Sequence[Continuous], chosen: Sequence[Any], in_place: Any) -> None:
    """Call the bodies with numbers, near what these are now, and compare."""
    states, parameters, numbers = in_place
    start = {expression: float(plain(item.state)) for item, expression in states.items()}
    start |= {expression: float(plain(item.value)) for item, expression in parameters.items()}
    start |= {expression: float(plain(item.get())) for item, expression in numbers.items()}
    start |= {is_called.args[0]: 1.0 for _, is_called in chosen if isinstance(is_called, Expr)}
    start[TIME] = float(plain(symbols.environment.now))

    def called(point: Mapping[Expr, float]) -> list[Any]:
        given = ({item: point.get(expression, start[expression]) for item, expression in some.items()} for some in in_place)
        values = list(given)
        with putting(values[2]), in_symbols(symbols.environment, values[0], values[1], point[TIME]):
            for function, is_called in chosen:
                if is_called is True or evaluate([is_called], point)[0] != 0.0:
                    function()
            return [variable.rate for variable in rates]

    names = " and ".join(body.name for body in bodies)
    origin = function_origin(bodies[0].function) if bodies else Origin()
    require_agreement(names, origin, list(rates.values()), called, start, _MOST_CALLS)


# -- conditions


@dataclass(frozen=True, eq=False)
class Kind:
    """What waits have in common that one place in a model can serve, one after the other.

    Parameters
    ----------
    key : equal for waits of one kind: code, and the objects it closes over.
    condition : one of them.
    cells : positions in its closure where a number stands.
    """

    key: Any
    condition: Callable[[], Any]
    cells: tuple[int, ...]


def kind_of(condition: Any, *, has_numbers: bool = True) -> Kind:
    """The kind of a condition.

    Parameters
    ----------
    has_numbers : conditions that differ in numbers which they close over are of one kind.
    """
    if isinstance(condition, MethodType) and isinstance(condition.__func__, FunctionType):
        # asked for twice, a method is two objects
        return Kind((kind_of(condition.__func__, has_numbers=False).key, id(condition.__self__)), condition, ())
    whole = condition
    if isinstance(condition, partial):
        given = (*map(_identity, condition.args), *((name, _identity(value)) for name, value in condition.keywords.items()))
        return Kind((kind_of(condition.func, has_numbers=False).key, given), whole, ())
    if not isinstance(condition, FunctionType):
        return Kind(id(condition), condition, ())
    contents = [cell.cell_contents for cell in condition.__closure__ or ()]
    cells = tuple(k for k, value in enumerate(contents) if has_numbers and is_number(value))
    held = tuple(None if k in cells else _identity(value) for k, value in enumerate(contents))
    return Kind((condition.__code__, held, cells, tuple(map(_identity, condition.__defaults__ or ()))), condition, cells)


def _identity(value: Any) -> Any:
    return value if is_number(value) or isinstance(value, _PLAIN) else ("object", id(value))


@dataclass(frozen=True, eq=False)
class FollowedCondition:
    """A condition on symbols, at one place for waits of its kind.

    Parameters
    ----------
    truth : the condition; None where nothing that flows decides it.
    armed : whether somebody waits for it.
    numbers : symbols of the numbers in it, each with its position in the closure of a wait's condition.
    reads, origins : as of bodies.
    origin : where it was written.
    """

    truth: Expr | None
    armed: Expr
    numbers: Mapping[Expr, int]
    reads: Reads
    origins: Mapping[Expr, Origin]
    origin: Origin


def follow_condition(
    symbols: Symbols, kind: Kind, place: int, is_state: Callable[[Variable], bool], rates: Mapping[Variable, Expr]
) -> FollowedCondition:
    """Follow a condition.

    Parameters
    ----------
    place : number of the place for this kind.
    is_state : of a variable.
    rates : of the states, which a condition may read.

    Raises
    ------
    UntraceableError : it cannot be followed.
    """
    condition: Any = kind.condition
    origin = function_origin(condition)
    text = _ARGUMENTS.sub("", origin.text) or getattr(condition, "__name__", "a condition")
    armed = symbols.of(("armed", kind.key, place), f"waited for: {text}")
    closure = getattr(condition, "__closure__", None) or ()
    numbers = {Number(closure[k], condition.__code__.co_freevars[k]): k for k in kind.cells}
    own = {number: symbols.of(("number", kind.key, place, k), f"{number.name} in {armed.data.name}") for number, k in numbers.items()}
    in_place = symbols.in_place(is_state)
    with collect_reads() as symbols.reads, putting({**in_place[2], **own}), in_symbols(symbols.environment, *in_place[:2]):
        for variable, rate in rates.items():
            vars(variable)["rate"] = rate
        followed = trace(condition, ())
    reads = symbols.reads
    symbols.forget_own(reads)
    # numbers and objects that it closes over belong to its kind, and whoever waits is asked for his own; what is in a list may change
    own_cells = zip(closure, getattr(condition, "__code__", _NO_CODE).co_freevars, strict=True)
    reads.forget(places=[(cell, name) for cell, name in own_cells if not _has_contents(cell.cell_contents)])
    truth = as_boolean(followed.value) if isinstance(followed.value, Expr) else None
    quantity = None if truth is None else fleeting_equality(truth, _flows)
    if quantity is not None:
        raise UsageError(
            f"a condition that is waited for wants `{quantity!r}` to be exactly zero: it passes zero in no time, and would never be seen there",
            origin=origin,
            hint="use >= or <=",
        )
    cells = {own[number]: k for number, k in numbers.items()}
    return FollowedCondition(truth, armed, cells, reads, followed.condition_origins, origin)


def _flows(item: Expr) -> bool:
    return item.data.role in (Role.TIME, Role.UNKNOWN)


def _has_contents(value: Any) -> bool:
    return isinstance(value, _CONTAINERS)
