"""What a model's equations read of the past (stage: compiled). In: equations with ``past`` in them; out: of which unknowns, and how long ago."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.vector_symbols import Symbols
from tidegate.errors import UsageError
from tidegate.expressions import ONE, ZERO, Expr, Role, as_real, evaluate, symbol, text, walk
from tidegate.expressions.differentiate import tangent
from tidegate.quick_dataclass import dataclass
from tidegate.results.labels import number

__all__ = ["LookingBack", "look_back_of"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LookingBack:
    """Which unknowns, and how long ago; see ``LookBack``.

    Parameters
    ----------
    unknowns : indices.
    ago : expressions of parameters, one a delay; zero for those that vary.
    whens : of those the unknown that says which time is read; -1 for the others.
    parameters : their symbols.
    """

    unknowns: tuple[int, ...]
    ago: tuple[Expr, ...]
    whens: tuple[int, ...]
    parameters: tuple[Expr, ...]

    def times(self, p: FloatArray) -> FloatArray:
        """How long ago; UsageError where that is not positive."""
        found = np.array(evaluate(self.ago, dict(zip(self.parameters, p.tolist(), strict=True))), dtype=float)
        for expr, value, when in zip(self.ago, found.tolist(), self.whens, strict=True):
            if when < 0 and not 0.0 < value < np.inf:
                raise UsageError(f"the delay {text(expr)} is {number(value)}, and must be positive", hint="a positive time")
        return found

    def rates(self, p: FloatArray, directions: Sequence[Mapping[int, float]]) -> FloatArray:
        """How the times move in directions of the parameters, (delays, directions)."""
        known = dict(zip(self.parameters, p.tolist(), strict=True))
        moved = [tangent(self.ago, {self.parameters[k]: as_real(rate) for k, rate in direction.items()}) for direction in directions]
        return np.array([evaluate(one, known) for one in moved], dtype=float).reshape(len(moved), len(self.ago)).T


def look_back_of(equations: Sequence[Expr], symbols: Symbols) -> LookingBack:
    """What these equations read."""
    looks = [item for item in walk(equations) if item.op == "past"]
    places = {item: k for k, item in enumerate(symbols.unknowns)}
    unknowns = sorted({places[symbol(Role.UNKNOWN, item.data.name)] for item in looks})
    delays = {item.data.delay: item for item in looks}
    ago: list[Expr] = []
    whens: list[int] = []
    for number_of_delay in range(max(delays) + 1):
        item = delays.get(number_of_delay)
        varies = item is not None and item.args[0] in places
        ago.append(ZERO if varies else item.args[2] if item is not None else ONE)
        whens.append(places[item.args[0]] if item is not None and varies else -1)
    return LookingBack(tuple(unknowns), tuple(ago), tuple(whens), symbols.parameters)
