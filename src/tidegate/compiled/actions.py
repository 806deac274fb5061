"""What a model does once, at the start or the end of a run (stage: compiled). In: actions; out: functions from a point to numbers and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import Direction, Point, Said
from tidegate.compiled.vector_symbols import Symbols
from tidegate.expressions import TRUE, Expr, as_real, constant, dependencies, evaluate, tangent
from tidegate.model import Action, Assignment, Message, Terminate

__all__ = ["ExpressionActions"]

FloatArray = NDArray[np.float64]


class ExpressionActions:
    """Initial or final actions.

    Parameters
    ----------
    actions : of the neutral model.
    symbols : of the flat vectors.
    """

    def __init__(self, actions: Sequence[Action], symbols: Symbols) -> None:
        self._symbols = symbols
        self._index = {s: k for k, s in enumerate((*symbols.unknowns, *symbols.discretes))}
        self._assigned = [action for action in actions if isinstance(action, Assignment)]
        self._values = [action.value for action in self._assigned]
        self._said = [action for action in actions if isinstance(action, Message | Terminate)]
        self.origins = tuple(action.origin for action in self._assigned)
        self.read = {s for value in self._values for s in dependencies(value)}
        self.assigns, self.says = bool(self._assigned), bool(self._said)
        self.asks = any(action.condition is not TRUE for action in self._said)

    def assigned(self, at: Point) -> FloatArray:
        """Unknowns and discrete variables afterwards."""
        new = self._numbers(at)
        for action, value in zip(self._assigned, evaluate(self._values, self._symbols.values(at)), strict=True):
            new[self._index[action.target]] = value
        return new

    def _numbers(self, at: Point) -> FloatArray:
        layout = self._symbols.layout
        return np.concatenate([at.y, at.m[layout.first_discrete : layout.first_previous]])

    def moves(self, at: Point, moves: FloatArray, directions: Sequence[Direction]) -> FloatArray:
        """Their derivatives afterwards from those before, (directions, values)."""
        values = self._symbols.values(at)
        result = moves.copy()
        for i, direction in enumerate(directions):
            seeds: dict[Expr, Any] = {s: constant(float(moves[i, k])) for s, k in self._index.items()}
            seeds |= {self._symbols.parameters[index]: constant(rate) for index, rate in direction.items()}
            for action, move in zip(self._assigned, evaluate(tangent(self._values, seeds), values), strict=True):
                result[i, self._index[action.target]] = move
        return result

    def said(self, at: Point | None) -> Said:
        """What is said; conditions, if there are any, are asked at a point."""
        held = self._said
        if self.asks and at is not None:
            asked = evaluate([as_real(action.condition) for action in held], self._symbols.values(at))
            held = [action for action, holds in zip(held, asked, strict=True) if holds]
        texts = [action.text if isinstance(action, Message) else action.message for action in held]
        ends = [action for action in held if isinstance(action, Terminate)]
        return Said(tuple(filter(None, texts)), bool(ends), any(action.is_failure for action in ends))
