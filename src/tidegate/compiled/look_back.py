"""What a model's equations read of the past (stage: compiled). In: equations with ``past`` in them; out: of which unknowns, and how long ago."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.vector_symbols import Symbols
from tidegate.errors import UsageError
from tidegate.expressions import Expr, Role, evaluate, symbol, text, walk
from tidegate.results.labels import number

__all__ = ["LookingBack", "look_back_of"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LookingBack:
    """Which unknowns, and how long ago; see ``LookBack``.

    Parameters
    ----------
    unknowns : indices.
    ago : expressions of parameters.
    parameters : their symbols.
    """

    unknowns: tuple[int, ...]
    ago: tuple[Expr, ...]
    parameters: tuple[Expr, ...]

    @property
    def most_times(self) -> int:
        """How many delays of different length there can be."""
        return len(self.ago)

    def times(self, p: FloatArray) -> FloatArray:
        """How long ago; UsageError where that is not positive."""
        known = dict(zip(self.parameters, p.tolist(), strict=True))
        found = np.array(evaluate(self.ago, known))
        for expr, value in zip(self.ago, found.tolist(), strict=True):
            if not 0.0 < value < np.inf:
                raise UsageError(f"the delay {text(expr)} is {number(value)}, and must be positive", hint="a positive time")
        return np.unique(found)


def look_back_of(equations: Sequence[Expr], symbols: Symbols) -> LookingBack:
    """What these equations read."""
    looks = [item for item in walk(equations) if item.op == "past"]
    places = {item: k for k, item in enumerate(symbols.unknowns)}
    unknowns = sorted({places[symbol(Role.UNKNOWN, item.data[0])] for item in looks})
    return LookingBack(tuple(unknowns), tuple(dict.fromkeys(item.args[2] for item in looks)), symbols.parameters)
