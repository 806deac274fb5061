"""What an event comes to, worked out round by round with plain numbers (stage: verification).

In: the values before it, and the clocks that tick. Out: the values after it, what happened, and what was said.

Clauses whose conditions have just become true are carried out on the values before the round; the equations are solved anew, conditions are asked
again, until none has become true (event iteration of Modelica, chapter 8.6). A relation that crosses its zero at that instant is asked a moment
behind it, which is long beside rounding and short beside the tolerance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.model.plain_model import Instant, PlainAction, PlainClause, PlainClock, PlainModel
from tidegate.quick_dataclass import dataclass

__all__ = ["Outcome", "Truth", "after_rounds", "carried_out", "solved", "together", "truth_of"]

FloatArray = NDArray[np.float64]
Truth = tuple[tuple[bool, ...], ...]

_MOST_ROUNDS: Final = 100
_ROUNDING: Final = 1e-14  # of the largest of what is solved for: no more than that is nothing
_NEWTON: Final = 3  # corrections; most equations are linear in what is solved for


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an event has come to.

    Parameters
    ----------
    at : the values after it.
    action : what was said, and whether the run ends.
    labels : of what happened.
    """

    at: Instant
    action: PlainAction
    labels: frozenset[str]


def truth_of(model: PlainModel, at: Instant) -> Truth:
    """What every condition says."""
    return tuple(tuple(bool(value) for value in clause.conditions(at)) for clause in model.clauses)


def carried_out(model: PlainModel, at: Instant, given: Mapping[str, float]) -> Instant:
    """The values after an assignment."""
    y = np.array([given.get(name, value) for name, value in zip(model.unknowns, at.y.tolist(), strict=True)])
    d = np.array([given.get(name, value) for name, value in zip(model.discretes, at.d.tolist(), strict=True)])
    return Instant(at.t, y, at.ydot, d, at.d)


def solved(model: PlainModel, at: Instant, states: NDArray[np.bool_]) -> Instant:
    """With algebraic unknowns and rates that the equations give, by Newton's method with differences; those of the midst are not recorded."""
    y, ydot = at.y.copy(), at.ydot.copy()
    if np.all(states):
        explicit = Instant(at.t, y, ydot + model.residuals(at), at.d, at.pre)
        left = np.max(np.abs(model.residuals(explicit)), initial=0.0)
        if left <= _ROUNDING * np.max(np.abs(explicit.ydot), initial=0.0):
            return explicit
    for _ in range(_NEWTON):
        now = Instant(at.t, y, ydot, at.d, at.pre)
        gap = model.residuals(now)
        columns: list[FloatArray] = []
        for k in range(len(y)):
            moved, rate = y.copy(), ydot.copy()
            (rate if states[k] else moved)[k] += 1.0
            columns.append(model.residuals(Instant(at.t, moved, rate, at.d, at.pre)) - gap)
        if not np.all(np.isfinite(columns)) or not np.all(np.isfinite(gap)):
            return now
        move = np.linalg.lstsq(np.array(columns).T, -gap)[0]
        sizes = np.where(states, ydot, y)
        move[np.abs(move) <= _ROUNDING * np.max(np.abs(sizes), initial=0.0)] = 0.0  # what stays stays exactly
        y, ydot = np.where(states, y, y + move), np.where(states, ydot + move, ydot)
    return Instant(at.t, y, ydot, at.d, at.pre)


def together(actions: Sequence[PlainAction]) -> PlainAction:
    """What several bodies say and end; new values are not among it."""
    said = tuple(item for action in actions for item in action.says)
    return PlainAction({}, said, any(action.ends for action in actions), all(action.is_clear for action in actions))


def after_rounds(model: PlainModel, base: Instant, states: NDArray[np.bool_], ticking: Collection[PlainClock], moment: float) -> Outcome | None:
    """The values after an event; None if it does not come to rest.

    Parameters
    ----------
    base : the values before it, with the rates that led there.
    states : which unknowns are states.
    ticking : the clocks that tick at this instant.
    moment : so far from the instant relations are asked.
    """
    drift = np.where(states, moment * base.ydot, 0.0)
    held = truth_of(model, Instant(base.t - moment, base.y - drift, base.ydot, base.d, base.pre))
    here = solved(model, Instant(base.t + moment, base.y + drift, base.ydot, base.d, base.pre), states)
    now = truth_of(model, here)
    due: list[PlainClause | PlainClock] = [*ticking, *_rising(model, held, now)]
    done: list[PlainAction] = []
    labels: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        if not due:
            # where nothing happens what was before comes up to the present, which may be a change too
            held, now = now, truth_of(model, Instant(here.t, here.y, here.ydot, here.d, here.d))
            due.extend(_rising(model, held, now))
            if not due:
                y = np.where(states & (here.y == base.y + drift), base.y, here.y)
                return Outcome(Instant(base.t, y, here.ydot, here.d, here.d), together(done), frozenset(labels))
        labels.update(item.label for item in due)
        given, actions = _round(model, here, due)
        done += actions
        new = solved(model, carried_out(model, here, given), states)
        held, now = now, truth_of(model, Instant(new.t, new.y, new.ydot, new.d, here.d, y_before=here.y))
        here, due = new, list[PlainClause | PlainClock](_rising(model, held, now))
    return None


def _rising(model: PlainModel, held: Truth, now: Truth) -> list[PlainClause]:
    """The clauses with a condition that has become true; of a chain the first."""
    found: dict[int, PlainClause] = {}
    for clause, old, new in zip(model.clauses, held, now, strict=True):
        if any(is_true and not was_true for was_true, is_true in zip(old, new, strict=True)):
            found.setdefault(clause.chain, clause)
    return list(found.values())


def _round(model: PlainModel, here: Instant, due: Sequence[PlainClause | PlainClock]) -> tuple[dict[str, float], list[PlainAction]]:
    """What bodies assign, the most important last, and do; a second time with what the others give."""
    actions: list[PlainAction] = []
    given: dict[str, float] = {}
    for _ in range(2):
        at = Instant(here.t, here.y, here.ydot, here.d, here.d, carried_out(model, here, given).d)
        actions = [item.action(at) for item in due]
        order = sorted(zip(due, actions, strict=True), key=lambda pair: -pair[0].priority)
        given = {name: value for _, action in order for name, value in action.values.items()}
    return given, actions
