"""The user's functions called as plain Python with numbers (front end of plain functions): what a run is judged by.

In: what the user gave to ``tg.ode`` or ``tg.dae``, and values of the parameters. Out: a ``PlainModel``. Nothing is followed on symbols: each element
of ``y``, ``ydot`` and ``p`` is a Python float, so that an ``if``, a dictionary or ``is`` means what it means in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.expressions import Expr
from tidegate.expressions.tracing import PlainNumber, Vector, VectorNames
from tidegate.expressions.tracing.value_kinds import is_mapping
from tidegate.frontends.equations.call_order import Taken
from tidegate.frontends.equations.event_clause import EventClause
from tidegate.frontends.equations.follow_functions import FunctionsDescription, Parts, by_name, called
from tidegate.frontends.equations.lower_functions import together
from tidegate.frontends.equations.quantities import FunctionQuantities, NamedPiece, read_quantities
from tidegate.frontends.equations.returned import flat
from tidegate.model import Form, Terminate
from tidegate.model.plain_model import Instant, PlainAction, PlainClock
from tidegate.model.remarks import collect_remarks, sentences
from tidegate.quick_dataclass import dataclass

__all__ = ["PlainFunctions"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _FunctionEvent:
    """A ``tg.event`` in numbers."""

    item: EventClause
    condition: Callable[..., Any]
    label: str
    chain: int
    functions: PlainFunctions

    @property
    def priority(self) -> int:
        return self.item.priority

    @property
    def is_noted(self) -> bool:
        return self.item.reset is None

    def conditions(self, at: Instant) -> list[bool]:
        return [bool(value) for value in flat(self.functions.call(self.condition, at))]

    def action(self, at: Instant) -> PlainAction:
        return self.functions.done(self.item, self.label, at)


@dataclass(frozen=True, eq=False)
class _FunctionClock:
    """A ``tg.event`` at times, in numbers."""

    item: EventClause
    label: str
    functions: PlainFunctions

    @property
    def priority(self) -> int:
        return self.item.priority

    def times(self, at: Instant) -> list[float]:  # noqa: ARG002, as clocks of components have it
        given = self.item.at if self.item.every is None else (self.item.start,)
        return [self.functions.time(one) for one in given]

    def period(self, at: Instant) -> float | None:  # noqa: ARG002, as clocks of components have it
        return None if self.item.every is None else self.functions.time(self.item.every)

    def ticks(self, at: Instant) -> bool:  # noqa: ARG002, as clocks of parts have it
        """Always."""
        return True

    def action(self, at: Instant) -> PlainAction:
        return self.functions.done(self.item, self.label, at)


class PlainFunctions:
    """A ``FunctionModel`` in numbers.

    Parameters
    ----------
    description : what the user gave.
    parameters : values by element name.
    """

    truth: str = "the function, called as Python"
    notes: Sequence[str] = ()

    def __init__(self, description: FunctionsDescription, parameters: Mapping[str, float]) -> None:
        self._description = description
        values: list[Any] = [item for piece in description.p.pieces for item in _as_given(piece, [parameters[name] for name in piece.elements])]
        self._p = _vector(description.p, values, _layout(description.p))
        self._takes: dict[Callable[..., Any], tuple[Taken, ...]] = {}
        self._takes_alone: dict[Callable[..., Any], tuple[Taken, ...]] = {}  # of parameters
        self.y = self._start()
        self.d = read_quantities("d", None, [], description.origin) if description.d is None else self._given(description.d, "d")
        self._layout, self._slopes, self._held = _layout(self.y), _layout(self.y, "ydot"), _layout(self.d)
        self.unknowns: Sequence[str] = self.y.elements
        self.discretes: Sequence[str] = self.d.elements
        n_rates = len(self.unknowns) if description.form is Form.ODE else self._n_first
        self.equations: Sequence[str] = [f"der({name})" if k < n_rates else f"equation {k + 1}" for k, name in enumerate(self.unknowns)]
        labelled = [(item.name or f"event {k + 1}", k, item) for k, item in enumerate(description.events)]
        self.clauses = [_FunctionEvent(item, item.condition, label, k, self) for label, k, item in labelled if item.condition is not None]
        self.clocks: Sequence[PlainClock] = [_FunctionClock(item, label, self) for label, _, item in labelled if item.condition is None]

    def _start(self) -> FunctionQuantities:
        parts = self._description.parts
        if parts is None:
            self._n_first = 0
            return self._given(self._description.y0)
        found = [self._given(start, f"x{k + 1}") for k, start in enumerate(parts.starts)]
        self._n_first = len(found[0].elements)
        return together(found)

    def _given(self, given: Any, owner: str = "y") -> FunctionQuantities:
        if isinstance(given, FunctionQuantities):
            return given
        return read_quantities(owner, self._of_parameters(given), [], self._description.origin, self._description.met if owner == "d" else None)

    def _of_parameters(self, given: Callable[..., Any]) -> Any:
        if given not in self._takes_alone:
            self._takes_alone[given] = self._description.taken_alone(given, called(given))
        return given(*(self._p for _ in self._takes_alone[given]))

    def call(self, function: Callable[..., Any], at: Instant, *slopes: Any) -> Any:
        """A function of the user with time, unknowns, derivatives for a residual, and parameters and discrete variables if it takes them."""
        arguments = (PlainNumber(at.t), _vector(self.y, list(map(PlainNumber, at.y.tolist())), self._layout), *slopes)
        if function not in self._takes:
            self._takes[function] = self._description.taken(function, is_residual=bool(slopes))
        return function(*arguments, *(self._p if one == "p" else self._discretes(at) for one in self._takes[function]))

    def _discretes(self, at: Instant) -> Vector:
        numbers = iter(at.d.tolist())
        held = [item for piece in self.d.pieces for item in piece.as_given([PlainNumber(next(numbers)) for _ in piece.elements])]
        return _vector(self.d, held, self._held)

    def time(self, given: Any) -> float:
        """What says when an event happens."""
        if isinstance(given, str):
            return float(self._p[given])
        return _number(self._of_parameters(given) if callable(given) else given)

    def done(self, item: EventClause, label: str, at: Instant) -> PlainAction:
        """What an event does."""
        with collect_remarks() as said:
            returned = None if item.reset is None else self.call(item.reset, at)
        if item.terminal:
            said.append(Terminate(label))
        return PlainAction(self._assigned(returned), sentences(said), any(isinstance(one, Terminate) for one in said))

    def _assigned(self, returned: Any) -> dict[str, float]:
        y, d = self.y, self.d
        if returned is None:
            return {}
        if not is_mapping(returned):
            return dict(zip(y.elements, map(float, flat(returned)), strict=True))
        known = {name: [name] for one in (y, d) for name in one.elements} | {piece.name: piece.elements for one in (y, d) for piece in one.pieces}
        pieces = {name: piece for one in (y, d) for piece in one.pieces for name in piece.elements}
        found: dict[str, float] = {}
        for key, value in returned.items():
            names = known[y.elements[key] if isinstance(key, int) else key]
            values = flat(value)
            news = values * (len(names) // len(values))
            found.update((name, pieces[name].number(new, name, None).value) for name, new in zip(names, news, strict=True))
        return found

    def residuals(self, at: Instant) -> FloatArray:
        """See ``PlainModel``."""
        function = self._description.function
        if self._description.form is Form.ODE:
            return self._in_order(self.call(function, at)) - at.ydot
        if self._description.parts is not None:
            return self._first_parts(self._description.parts, at)
        returned = self.call(function, at, _vector(self.y, list(map(PlainNumber, at.ydot.tolist())), self._slopes))
        values = list(returned.values()) if is_mapping(returned) else returned
        return np.array([_number(item) for item in flat(values)])

    def _first_parts(self, parts: Parts, at: Instant) -> FloatArray:
        """f1, f2 and f3, which determine everything; f4 and f5 follow from them."""
        returned = self.call(self._description.function, at)
        named = is_mapping(returned)
        first = [item for piece in self.y.pieces if piece.name in returned for item in flat(returned[piece.name])] if named else flat(returned)
        others = [self.call(function, at) for function in parts.functions[:2] if function is not None]
        zero = [_number(item) for one in others for item in flat(list(one.values()) if is_mapping(one) else one)]
        return np.concatenate([np.array([_number(item) for item in first]) - at.ydot[: self._n_first], zero])

    def _in_order(self, returned: Any) -> FloatArray:
        values = [item for piece in self.y.pieces for item in flat(returned[piece.name])] if is_mapping(returned) else flat(returned)
        return np.array([_number(item) for item in values])

    def initial(self, at: Instant) -> PlainAction | None:
        """See ``PlainModel``."""
        actions = [item.action(at) for item in self.clauses if item.item.at_start and any(item.conditions(at))]
        if not actions:
            return None
        values = {name: value for action in actions for name, value in action.values.items()}
        return PlainAction(values, tuple(text for action in actions for text in action.says), any(action.ends for action in actions))

    def final(self, at: Instant) -> None:  # noqa: ARG002, as any model
        """See ``PlainModel``."""
        return

    def outputs(self, at: Instant) -> dict[str, float]:
        """See ``PlainModel``."""
        functions = by_name(self._description.outputs)
        if not functions:
            return {}
        values = {name: self.call(function, at) for name, function in functions.items()}
        values = values.get("", values)
        quantities = read_quantities("outputs", values, [], self._description.origin, self._description.met)
        return {name: _number(value) for name, value in zip(quantities.elements, quantities.values, strict=True)}


def _layout(quantities: FunctionQuantities, owner: str = "") -> VectorNames:
    places: dict[str, tuple[int, tuple[int, ...]]] = {}
    at = 0
    for piece in quantities.pieces:
        places[piece.name] = (at, piece.shape)
        at += len(piece.values)
    return VectorNames(owner or quantities.owner, places)


def _vector(quantities: FunctionQuantities, numbers: list[Any], layout: VectorNames) -> Vector:
    vector = Vector(numbers, layout)
    return vector if len(quantities.shape) == 1 else Vector(vector.reshape(quantities.shape))


def _as_given(piece: NamedPiece, values: list[float]) -> list[Any]:
    if piece.texts:
        return piece.as_given(values)
    if piece.kind == "boolean":
        return [bool(value) for value in values]
    return [int(value) if piece.kind == "integer" and float(value).is_integer() else float(value) for value in values]


def _number(value: Any) -> float:
    if isinstance(value, Expr) and not value.is_constant:
        raise UsageError(f"called with numbers, the function returns the symbol `{value!r}`", hint="keep no symbol of an earlier call in a variable")
    return float(value)
