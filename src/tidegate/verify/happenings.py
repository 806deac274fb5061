"""Whether what happened is what the model says (stage: verification). In: plain conditions and bodies, the steps and the event log. Out: findings.

A condition is asked in Python at every point that is looked at. Where it became true between two of them there must be an event of its clause, at
the time that bisection finds; and an event of a clause must have such a change of one of its conditions, at that instant. An algebraic unknown that
jumps may make a condition true in the midst of an instant, and the clause itself false again: values from both sides of the jump are tried. New
values are what the bodies of the clauses that happened compute from the values before, at once or one after the other, or what comes of it round by
round.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.model.plain_model import Instant, PlainAction, PlainClause, PlainClock, PlainModel
from tidegate.quick_dataclass import dataclass
from tidegate.results import Event, Result
from tidegate.results.labels import number
from tidegate.verify.defects import Tolerance, noisy, snapped
from tidegate.verify.pieces import StepPiece
from tidegate.verify.rounds import Outcome, Truth, after_rounds, carried_out, solved, together, truth_of
from tidegate.verify.verification import Tally

__all__ = ["Happenings"]

FloatArray = NDArray[np.float64]

_HALVINGS: Final = 60  # of the time between two points at which a condition differs
_CLOSE: Final = 1e-9  # of the time and of the step: so far may an event be from where bisection finds it
_AROUND: Final = (-1e-6, 1e-9, -1e-3, 0.0, 1e-6, 1e-3)  # of a step: where its polynomial is asked around an event at its end; most answer at once
_MOST_MIXED: Final = 64  # unknowns that jump at an instant, each of which is taken from before and from after it
_MOMENT: Final = 1e-6  # of a step: so far from an instant relations are asked that change there, and
_UNSEEN: Final = 1e-3  # no farther than where unknowns have moved by this part of what is allowed
_LONG_BEFORE: Final = (0.0, 0.5, 0.9, 0.99)  # of the step that ends there


class _Once:
    """What an iterator gives, asked for only once and only as far as it is needed."""

    def __init__(self, given: Iterator[Truth]) -> None:
        self._given = given
        self._kept: list[Truth] = []

    def __iter__(self) -> Iterator[Truth]:
        yield from self._kept
        for item in self._given:
            self._kept.append(item)
            yield item


@dataclass(eq=False)
class Happenings:
    """Looks at conditions, step after step, and then at the log.

    Parameters
    ----------
    model : in plain numbers.
    result : with the log.
    tolerance : of the run, times what is allowed.
    largest : (n,), of each unknown in the run.
    tally : where findings go.
    states : (n,), which unknowns are states.
    inner : clauses that were put in for the solution's sake, which are no events.

    Attributes
    ----------
    ends : bodies that may have ended the run, and when.
    """

    model: PlainModel
    result: Result
    tolerance: Tolerance
    largest: FloatArray
    tally: Tally
    states: NDArray[np.bool_]
    inner: Collection[str] = ()
    _held: Truth | None = field(default=None, init=False)
    _last: StepPiece | None = field(default=None, init=False)
    _looked: float = field(default=0.0, init=False)  # the last part of the present step that was asked
    _undecided: list[StepPiece] = field(default_factory=list[StepPiece], init=False)  # since what is held was seen last
    _around: dict[float, tuple[StepPiece | None, StepPiece | None]] = field(
        default_factory=dict[float, "tuple[StepPiece | None, StepPiece | None]"], init=False
    )
    _exact: dict[float, NDArray[np.bool_]] = field(default_factory=dict[float, NDArray[np.bool_]], init=False)
    ends: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]], init=False)
    _named: dict[float, set[str]] = field(default_factory=dict[float, set[str]], init=False)

    def __post_init__(self) -> None:
        for event in self.result.events:
            self._named.setdefault(event.time, set()).update(event.causes)
        self._times = np.array(sorted(self._named))

    # -- conditions inside the steps

    def _truth(self, at: Instant) -> Truth:
        return truth_of(self.model, at)

    def look(self, piece: StepPiece, thetas: FloatArray, at_rest: NDArray[np.bool_]) -> None:
        """The conditions at these parts of a step."""
        before = self._last
        self._last = piece
        if piece.start in self._named:
            self._around[piece.start] = (before, piece)
        if piece.end in self._named:
            self._around[piece.end] = (piece, None)
            self._exact[piece.end] = at_rest
        if not self.model.clauses:
            return
        last = None if before is None else (before, self._looked)
        self._looked = 0.0
        for theta, at in zip(thetas.tolist(), piece.instants(thetas), strict=True):
            truth = self._truth(at)
            if self._held is not None and truth != self._held:
                noise = noisy(at, at_rest, self.largest, self.tolerance, solved=~self.states)
                if any(self._truth(moved) != truth for moved in noise):
                    if piece not in self._undecided[-1:]:
                        self._undecided.append(piece)
                    continue  # rounding or the tolerance decides: a later point shows
                self._changed(piece, theta, last, truth)
            self._undecided.clear()
            self._held = truth
            self._looked = theta

    def _changed(self, piece: StepPiece, theta: float, last: tuple[StepPiece, float] | None, new: Truth) -> None:
        old = self._held
        assert old is not None
        for k, clause in enumerate(self.model.clauses):
            for j in range(min(len(old[k]), len(new[k]))):
                if new[k][j] and not old[k][j] and clause.label not in self.inner:
                    self._became_true(clause, j, *self._between(piece, theta, last, clause, j))

    def _between(
        self, piece: StepPiece, theta: float, last: tuple[StepPiece, float] | None, clause: PlainClause, j: int
    ) -> tuple[StepPiece, float, float]:
        """A step and the two parts of it between which a condition became true; the same part twice at its beginning."""
        for earlier in self._undecided:
            if clause.conditions(earlier.at(1.0))[j]:
                return earlier, 0.0, 0.0 if clause.conditions(earlier.at(0.0))[j] else 1.0
        if self._looked > 0.0 or not clause.conditions(piece.at(0.0))[j]:
            return piece, self._looked, theta
        if last is not None and clause.conditions(last[0].at(1.0))[j]:
            return last[0], last[1], 1.0
        return piece, 0.0, 0.0

    def _became_true(self, clause: PlainClause, j: int, piece: StepPiece, left: float, right: float) -> None:
        for _ in range(_HALVINGS if right > left else 0):
            middle = 0.5 * (left + right)
            left, right = (left, middle) if clause.conditions(piece.at(middle))[j] else (middle, right)
        time = piece.start + right * piece.width
        reach = _CLOSE * max(abs(time), abs(piece.width))
        near = self._times[np.abs(self._times - time) <= reach]
        causes = {label for t in near.tolist() for label in self._named[t]}
        same_chain = {other.label for other in self.model.clauses if other.chain == clause.chain}
        if causes & same_chain or self._does_nothing(clause, piece.at(right)) or self._comes_to_nothing(clause, piece, piece.at(right)):
            self.tally.note("condition", clause.label, time)
            return
        says = f"became true at t = {number(time, 9)}, and the log has no event of it there"
        self.tally.note("missed event", clause.label, time, np.inf, says)

    def _does_nothing(self, clause: PlainClause, at: Instant) -> bool:
        """Whether its body gives what is there already: that is no event."""
        action = clause.action(at)
        values = self._values(at)
        if not action.values:
            return not (clause.is_noted or action.says or action.ends)
        return all(values[name] == value for name, value in action.values.items())

    def _comes_to_nothing(self, clause: PlainClause, piece: StepPiece, at: Instant) -> bool:
        """Whether what it does leaves everything as it was when all is settled, as an equation that finds the same value again."""
        at = snapped(at, ~self.states, self.largest)
        found = after_rounds(self.model, at, self.states, (), self._moment(at, piece)) if not clause.is_noted else None
        if found is None or clause.label not in found.labels or found.action.says or found.action.ends:
            return False
        pairs = ((found.at.d, at.d), (found.at.y[self.states], at.y[self.states]))
        return all(np.allclose(after, before, rtol=_CLOSE, atol=0.0) for after, before in pairs)

    def _values(self, at: Instant) -> dict[str, float]:
        return dict(zip((*self.model.unknowns, *self.model.discretes), (*at.y.tolist(), *at.d.tolist()), strict=True))

    # -- the log

    def read_log(self) -> None:
        """Every event against its clauses."""
        labels = {clause.label for clause in self.model.clauses}
        clocks = {clock.label for clock in self.model.clocks}
        instants: dict[float, list[Event]] = {}
        for event in self.result.events:
            instants.setdefault(event.time, []).append(event)
        for time, events in instants.items():
            if any(event.kind == "set" for event in events):
                continue
            happened = [event for event in events if event.kind in ("state", "time")]
            asked = _Once(self._asked(time, happened))
            for event in happened:
                for label in dict.fromkeys(event.causes):
                    if label in labels and label not in clocks:
                        self._check_cause(label, event, asked, _Once(self._truth(at) for one in happened for at in self._mixed(one)))
                self._check_values(event)

    def _asked(self, time: float, events: Sequence[Event]) -> Iterator[Truth]:
        """The conditions around an instant, in the order of time: before it, in its rounds, after it."""
        before, after = self._around.get(time, (None, None))
        if before is not None:
            for part in _AROUND:
                yield self._truth(before.at(1.0 + part))
        for event in events:
            base = self._instant(event, event.before, before)
            if before is None and after is not None:  # at the start, where no step led: on the way that would have been gone without it
                yield self._truth(base)
                way = solved(self.model, base, self.states)
                for part in _AROUND:
                    ahead = max(part, 0.0) * after.width
                    yield self._truth(Instant(way.t + ahead, way.y + ahead * way.ydot, way.ydot, way.d, way.pre))
            for at in (base, self._instant(event, event.after, before), *self._rounds(event, base)):
                yield self._truth(at)
        if after is not None:
            for part in _AROUND:
                if part >= 0.0:
                    yield self._truth(after.at(part))
        if before is not None:  # one that came to its threshold to the last digits may have been there for long
            for part in _LONG_BEFORE:
                yield self._truth(before.at(part))
            yield self._truth(before.at(1.0))

    def _mixed(self, event: Event) -> Iterator[Instant]:
        """What may hold in the midst of an instant: the discrete variables before it, with algebraic unknowns some of which have jumped."""
        before, after = (self._instant(event, values, None) for values in (event.before, event.after))
        far = self.tolerance.of(np.maximum(np.abs(before.y), np.abs(after.y))) / self.tolerance.allowed
        jumped = np.flatnonzero(~self.states & (np.abs(after.y - before.y) > far))
        if jumped.size:
            yield Instant(before.t, after.y, before.ydot, before.d, before.pre)
        for k in jumped[:_MOST_MIXED].tolist():
            for most, one in ((before.y, after.y), (after.y, before.y)):
                y = most.copy()
                y[k] = one[k]
                yield Instant(before.t, y, before.ydot, before.d, before.pre)
        for at in self._rounds(event, before):
            if np.any(at.d != before.d) and np.any(at.d != after.d):  # passed through, so that it stands in no row
                yield solved(self.model, at, self.states)

    def _check_cause(self, label: str, event: Event, asked: _Once, mixed: Iterable[Truth]) -> None:
        time = event.time
        places = [k for k, clause in enumerate(self.model.clauses) if clause.label == label]
        was_false: set[tuple[int, int]] = set()
        was_true = False
        for truth in asked:
            for k in places:
                for j, value in enumerate(truth[k]):
                    was_true = was_true or value
                    if value and (k, j) in was_false:
                        self.tally.note("condition", label, time)
                        return
                    if not value:
                        was_false.add((k, j))
        if self._rounding_decides(places, time) or any(any(truth[k]) for truth in mixed for k in places):
            self.tally.note("condition", label, time)
            return
        before, _ = self._around.get(time, (None, None))
        found = self._round_by_round(event, self._instant(event, event.before, before), before)
        if found is not None and label in found.labels:
            self.tally.note("condition", label, time)
            return
        was = "true all the time" if was_true else "never true there"
        self.tally.note("spurious event", label, time, np.inf, f"the log has it at t = {number(time, 9)}, where its condition is {was}")

    def _rounding_decides(self, places: Sequence[int], time: float) -> bool:
        """Whether a condition has both truths within the rounding of what was integrated up to an instant."""
        before, _ = self._around.get(time, (None, None))
        if before is None:
            return False
        at, exact = before.at(1.0), self._exact.get(time, np.zeros_like(self.states))
        found = [self._truth(moved) for moved in (at, *noisy(at, exact, self.largest, solved=~self.states))]
        return any(len({truth[k][j] for truth in found}) > 1 for k in places for j in range(len(found[0][k])))

    def _instant(self, event: Event, values: Mapping[str, float], before: StepPiece | None) -> Instant:
        y = np.array([values[name] for name in self.model.unknowns])
        d = np.array([values[name] for name in self.model.discretes])
        pre = np.array([event.before[name] for name in self.model.discretes], dtype=float)
        slope = np.zeros_like(y) if before is None else before.at(1.0).ydot
        return Instant(event.time, y, slope, d, pre)

    def _bodies(self, event: Event) -> list[PlainClause | PlainClock]:
        """The bodies of what happened; one that has several triggers counts once."""
        found = {item.label: item for item in (*self.model.clauses, *self.model.clocks) if item.label}
        at = self._instant(event, event.before, None)
        due = [item for item in self.model.clocks if not item.label and any(abs(time - at.t) <= _CLOSE * abs(at.t) for time in item.times(at))]
        return [*(found[label] for label in dict.fromkeys(event.causes) if label in found), *due]

    def _rounds(self, event: Event, base: Instant) -> list[Instant]:
        """The values after each body of the event, were it the first."""
        return [carried_out(self.model, base, body.action(base).values) for body in self._bodies(event)]

    # -- new values

    def _check_values(self, event: Event) -> None:
        before, _ = self._around.get(event.time, (None, None))
        base = self._instant(event, event.before, before)
        bodies = self._bodies(event)
        wanted = self._candidates(base, bodies)
        if not all(action.is_clear for _, action in wanted):
            return
        followed = [self._followed_up(event, at, is_alone=len(bodies) == 1) for at, _ in wanted]
        misses = [max(self.missed(event, at), wrong, key=lambda item: item[0]) for at, wrong in followed]
        share, name, says = min(misses, key=lambda item: item[0])
        found = self._round_by_round(event, base, before) if share > 1.0 else None
        if found is not None and (miss := self.missed(event, found.at))[0] < share:
            (share, name, says), wanted = miss, [(found.at, found.action)]
        label = ", ".join(item.label for item in bodies if item.label) or "what only flips"
        self.tally.note("reset", label, event.time, share, f"{name} {says}" if share > 1.0 else "")
        self.compare_words(label, event.time, set(event.messages), [action for _, action in wanted])
        self._compare_end(label, event.time, [action.ends for _, action in wanted])

    def _round_by_round(self, event: Event, base: Instant, before: StepPiece | None) -> Outcome | None:
        if before is None:
            return None
        bodies = self._bodies(event)
        ticking = [clock for clock in self.model.clocks if any(clock is item for item in bodies)]
        return after_rounds(self.model, snapped(base, ~self.states, self.largest), self.states, ticking, self._moment(base, before))

    def _moment(self, at: Instant, piece: StepPiece) -> float:
        """So long after an instant is behind it, and not so long that anything has moved."""
        unseen = _UNSEEN * self.tolerance.of(self.largest) / self.tolerance.allowed / np.maximum(np.abs(at.ydot), 1e-300)
        return min(_MOMENT * abs(piece.width), *unseen[self.states].tolist(), math.inf)

    def _candidates(self, base: Instant, bodies: Sequence[PlainClause | PlainClock]) -> list[tuple[Instant, PlainAction]]:
        """What may stand after an event, and be said: all bodies in one round, or one after the other in an order of their own."""
        actions: list[PlainAction] = []
        given: dict[str, float] = {}
        for _ in range(2):  # a second time with what the others give
            following = carried_out(self.model, base, given).d
            at = Instant(base.t, base.y, base.ydot, base.d, base.pre, following)
            actions = [body.action(at) for body in bodies]
            given = {name: value for action in actions for name, value in action.values.items()}
        found = [(carried_out(self.model, base, given), together(actions))]
        if len(bodies) > 1:
            for order in (bodies, bodies[::-1]):
                at, actions = base, []
                for body in order:
                    actions.append(body.action(at))
                    at = carried_out(self.model, at, actions[-1].values)
                found.append((at, together(actions)))
        return found

    def _followed_up(self, event: Event, at: Instant, *, is_alone: bool) -> tuple[Instant, tuple[float, str, str]]:
        """The values after a body and after what the model does by itself in the next round; how far an equation of the body was from holding.

        A body that yields equations lets them hold for one round, and keeps what they determine; between rounds the kept values stand in their place.
        Where several bodies happen at once, a later one may have moved what the equations read: they are not judged then.
        """
        fine = (0.0, "", "")
        after = self._instant(event, event.after, None)
        held = Instant(at.t, after.y, at.ydot, at.d, at.pre)
        due = [clause for clause in self.model.clauses if not clause.label and any(clause.conditions(held))]
        if not due:
            return at, fine
        later = held
        for clause in due:
            later = carried_out(self.model, later, clause.action(held).values)
        # the rows that differ are those of the body's equations: with the kept values they hold by themselves
        kept = Instant(at.t, at.y, at.ydot, later.d, at.pre)
        if not is_alone:
            return kept, fine
        gaps = np.abs(self.model.residuals(held) - self.model.residuals(later))
        k = int(np.argmax(gaps))
        share = float(gaps[k]) / (self.tolerance.rtol * self.tolerance.allowed * max(1.0, float(np.max(np.abs(after.y)))))
        return kept, (share, self.model.equations[k], f"does not hold in the round of its body: {number(float(gaps[k]), 9)} is left")

    def compare_words(self, label: str, time: float, told: set[str], actions: Sequence[PlainAction]) -> None:
        """What the log says was said, with what may have been: only what is said in every order must be there."""
        said = [set(action.says) for action in actions]
        missing = {sentence for sentence in said[0] if all(sentence in other for other in said)} - told
        extra = told.difference(*said)
        if not (told or any(said)):
            return
        says = f"does not say {min(missing)!r}" if missing else f"says {min(extra)!r}, which is not in its body" if extra else ""
        self.tally.note("message", label, time, np.inf if says else 0.0, f"{says} at t = {number(time, 9)}")

    def is_end(self, time: float) -> bool:
        """Whether the run ends at this time."""
        assert self._last is not None
        return abs(time - self._last.end) <= _CLOSE * max(abs(time), abs(self._last.width))

    def _compare_end(self, label: str, time: float, ends: Sequence[bool]) -> None:
        if not any(ends):
            return
        self.ends.append((label, time))
        was_ended = self.result.status == "terminated" and self.is_end(time)
        went_on = all(ends) and self.result.success and not was_ended
        self.tally.note("end", label, time, np.inf if went_on else 0.0, f"ends the run at t = {number(time, 9)}, and the run went on")

    def missed(self, event: Event, wanted: Instant) -> tuple[float, str, str]:
        """How far the values after an event are from those wanted, which is the worst, and by how much."""
        got = self._instant(event, event.after, None)
        allowed = self.tolerance.of(np.maximum(self.largest, np.abs(wanted.y))) / self.tolerance.allowed
        shares = np.where(self.states, np.abs(got.y - wanted.y) / allowed, 0.0)
        worst, name, pair = 0.0, "", (0.0, 0.0)
        if shares.size:
            k = int(np.argmax(shares))
            worst, name, pair = float(shares[k]), self.model.unknowns[k], (float(got.y[k]), float(wanted.y[k]))
        for label, value, right in zip(self.model.discretes, got.d.tolist(), wanted.d.tolist(), strict=True):
            away = abs(value - right) / (self.tolerance.rtol * max(abs(value), abs(right), 1.0))
            if away > worst:
                worst, name, pair = away, label, (value, right)
        return worst, name, f"is {number(pair[0], 9)} after it, and its body gives {number(pair[1], 9)}"
