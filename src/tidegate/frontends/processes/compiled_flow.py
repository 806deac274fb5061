"""Periods of an environment moved by compiled code (stage: front end; what runs the code is found by name).

In: the values that an event has left. Out: those at the next event, or where a condition begins to hold; samples look on the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import StepSizeError, UntraceableError, UsageError
from tidegate.frontends.processes.compose import Composer, Composition, derivative_by
from tidegate.frontends.processes.flows import Variable
from tidegate.frontends.processes.moved_number import moves_of, plain
from tidegate.frontends.processes.vectors import Vectors
from tidegate.later_stages import later

__all__ = ["CompiledFlow"]

_MOST_MODELS: Final = 24  # of one environment: where what flows is put together ever anew, calling it costs less than compiling it
_MOST_TIMES: Final = 4096  # at which samples look, asked for at once
_LEAST_SHARE: Final = 1e-5  # of the absolute tolerance: so small a relative one counts less than it, up to states of 1e5
_NUDGES: Final = 48  # doublings of the shortest time, to the side on which a condition holds in Python's arithmetic too

FloatArray = NDArray[np.float64]
_NO_TIMES = np.zeros(0)


class CompiledFlow:
    """Moves what flows by compiled code, as long as all of it can be followed on symbols.

    Parameters
    ----------
    composer : makes models of what flows.
    options : for the runs, as of ``tg.simulate``.
    is_limited : whether no step may be longer than dtmax.
    must : whether what cannot be followed is an error, since the method knows compiled code only.
    record : what is written down of the run.
    set_time : puts the time where bodies and conditions read it.
    next_moves : how the time of the next event moves with parameters.

    Attributes
    ----------
    reason : why bodies are called now; empty if they are not.
    """

    def __init__(
        self,
        composer: Composer,
        options: dict[str, Any],
        record: Any,
        set_time: Callable[[float], None],
        next_moves: Callable[[], Mapping[str, float]],
        *,
        must: bool,
        is_limited: bool,
    ) -> None:
        self._next_moves = next_moves
        self._composer, self._options, self._must, self._record, self._set_time = composer, options, must, record, set_time
        self._is_limited = is_limited
        self._segments: dict[tuple[Composition, Any], Any] = {}
        self._now: Composition | None = None
        self._refused: Any = None
        self._fired: tuple[str, ...] = ()
        self._together: tuple[float, Collection[Any]] = math.nan, ()  # an instant, and whose conditions have begun to hold there
        self._values: dict[Composition, FloatArray] = {}
        self._standing: dict[Variable, float] = {}  # what takes no part in the composition below, as it was written down
        self._written: Composition | None = None
        self.vectors = Vectors()
        composer.before_following = self.vectors.wake_all
        self._stands_inside = False
        self.reason = ""
        self._spent = [0, 0]  # steps and evaluations of code that is run no more

    # -- whether

    def takes(self, motion: Any) -> bool:
        """Whether the period that begins is moved by compiled code."""
        self._now = None
        try:
            self._now = self._chosen(motion)
        finally:
            if self._now is None:
                self.vectors.wake_all()
        return self._now is not None

    def _chosen(self, motion: Any) -> Composition | None:
        """What flows now, put together; None where the monitor moves it."""
        if not (motion.variables or motion.waiting or motion.bodies):
            return None
        if self._is_limited and not motion.settings.dtmax > 0.0:
            return None  # which is an error of the monitor's
        if self._refused is not None and self._refused == _subject(motion):
            return None
        try:
            composition = self._composer.compose(motion)
        except UntraceableError as error:
            if self._must:
                raise
            self._refused, self.reason = _subject(motion), str(error)
            return None
        if len(self._segments) >= _MOST_MODELS and (composition, _limits(motion.settings)) not in self._segments and not self._must:
            self.reason = f"what flows was put together in more than {_MOST_MODELS} ways"
            return None
        self.reason = ""
        if composition.sensitive and not composition.is_pure:
            raise UsageError(
                "a continuous body changes more than rates, and what it changes would have no derivatives",
                hint="compute it where it is used, or leave out sensitivities=...",
            )
        # where nothing moves no condition changes either
        return composition if composition.states or composition.model.whens else None

    def needs_evaluation(self, motion: Any) -> bool:
        """Whether bodies are called around events although compiled code moves what flows: they do more than set rates, or samples look at them."""
        if self._now is not None and self._now.sensitive:
            return False  # they would compute with numbers that move
        return bool(motion.samples) or (self._now is not None and not self._now.is_pure)

    def forget_tolerances(self) -> None:
        """The tolerance of some variable is another: the next period starts with it."""
        self._spent, self._segments = list(self.spent), {}

    @property
    def is_moving(self) -> bool:
        """Whether the last period was moved by compiled code, which writes down what it does."""
        return self._now is not None

    @property
    def spent(self) -> tuple[int, int]:
        """Steps and evaluations by compiled code so far."""
        counters = [segments.counters for segments in self._segments.values() if segments.counters is not None]
        return self._spent[0] + sum(one.steps for one in counters), self._spent[1] + sum(one.evaluations for one in counters)

    def touched(self) -> tuple[Any, ...]:
        """What events may have set since the last period."""
        standing = () if self._now is None else self._set_standing(self._now)
        return *self.vectors.awake, *standing, *self._composer.set_parameters()

    def unwatched(self, motion: Any) -> list[Any]:
        """Those who wait for what nothing that flows decides, and those for whom it began to hold at this instant, and who have not gone on yet."""
        unwatched = self._composer.unwatched()
        instant, together = self._together
        if motion.time != instant:
            return unwatched
        return unwatched + [wait for wait in motion.waiting if wait in together]

    # -- a period

    def move(self, motion: Any) -> Generator[Any]:
        """From the present time to the event ahead, or where a condition begins to hold, which is the event then."""
        composition = self._now
        assert composition is not None
        segments = self._segments_of(composition, motion.settings)
        motion.lasttime = begin = motion.time
        self._begin(motion, composition, segments)
        instant, self.vectors.moves = self.vectors.moves, {}
        self._stands_inside = False
        try:
            stretch = yield from self._run(motion, composition, segments)
        finally:
            if not self._stands_inside:
                self._take_over(motion, segments, begin)
        if stretch is None:
            return
        self._fired = stretch.fired
        if composition.sensitive:
            # a clause that happened as soon as values were set happened by the event before
            at_once = stretch.fired and not stretch.dt_dp.size
            hit = dict(zip(composition.sensitive, stretch.dt_dp.tolist(), strict=False))
            self.vectors.moves = instant if at_once else hit if stretch.fired else self._next_moves()
        if stretch.fired and segments.time < motion.event:
            self._hit(motion)
        else:
            motion.time = motion.event
            self._set_time(motion.time)
            self._together = motion.time, self._waits_for(stretch.fired)
        motion.next_sample = min(motion.next_sample, motion.time)
        motion.end, motion.dt, motion.last = motion.time, motion.time - begin, "compiled"
        motion.remainder = motion.step = 0.0
        if self.needs_evaluation(motion):
            motion.evaluate()
        segments.heed_interrupt()

    def _run(self, motion: Any, composition: Composition, segments: Any) -> Generator[Any, None, Any]:
        """Run as far as it goes, with the samples on the way; None where only the monitor's own steps can be gone on from."""
        begin, states = motion.time, composition.states
        while True:
            times, until = _asked(motion)
            broken: BaseException | None = None
            try:
                stretch = segments.run(until, times, with_steps=self._record.keeps_rows or bool(motion.samples.at_steps))
            except BaseException as error:  # noqa: BLE001, it is raised when samples have seen what was passed before
                broken, stretch = error, segments.cut_off
            try:
                if motion.samples.timed or motion.samples.at_steps:
                    yield from self._show(motion, states, stretch.rows, times, begin)
            except BaseException:
                self._stands_inside = True  # where a sample has raised: the code starts again from there
                raise
            finally:
                if self._record.keeps_rows:
                    end, y = (motion.time, None) if self._stands_inside else (stretch.time, segments.y)
                    slopes = segments.sensitivities if composition.sensitive and y is not None else None
                    self._record.stretch(states, stretch.rows, stretch.polynomials, end, y, slopes)
            if isinstance(broken, StepSizeError) and not self._must and self._options["method"] != "auto":
                # the monitor's own steps come to the same end, and from there the run can be repaired
                self._refused, self.reason = _subject(motion), "the step cannot be made small enough"
                return None
            if broken is not None:
                raise broken
            if stretch.fired or until >= motion.event:
                return stretch
            segments.heed_interrupt()

    def slopes_now(self, motion: Any) -> FloatArray | None:
        """Derivatives of everything that is written down, as the last event has left it, (parameters, items); None where nothing is followed."""
        names, moves = self.vectors.names, self.vectors.moves
        if not names:
            return None
        rates = self._composer.called_rates(motion) if moves else {}
        slopes = np.zeros((len(names), len(self._record.everything)))
        for k, item in enumerate(self._record.everything):
            own = moves_of(item.state if isinstance(item, Variable) else item.value)
            rate = rates.get(item, 0.0) if isinstance(item, Variable) else 0.0
            slopes[:, k] = [own.get(name, 0.0) - rate * moves.get(name, 0.0) for name in names]
        return slopes

    def turn_to(self, motion: Any, moves: Mapping[str, float]) -> None:
        """The next event, at the same instant as the one before, moves otherwise with parameters: it finds what has flowed on between the two."""
        if moves == self.vectors.moves:
            return
        if self.takes(motion):
            composition = self._now
            assert composition is not None
            segments = self._segments_of(composition, motion.settings)
            self._begin(motion, composition, segments)
            self._fired = segments.passed_over()  # whoever waits there still is asked when the period begins
            self.vectors.put_to_sleep(segments.y.copy(), segments.sensitivities)
        self.vectors.moves = moves

    def _segments_of(self, composition: Composition, settings: Any) -> Any:
        key = composition, _limits(settings)
        if key not in self._segments:
            self._segments[key] = self._prepared(composition, settings)
        return self._segments[key]

    def _prepared(self, composition: Composition, settings: Any) -> Any:
        states = composition.states
        relative = [abs(item.relerror) for item in states]
        absolute = min((abs(item.abserror) for item in states), default=0.0)
        # what is small beside abserror / relerror is rounding to whoever locates events, so that no relative error at all would be none at any size
        options = self._options | {"rtol": max(min(relative, default=1e-6), _LEAST_SHARE * absolute, 1e-13)}
        if self._is_limited:
            options["max_step"] = settings.dtmax
        if options["method"] == "rke":
            options["min_step"] = settings.dtmin or None
        if options["method"] == "pc":
            options |= {"max_halvings": settings.max_halvings, "disc_halvings": settings.disc_halvings}
        if states:
            options["atol"] = [max(abs(item.abserror), 1e-290) for item in states]
        names = tuple(item.data.name for item in composition.held)
        if composition.sensitive:
            options["sensitivities"] = [derivative_by(name) for name in composition.sensitive]
        return later("Segments")(later("compiled_of")(composition.model), tuple(item.name for item in states), names, options)

    def _begin(self, motion: Any, composition: Composition, segments: Any) -> None:
        values = self._values.get(composition)
        if values is None:
            values = self._values[composition] = np.zeros(len(composition.held))
        changed = self._composer.put_values(motion, composition, values)
        vectors = self.vectors
        vectors.names = composition.sensitive
        y = vectors.take(composition.states, segments)
        total = vectors.total_slopes() if composition.sensitive else vectors.slopes
        if not composition.sensitive and self._record.keeps_rows:
            self._record.mark(motion.time, (*vectors.awake, *self._set_standing(composition), *changed))
        is_waited_for_again = any(self._composer.waiting_at(label) is not None for label in self._fired)
        self._fired = ()
        if is_waited_for_again or segments.time != motion.time:
            # a condition that holds begins to hold for whoever starts to wait now: there is a moment at which nobody has waited
            asleep = values.copy()
            asleep[self._composer.armed] = 0.0
            segments.begin(motion.time, motion.event, y, asleep)
        segments.begin(motion.time, motion.event, y, values)
        if composition.sensitive:
            vectors.slopes = vectors.fixed_slopes(total)
            segments.set_sensitivities(vectors.slopes, self._composer.slopes(composition))
            places = {item: k for k, item in enumerate(composition.states)}
            everything = self._record.everything
            slopes = [_column(item, places, vectors.slopes, composition.sensitive) for item in everything]
            self._record.mark(motion.time, None, np.array(slopes).T.reshape(len(composition.sensitive), len(everything)))

    def _set_standing(self, composition: Composition) -> list[Variable]:
        """Variables that take no part, and which events have set since they were written down."""
        if composition is not self._written:
            self._written, self._standing = composition, {}
        known = self._standing
        found = [variable for variable in self._composer.standing() if known.get(variable) != variable.state]
        known.update((variable, variable.state) for variable in found)
        return found

    def _show(self, motion: Any, states: tuple[Any, ...], rows: list[NDArray[np.void]], times: FloatArray, begin: float) -> Generator[Any]:
        """Let samples look at what was passed: at their times, and at every step."""
        samples = motion.samples
        asked = set(times.tolist())
        for block in rows:
            for row in block:
                time = float(row["time"])
                is_due = time in asked
                if time >= motion.event or not (is_due or samples.at_steps):
                    continue
                motion.time, motion.dt = time, time - begin
                values = row["values"][: len(states)].tolist()
                self.vectors.show(values)
                if self._now is not None and not self._now.sensitive:
                    motion.evaluate()
                if is_due:
                    yield from later("run_due")(motion)
                    asked.discard(time)
                else:
                    for sample in samples.at_steps:
                        sample.observe()
                self._refuse_changes(states, values)

    def _refuse_changes(self, states: tuple[Any, ...], values: list[float]) -> None:
        """Samples look at what was passed already: what they set there would not count."""
        set_there = self._composer.set_names()
        set_there += [item.name for item, value in zip(states, values, strict=True) if plain(item.state) != value and value == value]
        if set_there:
            raise UsageError(
                f"a sample sets {set_there[0]}, which what flows depends on: samples only look, at times that compiled code has passed already",
                hint="let a process set it; or compiled=False, which calls everything in turn",
            )

    def _take_over(self, motion: Any, segments: Any, begin: float) -> None:
        """States, rates and the time are those where the compiled code stands."""
        self.vectors.put_to_sleep(segments.y.copy(), segments.sensitivities if self.vectors.names else None)
        motion.time = time = segments.time
        motion.dt = time - begin
        self._set_time(time)

    def _waits_for(self, fired: tuple[str, ...]) -> set[Any]:
        """Who waits where these clauses are."""
        return {wait for label in fired if (wait := self._composer.waiting_at(label)) is not None}

    def _hit(self, motion: Any) -> None:
        """Who waits for what has begun to hold; in Python's arithmetic too, if a rounding error of time leads there."""
        waits = self._waits_for(self._fired)
        found = [wait for wait in motion.waiting if wait in waits]
        due, motion.event, motion.hit = motion.event, motion.time, found[0]
        with self.vectors.as_plain():
            for n in range(1, len(found) + 1):
                self._nudge(motion, [wait.condition for wait in found[:n]], due)
        self._together = motion.time, found[1:]

    def _nudge(self, motion: Any, conditions: Sequence[Callable[[], Any]], due: float) -> None:
        """Move time and what the last condition asks for by so little that all hold in Python's arithmetic as well."""
        if conditions[-1]():
            return
        # the condition has asked for what it needs; the rest need not move by so little
        time, asked = motion.time, [(variable, variable.state, variable.rate) for variable in self.vectors.awake]
        shift = math.ulp(max(abs(time), 1.0)) / 16.0
        for _ in range(_NUDGES):
            for variable, state, rate in asked:
                variable.state = state + rate * shift
            motion.time = motion.event = time + shift
            if all(condition() for condition in conditions):
                return
            shift *= 2.0
            if shift > motion.settings.dtmin or time + shift >= due:
                break
        for variable, state, _ in asked:
            variable.state = state
        motion.time = motion.event = time
        self._set_time(time)


