"""The user's functions with what they are called with, and how they are followed (front end of plain functions).

In: what was given to ``tg.ode``, ``tg.dae`` or ``tg.hdae``. Out: traces of its functions on symbols, compared with plain Python at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property
from typing import Any, Final, cast

import numpy as np

from tidegate.errors import Origin
from tidegate.expressions import Expr, Role, as_expr, evaluate, symbol
from tidegate.expressions.tracing import MOST_POINTS, Trace, Vector, at_start, function_origin, numeric, points_after, probe_values, require_agreement
from tidegate.expressions.tracing import numbers_of as entries_of
from tidegate.expressions.tracing.choices import MetTexts
from tidegate.frontends.equations.call_order import CallOrder, Taken
from tidegate.frontends.equations.event_clause import EventClause
from tidegate.frontends.equations.followed_before import FollowedBefore
from tidegate.frontends.equations.mode_by_mode import followed
from tidegate.frontends.equations.quantities import FunctionQuantities, MetBefore, Problems
from tidegate.frontends.equations.resets import ResetReader
from tidegate.model import Action, Form, Message, Terminate
from tidegate.model.remarks import collect_remarks
from tidegate.quick_dataclass import dataclass

__all__ = ["TIME", "FunctionsDescription", "Lowering", "Outputs", "Parts", "by_name", "called", "numbers_of", "numbers_of_texts", "plainly"]

TIME: Final = symbol(Role.TIME, "time")


def numbers_of(quantities: FunctionQuantities, role: Role, known: dict[Expr, float]) -> dict[Expr, float]:
    """Start values as numbers."""
    return dict(zip((symbol(role, name) for name in quantities.elements), evaluate(quantities.values, known), strict=True))


def numbers_of_texts(quantities: FunctionQuantities, role: Role) -> dict[Expr, list[float]]:
    """The numbers that those symbols may have which stand for texts."""
    return {item: [float(number) for _, number in piece.texts] for piece in quantities.pieces if piece.texts for item in piece.symbols(role)}


@dataclass(frozen=True, eq=False)
class Parts:
    """What an HDAE has besides its first function.

    Parameters
    ----------
    functions : f2 ... f5; None for one that is not there.
    starts : of x1, x2 and x3, or functions of the parameters that give them.
    stabilisation : the option that was chosen, as given; makes_consistent : likewise.
    """

    functions: tuple[Callable[..., Any] | None, ...]
    starts: tuple[Any, ...]
    stabilisation: Any = None
    makes_consistent: bool = False


@dataclass(frozen=True, eq=False)
class FunctionsDescription:
    """What the user gave to ``tg.ode``, ``tg.dae`` or ``tg.hdae``.

    Parameters
    ----------
    y0 : start values, or the function of the parameters that gives them.
    ydot0 : guesses of derivatives, as given.
    has_p : whether parameters were given at all.
    d : start values of discrete variables, or the function of the parameters that gives them; None for a model without.
    met : texts of variables that are texts, by owner and name; they grow while the functions are followed.
    """

    name: str
    form: Form
    function: Callable[..., Any]
    y0: FunctionQuantities | Callable[..., Any]
    ydot0: Any
    p: FunctionQuantities
    has_p: bool
    units: Mapping[str, str]
    outputs: Outputs | None
    events: tuple[EventClause, ...]
    origin: Origin
    check_units: bool = True
    parts: Parts | None = None
    d: FunctionQuantities | Callable[..., Any] | None = None
    met: MetBefore = field(default_factory=dict[tuple[str, str], MetTexts])

    @property
    def n_texts(self) -> int:
        """How many texts were met so far."""
        return sum(map(len, self.met.values()))

    def taken(self, function: Callable[..., Any], name: str = "", *, is_residual: bool = False) -> tuple[Taken, ...]:
        """What a function is called with behind time and unknowns, and derivatives if it is a residual; ``name`` is for messages."""
        first, shown = (("t", "y", "ydot"), "residual") if is_residual else (("t", "y"), "f")
        return self._call_order(has_d=self.d is not None).behind(function, first, name or called(function), shown)

    def taken_alone(self, function: Callable[..., Any], shown: str) -> tuple[Taken, ...]:
        """The same of a function of the parameters alone; ``shown`` is the option it was given for."""
        return self._call_order(has_d=False).behind(function, (), called(function), shown)

    def _call_order(self, *, has_d: bool) -> CallOrder:
        return CallOrder(f"tg.{self.form.value.lower()}", self.has_p, has_d)


# a function that returns a dict, or a dict of functions
Outputs = Callable[..., Any] | Mapping[str, Callable[..., Any]]


def by_name(outputs: Outputs | None) -> dict[str, Callable[..., Any]]:
    """Functions of outputs by their names; "" for one that returns a dict."""
    if isinstance(outputs, Mapping):
        return dict(cast("Mapping[str, Callable[..., Any]]", outputs))
    return {} if outputs is None else {"": outputs}


@dataclass(eq=False)
class Lowering:
    """What is known while the functions of one model are followed.

    Parameters
    ----------
    y, d : unknowns and discrete variables.
    before : what its functions gave last; it holds for as long as y and d are the same objects.
    """

    description: FunctionsDescription
    y: FunctionQuantities
    d: FunctionQuantities
    before: FollowedBefore
    problems: Problems = field(default_factory=Problems)
    condition_origins: dict[Expr, Origin] = field(default_factory=dict[Expr, Origin])

    def follow(self, function: Callable[..., Any], *slopes: Any, name: str = "", may_raise: bool = True) -> Trace:
        """A function called with time, unknowns, their derivatives if it is a residual, and parameters and discrete variables if it takes them.

        What gives conditions may not raise exceptions under conditions: there is no condition that is neither true nor false.
        """
        arguments = self._arguments(function, *slopes, name=name)
        return self._traced("ends" if may_raise else "decides", function, arguments, may_raise=may_raise)

    def follow_of_parameters(self, function: Callable[..., Any], shown: str) -> Trace:
        """A function called with the parameters, if it takes them; ``shown`` is the option it was given for."""
        return self._traced("parameters", function, tuple(self.parameters() for _ in self.description.taken_alone(function, shown)))

    def reset_actions(self, reset: Callable[..., Any], reader: ResetReader) -> tuple[Action, ...]:
        """What a reset assigns and says, as its reader has it."""
        arguments = self._arguments(reset, name=f"the reset of {reader.label}")
        traced, actions = self._as_before(("reset", reader.label), reset, lambda before: self._traced_actions(reset, arguments, reader, before))
        self._keep(traced)
        return actions

    def _traced_actions(
        self, reset: Callable[..., Any], arguments: tuple[Any, ...], reader: ResetReader, before: tuple[Trace, tuple[Action, ...]] | None
    ) -> tuple[Trace, tuple[Action, ...]]:
        with self._probed() as known:
            said: list[Message | Terminate] = []
            traced = followed(reset, arguments, reader.merged, said)
            actions = reader.actions(traced, said)

            def plain(point: dict[Expr, float]) -> list[float]:
                with collect_remarks() as made:
                    returned = reset(*numeric(arguments, point))
                return reader.effects_at(point, actions, returned, made)

            start, among, effects = at_start(arguments, known), self.numbers_of_texts(), reader.effects(actions)
            most = _points(None if before is None else reader.effects(before[1]), effects)
            require_agreement(called(reset), reader.origin, effects, plain, start, most, among=among)
        return traced, actions

    def _arguments(self, function: Callable[..., Any], *slopes: Any, name: str) -> tuple[Any, ...]:
        is_residual = bool(slopes)
        what, written = ("takes", name, is_residual, id(function)), (function, *_as_written(function))
        taken = self.before.of(what, written, lambda: self.description.taken(function, name, is_residual=is_residual))
        behind = (self.parameters() if one == "p" else self.d.vector(Role.DISCRETE, elsewhere=self._elsewhere) for one in taken)
        return (TIME, self.y.vector(Role.UNKNOWN, elsewhere=self._elsewhere), *slopes, *behind)

    def parameters(self) -> Vector:
        """The vector `p`."""
        return self.description.p.vector(Role.PARAMETER, elsewhere=self._elsewhere)

    @cached_property
    def _elsewhere(self) -> dict[str, str]:
        """In which vector each name of the model is, for whoever asks another for it."""
        found: dict[str, str] = {}
        for quantities, kind in ((self.y, "a variable"), (self.description.p, "a parameter"), (self.d, "a discrete variable")):
            owner = quantities.owner
            taken = "; let the function take d" if owner == "d" else ""
            found |= {piece.name: f"{piece.name} is {kind} of this model: {owner}[{piece.name!r}]{taken}" for piece in quantities.pieces}
        return found

    def _traced(self, how: str, function: Callable[..., Any], arguments: tuple[Any, ...], *, may_raise: bool = False) -> Trace:
        """A function called with symbols, compared with what plain Python makes of the start values; ``how`` tells the ways to call it apart."""

        def compared(before: Trace | None) -> Trace:
            with self._probed() as known:
                traced = followed(function, arguments, may_raise=may_raise)
                start = at_start(arguments, known)
                place = self.before.of(("place", id(function)), (function, *_as_written(function)), lambda: function_origin(function))
                among = self.numbers_of_texts()
                most = _points(None if before is None else before.value, traced.value)
                require_agreement(called(function), place, traced.value, lambda point: plainly(function, arguments, point), start, most, among=among)
            return traced

        traced = self._as_before((how, len(arguments)), function, compared)
        self._keep(traced)
        return traced

    def _as_before[T](self, how: tuple[object, ...], function: Callable[..., Any], follow: Callable[[T | None], T]) -> T:
        """What following a function gave, if it would give that again: with the same variables, that may have the same texts.

        Otherwise it is followed, by who is told what that gave last.
        """
        what = (*how, id(function), self.description.n_texts)
        return self.before.of(what, (function, self.y, self.d), lambda: follow(self.before.last(what)))

    def numbers_of_texts(self) -> dict[Expr, list[float]]:
        """The numbers that those symbols may have which stand for texts."""
        both = ((self.description.p, Role.PARAMETER), (self.d, Role.DISCRETE))
        return {item: values for quantities, role in both for item, values in numbers_of_texts(quantities, role).items()}

    @contextmanager
    def _probed(self) -> Generator[Mapping[Expr, float]]:
        """Values of all symbols, for those who call a function of the user with numbers."""
        values = numbers_of(self.description.p, Role.PARAMETER, {})
        values.update({**numbers_of(self.y, Role.UNKNOWN, values), **numbers_of(self.d, Role.DISCRETE, values)})
        token = probe_values.set({**values, TIME: 0.0, **{symbol(Role.DERIVATIVE, name): 0.0 for name in self.y.elements}})
        try:
            yield probe_values.get()
        finally:
            probe_values.reset(token)

    def _keep(self, traced: Trace) -> None:
        for condition, origin in traced.condition_origins.items():
            self.condition_origins.setdefault(condition, origin)


def _as_written(function: Any) -> tuple[object, object]:
    """What another definition of a function gives it anew."""
    return getattr(function, "__code__", None), getattr(function, "__defaults__", None)


def _points(before: Any, now: Any) -> int:
    """At how many points a function is compared with what following it gave: few where that differs from what it gave before in numbers only."""
    both = [None if value is None else entries_of(value) for value in (before, now)]
    if any(entries is None or any(isinstance(entry, np.complexfloating) for entry in entries) for entries in both):
        return MOST_POINTS
    one, other = ([as_expr(entry) for entry in entries or ()] for entries in both)
    return points_after(one, other)


def called(function: Any) -> str:
    """How messages name a function of the user."""
    return getattr(function, "__name__", type(function).__name__)


def plainly(function: Callable[..., Any], arguments: tuple[Any, ...], point: dict[Expr, float]) -> Any:
    """A function of the user called with numbers; what it says is not said in the model."""
    with collect_remarks():
        return function(*numeric(arguments, point))
