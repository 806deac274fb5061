"""What guards and clauses of a model made of expressions are called (stage: compiled). In: expressions, origins; out: texts, made when asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import EventAction
from tidegate.compiled.condition_words import condition_words, shortened
from tidegate.compiled.influence import influenced
from tidegate.compiled.locking import Guard, GuardKind
from tidegate.compiled.vector_symbols import Symbols
from tidegate.errors import Origin
from tidegate.expressions import TRUE, Expr, dependencies, evaluate, number_text, text
from tidegate.structure import Reduced

__all__ = ["ExpressionWords", "zeros_of"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_SHOWN: Final = 4


class ExpressionWords:
    """Texts about one model; it holds expressions and no machine code.

    Parameters
    ----------
    reduced, symbols, guards, event_actions : of it.
    activity : for every guard the condition, of modes, discrete variables and parameters, under which it matters; None: never.
    """

    def __init__(
        self, reduced: Reduced, symbols: Symbols, guards: Sequence[Guard], activity: Sequence[Expr | None], event_actions: Sequence[EventAction]
    ) -> None:
        # what is said is said of the model as it was given
        self._model, self._positions, self._event_actions = reduced.given, symbols.positions, event_actions
        self._sources = [reduced.written.get(guard.source, guard.source) for guard in guards]
        self._activity = activity
        self._relations: dict[tuple[int, bool], str] = {}  # runs of a sweep say the same again and again

    def origin(self, guard: int) -> Origin | None:
        """Where the relation was written."""
        return self._model.condition_origins.get(self._sources[guard])

    def relation(self, guard: int, *, holds: bool = True) -> str:
        """The relation that holds, in the direction in which it was written."""
        if (guard, holds) not in self._relations:
            self._relations[guard, holds] = condition_words(self._sources[guard], self.origin(guard), holds=holds)
        return self._relations[guard, holds]

    def piece(self, guard: int, before: float, after: float) -> str:
        """Which edge of a table, or which integer, was passed."""
        source, origin = self._sources[guard], self.origin(guard)
        if origin is not None and origin.is_sealed:
            return condition_words(source, origin)
        what, piece = shortened(text(source.args[0])), int(after)
        rises = after > before
        passed = piece if rises else piece + 1
        edge = passed if source.op == "floor" else source.data[passed]
        return f"{what} {'>=' if rises else '<'} {number_text(float(f'{edge:.12g}'))}"

    def whole(self, guard: int) -> str:
        """Of what a whole part is taken; empty where there is none."""
        source = self._sources[guard]
        return shortened(text(source.args[0])) if source.op == "floor" else ""

    def clause(self, event_action: int) -> str:
        """A clause by its name, with its conditions and where it stands."""
        told = self._event_actions[event_action]
        branches = (branch for when in self._model.whens for branch in when.branches if (branch.label, branch.origin) == (told.label, told.origin))
        conditions = next((branch.conditions[:_SHOWN] for branch in branches), ())
        words = [f"`{condition_words(item, self._model.condition_origins.get(item))}`" for item in conditions]
        about = ", ".join([" or ".join(words)] * bool(words) + [f"at {told.origin}"] * bool(str(told.origin)))
        return f"{told.label} ({about})" if about else told.label

    def mattered(self, guard: int, p: FloatArray, m: FloatArray) -> bool:
        """Whether the guard is on the active path with these modes and discrete variables."""
        active = self._activity[guard]
        if active is None or active is TRUE:
            return active is TRUE
        vectors = {"p": p, "m": m}
        found = ((s, *self._positions[s]) for s in dependencies(active))
        return evaluate([active], {s: float(vectors[vector][k]) for s, vector, k in found}) == [1.0]

    def asked(self) -> tuple[IntArray, IntArray]:
        """Where in p and in m all that ``mattered`` looks at stands."""
        conditions = [active for active in self._activity if active is not None]
        found = [self._positions[s] for s in dependencies(*conditions)]
        places = [np.array(sorted(k for vector, k in found if vector == wanted), dtype=np.int64) for wanted in ("p", "m")]
        return places[0], places[1]

    def read(self, guard: int) -> frozenset[str]:
        """Names of what stands in the relation."""
        return frozenset(s.data.name for s in dependencies(self._sources[guard]))

    def influenced(self, guard: int, event_action: int = -1) -> frozenset[str]:
        """Names of all columns that depend on a relation, or (guard -1) on what a clause assigns, directly or through others."""
        if guard < 0:
            return frozenset(influenced(self._model, None, self._event_actions[event_action].targets))
        return frozenset(influenced(self._model, self._sources[guard]))


def zeros_of(guards: Sequence[Guard]) -> list[tuple[object, Expr]]:
    """For every guard its zero, the same for relations that change at the same, as ``a > b`` and ``b >= a``; and which way it faces there."""
    return [_zero(guard) for guard in guards]


def _zero(guard: Guard) -> tuple[object, Expr]:
    if guard.kind is not GuardKind.RELATION or guard.source.op not in ("ge", "gt"):
        return guard.mode, guard.mode
    g: Expr = guard.source.args[0]
    is_turned = False
    while g.op == "neg":
        (g,) = g.args
        is_turned = not is_turned
    if g.op != "sub":
        return g, -g if is_turned else g
    greater, smaller = g.args
    return frozenset(g.args), smaller if is_turned else greater
