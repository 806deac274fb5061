"""What a block writes with (front end of blocks): its inputs and parameters as expressions go in, variables, equations and events come out.

Every name a block gives gets the block's path in front, so that two blocks never meet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, Final, Literal, Protocol

import numpy as np

from tidegate.errors import Origin
from tidegate.expressions import FALSE, TRUE, Expr, Role, as_boolean, as_expr, as_real, symbol, walk
from tidegate.expressions.substitute import substitute
from tidegate.expressions.tracing import Trace, at_start, function_origin, numeric, require_agreement, trace
from tidegate.model import Action, Assignment, Branch, Definition, Equation, TimeEvent, Variable, VariableRole, When, element_names
from tidegate.quick_dataclass import dataclass

__all__ = ["TIME", "EquationWriter", "Ink", "Pen", "Value", "truth"]

Value = float | np.ndarray

TIME: Final = symbol(Role.TIME, "time")
_JUMPS: Final = ("floor", "segment")  # they have guards beside those of conditions

_Kind = Literal["real", "boolean"]


def truth(x: Expr) -> Expr:
    """The condition that a signal is not zero; of a choice between signals, the choice between their conditions.

    Examples
    --------
    >>> from tidegate.expressions import as_real
    >>> truth(as_real(TIME > 1)) is (TIME > 1)
    True
    """
    if x.op == "select":
        condition, a, b = x.args
        first, second = truth(a), truth(b)
        return first if first is second else (condition & first) | (~condition & second)
    return truth(x.args[0]) if x.op == "neg" else as_boolean(x)


@dataclass(eq=False)
class Ink:
    """Everything that the blocks of a diagram have written."""

    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    rates: dict[Expr, Equation] = field(default_factory=dict[Expr, Equation])
    equations: list[Equation] = field(default_factory=list[Equation])
    whens: list[When] = field(default_factory=list[When])
    time_events: list[TimeEvent] = field(default_factory=list[TimeEvent])
    initial: list[Action] = field(default_factory=list[Action])
    sampled: list[tuple[str, Expr, Origin]] = field(default_factory=list[tuple[str, Expr, Origin]])
    shown: dict[Variable, Definition] = field(default_factory=dict[Variable, Definition])
    condition_origins: dict[Expr, Origin] = field(default_factory=dict[Expr, Origin])
    noted: set[Expr] = field(default_factory=set[Expr])
    inputs_move: bool = False  # the inputs are those of a part, and move at events like everything else

    def note(self, roots: Sequence[Expr], origin: Origin) -> None:
        """Remember where the conditions of these expressions were written."""
        waiting = [*roots]
        while waiting:
            item = waiting.pop()
            if item in self.noted:  # by the block that wrote it; a chain of blocks is then walked once
                continue
            self.noted.add(item)
            waiting.extend(item.args)
            if (item.is_boolean and not item.is_constant) or item.op in _JUMPS:
                self.condition_origins.setdefault(item, origin)


class EquationWriter(Protocol):
    """What a pen asks of the block that writes with it; see ``Block``."""

    inputs: tuple[str, ...]
    unit: str
    units: dict[str, str]
    label: str
    origin: Origin

    @property
    def parameters(self) -> dict[str, Value]:
        """Values, by name."""
        ...

    @property
    def is_put_elsewhere(self) -> bool:
        """Whether an operator has put what it computes into another block too, which does not read its parameters."""
        ...

    def one_number(self, name: str) -> float:
        """The value of one that is no array."""
        ...


@dataclass(eq=False)
class Pen:
    """Writes for one block.

    Parameters
    ----------
    block : whose equations these are.
    path : the block's name with those of the diagrams round it.
    ink : what is written, of all blocks.
    values : what its connected inputs are.
    """

    block: EquationWriter
    path: str
    ink: Ink
    values: Mapping[str, Expr]

    @property
    def origin(self) -> Origin:
        """Where the block was made."""
        return replace(self.block.origin, path=self.path, text="")

    @property
    def time(self) -> Expr:
        """Simulated time."""
        return TIME

    def name(self, local: str) -> str:
        """The name of a quantity of this block; "" is the block's own signal."""
        return f"{self.path}.{local}" if local else self.path

    # -- what the block reads

    def is_connected(self, port: str) -> bool:
        """Whether something is connected to this input."""
        return port in self.values

    def x(self, port: str = "x1") -> Expr:
        """What goes in; 0 where nothing is connected."""
        return self.values.get(port, as_expr(0.0))

    def fresh(self, port: str = "x1") -> Expr:
        """What goes in, as ticks of clocks at the same instant leave it; for bodies of time events."""
        value = self.x(port)
        self.ink.sampled.append((f"{self.path}.{port}", value, self.origin))
        moving = (Role.DISCRETE, Role.INPUT) if self.ink.inputs_move else (Role.DISCRETE,)
        found = {item: symbol(Role.NEXT, item.data.name) for item in walk([value]) if item.op == "symbol" and item.data.role in moving}
        return substitute([value], found)[0]

    def p(self, name: str) -> Expr:
        """A parameter that is one number."""
        self.block.one_number(name)
        return self.elements(name)[0]

    def elements(self, name: str) -> list[Expr]:
        """The elements of a parameter, in row order."""
        value = self.block.parameters[name]
        if self.block.is_put_elsewhere:  # a parameter that acted on some of what was written with it would be wrong without a word
            return [as_expr(float(item)) for item in np.ravel(value)]
        full = self.name(name)
        if full not in self.ink.variables:
            start = tuple(as_expr(float(item)) for item in np.ravel(value))
            unit = self.block.units.get(name, "")
            self.ink.variables[full] = Variable(full, VariableRole.PARAMETER, np.shape(value), unit, start=start, origin=self.origin)
        return [symbol(Role.PARAMETER, item) for item in element_names(full, np.shape(value))]

    def follow(self, function: Callable[..., Any], arguments: Sequence[Any], called: Callable[[Sequence[Any]], Any] | None = None) -> Trace:
        """Follow a function of the user, and compare what it gives with the function itself.

        Parameters
        ----------
        arguments : expressions, vectors of them, or anything else.
        called : gives what ``function(*arguments)`` returns for other arguments, where it is not just a call.

        Raises
        ------
        UntraceableError : where it cannot be followed, or differs from what was followed at some point.
        """

        def traced(given: Sequence[Any]) -> Trace:
            if called is None:
                return trace(function, tuple(given))
            return trace(partial(called, given), ())

        followed = traced(arguments)
        for condition, origin in followed.condition_origins.items():
            self.ink.condition_origins.setdefault(condition, origin)
        # what comes in may be a large graph that has nothing to do with the function: it is compared with signals of its own
        own = [
            symbol(Role.UNKNOWN, f"{self.path}.{self.block.inputs[k] if k < len(self.block.inputs) else k}")
            if isinstance(item, Expr) and not item.is_constant and item.op != "symbol"
            else item
            for k, item in enumerate(arguments)
        ]
        parameters: dict[Expr, float] = {}
        for name, value in self.block.parameters.items():
            symbols = (symbol(Role.PARAMETER, item) for item in element_names(self.name(name), np.shape(value)))
            parameters |= dict(zip(symbols, map(float, np.ravel(value)), strict=True))
        start = at_start(own, parameters)

        def plain(point: dict[Expr, float]) -> Any:
            given = numeric(own, point)
            return function(*given) if called is None else called(given)

        require_agreement(f"the function of {self.path}", function_origin(function), traced(own).value, plain, start)
        return followed

    # -- what the block has

    def _declared(self, local: str, role: VariableRole, start: Expr | float, is_fixed: bool | None, kind: _Kind = "real") -> Expr:
        full = self.name(local)
        if full not in self.ink.variables:
            unit = self.block.unit if not local else ""
            self.ink.variables[full] = Variable(full, role, (), unit, self.block.label, (as_real(start),), is_fixed, kind=kind, origin=self.origin)
        return symbol(Role.DISCRETE if role is VariableRole.DISCRETE else Role.UNKNOWN, full)

    def state(self, local: str = "", start: Expr | float = 0.0) -> Expr:
        """A variable with a rate, and its value at the start of a run; said again it is the same one."""
        return self._declared(local, VariableRole.STATE, start, is_fixed=True)

    def discrete(self, local: str = "", start: Expr | float = 0.0) -> Expr:
        """A variable that changes at events only."""
        return self._declared(local, VariableRole.DISCRETE, start, None)

    def flag(self, local: str, start: bool = False) -> Expr:
        """A truth value that changes at events only."""
        return self._declared(local, VariableRole.DISCRETE, float(start), None, "boolean")

    def unknown(self, local: str = "", guess: Expr | float = 0.0) -> Expr:
        """A variable that equations determine."""
        return self._declared(local, VariableRole.ALGEBRAIC, guess, is_fixed=False)

    def show(self, local: str, value: Expr) -> None:
        """Record a further signal."""
        variable = Variable(self.name(local), VariableRole.OUTPUT, description=self.block.label, origin=self.origin)
        self.ink.shown[variable] = Definition(variable.name, value, self.origin)

    # -- what happens to it

    def rate(self, state: Expr, value: Expr) -> None:
        """``der(state) == value``."""
        label = f"der({state.data.name})"
        self.ink.note([value], self.origin)
        self.ink.rates[state] = Equation(symbol(Role.DERIVATIVE, state.data.name), as_real(value), self.origin, label)

    def equation(self, left: Expr, right: Expr) -> None:
        """``left == right``, for an algebraic unknown."""
        self.ink.note([left, right], self.origin)
        self.ink.equations.append(Equation(left, right, self.origin, f"the equation of {self.path}"))

    def body(self, values: Mapping[Expr, Expr | float]) -> tuple[Action, ...]:
        """New values of states and discrete variables; events with the same body are one writer of them."""
        return tuple(Assignment(target, as_real(value), self.origin) for target, value in values.items())

    def when(self, *branches: tuple[Sequence[Expr], tuple[Action, ...], str]) -> None:
        """When one of the conditions becomes true, do this; of several branches only the first.

        Parameters
        ----------
        branches : conditions, actions, and what to call the event.
        """
        told: list[Branch] = []
        for conditions, actions, label in branches:
            changing = tuple(item for item in conditions if item is not TRUE and item is not FALSE)
            self.ink.note(changing, self.origin)
            if changing:
                told.append(Branch(changing, actions, self.name(label), self.origin))
        if told:
            self.ink.whens.append(When(tuple(told), origin=self.origin))

    def at(
        self, first: Expr | float, actions: tuple[Action, ...], label: str = "tick", *, period: Expr | None = None, only: Expr | None = None
    ) -> None:
        """At a time, and every period after it, do this.

        Parameters
        ----------
        first, period : of parameters and discrete variables.
        only : the condition under which it happens.
        """
        self.ink.time_events.append(TimeEvent(as_real(first), actions, period, only, self.name(label), origin=self.origin))

    def initially(self, *actions: Action) -> None:
        """At the start of a run, before anything else, do this."""
        self.ink.initial.extend(actions)
