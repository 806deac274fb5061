"""Why an event happened, in the user's words (stage: executive). In: what the integrator logged of an event. Out: texts, origins, messages.

The condition that was crossed comes first, in the direction in which it was written; what merely changed with it comes after. A relation that did not
matter before the event is no cause of it: what it was noted to be had not been looked at, and may be long out of date.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.compiled.locking import Guard, GuardKind
from tidegate.compiled.transitions import Fire
from tidegate.errors import Origin
from tidegate.executive.kept import kept_with_the_model
from tidegate.executive.words import condition_words, shortened
from tidegate.expressions import TRUE, Expr, Role, symbol
from tidegate.expressions.evaluate import evaluate
from tidegate.expressions.printing import number_text, text
from tidegate.model import DEFAULT_PRIORITY, Message, Terminate

__all__ = ["Cause", "Causes"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Cause:
    """Names of clauses and conditions, where they are written, what they say, and the highest priority among them."""

    texts: tuple[str, ...]
    origins: tuple[Origin, ...]
    messages: tuple[str, ...]
    priority: int


@dataclass(frozen=True, eq=False)
class _Facts:
    """What causes are told from, the same for all runs of a model; no machine code."""

    activity: tuple[Expr | None, ...]
    discretes: tuple[Expr, ...]
    fires: tuple[Fire, ...]
    guards: tuple[Guard, ...]
    origins: Mapping[Expr, Origin]
    places: Mapping[Expr, int]
    deciding: Mapping[int, int]


@kept_with_the_model
def _facts(compiled: CompiledModel) -> _Facts:
    places = {mode: place for place, mode in enumerate(compiled.layout.modes)}
    return _Facts(
        activity=compiled.activity,
        discretes=compiled.layout.discretes,
        fires=compiled.transitions.fires,
        guards=compiled.guards,
        origins=compiled.model.condition_origins,
        places=places,
        deciding={places[guard.mode]: j for j, guard in enumerate(compiled.guards)},
    )


class Causes:
    """Writes the causes of the events of one model.

    Parameters
    ----------
    compiled : the model.
    constants : gives the values of its parameters and inputs, when an event is first looked at.
    """

    def __init__(self, compiled: CompiledModel, constants: Callable[[], Mapping[Expr, float]]) -> None:
        self._facts = _facts(compiled)
        self._make_constants = constants
        self._written: dict[tuple[int, float, float], str] = {}

    @cached_property
    def _constants(self) -> Mapping[Expr, float]:
        return self._make_constants()

    def of(self, crossed: int, before: FloatArray, after: FloatArray, fired: FloatArray) -> Cause:
        """The cause of one event.

        Parameters
        ----------
        crossed : the guard that led to the event; -1 if the calendar did.
        before, after : modes on both sides.
        fired : flags of branches and time events.
        """
        happened = [self._facts.fires[k] for k in np.flatnonzero(fired)]
        happened.sort(key=lambda fire: fire.chain >= 0)  # the calendar first: a clause can follow from it, never lead to it
        texts = [fire.label for fire in happened if fire.label]
        origins = [fire.origin for fire in happened]
        # at a time event with a name the relations that changed are what followed
        for j in self._changed(crossed, before, after, is_named=bool(texts)) if crossed >= 0 or not texts else ():
            texts.append(self._words(j, before, after))
            if self._facts.guards[j].source in self._facts.origins:
                origins.append(self._facts.origins[self._facts.guards[j].source])
        return Cause(
            texts=tuple(dict.fromkeys(texts)),
            origins=tuple(dict.fromkeys(origins)),
            messages=tuple(_said(happened)),
            priority=min((fire.priority for fire in happened), default=DEFAULT_PRIORITY),
        )

    def _changed(self, crossed: int, before: FloatArray, after: FloatArray, *, is_named: bool) -> list[int]:
        """Guards that mattered and whose relation changed, the crossed one first; of relations with the same zero the one that holds now."""
        n = len(self._facts.places)
        changed = [self._facts.deciding[int(place)] for place in np.flatnonzero(before[:n] != after[:n])]
        mattered = [j for j in changed if self._mattered(j, before)]
        if mattered or is_named or crossed >= 0:
            changed = mattered
        if crossed >= 0:
            changed = [crossed, *(j for j in changed if self._facts.guards[j].mode is not self._facts.guards[crossed].mode)]
        chosen: dict[object, int] = {}
        for j in changed:
            key = _zero(self._facts.guards[j])
            if key not in chosen or (not self._holds(chosen[key], before, after) and self._holds(j, before, after)):
                chosen[key] = j
        return list(chosen.values())

    def _mattered(self, j: int, before: FloatArray) -> bool:
        """Whether the guard was on the active path just before the event."""
        active = self._facts.activity[j]
        if active is None or active is TRUE:
            return active is TRUE
        discretes = before[len(self._facts.places) :].tolist()
        values = {mode: float(before[place]) for mode, place in self._facts.places.items()} | dict(zip(self._facts.discretes, discretes, strict=True))
        previous = {symbol(Role.PREVIOUS, s.data.name): values[s] for s in self._facts.discretes}
        return evaluate([active], {**self._constants, **values, **previous}) == [1.0]

    def _holds(self, j: int, before: FloatArray, after: FloatArray) -> bool:
        """Whether the relation came to hold; one that the event itself turned back again did."""
        place = self._facts.places[self._facts.guards[j].mode]
        return bool(after[place] if before[place] != after[place] else not before[place])

    def _words(self, j: int, before: FloatArray, after: FloatArray) -> str:
        place = self._facts.places[self._facts.guards[j].mode]
        sides = (j, float(before[place]), float(after[place]))
        if sides not in self._written:
            guard = self._facts.guards[j]
            is_relation = guard.kind is GuardKind.RELATION
            self._written[sides] = self._relation_words(guard, self._holds(j, before, after)) if is_relation else _piece_words(guard, *sides[1:])
        return self._written[sides]

    def _relation_words(self, guard: Guard, holds: bool) -> str:
        return condition_words(guard.source, self._facts.origins.get(guard.source), holds=holds)


def _said(fires: Sequence[Fire]) -> Iterator[str]:
    """What the clauses say; of one body that happens for several reasons, or for several elements, once."""
    told: set[tuple[Origin, str]] = set()
    for fire in fires:
        sentences = [a.text for a in fire.actions if isinstance(a, Message)] + [a.message for a in fire.actions if isinstance(a, Terminate)]
        for sentence in filter(None, sentences):
            if (fire.origin, sentence) not in told:
                told.add((fire.origin, sentence))
                yield sentence


def _zero(guard: Guard) -> object:
    """The same for relations that change at the same zero: ``a > b``, ``b >= a``."""
    if guard.kind is not GuardKind.RELATION or guard.source.op not in ("ge", "gt"):
        return guard.mode
    g: Expr = guard.source.args[0]
    while g.op == "neg":
        (g,) = g.args
    return frozenset(g.args) if g.op == "sub" else g


def _piece_words(guard: Guard, before: float, after: float) -> str:
    """Which edge of a table, or which whole number, was passed."""
    what, piece = shortened(text(guard.source.args[0])), int(after)
    rises = after > before
    passed = piece if rises else piece + 1
    edge = passed if guard.source.op == "floor" else guard.source.data[passed]
    return f"{what} {'>=' if rises else '<'} {number_text(float(edge))}"
