"""The same model, solved in another way where parameters ask for it (stage: compiled). In: a reduced model, parameters; out: a compiled model.

An unknown that its equation gives by dividing by parameters is not solved for. Where such a divisor is zero, as the resistance of a short circuit is,
the equation still says something: the model is reduced and compiled again without that division, once for all runs in which the same divisors vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import CompiledModel
from tidegate.expressions import Expr
from tidegate.model import Model
from tidegate.structure import Reduced, reduced, standard_passes
from tidegate.structure.linear_solution import is_rounding

__all__ = ["Variants", "without_vanishing"]


class Variants:
    """Compiled models of one model, found by the divisors that vanish.

    Parameters
    ----------
    given : the model, reduced with all divisions.
    parameters : symbols, in the order of their vector.
    compiled : what compiles a reduced model.
    """

    def __init__(self, given: Reduced, parameters: Sequence[Expr], compiled: Callable[[Reduced], CompiledModel]) -> None:
        self._given, self._parameters, self._compiled = given, tuple(parameters), compiled
        self._divisors = _divisors(given)
        self._made: dict[frozenset[Expr], CompiledModel] = {}

    def __call__(self, p: NDArray[np.float64]) -> CompiledModel | None:
        """The model for these parameters, if it is another."""
        avoided = self._vanishing(self._divisors, p)
        if not avoided:
            return None
        if avoided not in self._made:
            self._made[avoided] = self._compiled(self._without(avoided, p))
        return self._made[avoided]

    def _vanishing(self, divisors: Sequence[Expr], p: NDArray[np.float64]) -> frozenset[Expr]:
        return _zero(divisors, dict(zip(self._parameters, p.tolist(), strict=True)))

    def _without(self, avoided: frozenset[Expr], p: NDArray[np.float64]) -> Reduced:
        return _reduced_without(self._given.given, avoided, dict(zip(self._parameters, p.tolist(), strict=True)))


def without_vanishing(given: Reduced, values: Mapping[Expr, float]) -> Reduced:
    """The model as it is, or reduced again without the divisors that are zero with these values of its parameters."""
    avoided = _zero(_divisors(given), values)
    return _reduced_without(given.given, avoided, values) if avoided else given


def _reduced_without(given: Model, avoided: frozenset[Expr], values: Mapping[Expr, float]) -> Reduced:
    """Reduced without these divisors, and without others that vanish too."""
    while True:
        found = reduced(given, standard_passes(avoided=avoided))
        more = _zero(_divisors(found), values)
        if not more - avoided:
            return found
        avoided |= more


def _zero(divisors: Sequence[Expr], values: Mapping[Expr, float]) -> frozenset[Expr]:
    return frozenset(divisor for divisor in divisors if is_rounding(divisor, values))


def _divisors(found: Reduced) -> list[Expr]:
    return [demand.value for demand in found.demands if demand.is_choice]
