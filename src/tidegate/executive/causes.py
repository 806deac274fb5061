"""Why an event happened, in the user's words (stage: executive). In: what the integrator logged of an event. Out: texts, origins, messages.

The condition that was crossed comes first, in the direction in which it was written; what merely changed with it comes after. A relation that did not
matter before the event is no cause of it: what it was noted to be had not been looked at, and may be long out of date.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled import workspace as w
from tidegate.compiled.compiled_model import EventAction
from tidegate.errors import Origin
from tidegate.integrators.interface import Problem
from tidegate.quick_dataclass import dataclass

__all__ = ["Cause", "Causes", "crossed_guard", "crossed_guards"]

FloatArray = NDArray[np.float64]
_PRIORITY: Final = 50  # of an event in which no clause happens: the usual one


@dataclass(frozen=True)
class Cause:
    """Names of clauses and conditions, where they are written, what they say, and the highest priority among them."""

    texts: tuple[str, ...]
    origins: tuple[Origin, ...]
    messages: tuple[str, ...]
    priority: int


def crossed_guard(n_guards: int, entry: np.void) -> int:
    """The guard whose zero an entry of the log is about, be it one of time; -1 for none."""
    item = int(entry["item"])
    return item if 0 <= item < n_guards else int(entry["guard"])


def crossed_guards(n_guards: int, log: NDArray[np.void]) -> NDArray[np.intp]:
    """The same of many entries."""
    return np.where((log["item"] >= 0) & (log["item"] < n_guards), log["item"], log["guard"]).astype(np.intp)


class Causes:
    """Writes the causes of the events of one run; it holds no machine code.

    Parameters
    ----------
    problem : the run.
    """

    def __init__(self, problem: Problem) -> None:
        model = problem.model
        self._layout, self._guards, self._event_actions, self._words = model.layout, model.guards, model.event_actions, model.words
        self._p, self._m = problem.p, problem.m
        self._written: dict[tuple[int, float, float], str] = {}
        own = {k: action.inner_modes for k, action in enumerate(self._event_actions) if action.inner_modes is not None}
        self._inner, self._inner_modes = np.array(list(own), dtype=np.intp), frozenset(mode for modes in own.values() for mode in modes)

    def of_run(self, p: FloatArray, m: FloatArray) -> Causes:
        """The same for a run with these parameters and start values."""
        other = object.__new__(Causes)
        vars(other).update(vars(self), _p=p, _m=m)
        return other

    def are_inner(self, n_guards: int, log: NDArray[np.void]) -> NDArray[np.bool_]:
        """Which entries of the log are of what the system did by itself, and of nothing that is the user's."""
        found = np.zeros(len(log), dtype=bool)
        if self._inner.size:
            for k in np.flatnonzero(log["fired"][:, self._inner].any(axis=1)):
                cause = self.of(crossed_guard(n_guards, log[k]), log["m_before"][k], log["m_after"][k], log["fired"][k])
                found[k] = not cause.texts and not cause.messages
        return found

    def are_corners(self, n_guards: int, log: NDArray[np.void]) -> NDArray[np.bool_]:
        """Which entries of the log are of a table of time that comes to its next piece, and of nothing else."""
        pieces = np.array([bool(grid) for grid in self._guards.grids], dtype=bool) & self._guards.is_time
        if not pieces.any():
            return np.zeros(len(log), dtype=bool)
        crossed = crossed_guards(n_guards, log)
        n = self._layout.n_modes
        others = np.setdiff1d(np.arange(n), self._guards.mode[pieces])
        changed = log["m_before"][:, others] != log["m_after"][:, others]
        return (crossed >= 0) & pieces[crossed] & ~log["fired"].any(axis=1) & ~changed.any(axis=1)

    def of(self, crossed: int, before: FloatArray, after: FloatArray, fired: FloatArray) -> Cause:
        """The cause of one event.

        Parameters
        ----------
        crossed : the guard that led to the event; -1 if the calendar did.
        before, after : modes on both sides.
        fired : flags of branches and time events.
        """
        happened = [self._event_actions[k] for k in np.flatnonzero(fired) if self._event_actions[k].inner_modes is None]
        is_alone = len(happened) == 0 and bool(self._inner.size) and bool(np.any(fired[self._inner]))
        happened.sort(key=lambda event_action: event_action.chain >= 0)  # the calendar first: a clause can follow from it, never lead to it
        texts = [event_action.label for event_action in happened if event_action.label]
        origins = [event_action.origin for event_action in happened]
        # at a time event with a name the relations that changed are what followed
        for j in self._changed(crossed, before, after, is_named=bool(texts) or is_alone) if crossed >= 0 or not texts else ():
            if int(self._guards.mode[j]) in self._inner_modes:
                continue
            texts.append(self._text(j, before, after))
            origin = self._words.origin(j)
            if origin is not None:
                origins.append(origin)
        return Cause(
            texts=tuple(dict.fromkeys(texts)),
            origins=tuple(dict.fromkeys(origins)),
            messages=tuple(_said(happened)),
            priority=min((event_action.priority for event_action in happened), default=_PRIORITY),
        )

    def _changed(self, crossed: int, before: FloatArray, after: FloatArray, *, is_named: bool) -> list[int]:
        """Guards that mattered and whose relation changed, the crossed one first; of relations with the same zero the one that holds now."""
        n, modes = self._layout.n_modes, self._guards.mode
        changed = [self._deciding[int(mode)] for mode in np.flatnonzero(before[:n] != after[:n])]
        mattered = [j for j in changed if self._mattered(j, before)]
        if mattered or is_named or crossed >= 0:
            changed = mattered
        if crossed >= 0:
            changed = [crossed, *(j for j in changed if modes[j] != modes[crossed])]
        chosen: dict[int, int] = {}
        for j in changed:
            key = int(self._guards.zero[j])
            other = chosen.setdefault(key, j)
            # of two that both hold always the same one, whichever came out first by rounding
            if (not self._holds(j, before, after), j) < (not self._holds(other, before, after), other):
                chosen[key] = j
        return list(chosen.values())

    @cached_property
    def _deciding(self) -> dict[int, int]:
        """For every mode the guard that decides about it, of two the last."""
        return {mode: j for j, mode in enumerate(self._guards.mode.tolist())}

    def _mattered(self, j: int, before: FloatArray) -> bool:
        """Whether the guard was on the active path just before the event."""
        layout = self._layout
        m = self._m.copy()
        m[: layout.first_previous] = before
        m[layout.first_previous : layout.first_input] = before[layout.first_discrete :]
        return self._words.mattered(j, self._p, m)

    def _holds(self, j: int, before: FloatArray, after: FloatArray) -> bool:
        """Whether the relation came to hold; one that the event itself turned back again did."""
        index = self._guards.mode[j]
        return bool(after[index] if before[index] != after[index] else not before[index])

    def _text(self, j: int, before: FloatArray, after: FloatArray) -> str:
        index = self._guards.mode[j]
        sides = (j, float(before[index]), float(after[index]))
        if sides not in self._written:
            is_relation = self._guards.kind[j] == w.RELATION
            self._written[sides] = self._words.relation(j, holds=self._holds(j, before, after)) if is_relation else self._words.piece(*sides)
        return self._written[sides]


def _said(event_actions: Sequence[EventAction]) -> Iterator[str]:
    """What the clauses say; of one body that happens for several reasons, or for several elements, once."""
    told: set[tuple[Origin, str]] = set()
    for event_action in event_actions:
        for sentence in event_action.messages:
            if (event_action.origin, sentence) not in told:
                told.add((event_action.origin, sentence))
                yield sentence
