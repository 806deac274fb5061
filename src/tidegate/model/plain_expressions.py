"""The neutral model's expressions as plain numbers: what is judged by where the user's own code cannot be called (blocks, neutral models).

Expressions are evaluated one by one, as they were written, by ``expressions.evaluate``: every relation from the values of the instant, with no mode
bits and no compiled code. Shared with the run is the way from the user's text to the expressions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.expressions import Expr, Role, evaluate, symbol, walk
from tidegate.expressions.evaluate import evaluate_order
from tidegate.model.events import Action, Assignment, Branch, Terminate, TimeEvent
from tidegate.model.model import Model
from tidegate.model.plain_model import Instant, PlainAction
from tidegate.model.remarks import sentences
from tidegate.model.variables import VariableRole
from tidegate.quick_dataclass import dataclass

__all__ = ["PlainExpressions"]

FloatArray = NDArray[np.float64]

_TIME: Final = symbol(Role.TIME, "time")


@dataclass(frozen=True, eq=False)
class _PlainBranch:
    """A ``when`` in numbers."""

    branch: Branch
    chain: int
    priority: int
    owner: PlainExpressions

    @property
    def label(self) -> str:
        return self.branch.label

    @property
    def is_noted(self) -> bool:
        return not self.branch.actions

    def conditions(self, at: Instant) -> list[bool]:
        return [value != 0.0 for value in self.owner.numbers(self.branch.conditions, at)]

    def action(self, at: Instant) -> PlainAction:
        return self.owner.done(self.branch.actions, at)


@dataclass(frozen=True, eq=False)
class _Clock:
    """A time event in numbers."""

    event: TimeEvent
    owner: PlainExpressions

    @property
    def label(self) -> str:
        return self.event.label

    @property
    def priority(self) -> int:
        return self.event.priority

    def times(self, at: Instant) -> list[float]:
        return self.owner.numbers([self.event.first], at)

    def period(self, at: Instant) -> float | None:
        return None if self.event.period is None else self.owner.numbers([self.event.period], at)[0]

    def ticks(self, at: Instant) -> bool:
        """Whether the event's own condition holds."""
        return self.event.condition is None or self.owner.numbers([self.event.condition], at)[0] != 0.0

    def action(self, at: Instant) -> PlainAction:
        return self.owner.done(self.event.actions, at)


class PlainExpressions:
    """A neutral model in numbers.

    Parameters
    ----------
    model : any.
    parameters : values by element name.
    """

    truth: str = "the neutral model, evaluated as written"
    notes: Sequence[str] = ()

    def __init__(self, model: Model, parameters: Mapping[str, float]) -> None:
        self.model = model
        self.unknowns = [name for variable in model.unknowns for name in variable.names]
        self.discretes = [name for variable in model.discretes for name in variable.names]
        self.equations = [equation.label or f"equation {k + 1}" for k, equation in enumerate(model.equations)]
        self.clauses = [_PlainBranch(branch, k, when.priority, self) for k, when in enumerate(model.whens) for branch in when.branches]
        self.clocks = [_Clock(event, self) for event in model.time_events]
        self._constants: dict[Expr, float] = {symbol(Role.PARAMETER, name): value for name, value in parameters.items()}
        for variable in model.by_role(VariableRole.INPUT):
            self._constants |= dict(zip(variable.symbols(), evaluate(variable.starts(), self._constants), strict=True))
        own = ((Role.UNKNOWN, Role.DERIVATIVE, Role.PREVIOUS), self.unknowns), ((Role.DISCRETE, Role.PREVIOUS, Role.NEXT), self.discretes)
        self._symbols = [symbol(role, name) for roles, names in own for role in roles for name in names]
        self._orders: dict[tuple[int, ...], tuple[Expr, ...]] = {}
        self._residuals = [equation.residual for equation in model.equations]

    def numbers(self, roots: list[Expr] | tuple[Expr, ...], at: Instant) -> list[float]:
        """Values of expressions."""
        following = at.d if at.following is None else at.following
        y_before = at.y if at.y_before is None else at.y_before
        given = np.concatenate((at.y, at.ydot, y_before, at.d, at.pre, following)).tolist()
        values = {**self._constants, _TIME: at.t, **dict(zip(self._symbols, given, strict=True))}
        key = tuple(map(id, roots))
        if key not in self._orders:
            self._orders[key] = tuple(walk(roots))  # it holds the roots, so that their numbers stay theirs
        found = evaluate_order(self._orders[key], values)
        return [found[root] for root in roots]

    def done(self, actions: tuple[Action, ...], at: Instant) -> PlainAction:
        """What actions do."""
        found = [action for action in actions if isinstance(action, Assignment)]
        values = dict(zip((item.target.data.name for item in found), self.numbers([item.value for item in found], at), strict=True))
        remarks = [action for action in actions if not isinstance(action, Assignment)]
        held = [item for item, holds in zip(remarks, self.numbers([item.condition for item in remarks], at), strict=True) if holds]
        return PlainAction(values, sentences(held), any(isinstance(item, Terminate) for item in held))

    def initial(self, at: Instant) -> PlainAction | None:
        """See ``PlainModel``."""
        return self.done(self.model.initial_actions, at) if self.model.initial_actions else None

    def final(self, at: Instant) -> PlainAction | None:
        """See ``PlainModel``."""
        return self.done(self.model.final_actions, at) if self.model.final_actions else None

    def residuals(self, at: Instant) -> FloatArray:
        """See ``PlainModel``."""
        return np.array(self.numbers(self._residuals, at))

    def outputs(self, at: Instant) -> dict[str, float]:
        """See ``PlainModel``."""
        values = self.numbers([definition.value for definition in self.model.definitions], at)
        return dict(zip((definition.name for definition in self.model.definitions), values, strict=True))
