"""One run of a connection: callbacks on its flat vectors, from those of its parts; and its events, each part told of its own.

Source: Otter, DSblock 3.3 (DLR 1994), BLOCKV, BLOSII(3), and the rules for connections of events: only parts for which something happens are told,
in the order of declaration; then inputs and outputs are computed anew and indicators looked at again. What a block does itself is no further
event for it, what then comes to it through its inputs is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UnsettledEventError, UsageError
from tidegate.frontends.dsblock.block import Action, Entry, Happened, HasSteps, Reply, Run
from tidegate.frontends.dsblock.description import SignalKind
from tidegate.frontends.dsblock.join.described import Layout
from tidegate.frontends.dsblock.join.native import NativeJoin
from tidegate.frontends.dsblock.join.signals import Evaluation, Signals
from tidegate.model import Form
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass
from tidegate.wishes import StopRun

__all__ = ["JoinedRun", "Pending"]

FloatArray = NDArray[np.float64]
MAX_ROUNDS: Final = 20  # at one instant (BLOSII 3)
AS_BEFORE: Final = 2  # a direction that stays
_ROUNDING: Final = 1e-10  # of an indicator, relative to the largest value it has had


@dataclass
class Pending:
    """The next time event of a part, and how far a step may go beyond it."""

    time: float = math.inf
    may_reach: float | None = None

    def take(self, reply: Reply, now: float, *, has_time_event: bool) -> None:
        """What a reply says of it; where it says nothing the event that has just been carried out is over, another stays."""
        if reply.next_event is not None:
            self.time, self.may_reach = (reply.next_event, reply.may_reach) if reply.next_event > now else (math.inf, None)
        elif has_time_event:
            self.time, self.may_reach = math.inf, None


class JoinedRun:
    """See ``block.Run``."""

    def __init__(self, plan: Layout, runs: Sequence[Run], pending: Sequence[Pending]) -> None:
        self.plan, self.runs, self.pending = plan, list(runs), list(pending)
        self.evaluation = Evaluation(plan, runs)
        self._asked: tuple[float, frozenset[int]] = (math.nan, frozenset())
        self._native: NativeJoin | None = None
        self._largest = np.zeros(plan.described.size(SignalKind.INDICATOR))
        groups = [one.described.groups for one in plan.wired.parts]
        sizes = [tuple((g.states.stop - g.states.start, g.indicators.stop - g.indicators.start) for g in every) for every in groups]
        self._numbers = [size or (count,) for size, count in zip(sizes, self.evaluation.counts, strict=True)]  # of states and indicators of groups
        self._sides = np.zeros(len(self._largest))  # signs of the indicators behind the last event

    @property
    def structure_address(self) -> int:
        """Of the native block that the connection is."""
        if self._native is None:
            self._native = NativeJoin(self.evaluation)
        return self._native.address

    def tried(self, at: Entry, replies: Mapping[int, Reply]) -> Reply:
        """What the parts have said at the start, together."""
        return replace(self._reply(self._said(at, replies), at), x=at.x, xd=at.xd)

    def _said(self, at: Entry, replies: Mapping[int, Reply]) -> _Instant:
        instant = _Instant(at, np.zeros(len(self._largest), dtype=np.int64))
        for part, reply in replies.items():
            instant.take(reply, self.plan.indicators[part])
            self._take_numbers(part, reply)
        return instant

    def started(self, at: Entry, replies: Mapping[int, Reply]) -> Reply:
        """Likewise, with x and xd that fit the inputs."""
        instant = self._said(at, replies)
        instant.at = self.evaluation.settled(at)
        self.evaluation.forget()
        self.evaluation.check_dependence(instant.at)
        if self.plan.described.form is Form.HDAE:
            self.evaluation.check_constraints(instant.at)
        self.evaluation.note_algebraic(instant.at)
        self._sides = self._sides_of(self.indicators(instant.at))
        instant.action = max(instant.action, Action.RESTART, key=lambda action: action.value)
        return replace(self._reply(instant, at), x=instant.at.x, xd=instant.at.xd)

    # -- values -----------------------------------------------------------------------------------------------------------------------------------

    def step_begins(self) -> None:
        """Tell the parts of a step."""
        for run in self.runs:
            if isinstance(run, HasSteps):
                run.step_begins()

    def equations(self, at: Entry, wanted: tuple[bool, ...] = ()) -> FloatArray:
        """Derivatives, residuals, or the wanted parts of an HDAE."""
        return self.evaluation.equations(at, wanted)

    def outputs(self, at: Entry) -> FloatArray:
        """Y."""
        found = self.evaluation.signals(at)
        return np.array([found.y[part][k] for part, k in self.plan.outputs], dtype=at.x.dtype)

    def indicators(self, at: Entry) -> FloatArray:
        """Z."""
        z = self._indicators(at, self.evaluation.signals(at))
        if z.dtype == object:
            return z
        np.fmax(self._largest, np.abs(z), out=self._largest, where=np.isfinite(z))
        return z

    def _indicators(self, at: Entry, found: Signals) -> FloatArray:
        z = np.zeros(len(self._largest), dtype=at.x.dtype)
        for part, where in enumerate(self.plan.indicators):
            if where.start < where.stop:
                z[where] = self.evaluation.indicators(part, at, found.u[part])
        return z

    def auxiliaries(self, at: Entry) -> FloatArray:
        """W of all parts, then inputs that are driven and outputs that are not shown."""
        plan = self.plan
        try:
            found = self.evaluation.signals(at)
        except StopRun as wish:
            wish.values = None  # they are outputs
            raise
        own: list[FloatArray] = []
        wishes: list[StopRun] = []
        known = {} if self._native is None else dict(self._native.communicated())  # BLOCKK is called once a row
        for part, one in enumerate(plan.wired.parts):
            if part in known:
                own.append(known[part])
                continue
            try:
                own.append(self.runs[part].auxiliaries(self._with_rates(part, at, found)) if one.described.communicates else np.zeros(0))
            except StopRun as wish:
                # the others have their last row, too
                own.append(np.full(one.described.size(SignalKind.AUXILIARY), np.nan) if wish.values is None else wish.values)
                wishes.append(wish)
        driven = [found.u[part][k] for part, k in plan.driven]
        w = np.concatenate([*own, driven, [found.y[part][k] for part, k in plan.hidden]])
        if wishes:
            raise StopRun("; ".join(wish.reason for wish in wishes if wish.reason), w)
        return w

    def _with_rates(self, part: int, at: Entry, found: Signals) -> Entry:
        """The entry of BLOCKK, which is given derivatives where it asks for them."""
        entry = self.evaluation.entry(part, at, found.u[part])
        if entry.xd is None and self.plan.wired.parts[part].described.dependence.auxiliaries_need_rates:
            return replace(entry, xd=self.evaluation.rates(part, at, found))
        return entry

    def copied(self) -> JoinedRun | None:
        """Another that remembers the same; None if a part cannot be copied."""
        copies: list[Run] = [copy for run in self.runs if (copy := getattr(run, "copied", _no_copy)()) is not None]
        if len(copies) < len(self.runs):
            return None
        other = JoinedRun(self.plan, copies, [replace(one) for one in self.pending])
        other.evaluation.take_over(self.evaluation)
        other._asked, other._numbers = self._asked, list(self._numbers)
        other._largest, other._sides = self._largest.copy(), self._sides.copy()
        return other

    def recorded(self) -> FloatArray:
        """Discrete numbers of all parts."""
        return np.concatenate([run.recorded() for run in self.runs])

    def end(self, at: Entry, *, is_well: bool) -> None:
        """The run is over, for every part, whatever the others do."""
        found = self._signals_at_end(at)
        raised: list[Exception] = []
        for part, run in enumerate(self.runs):
            try:
                run.end(self.evaluation.entry(part, at, found[part]), is_well=is_well)
            except Exception as error:  # noqa: BLE001, raised again
                raised.append(error)
        if raised:
            raise raised[0]

    def _signals_at_end(self, at: Entry) -> list[FloatArray]:
        try:
            return self.evaluation.signals(at).u
        except (Exception, StopRun):  # noqa: BLE001, the run may have ended since a block could not be evaluated
            return [np.full(len(driver), np.nan) for driver in self.plan.wired.driver]

    # -- events -----------------------------------------------------------------------------------------------------------------------------------

    def asks_step_event(self, at: Entry) -> bool:
        """Whether a part asks for a step event; all of them are asked."""
        found = self.evaluation.signals(at)
        asking = {
            part
            for part, one in enumerate(self.plan.wired.parts)
            if one.described.has_step_events and self.runs[part].asks_step_event(self.evaluation.entry(part, at, found.u[part]))
        }
        self.evaluation.forget()
        self._asked = (at.time, frozenset(asking))
        return bool(asking)

    def event(self, happened: Happened, at: Entry) -> Reply:
        """Something happens: in rounds, until no indicator changes any more."""
        try:
            return self._rounds(happened, at)
        finally:
            if self._native is not None:
                self._native.update(self.evaluation)

    def _rounds(self, happened: Happened, at: Entry) -> Reply:
        self.evaluation.forget()
        instant = _Instant(at, happened.directions.copy())
        before = self.evaluation.signals(at)
        z = self._indicators(at, before)
        firing = self._first(happened, at)
        told: list[int] = []
        for _ in range(MAX_ROUNDS):
            told = sorted(firing)
            reference = self._round(instant, firing, before, z)
            instant.at = self.evaluation.settled(instant.at)
            self.evaluation.forget()
            before = self.evaluation.signals(instant.at)
            z = self._indicators(instant.at, before)
            firing = self._following(instant, reference, z)
            if not firing or instant.action is Action.STOP:
                self._sides = self._sides_of(z)
                return self._reply(instant, at)
        names = listed(self.plan.wired.parts[part].name for part in told)
        indicators = listed(self.plan.described.names(SignalKind.INDICATOR)[k] for part in firing for k in self._places(part, firing[part].zero))
        raise UnsettledEventError(
            f"events of the blocks {names} of the connection {self.plan.described.name} follow from each other at t = {at.time:.9g}; after "
            f"{MAX_ROUNDS} rounds {indicators} still cross zero",
            time=at.time,
            hint="let one of them answer the other only after a time, or give its indicator hysteresis",
        )

    def _places(self, part: int, zero: NDArray[np.bool_]) -> list[int]:
        return [self.plan.indicators[part].start + int(k) for k in np.flatnonzero(zero)]

    def _first(self, happened: Happened, at: Entry) -> dict[int, Happened]:
        """What happens to each part at first."""
        asked = frozenset[int]()
        if happened.step and self._asked[0] == at.time:
            asked = self._asked[1]
        elif happened.step and self._native is not None:
            asked = self._native.asked(at.time)
        firing: dict[int, Happened] = {}
        for part in range(len(self.runs)):
            zero = happened.zero[self.plan.indicators[part]]
            ticks = happened.time and self.plan.environment.is_same_time(at.time, self.pending[part].time)
            if zero.any() or ticks or part in asked:
                firing[part] = self._happened(part, zero, happened.directions, time=ticks, step=part in asked)
        return firing

    def _happened(self, part: int, zero: NDArray[np.bool_], directions: NDArray[np.int64], *, time: bool = False, step: bool = False) -> Happened:
        return Happened(time, bool(zero.any()), step, zero, directions[self.plan.indicators[part]], *self.evaluation.counts[part])

    def _take_numbers(self, part: int, reply: Reply) -> None:
        """How many states and indicators a part has from now on."""
        before = self.evaluation.counts[part]
        self.evaluation.take_numbers(part, reply)
        now = self.evaluation.counts[part]
        one = self.plan.wired.parts[part]
        whole = self.plan.described
        if now != before and whole.form is Form.HDAE:
            which = f"states from {before[0]} to {now[0]}" if now[0] != before[0] else f"indicators from {before[1]} to {now[1]}"
            raise UsageError(
                f"the block {one.name} of the connection {whole.name} changes, beside a block of the form HDAE, its number of {which}; "
                "only ODEs and DAEs among themselves can",
                hint="keep all of them, and give those that rest equations as x' = 0",
            )
        self._numbers[part] = reply.groups or (self._numbers[part] if one.described.groups else (now,))

    def _round(self, instant: _Instant, firing: dict[int, Happened], before: Signals, z: FloatArray) -> FloatArray:
        """Tell the parts; returns the sides on which indicators are when each part has done its own, with the inputs that it was told of."""
        x, xd = instant.at.x.copy(), None if instant.at.xd is None else instant.at.xd.copy()
        for part, happened in sorted(firing.items()):
            try:
                reply = self.runs[part].event(happened, self.evaluation.entry(part, instant.at, before.u[part]))
            except StopRun as wish:
                reply = Reply(action=Action.STOP, reason=wish.reason)
            self._take_numbers(part, reply)
            where = self.plan.states[part]
            if reply.x is not None:
                x[where[: len(reply.x)]] = reply.x
            if reply.xd is not None and xd is not None:
                xd[where[: len(reply.xd)]] = reply.xd
            elif reply.xd is not None:
                x[self.plan.rates[part]] = reply.xd[self.plan.differentiated[part]]
            self.pending[part].take(reply, instant.at.time, has_time_event=happened.time)
            instant.take(reply, self.plan.indicators[part])
        sides = self._sides_of(z)
        instant.at = replace(instant.at, x=x, xd=xd)
        for part, happened in firing.items():
            where = self.plan.indicators[part]
            if where.start < where.stop:
                own = self.evaluation.indicators(part, instant.at, before.u[part])
                # one that is zero goes to where it did not come from
                goes = np.where(happened.directions == 0, -self._sides[where], happened.directions)
                is_zero = np.abs(own) <= self._rounding(z)[where]
                sides[where] = np.where(is_zero, np.where(happened.zero, goes, sides[where]), np.sign(own))
        return sides

    def _rounding(self, z: FloatArray) -> FloatArray:
        return _ROUNDING * np.fmax(self._largest, np.where(np.isfinite(z), np.abs(z), 0.0))

    def _sides_of(self, z: FloatArray) -> FloatArray:
        return np.sign(np.where(np.abs(z) <= self._rounding(z), 0.0, z))

    def _following(self, instant: _Instant, sides: FloatArray, z: FloatArray) -> dict[int, Happened]:
        """Parts whose indicators have come to the other side through their inputs."""
        new = self._sides_of(z)
        wanted = (instant.directions == 0) | (instant.directions == new)
        crossed = (new != 0.0) & (sides != 0.0) & (new != sides) & wanted
        firing: dict[int, Happened] = {}
        for part, where in enumerate(self.plan.indicators):
            if crossed[where].any():
                firing[part] = self._happened(part, crossed[where], instant.directions)
        return firing

    def _reply(self, instant: _Instant, at: Entry) -> Reply:
        """What all replies are together."""
        first = min(self.pending, key=lambda one: one.time)
        reach = [one.may_reach for one in self.pending if self.plan.environment.is_same_time(one.time, first.time) and one.may_reach is not None]
        later = [one.time for one in self.pending if one.time > first.time]
        changes = not np.array_equal(instant.at.x, at.x) or not (at.xd is None or instant.at.xd is None or np.array_equal(instant.at.xd, at.xd))
        restarts = instant.action is not Action.CONTINUE
        return Reply(
            action=instant.action, x=instant.at.x if restarts and changes else None, xd=instant.at.xd if restarts and changes else None,
            next_event=first.time if math.isfinite(first.time) else at.time, may_reach=min([*reach, *later]) if reach else None,
            directions=instant.directions, groups=tuple(itertools.chain(*self._numbers)) if self.plan.described.groups else None,
            priority=instant.priority, reason="; ".join(instant.reasons), is_failure=instant.is_failure,
        )  # fmt: skip


class _Instant:
    """What has become of a run at one instant so far."""

    def __init__(self, at: Entry, directions: NDArray[np.int64]) -> None:
        self.at, self.directions = at, directions
        self.action = Action.CONTINUE
        self.priority = 100
        self.reasons: list[str] = []
        self.is_failure = False

    def take(self, reply: Reply, indicators: slice) -> None:
        """One reply more: any stop stops, any restart restarts, the smallest priority counts."""
        self.action = max(self.action, reply.action, key=lambda action: action.value)
        self.priority = min(self.priority, reply.priority)
        self.is_failure |= reply.is_failure
        if reply.reason:
            self.reasons.append(reply.reason)
        if reply.directions is not None:
            kept = self.directions[indicators]
            self.directions[indicators] = np.where(reply.directions == AS_BEFORE, kept, reply.directions)


def _no_copy() -> None:
    """Of a run that cannot be copied."""