def _column(item: Any, places: Mapping[Any, int], slopes: FloatArray, names: tuple[str, ...]) -> list[float]:
    """Derivatives of one thing that is written down."""
    if item in places:
        return slopes[:, places[item]].tolist()
    moves = moves_of(item.state if isinstance(item, Variable) else item.value)
    return [moves.get(name, 0.0) for name in names]


def _limits(settings: Any) -> tuple[float, ...]:
    """What may be set while the run goes on."""
    return settings.dtmin, settings.dtmax, settings.max_halvings, settings.disc_halvings


def _subject(motion: Any) -> tuple[Any, Any]:
    """Who flows and who waits, for what."""
    return tuple(motion.bodies), tuple(wait.process.condition for wait in motion.waiting)


def _asked(motion: Any) -> tuple[FloatArray, float]:
    """Times up to the event at which samples with an interval look, and how far to run for so many."""
    due = [(sample.sampletime, sample.frequency) for sample in motion.samples.timed]
    if not due:
        return _NO_TIMES, motion.event
    found: set[float] = set()
    last = math.inf
    for first, interval in due:
        time, k = first, 0
        while time < motion.event and k < _MOST_TIMES and time + interval > time:
            if time > motion.time:
                found.add(time)
            time += interval
            k += 1
        if k == _MOST_TIMES:
            last = min(last, time)
    if math.isinf(last):
        return np.array(sorted(found)), motion.event
    return np.array(sorted(time for time in found if time <= last)), last
