"""What is behind a failure of a model made of expressions (stage: compiled). In: the point at which a run stands; out: what is wrong there."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from tidegate.compiled.compiled_model import Disagreement, EventAction, Point, Trouble
from tidegate.compiled.condition_words import shortened
from tidegate.compiled.divisors import divided_by
from tidegate.compiled.locking import Guard
from tidegate.compiled.transitions import TargetWriter
from tidegate.compiled.vector_symbols import Symbols, action_symbol
from tidegate.errors import Origin
from tidegate.expressions import FALSE, Expr, Role, evaluate, symbol, text, walk
from tidegate.model import Equation
from tidegate.structure import Reduced
from tidegate.structure.missing_connections import what_is_missing

__all__ = ["ExpressionDiagnosis"]

_SAME: Final = 1e-15  # relative distance of two values that are one
_SAME_DIVISOR: Final = 1e-9  # likewise, of two that are written differently
_ENDS: Final = ("sqrt", "log", "div", "pow", "asin", "acos")  # operations with an end of their domain


_ENDING: Final = re.compile(r"\b(raise|assert)\b")  # statements that end a run where it comes to them
_NEAR: Final = 1e-9  # how far from a point its neighbours are, in parts of the values


class ExpressionDiagnosis:
    """Looks at expressions with the numbers of a point.

    Parameters
    ----------
    reduced, symbols, guards, activity, event_actions, writers, divisors : of it.
    """

    def __init__(
        self,
        reduced: Reduced,
        symbols: Symbols,
        guards: Sequence[Guard],
        activity: Sequence[Expr | None],
        event_actions: Sequence[EventAction],
        writers: Mapping[Expr, Sequence[TargetWriter]],
        divisors: Sequence[Expr],
    ) -> None:
        self._model, self._replaced = reduced.given, reduced.replaced
        self._symbols, self._guards, self._event_actions, self._writers = symbols, guards, event_actions, writers
        self._divisors = divisors
        self._activity = [FALSE if condition is None else condition for condition in activity]

    def source(self, what: str) -> str:  # noqa: ARG002, every equation is told by itself
        """Nothing."""
        return ""

    def _values(self, at: Point) -> dict[Expr, float]:
        values = self._symbols.values(at) | {symbol(Role.DERIVATIVE, s.data.name): 0.0 for s in self._symbols.unknowns}
        gone = {item: value for item, value in self._replaced.items() if item.data.role is Role.UNKNOWN}
        return values | dict(zip(gone, evaluate(gone.values(), values), strict=True))

    def missing_connection(self, loose: Sequence[str]) -> str:
        """What is likeliest missing where these unknowns are not determined; empty where nothing is known."""
        return what_is_missing(self._model, loose)

    def not_finite(self, at: Point) -> Trouble | None:
        """An equation that is not finite."""
        return self._first_not_finite(self._values(at))

    def not_finite_near(self, at: Point) -> Trouble | None:
        """An equation that is finite at the point, and not a little later or with all unknowns a little larger or smaller."""
        values = self._values(at)
        later = {item: value + _NEAR * max(abs(value), 1.0) for item, value in values.items() if item.data.role is Role.TIME}
        moved = [{item: values[item] + side * max(abs(values[item]), 1.0) for item in self._symbols.unknowns} for side in (_NEAR, -_NEAR)]
        found = (self._first_not_finite(values | change) for change in (later, *moved))
        return next((trouble for trouble in found if trouble is not None), None)

    def _first_not_finite(self, values: Mapping[Expr, float]) -> Trouble | None:
        for index, equation in enumerate(self._model.equations):
            (number,) = evaluate([equation.residual], values)
            if not np.isfinite(number):
                ended = self._ended(equation.residual, values) if np.isnan(number) else None
                return Trouble(equation.label or f"equation {index + 1}", number, _text(equation, equation.residual), equation.origin, ended)
        return None

    def _ended(self, item: Expr, values: Mapping[Expr, float]) -> Origin | None:
        """The `raise` or `assert` that the user's function comes to there."""
        for part in walk([item]):
            origin = self._model.condition_origins.get(part.args[0]) if part.op == "select" else None
            if origin is not None and _ENDING.search(origin.text):
                condition, if_true, if_false = part.args
                chosen = if_true if evaluate([condition], values)[0] else if_false
                if chosen.is_constant and np.isnan(chosen.value):
                    return origin
        return None

    def not_a_number(self, at: Point, suspected: int) -> int:
        """A guard that matters and is NaN, or is the suspected one; -1 for none."""
        values = self._values(at)
        for index, (guard, active) in enumerate(zip(self._guards, evaluate(self._activity, values), strict=True)):
            if active and (index == suspected or np.isnan(evaluate([guard.function], values)[0])):
                return index
        return -1

    def divisor(self, at: Point, number: int) -> Trouble | None:
        """An equation that divides by the divisor of this number, and how that reads there: the one of the same value."""
        values, locked = self._values(at), self._divisors[number]
        (size,) = evaluate([locked], values)
        for index, equation in enumerate(self._model.equations):
            for item in walk([equation.residual]):
                for written in divided_by(item):
                    if written is locked or math.isclose(evaluate([written], values)[0], size, rel_tol=_SAME_DIVISOR):
                        return Trouble(equation.label or f"equation {index + 1}", size, _text(equation, written), equation.origin)
        return Trouble("an equation", size, shortened(text(locked)), Origin())

    def suspect(self, at: Point) -> Origin | None:
        """The first equation with a division, root, logarithm or power near the end of its domain: where NaN usually comes from."""
        values = self._values(at)
        for equation in self._model.equations:
            for item in walk([equation.residual]):
                if item.op in _ENDS:
                    (number,) = evaluate([item.args[-1] if item.op == "div" else item.args[0]], values)
                    if abs(number) < 1e-3 or number < 0:
                        return equation.origin
        return None

    def disagreement(self, at: Point) -> Disagreement | None:
        """Two clauses, whose flags are set in m, that give a variable different values."""
        values, event_actions = self._values(at), self._event_actions
        for target, writers in self._writers.items():
            happening = [w for w in writers if values[action_symbol(w.event_action)]]
            most = min((event_actions[w.event_action].priority for w in happening), default=0)
            given = [(w.event_action, evaluate([w.value], values)[0]) for w in happening if event_actions[w.event_action].priority == most]
            for event_action, value in given[1:]:
                if not math.isclose(value, given[0][1], rel_tol=_SAME):
                    return Disagreement(target.data.name, (given[0][0], event_action), (given[0][1], value))
        return None


def _text(equation: Equation, item: Expr) -> str:
    return "what is sealed" if equation.origin.is_sealed else shortened(text(item))
